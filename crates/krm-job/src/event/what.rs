//! [`What`]: what happened, as data. It owns all that a message about it shows, and no more, so that two events that say the same are equal.
//!
//! Hosts compare, count and group these values. Only `words.rs` makes messages of them.

use std::collections::BTreeSet;

use krm_merge_core::policy::Settled;
use krm_merge_core::warning::{Combined, CommentOf, Notice};
use krm_schema::grounds::Ground;
use krm_schema::immutable::Refuser;
use krm_schema::mode::Mode;
use krm_schema::schema::{Inference, ListKind};
use krm_tree::sides::{Side, Sides};
use krm_yaml::{Kind, Position};

use crate::decision::Miss;
use crate::name::Name;
use crate::role::Role;

/// What happened. Identities of resources are in the form in which messages show them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// An error of a lower part, or what a host says in its own words.
    Said(String),
    /// Two states of a package differ, which a host says in its own words. The second text is the kind of the difference.
    Differs(String, &'static str),
    /// A text cannot be read, or what it holds cannot be merged.
    Wrong {
        /// Why, without the place.
        why: String,
        /// The place in the text.
        place: TextPlace,
    },
    /// A resource lacks a field.
    Lacking {
        /// Where the resource is.
        whereabouts: String,
        /// The field, and why it must be there.
        rest: String,
        /// The place in its file, if it is of one.
        place: Option<TextPlace>,
    },
    /// Both sides changed the same, in different ways.
    Conflict(Box<Clash>),
    /// A place of a merged resource that its owner should check.
    Noticed(Box<Noticed>),
    /// The sides have values of different kinds.
    OtherKind {
        /// The place.
        place: String,
        /// The kinds of dest's value and of the other side's.
        kinds: [Option<Kind>; 2],
        /// The side whose value was taken.
        side: Role,
    },
    /// An unknown list was replaced whole, and dest lost elements.
    Shortened {
        /// The list.
        place: String,
        /// How many elements dest lost.
        lost: usize,
        /// How the list could merge, if its elements allow it.
        by: Option<ListKind<String>>,
        /// How a line of `mergeKeys` would name the list, if one can.
        rule: Option<String>,
        /// What has the list.
        inside: Inside,
    },
    /// Both sides changed a comment.
    Commented {
        /// The place of the comment.
        place: String,
        /// Dest's action, then updated's.
        did: [Did; 2],
        /// The texts of the sides, cut; nothing beside a secret value.
        shown: Sides<Option<String>>,
        /// Whose comment stays.
        stays: CommentOf,
    },
    /// The merge loses comments.
    CommentsLost {
        /// The side that has them.
        of: Side,
        /// How many.
        count: usize,
        /// The place; empty for the whole resource.
        place: String,
        /// Their texts, cut; nothing beside a secret value.
        shown: Option<String>,
    },
    /// The merge changes a field that the API server does not let change.
    Refused {
        /// The field.
        place: String,
        /// Its values before and after, cut; nothing of a Secret.
        values: [Option<String>; 2],
        /// The source of the refusal.
        by: Refuser,
    },
    /// A resource refers to something that the merge takes away.
    Broken {
        /// The field with the reference.
        place: String,
        /// The resource that it names.
        to: String,
        /// Why the reference leads nowhere.
        cause: Cause,
    },
    /// A resource moved to another file of dest, as upstream moved it.
    Moved {
        /// Its file before.
        from: String,
        /// Its file now.
        to: String,
    },
    /// Upstream moved a resource to a file of another package.
    NotMoved {
        /// That file.
        to: String,
    },
    /// Dest and updated have the same resource under different identities.
    Followed {
        /// The identity in dest.
        here: String,
        /// The identity in updated.
        there: String,
    },
    /// Upstream added a resource to a package that dest renamed as a whole, and dest gets it under this identity.
    AddedAs(String),
    /// The same, and nobody knows what its identity in dest should be.
    AddedUnclear(Vec<Majority>),
    /// A resource goes, for upstream deleted the one with this identity, which dest renamed.
    DeletedAs(String),
    /// A resource that is new upstream may be one that upstream deleted.
    MayHaveMoved {
        /// The new one.
        came: MovedResource,
        /// The deleted one.
        left: MovedResource,
        /// What happened to the deleted one in dest.
        fate: LeftUpstream,
    },
    /// A resource of dest's own may be a renamed one that upstream deleted.
    LeftBehind {
        /// The one that upstream deleted.
        original: String,
    },
    /// The counts of a three-way merge.
    Counts(Counts),
    /// The counts of the files without resources in a three-way merge.
    FileCounts {
        /// How many changed.
        changed: usize,
        /// How many came.
        added: usize,
        /// How many went.
        deleted: usize,
        /// How many conflicts are in them.
        conflicts: usize,
    },
    /// A source was added because dest lacks it.
    Added {
        /// The identity of the source.
        source: String,
        /// An item that the user may have meant.
        alike: Option<Alike>,
    },
    /// A patch matches no item.
    NoPartner {
        /// The identity of the patch.
        source: String,
        /// An item that the user may have meant.
        alike: Option<Alike>,
    },
    /// A source that stays in the package is the only item of its identity.
    SourceIsItem {
        /// The identity of the source.
        source: String,
        /// The field that names its file.
        field: String,
    },
    /// The targets of an input select no item that is meant.
    NoneSelected {
        /// The input.
        aim: Name,
        /// Its targets.
        targets: Vec<String>,
        /// How many targets say which items are not meant.
        exclude: usize,
        /// How many items there are.
        items: usize,
        /// How many items fit that only configure.
        passed_over: usize,
    },
    /// The targets of an input select items.
    Selected {
        /// The input.
        aim: Name,
        /// How many.
        count: usize,
        /// How many items fit besides that only configure.
        passed_over: usize,
    },
    /// A target that is to be left out selects no item that would be meant otherwise.
    IdleExclude {
        /// Its name.
        name: Name,
        /// The target.
        target: String,
    },
    /// No item that an input is for has a place that the input does not make.
    NoPlace {
        /// The input.
        aim: Name,
        /// The place.
        place: String,
    },
    /// A source only deletes, and what it deletes is gone already. The text is its identity.
    GoneBefore(String),
    /// A source is not added, because its input only changes what is there. The text is its identity.
    NotAdded(String),
    /// A source deletes a resource. The text says where the source is.
    Deleted(String),
    /// A resource goes, because it was merged into another one of its identity. The text says where that one is.
    United(String),
    /// An earlier source deleted the item that a source is for.
    DeletedBefore,
    /// Items of a type were patched, but the type is unknown.
    UnknownType {
        /// The apiVersion and the kind.
        of: [String; 2],
        /// How its lists are merged.
        inference: Inference,
    },
    /// Lists of a type merged by keys that come neither from the user nor from a schema of the type.
    Grounds {
        /// The apiVersion and the kind.
        of: [String; 2],
        /// The version whose public definition was used, if the type's own version has none.
        instead: Option<&'static str>,
        /// The lists, each with the source of its keys.
        lists: BTreeSet<Ground>,
    },
    /// A rule of `mergeKeys` matches no list.
    IdleRule {
        /// The rule.
        rule: Name,
        /// The apiVersion and the kind that it names.
        of: [String; 2],
        /// The path that it names.
        path: Vec<String>,
        /// The type or list that is missing.
        lacks: Lacks,
    },
    /// A rule says who wins, but no conflict matches it.
    IdleDecision {
        /// The rule.
        rule: Name,
        /// How near it came.
        miss: Miss,
        /// What it names, which may be wrong.
        names: RuleParts,
    },
    /// A release is one folder deeper than dest.
    Deeper {
        /// The release's role.
        side: Role,
        /// The folder.
        folder: String,
    },
    /// Dest came from the release that is updated, which has this commit.
    HasUpdated(String),
    /// Dest did not come from original.
    OtherOriginal {
        /// The commit of the release that dest came from.
        commit: String,
        /// The commit of original.
        original: String,
    },
    /// An item that a role selects is not a resource, so it is not merged.
    Apart {
        /// Where the item is.
        whereabouts: String,
        /// The field that it lacks.
        field: &'static str,
        /// What dest does not get, because the merge skips the item.
        missed: Missed,
        /// What happens to the item.
        stays: Stays,
    },
    /// Both sides changed a file without resources, and it was merged.
    FileMerged {
        /// The form of the file.
        form: FileForm,
        /// By which parts it was merged.
        how: Combined,
    },
    /// A side has this file on disk and does not read it, so that dest stays as it is there.
    NotRead {
        /// The path, with the name of the side.
        place: String,
        /// Why it is not read.
        why: WhyUnread,
    },
    /// Upstream changed the file at this path, which dest has on disk and does not read.
    NotReadHere(String),
    /// A new file or resource is not added, because `.krmignore` leaves it out.
    LeftOut {
        /// Its path in dest.
        path: String,
        /// The name of what it comes from.
        from: String,
    },
    /// Upstream moved a resource, and dest cannot.
    StaysAt {
        /// Its file in dest.
        here: String,
        /// Its file in updated.
        to: String,
        /// Why.
        why: InTheWay,
    },
    /// A file can be merged neither as resources nor as a file.
    NeitherForm,
    /// This folder of dest has nearly all resources of original.
    DestIsAbove {
        /// The folder.
        folder: String,
        /// How many resources it has.
        there: usize,
        /// How many original has.
        count: usize,
    },
    /// This folder of dest looks like another release of upstream.
    ReleaseInDest(String),
    /// Upstream changed a file that git, a host of git or this program obeys.
    Obeyed,
    /// Upstream gave a resource the annotation with which a function takes it for this side.
    TakesRole(String),
    /// Files that should be YAML are not; those with one reason stand together.
    NoYaml(Vec<NoYaml>),
    /// A file that is no text gets no markers.
    NoMarkers {
        /// Its path.
        path: String,
        /// The path of updated's version.
        beside: String,
    },
    /// The functionConfig is missing.
    NoConfig,
    /// Two items in different folders have one identity, and nobody says which is merged into the other.
    OneIdentity {
        /// Where they are.
        items: [String; 2],
        /// Their folders.
        folders: [String; 2],
    },
    /// Who plays which role cannot be said.
    Roles(RoleFault),
    /// Rules select a file, but cannot decide its conflict.
    Unreached {
        /// The form of the file.
        form: FileForm,
        /// The rules.
        rules: Vec<Name>,
    },
}

