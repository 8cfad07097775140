//! Workloads: ResourceLists of any size in the shape of real packages.
//!
//! Half of the resources are Deployments, a fifth each Services and ConfigMaps, a tenth custom resources; about 2 KB each, commented, and with
//! the annotations of a host. Every byte depends on the number of resources alone, so that figures can be compared across commits
//! and machines, and the generator needs no dependency.
//!
//! The texts are the templates in `workload/`: a head, and behind it the rest of a Deployment, a Service, a ConfigMap and a custom resource.
//! A `<word>` is filled in, in as many lines as it takes; a line behind `@local` or `@upstream` is there only where that side changed.

const WHOLE: &str = include_str!("workload/whole.yaml");
const TWO_WAY: &str = include_str!("workload/two-way.yaml");
const STRATEGIC: &str = include_str!("workload/strategic.yaml");

/// A mode's name and what writes its workload for a number of resources.
pub type Workload = (&'static str, fn(usize) -> String);

/// All workloads.
pub const ALL: [Workload; 4] =
    [("plain", plain), ("two-way", two_way), ("three-way", three_way), ("strategic", strategic)];

/// Resources with nothing to merge.
pub fn plain(n: usize) -> String {
    list("two-way", base(n))
}

/// Resources, and behind them partial patches for a fifth of them, matched by identity.
pub fn two_way(n: usize) -> String {
    list("two-way", base(n).chain(patched(n).map(|i| Resource::new(i).text(TWO_WAY, &Host::kpt("overlay/", "source")))))
}

/// Resources, and behind them patches with directives for a fifth of them.
pub fn strategic(n: usize) -> String {
    list(
        "strategic",
        base(n).chain(patched(n).map(|i| Resource::new(i).text(STRATEGIC, &Host::kpt("overlay/", "patch")))),
    )
}

/// The same resources and patches as [`strategic`] has, as the files of a kustomization, which has no annotations of a host.
pub fn kustomization(n: usize) -> [(&'static str, String); 3] {
    let documents = |texts: &mut dyn Iterator<Item = String>| texts.map(|t| format!("---\n{t}")).collect::<String>();
    let resources = documents(&mut (0..n).map(|i| Resource::new(i).text(WHOLE, &Host::None)));
    let patches = documents(&mut patched(n).map(|i| Resource::new(i).text(STRATEGIC, &Host::None)));
    let kustomization = "resources: [resources.yaml]\npatches: [{path: patches.yaml}]\n".to_owned();
    [("kustomization.yaml", kustomization), ("resources.yaml", resources), ("patches.yaml", patches)]
}

/// The versions dest, original and updated: a fifth is changed upstream, a fifth locally, 2 % on both sides without and 2 %
/// with conflict; 5 % are added and 5 % deleted, one half on each side.
pub fn three_way(n: usize) -> String {
    let fates = fates(n);
    let versions = ROLES.into_iter().flat_map(|role| versions(&fates, role).map(move |(_, r)| (role, r)));
    list("three-way", versions.map(|(role, r)| r.text(WHOLE, &Host::kpt("", role))))
}

/// The versions of [`three_way`] as packages of files with up to 58 resources: for each role, the names and the texts of the files.
pub fn packages(n: usize) -> [(&'static str, Vec<(String, String)>); 3] {
    let fates = fates(n);
    ROLES.map(|role| {
        let mut files: Vec<(String, String)> = Vec::new();
        for (i, resource) in versions(&fates, role) {
            let name = format!("{:04}.yaml", i / 58);
            if files.last().is_none_or(|(last, _)| *last != name) {
                files.push((name, String::new()));
            }
            let text = resource.text(WHOLE, &Host::None);
            files.last_mut().expect("a file").1.push_str(&format!("---\n{text}"));
        }
        (role, files)
    })
}

const ROLES: [&str; 3] = ["dest", "original", "updated"];

/// The resources that a version has, with their numbers.
fn versions(fates: &[Fate], role: &'static str) -> impl Iterator<Item = (usize, Resource)> {
    let all = fates.iter().enumerate();
    all.filter_map(move |(i, fate)| Some((i, Resource::version(i, *fate, role)?)))
}

fn base(n: usize) -> impl Iterator<Item = String> {
    (0..n).map(|i| Resource::new(i).text(WHOLE, &Host::kpt("", "")))
}

/// A ResourceList of these items.
fn list(mode: &str, items: impl Iterator<Item = String>) -> String {
    let mut out = String::from("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n");
    for item in items {
        for (i, line) in item.lines().enumerate() {
            out.push_str(if i == 0 { "- " } else { "  " });
            out.push_str(line);
            out.push('\n');
        }
    }
    out + &format!(
        "functionConfig:\n  apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: merge\n  data:\n    mode: {mode}\n"
    )
}

/// A linear congruential generator with the constants of Knuth's MMIX; its low bits are poor and not used.
struct Random(u64);

impl Random {
    fn new(seed: usize) -> Self {
        Self((seed as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    fn pick(&mut self, from: &[&'static str]) -> &'static str {
        from[self.below(from.len())]
    }

    /// The numbers below `n` in a random order.
    fn order(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            order.swap(i, self.below(i + 1));
        }
        order
    }
}

/// The resources that are patched, in order.
fn patched(n: usize) -> impl Iterator<Item = usize> {
    let mut patched = Random::new(n).order(n);
    patched.truncate((n / 5).max(1));
    patched.sort_unstable();
    patched.into_iter()
}

/// What happened to a resource since original.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    Same,
    Upstream,
    Local,
    Both,
    Conflict,
    AddedUpstream,
    AddedLocally,
    DeletedUpstream,
    DeletedLocally,
}

/// The fate of each resource: exact shares, shuffled.
fn fates(n: usize) -> Vec<Fate> {
    use Fate::*;
    let per_mille = [
        (Conflict, 20),
        (Both, 20),
        (Upstream, 160),
        (Local, 160),
        (AddedUpstream, 25),
        (AddedLocally, 25),
        (DeletedUpstream, 25),
        (DeletedLocally, 25),
    ];
    let mut fates = vec![Same; n];
    let order = Random::new(n).order(n);
    let (mut share, mut done) = (0, 0);
    for (fate, part) in per_mille {
        share += part;
        let end = n * share / 1000;
        order[done..end].iter().for_each(|&i| fates[i] = fate);
        done = end;
    }
    fates
}

const WORDS: [&str; 26] = [
    "alpha", "bravo", "cargo", "delta", "ember", "falcon", "gamma", "harbor", "index", "jolt", "karma", "lumen",
    "meadow", "nectar", "orbit", "pixel", "quartz", "raven", "sierra", "tundra", "umbra", "vector", "willow", "xenon",
    "yonder", "zephyr",
];
const NOTES: [&str; 6] = [
    "reviewed with the platform team",
    "keep in step with the dashboard",
    "raised after the March incident",
    "see the runbook before changing",
    "temporary, until the migration is done",
    "sized from last quarter's load",
];

/// Whose annotations a resource carries.
enum Host {
    /// kpt's, which say that it lies below this folder and plays this role.
    Kpt { folder: &'static str, role: &'static str },
    /// No one's.
    None,
}

impl Host {
    fn kpt(folder: &'static str, role: &'static str) -> Self {
        Self::Kpt { folder, role }
    }

    fn annotations(&self) -> String {
        let Self::Kpt { folder, role } = self else { return String::new() };
        let role =
            lines(usize::from(!role.is_empty()), |_| format!("    config.kubernetes.io/merge-source: '{role}'\n"));
        let transport = ["config.kubernetes.io", "internal.config.kubernetes.io"]
            .map(|host| format!("    {host}/index: '0'\n    {host}/path: '{folder}<team>/<app>.yaml'"))
            .join("\n");
        format!("{role}{transport}\n    internal.config.kubernetes.io/seqindent: 'compact'\n")
    }
}

/// One resource: what its template is filled with.
struct Resource {
    /// Which template behind the head is its own.
    kind: usize,
    fields: Vec<(&'static str, String)>,
    /// The side that changed it, as in the templates.
    changed: Option<&'static str>,
}

impl Resource {
    fn new(i: usize) -> Self {
        let mut r = Random::new(i);
        let (kind, head, suffix) = match i % 10 {
            2 | 6 => (2, "apiVersion: v1\nkind: Service", "-service"),
            4 | 8 => (3, "apiVersion: v1\nkind: ConfigMap", "-config"),
            9 => (4, "apiVersion: mesh.example.com/v1beta1\nkind: Gateway", "-gateway"),
            _ => (1, "apiVersion: apps/v1\nkind: Deployment", ""),
        };
        let app = format!("{}-{}-{i:05}", r.pick(&WORDS), r.pick(&WORDS));
        let (octet, first) = (r.below(40), r.below(WORDS.len()));
        let head =
            format!("{head}\nmetadata:\n  name: {app}{suffix} # kpt-set: ${{name}}\n  namespace: team-{octet:02}");
        let word = |k: usize| WORDS[(first + k) % WORDS.len()];
        let mut fields = vec![("head", head), ("app", app), ("octet", octet.to_string())];
        fields.extend(["note0", "note1", "note2", "note3"].map(|name| (name, r.pick(&NOTES).to_owned())));
        fields.extend([
            ("team", format!("team-{octet:02}")),
            ("first", word(0).to_owned()),
            ("replicas", (1 + r.below(8)).to_string()),
            ("patch", r.below(30).to_string()),
            ("memory", r.pick(&["64Mi", "128Mi", "256Mi", "512Mi"]).to_owned()),
            ("level", r.pick(&["info", "warn", "debug"]).to_owned()),
            ("port", (8000 + r.below(900)).to_string()),
            ("timeout", (5 + r.below(55)).to_string()),
            ("data", lines(9, |k| format!("key.{}: {}-{}", word(k), r.pick(&WORDS), r.below(1_000_000)))),
            (
                "script",
                lines(14, |_| format!("{} = {} {} ; kept", r.pick(&WORDS), r.pick(&WORDS), r.below(100_000_000))),
            ),
            ("servers", lines(5, |k| server(k, &format!("{}.{}", r.pick(&WORDS), r.pick(&WORDS))))),
        ]);
        Self { kind, fields, changed: None }
    }

    /// One of the three versions of a resource; `None` where that version lacks it.
    fn version(i: usize, fate: Fate, role: &str) -> Option<Self> {
        use Fate::*;
        let mut resource = Self::new(i);
        match (fate, role) {
            (AddedUpstream | DeletedLocally, "dest") | (AddedUpstream | AddedLocally, "original") => return None,
            (AddedLocally | DeletedUpstream, "updated") => return None,
            (Upstream | Both, "updated") => resource.change(Some("@upstream"), &[("patch", "30")]),
            (Local | Both, "dest") => {
                resource.change(Some("@local"), &[("replicas", "11"), ("memory", "1Gi"), ("timeout", "75")]);
            }
            (Conflict, "updated") => {
                resource.change(None, &[("replicas", "21"), ("level", "error"), ("timeout", "91")])
            }
            (Conflict, "dest") => resource.change(None, &[("replicas", "34"), ("level", "trace"), ("timeout", "92")]),
            _ => {}
        }
        Some(resource)
    }

    fn change(&mut self, side: Option<&'static str>, values: &[(&str, &str)]) {
        self.changed = side;
        for (name, value) in values {
            self.fields.iter_mut().filter(|f| f.0 == *name).for_each(|f| f.1 = (*value).to_owned());
        }
    }

    /// The text by a template.
    fn text(&self, template: &str, host: &Host) -> String {
        let mut parts = template.split("---\n");
        let head =
            parts.next().map(|h| h.replace("<transport>\n", &host.annotations())).expect("a template has a head");
        let rest = parts.nth(self.kind - 1).expect("a template has each kind");
        let mut out = String::new();
        for line in head.lines().chain(rest.lines()).filter_map(|line| self.own(line)) {
            self.fill(line, &mut out);
        }
        out
    }

    /// A line of a template without its mark; `None` where it belongs to a side that changed nothing.
    fn own<'t>(&self, line: &'t str) -> Option<&'t str> {
        if line.starts_with('@') { line.strip_prefix(self.changed?) } else { Some(line) }
    }

    /// Fills in a line of a template; further lines of a field stand in the column of its first.
    fn fill(&self, line: &str, out: &mut String) {
        let mut rest = line;
        while let Some((before, (name, after))) = rest.split_once('<').and_then(|(b, r)| Some((b, r.split_once('>')?)))
        {
            let (_, value) = self.fields.iter().find(|f| f.0 == name).expect("a template names fields that there are");
            out.push_str(before);
            out.push_str(&value.replace('\n', &format!("\n{}", " ".repeat(before.len()))));
            rest = after;
        }
        out.push_str(rest);
        out.push('\n');
    }
}

fn server(k: usize, host: &str) -> String {
    let weight = 10 * k;
    format!(
        "- name: server-{k}\n  host: {host}.example.com # weighted\n  weight: {weight}\n  retries:\n    attempts: 3\n    perTryTimeout: 2s"
    )
}

fn lines(n: usize, line: impl FnMut(usize) -> String) -> String {
    (0..n).map(line).collect::<Vec<_>>().join("\n")
}
