//! Which credentials an endpoint admits.

use crate::{MasterKey, Principal, ProjectKey};
use audit_domain::OrganizationId;
use std::ops::Deref;

mod sealed {
    pub trait Sealed {}
}

/// The credentials that an endpoint admits, and what an admitted one proves.
///
/// The use cases take proofs as arguments, so the policy of an endpoint is checked by the compiler: a use case for
/// [`Master`] cannot be called with the proof of [`Keys`]. The four policies are the only ones.
pub trait Policy: sealed::Sealed + Clone + Send + Sync + 'static {
    /// What an admitted credential proves.
    type Proof: Clone + Send + Sync + 'static;

    /// The message for a valid credential that is not admitted.
    const REFUSAL: &'static str;

    /// The proof, or `None` if the policy does not admit the principal.
    fn admit(principal: Principal) -> Option<Self::Proof>;

    /// The organization of an admitted credential, which owns what its requests hold.
    fn organization_id(proof: &Self::Proof) -> OrganizationId;
}

/// The policy does not admit the credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub &'static str);

/// Admits master keys.
#[derive(Clone, Copy, Debug)]
pub enum Master {}
/// Admits master and project keys.
#[derive(Clone, Copy, Debug)]
pub enum Keys {}
/// Admits project keys.
#[derive(Clone, Copy, Debug)]
pub enum Project {}
/// Admits master keys, project keys and viewer tokens.
#[derive(Clone, Copy, Debug)]
pub enum Readers {}

/// The holder of a master key or a project key: a [`Principal`] that is not a viewer. Only [`Keys`] makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyHolder(Principal);

impl Deref for KeyHolder {
    type Target = Principal;

    fn deref(&self) -> &Principal {
        &self.0
    }
}

impl Policy for Master {
    type Proof = MasterKey;
    const REFUSAL: &'static str = "this needs a master key";

    fn admit(principal: Principal) -> Option<MasterKey> {
        match principal {
            Principal::Master(key) => Some(key),
            Principal::Project(_) | Principal::Viewer(_) => None,
        }
    }

    fn organization_id(proof: &MasterKey) -> OrganizationId {
        proof.organization_id
    }
}

impl Policy for Keys {
    type Proof = KeyHolder;
    const REFUSAL: &'static str =
        "this needs a master key or a project key; a viewer token can only read events";

    fn admit(principal: Principal) -> Option<KeyHolder> {
        match principal {
            Principal::Master(_) | Principal::Project(_) => Some(KeyHolder(principal)),
            Principal::Viewer(_) => None,
        }
    }

    fn organization_id(proof: &KeyHolder) -> OrganizationId {
        proof.organization_id()
    }
}

impl Policy for Project {
    type Proof = ProjectKey;
    const REFUSAL: &'static str = "this needs a live project key";

    fn admit(principal: Principal) -> Option<ProjectKey> {
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

    fn admit(principal: Principal) -> Option<Principal> {
        match principal {
            Principal::Master(_) | Principal::Project(_) | Principal::Viewer(_) => Some(principal),
        }
    }

    fn organization_id(proof: &Principal) -> OrganizationId {
        proof.organization_id()
    }
}

impl sealed::Sealed for Master {}
impl sealed::Sealed for Keys {}
impl sealed::Sealed for Project {}
impl sealed::Sealed for Readers {}
