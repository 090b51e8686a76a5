//! The real clock and randomness, and opening the service with what the command line says.

use crate::arguments::{DatabaseOptions, ServiceOptions};
use anyhow::Context;
use audit_app::{AuditLog, HashKey, Settings};
use audit_domain::{Clock, DigestKey, Entropy, Timestamp};
use audit_store::{DatabaseUrl, QueueLimits, Store, StoreOptions};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// The operating system's clock.
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is where the clock is read")]
    fn now(&self) -> Timestamp {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_micros(i64::try_from(since_epoch.as_micros()).unwrap_or(i64::MAX))
    }
}

/// The operating system's random generator.
pub(crate) struct SystemEntropy;

impl Entropy for SystemEntropy {
    #[expect(clippy::disallowed_methods, reason = "this is where randomness comes from")]
    fn fill(&self, bytes: &mut [u8]) {
        // Keys and secrets must not be predictable: without randomness nothing may go on.
        getrandom::fill(bytes).unwrap_or_else(|error| {
            log::error!("the operating system gives no random bytes: {error}");
            std::process::abort()
        });
    }
}

impl ServiceOptions {
    fn settings(&self) -> Settings {
        let limit = |events: u64| Some(events).filter(|events| *events > 0);
        Settings {
            hash_key: self
                .hash_key
                .as_ref()
                .map(|key| HashKey::new(key.clone().into_bytes())),
            digest_key: self
                .hash_key
                .as_ref()
                .map(|key| DigestKey::new(key.clone().into_bytes())),
            daily_events_max_free: limit(self.daily_limit_free),
            daily_events_max_pro: limit(self.daily_limit_pro),
            daily_events_max_enterprise: limit(self.daily_limit_enterprise),
        }
    }

    fn store(&self) -> StoreOptions {
        StoreOptions {
            queue: QueueLimits {
                jobs_max: self.write_queue_jobs_max,
                bytes_max: self.write_queue_mib_max.saturating_mul(1024 * 1024),
            },
            readers_max: self.readers_max,
            postgres_writers: self.postgres_writers,
        }
    }
}

/// Opens the service.
pub(crate) fn open(
    database: &DatabaseOptions,
    options: Option<&ServiceOptions>,
) -> anyhow::Result<Arc<AuditLog>> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    // Commands of administration read and write a few rows.
    let (settings, store_options) = match options {
        Some(options) => (options.settings(), options.store()),
        None => (
            Settings::default(),
            StoreOptions {
                readers_max: 1,
                ..StoreOptions::default()
            },
        ),
    };
    let url: &DatabaseUrl = &database.database_url.parse().context("--database-url")?;
    let store = Store::open(url, store_options, &clock).with_context(|| format!("cannot open {url}"))?;
    let service = AuditLog::open(store, clock, Arc::new(SystemEntropy), settings);
    service.with_context(|| format!("cannot open {url}"))
}
