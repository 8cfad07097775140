//! Records the answers to conflicts as rules by place, which decide the same conflicts the next time.
//!
//! The text with ours in the place of all conflicts, with theirs, and with the original are three versions of the resources. From these,
//! the engine finds the places in conflict and the paths that a rule needs. If git still has the real versions, these are merged instead.
//! The value that a place has now shows the decision: ours, theirs, or a value that the user wrote. A rule cannot write a value. So a value
//! of the user is recorded as dest's, for a dest that has this value.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use krm_folders::held::Held;
use krm_job::recorded::{Case, Rule, Take};
use krm_merge_core::policy::Policy;
use krm_merge_core::refine::has_twins;
use krm_package::package::{Becomes, Member, members};
use krm_package::resource::{Identity, Resource, mark_as_secret};
use krm_package::rules::Rules;
use krm_schema::mode::Mode;
use krm_schema::schema::{Inference, Types};
use krm_tree::child::Searched;
use krm_tree::limit::{Budget, Limit};
use krm_tree::path::{FieldPath, Step};
use krm_tree::sides::Sides;
use krm_tree::splice::to_json;
use krm_tree::tree::{Conflict, Tree};
use krm_yaml::secret::Secret;
use krm_yaml::{NodeRef, same};

use crate::hunks::is_of_lines;
use krm_job::marked::{Answer, Marked, Newer};

/// The rules for the answers in one text.
#[derive(Debug, Default)]
pub struct Recorded {
    /// The rules, each with the answers that it is for, by the numbers of their conflicts.
    pub rules: Vec<(Rule, Vec<usize>)>,
    /// The answers without a rule, or with a narrower rule, by the number of the conflict.
    pub told: Vec<(usize, WhyNoRule)>,
}

/// Why an answer has no rule, or a narrower one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyNoRule {
    /// The conflict touches no value of a resource.
    NoPlace,
    /// The values belong to a Secret.
    Secret,
    /// The answer brings a deleted resource back. No rule can do that.
    ComesBack,
    /// Some elements of a list without keys take ours and some take theirs, and a rule cannot tell them apart.
    Mixed,
    /// Several files have a resource of this name, and some take ours and some take theirs.
    OfSeveral,
    /// The value is neither ours nor theirs, and the place is in a list without keys.
    OfNoSide,
    /// The value is neither ours nor theirs. The rule is only for a dest that has it.
    Own,
}

/// Makes the rules for the answers in a text. `staged` has the versions that git merged, if git has them.
pub fn record(marked: &Marked<'_>, answers: &[Option<Answer>], staged: Option<Sides<Option<Vec<u8>>>>) -> Recorded {
    let answered = || (0..answers.len()).filter(|number| answers[*number].is_some());
    let nothing =
        || Recorded { rules: Vec::new(), told: answered().map(|number| (number, WhyNoRule::NoPlace)).collect() };
    let Some(texts) = AnsweredTexts::of(marked, answers) else {
        let plain: Vec<Option<Answer>> = answers.iter().cloned().map(|answer| answer.filter(is_plain)).collect();
        if plain == answers {
            return nothing();
        }
        // An answer that leaves no YAML must not cost the others their rules.
        let mut recorded = record(marked, &plain, staged);
        recorded
            .told
            .extend(answered().filter(|number| plain[*number].is_none()).map(|number| (number, WhyNoRule::NoPlace)));
        return recorded;
    };
    let staged = staged.and_then(staged_sides);
    let is_exact = staged.is_some();
    let sides = match &staged {
        Some(staged) => Sides::of(|side| staged[side].as_ref()),
        None => Sides { original: texts.original.as_ref(), updated: Some(&texts.theirs), dest: Some(&texts.ours) },
    };
    let Some(mut places) = texts.places(sides, is_exact) else { return nothing() };
    leave_out_contradictions(&mut places);
    let mut recorded = Recorded::default();
    let mut whys: Vec<Vec<Option<WhyNoRule>>> = vec![Vec::new(); answers.len()];
    for place in &places {
        texts.touched(&place.spans).into_iter().for_each(|number| whys[number].push(place.why));
    }
    for number in answered() {
        whys[number].sort_by_key(|why| why.is_none());
        match whys[number].first() {
            None => recorded.told.push((number, WhyNoRule::NoPlace)),
            Some(Some(WhyNoRule::OfNoSide)) if answers[number].as_ref().is_some_and(is_plain) => {
                recorded.told.push((number, WhyNoRule::Mixed));
            }
            Some(Some(why)) => recorded.told.push((number, *why)),
            Some(None) => {}
        }
    }
    let numbers = |place: &DecidedPlace| {
        texts.touched(&place.spans).into_iter().filter(|number| answers[*number].is_some()).collect()
    };
    recorded.rules = places.iter().filter_map(|place| Some((place.rule.clone()?, numbers(place)))).collect();
    let is_newest = |number: &usize| matches!(answers[*number], Some(Answer::Newest(_)));
    for (rule, _) in recorded.rules.iter_mut().filter(|(_, of)| !of.is_empty() && of.iter().all(is_newest)) {
        *rule = rule.clone().newest();
    }
    recorded
}

