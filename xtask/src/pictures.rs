//! `cargo xtask pictures`: the pictures of README and the book, from the built programs in a real terminal (tmux) and a real browser (Chromium).

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
    /// The commands that are shown.
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

/// Makes the pictures.
pub fn run(mut args: impl Iterator<Item = String>) -> Result<(), String> {
    if args.next().is_some() {
        return Err(super::USAGE.into());
    }
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
    for scene in &SCENES {
        let text = shown(scene, &stage, &path)?;
        write(&images.join(format!("{}.svg", scene.name)), svg(&text).as_bytes())?;
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
    let step = "step() { printf '\\033[1m$ %s\\033[0m\\n' \"$1\"; eval \"$1\"; }";
    let script = stage.join("scene.sh");
    write(&script, format!("{{ {}\n:; }} >/dev/null 2>&1\n{step}\n{commands}sleep 60\n", scene.before).as_bytes())?;
    let mut begin = tmux(scene);
    begin.env_remove("XDG_CACHE_HOME").env_remove("XDG_CONFIG_HOME");
    for who in ["AUTHOR", "COMMITTER"] {
        begin.env(format!("GIT_{who}_NAME"), "me").env(format!("GIT_{who}_EMAIL"), "me@example.com");
    }
    begin
        .args(["new-session", "-d", "-x", COLUMNS, "-y", scene.lines])
        .args(["bash", "--norc"])
        .arg(canonical(&script)?);
    done(begin.current_dir(stage).env("PATH", path).env("HOME", canonical(stage)?).env_remove("NO_COLOR"))?;
    let (start, mut text) = (Instant::now(), String::new());
    while !text.contains(scene.until) && start.elapsed() < Duration::from_secs(20) {
        thread::sleep(Duration::from_millis(300));
        let output = tmux(scene).args(["capture-pane", "-e", "-p"]).output().map_err(|e| format!("tmux: {e}"))?;
        text = String::from_utf8_lossy(&output.stdout).into_owned();
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

/// A terminal as SVG: each piece of a line that has one colour is placed by its column.
fn svg(text: &str) -> String {
    const WIDTH: usize = 8;
    const HEIGHT: usize = 18;
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let columns: usize = COLUMNS.parse().unwrap_or_default();
    let (width, height) = ((columns + 4) * WIDTH, (lines.len() + 2) * HEIGHT);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" font-family=\"ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#0d1117\"/>\n"
    );
    let mut style = Vec::new();
    for (number, line) in lines.iter().enumerate() {
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
    out + "</svg>\n"
}

/// The colours of the terminal, by their codes.
const COLOURS: [(&str, &str); 4] = [("31", "#ff7b72"), ("32", "#7ee787"), ("33", "#e3b341"), ("36", "#79c0ff")];

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
    use super::svg;

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
}
