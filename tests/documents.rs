//! The engine over resources that lie in several texts, as a host with files of its own has them: each text is edited by itself.

use krm_job::config::Config;
use krm_job::event::{Counts, Event};
use krm_job::job::{Item, Job, Texts};
use krm_job::role::Role;
use krm_package::resource::{Origin, Resource};
use krm_tree::limit::Budget;
use krm_yaml::{Document, TextEdits};

fn resources<'a>(files: &'a [(&'a str, Document<'a>)], is_package: bool) -> Vec<Resource<'a>> {
    let all = files.iter().flat_map(|(name, doc)| doc.roots().filter(|r| !r.is_null()).map(move |root| (*name, root)));
    all.enumerate()
        .map(|(i, (name, root))| {
            let origin = Origin::File { name: name.to_owned(), item: is_package.then_some(i) };
            Resource { path: Some(name), relative_path: Some(name), ..Resource::read(root, origin) }
        })
        .collect()
}

type Files<'t> = &'t [(&'t str, &'t str)];

/// What became of the items, and the resources that are new.
#[derive(Debug)]
struct Merged {
    items: Vec<Item>,
    added: Vec<Added>,
}

#[derive(Debug)]
struct Added {
    path: Option<String>,
    origin: Origin,
    text: String,
}

fn merge(spec: &str, sides: [Files<'_>; 3]) -> Result<(Merged, Vec<Event>, Vec<String>), Box<Event>> {
    let [original, updated, dest] =
        sides.map(|files| files.iter().map(|(n, t)| (*n, Document::parse(*t).expect("valid"))).collect::<Vec<_>>());
    let config = format!("{{apiVersion: krm-merge.dev/v1alpha1, kind: Merge, spec: {spec}}}");
    let config = Document::parse(config).expect("valid");
    let config = Config::read(config.roots().next().expect("a root")).expect("a config");
    let given = Role::of(config.mode())
        .iter()
        .map(|role| (*role, resources(if *role == Role::Original { &original } else { &updated }, false)));
    let items = resources(&dest, true);
    let owner: Vec<usize> = dest
        .iter()
        .enumerate()
        .flat_map(|(i, (_, doc))| doc.roots().filter(|r| !r.is_null()).map(move |_| i))
        .collect();
    let given = given.collect();
    let texts = Texts::parse(&config)?;
    let job = Job::new(items, given, config, &texts)?;
    let (merged, results) = job.run()?;
    let texts = dest.iter().enumerate().map(|(file, (_, doc))| {
        let of_file = merged.items.iter().zip(&owner).filter(|(_, o)| **o == file);
        let edits = of_file.filter_map(|(item, _)| if let Item::Edited(edits) = item { Some(edits) } else { None });
        let edits = TextEdits::default().union(edits.cloned()).expect("disjoint");
        edits.apply(doc.source(), 0..doc.source().len())
    });
    let texts = texts.collect();
    let added = merged.added.iter().map(|new| Added {
        path: new.path.clone(),
        origin: new.origin.clone(),
        text: new.text(&Budget::default()).expect("a small text"),
    });
    let added = added.collect();
    Ok((Merged { items: merged.items, added }, results, texts))
}

const MANY: &str = "\u{feff}# licence\r\n\r\n---\r\n# one\r\napiVersion: v1\r\nkind: ConfigMap\r\nmetadata:\r\n  name: a\r\ndata:\r\n  x: '1'   # x\r\n\r\n--- # two\r\n\r\n{apiVersion: v1, kind: ConfigMap, metadata: {name: b}, data: {x: '1'}}\r\n...\r\n---\r\napiVersion: v1\r\nkind: ConfigMap\r\nmetadata:\r\n  name: c\r\ndata:\r\n  x: '1'";

#[test]
fn each_document_of_a_file_is_edited_in_its_place() {
    let updated = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: '2'\n  y: '3'\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: b}, data: {x: '2'}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {y: '3'}}\n";
    let (merged, _, texts) =
        merge("{mode: TwoWay}", [&[], &[("u.yaml", updated)], &[("many.yaml", MANY)]]).expect("merged");
    assert!(merged.items.iter().all(|i| matches!(i, Item::Edited(_))), "{merged:?}");
    let want = MANY.replace("x: '1'   # x\r\n", "x: '2'   # x\r\n  y: '3'\r\n").replace("{x: '1'}", "{x: '2'}")
        + "\r\n  y: '3'\r\n";
    assert_eq!(texts, [want]);
}

#[test]
fn several_sources_and_aliases_rewrite_their_own_document_only() {
    let source = "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {x: '2'}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {x: '3'}}\n";
    let (_, _, texts) = merge("{mode: TwoWay}", [&[], &[("s.yaml", source)], &[("many.yaml", MANY)]]).expect("merged");
    assert_eq!(texts, [MANY.strip_suffix("x: '1'").expect("the end").to_owned() + "x: '3'"]);
    let dest = "# head\n---\na: &a {k: 1}\napiVersion: v1\nkind: T\nmetadata: {name: a}\nb: *a\n---\napiVersion: v1\nkind: T\nmetadata: {name: b}\n";
    let source = "{apiVersion: v1, kind: T, metadata: {name: a}, b: {k: 2}}\n";
    let (_, _, texts) = merge("{mode: TwoWay}", [&[], &[("s.yaml", source)], &[("d.yaml", dest)]]).expect("merged");
    assert_eq!(texts, [dest.replace("b: *a\n", "b: {k: 2}\n")]);
}

#[test]
fn what_is_new_has_the_path_of_its_file_and_no_annotation_for_it() {
    let map = |name: &str, value: u8| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  annotations:\n    own: x\ndata:\n  x: '{value}'\n"
        )
    };
    let (a1, a2, b) = (map("a", 1), map("a", 2), map("b", 1));
    let c = map("c", 1).replace("ConfigMap", "Secret");
    let (merged, results, texts) = merge(
        "{mode: ThreeWay}",
        [
            &[("a.yaml", &a1), ("c.yaml", &c)],
            &[("a.yaml", &a2), ("sub/b.yaml", &b)],
            &[("a.yaml", &a1), ("c.yaml", &c)],
        ],
    )
    .expect("merged");
    let [added] = merged.added.as_slice() else { panic!("{:?}", merged.added) };
    assert_eq!(
        (added.path.as_deref(), &added.origin.text(), &added.text),
        (Some("sub/b.yaml"), &"sub/b.yaml".to_owned(), &b)
    );
    assert_eq!(merged.items[1], Item::Goes);
    assert_eq!(texts, [a2, c]);
    let last = results.last().expect("counts");
    assert_eq!(last.counts(), Some(Counts { merged: 1, added: 1, deleted: 1, ..Counts::default() }));
}

#[test]
fn messages_name_the_file() {
    let twice = "{apiVersion: v1, kind: T, metadata: {name: a}}\n";
    let error = merge("{mode: TwoWay}", [&[], &[("s.yaml", twice)], &[("x.yaml", twice), ("y.yaml", twice)]]);
    let error = error.expect_err("which of the two is meant");
    let told = krm_words::message(&error);
    assert!(told.contains("not 2: x.yaml:1, y.yaml:1; give the source the path"), "{told}");
}
