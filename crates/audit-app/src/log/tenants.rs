//! The logs of tenants: how a viewer verifies that it reads every event of its tenant, and learns nothing of other tenants.
//!
//! The map of a log is brought up to date when a proof needs it, and by [`AuditLog::update_tenant_maps`] where many events wait.
//! It is computed from the texts of events, and the records of removed ones, that lead to a signed checkpoint, and signed only then. What is stored of it is verified
//! against its root, and the root has a code with the key of the heads: rows that someone else wrote are discarded.

mod batch;
pub(crate) mod behind;
pub(crate) mod completeness;
mod growth;
pub(crate) mod listed;
mod notes;
pub(super) mod progress;
mod proofs;

use super::head_of;
use crate::authentication::Presented;
use crate::error::{AppError, Result};
use crate::reading::ReadAccess;
use crate::secrets::ServiceSecret;
use crate::service::{AuditLog, Scope, Selection};
use audit_auth::{KeyHolder, Principal, Readers};
use audit_domain::{OrganizationId, Timestamp, ViewerRoute, ViewerTier, Violations};
use audit_ledger::{AnchoredMap, Checkpoint, Origin, TenantMapHead, TenantMapKey, TlogProof, TreeHead};
use audit_secrets::{KeyRing, OpenError};
use audit_store::{Deployment, LedgerId, LoggedEvent, StoreError, TenantMapState};
use completeness::TenantCompleteness;
use growth::{ANCHOR_STEPS_MAX, Grower};
use notes::NOTE_SECONDS;
use std::fmt;

/// The secret that blinds the maps.
const SECRET: ServiceSecret = ServiceSecret::TenantMaps;
/// How often a map is read again while other processes change it.
const ATTEMPTS_MAX: u32 = 10;

/// The map of a log, for an auditor.
#[derive(Clone, Debug)]
pub struct AuditedTenantMap {
    /// The number of events of the log that it is computed from.
    pub size: u64,
    /// Its key.
    pub key: TenantMapKey,
    /// The signed note.
    pub note: String,
}

/// The stored parts of a map do not lead to its root.
#[derive(Debug, thiserror::Error)]
#[error("the stored map of tenants is not the one that the service wrote: {0}")]
struct ForgedMap(String);

/// The log whose map is used.
#[derive(Clone, Debug)]
struct MappedLog {
    ledger_id: LedgerId,
    /// Project and environment.
    name: String,
    origin: Origin,
    key: TenantMapKey,
    /// Whose log it is, where a request asks for it.
    organization_id: Option<OrganizationId>,
}

/// A map that has all events of a checkpoint.
struct CurrentMap<'a> {
    log: &'a MappedLog,
    state: TenantMapState,
}

/// Why a map cannot be used.
enum MapFailure {
    App(AppError),
    /// A stored part is not the one that the service wrote, or was changed between two reads.
    Forged(String),
    /// The map has more events than the checkpoint, at this size.
    Ahead(u64),
}

impl From<AppError> for MapFailure {
    fn from(error: AppError) -> Self {
        Self::App(error)
    }
}

impl From<StoreError> for MapFailure {
    fn from(error: StoreError) -> Self {
        Self::App(error.into())
    }
}

impl MapFailure {
    fn forged(what: impl ToString) -> Self {
        Self::Forged(what.to_string())
    }
}

impl Presented<Readers> {
    /// How many events a tenant has, the root of the tree over them, and which of them were removed. Covers everything that was
    /// acknowledged before the call. A viewer token proves its own tenant; a key names one.
    ///
    /// # Errors
    /// [`AppError::Forbidden`] when the tier hides events; [`AppError::LogInconsistent`] when the log contradicts its checkpoint;
    /// [`AppError::TooManyRemoved`] when removals have left too many holes.
    pub fn tenant_proof(
        &self,
        selection: Selection,
        tenant_id: Option<String>,
    ) -> Result<TenantCompleteness> {
        self.in_its_cell(selection.project_id, |presented| {
            presented.tenant_proof_here(selection, tenant_id.clone())
        })
    }

    fn tenant_proof_here(
        &self,
        selection: Selection,
        tenant_id: Option<String>,
    ) -> Result<TenantCompleteness> {
        let service = &self.service;
        let now = service.clock.now();
        let access = service
            .store
            .read(|reader| self.read_access(reader, selection, Some(ViewerRoute::Proofs)))?;
        let tenant_id = match viewed_tenant(&access)? {
            Some(own) => own,
            None => tenant_id.ok_or_else(|| Violations::one("tenant_id", "Required"))?,
        };
        let ledger_id = access.scope.ledger_id;
        let size = service.store.read(|reader| reader.ledger_size(ledger_id))?;
        let log = service.mapped_log(&access.scope)?;
        service.with_tenant_map(&log, size, Grower::Request, |map| {
            let removed_before = service.known_removed_before(&access.scope);
            service.prove_tenant(map, &tenant_id, now, removed_before.map(|before| before.time))
        })
    }
}

