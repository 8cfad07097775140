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

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use krm_job::carried::{Carried, Combiner};
use krm_job::config::{Config, Given, Settings, Task, says_who_wins};
use krm_job::decision::ConflictView;
use krm_job::event::{Event, Severity};
use krm_job::job::{Job, OpenMerge, Texts};
use krm_job::results;
use krm_merge_core::policy::{ConflictLevel, NewElements, Policy, Renames, Treatment};
use krm_package::package::FileChange;
use krm_schema::mode::Mode;
use krm_schema::schema::{Inference, ListRule, Types};
use krm_tree::limit::{Asked, Budget, Limit};
use krm_tree::sides::Sides;
use krm_tree::splice::to_json;
use krm_tree::tree::Pick;
use krm_yaml::Document;
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
    config: Option<Arc<Document<'static>>>,
    settings: Chosen,
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
        let unreadable = |error: krm_yaml::Error| Error::Text { file: CONFIG.to_owned(), error };
        let document = Document::parse(text.to_owned()).map_err(unreadable)?;
        let merge = Self { config: Some(Arc::new(document)), ..self };
        merge.read_config().map_err(unreadable)?;
        Ok(merge)
    }

    /// Says by an OpenAPI document how lists of its types merge, as the API server gives it, in version 2 or 3.
    ///
    /// # Errors
    /// It is not YAML or JSON, or it describes no resource.
    pub fn openapi(mut self, text: &str) -> Result<Self, Error> {
        let document = Document::parse(text.to_owned()).map_err(Error::of_openapi)?;
        let root = document.roots().next().ok_or_else(|| Error::of_openapi(document.error(0, error::NO_TYPES)))?;
        Types::new([], Inference::On).with_openapi(root).map_err(Error::no_types)?;
        self.settings.openapi = Some(Arc::new(document));
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
        let conflicts = self.with_open(|open, sides, of_files| {
            let budget = open.budget();
            let mut conflicts = Vec::new();
            let see = |view: &ConflictView<'_, '_>, event: &Event| {
                conflicts.push(conflict::of_resource(view, event, &budget))
            };
            let events = open.told(OPEN, &budget, see)?;
            let carried = self.carried(&open, sides, of_files, &BTreeMap::new(), OPEN);
            conflicts.extend(carried.iter().flat_map(|(_, carried)| &carried.results).filter_map(conflict::of_file));
            let errors: Vec<Event> = events.into_iter().filter(|event| event.severity == Severity::Error).collect();
            if errors.is_empty() { Ok(conflicts) } else { Err(Error::Failed(errors)) }
        })?;
        let picks = vec![None; conflicts.len()];
        Ok(MergedPackage { merge: self.clone(), conflicts, picks })
    }

    /// What a user asked for: the functionConfig, with what the program chose over it.
    fn read_config(&self) -> Result<Config<'_>, krm_yaml::Error> {
        let Chosen { openapi, list_rules, inference, conflict_level, renames, new_elements, limit } = &self.settings;
        let given = Given { mode: Some(self.mode), ..Given::default() };
        let root = self.config.as_ref().and_then(|document| document.roots().find(|root| !root.is_null()));
        let mut config = match root {
            Some(root) => match Config::read_with(root, given)? {
                config if config.mode() == self.mode => config,
                other => {
                    let at = root.at(&["spec", "mode"]).or_else(|| root.at(&["data", "mode"])).unwrap_or(root);
                    let (own, other) = (self.mode, other.mode());
                    return Err(at.error(format!("`mode` must be `{own:?}`, as the merge is, not \"{other:?}\"")));
                }
            },
            None => Config::new(Task::of(self.mode), Settings::default())?,
        };
        if let Some(inference) = inference {
            config.inference = *inference;
            config.types = config.types.with_inference(*inference);
        }
        if let Some(root) = openapi.as_ref().and_then(|document| document.roots().next()) {
            config.types = config.types.with_openapi(root).map_err(|_| root.error(error::NO_TYPES))?;
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

    /// The same, with an error that names the functionConfig.
    fn config_of_user(&self) -> Result<Config<'_>, Error> {
        self.read_config().map_err(|error| Error::Text { file: CONFIG.to_owned(), error })
    }

    /// Runs the engine, and looks at the merge while its conflicts are open.
    fn with_open<T>(
        &self,
        look: impl for<'m> FnOnce(OpenMerge<'m>, &Sides<PackageSide<'m>>, &OfFiles) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let config = self.config_of_user()?;
        let updated = if self.mode == Mode::ThreeWay { "updated" } else { "source" };
        let sides = Sides {
            original: PackageSide::of("original", &self.packages.original),
            updated: PackageSide::of(updated, &self.packages.updated),
            dest: PackageSide::of("dest", &self.packages.dest),
        };
        let of_files = OfFiles {
            are_plain: plain::are_plain(self.mode, &sides),
            policy: config.policy(),
            types: Types::new(config.merge_keys.iter().map(|named| named.rule.clone()), config.inference),
        };
        let texts = Texts::parse(&config)?;
        let (dest, given) = plain::resources(self.mode, &sides, of_files.are_plain);
        let job = Job::new(dest, given, config, &texts)?.beside(plain::kustomizations(&sides));
        look(job.merged()?, &sides, &of_files)
    }

    /// The merge of the files without resources, by their paths. `picks` says who wins in some of them.
    fn carried<'s>(
        &self,
        open: &OpenMerge<'_>,
        sides: &Sides<PackageSide<'s>>,
        of_files: &OfFiles,
        picks: &BTreeMap<&str, Pick>,
        otherwise: Treatment,
    ) -> Vec<(&'s str, Carried)> {
        if self.mode != Mode::ThreeWay {
            return Vec::new();
        }
        let budget = open.budget();
        let OfFiles { are_plain, policy, types } = of_files;
        let combiner = |path: &str| {
            // The program's decision is for the whole file, and comes before rules and policies.
            let (on_conflict, rules) = match picks.get(path) {
                Some(pick) => (Treatment::Open(*pick), &[][..]),
                None => (otherwise, open.rules()),
            };
            Combiner { on_conflict, rules, policy: *policy, types, budget: &budget }
        };
        let files = plain::files(sides, *are_plain).into_iter();
        files
            .map(|file| {
                let path = file.path;
                (path, file.carry(&combiner(path)))
            })
            .collect()
    }
}

