//! What each event says, in one table.

use std::collections::BTreeSet;

use krm_schema::grounds::Ground;
use krm_schema::mode::Mode;
use krm_schema::schema::{Basis, ListKind, Unkeyed};

use super::*;

fn text(of: &str) -> String {
    of.to_owned()
}

fn texts<const N: usize>(of: [&str; N]) -> [String; N] {
    of.map(str::to_owned)
}

fn said(what: &What) -> String {
    message(what, Sides::of(Side::name))
}

fn rule() -> Name {
    Name::Field("spec.rules[0]".to_owned())
}

#[test]
fn each_event_has_its_sentence() {
    let counts = Counts { merged: 1, added: 2, deleted: 3, unchanged: 4, conflicts: 1 };
    let ground = Ground { basis: Basis::Inferred, path: vec![text("spec"), text("hosts")], keys: vec![text("name")] };
    let majority = Majority { field: "metadata.name", count: 3, all: 4, example: texts(["a", "x-a"]) };
    let place = TextPlace::new("a.yaml", krm_yaml::Position { line: 3, column: 5 }, TextForm::File);
    let inside = TextPlace { inside: Some(text("`spec.source[0].yaml`")), ..place.clone() };
    let lacking = |place| What::Lacking { whereabouts: text("item 1"), rest: text("`kind`"), place };
    let of = || texts(["example.com/v1", "Site"]);
    for (what, want) in [
        (What::Said(text("as it is")), "as it is"),
        (What::Wrong { why: text("no"), place: place.clone() }, "a.yaml:3:5: no"),
        (What::Wrong { why: text("no"), place: TextPlace { form: TextForm::Input, ..place } }, "a.yaml 3:5: no"),
        (What::Wrong { why: text("no"), place: inside.clone() }, "a.yaml:3:5: `spec.source[0].yaml`: no"),
        (lacking(None), "item 1 must have `kind`"),
        (
            What::Roles(RoleFault::NotGiven(Role::Original)),
            "`spec.original` must be given, or items must carry the annotation `config.kubernetes.io/merge-source: original`",
        ),
        (
            What::Roles(RoleFault::GivenTwice(Role::Source)),
            "`spec.source` must not be given, for `source` is given beside the functionConfig",
        ),
        (
            What::Roles(RoleFault::NoMap(text("spec.source[0].yaml"))),
            "`spec.source[0].yaml` must hold resources, which are maps",
        ),
        (
            What::Roles(RoleFault::JsonPatch(text("spec.source[0].yaml"))),
            "`spec.source[0].yaml` must hold resources, which are maps; a JSON patch (RFC 6902) is none",
        ),
        (
            What::Roles(RoleFault::NoItem {
                field: text("spec.source[0].path"),
                path: text("a"),
                items: ItemFiles::NoItems,
            }),
            "`spec.source[0].path` must select at least one item, but no item of the package lies in \"a\": the package has no items",
        ),
        (
            What::Roles(RoleFault::Filled { item: text("item 1"), role: Role::Updated }),
            "item 1 must not carry the annotation `config.kubernetes.io/merge-source: updated`, for the functionConfig says who plays that role",
        ),
        (
            What::Roles(RoleFault::Annotation { mode: Mode::Strategic, value: text("x") }),
            "the annotation `config.kubernetes.io/merge-source` must be `source` or `dest` in mode `Strategic`, not \"x\"",
        ),
        (lacking(Some(inside)), "a.yaml:3:5: `spec.source[0].yaml`: the resource must have `kind`"),
        (What::Moved { from: text("a"), to: text("b") }, "moved from \"a\" to \"b\", as upstream moved it"),
        (
            What::NotMoved { to: text("b/c") },
            "upstream moved it to \"b/c\", in another package: move it by hand, because it stays where it is",
        ),
        (
            What::Followed { here: text("A a"), there: text("A b") },
            "`A a` is `A b` in updated: it is one resource that moved, and its edits are kept",
        ),
        (What::AddedAs(text("A x-a")), "added as `A x-a`, for dest renamed all resources of the package in this way"),
        (
            What::AddedUnclear(vec![majority]),
            "added with upstream's name and namespace, but dest changed `metadata.name` of 3 of 4 resources, such as \"a\" to \"x-a\": check whether this resource must follow",
        ),
        (What::DeletedAs(text("A a")), "deleted, for upstream deleted `A a`, which has this name in dest"),
        (
            What::MayHaveMoved {
                came: MovedResource { name: text("A a"), path: Some(text("b.yaml")) },
                left: MovedResource { name: text("A a"), path: Some(text("a.yaml")) },
                fate: LeftUpstream::Kept,
            },
            "`A a` (\"b.yaml\") is new and `A a` (\"a.yaml\") is kept: it may be a move, and local edits of the old one are not carried over",
        ),
        (
            What::LeftBehind { original: text("A a") },
            "upstream deleted `A a`, and this resource has most of its text: delete it if it is the same one under another name",
        ),
        (What::Counts(counts), "1 merged, 2 added, 3 deleted, 4 unchanged; 1 conflict"),
        (
            What::FileCounts { changed: 1, added: 2, deleted: 3, conflicts: 2 },
            "files without resources: 1 changed, 2 added, 3 deleted; 2 conflicts",
        ),
        (
            What::Added { source: text("A a"), alike: Some(Alike::OtherVersion(text("B a"))) },
            "added, for no item is `A a`; `B a` has another apiVersion",
        ),
        (
            What::NoPartner { source: text("A a"), alike: Some(Alike::OnlyOfKind(text("A"), text("A b"))) },
            "a patch must hit an item, and no item is `A a`; the only A is `A b`",
        ),
        (
            What::NoPartner { source: text("A a"), alike: Some(Alike::OtherNamespace(text("A n/a"))) },
            "a patch must hit an item, and no item is `A a`; `A n/a` has another namespace",
        ),
        (
            What::SourceIsItem { source: text("A a"), field: text("spec.source") },
            "`spec.source` must name the source of a merge into other items, but this item is all that is `A a`: name another file, or give the source as `yaml`",
        ),
        (
            What::NoneSelected {
                aim: rule(),
                targets: vec![text("{kind: A}"), text("{kind: B}")],
                exclude: 1,
                items: 2,
                passed_over: 0,
            },
            "`spec.rules[0]` must select at least one item, and none fits {kind: A}, or {kind: B} and is not excluded (regular expressions for the whole value)",
        ),
        (
            What::NoneSelected { aim: rule(), targets: Vec::new(), exclude: 0, items: 0, passed_over: 0 },
            "`spec.rules[0]` must select at least one item, and no resource is there",
        ),
        (
            What::Selected { aim: rule(), count: 2, passed_over: 1 },
            "`spec.rules[0]` selected 2 items, and not 1 item that only configures (Kptfile, Kustomization, functionConfig, or `config.kubernetes.io/local-config`): name the kind to select one",
        ),
        (
            What::IdleExclude { name: rule(), target: text("{kind: A}") },
            "`spec.rules[0]` leaves out no item, for none that is selected fits {kind: A}: look whether a name in it is wrong",
        ),
        (
            What::NoPlace { aim: rule(), targets: 1, place: text("spec.x") },
            "no item that `spec.rules[0]` selected has the place `spec.x`: look at the path",
        ),
        (
            What::NoPlace { aim: rule(), targets: 0, place: text("spec.x") },
            "no item that `spec.rules[0]` is for has the place `spec.x`: look at the path",
        ),
        (What::GoneBefore(text("A a")), "nothing is left to delete, for no item is `A a`"),
        (What::NotAdded(text("A a")), "not merged, for no item is `A a`"),
        (What::Deleted(text("item 1")), "deleted by item 1"),
        (What::United(text("item 1")), "removed, for it was merged into item 1, which has the same identity"),
        (What::DeletedBefore, "a source must have an item to be merged into, and one before it deleted this one"),
        (
            What::UnknownType { of: of(), inference: Inference::On },
            "nothing is known of `example.com/v1 Site`: its lists merge by an inferred key, or are replaced whole where their elements have none, unless its CustomResourceDefinition is in the package or the functionConfig has `openapi` or `mergeKeys`",
        ),
        (
            What::Grounds { of: of(), instead: None, lists: BTreeSet::from([ground]) },
            "lists of `example.com/v1 Site` merged by a key that all elements have (`spec.hosts` by `name`)",
        ),
        (
            What::IdleRule { rule: rule(), of: of(), path: vec![text("spec"), text("hosts")], lacks: Lacks::List },
            "`spec.rules[0]` is not used, for no resource of the type `example.com/v1 Site` has a list `spec.hosts`",
        ),
        (
            What::IdleDecision { rule: rule(), miss: Miss::All, names: RuleParts::Target },
            "`spec.rules[0]` decided nothing: its conflict may be over, or its `target` is wrong",
        ),
        (
            What::IdleDecision { rule: rule(), miss: Miss::Value(Side::Dest, text("spec.x")), names: RuleParts::Both },
            "`spec.rules[0]` decided nothing: dest has another value of `spec.x` than `when.dest`, so someone must decide again",
        ),
        (
            What::Deeper { side: Role::Updated, folder: text("web") },
            "updated is one folder deeper than dest: its Kptfile is in its folder \"web\", and dest's Kptfile is not, so that new files go to \"web/\": let the path of updated end with \"/web\"",
        ),
        (
            What::HasUpdated(text("abc")),
            "dest has the commit of updated already, \"abc\" (`upstreamLock.git.commit`): this upgrade is done, or original and updated are swapped",
        ),
        (
            What::OtherOriginal { commit: text("a"), original: text("b") },
            "original must be the release of commit \"a\", which dest came from (`upstreamLock.git.commit`), not that of commit \"b\"",
        ),
        (
            What::Apart {
                whereabouts: text("item 1"),
                field: "kind",
                missed: Missed::Changed(vec![text("a")]),
                stays: Stays::Consumed,
            },
            "item 1 has no `kind` and takes no part in the merge: upstream changed `a` in it, and dest does not get that; it is consumed with its side",
        ),
        (
            What::FileMerged { form: FileForm::NoResources, how: Combined::Lines },
            "both sides changed the file (it holds no resources), and it was merged line by line: look whether it is right",
        ),
        (
            What::Unreached { form: FileForm::AsText(AsText::Mixed), rules: vec![rule()] },
            "the file holds resources on one side and something else on another, so that no rule looks into it: `spec.rules[0]` decided nothing here",
        ),
        (
            What::NotRead { place: text("v2/a"), why: WhyUnread::Link },
            "v2/a: not read, so that dest stays as it is there: a symbolic link is not followed",
        ),
        (
            What::StaysAt { here: text("a"), to: text("b"), why: InTheWay::Other },
            "a: moved to b in updated, and stays here, for that file of dest holds something else",
        ),
        (
            What::NoYaml(vec![NoYaml { why: text("odd"), places: vec![text("a:1:1"), text("b:1:1")] }]),
            "2 files are no YAML and are treated as plain files, without resources: a:1:1, b:1:1: odd",
        ),
        (
            What::DestIsAbove { folder: text("web"), there: 9, count: 10 },
            "the folder \"web\" of dest has 9 of 10 resources of original: give that folder as `--dest`, or what is new upstream goes to the wrong one",
        ),
        (
            What::OneIdentity { items: texts(["item 1", "item 2"]), folders: texts(["", "over"]) },
            "`source` must say which folder is merged into the others, for item 1 is of one identity with item 2: write `source: [{path: over}]`, or `source=over` in a ConfigMap",
        ),
        (
            What::Refused { place: text("spec.x"), values: [Some(text("1")), None], by: Refuser::Server },
            "`spec.x` was 1 and is removed, which the API server refuses for an object that exists: keep the value, or delete the object and create it again",
        ),
        (
            What::Broken { place: text("spec.x"), to: text("Secret a"), cause: Cause::KeyRemoved(text("k")) },
            "`spec.x` refers to the key \"k\" of Secret a, which the merge removes: keep the key, or change the reference",
        ),
    ] {
        assert_eq!(said(&what), want, "{what:?}");
    }
}