impl AuditLog {
    /// The map of a log, with what an auditor needs to compute it from the events.
    ///
    /// # Errors
    /// As [`Presented::tenant_proof`].
    pub fn audited_tenant_map(
        &self,
        principal: &KeyHolder,
        selection: Selection,
    ) -> Result<AuditedTenantMap> {
        let now = self.clock.now();
        let scope = self
            .store
            .read(|reader| self.scope(reader, principal, selection))?;
        let size = self.store.read(|reader| reader.ledger_size(scope.ledger_id))?;
        self.with_tenant_map(&self.mapped_log(&scope)?, size, Grower::Request, |map| {
            Ok(AuditedTenantMap {
                size: map.state.log.size(),
                key: map.log.key.clone(),
                note: self.sign_map(map, now, None)?,
            })
        })
    }

    /// The map of a log that has all events of its checkpoint, and the head of the log with these events.
    pub(super) fn map_to_anchor(&self, ledger_id: LedgerId, name: &str) -> Result<(TreeHead, AnchoredMap)> {
        let log = self.mapped_log_of(ledger_id, name.to_owned(), None)?;
        self.with_tenant_map(&log, 0, Grower::Service(ANCHOR_STEPS_MAX), |map| {
            let head = map.state.log.head();
            let anchored = AnchoredMap {
                size: head.size,
                root: map.state.root,
                binding: map.log.key.binding(head.size),
            };
            Ok((head, anchored))
        })
    }

    /// The proof of an event for a viewer: in the log of its tenant.
    pub(super) fn prove_for_viewer(
        &self,
        scope: &Scope,
        logged: &LoggedEvent,
        tenant_id: &str,
    ) -> Result<TlogProof> {
        let log = self.mapped_log(scope)?;
        self.with_tenant_map(&log, logged.seq + 1, Grower::Request, |map| {
            self.prove_event_of_tenant(map, logged, tenant_id)
        })
    }

