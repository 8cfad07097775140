//! What dest left alone becomes what upstream has, line by line, and a second run changes nothing.
//!
//! How lines end, and whether the last line of a text ends, makes no difference, unless it is the end of a block scalar.

use krm_merge::{Merge, Package, Pick, Renames};

/// Original, updated, dest, and the result. Each `|` is the end of a text, to show whether there is a line break before it.
const TEXTS: [[&str; 4]; 28] = [
    // Dest takes upstream's text and keeps the end of its own.
    ["a: \"x\"\n|", "a: 'x'\n|", "a: \"x\"|", "a: 'x'|"],
    ["a: \"x\"|", "a: 'x'\n|", "a: \"x\"\n|", "a: 'x'\n|"],
    ["a: \"x\"\n|", "a: 'x'|", "a: \"x\"\n|", "a: 'x'\n|"],
    ["l:\n- 1\n|", "l:\n  # of 1\n  - 1\n|", "l:\n- 1|", "l:\n  # of 1\n  - 1|"],
    // A block scalar ends with a line break if the text does.
    ["s: |\n  x\n|", "s: \"x\"\n|", "s: |\n  x|", "s: |\n  x|"],
    ["s: |\n  x\n|", "s: |\n  y\n|", "s: |-\n  x|", "s: |\n  y\n|"],
    ["s: |-\n  x\n|", "s: |-\n  y\n|", "s: |-\n  x|", "s: |-\n  y|"],
    ["s: 1\n|", "s: |\n  y\n|", "s: 1|", "s: |\n  y\n|"],
    ["s: |\n  x\n|", "s: 1\n|", "s: |\n  x\n|", "s: 1\n|"],
    // A block scalar that keeps its blank lines has its end in another text, so it keeps dest's header. What is beside it is upstream's.
    ["l:\n- 1\ns: |\n  x\n|", "l:\n-\n  1\ns: |+\n  x\n|", "l:\n- 1\ns: |\n  x\n|", "l:\n-\n  1\ns: |\n  x\n|"],
    // The blank lines above a comment would become lines of the block scalar above them.
    [
        "m:\n  s: |\n    x\n|",
        "m:\n  s: |\n    x\n\n\n  # c\n|",
        "m:\n  s: |+\n    x\n|",
        "m:\n  s: |+\n    x\n  # c\n|",
    ],
    [
        "l:\n  - 1\n  - |\n    x\n|",
        "l:\n  - 1\n  - |\n    x\n\n  # c\n|",
        "l:\n  - 1\n  - |+\n    x\n|",
        "l:\n  - 1\n  - |+\n    x\n  # c\n|",
    ],
    // The blank line above the comment belongs to it in one text and to the block scalar in the other.
    [
        "m:\n  s: |+\n    x\n\n  b: 1\n\n  # c\n|",
        "m:\n  s: |+\n    x\n\n  # c\n|",
        "m:\n  s: |+\n    x\n\n  b: 1\n\n  # c\n|",
        "m:\n  s: |+\n    x\n\n  # c\n|",
    ],
    [
        "m:\n  s: |+\n    x\n  b: 1\n\n  # c\n|",
        "m:\n  s: |+\n    x\n|",
        "m:\n  s: |+\n    y\n  b: 1\n\n  # c\n|",
        "m:\n  s: |+\n    y\n|",
    ],
    // What nobody changed stays as it is written.
    ["m: {a: \"x\"}\nn: 1\n|", "m: {a: \"x\"}\nn: 2\n|", "m: {a: 'x'}\nn: 1\n|", "m: {a: 'x'}\nn: 2\n|"],
    ["m:\n    a: x\nn: 1\n|", "m:\n    a: x\nn: 2\n|", "m:\n    a: x\nn: 1\n|", "m:\n    a: x\nn: 2\n|"],
    // An alias stays where only the layout or a comment of what it stands for changed.
    [
        "b: &b\n  a:\n    x: \"1\"\nm: *b\nz: 1\n|",
        "b: &b\n  a:\n    x: '1' # c\nm: *b\nz: 1\n|",
        "b: &b\n  a:\n    x: \"1\"\nm: *b\nz: 2\n|",
        "b: &b\n  a:\n    x: '1' # c\nm: *b\nz: 2\n|",
    ],
    [
        "b: &b\n  a:\n    x: \"1\"\nm:\n  <<: *b\n  c: 1\n|",
        "b: &b\n  a:\n    x: '1'\nm:\n  <<: *b\n  c: 1\n|",
        "b: &b\n  a:\n    x: \"1\"\nm:\n  <<: *b\n  c: 2\n|",
        "b: &b\n  a:\n    x: '1'\nm:\n  <<: *b\n  c: 2\n|",
    ],
    [
        "b: &b\n  a:\n    x: \"1\"\nl:\n- *b\n- k: 1\n- k: 2\n- k: 3\n|",
        "b: &b\n  a:\n    x: '1'\nl:\n- *b\n- k: 1\n- k: 2\n- k: 4\n|",
        "b: &b\n  a:\n    x: \"1\"\nl:\n- *b\n- k: 7\n- k: 2\n- k: 3\n|",
        "b: &b\n  a:\n    x: '1'\nl:\n- *b\n- k: 7\n- k: 2\n- k: 4\n|",
    ],
    [
        "b: &b\n  a: {x: 1}\nm: *b\n|",
        "b: &b\n  a:\n    x: 1\nm: *b\n|",
        "b: &b\n  a: {x: 1}\nm: *b\n|",
        "b: &b\n  a:\n    x: 1\nm: *b\n|",
    ],
    [
        "b: &b\n  a: 1\nm:\n  <<: *b\n|",
        "b: &b\n  a: 1 # c\nm:\n  <<: *b\n|",
        "b: &b\n  a: 1\nm:\n  <<: *b\n|",
        "b: &b\n  a: 1 # c\nm:\n  <<: *b\n|",
    ],
    // A field that upstream renamed gets another name, and nothing else.
    [
        "m: {\"aaa\":[1,2,3,4],\"z\":1}\n|",
        "m: {bbb: [1,2,3,4], \"z\":1}\n|",
        "m: {\"aaa\":[1,2,3,4],\"z\":2}\n|",
        "m: {\"bbb\":[1,2,3,4],\"z\":2}\n|",
    ],
    ["m: {aaa : [1,2,3,4]}\n|", "m: {bbb: [1,2,3,4]}\n|", "m: {aaa : [1,2,3,4,5]}\n|", "m: {bbb : [1,2,3,4,5]}\n|"],
    [
        "aaa:\n  x: 1\n  y: 2\n  v: 3\n  w: 4\nz: 1\n|",
        "bbb:\n  x: 1\n  y: 2\n  v: 3\n  w: 4\nz: 1\n|",
        "# c\naaa:   # d\n\n  x:    1 # e\n  y: 2\n  v: 3\n  w: 4\n  # f\nz: 1\n|",
        "# c\nbbb:   # d\n\n  x:    1 # e\n  y: 2\n  v: 3\n  w: 4\n  # f\nz: 1\n|",
    ],
    [
        "? aaa\n: [1, 2, 3, 4]\nz: 1\n|",
        "? bbb\n: [1, 2, 3, 4]\nz: 1\n|",
        "? aaa # c\n: [1, 2, 3, 4]\nz: 2\n|",
        "? bbb # c\n: [1, 2, 3, 4]\nz: 2\n|",
    ],
    [
        "aaa: &a [1, 2, 3, 4]\nz: *a\n|",
        "bbb: &a [1, 2, 3, 4]\nz: *a\n|",
        "aaa: &a [1,  2, 3, 4]\nz: *a\ny: 1\n|",
        "bbb: &a [1,  2, 3, 4]\nz: *a\ny: 1\n|",
    ],
    // The first field of an element may be on the line of the dash or below it.
    [
        "l:\n-\n  name: \"x\"\n  a: 1\n|",
        "l:\n- # c\n  name: 'x'\n  a: 1\n|",
        "l:\n- name: \"x\"\n  a: 2\n|",
        "l:\n- # c\n  name: 'x'\n  a: 2\n|",
    ],
    [
        "l:\n- name: \"x\"\n  a: 1\n|",
        "l:\n- name: 'x' # c\n  a: 1\n|",
        "l:\n-\n  name: \"x\"\n  a: 2\n|",
        "l:\n-\n  name: 'x' # c\n  a: 2\n|",
    ],
];

