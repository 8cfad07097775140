//! The sections of `--help` and the man pages besides the flags: examples, exit codes, environment.
//!
//! Both show the same sections. Lines that begin with two spaces are commands and keep their line breaks. They fit into a terminal of 80
//! columns, because help breaks longer lines, and then nobody can paste them.

use anyhow::{Result, bail};
use clap::Command;
use clap_mangen::Man;
use krm_files::command::called;

/// A section of a page.
struct Section {
    title: &'static str,
    text: &'static str,
}

/// The title of the section with the exit codes.
const EXIT_STATUS: &str = "Exit status";

const OF_THREE_WAY: &str = "\
Look at the upgrade of a package with local edits from upstream's v1 to its v2, then do it:
  kubectl krm-merge three-way --original v1 --updated v2 --dest my-package \\
      -o diff
  kubectl krm-merge three-way --original v1 --updated v2 --dest my-package \\
      --in-place

The same where upstream's versions are tags of this repository:
  kubectl krm-merge three-way --original .git/deploy@v1 \\
      --updated .git/deploy@v2 --dest deploy

Leave conflicts between markers, then decide them one by one:
  kubectl krm-merge three-way --original v1 --updated v2 --dest my-package \\
      --in-place --on-conflict mark
  kubectl krm-merge resolve my-package

Merge in a workflow, show each conflict beside its line, and fail if there is one:
  kubectl krm-merge three-way --original v1 --updated v2 --dest my-package \\
      --in-place -o github --conflicts-exit-code";

const OF_UPGRADE: &str = "\
Look at the upgrade of a package to its newest release, then do it, and decide the conflicts:
  kubectl krm-merge upgrade my-package -o diff
  kubectl krm-merge upgrade my-package
  kubectl krm-merge resolve my-package --record

Say once where a package comes from that you copied by hand:
  kubectl krm-merge upgrade my-package --from v1 \\
      --upstream https://example.com/team/repo.git/deploy

See in CI which packages of the repository are behind:
  kubectl krm-merge upgrade --check --all

Upgrade in a nightly job, and print the comment of a pull request:
  kubectl krm-merge upgrade my-package -o markdown --in-place > body.md";

const OF_MERGE: &str = "\
Merge the sides in a file, {\"original\": \"a: 1\", \"updated\": \"a: 2\", \"dest\": \"a: 1\"}:
  kubectl krm-merge merge < sides.json";

const OF_LIST: &str = "\
See what each package of a repository has, and how far it is behind:
  kubectl krm-merge list

Upgrade all that are behind, one after the other:
  kubectl krm-merge upgrade --all";

const OF_LOG: &str = "\
Read what upstream did since the release that a package has:
  kubectl krm-merge log my-package

The commits of one release, for the text of a pull request:
  kubectl krm-merge log my-package --to v2 -o markdown";

const OF_GET: &str = "\
Copy the release v1 of the folder deploy of a repository, and upgrade it later:
  kubectl krm-merge get https://example.com/team/repo.git/deploy@v1 my-package
  kubectl krm-merge upgrade my-package";

const OF_CACHE: &str = "\
See what is kept of upstreams, and remove it:
  kubectl krm-merge cache
  kubectl krm-merge cache --clear";

const OF_RESOLVE: &str = "\
Decide the conflicts that `git merge` left, one by one:
  kubectl krm-merge resolve

Merge by field what git merged by line, and leave what both sides changed:
  kubectl krm-merge resolve --take merged --git-add

Take our side in every conflict:
  kubectl krm-merge resolve --take ours my-package

Record the decisions, so that the next merge asks only for others:
  kubectl krm-merge resolve --record decisions.yaml my-package
  kubectl krm-merge three-way --original v2 --updated v3 --dest my-package \\
      --in-place --config decisions.yaml --on-conflict mark";

