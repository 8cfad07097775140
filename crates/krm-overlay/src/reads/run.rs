//! [`Run`]: walks templates without values. Each expression is the set of things that it may be, and what helm prints, compares or loops over
//! is noted in [`Places`].
//!
//! A map that a template makes has a number, and all that is ever put into it is kept: so a template that passes values on in a `dict`, or
//! merges a library's values into the chart's own, is followed. The walk is repeated until it learns nothing new.

use std::rc::Rc;

use krm_yaml::hashed::{Empty, HashMap, HashSet};

use super::places::{ALL_VALUES, PlaceId, Places, Use};
use super::template::{Assigned, Node, Operand, Pipe, Template, Word, parse};
use super::{Blind, Reads, Source, Sources, named_in};

/// How many steps a walk may take.
const MOST_STEPS: usize = 3_000_000;

/// How deep definitions, blocks and parentheses may be in each other.
const MOST_DEEP: usize = 300;

/// How many things an expression may be.
const MOST_THINGS: usize = 100;

/// How often the walk is repeated.
const MOST_ROUNDS: usize = 30;

/// Stands in a text for a part that is not known.
pub const UNKNOWN: char = '\u{1}';

/// What an expression may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Thing {
    /// The dot of a chart's own template, which has `.Values`.
    Root(u32),
    /// The value of a place.
    Place(PlaceId),
    /// A map or list that a template makes.
    Made(u32),
    /// This text.
    Text(u32),
    /// Something that has no values in it.
    Other,
}

/// The things that an expression may be, sorted.
pub type Things = Vec<Thing>;

/// A map or list that a template makes.
#[derive(Clone, Debug, Default, PartialEq)]
struct Made {
    fields: HashMap<Box<str>, Things>,
    /// What is under a name that is not known, and the elements of a list.
    any: Things,
    /// What it was merged with or copied from.
    also: Things,
}

/// What a template does with a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Deed {
    Consume,
    Test,
    Iterate,
}

/// A template that helm renders for a chart.
struct Body<'t> {
    root: u32,
    file: u32,
    nodes: &'t [Node],
}

/// What a template prints.
#[derive(Clone, Debug, Default, PartialEq)]
enum Printed {
    /// Nothing.
    #[default]
    Nothing,
    /// One thing, so that who includes the template gets it.
    One(Things),
    /// A text of several parts.
    Text,
}

/// The variables of a template. `$` is the first one.
struct Frame {
    variables: Vec<(String, Things)>,
    dot: Things,
    /// What tells the maps that it makes from those of other calls of the same template.
    call: u32,
    file: u32,
    /// Whether a variable may be more than before, because it was assigned again.
    has_grown: bool,
}

/// A walk of the templates.
pub struct Run<'t> {
    places: Places,
    made: Vec<Made>,
    made_at: HashMap<(u32, usize, u32), u32>,
    /// The paths of the files.
    files: Vec<&'t str>,
    /// The one that is walked.
    file: u32,
    /// The places whose values are merged into those of the whole, such as `common`. `common.common` is `common` again, as often as the walk
    /// is repeated.
    merged: Vec<PlaceId>,
    /// The values of each chart.
    roots: Vec<PlaceId>,
    /// What was set in the dot of a chart.
    set_in_roots: HashMap<(u32, Box<str>), Things>,
    /// What a place also is, because a template sets or merges something there.
    also: Vec<(PlaceId, Things)>,
    /// The same for each place that was asked for, as long as nothing grows.
    known_also: HashMap<PlaceId, Things>,
    /// What was done with a thing already, as long as nothing grows.
    done: HashSet<(Thing, Deed)>,
    texts: Vec<Rc<str>>,
    text_ids: HashMap<Rc<str>, u32>,
    /// Templates in texts of templates.
    inner: HashMap<u32, Option<Rc<Template>>>,
    /// The templates that can be included, each with the number of its file.
    definitions: HashMap<&'t str, Vec<(u32, &'t [Node])>>,
    calls: HashMap<(usize, Things), u32>,
    results: HashMap<u32, Printed>,
    /// The results of this round; `None` while a call runs.
    current: HashMap<u32, Option<Printed>>,
    /// The calls whose result was wanted while they ran.
    asked: HashSet<u32>,
    /// The definitions that run, each with its call.
    running: Vec<(usize, u32)>,
    steps: usize,
    depth: usize,
    has_grown: bool,
    missing: Option<String>,
    unknown: Option<Blind>,
}

