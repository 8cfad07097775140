//! The traps of YAML, and the whole tree of a text that a person wrote: the text of each span.

use super::*;
use crate::NodeRef;

/// The tree as text: kind and source of each node, in order.
fn tree(text: &str) -> Vec<String> {
    fn walk(node: NodeRef<'_>, depth: usize, out: &mut Vec<String>) {
        out.push(format!("{}{:?} {:?}", " ".repeat(depth), node.kind(), node.text()));
        if node.kind() != Kind::Alias {
            for child in node.children() {
                walk(child, depth + 1, out);
            }
        }
    }
    let doc = Document::parse(text).expect("valid");
    let mut out = Vec::new();
    for root in doc.roots() {
        walk(root, 0, &mut out);
    }
    out
}

fn get<'a>(doc: &'a Document<'_>, key: &str) -> NodeRef<'a> {
    doc.roots().next().and_then(|r| r.get(key)).expect("the key")
}

fn error(text: &str) -> String {
    Document::parse(text).expect_err("invalid").to_string()
}

#[test]
fn a_block_scalar_spans_from_its_header_to_its_last_line() {
    for (text, want, value) in [
        ("a: |\n  x\n\nb: 1\n", "|\n  x", "x\n"),
        ("a: |+\n  x\n\nb: 1\n", "|+\n  x\n", "x\n\n"),
        ("a: >- # note | here\n  x\n  y\n# c\nb: 1\n", ">- # note | here\n  x\n  y", "x y"),
        ("a: &x !!str |2\n   x\nb: 1\n", "|2\n   x", " x\n"),
        ("a: |\nb: 1\n", "|", ""),
        ("a: |\n\n\n  x\n   y\nb: 1\n", "|\n\n\n  x\n   y", "\n\nx\n y\n"),
        ("a: |\r\n  t\r\n\r\nb: 1\r\n", "|\r\n  t", "t\n"),
        ("? |\n  a\n: 1\na: |-\n  x\n", "|-\n  x", "x"),
        ("a: |\n  x\n    \nb: 1\n", "|\n  x\n    ", "x\n  \n"),
        ("a: >-\n  x\n\n   \n \nb: 1\n", ">-\n  x\n\n   ", "x\n\n "),
        ("a: |\n  x\n  \n \n\nb: 1\n", "|\n  x", "x\n"),
        ("a: |\r\n  x\r\n  \t\r\n\r\n", "|\r\n  x\r\n  \t", "x\n\t\n"),
        ("a: |1\n  x\n  \nb: 1\n", "|1\n  x\n  ", " x\n \n"),
        ("a: |1-\n  \n\nb: 1\n", "|1-\n  ", " "),
        ("a: |\n    \n\nb: 1\n", "|", ""),
        ("a: |+\n    \n\nb: 1\n", "|+\n    \n", "\n\n"),
        ("a: |2+ # c\n\n---\nb: 1\n", "|2+ # c\n", "\n"),
    ] {
        let doc = Document::parse(text).expect("valid");
        assert_eq!(get(&doc, "a").text(), want, "{text:?}");
        assert_eq!(get(&doc, "a").string(), value, "{text:?}");
    }
    let doc = Document::parse("- |\n  x\n- &a >\n  y\n- z\n").expect("valid");
    let texts: Vec<&str> = doc.roots().next().expect("root").elements().map(NodeRef::text).collect();
    assert_eq!(texts, ["|\n  x", ">\n  y", "z"]);
}

#[test]
fn a_block_scalar_at_the_end_of_the_text_has_the_line_breaks_that_are_there() {
    for (text, want) in [
        ("a: |\n  x", "x"),
        ("a: |+\n  x", "x"),
        ("a: >\n  x\n  y", "x y"),
        ("a: |\n  x\n", "x\n"),
        ("a: |", ""),
        ("a: |+\n  x\n\n", "x\n\n"),
        ("a: |\n  x\n ", "x\n"),
        ("a: |+\n  x\n  ", "x\n"),
        ("a: |\n  x\n   ", "x\n "),
        ("a: |+\n  ", ""),
        ("a: |1+\n\n  ", "\n "),
        ("a: |3+\n\n  ", "\n"),
        ("a: >\n  x\n  \t", "x\n\t"),
    ] {
        let doc = Document::parse(text).expect("valid");
        assert_eq!(get(&doc, "a").string(), want, "{text:?}");
    }
}

