//! What README.md and the pages of docs/ print is what happens, and each link leads somewhere.
//!
//! The README and the book are tested as one reader follows them: in one folder that looks like a checkout, and in one terminal. The blocks
//! of a page are taken in order:
//!
//! * `sh` is run and must succeed. The next one begins in the folder in which it ends.
//! * `text` and `diff` must be in what the last `sh` printed. `…` at an end of a line stands for any text.
//! * A comment above a block says otherwise: see [`How`].

#[path = "support/function.rs"]
mod function;
#[path = "../../../tests/support/run.rs"]
mod run;
#[path = "../../../tests/support/mod.rs"]
mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use run::{Run, has, root, run, scratch, write};
use support::indent;

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The commands behind the table of the book, which are no page of it.
const COMPARISON: &str = "docs/comparison/README.md";

/// Patches for everyday jobs, beside the package that they change; `tests/recipes.rs` runs them.
const RECIPES: &str = "docs/recipes/README.md";

/// The pages of the book, by their path in the repository.
fn book() -> Vec<String> {
    let pages = fs::read_dir(root().join("docs/src")).expect("docs/src").map(|e| e.expect("an entry").file_name());
    let pages = pages.map(|name| format!("docs/src/{}", name.display()));
    let mut pages: Vec<String> = pages.filter(|page| page.ends_with(".md")).collect();
    pages.sort();
    pages
}

/// All pages for people, by their path in the repository.
fn pages() -> Vec<String> {
    let examples = fs::read_dir(root().join("examples")).expect("examples").map(|e| e.expect("an entry").file_name());
    let examples = examples.map(|name| format!("examples/{}/README.md", name.display()));
    let others = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "functions/merge/README.md"];
    let others = others.into_iter().chain([
        "DEPENDENCIES.md",
        "TESTING.md",
        "benches/README.md",
        "docs/STYLE.md",
        COMPARISON,
        RECIPES,
    ]);
    let others = others.map(str::to_owned);
    others
        .chain(["crates/krm-merge/README.md", "bots/fleet/README.md"].map(str::to_owned))
        .chain(examples)
        .chain(book())
        .collect()
}

/// How a block is tested.
#[derive(Debug)]
enum How<'a> {
    /// Run, with this exit code: `<!-- exit 1 -->`, or 0.
    Run(i32),
    /// Part of what the last command printed.
    Output,
    /// Part of what this command prints, which readers do not see: `<!-- shows kubectl krm-merge diff a b -->`.
    Shows(&'a str),
    /// Written to this file: `<!-- file web.yaml -->`.
    File(&'a str),
    /// Part of this file: `<!-- in web.yaml -->`.
    In(&'a str),
    /// A functionConfig, or fields of its `spec`: `<!-- config -->`.
    Config,
    /// Run by `tests/recipes.rs`: `<!-- recipe -->` and `<!-- changes -->`.
    Recipe,
    /// Not tested, for this reason: `<!-- not tested: it installs the program -->`.
    Not(&'a str),
}

#[derive(Debug)]
struct Block<'a> {
    how: How<'a>,
    text: &'a str,
}

/// The comment on the line above a block.
fn comment(before: &str) -> Option<&str> {
    let line = before.trim_end().rsplit('\n').next()?;
    line.trim().strip_prefix("<!-- ")?.strip_suffix(" -->")
}

/// The blocks of a page in order.
fn blocks<'a>(page: &str, text: &'a str) -> Vec<Block<'a>> {
    let parts: Vec<&str> = text.split("```").collect();
    assert!(parts.len() % 2 == 1, "{page}: a block has no end");
    let of = |pair: &[&'a str]| {
        let (language, text) = pair[1].split_once('\n').expect("a language, or none");
        let how = match (language, comment(pair[0]).map(|c| c.split_once(' ').unwrap_or((c, "")))) {
            (_, Some(("not", why))) => How::Not(why.strip_prefix("tested: ").expect("a reason")),
            ("sh", Some(("exit", code))) => How::Run(code.parse().expect("an exit code")),
            ("sh", None) => How::Run(0),
            (_, Some(("file", path))) => How::File(path),
            (_, Some(("in", path))) => How::In(path),
            ("text" | "diff", Some(("shows", command))) => How::Shows(command),
            ("yaml", Some(("config", ""))) => How::Config,
            ("yaml", Some(("recipe", ""))) | ("diff", Some(("changes", ""))) => How::Recipe,
            ("text" | "diff", None) => How::Output,
            (_, comment) => panic!("{page}: nothing tests this block ({language}, {comment:?}):\n{text}"),
        };
        Block { how, text }
    };
    parts.chunks_exact(2).map(of).collect()
}

