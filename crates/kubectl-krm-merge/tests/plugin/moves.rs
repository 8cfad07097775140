//! Packages with overlays, and packages whose files upstream moved: the result builds, and a second run changes nothing.

use std::collections::BTreeMap;
use std::process::Command;

use crate::support::{Folder, has, map};

const UPGRADE: [&str; 8] = ["three-way", "--original", "v1", "--updated", "v2", "--dest", "here", "--in-place"];

/// A package of files.
type Package = BTreeMap<String, String>;

fn package<const N: usize>(files: [(&str, String); N]) -> Package {
    files.map(|(path, text)| (path.to_owned(), text)).into()
}

fn web(replicas: u8, image: &str) -> String {
    format!(
        "# the shop\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: {replicas}\n  template:\n    spec:\n      containers:\n      - name: app\n        image: {image}\n"
    )
}

/// A patch of an overlay, which has the identity of what it patches.
fn patch(replicas: &str) -> String {
    format!("apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: {replicas}\n")
}

fn base(files: &[&str]) -> String {
    let files: String = files.iter().map(|file| format!("- {file}\n")).collect();
    format!("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n{files}")
}

fn overlay(base_path: &str) -> String {
    format!("{}patches:\n- path: web.yaml\n", base(&[base_path]))
}

/// A folder with the versions of a package: v1, v2, and dest.
fn versions(v1: &Package, v2: &Package, here: &Package) -> Folder {
    let folder = Folder::new();
    for (version, files) in [("v1", v1), ("v2", v2), ("here", here)] {
        files.iter().for_each(|(path, text)| folder.write(&format!("{version}/{path}"), text));
    }
    folder
}

fn read(folder: &Folder) -> Package {
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    folder.files("here").into_iter().map(|(path, bytes)| (path, text(bytes))).collect()
}

/// Upgrades, and upgrades once more, which changes nothing. Answers what the first run wrote to stdout and to stderr.
fn upgraded(folder: &Folder) -> (String, String) {
    let first = folder.run(&UPGRADE);
    assert_eq!(first.code, Some(0), "{first:?}");
    let after = read(folder);
    let second = folder.run(&UPGRADE);
    assert_eq!(second.code, Some(0), "{second:?}");
    assert_eq!(read(folder), after, "the second run changed something: {second:?}");
    (first.stdout, first.stderr)
}

