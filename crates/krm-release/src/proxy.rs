//! Which proxy leads to a server, by the rules of Go's `net/http`, which kubectl follows.
//!
//! `proxy-url` of the kubeconfig always counts. `HTTPS_PROXY` does not count for loopback, and for what `NO_PROXY` names: the address of the
//! server decides, not that of the proxy. kube compares the latter, and refuses a list with an empty entry. Source:
//! golang.org/x/net/http/httpproxy.

use std::net::IpAddr;

use anyhow::{Context, Result};
use http::Uri;
use ipnet::IpNet;

/// The schemes of proxies, each with the scheme of kube's client. Its SOCKS5 leaves names to the proxy, as Go's does.
const SCHEMES: [(&str, &str); 4] = [("http", "http"), ("https", "https"), ("socks5", "socks5"), ("socks5h", "socks5")];

/// The field of the kubeconfig.
const OWN: &str = "proxy-url";

/// The proxy to a server. `own` is the `proxy-url` of the kubeconfig, and `variable` reads a variable of the environment.
///
/// # Errors
/// The proxy has no address that can be used.
pub fn proxy(cluster: &Uri, own: Option<&str>, variable: impl Fn(&str) -> Option<String>) -> Result<Option<Uri>> {
    if let Some(own) = own.filter(|own| !own.is_empty()) {
        return address(own, OWN).map(Some);
    }
    // As in Go, the name in upper case comes first.
    let any = |name: &str| {
        [name.to_owned(), name.to_lowercase()].iter().filter_map(|name| variable(name)).find(|value| !value.is_empty())
    };
    let name = if cluster.scheme_str() == Some("http") { "HTTP_PROXY" } else { "HTTPS_PROXY" };
    match any(name) {
        Some(proxy) if !goes_direct(cluster, &any("NO_PROXY").unwrap_or_default()) => address(&proxy, name).map(Some),
        _ => Ok(None),
    }
}

/// The address of a proxy. In a variable, it may lack the scheme of HTTP.
fn address(text: &str, name: &str) -> Result<Uri> {
    let text = text.trim();
    let whole = if text.contains("://") || name == OWN { text.to_owned() } else { format!("http://{text}") };
    let parsed = || {
        let (scheme, rest) = whole.split_once("://")?;
        let (_, scheme) = SCHEMES.iter().find(|(known, _)| *known == scheme.to_lowercase())?;
        // As in Go, all before the last `@` is the user, so a password may have a bare one.
        let rest = match rest.rsplit_once('@') {
            Some((user, host)) => format!("{}@{host}", user.replace('@', "%40")),
            None => rest.to_owned(),
        };
        // The client needs a path.
        let uri: Uri = format!("{scheme}://{}", rest.trim_end_matches('/')).parse().ok()?;
        uri.host().filter(|host| !host.is_empty())?;
        Some(uri)
    };
    // The rest is not shown, because it may have a password.
    let scheme = text.split_once("://").map_or("", |(scheme, _)| scheme);
    let scheme = if scheme.chars().all(char::is_alphanumeric) { scheme } else { "" };
    parsed().with_context(|| match SCHEMES.iter().any(|(known, _)| *known == scheme.to_lowercase()) {
        true => format!("`{name}` must have a host that can be one, such as `{scheme}://host:port`"),
        false => format!("`{name}` must begin with `http://`, `https://` or `socks5://`, not \"{scheme}\""),
    })
}

/// Whether a server is reached without the proxy of the environment.
fn goes_direct(cluster: &Uri, no_proxy: &str) -> bool {
    let host = cluster.host().unwrap_or_default().trim_matches(['[', ']']).trim_end_matches('.').to_lowercase();
    let port = cluster.port_u16().unwrap_or(if cluster.scheme_str() == Some("http") { 80 } else { 443 });
    let ip: Option<IpAddr> = host.parse().ok();
    let target = Target { host: &host, port, ip: ip.map(|ip| ip.to_canonical()) };
    host == "localhost"
        || target.ip.is_some_and(|ip| ip.is_loopback())
        || no_proxy.split(',').any(|entry| target.is_named(&entry.trim().to_lowercase()))
}

/// The place of a server.
struct Target<'t> {
    host: &'t str,
    port: u16,
    ip: Option<IpAddr>,
}

