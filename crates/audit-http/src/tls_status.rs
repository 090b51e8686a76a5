//! What the metrics say about the TLS of the server, which the program writes.

use prometheus::{IntCounter, IntGauge, Registry};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

/// The state of the server's certificate, and its handshakes.
#[derive(Debug, Default)]
pub struct TlsStatus {
    not_after_seconds: AtomicI64,
    is_reload_failing: AtomicBool,
    handshakes_failed: AtomicU64,
}

impl TlsStatus {
    /// A certificate is in use that is valid until this time, in seconds since 1970.
    pub fn in_use(&self, not_after_seconds: i64) {
        self.not_after_seconds.store(not_after_seconds, Ordering::Relaxed);
    }

    /// Whether the files have a pair that cannot be used, so that the one before it is still in use.
    pub fn set_reload_failing(&self, is_failing: bool) {
        self.is_reload_failing.store(is_failing, Ordering::Relaxed);
    }

    /// A connection ended before its handshake was complete.
    pub fn handshake_failed(&self) {
        self.handshakes_failed.fetch_add(1, Ordering::Relaxed);
    }
}

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
        let status = &self.status;
        self.not_after
            .set(status.not_after_seconds.load(Ordering::Relaxed));
        let is_failing = status.is_reload_failing.load(Ordering::Relaxed);
        self.reload_failing.set(i64::from(is_failing));
        let failed = status.handshakes_failed.load(Ordering::Relaxed);
        self.handshakes_failed
            .inc_by(failed.saturating_sub(self.handshakes_failed.get()));
    }
}