/// The text of a merge.
fn merged(original: &str, updated: &str, dest: &str) -> String {
    let [original, updated, dest] =
        [original, updated, dest].map(|text| Package::of_text(text.to_owned()).expect("valid"));
    Merge::three_way(&original, &updated, &dest).run().expect("merged").text(Pick::Updated).expect("within the limit")
}

#[test]
fn how_lines_end_makes_no_difference() {
    let as_it_is = |text: &str| text.to_owned();
    let as_on_windows = |text: &str| text.replace('\n', "\r\n");
    let ends: [fn(&str) -> String; 2] = [as_it_is, as_on_windows];
    for case in 0..8 {
        let [in_original, in_updated, in_dest] = [0, 1, 2].map(|side| ends[case >> side & 1]);
        for texts in TEXTS {
            let text = |spec: &str| {
                let spec = spec.strip_suffix('|').expect("an end").replace('\n', "\n  ");
                let spec = spec.strip_suffix("  ").unwrap_or(&spec);
                format!("apiVersion: v1\nkind: A\nmetadata:\n  name: a\nspec:\n  {spec}")
            };
            let [original, updated, dest, want] = texts.map(text);
            // Dest left the resource alone, but not its file, or changed another field of it.
            let own = "apiVersion: v1\nkind: A\nmetadata:\n  name: own\n---\n";
            let changes: [&dyn Fn(&str) -> String; 2] =
                [&|text| format!("{own}{text}"), &|text| text.replace("spec:", "own: 1\nspec:")];
            for change in changes {
                let [original, updated] = [in_original(&original), in_updated(&updated)];
                let [dest, want] = [&dest, &want].map(|text| in_dest(&change(text)));
                let once = merged(&original, &updated, &dest);
                assert_eq!(once, want, "{texts:?} {case}");
                assert_eq!(merged(&original, &updated, &once), once, "again: {texts:?} {case}");
            }
        }
    }
}

