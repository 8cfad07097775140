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
            "`spec.original` must be given, or items must have the annotation `config.kubernetes.io/merge-source: original`",
        ),
        (
            What::Roles(RoleFault::GivenTwice(Role::Source)),
            "`spec.source` must not be given, because `source` is already given beside the functionConfig",
        ),
        (
            What::Roles(RoleFault::NoMap(text("spec.source[0].yaml"))),
            "`spec.source[0].yaml` must hold resources, which are maps",
        ),
        (
            What::Roles(RoleFault::JsonPatch(text("spec.source[0].yaml"))),
            "`spec.source[0].yaml` must hold resources, which are maps. A JSON patch (RFC 6902) is not a resource: write it as `edits`",
        ),
        (
            What::Roles(RoleFault::NoItem {
                field: text("spec.source[0].path"),
                path: text("a"),
                items: ItemFiles::NoItems,
            }),
            "`spec.source[0].path` must select at least one item, but no item of the package is in \"a\", because the package has no items",
        ),
        (
            What::Roles(RoleFault::Filled { item: text("item 1"), role: Role::Updated }),
            "item 1 must not have the annotation `config.kubernetes.io/merge-source: updated`, because the functionConfig already says which items play that role",
        ),
        (
            What::Roles(RoleFault::Annotation { mode: Mode::Strategic, value: text("x") }),
            "the annotation `config.kubernetes.io/merge-source` must be `source` or `dest` in mode `Strategic`, not \"x\"",
        ),
        (lacking(Some(inside)), "a.yaml:3:5: `spec.source[0].yaml`: the resource must have `kind`"),
        (What::Moved { from: text("a"), to: text("b") }, "moved from \"a\" to \"b\", as upstream moved it"),
        (
            What::NotMoved { to: text("b/c") },
            "not moved, because upstream moved it to \"b/c\", which is in another package. Move it by hand",
        ),
        (
            What::Followed { here: text("A a"), there: text("A b") },
            "`A a` is `A b` in updated. They are merged as one resource that was renamed, and the edits of both sides are kept",
        ),
        (
            What::AddedAs(text("A x-a")),
            "added as `A x-a`, because all resources of the package have names like this in dest",
        ),
        (
            What::AddedUnclear(vec![majority]),
            "added with upstream's name and namespace, but dest changed `metadata.name` of 3 of 4 resources, such as \"a\" to \"x-a\". Check whether this resource needs the same change",
        ),
        (What::DeletedAs(text("A a")), "deleted, because upstream deleted `A a`, which has this name in dest"),
        (
            What::MayHaveMoved {
                came: MovedResource { name: text("A a"), path: Some(text("b.yaml")) },
                left: MovedResource { name: text("A a"), path: Some(text("a.yaml")) },
                fate: LeftUpstream::Kept,
            },
            "upstream added `A a` (\"b.yaml\") and deleted `A a` (\"a.yaml\"), which dest keeps. If the new resource replaces the old, copy the edits of dest to it",
        ),
        (
            What::LeftBehind { original: text("A a") },
            "upstream deleted `A a`, and this resource has most of its text. If it is `A a` under another name, delete it",
        ),
        (What::Counts(counts), "1 merged, 2 added, 3 deleted, 4 unchanged; 1 conflict"),
        (
            What::FileCounts { changed: 1, added: 2, deleted: 3, conflicts: 2 },
            "files without resources: 1 changed, 2 added, 3 deleted; 2 conflicts",
        ),
        (
            What::Added { source: text("A a"), alike: Some(Alike::OtherVersion(text("B a"))) },
            "added as a new resource, because the package has no `A a`. Did you mean `B a`, which has another apiVersion?",
        ),
        (
            What::NoPartner { source: text("A a"), alike: Some(Alike::OnlyOfKind(text("A"), text("A b"))) },
            "no resource matches the patch for `A a`. Did you mean `A b`, the only A?",
        ),
        (
            What::NoPartner { source: text("A a"), alike: Some(Alike::OtherNamespace(text("A n/a"))) },
            "no resource matches the patch for `A a`. Did you mean `A n/a`, which has another namespace?",
        ),
        (
            What::SourceIsItem { source: text("A a"), field: text("spec.source") },
            "`spec.source` names this resource as the source, but the package has no other `A a` to merge it into. Name another file, or write the source as `yaml`",
        ),
        (
            What::NoneSelected {
                aim: rule(),
                targets: vec![text("{kind: A}"), text("{kind: B}")],
                exclude: 1,
                items: 2,
                passed_over: 0,
            },
            "`spec.rules[0]`: no resource matches {kind: A}, or {kind: B} without being excluded. A pattern must match the whole value: for a part of it, write `.*web.*`",
        ),
        (
            What::NoneSelected { aim: rule(), targets: Vec::new(), exclude: 0, items: 0, passed_over: 0 },
            "`spec.rules[0]` must select at least one resource, but there are no resources",
        ),
        (
            What::Selected { aim: rule(), count: 2, passed_over: 1 },
            "`spec.rules[0]` selected 2 resources, but not 1 resource that only configures a tool (Kptfile, Kustomization, functionConfig, or `config.kubernetes.io/local-config`). To select it, name its kind",
        ),
        (
            What::IdleExclude { name: rule(), target: text("{kind: A}") },
            "`spec.rules[0]` excludes nothing, because no selected resource matches {kind: A}. Check the names in it",
        ),
        (
            What::NoPlace { aim: rule(), place: text("spec.x") },
            "`spec.rules[0]`: no resource that it applies to has `spec.x`. Check the path",
        ),
        (What::GoneBefore(text("A a")), "nothing to delete, because the package has no `A a`"),
        (What::NotAdded(text("A a")), "not merged, because the package has no `A a`"),
        (What::Deleted(text("item 1")), "deleted by item 1"),
        (What::United(text("item 1")), "removed, because it was merged into item 1, which has the same identity"),
        (
            What::DeletedBefore,
            "there is nothing to merge this source into, because an earlier source deleted its resource",
        ),
        (
            What::UnknownType { of: of(), inference: Inference::On },
            "no schema for `example.com/v1 Site`, so the merge keys of its lists are guessed from their elements, and a list without a key is replaced as a whole. To be sure, add its CustomResourceDefinition to the package, or set `openapi` or `mergeKeys` in the functionConfig",
        ),
        (
            What::Grounds { of: of(), instead: None, lists: BTreeSet::from([ground]) },
            "lists of `example.com/v1 Site` merged by a key that all elements have (`spec.hosts` by `name`)",
        ),
        (
            What::IdleRule { rule: rule(), of: of(), path: vec![text("spec"), text("hosts")], lacks: Lacks::List },
            "`spec.rules[0]` is not used, because no resource of the type `example.com/v1 Site` has a list `spec.hosts`. Check its `path`",
        ),
        (
            What::IdleDecision { rule: rule(), miss: Miss::All, names: RuleParts::Target },
            "`spec.rules[0]` decided nothing: either its conflict is resolved, or its `target` is wrong",
        ),
        (
            What::IdleDecision { rule: rule(), miss: Miss::Value(Side::Dest, text("spec.x")), names: RuleParts::Both },
            "`spec.rules[0]` decided nothing: dest's value of `spec.x` is not the value in `when.dest`. Resolve the conflict again",
        ),
        (
            What::Deeper { side: Role::Updated, folder: text("web") },
            "the path of updated is one directory too high: its Kptfile is in \"web\", and dest's Kptfile is not. Let the path end with \"/web\", or new files are written to \"web/\"",
        ),
        (
            What::HasUpdated(text("abc")),
            "dest already records the commit of updated, \"abc\" (`upstreamLock.git.commit`). Either this upgrade is done, or original and updated are swapped",
        ),
        (
            What::OtherOriginal { commit: text("a"), original: text("b") },
            "original is the release of commit \"b\", but dest records the commit \"a\" (`upstreamLock.git.commit`). Use the release of that commit as original",
        ),
        (
            What::Apart {
                whereabouts: text("item 1"),
                field: "kind",
                missed: Missed::Changed(vec![text("a")]),
                stays: Stays::Consumed,
            },
            "item 1: skipped, because it has no `kind`. Upstream changed `a` in it. Make this change by hand. It is removed with the other inputs of the merge",
        ),
        (
            What::FileMerged { form: FileForm::NoResources, how: Combined::Lines },
            "merged the changes of both sides to the file (it holds no resources) line by line. Check the result",
        ),
        (
            What::Unreached { form: FileForm::AsText(AsText::Mixed), rules: vec![rule()] },
            "the file holds resources on one side and something else on another, so rules do not apply inside it: `spec.rules[0]` decided nothing here",
        ),
        (
            What::NotRead { place: text("v2/a"), why: WhyUnread::Link },
            "v2/a: not read, because it is a symbolic link. The merge changes nothing there",
        ),
        (
            What::StaysAt { here: text("a"), to: text("b"), why: InTheWay::Other },
            "a: moved to b in updated, but not in dest, because that file of dest holds something else",
        ),
        (
            What::NoYaml(vec![NoYaml { why: text("odd"), places: vec![text("a:1:1"), text("b:1:1")] }]),
            "2 files are not valid YAML and are treated as plain files, without resources: a:1:1, b:1:1: odd",
        ),
        (
            What::DestIsAbove { folder: text("web"), there: 9, count: 10 },
            "the directory \"web\" of dest has 9 of 10 resources of original. Pass that directory as `--dest`, or the merge adds new files to the wrong directory",
        ),
        (
            What::OneIdentity { items: texts(["item 1", "item 2"]), folders: texts(["", "over"]) },
            "`source` must say which directory is merged into the others, because item 1 and item 2 have the same identity. Write `source: [{path: over}]`, or `source=over` in a ConfigMap",
        ),
        (
            What::Refused { place: text("spec.x"), values: [Some(text("1")), None], by: Refuser::Server },
            "`spec.x` was 1 and is removed, but the API server does not allow this change of an existing object. Keep the value, or delete the object and create it again",
        ),
        (
            What::Broken { place: text("spec.x"), to: text("Secret a"), cause: Cause::KeyRemoved(text("k")) },
            "`spec.x` refers to the key \"k\" of Secret a, which the merge removes. Keep the key, or change the reference",
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
            "updated does not have `spec.x`, and dest changed it",
        ),
        (
            Dispute::Value { at: at(), did: [Did::Cleared, Did::Changed] },
            "dest set `spec.x` to null, and updated changed it",
        ),
        (Dispute::Value { at: String::new(), did: [Did::Added; 2] }, "both sides added the resource"),
        (
            Dispute::Parts { at: at(), parts: vec![text("tag"), text("digest")] },
            "both sides changed the tag and the digest of `spec.x`",
        ),
        (
            Dispute::Apart { at: at(), fields: [vec![text("a")], vec![text("b")]] },
            "dest set the a of `spec.x` and updated set the b, which exclude each other",
        ),
        (Dispute::Additions { at: at() }, "both sides added elements to `spec.x` at the same position"),
        (
            Dispute::Order { at: at(), moved: vec![text("a"), text("b")] },
            "dest and updated put elements of `spec.x` in different orders (`a`, `b`)",
        ),
        (Dispute::Comment { at: at(), did: [Did::Added; 2] }, "both sides added the comment at `spec.x`"),
        (
            Dispute::CommentOrOwner { at: at() },
            "one side changed a comment of `spec.x`, and the other side changed this comment or the text that it belongs to",
        ),
        (Dispute::Margin(Margin::Below), "dest and updated changed the comments below all resources in different ways"),
        (
            Dispute::File { form: FileForm::NoResourcesAnyMore, did: [Did::ReplacedByResources, Did::Changed] },
            "dest replaced the file (it no longer holds resources) by resources, and updated changed it",
        ),
        (
            Dispute::MergedFile { form: FileForm::NoResources, how: Combined::Document, overlaps: vec![text("a")] },
            "both sides changed the file (it holds no resources), and it was merged as the document that it holds; the changes overlap in `a`",
        ),
    ] {
        let open = Clash { shown: shown.clone(), ..Clash::open(dispute) };
        assert_eq!(said(&What::Conflict(Box::new(open))), format!("{want}{values}; unresolved"));
    }
    let dispute = Dispute::Resource { did: [Did::Changed, Did::Deleted] };
    let places = Clash { place: ClashPlace::Fields(vec![text("a"); 5]), ..Clash::open(dispute) };
    let want = "updated does not have the resource, and dest changed it (`a`, `a`, `a`, and 2 more)";
    assert_eq!(what_by(&places, Sides::of(Side::name)), want);
    let paths = Sides { original: text("a"), updated: text("b"), dest: text("c") };
    let moves = Clash::open(Dispute::Moves(paths));
    let want = "both sides moved the resource: dest has it in \"c\", updated has it in \"b\", original had it in \"a\"";
    assert_eq!(what_by(&moves, Sides::of(Side::name)), want);
    // git's users know the sides by other names.
    let ours = Sides { original: "original", updated: "theirs", dest: "ours" };
    let clash = Clash::open(Dispute::Value { at: at(), did: [Did::Added, Did::Deleted] });
    assert_eq!(what_by(&clash, ours), "theirs does not have `spec.x`, and ours added it");
}