/// A terminal, with the tested programs first on PATH and a home of its own.
struct Terminal {
    home: PathBuf,
    /// The folder in which the next commands run.
    here: PathBuf,
}

impl Terminal {
    fn of(folder: &Path) -> Self {
        Self { home: folder.join("home"), here: folder.to_owned() }
    }

    fn run(&mut self, block: &str) -> Run {
        let programs = [function::program(), env!("CARGO_BIN_EXE_kubectl-krm_merge")];
        let folders = programs.map(|program| Path::new(program).parent().expect("a folder").display().to_string());
        let path = format!("{}:{}", folders.join(":"), std::env::var("PATH").expect("PATH"));
        fs::create_dir_all(&self.home).expect("a folder");
        let ends_in = self.home.join("ends-in");
        let script = format!("trap 'pwd > \"{}\"' EXIT\n{block}", ends_in.display());
        let mut sh = Command::new("bash");
        sh.args(["-e", "-c", &script]).current_dir(&self.here).env("PATH", path).env("HOME", &self.home);
        // A reader does not stand in the repository of this program, which ignores the folder.
        sh.env("GIT_CEILING_DIRECTORIES", self.home.parent().and_then(Path::parent).expect("a folder"));
        for who in ["AUTHOR", "COMMITTER"] {
            sh.env(format!("GIT_{who}_NAME"), "me").env(format!("GIT_{who}_EMAIL"), "me@example.com");
        }
        let ran = run(sh.env_remove("XDG_CONFIG_HOME").env_remove("KUSTOMIZE_PLUGIN_HOME"));
        self.here = fs::read_to_string(ends_in).expect("a folder").trim_end().into();
        ran
    }
}

/// A folder that has what the pages use of a checkout.
fn checkout(name: &str) -> PathBuf {
    let folder = scratch(name);
    fs::create_dir_all(folder.join("docs")).expect("a folder");
    for part in ["examples", "docs/comparison", "docs/programs", "docs/recipes"] {
        run(Command::new("cp").arg("-r").arg(root().join(part)).arg(folder.join(part))).passes();
    }
    folder
}

/// Puts the function where kustomize finds it, as the README lets a reader arrange.
fn arrange(terminal: &mut Terminal) {
    let text = read("README.md");
    let link: Vec<&str> = text.lines().filter(|line| line.starts_with("plugin=") || line.contains("ln -sf")).collect();
    terminal.run(&link.join("\n")).passes();
}

/// Whether the programs that a page runs are on this machine.
fn can_run(blocks: &[Block]) -> bool {
    let runs = |word: &str| {
        blocks.iter().any(|b| match b.how {
            How::Run(_) => b.text.contains(word),
            How::Shows(command) => command.contains(word),
            _ => false,
        })
    };
    ["git", "kpt", "kubectl"].iter().all(|tool| !runs(&format!("{tool} ")) || has(tool))
}

