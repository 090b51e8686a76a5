//! What a caller may do with the tables, as types.
//!
//! [`Reader`] reads. [`Writer`] also writes what no node keeps in memory. [`Configurator`] also changes what nodes do
//! keep: organizations, projects, keys, rules, tiers and webhooks. Each such change raises the version of the
//! configuration in the same transaction, which makes every node read it again before it relies on it.
//!
//! The methods are spread over the modules of this crate by subject. A row that does not exist is `Ok(None)`, never an
//! error. The tables of the configuration can be named only within the module `configuration`, so no other module can
//! change one by another way.

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

/// Reads, and writes what no node keeps in memory, in one transaction.
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

/// Does what a [`Writer`] does and changes the configuration, in one transaction.
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

    /// The session, to change the configuration. It hides [`Reader::session`], so a setter that is added raises the
    /// version without a line of its own.
    pub(crate) fn session(&mut self) -> &mut AnySession {
        self.is_changed = true;
        self.writer.session()
    }

    /// The session, for rows that no node keeps in memory: new ones, and secrets that are read at each use.
    pub(crate) fn uncached_session(&mut self) -> &mut AnySession {
        self.writer.session()
    }

    /// Runs a change that may find nothing to change, which it then says by `false`.
    pub(crate) fn change_if_found(
        &mut self,
        change: impl FnOnce(&mut AnySession) -> Result<bool>,
    ) -> Result<bool> {
        let is_changed = change(self.writer.session())?;
        self.is_changed |= is_changed;
        Ok(is_changed)
    }

    /// Raises the version if the configuration was changed. Each raise makes every request that is being prepared start
    /// again, so a transaction that changed nothing does not.
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
