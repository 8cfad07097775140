//! Says which resource plays which role: by the functionConfig, or by annotation if the functionConfig does not name the role.

use std::collections::BTreeMap;
use std::rc::Rc;

use krm_merge::list;
use krm_merge::resource::{Located, Origin, Resource, mark_as_secret, why_no_resource};
use krm_merge_core::host::ROLE;
use krm_tree::alias;
use krm_tree::sides::Sides;
use krm_yaml::{Document, NodeRef};

use crate::config::{Config, From, Input, Keep, Mode, Role};
use crate::results::{Outcome, Severity};
use crate::target::Target;

/// The parsed YAML texts of a functionConfig, each with its field, in the order of the inputs.
#[derive(Debug)]
pub struct Texts<'a>(Vec<(String, Document<'a>)>);

impl<'a> Texts<'a> {
    /// Parses every `yaml` input.
    ///
    /// # Errors
    /// A text is not YAML. The error names the field and the place in its text.
    pub fn parse(config: &Config<'a>) -> Result<Self, Box<Outcome>> {
        let mut texts = Vec::new();
        for side in config.task.inputs().flat_map(|(_, inputs)| inputs) {
            if let From::Yaml(text) = side.from {
                let doc = Document::parse(text).map_err(|e| Outcome::unreadable(&format!("`{}`", side.field), &e))?;
                texts.push((side.field.clone(), doc));
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
    /// The targets of sources; a source refers to its target by its number in this list.
    pub targets: Vec<Rc<Target>>,
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
    pub fn require(&self, role: Role) -> Result<(), Box<Outcome>> {
        if self.others.iter().any(|o| o.0 == role) {
            return Ok(());
        }
        let name = role.name();
        Err(error(format!("`spec.{name}` must be given, or items must carry the annotation `{ROLE}: {name}`")))
    }

    /// Checks that no item that stays has an alias of an anchor in an item that is consumed. In the items of another role than dest, an
    /// alias is the value that it stands for, wherever its anchor is.
    ///
    /// # Errors
    /// There is such an alias.
    pub fn own_aliases(&self) -> Result<(), Box<Outcome>> {
        let is_gone = |item: &Resource<'_>| item.origin.item().is_some_and(|i| self.gone.get(i) == Some(&true));
        let others: Vec<&Resource<'_>> =
            self.others.iter().flat_map(|(_, items)| items).filter(|item| is_gone(item)).collect();
        for item in &others {
            let stays = |alias: &NodeRef<'_>| !others.iter().any(|other| other.node().holds(*alias));
            if let Some(alias) = alias::from_elsewhere(item.node()).find(stays) {
                return Err(Outcome::apart(item, alias));
            }
        }
        Ok(())
    }

    /// The resources that play a role.
    pub fn of(&self, role: Role) -> &[Resource<'a>] {
        self.others.iter().find(|o| o.0 == role).map_or(&[], |o| &o.1)
    }
}

fn error(message: String) -> Box<Outcome> {
    Box::new(Outcome::new(Severity::Error, message))
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
) -> Result<Roles<'a>, Box<Outcome>> {
    let mut all = Assigning::new(items, given, config);
    let mut texts = texts.0.iter();
    for (role, inputs) in config.task.inputs() {
        if all.others.iter().any(|(filled, _)| *filled == role) {
            let name = role.name();
            return Err(error(format!(
                "`spec.{name}` must not be given, for `{name}` is given beside the functionConfig"
            )));
        }
        let mut members = Vec::new();
        for input in inputs {
            let mut found = match &input.from {
                From::Resources(nodes) => of_nodes(&input.field, nodes),
                From::Itself(node) => of_node(&input.field, *node),
                From::Yaml(_) => texts.next().map_or(Ok(Vec::new()), |(field, doc)| of_text(field, doc))?,
                From::Path { path, keep } => all.of_path(role, input, path, *keep)?,
            };
            if let Some(target) = &input.target {
                found.iter_mut().for_each(|member| member.target = Some(all.targets.len() as u32));
                all.targets.push(Rc::clone(target));
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
fn of_text<'a>(field: &str, doc: &'a Document<'a>) -> Result<Vec<Resource<'a>>, Box<Outcome>> {
    let mut members = Vec::new();
    for (i, root) in doc.roots().filter(|r| !r.is_null()).enumerate() {
        let field = if doc.roots().len() > 1 { format!("{field}, document {}", i + 1) } else { field.to_owned() };
        if !root.is_map() {
            let what = why_no_resource(root);
            return Err(error(format!("`{field}` must hold resources, which are maps{what}")));
        }
        members.append(&mut of_node(&field, root));
    }
    if members.is_empty() {
        return Err(error(format!("`{field}` must hold at least one resource")));
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
    targets: Vec<Rc<Target>>,
    apart: Vec<(Role, Resource<'a>)>,
    files: BTreeMap<usize, String>,
}

impl<'a, 'c> Assigning<'a, 'c> {
    fn new(items: Vec<Resource<'a>>, given: Vec<(Role, Vec<Resource<'a>>)>, config: &Config<'a>) -> Self {
        let mut others = given;
        let targets: Vec<Rc<Target>> = config.target_of_given.iter().map(Rc::clone).collect();
        if !targets.is_empty() {
            let sources = others.iter_mut().filter(|(role, _)| *role == Role::Source).flat_map(|(_, members)| members);
            sources.for_each(|source| source.target = Some(0));
        }
        Self {
            mode: config.mode(),
            gone: vec![false; items.len()],
            taken_by: vec![None; items.len()],
            items: items.into_iter().map(Some).collect(),
            others,
            targets,
            apart: Vec::new(),
            files: BTreeMap::new(),
        }
    }

    /// The items at a path.
    fn of_path(
        &mut self,
        role: Role,
        input: &'c Input<'a>,
        path: &str,
        keep: Keep,
    ) -> Result<Vec<Resource<'a>>, Box<Outcome>> {
        let mut members = Vec::new();
        let (first_apart, mut found) = (self.apart.len(), false);
        for (i, slot) in self.items.iter().enumerate() {
            let Some(item) = slot else { continue };
            let Some(relative) = item.path.and_then(|p| below(p, path)) else { continue };
            found = true;
            if let Some(other) = self.taken_by[i] {
                return Err(error(format!(
                    "{} must play one role, but `{other}` and `{}` both select it",
                    item.whereabouts(),
                    input.field
                )));
            }
            self.taken_by[i] = Some(&input.field);
            self.gone[i] = keep == Keep::Consumed;
            let is_file_itself = item.path.is_some_and(|p| p.strip_prefix("./").unwrap_or(p) == path);
            let located = if is_file_itself { Located::Nowhere } else { item.located };
            if is_file_itself && keep == Keep::Stay {
                self.files.insert(i, input.field.clone());
            }
            let item = Resource { relative_path: Some(relative), located, ..item.clone() };
            if item.identity.is_some() || input.target.is_some() {
                members.push(item);
            } else {
                self.apart.push((role, item));
            }
        }
        if let (true, Some((_, item))) = (members.is_empty(), self.apart.get(first_apart)) {
            return Err(no_resource(item, self.mode));
        }
        if !found {
            let has_paths = self.items.iter().flatten().any(|item| item.path.is_some());
            let of_host = match (has_paths, self.items.is_empty()) {
                (true, _) => "",
                (false, true) => ": the package has no items",
                (false, false) => {
                    ": no item names its file (kustomize gives no names), so write it as `yaml`, or annotate it with `config.kubernetes.io/path`"
                }
            };
            return Err(error(format!(
                "`{}` must select at least one item, but no item of the package lies in \"{path}\"{of_host}",
                input.field
            )));
        }
        Ok(members)
    }

    /// Gives roles to the items that are marked with one.
    fn by_annotations(&mut self) -> Result<(), Box<Outcome>> {
        let filled: Vec<Role> = self.others.iter().map(|(role, _)| *role).collect();
        for (i, slot) in self.items.iter_mut().enumerate() {
            let role = slot.as_ref().and_then(|item| by_annotation(item, self.mode).transpose()).transpose()?;
            let (Some(role), Some(item)) = (role, slot.as_ref()) else { continue };
            if let Some(field) = self.taken_by[i] {
                return Err(error(format!(
                    "{} must play one role, but `{field}` selects it and its annotation `{ROLE}` says `{}`",
                    item.whereabouts(),
                    role.name()
                )));
            }
            if filled.contains(&role) {
                return Err(error(format!(
                    "{} must not carry the annotation `{ROLE}: {}`, for the functionConfig says who plays that role",
                    item.whereabouts(),
                    role.name()
                )));
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

    fn into_roles(self) -> Result<Roles<'a>, Box<Outcome>> {
        let Self { mode, items, gone, taken_by, mut others, targets, apart, files } = self;
        let is_filled = |role: &Role| others.iter().any(|(filled, _)| filled == role);
        let alone = apart.iter().find(|(role, _)| !is_filled(role)).map(|(_, item)| item);
        let unnamed = |r: &&Resource<'_>| r.identity.is_none() && r.target.is_none();
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
        Ok(Roles { dest, others, targets, apart, beside: Vec::new(), gone, files })
    }
}

/// Reports an item that plays a role but is not a resource.
fn no_resource(resource: &Resource<'_>, mode: Mode) -> Box<Outcome> {
    let or = match mode {
        Mode::ThreeWay if resource.is_named_by_server() => {
            ", for `metadata.generateName` does not say which resource it is on another side: give it a name"
        }
        Mode::ThreeWay => "",
        Mode::TwoWay | Mode::Strategic => ", or a `target` that says which items it is for",
    };
    let field = resource.missing().unwrap_or("metadata.name");
    Box::new(Outcome::lacking(resource, &format!("`{field}` to be merged{or}")))
}

/// The role that an item's annotation gives it; `None` for dest.
fn by_annotation(item: &Resource<'_>, mode: Mode) -> Result<Option<Role>, Box<Outcome>> {
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
            let mut names: Vec<&str> = Role::of(mode).iter().map(|r| r.name()).collect();
            names.push("dest");
            Err(Box::new(
                Outcome::new(
                    Severity::Error,
                    format!(
                        "the annotation `{ROLE}` must be {} in mode `{mode:?}`, not \"{}\"",
                        crate::config::one_of(&names),
                        value
                    ),
                )
                .about(item),
            ))
        }
    }
}

/// The path of a file relative to a folder; the file's name if `path` is the file itself; `None` if the file is elsewhere.
fn below<'p>(file: &'p str, path: &str) -> Option<&'p str> {
    let file = file.strip_prefix("./").unwrap_or(file);
    if file == path {
        return Some(file.rsplit('/').next().unwrap_or(file));
    }
    file.strip_prefix(path)?.strip_prefix('/')
}