/// Whether an answer is one side as it is.
fn is_plain(answer: &Answer) -> bool {
    matches!(answer, Answer::Ours | Answer::Theirs | Answer::Newest(_))
}

/// The versions of a file that git has; `None` if one of them is not YAML.
fn staged_sides(staged: Sides<Option<Vec<u8>>>) -> Option<Sides<Option<Held>>> {
    let mut sides = Sides::default();
    for (side, bytes) in staged.iter() {
        sides[side] = match bytes {
            Some(bytes) => Some(held(bytes.clone())?),
            None => None,
        };
    }
    Some(sides).filter(|sides: &Sides<Option<Held>>| sides.updated.is_some() && sides.dest.is_some())
}

/// The resources of a text; `None` if it is no YAML, or a map has a key twice.
fn held(bytes: Vec<u8>) -> Option<Held> {
    let held = Held::of_text(String::from_utf8(bytes).ok()?).ok()?;
    let has_twins = held.resources().any(|resource| has_twins(resource.node()));
    (!has_twins).then_some(held)
}

/// The possible results of a marked text.
struct AnsweredTexts<'s> {
    answers: &'s [Option<Answer>],
    ours: Held,
    theirs: Held,
    /// The original, if the tool wrote it.
    original: Option<Held>,
    /// The text with the answers; with ours where an answer is missing.
    low: Held,
    /// The text with the answers; with theirs where an answer is missing.
    high: Held,
    /// The range of each conflict in the text with ours and in the text with theirs.
    blocks: Vec<[Range<usize>; 2]>,
    /// The same for the conflicts whose labels say that they are about a Secret.
    secret: Vec<[Range<usize>; 2]>,
}

impl<'s> AnsweredTexts<'s> {
    fn of(marked: &Marked<'_>, answers: &'s [Option<Answer>]) -> Option<Self> {
        let with = |answer: &dyn Fn(usize) -> Answer| {
            let all: Vec<Answer> = (0..answers.len()).map(answer).collect();
            held(marked.answered(|number| all.get(number)))
        };
        let original = marked.conflicts.iter().map(|conflict| {
            let half = conflict.original.as_ref()?;
            Some(Answer::Edited(marked.bytes(&half.text).to_vec()))
        });
        let original: Option<Vec<Answer>> = original.collect();
        let blocks = [Answer::Ours, Answer::Theirs].map(|side| blocks(marked, &side));
        let [ours, theirs] = blocks.map(Vec::into_iter);
        let blocks = marked.conflicts.iter().zip(ours.zip(theirs).map(|(ours, theirs)| [ours, theirs]));
        Some(Self {
            answers,
            ours: with(&|_| Answer::Ours)?,
            theirs: with(&|_| Answer::Theirs)?,
            original: original.and_then(|all| with(&|number| all[number].clone())),
            low: with(&|number| answers[number].clone().unwrap_or(Answer::Ours))?,
            high: with(&|number| answers[number].clone().unwrap_or(Answer::Theirs))?,
            secret: blocks
                .clone()
                .filter(|(conflict, _)| marked.is_of_secret(conflict))
                .map(|(_, block)| block)
                .collect(),
            blocks: blocks.map(|(_, block)| block).collect(),
        })
    }

    /// The side that all answers to the conflicts at a place take; `None` if an answer is missing, or takes anything else. `spans` are those of
    /// the place.
    fn taken(&self, spans: &Spans) -> Option<Take> {
        let mut takes = self.touched(spans).into_iter().map(|number| match &self.answers[number] {
            Some(Answer::Ours | Answer::Newest(Newer::Ours)) => Some(Take::Dest),
            Some(Answer::Theirs | Answer::Newest(Newer::Theirs)) => Some(Take::Updated),
            Some(Answer::Both | Answer::Edited(_)) | None => None,
        });
        let first = takes.next()??;
        takes.all(|take| take == Some(first)).then_some(first)
    }

