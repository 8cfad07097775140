//! Answers in a file: one line for each conflict, as `web.yaml:12 ours` or `3 theirs`.
//!
//! A number is the conflict's number in the list that a run without answers prints. Blank lines and lines that begin with `#` are ignored.

use anyhow::{Result, bail};
use krm_yaml::shown;

use krm_job::marked::Answer;

/// The place of a conflict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnsweredPlace {
    /// The file, by the name that the user knows.
    pub file: String,
    /// The lines of the first and the last marker.
    pub lines: (usize, usize),
}

/// Reads the answers from a text. `places` has the conflicts, and `name` is the name of the file with the answers. `newest` gives the answer
/// with the newer version, by the number of the conflict.
///
/// # Errors
/// A line is not an answer, or names no conflict, or names a conflict that already has an answer.
pub fn read(
    name: &str,
    text: &str,
    places: &[AnsweredPlace],
    newest: impl Fn(usize) -> Option<Answer>,
) -> Result<Vec<Option<Answer>>> {
    let mut answers = vec![None; places.len()];
    for (i, line) in text.lines().enumerate() {
        let (at, line) = (i + 1, line.trim());
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (place, word) = line.rsplit_once(char::is_whitespace).unwrap_or((line, ""));
        let (place, quoted) = (place.trim_end(), shown::quoted(line));
        let answer = answer(word);
        if answer.is_none() && word != "newest" {
            bail!(
                "{name}:{at}: a line must be a place and `ours`, `theirs`, `both` or `newest`, as `web.yaml:12 ours`, not {quoted}"
            );
        }
        let Some(number) = number(place, places) else {
            bail!(
                "{name}:{at}: the place must be that of a conflict, as `web.yaml:12` or a number from 1 to {}, not {}",
                places.len(),
                shown::quoted(place)
            );
        };
        let Some(answer) = answer.or_else(|| newest(number)) else {
            bail!(
                "{name}:{at}: `newest` is not possible for {}, because its sides differ in more than a version that can be compared. Answer `ours` or `theirs`",
                shown::quoted(place)
            );
        };
        if answers[number].replace(answer).is_some() {
            bail!(
                "{name}:{at}: each conflict must have one answer, but {} has one in a line above",
                shown::quoted(place)
            );
        }
    }
    Ok(answers)
}

fn answer(word: &str) -> Option<Answer> {
    match word {
        // The markers of this program call the sides dest and updated.
        "ours" | "dest" => Some(Answer::Ours),
        "theirs" | "updated" => Some(Answer::Theirs),
        "both" => Some(Answer::Both),
        _ => None,
    }
}

/// The number of the conflict that a place names: by its number from 1, or by a file and a line.
fn number(place: &str, places: &[AnsweredPlace]) -> Option<usize> {
    if let Ok(number) = place.parse::<usize>() {
        return number.checked_sub(1).filter(|number| *number < places.len());
    }
    let (file, line) = place.rsplit_once(':')?;
    let line: usize = line.parse().ok()?;
    let bare = |file: &str| file.trim_start_matches("./").to_owned();
    let is_meant =
        |place: &AnsweredPlace| bare(&place.file) == bare(file) && place.lines.0 <= line && line <= place.lines.1;
    places.iter().position(is_meant)
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_job::marked::Newer;

    fn read_for(text: &str) -> Result<String, String> {
        let place = |file: &str, from, to| AnsweredPlace { file: file.to_owned(), lines: (from, to) };
        let places = [place("a.yaml", 3, 7), place("a.yaml", 9, 13), place("./x y:1.yaml", 1, 5)];
        let newest = |number: usize| (number == 1).then_some(Answer::Newest(Newer::Theirs));
        let answers = read("answers", text, &places, newest).map_err(|e| e.to_string())?;
        let word = |answer: &Option<Answer>| answer.as_ref().map_or("-".to_owned(), |answer| format!("{answer:?}"));
        Ok(answers.iter().map(word).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn a_line_answers_one_conflict() {
        assert_eq!(read_for(""), Ok("- - -".to_owned()));
        assert_eq!(
            read_for("# all\n\n2 theirs\r\n./a.yaml:3 \t ours\n x y:1.yaml:1 both"),
            Ok("Ours Theirs Both".to_owned())
        );
        assert_eq!(read_for("a.yaml:7 ours\na.yaml:11 both"), Ok("Ours Both -".to_owned()));
        assert_eq!(read_for("1 dest\n2 updated"), Ok("Ours Theirs -".to_owned()));
        assert_eq!(read_for("2 newest"), Ok("- Newest(Theirs) -".to_owned()));
    }

    #[test]
    fn what_is_no_answer_is_told_with_its_line() {
        for (text, want) in [
            (
                "1 ours\n2 mine",
                "answers:2: a line must be a place and `ours`, `theirs`, `both` or `newest`, as `web.yaml:12 ours`, not \"2 mine\"",
            ),
            ("ours", "answers:1: a line must be a place"),
            (
                "1 newest",
                "answers:1: `newest` is not possible for \"1\", because its sides differ in more than a version that can be compared. Answer `ours` or `theirs`",
            ),
            (
                "0 ours",
                "answers:1: the place must be that of a conflict, as `web.yaml:12` or a number from 1 to 3, not \"0\"",
            ),
            ("4 ours", "not \"4\""),
            ("a.yaml:8 ours", "not \"a.yaml:8\""),
            ("a.yaml ours", "not \"a.yaml\""),
            ("b.yaml:3 ours", "not \"b.yaml:3\""),
            (
                "1 ours\n\na.yaml:4 ours",
                "answers:3: each conflict must have one answer, but \"a.yaml:4\" has one in a line above",
            ),
        ] {
            let error = read_for(text).expect_err(text);
            assert!(error.contains(want), "{error}");
        }
    }
}
