//! `resolve`: finds conflict markers of any tool in files, asks for the text to put in their place, and writes it.
//!
//! Where git merged by line, the files are first merged by field, so that only what both sides changed is asked. The answers come from flags,
//! from a file, or from a person at a terminal. Nothing is written until all answers are known. Then either all files are written or none.

mod about;
mod answers;
mod book;
mod by_field;
mod changes;
mod editor;
mod find;
mod record;
mod session;
mod terminal;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use krm_files::command::{argument, command};
use krm_files::disk::{self, Replacement};
use krm_files::errors::chain;
use krm_files::regular;
use krm_files::signals::Signals;
use krm_files::terminal::is_someone_there;
use krm_files::walk::{file_there, shown};
use krm_folders::end::End;
use krm_git::before;
use krm_git::program::{In, git, run};
use krm_git::tracked;
use krm_git::unmerged;
use krm_job::marked::{Answer, Marked, MarkerFault, Wrong, has_markers};
use krm_job::recorded::{Rule, Take};
use krm_merge_core::refine::names_document;
use krm_show::args::Color;
use krm_show::screen::{self, Page, Reader};
use krm_words::{Word, counted};
use krm_yaml::{Document, NodeRef};

use crate::args::{Resolve, TakeSide};
use about::about;
use answers::AnsweredPlace;
use book::Book;
pub use book::with_newest;
use by_field::{ByField, by_field};
use changes::changes;
use find::{File, NamedFiles, Twin, Unmarked, Unshown, WhySearched, book_of, files, staged, twins};
use record::record;
use session::{Case, Start};
use terminal::Walked;

/// A file with conflicts.
struct MarkedFile {
    file: File,
    on_disk: Vec<u8>,
    /// Its text after a merge by field, if that leaves less to decide.
    merged: Option<Vec<u8>>,
}

impl MarkedFile {
    /// The text whose conflicts are decided.
    fn text(&self) -> &[u8] {
        self.merged.as_ref().unwrap_or(&self.on_disk)
    }

    fn name(&self) -> String {
        shown(&self.file.name)
    }
}

/// A conflict: the number of its file, and its number in this file.
#[derive(Clone, Copy)]
struct ConflictNumber {
    file: usize,
    conflict: usize,
}

/// Why nobody knows what the sides of a file started from.
const NO_ORIGINAL: &str = "neither git's index nor the markers have the original, and git would not make this file of the commits that the labels name";

/// Resolves the conflicts of files: gets the answers, and writes the files.
///
/// # Errors
/// A file cannot be read or written; an answer is invalid; or answers are missing and nobody can be asked.
pub fn resolve(args: &Resolve) -> Result<End> {
    let folders = args.files.iter().filter_map(|file| if file.is_dir() { Some(file.as_path()) } else { file.parent() });
    let folders: BTreeSet<PathBuf> = folders.chain([Path::new("")]).map(|folder| Path::new(".").join(folder)).collect();
    // What someone decided in an editor is no conflict any more.
    folders.iter().for_each(|folder| tell_git(folder));
    let end = resolved(args)?;
    folders.iter().for_each(|folder| tell_git(folder));
    Ok(end)
}

fn resolved(args: &Resolve) -> Result<End> {
    let (record, named) = book_of(args.record.as_ref(), &args.files)?;
    let found = whole_files(&named)?;
    let book = record.as_deref().map(Book::open).transpose()?;
    let mut held = held(&found)?;
    let twins = twins(&named, &found)?;
    let merges_by_field = match args.take {
        // The answers are for the conflicts between the markers that are there.
        _ if args.answers.is_some() => false,
        Some(TakeSide::Merged) => true,
        Some(TakeSide::Ours | TakeSide::Theirs) => false,
        None => is_someone_there(),
    };
    for held in held.iter_mut().filter(|_| merges_by_field) {
        let why = match by_field(&held.file, &Marked::read(&held.on_disk)) {
            Ok(ByField::Merged(text)) => {
                held.merged = Some(text);
                continue;
            }
            Ok(ByField::Nothing) => continue,
            Ok(ByField::NoOriginal) => NO_ORIGINAL.to_owned(),
            Err(e) => chain(&e),
        };
        screen::tell(Word::Warning, &format!("{}: not merged by field, because {why}", held.name()));
    }
    loop {
        let open = OpenFiles { found: &found, held: &held, twins: &twins };
        if let Some(end) = decided(args, open, book.as_ref())? {
            return Ok(end);
        }
        held.iter_mut().for_each(|held| held.merged = None);
    }
}

