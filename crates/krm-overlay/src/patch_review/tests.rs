use krm_yaml::{Document, Position};

use super::*;
use crate::base::{Address, Released};

struct Files(Vec<(&'static str, String)>);

impl BaseFiles for Files {
    fn document(&self, path: &str) -> Result<Option<Rc<Document<'static>>>, String> {
        let text = self.0.iter().find(|(known, _)| *known == path).map(|(_, text)| text.clone());
        text.map(|text| Document::parse(text).map(Rc::new).map_err(|e| e.to_string())).transpose()
    }

    fn release(&self, address: &Address) -> Result<Released, String> {
        Err(format!("{} is not there", address.text))
    }
}

/// A line for each thing that a kustomization says over two bases, each with the line in its file; what holds has none.
fn told(kustomization: &str, old: &str, new: &str) -> Vec<String> {
    let files = |base: &str| {
        let of_base = "resources: [base.yaml]\nnamePrefix: my-\nimages: [{name: pinned, newTag: '7'}]\n";
        Files(vec![
            ("kustomization.yaml", format!("resources: [b]\n{kustomization}")),
            ("b/kustomization.yaml", of_base.to_owned()),
            ("b/base.yaml", base.to_owned()),
            ("c/kustomization.yaml", "kind: Component\nreplicas: [{name: web, count: 2}]\n".to_owned()),
        ])
    };
    let (old, new) = (files(old), files(new));
    let review = review_kustomization("kustomization.yaml", &BothFiles { old: &old, new: &new }).expect("a review");
    let line = |found: &PatchFinding| {
        let verdict = match &found.finding.verdict {
            Verdict::Holds => return None,
            Verdict::AnotherElement { original, updated } => format!("another element {original} > {updated}"),
            Verdict::Hides(hidden) => {
                let value = |value: &Option<Value>| value.as_ref().map_or("-".to_owned(), Value::to_string);
                format!("hides {} > {}", value(&hidden.original), value(&hidden.updated))
            }
            Verdict::Appears { updated } => format!("appears {updated}"),
            Verdict::Unknown(Unknown::NotRead(_)) => "unknown".to_owned(),
            Verdict::Unknown(_) => "no patch".to_owned(),
            other => format!("{other:?}").split(' ').next().unwrap_or_default().to_lowercase(),
        };
        let place = if found.finding.place.is_empty() { ".".to_owned() } else { found.finding.place.keyed() };
        let place = place.rsplit_once("spec.template.spec.").map_or(place.as_str(), |(_, below)| below);
        let text = &new.0.iter().find(|(path, _)| *path == found.at.file).expect("its file").1;
        Some(format!("{}: {place}: {verdict}", Position::of(text, found.at.offset).line))
    };
    review.findings.iter().filter_map(line).collect()
}

fn deployment(name: &str, rest: &str) -> String {
    format!("apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\nspec: {rest}\n")
}

/// A Deployment with these containers.
fn web(containers: &str) -> String {
    deployment("web", &format!("{{replicas: 1, template: {{spec: {{containers: [{containers}]}}}}}}"))
}

/// A kustomization with a patch of the Deployment's pod.
fn strategic(pod: &str) -> String {
    let head = "apiVersion: apps/v1, kind: Deployment, metadata: {name: web}";
    format!("patches:\n- patch: |-\n    {{{head}, spec: {{template: {{spec: {pod}}}}}}}\n")
}

/// A kustomization with operations for the objects of a kind.
fn json(operations: &str) -> String {
    format!("patches:\n- target: {{kind: Deploy.*}}\n  patch: |-\n    [{operations}]\n")
}

#[test]
fn a_strategic_patch_is_judged_by_the_merge_keys_of_its_lists() {
    for (pod, old, new, want) in [
        ("{containers: [{name: a, image: x:3}]}", "{name: a, image: x:1}", "{name: a, image: x:1}", &[][..]),
        (
            "{containers: [{name: a, image: x:3}]}",
            "{name: a, image: x:1}",
            "{name: b}, {name: a, image: x:2}",
            &["4: containers[name=a].image: hides \"x:1\" > \"x:2\""],
        ),
        (
            "{containers: [{name: a, image: x:2}]}",
            "{name: a, image: x:1}",
            "{name: a, image: x:2}",
            &["4: containers[name=a].image: newlysame"],
        ),
        (
            "{containers: [{name: a, image: x:2}]}",
            "{name: a}, {name: c}",
            "{name: b}",
            &["4: containers[name=a]: gone"],
        ),
        // An element of its own.
        ("{containers: [{name: c, image: x:2}]}", "{name: a}", "{name: b}", &[]),
        ("{containers: [{name: a, $patch: delete}]}", "{name: a}", "{name: b}", &["4: containers[name=a]: gone"]),
        (
            "{containers: [{name: a, image: null}]}",
            "{name: a, image: x}",
            "{name: a}",
            &["4: containers[name=a].image: gone"],
        ),
        ("{containers: [{name: a, $patch: delete}]}", "{name: a, image: x}", "{name: a, image: w}", &[]),
        // A list without keys is one place.
        (
            "{containers: [{name: a, args: [x]}]}",
            "{name: a, args: [w]}",
            "{name: a, args: [w, z]}",
            &["4: containers[name=a].args: hides [\"w\"] > [\"w\", \"z\"]"],
        ),
        (
            "{containers: [{name: a, env: [{$patch: replace}, {name: e, value: x}]}]}",
            "{name: a, env: [{name: e}]}",
            "{name: a, env: [{name: f}]}",
            &["4: containers[name=a].env: hides [{\"name\": \"e\"}] > [{\"name\": \"f\"}]"],
        ),
        (
            "{containers: [{name: a, resources: {limits: {cpu: 2}}}]}",
            "{name: a, resources: {limits: {cpu: 1}}}",
            "{name: a}",
            &["4: containers[name=a].resources.limits.cpu: hides 1 > -"],
        ),
        // What a base pins below stays.
        ("{containers: [{name: a, image: q}]}", "{name: a, image: 'pinned:1'}", "{name: a, image: 'pinned:2'}", &[]),
        ("{}", "{name: a}", "{name: b}", &[]),
    ] {
        assert_eq!(told(&strategic(pod), &web(old), &web(new)), want, "{pod}: {old} > {new}");
    }
}

#[test]
fn an_operation_is_judged_by_the_element_that_its_index_means() {
    let image = "{op: replace, path: /spec/template/spec/containers/0/image, value: x}";
    let arg = "{op: replace, path: /spec/template/spec/containers/0/args/1, value: --v=9}";
    let args = |args: &str| format!("{{name: a, args: [{args}]}}");
    for (operations, old, new, want) in [
        (image, "{name: a, image: w}", "{name: a, image: w}", &[][..]),
        (
            image,
            "{name: a, image: w}",
            "{name: b, image: w}, {name: a, image: w}",
            &["5: containers[0]: another element a > b"],
        ),
        (image, "{name: a, image: w}", "{name: a, image: x}", &["5: containers[0].image: newlysame"]),
        (image, "{name: a, image: w}", "", &["5: containers[0]: gone"]),
        (arg, &args("--a=1, --v=2"), &args("--a=1, --v=3"), &["5: containers[0].args[1]: hides \"--v=2\" > \"--v=3\""]),
        (arg, &args("--a=1, --v=2"), &args("--v=2, --a=1"), &["5: containers[0].args[1]: another element --v > --a"]),
        (arg, &args("--a=1, --v=2"), &args("--a=1"), &["5: containers[0].args[1]: gone"]),
        (
            "{op: remove, path: /spec/template/spec/containers/0/args}",
            &args("x"),
            "{name: a}",
            &["5: containers[0].args: gone"],
        ),
        (
            "{op: add, path: /spec/template/spec/containers/0/args/-, value: x}",
            &args("w"),
            &args("w, x"),
            &["5: containers[0].args[1]: newlysame"],
        ),
        (
            "{op: add, path: /spec/template/spec/containers/0/args/-, value: x}",
            &args("w"),
            "{name: a}",
            &["5: containers[0].args: gone"],
        ),
        (
            "{op: add, path: /spec/template/spec/containers/0/args, value: [x]}",
            &args("w"),
            "{name: a}",
            &["5: containers[0].args: hides [\"w\"] > -"],
        ),
        (
            "{op: test, path: /spec/template/spec/containers/0/image, value: w}",
            "{name: a, image: w}",
            "{name: a, image: z}",
            &["5: containers[0].image: hides \"w\" > \"z\""],
        ),
        // The second operation sees what the first one left.
        (
            "{op: add, path: /spec/template/spec/containers/0, value: {name: n}}, {op: replace, path: /spec/template/spec/containers/0/name, value: m}",
            "{name: a}",
            "{name: b}",
            &[],
        ),
        (
            "{op: replace, path: /metadata/annotations/a~1b, value: x}",
            "{name: a}",
            "{name: b}",
            &["5: metadata.annotations: nowhere"],
        ),
        ("{op: nonsense, path: /a}", "{name: a}", "{name: a}", &["5: .: no patch"]),
    ] {
        assert_eq!(told(&json(operations), &web(old), &web(new)), want, "{operations}: {old} > {new}");
    }
}

#[test]
fn a_patch_finds_its_objects_as_kustomize_does() {
    let (web, other) = (web("{name: a}"), deployment("other", "{}"));
    let both = format!("{web}---\n{other}");
    let list = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 2}}\n".to_owned();
    let patch = "patches:\n- patch: |-\n    {apiVersion: apps/v1, kind: Deployment, metadata: {name: NAME}, spec: {replicas: 3}}\n";
    let replicas = "{op: replace, path: /spec/template/spec/containers/0/name, value: a}";
    for (kustomization, old, new, want) in [
        // By its first name, and by the one that it has.
        (patch.replace("NAME", "web"), &web, &list, &["4: spec.replicas: hides 1 > 2"][..]),
        (patch.replace("NAME", "my-web"), &web, &list, &["4: spec.replicas: hides 1 > 2"]),
        (patch.replace("NAME", "web"), &web, &other, &["4: .: gone"]),
        (patch.replace("NAME", "none"), &web, &other, &["4: .: nowhere"]),
        (patch.replace("apps/v1", "apps/v1beta1").replace("NAME", "web"), &web, &list, &["4: .: nowhere"]),
        // Of several targets, one that goes is no loss, and a new one may lack the place.
        (json(replicas), &both, &web, &["5: containers[0].name: same"]),
        (json(replicas), &web, &both, &["5: containers[0].name: same", "5: spec.template: gone"]),
        (json(replicas), &both, &"{}".to_owned(), &["5: .: gone"]),
        ("components: [c]\n".to_owned(), &web, &list, &["2: replicas[name=web].count: newlysame"]),
        ("components: [c]\n".to_owned(), &web, &other, &["2: replicas[name=web].count: gone"]),
        (
            "images: [{name: x, newTag: 2}]\n".to_owned(),
            &self::web("{image: x:1}"),
            &self::web("{image: y:1}"),
            &["2: images[name=x].newTag: gone"],
        ),
        (
            "images: [{name: x, newTag: 2}]\n".to_owned(),
            &self::web("{image: x:1}"),
            &self::web("{image: x:2}"),
            &["2: images[name=x].newTag: newlysame"],
        ),
        // What is generated is not read.
        (
            "secretGenerator: [{name: s}]\npatches: [{target: {kind: Secret}, patch: '{data: {}}'}]\n".to_owned(),
            &web,
            &web,
            &["3: .: unknown"],
        ),
    ] {
        assert_eq!(told(&kustomization, old, new), want, "{kustomization}{old}{new}");
    }
}

#[test]
fn kustomizations_that_name_each_other_end() {
    let files = Files(vec![(
        "kustomization.yaml",
        "resources: [., ., ., 'https://x/y?ref=1']\ncomponents: [., .]\n".to_owned(),
    )]);
    let review = review_kustomization("kustomization.yaml", &BothFiles { old: &files, new: &files }).expect("a review");
    assert!(review.findings.is_empty() && !review.unread.is_empty());
}
