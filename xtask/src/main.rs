//! Commands for the people who work on krm-merge: `cargo xtask schema` and `cargo xtask atlas` make the tables that the crate commits from
//! data of other projects, `cargo xtask release` makes a release, `cargo xtask dist` what it has, `cargo xtask wasm` the package for JavaScript, `cargo xtask wasi` the function as a module, `cargo xtask pictures` the pictures of the pages, `cargo xtask style` counts what their style asks to avoid, and `cargo xtask test` runs all tests.
//!
//! It is a program of its own, so that neither the crate nor its users need that data: the tables are committed, and built as they are.

mod atlas;
mod digest;
mod dist;
mod machine;
mod packed;
mod pictures;
mod release;
mod style;
mod table;
mod test;
mod wasm;
mod write;
mod write_atlas;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use atlas::Lists;
use digest::hex;
use serde_json::Value;
use table::Table;
use write::Source;

const USAGE: &str = "usage: cargo xtask schema [--output FOLDER] [--repin] [LABEL=]PATH...
       cargo xtask atlas [--output FOLDER] [--repin] [LISTS]
       cargo xtask release VERSION [--dry-run]
       cargo xtask dist [build] [TARGET]...
       cargo xtask dist pack
       cargo xtask wasm
       cargo xtask wasi
       cargo xtask pictures [--check]
       cargo xtask style [FOLDER]
       cargo xtask test [ARGUMENTS]

Makes builtin.txt and builtin.bin in FOLDER (crates/krm-schema/src/schema where not given) from documents of Kubernetes' types, newest version last.
A PATH is
  a folder   every <version>-local/_definitions.json in it, as the PyPI package kubernetes-validate holds them
  a file     swagger v2 (kubectl get --raw /openapi/v2), OpenAPI v3, JSON schemas, or kustomize's openapi file, in JSON
LABEL names the version where the document does not.

atlas makes atlas.txt and atlas.bin in FOLDER. LISTS is a file of lists of custom resources, a line of JSON each;
without it, the lists of atlas.txt are read again.

A document whose digest is not the one that builtin.txt or atlas.txt has for it is refused, unless --repin says that it is the
right one.

release sets VERSION at every place, or with --dry-run does and checks in a copy what a release does.

dist builds the programs for each TARGET (this machine's where none is given) and makes the packages of a release in target/dist: archives, wheels,
npm packages, packages for Debian and RPM, the manifests, and their checksums. build packs nothing, and pack builds nothing.

wasm makes the package for JavaScript in target/wasm, and wasi the function as target/wasi/krm-merge.wasm. dist packs them if they are there.

pictures makes docs/src/images with the built programs, in tmux and Chromium, which must be on PATH. --check compares those of tmux with what
is there.

style counts what docs/STYLE.md asks to avoid, on each page of the book or in FOLDER, beside the book of kpt. It fails nothing.

test runs all tests, and says at the end what they skipped. `cargo test` gets the ARGUMENTS, too.";

fn main() -> ExitCode {
    match run(env::args().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(mut args: impl Iterator<Item = String>) -> Result<(), String> {
    match args.next().as_deref() {
        Some("schema") => schema(args),
        Some("atlas") => atlas(args),
        Some("release") => release::run(args),
        Some("dist") => dist::run(args),
        Some("wasm") => wasm::run(),
        Some("wasi") => wasm::function(),
        Some("pictures") => pictures::run(args),
        Some("style") => style::run(args),
        Some("test") => test::run(args),
        _ => Err(USAGE.into()),
    }
}

/// The folder of the tables, unless the user names another one.
fn schema_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/krm-schema/src/schema")
}

/// Makes the table of custom resources.
fn atlas(mut args: impl Iterator<Item = String>) -> Result<(), String> {
    let (mut output, mut repin, mut lists) = (schema_folder(), false, None);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--output" => output = args.next().ok_or(USAGE)?.into(),
            "--repin" => repin = true,
            flag if flag.starts_with('-') => return Err(USAGE.into()),
            path if lists.is_none() => lists = Some(path.to_owned()),
            _ => return Err(USAGE.into()),
        }
    }
    let text = output.join("atlas.txt");
    let written = fs::read_to_string(&text).unwrap_or_default();
    let pin = pins(&written).remove("lists");
    let mut found = Lists::default();
    let sha256 = match lists {
        Some(path) => {
            let bytes = fs::read(&path).map_err(|e| format!("{path}: {e}"))?;
            let sha256 = hex(&bytes);
            if let Some(pin) = pin.filter(|pin| *pin != sha256 && !repin) {
                return Err(format!("{path}: the digest is {sha256}, not {pin}; --repin to accept it"));
            }
            found.read(&String::from_utf8_lossy(&bytes)).map_err(|e| format!("{path}: {e}"))?;
            sha256
        }
        None => {
            found.again(&written).map_err(|e| format!("{}: {e}", text.display()))?;
            pin.ok_or_else(|| format!("{}: no `source lists`", text.display()))?
        }
    };
    let source = Source { label: "lists".into(), sha256 };
    found.document(include_str!("documented.txt"))?;
    let table = found.table();
    write_files([
        (text, write_atlas::text(&table, &source).into_bytes()),
        (output.join("atlas.bin"), write_atlas::packed(&table)?),
    ])?;
    let fields: usize = table.types.iter().map(BTreeMap::len).sum();
    println!("{} kinds, {} types, {fields} fields", table.kinds.len(), table.types.len());
    Ok(())
}

