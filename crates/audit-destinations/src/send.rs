//! Sends batches: one attempt for each call, under the address policy of webhooks.

pub(crate) mod datadog;
mod https;
mod otlp;
mod s3;
mod splunk;
mod syslog;
mod text;
mod verdict;

use crate::config::{Secret, Target};
use crate::{Config, Encoded};
use audit_domain::Timestamp;
use audit_webhooks::{
    AddressPolicy, FailureKind, Lookup, RESPONSE_BYTES_MAX, RetryAfter, SenderError, SenderOptions,
    TooManyLookups, VettingResolver, guarded_agent, root_store, system_lookup,
};
use rustls::RootCertStore;
use std::io::Read;
use std::sync::Arc;
use std::time::Duration;
use ureq::http::{Response, Uri, header};
use ureq::{Agent, Body, Error};

/// What identifies a batch: the same for each attempt to send it, and never that of another batch. Names of objects and
/// `webhook-id` are made from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchId {
    /// The id of the destination.
    pub destination: String,
    /// The number of the run: 0 is the main one.
    pub run: u64,
    /// The position of the first record.
    pub first_position: u64,
    /// The number of records.
    pub records: u64,
    /// The first number of the log that the batch has read, and the one after the last.
    pub first_seq: u64,
    /// See `first_seq`.
    pub end_seq: u64,
    /// When the batch was planned.
    pub at: Timestamp,
}

/// Records in the order of their positions.
#[derive(Clone, Debug)]
pub struct Batch {
    /// What identifies it.
    pub id: BatchId,
    /// The records; the first has the position `id.first_position`.
    pub records: Vec<Encoded>,
}

impl Batch {
    /// The records with their positions.
    fn positioned(&self) -> impl Iterator<Item = (u64, &Encoded)> {
        (self.id.first_position..).zip(&self.records)
    }
}

/// What an attempt means for the batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The receiver has all records.
    Delivered,
    /// The same batch is to be sent again, after the time that the receiver names or by the schedule.
    Retry {
        /// The header `Retry-After`.
        after: Option<RetryAfter>,
    },
    /// The receiver refuses the credentials.
    Credentials,
    /// The receiver refuses the batch because of its records or its size.
    Refused,
}

/// An attempt, as it is shown to the operator. It has no secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// What it means for the batch.
    pub verdict: Verdict,
    /// The HTTP status, if there was a response.
    pub status: Option<u16>,
    /// What was sent: method, origin, number of records and bytes. The path is left out, because receivers put tokens into it.
    pub request: String,
    /// The first 500 bytes of the response, control characters escaped, or why there is none.
    pub response: String,
}

/// A request over HTTP.
struct Message {
    method: Method,
    uri: Uri,
    headers: Vec<(String, Secret)>,
    body: Vec<u8>,
}

#[derive(Clone, Copy)]
enum Method {
    Post,
    Put,
}

impl Message {
    fn post(uri: &Uri, body: Vec<u8>) -> Self {
        Self {
            method: Method::Post,
            uri: uri.clone(),
            headers: vec![("content-type".into(), Secret::new("application/json".into()))],
            body,
        }
    }

    fn with_header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), Secret::new(value.into())));
        self
    }
}

/// Sends batches to destinations. Its calls block. It follows no redirect, uses no proxy and reuses no connection.
#[derive(Clone, Debug)]
pub struct DestinationSender {
    /// Under the policy of the service.
    reach: Reach,
    /// For configurations that reach public addresses alone. Its lookups of names are limited separately.
    public_reach: Reach,
    roots: Arc<RootCertStore>,
    timeout: Duration,
}

/// What connects under an address policy.
#[derive(Clone, Debug)]
struct Reach {
    agent: Agent,
    /// Also sends to `http` URLs: only where private addresses are allowed.
    plain_agent: Option<Agent>,
    resolver: VettingResolver,
}

