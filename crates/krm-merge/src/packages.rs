//! [`Merge`]: merges packages whose files a program holds as texts.
//!
//! It is a host like the function and the plugin: it reads files into resources, runs a [`Job`] on them, and makes texts of files of what that
//! writes. So it merges what they merge: resources, and files without resources, such as a README or a template of a chart.
//!
//! All is owned. A merge that was run keeps its input and the decisions of the program, and runs again for each plan. It knows a conflict by its
//! resource, file and place.

mod conflict;
mod difference;
mod error;
pub mod plain;
mod side;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use krm_job::carried::{CarriedChange, Combiner};
use krm_job::compared::ComparedTexts;
use krm_job::config::{Config, Given, Settings, Task, openapi_path, says_who_wins};
use krm_job::decision::ConflictView;
use krm_job::event::{Event, RoleFault, Severity, What};
use krm_job::forms::{Taken, no_yaml};
use krm_job::job::{Job, Texts};
use krm_job::name::Name;
use krm_job::results;
use krm_merge_core::policy::{ConflictLevel, NewElements, Renames, Treatment};
use krm_names::file_path::RULES;
use krm_package::package::{FileChange, FileMerge};
use krm_schema::mode::Mode;
use krm_schema::schema::{Inference, ListRule, Types};
use krm_tree::limit::{Asked, Budget, Limit};
use krm_tree::sides::Sides;
use krm_tree::splice::to_json;
use krm_tree::tree::Pick;
use krm_yaml::{Document, NodeRef};
use serde::de::DeserializeOwned;

use conflict::ConflictName;
pub use conflict::{Conflict, Reveal};
pub use difference::Difference;
pub use error::Error;
pub use side::{Package, PackageSide};

/// A merge of packages, before it runs: what is merged, and how.
///
/// The CustomResourceDefinitions among the resources of all sides say how lists of their types merge.
///
/// # Examples
/// ```
/// use krm_merge::{Merge, Package, Pick, Reveal};
///
/// let map = |size: u32, color: &str| {
///     format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata:\n  size: '{size}' # big\n  color: {color}\n")
/// };
/// let [original, updated, dest] = [map(1, "red"), map(2, "blue"), map(1, "green")].map(Package::of_text);
/// let merged = Merge::three_way(&original?, &updated?, &dest?).run()?;
/// for conflict in merged.conflicts() {
///     assert_eq!(conflict.path(), "data.color");
///     assert_eq!(conflict.values(Reveal::Public).updated.as_deref(), Some("\"blue\""));
/// }
/// assert_eq!(merged.text(Pick::Updated)?, map(2, "blue"));
/// assert_eq!(merged.decide(|_| Some(Pick::Dest)).text(Pick::Updated)?, map(2, "green"));
/// # Ok::<(), krm_merge::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Merge {
    mode: Mode,
    /// The packages. In a merge of sources, updated's are the sources.
    packages: Sides<Package>,
    /// The functionConfig, if the user gave one.
    config: Option<Arc<Said>>,
    settings: Chosen,
}

/// A functionConfig.
#[derive(Debug)]
struct Said {
    /// Its name in messages.
    name: &'static str,
    document: Document<'static>,
    /// Whose it is.
    of: Of,
    /// The OpenAPI document that it names by its path.
    openapi: Option<Document<'static>>,
}

/// Whose a functionConfig is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    /// That of a merge.
    Merge,
    /// The rules of a package, of which each mode takes what it has.
    Package,
}

impl Said {
    fn read(name: &'static str, text: &str, of: Of) -> Result<Self, Error> {
        let unreadable = |error| Error::Text { file: name.to_owned(), error };
        let document = Document::parse(text.to_owned()).map_err(unreadable)?;
        Ok(Self { name, document, of, openapi: None })
    }

    fn named_openapi(&self) -> Option<NodeRef<'_>> {
        self.openapi.as_ref().and_then(|document| document.roots().next())
    }

    fn root(&self) -> Option<NodeRef<'_>> {
        self.document.roots().find(|root| !root.is_null())
    }

    /// The error at a place of it.
    fn wrong(&self, error: krm_yaml::Error) -> Error {
        Error::Text { file: self.name.to_owned(), error }
    }
}

