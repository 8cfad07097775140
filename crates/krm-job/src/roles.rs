//! Says which resource plays which role: by the functionConfig, or by annotation if the functionConfig does not name the role.

use std::collections::BTreeMap;
use std::rc::Rc;

use krm_merge_core::host::is_transport;
use krm_merge_core::patch::{Does, Edit, Missing};
use krm_package::list;
use krm_package::resource::{Identity, Located, Origin, Resource, is_json_patch, mark_as_secret};
use krm_tree::alias;
use krm_tree::path::SkeletonEnd;
use krm_tree::sides::Sides;
use krm_yaml::{Document, Error, NodeRef};

use crate::aim::{Aim, Need};
use crate::config::{Action, Config, EditInput, From, Input, Keep, Mode, are_edits, edits_in};
use crate::event::{Event, ItemFiles, RoleFault, What};
use crate::glob::{Glob, Meant};
use crate::role::Role;

/// The parsed YAML texts of a functionConfig, each with its field, in the order of the inputs.
#[derive(Debug)]
pub struct Texts<'a>(Vec<(String, Document<'a>)>);

/// What the paths of edits lead through, where it is to be made.
fn skeletons<'a>(edits: &[EditInput<'_>]) -> Result<Vec<(String, Document<'a>)>, Box<Event>> {
    let skeleton = |edit: &EditInput<'_>| {
        let end = if let Action::Append(_) = edit.action { SkeletonEnd::List } else { SkeletonEnd::Value };
        let document = Document::parse(edit.path.skeleton(end)).map_err(|e| Event::unreadable("`edits`", &e))?;
        Ok((edit.path.to_string(), document))
    };
    edits.iter().map(skeleton).collect()
}

impl<'a> Texts<'a> {
    /// Parses every `yaml` input.
    ///
    /// # Errors
    /// A text is not YAML. The error names the field and the place in its text.
    pub fn parse(config: &Config<'a>) -> Result<Self, Box<Event>> {
        let mut texts = Vec::new();
        for side in config.task.inputs().flat_map(|(_, inputs)| inputs) {
            match &side.from {
                From::Yaml(text) => {
                    let in_text = |e: Error| Box::new(Event::unreadable(&format!("`{}`", side.field), &e));
                    let doc = Document::parse(*text).map_err(in_text)?;
                    let made = match doc.roots().next().filter(|root| are_edits(*root)) {
                        Some(root) => skeletons(&edits_in(root, &side.field).map_err(in_text)?)?,
                        None => Vec::new(),
                    };
                    texts.push((side.field.clone(), doc));
                    texts.extend(made);
                }
                From::Edits(edits) => texts.extend(skeletons(edits)?),
                From::Resources(_) | From::Itself(_) | From::Path { .. } => {}
            }
        }
        Ok(Self(texts))
    }
}

/// Which resources play which role.
#[derive(Debug, Default)]
pub struct Roles<'a> {
    /// The items that are merged into.
    pub dest: Vec<Resource<'a>>,
    /// The resources of the other roles.
    pub others: Vec<(Role, Vec<Resource<'a>>)>,
    /// What the inputs of sources are for; a source refers to its input by its number in this list.
    pub aims: Vec<Rc<Aim>>,
    /// The edits of inputs that have some, by the numbers of the inputs.
    pub edits: BTreeMap<u32, Vec<Edit<'a>>>,
    /// The identity of the functionConfig itself.
    own: Option<Identity<'a>>,
    /// Items that a role selects but that are not resources, for example a `kustomization.yaml` without a name. They are not merged.
    pub apart: Vec<(Role, Resource<'a>)>,
    /// Files that are not items, for example a `kustomization.yaml`. References may lead to resources that it generates.
    pub beside: Vec<NodeRef<'a>>,
    /// For each item, whether it is consumed.
    pub gone: Vec<bool>,
    /// Items that stay in the output but only play a role, by their numbers. The value is the field of the functionConfig whose `path` is
    /// the file of the item.
    pub files: BTreeMap<usize, String>,
}

impl<'a> Roles<'a> {
    /// The CustomResourceDefinitions of all roles. Updated's come last, because the newest definition of a type counts.
    pub fn definitions(&self) -> Vec<NodeRef<'a>> {
        let others = self.others.iter().flat_map(|(_, members)| members);
        self.dest.iter().chain(others).filter(|r| r.is_definition()).map(|r| r.node()).collect()
    }

    /// Checks that a role has resources.
    ///
    /// # Errors
    /// Neither the functionConfig nor an annotation names anything for it.
    pub fn require(&self, role: Role) -> Result<(), Box<Event>> {
        if self.others.iter().any(|o| o.0 == role) {
            return Ok(());
        }
        Err(fault(RoleFault::NotGiven(role)))
    }

    /// Checks that no item that stays has an alias of an anchor in an item that is consumed. In the items of another role than dest, an
    /// alias is the value that it stands for, wherever its anchor is.
    ///
    /// # Errors
    /// There is such an alias.
    pub fn own_aliases(&self) -> Result<(), Box<Event>> {
        let is_gone = |item: &Resource<'_>| item.origin.item().is_some_and(|i| self.gone.get(i) == Some(&true));
        let others: Vec<&Resource<'_>> =
            self.others.iter().flat_map(|(_, items)| items).filter(|item| is_gone(item)).collect();
        for item in &others {
            let stays = |alias: &NodeRef<'_>| !others.iter().any(|other| other.node().holds(*alias));
            if let Some(alias) = alias::from_elsewhere(item.node()).find(stays) {
                return Err(Event::apart(item, alias));
            }
        }
        Ok(())
    }

    /// Whether an item only configures programs that read the package, or this run. A target means it only if it names the kind, and a folder
    /// of sources does not bring it along.
    pub fn configures(&self, item: &Resource<'_>) -> bool {
        configures(item, self.own)
    }

    /// The resources that play a role.
    pub fn of(&self, role: Role) -> &[Resource<'a>] {
        self.others.iter().find(|o| o.0 == role).map_or(&[], |o| &o.1)
    }
}

