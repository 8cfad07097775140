//! [`Decisions`]: who wins each conflict, by the `rules` of the functionConfig, and by `onConflict` if no rule fits.

use std::borrow::Cow;

use krm_merge_core::parts::Composed;
use krm_merge_core::policy::{OnConflict, Treatment};
use krm_merge_core::things;
use krm_package::package::Conflict;
use krm_package::resource::Resource;
use krm_package::rules::{Rules, Unmergeable};
use krm_tree::child::{Value as _, find};
use krm_tree::path::{FieldPath, PathPattern, Step};
use krm_tree::remarks::Remarks;
use krm_tree::sides::{Side, Sides};
use krm_tree::tree::{self, Taking, Tree, View};
use krm_yaml::hashed::{Empty, HashMap};
use krm_yaml::{Kind, NodeRef, Scalar};

use crate::name::Name;
use crate::newest::{Holds, newest, pinned};
use crate::target::Target;

/// A rule: who wins the conflicts at some places of some resources.
#[derive(Debug)]
pub struct Decision<'a> {
    /// The name by which the user knows it.
    pub name: Name,
    /// The resources and the files without a name; `None` for all.
    pub target: Option<Target>,
    /// The places, including everything below them; `None` for all places, including the resource as a whole.
    pub path: Option<PathPattern>,
    /// Who wins.
    pub take: Take,
    /// The values that the sides must have at the named place, if the rule is only for these values; null means that there is no value.
    pub when: Sides<Option<NodeRef<'a>>>,
}

/// Who wins the conflicts of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Take {
    /// The same side each time, or nobody.
    Policy(OnConflict),
    /// The side with the newer version, where the values are versions; else the rule decides nothing.
    Newest,
}

impl<'a> Decision<'a> {
    /// The place of a conflict that the rule names; `None` if the rule is for other places or resources.
    fn named<'p>(&self, clash: &ConflictView<'_, 'p>) -> Option<FieldPath<'p>> {
        let named = match &self.path {
            Some(pattern) => pattern.place(&clash.path)?,
            None => FieldPath::default(),
        };
        self.target.as_ref().is_none_or(|target| target.selects(clash.resource)).then_some(named)
    }

    /// The values of `when`, each with its side.
    fn wanted(&self) -> impl Iterator<Item = (Side, NodeRef<'a>)> {
        self.when.iter().filter_map(|(side, wanted)| Some((side, (*wanted)?)))
    }

    /// Why the winner wins, to be appended to the message that names it: empty if the rule names it.
    pub fn because(&self) -> &'static str {
        if self.take == Take::Newest { ", the newer version" } else { "" }
    }

    /// Who wins a conflict by this rule; `None` if it does not decide it.
    fn winner(&self, clash: &ConflictView<'_, '_>) -> Option<OnConflict> {
        let named = self.named(clash)?;
        let fits = self.wanted().all(|(side, wanted)| clash.compared(side, &named, wanted) == Compared::Same);
        match self.take {
            _ if !fits => None,
            Take::Policy(policy) => Some(policy),
            Take::Newest => clash.newest().map(|side| match side {
                Side::Updated => OnConflict::TakeUpdated,
                Side::Original | Side::Dest => OnConflict::KeepDest,
            }),
        }
    }

    /// Why the rule does not decide a conflict.
    fn miss(&self, clash: &ConflictView<'_, '_>) -> Miss {
        let Some(named) = self.named(clash) else {
            let has = |(side, wanted)| clash.compared(side, &clash.path, wanted) == Compared::Same;
            let is_like_it = self.wanted().any(|(_, wanted)| !wanted.is_null()) && self.wanted().all(has);
            return if is_like_it { Miss::Place(clash.path.shown()) } else { Miss::All };
        };
        let miss = |(side, wanted)| match clash.compared(side, &named, wanted) {
            Compared::Same => None,
            Compared::OtherType => Some(Miss::Type(side, named.shown())),
            Compared::Other => Some(Miss::Value(side, named.shown())),
        };
        let is_compared = self.take == Take::Newest;
        self.wanted()
            .find_map(miss)
            .unwrap_or_else(|| if is_compared { Miss::Versions(clash.path.shown()) } else { Miss::All })
    }

    /// The scalar values by which a conflict that the rule decides is found; empty if it may decide a conflict without them.
    fn values(&self) -> Vec<Cow<'a, str>> {
        let mut found = Vec::new();
        for (_, wanted) in self.wanted().filter(|(_, wanted)| !wanted.is_null()) {
            if !is_plain(wanted) {
                return Vec::new();
            }
            found.extend(texts(View::Node(wanted)));
        }
        found
    }

    /// What a conflict must have for the rule to decide it: of each entry at least one.
    fn clues(&self) -> Vec<Vec<Clue<'_>>> {
        let name = self.target.as_ref().and_then(Target::selected_name);
        let words = self.path.iter().flat_map(PathPattern::words);
        let values = self.wanted().filter(|(_, wanted)| is_plain(*wanted));
        let values = values.map(|(_, wanted)| texts(View::Node(wanted)).into_iter().map(Clue::Value).collect());
        let clues = words.map(|(number, word)| Clue::Step(number, word)).chain(name.map(Clue::Name));
        let clues = clues.map(|clue| vec![clue]).chain(values);
        clues.filter(|alternatives: &Vec<_>| !alternatives.is_empty()).collect()
    }

    fn is_of_values(&self) -> bool {
        self.wanted().next().is_some()
    }
}