/// What a program chose beside the functionConfig.
#[derive(Clone, Debug, Default)]
struct Chosen {
    openapi: Option<Arc<Document<'static>>>,
    list_rules: Vec<ListRule>,
    inference: Option<Inference>,
    conflict_level: Option<ConflictLevel>,
    renames: Option<Renames>,
    new_elements: Option<NewElements>,
    limit: Option<u64>,
    empty_updated: EmptyUpdated,
}

/// What updated means if it holds no resource, although original holds some.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EmptyUpdated {
    /// It is a mistake, such as a wrong path, so the merge is an error.
    #[default]
    IsError,
    /// All that original holds is deleted.
    Deletes,
}

/// A merge that was run. Its conflicts are open until [`MergedPackage::decide`] or a rule decides them.
#[derive(Clone, Debug)]
pub struct MergedPackage {
    merge: Merge,
    conflicts: Vec<Conflict>,
    /// Who wins each of the conflicts, as the program decided.
    picks: Vec<Option<Pick>>,
}

/// What a merge changes, and what it tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The files of dest that change, by their paths. They hold together: a file may come to a path that another one leaves.
    pub changes: Vec<FileChange>,
    /// What happened, the most severe first. The conflicts are among them.
    pub events: Vec<Event>,
}

impl Merge {
    /// Merges the changes from original to updated into dest.
    pub fn three_way(original: &Package, updated: &Package, dest: &Package) -> Self {
        let [original, updated, dest] = [original, updated, dest].map(Package::clone);
        Self::new(Mode::ThreeWay, Sides { original, updated, dest })
    }

    /// Merges a source into dest: its values are set, a null removes a field, and a resource that dest lacks is added.
    ///
    /// # Examples
    /// ```
    /// use krm_merge::{Merge, Package, Pick};
    ///
    /// let map = |data: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata: {{{data}}}\n");
    /// let (source, dest) = (Package::of_text(map("b: null, c: '3'"))?, Package::of_text(map("a: '1', b: '2'"))?);
    /// assert_eq!(Merge::two_way(&source, &dest).run()?.text(Pick::Updated)?, map("a: '1', c: '3'"));
    /// # Ok::<(), krm_merge::Error>(())
    /// ```
    pub fn two_way(source: &Package, dest: &Package) -> Self {
        Self::of_source(Mode::TwoWay, source, dest)
    }

    /// Applies a strategic merge patch to dest, as `kubectl patch` does. Lists of unknown types are replaced, unless
    /// [`Merge::inference`] says otherwise.
    ///
    /// # Examples
    /// ```
    /// use krm_merge::{Merge, Package, Pick};
    ///
    /// let pod = |containers: &str| format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec:\n  containers: [{containers}]\n");
    /// let patch = Package::of_text(pod("{name: b, $patch: delete}"))?;
    /// let dest = Package::of_text(pod("{name: a}, {name: b}"))?;
    /// assert_eq!(Merge::strategic(&patch, &dest).run()?.text(Pick::Updated)?, pod("{name: a}"));
    /// # Ok::<(), krm_merge::Error>(())
    /// ```
    pub fn strategic(patch: &Package, dest: &Package) -> Self {
        Self::of_source(Mode::Strategic, patch, dest)
    }

    fn of_source(mode: Mode, source: &Package, dest: &Package) -> Self {
        Self::new(mode, Sides { original: Package::default(), updated: source.clone(), dest: dest.clone() })
    }

    fn new(mode: Mode, packages: Sides<Package>) -> Self {
        Self { mode, packages, config: None, settings: Chosen::default() }
    }