/// Takes the blocks of a page in order, in the folder in which the terminal is, and says how many of them have a test. They have it also
/// where a program that it needs is absent.
fn walk(page: &str, terminal: &mut Terminal) -> usize {
    let text = read(page);
    let blocks = blocks(page, &text);
    let tested = blocks.iter().filter(|block| !matches!(block.how, How::Not(_))).count();
    if !can_run(&blocks) {
        return tested;
    }
    let folder = terminal.here.clone();
    let mut shown = String::new();
    for Block { how, text } in &blocks {
        match how {
            How::Run(code) => {
                let run = terminal.run(text);
                assert_eq!(run.code, Some(*code), "{page}:\n{text}\nprinted\n{}", run.shown());
                shown = run.shown();
            }
            How::Shows(command) => {
                let run = terminal.run(command).passes();
                assert!(is_in(text, &run.shown()), "{page}:\n{text}\nis not in\n{}", run.shown());
            }
            How::Output => assert!(is_in(text, &shown), "{page}:\n{text}\nis not in\n{shown}"),
            How::File(path) => write(&folder.join(path), text),
            How::In(path) => {
                let file = read(folder.join(path));
                assert!(file.contains(text), "{page}:\n{text}\nis not in {path}:\n{file}");
            }
            How::Config => assert!(is_understood(text), "{page}:\n{text}"),
            How::Recipe => {}
            How::Not(why) => assert!(why.len() > 10, "{page}: a reason is a sentence, not \"{why}\""),
        }
    }
    assert_eq!(terminal.here, folder, "{page}: it must end in the folder in which it begins");
    tested
}

/// A table of rules, with what each row begins with: `<!-- rows MODE APIVERSION KIND FIELD -->` or `<!-- rows MODE files -->`.
struct Rows<'a> {
    mode: &'a str,
    what: Vec<&'a str>,
    rows: Vec<&'a str>,
}

fn tables(text: &str) -> Vec<Rows<'_>> {
    let mut tables = Vec::new();
    for part in text.split("<!-- rows ").skip(1) {
        let (head, rest) = part.split_once(" -->\n").expect("a table");
        let (mode, what) = head.split_once(' ').expect("a mode");
        let rows = rest.lines().take_while(|line| line.starts_with('|')).skip(2).collect();
        tables.push(Rows { mode, what: what.split(' ').collect(), rows });
    }
    tables
}

/// The code spans of a cell, with line breaks.
fn examples(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(|code| code.replace("\\|", "|").replace('⏎', "\n")).collect()
}

/// The files of an example, each with its text.
fn files_of(what: &[&str], example: &str) -> Vec<(String, String)> {
    let [api_version, kind, field] = what else {
        let of_file = |file: &str| {
            let (name, resources) = file.split_once(": {").expect("a file");
            let of = |resource: &str| {
                let (name, value) = resource.split_once(": ").expect("a resource");
                format!(
                    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  of: x\n  a: b\n  c: d\n  v: '{value}'\n"
                )
            };
            (name.to_owned(), resources.split(", ").map(of).collect::<Vec<_>>().join("---\n"))
        };
        let inside = example.strip_prefix('{').and_then(|rest| rest.strip_suffix("}}")).expect("files");
        return inside.split("}, ").map(of_file).collect();
    };
    let head = format!("apiVersion: {api_version}\nkind: {kind}\nmetadata:\n  name: x\n{field}:");
    let is_flow = example.starts_with('{');
    let body = if is_flow { format!(" {example}\n") } else { format!("\n{}\n", indent(example, 2)) };
    vec![("a.yaml".to_owned(), (head + &body).replace("\n\n", "\n"))]
}