/// Whether an item only configures programs. `own` is the identity of the functionConfig.
fn configures(item: &Resource<'_>, own: Option<Identity<'_>>) -> bool {
    let is_kustomization = |identity: Identity<'_>| {
        ["Kustomization", "Component"].contains(&identity.kind)
            && identity.api_version.starts_with("kustomize.config.k8s.io/")
    };
    item.is_local() || item.identity.is_some() && item.identity == own || item.identity.is_some_and(is_kustomization)
}

fn fault(fault: RoleFault) -> Box<Event> {
    Box::new(Event::of(What::Roles(fault)))
}

/// Assigns the items and the resources of the functionConfig to roles. `given` holds more resources, for roles that the functionConfig does
/// not fill. A file in a folder of a package need not be a resource, because kpt sends such files, too. But whatever a user wrote for the
/// merge must be a resource. Source: function-config.md.
///
/// # Errors
/// A role is filled twice; an item is marked with a role that the mode does not have, or with one that is filled; an item is in two roles;
/// a `path` selects nothing, or nothing with apiVersion, kind and name; a resource of the functionConfig lacks one of these.
pub fn assign<'a>(
    items: Vec<Resource<'a>>,
    given: Vec<(Role, Vec<Resource<'a>>)>,
    config: &Config<'a>,
    texts: &'a Texts<'a>,
) -> Result<Roles<'a>, Box<Event>> {
    let mut all = Assigning::new(items, given, config)?;
    let mut texts = texts.0.iter();
    for (role, inputs) in config.task.inputs() {
        if all.others.iter().any(|(filled, _)| *filled == role) {
            return Err(fault(RoleFault::GivenTwice(role)));
        }
        let mut members = Vec::new();
        for input in inputs {
            let mut edits = Vec::new();
            let mut found = match &input.from {
                From::Resources(nodes) => of_nodes(&input.field, nodes),
                From::Itself(node) => of_node(&input.field, *node),
                From::Yaml(_) => match texts.next() {
                    None => Vec::new(),
                    Some((field, doc)) => match doc.roots().next().filter(|root| are_edits(*root)) {
                        None => of_text(field, doc)?,
                        Some(root) => {
                            let in_text = |e: Error| Box::new(Event::unreadable(&format!("`{field}`"), &e));
                            edits = edits_in(root, field).map_err(in_text)?;
                            vec![Resource::read(root, Origin::Field(field.clone()))]
                        }
                    },
                },
                From::Edits(all) => {
                    edits.clone_from(all);
                    vec![Resource::read(input.node, Origin::Field(input.field.clone()))]
                }
                From::Path { path, keep } => all.of_path(role, input, path, *keep)?,
            };
            if !edits.is_empty() {
                all.edit(edits, &input.aim, &mut texts)?;
            }
            if role == Role::Source {
                all.aim(&mut found, &input.aim)?;
            }
            members.append(&mut found);
        }
        all.others.push((role, members));
    }
    all.by_annotations()?;
    all.into_roles()
}

