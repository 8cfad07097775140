//! The merge of one file: it merges each resource of the file once, and builds the parts of the text from the results.

use std::cell::OnceCell;
use std::collections::HashMap;

use krm_job::decision::{ConflictView, Decision, Decisions, Ruling};
use krm_job::event::{About, Clash, Dispute, Event, File, Margin, Noticed, Privacy, Severity, What};
use krm_job::role::Role;
use krm_merge_core::policy::{ConflictLevel, OnConflict, Treatment};
use krm_merge_core::review::{Reviewed, review};
use krm_merge_core::warning::{Notice, Warning};
use krm_package::composed::left;
use krm_package::documents::{Item, ended};
use krm_package::package::{
    Becomes, Conflict, Decided as Settled, FileOrder, Member, MergedResource, members_of_file, orders,
};
use krm_package::resource::Resource;
use krm_package::rules::Rules;
use krm_tree::limit::Kind;
use krm_tree::links;
use krm_tree::path::FieldPath;
use krm_tree::sides::{Side, Sides};
use krm_tree::splice::{self, Unwritable, WriteFault};
use krm_tree::tree::{Pick, Taking, Tree};
use krm_yaml::secret::Secret;
use krm_yaml::{Document, Edit, NodeRef, Place, TextEdits, below_header, ends_line, gap_above, holds_no_value};

use crate::choices::{Lines, parts};
use crate::comments::{Free, Margins, fresh};
use crate::gap::Gap;
use crate::halves::{AskedComment, Halves, WhyAsked};
use crate::hunks::by_line;
use crate::part::{Choice, Grain, Part};
use crate::versions::{Here, VersionsAt};

/// A merged file.
pub struct Merge<'r, 'a> {
    documents: Sides<&'a Document<'static>>,
    rules: Rules<'a>,
    resources: Vec<Merged<'r, 'a>>,
    /// The order of the resources; `None` if all new resources come last.
    order: Option<FileOrder>,
    /// Why the text cannot be written.
    unwritable: OnceCell<Unwritable>,
}

/// A resource, the result of its merge, and its conflicts that are already decided.
struct Merged<'r, 'a> {
    merged: MergedResource<'r, 'a>,
    decided: Vec<Decided<'r>>,
    /// Whether a rule of the user leaves one of its conflicts unresolved.
    is_stopped: bool,
}

/// A conflict that a rule or a setting of the user has already decided.
pub struct Decided<'r> {
    /// The place, by key; empty for the resource.
    path: String,
    /// The part of the place that is decided.
    what: DecidedPart,
    /// The winner, and the rule that decided.
    ruling: Ruling<'r>,
}

/// The part of a place that is decided.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DecidedPart {
    /// The value.
    Value,
    /// The order of the elements.
    Order,
}

/// The text of a merge, and what to report about it.
#[derive(Default)]
pub struct DriverText<'a> {
    /// The text.
    pub parts: Vec<Part>,
    /// The results for the conflicts.
    pub conflicts: Vec<Event>,
    /// The comments that a person must choose, each with the name of its resource or file.
    pub asked: Vec<(String, Clash)>,
    /// The comments that the user need not choose, because their place is already decided.
    pub waived: Vec<&'a str>,
}

/// The edits of our text for each side that may win, while they are collected.
#[derive(Default)]
struct FileDraft<'a> {
    /// The result for each resource of ours, by its number.
    fates: Sides<Vec<Item>>,
    places: Vec<Lines<'a>>,
    /// The comments that a person must choose, each with the name of its resource.
    asked: Vec<(String, AskedComment<'a>)>,
    free: Vec<Free<'a>>,
    feet: Sides<Vec<Edit>>,
    /// The resources that ours lacks, each by its number among all resources, with its text for each side that may win.
    added: Vec<(usize, Sides<Option<String>>)>,
}

/// The position at which a resource is inserted that ours lacks.
#[derive(Clone, Copy, Debug)]
struct InsertedBefore {
    /// The nearest resource of ours before it that stays; `None` at the top.
    item: Option<usize>,
    /// Its position among the resources that ours lacks.
    turn: usize,
}

