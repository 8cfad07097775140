use krm_files::temporary::TemporaryFolder;

use super::*;
use crate::source::ReleaseFile;
use crate::tests::{Upstream, git};
use crate::tree;

/// A cache of a repository on disk, in a folder of its own.
fn cache(folder: &TemporaryFolder, upstream: &Upstream, network: Network) -> Store {
    let given = format!("file://{}", upstream.work.path("").display());
    let remote = Remote { url: OnceCell::new(), given, network, source: None };
    Store::at(fs::canonicalize(folder.path()).expect("there").join("up"), Some(remote), None)
}

fn address(reference: &str) -> ReleaseAddress {
    ReleaseAddress::parse(&format!("https://example.com/r.git/p@{reference}")).expect("an address")
}

fn set(commits: &[&String]) -> BTreeSet<String> {
    commits.iter().map(|commit| (*commit).clone()).collect()
}

#[test]
fn what_was_fetched_is_there_without_the_network() {
    let (folder, upstream) = (TemporaryFolder::new("test-of-cache").expect("a folder"), Upstream::new());
    upstream.work.git(&["config", "uploadpack.allowFilter", "true"]);
    let [v1, v2] = ["v1", "v2"].map(|name| &upstream.commits[name]);
    let never = cache(&folder, &upstream, Network::Offline);
    let told = format!("{:#}", never.refs().expect_err("never fetched"));
    assert!(told.contains("must have been fetched before it is used with `--offline`"), "{told}");
    let store = cache(&folder, &upstream, Network::Online);
    assert_eq!(store.state(&address("v1")).expect("a state").commit, *v1);
    assert_eq!(store.state(&address("v2")).expect("a state").commit, *v2, "the commit of an annotated tag");
    assert!(store.state(&address("HEAD~1")).is_err(), "only of the repository that one stands in");
    assert!(store.fetch(&set(&[v1])).expect("fetched").is_empty());
    let offline = cache(&folder, &upstream, Network::Offline);
    let gone = offline.fetch(&set(&[v1, v2])).expect("asked");
    let why = "it was not fetched before, and `--offline` is given".to_owned();
    assert_eq!(gone.into_iter().collect::<Vec<_>>(), [(v2.clone(), why)]);
    // The files come with the release that needs them.
    let Some(found) = crate::tree::find(&offline, v1, "p").expect("found") else { panic!("a folder") };
    let told = offline.fetch_files(&found.objects()).expect_err("no file yet").to_string();
    assert!(told.contains("the files of the release were not fetched before"), "{told}");
    store.fetch_files(&found.objects()).expect("fetched");
    cache(&folder, &upstream, Network::Offline).fetch_files(&found.objects()).expect("they are here");
    let objects = found.objects();
    let object = objects.first().expect("an object");
    assert_eq!(offline.read(object, 2).expect("read").expect("there").bytes.len(), 2);
    assert!(offline.read(object, 1).is_err(), "it is too large");
    assert_eq!(offline.read(object, 2).expect("read").expect("there").kind, "blob", "after an error, too");
    assert!(store.packed() > 0);
}

#[test]
fn a_commit_that_is_gone_is_told_and_the_others_come() {
    let (folder, upstream) = (TemporaryFolder::new("test-of-cache").expect("a folder"), Upstream::new());
    let store = cache(&folder, &upstream, Network::Online);
    let (gone, v1) = ("0".repeat(39) + "1", &upstream.commits["v1"]);
    let other = "0".repeat(39) + "2";
    let told = store.fetch(&set(&[&gone, &other, v1])).expect("asked");
    assert_eq!(told.keys().collect::<Vec<_>>(), [&gone, &other]);
    // Each has git's own words.
    assert!(told.iter().all(|(commit, why)| why.starts_with("git: ") && why.contains(commit)), "{told:?}");
    assert!(cache(&folder, &upstream, Network::Offline).fetch(&set(&[v1])).expect("asked").is_empty());
    assert!(!store.is_after(v1, &gone).expect("asked"), "nobody knows");
    store.is_after(&gone, v1).expect_err("it cannot be fetched");
}

#[test]
fn a_commit_is_after_another_if_that_is_in_its_history() {
    let (folder, upstream) = (TemporaryFolder::new("test-of-cache").expect("a folder"), Upstream::new());
    let store = cache(&folder, &upstream, Network::Online);
    let [v1, other, v2] = ["v1", "other", "v2"].map(|name| &upstream.commits[name]);
    store.fetch(&set(&[v1, v2])).expect("fetched");
    let offline = cache(&folder, &upstream, Network::Offline);
    let told = format!("{:#}", offline.is_after(v2, v1).expect_err("it has no history"));
    assert!(told.contains("`--to` must name the release") && told.contains("`--offline` is given"), "{told}");
    assert!(store.is_after(v2, v1).expect("asked") && !store.is_after(v1, v2).expect("asked"));
    assert!(store.is_after(v2, other).expect("asked") && store.is_after(v1, v1).expect("asked"));
}

