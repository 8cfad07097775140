//! Which release a package gets.

use super::repository::{Upstream, commit, git};
use crate::support::{Folder, map};

/// The files of a state: the ConfigMap `a` of a directory.
fn files(directory: &str, value: &str) -> Vec<(String, String)> {
    vec![(format!("{directory}/a.yaml"), map("a", &[("v", value), ("w", "x")]))]
}

fn kptfile(upstream: &Upstream, reference: &str, lock: &str) -> String {
    let repo = upstream.source("");
    let git = |reference: &str| format!("  type: git\n  git: {{repo: '{repo}', directory: /d, ref: {reference}}}\n");
    let lock = match lock {
        "" => String::new(),
        lock => {
            let of = git(lock).replace("}", &format!(", commit: '{}'}}", upstream.commit(lock)));
            format!("upstreamLock:\n{of}")
        }
    };
    format!("apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {{name: p}}\nupstream:\n{}{lock}", git(reference))
}

#[test]
fn upstream_is_what_is_wanted_and_the_lock_is_what_is_there() {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    for (value, tag) in [("'1'", "v1"), ("'2'", "v2"), ("'3'", "v3")] {
        upstream.release(&files("d", value), tag);
    }
    // What is there and what is wanted; what comes, and then.
    for (has, wants, first, then) in
        [("v1", "v2", "'2'", "'3'"), ("v3", "v1", "'1'", "'3'"), ("v1", "main", "'3'", "'3'"), ("", "v1", "'1'", "'3'")]
    {
        let name = format!("p{has}-{wants}");
        folder.write(&format!("{name}/Kptfile"), kptfile(&upstream, wants, has));
        if !has.is_empty() {
            let value = format!("'{}'", &has[1..]);
            folder.write(&format!("{name}/a.yaml"), map("a", &[("v", &value), ("w", "ours")]));
        }
        let line = folder.run(&["upgrade", &name, "--check"]);
        assert_eq!(line.code, Some(1), "{line:?}");
        assert_eq!(line.stdout.contains("wanted is"), wants != "main", "{line:?}");
        folder.run(&["upgrade", &name, "--allow-dirty"]).passed();
        let text = folder.read(&format!("{name}/a.yaml"));
        assert!(text.contains(&format!("v: {first}")), "{name}: {text}");
        assert!(text.contains("w: ours") || has.is_empty(), "{name}: {text}");
        folder.run(&["upgrade", &name, "--allow-dirty"]).passed();
        assert!(folder.read(&format!("{name}/a.yaml")).contains(&format!("v: {then}")), "{name}");
    }
}

#[test]
fn a_commit_that_is_newer_than_the_last_release_is_not_taken_back() {
    for filter in ["true", "false"] {
        let folder = Folder::new();
        let upstream = Upstream::new(&folder, "up.git");
        git(&upstream.bare, &["config", "uploadpack.allowFilter", filter]);
        let before = upstream.state(&files("d", "before"), "before");
        upstream.release(&files("d", "'1'"), "v1.0.0");
        let after = upstream.state(&files("d", "after"), "after");
        for (name, commit) in [("old", &before), ("new", &after)] {
            folder.run(&["get", &upstream.source(&format!("d@{commit}")), name]).passed();
        }
        let line = folder.run(&["upgrade", "old", "--check"]);
        assert_eq!((line.code, line.stdout.contains("newest is v1.0.0")), (Some(1), true), "{line:?}");
        let line = folder.run(&["upgrade", "new", "--check"]).passed();
        assert_eq!(line, format!("new: has {after}, and there is no later release\n"));
        folder.run(&["upgrade", "old", "new"]).passed();
        assert!(folder.read("old/a.yaml").contains("v: '1'") && folder.read("new/a.yaml").contains("v: after"));
        // A release of a branch for fixes is younger, but does not hold the commit.
        let work = folder.path("work-up.git");
        git(&work, &["checkout", "--quiet", "v1.0.0"]);
        commit(&work, "fix");
        upstream.tag("v1.0.1");
        git(&work, &["checkout", "--quiet", &after]);
        folder.run(&["upgrade", "new", "--check"]).passed();
        upstream.release(&files("d", "'2'"), "v1.1.0");
        folder.run(&["upgrade", "new"]).passed();
        assert!(folder.read("new/a.yaml").contains("v: '2'"), "{filter}");
    }
}