impl<'r, 'a> Merge<'r, 'a> {
    /// Merges the resources of these documents; `None` if the engine cannot merge them.
    pub fn of(
        documents: Sides<&'a Document<'static>>,
        resources: &'r Sides<Vec<Resource<'a>>>,
        rules: Rules<'a>,
        decisions: &mut Decisions<'r>,
    ) -> Option<Self> {
        let all = members_of_file(Sides::of(|side| &resources[side][..]), rules.policy.renames).ok()?;
        let order = orders(&all, rules.policy.new_elements).pop();
        let merged = all.into_iter().map(|member| {
            let becomes = member.merged(&rules).ok()?;
            Some(Merged::of(MergedResource::of(member, becomes), rules, decisions))
        });
        let resources = merged.collect::<Option<_>>()?;
        Some(Self { documents, rules, resources, order, unwritable: OnceCell::new() })
    }

    /// The conflicts that are already decided, in words.
    pub fn decided(&self) -> Vec<String> {
        let of = |resource: &Merged<'r, 'a>| {
            let name = called(&resource.merged.member);
            resource.decided.iter().map(move |decided| format!("{name}: {}", decided.told())).collect::<Vec<_>>()
        };
        self.resources.iter().flat_map(of).collect()
    }

    /// The resources that have another identity in theirs, in words. `theirs` names that side.
    pub fn followed(&self, theirs: &str) -> Vec<String> {
        let moved = self.resources.iter().filter_map(|resource| {
            let [own, other] = resource.merged.member.moved()?;
            let names = Sides { updated: theirs, ..Sides::of(Side::name) };
            let told = krm_words::message_by(&Event::followed([own, other]), names);
            Some(format!("{}: {told}", called(&resource.merged.member)))
        });
        moved.collect()
    }

