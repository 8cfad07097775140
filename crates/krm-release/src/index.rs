//! The list of a chart repository, `index.yaml`: which charts it has, and in which versions.
//!
//! It may have 20 MB, of which we need little. So that is kept in the cache, with the ETag of the list, and a list that did not change is
//! neither sent nor read again.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::iter;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use krm_files::made;
use serde::de::{Deserializer, IgnoredAny, Visitor};
use serde::{Deserialize, Serialize};

use crate::digest;
use crate::login::Access;
use crate::unpack::LIMITS;
use crate::url::Url;
use crate::web::{Ask, Web};

/// How much YAML is read: the reader keeps some 60 bytes for each byte, if somebody means harm.
const MOST_OF_YAML: usize = 1 << 24;

/// The fields of a version that we need.
const FIELDS: [&str; 3] = ["version", "digest", "urls"];

/// The charts of a repository.
#[derive(Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Index {
    #[serde(deserialize_with = "entries")]
    entries: BTreeMap<String, Vec<Version>>,
}

/// A version of a chart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct Version {
    /// The version.
    #[serde(deserialize_with = "text")]
    pub version: String,
    /// The sha256 of the archive.
    #[serde(deserialize_with = "text", skip_serializing_if = "String::is_empty")]
    digest: String,
    /// The addresses of the archive.
    pub urls: Vec<String>,
}

impl Version {
    /// The digest of the archive, if the list says it.
    pub fn digest(&self) -> Option<String> {
        digest::read(&self.digest)
    }
}

/// What the cache has of a list.
#[derive(Deserialize, Serialize)]
struct Kept {
    url: String,
    etag: String,
    index: Index,
}

impl Index {
    /// Reads the text of a list. It is YAML, of which JSON is a part that is read sooner.
    fn read(text: &str) -> Result<Self> {
        let text = text.trim_start_matches('\u{feff}');
        let is_json = text.trim_start().starts_with('{');
        if let Some(index) = is_json.then(|| serde_json::from_str(text).ok()).flatten() {
            return Ok(index);
        }
        let told = "the list of the charts must be YAML as `helm repo index` writes it";
        let read = |text: &str| {
            if text.len() > MOST_OF_YAML {
                bail!("{told}, and what it says of versions and addresses must have at most {MOST_OF_YAML} bytes");
            }
            yaml_serde::from_str(text).map_err(|e| anyhow!("{told}: {e}"))
        };
        // What is written in an unusual way may need its other lines.
        read(&needed(text)).or_else(|_| read(text))
    }

    /// The list of a repository, from its server or from the cache; `None` if there is none.
    ///
    /// # Errors
    /// The server does not answer, refuses, or sends something else.
    pub fn of(web: &Web, cache: &Path, repo: &Url, access: &Access) -> Result<Option<Self>> {
        let url = repo.below("index.yaml")?;
        let file = cache.join(format!("{}.json", digest::of(url.text().as_bytes())));
        // What cannot be read there is asked for again.
        let kept = fs::read(&file).ok().and_then(|bytes| serde_json::from_slice::<Kept>(&bytes).ok());
        let kept = kept.filter(|kept| kept.url == url.text());
        let etag = kept.as_ref().map(|kept| kept.etag.as_str());
        let answer = web.ask(&Ask { etag, encoding: Some("gzip"), ..access.ask(&url) })?;
        match kept {
            Some(kept) if answer.status == 304 => return Ok(Some(kept.index)),
            _ if answer.is_nothing() => return Ok(None),
            _ => {}
        }
        let etag = answer.header("etag").map(str::to_owned);
        let Ok(text) = String::from_utf8(answer.text(LIMITS.file)?) else {
            bail!("{url}: the list of the charts must be UTF-8")
        };
        let index = Self::read(&text).with_context(|| url.to_string())?;
        let Some(etag) = etag else { return Ok(Some(index)) };
        let kept = Kept { url: url.text(), etag, index };
        // A full disk costs time later, and is no error.
        let _ = serde_json::to_vec(&kept).ok().map(|bytes| made::replace(&file, &bytes));
        Ok(Some(kept.index))
    }

    /// The versions of a chart, as the list has them; `None` if it has no such chart.
    pub fn chart(&self, name: &str) -> Option<&[Version]> {
        self.entries.get(name).map(Vec::as_slice)
    }

    /// A version of a chart. It may lack the `v` that the list has, and the other way round.
    pub fn version(&self, name: &str, version: &str) -> Option<&Version> {
        let bare = |text: &str| text.strip_prefix('v').unwrap_or(text).to_owned();
        let all = self.chart(name)?;
        let same = all.iter().find(|one| one.version == version);
        same.or_else(|| all.iter().find(|one| bare(&one.version) == bare(version)))
    }