const OF_PLUGIN: &str = "\
Get a package from git, and upgrade it to the newest release, with your edits:
  kubectl krm-merge get https://example.com/team/repo.git/deploy@v1 my-package
  kubectl krm-merge upgrade my-package

Put an overlay over the resources of a folder, and apply the result:
  kubectl krm-merge two-way --source overlay/prod --dest base \\
      | kubectl apply -f -

Patch every Deployment of a folder:
  kubectl krm-merge strategic --patch patch.yaml --target kind=Deployment \\
      --dest . --in-place

See what a fork changed, and turn it into an overlay:
  kubectl krm-merge diff upstream my-fork
  kubectl krm-merge extract upstream my-fork > overlay.yaml

See what `kubectl apply` would change in a cluster, and what it would overwrite:
  kubectl krm-merge live -f my-package

Let git merge Kubernetes files by field, in this repository:
  kubectl krm-merge git-install

If both sides changed something, `--on-conflict` says who wins; each case is reported.";

const OF_EXTRACT: &str = "\
Turn a fork into an overlay, and take the next release with it:
  kubectl krm-merge extract upstream/v1 my-fork > overlay.yaml
  kubectl krm-merge two-way --source overlay.yaml --dest upstream/v2

If the fork also changed comments and layout:
  kubectl krm-merge extract --values upstream/v1 my-fork > overlay.yaml";

const OF_GIT_HISTORY: &str = "\
See what the driver would have done in this repository, without installing it:
  kubectl krm-merge git-history --since 1.year

Look at the files of one commit, as git and the driver merge them:
  kubectl krm-merge git-history -o diff 'COMMIT^!'";

/// The examples of a command; those of the plugin for an empty name.
fn examples(command: &str) -> &'static str {
    match command {
        "" => OF_PLUGIN,
        "two-way" => {
            "\
Put an overlay over the resources of a folder, and apply the result:
  kubectl krm-merge two-way --source overlay/prod --dest base \\
      --without-local-config | kubectl apply -f -

Set a field in place:
  kubectl krm-merge two-way --target kind=ConfigMap,name=a \\
      --patch '{data: {level: debug}}' --dest my-package --in-place"
        }
        "three-way" => OF_THREE_WAY,
        "merge" => OF_MERGE,
        "upgrade" => OF_UPGRADE,
        "get" => OF_GET,
        "list" => OF_LIST,
        "log" => OF_LOG,
        "cache" => OF_CACHE,
        "strategic" => {
            "\
Patch every Deployment of a folder:
  kubectl krm-merge strategic --patch patch.yaml --target kind=Deployment \\
      --dest . --in-place"
        }
        "live" => {
            "\
See what `kubectl apply` would change, and what it would overwrite, then apply it:
  kubectl krm-merge live -f my-package
  kubectl krm-merge live -f my-package --apply
See what someone changed in the cluster, as changes of the files:
  kubectl krm-merge live -f my-package --adopt -o diff"
        }
        "diff" => {
            "\
See by field what a fork changed, even if it also moved or reformatted something:
  kubectl krm-merge diff upstream my-fork

See what you changed in a package that records its upstream:
  kubectl krm-merge diff my-package

The same for two revisions of a file:
  kubectl krm-merge diff <(git show v1:web.yaml) <(git show v2:web.yaml)"
        }
        "extract" => OF_EXTRACT,
        "git-install" => {
            "\
Install the driver in this repository, and remove it again:
  kubectl krm-merge git-install
  kubectl krm-merge git-install --uninstall

For charts, too:
  kubectl krm-merge git-install --pattern '*.yaml' --pattern 'charts/**/*.tpl'"
        }
        "git-history" => OF_GIT_HISTORY,
        "explain" => {
            "\
See how the lists of a Rollout merge, and who says so:
  kubectl krm-merge explain rollout.argoproj.io spec.template

The same with the definitions and resources of a package, or with the definition in the cluster:
  kubectl krm-merge explain Rollout -f my-package
  kubectl krm-merge explain Rollout --live"
        }
        "resolve" => OF_RESOLVE,
        _ => "",
    }
}

