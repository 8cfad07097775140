//! Turns the flags of a merge into a functionConfig, from a file or from the flags, and into sides that are files.

use std::path::Path;
use std::rc::Rc;

use anyhow::{Context, Result, anyhow, bail};
use krm_files::regular;
use krm_files::walk::{file_there, shown};
use krm_folders::config_file::ConfigFile;
use krm_folders::given;
use krm_folders::held::{Held, parse};
use krm_folders::merge::Conflicts;
use krm_folders::side::{Root, Side};
use krm_job::aim::Aim;
use krm_job::config::{
    Config, From, Given, Input, Mode, NamedRule, Settings, Task, WrittenRule, WrittenTarget, are_edits, edits_in,
    target,
};
use krm_job::event::{Event, RoleFault, What};
use krm_job::name::Name;
use krm_job::role::Role;
use krm_job::target::Target;
use krm_merge_core::policy;
use krm_show::args::{MaxOutput, Output};
use krm_yaml::{Document, NodeRef};

use crate::cli::{Common, ConflictLevel, Deciding, InConflict, Lists, NewElements, Releases, Renames, Source};

/// The setting of a merge, from its flags.
#[derive(Debug)]
pub struct Setting {
    config: Said,
    /// The sides that are files, by their roles.
    pub given: Vec<(Role, Vec<Side>)>,
    /// What becomes of conflicts without a winner.
    pub conflicts: Conflicts,
    mode: Mode,
}

/// The source of the functionConfig.
#[derive(Debug)]
enum Said {
    /// A functionConfig in a file.
    File(Box<ConfigFile>),
    /// The flags, and the rules of the package that is merged into.
    Flags(Box<Flags>, Option<Box<ConfigFile>>),
}

/// The flags that say how to merge.
#[derive(Debug, Default)]
struct Flags {
    on_conflict: Option<policy::OnConflict>,
    conflict_level: Option<policy::ConflictLevel>,
    renames: Option<policy::Renames>,
    new_elements: Option<policy::NewElements>,
    infer_merge_keys: Option<bool>,
    merge_keys: Vec<NamedRule>,
    /// The OpenAPI document, with the name of its file.
    openapi: Option<(String, Document<'static>)>,
    aim: Option<Rc<Aim>>,
    /// The edits of `--patch`, each list with its name.
    edits: Vec<(String, Document<'static>)>,
    max_output: MaxOutput,
}

impl Setting {
    /// Leaves dest out of each side whose folder contains it. Also leaves each side out of sides in other roles whose folders contain it.
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

    /// Whether a functionConfig says who wins a conflict that no rule decides.
    pub fn says_on_conflict(&self) -> bool {
        let file = match &self.config {
            Said::File(file) => Some(&**file),
            Said::Flags(_, own) => own.as_deref(),
        };
        let root = file.and_then(|file| file.root().ok());
        root.is_some_and(|root| root.at(&["spec", "onConflict"]).is_some())
    }

    /// The files of the sides that are given so far.
    pub fn files(&self) -> Vec<&[Held]> {
        self.given.iter().flat_map(|(_, sides)| sides).map(|side| &side.files[..]).collect()
    }

    /// Uses the rules of the package that is merged into, unless `--config` names others.
    ///
    /// # Errors
    /// The rules are invalid.
    pub fn use_rules_of(&mut self, dest: &Side) -> Result<()> {
        if let (Said::Flags(_, own), Root::Folder(tree)) = (&mut self.config, &dest.root) {
            *own = ConfigFile::of_package(&tree.root, Path::new(&dest.name))?.map(Box::new);
        }
        self.config().map(drop)
    }

    /// Refuses an empty side if the merge would do nothing, or would delete everything.
    ///
    /// # Errors
    /// A source has no resource; or updated has none, but original has some.
    pub fn check_not_empty(&self) -> Result<()> {
        let is_empty = |role| self.given.iter().filter(|(r, _)| *r == role).flat_map(|(_, s)| s).all(Side::is_empty);
        for (role, sides) in &self.given {
            match role {
                Role::Source => sides.iter().try_for_each(Side::check_not_empty)?,
                Role::Updated if !is_empty(Role::Original) => {
                    if let Some(side) = sides.iter().find(|side| side.is_empty()) {
                        let why = Event::of(What::Roles(RoleFault::AllGone));
                        bail!("{}: {}", side.name, krm_words::message(&why));
                    }
                }
                Role::Original | Role::Updated => {}
            }
        }
        Ok(())
    }

    /// Refuses a merge without a source: the flags name none, and no resource in dest is marked as one.
    ///
    /// # Errors
    /// There is no source.
    pub fn check_source(&self, dest: &Side) -> Result<()> {
        let is_marked = || dest.files.iter().flat_map(Held::resources).any(|resource| resource.role.is_some());
        let has_edits = matches!(&self.config, Said::Flags(flags, _) if !flags.edits.is_empty());
        if matches!(self.config, Said::Flags(..)) && self.given.is_empty() && !has_edits && !is_marked() {
            bail!("`--patch` or `--source` must be given: a file, a folder, or `-` for stdin");
        }
        Ok(())
    }

    /// The functionConfig, from the file or from the flags.
    ///
    /// # Errors
    /// The functionConfig is invalid, has fields that the flags give, or has another mode than the subcommand.
    pub fn config(&self) -> Result<Config<'_>> {
        let file = match &self.config {
            Said::Flags(flags, own) => return flags.config(self.mode, own.as_deref()),
            Said::File(file) => file,
        };
        let name = file.name();
        let config = file.config(Given { mode: Some(self.mode), ..Given::default() })?;
        if config.mode() != self.mode {
            bail!("{name}: the mode must be `{:?}`, as the command says, not `{:?}`", self.mode, config.mode());
        }
        if let Some((role, _)) = self.given.iter().find(|(role, _)| config.task.inputs().any(|(r, _)| r == *role)) {
            bail!("{name}: `spec.{0}` and `--{0}` must not both be given", role.name());
        }
        Ok(config)
    }
}

impl Flags {
    /// The settings from the flags that all modes have.
    fn of(common: &Common) -> Result<Self> {
        Ok(Self {
            new_elements: common.new_elements.map(|place| match place {
                NewElements::Prepend => policy::NewElements::Prepend,
                NewElements::Append => policy::NewElements::Append,
            }),
            max_output: common.max_output,
            ..Self::of_lists(&common.lists)?
        })
    }

