//! The walk through the conflicts: which conflict is shown, what each key does, and the content of the screen.
//!
//! It uses neither a terminal nor files: it gets keys and sizes, and returns rows and answers.

use krm_show::screen::Paint;
use krm_words::counted;
use krm_yaml::shown;

use super::changes::ChangedRow;
use krm_job::marked::Answer;

/// A conflict for display.
#[derive(Debug)]
pub struct Case {
    /// Its place, as `web.yaml:12`.
    pub place: String,
    /// The resource and field, if they are known.
    pub about: Option<String>,
    /// The changes of each side.
    pub changes: Vec<ChangedRow>,
    /// The answer with the newer version, if the sides differ in nothing but a version.
    pub newest: Option<Answer>,
}

/// The action of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyAction {
    /// Takes our side.
    Ours,
    /// Takes their side.
    Theirs,
    /// Takes both sides.
    Both,
    /// Takes the side with the newer version.
    Newest,
    /// Opens an editor for the conflict.
    Edit,
    /// Leaves the conflict as it is.
    Skip,
    /// Takes the last answer back.
    Undo,
    /// Ends the walk, and writes all answers.
    Quit,
    /// Ends the walk, and writes nothing.
    Stop,
    /// Scrolls the conflict.
    Scroll(Scroll),
}

/// A way to scroll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scroll {
    /// A row up.
    Up,
    /// A row down.
    Down,
    /// A screen up.
    PageUp,
    /// A screen down.
    PageDown,
    /// To the first row.
    Top,
    /// To the last row.
    Bottom,
}

/// What the caller must do after a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Read another key.
    Key,
    /// Open an editor for the conflict with this number.
    Editor(usize),
    /// Write the answers.
    Write,
    /// Write nothing.
    Stop,
    /// Begin again with the markers that are in the files.
    Unmerge,
}

/// The size of a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// The number of columns.
    pub columns: usize,
    /// The number of rows.
    pub rows: usize,
}

/// The state of the walk.
#[derive(Debug)]
pub struct Session<'c> {
    cases: &'c [Case],
    answers: Vec<Option<Answer>>,
    /// The number of the conflict that is shown; the number of conflicts at the end of the walk.
    at: usize,
    /// The first visible row of the conflict.
    top: usize,
    /// The steps so far, the latest last: the conflict, and its answer before the step.
    steps: Vec<(usize, Option<Answer>)>,
    size: Size,
    /// Whether the files were merged by field before the walk.
    start: Start,
    /// A message about the last key.
    told: Option<String>,
}

/// What the walk begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// The conflicts between the markers in the files.
    AsMarked,
    /// What a merge by field left of them. It is the first step, so it can be undone.
    Merged,
}

/// The keys, in a row of 80 columns.
const KEYS: &str = "o ours  t theirs  b both  e edit  s skip  u undo  q write  ^C cancel  ↑↓ more";
/// Those for conflicts between versions, which are short.
const KEYS_OF_VERSIONS: &str = "o ours  t theirs  b both  n newest  e edit  s skip  u undo  q write  ^C cancel";
const KEYS_AT_END: &str = "Enter or q writes the files and quits  u undo  ^C cancel, write nothing";

/// The row that says how a conflict was decided.
fn decided((case, answer): (&Case, &Option<Answer>)) -> ChangedRow {
    let (paint, word) = match answer {
        Some(Answer::Ours) => (Paint::Plain, "ours"),
        Some(Answer::Theirs) => (Paint::Plain, "theirs"),
        Some(Answer::Both) => (Paint::Plain, "both"),
        Some(Answer::Newest(_)) => (Paint::Plain, "newest"),
        Some(Answer::Edited(_)) => (Paint::Plain, "edited"),
        None => (Paint::Yellow, "open"),
    };
    let about = case.about.as_deref().map(|about| format!(" {about}")).unwrap_or_default();
    ChangedRow::new(paint, format!("{word:7} {}{about}", case.place))
}

impl<'c> Session<'c> {
    /// Starts at the first conflict.
    pub fn new(cases: &'c [Case], start: Start, size: Size) -> Self {
        let answers = vec![None; cases.len()];
        Self { cases, answers, at: 0, top: 0, steps: Vec::new(), size, start, told: None }
    }

    /// The answer to each conflict so far.
    pub fn given(&self) -> &[Option<Answer>] {
        &self.answers
    }

    /// The answers, at the end of the walk.
    pub fn answers(self) -> Vec<Option<Answer>> {
        self.answers
    }