#[test]
fn each_rule_of_merging_has_an_example_that_is_true() {
    let text = read("docs/src/merging.md");
    let (mut checked, mut wrong, folder) = (0, Vec::new(), scratch("merging"));
    for Rows { mode, what, rows } in tables(&text) {
        for row in rows {
            let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
            let [rule, sides, result] = cells[..] else { panic!("{row}") };
            let sides = examples(sides);
            let folder = folder.join(checked.to_string());
            let names: &[&str] = if mode == "two-way" { &["source", "dest"] } else { &["original", "updated", "dest"] };
            assert_eq!(sides.len(), names.len(), "{row}");
            let mut plugin = Command::new(env!("CARGO_BIN_EXE_kubectl-krm_merge"));
            plugin.args([mode, "--in-place"]).current_dir(&folder);
            for (name, side) in names.iter().zip(&sides) {
                for (file, text) in files_of(&what, side) {
                    write(&folder.join(name).join(file), &text);
                }
                plugin.arg(format!("--{name}")).arg(name);
            }
            let ran = run(&mut plugin).passes();
            let found = run::files(&folder.join("dest"));
            let want: std::collections::BTreeMap<String, String> =
                files_of(&what, &examples(result)[0]).into_iter().collect();
            let is_conflict = ran.shown().contains("conflict") && !ran.shown().contains("; 0 conflicts");
            if found != want || result.contains("and a conflict") != is_conflict {
                wrong.push(format!("{rule}: {found:#?}\n{}", ran.shown()));
            }
            checked += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(checked > 30, "{checked}");
}

/// The files of a page that a reader cannot name: neither the text in the lines above a file nor its first line says what it is called.
fn nameless<'a>(text: &'a str) -> Vec<&'a str> {
    const ABOVE: usize = 12;
    let lines: Vec<&str> = text.lines().collect();
    let file = |(at, line): (usize, &'a str)| {
        let path = line.trim().strip_prefix("<!-- file ")?.strip_suffix(" -->")?;
        let name = path.rsplit('/').next()?;
        let above = lines[at.saturating_sub(ABOVE)..at].iter().filter(|line| !line.trim().starts_with("<!--"));
        let said = above.chain(lines.get(at + 2)).any(|line| line.contains(name));
        (!said).then_some(path)
    };
    lines.iter().copied().enumerate().filter_map(file).collect()
}

#[test]
fn a_reader_sees_the_name_of_each_file() {
    assert_eq!(nameless("A file, `b.yaml`:\n\n<!-- file a/b.yaml -->\n```yaml\na: 1\n```\n"), [""; 0]);
    assert_eq!(nameless("<!-- file a/b.yaml -->\n```yaml\n# a/b.yaml\na: 1\n```\n"), [""; 0]);
    assert_eq!(nameless("A file:\n\n<!-- file a/b.yaml -->\n```yaml\na: 1\n```\n"), ["a/b.yaml"]);
    for page in pages() {
        assert_eq!(nameless(&read(&page)), [""; 0], "{page}");
    }
}

/// Whether these lines are among those that were printed, one after the other.
fn is_in(block: &str, printed: &str) -> bool {
    let is_same = |(want, line): (&str, &str)| match (want.strip_prefix('…'), want.strip_suffix('…')) {
        (Some(_), _) => line.contains(want.trim_matches('…').trim()),
        (None, Some(begins)) => line.starts_with(begins),
        (None, None) => line == want,
    };
    let (want, lines): (Vec<&str>, Vec<&str>) = (block.lines().collect(), printed.lines().collect());
    lines.windows(want.len()).any(|window| want.iter().copied().zip(window.iter().copied()).all(is_same))
}

#[test]
fn lines_are_found_only_whole_and_in_a_row() {
    for (block, want) in [
        ("b\n", true),
        ("a b\nb\n", true),
        ("a\n", false),
        ("a b\nc\n", false),
        ("a…\nb\n", true),
        ("… b…\nb\n", true),
        ("b…\nb\n", false),
    ] {
        assert_eq!(is_in(block, "x\na b\nb\ny\nc\n"), want, "{block}");
    }
}

/// Whether a functionConfig, or fields of its `spec`, are right in some mode, whatever the items are.
fn is_understood(block: &str) -> bool {
    let of_mode = |mode: &str| {
        let config = match block {
            _ if block.starts_with("apiVersion") || block.starts_with('#') => block.to_owned(),
            _ if block.starts_with("spec:\n") => format!("apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\n{block}"),
            _ => {
                let spec = indent(&format!("{mode}{block}"), 2);
                format!("apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n{spec}")
            }
        };
        let list = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\nfunctionConfig:\n";
        let output = krm_merge_function::run(&format!("{list}{}", indent(&config, 2)));
        let of_items = ["must select at least one", "no resource matches", "items must have the annotation"];
        let mut errors = output.stderr.iter().filter(|line| line.starts_with("error: "));
        errors.all(|error| of_items.iter().any(|known| error.contains(known)))
    };
    ["", "mode: TwoWay\n", "mode: ThreeWay\n", "mode: Strategic\n"].iter().any(|mode| of_mode(mode))
}

