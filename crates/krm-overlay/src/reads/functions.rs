//! The functions of helm's templates: what each gives, and what it uses of its arguments.
//!
//! A function that is not here uses all of its arguments, and gives something without values. Source: helm's `pkg/engine/funcs.go` and the
//! documentation of Sprig 3.

use super::run::{Run, Site, Thing, Things, UNKNOWN};

impl Run<'_> {
    /// What a function gives.
    pub fn call(&mut self, name: &str, arguments: Vec<Things>, site: Site) -> Things {
        let name = name.strip_prefix("must").map_or_else(
            || name.to_owned(),
            |name| {
                let mut letters = name.chars();
                letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
            },
        );
        let at = |number: usize| arguments.get(number).cloned().unwrap_or_else(|| vec![Thing::Other]);
        let last = || arguments.last().cloned().unwrap_or_else(|| vec![Thing::Other]);
        match name.as_str() {
            // A text of a value, from which the value can be read again.
            "toYaml" | "toYamlPretty" | "toJson" | "toPrettyJson" | "toRawJson" | "trim" => at(0),
            "indent" | "nindent" | "trimSuffix" | "trimPrefix" | "trimAll" => last(),
            "omit" | "unset" => at(0),
            "fromYaml" | "fromYamlArray" | "fromJson" | "fromJsonArray" | "deepCopy" => self.copy(&at(0), site),
            "default" | "coalesce" | "and" | "or" | "required" => {
                let mut all = Things::new();
                for argument in &arguments {
                    self.test(argument);
                    all = self.union(all, argument);
                }
                all
            }
            "ternary" => {
                self.test(&at(2));
                self.union(at(0), &at(1))
            }
            "not" | "empty" | "all" | "any" | "kindOf" | "typeOf" | "kindIs" | "typeIs" | "kindIsLike"
            | "typeIsLike" => {
                arguments.iter().for_each(|argument| self.test(argument));
                vec![Thing::Other]
            }
            "len" => {
                self.iterate(&at(0));
                vec![Thing::Other]
            }
            // Whoever sees its text sees no resource.
            "fail" => vec![Thing::Other],
            "include" => self.include_any(&at(0), &at(1)),
            "tpl" => self.tpl(&at(0), &at(1), site),
            "printf" => self.printf(&arguments),
            "print" => {
                let format = vec![Thing::Text(self.text(&"%v".repeat(arguments.len())))];
                self.printf(&[&[format], &arguments[..]].concat())
            }
            "lower" | "upper" | "title" | "camelcase" | "kebabcase" | "snakecase" | "replace" | "trunc" => {
                arguments.iter().for_each(|argument| self.consume(argument));
                vec![Thing::Text(self.text(&UNKNOWN.to_string()))]
            }
            "dict" => {
                let made = vec![self.make(site)];
                for pair in arguments.chunks(2) {
                    let value = pair.get(1).cloned().unwrap_or_else(|| vec![Thing::Other]);
                    self.set(&made, &pair[0], &value);
                }
                made
            }
            "list" | "tuple" => {
                let made = vec![self.make(site)];
                for (number, argument) in arguments.iter().enumerate() {
                    self.put(&made, Some(&number.to_string()), argument);
                }
                made
            }
            "rest" | "initial" | "reverse" | "uniq" | "compact" | "slice" | "sortAlpha" => {
                let made = vec![self.make(site)];
                self.iterate(&at(0));
                let elements = self.child(&at(0), None);
                self.put(&made, None, &elements);
                made
            }
            "append" | "push" | "prepend" => {
                let made = self.copy(&at(0), site);
                self.put(&made, None, &at(1));
                made
            }
            "concat" => {
                let made = vec![self.make(site)];
                arguments.iter().for_each(|argument| self.merge(&made, argument));
                made
            }
            "without" => {
                arguments.iter().skip(1).for_each(|argument| self.consume(argument));
                at(0)
            }
            "first" | "last" => {
                self.iterate(&at(0));
                self.child(&at(0), None)
            }
            "index" | "get" => {
                let names = arguments.iter().skip(1);
                names.fold(at(0), |things, name| self.child_of(&things, name))
            }
            "hasKey" => {
                let child = self.child_of(&at(0), &at(1));
                self.test(&child);
                vec![Thing::Other]
            }
            "dig" => {
                let names = &arguments[..arguments.len().saturating_sub(2)];
                let found = names.iter().fold(last(), |things, name| self.child_of(&things, name));
                self.test(&found);
                self.union(found, &at(arguments.len().saturating_sub(2)))
            }
            "pluck" => {
                let made = vec![self.make(site)];
                for argument in arguments.iter().skip(1) {
                    let child = self.child_of(argument, &at(0));
                    self.test(&child);
                    self.put(&made, None, &child);
                }
                made
            }
            "pick" => {
                let made = vec![self.make(site)];
                for name in arguments.iter().skip(1) {
                    let child = self.child_of(&at(0), name);
                    self.test(&child);
                    self.set(&made, name, &child);
                }
                made
            }
            "keys" => {
                let made = vec![self.make(site)];
                arguments.iter().for_each(|argument| self.iterate(argument));
                self.put(&made, None, &vec![Thing::Other]);
                made
            }
            "values" => {
                let made = vec![self.make(site)];
                self.iterate(&at(0));
                let child = self.child(&at(0), None);
                self.put(&made, None, &child);
                made
            }
            "set" => {
                self.set(&at(0), &at(1), &at(2));
                at(0)
            }
            "merge" | "mergeOverwrite" => {
                let mut all = at(0);
                for argument in arguments.iter().skip(1) {
                    self.merge(&at(0), argument);
                    all = self.union(all, argument);
                }
                let is_held = |thing: &Thing| matches!(thing, Thing::Made(_) | Thing::Place(_));
                if at(0).iter().all(is_held) { at(0) } else { all }
            }
            _ => {
                arguments.iter().for_each(|argument| self.consume(argument));
                vec![Thing::Other]
            }
        }
    }

    /// Puts a value under each of the names that these may be.
    fn set(&mut self, into: &Things, names: &Things, value: &Things) {
        match self.texts_of(names) {
            Some(names) => names.iter().for_each(|name| self.put(into, Some(name), value)),
            None => {
                self.consume(names);
                self.put(into, None, value);
            }
        }
    }

    /// What is changed in a copy is not changed in what it was copied from.
    fn copy(&mut self, things: &Things, site: Site) -> Things {
        if things.iter().all(|thing| matches!(thing, Thing::Text(_) | Thing::Other)) {
            return vec![Thing::Other];
        }
        if things.iter().any(|thing| matches!(thing, Thing::Root(_))) {
            return things.clone();
        }
        let made = vec![self.make(site)];
        self.merge(&made, things);
        made
    }

    fn include_any(&mut self, names: &Things, dot: &Things) -> Things {
        let Some(names) = self.texts_of(names) else {
            self.consume(names);
            self.consume(dot);
            return vec![Thing::Other];
        };
        let mut all = Things::new();
        for name in names {
            match self.include(&name, dot) {
                Some(things) => all = self.union(all, &things),
                None if self.lacks_a_chart() => self.consume(dot),
                None => {}
            }
        }
        if all.is_empty() { vec![Thing::Other] } else { all }
    }

    /// A text of the chart is run. A text of the values is given back: its own actions are found by themselves.
    fn tpl(&mut self, texts: &Things, dot: &Things, site: Site) -> Things {
        let mut all = Things::new();
        for thing in texts {
            let things = match self.texts_of(&vec![*thing]) {
                Some(text) => self.run_text(&text[0], dot, site),
                None => vec![*thing],
            };
            all = self.union(all, &things);
        }
        all
    }

    /// A text whose parts may be known: it may name a template or a field.
    fn printf(&mut self, arguments: &[Things]) -> Things {
        let Some((format, rest)) = arguments.split_first() else { return vec![Thing::Other] };
        let formats = self.texts_of(format).unwrap_or_default();
        let known: Vec<Option<String>> = rest
            .iter()
            .map(|argument| match self.texts_of(argument).as_deref() {
                Some([text]) => Some(text.to_string()),
                _ => {
                    self.consume(argument);
                    None
                }
            })
            .collect();
        let mut all = Things::new();
        for format in formats {
            let (mut out, mut known) = (String::new(), known.iter());
            let mut letters = format.chars();
            while let Some(letter) = letters.next() {
                if letter != '%' {
                    out.push(letter);
                    continue;
                }
                let verb = letters.find(|letter| letter.is_alphabetic() || *letter == '%');
                match (verb, if verb == Some('%') { None } else { known.next() }) {
                    (Some('%'), _) => out.push('%'),
                    (Some('s' | 'v'), Some(Some(text))) => out.push_str(text),
                    _ => out.push(UNKNOWN),
                }
            }
            all.push(Thing::Text(self.text(&out)));
        }
        if all.is_empty() { vec![Thing::Other] } else { self.union(all, &Things::new()) }
    }
}