const LIVE: Section = Section {
    title: "Promises",
    text: "\
`--apply` sends nothing if the server refuses any of it in a dry run. It changes an object only if the object is still as it was read. \
A dry run cannot check an object that needs a Namespace or a CustomResourceDefinition that is also new; an info says so.

A cluster has no transactions: objects are sent one by one, Namespaces and CustomResourceDefinitions first, webhooks last, the others \
in the order of the files. If the server refuses an object after all, the run ends, and what was sent before stays. The output says what was \
sent. Nothing is deleted without `--prune`.",
};

const KEYS: Section = Section {
    title: "Keys",
    text: "\
o ours, t theirs, b both, n the newer version (where the sides differ in nothing else), e edit (with `VISUAL` or `EDITOR`), s skip, u undo, \
q write and quit; arrows, PgUp, PgDn, Home and End scroll. Files that git merged by line are merged by field first; u before the first answer \
takes that back. Ctrl-C quits and writes nothing. If the conflict also shows the original (git's `merge.conflictStyle` of diff3 or zdiff3), each side \
is compared with it. Run `git add` to tell git that a file is resolved, or use `--git-add`.",
};

const RULES: Section = Section {
    title: "Rules",
    text: "\
`.krm-merge.yaml` at the root of the repository is a functionConfig without sides: its `rules` decide conflicts (Dest is ours, Updated \
theirs), and `mergeKeys`, `openapi`, `inferMergeKeys` and `conflictLevel` say how lists and texts merge. Conflicts that it does not decide \
stay between markers. The driver reads the file of the work tree. If it cannot be read, a warning says so, and files are merged without it. \
The driver reads CustomResourceDefinitions from git's index. If branches merged each other, no rule decides in their common ancestors.",
};

const EXIT_OF_PLUGIN: Section = Section {
    title: EXIT_STATUS,
    text: "0 done; 1 something is open or differs; 2 bad usage or input, and nothing is written. The help of each command says more.",
};

const EXIT_OF_RESOLVE: Section = Section {
    title: EXIT_STATUS,
    text: "0 no conflict is left; 1 some are; 2 bad usage or input, and nothing is written; 130 Ctrl-C, and nothing is written.",
};

const EXIT: Section = Section { title: EXIT_STATUS, text: "0 done, or nothing to do; 2 bad usage or input." };

const EXIT_OF_MERGE: Section = Section {
    title: EXIT_STATUS,
    text: "\
0 done; 1 differences with `--exit-code`; 2 bad usage or input, and nothing is written; 130, 143 or 129 if SIGINT, SIGTERM or SIGHUP stopped \
`--in-place`, and nothing is written.",
};

const EXIT_OF_THREE_WAY: Section = Section {
    title: EXIT_STATUS,
    text: "\
0 done; 1 conflicts under `--on-conflict fail` or `mark`, conflicts of any kind with `--conflicts-exit-code`, differences with `--exit-code`; \
2 bad usage or input, and nothing is written; 130, 143 or 129 if SIGINT, SIGTERM or SIGHUP stopped `--in-place`, and nothing is written.",
};

const EXIT_OF_UPGRADE: Section = Section {
    title: EXIT_STATUS,
    text: "\
0 each package has its release; 1 conflicts between markers or under `--on-conflict fail`, something newer or wanted with `--check`, \
conflicts of any kind with `--conflicts-exit-code`, differences with `--exit-code`; 2 bad usage or input, and nothing is written in this \
package; 130, 143 or 129 if SIGINT, SIGTERM or SIGHUP stopped the run, and nothing more is written.",
};

const EXIT_OF_LIVE: Section = Section {
    title: EXIT_STATUS,
    text: "\
0 done; 1 conflicts under `--on-conflict fail`, conflicts of any kind with `--conflicts-exit-code`, differences with `--exit-code`; \
2 bad usage or input, the server refuses something, or something is not ready in time (`--wait`).",
};

