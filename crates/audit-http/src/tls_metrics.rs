//! What the metrics say about the TLS of the server.

use audit_transport::TlsStatus;
use prometheus::{IntCounter, IntGauge, Registry};
use std::sync::Arc;

/// The metrics of a [`TlsStatus`].
pub(crate) struct TlsMetrics {
    status: Arc<TlsStatus>,
    not_after: IntGauge,
    reload_failing: IntGauge,
    handshakes_failed: IntCounter,
}

impl TlsMetrics {
    pub(crate) fn register(status: Arc<TlsStatus>, registry: &Registry) -> prometheus::Result<Self> {
        let metrics = Self {
            status,
            not_after: IntGauge::new(
                "audit_tls_certificate_not_after_seconds",
                "Until when the certificate in use is valid, in seconds since 1970.",
            )?,
            reload_failing: IntGauge::new(
                "audit_tls_reload_failing",
                "1 while the files of certificate and key cannot be used, and the pair before them is.",
            )?,
            handshakes_failed: IntCounter::new(
                "audit_tls_handshake_failures_total",
                "Connections that ended before their handshake was complete.",
            )?,
        };
        registry.register(Box::new(metrics.not_after.clone()))?;
        registry.register(Box::new(metrics.reload_failing.clone()))?;
        registry.register(Box::new(metrics.handshakes_failed.clone()))?;
        Ok(metrics)
    }

    pub(crate) fn read(&self) {
        self.not_after.set(self.status.not_after_seconds());
        self.reload_failing
            .set(i64::from(self.status.is_reload_failing()));
        let failed = self.status.handshakes_failed();
        self.handshakes_failed
            .inc_by(failed.saturating_sub(self.handshakes_failed.get()));
    }
}
