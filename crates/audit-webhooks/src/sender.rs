//! The sender: makes one attempt.

use crate::resolver::{Lookup, TooManyLookups, VettingResolver, system_lookup};
use crate::{
    AddressPolicy, CertificatesError, FailureKind, Outcome, RetryAfter, SignatureHeaders, WebhookUrl, roots,
};
use std::io::{self, Read};
use std::sync::Arc;
use std::time::Duration;
use ureq::config::Config;
use ureq::http::{HeaderValue, Response, header};
use ureq::tls::TlsConfig;
use ureq::unversioned::transport::DefaultConnector;
use ureq::{Agent, Body, Error};

/// Most bytes read of a response body. The body is read and discarded so that the receiver's write does not fail.
pub const RESPONSE_BYTES_MAX: u64 = 20 * 1024;

/// Most bytes in a response's status line and headers.
const RESPONSE_HEAD_BYTES_MAX: usize = 16 * 1024;
/// Length of a connection's buffers in bytes. Longer than [`RESPONSE_HEAD_BYTES_MAX`], so that a head that is too long is
/// detected before the buffer is full.
const BUFFER_BYTES: usize = 2 * RESPONSE_HEAD_BYTES_MAX;

/// The configuration of a sender.
#[derive(Clone, Debug)]
pub struct SenderOptions {
    /// The addresses that may be reached.
    pub policy: AddressPolicy,
    /// Certificates in PEM that are trusted in addition to the public web's roots.
    pub extra_ca: Option<Vec<u8>>,
    /// The timeout of an attempt: resolving, connecting, sending and receiving.
    pub timeout: Duration,
    /// Value of the header `user-agent`, such as `audit-server/1.2.3`.
    pub user_agent: String,
}

impl SenderOptions {
    /// The default timeout in milliseconds.
    pub const TIMEOUT_MS: u64 = 15_000;

    /// Public addresses and roots only, with the default timeout.
    pub fn new(user_agent: impl Into<String>) -> Self {
        Self {
            policy: AddressPolicy::Public,
            extra_ca: None,
            timeout: Duration::from_millis(Self::TIMEOUT_MS),
            user_agent: user_agent.into(),
        }
    }
}

/// The options are not usable.
#[derive(Debug, thiserror::Error)]
pub enum SenderError {
    /// The extra certificates.
    #[error("cannot use the extra certificates")]
    Certificates(#[from] CertificatesError),
    /// The user agent.
    #[error("the user agent must have only visible ASCII characters and spaces")]
    UserAgent,
}

/// The request of one attempt.
#[derive(Clone, Copy, Debug)]
pub struct OutgoingRequest<'a> {
    /// The receiver.
    pub url: &'a WebhookUrl,
    /// The signature over `body`.
    pub signature: &'a SignatureHeaders,
    /// JSON, byte for byte as it was signed.
    pub body: &'a [u8],
}

/// Makes attempts. Its calls block. Clones share one configuration.
#[derive(Clone, Debug)]
pub struct Sender {
    agent: Agent,
    timeout: Duration,
}

impl Sender {
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
        let resolver = VettingResolver::new(options.policy, lookup);
        Ok(Self {
            agent: guarded_agent(options, resolver, true)?,
            timeout: options.timeout,
        })
    }

    /// Makes one attempt: a `POST` over a new connection. Returns within [`SenderOptions::timeout`].
    ///
    /// [`RetryAfter`] is relative to the return, so compare it with the time read after it.
    ///
    /// # Errors
    /// [`TooManyLookups`]: no attempt was made, for a reason unrelated to this receiver.
    pub fn send(&self, request: &OutgoingRequest<'_>) -> Result<Outcome, TooManyLookups> {
        let mut builder = self
            .agent
            .post(request.url.uri().clone())
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::CONNECTION, "close");
        for (name, value) in request.signature.pairs() {
            builder = builder.header(name, value);
        }
        match builder.send(request.body) {
            Ok(response) => Ok(answered(response)),
            Err(Error::Other(cause)) if cause.is::<TooManyLookups>() => Err(TooManyLookups),
            Err(error) => Ok(Outcome::Failed(FailureKind::of(&error))),
        }
    }

    /// The timeout of an attempt.
    pub const fn timeout(&self) -> Duration {
        self.timeout
    }
}