/// What is to be decided.
#[derive(Clone, Copy)]
struct OpenFiles<'f> {
    found: &'f NamedFiles,
    held: &'f [MarkedFile],
    twins: &'f [Twin],
}

/// Gets the answers, and writes the files; `None` if the user takes back the merge by field.
fn decided(args: &Resolve, open: OpenFiles<'_>, book: Option<&Book>) -> Result<Option<End>> {
    let OpenFiles { found, held, twins } = open;
    let marked: Vec<Marked<'_>> = held.iter().map(|held| Marked::read(held.text())).collect();
    for (held, marked) in held.iter().zip(&marked) {
        marked.faults.iter().for_each(|fault| screen::tell(Word::Error, &told(held, *fault)));
    }
    let spots: Vec<ConflictNumber> = (0..held.len())
        .flat_map(|file| (0..marked[file].conflicts.len()).map(move |conflict| ConflictNumber { file, conflict }))
        .collect();
    found.unmarked.iter().for_each(|unmarked| screen::tell(Word::Error, &told_of(unmarked)));
    let whole = args.take.and_then(TakeSide::answer);
    let taken = whole.iter().flat_map(|answer| twins.iter().map(|twin| TakenTwin { twin, answer: answer.clone() }));
    let taken: Vec<TakenTwin<'_>> = taken.collect();
    let open_twins = if taken.is_empty() { twins } else { &[] };
    open_twins.iter().for_each(|twin| screen::tell(Word::Error, &told_of_twin(twin)));
    // A pipe may have no end, so signals end the program while it is read.
    let given = args.answers.as_deref().map(read_answers).transpose()?;
    let is_any_left =
        !found.unmarked.is_empty() || !open_twins.is_empty() || marked.iter().any(|marked| !marked.faults.is_empty());
    // Another run may have resolved them. Or git kept ours, as it does without a driver. Only the user knows.
    let unsure = if args.git_add { &found.bare[..] } else { &[] };
    unsure.iter().for_each(|name| screen::tell(Word::Error, &told_of_bare(name)));
    let is_any_left = is_any_left || !unsure.is_empty();
    if spots.is_empty() && taken.is_empty() && held.iter().all(|held| held.merged.is_none()) {
        let mut page = Page::new(Reader::of_stdout(Color::Auto));
        if !is_any_left {
            page.line("no conflict to resolve");
        }
        page.print()?;
        return Ok(Some(if is_any_left { End::Differs } else { End::Done }));
    }
    let run = OpenConflicts { held, marked: &marked, spots: &spots, twins: &taken };
    let signals = Signals::hold()?;
    let Walked::Answered(answers) = signals.asking(|| run.answers(args.take, given.as_ref(), &signals))? else {
        return Ok(None);
    };
    let broken = run.broken(&answers);
    if let (Some(broken), Some(_)) = (broken.first(), &args.answers) {
        bail!("{broken}; nothing was written");
    }
    let recorded = book.map(|book| run.recorded(book, &answers)).transpose()?;
    run.write(&answers, recorded, &signals)?;
    if args.take == Some(TakeSide::Merged) && !spots.is_empty() {
        list(&run).print()?;
    }
    if args.git_add {
        let added: Vec<Result<Staged>> = held.iter().map(|held| git_add(&held.file)).collect();
        for (held, added) in held.iter().zip(added) {
            if added? == Staged::Untracked {
                let (name, add) = (held.name(), of_git(&["add"], &held.file.name));
                screen::tell(
                    Word::Warning,
                    &format!("{name}: not staged, because git does not track it. To track it, run `{add}`"),
                );
            }
        }
    }
    let more: Vec<String> = broken.into_iter().chain(run.nested(&answers)).collect();
    more.iter().for_each(|told| screen::tell(Word::Error, told));
    let is_all = answers.iter().all(Option::is_some) && !is_any_left && more.is_empty();
    Ok(Some(if is_all { End::Done } else { End::Differs }))
}

