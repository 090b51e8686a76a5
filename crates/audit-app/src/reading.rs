//! Who reads: whoever asks for events has the credential looked up together with them. The feed and the exports look at it
//! again for every page, so that what is revoked ends them.

use crate::authentication::Presented;
use crate::error::Result;
use crate::events::visible_tier;
use crate::service::{AuditLog, Scope, Selection};
use audit_auth::{Principal, Readers};
use audit_domain::{EventFilter, ViewerTier};
use audit_store::Reader;

/// What somebody who reads page by page asks for.
#[derive(Clone)]
pub(crate) struct Asked {
    pub(crate) presented: Presented<Readers>,
    pub(crate) selection: Selection,
    /// Ids in it are as the reader knows them.
    pub(crate) filter: EventFilter,
}

/// Whom a page is for, as things are while it is read.
pub(crate) struct ReadAccess {
    pub(crate) principal: Principal,
    pub(crate) scope: Scope,
    /// What a viewer may see; `None` for keys, which see everything.
    pub(crate) tier: Option<ViewerTier>,
}

/// What reads over a longer time in this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadingStatistics {
    /// Requests and streams that follow the feed.
    pub feed_readers: usize,
    /// Those of them that have everything and wait for more.
    pub feed_waiting: usize,
    /// Exports that are running.
    pub exports: usize,
}

impl Presented<Readers> {
    /// The reader of a page. Holds for this moment, as [`Self::authenticate`].
    pub(crate) fn read_access(&self, reader: &mut Reader<'_>, selection: Selection) -> Result<ReadAccess> {
        let snapshot = self.service.directory.current(reader)?;
        let principal = self.identify(reader, &snapshot)?;
        let scope = self.service.scope_at(reader, snapshot, &principal, selection)?;
        let tier = visible_tier(&scope, &principal)?;
        Ok(ReadAccess {
            principal,
            scope,
            tier,
        })
    }
}

impl AuditLog {
    /// What reads over a longer time in this process.
    pub fn reading_statistics(&self) -> ReadingStatistics {
        ReadingStatistics {
            feed_readers: self.feeds.readers(),
            feed_waiting: self.feeds.waiting(),
            exports: self.exports.running(),
        }
    }

    /// Ends every wait for events, now and from now on, because the process is about to end.
    pub fn stop_feeds(&self) {
        self.feeds.stop();
    }
}
