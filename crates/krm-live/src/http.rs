//! HTTP requests to a cluster, with a time limit for the answers.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::time::Duration;

use anyhow::{Context, Error, Result, anyhow, bail};
use futures_util::{StreamExt, TryStreamExt, stream};
use http::header::{RETRY_AFTER, WARNING};
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use k8s_openapi::jiff::{Timestamp, fmt::rfc2822};
use krm_yaml::shown;
use kube::Client;
use kube::client::Body;
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout_at};

use crate::credential::Lasts;
use crate::kubeconfig::{Reached, without_users};

/// How often to try a request if the cluster is too busy to answer.
const TRIES: u32 = 5;

/// The longest answer that is read, in bytes. A cluster's longest answer is the description of its types, which takes some megabytes.
const LONGEST: usize = 64 << 20;
/// How many requests may wait for answers at the same time.
pub const IN_FLIGHT: usize = 8;

/// How long to wait before a request is sent again whose connection broke; each time twice as long.
const BROKEN: Duration = Duration::from_millis(200);

/// A connection.
pub struct Http {
    client: RefCell<Client>,
    /// How to get credentials again.
    renewal: Renewal,
    /// How often that was done.
    renewals: Cell<u32>,
    /// How long the credentials count.
    lasts: Cell<Lasts>,
    /// The name of the cluster in errors: its context and its address.
    name: String,
    /// How long an answer may take.
    pub timeout: Duration,
    warnings: RefCell<Warnings>,
}

/// Reads the kubeconfig again, and runs its command again.
pub type Renewal = Box<dyn Fn() -> Result<Reached>>;

/// What the server warned of.
#[derive(Default)]
struct Warnings {
    /// All texts, so that each is told once.
    seen: BTreeSet<String>,
    /// The texts that nobody has read.
    new: Vec<String>,
}

impl Http {
    /// A connection to a cluster.
    ///
    /// # Errors
    /// The configuration cannot be used.
    pub fn new(reached: Reached, timeout: Duration, renewal: Renewal) -> Result<Self> {
        let address = without_users(anyhow!("{}", reached.config.cluster_url));
        let of_context =
            reached.context.as_ref().map(|context| format!(" of the context \"{}\"", shown::name(context)));
        // Most clusters that cannot be reached through a proxy are not themselves the reason.
        let proxy = reached.config.proxy_url.as_ref().map(|proxy| without_users(anyhow!("{proxy}")));
        let proxy = proxy.map(|proxy| format!(" (through the proxy {proxy})")).unwrap_or_default();
        let name = format!("the cluster{} at {address}{proxy}", of_context.unwrap_or_default());
        let lasts = Cell::new(reached.lasts);
        let client = RefCell::new(client(reached, timeout)?);
        Ok(Self { client, renewal, renewals: Cell::new(0), lasts, name, timeout, warnings: RefCell::default() })
    }

    /// What the server has warned of since this was asked before. Such warnings are of deprecated versions, of Pod Security, and of admission
    /// policies.
    pub fn warnings(&self) -> Vec<String> {
        std::mem::take(&mut self.warnings.borrow_mut().new)
    }

    /// Sends a request and returns the answer, if it comes in time. As with kubectl, the request is sent again after the time that the cluster
    /// asks for if it is too busy, a read also if its connection breaks, and any with new credentials if the cluster does not accept those.
    /// Source: `WithRetry` of client-go/rest, and the authenticator of client-go/plugin/pkg/client/auth/exec.
    ///
    /// # Errors
    /// There is no answer, or a refusal. [`code`] gives the status of a refusal.
    pub async fn ask(&self, request: Request<Vec<u8>>) -> Result<String> {
        let deadline = Instant::now() + self.timeout;
        let is_in_time = |wait: Duration| Instant::now().checked_add(wait).is_some_and(|then| then < deadline);
        let mut tries = 0;
        let mut is_renewed = false;
        if matches!(self.lasts.get(), Lasts::Until(Some(end)) if end <= Timestamp::now()) {
            self.renew(self.renewals.get())?;
        }
        loop {
            let renewals = self.renewals.get();
            let answer = timeout_at(deadline, self.answer(request.clone())).await;
            let Ok(answer) = answer else {
                let late = format!("{} must answer within {} seconds (`--timeout`)", self.name, self.timeout.as_secs());
                return Err(Error::msg(Unanswered { text: late, is_broken: false }));
            };
            tries += 1;
            let mut refused = match answer {
                Ok(Ok(text)) => return Ok(text),
                Ok(Err(refused)) => refused,
                Err(e) => {
                    let pause = BROKEN * 2_u32.pow(tries - 1);
                    if tries == TRIES || request.method() != Method::GET || !is_broken(&e) || !is_in_time(pause) {
                        return Err(e);
                    }
                    sleep(pause).await;
                    continue;
                }
            };
            if refused.code == 401 && !is_renewed && self.renew(renewals)? {
                is_renewed = true;
                continue;
            }
            let Some(wait) = refused.wait else { return Err(refused.into()) };
            if tries == TRIES || !is_in_time(wait) {
                refused.tries = tries;
                return Err(refused.into());
            }
            sleep(wait).await;
        }
    }

