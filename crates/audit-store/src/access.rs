//! The permissions of callers, as types.
//!
//! [`Reader`] reads. [`Writer`] also writes data that no node caches. [`Configurator`] also changes the configuration, which
//! nodes cache: organizations, projects, keys, rules, tiers and webhooks. Each such change raises the version of the
//! configuration in the same transaction, so every node reads it again before it uses it.
//!
//! The methods are spread over the modules of this crate by subject. A row that does not exist is `Ok(None)`, never an
//! error. The tables of the configuration can be named only within the module `configuration`, so no other module can
//! change one.

use crate::configuration::increase_configuration_version;
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

/// Does the work of a [`Writer`] and changes the configuration, in one transaction.
pub struct Configurator<'a> {
    writer: Writer<'a>,
    is_changed: bool,
}

impl<'a> Configurator<'a> {
    pub(crate) const fn new(session: &'a mut AnySession) -> Self {
        Self {
            writer: Writer::new(session),
            is_changed: false,
        }
    }

    /// The session, to change the configuration. It hides [`Reader::session`], so a new setter raises the version
    /// without a line of its own.
    pub(crate) fn session(&mut self) -> &mut AnySession {
        self.is_changed = true;
        self.writer.session()
    }

    /// The session, for rows that no node caches: new rows, and secrets that are read at each use.
    pub(crate) fn uncached_session(&mut self) -> &mut AnySession {
        self.writer.session()
    }

    /// Runs a change, which returns `false` when it changed nothing.
    pub(crate) fn change_if_found(
        &mut self,
        change: impl FnOnce(&mut AnySession) -> Result<bool>,
    ) -> Result<bool> {
        let is_changed = change(self.writer.session())?;
        self.is_changed |= is_changed;
        Ok(is_changed)
    }

    /// Raises the version if the configuration was changed. Each raise restarts every request that is being
    /// prepared, so a transaction that changed nothing does not raise it.
    pub(crate) fn finish(&mut self) -> Result<()> {
        if self.is_changed {
            increase_configuration_version(self.writer.session())?;
        }
        Ok(())
    }
}

impl<'a> Deref for Configurator<'a> {
    type Target = Writer<'a>;

    fn deref(&self) -> &Writer<'a> {
        &self.writer
    }
}

impl<'a> DerefMut for Configurator<'a> {
    fn deref_mut(&mut self) -> &mut Writer<'a> {
        &mut self.writer
    }
}