#[test]
fn a_repository_that_does_not_answer_is_asked_once() {
    let (folder, upstream) = (TemporaryFolder::new("test-of-cache").expect("a folder"), Upstream::new());
    let mut store = cache(&folder, &upstream, Network::Online);
    let given = format!("file://{}/nothing", upstream.work.path("").display());
    store.remote = Some(Remote { url: OnceCell::new(), given: given.clone(), network: Network::Online, source: None });
    let told = format!("{:#}", store.refs().expect_err("nothing is there"));
    assert!(told.contains(&format!("\"{given}\" must be a git repository that `git ls-remote` reaches")), "{told}");
    // It comes meanwhile.
    git(&upstream.work.path(""), &["clone", "--quiet", "--bare", ".", "nothing"]);
    assert_eq!(format!("{:#}", store.refs().expect_err("asked once")), told);
}

#[test]
fn an_address_without_git_is_that_of_the_repository_with_it() {
    let urls = |given: &str| {
        Remote { url: OnceCell::new(), given: given.to_owned(), network: Network::Online, source: None }.urls()
    };
    assert_eq!(urls("https://h/r"), ["https://h/r", "https://h/r.git"]);
    assert_eq!(urls("https://h/r/"), ["https://h/r/", "https://h/r.git"]);
    assert_eq!(urls("https://h/r.git"), ["https://h/r.git"]);
    let name = name_of("https://h/r");
    assert!(name.starts_with("r-") && name == name_of("https://h/r.git/"), "{name}");
    assert_ne!(name, name_of("https://other/r"));
    // On disk, either may be there.
    let (folder, upstream) = (TemporaryFolder::new("test-of-cache").expect("a folder"), Upstream::new());
    let bare = format!("file://{}", folder.path().join("r").display());
    assert_eq!(name_of(&bare), name_of(&format!("{bare}.git")));
    git(&upstream.work.path(""), &["clone", "--quiet", "--bare", ".", &folder.path().join("r").to_string_lossy()]);
    assert_ne!(name_of(&bare), name_of(&format!("{bare}.git")));
}

#[test]
fn a_cache_with_other_names_of_objects_is_made_anew() {
    let (folder, upstream) = (TemporaryFolder::new("test-of-cache").expect("a folder"), Upstream::new());
    let store = cache(&folder, &upstream, Network::Online);
    git(folder.path(), &["init", "--quiet", "--bare", "--object-format=sha256", "up"]);
    assert!(store.fetch(&set(&[&upstream.commits["v1"]])).expect("fetched").is_empty());
    let again = cache(&folder, &upstream, Network::Online);
    fs::write(store.folder.join("kept"), "").expect("written");
    again.refs().expect("refs");
    assert!(store.folder.join("kept").exists(), "a good one stays");
    // What a killed fetch left.
    fs::write(store.folder.join("shallow.lock"), "").expect("written");
    fs::write(store.folder.join("objects/pack/tmp_pack_x"), "").expect("written");
    assert!(again.fetch(&set(&[&upstream.commits["v2"]])).expect("fetched").is_empty());
    assert!(!store.folder.join("objects/pack/tmp_pack_x").exists());
}

/// Releases in memory: names, and the text of the one file `a.yaml` of each. The text is the beginning of the digest.
#[derive(Debug, Default)]
struct Memory {
    releases: Vec<(&'static str, &'static str)>,
    /// Whether the list has the digests.
    is_listed_with_digests: bool,
    /// How the server is.
    server: Server,
    /// What was asked.
    asked: RefCell<Vec<String>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Server {
    #[default]
    Whole,
    /// It gives the files with the digest.
    GivesFiles,
    Refuses,
    Down,
}

fn digest(text: &str) -> String {
    disk::hash(text.as_bytes())
}

impl Source for Memory {
    fn releases(&self) -> Result<Releases> {
        self.asked.borrow_mut().push("releases".to_owned());
        match self.server {
            Server::Down => bail!("no answer"),
            Server::Refuses => return Ok(Releases::Refused("no login".to_owned())),
            Server::Whole | Server::GivesFiles => {}
        }
        let digest = |text: &str| self.is_listed_with_digests.then(|| digest(text));
        let listed = |(name, text): &(&str, &str)| Listed { name: (*name).to_owned(), digest: digest(text) };
        Ok(Releases::Listed(self.releases.iter().map(listed).collect()))
    }