#[test]
fn an_absent_value_lies_behind_its_colon_or_dash() {
    let at = |text: &str| -> Vec<usize> {
        let doc = Document::parse(text).expect("valid");
        let root = doc.roots().next().expect("root");
        let mut found = Vec::new();
        let mut todo = vec![root];
        while let Some(node) = todo.pop() {
            if node.is_absent() {
                found.push(node.start());
            }
            todo.extend(node.children());
        }
        found.sort_unstable();
        found
    };
    assert_eq!(at("a:\nb: # note\nc:  \n"), [2, 5, 15]);
    assert_eq!(at("a : 1\nb :\n"), [9]);
    assert_eq!(at("-\n- x\n- # c\n-"), [1, 7, 13]);
    assert_eq!(at("k:\n- \n-\n"), [4, 7]);
    assert_eq!(at("{a, b: , c: }"), [2, 6, 11]);
    assert_eq!(at("a: &x\nb: !!str\n"), [5, 14]);
    assert_eq!(at("? c\n"), [3]);
    assert_eq!(at("? c # note\n:\n? d\n# note\n: # e"), [12, 25]);
    // The colon below belongs to a map outside, or to a name.
    assert_eq!(at("? ? c\n: 1\n"), [5]);
    assert_eq!(at("? c\n::\nd: 1\n"), [3, 6]);
    assert_eq!(at("s:\n- ? ? c\n::\n::\n"), [10, 10, 13, 16]);
    let doc = Document::parse("a: ~\nb:\n").expect("valid");
    assert!(!get(&doc, "a").is_absent() && get(&doc, "a").is_null());
    assert!(get(&doc, "b").is_absent() && get(&doc, "b").is_null());
}

#[test]
fn a_block_ends_with_its_last_child_and_not_with_the_comments_behind() {
    assert_eq!(
        tree("a:\n  b: 1 # one\n  # foot\n# head\nc: 2\n"),
        [
            "Map \"a:\\n  b: 1 # one\\n  # foot\\n# head\\nc: 2\"",
            " Scalar \"a\"",
            " Map \"b: 1\"",
            "  Scalar \"b\"",
            "  Scalar \"1\"",
            " Scalar \"c\"",
            " Scalar \"2\""
        ]
    );
}

#[test]
fn a_block_list_begins_at_its_dash() {
    for (text, want) in [
        ("k:\n- x\n", 3),
        ("k: # c\n  # d\n  - x\n", 15),
        ("k: &a !!seq\n- x\n", 12),
        ("- x\n", 0),
        ("# - no\n- x\n", 7),
        ("--- # c\n- x\n", 8),
    ] {
        let doc = Document::parse(text).expect("valid");
        let root = doc.roots().next().expect("root");
        let list = if root.is_map() { root.get("k").expect("k") } else { root };
        assert_eq!(list.start(), want, "{text:?}");
    }
    assert_eq!(
        tree("- - a\n  - b\n-   - c\n"),
        [
            "List \"- - a\\n  - b\\n-   - c\"",
            " List \"- a\\n  - b\"",
            "  Scalar \"a\"",
            "  Scalar \"b\"",
            " List \"- c\"",
            "  Scalar \"c\""
        ]
    );
}

#[test]
fn comments_come_in_the_order_of_the_text() {
    let doc = Document::parse("# a\nk: | # b\n  # no\n# c\nl: 1 # d\n").expect("valid");
    let found: Vec<&str> = doc.comments_in(0..99).map(|(s, e)| &doc.source()[s..e]).collect();
    assert_eq!(found, ["# a", "# b", "# c", "# d"]);
}

#[test]
fn any_number_of_comment_lines_may_stand_between_a_key_and_its_block() {
    let text = format!("a:\n{}  b: 1\n", "  # c\n".repeat(500));
    let doc = Document::parse(text.as_str()).expect("valid");
    assert_eq!(doc.comments_in(0..text.len()).count(), 500);
}