#[test]
fn a_conflict_says_what_the_sides_did_and_who_won() {
    let at = || text("spec.x");
    let shown = Sides { original: Some(text("1")), updated: Some(text("2")), dest: Some(text("3")) };
    let values = ": dest has 3, updated has 2, original had 1";
    for (dispute, want) in [
        (Dispute::Value { at: at(), did: [Did::Changed; 2] }, "both sides changed `spec.x`"),
        (
            Dispute::Value { at: at(), did: [Did::Changed, Did::Deleted] },
            "updated deleted `spec.x` and dest changed it",
        ),
        (
            Dispute::Value { at: at(), did: [Did::Cleared, Did::Changed] },
            "dest cleared `spec.x` with null and updated changed it",
        ),
        (Dispute::Value { at: String::new(), did: [Did::Added; 2] }, "both sides added the resource"),
        (
            Dispute::Parts { at: at(), parts: vec![text("tag"), text("digest")] },
            "both sides changed the tag and the digest of `spec.x`",
        ),
        (
            Dispute::Apart { at: at(), fields: [vec![text("a")], vec![text("b")]] },
            "the sides set what does not go together in `spec.x`, dest the a and updated the b",
        ),
        (Dispute::Additions { at: at() }, "both sides added elements to `spec.x` at one place"),
        (
            Dispute::Order { at: at(), moved: vec![text("a"), text("b")] },
            "dest and updated put elements of `spec.x` in different orders (`a`, `b`)",
        ),
        (Dispute::Comment { at: at(), did: [Did::Added; 2] }, "both sides added the comment at `spec.x`"),
        (
            Dispute::CommentOrOwner { at: at() },
            "one side changed a comment of `spec.x`, and the other side changed it or what it belongs to",
        ),
        (Dispute::Margin(Margin::Below), "dest and updated changed the comments below all resources in different ways"),
        (
            Dispute::File { form: FileForm::NoResourcesAnyMore, did: [Did::ReplacedByResources, Did::Changed] },
            "dest replaced the file (it no longer holds resources) by resources and updated changed it",
        ),
        (
            Dispute::MergedFile { form: FileForm::NoResources, how: Combined::Document, overlaps: vec![text("a")] },
            "both sides changed the file (it holds no resources), and it was merged as the document that it holds; the changes overlap in `a`",
        ),
    ] {
        let open = Clash { shown: shown.clone(), ..Clash::open(dispute) };
        assert_eq!(said(&What::Conflict(Box::new(open))), format!("{want}{values}; someone must decide"));
    }
    let dispute = Dispute::Resource { did: [Did::Changed, Did::Deleted] };
    let places = Clash { place: ClashPlace::Fields(vec![text("a"); 5]), ..Clash::open(dispute) };
    let want = "updated deleted the resource and dest changed it (`a`, `a`, `a`, and 2 more)";
    assert_eq!(what_by(&places, Sides::of(Side::name)), want);
    let paths = Sides { original: text("a"), updated: text("b"), dest: text("c") };
    let moves = Clash::open(Dispute::Moves(paths));
    let want = "both sides moved the resource: dest has it in \"c\", updated has it in \"b\", original had it in \"a\"";
    assert_eq!(what_by(&moves, Sides::of(Side::name)), want);
    // git's users know the sides by other names.
    let ours = Sides { original: "original", updated: "theirs", dest: "ours" };
    let clash = Clash::open(Dispute::Value { at: at(), did: [Did::Added, Did::Deleted] });
    assert_eq!(what_by(&clash, ours), "theirs deleted `spec.x` and ours added it");
}