#[test]
fn a_part_that_is_indented_otherwise_keeps_dests_indentation() {
    let head = "apiVersion: v1\nkind: A\nmetadata:\n  name: a\nspec:\n";
    let text = |spec: &str| format!("{head}{spec}");
    // The list `l` is in one column on all sides. The list `n` is in another one upstream.
    let original = text("  l:\n  - 'x'\n  m:\n  - name: a\n    n:\n    - 1\n     # of 1\n");
    let updated = text("  l:\n    - x\n  m:\n    - name: a\n\n      n:\n        - 1\n         # of 1\n");
    let dest = original.replace("- name: a\n", "- name: a\n    own: 1\n");
    let want = dest.replace("  - 'x'", "    - x").replace("own: 1\n", "own: 1\n\n");
    assert_eq!(merged(&original, &updated, &dest), want);
    assert_eq!(merged(&original, &updated, &want), want, "again");
}

#[test]
fn a_part_in_dests_column_by_chance_keeps_dests_layout() {
    let text = |spec: &str| format!("apiVersion: v1\nkind: A\nmetadata:\n  name: a\nspec:\n{spec}");
    // The elements of `l` are in one column on all sides, but `l` itself is not.
    let original = text("    l:\n    - name: s\n      m:\n      - x\n      n: 1\n    o: 1\n");
    let updated = text("  # of l\n  l:\n    - name: s\n      m:\n        - x\n      # of n\n      n: 1\n  o: 1\n");
    let dest = original.replace("o: 1", "o: 2");
    let want = dest.replace("    l:", "    # of l\n    l:").replace("      n:", "      # of n\n      n:");
    assert_eq!(merged(&original, &updated, &dest), want);
    assert_eq!(merged(&original, &updated, &want), want, "again");
}