#[test]
fn a_config_is_understood_only_if_it_is_right() {
    assert!(is_understood("onConflict: Fail\n") && is_understood("newElements: Prepend\n"));
    assert!(!is_understood("onConflict: Fails\n") && !is_understood("modes: 1\n"));
}

#[test]
fn each_block_of_the_function_s_page_is_true() {
    if !has("bash") {
        return;
    }
    let page = "functions/merge/README.md";
    let mut terminal = Terminal::of(&checkout("function-page"));
    arrange(&mut terminal);
    assert!(walk(page, &mut terminal) > 0);
}

#[test]
fn each_block_of_the_examples_is_true() {
    if !has("bash") {
        return;
    }
    let of_example = |page: &String| {
        // An example is a package that a reader fetched into the current folder.
        let mut terminal = Terminal::of(&checkout(&page.replace(['/', '.'], "-")).join("examples"));
        arrange(&mut terminal);
        walk(page, &mut terminal)
    };
    let tested: usize = pages().iter().filter(|page| page.starts_with("examples/")).map(of_example).sum();
    assert!(tested >= 8, "{tested}");
}

/// No page needs or changes what another one made, apart from the link of the README.
#[test]
fn each_block_of_the_readme_and_the_book_is_true() {
    if !has("bash") {
        return;
    }
    let mut terminal = Terminal::of(&checkout("book"));
    walk("README.md", &mut terminal);
    arrange(&mut terminal);
    let tested: usize =
        book().iter().map(String::as_str).chain([COMPARISON, RECIPES]).map(|page| walk(page, &mut terminal)).sum();
    assert!(tested > 20, "{tested}");
}

#[test]
fn the_readme_is_read_in_five_minutes() {
    let lines = read("README.md").lines().count();
    assert!(lines < 120, "{lines} lines: move what a newcomer does not need to docs/");
}

/// The words of a page that a reader sees: none of a comment, and no line of a table.
fn words(page: &str) -> usize {
    let shown = page.split("<!--").map(|part| part.split_once("-->").map_or(part, |(_, shown)| shown));
    let is_word = |word: &&str| !word.chars().all(|c| "|-".contains(c));
    shown.flat_map(str::split_whitespace).filter(is_word).count()
}

/// What is new takes the place of what nobody needs: nobody reads a book that only grows.
#[test]
fn the_pages_do_not_grow() {
    const MOST_WORDS: usize = 18_500;
    assert_eq!(words("<!-- not this -->\n| a | b c |\n|---|---|\n"), 3);
    let all: usize = book().iter().map(|page| words(&read(page))).sum();
    assert!(all <= MOST_WORDS, "{all} words");
}

/// Who comes with a package or a base sees soon that it works.
#[test]
fn the_pages_of_kpt_and_kustomize_begin_with_a_result() {
    const MOST_WORDS: usize = 160;
    for page in ["docs/src/kpt.md", "docs/src/kustomize.md"] {
        let words = read(page).split("```text").next().unwrap_or_default().split_whitespace().count();
        assert!(words <= MOST_WORDS, "{page}: {words} words before the first output");
    }
}

/// What the README tells someone to do in a fresh clone is what CI does, and it merges what the README shows.
#[test]
fn the_readme_builds_and_tests_as_it_is_done_here() {
    let readme = read("README.md");
    let blocks = blocks("README.md", &readme);
    let shown = blocks.iter().find_map(|block| if let How::Shows(command) = block.how { Some(command) } else { None });
    let shown = shown.and_then(|command| command.strip_prefix("kubectl krm-merge ")).expect("a diff");
    let lines = [&*format!("cargo try {shown}"), "cargo xtask test"];
    let ci = read(".ci/run");
    for line in lines {
        assert!([&readme, &ci].iter().all(|text| text.lines().any(|l| l == line)), "{line}");
    }
    for page in ["CONTRIBUTING.md", "TESTING.md"] {
        assert!(read(page).contains(lines[1]), "{page}");
    }
}