/// Whether `when` names a value, and no part of an image.
fn is_plain(wanted: NodeRef<'_>) -> bool {
    !wanted.is_null() && !wanted.is_map() && !wanted.string().contains('*')
}

/// What a rule may need of a conflict.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Clue<'c> {
    /// The name of the resource.
    Name(&'c str),
    /// A name or a value in the step with this number of its path.
    Step(usize, &'c str),
    /// The value of a side.
    Value(Cow<'c, str>),
}

/// Why a rule decided nothing; the better a conflict fits it, the greater.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Miss {
    /// No conflict is at its place, or has its values.
    All,
    /// A conflict at this other place has the values of `when`.
    Place(String),
    /// A conflict is at its place, but there the side has another value than `when` says.
    Value(Side, String),
    /// The same, but the two values differ only in their type: one is a text.
    Type(Side, String),
    /// The values of a conflict at its place are no versions with an order.
    Versions(String),
}

/// How a value compares with the one that `when` names; the more alike, the greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Compared {
    Other,
    OtherType,
    Same,
}

/// A conflict, as a rule looks at it.
#[derive(Debug)]
pub struct ConflictView<'c, 'a> {
    /// The resource in dest; in updated where dest deleted it.
    pub resource: &'c Resource<'a>,
    /// The place of the conflict; empty for the resource as a whole.
    pub path: FieldPath<'a>,
    /// The resource as each side has it.
    pub sides: Sides<Option<Tree<'a>>>,
    /// The value of each side at that place.
    pub values: Sides<Option<Tree<'a>>>,
    /// What is written if updated wins. For a text that is merged by line, this is not the value of any side.
    pub taken: Option<Tree<'a>>,
    /// The change that is made if updated wins, of a conflict at a place.
    pub taking: Option<&'c Taking<'a>>,
}