    /// The settings from the flags that say how lists merge.
    fn of_lists(lists: &Lists) -> Result<Self> {
        Ok(Self {
            infer_merge_keys: lists.infer_merge_keys,
            merge_keys: merge_keys(&lists.merge_keys).collect::<Result<_>>()?,
            openapi: lists.openapi.as_deref().map(openapi).transpose()?,
            ..Self::default()
        })
    }

    /// The functionConfig that the flags and the rules of a package give. A flag counts before the rules.
    fn config<'f>(&'f self, mode: Mode, rules: Option<&'f ConfigFile>) -> Result<Config<'f>> {
        let of_flags = self.openapi.as_ref().map(|(name, document)| {
            let root = document.roots().next().ok_or_else(|| anyhow!("{name}: there must be an OpenAPI document"))?;
            Ok::<_, anyhow::Error>((Name::Flag { flag: "--openapi", value: name.clone() }, root))
        });
        let of_flags = of_flags.transpose()?;
        let mut settings = Settings { limit: self.max_output.limit(), ..Settings::default() };
        let mut task = Task::of(mode);
        if let Some(rules) = rules {
            let config = rules.rules(policy::OnConflict::default())?;
            let of_rules = rules.settings(&config)?;
            settings = Settings {
                limit: if self.max_output.is_given() { settings.limit } else { of_rules.limit },
                ..of_rules
            };
            // Only a three-way merge has conflicts that rules decide.
            task = if mode == Mode::ThreeWay { config.task } else { task };
        }
        if let Task::Upgrade { on_conflict, conflict_level, renames, .. } = &mut task {
            *on_conflict = self.on_conflict.unwrap_or(*on_conflict);
            *conflict_level = self.conflict_level.unwrap_or(*conflict_level);
            *renames = self.renames.unwrap_or(*renames);
        }
        let settings = Settings {
            new_elements: self.new_elements.unwrap_or(settings.new_elements),
            infer_merge_keys: self.infer_merge_keys.or(settings.infer_merge_keys),
            // The first rule for a list decides.
            merge_keys: self.merge_keys.iter().cloned().chain(settings.merge_keys).collect(),
            openapi: of_flags.or(settings.openapi),
            limit: settings.limit,
        };
        if let (Task::Overlay { source } | Task::Patch { source }, false) = (&mut task, self.edits.is_empty()) {
            *source = Some(self.inputs()?);
        }
        let config = Config::new(task, settings).map_err(|e| anyhow!(e.message))?;
        Ok(Config { aim_of_given: self.aim.clone(), ..config })
    }
}

impl Flags {
    /// The edits, as inputs for the items of `--target`.
    fn inputs(&self) -> Result<Vec<Input<'_>>> {
        let Some(aim) = &self.aim else {
            bail!("`--target` must be given with a list of edits, which does not say what it is for");
        };
        let mut inputs = Vec::with_capacity(self.edits.len());
        for (name, document) in &self.edits {
            let root = document.roots().next().ok_or_else(|| anyhow!("{name}: there must be edits"))?;
            let edits = edits_in(root, "edits").map_err(|e| anyhow!("{name}:{e}"))?;
            inputs.push(Input { field: name.clone(), node: root, from: From::Edits(edits), aim: Rc::clone(aim) });
        }
        Ok(inputs)
    }
}