/// Why nobody can say who plays which role. An item is in the form in which messages show where it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RoleFault {
    /// Nobody plays a role.
    NotGiven(Role),
    /// The functionConfig and the host both say who plays a role.
    GivenTwice(Role),
    /// A field holds something else than maps.
    NoMap(String),
    /// A field holds a JSON patch, where resources must be.
    JsonPatch(String),
    /// A field holds no resource.
    NoResources(String),
    /// Updated holds no resource, and original holds some.
    AllGone,
    /// An input has edits and no target.
    NoTarget(Name),
    /// Two fields select one item.
    TwoFields {
        /// The item.
        item: String,
        /// The fields.
        fields: [String; 2],
    },
    /// A field selects no item.
    NoItem {
        /// The field.
        field: String,
        /// The path that it names.
        path: String,
        /// Whether items have files.
        items: ItemFiles,
    },
    /// A field selects an item, and its annotation says something else.
    FieldAndAnnotation {
        /// The item.
        item: String,
        /// The field.
        field: String,
        /// The role that the annotation says.
        role: Role,
    },
    /// An annotation gives an item a role that the functionConfig fills.
    Filled {
        /// The item.
        item: String,
        /// The role.
        role: Role,
    },
    /// A target is for sources of several kinds.
    KindsApart {
        /// The target.
        aim: Name,
        /// Two of the sources.
        sources: [String; 2],
    },
    /// A target is for a source that has only names.
    OnlyNames {
        /// The target.
        aim: Name,
        /// The source.
        source: String,
    },
    /// An annotation names no role of this mode.
    Annotation {
        /// The mode.
        mode: Mode,
        /// The value of the annotation.
        value: String,
    },
}

