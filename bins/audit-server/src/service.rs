//! Opens the service with the settings of the command line.

use crate::arguments::{DatabaseOptions, ServiceOptions, WebhookOptions};
use crate::system::{SystemClock, SystemEntropy};
use anyhow::Context;
use audit_app::{
    AddressPolicy, AuditLog, EncryptionKey, HashKey, Sender, SenderOptions, Settings, StreamLimits,
};
use audit_domain::{Clock, DigestKey, IdempotencyWindow};
use audit_store::{DatabaseUrl, QueueLimits, Store, StoreOptions};
use std::sync::Arc;
use std::time::Duration;

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
            write_timeout: Duration::from_secs(self.write_timeout_seconds),
            idempotency_window: IdempotencyWindow::of_months(self.idempotency_window_months),
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

    /// `others` with the settings of these options.
    pub(crate) fn settings(&self, others: Settings) -> anyhow::Result<Settings> {
        let key = self.encryption_key.as_deref().map(str::parse::<EncryptionKey>);
        Ok(Settings {
            webhook_addresses: self.addresses(),
            encryption_key: key.transpose().context("--encryption-key")?,
            ..others
        })
    }

    /// The sender of webhook deliveries.
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

/// Opens the service for an administration command, which reads and writes a few rows.
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
