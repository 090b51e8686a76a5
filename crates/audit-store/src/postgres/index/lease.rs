//! Leases of groups: which node merges the segments of a group.
//!
//! A lease expires by the clock of the database. The token is what protects the segments: a transaction that needs the lease
//! updates its row where the token is the node's own, so the transactions of a former holder fail. The update holds the row
//! until the end of the transaction; other nodes skip a row that is held.

use super::backlog::GroupId;
use super::segments::{ReadAhead, WrittenBlocks};
use crate::error::{Result, StoreError};
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use std::collections::BTreeSet;

/// How long a lease is valid after each renewal, in seconds.
const LEASE_SECONDS: u32 = 10;

/// The leases of this process.
pub(crate) struct Leases {
    /// Random.
    token: i64,
    held: BTreeSet<GroupId>,
}

#[derive(QueryableByName)]
struct Number {
    #[diesel(sql_type = BigInt)]
    number: i64,
}

impl Leases {
    pub(crate) fn open(connection: &mut PgConnection) -> Result<Self> {
        let token = "SELECT (random() * 9007199254740992)::bigint AS number";
        let token: Number = diesel::sql_query(token).get_result(connection)?;
        Ok(Self {
            token: token.number,
            held: BTreeSet::new(),
        })
    }

    /// The groups whose lease this process held at the last renewal.
    pub(crate) const fn held(&self) -> &BTreeSet<GroupId> {
        &self.held
    }

    pub(crate) fn holds(&self, group: GroupId) -> bool {
        self.held.contains(&group)
    }

    /// Notes that another node has taken a lease.
    pub(crate) fn lost(&mut self, group: GroupId) {
        self.held.remove(&group);
    }

    /// Renews the leases, and takes those that have expired. Returns the groups that are new.
    pub(crate) fn renew(&mut self, connection: &mut PgConnection) -> Result<Vec<GroupId>> {
        let sql = format!(
            "UPDATE index_groups SET token = $1, expires_at = statement_timestamp() + interval '{LEASE_SECONDS} seconds' \
             WHERE id IN (\
                 SELECT id FROM index_groups WHERE token = $1 OR expires_at < statement_timestamp() \
                 ORDER BY id FOR UPDATE SKIP LOCKED\
             ) RETURNING id AS number"
        );
        let rows: Vec<Number> = diesel::sql_query(sql)
            .bind::<BigInt, _>(self.token)
            .load(connection)?;
        let held: BTreeSet<GroupId> = rows.into_iter().map(|row| row.number).collect();
        let new = held.difference(&self.held).copied().collect();
        self.held = held;
        Ok(new)
    }

    /// Gives the leases up, so that other nodes need not wait until they expire.
    pub(crate) fn release(&mut self, connection: &mut PgConnection) -> Result<()> {
        self.held.clear();
        diesel::sql_query("UPDATE index_groups SET expires_at = '-infinity' WHERE token = $1")
            .bind::<BigInt, _>(self.token)
            .execute(connection)?;
        Ok(())
    }

    /// Changes the index of a group, in a transaction that holds and renews the lease.
    ///
    /// # Errors
    /// [`StoreError::Stale`] when another node has the lease, and those of `work`.
    pub(crate) fn work<T>(
        &self,
        group: GroupId,
        connection: &mut PgConnection,
        ahead: &mut ReadAhead,
        work: impl FnOnce(&mut WrittenBlocks<'_>) -> Result<T>,
    ) -> Result<T> {
        let renew = format!(
            "UPDATE index_groups SET expires_at = statement_timestamp() + interval '{LEASE_SECONDS} seconds' \
             WHERE id = $1 AND token = $2"
        );
        WrittenBlocks::change(group, connection, ahead, |blocks| {
            let renewed = diesel::sql_query(renew)
                .bind::<BigInt, _>(group)
                .bind::<BigInt, _>(self.token)
                .execute(blocks.connection())?;
            match renewed {
                0 => Err(StoreError::Stale),
                _ => work(blocks),
            }
        })
    }
}