const EXTRACT: Section = Section {
    title: "Patches",
    text: "\
The patch holds what differs, the path that leads there, and the fields that identify a resource or an element. It holds a field that does not \
differ only if a new field would not find its place without that neighbour. New resources are whole documents; if original is a folder, each \
has its path. Deleted resources have `$patch: delete`. kustomize's `patches` takes the documents of resources of Kubernetes' own types that original \
has, but puts new elements of lists before the others; of a custom resource, it replaces each list. `--mode strategic` gives the order of lists \
by `$setElementOrder`; `two-way` gives the whole list.

Before the patch is printed, it is merged into original, and the result is compared with dest. What no patch can express is named with its \
line: comments above fields, the order of fields, nulls, blank lines, indentation and quotes, and the places of documents.",
};

const EXIT_OF_DIFF: Section = Section {
    title: EXIT_STATUS,
    text: "0 no field differs, or no line with `-o diff`; 1 some do, unless `--exit-code=false` is given; 2 bad usage or input.",
};

const EXIT_OF_EXTRACT: Section = Section {
    title: EXIT_STATUS,
    text: "0 the patch is printed; it is empty if nothing differs; 1 no patch can express it, and nothing is printed; 2 bad usage or input.",
};

const JSON: Section = Section {
    title: "JSON",
    text: "\
The input has `dest`, and `original` and `updated`, or `source`. Each is a text, or an object with the text of each file by its path. It may have \
`functionConfig`, which is a text, too, and `mode`. The output has `passed`, `files`, `changes`, `results` and `conflicts`. Where nobody decided a \
conflict, the files have dest's value, and the conflict is `open`. These are the shapes of the npm package `@krm-merge/wasm`.",
};

const EXIT_OF_JSON: Section = Section {
    title: EXIT_STATUS,
    text: "0 merged, also with open conflicts; 1 not merged, and `results` has the errors; 2 stdin is no such JSON.",
};

const EXIT_OF_LIST: Section = Section {
    title: EXIT_STATUS,
    text: "0 done; 2 bad usage or input. What is wrong with one package does not keep the others from being listed.",
};

const EXIT_OF_HISTORY: Section =
    Section { title: EXIT_STATUS, text: "0 the history is replayed, whatever was in conflict; 2 bad usage or input." };

const EXIT_OF_CACHE: Section = Section {
    title: EXIT_STATUS,
    text: "0 the cache is listed, or all that no other run uses is removed; 2 it cannot be read or removed, or others may write it.",
};

const HISTORY: Section = Section {
    title: "Replays",
    text: "\
Merges, cherry-picks and reverts are replayed by `git merge-tree` of git 2.40 or newer, in a repository for trials that goes when the command ends. \
The configuration of the user and the repository does not count, nor does `.krm-merge.yaml`. A cherry-pick is found by the line of `git cherry-pick -x`, \
or by its author, the author's time and its first line, if its original is on a branch or below a tag. Only files that the driver is for count, and of them \
those that both sides changed. A file that is not as committed was changed while it was merged, or was merged wrong: the command above it shows it.",
};

const EXIT_OF_DRIVER: Section = Section {
    title: EXIT_STATUS,
    text: "\
0 merged; 1 someone must decide the conflicts between the markers; 255 a file cannot be read or written, and git stops its merge. \
git expects these codes. The command that `git-install` configures merges the lines with `git merge-file` if this program ends with another code below 128, or is not there.",
};

const ENVIRONMENT: Section = Section {
    title: "Environment",
    text: "\
`NO_COLOR`: if it is set, nothing is coloured, unless `--color=always` is given. The same holds if `TERM` is `dumb`. `CLICOLOR_FORCE`: if it is \
set and not `0`, output that is no data is coloured outside of a terminal, too.

`XDG_CACHE_HOME` and `HOME`: where the cache of releases lies, as `~/.cache/krm-merge`.

`KRM_MERGE_DRIVER`: with `off`, the driver leaves each file to git's own merge by line in this run.

`KUBECONFIG`: the configuration of `live`, as for kubectl. `XDG_CONFIG_HOME` and `HOME`: where `git-install --global` finds the attributes of the user.",
};