/// An HTTP client for other requests to addresses that users configure: the address policy of `resolver`, and the roots, the
/// timeout and the user agent of `options`. It follows no redirect, uses no proxy and reuses no connection, and a status is no
/// error. Without `https_only` it also sends to `http` URLs.
///
/// # Errors
/// [`SenderError`] if the options are not usable.
pub fn guarded_agent(
    options: &SenderOptions,
    resolver: VettingResolver,
    https_only: bool,
) -> Result<Agent, SenderError> {
    let config = configuration(options, https_only)?;
    Ok(Agent::with_parts(config, DefaultConnector::default(), resolver))
}

fn configuration(options: &SenderOptions, https_only: bool) -> Result<Config, SenderError> {
    let is_header_value =
        HeaderValue::from_str(&options.user_agent).is_ok_and(|value| value.to_str().is_ok());
    if !is_header_value || options.user_agent.is_empty() {
        return Err(SenderError::UserAgent);
    }
    let tls = TlsConfig::builder()
        .root_certs(roots::trusted(options.extra_ca.as_deref())?)
        // Explicit, because other code may have set another default provider for the process.
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build();
    Ok(Agent::config_builder()
        .tls_config(tls)
        .https_only(https_only)
        // By default the client uses a proxy from the environment. A proxy would resolve names itself, and the policy could
        // not be enforced.
        .proxy(None)
        // A redirect counts as a response: its target was not checked when the webhook was written.
        .max_redirects(0)
        .http_status_as_error(false)
        .timeout_global(Some(options.timeout))
        // No connection is reused, so that every attempt resolves and checks the addresses.
        .max_idle_connections(0)
        .max_idle_connections_per_host(0)
        .max_response_header_size(RESPONSE_HEAD_BYTES_MAX)
        .input_buffer_size(BUFFER_BYTES)
        .output_buffer_size(BUFFER_BYTES)
        .user_agent(&options.user_agent)
        .build())
}

fn answered(response: Response<Body>) -> Outcome {
    let status = response.status().as_u16();
    let retry_after = response
        .headers()
        .get(header::RETRY_AFTER)
        .and_then(|value| value.to_str().ok())
        .and_then(RetryAfter::parse);
    let mut body = response.into_body().into_reader().take(RESPONSE_BYTES_MAX);
    if let Err(error) = io::copy(&mut body, &mut io::sink()) {
        // The status decides. An incomplete or endless body is no reason to send again.
        log::debug!("the body of a webhook's response was not read to its end: {error}");
    }
    Outcome::Answered { status, retry_after }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_agent_must_be_a_header_value() {
        for user_agent in ["", "audit\r\nx: y", "audit\u{7f}", "ümlaut"] {
            let made = Sender::new(&SenderOptions::new(user_agent));
            assert!(matches!(made, Err(SenderError::UserAgent)), "{user_agent:?}");
        }
        assert!(Sender::new(&SenderOptions::new("audit-server/1.2.3 (test)")).is_ok());
    }

    #[test]
    fn unusable_certificates_are_reported() {
        let options = SenderOptions {
            extra_ca: Some(b"not PEM".to_vec()),
            ..SenderOptions::new("audit-server/1.2.3")
        };
        let error = Sender::new(&options).map(|_| ()).unwrap_err();
        assert_eq!(error.to_string(), "cannot use the extra certificates");
        let source = std::error::Error::source(&error).unwrap();
        assert_eq!(source.to_string(), "there is no certificate in the PEM");
    }

    #[test]
    fn the_client_cannot_bypass_the_checks() {
        let config = configuration(&SenderOptions::new("audit-server/1.2.3"), true).unwrap();
        assert!(config.proxy().is_none());
        assert!(config.https_only());
        assert_eq!(config.max_redirects(), 0);
        assert_eq!(config.max_idle_connections(), 0);
        assert_eq!(config.timeouts().global, Some(Duration::from_secs(15)));
    }
}
