//! What every handler has at hand.

use crate::metrics::Metrics;
use audit_app::AuditLog;
use audit_domain::Entropy;
use std::sync::Arc;

/// What every handler has at hand.
pub struct HttpState {
    pub(crate) service: Arc<AuditLog>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) metrics: Metrics,
    pub(crate) cors_origins: CorsOrigins,
}

/// Which web pages may read events with a viewer token.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CorsOrigins {
    /// All: the token is the protection, and no cookie is ever involved.
    #[default]
    Any,
    /// Those of these origins (`https://app.example.com`).
    Only(Vec<String>),
}

impl HttpState {
    /// Composes the state.
    ///
    /// # Errors
    /// When a metric is declared twice, which no configuration can cause.
    pub fn new(
        service: Arc<AuditLog>,
        entropy: Arc<dyn Entropy>,
        cors_origins: CorsOrigins,
    ) -> Result<Self, prometheus::Error> {
        Ok(Self {
            service,
            entropy,
            metrics: Metrics::new()?,
            cors_origins,
        })
    }
}
