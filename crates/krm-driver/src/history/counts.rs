//! What came of the replays of a history: counts for git alone and for the driver, and the files in which they differ.

use std::collections::BTreeMap;
use std::time::Duration;

use krm_files::command::own;
use krm_show::markdown::escaped;
use krm_show::output::indented;
use krm_show::screen::{Page, Paint};
use krm_words::counted;
use serde_json::{Value, json};

use super::commits::How;

/// What came of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is in conflict, with so many lines between markers. A file that one side deleted or moved has none.
    Conflict {
        /// The lines of both sides.
        lines: usize,
    },
    /// It is merged, and has the text that was committed.
    AsCommitted,
    /// It is merged, and has another text.
    NotAsCommitted,
}

/// A file that both sides of a commit changed, and what came of it.
#[derive(Clone, Debug)]
pub struct ReplayedFile {
    /// The commit.
    pub commit: String,
    /// How the commit came to be.
    pub how: How,
    /// The path of the file.
    pub path: String,
    /// With git alone.
    pub git: Outcome,
    /// With the driver.
    pub driver: Outcome,
    /// With the driver and the rule that the newer version wins.
    pub newest: Outcome,
}

/// The counts of a history.
#[derive(Debug, Default)]
pub struct Counts {
    merges: usize,
    cherry_picks: usize,
    reverts: usize,
    /// How many commits could not be replayed.
    pub left_out: usize,
    /// The files that both sides of a commit changed.
    pub files: Vec<ReplayedFile>,
    git: Duration,
    driver: Duration,
}

/// The counts of one program.
#[derive(Default)]
struct Sums {
    in_conflict: usize,
    lines: usize,
    as_committed: usize,
    not_as_committed: usize,
}

impl Outcome {
    fn words(self) -> String {
        match self {
            Self::Conflict { lines: 0 } => "stops".to_owned(),
            Self::Conflict { lines } => format!("stops at {}", counted(lines, "line")),
            Self::AsCommitted => "merges it as committed".to_owned(),
            Self::NotAsCommitted => "merges it, not as committed".to_owned(),
        }
    }

    fn json(self) -> Value {
        match self {
            Self::Conflict { lines } => json!({"outcome": "Conflict", "linesBetweenMarkers": lines}),
            Self::AsCommitted => json!({"outcome": "AsCommitted"}),
            Self::NotAsCommitted => json!({"outcome": "NotAsCommitted"}),
        }
    }
}

impl How {
    fn word(self) -> &'static str {
        match self {
            Self::Merge => "merge",
            Self::CherryPick => "cherry-pick",
            Self::Revert => "revert",
        }
    }
}

impl ReplayedFile {
    /// Whether a reader wants to look at it.
    pub fn is_shown(&self) -> bool {
        self.git != self.driver || self.driver == Outcome::NotAsCommitted
    }

    /// The file and its outcomes in one line.
    pub fn line(&self) -> String {
        let same = if self.git == self.driver {
            "so does the driver".to_owned()
        } else {
            format!("the driver {}", self.driver.words())
        };
        format!("{}: git {}, {same}", self.path, self.git.words())
    }

    /// The command that shows what differs in the files of the commit.
    fn command(&self) -> String {
        own(&["git-history", "-o", "diff", &format!("{}^!", &self.commit[..12])])
    }
}

impl Counts {
    /// Counts a replay.
    pub fn count(&mut self, how: How) {
        match how {
            How::Merge => self.merges += 1,
            How::CherryPick => self.cherry_picks += 1,
            How::Revert => self.reverts += 1,
        }
    }

    /// Adds the time of a replay in which both ran.
    pub fn add_time(&mut self, git: Duration, driver: Duration) {
        self.git += git;
        self.driver += driver;
    }

    fn sums(&self, outcome: impl Fn(&ReplayedFile) -> Outcome) -> Sums {
        let mut sums = Sums::default();
        for file in &self.files {
            match outcome(file) {
                Outcome::Conflict { lines } => {
                    sums.in_conflict += 1;
                    sums.lines += lines;
                }
                Outcome::AsCommitted => sums.as_committed += 1,
                Outcome::NotAsCommitted => sums.not_as_committed += 1,
            }
        }
        sums
    }

    fn both(&self) -> [Sums; 2] {
        [self.sums(|file| file.git), self.sums(|file| file.driver)]
    }

    /// The outcome in one sentence.
    fn sentence(&self) -> String {
        let all = [(self.merges, How::Merge), (self.cherry_picks, How::CherryPick), (self.reverts, How::Revert)];
        let all: Vec<String> =
            all.into_iter().filter(|(count, _)| *count > 0).map(|(count, how)| counted(count, how.word())).collect();
        let Some((last, before)) = all.split_last() else {
            return "There is no merge, cherry-pick or revert to replay.".to_owned();
        };
        let all = if before.is_empty() { last.clone() } else { format!("{} and {last}", before.join(", ")) };
        let [git, driver] = self.both();
        match (git.in_conflict, driver.in_conflict) {
            (0, 0) => {
                format!("In {all}, neither git nor the driver stops in a YAML file, so there is nothing to gain.")
            }
            (git, driver) if git == driver => {
                format!("In {all}, git stops in {}, and the driver in as many.", counted(git, "YAML file"))
            }
            (git, driver) => {
                format!("In {all}, git stops in {}, and the driver in {driver}.", counted(git, "YAML file"))
            }
        }
    }

