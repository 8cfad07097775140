//! `review --helm`: helm renders both releases of a chart, and says what their templates leave open.

use std::rc::Rc;
use std::time::{Duration, Instant};

use krm_overlay::{Files, Finding, NotRendered, Overlay, Release, Renderer, settle};
use krm_words::overlay as words;

use super::charts::{ForHelm, Loaded};
use super::layers;
use crate::cli::Review;
use crate::helm::{HelmError, Rendering, Values};

/// How long the renderings for one overlay may take, if each of them ends.
const MOST_TIME: Duration = Duration::from_secs(180);

/// The longest name of a release that helm takes.
const LONGEST_NAME: usize = 53;

/// Asks helm about an overlay. The findings get what it says; returned is why it says nothing, as a sentence.
pub fn ask(args: &Review, overlay: &Overlay, charts: &[Rc<Loaded>; 2], findings: &mut Vec<Finding>) -> Option<String> {
    let [Some(old), Some(new)] = charts.each_ref().map(|chart| chart.rendered.as_ref()) else { return None };
    let needed = charts.iter().flat_map(|chart| &chart.chart.dependencies);
    if let Some(missing) = needed.into_iter().find(|needed| needed.files == Files::Missing) {
        return Some(words::no_files(&missing.name));
    }
    if !overlay.unread.is_empty() {
        return Some(words::VALUES_UNREAD.to_owned());
    }
    let (namespace, name) = overlay.name.rsplit_once('/').unwrap_or(("", &overlay.name));
    let valid = |name: &str| is_name(name).then(|| name.to_owned());
    let mut asked = Asked {
        args,
        charts: [old, new],
        release: valid(name).unwrap_or_else(|| "release".to_owned()),
        namespace: valid(namespace),
        until: Instant::now() + MOST_TIME,
    };
    settle(&charts[0].chart, &layers(overlay), findings, &mut asked).err().map(|why| words::unsettled(&why))
}

/// Whether helm takes a name. Those of an ApplicationSet may have braces.
fn is_name(name: &str) -> bool {
    let is_part = |part: &str| {
        let ends = [part.bytes().next(), part.bytes().last()];
        ends.iter().flatten().all(u8::is_ascii_alphanumeric) && !part.is_empty()
    };
    let is_of_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte);
    name.len() <= LONGEST_NAME && name.bytes().all(is_of_name) && name.split('.').all(is_part)
}

/// The renderings for an overlay.
struct Asked<'r> {
    args: &'r Review,
    charts: [&'r ForHelm; 2],
    release: String,
    namespace: Option<String>,
    until: Instant,
}

impl Renderer for Asked<'_> {
    fn render(&mut self, release: Release, values: &[String]) -> Result<String, NotRendered> {
        if Instant::now() > self.until {
            return Err(NotRendered::Unknown(words::took_longer(MOST_TIME.as_secs())));
        }
        let [old, new] = self.charts;
        let chart = match release {
            Release::Old => old,
            Release::New => new,
        };
        let values: Vec<Values<'_>> = values.iter().map(|text| Values { name: "the values", text }).collect();
        let asked = Rendering {
            release: &self.release,
            namespace: self.namespace.as_deref(),
            values: &values,
            kube_version: self.args.kube_version.as_deref(),
            api_versions: &self.args.api_versions,
            ..Rendering::default()
        };
        chart.on_disk.render(&asked).map_err(|why| match why {
            HelmError::Refused(message) => NotRendered::Refused(message),
            other => NotRendered::Unknown(other.to_string()),
        })
    }

    fn has_text(&self, text: &str) -> bool {
        let names = [Some(&self.release), self.namespace.as_ref()];
        let [_, new] = self.charts;
        names.into_iter().flatten().chain(&new.texts).any(|other| other.contains(text))
    }
}
