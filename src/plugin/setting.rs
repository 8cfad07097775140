//! From the flags to a functionConfig: the engine is told what to do in one language, whoever its host is.

use std::fs;

use anyhow::{Context, Result, anyhow, bail};
use krm_merge::limit::{Asked, Budget, Limit};
use krm_merge::splice::to_json;
use krm_merge::yaml::Document;
use krm_merge_function::config::{API_VERSION, Config, KIND, Mode, Role};
use serde_json::{Map, Value, json};

use crate::cli::{Common, ConflictLevel, NewElements, OnConflict, Source, Upgrade};
use crate::side::{Side, parse};
use crate::walk::shown;

/// What the flags say.
#[derive(Debug)]
pub struct Setting {
    /// The functionConfig.
    pub config: Document<'static>,
    /// What it is called in messages.
    pub name: String,
    /// The sides that are files, by their roles.
    pub given: Vec<(Role, Vec<Side>)>,
    mode: Mode,
    /// How much a run may write; `None` where the functionConfig says it.
    limit: Option<Limit>,
    /// The fields that flags stand for; none of a functionConfig that the user wrote.
    flags: Vec<Flag>,
}

/// What the user wrote in the place of a field of the functionConfig.
#[derive(Debug)]
struct Flag {
    /// The field: `spec.mergeKeys[0]`.
    field: String,
    written: Written,
}

/// How it was written.
#[derive(Debug)]
enum Written {
    /// As the value of a flag: `` `--merge-keys` "path=spec.steps" ``.
    Value(String),
    /// As a text, of which places in it are told: a file, or a flag.
    Text(String),
}

impl Flag {
    fn value(field: impl Into<String>, flag: &str, value: &str) -> Self {
        Self { field: field.into(), written: Written::Value(format!("`{flag}` \"{value}\"")) }
    }

    /// A message that speaks of the field, in the user's words.
    fn told(&self, message: String) -> String {
        let Some((before, rest)) = message.split_once(&format!("`{}", self.field)) else { return message };
        let Some((below, after)) = rest.split_once('`').filter(|(b, _)| b.is_empty() || b.starts_with(['.', '[', ',']))
        else {
            return message;
        };
        let after = self.told(after.to_owned());
        match &self.written {
            Written::Value(flag) if below.is_empty() => format!("{before}{flag}{after}"),
            Written::Value(flag) => format!("{before}`{}` of {flag}{after}", below.trim_start_matches('.')),
            // `spec.source[0].yaml` 3:5: …
            Written::Text(name) => match after.strip_prefix(' ') {
                Some(place) if place.starts_with(|c: char| c.is_ascii_digit()) => format!("{before}{name}:{place}"),
                _ => format!("{before}{name}{after}"),
            },
        }
    }
}

impl Setting {
    /// Leaves dest out of the sides that it lies in, and each side out of those of other roles.
    pub fn keep_apart(&mut self, dest: &Side) {
        let place = |role, side: &Side| side.place().map(|place| (role, place.to_owned()));
        let all = self.given.iter().flat_map(|(role, sides)| sides.iter().filter_map(|side| place(Some(*role), side)));
        let all: Vec<_> = all.chain(place(None, dest)).collect();
        for (role, sides) in &mut self.given {
            for (_, other) in all.iter().filter(|(of, _)| *of != Some(*role)) {
                sides.iter_mut().for_each(|side| side.leave_out(other));
            }
        }
    }

    /// A message of the engine in the user's words: what it says of a field is said of the flag that the field comes from.
    pub fn told(&self, message: String) -> String {
        self.flags.iter().fold(message, |message, flag| flag.told(message))
    }

    /// That no side is empty that would do nothing then, or delete everything.
    ///
    /// # Errors
    /// A source without a resource; an updated without one, where original has some.
    pub fn check_not_empty(&self) -> Result<()> {
        let is_empty = |role| self.given.iter().filter(|(r, _)| *r == role).flat_map(|(_, s)| s).all(Side::is_empty);
        for (role, sides) in &self.given {
            match role {
                Role::Source => sides.iter().try_for_each(Side::check_not_empty)?,
                Role::Updated if !is_empty(Role::Original) => {
                    if let Some(side) = sides.iter().find(|side| side.is_empty()) {
                        let why = "updated must hold at least one resource, or all that original holds is deleted";
                        bail!("{}: {why}", side.name);
                    }
                }
                Role::Original | Role::Updated => {}
            }
        }
        Ok(())
    }

    /// The functionConfig as it is meant.
    ///
    /// # Errors
    /// What the functionConfig must not say, and a mode that is not the subcommand's.
    pub fn config(&self) -> Result<Config<'_>> {
        let name = &self.name;
        let root = self.config.roots().next().ok_or_else(|| anyhow!("{name}: there must be a functionConfig"))?;
        let config = Config::read(root).map_err(|e| match self.told(e.message.clone()) {
            // Nobody wrote the text that it has a place in.
            told if told != e.message => anyhow!(told),
            _ => anyhow!("{name}:{e}"),
        })?;
        if config.mode != self.mode {
            bail!("{name}: the mode must be `{:?}`, as the command says, not `{:?}`", self.mode, config.mode);
        }
        if let Some((role, _)) = self.given.iter().find(|(role, _)| config.sides.iter().any(|(r, _)| r == role)) {
            bail!("{name}: `spec.{0}` and `--{0}` must not both be given", role.name());
        }
        Ok(Config { limit: self.limit.unwrap_or(config.limit), ..config })
    }
}