    /// The maps in which the merge left fields side by side that exclude each other, in words.
    pub fn unions(&self) -> Vec<String> {
        let of_resource = |merged: &Merged<'r, 'a>| {
            let about = About {
                resource: merged.merged.member.sides.dest?,
                secret: Resource::secret(merged.merged.member.sides),
            };
            let tree = merged.merged.content()?;
            let Reviewed { warnings, .. } = review(&tree, self.rules.cursor(about.resource), about.resource.node());
            let unions = warnings.into_iter().filter(|warning| matches!(warning.notice, Notice::Union(_)));
            let message = |warning: Warning<'_>| {
                krm_words::message(&Event::of_warning(&warning, about, Role::Updated, self.rules.budget))
            };
            let name = called(&merged.merged.member);
            Some(unions.map(|warning| format!("{name}: {}", message(warning))).collect::<Vec<_>>())
        };
        self.resources.iter().filter_map(of_resource).flatten().collect()
    }

    /// The aliases that are written out where nothing is in conflict, in words.
    pub fn written_out(&self) -> Vec<String> {
        let all = self.resources.iter().filter_map(|resource| Some((resource, resource.merged.content()?)));
        let all = all.filter(|(_, tree)| !matches!(tree, Tree::Branch(branch) if branch.has_conflicts()));
        let told = all.flat_map(|(resource, tree)| {
            let name = called(&resource.merged.member);
            let of = move |(path, alias): (FieldPath<'_>, NodeRef<'_>)| {
                let notice = Notice::WrittenOut(alias.text().to_owned());
                let noticed = Noticed { place: path.shown(), notice, side: Role::Updated };
                format!("{name}: {}", krm_words::message(&Event::of(What::Noticed(Box::new(noticed)))))
            };
            links::lost(&tree).into_iter().map(of).collect::<Vec<_>>()
        });
        told.collect()
    }

    /// Whether a conflict is unresolved even if git can merge its lines. A rule says so for this conflict, or the conflict level
    /// says so for all texts and lists.
    pub fn is_stopped(&self) -> bool {
        let is_of_values = self.rules.policy.conflict_level == ConflictLevel::Value;
        let is_any_open = || {
            let mut is_open = false;
            self.conflicts(&mut |conflict| is_open |= matches!(conflict, Conflict::Place { .. }));
            is_open
        };
        self.resources.iter().any(|resource| resource.is_stopped) || (is_of_values && is_any_open())
    }

    /// Visits the conflicts that are open.
    pub fn conflicts(&self, visit: &mut dyn FnMut(Conflict<'_, 'r, 'a>)) {
        self.resources.iter().for_each(|resource| resource.merged.conflicts(visit));
    }

    /// Whether a conflict is open.
    pub fn is_any_open(&self) -> bool {
        let mut is_open = false;
        self.conflicts(&mut |_| is_open = true);
        is_open
    }

    /// The resources that remain if ours wins, with their conflicts.
    pub fn kept(&self) -> Vec<(&'r Resource<'a>, Tree<'a>)> {
        let kept = self.resources.iter().filter_map(|Merged { merged, .. }| {
            Some((merged.member.sides.dest.or(merged.member.sides.updated)?, merged.content()?))
        });
        kept.collect()
    }

    /// Whether one side deleted a resource that the other side changed, so that the resource is in conflict.
    pub fn is_any_disputed(&self) -> bool {
        self.resources.iter().any(|resource| resource.merged.is_disputed())
    }

    /// The text of the merge, and what to report about it. `name` is the name of the file. `None` if the text takes more bytes than allowed.
    pub fn told(&self, name: &str) -> Option<DriverText<'a>> {
        let mut told = DriverText::default();
        let ours = self.resources.iter().filter(|resource| resource.merged.member.sides.dest.is_some()).count();
        let mut draft = FileDraft { fates: Sides::of(|_| vec![Item::Stays; ours]), ..FileDraft::default() };
        let bodies = Sides::of(|side| Margins::of(self.documents[side].source()).body());
        for (number, resource) in self.resources.iter().enumerate() {
            let sides = resource.merged.member.sides;
            let here = Sides::of(|side| sides[side].map(|own| Here::of_root(own.node(), &bodies[side])));
            self.tell(resource, &mut told);
            self.draft(number, here, &mut draft, &mut told)?;
        }
        // The conflicts are in the order of our text.
        for conflict in &mut told.conflicts {
            conflict.leave_open();
            // It stands between markers, and all else is merged.
            conflict.severity = Severity::Warning;
            conflict.file.get_or_insert_with(|| File { path: name.to_owned(), index: None }.into());
        }
        self.text(name, draft, &mut told)?;
        self.rules.budget.check(Kind::Text).ok()?;
        Some(told)
    }

    /// Reports the conflicts of a resource.
    fn tell(&self, resource: &Merged<'r, 'a>, told: &mut DriverText<'a>) {
        let member = &resource.merged.member;
        resource.merged.conflicts(&mut |conflict| {
            let ruling = OnConflict::Fail.into();
            let mut event = Event::of_conflict(&conflict, String::new(), ruling, self.rules.budget);
            if name_of(member).is_none() {
                event.resource_ref = None;
                event.file = Some(File { path: called(member), index: None }.into());
            }
            told.conflicts.push(event);
        });
    }

    /// Drafts the edits for the resource with this number, for each side that may win.
    fn draft(
        &self,
        number: usize,
        here: Sides<Option<Here<'a>>>,
        draft: &mut FileDraft<'a>,
        told: &mut DriverText<'a>,
    ) -> Option<()> {
        let Merged { merged, decided, .. } = &self.resources[number];
        let member = &merged.member;
        if decided.iter().any(|decided| decided.path.is_empty()) {
            told.waived.extend(here.iter().filter_map(|(_, here)| here.as_ref()).flat_map(Here::all));
        }
        if let Becomes::Merged(walked, _) = &merged.becomes {
            let cursor = self.rules.cursor(member.sides.updated?);
            let spot = VersionsAt::of_resource(here, cursor, self.rules.policy.renames);
            let decided = decided.iter().filter(|decided| decided.what == DecidedPart::Value);
            let halves = Halves::of(walked.tree.as_ref()?, &spot, decided.map(|decided| &*decided.path).collect());
            return self.draft_halves(member, halves, draft, told);
        }
        let asked = if decided.is_empty() { asked_for_comments(merged, here) } else { None };
        if asked.is_some() {
            let asked = AskedComment { path: String::new(), lines: None, why: WhyAsked::Apart };
            draft.asked.push((called(member), asked));
        }
        let item = member.sides.dest.and_then(|dest| dest.origin.item());
        let whole = |side: Side| self.document(here[side]?, &Tree::Node(here[side]?.value));
        let mut added: Sides<Option<String>> = Sides::default();
        for side in Side::ALL {
            match asked.as_ref().unwrap_or(merged).settle(&mut |_| Treatment::Open(side.into())) {
                Settled::Kept | Settled::Absent | Settled::Merged(_) => {}
                // What is new has no conflict, so it is the same for each side.
                Settled::Added(tree) => {
                    let text = self.document(here.updated?, &tree)?;
                    added = Sides::of(|_| Some(text.clone()));
                    break;
                }
                Settled::BroughtBack(_) => added[side] = whole(side),
                Settled::Deleted => draft.fates[side][item?] = Item::Goes,
                Settled::Restored(_) => {
                    let (ours, was) = (here.dest?, whole(Side::Original)?);
                    let mark = if self.documents.dest.source()[ours.lines()].starts_with("---") { "---\n" } else { "" };
                    let text = self.printed(&format!("{mark}{was}"));
                    draft.fates[side][item?] = Item::Edited(Edit { range: ours.lines(), text }.into());
                }
            }
        }
        if added.iter().any(|(_, text)| text.is_some()) {
            draft.added.push((number, added));
        }
        Some(())
    }

    /// Drafts the edits for a merged resource that ours has.
    fn draft_halves(
        &self,
        member: &Member<'r, 'a>,
        halves: Halves<'a, '_>,
        draft: &mut FileDraft<'a>,
        told: &mut DriverText<'a>,
    ) -> Option<()> {
        let ours = member.sides.dest?;
        let item = ours.origin.item()?;
        let secret = Resource::secret(member.sides);
        draft.asked.extend(halves.asked.into_iter().map(|asked| (called(member), asked.without(secret))));
        draft.places.extend(halves.places);
        draft.free.extend(halves.free);
        told.waived.extend(halves.waived);
        let (mut feet, mut trees) = (halves.feet, halves.trees);
        for side in Side::ALL {
            draft.feet[side].append(&mut feet[side]);
            draft.fates[side][item] = self.item(ours.node(), member.sides.updated, trees[side].take())?;
        }
        Some(())
    }

    /// What can be written. If it cannot, [`Merge::fault`] may say why.
    fn possible<T>(&self, written: Result<T, Unwritable>) -> Option<T> {
        written.map_err(|why| self.unwritable.set(why)).ok()
    }

    /// The fault of the program because of which [`Merge::told`] had no text.
    pub fn fault(&self) -> Option<&WriteFault> {
        match self.unwritable.get()? {
            Unwritable::Fault(fault) => Some(fault),
            _ => None,
        }
    }

    /// The edits that turn a resource of ours into this tree, or its deletion.
    fn item(&self, ours: NodeRef<'a>, theirs: Option<&Resource<'a>>, tree: Option<Tree<'a>>) -> Option<Item> {
        let Some(tree) = tree.filter(|tree| tree.like().is_some_and(|like| like.is(ours))) else {
            return Some(Item::Goes);
        };
        let mut edits = self.possible(splice::edits(ours, &tree, self.rules.budget))?.into_vec();
        if edits.is_empty() {
            return Some(Item::Stays);
        }
        // The comments around all resources are a part of their own, on both sides.
        let top = below_header(self.documents.dest.source());
        let first = self.documents.updated.roots().next();
        let is_at_top = theirs.is_some_and(|theirs| first.is_some_and(|first| first.is(theirs.node())));
        let gap_of = |node: NodeRef<'a>| gap_above(&Place::of_first(node)?, node.document());
        // Indented comments are above the first field, and not around all resources.
        let header = below_header(self.documents.updated.source());
        let is_own = first.and_then(gap_of).is_some_and(|gap| gap.start >= header && !gap.is_empty());
        let gap = Some(ours).filter(|_| is_at_top && !is_own && !self.has_no_top()).and_then(gap_of);
        let is_within =
            |edit: &Edit| gap.as_ref().is_some_and(|gap| gap.start <= edit.range.start && edit.range.end <= gap.end);
        // A new first child is inserted at the end of the gap. It stays, without the comments above all resources.
        edits.retain(|edit| edit.range.start >= top && !(is_within(edit) && holds_no_value(&edit.text)));
        let above = self.printed(&self.documents.updated.source()[..header]);
        for edit in edits.iter_mut().filter(|edit| is_within(edit)) {
            if let Some(own) = edit.text.strip_prefix(&*above) {
                edit.text = own.to_owned();
            }
        }
        Some(Item::Edited(self.possible(TextEdits::of(edits).map_err(Unwritable::from))?))
    }

    /// Whether ours begins with a `---`, with no comments of the file there: then theirs' comments come with their resource.
    fn has_no_top(&self) -> bool {
        let source = self.documents.dest.source();
        below_header(source) == 0 && source.starts_with("---")
    }

    /// Builds the text in parts, and adds the messages about comments.
    fn text(&self, name: &str, mut draft: FileDraft<'a>, told: &mut DriverText<'a>) -> Option<()> {
        let ours = self.documents.dest;
        let (source, margins) = (ours.source(), Margins::of(ours.source()));
        let body = margins.body();
        let roots: Vec<NodeRef<'_>> = ours.roots().filter(|root| !root.is_null()).collect();
        let mut inserted = self.inserted(&roots, &mut draft);
        let above = if self.has_no_top() { Vec::new() } else { self.margin(|text, margins| &text[..margins.top]) };
        let below = self.margin(|text, margins| &text[margins.bottom..]);
        let is_followed = !draft.added.is_empty() || below.iter().any(Part::is_written);
        let mut edits: Sides<Vec<Edit>> = Sides::default();
        for side in Side::ALL {
            let own = left(ours, &draft.fates[side]).map_err(Unwritable::from);
            let mut own = self.possible(own)?.into_vec();
            for edit in own.iter_mut().filter(|edit| !edit.range.is_empty()) {
                edit.range = edit.range.start.max(body.start)..edit.range.end.min(body.end).max(body.start);
            }
            let free = draft.free.iter().filter(|free| side == Side::Updated || !free.is_disputed);
            let free = free.map(|free| free.edit(source, ours.line_break()));
            let is_open = is_followed && !ends_line(source);
            let is_there = |edit: &Edit| !own.iter().any(|other| other.range.contains(&edit.range.start));
            let end = splice::closed_end(ours).filter(|end| is_open && is_there(end));
            let more = free.chain(std::mem::take(&mut draft.feet[side])).chain(std::mem::take(&mut inserted[side]));
            let more: Vec<Edit> = more.chain(end).collect();
            edits[side] = with_more(own, more)?;
        }
        for (parts, margin) in [(&above, Margin::Above), (&below, Margin::Below)] {
            if parts.iter().any(|part| matches!(part, Part::Choice(_))) {
                told.asked.push((name.to_owned(), Clash::open(Dispute::Margin(margin))));
            }
        }
        let mut out = above;
        let parted = self.possible(parts(source, body, &edits, &draft.places).map_err(Unwritable::from))?;
        let asked =
            draft.asked.iter().filter(|(_, asked)| asked.lines.as_ref().is_none_or(|lines| parted.is_open(lines)));
        told.asked.extend(asked.map(|(resource, asked)| (resource.clone(), asked.clash())));
        out.extend(parted.parts);
        out.extend(below);
        let is_left = |fates: &Vec<Item>| fates.iter().any(|fate| *fate != Item::Goes);
        let mut is_first = !draft.fates.iter().any(|(_, fates)| is_left(fates));
        for (_, documents) in draft.added {
            let mark = if is_first { "" } else { "---\n" };
            let marked = |text: String| if text.starts_with("---") { text } else { format!("{mark}{text}") };
            let texts = documents.map(|text| text.map(|text| self.printed(&marked(text))).unwrap_or_default());
            out.push(Part::of(Choice { texts, grain: Grain::Whole }));
            is_first = false;
        }
        end_lines(&mut out, ours.line_break());
        told.parts = out;
        Some(())
    }

    /// Inserts resources before or between those of ours, as edits of ours. Each comes after the nearest resource before it that stays for
    /// both sides, or at the top. The others come after all of ours.
    fn inserted(&self, roots: &[NodeRef<'_>], draft: &mut FileDraft<'a>) -> Sides<Vec<Edit>> {
        let mut edits: Sides<Vec<Edit>> = Sides::default();
        let top = Margins::of(self.documents.dest.source()).top;
        let fates = &draft.fates;
        let is_left = |item: usize| Side::ALL.iter().all(|side| fates[*side][item] != Item::Goes);
        let last = (0..roots.len()).rev().find(|item| is_left(*item));
        let before = self.before(is_left);
        let gap = |number: usize| match before.get(&number)?.item {
            Some(item) if Some(item) == last => None,
            Some(item) => Some(Gap::behind(roots[item])),
            None => roots.first().filter(|_| is_left(0)).map(|first| Gap::before(*first, top)),
        };
        let (mut within, mut rest) = (Vec::new(), Vec::new());
        for (number, texts) in std::mem::take(&mut draft.added) {
            match gap(number) {
                Some(gap) => within.push((number, gap, texts)),
                None => rest.push((number, texts)),
            }
        }
        // Resources in one gap keep their order.
        within.sort_by_key(|(number, ..)| before.get(number).map(|before| before.turn));
        for (_, gap, texts) in within {
            for side in Side::ALL {
                let Some(text) = &texts[side] else { continue };
                edits[side].push(Edit { range: gap.at..gap.at, text: self.printed(&gap.marked(text)) });
            }
        }
        draft.added = rest;
        edits
    }

    /// The position of each resource that ours lacks, by its number. A new resource without an order comes after all others. A resource
    /// that ours deleted comes where theirs has it.
    fn before(&self, is_left: impl Fn(usize) -> bool) -> HashMap<usize, InsertedBefore> {
        let start = |number: usize| Some(self.resources[number].merged.member.sides.updated?.node().start());
        let mut theirs: Vec<usize> = (0..self.resources.len()).filter(|number| start(*number).is_some()).collect();
        theirs.sort_by_key(|number| start(*number));
        let is_new = |number: usize| self.resources[number].merged.member.is_new();
        let mut found = HashMap::new();
        for (order, is_of_new) in [(&theirs[..], false), (self.order.as_deref().unwrap_or_default(), true)] {
            let mut item = None;
            for (turn, number) in order.iter().enumerate() {
                match self.resources[*number].merged.member.sides.dest {
                    Some(dest) => item = dest.origin.item().filter(|item| is_left(*item)).or(item),
                    None if is_new(*number) == is_of_new => _ = found.insert(*number, InsertedBefore { item, turn }),
                    None => {}
                }
            }
        }
        found
    }

    /// A resource of another side as the text of a document, without its `---`. If the resource is unchanged, its own text is used.
    fn document(&self, here: Here<'a>, tree: &Tree<'a>) -> Option<String> {
        let lines = &here.value.document().source()[here.lines()];
        let text = lines.strip_prefix("---").and_then(|rest| rest.strip_prefix("\r\n").or(rest.strip_prefix('\n')));
        let text = text.unwrap_or(lines);
        let own = Some(text).filter(|text| tree.is(here.value) && !text.starts_with(['%', '\u{feff}']));
        let own = own.map(|text| ended(text.to_owned())).filter(|text| text.ends_with('\n'));
        own.or_else(|| self.possible(splice::standalone(tree, self.rules.budget)))
    }

    /// New text with the line breaks of ours.
    fn printed(&self, text: &str) -> String {
        text.replace("\r\n", "\n").replace('\n', self.documents.dest.line_break())
    }

    /// The lines above or below all resources, merged line by line.
    fn margin(&self, of: impl Fn(&str, Margins) -> &str) -> Vec<Part> {
        let texts = self.documents.map(|document| of(document.source(), Margins::of(document.source())));
        by_line(&Choice { texts: texts.map(|own| self.printed(own)), grain: Grain::Lines })
    }
}

