//! [`settle`]: what rendering says of the values that the templates alone leave open.
//!
//! Where a template decides at run time what it reads, [`review`](crate::review()) counts the place as read. With a [`Renderer`] the question has
//! an answer: a place is gone if the old release renders something else without it, and the new release renders the same.

use std::collections::{BTreeMap, BTreeSet};

use krm_tree::path::FieldPath;
use krm_yaml::Scalar;

use crate::chart::Chart;
use crate::review::Layer;
use crate::values::Value;
use crate::verdict::{Finding, KnownBy, Verdict};

/// How many places of one overlay are settled.
const MOST: usize = 1000;

/// The shortest text by which a value is known in what is rendered, in bytes.
const LEAST_KNOWN: usize = 6;

/// A release of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// The one that lies below.
    Old,
    /// The one that it is compared with.
    New,
}

/// Why a release is not rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotRendered {
    /// The chart refuses the values. This is the message of the program that renders it.
    Refused(String),
    /// Nobody knows whether it renders, such as if it takes too long.
    Unknown(String),
}

/// What rendering does not settle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsettled {
    /// The old release does not render with the values. This is the message of the program that renders it.
    OldRefused(String),
    /// Nobody knows what is rendered, for this reason.
    Unknown(String),
    /// There are more values than anybody asks about, by this number.
    TooMany(usize),
}

/// What renders both releases of a chart, such as helm.
pub trait Renderer {
    /// The resources of a release with these values, the later ones over the earlier ones. Each is a text of JSON.
    ///
    /// # Errors
    /// The chart refuses the values, or nobody knows what it makes of them.
    fn render(&mut self, release: Release, values: &[String]) -> Result<String, NotRendered>;

    /// Whether something else than the values can bring this text into what the new release renders.
    fn has_text(&self, text: &str) -> bool;
}

/// Renders both releases with the layers. If only the old one renders, this is a finding, which comes first. If both do, the findings get what the
/// templates left open: values that only the old release uses are gone.
///
/// A chart that renders something else each time is left as the templates have it, because nobody can say what a value does there.
///
/// # Errors
/// What is not settled. The findings are as before, but for too many of them.
pub fn settle(
    old: &Chart,
    layers: &[Layer<'_>],
    findings: &mut Vec<Finding>,
    renderer: &mut dyn Renderer,
) -> Result<(), Unsettled> {
    let mut run = Run { values: layers.iter().map(Layer::value).collect(), renderer };
    let was = run.render(Release::Old, &[]).map_err(|why| match why {
        NotRendered::Refused(message) => Unsettled::OldRefused(message),
        NotRendered::Unknown(why) => Unsettled::Unknown(why),
    })?;
    let is = match run.render(Release::New, &[]) {
        Ok(is) => is,
        Err(NotRendered::Refused(message)) => {
            let verdict = Verdict::DoesNotRender { message };
            findings.insert(0, Finding { layer: 0, object: None, place: FieldPath::default(), span: 0..0, verdict });
            return Ok(());
        }
        Err(NotRendered::Unknown(why)) => return Err(Unsettled::Unknown(why)),
    };
    let all = findings.iter().filter(|finding| is_open(old, finding));
    let all: BTreeSet<Vec<String>> = all.filter_map(|finding| finding.place.names()).collect();
    let left = all.len().saturating_sub(MOST);
    let open = run.unseen(all.into_iter().take(MOST).collect(), &is);
    let unneeded = run.unneeded(&was, &is, &open);
    let unneeded =
        unneeded.map_err(|(NotRendered::Refused(why) | NotRendered::Unknown(why))| Unsettled::Unknown(why))?;
    for finding in findings.iter_mut().filter(|finding| is_open(old, finding)) {
        let known_by = KnownBy::Rendering;
        finding.verdict = match finding.place.names().and_then(|path| unneeded.get(&path)) {
            Some(Unneeded::Unread) => Verdict::Gone { moved_to: None, known_by },
            Some(Unneeded::Same) => Verdict::NewlySame { known_by },
            None => continue,
        };
    }
    if left == 0 { Ok(()) } else { Err(Unsettled::TooMany(left)) }
}

/// Whether a place may be gone although the templates do not say so.
fn is_open(old: &Chart, finding: &Finding) -> bool {
    match &finding.verdict {
        Verdict::Hides(_) | Verdict::OtherKind { .. } | Verdict::Appears { .. } | Verdict::Holds => true,
        Verdict::Nowhere => old.blind().is_some(),
        // Without a value that the new release has as well, it renders the same in any case.
        Verdict::NewlySame { .. } | Verdict::Same => false,
        Verdict::Gone { .. } | Verdict::Unknown(_) | Verdict::DoesNotRender { .. } | Verdict::AnotherElement { .. } => {
            false
        }
    }
}

/// Why the new release does not need a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unneeded {
    /// It renders the same, whatever stands there.
    Unread,
    /// It renders the same with this value and without it.
    Same,
}

