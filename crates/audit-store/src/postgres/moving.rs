//! Moving a project to another cell while it is used.
//!
//! ```text
//! begin      directory: moving_to = target
//! copy       events, in parts; the source stores more meanwhile
//! pause      directory: paused_until; source: version 0, so it serves no request of the project
//! copy_rest  the last events and everything else; sizes, ids and the Merkle tree must be equal
//! switch     directory: cell = target, if the pause has not expired           <- decides
//! activate   target: a new version, so it serves the project
//! clean      source: the copy is removed in parts
//! ```
//!
//! Each step can be repeated, and the move may end after each. A pause that expires before the switch has no effect any
//! more: the node that meets the project then has the source serve it again ([`serve`]). After the switch, the same call has
//! the target serve it. So the directory names the only cell that can serve the project at any time.
//!
//! The tree of the copy is computed from the copied events and compared with the edge of the tree of the source. The index
//! is not copied: the events enter the backlog of the target.

mod directory;
mod rows;
mod tables;

pub(crate) use directory::serve;

use super::PostgresSession;
use super::cells::set_served;
use super::connection::{self, Purpose};
use crate::cells::CellId;
use crate::database::write_transaction;
use crate::error::{Result, StoreError};
use crate::store::Store;
use audit_domain::ProjectId;
use diesel::sql_types::{BigInt, Text};
use diesel::{PgConnection, RunQueryDsl, sql_query};
use directory::{enter_move, forget_copy, serve_in, session_of, url_of};
use rows::{EVENTS_PER_PART, clean_copy, heads, set_unserved};
use std::time::{Duration, Instant};
use tables::COPIED_TABLES;

/// How long a project may be paused. Longer than the last part takes; a node that hangs ends the pause by this.
const PAUSE_SECONDS_MAX: i64 = 60;
/// Passes over the events before the pause, at most, while more are stored than one part has.
const PASSES_MAX: usize = 20;

/// What a move did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MovedProject {
    /// Events that were copied.
    pub events: u64,
    /// Those of them that were copied while the project was paused.
    pub events_while_paused: u64,
    /// How long the project was not served.
    pub paused: Duration,
}

/// A move of a project.
pub struct ProjectMove {
    project_id: ProjectId,
    home: PgConnection,
    source: PostgresSession,
    source_id: CellId,
    target: PostgresSession,
    target_id: CellId,
    ledger_ids: Vec<i64>,
}

impl ProjectMove {
    /// Enters the move in the directory. The copy of an earlier move is removed first.
    ///
    /// # Errors
    /// When a database fails; [`StoreError::Duplicate`] when the project is being moved to another cell.
    pub fn begin(home: &Store, project_id: ProjectId, target_id: CellId) -> Result<Self> {
        let mut directory = connection::connect(&url_of(home, CellId::HOME)?, Purpose::Write)?;
        let begun = enter_move(&mut directory, project_id, target_id)?;
        if let Some(copy_in) = begun.copy_in {
            let mut session = session_of(home, copy_in)?;
            clean_copy(&mut session, project_id, copy_in)?;
            forget_copy(&mut directory, project_id)?;
        }
        let mut source = session_of(home, begun.cell)?;
        let ledger_ids = heads(&mut source, project_id)?
            .iter()
            .map(|head| head.id)
            .collect();
        Ok(Self {
            project_id,
            home: directory,
            source,
            source_id: begun.cell,
            target: session_of(home, target_id)?,
            target_id,
            ledger_ids,
        })
    }

    /// Moves the project: all steps.
    ///
    /// # Errors
    /// When a database fails, when the copy has another Merkle tree than the source, or when the pause expired. Then the
    /// project is still in the cell that the directory names.
    pub fn run(&mut self) -> Result<MovedProject> {
        let mut moved = MovedProject::default();
        if self.source_id == self.target_id {
            self.activate()?;
            return Ok(moved);
        }
        moved.events = self.copy()?;
        let paused_at = Instant::now();
        self.pause()?;
        let switched = self.copy_rest().and_then(|events| {
            self.switch()?;
            Ok(events)
        });
        match switched {
            Ok(events) => moved.events_while_paused = events,
            Err(error) => {
                self.resume_source()?;
                return Err(error);
            }
        }
        self.activate()?;
        moved.paused = paused_at.elapsed();
        moved.events += moved.events_while_paused;
        self.clean()?;
        Ok(moved)
    }

