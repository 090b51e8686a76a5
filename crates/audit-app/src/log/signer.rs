//! The key that signs checkpoints, and the name of the log. [`super::signing`] decides what is signed, and when.

mod identity;

use super::key::{KeyAccess, LogKey, LogKeyError};
use crate::error::{AppError, Result};
use crate::secrets::ServiceSecret;
use audit_ledger::{
    Anchor, AnchorError, Checkpoint, CheckpointError, KeyName, KeyRotation, Origin, SignedAnchor,
    SignedCheckpoint, SignedStream, SignedTenantMap, TenantMapHead, VerifierKey, key_predecessors,
    key_successors,
};
use audit_secrets::KeyRing;
use audit_store::{Reader, StoreError};

const KEY: ServiceSecret = ServiceSecret::LogKey;
const KEY_BEFORE: ServiceSecret = ServiceSecret::LogKeyBefore;
/// The names under which the database stores the log's name and the statements of its rotations.
const NAME: &str = "log_name";
pub(super) const ROTATIONS: &str = "log_key_rotations";

/// The signer of the checkpoints of a deployment.
#[derive(Debug)]
pub(crate) struct LogSigner {
    key: LogKey,
    /// Signs as well, from a rotation until the old key is retired.
    before: Option<LogKey>,
    rotations: Vec<KeyRotation>,
    /// The key and those that it has followed.
    accepted: Vec<VerifierKey>,
}

/// What the database stores of the signer.
struct StoredSigner {
    sealed: Vec<u8>,
    name: Vec<u8>,
    sealed_before: Option<Vec<u8>>,
    rotations: Option<Vec<u8>>,
}

impl StoredSigner {
    /// `None` where there is no key yet.
    fn read<E>(mut secret: impl FnMut(&str) -> Result<Option<Vec<u8>>, E>) -> Result<Option<Self>, E> {
        let (Some(sealed), Some(name)) = (secret(KEY.name())?, secret(NAME)?) else {
            return Ok(None);
        };
        Ok(Some(Self {
            sealed,
            name,
            sealed_before: secret(KEY_BEFORE.name())?,
            rotations: secret(ROTATIONS)?,
        }))
    }

    fn open_to_verify(&self, keys: &KeyRing) -> Result<LogSigner> {
        self.open(KeyAccess {
            encryption: &keys.clone().accepting_plain(),
            program: None,
            program_before: None,
        })
    }

    fn open(&self, access: KeyAccess<'_>) -> Result<LogSigner> {
        let name = String::from_utf8_lossy(&self.name);
        let name = KeyName::parse(&name).map_err(AppError::internal)?;
        let KeyAccess {
            encryption,
            program,
            program_before,
        } = access;
        let key = LogKey::open(&name, (KEY, &self.sealed), encryption, program)?;
        let before = self.sealed_before.as_deref();
        let before =
            before.map(|before| LogKey::open(&name, (KEY_BEFORE, before), encryption, program_before));
        let rotations = self.rotations.as_deref().unwrap_or_default();
        let rotations = KeyRotation::open_all(&String::from_utf8_lossy(rotations));
        let rotations = rotations.map_err(AppError::internal)?;
        Ok(LogSigner {
            accepted: key_predecessors(key.verifier(), &rotations),
            rotations,
            before: before.transpose()?,
            key,
        })
    }
}

impl LogSigner {
    /// Signs a checkpoint.
    pub(super) fn sign(&self, checkpoint: Checkpoint) -> Result<SignedCheckpoint> {
        let signed = self.key.sign(checkpoint)?;
        match &self.before {
            Some(before) => before.sign_as_well(&signed),
            None => Ok(signed),
        }
    }

    /// Signs an anchor.
    pub(super) fn sign_anchor(&self, anchor: Anchor) -> Result<SignedAnchor> {
        self.key.sign_anchor(anchor)
    }

    /// Signs a map of tenants.
    pub(super) fn sign_tenant_map(&self, head: TenantMapHead) -> Result<SignedTenantMap> {
        self.key.sign_tenant_map(head)
    }

    /// Signs the text of the note of a stream.
    pub(super) fn sign_stream(&self, text: &str) -> Result<SignedStream> {
        self.key.sign_stream(text)
    }

