//! Destinations of a project: receivers, such as a SIEM or a bucket, to which its events are sent in the order of the log.
//!
//! Settings and credentials of a destination are one secret, sealed for its id and project, so whoever writes the database can neither
//! read nor redirect it where an encryption key is configured. Credentials are written and never read. Only a signing secret that
//! the service has made is shown, in the response to the request that made it.

mod access;
mod changes;
mod configuration;
mod filter;
mod preview;
mod progress;
mod replay;
mod sending;
mod set_aside;
pub(crate) mod worker;

pub use configuration::DestinationChange;
pub use filter::DestinationFilter;
pub use preview::DestinationPreview;
pub use progress::{DestinationError, DestinationProgress, DestinationState, ReplayProgress};
pub use replay::{ReplayCount, ReplayRange, ReplayRequest};
pub(crate) use sending::Sending;
pub use sending::{DestinationAttempt, DestinationVerdict};
pub use set_aside::{RESENT_MAX, ResendRequest, Resent, ResentEvent, SetAsideEvent, SetAsidePage};

use crate::error::{AppError, Result};
use crate::secrets;
use audit_destinations::{Config, DestinationId, Kind, OcsfClasses, OcsfOptions, RecordFormat};
use audit_domain::{Envelope, Environment, Fields, Name, Plan, ProjectId, StoredEvent, Timestamp};
use audit_secrets::{KeyRing, Zeroizing};
use audit_store::{DestinationRow, Reader, StoreError};
use audit_webhooks::WebhookSecret;
use serde_json::{Value, json};

/// The maximum number of destinations of a project, those of both environments together, without those of its tenants.
pub const DESTINATIONS_MAX: usize = 20;
/// The maximum number of destinations of a tenant.
pub const TENANT_DESTINATIONS_MAX: usize = 3;
/// The maximum number of destinations of all tenants of a project. Each reads the whole log.
pub const TENANTS_DESTINATIONS_MAX: usize = 100;

/// A destination of a project.
#[derive(Clone, Debug)]
pub struct Destination {
    /// Its id.
    pub id: DestinationId,
    /// The environment whose events it gets.
    pub environment: Environment,
    /// Its name.
    pub name: String,
    /// The kind of receiver.
    pub kind: Kind,
    /// The format of its records.
    pub format: RecordFormat,
    /// Whether records in another format have the original event as well.
    pub include_raw: bool,
    /// The classes of its records in OCSF, by action.
    pub ocsf_classes: OcsfClasses,
    /// The events that it gets.
    pub filter: DestinationFilter,
    /// The settings, which are not secret. An empty object if what is stored cannot be decrypted.
    pub settings: Value,
    /// The names of the credentials that are set.
    pub credentials: Vec<&'static str>,
    /// The host of the receiver. Empty if what is stored cannot be decrypted.
    pub host: String,
    /// Whether nothing is sent.
    pub paused: bool,
    /// When it was created.
    pub created_at: Timestamp,
    /// The tenant that has created it for its own events; `None` for the project.
    pub created_by_tenant: Option<String>,
    /// Whether credentials were replaced, and no delivery with the new ones has succeeded yet.
    pub has_previous_credentials: bool,
    /// The secret that signs requests; only if this call has made it.
    pub signing_secret: Option<WebhookSecret>,
}

/// A new destination. It has no `Debug`, which would show credentials.
#[derive(Clone)]
#[expect(missing_docs, reason = "as in Destination")]
pub struct NewDestination {
    /// By default that of the selection, or live.
    pub environment: Option<Environment>,
    pub name: Name,
    pub kind: Kind,
    pub format: RecordFormat,
    pub include_raw: bool,
    pub ocsf_classes: OcsfClasses,
    pub filter: DestinationFilter,
    pub settings: Value,
    /// Written, never read.
    pub credentials: Value,
    pub paused: bool,
}

/// A destination, and how far it is.
#[derive(Clone, Debug)]
pub struct DestinationReport {
    /// The destination.
    pub destination: Destination,
    /// How far it is.
    pub progress: DestinationProgress,
}

fn damaged() -> AppError {
    StoreError::Damaged { what: "destination" }.into()
}

impl Destination {
    pub(crate) fn open(row: &DestinationRow, keys: &KeyRing) -> Result<Self> {
        let config = open_config(&row.config, row, keys).inspect_err(|error| {
            // It can still be listed, paused, configured anew and deleted.
            log::error!("destination {} has no readable configuration: {error}", row.id);
        });
        let config = config.ok();
        Ok(Self {
            id: row.id.parse().map_err(|_| damaged())?,
            environment: row.environment.parse().map_err(|_| damaged())?,
            name: row.name.clone(),
            kind: row.kind.parse().map_err(|_| damaged())?,
            format: row.format.parse().map_err(|_| damaged())?,
            include_raw: row.include_raw,
            ocsf_classes: stored_classes(row)?,
            filter: DestinationFilter::of(row).map_err(|_| damaged())?,
            settings: config.as_ref().map_or_else(|| json!({}), Config::settings),
            credentials: config.as_ref().map_or_else(Vec::new, Config::credential_names),
            host: config.as_ref().map_or_else(String::new, Config::host),
            paused: row.paused,
            created_at: Timestamp::from_micros(row.created_at),
            created_by_tenant: row.created_by_tenant.clone(),
            has_previous_credentials: row.previous_config.is_some(),
            signing_secret: None,
        })
    }
}

fn stored_classes(row: &DestinationRow) -> Result<OcsfClasses> {
    let stored = serde_json::from_str(&row.ocsf_classes).map_err(|_| damaged())?;
    classes_of(stored).ok_or_else(damaged)
}

/// Reads what [`OcsfClasses::to_json`] wrote; `None` for another value.
pub(crate) fn classes_of(stored: Value) -> Option<OcsfClasses> {
    let read = Fields::read(json!({"ocsf_classes": stored}), |fields| {
        OcsfClasses::read(fields, "ocsf_classes")
    });
    read.ok()
}

/// How records in OCSF are written for the destination of a row.
pub(crate) fn ocsf_options(row: &DestinationRow) -> Result<OcsfOptions> {
    Ok(OcsfOptions {
        include_raw: row.include_raw,
        classes: stored_classes(row)?,
    })
}

/// Decrypts a configuration of a destination: the present or the previous one of its row. With that of a tenant, only public addresses
/// are reached.
pub(crate) fn open_config(stored: &[u8], row: &DestinationRow, keys: &KeyRing) -> Result<Config> {
    let place = secrets::of_destination(&row.id, &row.project_id);
    let text = Zeroizing::new(secrets::open_text(stored, keys, place)?);
    let config = Config::from_stored(&text).map_err(AppError::internal)?;
    Ok(match row.created_by_tenant {
        Some(_) => config.on_public_addresses(),
        None => config,
    })
}

/// When an event entered the log.
fn logged_at(event: &StoredEvent) -> Result<Timestamp> {
    let envelope = Envelope::read(&event.canonical);
    Ok(envelope.map_err(|_| damaged())?.logged_at)
}

/// Sending needs a paid plan; looking at destinations, pausing and deleting them does not.
pub(crate) fn require_paid_plan(reader: &mut Reader<'_>, project_id: ProjectId) -> Result<()> {
    match reader.plan_of(project_id)? {
        Plan::Free => Err(AppError::Forbidden("destinations need a paid plan".to_owned())),
        Plan::Pro | Plan::Enterprise => Ok(()),
    }
}
