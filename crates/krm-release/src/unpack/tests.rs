use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, Header};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;

const SMALL: Limits = Limits { file: 1 << 16, all: 1 << 18, count: 50 };

fn header(name: &[u8], kind: EntryType, size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.as_old_mut().name[..name.len()].copy_from_slice(name);
    header.set_entry_type(kind);
    header.set_mode(0o644);
    header.set_size(size);
    header.set_cksum();
    header
}

/// An entry as a writer with bad intentions writes it.
fn entry(name: &[u8], kind: EntryType, bytes: &[u8]) -> Vec<u8> {
    let mut out = header(name, kind, bytes.len() as u64).as_bytes().to_vec();
    out.extend_from_slice(bytes);
    out.resize(out.len().next_multiple_of(512), 0);
    out
}

fn file(name: &str) -> Vec<u8> {
    entry(name.as_bytes(), EntryType::Regular, b"a: 1\n")
}

fn long_name(name: &str) -> Vec<u8> {
    [entry(b"././@LongLink", EntryType::GNULongName, format!("{name}\0").as_bytes()), file("x")].concat()
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::fast());
    out.write_all(bytes).expect("written");
    out.finish().expect("finished")
}

fn zip(names: &[&str], mode: u32, content: &[u8]) -> Vec<u8> {
    let mut out = ZipWriter::new(Cursor::new(Vec::new()));
    for name in names {
        out.start_file(*name, SimpleFileOptions::default().unix_permissions(mode)).expect("begun");
        out.write_all(content).expect("written");
    }
    out.finish().expect("finished").into_inner()
}

fn link_in_zip() -> Vec<u8> {
    let mut out = ZipWriter::new(Cursor::new(Vec::new()));
    out.add_symlink("x", "/etc/passwd", SimpleFileOptions::default()).expect("added");
    out.finish().expect("finished").into_inner()
}

/// The same bytes with others in place of some.
fn with(mut bytes: Vec<u8>, old: &[u8], new: &[u8]) -> Vec<u8> {
    while let Some(at) = bytes.windows(old.len()).position(|window| window == old) {
        bytes[at..at + new.len()].copy_from_slice(new);
    }
    bytes
}

fn cut(mut bytes: Vec<u8>, by: usize) -> Vec<u8> {
    bytes.truncate(bytes.len() - by);
    bytes
}