struct Run<'r> {
    values: Vec<Value>,
    renderer: &'r mut dyn Renderer,
}

impl Run<'_> {
    /// What a release renders without some places of the values. Checksums are left out: they are not what a value is for, and some charts have
    /// one of all values.
    fn render(&mut self, release: Release, without: &[Vec<String>]) -> Result<String, NotRendered> {
        let mut values = self.values.clone();
        values.iter_mut().for_each(|value| without.iter().for_each(|path| remove(value, path)));
        let texts: Vec<String> = values.iter().map(Value::to_string).collect();
        let rendered = self.renderer.render(release, &texts)?;
        let lines = rendered.lines().filter(|line| !is_checksum(line));
        Ok(lines.flat_map(|line| [line, "\n"]).collect())
    }

    /// Whether a release renders the same without some places. What it needs is used.
    fn is_same(&mut self, release: Release, without: &[Vec<String>], with: &str) -> Result<bool, NotRendered> {
        match self.render(release, without) {
            Ok(rendered) => Ok(rendered == with),
            Err(NotRendered::Refused(_)) => Ok(false),
            Err(unknown) => Err(unknown),
        }
    }

    /// The places that what the new release renders does not show: it has no text that only this place can have brought there.
    fn unseen(&self, mut places: Vec<Vec<String>>, rendered: &str) -> Vec<Vec<String>> {
        let mut all = Vec::new();
        self.values.iter().for_each(|value| texts(value, &mut all));
        let count = |texts: &[&str], text: &str| texts.iter().filter(|other| other.contains(text)).count();
        places.retain(|path| {
            let mut own = Vec::new();
            for value in self.values.iter().filter_map(|value| value.at(path)) {
                own.extend(path.last().map(String::as_str));
                texts(value, &mut own);
            }
            let is_shown = |text: &&str| {
                let is_known = text.len() >= LEAST_KNOWN && rendered.contains(*text);
                is_known && count(&own, text) == count(&all, text) && !self.is_of_chart(text)
            };
            !own.iter().any(is_shown)
        });
        places
    }

    /// Whether the new release may make a text of its own ones: it has it, or one part of it here and the other part there, as in `v1.2.3`.
    fn is_of_chart(&self, text: &str) -> bool {
        let cuts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let first_parts = cuts.partition_point(|at| self.renderer.has_text(&text[..*at]));
        let last_parts = cuts.partition_point(|at| !self.renderer.has_text(&text[*at..]));
        first_parts > last_parts
    }

    /// The places that only the old release needs. Places are asked about together, as most of the unused ones are in one map.
    fn unneeded(
        &mut self,
        was: &str,
        is: &str,
        open: &[Vec<String>],
    ) -> Result<BTreeMap<Vec<String>, Unneeded>, NotRendered> {
        let mut found = BTreeMap::new();
        if open.is_empty() || !self.is_same(Release::New, &[], is)? {
            return Ok(found);
        }
        let mut unused = Vec::new();
        self.unused(Release::New, open, 0, is, &mut unused)?;
        let mut unused_before = Vec::new();
        self.unused(Release::Old, &unused, 0, was, &mut unused_before)?;
        for path in unused.into_iter().filter(|path| !unused_before.contains(path)) {
            // Two places may cancel each other out, so each is asked about alone.
            if self.is_same(Release::New, std::slice::from_ref(&path), is)? {
                let unneeded = if self.is_unread(&path, is)? { Unneeded::Unread } else { Unneeded::Same };
                found.insert(path, unneeded);
            }
        }
        // The time may have changed what the old release renders.
        if !found.is_empty() && !self.is_same(Release::Old, &[], was)? {
            found.clear();
        }
        Ok(found)
    }

    /// Whether the new release renders the same, whatever stands at a place. If not, it reads the place, and does the same without it.
    fn is_unread(&mut self, path: &[String], is: &str) -> Result<bool, NotRendered> {
        let others: Vec<Value> =
            self.values.iter().find_map(|value| value.at(path)).into_iter().flat_map(others).collect();
        for other in others {
            let before = self.values.clone();
            self.values.iter_mut().filter_map(|value| value.at_mut(path)).for_each(|found| *found = other.clone());
            let is_same = self.is_same(Release::New, &[], is);
            self.values = before;
            if !is_same? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Adds the places without which a release renders the same. Those in one map are asked about together, and then one by one.
    fn unused(
        &mut self,
        release: Release,
        places: &[Vec<String>],
        depth: usize,
        with: &str,
        found: &mut Vec<Vec<String>>,
    ) -> Result<(), NotRendered> {
        for inside in places.chunk_by(|one, other| one.get(depth) == other.get(depth)) {
            let is_known = depth > 0 && inside.len() == places.len();
            if !is_known && self.is_same(release, inside, with)? {
                found.extend(inside.iter().cloned());
            } else if inside.len() > 1 {
                self.unused(release, inside, depth + 1, with, found)?;
            }
        }
        Ok(())
    }
}

/// Removes a place. The maps above it stay, for a template may look into them.
fn remove(value: &mut Value, path: &[String]) {
    if let Some((last, above)) = path.split_last()
        && let Some(Value::Map(fields)) = value.at_mut(above)
    {
        fields.remove(last);
    }
}

/// Values that are not this one: a null, and another value of its kind.
fn others(value: &Value) -> [Value; 2] {
    let other = match value {
        Value::Map(_) => Value::empty(),
        Value::List(_) => Value::List(Vec::new()),
        Value::Scalar(Scalar::Bool(value)) => Value::Scalar(Scalar::Bool(!value)),
        Value::Scalar(Scalar::Number(number)) => {
            let seven = Scalar::plain("7");
            Value::Scalar(if seven == Scalar::Number(number.clone()) { Scalar::plain("8") } else { seven })
        }
        Value::Scalar(_) => Value::string("other"),
    };
    [Value::Scalar(Scalar::Null), other]
}

/// The texts in a value, the names of fields included.
fn texts<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::Map(fields) => fields.iter().for_each(|(name, value)| {
            found.push(name);
            texts(value, found);
        }),
        Value::List(elements) => elements.iter().for_each(|value| texts(value, found)),
        Value::Scalar(Scalar::String(text)) => found.push(text),
        Value::Scalar(_) => {}
    }
}

