//! Which credentials an endpoint admits.

use crate::{MasterKey, Principal, ProjectKey};
use audit_domain::{KeyScope, OrganizationId};
use std::marker::PhantomData;
use std::ops::Deref;

mod sealed {
    pub trait Sealed {}
}

/// The scope of an endpoint, as a type.
pub trait Scoped: sealed::Sealed + Send + Sync + 'static {
    /// The scope.
    const SCOPE: KeyScope;
}

/// [`KeyScope::EventsWrite`].
#[derive(Debug)]
pub enum EventsWrite {}
/// [`KeyScope::EventsRead`].
#[derive(Debug)]
pub enum EventsRead {}
/// [`KeyScope::Alerts`].
#[derive(Debug)]
pub enum Alerts {}
/// [`KeyScope::Admin`].
#[derive(Debug)]
pub enum Admin {}

impl sealed::Sealed for EventsWrite {}
impl sealed::Sealed for EventsRead {}
impl sealed::Sealed for Alerts {}
impl sealed::Sealed for Admin {}

impl Scoped for EventsWrite {
    const SCOPE: KeyScope = KeyScope::EventsWrite;
}

impl Scoped for EventsRead {
    const SCOPE: KeyScope = KeyScope::EventsRead;
}

impl Scoped for Alerts {
    const SCOPE: KeyScope = KeyScope::Alerts;
}

impl Scoped for Admin {
    const SCOPE: KeyScope = KeyScope::Admin;
}

/// The credentials that an endpoint admits, and what an admitted one proves.
///
/// A key also needs the scope of the endpoint, which is part of the policy. An endpoint that names none needs
/// [`KeyScope::Admin`], which is the safe choice for one whose author did not think of it.
///
/// The use cases take proofs as arguments, so the policy of an endpoint is checked by the compiler: a use case for
/// [`Master`] cannot be called with the proof of [`Keys`]. The policies of this module are the only ones.
pub trait Policy: sealed::Sealed + Clone + Send + Sync + 'static {
    /// What an admitted credential proves.
    type Proof: Clone + Send + Sync + 'static;

    /// The message for a valid credential of a kind that is not admitted.
    const REFUSAL: &'static str;

    /// The scope that a key needs.
    const SCOPE: KeyScope;

    /// The proof, or `None` if the policy does not admit principals of this kind.
    fn admit_kind(principal: Principal) -> Option<Self::Proof>;

    /// The proof.
    ///
    /// # Errors
    /// When the policy does not admit the kind of principal, or the key lacks the scope.
    fn admit(principal: Principal) -> Result<Self::Proof, Refused> {
        let has_scope = principal
            .scopes()
            .is_none_or(|scopes| scopes.contain(Self::SCOPE));
        let proof = Self::admit_kind(principal).ok_or(Refused::Kind(Self::REFUSAL))?;
        match has_scope {
            true => Ok(proof),
            false => Err(Refused::Scope(Self::SCOPE)),
        }
    }

    /// The organization of an admitted credential, which owns what its requests hold.
    fn organization_id(proof: &Self::Proof) -> OrganizationId;
}

/// The policy does not admit the credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Credentials of this kind are not admitted.
    #[error("{0}")]
    Kind(&'static str),
    /// The key lacks the scope.
    #[error("this key does not have the scope {0}")]
    Scope(KeyScope),
}

/// Admits master keys, by default with the scope [`KeyScope::Admin`].
#[derive(Debug)]
pub struct Master<S: Scoped = Admin>(PhantomData<S>);
/// Admits master and project keys, by default with the scope [`KeyScope::Admin`].
#[derive(Debug)]
pub struct Keys<S: Scoped = Admin>(PhantomData<S>);
/// Admits master and project keys whatever their scopes are, for what a key does to its own sessions.
#[derive(Clone, Copy, Debug)]
pub enum AnyKey {}
/// Admits project keys with the scope [`KeyScope::ViewerTokens`].
#[derive(Clone, Copy, Debug)]
pub enum Project {}
/// Admits master keys and project keys with the scope [`KeyScope::EventsRead`], and viewer tokens.
#[derive(Clone, Copy, Debug)]
pub enum Readers {}

/// Admits master keys with the scope [`KeyScope::Admin`], and viewer tokens, for destinations. The use cases confine a viewer to its tenant,
/// and look up whether its tier allows destinations.
#[derive(Clone, Copy, Debug)]
pub enum DestinationOwners {}

/// Who may have destinations: a [`Principal`] with a master key, for a project, or a viewer, for its tenant. Only [`DestinationOwners`] makes
/// one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DestinationOwner(Principal);

