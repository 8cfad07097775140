//! The sections of `--help` and the man pages besides the flags: examples, exit codes, environment.
//!
//! Both show the sections of `manual.txt`. The commands there keep their line breaks. They fit into a terminal of 80 columns, because help
//! breaks longer lines, and then nobody can paste them.

use anyhow::{Result, bail};
use clap::Command;
use clap_mangen::Man;
use krm_files::command::called;

/// A section of a page.
struct Section {
    title: &'static str,
    text: &'static str,
}

/// The sections of a command, or of the plugin for `plugin`.
fn sections(command: &str) -> impl Iterator<Item = Section> {
    include_str!("manual.txt").split("\n# ").skip(1).filter_map(move |section| {
        let (head, text) = section.split_once('\n')?;
        let (title, commands) = head.split_once(": ")?;
        let is_here = commands.split(' ').any(|of| of == command || of == "*");
        is_here.then_some(Section { title, text: text.trim_end() })
    })
}

/// The text after the flags in `--help`.
pub fn of(command: &str) -> String {
    let shown = sections(command).filter(|section| section.title != "Environment");
    let shown = shown.map(|section| format!("{}:\n{}", section.title, section.text));
    let all = shown.collect::<Vec<_>>().join("\n\n");
    let of_cluster =
        |paragraph: &&str| !cfg!(feature = "live") && [" live ", "--live"].iter().any(|word| paragraph.contains(word));
    let known: Vec<&str> = all.split("\n\n").filter(|paragraph| !of_cluster(paragraph)).collect();
    known.join("\n\n").replace(AS_PLUGIN, called())
}

/// What the texts here call the program.
const AS_PLUGIN: &str = "kubectl krm-merge";

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The man page of the plugin, or of one of its commands.
///
/// # Errors
/// There is no command with this name.
pub fn page(command: &Command, name: Option<&str>) -> Result<String> {
    let program = called().replace(' ', "-");
    let found = match name {
        None => command.clone().display_name(program.as_str()),
        Some(name) => match command.find_subcommand(name).filter(|c| !c.is_hide_set()) {
            Some(found) => found.clone().display_name(format!("{program}-{name}")).version(VERSION),
            None => bail!("there must be a command of that name, not \"{name}\""),
        },
    };
    let page = Man::new(found).source(format!("{program} {VERSION}"));
    let mut out = Vec::new();
    page.render_title(&mut out)?;
    page.render_name_section(&mut out)?;
    page.render_synopsis_section(&mut out)?;
    page.render_description_section(&mut out)?;
    page.render_options_section(&mut out)?;
    if name.is_none() {
        page.render_subcommands_section(&mut out)?;
    }
    let mut text = String::from_utf8(out)?;
    for section in sections(name.unwrap_or("plugin")) {
        text.push_str(&roff(&section));
    }
    text.push_str(&see_also(command, name, &program));
    Ok(text)
}

/// A section as roff.
fn roff(section: &Section) -> String {
    let mut out = format!(".SH {}\n", section.title.to_uppercase());
    let mut is_literal = false;
    for line in section.text.replace(AS_PLUGIN, called()).lines() {
        // A command, or an address, which may be longer than a line.
        let is_whole = line.starts_with("  ") || line.starts_with("https://");
        if is_whole != is_literal {
            out.push_str(if is_whole { ".RS 4\n.nf\n" } else { ".fi\n.RE\n" });
            is_literal = is_whole;
        }
        out.push_str(&match line.is_empty() {
            true => ".PP\n".to_owned(),
            false => escaped(line.strip_prefix("  ").unwrap_or(line)) + "\n",
        });
    }
    if is_literal {
        out.push_str(".fi\n.RE\n");
    }
    out
}

/// A line of text, escaped so that roff shows it unchanged. Source: groff_char(7), on ASCII that must stay unchanged.
fn escaped(line: &str) -> String {
    let mut out = if line.starts_with(['.', '\'']) { "\\&".to_owned() } else { String::new() };
    for c in line.chars() {
        match c {
            '\\' => out.push_str("\\e"),
            '-' => out.push_str("\\-"),
            '\'' => out.push_str("\\(aq"),
            '`' => out.push_str("\\(ga"),
            '^' => out.push_str("\\(ha"),
            '~' => out.push_str("\\(ti"),
            c => out.push(c),
        }
    }
    out
}

/// The section with the names of the other pages.
fn see_also(command: &Command, name: Option<&str>, program: &str) -> String {
    let commands = command.get_subcommands().filter(|c| !c.is_hide_set()).map(Command::get_name);
    let pages = commands.filter(|other| Some(*other) != name).map(|other| format!("{program}-{other}"));
    let own = name.map(|_| program.to_owned());
    let all = own.into_iter().chain(pages).chain([
        "kubectl".to_owned(),
        "git-merge-file".to_owned(),
        "gitattributes".to_owned(),
    ]);
    let section = |page: &str| if page == "gitattributes" { 5 } else { 1 };
    let all: Vec<String> = all.map(|page| format!(".BR {} ({})", escaped(&page), section(&page))).collect();
    format!(".SH SEE ALSO\n{}\n", all.join(",\n"))
}