/// A chart with its templates read.
struct Read {
    rendered: Vec<(String, Template)>,
    definitions: Vec<(String, Template)>,
    subcharts: Vec<Read>,
}

impl Read {
    fn of(sources: &Sources, broken: &mut Option<String>) -> Self {
        let mut read = |sources: &[Source]| {
            let all = sources.iter().map(|source| {
                let template = parse(&source.text);
                if template.is_none() {
                    broken.get_or_insert_with(|| source.file.clone());
                }
                (source.file.clone(), template.unwrap_or_default())
            });
            all.collect()
        };
        let (rendered, definitions) = (read(&sources.rendered), read(&sources.definitions));
        let subcharts = sources.subcharts.iter().map(|(_, sources)| Self::of(sources, broken)).collect();
        Self { rendered, definitions, subcharts }
    }

    fn all<'t>(&'t self, out: &mut Vec<&'t (String, Template)>) {
        out.extend(self.definitions.iter().chain(&self.rendered));
        self.subcharts.iter().for_each(|chart| chart.all(out));
    }
}

fn missing(sources: &Sources) -> Option<&String> {
    sources.missing.as_ref().or_else(|| sources.subcharts.iter().find_map(|(_, sources)| missing(sources)))
}

impl<'t> Run<'t> {
    /// What these templates read.
    pub fn all(sources: &Sources) -> Reads {
        let mut broken = None;
        let read = Read::of(sources, &mut broken);
        let mut run = Run::of(&read, missing(sources).cloned());
        run.unknown = broken.map(Blind::Broken);
        if run.unknown.is_none() {
            let mut bodies = Vec::new();
            run.charts(sources, &read, ALL_VALUES, &mut bodies);
            run.repeat(&bodies);
        }
        let at_the_root = run.merged_into_root();
        let at_the_root = at_the_root.into_iter().filter_map(|place| run.places.path(place)).collect();
        Reads { unknown: run.unknown.take(), at_the_root, places: run.places }
    }

    fn of(read: &'t Read, missing: Option<String>) -> Self {
        let mut templates = Vec::new();
        read.all(&mut templates);
        let mut definitions: HashMap<&str, Vec<(u32, &[Node])>> = HashMap::new();
        let mut files = Vec::new();
        for (file, (path, template)) in templates.into_iter().enumerate() {
            files.push(path.as_str());
            // A file is a template, too: its checksum is often taken.
            definitions.entry(path).or_default().push((file as u32, &template.body));
            for (name, nodes) in &template.defined {
                definitions.entry(name).or_default().push((file as u32, &nodes[..]));
            }
        }
        Self {
            places: Places::new(),
            made: Vec::new(),
            made_at: HashMap::new(),
            files,
            file: 0,
            merged: Vec::new(),
            roots: Vec::new(),
            set_in_roots: HashMap::new(),
            also: Vec::new(),
            known_also: HashMap::new(),
            done: HashSet::new(),
            texts: Vec::new(),
            text_ids: HashMap::new(),
            inner: HashMap::new(),
            definitions,
            calls: HashMap::new(),
            results: HashMap::new(),
            current: HashMap::new(),
            asked: HashSet::new(),
            running: Vec::new(),
            steps: 0,
            depth: 0,
            has_grown: false,
            missing,
            unknown: None,
        }
    }

    /// Gives each chart its values, and notes what is read without a template.
    fn charts(&mut self, sources: &Sources, read: &'t Read, values: PlaceId, bodies: &mut Vec<Body<'t>>) {
        let root = self.roots.len() as u32;
        self.roots.push(values);
        for (file, template) in &read.rendered {
            let file = self.files.iter().position(|known| known == file).unwrap_or_default() as u32;
            bodies.push(Body { root, file, nodes: &template.body });
        }
        for path in &sources.named {
            self.note_path(values, path);
        }
        for text in &sources.texts {
            match named_in(text) {
                Some(paths) => paths.iter().for_each(|path| self.note_path(values, path)),
                None => self.places.note(values, Use::Whole),
            }
        }
        for ((field, sources), read) in sources.subcharts.iter().zip(&read.subcharts) {
            let Some(below) = self.places.child(values, Some(field)) else { continue };
            if let (Some(own), Some(global)) =
                (self.places.child(below, Some("global")), self.places.child(values, Some("global")))
            {
                self.also.push((own, vec![Thing::Place(global)]));
            }
            self.charts(sources, read, below, bodies);
        }
    }

