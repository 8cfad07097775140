//! `review`: what a new release does to the values over a chart, and to the patches over bases.
//!
//! `krm-overlay` finds the values and gives the verdicts. Here the files are read, and each release of a chart is fetched once.

mod bases;
mod charts;
mod patches;
mod raise;
mod rendered;
mod tree;
mod wishes;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Context, Result, anyhow, bail};
use krm_files::command::argument;
use krm_files::errors;
use krm_files::walk::{shown, there};
use krm_folders::end::End;
use krm_overlay::{Below, ChartSource, Finding, Layer, Overlay, Spot, Verdict, changed_defaults, overlays};
use krm_show::args::{Color, Reviewed};
use krm_show::progress::Progress;
use krm_show::review as page;
use krm_show::review::{Found, Missed, Over};
use krm_show::screen::{self, Reader};
use krm_tree::sides::Side;
use krm_words::Word;
use krm_yaml::TextEdits;

use crate::cli::{InConflict, Review};
use crate::helm::Helm;
use charts::{Charts, Loaded, Release};
use raise::{Edits, Kept};
use tree::Tree;
use wishes::{Wanted, Wishes};

/// Reviews values.
///
/// # Errors
/// The files cannot be read, or have no values over a chart; or the flags do not fit together.
pub fn review(args: &Review) -> Result<End> {
    let helm = if args.helm { Some(Helm::on_path()?) } else { None };
    let progress = Progress::begin("reading");
    let paths = if args.paths.is_empty() { vec![PathBuf::from(".")] } else { args.paths.clone() };
    let (mut reviewed, mut written, mut next) = (page::Review::default(), Vec::new(), BTreeSet::new());
    for (tree, within) in trees(&paths)? {
        let base = args.base.as_deref().map(|base| tree.base(base)).transpose()?;
        let mut all = overlays(&tree.texts);
        let wishes = Wishes::of(&all);
        let chosen = chosen(&all, &within);
        all.retain(|overlay| chosen.contains(&place(overlay)));
        let mut run = Run {
            args,
            charts: Charts::new(&tree.top, args.reach.network(), helm),
            tree: &tree,
            base: base.as_ref(),
            edits: Edits::default(),
            wishes,
            next: BTreeSet::new(),
            judged: Vec::new(),
        };
        let bases = base.as_ref().map(|base| Bases::of(overlays(&base.texts)));
        check_one(args, &all, &BTreeSet::new())?;
        let mut overs = Vec::new();
        for (number, overlay) in all.iter().enumerate() {
            progress.set(|| format!("reviewing {} of {}", number + 1, all.len()));
            overs.extend(run.one(overlay, bases.as_ref()));
        }
        if args.in_place {
            run.edit_values()?;
        }
        let of_bases = patches::review(args, &tree, base.as_ref(), &within);
        check_one(args, &all, &of_bases.repositories)?;
        overs.extend(of_bases.overlays);
        of_bases.edits.into_iter().for_each(|(file, edit)| run.edits.add(&file, &edit));
        next.extend(of_bases.by_hand);
        let findings = || overs.iter().flat_map(|over: &Over| &over.found).map(|found| &found.finding);
        let hides = |finding: &Finding| finding.verdict.hidden(Side::Updated).is_some();
        let is_refused = args.on_conflict == InConflict::Fail && findings().any(hides);
        if findings().any(|finding| finding.object.is_some() && run.wanted().asks_for(&finding.verdict)) {
            next.insert("edit the patches by hand: only values are removed, or written between markers".to_owned());
        }
        next.extend(run.next);
        if args.in_place && !is_refused {
            let changed = run.edits.write(&tree)?;
            written.extend(changed.files.iter().map(|path| tree.top.join(path)));
            let resolve = |path: &String| {
                format!("run `kubectl krm-merge resolve {}`", argument(Path::new(&page::path(&tree.top.join(path)))))
            };
            next.extend(changed.marked.iter().map(resolve));
        }
        reviewed.overlays.extend(overs);
    }
    drop(progress);
    if reviewed.overlays.is_empty() && args.base.is_none() {
        let paths: Vec<String> = paths.iter().map(|path| shown(path)).collect();
        bail!(
            "{}: there must be values over a chart, such as a HelmRelease, an Application, `helmCharts` of a kustomization or a `Chart.yaml` with dependencies; or a kustomization over a base with a version, such as `https://github.com/OWNER/REPO//PATH?ref=v1`",
            paths.join(", ")
        );
    }
    if !args.all {
        reviewed.without_idle();
    }
    let mut printed = page::of(&reviewed, args.output, Reader::of_stdout(Color::Auto));
    if args.output == Reviewed::Text {
        written.iter().for_each(|file| printed.line(&format!("changed {}", page::path(file))));
    }
    printed.print()?;
    if args.in_place {
        next.iter().for_each(|next| screen::tell(Word::Next, next));
    }
    if let Some(why) = reviewed.unread() {
        bail!("none of the values could be reviewed: {why}")
    }
    Ok(if reviewed.is_bad() { End::Differs } else { End::Done })
}