#[test]
fn a_package_follows_the_tags_that_it_came_with() {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    for (value, tags) in [
        ("'1'", &["apps/db/v1.0.0", "apps/v1.0.0", "v3.0.0"][..]),
        ("'2'", &["apps/db/v1.1.0"]),
        ("'3'", &["apps/v1.2.0"]),
        ("'4'", &["v3.1.0"]),
    ] {
        upstream.state(&[files("apps/db", value), files("apps/web", value), files("d", value)].concat(), value);
        tags.iter().for_each(|tag| upstream.tag(tag));
    }
    for (address, newest, reference) in [
        ("apps/db@v1.0.0", "'2'", "apps/db/v1.1.0"),
        ("apps/db@apps/v1.0.0", "'3'", "apps/v1.2.0"),
        ("apps/web@v1.0.0", "'3'", "apps/v1.2.0"),
        ("apps/db@v3.0.0", "'4'", "v3.1.0"),
        ("d@v3.0.0", "'4'", "v3.1.0"),
    ] {
        let name = address.replace(['/', '@', '.'], "-");
        folder.run(&["get", &upstream.source(address), &name]).passed();
        folder.run(&["upgrade", &name]).passed();
        assert!(folder.read(&format!("{name}/a.yaml")).contains(&format!("v: {newest}")), "{address}");
        let record = folder.read(&format!("{name}/.krm-merge.yaml"));
        assert!(record.contains(&format!("ref: {reference}\n")), "{record}");
    }
}

#[test]
fn a_branch_is_followed_by_its_full_name_and_told_when_it_is_gone() {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    upstream.release(&files("d", "'1'"), "v1.0.0");
    upstream.state(&files("d", "after"), "after");
    for branch in ["next", "release-2.0", "v9"] {
        git(&upstream.bare, &["branch", branch, "main"]);
    }
    // A tag has the name of a branch.
    git(&upstream.bare, &["tag", "next", "v1.0.0"]);
    git(&upstream.bare, &["update-ref", "refs/tags/refs/heads/next", "v1.0.0"]);
    folder.run(&["get", &upstream.source("d@refs/heads/next"), "full"]).passed();
    assert!(folder.read("full/a.yaml").contains("v: after"));
    folder.run(&["get", &upstream.source("d@release-2.0"), "short"]).passed();
    let more = upstream.state(&files("d", "more"), "more");
    for branch in ["next", "release-2.0"] {
        git(&upstream.bare, &["update-ref", &format!("refs/heads/{branch}"), &more]);
    }
    for name in ["full", "short"] {
        assert_eq!(folder.run(&["upgrade", name, "--check"]).code, Some(1));
        folder.run(&["upgrade", name]).passed();
        assert!(folder.read(&format!("{name}/a.yaml")).contains("v: more"), "{name}");
    }
    for (name, branch) in [("full", "next"), ("short", "release-2.0")] {
        git(&upstream.bare, &["branch", "--quiet", "--delete", "--force", branch]);
        let before = folder.files(name);
        for args in [&["upgrade", name, "--check"][..], &["upgrade", name]] {
            let told = folder.run(args).failed(2);
            assert!(told.contains(branch) && told.contains("`--to` names another one"), "{told}");
        }
        assert_eq!(folder.files(name), before);
    }
    folder.run(&["upgrade", "short", "--to", "main"]).passed();
    // A release that nobody made is no other one either.
    let record = folder.read("short/.krm-merge.yaml");
    folder.write("short/.krm-merge.yaml", record.replacen("ref: main", "ref: v1.0.9", 1));
    assert!(folder.run(&["upgrade", "short"]).failed(2).contains("\"v1.0.9\""));
}

