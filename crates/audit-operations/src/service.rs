//! Opens the service with the settings of the command line.

use crate::clock_watch::WatchedClock;
use crate::head_keys::NodeKeys;
use crate::key_sources::{HashKeyOptions, hash_key};
use crate::options::{DatabaseOptions, ServiceOptions, WebhookOptions};
use anyhow::Context;
use audit_app::{
    AddressPolicy, AuditLog, DestinationSender, KeyRing, Sender, SenderOptions, Settings, SignerMemory,
    StreamLimits,
};
use audit_cli::SystemEntropy;
use audit_cli::small_file;
use audit_domain::{Clock, DigestKey, IdempotencyWindow};
use audit_store::{DatabaseUrl, QueueLimits, Store, StoreOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The state directory of a node whose database is on a server.
const STATE_DIRECTORY: &str = "audit-data";

impl DatabaseOptions {
    pub fn url(&self) -> anyhow::Result<DatabaseUrl> {
        self.database_url.parse().context("--database-url")
    }

    /// The encryption keys of this process.
    pub fn keys(&self) -> anyhow::Result<&KeyRing> {
        self.encryption.keys()
    }

    /// The keys of heads that this node has.
    pub(crate) fn head_keys(&self) -> anyhow::Result<NodeKeys> {
        Ok(NodeKeys {
            encryption: self.keys()?.clone(),
            is_file_given: self.head_key_file.is_some(),
            file: match &self.head_key_file {
                Some(file) => file.clone(),
                None => self.state_file(".head-key")?,
            },
        })
    }

    /// The file of what this node has signed.
    pub(crate) fn signer_file(&self) -> anyhow::Result<PathBuf> {
        self.state_file(".signed")
    }

    /// The file of the id in the names of this node's backups.
    pub(crate) fn backup_id_file(&self) -> anyhow::Result<PathBuf> {
        self.state_file(".backup-id")
    }

    fn state_file(&self, extension: &str) -> anyhow::Result<PathBuf> {
        let (folder, mut name) = match &self.url()? {
            DatabaseUrl::Sqlite(path) => (
                path.parent().map(Path::to_owned),
                path.file_name().unwrap_or_default().to_owned(),
            ),
            DatabaseUrl::Postgres(_) => (Some(PathBuf::from(STATE_DIRECTORY)), "audit".into()),
        };
        name.push(extension);
        let folder = self.state_directory.clone().or(folder).unwrap_or_default();
        Ok(folder.join(name))
    }

    /// What this node has signed, for a process that signs.
    pub fn signer(&self) -> anyhow::Result<Arc<SignerMemory>> {
        let signer = SignerMemory::open(&self.signer_file()?).context("--state-directory")?;
        Ok(Arc::new(signer))
    }
}

impl ServiceOptions {
    pub fn settings(&self, hash_keys: &HashKeyOptions) -> anyhow::Result<Settings> {
        let limit = |events: u64| Some(events).filter(|events| *events > 0);
        let keys = hash_keys.keys()?;
        Ok(Settings {
            hash_key: keys.current.as_ref().map(hash_key),
            hash_keys_previous: keys.previous,
            digest_key: keys.current.as_ref().map(|key| DigestKey::new(key.as_str())),
            daily_events_max_free: limit(self.daily_limit_free),
            daily_events_max_pro: limit(self.daily_limit_pro),
            daily_events_max_enterprise: limit(self.daily_limit_enterprise),
            stream_limits: StreamLimits {
                requests_per_minute: Some(self.stream_requests_per_minute as usize).filter(|max| *max > 0),
                new_per_day: limit(self.stream_new_per_day),
                events_per_day: limit(self.stream_events_per_day),
                events_total: limit(self.stream_events_total),
            },
            sender_addresses: self.sender_addresses,
            ..Settings::default()
        })
    }

    /// The read replica.
    pub fn replica(&self) -> anyhow::Result<Option<DatabaseUrl>> {
        let url = self.replica_url.as_deref().map(str::parse);
        url.transpose().context("--replica-url")
    }

    pub fn store(&self) -> StoreOptions {
        StoreOptions {
            queue: QueueLimits {
                jobs_max: self.write_queue_jobs_max,
                bytes_max: self.write_queue_mib_max.saturating_mul(1024 * 1024),
            },
            readers_max: self.readers_max,
            postgres_writers: self.postgres_writers,
            postgres_groups: self.postgres_groups,
            write_timeout: Duration::from_secs(self.write_timeout_seconds),
            idempotency_window: IdempotencyWindow::of_months(self.idempotency_window_months),
            ..StoreOptions::default()
        }
    }
}

impl WebhookOptions {
    pub fn addresses(&self) -> AddressPolicy {
        match self.webhook_allow_private {
            true => AddressPolicy::AllowPrivate,
            false => AddressPolicy::Public,
        }
    }

    /// `others` with the settings of these options.
    pub fn settings(&self, others: Settings) -> anyhow::Result<Settings> {
        let sender = DestinationSender::new(&self.sender_options()?).context("--webhook-ca-file")?;
        Ok(Settings {
            webhook_addresses: self.addresses(),
            destination_sender: Some(Arc::new(sender)),
            ..others
        })
    }

    /// The sender of webhook deliveries.
    pub fn sender(&self) -> anyhow::Result<Sender> {
        Sender::new(&self.sender_options()?).context("--webhook-ca-file")
    }

    fn sender_options(&self) -> anyhow::Result<SenderOptions> {
        let mut options = SenderOptions::new(concat!("audit-server/", env!("CARGO_PKG_VERSION")));
        options.policy = self.addresses();
        if let Some(path) = &self.webhook_ca_file {
            let read = small_file::read(path);
            options.extra_ca = Some(read.with_context(|| format!("cannot read {}", path.display()))?);
        }
        Ok(options)
    }
}

/// How long a command waits for a slow database. No request waits for a command, so it can wait longer than a server.
const COMMAND_PATIENCE: Duration = Duration::from_secs(60);

/// How a command opens the store: with so many sessions for queries, at most.
pub(crate) fn command_store(readers_max: u32) -> StoreOptions {
    StoreOptions {
        readers_max,
        session_wait: COMMAND_PATIENCE,
        write_timeout: COMMAND_PATIENCE,
        ..StoreOptions::default()
    }
}

/// Opens the service for an administration command, which reads and writes a few rows.
pub(crate) fn open_to_administer(database: &DatabaseOptions) -> anyhow::Result<Arc<AuditLog>> {
    open_to_administer_with(database, Settings::default())
}

/// [`open_to_administer`] with these settings.
pub(crate) fn open_to_administer_with(
    database: &DatabaseOptions,
    settings: Settings,
) -> anyhow::Result<Arc<AuditLog>> {
    open(database, settings, command_store(1), None)
}

/// Opens the service.
pub fn open(
    database: &DatabaseOptions,
    settings: Settings,
    store: StoreOptions,
    replica: Option<&DatabaseUrl>,
) -> anyhow::Result<Arc<AuditLog>> {
    let keys = database.keys()?.clone();
    open_with_keys(database, keys, settings, store, replica)
}

/// Opens the service with these encryption keys.
pub(crate) fn open_with_keys(
    database: &DatabaseOptions,
    encryption: KeyRing,
    settings: Settings,
    store: StoreOptions,
    replica: Option<&DatabaseUrl>,
) -> anyhow::Result<Arc<AuditLog>> {
    let clock: Arc<dyn Clock> = Arc::new(WatchedClock::default());
    let url = &database.url()?;
    let keys = database.head_keys()?;
    let settings = Settings {
        encryption,
        ..settings
    };
    let mut store = Store::open(url, store, &keys, &clock).with_context(|| format!("cannot open {url}"))?;
    if let Some(replica) = replica {
        store = store.with_replica(replica).context("--replica-url")?;
    }
    let service = AuditLog::open(store, clock, Arc::new(SystemEntropy), settings);
    service.with_context(|| format!("cannot open {url}"))
}