    /// Gets the credentials again, unless another request did so since; whether they may be others now.
    fn renew(&self, before: u32) -> Result<bool> {
        if self.renewals.get() != before {
            return Ok(true);
        }
        if self.lasts.get() == Lasts::Always {
            return Ok(false);
        }
        let reached = (self.renewal)()?;
        self.lasts.set(reached.lasts);
        *self.client.borrow_mut() = client(reached, self.timeout)?;
        self.renewals.set(before + 1);
        Ok(true)
    }

    async fn answer(&self, request: Request<Vec<u8>>) -> Result<Result<String, Refused>> {
        let path = request.uri().path().to_owned();
        let client = self.client.borrow().clone();
        let answer = client.send(request.map(Body::from)).await.map_err(|e| told(e, &self.name))?;
        let (head, body) = answer.into_parts();
        for header in head.headers.get_all(WARNING) {
            let mut warnings = self.warnings.borrow_mut();
            for text in warnings_of(&String::from_utf8_lossy(header.as_bytes())) {
                if warnings.seen.insert(text.clone()) {
                    warnings.new.push(text);
                }
            }
        }
        let text = match Limited::new(body, LONGEST).collect().await {
            Ok(body) => body.to_bytes().to_vec(),
            Err(e) if e.is::<LengthLimitError>() => {
                bail!(
                    "{}: the answer to {} must not be longer than {} MiB",
                    self.name,
                    shown::name(&path),
                    LONGEST >> 20
                )
            }
            Err(e) => return Err(anyhow!(without_users(anyhow!(e))).context(broken(&self.name))),
        };
        if head.status.is_success() {
            return Ok(Ok(String::from_utf8(text).context("the answer of the cluster must be UTF-8")?));
        }
        let text = String::from_utf8_lossy(&text).into_owned();
        let status = serde_json::from_str::<Value>(&text).ok();
        let message = status.as_ref().and_then(|status| status["message"].as_str()).unwrap_or(text.trim());
        let wait = wait(head.status, &head.headers);
        let causes = status.iter().flat_map(|status| status["details"]["causes"].as_array()).flatten();
        let cause = |cause: &Value| {
            let text = |name: &str| cause[name].as_str().unwrap_or_default().to_owned();
            let all = || Cause { field: text("field"), reason: text("reason"), message: text("message") };
            cause["field"].is_string().then(all)
        };
        let causes = causes.filter_map(cause).collect();
        Ok(Err(Refused { causes, code: head.status.as_u16(), message: message.to_owned(), wait, tries: 1 }))
    }
}

/// Runs tasks and returns their results in order. At most [`IN_FLIGHT`] run at the same time.
///
/// # Errors
/// The error of the first task in this order that fails. The tasks after it are cancelled.
pub async fn all<T, E>(tasks: impl IntoIterator<Item = impl Future<Output = Result<T, E>>>) -> Result<Vec<T>, E> {
    stream::iter(tasks).buffered(IN_FLIGHT).try_collect().await
}