#[test]
fn the_default_branch_is_followed_by_its_name_for_git() {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    upstream.release(&files("d", "'1'"), "v1.0.0");
    folder.run(&["get", &upstream.source("d@HEAD"), "p"]).passed();
    upstream.state(&files("d", "'2'"), "more");
    folder.run(&["upgrade", "p"]).passed();
    assert!(folder.read("p/a.yaml").contains("v: '2'") && folder.read("p/.krm-merge.yaml").contains("ref: HEAD\n"));
}

#[test]
fn what_no_record_can_name_is_no_release() {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    upstream.release(&[files("d", "'1'"), files("-d", "'1'")].concat(), "v1.0.0");
    let repository = folder.path("up.git");
    super::git(&repository, &["update-ref", "refs/tags/-d/v1.1.0", "refs/tags/v1.0.0"]);
    super::git(&repository, &["update-ref", "refs/heads/-x", "refs/tags/v1.0.0^{commit}"]);
    super::git(&repository, &["symbolic-ref", "HEAD", "refs/heads/-x"]);
    let told = folder.run(&["get", &upstream.source("d"), "p"]).failed(2);
    assert!(told.contains("the default branch of \"") && told.contains("not \"-x\""), "{told}");
    assert!(!folder.path("p").exists());
    folder.run(&["get", &upstream.source("-d@v1.0.0"), "p"]).passed();
    assert!(folder.run(&["upgrade", "p", "--check"]).passed().contains("has v1.0.0, which is the newest"));
}

#[test]
fn another_directory_or_repository_is_wanted_even_at_the_same_release() {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    let fork = Upstream::new(&folder, "fork.git");
    for (number, tag) in ["v1", "v2", "v3"].into_iter().enumerate() {
        let value = |kind: &str| format!("{kind}{}", number + 1);
        upstream.release(&[files("d", &value("d")), files("prod", &value("prod"))].concat(), tag);
        fork.release(&files("d", &value("fork")), tag);
    }
    for (name, old, new, want) in [
        ("directory", "directory: /d", "directory: /prod".to_owned(), "prod1"),
        ("repository", "/up\n", "/fork\n".to_owned(), "fork1"),
    ] {
        folder.run(&["get", &upstream.source("d@v1"), name]).passed();
        let record = folder.read(&format!("{name}/.krm-merge.yaml"));
        assert!(record.contains(old), "{record}");
        folder.write(&format!("{name}/.krm-merge.yaml"), record.replacen(old, &new, 1));
        let line = folder.run(&["upgrade", name, "--check"]);
        assert!(line.stdout.contains("wanted is v1;"), "{line:?}");
        folder.run(&["upgrade", name]).passed();
        let text = folder.read(&format!("{name}/a.yaml"));
        assert!(text.contains(&format!("v: {want}\n")), "{name}: {text}");
    }
}

#[test]
fn a_tag_by_its_full_name_is_a_release() {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    for (value, tag) in [("'1'", "v1"), ("'2'", "v2")] {
        upstream.release(&files("d", value), tag);
    }
    let text = kptfile(&upstream, "refs/tags/v1", "v1").replace("ref: v1,", "ref: refs/tags/v1,");
    folder.write("p/Kptfile", &text);
    folder.write("p/a.yaml", map("a", &[("v", "'1'"), ("w", "x")]));
    folder.run(&["upgrade", "p"]).passed();
    assert!(folder.read("p/a.yaml").contains("v: '2'"));
}

#[test]
fn a_clock_that_is_wrong_makes_no_release_older() {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    let first = upstream.state(&files("d", "'1'"), "first");
    let work = folder.path("work-up.git");
    folder.write("work-up.git/d/a.yaml", map("a", &[("v", "'2'")]));
    let mut late = std::process::Command::new("git");
    late.args(["-c", "user.name=me", "-c", "user.email=me@example.com", "commit", "--quiet", "--all", "-m", "x"]);
    late.current_dir(&work).env("GIT_COMMITTER_DATE", "2001-01-01T00:00:00Z");
    assert!(late.status().expect("git runs").success());
    upstream.tag("v1.0.0");
    folder.run(&["get", &upstream.source(&format!("d@{first}")), "p"]).passed();
    folder.run(&["upgrade", "p"]).passed();
    assert!(folder.read("p/a.yaml").contains("v: '2'"));
}