    /// Copies the events. The last pass may leave those that were stored meanwhile. Returns their number.
    ///
    /// # Errors
    /// When a database fails, or an event is missing.
    pub fn copy(&mut self) -> Result<u64> {
        self.insert_heads()?;
        let mut copied = 0;
        for _ in 0..PASSES_MAX {
            let events = self.copy_events()?;
            copied += events;
            if events <= EVENTS_PER_PART.unsigned_abs() {
                break;
            }
        }
        Ok(copied)
    }

    /// Has the source serve no request of the project.
    ///
    /// # Errors
    /// When a database fails, or the project is paused by another move.
    pub fn pause(&mut self) -> Result<()> {
        let paused = sql_query(format!(
            "UPDATE placements SET paused_until = clock_timestamp() + interval '{PAUSE_SECONDS_MAX} s' \
             WHERE project_id = $1 AND cell_id = $2 AND moving_to = $3 \
             AND (paused_until IS NULL OR paused_until < clock_timestamp())"
        ))
        .bind::<Text, _>(self.project_id.to_string())
        .bind::<BigInt, _>(self.source_id.0)
        .bind::<BigInt, _>(self.target_id.0)
        .execute(&mut self.home)?;
        if paused != 1 {
            return Err(StoreError::Unreachable(
                "another move of the project is running".to_owned(),
            ));
        }
        let project_id = self.project_id;
        write_transaction(&mut self.source, |session| set_unserved(session, project_id))
    }

    /// Copies what is left, while the project is paused. Returns the number of events.
    ///
    /// # Errors
    /// When a database fails; [`StoreError::Damaged`] when the copy differs.
    pub fn copy_rest(&mut self) -> Result<u64> {
        let events = self.copy_events()?;
        self.remove_rows()?;
        for (table, condition) in COPIED_TABLES {
            self.copy_table(table, condition)?;
        }
        self.copy_heads()?;
        let (source, target) = (
            heads(&mut self.source, self.project_id)?,
            heads(&mut self.target, self.project_id)?,
        );
        match source == target {
            true => Ok(events),
            false => Err(StoreError::Damaged {
                what: "ledger: its events do not have the Merkle tree of its head; see `log verify`",
            }),
        }
    }

    /// Enters the target as the cell of the project.
    ///
    /// # Errors
    /// When the directory cannot be written, or the pause has expired.
    pub fn switch(&mut self) -> Result<()> {
        let keys = self.source_text(
            "SELECT coalesce(json_agg(json_build_object('key_hash', key_hash, 'key_id', id, 'project_id', project_id)), '[]')::text \
             AS text FROM api_keys WHERE project_id = $1",
        )?;
        sql_query(
            "INSERT INTO cell_keys SELECT * FROM json_populate_recordset(NULL::cell_keys, $1::json) \
             ON CONFLICT (key_hash) DO NOTHING",
        )
        .bind::<Text, _>(keys)
        .execute(&mut self.home)?;
        let switched = sql_query(
            "UPDATE placements SET cell_id = $2, moving_to = NULL, paused_until = NULL, copy_in = $3 \
             WHERE project_id = $1 AND moving_to = $2 AND cell_id = $3 AND paused_until > clock_timestamp()",
        )
        .bind::<Text, _>(self.project_id.to_string())
        .bind::<BigInt, _>(self.target_id.0)
        .bind::<BigInt, _>(self.source_id.0)
        .execute(&mut self.home)?;
        match switched {
            1 => Ok(()),
            _ => Err(StoreError::Unreachable(format!(
                "the last part of the copy took longer than {PAUSE_SECONDS_MAX} s"
            ))),
        }
    }

    /// Has the target serve the project.
    ///
    /// # Errors
    /// When the target cannot be written. A request of the project then does the same.
    pub fn activate(&mut self) -> Result<()> {
        let project_id = self.project_id;
        write_transaction(&mut self.target, |session| set_served(session, project_id))
    }

    /// Removes the copy from the source.
    ///
    /// # Errors
    /// When a database fails. The next move of the project does the rest.
    pub fn clean(&mut self) -> Result<()> {
        clean_copy(&mut self.source, self.project_id, self.source_id)?;
        forget_copy(&mut self.home, self.project_id)
    }

    /// Ends the pause: the source serves the project again, unless the switch was made.
    fn resume_source(&mut self) -> Result<()> {
        serve_in(&mut self.home, self.project_id, true, |cell| {
            match cell == self.source_id {
                true => write_transaction(&mut self.source, |session| set_served(session, self.project_id)),
                false => write_transaction(&mut self.target, |session| set_served(session, self.project_id)),
            }
        })
        .map(drop)
    }
}
