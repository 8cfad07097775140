//! How a registry asks for a login: the header `WWW-Authenticate`.

use anyhow::{Result, bail};

/// What it asks for.
#[derive(Debug, PartialEq, Eq)]
pub enum Challenge {
    /// A user with a password.
    Basic,
    /// A token, which another address gives.
    Bearer {
        /// The address.
        realm: String,
        /// Whom the token is for.
        service: String,
    },
}

impl Challenge {
    /// Reads the header.
    ///
    /// # Errors
    /// It asks for something else.
    pub fn read(header: &str) -> Result<Self> {
        let (scheme, rest) = header.trim().split_once(' ').unwrap_or((header.trim(), ""));
        if scheme.eq_ignore_ascii_case("basic") {
            return Ok(Self::Basic);
        }
        let field =
            |name: &str| fields(rest).into_iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, v)| v);
        match field("realm") {
            Some(realm) if scheme.eq_ignore_ascii_case("bearer") => {
                Ok(Self::Bearer { realm, service: field("service").unwrap_or_default() })
            }
            _ => bail!("the header `WWW-Authenticate` must be `Basic`, or `Bearer` with a `realm`"),
        }
    }
}

/// The fields of a header: `name="value",other=value`.
fn fields(text: &str) -> Vec<(&str, String)> {
    let (mut found, mut rest) = (Vec::new(), text);
    while let Some((name, after)) = rest.split_once('=') {
        let name = name.trim_start_matches([',', ' ']).trim();
        let quoted = after.strip_prefix('"');
        let body = quoted.unwrap_or(after);
        let end = body.find(if quoted.is_some() { '"' } else { ',' }).unwrap_or(body.len());
        found.push((name, body[..end].trim().to_owned()));
        rest = body.get(end + 1..).unwrap_or_default();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_is_basic_or_bearer() {
        let bearer = |realm: &str, service: &str| {
            Some(Challenge::Bearer { realm: realm.to_owned(), service: service.to_owned() })
        };
        for (header, want) in [
            ("Basic realm=\"x\"", Some(Challenge::Basic)),
            ("basic", Some(Challenge::Basic)),
            (
                "Bearer realm=\"https://a/t?x=1,2\",service=\"s\",scope=\"repository:a:pull\"",
                bearer("https://a/t?x=1,2", "s"),
            ),
            ("bearer service=s, Realm=https://a/t", bearer("https://a/t", "s")),
            ("Bearer realm=\"https://a/t", bearer("https://a/t", "")),
            ("Bearer", None),
            ("Negotiate realm=x", None),
            ("", None),
        ] {
            assert_eq!(Challenge::read(header).ok(), want, "{header}");
        }
    }
}
