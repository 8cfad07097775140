//! The list of a chart repository, `index.yaml`: which charts it has, and in which versions.
//!
//! It may have 20 MB, of which we need little. So that is kept in the cache, with the ETag of the list, and a list that did not change is
//! neither sent nor read again.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, bail};
use flate2::read::MultiGzDecoder;
use krm_files::made;
use serde::de::{Deserializer, IgnoredAny, Visitor};
use serde::{Deserialize, Serialize};

use crate::digest;
use crate::unpack::LIMITS;
use crate::url::Url;
use crate::web::{Ask, Authorization, Web};

/// The charts of a repository.
#[derive(Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Index {
    #[serde(default, deserialize_with = "entries")]
    entries: BTreeMap<String, Vec<Version>>,
}

/// A version of a chart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct Version {
    /// The version.
    #[serde(deserialize_with = "text")]
    pub version: String,
    /// The version of what the chart installs.
    #[serde(rename = "appVersion", deserialize_with = "text", skip_serializing_if = "String::is_empty")]
    pub app_version: String,
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
        let is_json = text.trim_start().starts_with('{');
        let read = if is_json { serde_json::from_str(text).ok() } else { None };
        match read.map_or_else(|| yaml_serde::from_str(text), Ok) {
            Ok(index) => Ok(index),
            Err(e) => bail!("the list of the charts must be YAML as `helm repo index` writes it: {e}"),
        }
    }

    /// The list of a repository, from its server or from the cache; `None` if there is none.
    ///
    /// # Errors
    /// The server does not answer, refuses, or sends something else.
    pub fn of(web: &Web, cache: &Path, repo: &Url, authorization: Option<&Authorization>) -> Result<Option<Self>> {
        let url = repo.below("index.yaml")?;
        let file = cache.join(format!("{}.json", digest::of(url.text().as_bytes())));
        // What cannot be read there is asked for again.
        let kept = fs::read(&file).ok().and_then(|bytes| serde_json::from_slice::<Kept>(&bytes).ok());
        let kept = kept.filter(|kept| kept.url == url.text());
        let etag = kept.as_ref().map(|kept| kept.etag.as_str());
        let answer = web.ask(&Ask { authorization, etag, encoding: Some("gzip"), ..Ask::at(&url) })?;
        match kept {
            Some(kept) if answer.status == 304 => return Ok(Some(kept.index)),
            _ if answer.is_nothing() => return Ok(None),
            _ => {}
        }
        let etag = answer.header("etag").map(str::to_owned);
        let is_packed = answer.header("content-encoding").is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
        let bytes = answer.bytes(LIMITS.file)?;
        let bytes = if is_packed { unpacked(&bytes).with_context(|| url.to_string())? } else { bytes };
        let Ok(text) = String::from_utf8(bytes) else { bail!("{url}: the list of the charts must be UTF-8") };
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

fn unpacked(bytes: &[u8]) -> Result<Vec<u8>> {
    let (mut all, most) = (Vec::new(), LIMITS.file);
    MultiGzDecoder::new(bytes).take(most as u64 + 1).read_to_end(&mut all).ok().context("the answer must be whole")?;
    if all.len() > most {
        bail!("the answer must have at most {most} bytes");
    }
    Ok(all)
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
        assert_eq!((first.app_version.as_str(), first.digest()), ("1.5", Some("a".repeat(64))));
        assert_eq!(index.version("web", "2").and_then(Version::digest), None);
        assert_eq!(index.version("web", "3"), None);
        // What is kept is read as what was sent.
        let kept = serde_json::to_string(&index).expect("JSON");
        assert_eq!(Index::read(&kept).expect("a list"), index);
        for empty in ["", "apiVersion: v1\n", "entries:\n", "{}"] {
            assert_eq!(Index::read(empty).map_or(1, |index| index.charts().count()), 0, "{empty:?}");
        }
        for other in ["<html>", "a: [", "entries: []", "entries: {a: b}", "{\"entries\": 1}"] {
            let told = format!("{:#}", Index::read(other).expect_err(other));
            assert!(told.contains("`helm repo index`"), "{told}");
        }
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