/// Runs tasks and returns the results of those that began, in order. At most [`IN_FLIGHT`] run at the same time. After one fails, no
/// further task begins, but the running ones end.
pub async fn all_that_begin<T, E>(
    tasks: impl IntoIterator<Item = impl Future<Output = Result<T, E>>>,
) -> Vec<Result<T, E>> {
    let has_failed = Cell::new(false);
    let guarded = tasks.into_iter().map(async |task| {
        if has_failed.get() {
            return None;
        }
        let result = task.await;
        has_failed.set(has_failed.get() || result.is_err());
        Some(result)
    });
    stream::iter(guarded).buffered(IN_FLIGHT).filter_map(std::future::ready).collect().await
}

/// How long to wait before the next try; `None` if there must be none. Source: client-go, which waits at 429, and at 5xx with a
/// `Retry-After`.
fn wait(status: StatusCode, headers: &HeaderMap) -> Option<Duration> {
    let is_busy = status == StatusCode::TOO_MANY_REQUESTS;
    if !is_busy && !status.is_server_error() {
        return None;
    }
    let Some(after) = headers.get(RETRY_AFTER).and_then(|after| after.to_str().ok()) else {
        return is_busy.then_some(Duration::from_secs(1));
    };
    let until = |date: &str| Some(rfc2822::parse(date).ok()?.timestamp().as_second() - Timestamp::now().as_second());
    let seconds = after.trim().parse().ok().or_else(|| u64::try_from(until(after)?.max(0)).ok());
    Some(Duration::from_secs(seconds.unwrap_or(1)))
}

/// The texts of the warnings in a header that are for people. Source: RFC 7234, section 5.5, and `ParseWarningHeader` of
/// k8s.io/apimachinery/pkg/util/net, which reads those with the code 299.
fn warnings_of(header: &str) -> Vec<String> {
    let (mut texts, mut rest) = (Vec::new(), header);
    while let Some((head, quoted)) = rest.split_once('"') {
        let (mut text, mut is_escaped, mut end) = (String::new(), false, quoted.len());
        for (at, c) in quoted.char_indices() {
            match c {
                '"' if !is_escaped => {
                    end = at + 1;
                    break;
                }
                '\\' if !is_escaped => is_escaped = true,
                c => {
                    text.push(c);
                    is_escaped = false;
                }
            }
        }
        // The date that may follow the text is in quotes, too, but has no code.
        if head.trim_start_matches([',', ' ']).starts_with("299 ") && !text.is_empty() {
            texts.push(shown::name(&text).into_owned());
        }
        rest = &quoted[end..];
    }
    texts
}

/// A refusal by the server, with its message.
#[derive(Debug)]
struct Refused {
    code: u16,
    message: String,
    causes: Vec<Cause>,
    /// How long the server wants the client to wait.
    wait: Option<Duration>,
    /// How often the request was sent.
    tries: u32,
}

/// A field that a refusal is about.
#[derive(Debug)]
pub struct Cause {
    /// The place of the field.
    pub field: String,
    /// The reason, in a word for programs. Source: `CauseType` of the API.
    reason: String,
    /// The reason, in words.
    pub message: String,
}

/// An error of a request that the cluster may have got, although no answer came.
#[derive(Debug)]
struct Unanswered {
    text: String,
    /// Whether the connection broke.
    is_broken: bool,
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn broken(name: &str) -> Unanswered {
    Unanswered { text: format!("{name} cannot be asked"), is_broken: true }
}

fn is_broken(error: &Error) -> bool {
    error.downcast_ref::<Unanswered>().is_some_and(|unanswered| unanswered.is_broken)
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hint = match self.code {
            401 => "not logged in to the cluster: ",
            403 => "not allowed in the cluster: ",
            _ => "the cluster answered: ",
        };
        write!(f, "{hint}{} {}", self.code, reason(&self.message))?;
        if self.code == 401 {
            f.write_str(". Check your credentials: `kubectl auth whoami`")?;
        }
        if let Some(wait) = self.wait {
            let times = if self.tries == 1 { "once".to_owned() } else { format!("{} times", self.tries) };
            write!(f, " (it was asked {times}, and asks to wait {} seconds before the next time)", wait.as_secs())?;
        }
        Ok(())
    }
}

impl StdError for Refused {}

/// The longest quoted part of a message that is shown whole, and the longest message, in characters.
const QUOTE: usize = 200;
const MESSAGE: usize = 4000;

