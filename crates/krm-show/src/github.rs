//! Results as workflow commands of GitHub Actions, which shows them next to the lines of a pull request.
//!
//! Source: GitHub's "Workflow commands", and `escapeData` and `escapeProperty` of its toolkit.

use anyhow::Result;
use krm_files::errors;
use krm_folders::end::End;
use krm_folders::side::Side;
use krm_job::event::{Event, Severity};

use crate::args::Output;
use crate::place;
use crate::screen::{Page, Reader};

/// The results as commands, one on a line.
pub fn github(dest: &Side, results: &[Event], reader: Reader) -> Page {
    let mut page = Page::new(reader);
    for result in results.iter().filter(|result| place::is_shown(result)) {
        page.line(&command(dest, result));
    }
    page
}

/// Shows the error of a run in this format: a line of stderr is only in the log of the job, not on its page.
///
/// # Errors
/// The error of the run, if it is not shown.
pub fn shown(format: Option<Output>, ended: Result<End>) -> Result<End> {
    let (Some(Output::Github), Err(e)) = (format, &ended) else { return ended };
    let mut page = Page::new(Reader::Program);
    page.line(&format!("::error title=krm-merge::{}", data(&errors::chain(e))));
    // If stdout is what fails, stderr says so.
    if page.print().is_ok() { Ok(End::of(e)) } else { ended }
}

fn command(dest: &Side, result: &Event) -> String {
    let name = match result.severity {
        Severity::Error => "error",
        // Who merges the pull request would merge markers.
        Severity::Warning if result.is_open() => "error",
        Severity::Warning => "warning",
        Severity::Info => "notice",
    };
    let place = place::of(dest, result).map(|at| {
        let (file, place) = (property(&at.file), at.position);
        format!("file={file},line={},col={},", place.line, place.column)
    });
    let about = result.resource_ref.as_ref().map(|r| r.identity().called());
    let title = match (result.is_conflict(), about) {
        (true, Some(about)) => format!("conflict in {about}"),
        (true, None) => "conflict".to_owned(),
        (false, Some(about)) => about,
        (false, None) => "krm-merge".to_owned(),
    };
    let told = krm_words::without_place(result);
    format!("::{name} {}title={}::{}", place.unwrap_or_default(), property(&title), data(&told))
}

/// A text as the data of a command.
pub fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A text as a property of a command.
pub fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_job::event::{ResourceRef, TextForm, TextPlace, What};
    use krm_yaml::Position;

    #[test]
    fn commands_are_escaped_as_github_documents_it() {
        let dest = Side::of_text("dest", "").expect("a side");
        let (text, position) = ("a,b:c%.yaml".to_owned(), Position { line: 3, column: 5 });
        let place = TextPlace::new(&text, position, TextForm::File);
        let what = What::Wrong { why: "50% is: a, b".into(), place };
        let name =
            ResourceRef { api_version: "v1".into(), kind: "A".into(), namespace: "n".into(), name: "x:y,z".into() };
        let result = Event { resource_ref: Some(name.into()), ..Event::of(what) };
        let want = "::error file=a%2Cb%3Ac%25.yaml,line=3,col=5,title=A n/x%3Ay%2Cz::50%25 is: a, b\n";
        assert_eq!(github(&dest, &[result], Reader::Program).text(), want);
        let plain = Event::new(Severity::Warning, "look");
        let told = [plain, Event::new(Severity::Info, "1 merged")];
        assert_eq!(github(&dest, &told, Reader::Program).text(), "::warning title=krm-merge::look\n");
    }
}
