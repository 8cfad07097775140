//! The page for a review: what it holds, that nothing from a file acts in it, and that its filters work in a browser.

use std::process::Command;

use crate::support::{Folder, Ran, has, map};

const UPGRADE: [&str; 9] = ["three-way", "--original", "v1", "--updated", "v2", "--dest", "here", "-o", "html"];

/// What would run, if it came into a page as it is.
const OWNED: &str =
    "\"'></pre></title><script>document.title='owned'</script><img src=x onerror=document.title='owned'>";

/// A conflict, a warning, a change, a Secret, and scripts in each name, value and comment.
fn package() -> Folder {
    let folder = Folder::with(&[]);
    let yaml = |text: &str| format!("\"{}\"", text.replace('"', "\\\""));
    for (side, release) in [("v1", "1"), ("v2", "2"), ("here", "3")] {
        let conflict = format!(
            "# {OWNED}\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata:\n  {}: {}\n  lines: |\n    a\n    {release}{OWNED}\n",
            yaml(&format!("key{OWNED}")),
            yaml(&format!("{release}{OWNED}"))
        );
        folder.write(&format!("{side}/conflict<img src=x onerror=x>&\"'.yaml"), conflict);
        let secret = format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: s}}\nstringData:\n  p: hidden-{release} # hidden-{release}\n"
        );
        folder.write(&format!("{side}/secret.yaml"), secret);
        let is_new = side == "v2";
        let change = map(&yaml(&format!("n{OWNED}")), &[("x", if is_new { "'two'" } else { "'one'" }), ("y", "same")]);
        folder.write(&format!("{side}/change.yaml"), change);
        let kind = if is_new { "l: [1]" } else { "l: {a: 1}" };
        let of_dest = if side == "here" { "l: text" } else { kind };
        folder.write(
            &format!("{side}/warning.yaml"),
            format!("apiVersion: x/v1\nkind: Thing\nmetadata: {{name: w}}\nspec:\n  {of_dest}\n"),
        );
        folder.write(&format!("{side}/plain.txt"), if is_new { "new <script>\n" } else { "old\n" });
    }
    folder
}

#[test]
fn the_page_holds_what_changes_and_each_conflict() {
    let folder = package();
    let page = folder.run(&UPGRADE).passed();
    assert_eq!(page, folder.run(&UPGRADE).passed(), "the same input gives the same page");
    assert!(!page.contains("hidden-"), "{page}");
    // The page's own script, and nothing that came from a file.
    assert_eq!((page.matches("<script").count(), page.matches("<img").count()), (1, 0), "{page}");
    for (open, close) in [("<article", "</article>"), ("<section", "</section>"), ("<pre", "</pre>"), ("<li", "</li>")]
    {
        assert_eq!(page.matches(open).count(), page.matches(close).count(), "{open}");
    }
    for want in [
        "<h1>krm-merge: 4 conflicts</h1>",
        "What changed from <code>v1</code> to <code>v2</code> was merged into <code>here</code>: 5 files would change. Nothing was written.",
        "<strong>Next:</strong> check each conflict",
        "<code>ConfigMap c</code>",
        "\"><code>plain.txt</code></h3>",
        "<code>conflict&lt;img src=x onerror=x&gt;&amp;&quot;&#39;.yaml</code> <span class=\"tag conflict\">2 conflicts</span> <span class=\"tag changed\">changed</span>",
        "<dt>updated <span class=\"tag won\">taken</span></dt>",
        "<strong>Outcome:</strong> took updated&#39;s",
        "<li><code>stringData.p</code></li>",
        "<del data-n=\"6\">-   x: <mark>&#39;one&#39;</mark>\n</del><ins data-n=\"6\">+   x: <mark>&#39;two&#39;</mark>\n</ins>",
        "<ins data-n=\"1\">+ new &lt;script&gt;\n</ins>",
        "data-kind=\"(file)\" data-file=\"plain.txt\" data-has=\"changed\"",
    ] {
        assert!(page.contains(want), "{want}\n{page}");
    }
    // What is unresolved comes first.
    let open = folder.run(&[&UPGRADE[..], &["--on-conflict", "fail"]].concat());
    assert_eq!(open.code, Some(1));
    assert!(open.stdout.contains("<h2 id=\"open\">Unresolved</h2>") && !open.stdout.contains("tag won"), "{open:?}");
    assert!(open.stdout.contains("<strong>Next:</strong> resolve each conflict."), "{open:?}");
    // Between markers, no secret is told.
    let marked = folder.run(&[&UPGRADE[..], &["--on-conflict", "mark"]].concat());
    assert!(
        marked.stdout.contains("&lt;&lt;&lt;&lt;&lt;&lt;&lt; dest") && !marked.stdout.contains("hidden-"),
        "{marked:?}"
    );
}

