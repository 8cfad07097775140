//! What is one conflict although the sides changed it field by field: fields of which a type allows one, and what both sides renamed.

use crate::support::{Folder, Ran, has};

/// What the driver makes of a Deployment with these lines below `spec.template.spec`: its exit code, these lines, and what it tells.
fn driven(sides: [&str; 3]) -> (Option<i32>, String, String) {
    let head = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  template:\n    spec:\n";
    let [original, ours, theirs] = sides.map(|lines| format!("{head}{lines}"));
    let folder = Folder::with(&[("o", &original), ("a", &ours), ("b", &theirs)]);
    let Ran { code, stderr, .. } = folder.run(&["git-driver", "o", "a", "b", "web.yaml"]);
    let text = folder.read("a");
    (code, text.strip_prefix(head).unwrap_or(&text).to_owned(), stderr)
}

#[test]
fn alternatives_are_between_one_pair_of_markers() {
    if !has("git") {
        return;
    }
    let probe = |action: &str| {
        format!(
            "      containers:\n      - name: app\n        image: web\n        livenessProbe:\n          {action}\n          periodSeconds: 5\n"
        )
    };
    let [original, ours, theirs] = ["httpGet: {path: /a}", "grpc: {port: 80}", "exec: {command: [x]}"].map(probe);
    let (code, text, told) = driven([&original, &ours, &theirs]);
    let want =
        probe("<<<<<<< ours\n          grpc: {port: 80}\n=======\n          exec: {command: [x]}\n>>>>>>> theirs");
    assert_eq!((code, text), (Some(1), want.replace("          <<<<<<<", "<<<<<<<")), "{told}");
    assert!(
        told.contains(
            "ours set the grpc of `spec.template.spec.containers[name=app].livenessProbe` and theirs set the exec"
        ),
        "{told}"
    );
}

#[test]
fn fields_that_a_merge_leaves_side_by_side_are_warned_of() {
    if !has("git") {
        return;
    }
    let head = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  strategy:\n";
    let tail = "  replicas: 1\n";
    let text = |strategy: &str| format!("{head}    # how\n    type: {strategy}{tail}");
    let [original, ours, theirs] = [
        "RollingUpdate\n    # end\n",
        "RollingUpdate\n    # end\n    rollingUpdate: {maxSurge: 1}\n",
        "Recreate\n    # end\n",
    ]
    .map(text);
    let folder = Folder::with(&[("o", &original), ("a", &ours), ("b", &theirs)]);
    let Ran { code, stderr, .. } = folder.run(&["git-driver", "o", "a", "b", "web.yaml"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(
        stderr,
        "warning: Deployment web: after the merge, `spec.strategy` has `type: Recreate` and `rollingUpdate`, but the API server accepts only one of them. Remove the others\n"
    );
}

#[test]
fn what_both_sides_renamed_is_between_one_pair_of_markers() {
    if !has("git") {
        return;
    }
    let container = |name: &str, image: &str, args: &str| {
        format!(
            "      containers:\n      - name: {name}\n        image: {image}\n        tty: true\n        workingDir: /w\n        args: [{args}]\n"
        )
    };
    // The name is in conflict, and each side's other change is made.
    let (code, text, told) =
        driven([&container("app", "a:1", "x"), &container("web", "a:2", "x"), &container("server", "a:1", "y")]);
    let want = "      containers:\n<<<<<<< ours\n      - name: web\n=======\n      - name: server\n>>>>>>> theirs\n        image: a:2\n        tty: true\n        workingDir: /w\n        args: [y]\n";
    assert_eq!((code, text.as_str()), (Some(1), want), "{told}");
    // A variable has too little to tell.
    let env = |name: &str| {
        format!(
            "      containers:\n      - name: app\n        env:\n        - name: {name}\n          value: info\n        - name: LAST\n          value: x\n"
        )
    };
    let (code, text, told) = driven([&env("LEVEL"), &env("WEB_LEVEL"), &env("LOG_LEVEL")]);
    let want = env("LEVEL").replace(
        "        - name: LEVEL\n",
        "<<<<<<< ours\n        - name: WEB_LEVEL\n=======\n        - name: LOG_LEVEL\n>>>>>>> theirs\n",
    );
    assert_eq!((code, text), (Some(1), want), "{told}");
}
