//! [`Decisions`]: who wins each conflict, by the `rules` of the functionConfig, and by `onConflict` if no rule fits.

use krm_merge::child::find;
use krm_merge::path::{FieldPath, PathPattern};
use krm_merge::policy::OnConflict;
use krm_merge::resource::Resource;
use krm_merge::sides::{Side, Sides};
use krm_merge::tree::{Conflict, Pick, Tree, View};
use krm_merge::yaml::NodeRef;

use crate::name::Name;
use crate::target::Target;

/// A rule: who wins the conflicts at some places of some resources.
#[derive(Debug)]
pub struct Decision<'a> {
    /// The name by which the user knows it.
    pub name: Name,
    /// The resources; `None` for all.
    pub target: Option<Target>,
    /// The places, including everything below them; `None` for all places, including the resource as a whole.
    pub path: Option<PathPattern>,
    /// Who wins.
    pub take: OnConflict,
    /// The values that the sides must have at the named place, if the rule is only for these values; null means that there is no value.
    pub when: Sides<Option<NodeRef<'a>>>,
}

impl Decision<'_> {
    fn fit(&self, clash: &Clash<'_, '_>) -> Fit {
        let named = match &self.path {
            Some(pattern) => pattern.place(clash.path),
            None => Some(FieldPath::default()),
        };
        let is_selected = self.target.as_ref().is_none_or(|target| target.selects(clash.resource));
        let Some(named) = named.filter(|_| is_selected) else { return Fit::Elsewhere };
        let differs = self.when.iter().find(|(side, wanted)| wanted.is_some_and(|it| !clash.has(*side, &named, it)));
        differs.map_or(Fit::Decides, |(side, _)| Fit::OtherValue(side, named.shown()))
    }

    fn is_of_values(&self) -> bool {
        self.when.iter().any(|(_, wanted)| wanted.is_some())
    }
}

/// How a rule fits a conflict.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Fit {
    /// The rule is for other places.
    Elsewhere,
    /// The rule is for this place, but the side has another value at the named place than `when` says.
    OtherValue(Side, String),
    /// The rule decides it.
    Decides,
}

/// A conflict, as a rule looks at it.
#[derive(Debug)]
pub struct Clash<'c, 'a> {
    /// The resource in dest; in updated where dest deleted it.
    pub resource: NodeRef<'a>,
    /// The place of the conflict; empty for the resource as a whole.
    pub path: &'c FieldPath<'a>,
    /// The resource as each side has it.
    pub sides: Sides<Option<Tree<'a>>>,
    /// The value of each side at that place.
    pub values: Sides<Option<Tree<'a>>>,
    /// What is written if updated wins. For a text that is merged by line, this is not the value of any side.
    pub taken: Option<Tree<'a>>,
}

impl<'c, 'a> Clash<'c, 'a> {
    /// A conflict at a place of a resource.
    pub fn of_place(conflict: &'c Conflict<'a>, sides: Sides<Option<&Resource<'a>>>, dest: &Resource<'a>) -> Self {
        Self {
            resource: dest.node,
            path: &conflict.path,
            sides: sides.map(|side| side.map(|resource| Tree::Node(resource.node))),
            values: Sides {
                original: conflict.original.map(Tree::Node),
                updated: conflict.updated.map(Tree::Node),
                dest: conflict.dest.clone(),
            },
            taken: conflict.taken.clone(),
        }
    }

    /// A conflict of a resource as a whole.
    pub fn of_whole(resource: NodeRef<'a>, path: &'c FieldPath<'a>, sides: Sides<Option<Tree<'a>>>) -> Self {
        Self { resource, path, values: sides.clone(), sides, taken: None }
    }

    /// Whether a side has this value at a place on the way to the conflict.
    fn has(&self, side: Side, place: &FieldPath<'_>, wanted: NodeRef<'_>) -> bool {
        let is = |value: Option<View<'_, '_>>| match value.filter(|value| !value.is_null()) {
            Some(value) => value.same(wanted),
            None => wanted.is_null(),
        };
        if place.len() == self.path.len() {
            let own = self.values[side].as_ref().and_then(Tree::view);
            let taken = self.taken.as_ref().filter(|_| side == Side::Updated && own.is_some());
            return is(own) || taken.is_some_and(|taken| is(taken.view()));
        }
        let whole = self.sides[side].as_ref();
        if place.is_empty() {
            return is(whole.and_then(Tree::view));
        }
        is(whole.and_then(Tree::like).and_then(|root| find(root, place)).map(View::Node))
    }
}

