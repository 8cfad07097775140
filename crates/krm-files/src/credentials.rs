//! Finds passwords and tokens in addresses, so that no file, message or page repeats one.
//!
//! A user alone may be a token: `https://TOKEN@host` is the usual form for GitHub. Only for ssh a user is no secret, if no password follows.
//! What comes after `?` or `#` may hold one, as in `?access_token=…`.

/// The characters at which the host of an address ends.
const AFTER_HOST: [char; 3] = ['/', '?', '#'];

/// Whether the address of a repository has what may be a password or a token.
pub fn are_in(address: &str) -> bool {
    let Some((scheme, rest)) = with_scheme(address) else {
        return address.split('/').any(|part| without_password(part) != part) || are_in_query(address);
    };
    let (host, path) = rest.split_at(rest.find(AFTER_HOST).unwrap_or(rest.len()));
    let (user, host) = host.rsplit_once('@').map_or((None, host), |(user, host)| (Some(user), host));
    let is_ssh = scheme.to_ascii_lowercase().ends_with("ssh");
    user.is_some_and(|user| !is_ssh || user.contains(':'))
        || (path.contains('@') && !is_host(host))
        || path.contains('?')
        || are_in_query(path)
}

/// Whether a part of an address has values after `?` or `#`.
pub fn are_in_query(part: &str) -> bool {
    part.find(['?', '#']).is_some_and(|at| part[at..].contains('='))
}

/// A text for a message, without the users, passwords and queries of its addresses.
pub fn hidden(text: &str) -> String {
    let is_end = |c: char| c.is_whitespace() || "\"'<>".contains(c);
    let word = |word: &str| {
        let (word, end) = word.split_at(word.find(is_end).unwrap_or(word.len()));
        let query = word.find(['?', '#']).filter(|_| host_in(word).is_some() || are_in_query(word));
        let word = &word[..query.unwrap_or(word.len())];
        let shown = match host_in(word) {
            Some(_) => without_users(word),
            None => word.split('/').map(without_password).collect::<Vec<_>>().join("/"),
        };
        shown + end
    };
    text.split_inclusive(is_end).map(word).collect()
}

/// Where the host of the first address in a word begins, with its user.
fn host_in(word: &str) -> Option<usize> {
    let slashes = if word.starts_with("//") { 0 } else { word.find(":/")? + 1 };
    Some(word.len() - word[slashes..].trim_start_matches('/').len())
}

fn without_users(word: &str) -> String {
    let Some(start) = host_in(word) else { return word.to_owned() };
    let part = without_user(&word[start..]);
    let (host, rest) = part.split_at(part.find(AFTER_HOST).unwrap_or(part.len()));
    [&word[..start], host, &without_users(rest)].concat()
}

/// The scheme of an address, and what follows it. `https:/host` is no address, but was meant to be one.
fn with_scheme(address: &str) -> Option<(&str, &str)> {
    let is_web = |scheme: &str| scheme.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("http"));
    let typo = || address.split_once(":/").filter(|(scheme, _)| is_web(scheme));
    let (scheme, rest) = address.split_once("://").or_else(typo)?;
    // The address of a file has no host.
    let has_host = !scheme.eq_ignore_ascii_case("file");
    Some((scheme, if has_host { rest.trim_start_matches('/') } else { rest }))
}

/// The part of an address after `//`, without its user.
fn without_user(part: &str) -> &str {
    let host = &part[..part.find(AFTER_HOST).unwrap_or(part.len())];
    // A password may have a `/`, although it must not.
    let at = if is_host(host) || host.contains('@') { host.rfind('@') } else { part.rfind('@') };
    &part[at.map_or(0, |at| at + 1)..]
}

/// A part of an address between two `/`, without the `user:password@` of an address for ssh.
fn without_password(part: &str) -> &str {
    let has_password = part.split_once('@').is_some_and(|(user, _)| user.contains(':'));
    part.rfind('@').filter(|_| has_password).map_or(part, |at| &part[at + 1..])
}

/// Whether a text is a host, with or without a port.
fn is_host(text: &str) -> bool {
    text.starts_with('[') || text.split_once(':').is_none_or(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAFE: [&str; 14] = [
        "https://example.com/a/b.git",
        "https://example.com:8443/a/b.git",
        "https://[::1]:8443/a/b.git/d@v1",
        "https://example.com/@scope/b.git",
        "https://example.com/b.git/d@feature/#12",
        "HTTPS://example.com/b.git",
        "ssh://git@example.com:22/b.git/d@v1",
        "git+ssh://git@example.com/b.git",
        "git@example.com:a/b.git",
        "host:b.git",
        "file:///srv/a@b/c.git",
        "/srv/a@b/c.git",
        "../b.git",
        ".git",
    ];

    const SECRET: [&str; 24] = [
        "https://tok@example.com/b.git",
        "https://me:tok@example.com/b.git",
        "https://:tok@example.com/b.git",
        "https://tok:@example.com/b.git",
        "https://me:tok@tok@example.com/b.git",
        "https://me:to/tok@example.com/b.git",
        "https://me%3Atok@example.com/b.git",
        "HTTPS://tok@example.com/b.git",
        "hTTp://me:tok@[::1]:80/b.git",
        "https:/tok@example.com/b.git",
        "https:///tok@example.com/b.git",
        "https:me:tok@example.com/b.git",
        "ssh://me:tok@example.com/b.git",
        "git://tok@example.com/b.git",
        "file://me:tok@example.com/b.git",
        "ftp://tok@example.com/b.git",
        "ext::https://tok@example.com/b.git",
        "me:tok@example.com:b.git",
        "me:tok@example.com/b.git",
        "https://example.com/b.git?access_token=tok",
        "https://example.com/b.git/d?private_token=tok@v1",
        "https://example.com/b.git?tok",
        "https://example.com/b.git/d@v1#access_token=tok",
        "git@example.com:b.git?access_token=tok",
    ];

    #[test]
    fn a_password_or_token_is_found_in_each_form_of_an_address() {
        SAFE.iter().for_each(|address| assert!(!are_in(address), "{address}"));
        SECRET.iter().for_each(|address| assert!(are_in(address), "{address}"));
    }

    #[test]
    fn a_message_has_none() {
        for address in SECRET {
            let told = hidden(&format!("fatal: unable to access '{address}/': no route, or <{address}>"));
            assert!(!told.contains("tok") && told.ends_with('>') && told.contains("': no route"), "{told}");
        }
        for text in [
            "a@b",
            "/a@b//c@d/e",
            "ssh: connect to host a port 22: refused",
            "me@host: Permission denied",
            "a: 'b' \"c\"\n",
        ] {
            assert_eq!(hidden(text), text);
        }
        for (text, want) in [
            ("proxy socks5://u:p@host:1 is", "proxy socks5://host:1 is"),
            ("\"https://u:p@ss@host/x@y\", http://h", "\"https://host/x@y\", http://h"),
            ("//u:p@host", "//host"),
        ] {
            assert_eq!(hidden(text), want);
        }
    }
}