impl Reach {
    fn new(options: &SenderOptions, policy: AddressPolicy, lookup: Arc<Lookup>) -> Result<Self, SenderError> {
        let resolver = VettingResolver::new(policy, lookup);
        let plain_agent = match policy {
            AddressPolicy::Public => None,
            AddressPolicy::AllowPrivate => Some(guarded_agent(options, resolver.clone(), false)?),
        };
        Ok(Self {
            agent: guarded_agent(options, resolver.clone(), true)?,
            plain_agent,
            resolver,
        })
    }
}

impl DestinationSender {
    /// A sender that resolves names through the operating system.
    ///
    /// # Errors
    /// [`SenderError`] if the options are not usable.
    pub fn new(options: &SenderOptions) -> Result<Self, SenderError> {
        Self::with_lookup(options, Arc::new(system_lookup))
    }

    /// A sender that resolves names with `lookup`. The policy applies to its results.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_lookup(options: &SenderOptions, lookup: Arc<Lookup>) -> Result<Self, SenderError> {
        Ok(Self {
            reach: Reach::new(options, options.policy, Arc::clone(&lookup))?,
            public_reach: Reach::new(options, AddressPolicy::Public, lookup)?,
            roots: Arc::new(root_store(options.extra_ca.as_deref())?),
            timeout: options.timeout,
        })
    }

    /// Makes one attempt to send `batch` at `now`. Returns within [`SenderOptions::timeout`].
    ///
    /// [`RetryAfter`] is relative to the return.
    ///
    /// # Errors
    /// [`TooManyLookups`]: no attempt was made, for a reason unrelated to this receiver.
    pub fn send(&self, config: &Config, batch: &Batch, now: Timestamp) -> Result<Attempt, TooManyLookups> {
        let reach = match config.is_public {
            true => &self.public_reach,
            false => &self.reach,
        };
        let message = match &config.target {
            Target::Https(target) => https::message(target, batch, now),
            Target::S3(target) => s3::message(target, batch, now),
            Target::SplunkHec(target) => splunk::message(target, batch),
            Target::Datadog(target) => datadog::message(target, batch, now),
            Target::Otlp(target) => otlp::message(target, batch, now),
            Target::Syslog(target) => return syslog::send(self, &reach.resolver, target, batch),
        };
        let request = described(&message, batch.records.len());
        match reach.exchange(&message) {
            Ok(response) => Ok(answered(config, request, response)),
            Err(Error::Other(cause)) if cause.is::<TooManyLookups>() => Err(TooManyLookups),
            Err(error) => Ok(failed(request, &error)),
        }
    }
}

impl Reach {
    fn exchange(&self, message: &Message) -> Result<Response<Body>, Error> {
        let agent = match message.uri.scheme_str() {
            Some("http") => self.plain_agent.as_ref().unwrap_or(&self.agent),
            _ => &self.agent,
        };
        let mut request = match message.method {
            Method::Post => agent.post(message.uri.clone()),
            Method::Put => agent.put(message.uri.clone()),
        };
        request = request.header(header::CONNECTION, "close");
        for (name, value) in &message.headers {
            request = request.header(name.as_str(), value.as_str());
        }
        request.send(&message.body[..])
    }
}

fn answered(config: &Config, request: String, response: Response<Body>) -> Attempt {
    let status = response.status().as_u16();
    let retry_after = response.headers().get(header::RETRY_AFTER);
    let retry_after = retry_after
        .and_then(|value| value.to_str().ok())
        .and_then(RetryAfter::parse);
    let mut body = Vec::new();
    let mut reader = response.into_body().into_reader().take(RESPONSE_BYTES_MAX);
    if let Err(error) = reader.read_to_end(&mut body) {
        // The status decides. An incomplete body is no reason to send again.
        log::debug!("the body of a destination's response was not read to its end: {error}");
    }
    let body = String::from_utf8_lossy(&body);
    Attempt {
        verdict: verdict::of_response(config.kind(), status, &body, retry_after),
        status: Some(status),
        request,
        response: text::shown(&config.without_secrets(&body)),
    }
}

/// An attempt without a response: it is made again.
fn failed(request: String, error: &Error) -> Attempt {
    Attempt {
        verdict: Verdict::Retry { after: None },
        status: None,
        request,
        response: failure(error),
    }
}