#[test]
fn an_alias_of_upstream_arrives_with_its_anchor_in_any_column() {
    let text = |spec: &str| format!("apiVersion: v1\nkind: A\nmetadata:\n  name: a\nspec:\n{spec}");
    // `l` is in the column of the anchor, and `m` is not.
    let original = text(
        "  b:\n    n:\n      o:\n        x: 1\n  l:\n    n:\n      o:\n        x: 1\n  m:\n      n:\n          o:\n              x: 1\n",
    );
    let updated = text("  b: &b\n    n:\n      o: {x: 2}\n  l: *b\n  m: *b\n");
    let dest = format!("{original}own: 1\n");
    // What dest left alone becomes what upstream has, links and all.
    let want = format!("{updated}own: 1\n");
    assert_eq!(merged(&original, &updated, &dest), want);
    assert_eq!(merged(&original, &updated, &want), want, "again");
}

#[test]
fn a_byte_order_mark_has_no_column() {
    let rest = "apiVersion: v1\nkind: A\nmetadata:\n  name: a\n";
    let original = format!("\u{feff}? spec\n:\n{rest}z: 1\n");
    let updated = format!("? spec\n: 5\n{rest}z: 1\n");
    let dest = original.replace("z: 1", "z: 2");
    let want = dest.replace("\n:\n", "\n: 5\n");
    assert_eq!(merged(&original, &updated, &dest), want);
    assert_eq!(merged(&original, &updated, &want), want, "again");
}

#[test]
fn a_long_new_name_gets_the_question_mark_that_it_needs() {
    let long = "k".repeat(1025);
    let text = |spec: &str| format!("apiVersion: v1\nkind: A\nmetadata:\n  name: a\nspec:\n{spec}");
    let original = text("  aaa: [1, 2, 3, 4]\n  m: {bbb: [1, 2, 3, 4]}\n  z: 1\n");
    let updated = text(&format!("  ? {long}\n  : [1, 2, 3, 4]\n  m:\n    ? {long}\n    : [1, 2, 3, 4]\n  z: 1\n"));
    let dest = original.replace("aaa: [1, 2, 3, 4]", "aaa: [1, 2, 3, 4] # c").replace("4]}", "4], own: 1}");
    let want = dest.replace("aaa:", &format!("? {long}\n  :")).replace("bbb:", &format!("? {long} :"));
    assert_eq!(merged(&original, &updated, &dest), want);
    assert_eq!(merged(&original, &updated, &want), want, "again");
    // Without a blank after the colon.
    let dest = dest.replace("bbb: ", "\"bbb\":");
    let want = want.replace(&format!("{{? {long} : "), &format!("{{? \"{long}\" : "));
    assert_eq!(merged(&original, &updated, &dest), want);
}

#[test]
fn the_first_field_of_an_element_is_taken_on_and_below_the_line_of_the_dash() {
    let text = |head: &str, rest: &str| {
        format!("apiVersion: v1\nkind: A\nmetadata:\n  name: a\nspec:\n  l:\n  -{head}name: s\n    a: 1\n{rest}")
    };
    let heads = [" ", "\n    ", " # c\n    "];
    for head in heads {
        for new_head in heads {
            let original = text(head, "");
            let updated = text(new_head, "").replace("name: s", "\"name\": s");
            let dest = text(head, "    own: 1\n");
            let once = merged(&original, &updated, &dest);
            assert!(once.contains("\"name\": s\n    a: 1\n    own: 1\n"), "{head:?} {new_head:?} {once}");
            assert_eq!(merged(&original, &updated, &once), once, "again: {head:?} {new_head:?}");
        }
    }
}

#[test]
fn a_map_that_takes_the_place_of_dests_value_has_upstreams_layout() {
    let text = |spec: &str| format!("apiVersion: v1\nkind: A\nmetadata:\n  name: a\nspec:\n  c:{spec}\n");
    let original = text("\n    l:\n    - x\n    a: 1");
    let updated = text("\n    l:\n      - x\n\n    a:   2 # c\n    # end");
    let dest = text(" mine");
    assert_eq!(merged(&original, &updated, &dest), updated);
    // In another column, it has the layout of dest: a second run must not take upstream's, which is only by chance in the same column.
    let wide = |text: &str| text.replace("\n  ", "\n    ").replace("    name", "  name");
    let once = merged(&wide(&original), &wide(&updated), &dest);
    assert_eq!(once, text("\n    l:\n    - x\n\n    a:   2 # c\n    # end"));
    assert_eq!(merged(&wide(&original), &wide(&updated), &once), once, "again");
}