/// How files without resources merge.
struct OfFiles {
    /// Whether each side is a text alone that holds none.
    are_plain: bool,
    policy: Policy,
    types: Types<'static>,
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
        let undecided = match self.merge.config.iter().flat_map(|document| document.roots()).any(says_who_wins) {
            true => self.merge.config_of_user()?.task.on_conflict().into(),
            false => undecided,
        };
        self.merge.with_open(|open, sides, of_files| {
            // A conflict may have others in it, which the engine asks for only if it needs them. So they are found by their names.
            let mut picks: HashMap<ConflictName, VecDeque<Option<Pick>>> = HashMap::new();
            for (conflict, pick) in self.conflicts.iter().zip(&self.picks) {
                picks.entry(conflict.name()).or_default().push_back(*pick);
            }
            let open = open.decide(|conflict| picks.get_mut(&conflict::name_of(conflict))?.pop_front().flatten());
            let budget = open.budget();
            let (written, mut events) = open.write(undecided, &budget)?;
            let decided = self.conflicts.iter().zip(&self.picks).rev();
            let decided = decided.filter_map(|(conflict, pick)| Some((conflict.file_without_resources()?, (*pick)?)));
            let decided: BTreeMap<&str, Pick> = decided.collect();
            let carried = self.merge.carried(&open, sides, of_files, &decided, undecided);
            for (path, carried) in &carried {
                results::drop_idle(&mut events, &carried.rules);
                let is_told = |event: &&Event| event.clash().is_none() || !decided.contains_key(path);
                events.extend(carried.results.iter().filter(is_told).cloned());
            }
            if results::has_failed(&events) {
                events.retain(|event| event.severity == Severity::Error);
                return Err(Error::Failed(events));
            }
            let mut changes = plain::changes(sides, &written, carried, of_files.are_plain, &open.budget())?;
            changes.sort_by(|one, other| plain::path_of(one).cmp(plain::path_of(other)));
            events.extend(plain::not_merged(sides));
            results::finish(&mut events);
            Ok(Plan { changes, events })
        })
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