/// How a conflict is handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A policy says who wins.
    By(OnConflict),
    /// Nobody wins yet. The merge is written once for each side that may win; this time for the given side.
    Open(Pick),
}

impl Verdict {
    /// The policy that decides how the conflict is reported.
    pub fn policy(self) -> OnConflict {
        match self {
            Self::By(policy) => policy,
            Self::Open(_) => OnConflict::Fail,
        }
    }

    /// The side whose outcome is written.
    pub fn pick(self) -> Pick {
        match self {
            Self::By(policy) => policy.pick(),
            Self::Open(pick) => pick,
        }
    }
}

impl Default for Verdict {
    fn default() -> Self {
        Self::By(OnConflict::default())
    }
}

impl From<OnConflict> for Verdict {
    fn from(policy: OnConflict) -> Self {
        Self::By(policy)
    }
}

/// How one conflict is handled, and why.
#[derive(Clone, Copy, Debug)]
pub struct Ruling<'r> {
    /// How it is handled.
    pub verdict: Verdict,
    /// The rule that decided; `None` if no rule fits.
    pub rule: Option<&'r Name>,
}

impl From<OnConflict> for Ruling<'_> {
    fn from(policy: OnConflict) -> Self {
        Self { verdict: policy.into(), rule: None }
    }
}

/// A rule that decided nothing.
#[derive(Debug)]
pub struct Idle<'d, 'a> {
    /// The rule.
    pub rule: &'a Decision<'a>,
    /// The side whose value differs from `when`, and the place of the value; `None` if the rule fits no conflict at all.
    pub other_value: Option<(Side, &'d str)>,
}

/// The rules of a run, and how far they fitted.
#[derive(Debug)]
pub struct Decisions<'a> {
    rules: &'a [Decision<'a>],
    /// How each rule fitted best.
    fits: Vec<Fit>,
    otherwise: Verdict,
}