#[test]
fn a_hostile_archive_is_an_error_that_says_why() {
    let tar = |entries: &[Vec<u8>]| gz(&entries.concat());
    let of = |name: &[u8], kind| gz(&entry(name, kind, b""));
    let lie = |size: u64| gz(header(b"x", EntryType::Regular, size).as_bytes());
    let zeros = |n: usize| vec![0; n];
    for (what, archive, want) in [
        ("a path out", tar(&[file("../x")]), "must lie within"),
        ("a path out, later", tar(&[file("a/../../x")]), "must lie within"),
        ("a dot inside", tar(&[file("a/./x")]), "must lie within"),
        ("an absolute path", tar(&[file("/etc/x")]), "must lie within"),
        ("a drive", tar(&[file("C:/x")]), "must lie within"),
        ("a path of Windows", tar(&[file("a\\..\\..\\x")]), "must lie within"),
        ("a line break", tar(&[file("a\nx")]), "must lie within"),
        ("no name", tar(&[file("")]), "must have a name"),
        ("two slashes", tar(&[file("a//x")]), "must lie within"),
        ("a hook", tar(&[file(".git/hooks/pre-commit")]), "`.git`"),
        ("a hook in other letters", tar(&[file("a/.GIT/x")]), "`.git`"),
        ("a short name", tar(&[file("GIT~1/x")]), "`.git`"),
        ("no UTF-8", gz(&entry(b"\xff\xfe", EntryType::Regular, b"")), "must be UTF-8"),
        ("a link", of(b"x", EntryType::Symlink), "not links"),
        ("a link, then a file through it", tar(&[entry(b"x", EntryType::Symlink, b""), file("x/y")]), "not links"),
        ("a hard link", of(b"x", EntryType::Link), "not links"),
        ("a device", of(b"x", EntryType::Char), "not devices"),
        ("a pipe", of(b"x", EntryType::Fifo), "not devices"),
        ("a kind of its own", of(b"x", EntryType::new(b'Q')), "another kind"),
        ("names by case", tar(&[file("a/x"), file("a/X")]), "differ in more than case"),
        ("folders by case", tar(&[file("a/x"), file("A/y")]), "differ in more than case"),
        ("a file twice", tar(&[file("x"), file("x")]), "only one file of this name"),
        ("a file as a folder", tar(&[file("x"), file("x/y")]), "only one file of this name"),
        ("a folder as a file", tar(&[file("x/y"), file("x")]), "only one file of this name"),
        ("a deep folder", gz(&long_name(&"a/".repeat(101))), "deep"),
        ("a long path", gz(&long_name(&"a".repeat(5000))), "at most 4096 bytes"),
        ("many files", tar(&(0..60).map(|n| file(&n.to_string())).collect::<Vec<_>>()), "at most 50 files"),
        ("a large file", gz(&entry(b"x", EntryType::Regular, &zeros(70_000))), "at most 65536 bytes"),
        ("a lie of a size", lie(1 << 40), "must be whole"),
        ("a lie of a small size", lie(1000), "must be whole"),
        (
            "much together",
            tar(&(0..5)
                .map(|n| entry(n.to_string().as_bytes(), EntryType::Regular, &zeros(60_000)))
                .collect::<Vec<_>>()),
            "together",
        ),
        ("a bomb of nothing", gz(&[file("x"), zeros(1 << 24)].concat()), "twice"),
        ("a bomb of a name", gz(&long_name(&"a".repeat(1 << 22))), "must have at most 1048576 bytes"),
        ("parts of nothing", gz(b"").repeat(10_002), "few parts"),
        ("a bomb of folders", gz(&entry(b"x/", EntryType::Directory, b"").repeat(5000)), "twice"),
        ("half a gzip", cut(tar(&[file("x")]), 10), "ends in the middle"),
        (
            "another checksum",
            with(tar(&[file("x")]), &tar(&[file("x")])[gz(&file("x")).len() - 8..], &[1; 8]),
            "must be whole",
        ),
        ("half a tar", gz(&cut(file("x"), 600)), "must be whole"),
        ("no tar in it", gz(&b"hello".repeat(400)), "must be whole"),
        ("nothing", gz(&zeros(1024)), "must hold a file"),
        ("no archive", b"a: 1\n".to_vec(), "must be a `.tar.gz`"),
        ("zip: a path out", zip(&["../x"], 0o644, b""), "must lie within"),
        ("zip: a link", link_in_zip(), "not links"),
        ("zip: a device", with(zip(&["x"], 0o644, b""), &[0xa4, 0x81], &[0xa4, 0x21]), "not links or devices"),
        (
            "zip: many files",
            zip(
                &(0..60).map(|n| n.to_string()).collect::<Vec<_>>().iter().map(String::as_str).collect::<Vec<_>>(),
                0o644,
                b"",
            ),
            "at most 50 files",
        ),
        ("zip: by case", zip(&["x", "X"], 0o644, b""), "differ in more than case"),
        ("zip: a bomb", zip(&["x"], 0o644, &zeros(1 << 24)), "at most 65536 bytes"),
        (
            "zip: a lie of a size",
            with(zip(&["x"], 0o644, &zeros(70_000)), &70_000_u32.to_le_bytes(), &[1, 0, 0, 0]),
            "must be",
        ),
        ("zip: half", cut(zip(&["x"], 0o644, b"abc"), 12), "must be a zip"),
        ("zip: the end alone", b"PK\x05\x06".to_vec(), "must be a zip"),
    ] {
        let told = format!("{:#}", unpack(&archive, Root::Kept, SMALL).expect_err(what));
        assert!(told.contains(want) && told.len() < 500, "{what}: {told}");
    }
    for (what, entries) in [
        ("no chart", vec![file("web/a.yaml")]),
        ("two folders", vec![file("a/Chart.yaml"), file("b/x")]),
        ("no folder", vec![file("Chart.yaml")]),
    ] {
        let told = unpack(&tar(&entries), Root::Chart, SMALL).expect_err(what).to_string();
        assert!(told.contains("`helm package`"), "{what}: {told}");
    }
}

#[test]
fn an_archive_has_files_in_the_order_of_their_paths() {
    let mut out = Builder::new(Vec::new());
    let long = format!("web/{}/x", ["long"; 40].join("/"));
    for (name, mode) in [("web/b.sh", 0o755), (long.as_str(), 0o644), ("web/Chart.yaml", 0o600)] {
        let mut header = Header::new_gnu();
        header.set_mode(mode);
        header.set_size(2);
        out.append_data(&mut header, name, &b"1\n"[..]).expect("added");
    }
    let tar = out.into_inner().expect("finished");
    let global =
        entry(b"pax_global_header", EntryType::XGlobalHeader, b"52 comment=1234567890123456789012345678901234567890\n");
    let folders = [entry(b"./", EntryType::Directory, b""), entry(b"web/", EntryType::Directory, b"")].concat();
    let read = |bytes: &[u8], root| -> Vec<String> {
        let files = unpack(bytes, root, SMALL).expect("an archive");
        assert!(files.iter().all(|file| file.bytes == b"1\n"));
        files.iter().map(|file| format!("{}{}", file.path, if file.is_executable { "*" } else { "" })).collect()
    };
    let inner = ["Chart.yaml".to_owned(), "b.sh*".to_owned(), long["web/".len()..].to_owned()];
    let whole = [global, folders, tar].concat();
    for root in [Root::Chart, Root::Wrapper] {
        assert_eq!(read(&gz(&whole), root), inner);
    }
    assert_eq!(read(&whole, Root::Kept)[0], "web/Chart.yaml");
    assert_eq!(read(&zip(&["./web/x"], 0o755, b"1\n"), Root::Wrapper), ["x*"]);
    assert_eq!(read(&zip(&["web/x", "y"], 0o644, b"1\n"), Root::Wrapper), ["web/x", "y"]);
    // As `cat a.tar.gz b.tar.gz` makes it: gzip has parts.
    let (a, b) = whole.split_at(700);
    assert_eq!(read(&[gz(a), gz(b)].concat(), Root::Chart), inner);
}