#[test]
fn the_summary_lists_each_page_once() {
    let summary = read("docs/src/SUMMARY.md");
    let mut listed: Vec<String> = links(&summary).into_iter().map(|link| format!("docs/src/{link}")).collect();
    listed.push("docs/src/SUMMARY.md".to_owned());
    listed.sort();
    assert_eq!(listed, book());
}

/// A page without its blocks and its code spans.
fn prose(text: &str) -> String {
    let outside: Vec<&str> = text.split("```").step_by(2).collect();
    outside.join("\n").split('`').step_by(2).collect::<Vec<_>>().join("code")
}

/// The targets of the links of a page.
fn links(text: &str) -> Vec<String> {
    let prose = prose(text);
    prose.split("](").skip(1).map(|rest| rest.split(')').next().unwrap_or_default().to_owned()).collect()
}

/// The anchors of a page, as GitHub and mdBook make them of headings.
fn anchors(text: &str) -> BTreeSet<String> {
    let slug = |heading: &str| {
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.collect::<String>().to_lowercase().replace(' ', "-")
    };
    let outside = text.split("```").step_by(2).flat_map(str::lines);
    outside.filter(|l| l.starts_with('#')).map(|l| slug(l.trim_start_matches('#').trim())).collect()
}

/// Where this repository lies, for links from outside of it.
const HOME: &str = "https://github.com/krm-merge/krm-merge";

/// The path in the repository that a link of a page leads to, with its anchor; `None` for one that leads elsewhere.
fn target(page: &str, link: &str) -> Option<(PathBuf, Option<String>)> {
    let (path, anchor) = match link.split_once('#') {
        Some((path, anchor)) => (path, Some(anchor.to_owned())),
        None => (link, None),
    };
    let path = match path.strip_prefix(HOME) {
        Some(rest) => PathBuf::from(rest.strip_prefix("/blob/main/").or(rest.strip_prefix("/tree/main/"))?),
        None if path.contains("://") => return None,
        None if path.is_empty() => PathBuf::from(page),
        None => Path::new(page).with_file_name(path),
    };
    Some((path, anchor))
}

#[test]
fn each_link_between_pages_leads_somewhere() {
    let mut checked = 0;
    for page in pages() {
        for link in links(&read(&page)) {
            let Some((path, anchor)) = target(&page, &link) else { continue };
            checked += 1;
            assert!(root().join(&path).exists(), "{page}: {link}");
            let Some(anchor) = anchor else { continue };
            assert!(anchors(&read(&path)).contains(&anchor), "{page}: {link}");
        }
        // In the book a link to a file that is no page of it leads nowhere.
        if page.starts_with("docs/src/") {
            let outside = links(&read(&page)).into_iter().find(|link| link.contains("../"));
            assert_eq!(outside, None, "{page}: links out of the book begin with {HOME}");
        }
    }
    assert!(checked > 60, "{checked}");
}

#[test]
fn each_old_address_of_a_page_leads_somewhere() {
    let (text, book) = (read("docs/book.toml"), book());
    let (_, table) = text.split_once("[output.html.redirect]\n").expect("the last table");
    let path = |address: &str| format!("docs/src/{}", address.trim_start_matches('/').replace(".html", ".md"));
    let rows: Vec<[&str; 2]> = table
        .lines()
        .filter_map(|line| line.split_once(" = ").map(|(old, new)| [old, new].map(|s| s.trim_matches('"'))))
        .collect();
    assert_eq!(rows.len(), table.lines().count());
    for [old, new] in rows {
        assert!(!book.contains(&path(old)), "{old} is a page");
        let (page, anchor) = new.split_once('#').unwrap_or((new, ""));
        let is_there =
            || book.contains(&path(page)) && (anchor.is_empty() || anchors(&read(path(page))).contains(anchor));
        assert!(new.starts_with(HOME) || is_there(), "{old}: {new}");
    }
}