/// The files to search, after what a killed run left of them is finished.
fn whole_files(named: &[PathBuf]) -> Result<NamedFiles> {
    let found = files(named)?;
    let folders: BTreeSet<&Path> = found.files.iter().filter_map(|file| file.disk.parent()).collect();
    let repaired = folders
        .into_iter()
        .map(|folder| disk::repair_beside(folder, tracked::refuse))
        .collect::<Result<Vec<_>>>()?
        .concat();
    screen::tell_repaired(&repaired);
    // They may be others now.
    if repaired.is_empty() { Ok(found) } else { files(named) }
}

/// The name and the text of the file with answers.
fn read_answers(file: &Path) -> Result<(String, String)> {
    file_there("--answers", file)?;
    let text = regular::read(file).and_then(|bytes| Ok(String::from_utf8(bytes)?)).with_context(|| shown(file))?;
    Ok((shown(file), text))
}

/// The files that have markers.
fn held(found: &NamedFiles) -> Result<Vec<MarkedFile>> {
    let mut held = Vec::new();
    for file in &found.files {
        let text = match fs::read(&file.disk) {
            Ok(text) => text,
            // The user did not name this file, and it may have no conflict.
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied && found.why == WhySearched::There => continue,
            Err(e) => return Err(e).with_context(|| shown(&file.name)),
        };
        let marked = Marked::read(&text);
        // In a file that nobody named, a single line of `<` may be something else than a marker.
        let is_meant = |fault: &MarkerFault| found.why == WhySearched::Named || fault.what == Wrong::Ambiguous;
        if !marked.conflicts.is_empty() || marked.faults.iter().any(is_meant) {
            held.push(MarkedFile { file: file.clone(), on_disk: text, merged: None });
        }
    }
    Ok(held)
}

fn told(held: &MarkedFile, fault: MarkerFault) -> String {
    let what = match fault.what {
        Wrong::Open => "this conflict marker has no end marker, with `>` and of the same length",
        Wrong::Ambiguous => "several lines between the markers may be the line that separates the sides",
    };
    format!("{}:{}: {what}. Resolve it in an editor", held.name(), fault.line)
}

/// The message about a conflict that markers cannot show.
fn told_of(unmarked: &Unmarked) -> String {
    let what = match unmarked.what {
        Unshown::Ours => "only ours has the file. Run `git add` to keep it, or `git rm` to delete it",
        Unshown::Theirs => "only theirs has the file. Run `git add` to keep it, or `git rm` to delete it",
        Unshown::Neither => "neither side has the file. Run `git rm` to delete it",
        Unshown::NoLines => {
            "git does not merge it by line, so it has no conflict markers. Run `git checkout --ours` or `git checkout --theirs`, and `git add`"
        }
    };
    format!("{}: {what}", shown(&unmarked.name))
}

/// The message about an unmerged file without markers.
fn told_of_bare(name: &Path) -> String {
    let run = |args: &[&str]| of_git(args, name);
    let what = match name.symlink_metadata().is_ok() {
        true => format!("it has no conflict markers. If it is resolved, run `{}`", run(&["add"])),
        false => {
            let [delete, restore] = [run(&["rm"]), run(&["checkout", "--merge"])];
            format!("it is deleted. Run `{delete}` to delete it, or `{restore}` to get it back")
        }
    };
    format!("{}: git has this file as unmerged, but {what}", shown(name))
}

