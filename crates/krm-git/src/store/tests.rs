use krm_files::temporary::TemporaryFolder;

use super::*;
use crate::tests::{Upstream, git};

/// A cache of a repository on disk, in a folder of its own.
fn cache(folder: &TemporaryFolder, upstream: &Upstream, network: Network) -> Store {
    let given = format!("file://{}", upstream.work.path("").display());
    let remote = Remote { url: OnceCell::new(), given, network };
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
    store.remote = Some(Remote { url: OnceCell::new(), given: given.clone(), network: Network::Online });
    let told = format!("{:#}", store.refs().expect_err("nothing is there"));
    assert!(told.contains(&format!("\"{given}\" must be a git repository that `git ls-remote` reaches")), "{told}");
    // It comes meanwhile.
    git(&upstream.work.path(""), &["clone", "--quiet", "--bare", ".", "nothing"]);
    assert_eq!(format!("{:#}", store.refs().expect_err("asked once")), told);
}

#[test]
fn an_address_without_git_is_that_of_the_repository_with_it() {
    let urls = |given: &str| Remote { url: OnceCell::new(), given: given.to_owned(), network: Network::Online }.urls();
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