/// The values of `-o` that the help of a command lists.
fn formats(command: &str) -> Vec<String> {
    let help = run(Command::new(env!("CARGO_BIN_EXE_kubectl-krm_merge")).args([command, "--help"])).passes().stdout;
    let (_, behind) = help.split_once("--output <OUTPUT>").expect("the flag");
    let of_flag = behind.lines().take_while(|line| line.is_empty() || line.starts_with("          "));
    of_flag.filter_map(|line| Some(line.trim().strip_prefix("- ")?.split_once(':')?.0.to_owned())).collect()
}

/// The sources of the programs, without the files of tests.
fn sources() -> Vec<String> {
    let of = |folder: &str| run::files(&root().join(folder)).into_iter();
    let files = ["crates", "src"].into_iter().flat_map(of);
    files.filter(|(path, _)| path.ends_with(".rs") && !path.contains("tests")).map(|(_, text)| text).collect()
}

/// The texts in quotes between two lines of a source.
fn quoted(begin: &str, end: &str) -> Vec<String> {
    let sources = sources();
    let mut parts = sources.iter().filter_map(|text| Some(text.split_once(begin)?.1.split_once(end)?.0));
    parts.next().expect("a part").split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// What a program can be asked for, and what it reads in an answer.
#[test]
fn each_format_and_each_reason_is_on_its_page() {
    let missing = |page: &str, names: &[String], as_written: fn(&str) -> String| {
        let text = read(page);
        assert!(names.len() > 5, "{page}: {names:?}");
        let missing: Vec<&String> = names.iter().filter(|name| !text.contains(&as_written(name))).collect();
        assert_eq!(missing, [""; 0], "{page}");
    };
    missing("docs/src/plugin.md", &formats("three-way"), |name| format!("`-o {name}`"));
    missing("docs/src/fork.md", &formats("diff"), |name| format!("`{name}`"));
    let mut reasons = quoted("pub fn reason(&self)", "_ => return None");
    reasons.extend(["added", "removed", "changed"].map(str::to_owned));
    missing("docs/src/plugin.md", &reasons, |name| format!("`{name}`"));
}

/// The dependencies of a crate that are not ours, without those of its tests.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut is_of_crate = false;
    let mut out = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            is_of_crate = line == "[dependencies]" || line.starts_with("[target") && line.ends_with(".dependencies]");
        } else if let (true, Some(name)) = (is_of_crate, line.split(['.', ' ']).next()) {
            out.push(name.to_owned());
        }
    }
    out.retain(|name| !name.is_empty() && !name.starts_with(['#', '"', '}', ']']) && !name.starts_with("krm-"));
    out
}

#[test]
fn each_dependency_has_a_line() {
    let page = read("DEPENDENCIES.md");
    let crates = fs::read_dir(root().join("crates")).expect("crates").map(|e| e.expect("an entry").file_name());
    let manifests = crates.map(|name| format!("crates/{}/Cargo.toml", name.display())).chain(["Cargo.toml".to_owned()]);
    let names: BTreeSet<String> = manifests.flat_map(|manifest| dependencies(&read(manifest))).collect();
    assert!(names.len() > 30, "{names:?}");
    for name in names {
        assert!(page.contains(&format!("\n| {name} |")), "{name}");
    }
}

#[test]
fn each_error_that_the_page_for_trouble_explains_is_printed() {
    let text = read("docs/src/faq.md");
    let (_, section) = text.split_once("## What do krm-merge's errors mean?").expect("a section");
    let rows = section.split("\n## ").next().unwrap_or_default().lines().filter_map(|line| line.strip_prefix("| `"));
    let errors: Vec<&str> = rows.filter_map(|row| row.split('`').next()).collect();
    assert!(errors.len() > 3, "{errors:?}");
    let sources = sources();
    for error in errors {
        assert!(sources.iter().any(|text| text.contains(error)), "{error}");
    }
}