/// The edits in a text, with its name; `None` if it holds resources.
fn edits_of(name: &str, bytes: Vec<u8>) -> Option<(String, Document<'static>)> {
    // What is no YAML is told when it is read as resources.
    let document = Document::parse(String::from_utf8(bytes).ok()?).ok()?;
    let is_meant = document.roots().next().is_some_and(are_edits);
    is_meant.then(|| (name.to_owned(), document))
}

/// The rules of all `--merge-keys` flags.
pub fn merge_keys(texts: &[String]) -> impl Iterator<Item = Result<NamedRule>> {
    texts.iter().map(|text| {
        let name = Name::Flag { flag: "--merge-keys", value: text.clone() };
        NamedRule::new(name, rule(text)?).map_err(|wrong| anyhow!(wrong.message))
    })
}

/// The document that `--openapi` names, with the name of its file.
///
/// # Errors
/// The file cannot be read, or is not YAML.
pub fn openapi(file: &Path) -> Result<(String, Document<'static>)> {
    file_there("--openapi", file)?;
    let name = shown(file);
    let document = parse(&name, regular::read(file).with_context(|| name.clone())?)?;
    Ok((name, document))
}

/// The setting of `two-way` and `strategic`.
///
/// # Errors
/// A side cannot be read, or a flag is invalid.
pub fn of_source(mode: Mode, source: &Source, common: &Common) -> Result<Setting> {
    let mut flags = Flags::of(common)?;
    let mut sides = Vec::new();
    for (flag, value) in
        source.source.iter().map(|s| ("--source", s)).chain(source.patch.iter().map(|p| ("--patch", p)))
    {
        let is_text = flag == "--patch" && (value.contains(['\n', '{']) || value.contains(": "));
        let (name, bytes) = match is_text {
            true => ("--patch", Some(value.as_bytes().to_vec())),
            false if Path::new(value).is_file() => (&**value, Some(regular::read(Path::new(value))?)),
            false => (&**value, None),
        };
        if let Some(edits) = bytes.and_then(|bytes| edits_of(name, bytes)) {
            flags.edits.push(edits);
            continue;
        }
        let side = if is_text { Side::of_text(flag, value)? } else { given::side(flag, value, &[])? };
        // A folder may have a file without resources that is for dest.
        sides.push(if side.is_folder() { side } else { side.not_empty()? });
    }
    if !flags.edits.is_empty() && !sides.is_empty() {
        bail!("`--patch` must be edits or resources, not both in one call: use `--config`");
    }
    if let Some(text) = &source.target {
        if sides.is_empty() && flags.edits.is_empty() {
            bail!("`--target` must not be given without `--source` or `--patch`");
        }
        if common.config.is_some() {
            bail!("`--target` must not be given with `--config`, which says it by itself");
        }
        flags.aim = Some(Rc::new(Aim::at_target(target_of(text)?)));
    }
    let given = if sides.is_empty() { Vec::new() } else { vec![(Role::Source, sides)] };
    setting(mode, flags, given, common)
}