    /// The names of the charts.
    pub fn charts(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }
}

/// The lines of a list that we need. Nine of ten lines are descriptions and notes, and the reader of YAML keeps all in memory.
///
/// A field of a version goes with the lines below it, and so does what is not `entries`. Each other line stays as it is.
fn needed(text: &str) -> String {
    let mut out = String::with_capacity(text.len() / 4);
    let is_field = |text: &str| text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '"') && text.contains(':');
    let is_needed =
        |field: &str| FIELDS.contains(&field.split(':').next().unwrap_or_default().trim().trim_matches('"'));
    // Where the fields of a version begin, where its `-` is, and the field that is left out.
    let (mut fields, mut dash, mut left_out) = (None, None, None);
    for line in text.lines() {
        let mut rest = line.trim_start_matches(' ');
        let mut indent = line.len() - rest.len();
        let is_item = rest == "-" || rest.starts_with("- ");
        let is_below = |at: usize| indent > at || (indent == at && is_item) || rest.is_empty();
        if left_out.is_some_and(is_below) {
            continue;
        }
        left_out = None;
        if indent == 0 {
            (fields, dash) = (None, None);
            left_out = Some(0).filter(|_| is_field(rest) && !rest.starts_with("entries:"));
        } else if is_item && dash.is_none_or(|at| at == indent) {
            dash = Some(indent);
            out.extend(iter::repeat_n(' ', indent).chain("-\n".chars()));
            rest = rest[1..].trim_start_matches(' ');
            indent = line.len() - rest.len();
            fields = Some(indent);
        } else if fields.is_some_and(|at| indent < at) && !is_item {
            // The next chart.
            (fields, dash) = (None, None);
        }
        if fields == Some(indent) && is_field(rest) && !is_needed(rest) {
            left_out = fields;
        }
        if left_out.is_none() {
            out.extend(iter::repeat_n(' ', indent));
            out.push_str(rest);
            out.push('\n');
        }
    }
    out
}

/// Charts may have no versions, and a version may be null.
fn entries<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, Vec<Version>>, D::Error> {
    let all = Option::<BTreeMap<String, Option<Vec<Option<Version>>>>>::deserialize(deserializer)?;
    let of_chart = |versions: Option<Vec<Option<Version>>>| {
        versions.into_iter().flatten().flatten().filter(|one| !one.version.is_empty()).collect()
    };
    Ok(all.unwrap_or_default().into_iter().map(|(name, versions)| (name, of_chart(versions))).collect())
}