    /// Takes rules, merge keys and other settings from a functionConfig, such as a `.krm-merge.yaml`. A `Merge` may leave out the mode. What the other
    /// functions here say comes before it.
    ///
    /// # Errors
    /// It is not YAML, or a field of it is wrong. The error has the place.
    ///
    /// # Examples
    /// ```
    /// use krm_merge::{Merge, Package, Pick};
    ///
    /// let map = |color: &str| Package::of_text(format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata: {{color: {color}}}\n"));
    /// let rules = "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n  rules: [{path: data.color, take: Dest}]\n";
    /// let merged = Merge::three_way(&map("red")?, &map("blue")?, &map("green")?).config(rules)?.run()?;
    /// assert!(merged.text(Pick::Updated)?.contains("green"));
    /// # Ok::<(), krm_merge::Error>(())
    /// ```
    pub fn config(self, text: &str) -> Result<Self, Error> {
        let merge = Self { config: Some(Arc::new(Said::read(CONFIG, text, Of::Merge)?)), ..self };
        merge.read_config()?;
        Ok(merge)
    }

    /// The mode that a functionConfig names, or else that of the merge.
    ///
    /// # Errors
    /// The errors of [`Merge::config`].
    pub fn mode_of(&self, text: &str) -> Result<Mode, Error> {
        let said = Said::read(CONFIG, text, Of::Merge)?;
        let given = Given { mode: Some(self.mode), ..Given::default() };
        let config = said.root().map(|root| Config::read_with(root, given)).transpose();
        Ok(config.map_err(|error| said.wrong(error))?.map_or(self.mode, |config| config.mode()))
    }

    /// Uses the rules of dest, its `.krm-merge.yaml`, if it has some. In modes other than three-way, only settings that all modes have count. An
    /// OpenAPI document that the rules name by its path is a file of dest.
    ///
    /// # Errors
    /// They are not rules of a package. The error has the place.
    pub fn config_of_dest(self) -> Result<Self, Error> {
        let Some(text) = self.packages.dest.text_at(RULES) else { return Ok(self) };
        let mut said = Said::read(RULES_OF_DEST, text, Of::Package)?;
        if let Some(path) = said.root().and_then(openapi_path) {
            let text = self.packages.dest.text_at(path.string()).ok_or_else(|| {
                let must = format!("`spec.openapi.path` must be the path of a file of dest, not \"{}\"", path.string());
                said.wrong(path.error(must))
            })?;
            let file = format!("dest/{}", path.string());
            said.openapi = Some(openapi_of(text).map_err(|error| Error::Text { file, error })?);
        }
        let merge = Self { config: Some(Arc::new(said)), ..self };
        merge.read_config()?;
        Ok(merge)
    }

    /// The functionConfig, if it says something, with its root.
    fn said(&self) -> Option<(&Said, NodeRef<'_>)> {
        let said = self.config.as_deref()?;
        Some((said, said.root()?))
    }

    /// The mode.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Says by an OpenAPI document how lists of its types merge, as the API server gives it, in version 2 or 3.
    ///
    /// # Errors
    /// It is not YAML or JSON, or it describes no resource.
    pub fn openapi(mut self, text: &str) -> Result<Self, Error> {
        let wrong = |error| Error::Text { file: "openapi".to_owned(), error };
        self.settings.openapi = Some(Arc::new(openapi_of(text).map_err(wrong)?));
        Ok(self)
    }

    /// Says how some lists merge. These rules come before all others.
    #[must_use]
    pub fn list_rules(mut self, rules: impl IntoIterator<Item = ListRule>) -> Self {
        self.settings.list_rules.extend(rules);
        self
    }

    /// Whether lists of unknown types merge by keys that their elements have.
    #[must_use]
    pub fn inference(mut self, inference: Inference) -> Self {
        self.settings.inference = Some(inference);
        self
    }

    /// The size of the parts that both sides may change without a conflict.
    #[must_use]
    pub fn conflict_level(mut self, conflict_level: ConflictLevel) -> Self {
        self.settings.conflict_level = Some(conflict_level);
        self
    }

    /// Whether a resource with another name in updated or dest is found again.
    #[must_use]
    pub fn renames(mut self, renames: Renames) -> Self {
        self.settings.renames = Some(renames);
        self
    }

    /// Where new elements of a list go.
    #[must_use]
    pub fn new_elements(mut self, new_elements: NewElements) -> Self {
        self.settings.new_elements = Some(new_elements);
        self
    }

    /// What updated means if it holds no resource, although original holds some. Without it, that is an error.
    #[must_use]
    pub fn empty_updated(mut self, empty_updated: EmptyUpdated) -> Self {
        self.settings.empty_updated = empty_updated;
        self
    }