/// The section with the link to the documentation of a command.
fn documentation(command: &str) -> Section {
    let text = match command {
        "two-way" => "https://github.com/krm-merge/krm-merge/blob/main/docs/src/merging.md#overlays-and-patches",
        "three-way" => {
            "https://github.com/krm-merge/krm-merge/blob/main/docs/src/directories.md#upgrade-from-two-directories"
        }
        "upgrade" | "get" => "https://github.com/krm-merge/krm-merge/blob/main/docs/src/quick-start.md",
        "list" | "log" => "https://github.com/krm-merge/krm-merge/blob/main/docs/src/bots.md#upgrade-many-packages",
        "cache" => "https://github.com/krm-merge/krm-merge/blob/main/docs/src/package-record.md#cache",
        "diff" | "extract" => "https://github.com/krm-merge/krm-merge/blob/main/docs/src/fork.md",
        "explain" => "https://github.com/krm-merge/krm-merge/blob/main/docs/src/merging.md#ask-how-a-type-merges",
        "strategic" => "https://github.com/krm-merge/krm-merge/blob/main/docs/src/patch.md",
        "live" => "https://github.com/krm-merge/krm-merge/blob/main/docs/src/cluster.md",
        "git-install" | "git-driver" => "https://github.com/krm-merge/krm-merge/blob/main/docs/src/git.md",
        "git-history" => {
            "https://github.com/krm-merge/krm-merge/blob/main/docs/src/git.md#try-the-driver-on-your-history"
        }
        "resolve" => "https://github.com/krm-merge/krm-merge/blob/main/docs/src/conflicts.md",
        _ => "https://github.com/krm-merge/krm-merge/blob/main/docs/src/plugin.md",
    };
    Section { title: "Documentation", text }
}

fn sections(command: &str) -> Vec<Section> {
    let mut all = vec![Section { title: "Examples", text: examples(command) }];
    all.extend((command == "live").then_some(LIVE));
    all.extend((command == "resolve").then_some(KEYS));
    all.extend((command == "git-install" || command == "git-driver").then_some(RULES));
    all.extend((command == "extract").then_some(EXTRACT));
    all.extend((command == "git-history").then_some(HISTORY));
    all.extend((command == "merge").then_some(JSON));
    all.push(match command {
        "diff" => EXIT_OF_DIFF,
        "extract" => EXIT_OF_EXTRACT,
        "merge" => EXIT_OF_JSON,
        "list" | "log" => EXIT_OF_LIST,
        "git-driver" => EXIT_OF_DRIVER,
        "git-history" => EXIT_OF_HISTORY,
        "cache" => EXIT_OF_CACHE,
        "resolve" => EXIT_OF_RESOLVE,
        "two-way" | "strategic" => EXIT_OF_MERGE,
        "three-way" => EXIT_OF_THREE_WAY,
        "upgrade" => EXIT_OF_UPGRADE,
        "live" => EXIT_OF_LIVE,
        "" => EXIT_OF_PLUGIN,
        _ => EXIT,
    });
    all.push(ENVIRONMENT);
    all.push(documentation(command));
    all.retain(|section| !section.text.is_empty());
    all
}

/// The text after the flags in `--help`.
pub fn of(command: &str) -> String {
    let shown = sections(command).into_iter().filter(|section| section.title != ENVIRONMENT.title);
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
    for section in sections(name.unwrap_or_default()) {
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
        let is_command = line.starts_with("  ");
        if is_command != is_literal {
            out.push_str(if is_command { ".RS 4\n.nf\n" } else { ".fi\n.RE\n" });
            is_literal = is_command;
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