/// The trees around some paths, each with the paths in it.
fn trees(paths: &[PathBuf]) -> Result<Vec<(Tree, Vec<PathBuf>)>> {
    let mut trees: Vec<(Tree, Vec<PathBuf>)> = Vec::new();
    for path in paths {
        there("PATH", "a file or a folder with values", path)?;
        let path = fs::canonicalize(path).with_context(|| shown(path))?;
        match trees.iter_mut().find(|(tree, _)| path.starts_with(&tree.top)) {
            Some((_, within)) => within.push(path),
            None => trees.push((Tree::around(&path)?, vec![path])),
        }
    }
    for (tree, within) in &mut trees {
        for path in within {
            *path = path.strip_prefix(&tree.top).unwrap_or(path).to_owned();
        }
    }
    Ok(trees)
}

/// What tells an overlay from others of a tree.
fn place(overlay: &Overlay) -> (String, usize, String, Vec<String>) {
    let own = overlay.layers.iter().skip(overlay.shared).map(|layer| layer.file().to_owned()).collect();
    (overlay.at.file.clone(), overlay.at.offset, overlay.name.clone(), own)
}

/// The overlays that the user means: those that are in the paths, or have values there. Others that get the same version from the same place
/// are raised with them.
fn chosen(all: &[Overlay], within: &[PathBuf]) -> BTreeSet<(String, usize, String, Vec<String>)> {
    let is_in = |file: &str| within.iter().any(|path| Path::new(file).starts_with(path));
    let version = |overlay: &Overlay| {
        let version = overlay.below.as_ref().ok()?.version.as_ref()?;
        Some((version.file.clone(), version.range.start))
    };
    let is_meant = |overlay: &&Overlay| {
        let own = overlay.layers.iter().skip(overlay.shared).map(|layer| layer.file());
        let version = overlay.below.iter().flat_map(|below| &below.version).map(|version| version.file.as_str());
        [overlay.at.file.as_str()].into_iter().chain(own).chain(version).any(is_in)
    };
    let meant: Vec<&Overlay> = all.iter().filter(is_meant).collect();
    let versions: BTreeSet<(String, usize)> = meant.iter().copied().filter_map(version).collect();
    let with_them = all.iter().filter(|overlay| version(overlay).is_some_and(|version| versions.contains(&version)));
    meant.iter().copied().chain(with_them).map(place).collect()
}

/// Checks that a version is meant for one chart, or for one repository of bases.
fn check_one(args: &Review, all: &[Overlay], repositories: &BTreeSet<String>) -> Result<()> {
    let charts: BTreeSet<&ChartSource> = all.iter().filter_map(|one| Some(&one.below.as_ref().ok()?.source)).collect();
    let names: Vec<String> = charts.iter().map(|source| name(source)).chain(repositories.iter().cloned()).collect();
    if args.to.is_some() && names.len() > 1 {
        bail!("`--to` must be given with the values over one chart, not {}: name the files of one", names.join(", "));
    }
    Ok(())
}

/// The name of a chart, as its source has it.
fn name(source: &ChartSource) -> String {
    let last = |path: &str| path.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
    match source {
        ChartSource::Repository { name, .. } => name.clone(),
        ChartSource::Oci(path) | ChartSource::Folder(path) | ChartSource::Packed(path) => last(path),
        ChartSource::Git { url, path } => {
            if path.is_empty() {
                last(url)
            } else {
                last(path)
            }
        }
    }
}

/// The overlays of the base.
struct Bases(BTreeMap<(String, String), Vec<Overlay>>);

impl Bases {
    fn of(overlays: Vec<Overlay>) -> Self {
        let mut all: BTreeMap<(String, String), Vec<Overlay>> = BTreeMap::new();
        for overlay in overlays {
            all.entry((overlay.kind.name().to_owned(), overlay.name.clone())).or_default().push(overlay);
        }
        Self(all)
    }

    /// What an overlay was in the base: the one of its name in its file, or else the one of its name.
    fn of_overlay(&self, overlay: &Overlay) -> Option<&Overlay> {
        let named = self.0.get(&(overlay.kind.name().to_owned(), overlay.name.clone()))?;
        let own = |overlay: &Overlay| place(overlay).3;
        let here: Vec<&Overlay> = named.iter().filter(|one| one.at.file == overlay.at.file).collect();
        let exact = here.iter().copied().find(|one| own(one) == own(overlay)).or(here.first().copied());
        exact.or_else(|| if let [one] = &named[..] { Some(one) } else { None })
    }
}