/// Whether the items of a package name their files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ItemFiles {
    /// Some do.
    Named,
    /// None does.
    Unnamed,
    /// There are no items.
    NoItems,
}

/// A conflict, and who won it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Clash {
    /// The place.
    pub place: ClashPlace,
    /// What the sides did.
    pub dispute: Dispute,
    /// The values of the sides, cut. A side without a value, or with a value that must not be shown, has none.
    pub shown: Sides<Option<String>>,
    /// The value of original as JSON.
    pub original: Option<String>,
    /// Who won, or that nobody did.
    pub settled: Settled,
    /// What else there is to say about the outcome, in the order in which it is said.
    pub notes: Vec<ClashNote>,
}

/// The place of a conflict.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ClashPlace {
    /// A field, with the elements of lists by key; empty for the resource as a whole.
    Field(String),
    /// The fields that one side changed in a resource that the other one deleted.
    Fields(Vec<String>),
    /// The file of a resource.
    ItsFile,
    /// A file that was merged.
    File,
    /// A file as a whole.
    WholeFile,
}

/// What the sides did where they are in conflict. A place is in the form in which messages show it; it is empty for the resource as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Dispute {
    /// What dest and updated did to a value.
    Value {
        /// The place.
        at: String,
        /// Dest's action, then updated's.
        did: [Did; 2],
    },
    /// Both changed these parts of a value.
    Parts {
        /// The place.
        at: String,
        /// The parts.
        parts: Vec<String>,
    },
    /// Each set fields of a map that do not go together with the other's.
    Apart {
        /// The place of the map.
        at: String,
        /// Dest's fields, then updated's.
        fields: [Vec<String>; 2],
    },
    /// Both added elements to a list, at one place.
    Additions {
        /// The place of the list.
        at: String,
    },
    /// Both put elements of a list in different orders.
    Order {
        /// The place of the list.
        at: String,
        /// The elements.
        moved: Vec<String>,
    },
    /// Both changed a comment.
    Comment {
        /// The place of the comment.
        at: String,
        /// Dest's action, then updated's.
        did: [Did; 2],
    },
    /// One side changed a comment, and the other one changed it or what it belongs to.
    CommentOrOwner {
        /// The place of the comment.
        at: String,
    },
    /// Both changed the comments around all resources of a file.
    Margin(Margin),
    /// One side changed a resource, at the places of the conflict, and the other one deleted it.
    Resource {
        /// Dest's action, then updated's.
        did: [Did; 2],
    },
    /// Both moved a resource, to these files.
    Moves(Sides<String>),
    /// A file.
    File {
        /// Its form.
        form: FileForm,
        /// Dest's action, then updated's.
        did: [Did; 2],
    },
    /// Both changed a file, and all but these places was merged.
    MergedFile {
        /// Its form.
        form: FileForm,
        /// By which parts it was merged.
        how: Combined,
        /// The places where the changes overlap, without those that another event tells.
        overlaps: Vec<String>,
    },
}