impl Deref for DestinationOwner {
    type Target = Principal;

    fn deref(&self) -> &Principal {
        &self.0
    }
}

/// The holder of a master key or a project key: a [`Principal`] that is not a viewer. Only [`Keys`] makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyHolder(Principal);

impl Deref for KeyHolder {
    type Target = Principal;

    fn deref(&self) -> &Principal {
        &self.0
    }
}

/// The holder of a key that may lack every scope. Only [`AnyKey`] makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionHolder(KeyHolder);

impl Deref for SessionHolder {
    type Target = Principal;

    fn deref(&self) -> &Principal {
        &self.0
    }
}

impl<S: Scoped> Clone for Master<S> {
    fn clone(&self) -> Self {
        Self(PhantomData)
    }
}

impl<S: Scoped> Policy for Master<S> {
    type Proof = MasterKey;
    const REFUSAL: &'static str = "this needs a master key";
    const SCOPE: KeyScope = S::SCOPE;

    fn admit_kind(principal: Principal) -> Option<MasterKey> {
        match principal {
            Principal::Master(key) => Some(key),
            Principal::Project(_) | Principal::Viewer(_) => None,
        }
    }

    fn organization_id(proof: &MasterKey) -> OrganizationId {
        proof.organization_id
    }
}

impl<S: Scoped> Clone for Keys<S> {
    fn clone(&self) -> Self {
        Self(PhantomData)
    }
}

impl<S: Scoped> Policy for Keys<S> {
    type Proof = KeyHolder;
    const REFUSAL: &'static str =
        "this needs a master key or a project key; a viewer token can only read events";
    const SCOPE: KeyScope = S::SCOPE;

    fn admit_kind(principal: Principal) -> Option<KeyHolder> {
        match principal {
            Principal::Master(_) | Principal::Project(_) => Some(KeyHolder(principal)),
            Principal::Viewer(_) => None,
        }
    }

    fn organization_id(proof: &KeyHolder) -> OrganizationId {
        proof.organization_id()
    }
}

impl Policy for AnyKey {
    type Proof = SessionHolder;
    const REFUSAL: &'static str = "this needs a master key or a project key";
    /// Not needed: see [`Self::admit`].
    const SCOPE: KeyScope = KeyScope::Admin;

    fn admit_kind(principal: Principal) -> Option<SessionHolder> {
        Keys::<Admin>::admit_kind(principal).map(SessionHolder)
    }

    fn admit(principal: Principal) -> Result<SessionHolder, Refused> {
        Self::admit_kind(principal).ok_or(Refused::Kind(Self::REFUSAL))
    }

    fn organization_id(proof: &SessionHolder) -> OrganizationId {
        proof.organization_id()
    }
}

impl Policy for Project {
    type Proof = ProjectKey;
    const REFUSAL: &'static str = "this needs a live project key";
    const SCOPE: KeyScope = KeyScope::ViewerTokens;

    fn admit_kind(principal: Principal) -> Option<ProjectKey> {
        match principal {
            Principal::Project(key) => Some(key),
            Principal::Master(_) | Principal::Viewer(_) => None,
        }
    }

    fn organization_id(proof: &ProjectKey) -> OrganizationId {
        proof.organization_id
    }
}

impl Policy for Readers {
    type Proof = Principal;
    const REFUSAL: &'static str = "this needs a key or a viewer token";
    const SCOPE: KeyScope = KeyScope::EventsRead;

    fn admit_kind(principal: Principal) -> Option<Principal> {
        match principal {
            Principal::Master(_) | Principal::Project(_) | Principal::Viewer(_) => Some(principal),
        }
    }

    fn organization_id(proof: &Principal) -> OrganizationId {
        proof.organization_id()
    }
}

impl Policy for DestinationOwners {
    type Proof = DestinationOwner;
    const REFUSAL: &'static str = "this needs a master key, or a viewer token whose tier allows destinations";
    const SCOPE: KeyScope = KeyScope::Admin;

    fn admit_kind(principal: Principal) -> Option<DestinationOwner> {
        match principal {
            Principal::Master(_) | Principal::Viewer(_) => Some(DestinationOwner(principal)),
            Principal::Project(_) => None,
        }
    }

    fn organization_id(proof: &DestinationOwner) -> OrganizationId {
        proof.organization_id()
    }
}

impl<S: Scoped> sealed::Sealed for Master<S> {}
impl<S: Scoped> sealed::Sealed for Keys<S> {}
impl sealed::Sealed for AnyKey {}
impl sealed::Sealed for Project {}
impl sealed::Sealed for Readers {}
impl sealed::Sealed for DestinationOwners {}
