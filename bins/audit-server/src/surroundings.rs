//! The real clock and randomness, and opening the service with what the command line says.

use crate::arguments::{DatabaseOptions, ServiceOptions, WebhookOptions};
use anyhow::Context;
use audit_app::{
    AddressPolicy, AuditLog, EncryptionKey, HashKey, Sender, SenderOptions, Settings, StreamLimits,
};
use audit_domain::{Clock, DigestKey, Entropy, Timestamp};
use audit_store::{DatabaseUrl, QueueLimits, Store, StoreOptions};
use std::cell::Cell;
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

/// Random bytes that a thread asks for at once: each request needs some thirty, and asking costs more than the bytes.
const POOLED_BYTES: usize = 512;

thread_local! {
    /// Bytes that nobody has had yet, at the end of the array, and how many.
    static POOL: Cell<([u8; POOLED_BYTES], usize)> = const { Cell::new(([0; POOLED_BYTES], 0)) };
}

impl Entropy for SystemEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        if bytes.len() > POOLED_BYTES / 2 {
            return fill_from_system(bytes);
        }
        // Taken out, so that nobody is given the same bytes should this not come to its end.
        let (mut pooled, mut left) = POOL.replace(([0; POOLED_BYTES], 0));
        if left < bytes.len() {
            fill_from_system(&mut pooled);
            left = POOLED_BYTES;
        }
        let rest = left - bytes.len();
        bytes.copy_from_slice(&pooled[POOLED_BYTES - left..POOLED_BYTES - rest]);
        // What has been given is kept nowhere.
        pooled[..POOLED_BYTES - rest].fill(0);
        POOL.set((pooled, rest));
    }
}

#[expect(clippy::disallowed_methods, reason = "this is where randomness comes from")]
fn fill_from_system(bytes: &mut [u8]) {
    // Keys and secrets must not be predictable: without randomness nothing may go on.
    getrandom::fill(bytes).unwrap_or_else(|error| {
        log::error!("the operating system gives no random bytes: {error}");
        std::process::abort()
    });
}

impl ServiceOptions {
    pub(crate) fn settings(&self) -> Settings {
        let limit = |events: u64| Some(events).filter(|events| *events > 0);
        Settings {
            hash_key: self
                .hash_key
                .as_ref()
                .map(|key| HashKey::new(key.clone().into_bytes())),
            digest_key: self.hash_key.as_ref().map(DigestKey::new),
            daily_events_max_free: limit(self.daily_limit_free),
            daily_events_max_pro: limit(self.daily_limit_pro),
            daily_events_max_enterprise: limit(self.daily_limit_enterprise),
            stream_limits: StreamLimits {
                requests_per_minute: Some(self.stream_requests_per_minute as usize).filter(|max| *max > 0),
                new_per_day: limit(self.stream_new_per_day),
                events_per_day: limit(self.stream_events_per_day),
                events_total: limit(self.stream_events_total),
            },
            ..Settings::default()
        }
    }

    pub(crate) fn store(&self) -> StoreOptions {
        StoreOptions {
            queue: QueueLimits {
                jobs_max: self.write_queue_jobs_max,
                bytes_max: self.write_queue_mib_max.saturating_mul(1024 * 1024),
            },
            readers_max: self.readers_max,
            postgres_writers: self.postgres_writers,
            ..StoreOptions::default()
        }
    }
}

impl WebhookOptions {
    fn addresses(&self) -> AddressPolicy {
        match self.webhook_allow_private {
            true => AddressPolicy::AllowPrivate,
            false => AddressPolicy::Public,
        }
    }

    /// The settings, with what these options say.
    pub(crate) fn settings(&self, others: Settings) -> anyhow::Result<Settings> {
        let key = self.encryption_key.as_deref().map(str::parse::<EncryptionKey>);
        Ok(Settings {
            webhook_addresses: self.addresses(),
            encryption_key: key.transpose().context("--encryption-key")?,
            ..others
        })
    }

    /// What sends deliveries.
    pub(crate) fn sender(&self) -> anyhow::Result<Sender> {
        let mut options = SenderOptions::new(concat!("audit-server/", env!("CARGO_PKG_VERSION")));
        options.policy = self.addresses();
        if let Some(path) = &self.webhook_ca_file {
            let read = std::fs::read(path);
            options.extra_ca = Some(read.with_context(|| format!("cannot read {}", path.display()))?);
        }
        Sender::new(&options).context("--webhook-ca-file")
    }
}

/// Opens the service for commands of administration, which read and write a few rows.
pub(crate) fn open_to_administer(database: &DatabaseOptions) -> anyhow::Result<Arc<AuditLog>> {
    let store = StoreOptions {
        readers_max: 1,
        ..StoreOptions::default()
    };
    open(database, Settings::default(), store)
}

/// Opens the service.
pub(crate) fn open(
    database: &DatabaseOptions,
    settings: Settings,
    store: StoreOptions,
) -> anyhow::Result<Arc<AuditLog>> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let url: &DatabaseUrl = &database.database_url.parse().context("--database-url")?;
    let store = Store::open(url, store, &clock).with_context(|| format!("cannot open {url}"))?;
    let service = AuditLog::open(store, clock, Arc::new(SystemEntropy), settings);
    service.with_context(|| format!("cannot open {url}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_random_bytes_are_given_twice() {
        let given = || {
            let mut given = Vec::new();
            for length in [10, 20, 16, 256, 7, 300, 0, 255].repeat(20) {
                let mut bytes = vec![0; length];
                SystemEntropy.fill(&mut bytes);
                given.extend(bytes.as_chunks::<8>().0.iter().copied());
            }
            given
        };
        let threads = [(); 4].map(|()| std::thread::spawn(given));
        let given: Vec<[u8; 8]> = threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect();
        let different: HashSet<_> = given.iter().collect();
        assert!(given.len() > 4_000 && different.len() == given.len());
    }
}
