//! What the releases of a chart say of themselves: the version of the program that they install, and what changed.

use anyhow::Result;
use krm_folders::release;
use krm_git::refs::State;
use krm_yaml::{Document, NodeRef};
use serde::Serialize;

use super::aim::DirectoryAt;

/// Of how many releases the charts are read, the newest ones.
const MOST: usize = 20;

/// How many changes of one release are told.
const MOST_CHANGES: usize = 50;

/// The annotation of Artifact Hub with the changes of a release.
const CHANGES: &str = "artifacthub.io/changes";

/// What a chart says of a release.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChartNotes {
    /// The name of the release.
    pub release: String,
    /// The version of the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app_version: Option<String>,
    /// What changed since the release before it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ChartChange>,
}

/// A change of a chart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ChartChange {
    /// What it is, such as `added` or `security`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// What it does.
    pub description: String,
}

/// What the charts of releases say. What is no chart, or cannot be fetched, says nothing.
pub fn notes(at: &DirectoryAt, releases: &[State]) -> Vec<ChartNotes> {
    releases.iter().take(MOST).filter_map(|release| of(at, release).ok().flatten()).collect()
}

fn of(at: &DirectoryAt, release: &State) -> Result<Option<ChartNotes>> {
    let state = at.store.resolved(release.clone())?;
    let Some(chart) = release::file(&at.store, &at.address, &state, "Chart.yaml")? else { return Ok(None) };
    Ok(String::from_utf8(chart).ok().and_then(|text| read(&state.name, &text)))
}

/// What the text of a `Chart.yaml` says.
fn read(release: &str, text: &str) -> Option<ChartNotes> {
    let document = Document::parse(text.to_owned()).ok()?;
    let root = document.roots().next()?;
    let scalar =
        |node: NodeRef<'_>| (!node.is_map() && !node.is_list() && !node.is_null()).then(|| node.string().to_owned());
    let app_version = root.get("appVersion").and_then(scalar).filter(|version| !version.is_empty());
    let listed = root.at(&["annotations", CHANGES]).and_then(scalar);
    let changes = listed.and_then(|listed| Document::parse(listed).ok()).map_or_else(Vec::new, |listed| {
        let change = |change: NodeRef<'_>| match scalar(change) {
            Some(description) => Some(ChartChange { kind: None, description }),
            None => Some(ChartChange {
                kind: change.get("kind").and_then(scalar),
                description: change.get("description").and_then(scalar)?,
            }),
        };
        let roots = listed.roots().flat_map(NodeRef::elements);
        roots.filter_map(change).take(MOST_CHANGES).collect()
    });
    Some(ChartNotes { release: release.to_owned(), app_version, changes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_says_the_version_of_its_program_and_its_changes() {
        let change = |kind: Option<&str>, description: &str| ChartChange {
            kind: kind.map(str::to_owned),
            description: description.to_owned(),
        };
        for (text, version, changes) in [
            ("name: web\n", None, vec![]),
            ("appVersion: 1.10\n", Some("1.10"), vec![]),
            ("appVersion: \"\"\nannotations: {artifacthub.io/changes: 7}\n", None, vec![]),
            (
                "annotations:\n  artifacthub.io/changes: |\n    - one\n    - kind: added\n      description: two\n      links: []\n    - kind: x\n",
                None,
                vec![change(None, "one"), change(Some("added"), "two")],
            ),
            ("annotations:\n  artifacthub.io/changes: \"- [\"\n", None, vec![]),
        ] {
            let want = ChartNotes { release: "v".to_owned(), app_version: version.map(str::to_owned), changes };
            assert_eq!(read("v", text), Some(want), "{text}");
        }
        assert_eq!(read("v", "a: ["), None);
    }
}