    /// A line about the rule that the newer version wins; `None` if it decides nothing.
    fn of_newest(&self) -> Option<String> {
        let newest = self.sums(|file| file.newest);
        let [_, driver] = self.both();
        let decided = driver.in_conflict - newest.in_conflict;
        let likewise = newest.as_committed - driver.as_committed;
        (decided > 0).then(|| {
            format!(
                "With `git-install --newest`, the driver merges {} more, of which {likewise} as people committed them.",
                counted(decided, "file")
            )
        })
    }

    /// The counts, each with its name, for git and for the driver.
    fn rows(&self) -> Vec<[String; 3]> {
        let [git, driver] = self.both();
        let row = |name: &str, count: fn(&Sums) -> usize| {
            [name.to_owned(), count(&git).to_string(), count(&driver).to_string()]
        };
        let seconds = |time: Duration| format!("{:.1}", time.as_secs_f64());
        vec![
            row("files in conflict", |sums| sums.in_conflict),
            row("lines between markers", |sums| sums.lines),
            row("files merged as committed", |sums| sums.as_committed),
            row("files merged, not as committed", |sums| sums.not_as_committed),
            ["seconds".to_owned(), seconds(self.git), seconds(self.driver)],
        ]
    }

    /// The files to look at, by the command that shows them.
    fn by_command(&self) -> Vec<(String, Vec<String>)> {
        let mut found: Vec<(String, Vec<String>)> = Vec::new();
        for file in self.files.iter().filter(|file| file.is_shown()) {
            let command = file.command();
            match found.last_mut().filter(|(last, _)| *last == command) {
                Some((_, lines)) => lines.push(file.line()),
                None => found.push((command, vec![file.line()])),
            }
        }
        found
    }

    /// A line about what could not be replayed.
    fn of_left_out(&self) -> Option<String> {
        (self.left_out > 0).then(|| format!("{} could not be replayed.", counted(self.left_out, "commit")))
    }

    /// The counts for a terminal.
    pub fn text(&self, page: &mut Page) {
        page.painted(Paint::Bold, &self.sentence());
        self.of_left_out().iter().for_each(|line| page.line(line));
        if self.files.is_empty() {
            return;
        }
        page.line("");
        page.line(&format!("{:30} {:>8} {:>8}", "", "git", "driver"));
        for [name, git, driver] in self.rows() {
            page.line(&format!("{name:30} {git:>8} {driver:>8}"));
        }
        if let Some(line) = self.of_newest() {
            page.line("");
            page.line(&line);
        }
        for (command, lines) in self.by_command() {
            page.line("");
            page.painted(Paint::Cyan, &command);
            lines.iter().for_each(|line| page.line(&format!("  {line}")));
        }
    }

    /// The counts as a comment of a pull request.
    pub fn markdown(&self) -> String {
        let mut out = format!("### krm-merge: {}\n", self.sentence());
        out.extend(self.of_left_out().map(|line| format!("\n{line}\n")));
        if self.files.is_empty() {
            return out;
        }
        out.push_str("\n| | git | driver |\n|---|---:|---:|\n");
        out.extend(self.rows().iter().map(|[name, git, driver]| format!("| {name} | {git} | {driver} |\n")));
        out.extend(self.of_newest().map(|line| format!("\n{}\n", escaped(&line))));
        for (command, lines) in self.by_command() {
            let lines: Vec<String> = lines.iter().map(|line| escaped(line)).collect();
            out.push_str(&format!("\n<details>\n<summary><code>{}</code></summary>\n", escaped(&command)));
            out.push_str(&format!("\n<pre>{}</pre>\n\n</details>\n", lines.join("\n")));
        }
        out
    }

    /// The counts for programs.
    pub fn json(&self) -> String {
        let [git, driver] = self.both();
        let newest = self.sums(|file| file.newest);
        let [git, driver, newest] = [git, driver, newest].map(|sums| {
            BTreeMap::from([
                ("filesInConflict", sums.in_conflict),
                ("linesBetweenMarkers", sums.lines),
                ("filesAsCommitted", sums.as_committed),
                ("filesNotAsCommitted", sums.not_as_committed),
            ])
        });
        let files: Vec<Value> = self
            .files
            .iter()
            .map(|file| {
                json!({
                    "commit": file.commit, "how": file.how.word(), "path": file.path,
                    "git": file.git.json(), "driver": file.driver.json(), "newest": file.newest.json(),
                    "show": file.command(),
                })
            })
            .collect();
        let replayed = json!({"merges": self.merges, "cherryPicks": self.cherry_picks, "reverts": self.reverts});
        let seconds = json!({"git": self.git.as_secs_f64(), "driver": self.driver.as_secs_f64()});
        let all = json!({
            "replayed": replayed, "leftOut": self.left_out, "git": git, "driver": driver, "newest": newest, "seconds": seconds,
            "files": files,
        });
        indented(&all.to_string())
    }
}