/// Where comments stand that belong to no resource of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Margin {
    /// Above all resources.
    Above,
    /// Below all resources.
    Below,
}

/// The action of a side on a value or file in conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Did {
    /// It added the value or file.
    Added,
    /// It changed the value or file.
    Changed,
    /// It removed the value or file.
    Deleted,
    /// It set the value to null.
    Cleared,
    /// It has resources in the file, where the other side has none.
    ReplacedByResources,
}

/// What else there is to say about the outcome of a conflict.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ClashNote {
    /// The place has this value now, which no side has.
    StandsNow(String),
    /// All of the value was taken, because the part that the other side changed lacks this required field.
    Lacks(String),
    /// The value is a sum of other content.
    Sum,
    /// A rule decided it.
    Rule(Name),
    /// A rule decided it, for the newer version.
    NewestRule(Name),
    /// A file stays, because its resources stay in it.
    HasResources,
    /// A file stays, because it has next to nothing in common with upstream's.
    Alien,
    /// A file is right only as a whole, as this command makes it.
    MadeBy(&'static str),
    /// These set the value that the cluster has.
    SetBy(Vec<String>),
}

/// A place of a merged resource that its owner should check.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Noticed {
    /// The place.
    pub place: String,
    /// What happened there.
    pub notice: Notice,
    /// The side that was merged into dest.
    pub side: Role,
}

/// Whether a message may show the texts beside a value, such as a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Privacy {
    /// It may.
    Public,
    /// The value is secret, and a comment beside it may hold an older one.
    Secret,
}

/// What has a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Inside {
    /// A resource.
    Resource,
    /// A file without a name.
    File,
}

/// A resource that may have moved.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MovedResource {
    /// Its identity.
    pub name: String,
    /// Its file, if the identity was the same before.
    pub path: Option<String>,
}

/// A place in a text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TextPlace {
    /// The name of the text: `stdin`, a field, or a file.
    pub text: String,
    /// The place.
    pub position: Position,
    /// What the text is to the user.
    pub form: TextForm,
    /// The field of the text that holds the YAML with the place, as messages call it.
    pub inside: Option<String>,
}

/// What a text is to the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextForm {
    /// An input of a program.
    Input,
    /// A file, so that editors find the place.
    File,
    /// A text that the user has not got, so that only the message names it.
    Unknown,
}

impl TextPlace {
    /// A place in a text.
    pub fn new(text: &str, position: Position, form: TextForm) -> Self {
        Self { text: text.to_owned(), position, form, inside: None }
    }
}