    fn exact(&self, name: &str) -> Result<Option<Exact>> {
        self.asked.borrow_mut().push(format!("digest {name}"));
        if self.server == Server::Down {
            bail!("no answer");
        }
        let found = self.releases.iter().find(|(known, _)| *known == name);
        let files = |text| Some(files(text)).filter(|_| self.server == Server::GivesFiles);
        Ok(found.map(|(_, text)| Exact { digest: digest(text), files: files(text) }))
    }

    fn files(&self, name: Option<&str>, wanted: &str) -> Result<Vec<ReleaseFile>> {
        self.asked.borrow_mut().push(format!("files {}", name.unwrap_or("?")));
        let found = self.releases.iter().find(|(_, text)| digest(text) == wanted && self.server != Server::Down);
        found.map(|(_, text)| files(text)).with_context(|| format!("{wanted} is not there"))
    }
}

fn files(text: &str) -> Vec<ReleaseFile> {
    let file = |path: &str| ReleaseFile { path: path.to_owned(), bytes: text.into(), is_executable: false };
    let run = ReleaseFile { is_executable: true, ..file("d/ru\"n\u{e9} .sh") };
    vec![file("a.yaml"), file("d/e/b.yaml"), run]
}

/// A cache of releases in memory, and who is asked.
fn cache_of(folder: &TemporaryFolder, source: Memory, network: Network) -> (Store, Rc<Memory>) {
    let source = Rc::new(source);
    let asked: Rc<dyn Source> = Rc::<Memory>::clone(&source);
    let remote = Remote { url: OnceCell::new(), given: "oci://h/web".to_owned(), network, source: Some(asked) };
    (Store::at(fs::canonicalize(folder.path()).expect("there").join("up"), Some(remote), None), source)
}

fn image(reference: &str) -> ReleaseAddress {
    ReleaseAddress::parse(&format!("oci://h/web{reference}")).expect("an address")
}

const THREE: [(&str, &str); 4] = [("1.0.0", "1"), ("1.1.0", "11"), ("2.0.0", "2"), ("latest", "2")];

#[test]
fn the_releases_of_a_source_are_trees_of_git() {
    let folder = TemporaryFolder::new("test-of-source").expect("a folder");
    for is_listed_with_digests in [true, false] {
        let memory =
            |releases: &[_]| Memory { releases: releases.to_vec(), is_listed_with_digests, ..Memory::default() };
        let (store, source) = cache_of(&folder, memory(&THREE), Network::Online);
        for (reference, want, text) in
            [(":1.0.0", "1.0.0", "1"), (":^1", "1.1.0", "11"), ("", "2.0.0", "2"), (":latest", "latest", "2")]
        {
            let state = store.state(&image(reference)).expect("a state");
            assert_eq!((state.name.as_str(), state.commit), (want, digest(text)), "{reference}");
            assert_eq!(state.kind == RefKind::Branch, want == "latest", "what has no version goes on");
        }
        let told = store.state(&image(":3.0.0")).expect_err("no such release").to_string();
        let want = "\"oci://h/web\" has no tag or digest \"3.0.0\"; the newest releases are 2.0.0, 1.1.0, 1.0.0";
        assert_eq!(told, want);
        let [v1, gone] = [digest("1"), digest("gone")];
        let told = store.fetch(&set(&[&v1, &gone])).expect("asked");
        assert_eq!(told.into_iter().collect::<Vec<_>>(), [(gone.clone(), format!("{gone} is not there"))]);
        // Everything is asked once.
        let questions = source.asked.borrow().iter().filter(|asked| *asked == "releases").count();
        assert_eq!(questions, 1);
        let Some(found) = tree::find(&store, &v1, "").expect("found") else { panic!("a folder") };
        let AtPath::Folder(entries) = &*found else { panic!("a folder") };
        let files = tree::files(&store, entries, |_| None).expect("read");
        let told: Vec<_> = files.iter().map(|file| (file.path.as_str(), &*file.bytes, file.is_executable)).collect();
        assert_eq!(
            told,
            [("a.yaml", &b"1"[..], false), ("d/e/b.yaml", b"1", false), ("d/ru\"n\u{e9} .sh", b"1", true)]
        );
        store.fetch_files(&found.objects()).expect("they are here");
        // Without the network, the source is not asked.
        let (offline, source) = cache_of(&folder, memory(&[]), Network::Offline);
        assert_eq!(offline.state(&image(":1.0.0")).expect("a state").commit, v1);
        assert!(offline.fetch(&set(&[&v1])).expect("asked").is_empty());
        let told = offline.fetch(&set(&[&gone])).expect("asked");
        assert_eq!(told[&gone], "it was not fetched before, and `--offline` is given");
        assert!(source.asked.borrow().is_empty());
    }
}

#[test]
fn a_source_says_plainly_what_it_cannot_say() {
    let folder = TemporaryFolder::new("test-of-source").expect("a folder");
    let source = Memory { releases: THREE.to_vec(), ..Memory::default() };
    let (store, source) = cache_of(&folder, source, Network::Online);
    let [v1, v2] = [digest("1"), digest("2")];
    let told = format!("{:#}", store.is_after(&v2, &v1).expect_err("it has no history"));
    let want = format!(
        "`--to` must name the release, because git cannot tell whether {v2} is newer than {v1}: \"oci://h/web\" is no git repository, so its releases have no history"
    );
    assert_eq!(told, want);
    // A digest without a name is asked for by itself, and a list is no question for each digest.
    let state = store.state(&image(&format!("@sha256:{v1}"))).expect("a digest");
    assert_eq!((state.kind, &state.commit), (RefKind::Commit, &v1));
    assert_eq!(store.refs().expect("listed").releases(&image(""), "").len(), 3);
    assert!(!source.asked.borrow().iter().any(|asked| asked.starts_with("digest")));
    let (offline, _) = cache_of(&folder, Memory::default(), Network::Offline);
    let told = offline.state(&image(":1.1.0")).expect_err("never asked").to_string();
    assert_eq!(told, "1.1.0 of \"oci://h/web\" must have been fetched before it is used with `--offline`");
}

#[test]
fn a_tag_that_moved_is_asked_for_again_and_the_old_release_stays() {
    let folder = TemporaryFolder::new("test-of-source").expect("a folder");
    let source = |releases: &[_]| Memory { releases: releases.to_vec(), ..Memory::default() };
    let (store, _) = cache_of(&folder, source(&THREE), Network::Online);
    let old = store.state(&image(":latest")).expect("a state").commit;
    assert!(store.fetch(&set(&[&old])).expect("fetched").is_empty());
    let (store, _) = cache_of(&folder, source(&[("latest", "3")]), Network::Online);
    store.knows("latest", &old);
    let new = store.state(&image(":latest")).expect("a state").commit;
    assert!(old != new && store.fetch(&set(&[&old, &new])).expect("fetched").is_empty());
    let (offline, _) = cache_of(&folder, source(&[]), Network::Offline);
    assert_eq!(offline.state(&image(":latest")).expect("a state").commit, new);
}

#[test]
fn a_cause_is_told_and_what_was_fetched_needs_no_server() {
    let folder = TemporaryFolder::new("test-of-source").expect("a folder");
    let store = |releases: &[_], server| {
        cache_of(&folder, Memory { releases: releases.to_vec(), server, ..Memory::default() }, Network::Online)
    };
    // The first of a name counts, as for helm.
    let twice = [THREE[0], ("1.0.0", "other"), THREE[1]];
    let source = Memory { releases: twice.to_vec(), is_listed_with_digests: true, ..Memory::default() };
    let (listed, _) = cache_of(&folder, source, Network::Online);
    assert_eq!(listed.state(&image(":1.0.0")).expect("a state").commit, digest("1"));
    // Files that came with a digest are not asked for again, and what is not there is asked for once.
    let (giving, source) = store(&THREE, Server::GivesFiles);
    let v1 = giving.state(&image(":1.0.0")).expect("a state").commit;
    assert!(giving.fetch(&set(&[&v1])).expect("fetched").is_empty());
    for _ in 0..3 {
        giving.state(&image(":3.0.0")).expect_err("no such release");
    }
    assert_eq!(*source.asked.borrow(), ["releases", "digest 1.0.0", "digest 3.0.0"]);
    // Who may not list them may still have one.
    let (refusing, _) = store(&THREE, Server::Refuses);
    assert_eq!(refusing.state(&image(":1.1.0")).expect("a state").commit, digest("11"));
    for (reference, want) in [
        ("", "nobody lists the releases of \"oci://h/web\", so one must be named: no login"),
        (":^1", "nobody lists the releases of \"oci://h/web\", so one must be named: no login"),
        (":3.0.0", "\"oci://h/web\" has no tag or digest \"3.0.0\": no login"),
    ] {
        let told = refusing.state(&image(reference)).expect_err("it is not there");
        assert_eq!(errors::chain(&told), want);
    }
    let (down, source) = store(&THREE, Server::Down);
    assert!(down.fetch(&set(&[&v1])).expect("it is here").is_empty());
    assert!(source.asked.borrow().is_empty());
    assert_eq!(down.state(&image(":1.0.0")).expect_err("no answer").to_string(), "no answer");
    let new = TemporaryFolder::new("test-of-source").expect("a folder");
    let source = Memory { server: Server::Down, ..Memory::default() };
    let (down, _) = cache_of(&new, source, Network::Online);
    assert_eq!(down.fetch(&set(&[&v1])).expect("asked")[&v1], "no answer");
}