    /// Carries out the action of a key.
    pub fn press(&mut self, key: KeyAction) -> Next {
        self.told = None;
        let is_at_end = self.at == self.cases.len();
        match key {
            KeyAction::Stop => return Next::Stop,
            KeyAction::Quit => return Next::Write,
            KeyAction::Undo if self.steps.is_empty() && self.start == Start::Merged => return Next::Unmerge,
            KeyAction::Undo => self.undo(),
            KeyAction::Scroll(scroll) => self.scroll(scroll),
            _ if is_at_end => {}
            KeyAction::Ours => self.answer(Some(Answer::Ours)),
            KeyAction::Theirs => self.answer(Some(Answer::Theirs)),
            KeyAction::Both => self.answer(Some(Answer::Both)),
            KeyAction::Newest => match self.cases[self.at].newest.clone() {
                Some(newest) => self.answer(Some(newest)),
                None => self.tell(
                    "for the newest, the sides must differ in nothing but two versions that can be compared".to_owned(),
                ),
            },
            KeyAction::Skip => self.answer(None),
            KeyAction::Edit => return Next::Editor(self.at),
        }
        Next::Key
    }

    /// Takes the text from the editor as the answer to the current conflict.
    pub fn edited(&mut self, text: Vec<u8>) {
        if self.at < self.cases.len() {
            self.answer(Some(Answer::Edited(text)));
        }
    }

    /// Shows a message until the next key.
    pub fn tell(&mut self, told: String) {
        self.told = Some(told);
    }

    /// Adapts the display to a new size.
    pub fn resize(&mut self, size: Size) {
        self.size = size;
        self.top = self.top.min(self.last_top());
    }

    /// Whether the walk is after the last conflict.
    pub fn is_at_end(&self) -> bool {
        self.at == self.cases.len()
    }

    fn answer(&mut self, answer: Option<Answer>) {
        let was = std::mem::replace(&mut self.answers[self.at], answer);
        self.steps.push((self.at, was));
        (self.at, self.top) = (self.at + 1, 0);
    }

    fn undo(&mut self) {
        match self.steps.pop() {
            Some((at, was)) => {
                self.answers[at] = was;
                (self.at, self.top) = (at, 0);
            }
            None => self.tell("there is nothing to undo".to_owned()),
        }
    }

    fn scroll(&mut self, scroll: Scroll) {
        let page = self.height().saturating_sub(1).max(1);
        let top = match scroll {
            Scroll::Up => self.top.saturating_sub(1),
            Scroll::Down => self.top + 1,
            Scroll::PageUp => self.top.saturating_sub(page),
            Scroll::PageDown => self.top + page,
            Scroll::Top => 0,
            Scroll::Bottom => usize::MAX,
        };
        self.top = top.min(self.last_top());
    }

    /// The rows of the screen, at most as many as fit.
    pub fn screen(&self) -> Vec<ChangedRow> {
        let body = self.body();
        let shown = body.iter().skip(self.top).take(self.height());
        let mut rows = self.head();
        rows.extend(shown.cloned());
        rows.resize(
            rows.len().max(self.size.rows.saturating_sub(self.foot().len())),
            ChangedRow::new(Paint::Plain, ""),
        );
        rows.extend(self.foot());
        rows.truncate(self.size.rows);
        rows
    }

    /// The rows above the scrolled part.
    fn head(&self) -> Vec<ChangedRow> {
        let count = self.cases.len();
        let Some(case) = self.cases.get(self.at) else {
            let answered = self.answers.iter().flatten().count();
            return self.wrapped(&[ChangedRow::new(
                Paint::Bold,
                format!("{answered} of {} answered", counted(count, "conflict")),
            )]);
        };
        let mut rows =
            vec![ChangedRow::new(Paint::Cyan, format!("{} · conflict {} of {count}", case.place, self.at + 1))];
        rows.extend(case.about.as_ref().map(|about| ChangedRow::new(Paint::Bold, about.clone())));
        self.wrapped(&rows)
    }

    /// The changes of the sides; after the last conflict, what was decided.
    fn body(&self) -> Vec<ChangedRow> {
        match self.cases.get(self.at) {
            Some(case) => self.wrapped(&case.changes),
            None => self.wrapped(&self.cases.iter().zip(&self.answers).map(decided).collect::<Vec<_>>()),
        }
    }

    /// The rows below the scrolled part: a message, and the keys.
    fn foot(&self) -> Vec<ChangedRow> {
        let mut rows = Vec::new();
        rows.extend(self.told.as_ref().map(|told| ChangedRow::new(Paint::Yellow, told.clone())));
        let keys = match self.cases.get(self.at) {
            None => KEYS_AT_END,
            Some(Case { newest: Some(_), .. }) => KEYS_OF_VERSIONS,
            Some(_) => KEYS,
        };
        rows.push(ChangedRow::new(Paint::Bold, keys));
        self.wrapped(&rows)
    }

    /// How many rows of the conflict are visible.
    fn height(&self) -> usize {
        self.size.rows.saturating_sub(self.head().len() + self.foot().len()).max(1)
    }