/// The layers of an overlay. Each has its values, as they were found.
fn layers(overlay: &Overlay) -> Vec<Layer<'_>> {
    let all = overlay.layers.iter();
    all.filter_map(|place| Some(Layer { values: place.node()?, at: place.prefix.clone() })).collect()
}

/// Where the version stands, or else the overlay.
fn version_spot(overlay: &Overlay) -> Spot {
    let version = overlay.below.as_ref().ok().and_then(|below| below.version.as_ref());
    version
        .map_or_else(|| overlay.at.clone(), |version| Spot { file: version.file.clone(), offset: version.range.start })
}

/// A run over a tree.
struct Run<'r> {
    args: &'r Review,
    charts: Charts,
    tree: &'r Tree,
    base: Option<&'r Tree>,
    /// What `--in-place` writes.
    edits: Edits,
    wishes: Wishes,
    /// What is left to the user then.
    next: BTreeSet<String>,
    judged: Vec<Judged<'r>>,
}

/// An overlay with its own findings.
struct Judged<'r> {
    overlay: &'r Overlay,
    findings: Vec<Finding>,
    /// The old and the new release below it, as a person names them.
    releases: [String; 2],
}

/// Both releases of a chart; nothing if there is no other.
struct Both {
    from: Option<String>,
    to: Option<String>,
    charts: Option<[Rc<Loaded>; 2]>,
}

impl<'r> Run<'r> {
    /// Reviews an overlay; `None` if what lies below it is that of the base.
    fn one(&mut self, overlay: &'r Overlay, bases: Option<&Bases>) -> Option<Over> {
        let mut over = Over {
            kind: overlay.kind,
            name: overlay.name.clone(),
            at: self.tree.place(&overlay.at),
            chart: overlay.below.as_ref().ok().map(|below| name(&below.source)),
            from: None,
            to: None,
            found: Vec::new(),
            changed: Vec::new(),
            notes: None,
            is_read: false,
            unread: Vec::new(),
        };
        let both = match (&overlay.below, bases) {
            (Err(unread), bases) => {
                // What the branch did not change is no matter of the branch.
                let was = bases.and_then(|bases| bases.of_overlay(overlay)?.below.as_ref().err());
                if was.is_some_and(|was| was.why == unread.why) {
                    return None;
                }
                over.unread.push(Missed::of(self.tree.place(&unread.at), unread));
                return Some(over);
            }
            (Ok(below), Some(bases)) => {
                let was = bases.of_overlay(overlay)?.below.as_ref().ok()?;
                self.against_base(was, below)?
            }
            (Ok(below), None) => self.raised(overlay, below),
        };
        match both {
            Ok(both) => {
                (over.from, over.to, over.is_read) = (both.from, both.to, true);
                if let Some(charts) = &both.charts {
                    self.judge(overlay, charts, &mut over);
                }
            }
            Err(e) => {
                let why = errors::chain(&e);
                over.unread.push(Missed { at: over.at.clone(), why });
            }
        }
        Some(over)
    }

    /// What lay below in the base, and what lies below now; `None` if that is the same.
    fn against_base(&self, was: &Below, is: &Below) -> Option<Result<Both>> {
        let base = self.base?;
        if let (ChartSource::Folder(_) | ChartSource::Packed(_), _)
        | (_, ChartSource::Folder(_) | ChartSource::Packed(_)) = (&was.source, &is.source)
        {
            let version = |below: &Below| below.version.as_ref().map(|version| version.text.clone());
            let chart = |tree: &Tree, below: &Below| match self.charts.has(below)? {
                Some(release) => self.charts.of_release(&release),
                None => self.charts.of_tree(tree, &below.source),
            };
            let (from, to) = (version(was), version(is));
            let both =
                chart(base, was).and_then(|old| Ok(Both { from, to, charts: Some([old, chart(self.tree, is)?]) }));
            return Some(both);
        }
        let text = |below: &Below| {
            (below.source.clone(), below.locked.clone(), below.version.as_ref().map(|version| version.text.clone()))
        };
        if text(was) == text(is) {
            return None;
        }
        let both = || {
            let (Some(old), Some(new)) = (self.charts.has(was)?, self.charts.has(is)?) else {
                bail!("both releases must be of a repository")
            };
            self.both(old, new)
        };
        Some(both())
    }

    /// What lies below, and the newest release, or the one that the user names.
    fn raised(&mut self, overlay: &Overlay, below: &Below) -> Result<Both> {
        let Some(old) = self.charts.has(below)? else {
            // Its files are the only release that there is.
            return Ok(Both { from: None, to: None, charts: None });
        };
        let new = match &self.args.to {
            Some(to) => self.charts.wished(&below.source, Some(to))?.context("the chart must have releases")?,
            None => self.charts.newest(&old)?,
        };
        if !old.is(&new) {
            self.raise(overlay, below, &old, &new);
        }
        self.both(old, new)
    }

