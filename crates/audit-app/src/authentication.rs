//! Authentication: from a credential to the proof that the policy of an endpoint admits it.

use crate::console_session::ConsoleSession;
use crate::directory::{Directory, Present};
use crate::error::{AppError, Result};
use crate::service::AuditLog;
use crate::turns::CredentialOwner;
use audit_auth::{
    Credential, KeyKind, MasterKey, Policy, Principal, ProjectKey, Viewer, ViewerTokenText, viewer_token,
};
use audit_domain::{KeyId, ProjectId};
use audit_store::{ConfigurationVersion, Key, Reader, StoredTier};
use std::marker::PhantomData;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

/// Whose credential a request presented, known once it was looked up, even if it was then refused. For the access log; it proves
/// nothing.
#[derive(Clone, Debug, Default)]
pub struct Identity(Arc<OnceLock<(Option<KeyId>, Option<ProjectId>)>>);

impl Identity {
    /// The key, unless the credential is a viewer token or unknown.
    #[must_use]
    pub fn key_id(&self) -> Option<KeyId> {
        self.0.get()?.0
    }

    /// The project of a project key or viewer token.
    #[must_use]
    pub fn project_id(&self) -> Option<ProjectId> {
        self.0.get()?.1
    }

    /// A credential is looked up several times in a request, and is the same each time.
    fn note(&self, key_id: Option<KeyId>, project_id: Option<ProjectId>) {
        self.0.get_or_init(|| (key_id, project_id));
    }

    fn note_key(&self, key: &Key) {
        self.note(Some(key.id), key.project.map(|(project_id, _)| project_id));
    }
}

/// A well-formed credential that has not been looked up, and the policy that must admit it.
///
/// Use cases that look the credential up in the same transaction as their data are methods of this type, each for one
/// policy. They access the database only through the policy's proof. The type exposes neither the service nor the
/// credential, so a refused credential gives access to nothing.
///
/// A handler for readers lists events:
///
/// ```
/// use audit_app::{EventsResponse, EventsRequest, Presented, Result, Selection};
/// use audit_auth::Readers;
///
/// fn list(presented: &Presented<Readers>, request: EventsRequest) -> Result<EventsResponse> {
///     presented.events(Selection::default(), request)
/// }
/// ```
///
/// The same handler under another policy does not compile:
///
/// ```compile_fail,E0599
/// use audit_app::{EventsResponse, EventsRequest, Presented, Result, Selection};
/// use audit_auth::Master;
///
/// fn list(presented: &Presented<Master>, request: EventsRequest) -> Result<EventsResponse> {
///     presented.events(Selection::default(), request)
/// }
/// ```
///
/// Neither does ingest for viewer tokens:
///
/// ```compile_fail,E0599
/// use audit_app::{Ingested, Presented, Result, Selection, SentEvents};
/// use audit_auth::Readers;
///
/// async fn ingest(presented: &Presented<Readers>, sent: &SentEvents<'_>) -> Result<Ingested> {
///     presented.ingest(Selection::default(), sent).await
/// }
/// ```
///
/// nor does access to the service without the policy:
///
/// ```compile_fail,E0616
/// use audit_app::{Presented, Result, VerifierKey};
/// use audit_auth::Master;
///
/// fn key(presented: &Presented<Master>) -> Result<VerifierKey> {
///     presented.service.log_key()
/// }
/// ```
///
/// All other use cases take a proof, which [`Self::authenticate`] gives:
///
/// ```
/// use audit_app::{AuditLog, RedactionRule, NewRedactionRule, Presented, Result, Selection};
/// use audit_auth::Master;
///
/// fn create(service: &AuditLog, presented: &Presented<Master>, rule: NewRedactionRule) -> Result<RedactionRule> {
///     service.create_redaction_rule(&presented.authenticate()?, Selection::default(), rule)
/// }
/// ```
///
/// The proof of a wider policy is of another type:
///
/// ```compile_fail,E0308
/// use audit_app::{AuditLog, RedactionRule, NewRedactionRule, Presented, Result, Selection};
/// use audit_auth::Keys;
///
/// fn create(service: &AuditLog, presented: &Presented<Keys>, rule: NewRedactionRule) -> Result<RedactionRule> {
///     service.create_redaction_rule(&presented.authenticate()?, Selection::default(), rule)
/// }
/// ```
///
/// ```compile_fail,E0308
/// use audit_app::{AuditLog, RedactionRule, Presented, Result, Selection};
/// use audit_auth::Readers;
///
/// fn list(service: &AuditLog, presented: &Presented<Readers>) -> Result<Vec<RedactionRule>> {
///     service.redaction_rules(&presented.authenticate()?, Selection::default())
/// }
/// ```
pub struct Presented<P: Policy> {
    /// The service of the cell in which the request runs.
    pub(crate) service: Arc<AuditLog>,
    /// The service of the home cell.
    pub(crate) home: Arc<AuditLog>,
    pub(crate) credential: Credential,
    /// The address of the client, which a key can be limited to; `None` if it is unknown.
    pub(crate) client: Option<IpAddr>,
    /// The session of the console in which the key is presented; `None` when it is presented itself.
    pub(crate) session: Option<ConsoleSession>,
    pub(crate) identity: Identity,
    pub(crate) policy: PhantomData<P>,
}

