//! [`Decisions`]: who wins which conflict, as the `rules` of the functionConfig say it, and `onConflict` where none of them fits.

use krm_merge::path::{FieldPath, PathPattern};
use krm_merge::policy::OnConflict;
use krm_merge::yaml::NodeRef;

use crate::name::Name;
use crate::target::Target;

/// A rule: who wins the conflicts at some places of some resources.
#[derive(Debug)]
pub struct Decision {
    /// How the user knows it.
    pub name: Name,
    /// The resources; `None` for all.
    pub target: Option<Target>,
    /// The places, with all that is below them; `None` for all, the resource as a whole among them.
    pub path: Option<PathPattern>,
    /// Who wins.
    pub take: OnConflict,
}

impl Decision {
    fn fits(&self, resource: NodeRef<'_>, path: &FieldPath<'_>) -> bool {
        self.path.as_ref().is_none_or(|pattern| pattern.fits(path))
            && self.target.as_ref().is_none_or(|target| target.selects(resource))
    }
}

/// Who wins one conflict.
#[derive(Clone, Copy, Debug)]
pub struct Ruling<'r> {
    /// Who wins.
    pub policy: OnConflict,
    /// The rule that says so; `None` where no rule fits.
    pub rule: Option<&'r Name>,
}

impl From<OnConflict> for Ruling<'_> {
    fn from(policy: OnConflict) -> Self {
        Self { policy, rule: None }
    }
}

/// The rules of a run, and which of them were asked for.
#[derive(Debug)]
pub struct Decisions<'a> {
    rules: &'a [Decision],
    is_used: Vec<bool>,
    otherwise: OnConflict,
}

impl<'a> Decisions<'a> {
    /// The first rule that fits wins; `otherwise` is for the conflicts that no rule fits.
    pub fn new(rules: &'a [Decision], otherwise: OnConflict) -> Self {
        Self { rules, is_used: vec![false; rules.len()], otherwise }
    }

    /// Who wins a conflict of a resource. The path of a conflict of the whole resource is empty.
    pub fn of(&mut self, resource: NodeRef<'_>, path: &FieldPath<'_>) -> Ruling<'a> {
        match self.rules.iter().position(|rule| rule.fits(resource, path)) {
            Some(at) => {
                self.is_used[at] = true;
                Ruling { policy: self.rules[at].take, rule: Some(&self.rules[at].name) }
            }
            None => self.otherwise.into(),
        }
    }

    /// The rules that no conflict asked for.
    pub fn idle(&self) -> impl Iterator<Item = &'a Name> {
        self.rules.iter().zip(&self.is_used).filter(|(_, is_used)| !**is_used).map(|(rule, _)| &rule.name)
    }
}

#[cfg(test)]
mod tests {
    use krm_merge::path::Step;
    use krm_merge::yaml::Document;

    use super::*;
    use crate::target::Field;

    #[test]
    fn the_first_rule_that_fits_decides() {
        let document = Document::parse("{kind: Deployment, metadata: {name: web}}").expect("valid");
        let root = document.roots().next().expect("a root");
        let rule = |kind: Option<&str>, path: Option<&str>, take| Decision {
            name: Name::Field(format!("{kind:?} {path:?}")),
            target: kind.map(|kind| {
                let all = Target::new(Name::Field(String::new()), "");
                all.with_pattern(Field::Kind, kind).expect("a pattern")
            }),
            path: path.map(|path| PathPattern::parse(path).expect("a path")),
            take,
        };
        let rules = [
            rule(Some("Role"), None, OnConflict::Fail),
            rule(Some("Deployment"), Some("spec.replicas"), OnConflict::KeepDest),
            rule(None, Some("spec"), OnConflict::TakeUpdated),
            rule(None, Some("spec.never"), OnConflict::Fail),
        ];
        let mut decisions = Decisions::new(&rules, OnConflict::Fail);
        let mut wins = |fields: &[&'static str]| {
            let mut path = FieldPath::default();
            fields.iter().for_each(|field| path.push(Step::Field((*field).into()), None));
            let ruling = decisions.of(root, &path);
            (ruling.policy, ruling.rule.map(|name| rules.iter().position(|rule| rule.name == *name).expect("a rule")))
        };
        assert_eq!(wins(&["spec", "replicas"]), (OnConflict::KeepDest, Some(1)));
        assert_eq!(wins(&["spec", "never"]), (OnConflict::TakeUpdated, Some(2)));
        assert_eq!(wins(&["data"]), (OnConflict::Fail, None));
        assert_eq!(wins(&[]), (OnConflict::Fail, None));
        let idle: Vec<&Name> = decisions.idle().collect();
        assert_eq!(idle, [&rules[0].name, &rules[3].name]);
    }
}