    /// How many bytes of new text the merge may write. Without it, this is 20 times the input.
    #[must_use]
    pub fn limit(mut self, bytes: u64) -> Self {
        self.settings.limit = Some(bytes);
        self
    }

    /// Merges, and leaves open all conflicts that no rule decides.
    ///
    /// # Errors
    /// A resource cannot be merged; resources cannot be told apart; or a patch is for no resource of dest.
    pub fn run(&self) -> Result<MergedPackage, Error> {
        let mut conflicts = Vec::new();
        let of_files = self.with_drawn(
            OPEN,
            Decided::default(),
            |view, event, budget| {
                conflicts.push(conflict::of_resource(view, event, budget));
            },
            |drawn| {
                let errors: Vec<Event> =
                    drawn.events.into_iter().filter(|event| event.severity == Severity::Error).collect();
                if errors.is_empty() { Ok(drawn.of_files) } else { Err(Error::Failed(errors)) }
            },
        )?;
        conflicts.extend(of_files.iter().filter_map(conflict::of_file));
        let picks = vec![None; conflicts.len()];
        Ok(MergedPackage { merge: self.clone(), conflicts, picks })
    }

    /// What a user asked for: the functionConfig, with what the program chose over it.
    fn read_config(&self) -> Result<Config<'_>, Error> {
        let Chosen { openapi, list_rules, inference, conflict_level, renames, new_elements, limit, .. } =
            &self.settings;
        let openapi = openapi.as_ref().and_then(|document| document.roots().next());
        let mut config = match self.said() {
            Some((said, root)) => self.read(said, root).map_err(|error| said.wrong(error))?,
            None => Config::new(Task::of(self.mode), Settings::default()).map_err(Error::of_config)?,
        };
        if let Some(inference) = inference {
            config.inference = *inference;
            config.types = config.types.with_inference(*inference);
        }
        if let Some(root) = openapi {
            config.types = config.types.with_openapi(root).map_err(|none| Error::of_config(error::no_types(none)))?;
        }
        config.types = config.types.with_rules(list_rules.iter().cloned());
        config.new_elements = new_elements.unwrap_or(config.new_elements);
        if let Task::Upgrade { conflict_level: of_task, renames: of_names, .. } = &mut config.task {
            *of_task = conflict_level.unwrap_or(*of_task);
            *of_names = renames.unwrap_or(*of_names);
        }
        let sizes = self.packages.iter().map(|(_, package)| package.size());
        config.limit = match limit {
            Some(bytes) => Limit::new(0, Some(Asked::bytes(*bytes)), "limit"),
            None => sizes.fold(config.limit, Limit::with_input),
        };
        Ok(config)
    }

    /// Reads a functionConfig in the mode of the merge.
    fn read<'s>(&'s self, said: &'s Said, root: NodeRef<'s>) -> Result<Config<'s>, krm_yaml::Error> {
        let given = |mode| Given { mode: Some(mode), openapi: said.named_openapi(), ..Given::default() };
        if said.of == Of::Merge {
            let config = Config::read_with(root, given(self.mode))?;
            if config.mode() == self.mode {
                return Ok(config);
            }
            let at = root.at(&["spec", "mode"]).or_else(|| root.at(&["data", "mode"])).unwrap_or(root);
            let (own, other) = (self.mode, config.mode());
            return Err(at.error(format!("`mode` must be `{own:?}`, as the merge is, not \"{other:?}\"")));
        }
        let config = Config::read_with(root, given(Mode::ThreeWay))?;
        if config.mode() != Mode::ThreeWay || root.get("spec").is_none() || config.task.inputs().next().is_some() {
            let must = format!("`{RULES}` must be a `Merge` of mode `ThreeWay`, with `spec`, and without sides");
            return Err(root.error(must));
        }
        if self.mode == Mode::ThreeWay {
            return Ok(config);
        }
        let spec = |field| root.at(&["spec", field]);
        let settings = Settings {
            new_elements: config.new_elements,
            infer_merge_keys: spec("inferMergeKeys").map(|_| config.inference == Inference::On),
            merge_keys: config.merge_keys,
            openapi: said.named_openapi().or(spec("openapi")).map(|at| (Name::Field("spec.openapi".to_owned()), at)),
            limit: config.limit,
        };
        Config::new(Task::of(self.mode), settings)
    }

    /// Who wins the conflicts that no rule decides: the functionConfig says it, or else this.
    ///
    /// # Errors
    /// The functionConfig is wrong.
    pub fn undecided(&self, otherwise: Treatment) -> Result<Treatment, Error> {
        match self.said().is_some_and(|(_, root)| says_who_wins(root)) {
            true => Ok(self.read_config()?.task.on_conflict().into()),
            false => Ok(otherwise),
        }
    }

    /// Merges, and looks at the merge as it is written. `see` looks at each conflict of a resource, with a budget for what it shows.
    ///
    /// # Errors
    /// The merge cannot begin, or there is more to write than the limit allows.
    pub fn with_drawn<T>(
        &self,
        undecided: Treatment,
        mut decided: Decided<'_>,
        mut see: impl FnMut(&ConflictView<'_, '_>, &Event, &Budget),
        look: impl FnOnce(Drawn<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let config = self.read_config()?;
        let sides = side::sides(self.mode, &self.packages);
        if self.mode == Mode::ThreeWay
            && self.settings.empty_updated == EmptyUpdated::IsError
            && sides.updated.is_empty()
            && !sides.original.is_empty()
        {
            return Err(Box::new(Event::of(What::Roles(RoleFault::AllGone))).into());
        }
        let policy = config.policy();
        let types = Types::new(config.merge_keys.iter().map(|named| named.rule.clone()), config.inference);
        let texts = Texts::parse(&config)?;
        let (dest, given) = plain::resources(self.mode, &sides);
        let why_stays = |here: &str, to: &str| side::why_stays(&sides, [here, to]);
        let job = Job::new(dest, given, config, &texts)?;
        let job = job.moving_unless(&why_stays).beside(plain::kustomizations(&sides));
        let open = job.merged()?.decide(|conflict| {
            let picks = Some(&mut decided.resources).filter(|all| !all.is_empty());
            picks?.get_mut(&conflict::name_of(conflict))?.pop_front().flatten()
        });
        // What is shown of the conflicts leaves the room of the merge as it is.
        let (budget, shown, of_texts, of_files) = (open.budget(), open.budget(), open.budget(), open.budget());
        let (written, mut events) = open.write_seen(undecided, &budget, |view, event| see(view, event, &shown))?;
        let new = side::placed(&sides, &written, &of_texts);
        let moved = written.moved.values().copied();
        let receiving = new.iter().flatten().map(|(path, _)| path.as_str()).chain(moved).collect();
        let of_sides = Sides::of(|side| &sides[side].files[..]);
        let Ok(texts) = ComparedTexts::of(of_sides, &receiving);
        let compared = texts.files(of_sides, sides.updated.files.iter());
        let files = new.and_then(|new| Ok(FileMerge::of(compared.view(), sides.dest.items(&written), new, &of_texts)?));
        let taken = files.as_ref().map(|files| {
            let placed = files.receiving();
            let left = files.left().iter().copied().filter(|path| !placed.contains(path)).collect();
            Taken { placed, left }
        });
        let taken = taken.unwrap_or_default();
        let combiner = |path: &str| {
            // The program's decision is for the whole file, and comes before rules and policies.
            let (on_conflict, rules) = match decided.files.get(path) {
                Some(pick) => (Treatment::Open(*pick), &[][..]),
                None => (undecided, open.rules()),
            };
            Combiner { on_conflict, rules, policy, types: &types, budget: &of_files }
        };
        let carried = match self.mode {
            Mode::ThreeWay => plain::carried(&sides, &taken, combiner),
            Mode::TwoWay | Mode::Strategic => Vec::new(),
        };
        let (mut changes, mut told) = (Vec::new(), Vec::new());
        for (path, carried) in carried {
            results::drop_idle(&mut events, &carried.rules);
            let is_told = |event: &Event| event.clash().is_none() || !decided.files.contains_key(path);
            told.extend(carried.results.into_iter().filter(is_told));
            changes.extend(carried.change.map(|change| (path.to_owned(), change)));
        }
        events.extend(told.iter().cloned());
        let all = [&sides.dest, &sides.updated, &sides.original].into_iter().flat_map(|side| &side.files);
        events.extend(no_yaml(all));
        let left = taken.left.iter().map(|path| (*path).to_owned()).collect();
        look(Drawn { events, of_files: told, changes, files, left })
    }
}