/// The server's message on one line. The server repeats the request before it says what is wrong, so long quotes are shortened in the
/// middle.
fn reason(message: &str) -> String {
    let (mut out, mut quote, mut is_escaped) = (String::new(), None::<String>, false);
    for c in message.chars().map(|c| if c.is_ascii_whitespace() { ' ' } else { c }) {
        match (&mut quote, c) {
            (None, '"') => quote = Some(String::new()),
            (None, c) => out.push(c),
            (Some(text), '"') if !is_escaped => {
                out.push_str(&format!("\"{}\"", without_middle(text, QUOTE)));
                quote = None;
            }
            (Some(text), c) => text.push(c),
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    // A quote that does not end is not a quote.
    out.extend(quote.map(|text| format!("\"{text}")));
    without_middle(&out, MESSAGE)
}

fn without_middle(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let head: String = text.chars().take(most / 2).collect();
    let tail: String = text.chars().skip(count - most / 2).collect();
    format!("{head}…{tail}")
}

fn told(error: kube::Error, name: &str) -> Error {
    let was_sent = !never_sent(&error);
    let unanswered = Unanswered { is_broken: of_tls(&error).is_none(), ..broken(name) };
    let refuser = refuser(&error);
    let why = anyhow!("{refuser}{}", without_users(error.into()));
    if was_sent { why.context(unanswered) } else { why.context(unanswered.text) }
}

fn client(reached: Reached, timeout: Duration) -> Result<Client> {
    let mut config = reached.config;
    config.connect_timeout = Some(timeout);
    // This module retries itself, because it reports the retries.
    config.default_retry = false;
    Client::try_from(config).map_err(unusable).context("the kubeconfig")
}

/// Which end refused a connection, if it is one of TLS.
fn refuser(error: &kube::Error) -> &'static str {
    match of_tls(error) {
        Some(rustls::Error::InvalidCertificate(_)) => "the certificate of the cluster is not accepted here: ",
        Some(rustls::Error::AlertReceived(_)) => "the cluster refused the connection, or the certificate of the user: ",
        _ => "",
    }
}

/// The error for a configuration that the client does not take. Nothing was asked then, so a certificate in it is the user's.
fn unusable(error: kube::Error) -> Error {
    let refused = match of_tls(&error) {
        Some(rustls::Error::InvalidCertificate(_)) => {
            "the client certificate of the user must be one of X.509 version 3, which kubectl does not ask for: "
        }
        _ => "",
    };
    anyhow!("{refused}{}", without_users(error.into()))
}

/// The errors that led to an error, the error first. An error of I/O hides the one that it holds.
fn reasons(error: &kube::Error) -> impl Iterator<Item = &(dyn StdError + 'static)> {
    fn below<'e>(error: &&'e (dyn StdError + 'static)) -> Option<&'e (dyn StdError + 'static)> {
        let error: &'e (dyn StdError + 'static) = *error;
        match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(held) => Some(held),
            None => error.source(),
        }
    }
    std::iter::successors(Some(error as &(dyn StdError + 'static)), below)
}

fn of_tls(error: &kube::Error) -> Option<&rustls::Error> {
    reasons(error).find_map(|reason| reason.downcast_ref())
}

/// Whether there was no connection over which a request could be sent.
fn never_sent(error: &kube::Error) -> bool {
    use io::ErrorKind::{AddrNotAvailable, ConnectionRefused, HostUnreachable, NetworkUnreachable, NotConnected};
    reasons(error).any(|reason| {
        reason.downcast_ref::<io::Error>().is_some_and(|e| {
            matches!(
                e.kind(),
                AddrNotAvailable | ConnectionRefused | HostUnreachable | NetworkUnreachable | NotConnected
            )
        })
    })
}

/// Removes the server's message from a refusal if the message may repeat values of the request.
pub fn without_words(error: Error) -> Error {
    match error.downcast::<Refused>() {
        Ok(refused) if matches!(refused.code, 400 | 422 | 500) => {
            let fields: Vec<&str> = refused.causes.iter().map(|cause| &*cause.field).collect();
            let fields = if fields.is_empty() { String::new() } else { format!("{}: ", fields.join(", ")) };
            let message = format!("{fields}its message is not shown, because it may hold values of the Secret");
            Refused { message, ..refused }.into()
        }
        Ok(refused) => refused.into(),
        Err(error) => error,
    }
}

/// The status of a refusal.
pub fn code(error: &Error) -> Option<u16> {
    error.downcast_ref::<Refused>().map(|r| r.code)
}

/// The fields that a refusal is about, for this reason.
pub fn causes<'e>(error: &'e Error, reason: &str) -> Vec<&'e Cause> {
    let causes = error.downcast_ref::<Refused>().map(|refused| &refused.causes).into_iter().flatten();
    causes.filter(|cause| cause.reason == reason).collect()
}

/// Whether the cluster may have done what was asked, although the answer is an error: no answer came, or one of a server that could not
/// wait for its own storage.
pub fn may_be_done(error: &Error) -> bool {
    error.downcast_ref::<Unanswered>().is_some()
        || error.downcast_ref::<OtherAnswer>().is_some()
        || matches!(code(error), Some(500 | 502 | 504))
}

/// The error for an answer to a change that is not the object that was sent.
#[derive(Debug)]
pub struct OtherAnswer;

impl fmt::Display for OtherAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the cluster must answer with the object that was sent, but it answered with something else. Check the object")
    }
}