#[test]
fn an_element_that_comes_back_whole_has_upstreams_layout() {
    let text = |containers: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: a\nspec:\n  template:\n    spec:\n      containers:\n{containers}      - name: z\n        image: z\n"
        )
    };
    let original = text("      - name: x\n        image: x\n        args:\n        - a\n");
    let updated = text("      - name: x\n        image: x\n        args:\n          - a\n        tty: true\n");
    // Without its image, which nobody changed, the element would be refused. So all of it comes back.
    assert_eq!(merged(&original, &updated, &text("")), updated);
}

#[test]
fn a_comment_below_a_text_goes_with_the_text_that_a_list_replaces() {
    let text = |spec: &str| format!("apiVersion: v1\nkind: A\nmetadata:\n  name: a\nspec:\n{spec}");
    let original = text("    d:\n      - 1\n     # of d\n");
    for (comment, end) in [("", "\n"), ("     # of d\n", "\n"), ("     # new\n", "\n"), ("", "")] {
        let updated = text(&format!("    d:\n      - 1\n      - 2\n{comment}"));
        for below in ["     # of d", "     # of d\n\n      # more"] {
            let dest = text(&format!("    d: 'x'\n{below}{end}"));
            let once = merged(&original, &updated, &dest);
            assert_eq!(once.trim_end(), updated.trim_end(), "{below:?}");
            assert_eq!(once.ends_with('\n'), dest.ends_with('\n'), "{below:?}");
            assert_eq!(merged(&original, &updated, &once), once, "again");
        }
    }
    // The block scalar at the end of the list keeps its line break.
    let updated = text("    d:\n      - |\n        x\n");
    let dest = text("    d: 'x'\n     # of d");
    assert_eq!(merged(&original, &updated, &dest), updated);
}

#[test]
fn comments_below_a_new_field_come_along_in_their_columns() {
    let text =
        |spec: &str| format!("apiVersion: v1\nkind: A\nmetadata:\n  name: a\nspec:\n  m:\n    a: 1\n{spec}  z: 1\n");
    for value in ["[]", "{}", "null", "\"\"", "x", "[x, y]", "|\n      x"] {
        let example =
            if value.contains('|') { "     # b:\n\n     # c\n" } else { "      # - b:\n        # c\n\n      #   d\n" };
        let new = format!("    # about v\n    v: {value}\n{example}");
        let [original, updated, dest] = [text(""), text(&new), text("    own: 1\n")];
        let once = merged(&original, &updated, &dest);
        assert_eq!(once, text(&format!("    own: 1\n{new}")));
        assert_eq!(merged(&original, &updated, &once), once, "again");
    }
}

#[test]
fn json_keeps_its_indentation() {
    let text = |indent: &str, spec: &str| {
        let head = "{\n  \"apiVersion\": \"v1\",\n  \"kind\": \"A\",\n  \"metadata\": {\n    \"name\": \"a\"\n  },\n";
        let all = format!("{head}  \"spec\": {{\n{spec}\n  }}\n}}\n");
        let line = |line: &str| {
            let own = line.trim_start();
            indent.repeat((line.len() - own.len()) / 2) + own + "\n"
        };
        all.lines().map(line).collect::<String>()
    };
    let original = "    \"a\": 1,\n    \"list\": [],\n    \"z\": 1";
    let updated = "    \"a\": {\n      \"x\": 1\n    },\n    \"list\": [\n      {\n        \"x\": 1\n      },\n      []\n    ],\n    \"new\": {\n      \"b\": [\n        1,\n        2\n      ],\n      \"c\": [1, 2]\n    },\n    \"z\": 1";
    let [dest, want] = [original, updated].map(|spec| spec.replace("\"z\": 1", "\"z\": 2"));
    for own in ["\t", " ", "   ", "        "] {
        for upstreams in [own, "\t", "  "] {
            let [original, updated] = [original, updated].map(|spec| text(upstreams, spec));
            let once = merged(&original, &updated, &text(own, &dest));
            assert_eq!(once, text(own, &want));
            assert_eq!(merged(&original, &updated, &once), once, "again");
        }
    }
}

