//! What the README shows is what the function does.

mod support;

use std::fs;
use std::path::Path;

/// The YAML blocks of a text, in order.
fn blocks(text: &str) -> Vec<String> {
    let parts = text.split("```yaml\n").skip(1);
    parts.map(|part| part.split("```").next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn each_resource_list_of_the_readme_gives_the_block_behind_it() {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).expect("the README");
    let blocks = blocks(&text);
    let mut shown = 0;
    for pair in
        blocks.windows(2).filter(|pair| pair[0].starts_with("apiVersion: config.kubernetes.io/v1\nkind: ResourceList"))
    {
        let output = support::passes(&pair[0]);
        assert!(output.stdout.contains(&pair[1]), "{}\nis not in\n{}", pair[1], output.stdout);
        shown += 1;
    }
    assert_eq!(shown, 2, "TwoWay and Strategic");
}

/// Every functionConfig that the function's own documentation shows is understood, or is refused for the items that are not there.
#[test]
fn each_config_of_the_documentation_is_understood() {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("functions/merge/README.md"));
    let mut fields = 0;
    for block in blocks(&text.expect("the documentation")) {
        let config = if block.starts_with("apiVersion") {
            block.clone()
        } else {
            let modes = [("original:", "ThreeWay"), ("onConflict", "ThreeWay"), ("mode:", ""), ("", "TwoWay")];
            let mode = modes.iter().find(|(word, _)| block.contains(word)).map_or("", |(_, mode)| mode);
            let spec = match block.strip_prefix("spec:\n") {
                Some(spec) => spec.to_owned(),
                None => support::indent(&format!("mode: {mode}\n{block}"), 2),
            };
            format!("apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n{spec}")
        };
        let config = support::indent(&config, 2);
        let stdin =
            format!("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\nfunctionConfig:\n{config}");
        for error in krm_merge::run(&stdin).stderr.iter().filter(|line| line.starts_with("error: ")) {
            let of_items =
                ["must select at least one item", "a patch must hit an item", "must be given, or items must carry"];
            assert!(of_items.iter().any(|known| error.contains(known)), "{error}\n{block}");
        }
        fields += 1;
    }
    assert!(fields > 10, "{fields}");
}