/// The resources in the functionConfig.
fn of_nodes<'a>(field: &str, nodes: &[NodeRef<'a>]) -> Vec<Resource<'a>> {
    nodes.iter().enumerate().flat_map(|(i, node)| of_node(&format!("{field}[{i}]"), *node)).collect()
}

/// The resource in a field, or the resources of the list there.
fn of_node<'a>(field: &str, node: NodeRef<'a>) -> Vec<Resource<'a>> {
    let is_list = list::items_of(node).is_some();
    Resource::of_document(node, |i| {
        Origin::Field(if is_list { format!("{field}, resource {}", i + 1) } else { field.to_owned() })
    })
}

/// The resources of a text.
fn of_text<'a>(field: &str, doc: &'a Document<'a>) -> Result<Vec<Resource<'a>>, Box<Event>> {
    let mut members = Vec::new();
    for (i, root) in doc.roots().filter(|r| !r.is_null()).enumerate() {
        let field = if doc.roots().len() > 1 { format!("{field}, document {}", i + 1) } else { field.to_owned() };
        if !root.is_map() {
            let is_json_patch = is_json_patch(root);
            return Err(fault(if is_json_patch { RoleFault::JsonPatch(field) } else { RoleFault::NoMap(field) }));
        }
        members.append(&mut of_node(&field, root));
    }
    if members.is_empty() {
        return Err(fault(RoleFault::NoResources(field.to_owned())));
    }
    Ok(members)
}