impl<P: Policy> Clone for Presented<P> {
    fn clone(&self) -> Self {
        Self {
            service: Arc::clone(&self.service),
            home: Arc::clone(&self.home),
            credential: self.credential.clone(),
            client: self.client,
            session: self.session.clone(),
            identity: self.identity.clone(),
            policy: PhantomData,
        }
    }
}

impl AuditLog {
    /// Binds a credential to the policy that must admit it. Does not look it up. `client` is the address of the client, and
    /// `selected` the project that the request names.
    pub fn present<P: Policy>(
        self: &Arc<Self>,
        credential: Credential,
        client: Option<IpAddr>,
        selected: Option<ProjectId>,
    ) -> Presented<P> {
        let presented = Presented {
            service: Arc::clone(self),
            home: Arc::clone(self),
            credential,
            client,
            session: None,
            identity: Identity::default(),
            policy: PhantomData,
        };
        presented.in_cached_cell(selected)
    }

    /// The holder of the key, unless it is revoked or expired, or must not be used from there.
    fn key_holder(
        &self,
        key: &Key,
        client: Option<IpAddr>,
        session: Option<&ConsoleSession>,
    ) -> Result<Principal> {
        let now = self.clock.now();
        if key.revoked_at.is_some() {
            return Err(AppError::KeyRevoked);
        }
        if key.limits.have_expired(now) {
            return Err(AppError::KeyExpired);
        }
        if session.is_some_and(|session| session.has_ended(key, now)) {
            return Err(AppError::Unauthorized);
        }
        // Noted first: the attempt to use a leaked key shows where it is.
        self.note_use(key.id, now, client);
        if !key.limits.allow_from(client) {
            return Err(AppError::Forbidden(
                "this key must not be used from this address".to_owned(),
            ));
        }
        let (key_id, organization_id) = (key.id, key.organization_id);
        let scopes = key.limits.scopes();
        Ok(match key.project {
            Some((project_id, environment)) => Principal::Project(ProjectKey {
                key_id,
                organization_id,
                project_id,
                environment,
                scopes,
                client,
            }),
            None => Principal::Master(MasterKey {
                key_id,
                organization_id,
                scopes,
                client,
            }),
        })
    }

    fn viewer(
        &self,
        reader: &mut Reader<'_>,
        present: &mut Present<'_>,
        token: &ViewerTokenText,
        client: Option<IpAddr>,
    ) -> Result<Principal> {
        let secrets = self.viewer_secrets(reader)?;
        let claims = viewer_token::verify(token, &secrets, self.clock.now())?;
        let project = present
            .project(reader, &self.settings, claims.project_id)?
            .ok_or(AppError::InvalidToken)?;
        // A tier that was deleted and recreated under the same name is another tier.
        let is_of_token = |tier: &&StoredTier| {
            tier.tier.name.as_str() == claims.tier && tier.created_at == claims.tier_created_at
        };
        project
            .tiers
            .iter()
            .find(is_of_token)
            .ok_or(AppError::InvalidToken)?;
        Ok(Principal::Viewer(Viewer {
            organization_id: project.project.organization_id,
            project_id: claims.project_id,
            token_id: claims.jti(),
            tenant_id: claims.tenant_id,
            tier: claims.tier,
            client,
        }))
    }
}