    /// The numbers of the conflicts that a place is in.
    fn touched(&self, spans: &Spans) -> BTreeSet<usize> {
        touched(&self.blocks, spans).flatten().collect()
    }

    /// Whether the labels of a conflict in a place say that it is about a Secret.
    fn is_of_secret(&self, spans: &Spans) -> bool {
        touched(&self.secret, spans).any(|numbers| !numbers.is_empty())
    }

    /// The decided places between these versions; `None` if the engine cannot merge them.
    fn places(&self, sides: Sides<Option<&Held>>, is_exact: bool) -> Option<Vec<DecidedPlace>> {
        let mut resources = sides.map(|held| held.map(|held| held.resources().collect::<Vec<_>>()).unwrap_or_default());
        mark_as_secret(resources.as_mut().map(|side| &mut side[..]));
        let types = Types::new([], Inference::On);
        let definitions = [&resources.dest, &resources.original, &resources.updated].into_iter().flatten();
        let types = types.with_definitions(definitions.filter(|r| r.is_definition()).map(|r| r.node()));
        let input = sides.iter().filter_map(|(_, held)| held.as_ref()?.document()).map(|d| d.source().len()).sum();
        let budget = Budget::new(Limit::default().with_input(input));
        let rules = Rules { types: &types, mode: Mode::ThreeWay, policy: Policy::default(), budget: &budget };
        let secrets = resources.iter().flat_map(|(_, side)| side).filter(|resource| resource.secret == Secret::All);
        let secrets = secrets.filter_map(|secret| secret.identity.map(|i| (i.namespace, i.name))).collect();
        let found = PossibleResults {
            ours: by_identity(&self.ours),
            theirs: by_identity(&self.theirs),
            low: by_identity(&self.low),
            high: by_identity(&self.high),
        };
        let has_original = sides.original.is_some();
        let mut places = Vec::new();
        for member in members(Sides::of(|side| &resources[side][..]), Policy::default().renames).ok()? {
            let becomes = member.merged(&rules).ok()?;
            let (budget, secrets) = (&budget, &secrets);
            let judge = Judge { texts: self, found: &found, budget, member: &member, secrets, has_original, is_exact };
            places.extend(judge.places(becomes));
        }
        budget.check(krm_tree::limit::Kind::Text).ok()?;
        Some(places)
    }
}

/// The numbers of the blocks that a place is in, on each side.
fn touched(blocks: &[[Range<usize>; 2]], spans: &Spans) -> impl Iterator<Item = Range<usize>> {
    let of_side = move |side: usize| {
        let span = spans[side].as_ref()?;
        let first = blocks.partition_point(|block| block[side].end <= span.start);
        let count = blocks[first..].partition_point(|block| block[side].start < span.end);
        Some(first..first + count)
    };
    [0, 1].into_iter().filter_map(of_side)
}

/// The ranges of the conflicts in a text with the same answer everywhere.
fn blocks(marked: &Marked<'_>, answer: &Answer) -> Vec<Range<usize>> {
    let (mut at, mut length) = (0, 0);
    let block = |conflict: &krm_job::marked::Conflict| {
        let start = length + conflict.range.start - at;
        (at, length) = (conflict.range.end, start + marked.answer(conflict, answer).len());
        start..length
    };
    marked.conflicts.iter().map(block).collect()
}

/// The range of a place in the text with ours and in the text with theirs.
type Spans = [Option<Range<usize>>; 2];

/// A decided place, with its rule.
struct DecidedPlace {
    spans: Spans,
    rule: Option<Rule>,
    why: Option<WhyNoRule>,
}

/// The numbers of the places whose rule contradicts another one.
fn contradicted(places: &[DecidedPlace]) -> Vec<usize> {
    let mut takes: HashMap<_, BTreeSet<Take>> = HashMap::new();
    let rules = || places.iter().enumerate().filter_map(|(at, place)| Some((at, place.rule.as_ref()?)));
    rules().for_each(|(_, rule)| _ = takes.entry(&rule.case).or_default().insert(rule.take));
    let all = rules().filter(|(_, rule)| takes.get(&rule.case).is_some_and(|takes| takes.len() > 1));
    all.map(|(at, _)| at).collect()
}

/// Removes rules that contradict each other for the same values of the same place. Such places are elements that no key tells apart.
fn leave_out_contradictions(places: &mut [DecidedPlace]) {
    for at in contradicted(places) {
        places[at].rule = None;
        places[at].why = Some(WhyNoRule::Mixed);
    }
}

