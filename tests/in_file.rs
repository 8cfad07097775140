//! Where errors are: in the files that the user knows, as the host names them.

mod support;

use support::{fails, indent, resource_list};

/// A functionConfig with its annotations as kpt sends it, and the file that it comes from.
fn stdin(file: &str) -> String {
    let sent = file.replace(
        "  name: m\n",
        "  name: m\n  annotations:\n    config.kubernetes.io/index: '0'\n    config.kubernetes.io/path: 'fn-config.yaml'\n    internal.config.kubernetes.io/index: '0'\n    internal.config.kubernetes.io/path: 'fn-config.yaml'\n",
    );
    format!(
        "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: c\nfunctionConfig:\n{}",
        indent(&sent, 2)
    )
}

/// The place of a word in a file.
fn place(file: &str, word: &str) -> String {
    let at = file.find(word).expect(word);
    let line = file[..at].matches('\n').count() + 1;
    format!("{line}:{}", at - file[..at].rfind('\n').map_or(0, |n| n + 1) + 1)
}

#[test]
fn a_fault_of_the_function_config_is_named_in_its_file() {
    for file in [
        "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nmetadata:\n  name: m\nspec:\n  mode: twoway\n",
        "# the head\napiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n  # which one\n  mode: twoway\nmetadata:\n  name: m\n",
        "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nmetadata:\n  name: m\n  labels: {a: b}\nspec: {mode: twoway}\n",
    ] {
        let stdin = stdin(file);
        let error = fails(&stdin);
        let want = format!("error: fn-config.yaml:{}: `spec.mode` must be", place(file, "twoway"));
        assert!(error.starts_with(&want), "{want}\n{error}");
        let output = krm_merge_function::run(&stdin).stdout;
        assert!(output.contains("file:\n    path: fn-config.yaml\n"), "{output}");
    }
    // Its own annotations are lines of the file, and so is `annotations` then.
    let file = "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nmetadata:\n  annotations:\n    own: x\n  name: m\nspec:\n  mode: twoway\n";
    let sent = file.replace("    own: x\n", "    own: x\n    config.kubernetes.io/path: a/fn.yaml\n");
    let stdin = format!(
        "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\nfunctionConfig:\n{}",
        indent(&sent, 2)
    );
    assert!(fails(&stdin).starts_with("error: a/fn.yaml:8:9: `spec.mode`"), "{}", fails(&stdin));
    // Without a file of its own, and where nobody can tell the line in it, it is the place in stdin.
    for change in [("config.kubernetes.io/path: 'fn-config.yaml'", "other: x"), ("index: '0'", "index: '1'")] {
        let stdin = self::stdin(
            "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nmetadata:\n  name: m\nspec:\n  mode: twoway\n",
        );
        let error = fails(&stdin.replace(change.0, change.1));
        assert!(error.starts_with("error: stdin "), "{error}");
    }
}

#[test]
fn a_fault_of_an_item_is_named_in_its_file() {
    let file = "# head\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  k: 1\n  k: 2\n";
    let list = |index: &str| {
        let host = format!(
            "  name: c\n  annotations:\n    config.kubernetes.io/path: app/c.yaml\n    config.kubernetes.io/index: '{index}'\n"
        );
        let (head, rest) = file.split_once('\n').expect("a head");
        let item = indent(&rest.replace("  name: c\n", &host), 2);
        let source = "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {k: 3}}";
        resource_list(
            &format!("{head}\n- {}", item.trim_start()),
            &format!("mode: TwoWay\nsource:\n- resources: [{source}]\n"),
        )
    };
    let told = "the key `k` must be in a map only once if the map is merged";
    let error = fails(&list("0"));
    assert!(error.starts_with(&format!("error: app/c.yaml:8:3: ConfigMap c: {told}")), "{error}");
    // Nobody can tell how long the documents before it are.
    let error = fails(&list("1"));
    assert!(error.starts_with("error: ConfigMap c (app/c.yaml): stdin 14:5: "), "{error}");
}

#[test]
fn a_fault_of_a_text_in_the_function_config_is_named_in_its_file() {
    let file = "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nmetadata:\n  name: m\nspec:\n  mode: TwoWay\n  source:\n  - yaml: |\n      # the map\n      apiVersion: v1\n      kind: ConfigMap\n      metadata: {name: c}\n      data: [\n";
    let error = fails(&stdin(file));
    assert!(error.starts_with("error: fn-config.yaml:13:13: `spec.source[0].yaml`: the text must be YAML"), "{error}");
    let twice = file.replace("data: [", "data: {k: 1, k: 2}");
    let error = fails(&stdin(&twice));
    let want = format!(
        "error: fn-config.yaml:{}: ConfigMap c: `spec.source[0].yaml`: the key `k` must be in a map only once",
        place(&twice, "k: 2")
    );
    assert!(error.starts_with(&want), "{want}\n{error}");
    // The lines of other texts are not those of the file.
    let quoted = "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nmetadata:\n  name: m\nspec:\n  mode: TwoWay\n  source:\n  - yaml: 'a: ['\n";
    assert!(fails(&stdin(quoted)).starts_with("error: `spec.source[0].yaml` 1:"), "{}", fails(&stdin(quoted)));
}