impl<'r, 'a> Merged<'r, 'a> {
    /// A resource and its merge. Decides the conflicts for which the user has a rule or a setting.
    fn of(merged: MergedResource<'r, 'a>, rules: Rules<'a>, decisions: &mut Decisions<'r>) -> Self {
        let (mut decided, mut is_stopped) = (Vec::new(), false);
        let merged = merged.decide(&mut |conflict| {
            // The comments are merged line by line: see `git/comments.rs`.
            if matches!(conflict, Conflict::Place { conflict, .. } if matches!(conflict.taking, Taking::Comments(_))) {
                return Some(Pick::Dest);
            }
            let clash = ConflictView::of(&conflict, rules).ok()?;
            let ruling = decisions.of(&clash);
            let policy = ruling.treatment.policy();
            if policy == OnConflict::Fail {
                is_stopped |= ruling.rule.is_some();
                return None;
            }
            let is_order =
                matches!(conflict, Conflict::Place { conflict, .. } if matches!(conflict.taking, Taking::Order(_)));
            let what = if is_order { DecidedPart::Order } else { DecidedPart::Value };
            decided.push(Decided { path: clash.path.keyed(), what, ruling });
            Some(ruling.treatment.pick())
        });
        Self { merged, decided, is_stopped }
    }
}