/// A command of git for a file, which may be in another repository than the current folder.
fn of_git(args: &[&str], name: &Path) -> String {
    let path = argument(name);
    let elsewhere = name.parent().zip(name.file_name()).filter(|_| name.is_absolute() || name.starts_with(".."));
    match elsewhere {
        Some((folder, file)) => {
            command(&[&["git", "-C", &folder.to_string_lossy()], args, &[&argument(Path::new(file))]].concat())
        }
        None => command(&[&["git"], args, &[&path]].concat()),
    }
}

/// The message about a file that is no text, and that both sides changed.
fn told_of_twin(twin: &Twin) -> String {
    let (own, other) = (shown(&twin.own.name), shown(&twin.other.name));
    format!(
        "{own}: it is not text, so it has no conflict markers, and theirs is {other}. Pass `--take theirs` or `--take ours`"
    )
}

/// The decisions that a run records.
struct Recording {
    /// The change of the decisions file.
    replacement: Option<Replacement<'static>>,
    /// The message with the number of recorded decisions.
    line: String,
    /// The messages about answers that are not recorded.
    told: Vec<String>,
}

/// The conflicts of a run.
struct OpenConflicts<'r> {
    held: &'r [MarkedFile],
    marked: &'r [Marked<'r>],
    spots: &'r [ConflictNumber],
    twins: &'r [TakenTwin<'r>],
}

/// A file that is no text, and which side's version it becomes.
struct TakenTwin<'r> {
    twin: &'r Twin,
    answer: Answer,
}

impl TakenTwin<'_> {
    /// The changes on disk: the other side's version goes, and takes the place of the file if it is the answer.
    fn replacements(&self) -> Result<Vec<Replacement<'static>>> {
        let Twin { own, other } = self.twin;
        let read = |file: &File| fs::read(&file.disk).with_context(|| shown(&file.name));
        let new = read(other)?;
        let gone = Replacement { file: other.disk.clone(), old: Some(new.clone().into()), new: None, executable: None };
        let taken = |old: Vec<u8>| Replacement {
            file: own.disk.clone(),
            old: Some(old.into()),
            new: Some(new.into()),
            executable: None,
        };
        let taken = if self.answer == Answer::Theirs { Some(taken(read(own)?)) } else { None };
        Ok(taken.into_iter().chain([gone]).collect())
    }
}

