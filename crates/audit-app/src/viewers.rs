//! Viewer tokens and viewer tiers.

use crate::error::{AppError, Result};
use crate::secrets;
use crate::self_audit::{Changed, Requester, ServiceEvent};
use crate::service::{AuditLog, Selection};
use audit_auth::{
    MasterKey, Principal, ProjectKey, TokenLifetime, ViewerClaims, ViewerSecret, ViewerTokenText,
    viewer_token,
};
use audit_domain::{
    ActionGlob, Category, DEFAULT_TIER, Environment, HiddenField, KeyScope, SERVICE_TENANT_ID, TierName,
    Timestamp, ViewerRoute, ViewerTier, Violations,
};
use audit_secrets::KeyRing;
use audit_store::{Deployment, Reader, StoredTier, StoredViewerSecret};

/// The maximum number of tiers of a project.
pub const TIERS_MAX: usize = 50;

/// A change to a tier. `Some(None)` removes a restriction.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "as in ViewerTier")]
pub struct TierChange {
    pub categories: Option<Option<Vec<Category>>>,
    pub actions: Option<Option<Vec<ActionGlob>>>,
    pub hidden_fields: Option<Vec<HiddenField>>,
    pub routes: Option<Option<Vec<ViewerRoute>>>,
}

impl AuditLog {
    /// Creates a token that reads the events of one tenant. Returns it with the time at which it expires.
    ///
    /// # Errors
    /// [`AppError::Forbidden`] for a test key, and for the tenant of the service's own events with a key that may not read events;
    /// [`AppError::Invalid`] for a tier that the project does not have.
    pub fn create_viewer_token(
        &self,
        key: &ProjectKey,
        tenant_id: String,
        tier: Option<String>,
        lifetime: TokenLifetime,
    ) -> Result<(ViewerTokenText, Timestamp)> {
        if key.environment != Environment::Live {
            return Err(AppError::Forbidden(
                "viewer tokens need a live project key".to_owned(),
            ));
        }
        if tenant_id == SERVICE_TENANT_ID && !key.scopes.contain(KeyScope::EventsRead) {
            return Err(AppError::Forbidden(format!(
                "tokens of the tenant {SERVICE_TENANT_ID} need a key with the scope {}",
                KeyScope::EventsRead.as_str()
            )));
        }
        let principal = Principal::Project(*key);
        let tier = tier.unwrap_or_else(|| DEFAULT_TIER.to_owned());
        let (token, claims) = self.store.read(|reader| -> Result<_> {
            let scope = self.scope(reader, &principal, Selection::default())?;
            let found = scope
                .project
                .tiers
                .iter()
                .find(|known| known.tier.name.as_str() == tier);
            let created_at = match found {
                Some(found) => found.created_at,
                None => return Err(Violations::one("tier", "must be a viewer tier of the project").into()),
            };
            let secret = self.signing_viewer_secret(reader)?;
            let now = self.clock.now();
            let claims = ViewerClaims::issue(
                key.project_id,
                tenant_id.clone(),
                (tier.clone(), created_at),
                now,
                lifetime,
                self.entropy.bytes(),
            );
            Ok((viewer_token::sign(&claims, &secret)?, claims))
        })?;
        let event = ServiceEvent::viewer_token_created(&claims);
        // Before anybody has the token.
        self.record_read(key.project_id, &Requester::from(key), event)?;
        Ok((token, claims.expires_at))
    }

    /// The secrets that verify viewer tokens, from the home cell; `reader` is one of this cell.
    pub(crate) fn viewer_secrets(&self, reader: &mut Reader<'_>) -> Result<Vec<ViewerSecret>> {
        let keys = &self.settings.encryption;
        match self.is_cell() {
            true => self.home_store.read(|reader| viewer_secrets(reader, keys)),
            false => viewer_secrets(reader, keys),
        }
    }

    /// The secret that signs viewer tokens, from the home cell; `reader` is one of this cell.
    pub(crate) fn signing_viewer_secret(&self, reader: &mut Reader<'_>) -> Result<ViewerSecret> {
        let stored = match self.is_cell() {
            true => self.home_store.read(|reader| reader.viewer_secrets())?,
            false => reader.viewer_secrets()?,
        };
        let newest = stored.into_iter().find(|secret| secret.retired_at.is_none());
        let newest = newest.ok_or(AppError::NotFound("signing secret"))?;
        opened_viewer_secret(newest, &self.settings.encryption)
    }