/// Why there is no response. Of TLS also what is wrong, because the operator's certificates may be the reason.
fn failure(error: &Error) -> String {
    let kind = match error {
        // An `http` URL that was written under another policy.
        Error::RequireHttpsOnly(_) => FailureKind::AddressNotAllowed,
        error => FailureKind::of(error),
    };
    match tls_error(error) {
        Some(cause) => format!("{kind}: {}", text::shown(&cause.to_string())),
        None => kind.to_string(),
    }
}

/// The error of TLS within an error of the client or of a stream.
fn tls_error(error: &Error) -> Option<&rustls::Error> {
    match error {
        Error::Rustls(error) => Some(error),
        Error::Io(error) => error.get_ref()?.downcast_ref(),
        _ => None,
    }
}

fn described(message: &Message, records: usize) -> String {
    let method = match message.method {
        Method::Post => "POST",
        Method::Put => "PUT",
    };
    let scheme = message.uri.scheme_str().unwrap_or_default();
    let authority = message.uri.authority().map_or("", |authority| authority.as_str());
    text::request(
        method,
        &format!("{scheme}://{authority}/…"),
        records,
        message.body.len(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kind, Severity};
    use serde_json::json;

    /// A full batch of the records that grow most, and the most that its receiver takes.
    fn full(kind: Kind) -> (Config, Batch, usize) {
        let long = |chars| "x".repeat(chars);
        let url = "https://siem.example/bucket";
        let (settings, credentials, receiver_bytes_max) = match kind {
            Kind::Https => {
                let secret = audit_webhooks::WebhookSecret::from_bytes([7; 32]).to_text();
                (json!({"url": url}), json!({"signing_secret": secret}), 1_000_000)
            }
            Kind::S3 => (
                json!({"url": url, "region": "r", "compress": false}),
                json!({"access_key": "a", "secret_key": "b"}),
                5_000_000_000,
            ),
            Kind::SplunkHec => {
                let name = long(80);
                let settings = json!({"url": url, "index": name, "source": name, "sourcetype": name});
                (settings, json!({"token": "t"}), 1_000_000)
            }
            Kind::Datadog => {
                let settings = json!({"url": url, "service": long(200), "tags": long(400)});
                (settings, json!({"api_key": "k"}), 5_000_000)
            }
            Kind::Otlp => (json!({"url": url}), json!({}), 4 * 1_024 * 1_024),
            Kind::Syslog => (json!({"host": "siem.example"}), json!({}), 1_300_000),
        };
        let config = Config::parse(kind, &settings, &credentials, AddressPolicy::Public);
        let limits = kind.limits();
        let record = Encoded {
            text: "\"".repeat(limits.bytes_max / limits.records_max),
            time: Timestamp::from_micros(Timestamp::MAX.as_micros() - 1),
            id: format!("dst_{}-{}-{}", long(26), u64::MAX, u64::MAX),
            severity: Severity::Informational,
        };
        let batch = Batch {
            id: BatchId {
                destination: format!("dst_{}", long(26)),
                run: 1_000,
                first_position: 1_000_000_000_000,
                records: limits.records_max as u64,
                first_seq: 0,
                end_seq: 0,
                at: record.time,
            },
            records: vec![record; limits.records_max],
        };
        (config.unwrap(), batch, receiver_bytes_max)
    }

    #[test]
    fn a_full_batch_is_never_too_large_for_its_receiver() {
        for kind in Kind::ALL {
            let (config, batch, receiver_bytes_max) = full(*kind);
            let now = batch.id.at;
            let bytes = match &config.target {
                Target::Https(target) => https::message(target, &batch, now).body.len(),
                Target::S3(target) => s3::message(target, &batch, now).body.len(),
                Target::SplunkHec(target) => splunk::message(target, &batch).body.len(),
                Target::Datadog(target) => datadog::message(target, &batch, now).body.len(),
                Target::Otlp(target) => otlp::message(target, &batch, now).body.len(),
                Target::Syslog(target) => syslog::payload(target, &batch).len(),
            };
            assert!(bytes <= receiver_bytes_max, "{kind}: {bytes} bytes");
        }
    }
}