impl Target<'_> {
    /// Whether an entry of `NO_PROXY` names it: an address, a range of addresses, a name with all names below it, or a suffix with a dot. A
    /// port in the entry must be its port.
    fn is_named(&self, entry: &str) -> bool {
        if entry == "*" {
            return true;
        }
        if let Ok(range) = entry.parse::<IpNet>() {
            return self.ip.is_some_and(|ip| range.contains(&ip));
        }
        let bare = |host: &str| host.trim_matches(['[', ']']).to_owned();
        let (host, port) = match entry.rsplit_once(':') {
            // An IPv6 address has colons, too.
            Some((host, port)) if !host.contains(':') || host.ends_with(']') => (bare(host), Some(port.parse::<u16>())),
            _ => (bare(entry), None),
        };
        if host.is_empty() || port.is_some_and(|port| port != Ok(self.port)) {
            return false;
        }
        if let Ok(ip) = host.parse::<IpAddr>() {
            return self.ip == Some(ip.to_canonical());
        }
        let name = host.strip_prefix('*').filter(|rest| rest.starts_with('.')).unwrap_or(&host);
        match name.strip_prefix('.') {
            Some(_) => self.host.ends_with(name),
            None => self.host == name || self.host.strip_suffix(name).is_some_and(|rest| rest.ends_with('.')),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(cluster: &str, own: Option<&str>, variables: &[(&str, &str)]) -> Result<Option<String>> {
        let of = |name: &str| Some(variables.iter().find(|(other, _)| *other == name)?.1.to_owned());
        let proxy = proxy(&cluster.parse().expect("an address"), own, of)?;
        Ok(proxy.map(|proxy| proxy.to_string()))
    }

    #[test]
    fn what_no_proxy_names_is_reached_without_one() {
        for (cluster, no_proxy, is_direct) in [
            ("https://api.corp.test:6443", "", false),
            ("https://api.corp.test:6443", ",", false),
            ("https://api.corp.test:6443", "other.test, api.corp.test,", true),
            ("https://api.corp.test:6443", "corp.test", true),
            ("https://api.corp.test:6443", ".corp.test", true),
            ("https://api.corp.test:6443", "*.corp.test", true),
            ("https://API.Corp.test:6443", "api.CORP.test", true),
            ("https://api.corp.test:6443", "orp.test", false),
            ("https://corp.test", ".corp.test", false),
            ("https://corp.test", "corp.test:443", true),
            ("https://api.corp.test:6443", "api.corp.test:6443", true),
            ("https://api.corp.test:6443", "api.corp.test:443", false),
            ("https://api.corp.test:6443", "*", true),
            ("https://api.corp.test:6443", "a,*", true),
            ("https://api.corp.test:6443", "10.0.0.1", false),
            ("https://10.1.2.3:6443", "10.1.2.3", true),
            ("https://10.1.2.3:6443", "10.1.2.3:443", false),
            ("https://10.1.2.3:6443", "10.0.0.0/8", true),
            ("https://10.1.2.3:6443", "10.2.0.0/16", false),
            ("https://[2001:db8::1]:6443", "2001:db8::1", true),
            ("https://[2001:db8::1]:6443", "[2001:db8::1]:6443", true),
            ("https://[2001:db8::1]:6443", "2001:db8::/32", true),
            ("https://[2001:db8::1]:6443", "2001:db8::2", false),
            ("https://127.0.0.1:6443", "", true),
            ("https://127.1.1.1:6443", "", true),
            ("https://[::1]:6443", "", true),
            ("https://localhost:6443", "", true),
            ("https://localhost.test:6443", "", false),
        ] {
            let variables = [("HTTPS_PROXY", "p:1"), ("NO_PROXY", no_proxy)];
            let found = found(cluster, None, &variables).expect("an address");
            assert_eq!(found.is_none(), is_direct, "{cluster} {no_proxy}");
        }
    }

    #[test]
    fn a_proxy_is_found_where_kubectl_finds_it() {
        let cluster = "https://api.corp.test:6443";
        for (cluster, own, variables, want) in [
            (cluster, None, &[][..], None),
            (cluster, None, &[("HTTPS_PROXY", "p.test:3128")], Some("http://p.test:3128/")),
            (cluster, None, &[("https_proxy", "https://p.test")], Some("https://p.test/")),
            (cluster, None, &[("HTTPS_PROXY", ""), ("https_proxy", "b:1")], Some("http://b:1/")),
            (cluster, None, &[("HTTPS_PROXY", "a:1"), ("https_proxy", "b:1")], Some("http://a:1/")),
            (cluster, None, &[("HTTPS_PROXY", "socks5h://p.test:1080/")], Some("socks5://p.test:1080/")),
            (cluster, None, &[("HTTPS_PROXY", "user:word@p.test:1")], Some("http://user:word@p.test:1/")),
            (cluster, None, &[("HTTPS_PROXY", "me:p@ss@p.test:1")], Some("http://me:p%40ss@p.test:1/")),
            (cluster, None, &[("HTTPS_PROXY", "a:1"), ("no_proxy", "api.corp.test")], None),
            // The proxy itself may be named.
            (cluster, None, &[("HTTPS_PROXY", "p.test:1"), ("NO_PROXY", "p.test")], Some("http://p.test:1/")),
            (cluster, None, &[("HTTP_PROXY", "p.test:1")], None),
            ("http://api.corp.test", None, &[("HTTPS_PROXY", "p.test:1")], None),
            ("http://api.corp.test", None, &[("HTTP_PROXY", "p.test:1")], Some("http://p.test:1/")),
            // What the kubeconfig says always counts.
            (cluster, Some("http://own:1"), &[("HTTPS_PROXY", "a:1"), ("NO_PROXY", "*")], Some("http://own:1/")),
            (cluster, Some(""), &[("HTTPS_PROXY", "a:1")], Some("http://a:1/")),
        ] {
            assert_eq!(found(cluster, own, variables).expect("an address").as_deref(), want, "{own:?} {variables:?}");
        }
        for (own, variable, name) in [
            (Some("ftp://me:secret@p"), None, "proxy-url"),
            (Some("me:secret@p:1"), None, "proxy-url"),
            (None, Some("gopher://me:secret@p"), "HTTPS_PROXY"),
            (None, Some("http://"), "HTTPS_PROXY"),
        ] {
            let variables: Vec<_> = variable.iter().map(|value| ("HTTPS_PROXY", *value)).collect();
            let error = found(cluster, own, &variables).expect_err("no proxy").to_string();
            assert!(error.contains(&format!("`{name}` must ")) && !error.contains("secret"), "{error}");
        }
    }
}