/// Why a reference leads nowhere after a merge.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// The merge deletes the resource.
    Deleted,
    /// The merge gives the resource another identity.
    Renamed(String),
    /// Upstream has the resource, and dest deleted it.
    NotHere,
    /// The merge removes this key from the data of the resource.
    KeyRemoved(String),
}

/// How many resources have a part of their identity that dest changed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Majority {
    /// The field.
    pub field: &'static str,
    /// The number of resources in which dest changed it.
    pub count: usize,
    /// The number of all resources.
    pub all: usize,
    /// An old and a new name.
    pub example: [String; 2],
}

/// An item that the user may have meant with a source that has no partner. Each text is its identity.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Alike {
    /// It has another namespace.
    OtherNamespace(String),
    /// It has another apiVersion.
    OtherVersion(String),
    /// It is the only one of its kind, which comes first.
    OnlyOfKind(String, String),
}

/// What a rule names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RuleParts {
    /// Nothing: it is for all conflicts.
    Nothing,
    /// A path.
    Path,
    /// A target.
    Target,
    /// Both.
    Both,
}

/// What dest does not get, because the merge skips an item that is not a resource.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Missed {
    /// Everything that a source asks for.
    Source,
    /// Nothing: dest has the same content.
    SameInDest,
    /// Nothing: upstream did not change it.
    Unchanged,
    /// The changes of upstream, at these places.
    Changed(Vec<String>),
    /// A new file of upstream: dest does not get it.
    New,
    /// A deletion by upstream: dest keeps the file.
    Deleted,
    /// Nothing: neither updated nor dest has it.
    Gone,
}

/// Whether an item stays in the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stays {
    /// It stays.
    Yes,
    /// It is consumed, as all items of its role are.
    Consumed,
}

/// What happened in dest to a resource that upstream deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LeftUpstream {
    /// Dest changed it, and keeps it.
    Kept,
    /// It is deleted.
    Deleted,
    /// Dest did not have it.
    WasNotHere,
}

/// How many resources a three-way merge changed, added, deleted and left unchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Counts {
    /// Changed in dest.
    pub merged: usize,
    /// New in dest.
    pub added: usize,
    /// Deleted from dest.
    pub deleted: usize,
    /// Not changed.
    pub unchanged: usize,
    /// The number of conflicts in all resources.
    pub conflicts: usize,
}

/// What is missing for a rule of `mergeKeys`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lacks {
    /// A resource of the type.
    Type,
    /// A list at the path.
    List,
}

/// The form of a file that is merged as a file, over all sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileForm {
    /// It holds no resources.
    NoResources,
    /// It held resources, and holds none any more.
    NoResourcesAnyMore,
    /// It holds resources, and is merged as text.
    AsText(AsText),
}

/// Why a file with resources is merged as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AsText {
    /// In original or updated, one of its resources has no name, or no type. Nobody knows which resource it is on another side.
    Unnamed,
    /// A resource stands in it more often on one side than on another. Nobody knows which of them it is on another side.
    Repeated,
    /// Another side has something else at this path.
    Mixed,
    /// It is a document that is no resource, and the user named the file.
    Document,
}

impl What {
    /// Whether it tells what was done. A run that fails does nothing.
    pub fn is_done(&self) -> bool {
        matches!(self, Self::Added { .. } | Self::Selected { .. } | Self::Deleted(_) | Self::United(_))
    }
}

/// Why a file is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WhyUnread {
    /// It is a symbolic link.
    Link,
    /// It is a submodule.
    Submodule,
    /// `.krmignore` leaves it out.
    Ignored,
    /// The same, or it is another side of the merge.
    IgnoredOrSide,
    /// It is no file.
    NoFile,
}

/// Why dest cannot move a resource to the file to which upstream moved it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InTheWay {
    /// `.krmignore` leaves the file out.
    Ignored,
    /// Dest does not read the file.
    Unread,
    /// The file holds something else.
    Other,
}

/// Files that are not YAML for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NoYaml {
    /// The reason.
    pub why: String,
    /// The files, each with the line.
    pub places: Vec<String>,
}

impl Privacy {
    /// Whether a message must not show it.
    pub fn hides(self) -> bool {
        self == Self::Secret
    }
}

impl Noticed {
    /// Whether it is good to know, and nobody needs to look.
    pub fn is_info(&self) -> bool {
        matches!(self.notice, Notice::Combined(_) | Notice::Renamed { .. })
    }
}