/// What a program decided: for the conflicts of resources by their names, and for files without resources.
#[derive(Debug, Default)]
pub struct Decided<'d> {
    /// A conflict may have others in it, which the engine asks for only if it needs them. So they are found by their names.
    resources: HashMap<ConflictName, VecDeque<Option<Pick>>>,
    files: BTreeMap<&'d str, Pick>,
}

/// A merge that is ready to be written.
#[derive(Debug)]
pub struct Drawn<'m> {
    /// What happened.
    pub events: Vec<Event>,
    /// What happened to files without resources, which is among the events.
    pub of_files: Vec<Event>,
    /// The changes of files without resources.
    changes: Vec<(String, CarriedChange)>,
    files: Result<FileMerge<'m>, Error>,
    /// The files whose resources all leave.
    left: BTreeSet<String>,
}

impl Drawn<'_> {
    /// The changes, in the order of their paths, with what happened, the most severe first. If an event is an error, nothing changes.
    ///
    /// # Errors
    /// The result cannot be written.
    pub fn plan(self) -> Result<Plan, Error> {
        let Self { mut events, mut changes, files, left, .. } = self;
        let mut plan = Plan { changes: Vec::new(), events: Vec::new() };
        if !results::has_failed(&events) {
            // A list that all its items leave is still there, but not if upstream's text comes to its path.
            let replaced: BTreeSet<String> =
                changes.iter().map(|(path, _)| path.clone()).filter(|path| left.contains(path)).collect();
            plan.changes = files?.changes()?;
            plan.changes.retain(|change| !replaced.contains(plain::path_of(change)));
            for (path, change) in changes.drain(..) {
                plan.changes.extend(plain::change(&path, change)?);
            }
            // Another file may come to the path of a file whose resources all moved.
            let comes: BTreeSet<String> = plan
                .changes
                .iter()
                .filter(|change| !matches!(change, FileChange::Removed { .. }))
                .map(|change| plain::path_of(change).to_owned())
                .collect();
            plan.changes.retain(|change| !matches!(change, FileChange::Removed { path } if comes.contains(path)));
            plan.changes.sort_by(|one, other| plain::path_of(one).cmp(plain::path_of(other)));
            let twice = plan.changes.windows(2).find(|two| plain::path_of(&two[0]) == plain::path_of(&two[1]));
            if let Some(twice) = twice {
                return Err(Error::InTheWay { path: plain::path_of(&twice[0]).to_owned() });
            }
        }
        results::finish(&mut events);
        plan.events = events;
        Ok(plan)
    }
}