/// What SECURITY.md says of what is not trusted is held by the tests that it names.
#[test]
fn each_test_that_the_security_policy_names_is_there() {
    let sources = ["crates", "src", "tests"].into_iter().flat_map(|folder| {
        let files = run::files(&root().join(folder)).into_keys().filter(|path| path.ends_with(".rs"));
        files.map(move |path| read(format!("{folder}/{path}"))).collect::<Vec<_>>()
    });
    let sources: Vec<String> = sources.collect();
    let policy = read("SECURITY.md");
    let rows = policy.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    let rows: Vec<&str> = rows.take_while(|line| line.starts_with('|')).collect();
    assert_eq!(rows.len(), 13, "{rows:?}");
    for row in rows {
        let named = row.split('|').nth(3).unwrap_or_default();
        let names: Vec<&str> = named.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty(), "{row}");
        for name in names {
            let is_there = |text: &String| {
                text.contains(&format!("#[test]\nfn {name}()")) || text.contains(&format!("#[test]\n    fn {name}()"))
            };
            assert!(sources.iter().any(is_there), "{name}");
        }
    }
}

/// Links in sources, manifests and workflows: of what is printed, and of what registries show.
#[test]
fn each_link_from_outside_to_this_repository_leads_somewhere() {
    let mut files: Vec<(String, String)> =
        ["Cargo.toml", "plugin.yaml", "Dockerfile", "CHANGELOG.md", "docs/book.toml"]
            .map(|path| (path.to_owned(), read(path)))
            .into();
    for folder in ["src", "crates", "functions", ".github", "examples", "bots"] {
        let texts = run::files(&root().join(folder)).into_iter();
        files.extend(texts.map(|(path, text)| (format!("{folder}/{path}"), text)));
    }
    let mut checked = 0;
    for (file, text) in files {
        for rest in text.split(HOME).skip(1) {
            let end = rest.find(|c: char| c.is_whitespace() || "\"'`)>,".contains(c)).unwrap_or(rest.len());
            let link = format!("{HOME}{}", &rest[..end]);
            let Some((path, anchor)) = target(&file, &link) else { continue };
            checked += 1;
            assert!(root().join(&path).exists(), "{file}: {link}");
            assert!(anchor.is_none_or(|anchor| anchors(&read(&path)).contains(&anchor)), "{file}: {link}");
        }
    }
    assert!(checked > 8, "{checked}");
}

#[test]
fn workflows_forms_and_the_action_are_yaml() {
    let forms = run::files(&root().join(".github")).into_values();
    let all: Vec<String> = forms.chain([read("action.yml")]).collect();
    assert!(all.len() >= 6, "{}", all.len());
    for text in all {
        let doc = krm_yaml::Document::parse(&*text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let first = doc.roots().next().expect("a map");
        assert!(first.get("name").is_some() || first.get("contact_links").is_some(), "{text}");
    }
}

/// The krew manifest, as the workflow of a release fills it in, has an archive of that workflow for each platform.
#[test]
fn a_release_makes_each_archive_that_the_krew_manifest_names() {
    let release = read(".github/workflows/release.yml");
    let manifest = read("plugin.yaml");
    let archives = manifest.lines().filter_map(|l| l.trim().strip_prefix("uri: ")?.rsplit('/').next());
    let names: Vec<&str> =
        archives.filter_map(|a| a.strip_prefix("kubectl-krm_merge-")?.strip_suffix(".tar.gz")).collect();
    assert_eq!(names.len(), 4, "{names:?}");
    for name in names {
        assert!(release.contains(&format!("name: {name}}}")), "{name}");
    }
}

#[test]
fn packages_for_registries_hold_no_tests() {
    let packages =
        [("krm-merge", "src/lib.rs\n"), ("krm-merge-function", "src/lib.rs\n"), ("kubectl-krm-merge", "src/main.rs\n")];
    for (package, entry) in packages {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["package", "--list", "--allow-dirty", "--offline", "--package", package]).current_dir(root());
        let list = run(&mut cargo).passes().stdout;
        assert!(list.contains("README.md\n") && list.contains(entry), "{list}");
        let tests: Vec<&str> =
            list.lines().filter(|path| path.starts_with("tests/") || path.ends_with(".yaml")).collect();
        let of_catalog = ["functions/merge/function.yaml", "functions/merge/metadata.yaml"];
        assert!(tests.iter().all(|path| of_catalog.contains(path)), "{package}: {tests:?}");
    }
}
