//! Any bytes as the stdin of the function, or as the config file and the stdin of a legacy exec plugin.

use krm_merge_function::resource_list::ResourceList;
use krm_merge_function::{Output, Verdict, exec_plugin, run};
use krm_yaml::Document;

/// What is between the config file and stdin of an exec plugin.
const BETWEEN: char = '\u{1}';

/// Checks that the function reports what is wrong and then returns the items as they came, and that it reads what it wrote.
pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match text.split_once(BETWEEN) {
        Some((config, documents)) => of_exec_plugin(config, documents),
        None => of_function(text),
    }
}

fn of_exec_plugin(config: &str, documents: &str) {
    let output = exec_plugin::run(config, documents);
    match output.verdict {
        Verdict::Passed => readable(&output),
        Verdict::Failed => {
            assert!(!output.stderr.is_empty(), "an error is reported");
            assert_eq!(output.stdout, documents, "the documents go out as they came");
        }
    }
}

fn of_function(text: &str) {
    let output = run(text);
    if output.stdout.is_empty() {
        assert_eq!(output.verdict, Verdict::Failed, "an empty stdout means an error");
    }
    readable(&output);
    if output.verdict == Verdict::Failed {
        assert!(!output.stderr.is_empty(), "an error is reported");
        if !output.stdout.is_empty() {
            let (mut given, mut left) = (items(text), items(&output.stdout));
            if !text.ends_with('\n') {
                // A block scalar at the end of the text gets another header, which keeps its value with the results after it.
                assert_eq!(left.pop().is_some(), given.pop().is_some(), "no item is lost");
            }
            assert_eq!(left, given, "the items go out as they came");
        }
    } else {
        let again = run(&output.stdout);
        // What one run writes may be more than a limit allows to the next one.
        if again.verdict == Verdict::Passed {
            readable(&again);
        }
    }
}

fn readable(output: &Output) {
    if let Err(error) = Document::parse(output.stdout.as_str()) {
        panic!("the output must be YAML: {error}\n{}", output.stdout);
    }
}

/// The text of each item.
fn items(text: &str) -> Vec<String> {
    let document = Document::parse(text).expect("YAML");
    let list = ResourceList::read(&document).expect("a ResourceList");
    list.resources().iter().map(|item| item.node().text().to_owned()).collect()
}
