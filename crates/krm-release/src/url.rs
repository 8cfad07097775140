//! Addresses of HTTP: read, and one resolved against another.

use std::fmt;
use std::net::IpAddr;

use anyhow::{Result, bail};
use krm_files::credentials::hidden;
use krm_names::shown;

/// An address. It has no user, no password and no fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    /// `http` or `https`.
    scheme: &'static str,
    /// The host in lower case, with the port if it is not that of the scheme.
    authority: String,
    /// The path with the query. It begins with `/`.
    path: String,
}

impl Url {
    /// Reads an address.
    ///
    /// # Errors
    /// It does not begin with `https://` or `http://` and a host, or it has a user or a password.
    pub fn read(text: &str) -> Result<Self> {
        let told = || shown::quoted(&hidden(text));
        let split = text.split_once("://").map(|(scheme, rest)| (scheme.to_ascii_lowercase(), rest));
        let (scheme, port, rest) = match &split {
            Some((scheme, rest)) if scheme == "https" => ("https", ":443", rest),
            Some((scheme, rest)) if scheme == "http" => ("http", ":80", rest),
            _ => bail!("{}: the address must begin with `https://` or `http://`", told()),
        };
        let rest = rest.split('#').next().unwrap_or_default();
        let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        if authority.contains('@') {
            bail!(
                "{}: the address must have no user and no password; `helm repo add --username` and `~/.netrc` keep them",
                told()
            );
        }
        let authority = authority.to_ascii_lowercase();
        let authority = authority.strip_suffix(port).unwrap_or(&authority);
        let is_host = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
        if authority.is_empty() || authority.starts_with(':') || !authority.chars().all(is_host) {
            bail!("{}: the address must have the name of a host after `{scheme}://`", told());
        }
        let slash = if path.starts_with('/') { "" } else { "/" };
        Ok(Self { scheme, authority: authority.to_owned(), path: format!("{slash}{}", escaped(path)) })
    }

    /// The address that a reference of this one means, as browsers read it.
    ///
    /// # Errors
    /// Those of [`Url::read`].
    pub fn join(&self, reference: &str) -> Result<Self> {
        let reference = reference.trim();
        let scheme = reference.split([':', '/', '?', '#']).next().unwrap_or_default();
        if reference[scheme.len()..].starts_with("://") {
            return Self::read(reference);
        }
        if reference.starts_with("//") {
            return Self::read(&format!("{}:{reference}", self.scheme));
        }
        let own = self.path.split('?').next().unwrap_or_default();
        let reference = reference.split('#').next().unwrap_or_default();
        let (path, query) = reference.split_at(reference.find('?').unwrap_or(reference.len()));
        let path = match path {
            "" => own.to_owned(),
            path if path.starts_with('/') => path.to_owned(),
            path => format!("{}{path}", &own[..own.rfind('/').map_or(0, |at| at + 1)]),
        };
        Ok(Self { path: escaped(&(without_dots(&path) + query)), ..self.clone() })
    }

    /// The address of a name in this folder.
    pub fn below(&self, name: &str) -> Result<Self> {
        let own = self.path.split('?').next().unwrap_or_default().trim_end_matches('/');
        Self { path: format!("{own}/"), ..self.clone() }.join(name)
    }

    /// The address of this server with the path of another address.
    pub fn at_path_of(&self, other: Self) -> Self {
        Self { path: other.path, ..self.clone() }
    }

    /// Whether the same server answers for both.
    pub fn is_of_server_of(&self, other: &Self) -> bool {
        (self.scheme, &self.authority) == (other.scheme, &other.authority)
    }

    /// Whether what is sent there can be read on the way.
    pub fn is_plain(&self) -> bool {
        self.scheme == "http"
    }

    /// The host with its port, as logins name it.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// The host without its port.
    pub fn host(&self) -> &str {
        host(&self.authority)
    }

    /// The whole address, with a query that may be secret.
    pub fn text(&self) -> String {
        format!("{}://{}{}", self.scheme, self.authority, self.path)
    }
}