    /// Notes the edit of the version, or what is left to the user.
    fn raise(&mut self, overlay: &Overlay, below: &Below, old: &Release, new: &Release) {
        let by_hand = match raise::raised(overlay.kind, below, old, new) {
            Ok((file, edit)) => {
                self.edits.add(&file, &edit);
                let folder = raise::locked(overlay.kind, below).map(|folder| self.tree.top.join(folder));
                folder.map(|folder| format!("run `helm dependency update {}`", argument(&folder)))
            }
            Err(Kept::Floats) => None,
            Err(Kept::ByHand(why)) => Some(format!("{}: {why}", page::path(&self.tree.place(&overlay.at).file))),
        };
        self.next.extend(by_hand);
    }

    fn both(&self, old: Release, new: Release) -> Result<Both> {
        if old.is(&new) {
            return Ok(Both { from: Some(old.version), to: None, charts: None });
        }
        let charts = [self.charts.of_release(&old)?, self.charts.of_release(&new)?];
        Ok(Both { from: Some(old.version), to: Some(new.version), charts: Some(charts) })
    }

    fn wanted(&self) -> Wanted {
        Wanted { same: self.args.drop_same, gone: self.args.drop_gone, hidden: self.args.on_conflict }
    }

    /// Notes the edits of the values. Only markers need a draft for each side.
    fn edit_values(&mut self) -> Result<()> {
        let is_marked = self.args.on_conflict == InConflict::Mark;
        let sides = if is_marked { &Side::ALL[..] } else { &[Side::Dest] };
        for judged in &self.judged {
            let Judged { overlay, findings, .. } = judged;
            let layers = layers(overlay);
            for &side in sides {
                let choose = |finding: &Finding| self.wishes.choice(overlay, finding, self.args.on_conflict, side);
                let chosen = krm_overlay::rebase(&layers, findings, choose)
                    .map_err(|e| anyhow!("{}: {e}", overlay.layers.get(e.layer).map_or("", |layer| layer.file())))?;
                for (layer, chosen) in overlay.layers.iter().zip(&chosen) {
                    for edit in layer.edits(chosen)?.map(TextEdits::into_vec).unwrap_or_default() {
                        match is_marked {
                            true => self.edits.add_for(layer.file(), side, edit),
                            false => self.edits.add(layer.file(), &edit),
                        }
                    }
                }
            }
            if is_marked {
                dispute(&mut self.edits, judged);
            }
        }
        Ok(())
    }

    /// Adds what the new release does to the values.
    fn judge(&mut self, overlay: &'r Overlay, charts: &[Rc<Loaded>; 2], over: &mut Over) {
        let [old, new] = charts.each_ref().map(|loaded| &loaded.chart);
        let layers = layers(overlay);
        let findings = krm_overlay::review(old, new, &layers, &overlay.named).into_iter();
        let mut own: Vec<Finding> = findings.filter(|finding| finding.layer >= overlay.shared).collect();
        let unread = overlay.unread.iter().map(|unread| Missed::of(self.tree.place(&unread.at), unread));
        over.unread.extend(unread);
        let unasked = rendered::ask(self.args, overlay, charts, &mut own);
        over.unread.extend(unasked.map(|why| Missed { at: over.at.clone(), why }));
        over.changed = changed_defaults(old, new, &layers);
        over.notes.clone_from(&new.notes);
        self.wishes.add(overlay, &own, self.wanted());
        for finding in &own {
            let spot = match (&finding.verdict, overlay.layers.get(finding.layer)) {
                (Verdict::DoesNotRender { .. }, _) => version_spot(overlay),
                (_, Some(layer)) => Spot { file: layer.file().to_owned(), offset: layer.offset(finding.span.start) },
                (_, None) => continue,
            };
            over.found.push(Found { at: self.tree.place(&spot), finding: finding.clone() });
        }
        let of = |version: &Option<String>| {
            [over.chart.as_deref(), version.as_deref()].into_iter().flatten().collect::<Vec<_>>().join(" ")
        };
        self.judged.push(Judged { overlay, findings: own, releases: [of(&over.from), of(&over.to)] });
    }
}

/// Notes which places of an overlay's files are in conflict, and between which releases.
fn dispute(edits: &mut Edits, Judged { overlay, findings, releases }: &Judged<'_>) {
    let disputed = findings.iter().filter(|finding| finding.verdict.hidden(Side::Updated).is_some());
    for (layer, span) in disputed.filter_map(|finding| Some((overlay.layers.get(finding.layer)?, &finding.span))) {
        edits.dispute(layer.file(), layer.offset(span.start)..layer.offset(span.end));
    }
    overlay.layers.iter().for_each(|layer| edits.name(layer.file(), releases.clone()));
}