/// Whether a line is the annotation with the checksum of something.
fn is_checksum(line: &str) -> bool {
    line.split_once(": ").is_some_and(|(name, value)| {
        let value = value.trim_matches(['"', '\'', ' ']);
        name.contains("checksum") && value.len() >= 32 && value.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

#[cfg(test)]
mod tests {
    use krm_yaml::Document;

    use super::*;
    use crate::reads::Named;
    use crate::review::review;
    use crate::values::laid_over;

    /// What a chart makes of values.
    type Makes = fn(&Value, usize) -> Result<String, NotRendered>;

    /// A renderer whose charts are functions of the values and of the number of the rendering.
    struct Fake {
        makes: [Makes; 2],
        asked: usize,
    }

    impl Renderer for Fake {
        fn render(&mut self, release: Release, values: &[String]) -> Result<String, NotRendered> {
            self.asked += 1;
            let values = values.iter().map(|text| value(text));
            let all = values.fold(Value::empty(), |below, above| laid_over(&below, &above));
            self.makes[release as usize](&all, self.asked)
        }

        fn has_text(&self, text: &str) -> bool {
            "a text of the chart".contains(text)
        }
    }

    fn value(text: &str) -> Value {
        Value::of(Document::parse(text).expect("YAML").roots().next().expect("a document"))
    }

    /// A chart whose templates may read anything.
    fn chart(defaults: &str) -> Chart {
        let files =
            [("Chart.yaml", "name: web"), ("values.yaml", defaults), ("templates/a.yaml", "{{ toYaml .Values }}")];
        Chart::read(&files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec())).into()).expect("a chart")
    }

    /// The fields that a chart shows.
    fn shown(values: &Value, names: &[&str]) -> Result<String, NotRendered> {
        let shown = |name: &&str| values.field(name).map(|value| format!("{name}: {value}\n"));
        Ok(names.iter().filter_map(shown).collect())
    }

    /// What is gone, how often the renderer was asked, and what is not settled.
    fn settled(makes: [Makes; 2], ours: &str) -> (Vec<String>, usize, Result<(), Unsettled>) {
        let document = Document::parse(ours).expect("YAML");
        let layers = [Layer::of(document.roots().next().expect("a document"))];
        let (old, new) = (chart("a: 1\nb: 1\nc: 1"), chart("a: 1\nb: 2"));
        let mut findings = review(&old, &new, &layers, &Named::default());
        let mut fake = Fake { makes, asked: 0 };
        let ended = settle(&old, &layers, &mut findings, &mut fake);
        let gone = findings.iter().filter_map(|finding| match &finding.verdict {
            Verdict::Gone { known_by: KnownBy::Rendering, .. } => Some(finding.place.to_string()),
            Verdict::NewlySame { known_by: KnownBy::Rendering } => Some(format!("{}: same", finding.place)),
            Verdict::DoesNotRender { message } => Some(format!("does not render: {message}")),
            _ => None,
        });
        (gone.collect(), fake.asked, ended)
    }

    #[test]
    fn a_value_is_gone_if_only_the_old_release_renders_something_else_without_it() {
        let all: Makes = |values, _| shown(values, &["a", "b", "c", "d"]);
        let two: Makes = |values, _| shown(values, &["a", "b"]);
        let ours = "a: 5\nb: 5\nc: 5\nd: {x: 5, y: 5}\n";
        assert_eq!(settled([all, two], ours).0, ["c", "d.x", "d.y"]);
        assert_eq!(settled([all, all], ours).0, [""; 0]);
        assert_eq!(settled([two, two], ours).0, [""; 0]);
        // The old release needs it.
        let needs: Makes = |values, _| match values.field("c") {
            Some(_) => shown(values, &["a"]),
            None => Err(NotRendered::Refused("c!".to_owned())),
        };
        assert_eq!(settled([needs, two], ours).0, ["c"]);
        assert_eq!(settled([all, needs], ours).0, ["b", "d.x", "d.y"]);
    }

    #[test]
    fn a_release_that_does_not_render_is_a_verdict_only_if_the_old_one_does() {
        let one: Makes = |values, _| shown(values, &["a"]);
        let none: Makes = |_, _| Err(NotRendered::Refused("no!".to_owned()));
        let slow: Makes = |_, _| Err(NotRendered::Unknown("slow".to_owned()));
        assert_eq!(settled([one, none], "a: 5"), (vec!["does not render: no!".to_owned()], 2, Ok(())));
        assert_eq!(settled([none, one], "a: 5"), (vec![], 1, Err(Unsettled::OldRefused("no!".to_owned()))));
        assert_eq!(settled([none, none], "a: 5"), (vec![], 1, Err(Unsettled::OldRefused("no!".to_owned()))));
        for makes in [[slow, one], [one, slow]] {
            assert_eq!(settled(makes, "a: 5").2, Err(Unsettled::Unknown("slow".to_owned())));
        }
    }

    #[test]
    fn nothing_is_said_of_charts_that_render_something_else_each_time() {
        let fixed: Makes = |_, _| Ok(String::new());
        let random: Makes = |values, asked| Ok(shown(values, &["c"])? + &asked.to_string());
        // A clock that goes on once.
        let clock: Makes = |_, asked| Ok((asked > 4).to_string());
        for makes in [[random, fixed], [fixed, random], [random, random], [clock, fixed]] {
            assert_eq!(settled(makes, "c: 5").0, [""; 0]);
        }
        // The checksum of all values is no use of a value.
        let sum: Makes = |values, _| Ok(format!("checksum/values: {:064x}\n", values.to_string().len()));
        let one: Makes = |values, _| shown(values, &["c"]);
        assert_eq!(settled([sum, sum], "c: 500").0, [""; 0]);
        assert_eq!(settled([one, sum], "c: 500").0, ["c"]);
    }

    #[test]
    fn a_value_that_the_new_release_has_by_itself_is_not_gone() {
        let old: Makes = |values, _| shown(values, &["d"]);
        // The new release is on without the value, too.
        let new: Makes = |values, _| Ok(values.at(&["d", "on"]).is_none_or(|on| on.to_string() == "true").to_string());
        assert_eq!(settled([old, new], "d: {on: true, x: 1}").0, ["d.on: same", "d.x"]);
    }

    #[test]
    fn values_that_cancel_each_other_out_are_used() {
        let all: Makes = |values, _| shown(values, &["d"]);
        let either: Makes = |values, _| {
            let has = |name: &str| values.at(&["d", name]).is_some();
            Ok((has("x") == has("y")).to_string())
        };
        assert_eq!(settled([all, either], "d: {x: 5, y: 5}").0, [""; 0]);
    }

    #[test]
    fn a_value_that_is_seen_is_not_asked_about() {
        let all: Makes = |values, _| shown(values, &["a", "b", "c", "d"]);
        let (gone, asked, _) = settled([all, all], "a: web.example.com\nd: {LOG_LEVEL: 1}");
        assert_eq!((gone.len(), asked), (0, 2));
        // The chart has the text as well, or two parts of it, so it may come from there; or another value has it.
        for ours in ["a: a text of", "a: the chart of the", "a: web.example.com\nb: https://web.example.com/x"] {
            assert!(settled([all, all], ours).1 > 3, "{ours}");
        }
        // One rendering of a map that is not used.
        let one: Makes = |values, _| shown(values, &["a"]);
        let many: String = (0..64).map(|n| format!("  k{n}: 5\n")).collect();
        let (gone, asked, _) = settled([one, one], &format!("d:\n{many}"));
        assert_eq!((gone.len(), asked), (0, 5));
    }
}