#[test]
fn the_page_of_a_merge_in_place_says_what_changed() {
    let folder = package();
    let page = folder.run(&[&UPGRADE[..], &["--in-place"]].concat()).passed();
    assert!(page.contains("<code>here</code>: 5 files changed.") && !page.contains("Nothing was written"), "{page}");
}

#[test]
fn a_merge_without_changes_says_so() {
    let same = map("a", &[("x", "'1'")]);
    let folder = Folder::with(&[("a.yaml", &same), ("b.yaml", &same)]);
    let page = folder.run(&["two-way", "-s", "b.yaml", "-d", "a.yaml", "-o", "html"]).passed();
    assert!(page.contains("Nothing changes") && !page.contains("Next:"), "{page}");
    assert!(
        page.contains(
            "<code>b.yaml</code> was merged into <code>a.yaml</code>: 0 files would change. Nothing was written."
        ),
        "{page}"
    );
}

#[test]
fn what_upgrade_writes_for_itself_comes_last() {
    let folder = Folder::with(&[]);
    for (side, value) in [("v1", "1"), ("v2", "2"), ("here", "1")] {
        folder.write(&format!("{side}/web.yaml"), map("web", &[("x", value)]));
        folder.write(
            &format!("{side}/Kptfile"),
            format!("apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {{name: a}}\ninfo: {{site: {value}}}\n"),
        );
    }
    let page = folder.run(&UPGRADE).passed();
    let [web, kptfile] =
        ["<code>ConfigMap web</code>", "<code>Kptfile a</code>"].map(|card| page.find(card).expect(card));
    assert!(web < kptfile, "{page}");
}

#[test]
fn a_large_run_gives_a_page_that_a_browser_can_open() {
    let folder = Folder::with(&[]);
    let many = |value: &str| -> String {
        let data: Vec<(String, String)> =
            (0..12).map(|i| (format!("key-{i}"), format!("{value}{}", "x".repeat(80)))).collect();
        let data: Vec<(&str, &str)> = data.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        (0..1500).map(|i| map(&format!("m{i}"), &data) + "---\n").collect()
    };
    folder.write("here/a.yaml", many("a"));
    folder.write("b.yaml", many("b"));
    let page = folder.run(&["two-way", "-s", "b.yaml", "-d", "here", "-o", "html"]).passed();
    assert!((4 << 20..6 << 20).contains(&page.len()), "{}", page.len());
    assert!(
        page.contains("<h2 id=\"rest\">More</h2>")
            && page.contains("<li><code>ConfigMap m1499</code> in <code>a.yaml</code>, changed</li>")
    );
}

/// The page after its script ran, as a browser has it, and what the browser logged.
fn dom(folder: &Folder, address: &str, more: &[&str]) -> Ran {
    let mut chromium = Command::new("chromium");
    chromium.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]);
    chromium.args(["--disable-background-networking", "--disable-component-update", "--disable-sync"]);
    chromium.args(["--enable-logging=stderr", "--virtual-time-budget=2000"]);
    chromium.arg(format!("--user-data-dir={}", folder.path("profile").display())).args(more);
    chromium.args(["--dump-dom", &format!("file://{}{address}", folder.path("page.html").display())]);
    Ran::of(chromium.output().expect("chromium runs"))
}

#[test]
fn filters_work_and_nothing_from_a_file_runs() {
    if !has("chromium") {
        return;
    }
    let folder = package();
    folder.write("page.html", folder.run(&UPGRADE).passed());
    let articles = |dom: &str| {
        let tags: Vec<&str> = dom.split("<article ").skip(1).filter_map(|rest| rest.split('>').next()).collect();
        (tags.len(), tags.iter().filter(|tag| tag.contains(" hidden=")).count())
    };
    for (address, shown) in [
        ("", "5 of 5 shown"),
        ("#has=conflict", "3 of 5 shown"),
        ("#has=warning", "2 of 5 shown"),
        ("#kind=ConfigMap", "2 of 5 shown"),
        ("#file=plain.txt", "1 of 5 shown"),
        ("#has=changed&kind=Thing", "1 of 5 shown"),
        ("#has=nonsense", "5 of 5 shown"),
    ] {
        let ran = dom(&folder, address, &[]);
        let page = &ran.stdout;
        assert!(page.contains(shown), "{address}: {ran:?}");
        let visible: usize = shown.split(' ').next().and_then(|n| n.parse().ok()).expect("a number");
        assert_eq!(articles(page), (5, 5 - visible), "{address}");
        assert!(!page.contains("<title>owned") && page.contains("<title>krm-merge: 4 conflicts"), "{page}");
        assert!(!ran.stderr.contains("Content Security Policy"), "{}", ran.stderr);
    }
    // The policy holds back what would come in if the escaping failed.
    let page =
        folder.read("page.html").replace("</main>", "<script>document.title='owned'</script><p onclick=x></p></main>");
    folder.write("page.html", page);
    let ran = dom(&folder, "", &[]);
    assert!(ran.stdout.contains("<title>krm-merge") && ran.stderr.contains("Content Security Policy"), "{ran:?}");
}