impl OpenConflicts<'_> {
    /// The answer to each conflict. `given` is the file with answers, by its name and its text.
    fn answers(&self, take: Option<TakeSide>, given: Option<&(String, String)>, signals: &Signals) -> Result<Walked> {
        if given.is_none() && take.is_none() && !self.spots.is_empty() {
            return self.asked(signals);
        }
        let mut answers = vec![None; self.spots.len()];
        if let Some((name, text)) = given {
            answers = answers::read(name, text, &self.places(), |number| self.newest(self.spots[number]))?;
        }
        let take = take.and_then(TakeSide::answer);
        Ok(Walked::Answered(answers.into_iter().map(|answer| answer.or(take.clone())).collect()))
    }

    /// The answer with the newer version, if the sides of a conflict differ in nothing but a version.
    fn newest(&self, spot: ConflictNumber) -> Option<Answer> {
        let marked = &self.marked[spot.file];
        marked.newest(&marked.conflicts[spot.conflict])
    }

    /// The answers of a person at the terminal.
    fn asked(&self, signals: &Signals) -> Result<Walked> {
        if !is_someone_there() {
            list(self).print()?;
            bail!(
                "cannot ask about conflicts, because stdin and stdout are not a terminal. Pass `--take ours`, `--take theirs` or `--answers FILE`. The conflicts are listed on stdout"
            );
        }
        let cases: Vec<Case> =
            self.spots.iter().zip(self.abouts()).map(|(spot, about)| self.case(*spot, about)).collect();
        let edit = |number: usize| {
            let spot = self.spots[number];
            let marked = &self.marked[spot.file];
            let conflict = &marked.conflicts[spot.conflict];
            editor::edit(&self.held[spot.file].file.disk, marked.bytes(&conflict.range), signals)
        };
        let is_merged = self.held.iter().any(|held| held.merged.is_some());
        let start = if is_merged { Start::Merged } else { Start::AsMarked };
        terminal::ask(&cases, start, signals, edit, |answers| self.broken(answers).into_iter().next())
    }

    /// The files, each with its own part of the answers to all conflicts.
    fn answered<'s>(
        &'s self,
        mut answers: &'s [Option<Answer>],
    ) -> impl Iterator<Item = (&'s MarkedFile, &'s Marked<'s>, &'s [Option<Answer>])> {
        self.held.iter().zip(self.marked).map(move |(held, marked)| {
            let (own, rest) = answers.split_at(marked.conflicts.len());
            answers = rest;
            (held, marked, own)
        })
    }

    /// A message for each file that is YAML or JSON with either side, but not with these answers, whatever the open conflicts get.
    fn broken(&self, answers: &[Option<Answer>]) -> Vec<String> {
        let mut broken = Vec::new();
        for (held, marked, own) in self.answered(answers) {
            let is_of = |side: Answer| own.iter().flatten().all(|answer| *answer == side);
            let is_mixed = !is_of(Answer::Ours) && !is_of(Answer::Theirs);
            if !names_document(&held.file.name.to_string_lossy()) || !is_mixed {
                continue;
            }
            let text = |answer: &dyn Fn(usize) -> Answer| {
                let all: Vec<Answer> = (0..own.len()).map(answer).collect();
                marked.answered(|number| all.get(number))
            };
            let sides = [Answer::Ours, Answer::Theirs];
            let halves = sides.each_ref().map(|side| text(&|_| side.clone()));
            if !halves.iter().all(|half| fault(half).is_none()) {
                continue;
            }
            let form = if halves.iter().all(|half| is_json(half)) { "JSON" } else { "YAML" };
            let found = sides.map(|side| {
                let text = text(&|number| own[number].clone().unwrap_or_else(|| side.clone()));
                fault(&text).or_else(|| json_fault(&text).filter(|_| form == "JSON"))
            });
            let name = shown(&held.file.name);
            if let [Some(first), Some(_)] = found {
                broken.push(format!("{name}:{first}: the answers must make {form}, as each side alone does"));
            }
        }
        broken
    }

    /// A message for each file whose answers bring a conflict of their own: git nests markers if it merged a side before.
    fn nested(&self, answers: &[Option<Answer>]) -> Vec<String> {
        let mut nested = Vec::new();
        for (held, marked, own) in self.answered(answers) {
            let text = marked.answered(|number| own[number].as_ref());
            let left = Marked::read(&text).conflicts;
            if left.len() > own.iter().filter(|answer| answer.is_none()).count() {
                let (name, line) = (shown(&held.file.name), left[0].lines.0);
                nested.push(format!(
                    "{name}:{line}: the side that was taken has a conflict of its own: run `resolve` again"
                ));
            }
        }
        nested
    }

    /// What each conflict is about, if that is known.
    fn abouts(&self) -> Vec<Option<String>> {
        self.marked.iter().flat_map(about).collect()
    }

    fn case(&self, spot: ConflictNumber, about: Option<String>) -> Case {
        let marked = &self.marked[spot.file];
        let changes = changes(marked, &marked.conflicts[spot.conflict]);
        Case { place: self.place(spot), about, changes, newest: self.newest(spot) }
    }

    /// The place of a conflict, in the form that editors accept.
    fn place(&self, spot: ConflictNumber) -> String {
        let line = self.marked[spot.file].conflicts[spot.conflict].lines.0;
        format!("{}:{line}", shown(&self.held[spot.file].file.name))
    }

    /// The name of a file in the form in which a user writes it. If it is not UTF-8, it is the name in messages.
    fn name(&self, spot: ConflictNumber) -> String {
        let name = &self.held[spot.file].file.name;
        name.to_str().map_or_else(|| shown(name), str::to_owned)
    }

    fn places(&self) -> Vec<AnsweredPlace> {
        let place = |spot: &ConflictNumber| AnsweredPlace {
            file: self.name(*spot),
            lines: self.marked[spot.file].conflicts[spot.conflict].lines,
        };
        self.spots.iter().map(place).collect()
    }

    /// The rules to record for the answers.
    fn recorded(&self, book: &Book, answers: &[Option<Answer>]) -> Result<Recording> {
        let mut all: Vec<(Rule, Vec<usize>)> = Vec::new();
        let mut told: Vec<(usize, record::WhyNoRule)> = Vec::new();
        let mut first = 0;
        for (held, marked, own) in self.answered(answers) {
            let recorded = record(marked, own, staged(&held.file));
            let in_all = |number: usize| first + number;
            all.extend(recorded.rules.into_iter().map(|(rule, of)| (rule, of.into_iter().map(in_all).collect())));
            told.extend(recorded.told.into_iter().map(|(number, why)| (in_all(number), why)));
            first += own.len();
        }
        // A rule does not name a file, so it cannot tell resources of one name apart.
        let mut takes: HashMap<_, BTreeSet<Take>> = HashMap::new();
        for (rule, _) in &all {
            takes.entry(&rule.case).or_default().insert(rule.take);
        }
        let (mut rules, mut known) = (Vec::with_capacity(all.len()), HashSet::new());
        for (rule, of) in &all {
            match takes.get(&rule.case) {
                Some(takes) if takes.len() > 1 => {
                    told.extend(of.iter().map(|number| (*number, record::WhyNoRule::OfSeveral)))
                }
                _ if known.insert(&rule.case) => rules.push(rule.clone()),
                _ => {}
            }
        }
        told.sort_by_key(|(number, _)| *number);
        let told = told.into_iter().map(|(number, why)| self.not_recorded(self.spots[number], why)).collect();
        Ok(Recording { replacement: book.with(&rules)?, line: book.told(&rules), told })
    }

    /// The message about an answer that is not recorded, or that is recorded for some values of dest only.
    fn not_recorded(&self, spot: ConflictNumber, why: record::WhyNoRule) -> String {
        let what = match why {
            record::WhyNoRule::NoPlace => "not recorded, because it decides no value of a resource",
            record::WhyNoRule::Secret => "not recorded, because the file would then show values of a Secret",
            record::WhyNoRule::ComesBack => "not recorded, because no rule brings back a resource that dest deleted",
            record::WhyNoRule::Mixed => {
                "not recorded, because the elements of the list have no keys, so no rule can say which of them take ours and which take theirs"
            }
            record::WhyNoRule::OfSeveral => {
                "not recorded, because another file has a resource of the same name, with the same values and another answer"
            }
            record::WhyNoRule::OfNoSide => "not recorded, because the value there is now neither side's",
            record::WhyNoRule::Own => {
                "recorded for this value, which is neither side's: a rule cannot write it, so only a dest that has it is not asked again"
            }
        };
        format!("{}: {what}", self.place(spot))
    }

    /// Writes the files with their answers, and reports for each file how many conflicts are resolved.
    fn write(&self, answers: &[Option<Answer>], recorded: Option<Recording>, signals: &Signals) -> Result<()> {
        let (mut replacements, mut page) = (Vec::new(), Page::new(Reader::of_stdout(Color::Auto)));
        for (held, marked, own) in self.answered(answers) {
            let new = marked.file(|number| own[number].as_ref());
            let answered = own.iter().flatten().count();
            let name = held.name();
            if held.merged.is_some() {
                let before = counted(Marked::read(&held.on_disk).conflicts.len(), "conflict");
                page.line(&format!("merged {name} by field: {before}, {} left", own.len()));
            }
            if answered > 0 {
                let did = if new.is_none() { ", which deletes the file" } else { "" };
                page.line(&format!("resolved {name}: {answered} of {}{did}", counted(own.len(), "conflict")));
            }
            if new.as_ref() != Some(&held.on_disk) {
                let (file, old) = (held.file.disk.clone(), Some(held.on_disk.as_slice().into()));
                replacements.push(Replacement { file, old, new: new.map(Into::into), executable: None });
            }
        }
        for taken in self.twins {
            let side = if taken.answer == Answer::Theirs { "theirs" } else { "ours" };
            page.line(&format!("resolved {}: took {side}", shown(&taken.twin.own.name)));
            replacements.extend(taken.replacements()?);
        }
        let told = recorded.map(|Recording { replacement, line, told }| {
            replacements.extend(replacement);
            (line, told)
        });
        if let Err(e) = before::note_more(&replacements) {
            screen::tell(Word::Warning, &format!("{}: {}", before::NO_WAY_BACK, chain(&e)));
        }
        disk::write(&disk::folder_of(&replacements), &replacements, || signals.check())?;
        if let Some((line, told)) = told {
            told.iter().for_each(|told| screen::tell(Word::Warning, told));
            page.line(&line);
        }
        page.print()
    }
}

