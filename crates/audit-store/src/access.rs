//! The permissions of callers, as types.
//!
//! [`Reader`] reads. [`Writer`] also writes data that no node caches. [`Configurator`] also changes the configuration of one
//! owner, which nodes cache: keys, plan, rules, tiers and webhooks. Each such change gives the configuration another
//! version in the same transaction, so every node reads it again before it uses it.
//!
//! The methods are spread over the modules of this crate by subject. A row that does not exist is `Ok(None)`, never an
//! error. The tables of the configuration can be named only within the module `configuration`, so no other module can
//! change one.

use crate::configuration::owner::Owner;
use crate::database::AnySession;
use crate::error::Result;
use std::ops::{Deref, DerefMut};

/// Reads.
pub struct Reader<'a> {
    session: &'a mut AnySession,
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(session: &'a mut AnySession) -> Self {
        Self { session }
    }

    pub(crate) const fn session(&mut self) -> &mut AnySession {
        self.session
    }
}

/// Reads, and writes data that no node caches, in one transaction.
pub struct Writer<'a> {
    reader: Reader<'a>,
}

impl<'a> Writer<'a> {
    pub(crate) const fn new(session: &'a mut AnySession) -> Self {
        Self {
            reader: Reader::new(session),
        }
    }
}

impl<'a> Deref for Writer<'a> {
    type Target = Reader<'a>;

    fn deref(&self) -> &Reader<'a> {
        &self.reader
    }
}

impl<'a> DerefMut for Writer<'a> {
    fn deref_mut(&mut self) -> &mut Reader<'a> {
        &mut self.reader
    }
}

/// Does the work of a [`Writer`] and changes the configuration of `owner`, in one transaction.
///
/// A setter exists only for the owner of what it changes: those of a project for a `ProjectId`, those of an organization for
/// an `OrganizationId`, and the rest for the [`crate::Deployment`].
pub struct Configurator<'a, O> {
    writer: Writer<'a>,
    owner: O,
    has_new_version: bool,
    may_release_deliveries: bool,
}

impl<'a, O: Copy + Into<Owner>> Configurator<'a, O> {
    pub(crate) const fn new(session: &'a mut AnySession, owner: O) -> Self {
        Self {
            writer: Writer::new(session),
            owner,
            has_new_version: false,
            may_release_deliveries: false,
        }
    }

    /// Whose configuration is changed.
    pub(crate) const fn owner(&self) -> O {
        self.owner
    }

    /// The session, to change the owner's configuration. It hides [`Reader::session`], so a new setter draws another version
    /// without a line of its own. The version is new before the change, so that nothing read after the change can be taken
    /// for the configuration of the version before it.
    pub(crate) fn session(&mut self) -> Result<&mut AnySession> {
        self.renew_version()?;
        Ok(self.writer.session())
    }

    /// The session, for rows that no node caches: new rows, and secrets that are read at each use.
    pub(crate) fn uncached_session(&mut self) -> &mut AnySession {
        self.writer.session()
    }

    /// Runs a change, which returns `false` when it changed nothing. A new version makes the requests that are being prepared
    /// start again, so a change of nothing draws none.
    pub(crate) fn change_if_found(
        &mut self,
        change: impl FnOnce(&mut AnySession) -> Result<bool>,
    ) -> Result<bool> {
        let is_changed = change(self.writer.session())?;
        if is_changed {
            self.renew_version()?;
        }
        Ok(is_changed)
    }

    /// Requests that the nodes look for held deliveries to release: a webhook may have come into use.
    pub(crate) fn release_deliveries(&mut self) {
        self.may_release_deliveries = true;
    }

    /// Ends the work. The row of the deployment is locked last, because other projects share it.
    pub(crate) fn finish(&mut self) -> Result<()> {
        if self.may_release_deliveries {
            Owner::Deployment.renew_version(self.writer.session())?;
        }
        Ok(())
    }

    fn renew_version(&mut self) -> Result<()> {
        if !self.has_new_version {
            let owner: Owner = self.owner.into();
            owner.renew_version(self.writer.session())?;
            self.has_new_version = true;
        }
        Ok(())
    }
}

impl<'a, O> Deref for Configurator<'a, O> {
    type Target = Writer<'a>;

    fn deref(&self) -> &Writer<'a> {
        &self.writer
    }
}

impl<O> DerefMut for Configurator<'_, O> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.writer
    }
}