impl<'c, 'a> ConflictView<'c, 'a> {
    /// A conflict of a merge by these rules.
    ///
    /// # Errors
    /// The resource as a whole has a repeated key.
    pub fn of(conflict: &Conflict<'c, 'c, 'a>, rules: Rules<'a>) -> Result<Self, Box<Unmergeable<'a>>> {
        if let Conflict::Place { sides, dest, conflict } = *conflict {
            return Ok(Self::of_place(conflict, sides, dest));
        }
        let mut own = Sides::default();
        for (side, resource) in conflict.sides().iter() {
            own[side] = resource.map(|resource| rules.own(resource)).transpose()?;
        }
        Ok(Self::of_whole(conflict.resource(), FieldPath::default(), own))
    }

    /// A conflict at a place of a resource.
    pub fn of_place(
        conflict: &'c tree::Conflict<'a>,
        sides: Sides<Option<&Resource<'a>>>,
        dest: &'c Resource<'a>,
    ) -> Self {
        Self {
            resource: dest,
            path: conflict.path.clone(),
            sides: sides.map(|side| side.map(|resource| Tree::Node(resource.node()))),
            values: conflict.values(),
            taken: conflict.taken.clone(),
            taking: Some(&conflict.taking),
        }
    }

    /// A conflict of a resource as a whole.
    fn of_whole(resource: &'c Resource<'a>, path: FieldPath<'a>, sides: Sides<Option<Tree<'a>>>) -> Self {
        Self { resource, path, values: sides.clone(), sides, taken: None, taking: None }
    }

    /// The scalar values of the sides.
    fn texts(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let values = self.values.iter().filter_map(|(_, value)| value.as_ref()).chain(&self.taken);
        values.filter_map(Tree::view).flat_map(texts)
    }

    /// Whatever a rule may need of it.
    fn clues(&self) -> impl Iterator<Item = Clue<'_>> {
        let words = self.path.words().map(|(number, word)| Clue::Step(number, word));
        words.chain([Clue::Name(Target::name_of(self.resource))]).chain(self.texts().map(Clue::Value))
    }

    /// The side whose version is newer, if the values are versions with an order.
    fn newest(&self) -> Option<Side> {
        // An unquoted `1.10` is the number 1.1 for most readers.
        fn text<'v>(value: Option<&'v Tree<'_>>) -> Option<Cow<'v, str>> {
            match value?.view()? {
                View::Node(node) => node.as_str().map(Cow::Borrowed),
                view => view.text(),
            }
        }
        // Parts that only one side changed, such as a registry, are no part of the conflict.
        let Sides { original, updated, dest } = &self.values;
        let taken = self.taken.as_ref().filter(|_| updated.is_some()).or(updated.as_ref());
        let values = Sides { original: original.as_ref(), updated: taken, dest: dest.as_ref() };
        let views = values.map(|value| value.and_then(Tree::view));
        if let Some(versions) = things::versions(&self.path, views) {
            let newest = newest(Sides::of(|side| versions[side].as_deref()), Holds::Versions)?;
            // A version of one repository is none of another one.
            let own = self.own(newest)?;
            return things::is_at_one_place(&self.path, views[newest]?, own).then_some(newest);
        }
        if let Some(versions) = self.versions_behind() {
            return newest(Sides::of(|side| versions[side]), Holds::Versions);
        }
        let texts = values.map(text);
        if texts.original.is_some() != original.is_some() {
            return None;
        }
        let texts = Sides::of(|side| texts[side].as_deref());
        let Some(versions) = Composed::of_place(&self.path).and_then(|kind| kind.versions(texts)) else {
            return newest(texts, Holds::at(&self.path));
        };
        newest(versions, Holds::Versions)
    }

    /// The version in the comment behind the hash of one and the same action on each side: `uses: a@hash # v1.2.3`. The comment goes with the
    /// hash. `None` if updated or dest has none.
    fn versions_behind(&self) -> Option<Sides<Option<&'a str>>> {
        let mut above = self.path.clone();
        above.pop();
        let found = Sides::of(|side| {
            let map = find(self.sides[side].as_ref()?.like()?, &above)?;
            let (key, value) = map.fields().find(|(key, _)| key.string() == "uses")?;
            pinned(value.as_str()?, Remarks::of((Some(key), value)).behind)
        });
        let is_uses = matches!(self.path.steps().last(), Some(Step::Field(name)) if name == "uses");
        let action = found.updated?.0;
        let is_one = found.iter().all(|(_, pinned)| pinned.is_none_or(|pinned| pinned.0 == action));
        (is_uses && is_one && found.dest.is_some()).then(|| found.map(|pinned| Some(pinned?.1)))
    }

    /// The value that a side has at the place of the conflict, without the changes of the other side.
    fn own(&self, side: Side) -> Option<View<'_, 'a>> {
        let root = self.sides[side].as_ref().and_then(Tree::like);
        let own = root.and_then(|root| find(root, &self.path)).map(View::Node);
        own.or_else(|| self.values[side].as_ref().and_then(Tree::view))
    }

    /// Compares the value that a side has at a place on the way to the conflict.
    fn compared(&self, side: Side, place: &FieldPath<'_>, wanted: NodeRef<'_>) -> Compared {
        let compared = |value: Option<View<'_, '_>>| match value.filter(|value| !value.is_null()) {
            Some(value) if value.same(wanted) || has_parts(value, place, wanted) => Compared::Same,
            None if wanted.is_null() => Compared::Same,
            Some(value) if value.kind() == Kind::Scalar && value.string() == View::Node(wanted).string() => {
                Compared::OtherType
            }
            Some(_) | None => Compared::Other,
        };
        if place.len() == self.path.len() {
            let own = self.values[side].as_ref().and_then(Tree::view);
            let taken = self.taken.as_ref().filter(|_| side == Side::Updated && own.is_some());
            return compared(own).max(taken.map_or(Compared::Other, |taken| compared(taken.view())));
        }
        let whole = self.sides[side].as_ref();
        if place.is_empty() {
            return compared(whole.and_then(Tree::view));
        }
        compared(whole.and_then(Tree::like).and_then(|root| find(root, place)).map(View::Node))
    }
}