#[test]
fn an_outcome_says_why() {
    for (settled, notes, want) in [
        (Settled::Dest, vec![], "kept dest's"),
        (
            Settled::Delta,
            vec![ClashNote::StandsNow(text("{}"))],
            "added only the changes of updated, so the value is {} now",
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
            "took updated's, the newer version, as `spec.rules[0]` says; this is a checksum of other content. Recompute it",
        ),
        (
            Settled::Dest,
            vec![ClashNote::MadeBy("go mod tidy")],
            "kept dest's, because the parts of a lock file belong together. Make it again with `go mod tidy`",
        ),
        (
            Settled::Open,
            vec![ClashNote::SetBy(texts(["a", "b"]).to_vec())],
            "unresolved; the value in the cluster was set by a, b",
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
        (Notice::Repeated, "dest has `spec.x` more than once, and only the first is merged. Remove the duplicates"),
        (
            Notice::Unkeyed(Unkeyed::SetOfContainers),
            "`spec.x` is replaced as a whole, because the elements of its set are not scalars",
        ),
        (Notice::Combined(Combined::Keys), "merged the changes of both sides to `spec.x` key by key. Check the result"),
        (
            Notice::Namesake { name: text("a"), other: text("spec.y"), instead },
            "`spec.x` is new in dest and has the same name as `spec.y`, a, so the API server will reject it. Choose another name, or change `spec.y` with `edits`: `{set: 'spec.x[name=''a'']', value: 1}`",
        ),
    ] {
        assert_eq!(noticed(notice), want);
    }
    let rule = || Some(text("{rule}"));
    let shortened = |by, rule, inside| said(&What::Shortened { place: text("spec.x"), lost: 2, by, rule, inside });
    let what =
        "`spec.x` is replaced as a whole, and dest loses 2 elements, because krm-merge does not know its merge key. ";
    let infer = "To merge it instead, set `inferMergeKeys: true`, or add to `mergeKeys`: `{rule}`";
    let name = "To merge it instead, add to `mergeKeys`: `{rule}`";
    let by = |key: &str| Some(ListKind::Map(vec![text(key)]));
    for (by, how) in [(by("name"), infer), (by("odd"), name)] {
        assert_eq!(shortened(by, rule(), Inside::Resource), format!("{what}{how}"));
    }
    // A list of words has no merge key that someone could know.
    let set = what.replace("its merge key", "that it is a set");
    assert_eq!(shortened(Some(ListKind::Set), rule(), Inside::Resource), format!("{set}{name}"));
    let as_helm = what.replace("as a whole", "as a whole, as with helm");
    assert_eq!(shortened(by("name"), rule(), Inside::File), format!("{as_helm}{name}"));
    let (none, what) = (
        "To merge it, `mergeKeys` needs a field or values that tell its elements apart",
        what.replace("krm-merge does not know its", "it has no"),
    );
    assert_eq!(shortened(None, None, Inside::Resource), format!("{what}{none}"));
    let kinds = [Some(Kind::Map), None];
    let other = What::OtherKind { place: text("spec.x"), kinds, side: Role::Updated };
    assert_eq!(said(&other), "`spec.x` is a map in dest, but nothing in updated; took updated's");
}

#[test]
fn comments_are_told_with_their_texts_if_these_may_be_shown() {
    let lost = |of, count, place: &str, shown: Option<&str>| {
        said(&What::CommentsLost { of, count, place: text(place), shown: shown.map(text) })
    };
    assert_eq!(
        lost(Side::Dest, 1, "a", Some("\"# b\"")),
        "a comment that only dest has at `a` is lost, because the merge removes or replaces the text there: \"# b\". Copy it if you still need it"
    );
    assert_eq!(
        lost(Side::Dest, 2, "", None),
        "2 comments that only dest has are lost, because the merge removes or replaces the text there. Copy them if you still need them"
    );
    let want =
        "a comment that upstream added at `a` is not taken, because dest does not have the field or changed its line";
    assert_eq!(lost(Side::Updated, 1, "a", None), want);
    let shown = Sides { original: None, updated: Some(text("\"# 2\"")), dest: Some(text("\"# 3\"")) };
    let commented = What::Commented { place: text("a"), did: [Did::Added; 2], shown, stays: CommentOf::Dest };
    let want = "both sides added the comment at `a`: dest has \"# 3\", updated has \"# 2\"; kept dest's";
    assert_eq!(said(&commented), want);
}