    /// Replaces the secret that signs viewer tokens. The old secret verifies until its last token has expired.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn rotate_viewer_secret(&self) -> Result<String> {
        let secret = ViewerSecret::generate(self.entropy.bytes());
        let place = secrets::of_viewers(secret.kid());
        let sealed = self.sealed(secret.as_bytes(), &place);
        let now = self.clock.now();
        let forget_before = now.plus_seconds(-TokenLifetime::SECONDS_MAX);
        self.home_store.configure(Deployment, move |configurator| {
            configurator.rotate_viewer_secret((secret.kid(), &sealed), now, forget_before)?;
            Ok(secret.kid().to_owned())
        })
    }

    /// The tiers of a project.
    ///
    /// # Errors
    /// When the principal has no access to the project.
    pub fn viewer_tiers(&self, master: &MasterKey, selection: Selection) -> Result<Vec<StoredTier>> {
        let principal = &Principal::Master(*master);
        self.store
            .read(|reader| Ok(self.scope(reader, principal, selection)?.project.tiers.clone()))
    }

    /// A tier of a project.
    ///
    /// # Errors
    /// [`AppError::NotFound`].
    pub fn viewer_tier(
        &self,
        master: &MasterKey,
        selection: Selection,
        name: &TierName,
    ) -> Result<StoredTier> {
        let mut tiers = self.viewer_tiers(master, selection)?.into_iter();
        let tier = tiers.find(|known| known.tier.name == *name);
        tier.ok_or(AppError::NotFound("viewer tier"))
    }

    /// Creates a tier.
    ///
    /// # Errors
    /// [`AppError::Conflict`] when the project has a tier of this name, [`AppError::Forbidden`] when it has [`TIERS_MAX`]
    /// tiers, [`AppError::Invalid`] for one that allows destinations and does not show everything.
    pub fn create_viewer_tier(
        &self,
        master: &MasterKey,
        selection: Selection,
        tier: ViewerTier,
    ) -> Result<StoredTier> {
        let principal = &Principal::Master(*master);
        let project_id = self.project_id(principal, selection)?;
        tier.check()?;
        let created_at = self.clock.now();
        self.change_project(project_id, &Requester::from(master), move |configurator| {
            let tiers = configurator.tiers(project_id)?;
            if tiers.iter().any(|known| known.tier.name == tier.name) {
                return Err(AppError::Conflict(format!(
                    "the viewer tier {} already exists",
                    tier.name
                )));
            }
            if tiers.len() >= TIERS_MAX {
                return Err(AppError::Forbidden(format!(
                    "a project has at most {TIERS_MAX} viewer tiers"
                )));
            }
            configurator.insert_tier(&tier, created_at)?;
            let event = ServiceEvent::viewer_tier(None, Some(&tier));
            Ok(Changed::if_some(StoredTier { tier, created_at }, event))
        })
    }

    /// Changes a tier, also for tokens that were issued before.
    ///
    /// # Errors
    /// [`AppError::NotFound`]; [`AppError::Invalid`] as for a new one.
    pub fn change_viewer_tier(
        &self,
        master: &MasterKey,
        selection: Selection,
        name: TierName,
        change: TierChange,
    ) -> Result<StoredTier> {
        let principal = &Principal::Master(*master);
        let project_id = self.project_id(principal, selection)?;
        self.change_project(project_id, &Requester::from(master), move |configurator| {
            let found = configurator
                .tiers(project_id)?
                .into_iter()
                .find(|known| known.tier.name == name);
            let mut stored = found.ok_or(AppError::NotFound("viewer tier"))?;
            let before = stored.tier.clone();
            let tier = &mut stored.tier;
            tier.categories = change.categories.unwrap_or(tier.categories.take());
            tier.actions = change.actions.unwrap_or(tier.actions.take());
            tier.hidden_fields = change
                .hidden_fields
                .unwrap_or(std::mem::take(&mut tier.hidden_fields));
            tier.routes = change.routes.unwrap_or(tier.routes.take());
            if *tier == before {
                return Ok(Changed::nothing(stored));
            }
            tier.check()?;
            configurator.update_tier(tier)?;
            let event = ServiceEvent::viewer_tier(Some(&before), Some(tier));
            Ok(Changed::if_some(stored, event))
        })
    }

    /// Deletes a tier and thereby ends the access of its tokens.
    ///
    /// # Errors
    /// [`AppError::NotFound`].
    pub fn delete_viewer_tier(&self, master: &MasterKey, selection: Selection, name: TierName) -> Result<()> {
        let principal = &Principal::Master(*master);
        let project_id = self.project_id(principal, selection)?;
        self.change_project(project_id, &Requester::from(master), move |configurator| {
            let tiers = configurator.tiers(project_id)?;
            let found = tiers.iter().find(|known| known.tier.name == name);
            let tier = &found.ok_or(AppError::NotFound("viewer tier"))?.tier;
            configurator.delete_tier(&name)?;
            Ok(Changed::if_some((), ServiceEvent::viewer_tier(Some(tier), None)))
        })
    }
}

/// The secrets that verify viewer tokens, as the home cell has them. One that does not open verifies nothing, and does not keep the
/// others from it: while encryption keys are rotated, a node may lack the newest one.
pub(crate) fn viewer_secrets(reader: &mut Reader<'_>, keys: &KeyRing) -> Result<Vec<ViewerSecret>> {
    let stored = reader.viewer_secrets()?;
    let opened = stored.into_iter().filter_map(|secret| {
        let opened = opened_viewer_secret(secret, keys);
        opened.inspect_err(|error| log::error!("{error}")).ok()
    });
    Ok(opened.collect())
}

fn opened_viewer_secret(stored: StoredViewerSecret, keys: &KeyRing) -> Result<ViewerSecret> {
    let place = secrets::of_viewers(&stored.kid);
    let secret = secrets::open(&stored.secret, keys, place)?;
    Ok(ViewerSecret::from_parts(stored.kid, *secret.as_bytes()))
}