/// The resources of a text.
struct ByIdentity<'t> {
    /// The number of the first resource of each identity.
    numbers: HashMap<Identity<'t>, usize>,
    all: Vec<Searched<'t>>,
}

fn by_identity(held: &Held) -> ByIdentity<'_> {
    let mut found = ByIdentity { numbers: HashMap::new(), all: Vec::new() };
    for (number, resource) in held.resources().enumerate() {
        if let Some(identity) = resource.identity {
            found.numbers.entry(identity).or_insert(number);
        }
        found.all.push(Searched::new(resource.node()));
    }
    found
}

/// The resources of the possible results.
struct PossibleResults<'t> {
    ours: ByIdentity<'t>,
    theirs: ByIdentity<'t>,
    low: ByIdentity<'t>,
    high: ByIdentity<'t>,
}

/// Finds the decisions for the places of one resource.
struct Judge<'t, 'h, 'r, 'a> {
    texts: &'t AnsweredTexts<'t>,
    found: &'t PossibleResults<'h>,
    budget: &'t Budget,
    member: &'t Member<'r, 'a>,
    /// The namespaces and names of all Secrets. The text has what came without a conflict on each side, so it does not tell whether a resource
    /// that goes became a Secret of its name.
    secrets: &'t HashSet<(&'a str, &'a str)>,
    has_original: bool,
    /// Whether the versions are those that git merged. Otherwise they are rebuilt from the text with markers.
    is_exact: bool,
}