/// What git knows of a file after `--git-add`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Staged {
    /// The file, or that it still is in conflict.
    Known,
    /// Nothing, because git does not track it.
    Untracked,
}

/// Tells git that a file is resolved, if no conflict is left in it and git tracks it.
///
/// # Errors
/// The file is in no repository, or git cannot write its index.
fn git_add(file: &File) -> Result<Staged> {
    let is_open = |text: Vec<u8>| {
        let marked = Marked::read(&text);
        !marked.conflicts.is_empty() || !marked.faults.is_empty()
    };
    if fs::read(&file.disk).is_ok_and(is_open) {
        return Ok(Staged::Known);
    }
    let (folder, name) = file.disk.parent().zip(file.disk.file_name()).context("it must be a file")?;
    let of_file = |args: &[&str]| {
        let mut git = git(In::Environment);
        git.current_dir(folder).arg("--literal-pathspecs").args(args).arg("--").arg(name);
        run(&mut git, &[]).with_context(|| shown(&file.name))
    };
    if of_file(&["ls-files"])?.is_empty() {
        return Ok(Staged::Untracked);
    }
    of_file(&["add", "--all"]).map(|_| Staged::Known)
}

/// Tells git which of the files that an upgrade left in conflict are so no more, also those that someone decided in an editor.
pub fn tell_git(folder: &Path) {
    let is_open = |file: &Path| fs::read(file).is_ok_and(|text| has_markers(&text));
    if let Err(e) = unmerged::settle(folder, is_open) {
        screen::tell(Word::Warning, &format!("git does not know that conflicts are resolved: {}", chain(&e)));
    }
}

