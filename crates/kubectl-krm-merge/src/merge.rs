//! `merge`: the merge of texts for programs, with JSON on stdin and on stdout.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{self, IsTerminal};

use anyhow::{Context, Error, Result, bail};
use krm_files::regular;
use krm_folders::end::End;
use krm_json::merge::{MergeInput, merge};
use krm_show::screen;
use krm_yaml::{Document, NodeRef};

/// Merges the texts that stdin holds, and prints the output. Results and conflicts are in it, so nothing is told on stderr.
///
/// # Errors
/// Stdin is not JSON of the right shape.
pub fn of_stdin() -> Result<End> {
    let is_terminal = io::stdin().is_terminal();
    let bytes = if is_terminal {
        Vec::new()
    } else {
        regular::read_stream(io::stdin().lock()).context("stdin must be readable")?
    };
    if bytes.is_empty() {
        bail!("stdin must be JSON with the texts to merge, and it has none; `three-way` and `two-way` merge files");
    }
    let input = serde_json::from_slice(&bytes).context("stdin must be JSON")?;
    check_once(String::from_utf8_lossy(&bytes))?;
    let input = MergeInput::of(input).map_err(|error| Error::msg(error).context("stdin"))?;
    let output = merge(&input);
    screen::print(&(serde_json::to_string(&output)? + "\n"))?;
    Ok(if output.passed { End::Done } else { End::Differs })
}

/// Checks that no object has a key twice, of which only one would count.
fn check_once(json: Cow<'_, str>) -> Result<()> {
    // YAML has less room than JSON, for example for a key.
    let Ok(document) = Document::parse(json) else { return Ok(()) };
    let mut nodes: Vec<NodeRef<'_>> = document.roots().collect();
    while let Some(node) = nodes.pop() {
        let mut keys = HashSet::new();
        if let Some((key, _)) = node.entries().find(|(key, _)| !keys.insert(key.string())) {
            bail!("stdin:{}: an object must have each key once, but {:?} is there twice", key.position(), key.string());
        }
        nodes.extend(node.written().map(|(_, value)| value));
    }
    Ok(())
}