impl<'a> Judge<'_, '_, '_, 'a> {
    fn places(&self, becomes: Becomes<'a>) -> Vec<DecidedPlace> {
        let Sides { original, updated, dest } = self.member.sides;
        let is_whole = match becomes {
            Becomes::Merged(merged, _) => {
                let conflicts = merged.tree.map(|tree| tree.conflicts()).unwrap_or_default();
                return conflicts.iter().filter_map(|conflict| self.of_place(conflict)).collect();
            }
            Becomes::Deleted(places) | Becomes::StaysDeleted(places) => !places.is_empty(),
            // Without the original, nobody knows which side deleted the resource.
            Becomes::Kept | Becomes::Arrived(_) => !self.has_original,
            Becomes::Gone => false,
        };
        if !is_whole {
            return Vec::new();
        }
        let node = |side: Option<&Resource<'a>>| side.map(|resource| resource.node());
        let values = Sides { original: node(original), updated: node(updated), dest: node(dest) };
        self.place(&FieldPath::default(), values, Asks::All).into_iter().collect()
    }

    fn of_place(&self, conflict: &Conflict<'a>) -> Option<DecidedPlace> {
        let dest = conflict.dest.as_ref().and_then(Tree::like);
        let values = Sides { original: conflict.original, updated: conflict.updated, dest };
        // In such a value, the text with markers already has both sides' merged lines, but not the original.
        let asks = if is_of_lines(conflict) && !self.is_exact { Asks::Updated } else { Asks::All };
        self.place(&conflict.path, values, asks)
    }

    /// The decision for a place; `None` if the place is not in conflict or not decided.
    fn place(&self, path: &FieldPath<'a>, values: Sides<Option<NodeRef<'a>>>, asks: Asks) -> Option<DecidedPlace> {
        let own = self.member.sides.dest.or(self.member.sides.updated)?;
        let identity = own.identity?;
        let PossibleResults { ours, theirs, low, high } = self.found;
        let is_aligned = self.is_aligned(path, values);
        let (compared, is_of_index) = if is_aligned { (path.clone(), false) } else { keyed(path) };
        let [ours, theirs] = [ours, theirs].map(|text| self.at(text, &compared));
        let spans = [span(ours), span(theirs)];
        // If an answer elsewhere changes how many elements the list has, only the answers here tell what this element becomes.
        let is_moved = is_aligned && !self.is_level(path, [low, high]);
        let taken = self.texts.taken(&spans).filter(|_| is_moved);
        let (compared, is_of_index) = if is_moved { keyed(path) } else { (compared, is_of_index) };
        let [low, high] = [low, high].map(|text| self.at(text, &compared));
        if is_same(ours, theirs) || (taken.is_none() && !is_same(low, high)) {
            return None;
        }
        let take = match low {
            _ if taken.is_some() => taken.ok_or(WhyNoRule::OfNoSide),
            low if is_same(low, ours) => Ok(Take::Dest),
            low if is_same(low, theirs) && path.is_empty() && ours.is_none() => Err(WhyNoRule::ComesBack),
            low if is_same(low, theirs) => Ok(Take::Updated),
            _ if is_of_index || keyed(path).1 => Err(WhyNoRule::OfNoSide),
            _ => Err(WhyNoRule::Own),
        };
        let (take, why) = match take {
            _ if self.is_secret(identity, path) => (None, Some(WhyNoRule::Secret)),
            Ok(take) => (Some(take), None),
            Err(WhyNoRule::Own) => (Some(Take::Dest), Some(WhyNoRule::Own)),
            Err(why) => (None, Some(why)),
        };
        let json = |node: Option<NodeRef<'_>>| match node {
            Some(node) => to_json(node, self.budget).unwrap_or_default(),
            None => "null".to_owned(),
        };
        let is_deletion = path.is_empty() && low.is_none() && take == Some(Take::Dest);
        let when = if is_deletion {
            // Who does not want a resource does not want its next version either.
            Sides { dest: Some(json(None)), ..Sides::default() }
        } else {
            Sides {
                original: (asks == Asks::All && self.has_original).then(|| json(values.original)),
                updated: Some(json(values.updated)),
                dest: (why == Some(WhyNoRule::Own)).then(|| json(low)),
            }
        };
        let rule = take.map(|take| Rule { case: Case::new(identity, path, when), take });
        Some(DecidedPlace { spans, rule, why })
    }

    /// Whether the values at a place are secret.
    fn is_secret(&self, identity: Identity<'a>, path: &FieldPath<'a>) -> bool {
        let has_twin = || self.secrets.contains(&(identity.namespace, identity.name));
        Resource::secret(self.member.sides).hides(&path.keyed())
            || (path.is_empty() && has_twin())
            || self.is_labelled_secret()
    }

    /// Whether the labels of a conflict in the resource say that it is a Secret on some side.
    fn is_labelled_secret(&self) -> bool {
        let PossibleResults { ours, theirs, .. } = self.found;
        let spans = [ours, theirs].map(|text| span(self.at(text, &FieldPath::default())));
        self.texts.is_of_secret(&spans)
    }

    /// Whether an element that only its index identifies has the same index with ours and with theirs. This requires that the lists on the path
    /// have equal lengths, and that ours and theirs have the merged values at the path.
    fn is_aligned(&self, path: &FieldPath<'a>, values: Sides<Option<NodeRef<'a>>>) -> bool {
        let PossibleResults { ours, theirs, .. } = self.found;
        self.is_level(path, [ours, theirs])
            && is_same(self.at(ours, path), values.dest)
            && is_same(self.at(theirs, path), values.updated)
    }

    /// Whether the lists without keys on a path have the same lengths in these texts as with ours.
    fn is_level(&self, path: &FieldPath<'a>, texts: [&ByIdentity<'_>; 2]) -> bool {
        let mut whole = FieldPath::default();
        for step in path.steps() {
            if matches!(step, Step::Index(_)) {
                let count = |text: &ByIdentity<'_>| self.resource(text)?.count(&whole);
                if texts.into_iter().any(|text| count(text) != count(&self.found.ours)) {
                    return false;
                }
            }
            whole.push(step.clone(), None);
        }
        true
    }

    /// The resource in a text.
    fn resource<'t, 'h>(&self, text: &'t ByIdentity<'h>) -> Option<&'t Searched<'h>> {
        let own = self.member.sides.iter().filter_map(|(_, side)| side.as_ref()?.identity);
        text.all.get(own.filter_map(|identity| text.numbers.get(&identity).copied()).min()?)
    }

    /// The value at a place of the resource in a text.
    fn at<'h>(&self, text: &ByIdentity<'h>, path: &FieldPath<'_>) -> Option<NodeRef<'h>> {
        self.resource(text)?.find(path).filter(|node| !node.is_null())
    }
}

fn span(node: Option<NodeRef<'_>>) -> Option<Range<usize>> {
    node.map(|node| node.start()..node.end().max(node.start() + 1))
}

/// The sides whose values a rule requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asks {
    All,
    Updated,
}

fn is_same(one: Option<NodeRef<'_>>, other: Option<NodeRef<'_>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => same(one, other),
        (None, None) => true,
        _ => false,
    }
}

/// The part of a path before the first element that only its index identifies. This part means the same in each version. Also returns
/// whether it is shorter than the path.
fn keyed<'a>(path: &FieldPath<'a>) -> (FieldPath<'a>, bool) {
    let mut keyed = FieldPath::default();
    for step in path.steps() {
        if matches!(step, Step::Index(_)) {
            return (keyed, true);
        }
        keyed.push(step.clone(), None);
    }
    (keyed, false)
}
