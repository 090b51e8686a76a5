//! The options of a client.

use super::{Client, Shared};
use crate::ambient;
use crate::buffer::Buffer;
use crate::error::Error;
use crate::policy::RetryPolicy;
use crate::recorder::{Options, Overflow, Recorded, Recorder};
use crate::spool::{Spool, SpoolBuffer};
use crate::transport::Transport;
use audit_domain::{ClaimToken, Environment};
use std::sync::Arc;
use std::time::Duration;
use ureq::Agent;
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};

/// The options of a client. The defaults are those of the service's interface.
#[derive(Clone)]
#[must_use]
pub struct ClientBuilder {
    base_url: String,
    api_key: Option<String>,
    is_stream: bool,
    claim_token: Option<String>,
    project_id: Option<String>,
    environment: Option<Environment>,
    timeout: Duration,
    retry: RetryPolicy,
    recording: Options,
    queue_events_max: usize,
    spool: Option<Spool>,
    keep_unauthorized: Option<bool>,
    roots_pem: Option<Vec<u8>>,
}

impl ClientBuilder {
    pub(super) fn new(base_url: String) -> Self {
        Self {
            base_url,
            api_key: None,
            is_stream: false,
            claim_token: None,
            project_id: None,
            environment: None,
            timeout: Duration::from_secs(30),
            retry: RetryPolicy::default(),
            recording: Options {
                batch_events: 10,
                flush_interval: Duration::from_secs(5),
                overflow: Overflow::Block,
                block_max: Duration::from_secs(30),
                keeps_unauthorized: false,
                raises_invalid: false,
                on_result: None,
            },
            queue_events_max: 1000,
            spool: None,
            keep_unauthorized: None,
            roots_pem: None,
        }
    }

    /// The project key, or a master key.
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.api_key = Some(key.into());
        self
    }

    /// Sends to an anonymous stream, without a key. [`Client::claim_token`] is its token.
    pub fn stream(mut self) -> Self {
        self.is_stream = true;
        self
    }

    /// Sends to the anonymous stream with this token, a UUID of version 4.
    pub fn claim_token(mut self, token: impl Into<String>) -> Self {
        self.is_stream = true;
        self.claim_token = Some(token.into());
        self
    }

    /// The project that a master key acts on.
    pub fn project_id(mut self, id: impl Into<String>) -> Self {
        self.project_id = Some(id.into());
        self
    }

    /// The environment that a master key acts on.
    pub fn environment(mut self, environment: Environment) -> Self {
        self.environment = Some(environment);
        self
    }

    /// Of one attempt: connecting, sending and receiving. 30 s.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// The waits between attempts.
    pub fn retry(mut self, retry: RetryPolicy) -> Self {
        self.retry = retry;
        self
    }

    /// A batch of this size is sent without waiting: 1 to 100. 10.
    pub fn batch_events(mut self, events: usize) -> Self {
        self.recording.batch_events = events as u64;
        self
    }

    /// A smaller batch is sent this long after its first event. 5 s.
    pub fn flush_interval(mut self, interval: Duration) -> Self {
        self.recording.flush_interval = interval;
        self
    }

    /// Events that wait or are being sent. 1,000. Without meaning for a spool, which has [`Spool::bytes_max`].
    pub fn queue_events_max(mut self, events: usize) -> Self {
        self.queue_events_max = events;
        self
    }

    /// What `record` does when the queue is full. [`Overflow::Block`].
    pub fn overflow(mut self, overflow: Overflow) -> Self {
        self.recording.overflow = overflow;
        self
    }

    /// The longest that [`Overflow::Block`] waits; in an outage, since its beginning. 30 s.
    pub fn block_max(mut self, max: Duration) -> Self {
        self.recording.block_max = max;
        self
    }

    /// Keeps recorded events on the disk until the service has them.
    pub fn spool(mut self, spool: Spool) -> Self {
        self.spool = Some(spool);
        self
    }

    /// Whether events wait, as in an outage, while the key or the address is refused (401, 403, 404, 3xx, pages of a proxy). If not, each
    /// is reported at once. `true` with a spool.
    pub fn keep_unauthorized(mut self, keep: bool) -> Self {
        self.keep_unauthorized = Some(keep);
        self
    }

    /// Whether `record` returns an error for an event that the service would refuse: for development and tests. If not, it returns `false`,
    /// and the error is reported to [`Self::on_result`], or logged. `false`.
    pub fn raise_invalid(mut self, raise: bool) -> Self {
        self.recording.raises_invalid = raise;
        self
    }

    /// Called for each event with its id or its error, in the background thread, which it holds up, or in
    /// the thread that records an event that is not valid. It must not flush or close the client, nor own one: that client would never be dropped.
    pub fn on_result(mut self, on_result: impl Fn(&Recorded) + Send + Sync + 'static) -> Self {
        self.recording.on_result = Some(Arc::new(on_result));
        self
    }

    /// Certificates in PEM that are trusted in place of the public roots: for a service with a private authority.
    pub fn roots_pem(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.roots_pem = Some(pem.into());
        self
    }

    /// The client. It makes no request.
    ///
    /// # Errors
    /// [`Error::Argument`] for options that do not fit, [`Error::Spool`] if the spool cannot be opened.
    pub fn build(self) -> Result<Client, Error> {
        if self.is_stream == self.api_key.is_some() {
            let message = "pass either api_key, or stream to send to an anonymous stream";
            return Err(Error::argument("api_key", message));
        }
        if self.is_stream && self.spool.is_some() && self.claim_token.is_none() {
            // The events that one process leaves in the spool would go to the stream of the next one.
            let message = "a spool with stream needs a claim_token that stays the same";
            return Err(Error::argument("claim_token", message));
        }
        if !(1..=100).contains(&self.recording.batch_events) {
            return Err(Error::argument("batch_events", "must be 1 to 100"));
        }
        if (self.queue_events_max as u64) < self.recording.batch_events {
            return Err(Error::argument(
                "queue_events_max",
                "must be at least batch_events",
            ));
        }
        let claim_token = match (self.is_stream, self.claim_token) {
            (false, _) => None,
            (true, None) => Some(ambient::uuid4()),
            (true, Some(token)) => {
                let parsed = token.parse::<ClaimToken>();
                parsed.map_err(|error| Error::argument("claim_token", error))?;
                Some(token)
            }
        };
        let transport = Transport {
            agent: agent(self.roots_pem.as_deref())?,
            base_url: base_url(&self.base_url)?,
            headers: headers(self.api_key.as_deref(), self.project_id)?,
            timeout: self.timeout,
            retry: self.retry,
        };
        let ingest_path = match (&claim_token, self.environment) {
            (Some(token), _) => format!("/streams/{token}/events"),
            (None, None) => "/events".to_owned(),
            (None, Some(environment)) => format!("/events?environment={environment}"),
        };
        let mut recording = self.recording;
        recording.keeps_unauthorized = self.keep_unauthorized.unwrap_or(self.spool.is_some());
        let buffer = match self.spool {
            Some(spool) => Buffer::Spool(Box::new(SpoolBuffer::open(spool)?)),
            None => Buffer::memory(self.queue_events_max),
        };
        let recorder = Recorder::new(transport.clone(), ingest_path.clone(), recording, buffer);
        Ok(Client {
            shared: Arc::new(Shared {
                transport,
                recorder,
                ingest_path,
                claim_token,
                environment: self.environment,
            }),
        })
    }
}