/// The reason why a text is not YAML, with the place; `None` if it is. A map with a duplicate key counts as no YAML.
fn fault(text: &[u8]) -> Option<String> {
    fn twin(node: NodeRef<'_>) -> Option<NodeRef<'_>> {
        let mut below = node.entries().map(|(_, value)| value).chain(node.elements());
        node.duplicate_key().or_else(|| below.find_map(twin))
    }
    let Ok(text) = str::from_utf8(text) else { return Some("1:1: the text must be UTF-8".to_owned()) };
    match Document::parse(text) {
        Ok(document) => {
            let key = document.roots().find_map(twin)?;
            Some(key.error(format!("a map must not have the key {:?} twice", key.string())).to_string())
        }
        Err(e) => Some(e.to_string()),
    }
}

/// The reason why a text is not JSON, with the place; `None` if it is. YAML allows more, such as a comma after the last field.
fn json_fault(text: &[u8]) -> Option<String> {
    let e = serde_json::from_slice::<serde_json::Value>(text).err()?;
    Some(format!("{}:{}: the text must be JSON", e.line(), e.column()))
}

fn is_json(text: &[u8]) -> bool {
    json_fault(text).is_none()
}

/// The list of conflicts: number, place, and resource and field.
fn list(run: &OpenConflicts<'_>) -> Page {
    let mut page = Page::new(Reader::of_stdout(Color::Auto));
    for (i, (spot, about)) in run.spots.iter().zip(run.abouts()).enumerate() {
        let about = about.map(|about| format!(" {about}")).unwrap_or_default();
        page.line(&format!("{} {}{about}", i + 1, run.place(*spot)));
    }
    page
}