/// A resource that one side deleted and of which the other one changed only comments, as a conflict: a person must choose, as for lines in git.
fn asked_for_comments<'r, 'a>(
    merged: &MergedResource<'r, 'a>,
    here: Sides<Option<Here<'a>>>,
) -> Option<MergedResource<'r, 'a>> {
    let is_changed =
        |side: Side| here[side].zip(here.original).is_some_and(|(own, was)| !fresh(own.all(), was.all()).is_empty());
    let places = || vec![String::new()];
    let becomes = match &merged.becomes {
        Becomes::Deleted(changed) if changed.is_empty() && is_changed(Side::Dest) => Becomes::Deleted(places()),
        Becomes::StaysDeleted(changed) if changed.is_empty() && is_changed(Side::Updated) => {
            Becomes::StaysDeleted(places())
        }
        _ => return None,
    };
    Some(MergedResource::of(merged.member, becomes))
}

impl Decided<'_> {
    /// The message about the decision.
    fn told(&self) -> String {
        let place = if self.path.is_empty() { "the resource".to_owned() } else { format!("`{}`", self.path) };
        let took = match self.ruling.treatment {
            Treatment::Both => "kept both additions, ours first",
            treatment if treatment.policy() == OnConflict::TakeUpdated => "took theirs",
            _ => "took ours",
        };
        let field = self.ruling.rule.map_or("`spec.onConflict`".to_owned(), |rule| rule.name.to_string());
        let because = self.ruling.rule.map_or("", Decision::because);
        format!("both sides changed {place}; {took}{because}, as {field} of .krm-merge.yaml says")
    }
}