/// A scalar value as it is written, and as it is meant; empty for other values. Equal values have a text in common.
fn texts<'v>(value: View<'v, '_>) -> Vec<Cow<'v, str>> {
    let text = value.string();
    match value.scalar() {
        Some(Scalar::Bool(value)) => vec![text, Cow::Owned(value.to_string())],
        Some(Scalar::Number(number)) => {
            [Some(text), number.to_decimal().map(Cow::Owned)].into_iter().flatten().collect()
        }
        Some(_) => vec![text],
        None => Vec::new(),
    }
}

/// Whether an image or a remote base has the parts that `when` names: a text with `*` for any text, or a map of parts by their names. Such a
/// value has no `*` of its own, and is no map.
fn has_parts(value: View<'_, '_>, place: &FieldPath<'_>, wanted: NodeRef<'_>) -> bool {
    let (Some(kind), Some(text)) = (Composed::of_place(place), value.text()) else { return false };
    let Some(parts) = kind.parts(&text) else { return false };
    if wanted.is_map() {
        let has = |(name, wanted): (NodeRef<'_>, NodeRef<'_>)| {
            parts.named(name.string()).is_some_and(|part| fits(part, wanted.string()))
        };
        return wanted.fields().next().is_some() && wanted.fields().all(has);
    }
    wanted.as_str().is_some_and(|wanted| wanted.contains('*') && fits(&text, wanted))
}

/// Whether a text fits a pattern in which each `*` stands for any text.
fn fits(text: &str, pattern: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return text == pattern };
    let (between, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    let Some(text) = text.strip_prefix(start).and_then(|text| text.strip_suffix(end)) else { return false };
    // The first place of each piece leaves the most for those behind it.
    let behind = |text: &'_ str, piece: &str| Some(text.find(piece)? + piece.len());
    let mut at = 0;
    between.split('*').all(|piece| behind(&text[at..], piece).map(|end| at += end).is_some())
}

/// How one conflict is handled, and why.
#[derive(Clone, Copy, Debug)]
pub struct Ruling<'r> {
    /// How it is handled.
    pub treatment: Treatment,
    /// The rule that decided; `None` if no rule fits.
    pub rule: Option<&'r Decision<'r>>,
}

impl From<OnConflict> for Ruling<'_> {
    fn from(policy: OnConflict) -> Self {
        Self { treatment: policy.into(), rule: None }
    }
}

/// A rule that decided nothing.
#[derive(Debug)]
pub struct Idle<'d, 'a> {
    /// The rule.
    pub rule: &'a Decision<'a>,
    /// Why.
    pub miss: &'d Miss,
}

/// The rules of a run, and how far they fitted.
///
/// A record of decisions may have a rule for each of many conflicts, so no conflict looks at all rules: a rule is found by what it needs of a
/// conflict and the fewest other rules need.
#[derive(Debug)]
pub struct Decisions<'a> {
    rules: &'a [Decision<'a>],
    /// Why each rule decided nothing yet; `None` if it decided a conflict.
    misses: Vec<Option<Miss>>,
    otherwise: Treatment,
    /// The rules that need nothing in particular.
    needless: Vec<usize>,
    /// The other rules, each by one thing that it needs.
    by_clue: HashMap<Clue<'a>, Vec<usize>>,
    /// The rules without a scalar value in `when`.
    general: Vec<usize>,
    /// The other rules, by the values of their `when`.
    by_value: HashMap<Cow<'a, str>, Vec<usize>>,
    /// The other rules for each target and path, until a conflict arises that none of them decides.
    unseen: Vec<Vec<usize>>,
}