#[test]
fn comments_below_a_block_scalar_at_the_end_are_merged_and_no_part_of_it() {
    let text = |a: u8, end: &str| format!("apiVersion: v1\nkind: A\nmetadata:\n  name: a\ndata:\n  a: {a}\n{end}");
    for block in ["  b: |+\n    x\n\n", "  b: |\n    x\n\n", "  b: |\n    x\n"] {
        for [original, updated] in [["", "# end\n"], ["# was\n", ""], ["# was\n", "# is\n"]] {
            let [original, updated] = [original, updated].map(|comments| format!("{block}{comments}"));
            let [original, dest, want] = [text(1, &original), text(2, &original), text(2, &updated)];
            let updated = text(1, &updated);
            assert_eq!(merged(&original, &updated, &dest).trim_end(), want.trim_end());
            assert_eq!(
                merged(&original, &updated, &merged(&original, &updated, &dest)),
                merged(&original, &updated, &dest)
            );
        }
    }
    // A line break would become a part of the text.
    let [original, dest] = [1, 2].map(|a| text(a, "  b: |\n    x"));
    let updated = text(1, "  b: |-\n    x\n# end\n");
    assert_eq!(merged(&original, &updated, &dest), text(2, "  b: |-\n    x\n# end\n"));
}

#[test]
fn the_comments_around_a_document_are_those_of_upstream_if_dest_left_them_alone() {
    let text = |above: &str, a: u8, b: u8, below: &str| {
        format!("{above}apiVersion: v1\nkind: A\nmetadata:\n  name: a\ndata:\n  a: {a}\n  b: {b}\n{below}")
    };
    let more = "---\napiVersion: v1\nkind: A\nmetadata:\n  name: b\n";
    for [original, updated, dest, want] in [
        // Dest left the document alone, or changed a value in it.
        [text("# 1\n\n", 1, 1, ""), text("# 2\n\n", 1, 2, ""), text("# 1\n\n", 1, 1, ""), text("# 2\n\n", 1, 2, "")],
        [text("# 1\n\n", 1, 1, ""), text("# 2\n\n", 1, 1, ""), text("# 1\n\n", 2, 1, ""), text("# 2\n\n", 2, 1, "")],
        [text("", 1, 1, ""), text("# 2\n\n", 1, 1, ""), text("", 2, 1, ""), text("# 2\n\n", 2, 1, "")],
        [text("# 1\n\n", 1, 1, ""), text("# 2\n\n", 1, 1, ""), text("# 3\n\n", 2, 1, ""), text("# 3\n\n", 2, 1, "")],
        [text("", 1, 1, "# 1\n"), text("", 1, 2, "# 2\n"), text("", 1, 1, "# 1\n"), text("", 1, 2, "# 2\n")],
        [text("", 1, 1, ""), text("", 1, 1, "\n# 2\n"), text("", 1, 1, ""), text("", 1, 1, "\n# 2\n")],
        [text("", 1, 1, "# 1\n"), text("", 1, 1, "# 2\n"), text("", 2, 1, "# 1\n"), text("", 2, 1, "# 2\n")],
        [text("", 1, 1, "# 1\n"), text("", 1, 1, ""), text("", 2, 1, "# 1\n"), text("", 2, 1, "")],
    ] {
        let once = merged(&original, &updated, &dest);
        assert_eq!(once, want, "{original}{updated}{dest}");
        assert_eq!(merged(&original, &updated, &once), once, "again: {want}");
        // The same with another document below, and above.
        let [original, updated, dest, want] = [&original, &updated, &dest, &want].map(|text| format!("{text}{more}"));
        assert_eq!(merged(&original, &updated, &dest), want, "{original}{updated}{dest}");
        let turned = |text: &str| format!("{}---\n{}", &more[4..], text.strip_suffix(more).unwrap_or_default());
        let [original, updated, dest, want] = [&original, &updated, &dest, &want].map(|text| turned(text));
        assert_eq!(merged(&original, &updated, &dest), want, "{original}{updated}{dest}");
    }
}