#[test]
fn an_outcome_says_why() {
    for (settled, notes, want) in [
        (Settled::Dest, vec![], "kept dest's"),
        (
            Settled::Delta,
            vec![ClashNote::StandsNow(text("{}"))],
            "added only what updated changed, so {} stands there now",
        ),
        (
            Settled::Updated,
            vec![ClashNote::Lacks(text("name"))],
            "took updated's, all of it, because the part that upstream changed lacks `name`, which its type requires",
        ),
        (
            Settled::Deleted,
            vec![ClashNote::Lacks(text("name"))],
            "deleted it, all of it, because the part that dest changed lacks `name`, which its type requires",
        ),
        (
            Settled::Updated,
            vec![ClashNote::Sum, ClashNote::NewestRule(rule())],
            "took updated's, but it is a sum of other content: make it again, the newer version, as `spec.rules[0]` says",
        ),
        (
            Settled::Dest,
            vec![ClashNote::MadeBy("go mod tidy")],
            "kept dest's, for a lock file is right only as a whole: make it again with `go mod tidy`",
        ),
        (
            Settled::Open,
            vec![ClashNote::SetBy(texts(["a", "b"]).to_vec())],
            "someone must decide; what is in the cluster was set by a, b",
        ),
    ] {
        let clash = Clash { settled, notes, ..Clash::open(Dispute::Additions { at: text("a") }) };
        assert_eq!(outcome(&clash), want);
    }
}

