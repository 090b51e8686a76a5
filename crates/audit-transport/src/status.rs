//! What is known of the TLS of a server.

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

    /// Until when the certificate in use is valid, in seconds since 1970.
    pub fn not_after_seconds(&self) -> i64 {
        self.not_after_seconds.load(Ordering::Relaxed)
    }

    /// Whether the files have a pair that cannot be used.
    pub fn is_reload_failing(&self) -> bool {
        self.is_reload_failing.load(Ordering::Relaxed)
    }

    /// Connections that ended before their handshake was complete.
    pub fn handshakes_failed(&self) -> u64 {
        self.handshakes_failed.load(Ordering::Relaxed)
    }
}
