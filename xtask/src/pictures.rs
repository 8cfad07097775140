//! `cargo xtask pictures`: the pictures of README and the book, from the built programs in a real terminal (tmux) and a real browser (Chromium).
//!
//! Those of the terminal are texts, so they are the same to the byte wherever they are made: `--check` compares them with those that are
//! committed. Those of the browser have the fonts of a machine.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use std::{env, fs, thread};

/// The columns of the terminal.
const COLUMNS: &str = "100";

/// What is done in a terminal before a picture is taken.
struct Scene {
    name: &'static str,
    /// The lines of the terminal.
    lines: &'static str,
    /// What is not shown.
    before: &'static str,
    /// The commands that are shown. They have no single quotes.
    shown: &'static [&'static str],
    /// What the terminal shows when everything is there.
    until: &'static str,
}

const SCENES: [Scene; 3] = [
    Scene {
        name: "upgrade",
        lines: "40",
        before: "docs/comparison/upstream.sh gates.git
git config --global url.\"$PWD/\".insteadOf https://example.com/
kubectl krm-merge get https://example.com/gates.git/gate@v1 gate
cp docs/comparison/mine/*.yaml gate/
git init --quiet && git add gate && git commit --quiet --message 'the package, with our changes'",
        shown: &["kubectl krm-merge upgrade gate --check", "kubectl krm-merge upgrade gate", "tail -n 13 gate/web.yaml"],
        until: "scaled by hand",
    },
    Scene { name: "resolve", lines: "16", before: "", shown: &["kubectl krm-merge resolve gate/web.yaml"], until: "o ours" },
    Scene {
        name: "git-merge",
        lines: "28",
        before: "git init --quiet --initial-branch=main team && cd team
printf 'apiVersion: v1\\nkind: Service\\nmetadata:\\n  name: web\\nspec:\\n  ports:\\n  - name: http\\n    port: 80\\n' > service.yaml
git add --all && git commit --quiet --message 'a service'
git checkout --quiet -b metrics
printf '  - name: metrics\\n    port: 9090\\n' >> service.yaml
git commit --quiet --all --message metrics
git checkout --quiet main
printf '  - name: admin\\n    port: 8081\\n' >> service.yaml
git commit --quiet --all --message admin",
        shown: &[
            "git merge --no-edit metrics",
            "git merge --abort",
            "kubectl krm-merge git-install > /dev/null",
            "git merge --no-edit metrics",
            "tail -n 6 service.yaml",
        ],
        until: "port: 9090",
    },
];

/// The scenes of the film on top of README. Each goes on where the one before it ended.
const FILM: [Scene; 5] = [
    Scene {
        name: "get",
        lines: FILM_LINES,
        before: "mkdir film && cd film
../docs/comparison/upstream.sh gates.git
git config --global url.\"$PWD/\".insteadOf https://example.com/",
        shown: &["kubectl krm-merge get https://example.com/gates.git/gate@v1 gate", "ls gate"],
        until: "web.yaml",
    },
    Scene {
        name: "edit",
        lines: FILM_LINES,
        before: "cd film && git init --quiet && git add gate && git commit --quiet --message 'Add gate'",
        shown: &[
            "sed -i \"s/web:1.4/web:1.4-fix # our patch/; s/replicas: 1/replicas: 3/\" gate/web.yaml",
            "git --no-pager diff --color --unified=1 gate",
            "git commit --quiet --all --message \"Our edits\"",
            "kubectl krm-merge upgrade gate --check",
        ],
        until: "to expect",
    },
    Scene {
        name: "upgrade",
        lines: FILM_LINES,
        before: "cd film",
        shown: &["kubectl krm-merge upgrade gate"],
        until: "--record",
    },
    Scene {
        name: "resolve",
        lines: FILM_LINES,
        before: "cd film",
        shown: &["kubectl krm-merge resolve gate"],
        until: "o ours",
    },
    Scene {
        name: "done",
        lines: FILM_LINES,
        before: "cd film",
        shown: &["kubectl krm-merge resolve gate --take ours", "cat gate/web.yaml"],
        until: "our patch",
    },
];

const FILM_LINES: &str = "20";

/// What is made of the pictures.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Task {
    /// They take the place of those that are committed.
    Write,
    /// Those of the terminal are compared with those that are committed.
    Compare,
}

/// Makes the pictures, or compares them.
pub fn run(mut args: impl Iterator<Item = String>) -> Result<(), String> {
    let task = match (args.next().as_deref(), args.next()) {
        (None, None) => Task::Write,
        (Some("--check"), None) => Task::Compare,
        _ => return Err(super::USAGE.into()),
    };
    let root = crate::machine::root()?;
    done(Command::new(env!("CARGO")).args(["build", "--locked", "--workspace", "--bins"]).current_dir(&root))?;
    let programs =
        env::current_exe().ok().and_then(|own| Some(own.parent()?.to_owned())).ok_or("the folder of xtask")?;
    let path = format!("{}:{}", programs.display(), env::var("PATH").unwrap_or_default());
    let (images, stage) = (root.join("docs/src/images"), root.join("target/pictures"));
    let _ = fs::remove_dir_all(&stage);
    for folder in [&images, &stage] {
        fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    done(Command::new("cp").args(["-r", "examples", "docs"]).arg(&stage).current_dir(&root))?;
    let shown = |scene: &Scene| Ok((scene.name, shown(scene, &stage, &path)?));
    let pictures = SCENES.iter().map(shown).collect::<Result<Vec<_>, String>>()?;
    let film = FILM.iter().map(shown).collect::<Result<Vec<_>, String>>()?;
    let pictures = pictures.iter().map(|(name, text)| (*name, svg(text))).chain([("film", self::film(&film))]);
    for (name, picture) in pictures {
        let file = images.join(format!("{name}.svg"));
        match task {
            Task::Write => write(&file, picture.as_bytes())?,
            Task::Compare if fs::read_to_string(&file).is_ok_and(|there| there == picture) => {}
            Task::Compare => {
                let made = stage.join(format!("{name}.svg"));
                write(&made, picture.as_bytes())?;
                return Err(format!(
                    "{} must be what the programs show, as {} is: run `cargo xtask pictures`",
                    file.display(),
                    made.display()
                ));
            }
        }
    }
    if task == Task::Compare {
        return Ok(());
    }
    let mut page = Command::new("kubectl-krm_merge");
    page.args([
        "three-way",
        "--original",
        "docs/comparison/v1",
        "--updated",
        "docs/comparison/v2",
        "--dest",
        "docs/comparison/mine",
    ]);
    let page = page.args(["-o", "html"]).env("PATH", &path).current_dir(&stage).output().map_err(|e| e.to_string())?;
    let file = stage.join("review.html");
    write(&file, &page.stdout)?;
    for scheme in ["light", "dark"] {
        let mut chromium = Command::new("chromium");
        chromium.args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1000,1000"]);
        chromium.arg(format!("--blink-settings=preferredColorScheme={}", u8::from(scheme == "light")));
        chromium.arg(format!("--screenshot={}", images.join(format!("page-{scheme}.png")).display()));
        done(chromium.arg(format!("file://{}", canonical(&file)?.display())))?;
    }
    Ok(())
}

/// What the terminal shows at the end of a scene, with the sequences for colours.
fn shown(scene: &Scene, stage: &Path, path: &str) -> Result<String, String> {
    let commands: String = scene.shown.iter().map(|command| format!("step '{command}'\n")).collect();
    // kubectl would do nothing but start the plugin.
    let step = "kubectl() { shift; kubectl-krm_merge \"$@\"; }
step() { printf '\\033[1m$ %s\\033[0m\\n' \"$1\"; eval \"$1\"; }";
    let script = stage.join("scene.sh");
    write(&script, format!("{{ {}\n:; }} >/dev/null 2>&1\n{step}\n{commands}sleep 60\n", scene.before).as_bytes())?;
    let mut begin = tmux(scene);
    begin.env_remove("XDG_CACHE_HOME").env_remove("XDG_CONFIG_HOME");
    for who in ["AUTHOR", "COMMITTER"] {
        begin.env(format!("GIT_{who}_NAME"), "me").env(format!("GIT_{who}_EMAIL"), "me@example.com");
        // A commit is named after its time, too.
        begin.env(format!("GIT_{who}_DATE"), "2026-01-01T00:00:00Z");
    }
    begin
        .args(["new-session", "-d", "-x", COLUMNS, "-y", scene.lines])
        .args(["bash", "--norc"])
        .arg(canonical(&script)?);
    done(begin.current_dir(stage).env("PATH", path).env("HOME", canonical(stage)?).env_remove("NO_COLOR"))?;
    let (start, mut text, mut is_still) = (Instant::now(), String::new(), false);
    // What comes may still be coming.
    while !(is_still && text.contains(scene.until)) && start.elapsed() < Duration::from_secs(20) {
        thread::sleep(Duration::from_millis(500));
        let output = tmux(scene).args(["capture-pane", "-e", "-p"]).output().map_err(|e| format!("tmux: {e}"))?;
        let now = String::from_utf8_lossy(&output.stdout).into_owned();
        (is_still, text) = (now == text, now);
    }
    done(tmux(scene).arg("kill-server"))?;
    if text.contains(scene.until) {
        Ok(text)
    } else {
        Err(format!("{}: \"{}\" does not come:\n{text}", scene.name, scene.until))
    }
}

/// tmux, with a server of its own for a scene: one that ends would take the next scene with it.
fn tmux(scene: &Scene) -> Command {
    let mut tmux = Command::new("tmux");
    tmux.args(["-L", &format!("krm-merge-{}", scene.name), "-f", "/dev/null"]);
    tmux
}

/// How wide a column is, and how high a line.
const WIDTH: usize = 8;
const HEIGHT: usize = 18;

/// A terminal as SVG.
fn svg(text: &str) -> String {
    let text = text.trim_end();
    document(text.lines().count(), &pieces(text))
}

/// Several terminals as SVG, one after the other, under their names. Who wants no motion, or whose viewer has none, sees the last one.
fn film(scenes: &[(&str, String)]) -> String {
    const SECONDS: usize = 5;
    let (count, lines) = (scenes.len(), scenes.iter().map(|(_, text)| text.trim_end().lines().count()).max());
    let mut style = format!(
        "<style>g{{opacity:0;animation:{}s step-end infinite}}g:last-of-type{{opacity:1}}@media(prefers-reduced-motion:reduce){{g{{animation:none}}}}",
        count * SECONDS
    );
    let mut frames = String::new();
    for (at, (_, text)) in scenes.iter().enumerate() {
        let [begin, end] = [at, at + 1].map(|at| at * 100 / count);
        let first = u8::from(at == 0);
        style.push_str(&format!("@keyframes s{at}{{0%{{opacity:{first}}}{begin}%{{opacity:1}}{end}%{{opacity:0}}}}"));
        let names: Vec<String> = scenes
            .iter()
            .enumerate()
            .map(|(other, (name, _))| {
                format!("\x1b[{}m{} {name}\x1b[0m", if other == at { "1;36" } else { "90" }, other + 1)
            })
            .collect();
        let frame = format!("{}\n\n{}", names.join("   "), text.trim_end());
        frames.push_str(&format!("<g style=\"animation-name:s{at}\">\n{}</g>\n", pieces(&frame)));
    }
    document(lines.unwrap_or_default() + 2, &format!("{style}</style>\n{frames}"))
}

/// A picture of some lines.
fn document(lines: usize, content: &str) -> String {
    let columns: usize = COLUMNS.parse().unwrap_or_default();
    let (width, height) = ((columns + 4) * WIDTH, (lines + 2) * HEIGHT);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" font-family=\"ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#0d1117\"/>\n{content}</svg>\n"
    )
}

/// The text of a terminal: each piece of a line that has one colour is placed by its column.
fn pieces(text: &str) -> String {
    let mut out = String::new();
    let mut style = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let mut column = 0;
        for (at, piece) in line.split('\x1b').enumerate() {
            // Source: ECMA-48, Select Graphic Rendition.
            let sequence = piece.strip_prefix('[').filter(|_| at > 0).and_then(|rest| rest.split_once('m'));
            let text = sequence.map_or(piece, |(_, text)| text);
            for code in sequence.iter().flat_map(|(codes, _)| codes.split(';')) {
                match code {
                    "" | "0" => style.clear(),
                    "39" => style.retain(|own| *own == "1" || *own == "7"),
                    code => style.push(code),
                }
            }
            let count = text.chars().count();
            if !text.trim().is_empty() {
                let colour = style.iter().rev().find_map(|code| COLOURS.iter().find(|(own, _)| own == code));
                let fill = colour.map_or("#e6edf3", |(_, fill)| fill);
                let weight = if style.contains(&"1") { " font-weight=\"bold\"" } else { "" };
                let (x, y) = ((column + 2) * WIDTH, (number + 2) * HEIGHT - 5);
                let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
                // Spaces in a row would be one.
                let text = text.replace(' ', "\u{a0}");
                let length = count * WIDTH;
                out.push_str(&format!(
                    "<text x=\"{x}\" y=\"{y}\" fill=\"{fill}\"{weight} textLength=\"{length}\">{text}</text>\n"
                ));
            }
            column += count;
        }
    }
    out
}

/// The colours of the terminal, by their codes.
const COLOURS: [(&str, &str); 5] =
    [("90", "#6e7681"), ("31", "#ff7b72"), ("32", "#7ee787"), ("33", "#e3b341"), ("36", "#79c0ff")];

fn write(file: &Path, bytes: &[u8]) -> Result<(), String> {
    fs::write(file, bytes).map_err(|e| format!("{}: {e}", file.display()))
}

fn canonical(file: &Path) -> Result<PathBuf, String> {
    fs::canonicalize(file).map_err(|e| format!("{}: {e}", file.display()))
}

/// Runs a command, which must succeed.
fn done(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|e| format!("{command:?}: {e}"))?;
    let told = String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(()) } else { Err(format!("{command:?}: {told}")) }
}

#[cfg(test)]
mod tests {
    use super::{film, svg};

    #[test]
    fn a_piece_of_one_colour_has_its_column() {
        let text = svg("a \x1b[1m\x1b[32m<b>\x1b[0m c\n\n");
        let at = |x: usize, fill: &str, weight: &str, length: usize, text: &str| {
            format!("<text x=\"{x}\" y=\"31\" fill=\"{fill}\"{weight} textLength=\"{length}\">{text}</text>\n")
        };
        for line in [
            at(16, "#e6edf3", "", 16, "a\u{a0}"),
            at(32, "#7ee787", " font-weight=\"bold\"", 24, "&lt;b&gt;"),
            at(56, "#e6edf3", "", 16, "\u{a0}c"),
        ] {
            assert!(text.contains(&line), "{line}{text}");
        }
    }

    #[test]
    fn a_film_shows_each_scene_in_its_time_and_the_last_one_to_who_wants_no_motion() {
        let film = film(&[("get", "a\n".to_owned()), ("edit", "b\nc\n\n".to_owned())]);
        for part in [
            "animation:10s step-end infinite",
            "g:last-of-type{opacity:1}@media(prefers-reduced-motion:reduce){g{animation:none}}",
            "@keyframes s0{0%{opacity:1}0%{opacity:1}50%{opacity:0}}",
            "@keyframes s1{0%{opacity:0}50%{opacity:1}100%{opacity:0}}",
            // The names, a blank line, and the two lines of the longer scene.
            "viewBox=\"0 0 832 108\"",
            "<g style=\"animation-name:s1\">",
        ] {
            assert!(film.contains(part), "{part}\n{film}");
        }
        assert_eq!(film.matches("</g>").count(), 2);
    }
}