#[test]
fn a_notice_says_what_to_look_at() {
    let noticed =
        |notice| said(&What::Noticed(Box::new(Noticed { place: text("spec.x"), notice, side: Role::Source })));
    let instead = EditLine { does: "set", place: text("spec.x[name='a']"), value: text("1") };
    for (notice, want) in [
        (Notice::Repeated, "dest has `spec.x` more than once: the first one was merged, the others stay as they are"),
        (
            Notice::Unkeyed(Unkeyed::SetOfContainers),
            "`spec.x` is replaced whole: the elements of its set are not scalars",
        ),
        (
            Notice::Combined(Combined::Keys),
            "both sides changed `spec.x`, and it was merged key by key: look whether it is right",
        ),
        (
            Notice::Namesake { name: text("a"), other: text("spec.y"), instead },
            "`spec.x` is new in dest and has the name a of `spec.y`, which the API server refuses: name it otherwise, or change the other one by `edits` with `{set: 'spec.x[name=''a'']', value: 1}`",
        ),
    ] {
        assert_eq!(noticed(notice), want);
    }
    let rule = || Some(text("{rule}"));
    let shortened = |by, rule, inside| said(&What::Shortened { place: text("spec.x"), lost: 2, by, rule, inside });
    let what = "`spec.x` is replaced whole, for nothing says how it merges, and dest loses 2 elements";
    for (by, inside, how) in [
        (
            Some(ListKind::Map(vec![text("name")])),
            Inside::Resource,
            ": to merge it, set `inferMergeKeys: true`, or add to `mergeKeys` `{rule}`",
        ),
        (
            Some(ListKind::Map(vec![text("name")])),
            Inside::File,
            ", as helm does it: to merge it, add to `mergeKeys` `{rule}`",
        ),
        (
            Some(ListKind::Map(vec![text("odd")])),
            Inside::Resource,
            ": `inferMergeKeys` finds no key in it; to merge it, add to `mergeKeys` `{rule}`",
        ),
        (
            Some(ListKind::Set),
            Inside::Resource,
            ": `inferMergeKeys` is for lists of maps; to merge it, add to `mergeKeys` `{rule}`",
        ),
    ] {
        assert_eq!(shortened(by, rule(), inside), format!("{what}{how}"));
    }
    let none = ": `inferMergeKeys` finds no key in it, and `mergeKeys` needs a field that tells its elements apart";
    assert_eq!(shortened(None, None, Inside::Resource), format!("{what}{none}"));
    let kinds = [Some(Kind::Map), None];
    let other = What::OtherKind { place: text("spec.x"), kinds, side: Role::Updated };
    assert_eq!(said(&other), "`spec.x` is a map in dest and nothing in updated; took updated's");
}

#[test]
fn comments_are_told_with_their_texts_if_these_may_be_shown() {
    let lost = |of, count, place: &str, shown: Option<&str>| {
        said(&What::CommentsLost { of, count, place: text(place), shown: shown.map(text) })
    };
    assert_eq!(
        lost(Side::Dest, 1, "a", Some("\"# b\"")),
        "the merge removes a comment that only dest has at `a`: \"# b\""
    );
    assert_eq!(lost(Side::Dest, 2, "", None), "the merge removes 2 comments that only dest has");
    let want = "the merge does not take a comment that upstream added at `a`, because dest has no place for it";
    assert_eq!(lost(Side::Updated, 1, "a", None), want);
    let shown = Sides { original: None, updated: Some(text("\"# 2\"")), dest: Some(text("\"# 3\"")) };
    let commented = What::Commented { place: text("a"), did: [Did::Added; 2], shown, stays: CommentOf::Dest };
    let want = "both sides added the comment at `a`: dest has \"# 3\", updated has \"# 2\"; kept dest's";
    assert_eq!(said(&commented), want);
}