    /// Runs `work` on a map that has at least the first `size` events of the log. What someone else wrote into the map is discarded,
    /// and computed again.
    fn with_tenant_map<T>(
        &self,
        log: &MappedLog,
        size: u64,
        grower: Grower,
        work: impl Fn(&CurrentMap<'_>) -> Result<T, MapFailure>,
    ) -> Result<T> {
        let (mut size, mut is_rebuilt) = (size, false);
        for _ in 0..ATTEMPTS_MAX {
            let checkpoint = self.covering_checkpoint(log.ledger_id, &log.name, size)?;
            let head = head_of(&checkpoint.note)?;
            let mut seen = None;
            let outcome = self
                .grow_map(log, &head, grower, &mut seen)
                .and_then(|state| work(&CurrentMap { log, state }));
            let what = match outcome {
                Ok(done) => return Ok(done),
                Err(MapFailure::App(error)) => return Err(error),
                Err(MapFailure::Ahead(of)) if of > size => {
                    size = of;
                    continue;
                }
                Err(MapFailure::Ahead(_)) => "it has more events than the log".to_owned(),
                Err(MapFailure::Forged(what)) => what,
            };
            if self.store.query(|reader| reader.tenant_map(log.ledger_id))? != seen {
                // Another process has changed the map between two reads.
                continue;
            }
            if is_rebuilt {
                return Err(AppError::inconsistent(ForgedMap(what)));
            }
            is_rebuilt = true;
            self.discard_map(log, &what)?;
        }
        Err(StoreError::Stale.into())
    }

    fn discard_map(&self, log: &MappedLog, what: &str) -> Result<()> {
        self.signing.note_forged_map(&log.origin, what);
        let ledger_id = log.ledger_id;
        self.store
            .write(move |writer| writer.delete_tenant_map(ledger_id).map_err(AppError::from))
    }

    fn mapped_log(&self, scope: &Scope) -> Result<MappedLog> {
        let organization_id = scope.project.project.organization_id;
        self.mapped_log_of(scope.ledger_id, scope.log_name(), Some(organization_id))
    }

    fn mapped_log_of(
        &self,
        ledger_id: LedgerId,
        name: String,
        organization_id: Option<OrganizationId>,
    ) -> Result<MappedLog> {
        Ok(MappedLog {
            ledger_id,
            origin: self.log_signer()?.origin(&name)?,
            key: self.tenant_map_key(&name)?,
            name,
            organization_id,
        })
    }

    /// The key of the map of the log with this name.
    pub(crate) fn tenant_map_key(&self, name: &str) -> Result<TenantMapKey> {
        Ok(TenantMapKey::of_log(&self.tenant_map_secret()?, name))
    }

    /// The secret that blinds the maps of the deployment. It is created on first use.
    fn tenant_map_secret(&self) -> Result<[u8; TenantMapKey::BYTES]> {
        if let Some(secret) = self.tenant_maps.secret.get() {
            return Ok(*secret);
        }
        let new = self.sealed(self.new_secret().as_bytes(), &SECRET.place());
        let now = self.clock.now();
        let stored = self
            .home_store
            .configure(Deployment, move |configurator| -> Result<Vec<u8>> {
                if let Some(secret) = configurator.secret(SECRET.name())? {
                    return Ok(secret);
                }
                configurator.insert_secret(SECRET.name(), &new, now)?;
                Ok(new)
            })?;
        let secret = SECRET.open(&stored, &self.settings.encryption)?;
        Ok(*self.tenant_maps.secret.get_or_init(|| *secret.as_bytes()))
    }

    /// Signs a map, and that a tenant has no events in it; once in [`NOTE_SECONDS`].
    fn sign_map(&self, map: &CurrentMap<'_>, now: Timestamp, empty: Option<String>) -> Result<String> {
        let head = TenantMapHead {
            log: map.log.origin.clone(),
            signed_at: now,
            root: map.state.root,
            binding: map.log.key.binding(map.state.log.size()),
            empty,
        };
        let signer = self.log_signer()?;
        let unsigned = TenantMapHead {
            signed_at: Timestamp::from_seconds(now.as_seconds() / NOTE_SECONDS * NOTE_SECONDS),
            ..head.clone()
        };
        self.tenant_maps.notes.get_or_sign(&unsigned.to_string(), || {
            Ok(signer.sign_tenant_map(head)?.note().to_owned())
        })
    }

    /// Signs the checkpoint of a tenant's log.
    fn sign_log_of_tenant(&self, log: &MappedLog, tenant_id: &str, head: TreeHead) -> Result<String> {
        let label = log.key.label(tenant_id);
        let origin = TenantMapHead::tenant_origin(&log.origin, &label).map_err(AppError::internal)?;
        let (signer, checkpoint) = (self.log_signer()?, Checkpoint::new(origin, head));
        self.tenant_maps.notes.get_or_sign(&checkpoint.to_string(), || {
            Ok(signer.sign(checkpoint.clone())?.note().to_owned())
        })
    }
}

/// The secret that blinds the maps of a deployment, as its home database has it.
#[derive(Clone, Copy)]
pub enum StoredMapSecret {
    /// There is none.
    Missing,
    /// The encryption key is not at hand, so maps cannot be verified.
    Sealed,
    /// The secret.
    Known([u8; TenantMapKey::BYTES]),
}

impl StoredMapSecret {
    pub(crate) fn read(reader: &mut audit_store::Reader<'_>, keys: &KeyRing) -> Result<Self> {
        let Some(stored) = reader.secret(SECRET.name())? else {
            return Ok(Self::Missing);
        };
        match SECRET.open(&stored, &keys.clone().accepting_plain()) {
            Ok(secret) => Ok(Self::Known(*secret.as_bytes())),
            Err(AppError::SealedSecret(failure)) if failure.error == OpenError::NeedsKey => {
                log::warn!("the encryption key is not here, so the tenants of events are not verified");
                Ok(Self::Sealed)
            }
            Err(error) => Err(error),
        }
    }
}

impl fmt::Debug for StoredMapSecret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Missing => "Missing",
            Self::Sealed => "Sealed",
            Self::Known(_) => "Known(…)",
        })
    }
}

/// The tenant of a viewer who may see all its events; none for a key.
pub(super) fn viewed_tenant(access: &ReadAccess) -> Result<Option<String>> {
    let Principal::Viewer(viewer) = &access.principal else {
        return Ok(None);
    };
    if access.tier.as_ref().is_some_and(hides_events) {
        let message = "the viewer tier hides events, and a proof tells how many the tenant has";
        return Err(AppError::Forbidden(message.to_owned()));
    }
    Ok(Some(viewer.tenant_id.clone()))
}

const fn hides_events(tier: &ViewerTier) -> bool {
    tier.categories.is_some() || tier.actions.is_some()
}