    fn note_path(&mut self, values: PlaceId, path: &[String]) {
        let mut place = values;
        for name in path {
            match self.places.child(place, Some(name)) {
                Some(child) => place = child,
                None => break,
            }
        }
        self.places.note(place, Use::Whole);
    }

    /// Walks all templates until nothing new is learned.
    fn repeat(&mut self, bodies: &[Body<'t>]) {
        for round in 0.. {
            (self.has_grown, self.current) = (false, HashMap::new());
            self.merged = self.merged_into_root();
            for body in bodies {
                self.file = body.file;
                let mut frame = Frame::of(vec![Thing::Root(body.root)], u32::MAX, body.file);
                if let Printed::One(things) = self.nodes(body.nodes, &mut frame) {
                    self.consume(&things);
                }
            }
            if self.unknown.is_some() || !self.has_grown {
                return;
            }
            if round == MOST_ROUNDS {
                self.unknown = Some(Blind::TooLarge);
                return;
            }
        }
    }

    /// The places whose values a template merges into those of the whole.
    fn merged_into_root(&mut self) -> Vec<PlaceId> {
        let mut found = Vec::new();
        for thing in self.child(&vec![Thing::Root(0)], Some("Values")) {
            self.merged_into(thing, &mut Vec::new(), &mut found);
        }
        found
    }

    /// The places that a thing was merged with or copied from.
    fn merged_into(&mut self, thing: Thing, seen: &mut Vec<Thing>, out: &mut Vec<PlaceId>) {
        if seen.contains(&thing) {
            return;
        }
        seen.push(thing);
        let also = match thing {
            Thing::Place(place) => {
                out.extend(Some(place).filter(|place| *place != ALL_VALUES));
                self.also_of(place)
            }
            Thing::Made(number) => self.made[number as usize].also.clone(),
            _ => Vec::new(),
        };
        also.into_iter().for_each(|thing| self.merged_into(thing, seen, out));
    }

    /// Whether the walk goes on. It counts the steps.
    fn goes_on(&mut self) -> bool {
        self.steps += 1;
        if self.steps > MOST_STEPS || self.depth > MOST_DEEP {
            self.unknown.get_or_insert(Blind::TooLarge);
        }
        self.unknown.is_none()
    }

    fn nodes(&mut self, nodes: &[Node], frame: &mut Frame) -> Printed {
        let variables = frame.variables.len();
        self.depth += 1;
        let mut printed = Printed::Nothing;
        for node in nodes {
            if !self.goes_on() {
                break;
            }
            let next = self.node(node, frame);
            printed = self.both(printed, next);
        }
        self.depth -= 1;
        frame.variables.truncate(variables);
        printed
    }

    /// What is printed one after the other.
    fn both(&mut self, one: Printed, other: Printed) -> Printed {
        match (one, other) {
            (Printed::Nothing, only) | (only, Printed::Nothing) => only,
            (one, other) => {
                for printed in [one, other] {
                    if let Printed::One(things) = printed {
                        self.consume(&things);
                    }
                }
                Printed::Text
            }
        }
    }

    /// What is printed in one of two cases.
    fn either(&mut self, one: Printed, other: Printed) -> Printed {
        match (one, other) {
            (Printed::One(one), Printed::One(other)) => Printed::One(self.union(one, &other)),
            (Printed::Nothing, only) | (only, Printed::Nothing) => only,
            (one, other) => self.both(one, other),
        }
    }

    fn node(&mut self, node: &Node, frame: &mut Frame) -> Printed {
        let variables = frame.variables.len();
        let printed = match node {
            Node::Text => Printed::Text,
            Node::Print(pipe) => {
                let things = self.pipe(pipe, frame);
                return match &things[..] {
                    _ if !pipe.variables.is_empty() => Printed::Nothing,
                    [] => Printed::Nothing,
                    _ => Printed::One(things),
                };
            }
            Node::If(pipe, then, otherwise) => {
                let things = self.pipe(pipe, frame);
                self.test(&things);
                let printed = self.nodes(then, frame);
                let other = self.nodes(otherwise, frame);
                self.either(printed, other)
            }
            Node::With(pipe, then, otherwise) => {
                let things = self.pipe(pipe, frame);
                self.test(&things);
                let dot = std::mem::replace(&mut frame.dot, things);
                let printed = self.nodes(then, frame);
                frame.dot = dot;
                let other = self.nodes(otherwise, frame);
                self.either(printed, other)
            }
            Node::Range(pipe, body, otherwise) => {
                let things = self.range(pipe, frame);
                let dot = std::mem::replace(&mut frame.dot, things);
                let mut printed = Printed::Nothing;
                // A variable may have got another value at the end of the body.
                for _ in 0..4 {
                    let before = std::mem::take(&mut frame.has_grown);
                    printed = self.nodes(body, frame);
                    if !std::mem::replace(&mut frame.has_grown, before) {
                        break;
                    }
                    frame.has_grown = true;
                }
                if let Printed::One(things) = printed {
                    self.consume(&things);
                    printed = Printed::Text;
                }
                frame.dot = dot;
                let other = self.nodes(otherwise, frame);
                self.either(printed, other)
            }
            Node::Template(name, data) => {
                let dot = data.as_ref().map_or_else(|| vec![Thing::Other], |data| self.pipe(data, frame));
                let printed = self.printed(name, &dot);
                if printed.is_none() && self.missing.is_some() {
                    self.consume(&dot);
                }
                printed.unwrap_or(Printed::Text)
            }
        };
        frame.variables.truncate(variables);
        printed
    }

    /// What the dot is in a loop. The variables get their values.
    fn range(&mut self, pipe: &Pipe, frame: &mut Frame) -> Things {
        let things = self.commands(pipe, frame);
        self.iterate(&things);
        let elements = self.child(&things, None);
        match &pipe.variables[..] {
            [] => {}
            [value] => frame.assign(value, elements.clone(), pipe.assigned),
            [key, value, ..] => {
                frame.assign(key, vec![Thing::Other], pipe.assigned);
                frame.assign(value, elements.clone(), pipe.assigned);
            }
        }
        elements
    }

    fn pipe(&mut self, pipe: &Pipe, frame: &mut Frame) -> Things {
        let things = self.commands(pipe, frame);
        if let Some(variable) = pipe.variables.first() {
            frame.assign(variable, things.clone(), pipe.assigned);
        }
        things
    }

    fn commands(&mut self, pipe: &Pipe, frame: &mut Frame) -> Things {
        self.depth += 1;
        let mut last: Option<Things> = None;
        for command in &pipe.commands {
            if !self.goes_on() {
                break;
            }
            last = Some(self.command(command, last, frame));
        }
        self.depth -= 1;
        last.unwrap_or_else(|| vec![Thing::Other])
    }

    fn command(&mut self, command: &[Operand], last: Option<Things>, frame: &mut Frame) -> Things {
        let Some((first, rest)) = command.split_first() else { return vec![Thing::Other] };
        let mut arguments: Vec<Things> = rest.iter().map(|operand| self.operand(operand, frame)).collect();
        arguments.extend(last);
        match &first.word {
            Word::Function(name) => {
                let result = self.call(name, arguments, Site { at: first.at, call: frame.call, file: frame.file });
                self.fields(result, &first.fields)
            }
            _ => {
                // A method with arguments.
                arguments.iter().for_each(|argument| self.consume(argument));
                self.operand(first, frame)
            }
        }
    }

    fn operand(&mut self, operand: &Operand, frame: &mut Frame) -> Things {
        let things = match &operand.word {
            Word::Dot => frame.dot.clone(),
            Word::Variable(name) => frame.variable(name),
            Word::Function(name) => {
                self.call(name, Vec::new(), Site { at: operand.at, call: frame.call, file: frame.file })
            }
            Word::Text(text) => vec![Thing::Text(self.text(text))],
            Word::Other => vec![Thing::Other],
            Word::Pipe(pipe) => self.pipe(pipe, frame),
        };
        self.fields(things, &operand.fields)
    }

    fn fields(&mut self, things: Things, names: &[String]) -> Things {
        names.iter().fold(things, |things, name| self.child(&things, Some(name)))
    }

    /// The number of a text.
    pub fn text(&mut self, text: &str) -> u32 {
        if let Some(id) = self.text_ids.get(text) {
            return *id;
        }
        let (id, text) = (self.texts.len() as u32, Rc::from(text));
        self.texts.push(Rc::clone(&text));
        self.text_ids.insert(text, id);
        id
    }

    /// The texts that these things may be; `None` if they may be others.
    pub fn texts_of(&mut self, things: &Things) -> Option<Vec<Rc<str>>> {
        let text =
            |thing: &Thing| if let Thing::Text(id) = thing { Some(Rc::clone(&self.texts[*id as usize])) } else { None };
        let texts: Option<Vec<_>> = things.iter().map(text).collect();
        texts.filter(|texts| !texts.is_empty())
    }

    /// Runs the templates whose names match; `None` if there is none.
    pub fn include(&mut self, name: &str, dot: &Things) -> Option<Things> {
        match self.printed(name, dot)? {
            Printed::One(things) => Some(things),
            Printed::Nothing | Printed::Text => Some(vec![Thing::Other]),
        }
    }

    fn printed(&mut self, name: &str, dot: &Things) -> Option<Printed> {
        let (head, tail) = name.split_once(UNKNOWN).map_or((name, None), |(head, rest)| {
            (head, Some(rest.rsplit_once(UNKNOWN).map_or(rest, |(_, tail)| tail)))
        });
        let found: Vec<(u32, &'t [Node])> = match tail {
            None => self.definitions.get(head).into_iter().flatten().copied().collect(),
            Some(tail) => {
                self.steps += self.definitions.len();
                let matches = |name: &str| {
                    name.len() >= head.len() + tail.len() && name.starts_with(head) && name.ends_with(tail)
                };
                let all = self.definitions.iter().filter(|(name, _)| matches(name));
                all.flat_map(|(_, found)| found).copied().collect()
            }
        };
        let mut printed = None;
        for (file, nodes) in found {
            let next = self.run(nodes, file, dot.clone());
            printed = Some(match printed {
                None => next,
                Some(before) => self.either(before, next),
            });
        }
        printed
    }

    /// Runs a template. One that runs already with this dot gives what it gave in the round before.
    fn run(&mut self, nodes: &'t [Node], file: u32, dot: Things) -> Printed {
        let key = nodes.as_ptr() as usize;
        if nodes.is_empty() {
            return Printed::Nothing;
        }
        let next = self.calls.len() as u32;
        let call = *self.calls.entry((key, dot.clone())).or_insert(next);
        match self.current.get(&call) {
            Some(Some(printed)) => return printed.clone(),
            Some(None) => {
                self.asked.insert(call);
                return self.results.get(&call).cloned().unwrap_or_default();
            }
            None => {}
        }
        // The maps that a template makes when it calls itself are those of its first call: otherwise there are more of them without end.
        let first = self.running.iter().find(|(running, _)| *running == key).map_or(call, |(_, call)| *call);
        self.running.push((key, first));
        self.current.insert(call, None);
        let outer = std::mem::replace(&mut self.file, file);
        let printed = self.nodes(nodes, &mut Frame::of(dot, first, file));
        self.file = outer;
        self.running.pop();
        if self.asked.contains(&call) && self.results.get(&call) != Some(&printed) {
            self.results.insert(call, printed.clone());
            self.grow();
        }
        self.current.insert(call, Some(printed.clone()));
        printed
    }

    /// Whether a template that is not there may be in a chart whose files are missing.
    pub fn lacks_a_chart(&self) -> bool {
        self.missing.is_some()
    }

    /// Runs a text as a template.
    pub fn run_text(&mut self, text: &str, dot: &Things, site: Site) -> Things {
        let id = self.text(text);
        let template = match self.inner.get(&id) {
            Some(template) => template.clone(),
            None => {
                let template = parse(text).map(Rc::new);
                self.inner.insert(id, template.clone());
                template
            }
        };
        let Some(template) = template else { return vec![Thing::Other] };
        match self.nodes(&template.body, &mut Frame::of(dot.clone(), site.call, u32::MAX / 2 + id)) {
            Printed::One(things) => things,
            Printed::Nothing | Printed::Text => vec![Thing::Other],
        }
    }

    /// What is under a name in these things; under any name if there is none.
    pub fn child(&mut self, things: &Things, name: Option<&str>) -> Things {
        let name = name.filter(|name| !name.contains(UNKNOWN));
        let (mut out, mut todo, mut seen) = (Things::new(), things.clone(), HashSet::new());
        while let Some(thing) = todo.pop() {
            if !seen.insert(thing) || !self.goes_on() {
                continue;
            }
            match thing {
                Thing::Root(root) => {
                    if name == Some("Subcharts") {
                        self.lose();
                    }
                    out.extend(
                        name.is_none_or(|name| name == "Values").then_some(Thing::Place(self.roots[root as usize])),
                    );
                    match name {
                        Some(name) => out.extend(self.set_in_roots.get(&(root, name.into())).into_iter().flatten()),
                        None => {
                            let own = self.set_in_roots.iter().filter(|((of, _), _)| *of == root);
                            out.extend(own.flat_map(|(_, things)| things));
                        }
                    }
                }
                Thing::Place(place) => {
                    let is_merged =
                        name.is_some_and(|name| self.places.is_field(place, name)) && self.merged.contains(&place);
                    match if is_merged { Some(place) } else { self.places.child(place, name) } {
                        Some(child) => out.push(Thing::Place(child)),
                        None => self.places.note(place, Use::Whole),
                    }
                    todo.extend(self.also_of(place));
                }
                Thing::Made(number) => {
                    let made = &self.made[number as usize];
                    out.extend(&made.any);
                    match name {
                        Some(name) => out.extend(made.fields.get(name).into_iter().flatten()),
                        None => out.extend(made.fields.values().flatten()),
                    }
                    todo.extend(&made.also);
                }
                Thing::Text(_) | Thing::Other => {}
            }
        }
        if out.is_empty() {
            out.push(Thing::Other);
        }
        self.bounded(out)
    }

    /// What is under one of these names.
    pub fn child_of(&mut self, things: &Things, names: &Things) -> Things {
        match self.texts_of(names) {
            Some(names) => {
                let mut out = Things::new();
                for name in names {
                    out.extend(self.child(things, Some(&name)));
                }
                self.bounded(out)
            }
            None => {
                self.consume(names);
                self.child(things, None)
            }
        }
    }

    /// What a place also is.
    fn also_of(&mut self, place: PlaceId) -> Things {
        if self.also.is_empty() {
            return Things::new();
        }
        if let Some(known) = self.known_also.get(&place) {
            return known.clone();
        }
        self.steps += self.also.len() / 16;
        let here = self.also.iter().filter(|(other, _)| self.places.meet(place, *other));
        let mut found: Things = here.flat_map(|(_, things)| things).copied().collect();
        found.sort_unstable();
        found.dedup();
        self.known_also.insert(place, found.clone());
        found
    }

    /// Notes that something new was learned, so that nothing is done with already.
    fn grow(&mut self) {
        self.has_grown = true;
        self.known_also.clear();
        self.done.clear();
    }

    /// All of these things is used.
    pub fn consume(&mut self, things: &Things) {
        let mut todo = things.clone();
        while let Some(thing) = todo.pop() {
            if !self.done.insert((thing, Deed::Consume)) || !self.goes_on() {
                continue;
            }
            match thing {
                Thing::Root(_) => self.lose(),
                Thing::Place(place) => {
                    self.places.note(place, Use::Whole);
                    todo.extend(self.also_of(place));
                    self.steps += self.also.len() / 16;
                    let below = self.also.iter().filter(|(other, _)| self.places.is_below(*other, place));
                    todo.extend(below.flat_map(|(_, things)| things));
                }
                Thing::Made(number) => {
                    let made = &self.made[number as usize];
                    todo.extend(made.any.iter().chain(&made.also).chain(made.fields.values().flatten()));
                }
                Thing::Text(_) | Thing::Other => {}
            }
        }
    }

    /// From here on it is not known what is read.
    fn lose(&mut self) {
        let blind = match &self.missing {
            Some(missing) => Blind::NoSubchart(missing.clone()),
            None => Blind::All(self.files.get(self.file as usize).copied().unwrap_or_default().to_owned()),
        };
        self.unknown.get_or_insert(blind);
    }

    /// A template asks whether these things are there.
    pub fn test(&mut self, things: &Things) {
        self.each_place(things, Deed::Test);
    }

    /// A template asks which fields or elements these things have.
    pub fn iterate(&mut self, things: &Things) {
        self.each_place(things, Deed::Iterate);
    }

    fn each_place(&mut self, things: &Things, deed: Deed) {
        let mut todo = things.clone();
        while let Some(thing) = todo.pop() {
            if !self.done.insert((thing, deed)) || !self.goes_on() {
                continue;
            }
            match thing {
                Thing::Place(place) => {
                    self.places.note(place, Use::Tested);
                    if deed == Deed::Iterate {
                        match self.places.child(place, None) {
                            Some(any) => self.places.note(any, Use::Tested),
                            None => self.places.note(place, Use::Whole),
                        }
                    }
                    todo.extend(self.also_of(place));
                }
                Thing::Made(number) => todo.extend(&self.made[number as usize].also),
                Thing::Root(_) | Thing::Text(_) | Thing::Other => {}
            }
        }
    }

    /// What may be one or the other.
    pub fn union(&mut self, mut one: Things, other: &Things) -> Things {
        one.extend(other);
        self.bounded(one)
    }

    fn bounded(&mut self, mut things: Things) -> Things {
        things.sort_unstable();
        things.dedup();
        if things.len() > MOST_THINGS {
            self.consume(&things);
            return vec![Thing::Other];
        }
        things
    }

    /// A map or list that a template makes here.
    pub fn make(&mut self, site: Site) -> Thing {
        let next = self.made.len() as u32;
        let number = *self.made_at.entry((site.file, site.at, site.call)).or_insert(next);
        if number == next {
            self.made.push(Made::default());
        }
        Thing::Made(number)
    }

    /// Puts a value into these things, under a name or under any name.
    pub fn put(&mut self, into: &Things, name: Option<&str>, value: &Things) {
        let name = name.filter(|name| !name.contains(UNKNOWN));
        for thing in into {
            let has_grown = match *thing {
                Thing::Made(number) => {
                    let made = &mut self.made[number as usize];
                    grow(name.map_or(&mut made.any, |name| made.fields.entry(name.into()).or_default()), value)
                }
                Thing::Place(place) => match self.places.child(place, name) {
                    Some(child) => self.be_also(child, value),
                    None => {
                        self.consume(value);
                        false
                    }
                },
                Thing::Root(root) => {
                    grow(self.set_in_roots.entry((root, name.unwrap_or_default().into())).or_default(), value)
                }
                Thing::Text(_) | Thing::Other => false,
            };
            if has_grown {
                self.grow();
            }
        }
    }

    /// Merges values into these things.
    pub fn merge(&mut self, into: &Things, values: &Things) {
        for thing in into {
            let values: Things =
                values.iter().copied().filter(|value| value != thing && *value != Thing::Other).collect();
            let has_grown = match *thing {
                Thing::Made(number) => grow(&mut self.made[number as usize].also, &values),
                Thing::Place(place) => self.be_also(place, &values),
                Thing::Root(_) => {
                    self.consume(&values);
                    false
                }
                Thing::Text(_) | Thing::Other => false,
            };
            if has_grown {
                self.grow();
            }
        }
    }

    fn be_also(&mut self, place: PlaceId, values: &Things) -> bool {
        let values: Things = values.iter().copied().filter(|value| *value != Thing::Place(place)).collect();
        match self.also.iter_mut().find(|(other, _)| *other == place) {
            Some((_, known)) => grow(known, &values),
            None => {
                let is_new = !values.is_empty();
                if is_new {
                    self.also.push((place, values));
                }
                is_new
            }
        }
    }
}

/// Adds things to others; whether there are more now.
fn grow(known: &mut Things, values: &Things) -> bool {
    let before = known.len();
    for value in values {
        if let Err(at) = known.binary_search(value) {
            known.insert(at, *value);
        }
    }
    known.len() > before
}

/// Where a template makes a map or list: the file, the offset in it, and the call of the template.
#[derive(Clone, Copy)]
pub struct Site {
    at: usize,
    call: u32,
    file: u32,
}

impl Frame {
    fn of(dot: Things, call: u32, file: u32) -> Self {
        Self { variables: vec![(String::new(), dot.clone())], dot, call, file, has_grown: false }
    }

    fn variable(&self, name: &str) -> Things {
        let found = self.variables.iter().rev().find(|(known, _)| known == name);
        found.map_or_else(|| vec![Thing::Other], |(_, things)| things.clone())
    }

    /// A variable that is assigned again may still have its old value, because the assignment may stand in a condition.
    fn assign(&mut self, name: &str, things: Things, assigned: Assigned) {
        let known = self.variables.iter_mut().rev().find(|(known, _)| known == name);
        match (assigned, known) {
            (Assigned::Again, Some((_, known))) => self.has_grown |= grow(known, &things),
            _ => self.variables.push((name.to_owned(), things)),
        }
    }
}