#[test]
fn a_directory_or_a_repository_may_move() {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    upstream.release(&files("d", "'1'"), "v1.0.0");
    upstream.tag("d/v1.0.0");
    let names = ["by-flag", "by-file", "by-directory", "by-newest", "by-repo"];
    for name in names {
        folder.run(&["get", &upstream.source("d@v1.0.0"), name]).passed();
        folder.write(&format!("{name}/a.yaml"), map("a", &[("v", "'1'"), ("w", "ours")]));
    }
    upstream.release(&files("apps/d", "'2'"), "v2.0.0");
    // The other repository has nothing of the old one.
    let other = Upstream::new(&folder, "other.git");
    other.release(&files("apps/d", "'2'"), "v2.0.0");
    let record = folder.read("by-file/.krm-merge.yaml");
    let wanted = record.replacen("directory: /d", "directory: /apps/d", 1).replacen("ref: v1.0.0", "ref: v2.0.0", 1);
    folder.write("by-file/.krm-merge.yaml", wanted);
    // The release that the package has does not have the directory there.
    let record = folder.read("by-directory/.krm-merge.yaml");
    folder.write("by-directory/.krm-merge.yaml", record.replacen("directory: /d", "directory: /apps/d", 1));
    let [new, of_other] = [upstream.source("apps/d"), other.source("apps/d")];
    for args in [
        &["upgrade", "by-flag", "--upstream", &new, "--to", "v2.0.0"][..],
        &["upgrade", "by-file"],
        &["upgrade", "by-directory"],
        &["upgrade", "by-newest", "--upstream", &new],
        &["upgrade", "by-repo", "--upstream", &of_other],
    ] {
        // The edits are in no repository.
        folder.run(&[args, &["--allow-dirty"]].concat()).passed();
        let name = args[1];
        assert_eq!(folder.read(&format!("{name}/a.yaml")), map("a", &[("v", "'2'"), ("w", "ours")]), "{name}");
        let record = folder.read(&format!("{name}/.krm-merge.yaml"));
        assert_eq!(record.matches("directory: /apps/d\n").count(), 2, "{record}");
        assert!(folder.run(&["upgrade", name]).passed().contains("has v2.0.0 already"), "{name}");
    }
}

#[test]
fn a_range_is_recorded_as_it_is_written() {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    for tag in ["v1.0.0", "v1.2.3.4", "v2.0.0", "v3.0.0"] {
        upstream.release(&files("d", &format!("'{tag}'")), tag);
    }
    let rules = || folder.read("p/.krm-merge.yaml");
    folder.run(&["get", &upstream.source("d@>=1.0 <2"), "p"]).passed();
    assert!(rules().contains("ref: '>=1.0 <2'\n") && rules().contains("ref: v1.2.3.4\n"), "{}", rules());
    let told = folder.run(&["upgrade", "p", "--check"]).passed();
    assert_eq!(told, "p: has v1.2.3.4, which is the newest in >=1.0 <2\n");
    for (range, want) in [("1.x || 2.x", "v2.0.0"), ("*", "v3.0.0"), ("1.0 - 2.5", "v2.0.0")] {
        folder.run(&["upgrade", "p", "--allow-dirty", "--to", range]).passed();
        assert!(folder.read("p/a.yaml").contains(want), "{range}");
        let told = folder.run(&["upgrade", "p", "--check"]).passed();
        assert_eq!(told, format!("p: has {want}, which is the newest in {range}\n"));
    }
    for range in [">=1.0 or <2", "^1 |", "~latest"] {
        let want = format!(
            "a range of versions must be such as `^1.4`, `~1.4`, `1.x`, `>=1.4 <2`, `1.2 - 1.4`, `1.x || 3.x` or `*`, not \"{range}\""
        );
        let told = folder.run(&["upgrade", "p", "--allow-dirty", "--to", range]).failed(2);
        assert!(told.contains(&want), "{told}");
        let told = folder.run(&["get", &upstream.source(&format!("d@{range}")), "q"]).failed(2);
        assert!(told.contains(&want), "{told}");
    }
}