#[test]
fn byte_order_mark_and_every_line_break_are_taken() {
    let doc = Document::parse("\u{feff}a: 1 # c\r\nb: |\r\n  t\r\n").expect("valid");
    assert_eq!(get(&doc, "a").text(), "1");
    assert_eq!(get(&doc, "b").string(), "t\n");
    assert_eq!(doc.line_break(), "\r\n");
    let doc = Document::parse("a: 1\rb: 2\r").expect("valid");
    assert_eq!(get(&doc, "b").text(), "2");
    assert_eq!(doc.line_break(), "\r");
    for (text, want) in [
        ("\u{feff}|\n  x\n", ["|\n  x", ""]),
        ("\u{feff} |1\n", ["|1", ""]),
        ("\u{feff}# c\n|\n  x\n", ["|\n  x", ""]),
        (" \n\u{feff}- |+\n  x\n", ["- |+\n  x", "|+\n  x"]),
        ("\u{feff}? |-\n  x\n: 1\n", ["? |-\n  x\n: 1", "1"]),
        // A document after `...` needs no `---`.
        ("a\n...\n|+\n---\n", ["|+", ""]),
        ("a\n... # c\n|\n  x\n", ["|\n  x", ""]),
        ("a\n...\n- x\n", ["- x", "x"]),
        ("a\n...\n- - x\n", ["- - x", "- x"]),
    ] {
        let doc = Document::parse(text).expect("valid");
        let root = doc.roots().filter(|root| !root.is_null()).last().expect("root");
        let first = root.elements().next().or_else(|| root.entries().next().map(|(_, value)| value));
        assert_eq!([root.text(), first.map_or("", NodeRef::text)], want, "{text:?}");
    }
}

#[test]
fn aliases_and_merge_keys_are_read_as_what_they_stand_for() {
    let doc = Document::parse(
        "base: &b {x: 1, y: 2}\nuse: *b\nmap:\n  <<: *b\n  y: 3\nlist:\n  !!merge <<: [*b, {x: 9, z: 4}]\n",
    )
    .expect("valid");
    assert_eq!(get(&doc, "use").get("y").map(NodeRef::text), Some("2"));
    let fields = |key: &str| -> Vec<String> {
        get(&doc, key).fields().map(|(k, v)| format!("{}={}", k.string(), v.text())).collect()
    };
    assert_eq!(fields("map"), ["y=3", "x=1"]);
    assert_eq!(fields("list"), ["x=1", "y=2", "z=4"]);
    let quoted = Document::parse("m: &m {a: 1}\nn:\n  '<<': *m\n").expect("valid");
    assert_eq!(get(&quoted, "n").fields().count(), 1);
    assert_eq!(get(&quoted, "n").fields().next().map(|(k, _)| k.string()), Some("<<"));
    // A `<<` elsewhere in the text changes nothing in a map.
    let twice = Document::parse("m: {a: 1, a: 2}\nn: {<<: {b: 3}}\n").expect("valid");
    assert_eq!(get(&twice, "m").fields().count(), 2);
}

#[test]
fn anchors_and_tags_are_kept_apart_from_the_content() {
    let doc = Document::parse("a: &x !!str 12\nb: !!str &y 12\nc: !t 1\n").expect("valid");
    assert_eq!((get(&doc, "a").text(), get(&doc, "a").full_start()), ("12", 3));
    assert_eq!(get(&doc, "b").tag_text(), Some("!!str"));
    assert!(crate::same(get(&doc, "a"), get(&doc, "b")));
    assert_eq!(get(&doc, "c").tag(), Some("!t"));
}

#[test]
fn values_are_compared_by_what_they_mean() {
    for (a, b) in [
        ("{a: 1, b: [x, 0x10]}", "b:\n- 'x'\n- 16\na: 1\n"),
        ("a: |\n  x\n", "a: \"x\\n\""),
        ("a: null", "a:"),
        ("{1: a}", "{'1': a}"),
        ("a: {b: &x [1], c: *x}", "{a: {b: [1], c: [1]}}"),
        ("{a: 1e3}", "{a: 1000}"),
    ] {
        let (a, b) = (Document::parse(a).expect("a"), Document::parse(b).expect("b"));
        assert!(
            crate::same(a.roots().next().expect("a"), b.roots().next().expect("b")),
            "{} {}",
            a.source(),
            b.source()
        );
    }
    for (a, b) in [
        ("a: 1", "a: '1'"),
        ("[1, 2]", "[2, 1]"),
        ("{a: 1}", "{a: 1, b: null}"),
        ("a: []", "a: {}"),
        ("a: true", "a: 'true'"),
        ("a: yes", "a: true"),
        // Equal bytes that mean different things at different columns.
        ("- a:\n  b: 1\n", " - a:\n  b: 1\n"),
    ] {
        let (Ok(a), Ok(b)) = (Document::parse(a), Document::parse(b)) else { continue };
        assert!(
            !crate::same(a.roots().next().expect("a"), b.roots().next().expect("b")),
            "{} {}",
            a.source(),
            b.source()
        );
    }
}