/// For people: without the query.
impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.split('?').next().unwrap_or_default();
        write!(f, "\"{}://{}{}\"", self.scheme, self.authority, path.strip_suffix('/').unwrap_or(path))
    }
}

/// The host of an authority, without the port and without brackets.
fn host(authority: &str) -> &str {
    let host = match authority.rsplit_once(':') {
        Some((host, _)) if !host.contains(':') || host.ends_with(']') => host,
        _ => authority,
    };
    host.trim_matches(['[', ']'])
}

/// Whether a host is this machine.
pub fn is_loopback(authority: &str) -> bool {
    let host = host(authority);
    host == "localhost" || host.ends_with(".localhost") || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// A text of an address in which what an address cannot hold is an escape.
fn escaped(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte);
    let one = |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(one).collect()
}

/// A text as a value of a query or a form.
pub fn value(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let one = |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(one).collect()
}

/// A path without `.` and `..`.
fn without_dots(path: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    let mut rest = path.trim_start_matches('/').split('/').peekable();
    while let Some(name) = rest.next() {
        match name {
            "." | ".." => {
                if name == ".." {
                    names.pop();
                }
                // A folder stays one.
                if rest.peek().is_none() {
                    names.push("");
                }
            }
            name => names.push(name),
        }
    }
    format!("/{}", names.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_host_and_no_user() {
        for (text, want) in [
            ("https://Example.COM", "https://example.com/"),
            ("HTTPS://example.com:443/a?b#c", "https://example.com/a?b"),
            ("http://[::1]:5000/ä b", "http://[::1]:5000/%C3%A4%20b"),
            ("http://h?x={y}", "http://h/?x=%7By%7D"),
        ] {
            assert_eq!(Url::read(text).expect(text).text(), want);
        }
        for text in
            ["", "h", "ftp://h/", "file:///etc/passwd", "https://", "https:///a", "https://:80/", "https://a b/"]
        {
            Url::read(text).expect_err(text);
        }
        for text in ["https://me:tok@h/", "https://tok@h/a", "http://@h/?access_token=tok"] {
            let told = Url::read(text).expect_err(text).to_string();
            assert!(told.contains("no user") && !told.contains("tok"), "{told}");
        }
        assert_eq!(Url::read("https://h/a/?token=tok").expect("an address").to_string(), "\"https://h/a\"");
    }

    #[test]
    fn a_reference_is_read_as_browsers_read_it() {
        let base = Url::read("https://h:8443/a/b/index.yaml?q").expect("an address");
        for (reference, want) in [
            ("web-1.0.0.tgz", "https://h:8443/a/b/web-1.0.0.tgz"),
            ("./x/../y.tgz?z#f", "https://h:8443/a/b/y.tgz?z"),
            ("../../../../y", "https://h:8443/y"),
            ("/y/.", "https://h:8443/y/"),
            ("//o/y", "https://o/y"),
            ("HTTP://o/y", "http://o/y"),
            ("y:1", "https://h:8443/a/b/y:1"),
            ("?n=1", "https://h:8443/a/b/index.yaml?n=1"),
        ] {
            assert_eq!(base.join(reference).expect(reference).text(), want);
        }
        for reference in ["file:///etc/passwd", "//me@h/"] {
            base.join(reference).expect_err(reference);
        }
        for folder in ["https://h/a", "https://h/a/", "https://h/a?q"] {
            let folder = Url::read(folder).expect("an address");
            assert_eq!(folder.below("index.yaml").expect("an address").text(), "https://h/a/index.yaml");
        }
    }

    #[test]
    fn this_machine_is_known_by_its_names() {
        for (authority, want) in [
            ("localhost", true),
            ("localhost:5000", true),
            ("127.3.2.1:80", true),
            ("[::1]:5000", true),
            ("localhost.example.com", false),
            ("example.com", false),
            ("10.0.0.1", false),
        ] {
            assert_eq!(is_loopback(authority), want, "{authority}");
        }
    }
}