    /// Checks that this process can sign: with stored keys, or with the programs that have them.
    pub(super) fn check_programs(&self, access: KeyAccess<'_>) -> std::result::Result<(), LogKeyError> {
        self.key.check_program(access.program)?;
        match &self.before {
            // A stored key needs no program, and the one of a retired key may still be configured.
            None | Some(LogKey::Stored(_)) => Ok(()),
            Some(before) => before
                .check_program(access.program_before)
                .map_err(|_| LogKeyError::ProgramBefore),
        }
    }

    /// Parses and verifies a checkpoint of this log, by its key or one that it has followed.
    pub(super) fn open(
        &self,
        note: &str,
        origin: &Origin,
    ) -> std::result::Result<SignedCheckpoint, CheckpointError> {
        SignedCheckpoint::open(note, origin, &self.accepted)
    }

    /// Parses and verifies an anchor of this deployment, by its key or one that it has followed.
    pub(super) fn open_anchor(&self, document: &str) -> std::result::Result<SignedAnchor, AnchorError> {
        SignedAnchor::open(document, &self.accepted)
    }

    /// Whether the present key has signed a note that is known to be of this log. Otherwise it is signed again.
    pub(super) fn has_signed(&self, note: &str) -> bool {
        self.accepted.len() == 1 || SignedCheckpoint::open_of_owner(note, self.verifier()).is_ok()
    }

    /// Whether its key, or one that it has followed, has signed a note of any of its logs.
    pub(super) fn accepts(&self, note: &str) -> bool {
        let mut keys = self.accepted.iter();
        keys.any(|key| SignedCheckpoint::open_of_owner(note, key).is_ok())
    }

    /// Whether the key before the present one still signs.
    pub(super) const fn is_rotating(&self) -> bool {
        self.before.is_some()
    }

    /// The statement that this key is followed by a new one.
    pub(super) fn rotate_to(&self, new: &LogKey) -> Result<KeyRotation> {
        let (old, following) = (self.verifier(), new.verifier());
        let by_old = self.key.sign_rotation(old, following)?;
        let by_new = new.sign_rotation(old, following)?;
        KeyRotation::attach(old, following, &by_old, &by_new).map_err(AppError::internal)
    }

    pub(super) const fn verifier(&self) -> &VerifierKey {
        self.key.verifier()
    }

    /// The origin of one log of the deployment.
    pub(super) fn origin(&self, ledger: &str) -> Result<Origin> {
        let text = format!("{}/{ledger}", self.verifier().name().as_str());
        Origin::parse(&text).map_err(AppError::internal)
    }

    /// The statements of all rotations.
    pub(super) fn statements(&self) -> String {
        self.rotations.iter().map(KeyRotation::note).collect()
    }
}

/// The keys that verify checkpoints, the present one first, if the database has one. Also a key in plain text: nothing is signed.
pub(crate) fn stored_keys(reader: &mut Reader<'_>, keys: &KeyRing) -> Result<Vec<VerifierKey>> {
    let stored = StoredSigner::read(|name| reader.secret(name))?;
    let signer = stored.map(|stored| stored.open_to_verify(keys)).transpose()?;
    Ok(signer.map(|signer| signer.accepted).unwrap_or_default())
}

/// The keys that follow a known one, which is the first, by the statements in the database. These are not secret.
pub(crate) fn successors_in(reader: &mut Reader<'_>, known: &VerifierKey) -> Result<Vec<VerifierKey>> {
    let statements = reader.secret(ROTATIONS)?.unwrap_or_default();
    let rotations = KeyRotation::open_all(&String::from_utf8_lossy(&statements));
    Ok(key_successors(known, &rotations.map_err(AppError::internal)?))
}

/// The key that verifies checkpoints of a database whose secrets `secret` reads.
pub(crate) fn key_in(
    secret: impl FnMut(&str) -> Result<Option<Vec<u8>>, StoreError>,
    keys: &KeyRing,
) -> Result<Option<VerifierKey>> {
    let stored = StoredSigner::read(secret)?;
    let signer = stored.map(|stored| stored.open_to_verify(keys)).transpose()?;
    Ok(signer.map(|signer| signer.verifier().clone()))
}