#[test]
fn equal_bytes_at_another_column_are_not_taken_for_equal_values() {
    let doc = Document::parse("x:\n  a:\n    b: 1\ny:\n- a:\n    b: 1\n").expect("valid");
    let x = get(&doc, "x");
    let y = get(&doc, "y").elements().next().expect("element");
    assert_eq!(x.text(), y.text());
    assert!(crate::same(x, y));
    let doc = Document::parse("x:\n - a:\n   b: 1\ny:\n- a:\n   b: 1\n").expect("valid");
    let first = |k| get(&doc, k).elements().next().expect("element");
    assert_eq!(first("x").text(), first("y").text());
    assert!(!crate::same(first("x"), first("y")));
}

#[test]
fn a_repeated_key_is_found() {
    let doc = Document::parse("{a: 1, b: 2, 'a': 3}").expect("valid");
    assert_eq!(doc.roots().next().and_then(NodeRef::duplicate_key).map(NodeRef::start), Some(13));
    for count in [20, 40] {
        let many: String = (0..count).map(|i| format!("k{i}: 1\n")).collect();
        let doc = Document::parse(format!("{many}k7: 2\nk8: 2\n")).expect("valid");
        let line = doc.roots().next().and_then(NodeRef::duplicate_key).map(|k| k.position().line);
        assert_eq!(line, Some(count + 1));
        let doc = Document::parse(many).expect("valid");
        assert!(doc.roots().next().and_then(NodeRef::duplicate_key).is_none());
    }
    let doc = Document::parse("{abc: 1, cab: 2, acb: 3, '': 4, cba: 5}").expect("valid");
    assert!(doc.roots().next().and_then(NodeRef::duplicate_key).is_none());
}

#[test]
fn what_is_no_yaml_is_named_with_its_place() {
    for (text, want) in [
        ("a: \"x\nb: 1\n", "1:"),
        ("a:\n\tb: 1\n", "tabs"),
        ("a: [1\n", "must be YAML"),
        ("a: *x\n", "1:4:"),
        ("a: \"x\"#c\n", "put a blank before the `#`"),
        ("x:\n  a: \"b\n  c: 1\n", "the closing quote is missing"),
        (": a\n", "1:1: a field must have a name"),
        ("a:\n  b: 1\n  : c\n", "3:3: a field must have a name"),
        ("a:\n    :\n", "2:5: a field must have a name"),
        ("? # c\n: a\n", "2:1: a field must have a name"),
        ("&x : a\n", "a field must have a name"),
        ("{a, : b}\n", "1:5: a field must have a name"),
        ("[: a]\n", "1:2: a field must have a name"),
        ("{x: 1, ?a: b}\n", "1:8: between brackets, `?a` must be in quotes"),
        ("[?a]\n", "1:2: between brackets, `?a` must be in quotes"),
        ("a: [x, :a]\n", "1:8: between brackets, `:a` must be in quotes"),
        ("{&x :a}\n", "between brackets, `:a` must be in quotes"),
        ("{a:}\n", "1:2: between brackets, `a:` must be in quotes"),
        ("[a:, b]\n", "1:2: between brackets, `a:` must be in quotes"),
    ] {
        let e = error(text);
        assert!(e.contains(want), "{text:?}: {e}");
        assert!(!e.contains('\n'));
    }
}

#[test]
fn every_reader_reads_the_same_between_brackets() {
    for text in ["{? a: b}", "{'?a': b, \":a\": c}", "[a:b, -a]", "{\"a\":}", "{\"a\":1}", "?a: b", ":a: b", "- ?a"] {
        let found = Document::parse(text).err().map(|e| e.to_string());
        assert_eq!(found, None, "{text}");
    }
}

#[test]
fn depth_cycles_and_alias_bombs_are_errors_and_not_crashes() {
    let deep = "[".repeat(10_000) + &"]".repeat(10_000);
    assert!(error(&deep).contains("nested deeper than 200"), "{}", error(&deep));
    let block: String = (0..10_000).map(|i| format!("{}a:\n", " ".repeat(i))).collect();
    assert!(error(&block).contains("nested deeper than 200"), "{}", error(&block));
    let mixed: String = "- [".to_owned() + &"{a: [".repeat(300) + &"]}".repeat(300) + "]";
    assert!(error(&mixed).contains("nested deeper than 200"), "{}", error(&mixed));
    assert!(error("a: &x [*x]").contains("must not be inside"));
    assert!(error("a: &x {b: {c: *x}}").contains("must not be inside"));
    let bomb: String =
        (1..9).map(|i| format!("b{i}: &b{i} [{}]\n", vec![format!("*b{}", i - 1); 10].join(", "))).collect();
    let bomb = format!("b0: &b0 [x, x, x, x, x, x, x, x, x]\n{bomb}");
    assert!(error(&bomb).contains("must not stand for more than"), "{}", error(&bomb));
    let long = |uses: usize| format!("a: &a {}\nb: [{}]\n", "x".repeat(1 << 20), "*a, ".repeat(uses));
    assert!(Document::parse(long(31)).is_ok());
    assert!(error(&long(1000)).contains("more than 128 MiB, or 20 times the text"), "{}", error(&long(1000)));
    let tower: String = (1..400).map(|i| format!("b{i}: &b{i} [[*b{}]]\n", i - 1)).collect();
    assert!(error(&format!("b0: &b0 []\n{tower}")).contains("nested deeper"));
}

