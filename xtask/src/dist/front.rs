//! The page by which a registry shows the program: the README, whose links and pictures lead to the repository at the version.

/// The README as a page of a registry.
pub fn page(readme: &str, version: &str) -> String {
    let mut parts = readme.split("](");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_elsewhere = part.starts_with('#') || part.split(')').next().is_some_and(|link| link.contains("://"));
        let is_picture = out.rsplit('[').nth(1).is_some_and(|before| before.ends_with('!'));
        out.push_str("](");
        match (is_elsewhere, is_picture) {
            (true, _) => {}
            (false, true) => {
                out.push_str(&format!("https://raw.githubusercontent.com/krm-merge/krm-merge/v{version}/"));
            }
            (false, false) => out.push_str(&format!("https://github.com/krm-merge/krm-merge/blob/v{version}/")),
        }
        out.push_str(part);
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn links_lead_to_the_repository() {
        let page = super::page("![a](b.svg) [c](d/e.md#f) [g](https://x.y/z) [h](#i) [j][k]\n", "1.2.3");
        let want = "![a](https://raw.githubusercontent.com/krm-merge/krm-merge/v1.2.3/b.svg) [c](https://github.com/krm-merge/krm-merge/blob/v1.2.3/d/e.md#f) [g](https://x.y/z) [h](#i) [j][k]\n";
        assert_eq!(page, want);
    }
}