/// How much a run may write, before its input is known.
pub fn limit(asked: Option<Asked>) -> Limit {
    Limit::new(0, asked, "--max-output")
}

/// What `two-way` and `strategic` say.
///
/// # Errors
/// A side that cannot be read, a flag that is not understood.
pub fn of_source(mode: Mode, source: &Source, common: &Common) -> Result<Setting> {
    let (mut spec, mut flags) = spec(mode, common)?;
    let mut sides = Vec::new();
    let mut inline = Vec::new();
    for (flag, value) in
        source.source.iter().map(|s| ("--source", s)).chain(source.patch.iter().map(|p| ("--patch", p)))
    {
        let is_text = flag == "--patch" && (value.contains(['\n', '{']) || value.contains(": "));
        sides.push(if is_text { Side::of_text(flag, value)? } else { Side::read(value)? }.not_empty()?);
    }
    if let Some(target) = &source.target {
        if sides.is_empty() {
            bail!("`--target` must not be given without `--source` or `--patch`");
        }
        let written = target;
        let target = fields("--target", &TARGET, target)?;
        for held in sides.iter().flat_map(|side| &side.files) {
            let Some(document) = held.document() else { continue };
            let field = format!("spec.source[{}]", inline.len());
            flags.push(Flag::value(format!("{field}.target"), "--target", written));
            flags.push(Flag { field: format!("{field}.yaml"), written: Written::Text(held.name.clone()) });
            inline.push(json!({"yaml": document.source(), "target": target}));
        }
        sides.clear();
        spec.insert("source".into(), Value::Array(inline));
    } else if sides.is_empty() && common.config.is_none() && mode == Mode::Strategic {
        bail!("`--patch` or `--source` must be given: a file, a folder, or `-` for stdin");
    }
    if common.config.is_some() && source.target.is_some() {
        bail!("`--target` must not be given with `--config`, which says it by itself");
    }
    let given = if sides.is_empty() { Vec::new() } else { vec![(Role::Source, sides)] };
    setting(mode, (spec, flags), given, common)
}

/// What `three-way` says.
///
/// # Errors
/// As [`of_source`].
pub fn of_upgrade(upgrade: &Upgrade, common: &Common) -> Result<Setting> {
    let (mut spec, flags) = spec(Mode::ThreeWay, common)?;
    if let Some(policy) = upgrade.on_conflict {
        let name = match policy {
            OnConflict::TakeUpdated => "TakeUpdated",
            OnConflict::KeepDest => "KeepDest",
            OnConflict::Fail => "Fail",
        };
        spec.insert("onConflict".into(), name.into());
    }
    if let Some(level) = upgrade.conflict_level {
        let name = if level == ConflictLevel::Line { "Line" } else { "Value" };
        spec.insert("conflictLevel".into(), name.into());
    }
    let mut given = Vec::new();
    for (role, path) in [(Role::Original, &upgrade.original), (Role::Updated, &upgrade.updated)] {
        if let Some(path) = path {
            given.push((role, vec![Side::read(path)?]));
        }
    }
    setting(Mode::ThreeWay, (spec, flags), given, common)
}

/// The `spec` of a functionConfig, and the flags that its fields come from.
type Spec = (Map<String, Value>, Vec<Flag>);

fn setting(mode: Mode, spec: Spec, given: Vec<(Role, Vec<Side>)>, common: &Common) -> Result<Setting> {
    let (spec, flags) = spec;
    let (config, name) = match &common.config {
        Some(file) => {
            let name = shown(file);
            (parse(&name, fs::read(file).with_context(|| name.clone())?)?, name)
        }
        None => {
            let written = json!({"apiVersion": API_VERSION, "kind": KIND, "spec": spec}).to_string();
            (Document::parse(written)?, "the flags".to_owned())
        }
    };
    let limit = common.config.is_none().then(|| limit(common.max_output));
    Ok(Setting { config, name, given, mode, limit, flags })
}