/// The setting of a command that only compares resources in a mode, or makes patches of this mode.
///
/// # Errors
/// A flag is invalid.
pub fn of_lists(mode: Mode, lists: &Lists) -> Result<Setting> {
    let config = Said::Flags(Box::new(Flags::of_lists(lists)?), None);
    Ok(Setting { config, given: Vec::new(), conflicts: Conflicts::Settled, mode })
}

/// The setting of `three-way`.
///
/// # Errors
/// The errors of [`of_source`].
pub fn of_releases(releases: &Releases, deciding: &Deciding, common: &Common) -> Result<Setting> {
    let mut setting = of_upgrade(deciding, common)?;
    let of_roles =
        [(Role::Original, "--original", &releases.original), (Role::Updated, "--updated", &releases.updated)];
    for (role, flag, path) in of_roles {
        if let Some(path) = path {
            let side = given::side(flag, path, &setting.files())?;
            setting.given.push((role, vec![side]));
        }
    }
    Ok(setting)
}

/// The setting of a three-way merge whose sides are not given yet.
///
/// # Errors
/// A flag is invalid.
pub fn of_upgrade(deciding: &Deciding, common: &Common) -> Result<Setting> {
    let mut flags = Flags::of(common)?;
    let is_marked = deciding.on_conflict == Some(InConflict::Mark);
    if common.config.is_some() && deciding.on_conflict.is_some() && !is_marked {
        bail!("`--on-conflict` must be `mark` or left out with `--config`. Set `onConflict` in that file instead");
    }
    if is_marked && (common.without_local_config || matches!(common.output, Some(Output::Json | Output::Name))) {
        let these = "`-o json`, `-o name` and `--without-local-config`";
        bail!("{these} must not be given with `--on-conflict mark`, because a file with conflict markers is not YAML");
    }
    flags.on_conflict = deciding.on_conflict.and_then(InConflict::policy);
    flags.conflict_level = deciding.conflict_level.map(|level| match level {
        ConflictLevel::Value => policy::ConflictLevel::Value,
        ConflictLevel::Line => policy::ConflictLevel::Line,
    });
    flags.renames = deciding.renames.map(|renames| match renames {
        Renames::Ignore => policy::Renames::Ignore,
        Renames::Follow => policy::Renames::Follow,
    });
    let conflicts = if is_marked { Conflicts::Marked } else { Conflicts::Settled };
    Ok(Setting { conflicts, ..setting(Mode::ThreeWay, flags, Vec::new(), common)? })
}

fn setting(mode: Mode, flags: Flags, given: Vec<(Role, Vec<Side>)>, common: &Common) -> Result<Setting> {
    let config = match &common.config {
        Some(file) => Said::File(Box::new(ConfigFile::of_flag(file)?)),
        None => Said::Flags(Box::new(flags), None),
    };
    Ok(Setting { config, given, conflicts: Conflicts::Settled, mode })
}

/// The fields of a target.
const TARGET: [&str; 8] =
    ["group", "version", "kind", "name", "namespace", "labelSelector", "annotationSelector", "path"];
/// The fields of a rule of `mergeKeys`.
const RULE: [&str; 6] = ["apiVersion", "kind", "path", "keys", "set", "atomic"];

/// The fields in a text `a=x,b=y`. A piece without `=` continues the value before it, as in `keys=port,protocol`. After a selector, any
/// piece that does not begin with a known field continues the selector.
fn fields(flag: &str, known: &[&str], text: &str) -> Result<Vec<(String, String)>> {
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
            _ if flag == "--target" => {
                bail!("`--target` must be fields as `kind=Deployment,name=web`, or as `deployment/web`, not \"{text}\"")
            }
            _ => bail!("`{flag}` must be fields as `kind=Deployment,path=spec.x`, not \"{text}\""),
        }
    }
    Ok(pairs)
}

/// Removes a field from the list, and returns its value.
fn take(fields: &mut Vec<(String, String)>, name: &str) -> Option<String> {
    let at = fields.iter().position(|(field, _)| field == name)?;
    Some(fields.swap_remove(at).1)
}

