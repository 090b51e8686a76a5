//! Events that are stored and not in the index yet: a list in the database, one row for each commit.

use crate::append::Tokens;
use crate::error::{Result, StoreError};
use crate::schema::sqlite::{event_tail, indexed};
use audit_index::Term;
use diesel::connection::DefaultLoadingMode;
use diesel::dsl::max;
use diesel::prelude::*;
use std::collections::HashMap;
use std::ops::Range;

/// The events of one commit.
#[derive(Debug)]
pub(crate) struct Commit {
    pub(crate) id: i64,
    positions: Vec<u8>,
    tokens: String,
}

impl Commit {
    /// How many events it has.
    ///
    /// # Errors
    /// When the list is not as it was written.
    pub(crate) fn events_count(&self) -> Result<usize> {
        let (positions, rest) = self.positions.as_chunks::<8>();
        if !rest.is_empty() || positions.len() != self.events().count() {
            return Err(StoreError::Damaged {
                what: "list of events to be indexed",
            });
        }
        Ok(positions.len())
    }

    /// Each event's position with what it is filed under.
    pub(crate) fn events(&self) -> impl Iterator<Item = (i64, &str)> {
        let (positions, _) = self.positions.as_chunks::<8>();
        let positions = positions.iter().map(|position| i64::from_be_bytes(*position));
        positions.zip(self.tokens.split_terminator('\n'))
    }
}

/// What a commit left in the tail.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left {
    /// Its number.
    pub(crate) commit: i64,
    /// The last commit that was in the index then.
    pub(crate) last_indexed: i64,
}

/// Leaves the events of a commit to be indexed, by position, and forgets those that are.
pub(crate) fn leave<'a>(
    connection: &mut SqliteConnection,
    events: impl Iterator<Item = (i64, &'a Tokens)>,
) -> Result<Left> {
    let newest: Option<i64> = event_tail::table
        .select(max(event_tail::id))
        .get_result(connection)?;
    let commit = newest.unwrap_or(0) + 1;
    let (mut positions, mut tokens) = (Vec::new(), String::new());
    for (position, filed_under) in events {
        positions.extend(position.to_be_bytes());
        filed_under.push_to(&mut tokens);
        tokens.push('\n');
    }
    diesel::insert_into(event_tail::table)
        .values((
            event_tail::id.eq(commit),
            event_tail::positions.eq(positions),
            event_tail::tokens.eq(tokens),
        ))
        .execute(connection)?;
    let last_indexed = last_indexed(connection)?;
    diesel::delete(event_tail::table.filter(event_tail::id.le(last_indexed))).execute(connection)?;
    Ok(Left { commit, last_indexed })
}

/// The last commit that is in the index. Whoever can see that can rely on it: it was synced to disk before.
pub(crate) fn last_indexed(connection: &mut SqliteConnection) -> Result<i64> {
    let last = indexed::table.select(indexed::last_commit);
    Ok(last.get_result(connection).optional()?.unwrap_or(0))
}

/// Notes what [`last_indexed`] says from now on.
pub(crate) fn set_last_indexed(index: &mut SqliteConnection, commit: i64) -> Result<()> {
    diesel::update(indexed::table)
        .set(indexed::last_commit.eq(commit))
        .execute(index)?;
    Ok(())
}

/// Calls `see` with the commits that are not in the index, oldest first, until it has seen enough and says `false`.
pub(crate) fn for_each(
    connection: &mut SqliteConnection,
    mut see: impl FnMut(Commit) -> Result<bool>,
) -> Result<()> {
    // One statement, which sees the database as of a moment and the index as of a later one. In the other order, what is
    // indexed and forgotten in between would be in neither.
    let last = indexed::table.select(indexed::last_commit).single_value();
    let commits = event_tail::table
        .filter(event_tail::id.nullable().gt(last))
        .order(event_tail::id)
        .load_iter::<(i64, Vec<u8>, String), DefaultLoadingMode>(connection)?;
    for commit in commits {
        let (id, positions, tokens) = commit?;
        let commit = Commit {
            id,
            positions,
            tokens,
        };
        if !see(commit)? {
            break;
        }
    }
    Ok(())
}

/// The positions within `range` that are not in the index and fulfil all conditions, in no order.
pub(crate) fn positions(
    connection: &mut SqliteConnection,
    terms: &[Term],
    range: &Range<i64>,
) -> Result<Vec<i64>> {
    let mut found = Vec::new();
    for_each(connection, |commit| {
        let events = commit.events().filter(|(position, tokens)| {
            range.contains(position) && terms.iter().all(|term| term.is_fulfilled_by(tokens))
        });
        found.extend(events.map(|(position, _)| position));
        Ok(true)
    })?;
    Ok(found)
}

/// The positions of the events that are not in the index and have one of these idempotency keys, by the key's token.
pub(crate) fn positions_by_key<'a>(
    connection: &mut SqliteConnection,
    keys: &[&'a str],
) -> Result<HashMap<&'a str, Vec<i64>>> {
    let mut found: HashMap<&'a str, Vec<i64>> = keys.iter().map(|key| (*key, Vec::new())).collect();
    for_each(connection, |commit| {
        for (position, filed_under) in commit.events() {
            let last = filed_under.rsplit(' ').next();
            if let Some(positions) = last.and_then(|token| found.get_mut(token)) {
                positions.push(position);
            }
        }
        Ok(true)
    })?;
    Ok(found)
}
