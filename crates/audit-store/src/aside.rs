//! The thread that files what PostgreSQL's inverted index has put aside.
//!
//! GIN puts new rows into a list, its pending list, that every search reads through, and files them together once the list is
//! long: in the middle of somebody's insert, which keeps the head of a ledger from everybody else for 50 to 100 ms more. Here it
//! is done beside the inserts, and the list is short when somebody searches.

use crate::connection::{AnyConnection, DatabaseUrl, Purpose};
use crate::error::Result;
use crate::signal::{Filing, Signal};
use diesel::connection::SimpleConnection;
use std::time::Duration;

/// How long commits come together before they are filed. Five times as often costs half as much again.
const INTERVAL: Duration = Duration::from_millis(500);
/// How long to leave it after a failure. Inserts file then, when there is much.
const RETRY_INTERVAL: Duration = Duration::from_secs(60);

/// Files what was put aside.
pub(crate) struct Filer {
    url: DatabaseUrl,
    connection: Option<AnyConnection>,
}

impl Filer {
    /// Connects when there is something to file.
    pub(crate) fn new(url: &DatabaseUrl) -> Self {
        Self {
            url: url.clone(),
            connection: None,
        }
    }

    /// Works until it is closed. What is left then is found as well, and filed by whoever comes next.
    pub(crate) fn run(mut self, filing: &Signal<Filing>) {
        while filing.wait_for_work() {
            filing.rest(INTERVAL);
            if let Err(error) = self.file() {
                self.connection = None;
                log::warn!("the index of tokens is filed by those who store: {error}");
                filing.rest(RETRY_INTERVAL);
            }
        }
    }

    fn file(&mut self) -> Result<()> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => none.insert(self.url.connect(Purpose::Write)?),
        };
        Ok(connection.batch_execute("SELECT gin_clean_pending_list('events_by_token')")?)
    }
}