fn builds(folder: &Folder, path: &str) -> String {
    let folder = folder.path("here").join(path);
    let built = Command::new("kubectl").arg("kustomize").arg(folder).output().expect("kubectl runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    String::from_utf8(built.stdout).expect("UTF-8")
}

#[test]
fn a_third_overlay_comes_beside_two() {
    let mut v1 = package([("base/kustomization.yaml", base(&["web.yaml"])), ("base/web.yaml", web(1, "web:1"))]);
    let add = |package: &mut Package, name: &str, replicas: &str| {
        package.insert(format!("overlays/{name}/kustomization.yaml"), overlay("../../base"));
        package.insert(format!("overlays/{name}/web.yaml"), patch(replicas));
    };
    add(&mut v1, "dev", "1");
    add(&mut v1, "prod", "5");
    let mut v2 = v1.clone();
    v2.insert("base/web.yaml".into(), web(1, "web:2"));
    add(&mut v2, "stage", "2");
    let mut here = v1.clone();
    add(&mut here, "prod", "7 # Black Friday");
    add(&mut here, "mine", "3");
    let folder = versions(&v1, &v2, &here);
    let (_, stderr) = upgraded(&folder);
    assert_eq!(stderr, "");
    let mut want = v2.clone();
    add(&mut want, "prod", "7 # Black Friday");
    add(&mut want, "mine", "3");
    assert_eq!(read(&folder), want);
    if has("kubectl") {
        for (name, replicas) in [("dev", 1), ("stage", 2), ("prod", 7), ("mine", 3)] {
            let built = builds(&folder, &format!("overlays/{name}"));
            assert!(built.contains(&format!("replicas: {replicas}\n")) && built.contains("web:2"), "{name}: {built}");
        }
    }
    // The release after that drops an overlay, and dest has it still.
    let mut v3 = v2.clone();
    v3.retain(|path, _| !path.starts_with("overlays/dev/"));
    let folder = versions(&v2, &v3, &want);
    upgraded(&folder);
    want.retain(|path, _| !path.starts_with("overlays/dev/"));
    assert_eq!(read(&folder), want);
}

#[test]
fn files_that_upstream_moved_move_with_their_kustomization() {
    let services = |x: &str| format!("{}---\n{}", map("one", &[("x", x)]), map("two", &[("x", "'1'")]));
    let v1 = package([
        ("kustomization.yaml", base(&["web.yaml", "services.yaml"])),
        ("web.yaml", web(1, "web:1")),
        ("services.yaml", services("'1'")),
        ("run.sh", "#!/bin/sh\n".into()),
    ]);
    let v2 = package([
        ("base/kustomization.yaml", base(&["deploy/web.yaml", "services.yaml"])),
        ("base/deploy/web.yaml", format!("# Copyright the shop\n\n{}", web(1, "web:2"))),
        ("base/services.yaml", services("'2'")),
        ("base/run.sh", "#!/bin/sh\n".into()),
    ]);
    // Nobody touched anything: dest becomes the new release, byte for byte.
    let folder = versions(&v1, &v2, &v1);
    let (stdout, stderr) = upgraded(&folder);
    assert_eq!(stderr, "");
    assert_eq!(read(&folder), v2);
    let moved =
        "info: Deployment web (web.yaml): moved from \"web.yaml\" to \"base/deploy/web.yaml\", as upstream moved it\n";
    assert!(stdout.contains("added base/deploy/web.yaml\n") && stdout.contains(moved), "{stdout}");
    if has("kubectl") {
        assert!(builds(&folder, "base").contains("web:2"));
    }
    // What dest changed goes along, with its comments and with what only dest has in the file.
    let mut here = v1.clone();
    let own = format!("# ours\n\n{}---\n{}", web(9, "web:1"), map("own", &[]));
    here.insert("web.yaml".into(), own.clone());
    let folder = versions(&v1, &v2, &here);
    let (_, stderr) = upgraded(&folder);
    // Both sides put a comment at the top of this file.
    let both =
        "both sides added the comment at `apiVersion`: dest has \"# ours\", updated has \"# Copyright the shop\"";
    assert_eq!(stderr, format!("warning: Deployment web (web.yaml): {both}; kept dest's\n"));
    let mut want = v2.clone();
    want.insert("base/deploy/web.yaml".into(), own.replace("web:1", "web:2"));
    assert_eq!(read(&folder), want);
    if has("kubectl") {
        let built = builds(&folder, "base");
        assert!(built.contains("replicas: 9") && built.contains("name: own"), "{built}");
    }
}

#[test]
fn resources_go_to_the_files_to_which_upstream_took_them() {
    let [a, b, c] = ["a", "b", "c"].map(|name| map(name, &[("x", "'1'")]));
    let list = |items: &[&str]| {
        let items: String =
            items.iter().map(|i| format!("- {{apiVersion: v1, kind: ConfigMap, metadata: {{name: {i}}}}}\n")).collect();
        format!("apiVersion: v1\nkind: List\nitems:\n{items}")
    };
    let v1 = package([
        ("split.yaml", format!("# licence\n\n{a}---\n# of b\n{b}")),
        ("one.yaml", c.clone()),
        ("two.yaml", map("d", &[])),
        ("list.yaml", list(&["e", "f"])),
    ]);
    let v2 = package([
        ("split.yaml", format!("# licence\n\n{a}")),
        ("b.yaml", format!("# of b\n{b}")),
        ("both.yaml", format!("# both\n{}---\n{c}", map("d", &[]))),
        ("list.yaml", list(&["e"])),
        ("f.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: f}\n".into()),
    ]);
    let folder = versions(&v1, &v2, &v1);
    assert_eq!(upgraded(&folder).1, "");
    assert_eq!(read(&folder), v2);
    // Touched here: the edits go along.
    let mut here = v1.clone();
    here.insert("split.yaml".into(), format!("# licence\n\n{a}---\n# of b\n{}", b.replace("'1'", "'7' # ours")));
    here.insert("one.yaml".into(), c.replace("'1'", "'8'"));
    let folder = versions(&v1, &v2, &here);
    assert_eq!(upgraded(&folder).1, "");
    let now = read(&folder);
    assert_eq!(now["split.yaml"], v2["split.yaml"]);
    assert_eq!(now["b.yaml"], v2["b.yaml"].replace("'1'", "'7' # ours"));
    // They stand in upstream's order, and the comment that upstream has above `d` comes with it.
    assert_eq!(now["both.yaml"], format!("# both\n{}---\n{}", map("d", &[]), c.replace("'1'", "'8'")));
}

#[test]
fn a_file_comes_to_the_path_that_another_file_leaves() {
    let of = |name: &str, x: &str| map(name, &[("x", x), ("y", "'1'"), ("z", "'1'")]);
    let one = |name: &str| of(name, "'1'");
    let v1 = package([
        ("a.yaml", one("one")),
        ("10-two.yaml", format!("# of two\n\n{}", one("two"))),
        ("20-three.yaml", format!("# of three\n\n{}", one("three"))),
        ("left.yaml", one("left")),
        ("right.yaml", one("right")),
        ("many.yaml", format!("{}---\n{}", one("many"), one("more"))),
        ("few.yaml", one("few")),
    ]);
    let v2 = package([
        ("a.yaml", of("zero", "'0'")),
        ("b.yaml", one("one")),
        ("10-two.yaml", format!("# of three\n\n{}", one("three"))),
        ("20-two.yaml", format!("# of two\n\n{}", one("two"))),
        ("left.yaml", one("right")),
        ("right.yaml", one("left")),
        ("many.yaml", one("few")),
        ("more.yaml", one("more")),
        ("most.yaml", one("many")),
    ]);
    let folder = versions(&v1, &v2, &v1);
    let (stdout, stderr) = upgraded(&folder);
    assert_eq!(stderr, "");
    assert!(stdout.contains("changed 10-two.yaml\n") && stdout.contains("deleted 20-three.yaml\n"), "{stdout}");
    assert_eq!(read(&folder), v2);
    // Changed here: the edits go along.
    let ours = |package: &Package| -> Package {
        let text = |text: &String| text.replace("z: '1'", "z: '7' # ours");
        package.iter().map(|(path, own)| (path.clone(), text(own))).collect()
    };
    let folder = versions(&v1, &v2, &ours(&v1));
    assert_eq!(upgraded(&folder).1, "");
    let mut want = ours(&v2);
    want.insert("a.yaml".into(), of("zero", "'0'"));
    assert_eq!(read(&folder), want);
}

#[test]
fn comments_at_the_top_of_a_file_stay_in_it() {
    let one = |name: &str| map(name, &[("x", "'1'"), ("y", "'1'"), ("z", "'1'")]);
    for header in ["# licence\n\n", "# licence\n---\n", "---\n# licence\n\n", "# licence\n\n# more\n\n"] {
        // Upstream puts a resource at the top.
        let v1 = package([("a.yaml", format!("{header}{}---\n{}", one("one"), one("two")))]);
        let v2 = package([("a.yaml", format!("{header}{}---\n{}---\n{}", one("zero"), one("one"), one("two")))]);
        let ours = |package: &Package| package.iter().map(|(k, v)| (k.clone(), v.clone() + "  own: '1'\n")).collect();
        let folder = versions(&v1, &v2, &ours(&v1));
        assert_eq!(upgraded(&folder).1, "");
        assert_eq!(read(&folder), ours(&v2), "{header:?}");
        // Upstream takes the first resource to another file, and brings another one to its place.
        let v1 = package([
            ("a.yaml", format!("{header}{}", one("one"))),
            ("b.yaml", format!("{}---\n{}", one("x"), one("two"))),
            ("c.yaml", one("three")),
        ]);
        let v2 = package([
            ("a.yaml", format!("{header}{}", one("two"))),
            ("b.yaml", one("x")),
            ("c.yaml", format!("{}---\n{}", one("three"), one("one"))),
        ]);
        let folder = versions(&v1, &v2, &v1);
        assert_eq!(upgraded(&folder).1, "");
        assert_eq!(read(&folder), v2, "{header:?}");
        // Upstream takes it to a new file, which has comments of its own.
        let v1 = package([("a.yaml", format!("{header}{}---\n{}", one("one"), one("two")))]);
        let v2 = package([
            ("a.yaml", format!("{header}{}", one("two"))),
            ("b.yaml", format!("# of b\n\n{}---\n{}", one("zero"), one("one"))),
        ]);
        let edit = |package: &Package| -> Package {
            let text = |text: &String| text.replace("y: '1'", "y: '7'");
            package.iter().map(|(path, own)| (path.clone(), text(own))).collect()
        };
        let folder = versions(&v1, &v2, &edit(&v1));
        assert_eq!(upgraded(&folder).1, "");
        let now = read(&folder);
        let has_header = now["a.yaml"].strip_prefix(header).is_some_and(|rest| !rest.contains('#'));
        assert!(has_header && now["a.yaml"].ends_with(&edit(&v2)["a.yaml"][header.len()..]), "{now:?}");
        let edited = one("one").replace("y: '1'", "y: '7'");
        assert_eq!(now["b.yaml"], format!("# of b\n\n{}---\n{edited}", one("zero")));
    }
}

#[test]
fn what_comes_to_another_file_stands_there_as_upstream() {
    let one = |name: &str| map(name, &[("x", "'1'"), ("y", "'1'"), ("z", "'1'")]);
    for order in [["one", "three", "four"], ["three", "one", "four"], ["three", "four", "one"]] {
        let v1 = package([
            ("a.yaml", format!("{}---\n{}", one("one"), one("two"))),
            ("c.yaml", format!("{}---\n{}", one("three"), one("four"))),
        ]);
        let v2 = package([("a.yaml", one("two")), ("c.yaml", order.map(one).join("---\n"))]);
        let folder = versions(&v1, &v2, &v1);
        assert_eq!(upgraded(&folder).1, "");
        assert_eq!(read(&folder), v2, "{order:?}");
    }
}

#[test]
fn quotes_and_comments_of_dest_go_along_to_a_new_file() {
    let one = |name: &str| map(name, &[("x", "one"), ("y", "'1'"), ("z", "'1'")]);
    let v1 = package([("a.yaml", format!("{}---\n{}", one("one"), one("two")))]);
    let v2 = package([("a.yaml", one("two")), ("b.yaml", format!("{}---\n{}", one("zero"), one("one")))]);
    let ours = |text: String| text.replace("x: one", "x: \"one\" # kpt-set: ${x}");
    let here = package([("a.yaml", format!("{}---\n{}", ours(one("one")), one("two")))]);
    let folder = versions(&v1, &v2, &here);
    assert_eq!(upgraded(&folder).1, "");
    let want = package([("a.yaml", one("two")), ("b.yaml", format!("{}---\n{}", one("zero"), ours(one("one"))))]);
    assert_eq!(read(&folder), want);
}

#[test]
fn what_has_another_name_and_another_file_upstream_is_followed_there() {
    let data = |x: &'static str, y: &'static str| [("x", x), ("y", y)];
    let v1 = package([("a.yaml", map("a", &data("'1'", "'1'")))]);
    let v2 = package([("new/b.yaml", map("b", &data("'2'", "'1'")))]);
    let mut here = package([("a.yaml", map("a", &data("'1'", "'7'")))]);
    let folder = versions(&v1, &v2, &here);
    assert_eq!(upgraded(&folder).1, "");
    assert_eq!(read(&folder), package([("new/b.yaml", map("b", &data("'2'", "'7'")))]));
    // Without renames the new one comes, and the old one, which was changed here, goes.
    let folder = versions(&v1, &v2, &here);
    let ran = folder.run(&[&UPGRADE[..], &["--renames", "ignore"]].concat());
    assert!(ran.stderr.contains("updated does not have the resource, and dest changed it"), "{ran:?}");
    assert_eq!(read(&folder), v2);
    // Where dest cannot take it to that file it has its new name in the old one.
    here.insert(".krmignore".into(), "new/\n".into());
    let folder = versions(&v1, &v2, &here);
    let told =
        "warning: a.yaml: moved to new/b.yaml in updated, but not in dest, because `.krmignore` excludes that file\n";
    assert_eq!(upgraded(&folder).1, told);
    assert_eq!(read(&folder)["a.yaml"], map("b", &data("'2'", "'7'")));
}

#[test]
fn what_dest_cannot_take_to_a_file_stays_and_is_told() {
    let v1 = package([("a.yaml", map("a", &[("x", "'1'")]))]);
    let v2 = package([("new/a.yaml", map("a", &[("x", "'2'")]))]);
    for (path, text, why) in [
        (".krmignore", "new/\n", "`.krmignore` excludes that file"),
        ("new/a.yaml", "mine: 1\n", "that file of dest holds something else"),
    ] {
        let mut here = v1.clone();
        here.insert(path.into(), text.into());
        let folder = versions(&v1, &v2, &here);
        let (stdout, stderr) = upgraded(&folder);
        assert_eq!(
            stderr,
            format!("warning: a.yaml: moved to new/a.yaml in updated, but not in dest, because {why}\n")
        );
        assert!(!stdout.contains("moved from"), "{stdout}");
        here.insert("a.yaml".into(), map("a", &[("x", "'2'")]));
        assert_eq!(read(&folder), here);
    }
    // Comments are not in the way, and stay.
    let mut here = v1.clone();
    here.insert("new/a.yaml".into(), "# mine\n".into());
    let folder = versions(&v1, &v2, &here);
    assert_eq!(upgraded(&folder).1, "");
    assert_eq!(read(&folder)["new/a.yaml"], format!("# mine\n---\n{}", map("a", &[("x", "'2'")])));
}

/// A hint that compares the sides stops no merge.
#[test]
fn a_key_twice_in_what_upstream_left_alone_stops_no_upgrade() {
    let own = |data: &[(&str, &str)]| map("a", data);
    for (upstream, dest) in [
        (own(&[("x", "'1'"), ("x", "'2'")]), own(&[("x", "'1'")])),
        (own(&[("x", "'1'")]), own(&[("x", "'1'"), ("x", "'2'")])),
    ] {
        let v1 = package([("a.yaml", upstream)]);
        let here = package([("a.yaml", dest)]);
        let folder = versions(&v1, &v1, &here);
        assert_eq!(upgraded(&folder).1, "");
        assert_eq!(read(&folder), here);
    }
}

#[test]
fn who_moved_a_file_keeps_its_place_and_hears_of_it() {
    let a = map("a", &[("x", "'1'")]);
    let (v1, v2) = (package([("a.yaml", a.clone())]), package([("theirs/a.yaml", a.clone())]));
    let here = package([("ours/a.yaml", a)]);
    let folder = versions(&v1, &v2, &here);
    let (_, stderr) = upgraded(&folder);
    let told = "warning: ConfigMap a (ours/a.yaml): both sides moved the resource: dest has it in \"ours/a.yaml\", updated has it in \"theirs/a.yaml\", original had it in \"a.yaml\"; left it where dest has it\n";
    assert_eq!((stderr.as_str(), read(&folder)), (told, here.clone()));
    let failed = folder.run(&[&UPGRADE[..], &["--on-conflict", "fail"]].concat()).failed(1);
    assert!(failed.contains("original had it in \"a.yaml\"; unresolved"), "{failed}");
    // Who moved it to the same place agrees.
    let folder = versions(&v1, &v2, &v2);
    assert_eq!(upgraded(&folder).1, "");
    assert_eq!(read(&folder), v2);
}

/// A resource that dest keeps goes with its file, which upstream's kustomization names at its new place only.
#[test]
fn what_dest_keeps_goes_with_its_file() {
    let [a, b] = ["a", "b"].map(|name| map(name, &[("x", "'1'")]));
    let v1 = package([("all.yaml", format!("{a}---\n{b}"))]);
    let v2 = package([("new/all.yaml", a.clone())]);
    let here = package([("all.yaml", format!("{a}---\n{}", b.replace("'1'", "'2'")))]);
    let folder = versions(&v1, &v2, &here);
    let ran = folder.run(&[&UPGRADE[..], &["--on-conflict", "keep-dest"]].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(read(&folder), package([("new/all.yaml", here["all.yaml"].clone())]));
}

#[test]
fn files_that_are_named_one_by_one_move_nothing() {
    let folder = Folder::with(&[
        ("v1.yaml", &map("a", &[("x", "'1'")])),
        ("v2.yaml", &map("a", &[("x", "'2'")])),
        ("v1/a.yaml", &map("a", &[("x", "'1'")])),
        ("v2/b/a.yaml", &map("a", &[("x", "'2'")])),
        ("here/v1.yaml", &map("a", &[("x", "'1'")])),
        ("mine.yaml", &map("a", &[("x", "'1'")])),
    ]);
    for (original, updated, dest) in
        [("v1.yaml", "v2.yaml", "mine.yaml"), ("v1.yaml", "v2.yaml", "here"), ("v1", "v2", "mine.yaml")]
    {
        let args = ["three-way", "--original", original, "--updated", updated, "--dest", dest];
        let results = folder.run(&[&args[..], &["-o", "results"]].concat()).passed();
        assert!(results.contains("1 merged") && !results.contains("moved"), "{results}");
        assert_eq!(folder.run(&args).passed(), map("a", &[("x", "'2'")]));
    }
}
