//! What is secret in a resource, by what its document says. Messages, pages and recorded decisions do not show it.

/// The values of a resource that are secret.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Secret {
    /// None.
    #[default]
    Nothing,
    /// What is below `secretGenerator`, because its `literals` hold values.
    Generator,
    /// All of them, and all comments: a comment next to a value may hold an older value.
    All,
}

/// The field of a kustomization that makes Secrets.
const GENERATOR: &str = "secretGenerator";

impl Secret {
    /// What is secret in a resource of this type. The type need not be complete: a template may lack a name, and have no readable apiVersion.
    pub fn of_type(api_version: Option<&str>, kind: Option<&str>) -> Self {
        let is_core = api_version.is_none_or(|version| !version.contains('/'));
        if is_core && kind == Some("Secret") { Self::All } else { Self::Nothing }
    }

    /// What is secret in a map that has a field of this name.
    pub fn of_field(name: &str) -> Self {
        if name == GENERATOR { Self::Generator } else { Self::Nothing }
    }

    /// What may be secret in a text that nobody can read, by its words.
    pub fn of_text(text: &str) -> Self {
        let names_one = |text: &str| {
            text.split(|c: char| !c.is_alphanumeric()).any(|word| ["Secret", "SecretList", GENERATOR].contains(&word))
        };
        // An escape is one only between double quotes, but nobody can read where these begin.
        let is_meant = names_one(text) || text.contains('\\') && names_one(&unescaped(text));
        if is_meant { Self::All } else { Self::Nothing }
    }

    /// Whether a text has a Secret in it, such as the values of a chart with further resources: it has the words `kind` and `Secret` beside each
    /// other.
    pub fn is_in(text: &str) -> bool {
        let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let mut before = "";
        words.any(|word| std::mem::replace(&mut before, word) == "kind" && ["Secret", "SecretList"].contains(&word))
    }

    /// Whether the value at a path is secret, or holds a secret value. The path begins with the name of a field; it is empty for the resource.
    pub fn hides(self, path: &str) -> bool {
        match self {
            Self::Nothing => false,
            Self::Generator => path.is_empty() || path.starts_with(GENERATOR),
            Self::All => true,
        }
    }
}

/// A text with its escapes of characters replaced: `\x53`, `\u0053` and `\U00000053`, and a `\` that joins two lines.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let sign = after.chars().next().unwrap_or_default();
        let digits = match sign {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => 0,
        };
        let code = after.get(1..1 + digits).and_then(|digits| u32::from_str_radix(digits, 16).ok());
        if let Some(c) = code.and_then(char::from_u32).filter(|_| digits > 0) {
            out.push(c);
            rest = &after[1 + digits..];
        } else if sign == '\n' || sign == '\r' {
            rest = after.trim_start();
        } else {
            out.push('\\');
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_known_by_its_type() {
        for (api_version, kind, want) in [
            (Some("v1"), Some("Secret"), Secret::All),
            (None, Some("Secret"), Secret::All),
            (Some("{{ .v }}"), Some("Secret"), Secret::All),
            (Some("example.com/v1"), Some("Secret"), Secret::Nothing),
            (Some("v1"), Some("ConfigMap"), Secret::Nothing),
            (Some("v1"), None, Secret::Nothing),
        ] {
            assert_eq!(Secret::of_type(api_version, kind), want, "{api_version:?} {kind:?}");
        }
    }

    #[test]
    fn a_text_that_names_the_kind_may_be_one() {
        for (text, want) in [
            ("kind: Secret\n", Secret::All),
            ("kind:\n  \"Secret\"\n", Secret::All),
            ("kind: SecretList", Secret::All),
            ("secretGenerator: [", Secret::All),
            ("kind: \"Secr\\u0065t\"", Secret::All),
            ("kind: \"\\x53ecretList\"", Secret::All),
            ("kind: \"Secr\\U00000065t\"", Secret::All),
            ("kind: \"Sec\\\n  ret\"", Secret::All),
            ("kind: \"Secre\\u0075\\\" \\u00 \\", Secret::Nothing),
            ("imagePullSecrets: [", Secret::Nothing),
            ("kind: ExternalSecret", Secret::Nothing),
        ] {
            assert_eq!(Secret::of_text(text), want, "{text}");
        }
    }

    #[test]
    fn of_a_kustomization_only_the_generator_is_hidden() {
        let hidden = |secret: Secret| ["", "secretGenerator[0].literals", "images"].map(|path| secret.hides(path));
        assert_eq!(hidden(Secret::Generator), [true, true, false]);
        assert_eq!(hidden(Secret::All), [true; 3]);
        assert_eq!(hidden(Secret::Nothing), [false; 3]);
        assert_eq!(Secret::All.max(Secret::Generator), Secret::All);
    }
}