impl<'a> Decisions<'a> {
    /// The first rule that fits wins; `otherwise` is for the conflicts that no rule fits.
    pub fn new(rules: &'a [Decision<'a>], otherwise: Treatment) -> Self {
        let mut new = Self {
            rules,
            misses: vec![Some(Miss::All); rules.len()],
            otherwise,
            needless: Vec::new(),
            by_clue: HashMap::new(),
            general: Vec::new(),
            by_value: HashMap::new(),
            unseen: Vec::new(),
        };
        let clues: Vec<Vec<Vec<Clue<'a>>>> = rules.iter().map(Decision::clues).collect();
        let mut counts: HashMap<&Clue<'a>, usize> = HashMap::new();
        clues.iter().flatten().flatten().for_each(|clue| *counts.entry(clue).or_default() += 1);
        let count = |any: &&Vec<Clue<'a>>| any.iter().filter_map(|clue| counts.get(clue)).sum::<usize>();
        for (number, clues) in clues.iter().enumerate() {
            match clues.iter().min_by_key(count) {
                Some(rarest) => {
                    rarest.iter().for_each(|clue| new.by_clue.entry(clue.clone()).or_default().push(number))
                }
                None => new.needless.push(number),
            }
        }
        let mut places: HashMap<(Option<String>, Option<String>), usize> = HashMap::new();
        for (number, rule) in rules.iter().enumerate() {
            let values = rule.values();
            if values.is_empty() {
                new.general.push(number);
                continue;
            }
            for value in values {
                new.by_value.entry(value).or_default().push(number);
            }
            let place =
                (rule.target.as_ref().map(ToString::to_string), rule.path.as_ref().map(|path| format!("{path:?}")));
            let place = *places.entry(place).or_insert_with(|| {
                new.unseen.push(Vec::new());
                new.unseen.len() - 1
            });
            new.unseen[place].push(number);
        }
        new
    }

    /// The rules that may decide a conflict, in order.
    fn candidates(&self, clash: &ConflictView<'_, '_>) -> Vec<usize> {
        let mut all = self.needless.clone();
        all.extend(clash.clues().flat_map(|clue| self.by_clue.get(&clue).into_iter().flatten().copied()));
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The rules for which a conflict that none of them decides may be a miss.
    fn missed(&self, clash: &ConflictView<'_, '_>) -> Vec<usize> {
        let mut all = self.general.clone();
        all.extend(clash.texts().flat_map(|text| self.by_value.get(&*text).into_iter().flatten().copied()));
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Who wins a conflict.
    pub fn of(&mut self, clash: &ConflictView<'_, '_>) -> Ruling<'a> {
        for number in self.candidates(clash) {
            let rule = &self.rules[number];
            if let Some(winner) = rule.winner(clash) {
                self.misses[number] = None;
                let treatment = match (winner, self.otherwise) {
                    // Such a conflict stays open, as those do that no rule decides.
                    (OnConflict::Fail, Treatment::Open(_)) => self.open(clash),
                    (winner, _) => winner.into(),
                };
                return Ruling { treatment, rule: Some(rule) };
            }
        }
        // A miss counts only if no other rule decides the conflict.
        let missed = self.missed(clash);
        let mut miss = |number: usize| {
            let (rule, known) = (&self.rules[number], &mut self.misses[number]);
            *known = known.take().map(|known| known.max(rule.miss(clash)));
        };
        missed.into_iter().for_each(&mut miss);
        for rules in &mut self.unseen {
            if rules.first().is_some_and(|first| self.rules[*first].named(clash).is_some()) {
                std::mem::take(rules).into_iter().for_each(&mut miss);
            }
        }
        Ruling { treatment: self.open(clash), rule: None }
    }

    /// How a conflict is handled that no rule decides.
    fn open(&self, clash: &ConflictView<'_, '_>) -> Treatment {
        let dest = clash.values.dest.as_ref().and_then(Tree::view);
        self.otherwise.over(dest, clash.taking)
    }

    /// The rules that decided nothing. A rule with `when` is made for one conflict, which may be over by now. So it is listed only if a
    /// conflict has its place or its values.
    pub fn idle(&self) -> impl Iterator<Item = Idle<'_, 'a>> {
        let rules = self.rules.iter().zip(&self.misses).filter_map(|(rule, miss)| Some((rule, miss.as_ref()?)));
        rules.filter(|(rule, miss)| **miss != Miss::All || !rule.is_of_values()).map(|(rule, miss)| Idle { rule, miss })
    }
}

#[cfg(test)]
mod tests {
    use krm_package::resource::Origin;
    use krm_tree::tree::Pick;
    use krm_yaml::Document;

    use super::*;
    use crate::target::TargetField;

    #[test]
    fn each_star_stands_for_any_text() {
        for (text, pattern, want) in [
            ("abc", "abc", true),
            ("abc", "*", true),
            ("abc", "a*c", true),
            ("abc", "*b*", true),
            ("aba", "ab*ba", false),
            ("abab", "*ab*ab", true),
            ("ab", "*ab*ab", false),
            ("abc", "a*c*", true),
            ("abc", "*c*b*", false),
        ] {
            assert_eq!(fits(text, pattern), want, "{text} {pattern}");
        }
        // A rule may come with a repository.
        assert!(fits("abc", &"*".repeat(1 << 20)));
    }