/// Reads an OpenAPI document.
///
/// # Errors
/// It is not YAML, or describes no resource.
fn openapi_of(text: &str) -> Result<Document<'static>, krm_yaml::Error> {
    let document = Document::parse(text.to_owned())?;
    let root = document.roots().next().ok_or_else(|| document.error(0, error::NO_TYPES))?;
    Types::new([], Inference::On).with_openapi(root).map_err(error::no_types)?;
    Ok(document)
}

/// Nobody has decided, and dest's value stands there meanwhile.
const OPEN: Treatment = Treatment::Open(Pick::Dest);

impl MergedPackage {
    /// The conflicts that nobody has decided, in the order of the resources.
    pub fn conflicts(&self) -> impl Iterator<Item = &Conflict> {
        let all = self.conflicts.iter().zip(&self.picks);
        all.filter(|(conflict, pick)| pick.is_none() && conflict.is_open()).map(|(conflict, _)| conflict)
    }

    /// Decides conflicts. One for which `pick` gives no side stays open, so this may be called again. A conflict about a whole resource stays
    /// open for [`Pick::Original`], too. A file without resources is decided as a whole, by the first decision for it.
    #[must_use]
    pub fn decide(mut self, mut pick: impl FnMut(&Conflict) -> Option<Pick>) -> Self {
        for (conflict, decided) in self.conflicts.iter().zip(&mut self.picks) {
            if decided.is_none() && conflict.is_open() {
                *decided = pick(conflict).filter(|pick| *pick != Pick::Original || !conflict.is_of_a_whole());
            }
        }
        self
    }

