//! Admission: whatever a client asks for runs in the turn of its credential's owner, or of its address.

use super::{AnyTurn, CredentialOwner, ReadTurn, TURN_WAIT, busy};
use crate::authentication::Presented;
use crate::credential_hash::hash_of;
use crate::error::{AppError, Result};
use crate::service::AuditLog;
use crate::telemetry::timed;
use audit_admission::{Busy, Turns};
use audit_auth::{Policy, Principal};
use std::sync::Arc;
use tokio::time::Instant;

/// The span of the wait for a turn.
const ADMISSION: &str = "admission";

impl AuditLog {
    /// Runs work for a client without a credential, which may block, in the turn of its address.
    ///
    /// # Errors
    /// [`AppError::Unavailable`] when no turn comes in time; otherwise those of `work`.
    pub async fn for_address<T: Send + 'static>(
        self: &Arc<Self>,
        client: String,
        work: impl FnOnce(&Arc<Self>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.in_turn(&self.turns.streams, client, work).await
    }

    /// As [`Self::for_address`], for a read that costs no more than the look-up of a credential: it takes a turn of those.
    ///
    /// # Errors
    /// As [`Self::for_address`].
    pub async fn look_up_for_address<T: Send + 'static>(
        self: &Arc<Self>,
        client: String,
        work: impl FnOnce(&Arc<Self>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.in_turn(&self.turns.look_ups, client, work).await
    }

    async fn in_turn<T: Send + 'static>(
        self: &Arc<Self>,
        turns: &Arc<Turns<String, ()>>,
        client: String,
        work: impl FnOnce(&Arc<Self>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let turn = timed(ADMISSION, turns.take(client, ())).await;
        let turn = ReadTurn::new(AnyTurn::OfAddress(turn.map_err(busy)?));
        let this = Arc::clone(self);
        turn.run(move || work(&this)).await
    }
}

impl<P: Policy> Presented<P> {
    /// The owner of the credential, if this process has looked it up before.
    fn known_owner(&self) -> Option<CredentialOwner> {
        self.home.turns.owners.get(&hash_of(&self.credential))
    }

    /// The owner of a credential that was recognised before.
    ///
    /// # Errors
    /// [`AppError::Unavailable`] when many others have been recognised since.
    pub fn owner(&self) -> Result<CredentialOwner> {
        let of_cached_key = || {
            let (principal, _) = self.cached_principal(&self.service.directory)?;
            Some(CredentialOwner::of(&principal))
        };
        // Many others can have evicted it since.
        let owner = self.known_owner().or_else(of_cached_key);
        owner.ok_or_else(|| busy(Busy))
    }

    /// Remembers the owner of the credential, which was found valid.
    pub(crate) fn note_owner(&self, principal: &Principal) {
        let owners = &self.home.turns.owners;
        let hash = hash_of(&self.credential);
        if !owners.contains_key(&hash) {
            owners.insert(hash, CredentialOwner::of(principal));
        }
    }

    /// Runs a look-up of the credential, which may block, in the turn of its owner, or if the owner is not known, in that of
    /// the address `client`.
    ///
    /// # Errors
    /// [`AppError::Unavailable`] when no turn comes in time; otherwise those of `look_up`.
    pub async fn check<T: Send + 'static>(
        self,
        client: impl FnOnce() -> String,
        look_up: impl FnOnce(&Self) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let turn = match self.known_owner() {
            Some(owner) => timed(ADMISSION, self.service.turns.requests.take(&owner)).await?,
            None => {
                let turn = timed(ADMISSION, self.home.turns.look_ups.take(client(), ())).await;
                ReadTurn::new(AnyTurn::OfAddress(turn.map_err(busy)?))
            }
        };
        timed("credential", turn.run(move || look_up(&self))).await
    }

    /// Looks the credential up unless this process has done so before.
    ///
    /// # Errors
    /// As [`Self::authenticate`].
    pub async fn recognise(&self, client: impl FnOnce() -> String) -> Result<()> {
        match self.known_owner() {
            Some(_) => Ok(()),
            None => {
                let look_up = |presented: &Self| presented.authenticate().map(drop);
                self.clone().check(client, look_up).await
            }
        }
    }

    /// Runs a query, which may block, in the turn of the credential's owner. The credential was recognised before.
    ///
    /// # Errors
    /// [`AppError::Unavailable`] when no turn comes in time; otherwise those of `work`.
    pub async fn query<T: Send + 'static>(
        self,
        work: impl FnOnce(&Self) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let owner = self.owner()?;
        let turn = timed(ADMISSION, self.service.turns.sessions.take(&owner)).await?;
        timed("query", turn.run(move || work(&self))).await
    }

    /// As [`Self::query`], for work that has looked the credential up.
    ///
    /// # Errors
    /// As [`Self::query`].
    pub async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let owner = self.owner()?;
        let turn = timed(ADMISSION, self.service.turns.sessions.take(&owner)).await?;
        timed("query", turn.run(work)).await
    }

    /// As [`Self::read`], for work that may need a map of tenants. While the map is brought up to date, the request waits without a
    /// turn, and then works again.
    ///
    /// # Errors
    /// As [`Self::query`]; [`AppError::MapBehind`] when it takes too long.
    pub async fn read_with_map<T: Send + 'static>(
        &self,
        work: impl Fn() -> Result<T> + Send + Sync + 'static,
    ) -> Result<T> {
        let (work, deadline) = (Arc::new(work), Instant::now() + TURN_WAIT);
        loop {
            let again = Arc::clone(&work);
            let behind = match self.read(move || again()).await {
                Err(AppError::MapBehind(behind)) => behind,
                outcome => return outcome,
            };
            if !behind.clone().grows_until(deadline).await {
                return Err(AppError::MapBehind(behind));
            }
        }
    }

    /// Runs other work, which may block and uses no reading session for long, in the turn of the credential's owner. The
    /// credential was recognised before.
    ///
    /// # Errors
    /// As [`Self::query`].
    pub async fn request<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let owner = self.owner()?;
        let turn = timed(ADMISSION, self.service.turns.requests.take(&owner)).await?;
        timed("work", turn.run(work)).await
    }
    /// As [`Self::request`], for work that waits for a receiver on the network.
    ///
    /// # Errors
    /// As [`Self::query`].
    pub async fn send<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let owner = self.owner()?;
        let turn = timed(ADMISSION, self.service.turns.sends.take(&owner)).await?;
        timed("send", turn.run(work)).await
    }
}