    #[test]
    fn the_first_rule_that_fits_decides() {
        let document = Document::parse("{kind: Deployment, metadata: {name: web}}").expect("valid");
        let root = document.roots().next().expect("a root");
        let rule = |kind: Option<&str>, path: Option<&str>, take| Decision {
            name: Name::Field(format!("{kind:?} {path:?}")),
            target: kind.map(|kind| {
                let all = Target::new(Name::Field(String::new()), "");
                all.with_pattern(TargetField::Kind, kind).expect("a pattern")
            }),
            path: path.map(|path| PathPattern::parse(path).expect("a path")),
            take: Take::Policy(take),
            when: Sides::default(),
        };
        let rules = [
            rule(Some("Role"), None, OnConflict::Fail),
            rule(Some("Deployment"), Some("spec.replicas"), OnConflict::KeepDest),
            rule(None, Some("spec"), OnConflict::TakeUpdated),
            rule(None, Some("spec.never"), OnConflict::Fail),
        ];
        let mut decisions = Decisions::new(&rules, Treatment::Open(Pick::Updated));
        let mut wins = |fields: &[&'static str]| {
            let mut path = FieldPath::default();
            fields.iter().for_each(|field| path.push(Step::Field((*field).into()), None));
            let sides = Sides::of(|_| Some(Tree::Node(root)));
            let ruling = decisions.of(&ConflictView::of_whole(&Resource::read(root, Origin::Item(0)), path, sides));
            (
                ruling.treatment,
                ruling.rule.map(|found| rules.iter().position(|rule| rule.name == found.name).expect("a rule")),
            )
        };
        assert_eq!(wins(&["spec", "replicas"]), (Treatment::By(OnConflict::KeepDest), Some(1)));
        assert_eq!(wins(&["spec", "never"]), (Treatment::By(OnConflict::TakeUpdated), Some(2)));
        assert_eq!(wins(&["data"]), (Treatment::Open(Pick::Updated), None));
        assert_eq!(wins(&[]), (Treatment::Open(Pick::Updated), None));
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
        let clash = ConflictView {
            resource: &Resource::read(whole.dest.expect("a root"), Origin::Item(0)),
            path,
            sides: whole.map(|root| root.map(Tree::Node)),
            values: values.map(|value| value.map(Tree::Node)),
            taken: None,
            taking: None,
        };
        ["a.b", "a"].map(|place| {
            let rule = Decision {
                name: Name::Field(String::new()),
                target: None,
                path: Some(PathPattern::parse(place).expect("a path")),
                take: Take::Policy(OnConflict::KeepDest),
                when: Sides::of(|side| wanted.get(side.name())),
            };
            let rules = [rule];
            let mut decisions = Decisions::new(&rules, Treatment::default());
            assert_eq!(decisions.idle().count(), 0, "it is for one conflict");
            let is_decided = decisions.of(&clash).rule.is_some();
            assert_eq!(decisions.idle().count(), usize::from(!is_decided), "the conflict has other values");
            is_decided
        })
    }

    #[test]
    fn a_rule_may_name_a_part_of_an_image() {
        for (wanted, value, field, want) in [
            ("'m.io/*'", "m.io/a/b:1", "image", true),
            ("'m.io/*'", "g.io/a/b:1", "image", false),
            ("'*'", "m.io/a/b:1", "image", true),
            ("'m.io/*/b:*'", "m.io/a/b:1", "image", true),
            ("'m.io/*/b:*'", "m.io/a/c:1", "image", false),
            ("'*:1'", "m.io/a:1:1", "image", false),
            ("{registry: m.io}", "m.io/a/b:1", "image", true),
            ("{registry: m.io, repository: 'a/*', tag: '1*'}", "m.io/a/b:1.2", "image", true),
            ("{registry: m.io, tag: '2*'}", "m.io/a/b:1.2", "image", false),
            ("{host: m.io}", "m.io/a/b:1", "image", false),
            ("{}", "m.io/a/b:1", "image", false),
            // Another field is no image, and a schedule is written with signs of its own.
            ("'m.io/*'", "m.io/a/b:1", "name", false),
            ("'*'", "x", "image", false),
        ] {
            let document = Document::parse(format!("[{wanted}, '{value}']")).expect("valid");
            let mut nodes = document.roots().next().expect("a root").elements();
            let (wanted, value) = (nodes.next().expect("wanted"), nodes.next().expect("a value"));
            let place = FieldPath::from(Step::Field(field.into()));
            let found = has_parts(View::Node(value), &place, wanted);
            assert_eq!(found, want, "{value:?} {wanted:?}");
        }
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
