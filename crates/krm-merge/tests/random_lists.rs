//! A second run changes nothing in random lists, whose elements have comments at all places and are lists and maps themselves.
//!
//! A case is made from its number, so it can be made again. Each side has its own indentation, but updated has that of original: upstream
//! changes it seldom, and a second run may then take it over where the first one wrote what dest had deleted (TODO: the first run should
//! write it as upstream does).

use krm_merge::{Merge, Package, Pick};

struct Random(u64);

impl Random {
    fn of(case: u64) -> Self {
        let mut random = Self(case.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        // The first numbers of like seeds are alike.
        (0..5).for_each(|_| _ = random.below(2));
        random
    }

    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }
}

/// A value with its comments; 0 is none.
#[derive(Clone, Debug)]
struct Node {
    above: u64,
    behind: u64,
    end: u64,
    value: Value,
}

#[derive(Clone, Debug)]
enum Value {
    Scalar(&'static str),
    List(Vec<Node>),
    Map(Vec<(&'static str, Node)>),
}

fn comment(random: &mut Random) -> u64 {
    if random.one_in(4) { 1 + random.below(3) } else { 0 }
}

fn value(random: &mut Random, depth: u32, keys: [&'static str; 3]) -> Value {
    match random.below(if depth > 2 { 3 } else { 6 }) {
        0..3 => Value::Scalar(random.pick(&["x", "y", "'z'", "1"])),
        3 | 4 => Value::List((0..random.below(4)).map(|_| node(random, depth + 1, keys)).collect()),
        _ => {
            let keys: Vec<_> = keys.into_iter().filter(|_| random.one_in(2)).collect();
            Value::Map(keys.into_iter().map(|key| (key, node(random, depth + 1, ["name", "k", "l"]))).collect())
        }
    }
}

fn node(random: &mut Random, depth: u32, keys: [&'static str; 3]) -> Node {
    let value = value(random, depth, keys);
    Node { above: comment(random), behind: comment(random), end: comment(random), value }
}

/// The node with changes.
fn changed(node: &Node, random: &mut Random, depth: u32, keys: [&'static str; 3]) -> Node {
    let mut node = node.clone();
    for place in [&mut node.above, &mut node.behind, &mut node.end] {
        if random.one_in(5) {
            *place = comment(random);
        }
    }
    node.value = match node.value {
        Value::Scalar(_) if random.one_in(8) => Value::Scalar(random.pick(&["x", "y", "'z'", "1"])),
        Value::Scalar(_) if random.one_in(30) => value(random, depth, keys),
        Value::Scalar(text) => Value::Scalar(text),
        Value::List(old) => {
            let mut new = Vec::new();
            for element in old {
                match random.below(12) {
                    0 => {}
                    1 => new.insert(0, changed(&element, random, depth + 1, keys)),
                    2..=5 => new.push(changed(&element, random, depth + 1, keys)),
                    _ => new.push(element),
                }
            }
            if random.one_in(4) {
                let at = random.below(new.len() as u64 + 1) as usize;
                new.insert(at, self::node(random, depth + 1, keys));
            }
            Value::List(new)
        }
        Value::Map(mut fields) => {
            fields.retain(|_| !random.one_in(12));
            for (_, value) in &mut fields {
                if random.one_in(3) {
                    *value = changed(value, random, depth + 1, keys);
                }
            }
            Value::Map(fields)
        }
    };
    node
}

/// How a side is indented.
#[derive(Clone, Copy)]
struct Style {
    map: usize,
    list: usize,
}

impl Style {
    fn of(random: &mut Random) -> Self {
        Self { map: random.pick(&[2, 4]), list: random.pick(&[0, 2]) }
    }

    /// Writes a value after `lead`: a key with its colon, or a dash, at a column.
    fn write(self, out: &mut String, node: &Node, column: usize, lead: &str) {
        let on_own_line = |column: usize, comment: u64| match comment {
            0 => String::new(),
            _ => format!("{}# {comment}\n", " ".repeat(column)),
        };
        let behind = if node.behind == 0 { String::new() } else { format!(" # {}", node.behind) };
        let children: Vec<(String, &Node)> = match &node.value {
            Value::Scalar(text) => return out.push_str(&format!("{lead} {text}{behind}\n")),
            Value::List(elements) if elements.is_empty() => return out.push_str(&format!("{lead} []{behind}\n")),
            Value::Map(fields) if fields.is_empty() => return out.push_str(&format!("{lead} {{}}{behind}\n")),
            Value::List(elements) => elements.iter().map(|element| ("-".to_owned(), element)).collect(),
            Value::Map(fields) => fields.iter().map(|(key, value)| (format!("{key}:"), value)).collect(),
        };
        let deeper = match &node.value {
            _ if lead == "-" => 2,
            Value::List(_) => self.list,
            _ => self.map,
        };
        let is_inline = lead == "-" && node.behind == 0 && children[0].1.above == 0;
        out.push_str(&if is_inline { format!("{lead} ") } else { format!("{lead}{behind}\n") });
        for (i, (lead, child)) in children.into_iter().enumerate() {
            if i > 0 || !is_inline {
                out.push_str(&on_own_line(column + deeper, child.above));
                out.push_str(&" ".repeat(column + deeper));
            }
            self.write(out, child, column + deeper, &lead);
        }
        if deeper > 0 {
            out.push_str(&on_own_line(column + deeper, node.end));
        }
    }

    fn text(self, list: &Node) -> String {
        let mut out = "apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: a\nspec:\n  ".to_owned();
        self.write(&mut out, list, 2, "l:");
        out + "  z: 1\n"
    }
}

/// The texts of original, updated and dest.
fn texts(case: u64) -> [String; 3] {
    let random = &mut Random::of(case);
    // With names, some lists merge by them.
    let keys = if random.one_in(3) { ["name", "k", "l"] } else { ["j", "k", "l"] };
    let elements = (0..=random.below(4)).map(|_| node(random, 1, keys)).collect();
    let original = Node { above: 0, behind: 0, end: comment(random), value: Value::List(elements) };
    let [updated, dest] = [(); 2].map(|()| changed(&original, random, 0, keys));
    let [upstream, own] = [(); 2].map(|()| Style::of(random));
    [upstream.text(&original), upstream.text(&updated), own.text(&dest)]
}

#[test]
fn a_second_run_changes_nothing() {
    let package = |text: &str| Package::of_text(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let times = std::env::var("KRM_MERGE_LAWS").map_or(1, |n| n.parse::<u64>().expect("`KRM_MERGE_LAWS` is a number"));
    for case in 0..10_000 * times {
        let texts = texts(case);
        let [original, updated, dest] = texts.each_ref().map(|text| package(text));
        let text = |merge: Merge| merge.run().expect("merged").text(Pick::Updated).expect("within the limit");
        let three = |dest: &Package| text(Merge::three_way(&original, &updated, dest));
        let two = |dest: &Package| text(Merge::two_way(&updated, dest));
        for (mode, run) in [("three-way", &three as &dyn Fn(&Package) -> String), ("two-way", &two)] {
            let once = run(&dest);
            let [original, updated, dest] = &texts;
            let all = || format!("{mode} {case}\n--- original\n{original}--- updated\n{updated}--- dest\n{dest}");
            assert_eq!(run(&package(&once)), once, "{}", all());
        }
    }
}
