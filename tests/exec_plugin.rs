//! Laws of the call with a config file and YAML documents, over texts put together from pieces that are easily lost.

mod support;

use krm_merge_function::{Verdict, exec_plugin};
use krm_tree::limit::Budget;
use krm_tree::splice::to_json;
use krm_yaml::Document;
use proptest::prelude::*;

const PIECES: [&str; 16] = [
    "---\n",
    "--- # why\n",
    "...\n",
    "# licence\n",
    "\n",
    "  \n",
    "%YAML 1.2\n",
    "apiVersion: v1\nkind: Thing\nmetadata:\n  name: a\nk: 1 # one\n",
    "apiVersion: v1\nkind: Thing\nmetadata: {name: b}\nt: |+\n  x\n   \n\n",
    "apiVersion: v1\nkind: Thing\nmetadata: {name: c}\nt: \"x\n\n  ---y\"\n",
    "{\"apiVersion\": \"v1\", \"kind\": \"Thing\", \"metadata\": {\"name\": \"d\"},\n\"k\": 1}\n",
    "a: &x 1\nb: *x\n",
    "- list\n",
    "scalar\n",
    "\t",
    "\u{feff}",
];

fn config(source: &str) -> String {
    format!(
        "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n  mode: TwoWay\n  source:\n  - resources: [{{apiVersion: v1, kind: Thing, {source}}}]\n"
    )
}

/// The resources of a text, by what they say.
fn roots(text: &str) -> Vec<String> {
    let doc = Document::parse(text).expect("YAML");
    doc.roots().filter(|r| !r.is_null()).map(|r| to_json(r, &Budget::default()).expect("a small text")).collect()
}

proptest! {
    #![proptest_config(support::tries(3000))]

    #[test]
    fn documents_are_kept_or_the_reason_is_given(picks in prop::collection::vec(0..PIECES.len(), 0..9), crlf in any::<bool>()) {
        let mut text: String = picks.iter().map(|i| PIECES[*i]).collect();
        if crlf {
            text = text.replace('\n', "\r\n");
        }
        // Two pieces without a mark between them can make one map, with every key twice.
        let resources = Document::parse(&*text).map(|_| roots(&text)).unwrap_or_default();
        prop_assume!(resources.iter().all(|r| r.matches("apiVersion").count() <= 1));
        let deleted = exec_plugin::run(&config("metadata: {name: a}, $patch: delete"), &text);
        match deleted.verdict {
            Verdict::Failed => {
                prop_assert_eq!(&deleted.stdout, &text);
                prop_assert!(deleted.stderr[0].starts_with("error: "));
            }
            Verdict::Passed => {
                let mut want = resources.clone();
                want.retain(|r| !r.contains("\"name\":\"a\""));
                prop_assert_eq!(roots(&deleted.stdout), want, "{:?} {:?}", text, deleted.stdout);
            }
        }
        let added = exec_plugin::run(&config("metadata: {name: new}"), &text);
        if added.verdict == Verdict::Passed {
            prop_assert!(added.stdout.starts_with(text.trim_end()), "{:?}", added.stdout);
            let mut want = resources.clone();
            want.push("{\"apiVersion\":\"v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":\"new\"}}".into());
            prop_assert_eq!(roots(&added.stdout), want, "{:?} {:?}", text, added.stdout);
        }
    }
}