/// The short names of kubectl for kinds. Source: `kubectl api-resources`.
const SHORT: [(&str, &str); 17] = [
    ("cj", "cronjob"),
    ("cm", "configmap"),
    ("crd", "customresourcedefinition"),
    ("deploy", "deployment"),
    ("ds", "daemonset"),
    ("hpa", "horizontalpodautoscaler"),
    ("ing", "ingress"),
    ("netpol", "networkpolicy"),
    ("ns", "namespace"),
    ("pdb", "poddisruptionbudget"),
    ("po", "pod"),
    ("pv", "persistentvolume"),
    ("pvc", "persistentvolumeclaim"),
    ("rs", "replicaset"),
    ("sa", "serviceaccount"),
    ("sts", "statefulset"),
    ("svc", "service"),
];

/// The fields of a target in kubectl's form: `deployment/web`, `deploy/web`, `deployments.apps/web`.
fn fields_of_kubectl(text: &str) -> Option<Vec<(String, String)>> {
    let (kind, name) = text.split_once('/').filter(|(kind, name)| !kind.is_empty() && !name.is_empty())?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '/' | ':');
    if !text.chars().all(is_plain) || name.contains('/') {
        return None;
    }
    let (kind, group) = kind.split_once('.').map_or((kind, None), |(kind, group)| (kind, Some(group)));
    let exact = |text: &str| text.replace('.', "\\.");
    let group = group.map(|group| ("group".to_owned(), exact(group)));
    let own = [("kind".to_owned(), kind_of_kubectl(kind)), ("name".to_owned(), exact(name))];
    Some(own.into_iter().chain(group).collect())
}

/// The pattern of a kind as kubectl reads it: `deployment`, `deploy`, `Deployments`.
fn kind_of_kubectl(kind: &str) -> String {
    let lower = kind.to_ascii_lowercase();
    let long = SHORT.iter().find(|(short, _)| *short == lower).map_or(&*lower, |(_, long)| *long);
    let singular =
        [("ies", "y"), ("es", ""), ("s", "")].map(|(plural, one)| Some(long.strip_suffix(plural)?.to_owned() + one));
    let kinds: Vec<String> = singular.into_iter().flatten().chain([long.to_owned()]).collect();
    format!("(?i:{})", kinds.join("|"))
}

fn target_of(text: &str) -> Result<Target> {
    if let Some(given) = fields_of_kubectl(text) {
        return written_target(text, given, vec![format!("`{text}`")]);
    }
    let mut given = fields("--target", &TARGET, text)?;
    let is_word =
        |value: &str| !value.is_empty() && value.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    // No kind begins with a small letter, so it is a word of kubectl.
    given
        .iter_mut()
        .filter(|(name, value)| name == "kind" && is_word(value))
        .for_each(|(_, value)| *value = kind_of_kubectl(value));
    let written = given.iter().map(|(name, value)| format!("`{name}: {value}`")).collect();
    written_target(text, given, written)
}

fn written_target(text: &str, mut given: Vec<(String, String)>, written: Vec<String>) -> Result<Target> {
    let [group, version, kind, name, namespace, label_selector, annotation_selector, path] =
        TARGET.map(|name| take(&mut given, name));
    let fields = WrittenTarget { group, version, kind, name, namespace, label_selector, annotation_selector, path };
    let name = Name::Flag { flag: "--target", value: text.to_owned() };
    target(name, &fields, written).map_err(|wrong| anyhow!(wrong.message))
}

/// The fields of a rule that is written as a line of `mergeKeys`, as a warning shows it: `{kind: A, keys: [a, b]}` is `kind=A,keys=a,b`.
fn of_line(text: &str) -> Option<String> {
    let document = Document::parse(text).ok()?;
    let root = document.roots().next().filter(|root| root.is_map())?;
    let value = |value: NodeRef<'_>| match value.is_list() {
        true => value.elements().map(NodeRef::string).collect::<Vec<_>>().join(","),
        false => value.string().to_owned(),
    };
    let fields = root.fields().map(|(name, of_field)| format!("{}={}", name.string(), value(of_field)));
    Some(fields.collect::<Vec<_>>().join(","))
}