impl AskedComment<'_> {
    /// The comment, as messages show it if this is secret in its resource.
    fn without(self, secret: Secret) -> Self {
        let why = match self.why {
            WhyAsked::Contradiction(texts) if secret.hides(&self.path) => WhyAsked::Secret(texts),
            why => why,
        };
        Self { why, ..self }
    }

    /// The conflict of the comment.
    fn clash(&self) -> Clash {
        match self.why {
            WhyAsked::Contradiction(texts) => Clash::of_comment(&self.path, texts, Privacy::Public),
            WhyAsked::Secret(texts) => Clash::of_comment(&self.path, texts, Privacy::Secret),
            WhyAsked::Apart => Clash::open(Dispute::CommentOrOwner { at: self.path.clone() }),
        }
    }
}

/// The name of a resource for messages; that of its file if it has none.
fn called(member: &Member<'_, '_>) -> String {
    let file = || member.sides.dest.map(|own| own.origin.text()).unwrap_or_default();
    name_of(member).unwrap_or_else(file)
}

fn name_of(member: &Member<'_, '_>) -> Option<String> {
    let own = member.sides.dest.or(member.sides.updated)?;
    own.identity.filter(|identity| !identity.name.is_empty()).map(|identity| identity.called())
}

/// Ends the last line of each part that another one follows. Otherwise the part after it would begin in the middle of a line.
fn end_lines(parts: &mut [Part], line_break: &str) {
    let mut is_followed = false;
    for part in parts.iter_mut().rev() {
        let is_written = part.is_written();
        for text in part.texts_mut().into_iter().filter(|text| is_followed && !text.is_empty() && !ends_line(text)) {
            text.push_str(line_break);
        }
        is_followed |= is_written;
    }
}

/// Merges two lists of edits, sorted; `None` if edits overlap.
fn with_more(edits: Vec<Edit>, more: Vec<Edit>) -> Option<Vec<Edit>> {
    let mut all = edits;
    all.extend(more);
    all.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let mut end = 0;
    let is_apart = all.iter().all(|edit| {
        let is_apart = edit.range.start >= end;
        end = end.max(edit.range.end);
        is_apart
    });
    is_apart.then_some(all)
}