impl StdError for OtherAnswer {}

/// Turns a 404 into `None`.
///
/// # Errors
/// The error of any other refusal.
pub fn found<T>(answer: Result<T>) -> Result<Option<T>> {
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(e) if code(&e) == Some(404) => Ok(None),
        Err(e) => Err(e),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_tls_says_which_end_refused() {
        use rustls::{AlertDescription, CertificateError};
        let unknown = || rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer);
        // As the client has it: the error of a connection holds one of I/O, which holds that of TLS.
        let connecting =
            |error: rustls::Error| kube::Error::Service(Box::new(io::Error::other(io::Error::other(error))));
        for (error, want) in [
            (connecting(unknown()), "the certificate of the cluster is not accepted here: "),
            (
                connecting(rustls::Error::AlertReceived(AlertDescription::CertificateRequired)),
                "the cluster refused the connection, or",
            ),
            (kube::Error::Service(Box::new(io::Error::other("tcp connect error"))), ""),
        ] {
            assert_eq!(refuser(&error).is_empty(), want.is_empty());
            assert!(refuser(&error).starts_with(want), "{error:?}");
        }
        let told = unusable(connecting(unknown())).to_string();
        assert!(told.starts_with("the client certificate of the user") && told.contains("UnknownIssuer"), "{told}");
    }

    #[test]
    fn a_warning_is_a_text_with_the_code_299() {
        for (header, want) in [
            (r#"299 - "v1 X is deprecated""#, &["v1 X is deprecated"][..]),
            (r#"299 - "a \"b\" \\ c""#, &[r#"a "b" \ c"#]),
            (r#"299 - "one, two" "Wed, 21 Oct 2015 07:28:00 GMT", 299 agent "three""#, &["one, two", "three"]),
            (r#"199 - "other", 299 - "mine""#, &["mine"]),
            (r#"299 - "open"#, &["open"]),
            ("299 - none", &[]),
            ("", &[]),
        ] {
            assert_eq!(warnings_of(header), want, "{header}");
        }
    }

    #[test]
    fn the_reason_is_shown_whole_and_what_was_sent_is_not() {
        let sent = format!("{{\\\"spec\\\":{{\\\"a\\\":\\\"{}\\\"}}}}", "x".repeat(5000));
        let message = format!(
            "\"\" is invalid: patch: Invalid value: \"{sent}\": strict decoding error: unknown field \"spec.templat\""
        );
        let told = reason(&message);
        assert!(told.starts_with("\"\" is invalid: patch: Invalid value: \"{\\\"spec"), "{told}");
        assert!(
            told.ends_with("\": strict decoding error: unknown field \"spec.templat\"") && told.len() < 400,
            "{told}"
        );
        let many: Vec<String> =
            (0..20).map(|i| format!("spec.ports[{i}]: Required value: it must have a name")).collect();
        assert_eq!(reason(&many.join(",\n")), many.join(", "));
        let endless = format!("a \"{}", "y".repeat(9000));
        assert_eq!(reason(&endless).chars().count(), MESSAGE + 1);
    }
}