#[test]
fn a_text_without_a_document_has_no_root() {
    for text in ["", "# only a comment\n", "\n\n"] {
        assert_eq!(Document::parse(text).expect("valid").roots().len(), 0, "{text:?}");
    }
    assert_eq!(Document::parse("a: 1\n---\nb: 2\n...\n---\n- 3\n").expect("valid").roots().len(), 3);
}

#[test]
fn a_field_of_a_long_map_is_found_as_in_a_short_one() {
    let many: String = (0..60).map(|i| format!("k{i}: {i}\n")).collect();
    let text = format!(
        "a: &x first\nin: {{k1: nested}}\n{many}\"q\\u0041\": 1\n*x : 2\nk3: again\n<<: {{brought: in, a: hidden}}\nlast: 4\n"
    );
    let doc = Document::parse(text.as_str()).expect("valid");
    let root = doc.roots().next().expect("a root");
    for (name, want) in [
        ("a", Some("first")),
        ("k3", Some("3")),
        ("k59", Some("59")),
        ("qA", Some("1")),
        ("first", Some("2")),
        ("brought", Some("in")),
        ("last", Some("4")),
        ("<<", None),
        ("gone", None),
        ("", None),
    ] {
        assert_eq!(root.get(name).map(NodeRef::string), want, "{name}");
    }
    assert_eq!(root.at(&["in", "k1"]).map(NodeRef::string), Some("nested"));
    assert!(root.at(&["in", "k59"]).is_none());
}

#[test]
fn a_quoted_text_goes_on_in_a_line_that_is_indented_less() {
    for text in [
        "a:\n  b: 'c\n  d'\n  e: 1\n",
        "a:\n  b: 'c\nd'\n  e: 1 # f\n",
        "a: 'c\nd'\nb: 1\n",
        "a:\n  b: \"c\\\\\n\n d \\\n e\\\"\n  f\"\n  e: 'g\n\n\nh'' i\n\n  '\n",
        "- - 'c\n\n\n   d\n e'\n- 1\n",
        "- a: 'c\n  d' # e\n  b: 1\n- f: \"g\nh\"\n",
        "a:\n- &x 'c\nd'\n- *x\n",
        "a:\n  b: !!str \"c\n d\"\n  c: [e, 'f\ng', {h: \"i\nj\"}]\n",
        "a:\n  b: 'é\r\n ü'\r\n  c: 1\r\n",
        "a:\n  b: 'c\n\td'\n  e: \"f\\\n\tg\"\n",
        "a:\n  b: 'c\n\t'\n",
        "a:\n  b: 'x: y\n # z\n ? q'\n",
        "a:\n  b:\n    'c\n    d\n d'\n",
        "'c\nd'\n",
    ] {
        let doc = Document::parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        let theirs: yaml_serde::Value = yaml_serde::from_str(text).expect("libyaml reads it");
        assert_eq!(value(doc.roots().next().expect("a root")), theirs, "{text:?}");
    }
    // libyaml refuses these, too.
    for text in [
        "a:\n  b: 'c\n d\n  e: 1\n",
        "a:\n  'b\n c': 1\n",
        "a:\n  b: 'c\n d' e\n",
        "a:\n  b: 'c\n d': 1\n",
        "a:\n  b: 'c\n--- d'\n",
        "a:\n  b: \"c\n \\q\"\n",
        "a:\n  b: c\n\td: 1\n",
    ] {
        assert!(yaml_serde::from_str::<yaml_serde::Value>(text).is_err(), "{text:?}");
        error(text);
    }
}

/// A node of strings and integers as the tests' other reader has it.
fn value(node: NodeRef<'_>) -> yaml_serde::Value {
    let node = node.resolve();
    match node.kind() {
        Kind::Map => node.entries().map(|(key, of)| (value(key), value(of))).collect::<yaml_serde::Mapping>().into(),
        Kind::List => node.elements().map(value).collect::<Vec<_>>().into(),
        _ => node.string().parse::<u64>().map_or_else(|_| node.string().into(), Into::into),
    }
}