/// A text, which may have been written without quotes, as `1.10`.
fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    struct Text;
    impl<'de> Visitor<'de> for Text {
        type Value = String;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a text")
        }

        fn visit_str<E>(self, text: &str) -> Result<String, E> {
            Ok(text.to_owned())
        }

        fn visit_bool<E>(self, value: bool) -> Result<String, E> {
            Ok(value.to_string())
        }

        fn visit_i64<E>(self, value: i64) -> Result<String, E> {
            Ok(value.to_string())
        }

        fn visit_u64<E>(self, value: u64) -> Result<String, E> {
            Ok(value.to_string())
        }

        fn visit_f64<E>(self, value: f64) -> Result<String, E> {
            Ok(value.to_string())
        }

        fn visit_unit<E>(self) -> Result<String, E> {
            Ok(String::new())
        }

        fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut items: A) -> Result<String, A::Error> {
            while items.next_element::<IgnoredAny>()?.is_some() {}
            Ok(String::new())
        }

        fn visit_map<A: serde::de::MapAccess<'de>>(self, mut fields: A) -> Result<String, A::Error> {
            while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok(String::new())
        }
    }
    deserializer.deserialize_any(Text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_versions_in_many_forms() {
        let text = "apiVersion: v1\nentries:\n  none:\n  web:\n  - version: v1.0.0\n    appVersion: 1.5\n    digest: sha256:AAAAaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n    urls: [web-1.0.0.tgz]\n    annotations: {a: [b]}\n  -\n  - version: 2\n    digest: abc\n    urls: []\n  - {name: web}\ngenerated: x\n";
        let index = Index::read(text).expect("a list");
        let versions: Vec<&str> = index.chart("web").expect("a chart").iter().map(|one| one.version.as_str()).collect();
        assert_eq!((versions, index.chart("none"), index.chart("x")), (vec!["v1.0.0", "2"], Some(&[][..]), None));
        let first = index.version("web", "1.0.0").expect("a version");
        assert_eq!(first.digest(), Some("a".repeat(64)));
        assert_eq!(index.version("web", "2").and_then(Version::digest), None);
        assert_eq!(index.version("web", "3"), None);
        assert_eq!(Index::read(&format!("\u{feff}{text}")).expect("a list"), index);
        // What is kept is read as what was sent.
        let kept = serde_json::to_string(&index).expect("JSON");
        assert_eq!(Index::read(&kept).expect("a list"), index);
        for empty in ["entries:\n", "entries: {}\n", "{\"entries\": null}"] {
            assert_eq!(Index::read(empty).map_or(1, |index| index.charts().count()), 0, "{empty:?}");
        }
        for other in
            ["", "apiVersion: v1\n", "{}", "<html>", "a: [", "entries: []", "entries: {a: b}", "{\"entries\": 1}"]
        {
            let told = format!("{:#}", Index::read(other).expect_err(other));
            assert!(told.contains("`helm repo index`"), "{told}");
        }
    }

    /// A list is the same without what we do not need, however it is laid out.
    #[test]
    fn the_lines_that_are_needed_say_the_same() {
        let helm = "apiVersion: v1\nentries:\n  api:\n  - annotations:\n      a: |\n        - version: 9\n\n        digest: x\n    appVersion: \"1\"\n    dependencies:\n    - name: db\n      version: 3.0.0\n    - name: db2\n    digest: abc\n    urls:\n    - https://h/a-1.0.0.tgz\n    - b\n    version: 1.0.0\n  - version: 0.9.0\n    sources:\n    - x\n  # a note\n  web: []\n  old:\n  - name: old\n    version: 1\ngenerated: \"2024\"\nserverInfo: {}\n";
        let wide = "---\nserverInfo:\n    contextPath: /x\nentries:\n    api:\n        -   \"version\": '1.0.0'\n            keywords:\n                - a\n            urls: [a,\n                b]\n            created: x\n        -\n            version: 2.0.0\n    web:\n        - {version: 1.0.0, urls: [x], name: web}\n        - &a\n          version: 3.0.0\n          name: x\n";
        let plain = |text: &str| yaml_serde::from_str::<Index>(text).expect("YAML");
        for text in [helm, wide, "entries:\n- a\n", "a: 1\n  b\n", "\tx", "entries: {web: [{version: 1}]}\n"] {
            let few = needed(text);
            assert!(few.len() <= text.len() + 20, "{few}");
            match yaml_serde::from_str::<Index>(text) {
                Ok(index) => assert_eq!(plain(&few), index, "{few}"),
                Err(_) => _ = Index::read(text).expect_err(text),
            }
        }
        let few = needed(helm);
        assert!(!["annotations", "db", "sources", "generated", "|"].iter().any(|word| few.contains(word)), "{few}");
        assert_eq!(plain(helm).chart("api").map(<[_]>::len), Some(2));
        let dense = format!("entries:\n  web:\n  - version: 1.0.0\n    urls: [{}a]\n", "a,".repeat(MOST_OF_YAML / 2));
        let told = format!("{:#}", Index::read(&dense).expect_err("too much"));
        assert!(told.contains("at most 16777216 bytes"), "{told}");
        assert!(Index::read(&format!("x: [{}a]\n{helm}", "a,".repeat(MOST_OF_YAML / 2))).is_ok());
    }

    /// As many versions as a list can have: a step for each, and no more.
    #[test]
    fn a_list_may_have_a_million_versions() {
        let one = |n: usize| format!("{{\"version\":\"1.0.{n}\"}}");
        let all: Vec<String> = (0..1_000_000).map(one).collect();
        let index = Index::read(&format!("{{\"entries\":{{\"web\":[{}]}}}}", all.join(","))).expect("a list");
        assert_eq!(index.chart("web").map(<[_]>::len), Some(1_000_000));
        assert!(index.version("web", "1.0.999999").is_some());
    }

    #[test]
    fn aliases_cannot_make_a_list_large() {
        let lines: String = (1..30).map(|n| format!("x{n}: &x{n} [*x{m}, *x{m}, *x{m}]\n", m = n - 1)).collect();
        let told = Index::read(&format!("x0: &x0 [a]\n{lines}entries: {{web: [{{version: 1.0.0}}]}}\n"));
        // What the list does not need is not read.
        assert!(told.is_ok() || told.is_err_and(|e| format!("{e:#}").contains("`helm repo index`")));
        Index::read(&format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000))).expect_err("too deep");
    }
}