    /// What the merge changes, and what it tells. `undecided` says what happens to the conflicts that are open, unless the functionConfig says it.
    ///
    /// # Errors
    /// The result cannot be written: it exceeds the limit, or JSON cannot hold it, or a file of dest that holds no resources is in the way. Or
    /// an event is an error.
    pub fn plan(&self, undecided: Treatment) -> Result<Plan, Error> {
        let mut decided = Decided::default();
        for (conflict, pick) in self.conflicts.iter().zip(&self.picks).rev() {
            decided.resources.entry(conflict.name()).or_default().push_front(*pick);
            decided.files.extend(conflict.file_without_resources().zip(*pick));
        }
        let plan =
            self.merge.with_drawn(self.merge.undecided(undecided)?, decided, |_, _, _| {}, |drawn| drawn.plan())?;
        match results::has_failed(&plan.events) {
            false => Ok(plan),
            true => {
                Err(Error::Failed(plan.events.into_iter().filter(|event| event.severity == Severity::Error).collect()))
            }
        }
    }

    /// The files of dest that change. `undecided` wins the conflicts that are open, unless the functionConfig says who does; but a null of dest
    /// wins over updated's value.
    ///
    /// # Errors
    /// The errors of [`MergedPackage::plan`].
    ///
    /// # Examples
    /// ```
    /// use krm_merge::{FileChange, Merge, Package, Pick};
    ///
    /// let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
    /// let file = |path: &str| Package::of_files([(path.to_owned(), map.to_owned())]);
    /// let (original, updated, dest) = (file("a.yaml")?, file("b.yaml")?, file("a.yaml")?);
    /// for change in Merge::three_way(&original, &updated, &dest).run()?.write(Pick::Updated)? {
    ///     let FileChange::Moved { from, to, text, .. } = change else { panic!("{change:?}") };
    ///     assert_eq!([&from[..], &to, &text], ["a.yaml", "b.yaml", map]);
    /// }
    /// # Ok::<(), krm_merge::Error>(())
    /// ```
    pub fn write(&self, undecided: Pick) -> Result<Vec<FileChange>, Error> {
        Ok(self.plan(undecided.into())?.changes)
    }

    /// The files of dest after the merge, by their paths.
    ///
    /// # Errors
    /// The errors of [`MergedPackage::plan`].
    pub fn files(&self, undecided: Pick) -> Result<BTreeMap<String, String>, Error> {
        Ok(self.merge.packages.dest.with(self.write(undecided)?))
    }

    /// The text of dest after the merge, if it is one text; empty if no resource is left.
    ///
    /// # Errors
    /// The errors of [`MergedPackage::plan`].
    pub fn text(&self, undecided: Pick) -> Result<String, Error> {
        Ok(self.files(undecided)?.remove("").unwrap_or_default())
    }

    /// The objects after the merge, if dest is one text, as [`Package::of_objects`] makes it.
    ///
    /// # Errors
    /// The errors of [`MergedPackage::plan`]; or an object is not of the type `T`.
    pub fn objects<T: DeserializeOwned>(&self, undecided: Pick) -> Result<Vec<T>, Error> {
        let document =
            Document::parse(self.text(undecided)?).map_err(|error| Error::Text { file: String::new(), error })?;
        let object = |root| {
            let json = to_json(root, &Budget::default()).map_err(|exceeded| Error::Unwritable(exceeded.into()))?;
            serde_json::from_str(&json).map_err(|error| Error::Object(error.to_string()))
        };
        document.roots().map(object).collect()
    }
}

/// The name of the functionConfig in messages.
const CONFIG: &str = "functionConfig";

/// The name of the rules of dest in messages.
const RULES_OF_DEST: &str = "dest/.krm-merge.yaml";
