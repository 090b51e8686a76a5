//! The state that all handlers share.

use crate::body::{BODIES_BYTES_MAX, Inflaters, STREAM_BODIES_BYTES_MAX, inflaters};
use crate::compression::Compressors;
use crate::held::RESPONSES_BYTES_MAX;
use crate::metrics::{MetricTimes, Metrics};
use crate::owner::Shared;
use crate::public_url::PublicUrl;
use crate::rate_limit::{Buckets, RateLimit};
use audit_admission::TrustedProxies;
use audit_app::{AuditLog, Tracer};
use audit_domain::Entropy;
use audit_transport::TlsStatus;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How often a client without a credential may ask where to sign in. A whole company can have one address.
const SIGN_INS_PER_SECOND_MAX: u32 = 10;
const SIGN_INS_AT_ONCE_MAX: u32 = 100;

/// The state that all handlers share.
pub struct HttpState {
    /// For endpoints that take no credential. Handlers of the others reach the service through [`crate::caller`].
    pub(crate) service: Arc<AuditLog>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) metrics: Metrics,
    pub(crate) tracer: Option<Arc<Tracer>>,
    pub(crate) cors_origins: CorsOrigins,
    pub(crate) trusted_proxies: TrustedProxies,
    pub(crate) without_streams: bool,
    pub(crate) without_pages: bool,
    pub(crate) public_url: Option<PublicUrl>,
    /// Whether clients reach this process over TLS.
    pub(crate) has_tls: bool,
    pub(crate) buckets: Option<Buckets>,
    /// By address, for requests that ask where to sign in.
    pub(crate) sign_ins: Buckets,
    /// For the bodies of callers with a credential.
    pub(crate) bodies: Shared,
    /// For the bodies of streams.
    pub(crate) stream_bodies: Shared,
    pub(crate) inflaters: Inflaters,
    /// For responses that their clients have not taken yet.
    pub(crate) responses: Shared,
    pub(crate) compressors: Compressors,
    /// Whether the process is about to stop.
    is_draining: AtomicBool,
}

/// The operator's settings for requests.
#[derive(Clone, Default)]
pub struct HttpOptions {
    /// Which web pages may read events with a viewer token.
    pub cors_origins: CorsOrigins,
    /// The proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are trusted.
    pub trusted_proxies: TrustedProxies,
    /// The limit of requests by credential; `None` for no limit.
    pub rate_limit: Option<RateLimit>,
    /// Whether the routes of anonymous streams answer 404.
    pub without_streams: bool,
    /// Whether the server has no pages, so that there is no link to its portal.
    pub without_pages: bool,
    /// The URL of the server in links; `None` for the one that the client of a request has used.
    pub public_url: Option<PublicUrl>,
    /// What the metrics say about the TLS of the server; `None` without it.
    pub tls: Option<Arc<TlsStatus>>,
    /// Records the spans of requests; `None` to record none.
    pub tracer: Option<Arc<Tracer>>,
}

/// Which web pages may read events with a viewer token.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CorsOrigins {
    /// All: the token is the protection. The cookie of the console counts in requests of its own page only.
    #[default]
    Any,
    /// Those of these origins (`https://app.example.com`).
    Only(Vec<String>),
}

impl HttpState {
    /// The metrics as OTLP has them in JSON: the list `metrics` of a scope. Queries nothing.
    pub fn otlp_metrics(&self, times: MetricTimes) -> Vec<Value> {
        self.metrics.otlp(&self.service, times)
    }

    /// Composes the state.
    ///
    /// # Errors
    /// When a metric is declared twice, which no configuration can cause.
    pub fn new(
        service: Arc<AuditLog>,
        entropy: Arc<dyn Entropy>,
        options: HttpOptions,
    ) -> Result<Self, prometheus::Error> {
        Ok(Self {
            service,
            entropy,
            without_pages: options.without_pages,
            public_url: options.public_url,
            has_tls: options.tls.is_some(),
            metrics: Metrics::new(options.tls, options.tracer.clone())?,
            tracer: options.tracer,
            cors_origins: options.cors_origins,
            trusted_proxies: options.trusted_proxies,
            without_streams: options.without_streams,
            buckets: options.rate_limit.map(Buckets::new),
            sign_ins: Buckets::new(RateLimit {
                per_second: SIGN_INS_PER_SECOND_MAX,
                burst: SIGN_INS_AT_ONCE_MAX,
            }),
            bodies: Shared::new(BODIES_BYTES_MAX),
            stream_bodies: Shared::new(STREAM_BODIES_BYTES_MAX),
            inflaters: inflaters(),
            responses: Shared::new(RESPONSES_BYTES_MAX),
            compressors: Compressors::default(),
            is_draining: AtomicBool::new(false),
        })
    }

    /// Makes `/readyz` respond 503, and each response close its connection (RFC 9112, section 9.6), so that a balancer and clients go to
    /// another node before this one stops accepting connections.
    pub fn drain(&self) {
        self.is_draining.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::Relaxed)
    }
}