#[test]
fn the_comments_at_the_top_of_a_file_are_the_same_after_a_second_run() {
    let block = |name: &str| format!("apiVersion: v1\nkind: A\nmetadata:\n  name: {name}\n");
    let json =
        |name: &str| format!("{{\"apiVersion\": \"v1\", \"kind\": \"A\", \"metadata\": {{\"name\": \"{name}\"}}}}\n");
    let (own, alone) = (block("own"), "---\n# alone\n");
    for (original, updated, dest, want) in [
        // The licence is no comment of the resource in brackets that upstream puts below it.
        (
            format!("# licence\n\n# about b\n{}", block("b")),
            format!("# licence\n\n{}---\n# about b\n{}", json("g"), block("b")),
            format!("# licence\n\n# ours\n{own}---\n# about b\n{}", block("b")),
            format!("# licence\n\n# ours\n{own}---\n{}---\n# about b\n{}", json("g"), block("b")),
        ),
        // What upstream sets apart above a resource comes, too, where dest's licence stays at the top without that resource.
        (
            format!("# about b\n{}", block("b")),
            format!("{}---\n\n# about b\n{}", block("g"), block("b")),
            format!("# licence\n\n# about b\n{}", block("b")),
            format!("# licence\n\n{}---\n\n# about b\n{}", block("g"), block("b")),
        ),
        (
            block("b"),
            format!("{}---\n# apart\n\n{}", block("g"), block("b")),
            format!("# licence\n\n{}", block("b")),
            format!("# licence\n\n{}---\n# apart\n\n{}", block("g"), block("b")),
        ),
        (
            json("b"),
            format!("{}---\n# apart\n\n{}", block("g"), json("b")),
            format!("# licence\n\n{}", json("b")),
            format!("# licence\n\n{}---\n# apart\n\n{}", block("g"), json("b")),
        ),
        // Upstream removes the licence, or writes another one, together with the resource below it.
        (
            format!("# licence\n---\n{}", block("e")),
            block("something-else"),
            format!("# licence\n\n{}{alone}", block("e")),
            format!("{alone}---\n{}", block("something-else")),
        ),
        (
            format!("# licence\n---\n{}", block("e")),
            format!("# new licence\n---\n{}", block("something-else")),
            format!("# licence\n\n{}{alone}", block("e")),
            format!("# new licence\n{alone}---\n{}", block("something-else")),
        ),
    ] {
        let merged = |dest: &str| {
            let [original, updated, dest] =
                [&original, &updated, dest].map(|text| Package::of_text(text.to_owned()).expect("valid"));
            let merge = Merge::three_way(&original, &updated, &dest).renames(Renames::Ignore);
            merge.run().expect("merged").text(Pick::Updated).expect("within the limit")
        };
        let once = merged(&dest);
        assert_eq!(once, want, "{original}{updated}{dest}");
        assert_eq!(merged(&once), once, "again: {original}{updated}{dest}");
    }
}

#[test]
fn comments_at_the_end_of_a_list_of_resources_are_merged() {
    let text = |a: u8, end: &str| {
        let item = |name: &str, a: u8| {
            format!("- apiVersion: v1\n  kind: A\n  metadata:\n    name: {name}\n  data:\n    a: {a}\n")
        };
        format!("apiVersion: v1\nkind: List\nitems:\n{}{}{end}", item("a", a), item("b", 1))
    };
    for [original, updated] in [["", "# end\n"], ["# was\n", "# is\n"], ["# was\n", ""]] {
        let once = merged(&text(1, original), &text(1, updated), &text(2, original));
        assert_eq!(once, text(2, updated));
        assert_eq!(merged(&text(1, original), &text(1, updated), &once), once, "again");
    }
}