fn rule(text: &str) -> Result<WrittenRule> {
    let of_line = of_line(text);
    let text = of_line.as_deref().unwrap_or(text);
    let mut given = fields("--merge-keys", &RULE, text)?;
    if ["keys", "set", "atomic"].iter().filter(|name| given.iter().any(|(given, _)| given == *name)).count() != 1 {
        let kinds = "`keys=FIELD,…`, `set=true` and `atomic=true`";
        bail!("`--merge-keys` must have exactly one of {kinds}, not \"{text}\"");
    }
    let [api_version, kind, path, keys, set, atomic] = RULE.map(|name| take(&mut given, name));
    let needed = |name: &str, value: Option<String>| {
        value.ok_or_else(|| anyhow!("`--merge-keys` \"{text}\" must have the field `{name}`"))
    };
    let is_true = |name: &str, value: Option<String>| match value.as_deref() {
        None => Ok(None),
        Some("true") => Ok(Some(true)),
        Some(_) => bail!("`{name}` of `--merge-keys` must be `true` or left out, not as in \"{text}\""),
    };
    Ok(WrittenRule {
        set: is_true("set", set)?,
        atomic: is_true("atomic", atomic)?,
        api_version: needed("apiVersion", api_version)?,
        kind: needed("kind", kind)?,
        path: needed("path", path)?,
        keys: keys.map(|keys| keys.split(',').map(|key| key.trim().to_owned()).collect()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_may_have_the_form_of_kubectl() {
        for (text, kind, name, group) in [
            ("deployment/web", "(?i:deployment)", "web", None),
            ("svc/a.b", "(?i:service)", "a\\.b", None),
            ("NetworkPolicies/x", "(?i:networkpolicy|networkpolici|networkpolicie|networkpolicies)", "x", None),
            ("rollouts.argoproj.io/x", "(?i:rollout|rollouts)", "x", Some("argoproj\\.io")),
        ] {
            let want = [("kind", Some(kind)), ("name", Some(name)), ("group", group)];
            let want = want.into_iter().filter_map(|(field, value)| Some((field.to_owned(), value?.to_owned())));
            assert_eq!(fields_of_kubectl(text), Some(want.collect()), "{text}");
        }
        for text in ["deployment", "/web", "deployment/", "a/b/c", "kind=A,path=a/b", "deployment/web-.*"] {
            assert_eq!(fields_of_kubectl(text), None, "{text}");
        }
    }

    #[test]
    fn a_piece_without_a_known_field_goes_on_with_the_value_before_it() {
        let target =
            fields("--target", &TARGET, "kind=Deployment,labelSelector=app=web,tier in (a,b)").expect("fields");
        let want = [("kind", "Deployment"), ("labelSelector", "app=web,tier in (a,b)")];
        assert_eq!(target, want.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let keys = rule("apiVersion=v1,kind=Service,path=spec.ports,keys=port,protocol").expect("a rule").keys;
        assert_eq!(keys.as_deref(), Some(&["port".to_owned(), "protocol".to_owned()][..]));
        let line = rule("{apiVersion: v1, kind: Service, path: spec.ports, keys: [port, protocol]}").expect("a rule");
        assert_eq!((line.keys, &*line.path, line.set), (keys, "spec.ports", None));
        let line = rule("{apiVersion: v1, kind: A, path: b, set: true}").expect("a rule");
        assert_eq!((line.keys, line.set), (None, Some(true)));
        for (target, want) in [
            ("Deployment", "must be fields"),
            ("name=a,name=b", "must say `name` once"),
            ("name=a,,kind=b", "between its commas"),
            ("", "between its commas"),
            ("name=a,", "between its commas"),
            (
                "kind=Deployment,foo=x",
                "must have fields among `group`, `version`, `kind`, `name`, `namespace`, `labelSelector`, `annotationSelector`, `path`, not `foo` as in \"kind=Deployment,foo=x\"",
            ),
            ("foo=x", "not `foo` as in \"foo=x\""),
        ] {
            let error = fields("--target", &TARGET, target).expect_err(target).to_string();
            assert!(error.contains(want), "{error}");
        }
        let error = rule("apiVersion=v1,kind=A,path=b,set=false").expect_err("false").to_string();
        let want =
            "`set` of `--merge-keys` must be `true` or left out, not as in \"apiVersion=v1,kind=A,path=b,set=false\"";
        assert_eq!(error, want);
    }
}