    /// The top row when the conflict is scrolled to its end.
    fn last_top(&self) -> usize {
        self.body().len().saturating_sub(self.height())
    }

    /// Rows cut to the width of the screen. Misleading characters are escaped.
    fn wrapped(&self, rows: &[ChangedRow]) -> Vec<ChangedRow> {
        let width = self.size.columns.max(2);
        rows.iter()
            .flat_map(|row| pieces(&row.text, width).into_iter().map(|text| ChangedRow::new(row.paint, text)))
            .collect()
    }
}

/// Cuts a line into pieces of at most `width` columns. A character after the first alphabets counts as two columns.
fn pieces(text: &str, width: usize) -> Vec<String> {
    let text = text.replace('\t', "    ");
    let (mut pieces, mut used) = (vec![String::new()], 0);
    for c in shown::line(&text).chars() {
        let columns = if c < '\u{1100}' { 1 } else { 2 };
        if used + columns > width {
            pieces.push(String::new());
            used = 0;
        }
        used += columns;
        if let Some(last) = pieces.last_mut() {
            last.push(c);
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_job::marked::Newer;

    #[test]
    fn the_keys_fit_in_a_row_of_a_usual_terminal() {
        for keys in [KEYS, KEYS_OF_VERSIONS, KEYS_AT_END] {
            assert_eq!(pieces(keys, 80).len(), 1, "{keys}");
        }
    }

    const SIZE: Size = Size { columns: 200, rows: 10 };

    fn cases(lengths: &[usize]) -> Vec<Case> {
        let case = |(i, length): (usize, &usize)| Case {
            place: format!("a.yaml:{i}"),
            about: (i == 0).then(|| "Deployment web".to_owned()),
            changes: (0..*length).map(|row| ChangedRow::new(Paint::Green, format!("+ {row}"))).collect(),
            newest: None,
        };
        lengths.iter().enumerate().map(case).collect()
    }

    fn texts(session: &Session<'_>) -> Vec<String> {
        session.screen().into_iter().map(|row| row.text).collect()
    }

    fn body(session: &Session<'_>) -> Vec<String> {
        texts(session).into_iter().filter(|text| text.starts_with("+ ")).collect()
    }

    #[test]
    fn each_key_answers_and_goes_on() {
        let cases = cases(&[1; 5]);
        let mut session = Session::new(&cases, Start::AsMarked, SIZE);
        for key in [KeyAction::Ours, KeyAction::Theirs, KeyAction::Both, KeyAction::Skip] {
            assert_eq!(session.press(key), Next::Key);
        }
        assert_eq!(session.press(KeyAction::Edit), Next::Editor(4));
        assert!(!session.is_at_end());
        session.edited(b"x".to_vec());
        assert!(session.is_at_end());
        // Nothing is left to answer.
        for key in [KeyAction::Ours, KeyAction::Edit, KeyAction::Skip] {
            assert_eq!(session.press(key), Next::Key);
        }
        assert_eq!(texts(&session)[0], "4 of 5 conflicts answered");
        assert_eq!(session.press(KeyAction::Quit), Next::Write);
        let want =
            [Some(Answer::Ours), Some(Answer::Theirs), Some(Answer::Both), None, Some(Answer::Edited(b"x".to_vec()))];
        assert_eq!(session.answers(), want);
    }

    #[test]
    fn the_end_says_what_was_decided() {
        let cases = cases(&[1; 3]);
        let mut session = Session::new(&cases, Start::AsMarked, SIZE);
        for key in [KeyAction::Ours, KeyAction::Skip, KeyAction::Both] {
            session.press(key);
        }
        let want =
            ["2 of 3 conflicts answered", "ours    a.yaml:0 Deployment web", "open    a.yaml:1", "both    a.yaml:2"];
        assert_eq!(texts(&session)[..4], want);
        assert_eq!(texts(&session).last().map(String::as_str), Some(KEYS_AT_END));
    }

    #[test]
    fn undo_goes_back_to_what_was() {
        let cases = cases(&[1; 2]);
        let mut session = Session::new(&cases, Start::AsMarked, SIZE);
        session.press(KeyAction::Undo);
        assert!(texts(&session).contains(&"there is nothing to undo".to_owned()));
        for key in [
            KeyAction::Ours,
            KeyAction::Theirs,
            KeyAction::Undo,
            KeyAction::Undo,
            KeyAction::Skip,
            KeyAction::Both,
            KeyAction::Undo,
        ] {
            assert!(!texts(&session).is_empty());
            session.press(key);
        }
        assert!(texts(&session)[0].starts_with("a.yaml:1 · conflict 2 of 2"));
        assert!(!texts(&session).contains(&"there is nothing to undo".to_owned()));
        assert_eq!(session.answers(), [None, None]);
    }

    #[test]
    fn the_newer_version_is_a_key_where_there_is_one() {
        let mut cases = cases(&[1; 2]);
        cases[1].newest = Some(Answer::Newest(Newer::Theirs));
        let mut session = Session::new(&cases, Start::AsMarked, SIZE);
        assert!(!texts(&session).concat().contains("n newest"));
        session.press(KeyAction::Newest);
        assert_eq!(session.given(), [None, None]);
        session.press(KeyAction::Ours);
        assert!(texts(&session).concat().contains("n newest"));
        session.press(KeyAction::Newest);
        assert_eq!(session.answers(), [Some(Answer::Ours), cases[1].newest.clone()]);
    }

    #[test]
    fn the_merge_before_the_first_answer_is_undone_last() {
        let cases = cases(&[1; 2]);
        let mut session = Session::new(&cases, Start::Merged, SIZE);
        session.press(KeyAction::Ours);
        assert_eq!(session.press(KeyAction::Undo), Next::Key);
        assert_eq!(session.press(KeyAction::Undo), Next::Unmerge);
    }

    #[test]
    fn quit_writes_what_has_an_answer_and_stop_nothing() {
        let cases = cases(&[1; 2]);
        let mut session = Session::new(&cases, Start::AsMarked, SIZE);
        session.press(KeyAction::Theirs);
        assert_eq!(session.press(KeyAction::Stop), Next::Stop);
        assert_eq!(session.press(KeyAction::Quit), Next::Write);
        assert_eq!(session.answers(), [Some(Answer::Theirs), None]);
    }

    #[test]
    fn the_screen_says_where_and_what() {
        let cases = cases(&[2, 1]);
        let mut session = Session::new(&cases, Start::AsMarked, SIZE);
        let want = ["a.yaml:0 · conflict 1 of 2", "Deployment web", "+ 0", "+ 1", "", "", "", "", "", KEYS];
        assert_eq!(texts(&session), want);
        session.press(KeyAction::Ours);
        session.tell("no editor".to_owned());
        assert_eq!(texts(&session)[..3], ["a.yaml:1 · conflict 2 of 2", "+ 0", ""]);
        assert_eq!(texts(&session)[8..], ["no editor", KEYS]);
    }

    #[test]
    fn a_conflict_longer_than_the_screen_is_scrolled() {
        let cases = cases(&[20, 20]);
        let mut session = Session::new(&cases, Start::AsMarked, SIZE);
        let mut first = |keys: &[Scroll]| {
            keys.iter().for_each(|key| assert_eq!(session.press(KeyAction::Scroll(*key)), Next::Key));
            (texts(&session).len(), body(&session)[0].clone(), body(&session).len())
        };
        let at = |row: usize| (10, format!("+ {row}"), 7);
        assert_eq!(first(&[]), at(0));
        assert_eq!(first(&[Scroll::Up]), at(0));
        assert_eq!(first(&[Scroll::Down, Scroll::Down, Scroll::Up]), at(1));
        assert_eq!(first(&[Scroll::PageDown]), at(7));
        assert_eq!(first(&[Scroll::PageDown]), at(13));
        assert_eq!(first(&[Scroll::PageUp]), at(7));
        assert_eq!(first(&[Scroll::Bottom, Scroll::Down, Scroll::PageDown]), at(13));
        assert_eq!(first(&[Scroll::Top]), at(0));
        first(&[Scroll::Bottom]);
        session.press(KeyAction::Ours);
        assert_eq!(body(&session)[0], "+ 0", "another conflict begins at its top");
    }

    #[test]
    fn another_size_shows_the_same_conflict() {
        let cases = cases(&[20]);
        let mut session = Session::new(&cases, Start::AsMarked, SIZE);
        session.press(KeyAction::Scroll(Scroll::Bottom));
        session.resize(Size { columns: 200, rows: 40 });
        assert_eq!((texts(&session).len(), body(&session).len()), (40, 20));
        for (columns, rows) in [(200, 3), (20, 12), (1, 1), (0, 0), (5, 2)] {
            session.resize(Size { columns, rows });
            let texts = texts(&session);
            assert_eq!(texts.len(), rows);
            assert!(texts.iter().all(|text| text.chars().count() <= columns.max(2)), "{texts:?}");
        }
    }

    #[test]
    fn long_lines_go_on_in_the_next_row_and_nothing_misleads() {
        assert_eq!(pieces("abcdef", 4), ["abcd", "ef"]);
        assert_eq!(pieces("漢字a", 4), ["漢字", "a"]);
        assert_eq!(pieces("\ta\u{1b}", 20), ["    a\\u001b"]);
        assert_eq!(pieces("", 4), [""]);
    }
}