/// The roles, while they are being assigned.
struct Assigning<'a, 'c> {
    mode: Mode,
    /// The items; `None` for an item that only plays a role.
    items: Vec<Option<Resource<'a>>>,
    /// For each item, whether it is consumed.
    gone: Vec<bool>,
    /// For each item, the field that selects it.
    taken_by: Vec<Option<&'c str>>,
    others: Vec<(Role, Vec<Resource<'a>>)>,
    aims: Vec<Rc<Aim>>,
    edits: BTreeMap<u32, Vec<Edit<'a>>>,
    own: Option<Identity<'a>>,
    apart: Vec<(Role, Resource<'a>)>,
    files: BTreeMap<usize, String>,
}

impl<'a, 'c> Assigning<'a, 'c> {
    fn new(
        items: Vec<Resource<'a>>,
        given: Vec<(Role, Vec<Resource<'a>>)>,
        config: &Config<'a>,
    ) -> Result<Self, Box<Event>> {
        let mut all = Self {
            mode: config.mode(),
            gone: vec![false; items.len()],
            taken_by: vec![None; items.len()],
            items: items.into_iter().map(Some).collect(),
            others: Vec::new(),
            aims: Vec::new(),
            edits: BTreeMap::new(),
            own: config.own,
            apart: Vec::new(),
            files: BTreeMap::new(),
        };
        for (role, mut members) in given {
            if let Some(aim) = config.aim_of_given.as_ref().filter(|_| role == Role::Source) {
                all.aim(&mut members, aim)?;
            }
            all.others.push((role, members));
        }
        Ok(all)
    }

    /// Keeps the edits of the next input. `skeletons` are those of the paths, in order.
    ///
    /// # Errors
    /// The input has no target.
    fn edit(
        &mut self,
        edits: Vec<EditInput<'a>>,
        aim: &Aim,
        skeletons: &mut std::slice::Iter<'a, (String, Document<'a>)>,
    ) -> Result<(), Box<Event>> {
        if aim.targets.is_empty() {
            return Err(fault(RoleFault::NoTarget(aim.name.clone())));
        }
        let edits = edits.into_iter().zip(skeletons).filter_map(|(edit, (_, skeleton))| {
            let EditInput { node, path, action } = edit;
            let (does, missing) = match action {
                Action::Set(value) => (Does::Set(value), aim.missing),
                Action::Append(value) => (Does::Append(value), aim.missing),
                Action::Add(value) => (Does::Insert(value), aim.missing),
                Action::Delete => (Does::Delete, Missing::Left),
                Action::Replace(value) => (Does::Set(value), Missing::Refused),
                Action::Test(value) => (Does::Test(value), Missing::Refused),
            };
            Some(Edit { at: node, path, skeleton: skeleton.roots().next()?, does, missing })
        });
        self.edits.insert(self.aims.len() as u32, edits.collect());
        Ok(())
    }

    /// Aims the sources of an input.
    ///
    /// # Errors
    /// A target is to get something of several kinds, or nothing.
    fn aim(&mut self, sources: &mut [Resource<'a>], aim: &Rc<Aim>) -> Result<(), Box<Event>> {
        if !aim.targets.is_empty() && !self.edits.contains_key(&(self.aims.len() as u32)) {
            check_targeted(sources, aim)?;
        }
        for source in sources {
            source.input = Some(self.aims.len() as u32);
            source.into.clone_from(&aim.into);
            source.missing = aim.missing;
        }
        self.aims.push(Rc::clone(aim));
        Ok(())
    }

    /// The items at a path.
    fn of_path(
        &mut self,
        role: Role,
        input: &'c Input<'a>,
        path: &Glob,
        keep: Keep,
    ) -> Result<Vec<Resource<'a>>, Box<Event>> {
        let mut members = Vec::new();
        let (first_apart, mut found) = (self.apart.len(), false);
        let own = self.own;
        for (i, slot) in self.items.iter().enumerate() {
            let Some(item) = slot else { continue };
            let Some((file, meant)) = item.path.and_then(|file| Some((file, path.meant(file)?))) else { continue };
            let relative = match meant {
                Meant::File => file.rsplit('/').next().unwrap_or(file),
                Meant::Below(relative) => relative,
            };
            found = true;
            if let Some(other) = self.taken_by[i] {
                let fields = [other, &input.field].map(str::to_owned);
                return Err(fault(RoleFault::TwoFields { item: item.whereabouts(), fields }));
            }
            self.taken_by[i] = Some(&input.field);
            self.gone[i] = keep == Keep::Consumed;
            let is_file_itself = meant == Meant::File;
            if role == Role::Source && !is_file_itself && configures(item, own) {
                continue;
            }
            let located = if is_file_itself { Located::Nowhere } else { item.located };
            if is_file_itself && keep == Keep::Stay {
                self.files.insert(i, input.field.clone());
            }
            let item = Resource { relative_path: Some(relative), located, ..item.clone() };
            if item.identity.is_some() || !input.aim.targets.is_empty() {
                members.push(item);
            } else {
                self.apart.push((role, item));
            }
        }
        if let (true, Some((_, item))) = (members.is_empty(), self.apart.get(first_apart)) {
            return Err(no_resource(item, self.mode));
        }
        if !found && input.aim.need == Need::Hit {
            let has_paths = self.items.iter().flatten().any(|item| item.path.is_some());
            let items = match (has_paths, self.items.is_empty()) {
                (true, _) => ItemFiles::Named,
                (false, true) => ItemFiles::NoItems,
                (false, false) => ItemFiles::Unnamed,
            };
            let (field, path) = (input.field.clone(), path.as_str().to_owned());
            return Err(fault(RoleFault::NoItem { field, path, items }));
        }
        Ok(members)
    }

    /// Gives roles to the items that are marked with one.
    fn by_annotations(&mut self) -> Result<(), Box<Event>> {
        let filled: Vec<Role> = self.others.iter().map(|(role, _)| *role).collect();
        for (i, slot) in self.items.iter_mut().enumerate() {
            let role = slot.as_ref().and_then(|item| by_annotation(item, self.mode).transpose()).transpose()?;
            let (Some(role), Some(item)) = (role, slot.as_ref()) else { continue };
            if let Some(field) = self.taken_by[i] {
                let field = field.to_owned();
                return Err(fault(RoleFault::FieldAndAnnotation { item: item.whereabouts(), field, role }));
            }
            if filled.contains(&role) {
                return Err(fault(RoleFault::Filled { item: item.whereabouts(), role }));
            }
            self.gone[i] = true;
            // The host has the items of all roles in one package, so their paths cannot be compared.
            let Some(item) = slot.take().map(|item| Resource { located: Located::Nowhere, ..item }) else { continue };
            match self.others.iter_mut().find(|o| o.0 == role) {
                _ if item.identity.is_none() => self.apart.push((role, item)),
                Some((_, members)) => members.push(item),
                None => self.others.push((role, vec![item])),
            }
        }
        Ok(())
    }

    fn into_roles(self) -> Result<Roles<'a>, Box<Event>> {
        let Self { mode, items, gone, taken_by, mut others, aims, edits, own, apart, files } = self;
        let is_filled = |role: &Role| others.iter().any(|(filled, _)| filled == role);
        let alone = apart.iter().find(|(role, _)| !is_filled(role)).map(|(_, item)| item);
        let is_aimed =
            |r: &Resource<'_>| r.input.is_some_and(|i| aims.get(i as usize).is_some_and(|aim| !aim.targets.is_empty()));
        let unnamed = |r: &&Resource<'_>| r.identity.is_none() && !is_aimed(r);
        if let Some(resource) = alone.or_else(|| others.iter().flat_map(|(_, members)| members).find(unnamed)) {
            return Err(no_resource(resource, mode));
        }
        // An item that a `path` selects only plays its role.
        let left = items.into_iter().zip(taken_by).filter(|(_, taken)| taken.is_none());
        let mut dest: Vec<Resource<'a>> = left.filter_map(|(item, _)| item).collect();
        if mode == Mode::ThreeWay {
            let mut sides = Sides { dest: &mut dest[..], ..Sides::default() };
            for (role, members) in &mut others {
                match role {
                    Role::Original => sides.original = members,
                    Role::Updated => sides.updated = members,
                    Role::Source => {}
                }
            }
            mark_as_secret(sides);
        }
        // They stay for the whole run, and have room for many more.
        others.iter_mut().map(|(_, members)| members).chain([&mut dest]).for_each(Vec::shrink_to_fit);
        Ok(Roles { dest, others, aims, edits, own, apart, beside: Vec::new(), gone, files })
    }
}

/// Checks sources that are merged into what targets select.
///
/// # Errors
/// They are of several kinds, so a target would get parts of another kind; or one of them holds only names, which a target does not change.
fn check_targeted(sources: &[Resource<'_>], aim: &Aim) -> Result<(), Box<Event>> {
    let of_kinds = || sources.iter().filter(|source| !source.named().kind.is_empty());
    if let Some(first) = of_kinds().next()
        && let Some(other) = of_kinds().find(|other| other.named().kind != first.named().kind)
    {
        let called = |source: &Resource<'_>| format!("{} of {}", source.named().called(), source.whereabouts());
        let sources = [first, other].map(called);
        return Err(fault(RoleFault::KindsApart { aim: aim.name.clone(), sources }));
    }
    let only = |map: NodeRef<'_>, names: &[&str]| map.fields().all(|(key, _)| names.contains(&key.string()));
    let says_nothing = |source: &&Resource<'_>| {
        let metadata = source.node().get("metadata");
        let annotations = metadata.and_then(|metadata| metadata.get("annotations"));
        let names = |name: &str| metadata.is_some_and(|metadata| metadata.get(name).is_some());
        let says_who = names("name") || names("namespace") || source.node().get("kind").is_some();
        says_who
            && only(source.node(), &["apiVersion", "kind", "metadata"])
            && metadata.is_none_or(|metadata| only(metadata, &["name", "namespace", "annotations"]))
            && annotations.is_none_or(|all| all.fields().all(|(key, _)| is_transport(key.string())))
    };
    match sources.iter().find(says_nothing) {
        Some(source) => Err(fault(RoleFault::OnlyNames { aim: aim.name.clone(), source: source.whereabouts() })),
        None => Ok(()),
    }
}

/// Reports an item that plays a role but is not a resource.
fn no_resource(resource: &Resource<'_>, mode: Mode) -> Box<Event> {
    let or = match mode {
        Mode::ThreeWay if resource.is_named_by_server() => {
            ", because `metadata.generateName` does not tell which resource it is on another side. Give it a name"
        }
        Mode::ThreeWay => "",
        Mode::TwoWay | Mode::Strategic => ", or a `target` that says which items it is for",
    };
    let field = resource.missing().unwrap_or("metadata.name");
    Box::new(Event::lacking(resource, &format!("`{field}` to be merged{or}")))
}

/// The role that an item's annotation gives it; `None` for dest.
fn by_annotation(item: &Resource<'_>, mode: Mode) -> Result<Option<Role>, Box<Event>> {
    let Some(value) = item.role else { return Ok(None) };
    let role = match value {
        "dest" => return Ok(None),
        "source" | "patch" => Some(Role::Source),
        "original" => Some(Role::Original),
        "updated" => Some(Role::Updated),
        _ => None,
    };
    match role {
        Some(role) if Role::of(mode).contains(&role) => Ok(Some(role)),
        _ => {
            let what = What::Roles(RoleFault::Annotation { mode, value: value.to_owned() });
            Err(Box::new(Event::of(what).about(item)))
        }
    }
}