fn agent(roots_pem: Option<&[u8]>) -> Result<Agent, Error> {
    // A redirect would send the key and the events to whatever address the response names.
    let mut config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .user_agent(concat!("audit-client-rust/", env!("CARGO_PKG_VERSION")));
    if let Some(pem) = roots_pem {
        let mut certificates = Vec::new();
        for item in parse_pem(pem) {
            match item.map_err(|error| Error::argument("roots_pem", error))? {
                PemItem::Certificate(certificate) => certificates.push(certificate),
                _ => return Err(Error::argument("roots_pem", "must have certificates only")),
            }
        }
        if certificates.is_empty() {
            return Err(Error::argument("roots_pem", "has no certificate"));
        }
        let roots = RootCerts::Specific(Arc::new(certificates));
        config = config.tls_config(TlsConfig::builder().root_certs(roots).build());
    }
    Ok(config.build().into())
}

/// Without `/api/v1` and slashes at its end, both of which users add or leave out.
fn base_url(text: &str) -> Result<String, Error> {
    let url = text.trim_end_matches('/');
    if !url.starts_with("http://") && !url.starts_with("https://") {
        return Err(Error::argument("base_url", "must begin with http:// or https://"));
    }
    Ok(url.strip_suffix("/api/v1").unwrap_or(url).to_owned())
}

fn headers(api_key: Option<&str>, project_id: Option<String>) -> Result<Vec<(&'static str, String)>, Error> {
    let mut headers = Vec::new();
    let is_visible = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
    if let Some(key) = api_key {
        if !is_visible(key) {
            let message = "has characters that no key has; was it copied with white space around it?";
            return Err(Error::argument("api_key", message));
        }
        headers.push(("authorization", format!("Bearer {key}")));
    }
    if let Some(id) = project_id {
        if !is_visible(&id) {
            return Err(Error::argument("project_id", "must be the id of a project"));
        }
        headers.push(("x-project-id", id));
    }
    Ok(headers)
}