/// Writes the files, and prints their sizes.
fn write_files(files: [(PathBuf, Vec<u8>); 2]) -> Result<(), String> {
    for (path, made) in files {
        let folder = path.parent().unwrap_or(&path);
        let written = fs::create_dir_all(folder).and_then(|()| fs::write(&path, &made));
        written.map_err(|e| format!("{}: {e}", path.display()))?;
        println!("{}: {} bytes", path.display(), made.len());
    }
    Ok(())
}

/// Makes the table of the built-in types.
fn schema(mut args: impl Iterator<Item = String>) -> Result<(), String> {
    let (mut output, mut repin, mut documents) = (schema_folder(), false, Vec::new());
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--output" => output = args.next().ok_or(USAGE)?.into(),
            "--repin" => repin = true,
            flag if flag.starts_with('-') => return Err(USAGE.into()),
            path if Path::new(path).is_dir() => find(Path::new(path), &mut documents)?,
            // A `=` in a path that exists belongs to the path.
            path if Path::new(path).is_file() => documents.push((None, path.into())),
            labelled => {
                let (label, path) =
                    labelled.split_once('=').ok_or_else(|| format!("{labelled}: no such file or folder"))?;
                documents.push((Some(label.to_owned()), path.into()));
            }
        }
    }
    if documents.is_empty() {
        return Err(USAGE.into());
    }
    let text = output.join("builtin.txt");
    let pins = if repin { BTreeMap::new() } else { pins(&fs::read_to_string(&text).unwrap_or_default()) };

    let mut read = Vec::new();
    for (label, path) in documents {
        let at = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let bytes = fs::read(&path).map_err(|e| at(&e))?;
        let document: Value = serde_json::from_slice(&bytes).map_err(|e| at(&e))?;
        let own = || {
            document
                .pointer("/info/version")
                .and_then(Value::as_str)
                .map(|label| label.replace(char::is_whitespace, "-"))
        };
        let label = label.or_else(own).ok_or_else(|| at(&"the document names no version: give one as LABEL=PATH"))?;
        let sha256 = hex(&bytes);
        if let Some(pin) = pins.get(&label).filter(|pin| **pin != sha256) {
            return Err(at(&format!("the digest of {label} is {sha256}, not {pin}; --repin to accept it")));
        }
        read.push((Source { label, sha256 }, document));
    }
    read.sort_by_cached_key(|(source, _)| write::numbers(&source.label));
    if let Some(twice) = read.windows(2).find(|pair| pair[0].0.label == pair[1].0.label) {
        return Err(format!("{} is given twice: tell them apart as LABEL=PATH", twice[0].0.label));
    }

    let mut table = Table::default();
    for (source, document) in &read {
        let count = table.read(document).map_err(|e| format!("{}: {e}", source.label))?;
        let pinned = if pins.contains_key(&source.label) { "as pinned" } else { "new" };
        println!("{} {} {pinned}, {count} definitions", source.label, source.sha256);
    }
    table.require(include_str!("required.txt"))?;
    table.prune();
    let sources: Vec<Source> = read.into_iter().map(|(source, _)| source).collect();
    write_files([
        (text, write::text(&table, &sources).into_bytes()),
        (output.join("builtin.bin"), write::packed(&table, &sources)?),
    ])?;
    let fields: usize = table.types.values().map(BTreeMap::len).sum();
    println!("{} kinds, {} types, {fields} fields", table.kinds.len(), table.types.len());
    Ok(())
}

/// Every `<version>-local/_definitions.json` below a folder. `-local-strict` is left out, because it has the same definitions.
fn find(folder: &Path, found: &mut Vec<(Option<String>, PathBuf)>) -> Result<(), String> {
    for entry in fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))? {
        let path = entry.map_err(|e| format!("{}: {e}", folder.display()))?.path();
        let label = folder.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix("-local"));
        match label {
            Some(label) if path.ends_with("_definitions.json") => found.push((Some(label.to_owned()), path)),
            None if path.is_dir() => find(&path, found)?,
            _ => {}
        }
    }
    Ok(())
}

/// The digests that a table names for its sources.
fn pins(text: &str) -> BTreeMap<String, String> {
    let sources = text.lines().filter_map(|line| line.strip_prefix("source ")?.split_once(' '));
    sources.map(|(label, sha256)| (label.to_owned(), sha256.to_owned())).collect()
}