/// The `spec` that all modes have.
fn spec(mode: Mode, common: &Common) -> Result<Spec> {
    let mut spec = Map::new();
    let mut flags = Vec::new();
    spec.insert("mode".into(), format!("{mode:?}").into());
    if let Some(new) = common.new_elements {
        let name = if new == NewElements::Append { "Append" } else { "Prepend" };
        spec.insert("newElements".into(), name.into());
    }
    if let Some(infer) = common.infer_merge_keys {
        spec.insert("inferMergeKeys".into(), infer.into());
    }
    if !common.merge_keys.is_empty() {
        let rules = common.merge_keys.iter().map(|rule| merge_keys(rule)).collect::<Result<Vec<_>>>()?;
        spec.insert("mergeKeys".into(), Value::Array(rules));
        let rules = common.merge_keys.iter().enumerate();
        flags.extend(rules.map(|(i, rule)| Flag::value(format!("spec.mergeKeys[{i}]"), "--merge-keys", rule)));
    }
    if let Some(file) = &common.openapi {
        let name = shown(file);
        let document = parse(&name, fs::read(file).with_context(|| name.clone())?)?;
        let root = document.roots().next().ok_or_else(|| anyhow!("{name}: there must be an OpenAPI document"))?;
        let budget = Budget::new(limit(common.max_output).with_input(document.source().len()));
        let json = to_json(root, &budget).with_context(|| name.clone())?;
        spec.insert("openapi".into(), serde_json::from_str(&json).with_context(|| name.clone())?);
        flags.push(Flag::value("spec.openapi", "--openapi", &name));
    }
    Ok((spec, flags))
}

/// The fields of a target.
const TARGET: [&str; 7] = ["group", "version", "kind", "name", "namespace", "labelSelector", "annotationSelector"];
/// The fields of a rule of `mergeKeys`.
const RULE: [&str; 6] = ["apiVersion", "kind", "path", "keys", "set", "atomic"];

/// `a=x,b=y` as an object. A piece without `=` goes on with the value before it, as in `keys=port,protocol`, and so does any piece behind a
/// selector that is none of the known fields.
fn fields(flag: &str, known: &[&str], text: &str) -> Result<Map<String, Value>> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for piece in text.split(',') {
        if piece.trim().is_empty() {
            bail!("`{flag}` must have something between its commas, not \"{text}\"");
        }
        match (piece.split_once('='), pairs.last_mut()) {
            (Some((name, value)), _) if known.contains(&name.trim()) => {
                if pairs.iter().any(|(before, _)| before == name.trim()) {
                    bail!("`{flag}` must say `{}` once, not \"{text}\"", name.trim());
                }
                pairs.push((name.trim().to_owned(), value.to_owned()));
            }
            (Some((name, _)), before) if before.as_ref().is_none_or(|(before, _)| !before.ends_with("Selector")) => {
                let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
                bail!("`{flag}` must have fields among {}, not `{}` as in \"{text}\"", known.join(", "), name.trim());
            }
            (_, Some((_, value))) => {
                value.push(',');
                value.push_str(piece);
            }
            _ => bail!("`{flag}` must be fields as `kind=Deployment,name=web`, not \"{text}\""),
        }
    }
    Ok(pairs.into_iter().map(|(name, value)| (name, Value::String(value))).collect())
}

fn merge_keys(text: &str) -> Result<Value> {
    let mut rule = fields("--merge-keys", &RULE, text)?;
    if ["keys", "set", "atomic"].iter().filter(|name| rule.contains_key(**name)).count() != 1 {
        let kinds = "`keys=FIELD,…`, `set=true` and `atomic=true`";
        bail!("`--merge-keys` must have exactly one of {kinds}, not \"{text}\"");
    }
    if let Some(Value::String(keys)) = rule.get("keys") {
        let keys: Vec<Value> = keys.split(',').map(|k| k.trim().into()).collect();
        rule.insert("keys".into(), Value::Array(keys));
    }
    for name in ["set", "atomic"] {
        match rule.get(name).and_then(Value::as_str) {
            Some("true") => rule.insert(name.into(), true.into()),
            Some(_) => bail!("`{name}` of `--merge-keys` must be `true` or left out, not as in \"{text}\""),
            None => continue,
        };
    }
    Ok(Value::Object(rule))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_without_a_known_field_goes_on_with_the_value_before_it() {
        let target =
            fields("--target", &TARGET, "kind=Deployment,labelSelector=app=web,tier in (a,b)").expect("fields");
        assert_eq!(Value::Object(target), json!({"kind": "Deployment", "labelSelector": "app=web,tier in (a,b)"}));
        assert_eq!(
            merge_keys("apiVersion=v1,kind=Service,path=spec.ports,keys=port,protocol").expect("a rule"),
            json!({"apiVersion": "v1", "kind": "Service", "path": "spec.ports", "keys": ["port", "protocol"]})
        );
        for (target, want) in [
            ("Deployment", "must be fields"),
            ("name=a,name=b", "must say `name` once"),
            ("name=a,,kind=b", "between its commas"),
            ("", "between its commas"),
            ("name=a,", "between its commas"),
            (
                "kind=Deployment,foo=x",
                "must have fields among `group`, `version`, `kind`, `name`, `namespace`, `labelSelector`, `annotationSelector`, not `foo` as in \"kind=Deployment,foo=x\"",
            ),
            ("foo=x", "not `foo` as in \"foo=x\""),
        ] {
            let error = fields("--target", &TARGET, target).expect_err(target).to_string();
            assert!(error.contains(want), "{error}");
        }
        let error = merge_keys("apiVersion=v1,kind=A,path=b,set=false").expect_err("false").to_string();
        let want =
            "`set` of `--merge-keys` must be `true` or left out, not as in \"apiVersion=v1,kind=A,path=b,set=false\"";
        assert_eq!(error, want);
    }
}