impl<P: Policy> Presented<P> {
    /// Whose credential it is, as far as it was looked up.
    pub fn identity(&self) -> Identity {
        self.identity.clone()
    }

    /// Looks the credential up. The proof reflects the present configuration: revocations and deleted tiers apply from their
    /// commit on. Blocks.
    ///
    /// # Errors
    /// [`AppError::InvalidKey`], [`AppError::KeyRevoked`], [`AppError::KeyExpired`], [`AppError::InvalidToken`] or [`AppError::TokenExpired`];
    /// [`AppError::Forbidden`] when the policy does not admit the credential.
    pub fn authenticate(&self) -> Result<P::Proof> {
        self.in_its_cell(None, Self::authenticate_here)
    }

    /// [`Self::authenticate`] in the cell in which the request runs.
    pub(crate) fn authenticate_here(&self) -> Result<P::Proof> {
        self.service
            .store
            .read(|reader| self.identify(reader, &mut self.service.directory.present()))
    }

    /// The proof by the present configuration. It covers everything that `present` reads afterwards.
    pub(crate) fn identify(&self, reader: &mut Reader<'_>, present: &mut Present<'_>) -> Result<P::Proof> {
        let principal = match &self.credential {
            Credential::Key(text) => {
                let hash = text.hash();
                // The other cells have no master keys. As in the home cell, they are read at each use.
                match text.kind() == KeyKind::Master && self.service.is_cell() {
                    true => self.home.home_store.read(|reader| {
                        let key = self.home.directory.present().key(reader, &hash)?;
                        let key = key.ok_or(AppError::InvalidKey)?;
                        self.identity.note_key(&key);
                        self.home.key_holder(&key, self.client, self.session.as_ref())
                    })?,
                    false => {
                        let key = present.key(reader, &hash)?.ok_or(AppError::InvalidKey)?;
                        self.identity.note_key(&key);
                        self.service
                            .key_holder(&key, self.client, self.session.as_ref())?
                    }
                }
            }
            Credential::ViewerToken(token) => {
                let principal = self.service.viewer(reader, present, token, self.client)?;
                if let Principal::Viewer(viewer) = &principal {
                    self.identity.note(None, Some(viewer.project_id));
                }
                principal
            }
        };
        self.note_owner(&principal);
        admit::<P>(principal)
    }

    /// The owner of a credential that the policy admits, if both are cached. They may be out of date: the use case decides again, by
    /// the present configuration.
    pub fn cached_owner(&self) -> Option<CredentialOwner> {
        let (principal, _) = self.cached_principal(&self.service.directory)?;
        let owner = CredentialOwner::of(&principal);
        admit::<P>(principal).ok()?;
        Some(owner)
    }

    /// [`Self::identify`] without the database: the proof, and the version of the configuration that it belongs to. `None`
    /// unless the credential is a project key that `directory` has cached and that the policy admits.
    pub(crate) fn identify_cached(&self, directory: &Directory) -> Option<(P::Proof, ConfigurationVersion)> {
        let (principal, version) = self.cached_principal(directory)?;
        Some((admit::<P>(principal).ok()?, version))
    }

    /// The holder of a project key that `directory` has cached.
    pub(crate) fn cached_principal(
        &self,
        directory: &Directory,
    ) -> Option<(Principal, ConfigurationVersion)> {
        let Credential::Key(text) = &self.credential else {
            return None;
        };
        let cached = directory.cached_key(&text.hash())?;
        self.identity.note_key(&cached.key);
        let principal = self
            .service
            .key_holder(&cached.key, self.client, self.session.as_ref())
            .ok()?;
        Some((principal, cached.version))
    }
}

fn admit<P: Policy>(principal: Principal) -> Result<P::Proof> {
    Ok(P::admit(principal)?)
}