impl<'a> Decisions<'a> {
    /// The first rule that fits wins; `otherwise` is for the conflicts that no rule fits.
    pub fn new(rules: &'a [Decision<'a>], otherwise: Verdict) -> Self {
        Self { rules, fits: vec![Fit::Elsewhere; rules.len()], otherwise }
    }

    /// Who wins a conflict.
    pub fn of(&mut self, clash: &Clash<'_, '_>) -> Ruling<'a> {
        let mut misses = Vec::new();
        for (at, rule) in self.rules.iter().enumerate() {
            match rule.fit(clash) {
                Fit::Elsewhere => {}
                Fit::Decides => {
                    self.fits[at] = Fit::Decides;
                    return Ruling { verdict: rule.take.into(), rule: Some(&rule.name) };
                }
                miss @ Fit::OtherValue(..) => misses.push((at, miss)),
            }
        }
        // A miss counts only if no other rule decides the conflict.
        for (at, miss) in misses {
            if self.fits[at] == Fit::Elsewhere {
                self.fits[at] = miss;
            }
        }
        Ruling { verdict: self.otherwise, rule: None }
    }

    /// The rules that decided nothing. A rule with `when` is made for one conflict, which may be over by now. So it is listed only if a
    /// conflict at its place has other values.
    pub fn idle(&self) -> impl Iterator<Item = Idle<'_, 'a>> {
        self.rules.iter().zip(&self.fits).filter_map(|(rule, fit)| match fit {
            Fit::Decides => None,
            Fit::Elsewhere => (!rule.is_of_values()).then_some(Idle { rule, other_value: None }),
            Fit::OtherValue(side, place) => Some(Idle { rule, other_value: Some((*side, place)) }),
        })
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
            when: Sides::default(),
        };
        let rules = [
            rule(Some("Role"), None, OnConflict::Fail),
            rule(Some("Deployment"), Some("spec.replicas"), OnConflict::KeepDest),
            rule(None, Some("spec"), OnConflict::TakeUpdated),
            rule(None, Some("spec.never"), OnConflict::Fail),
        ];
        let mut decisions = Decisions::new(&rules, Verdict::Open(Pick::Updated));
        let mut wins = |fields: &[&'static str]| {
            let mut path = FieldPath::default();
            fields.iter().for_each(|field| path.push(Step::Field((*field).into()), None));
            let sides = Sides::of(|_| Some(Tree::Node(root)));
            let ruling = decisions.of(&Clash::of_whole(root, &path, sides));
            (ruling.verdict, ruling.rule.map(|name| rules.iter().position(|rule| rule.name == *name).expect("a rule")))
        };
        assert_eq!(wins(&["spec", "replicas"]), (Verdict::By(OnConflict::KeepDest), Some(1)));
        assert_eq!(wins(&["spec", "never"]), (Verdict::By(OnConflict::TakeUpdated), Some(2)));
        assert_eq!(wins(&["data"]), (Verdict::Open(Pick::Updated), None));
        assert_eq!(wins(&[]), (Verdict::Open(Pick::Updated), None));
        let idle: Vec<&Name> = decisions.idle().map(|idle| &idle.rule.name).collect();
        assert_eq!(idle, [&rules[0].name, &rules[3].name]);
    }

    /// Who wins a conflict of `a.b` with these values of original, updated and dest, by one rule for `a.b` and one for `a`.
    fn is_decided(when: &str, [original, updated, dest]: [&str; 3]) -> [bool; 2] {
        let parse = |text: String| Document::parse(text).expect("valid");
        let [when, original, updated, dest] = [
            parse(when.to_owned()),
            parse(format!("a: {{b: {original}, c: 1}}")),
            parse(format!("a: {{b: {updated}, c: 1}}")),
            parse(format!("a: {{b: {dest}, c: 1}}")),
        ];
        let root = |document: &'_ Document<'static>| document.roots().next().map(|root| root.start());
        assert!([&when, &original, &updated, &dest].into_iter().all(|document| root(document).is_some()));
        let whole = Sides { original: &original, updated: &updated, dest: &dest };
        let whole = whole.map(|document| document.roots().next());
        let wanted = when.roots().next().expect("a root");
        let mut path = FieldPath::default();
        ["a", "b"].into_iter().for_each(|field| path.push(Step::Field(field.into()), None));
        let values = whole.map(|root| root.and_then(|root| find(root, &path)).filter(|value| !value.is_null()));
        let clash = Clash {
            resource: whole.dest.expect("a root"),
            path: &path,
            sides: whole.map(|root| root.map(Tree::Node)),
            values: values.map(|value| value.map(Tree::Node)),
            taken: None,
        };
        ["a.b", "a"].map(|place| {
            let rule = Decision {
                name: Name::Field(String::new()),
                target: None,
                path: Some(PathPattern::parse(place).expect("a path")),
                take: OnConflict::KeepDest,
                when: Sides::of(|side| wanted.get(side.name())),
            };
            let rules = [rule];
            let mut decisions = Decisions::new(&rules, Verdict::default());
            assert_eq!(decisions.idle().count(), 0, "it is for one conflict");
            let is_decided = decisions.of(&clash).rule.is_some();
            assert_eq!(decisions.idle().count(), usize::from(!is_decided), "the conflict has other values");
            is_decided
        })
    }

    #[test]
    fn a_rule_for_some_values_fits_where_the_sides_have_them() {
        for (when, sides, want) in [
            ("{original: 1, updated: 2}", ["1", "2", "3"], [true, false]),
            ("{original: 1, updated: 2}", ["0x1", "2", "9"], [true, false]),
            ("{original: 1, updated: 2}", ["1", "'2'", "3"], [false, false]),
            ("{original: 1, updated: 2}", ["0", "2", "3"], [false, false]),
            ("{updated: 2}", ["0", "2", "3"], [true, false]),
            ("{updated: 2, dest: 3}", ["0", "2", "3"], [true, false]),
            ("{updated: 2, dest: 3}", ["0", "2", "4"], [false, false]),
            ("{original: null, updated: [x]}", ["", "[x]", "3"], [true, false]),
            ("{original: 1, updated: null}", ["1", "", "3"], [true, false]),
            ("{original: null}", ["1", "2", "3"], [false, false]),
            ("{updated: {c: 1, b: 2}}", ["1", "2", "3"], [false, true]),
            ("{updated: {b: 2}}", ["1", "2", "3"], [false, false]),
        ] {
            assert_eq!(is_decided(when, sides), want, "{when} {sides:?}");
        }
    }
}
