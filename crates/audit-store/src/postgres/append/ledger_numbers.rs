//! Numbers that PostgreSQL draws for a new ledger: its id, the group of its project, and random ones.

use crate::error::{Result, StoreError};
use crate::postgres::PostgresSession;
use crate::postgres::schema::index_groups;
use audit_domain::ProjectId;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use sha2::{Digest, Sha256};

/// The group of a project: a hash of its id.
pub(crate) fn group_of(session: &mut PostgresSession, project_id: ProjectId) -> Result<i64> {
    let groups: i64 = index_groups::table.count().get_result(&mut session.connection)?;
    group_number(groups, &project_id.to_string())
}

/// The group of a project, of this number of groups.
pub(crate) fn group_number(groups: i64, project_id: &str) -> Result<i64> {
    let digest: [u8; 32] = Sha256::digest(project_id.as_bytes()).into();
    let number = digest[..8]
        .iter()
        .fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    let group = number.checked_rem(groups.unsigned_abs());
    group.map(u64::cast_signed).ok_or(StoreError::Damaged {
        what: "list of index groups",
    })
}

/// The number of a new ledger. Transactions that create projects of a cell take turns from here on.
pub(crate) fn next_ledger_number(session: &mut PostgresSession) -> Result<i64> {
    let next: LedgerNumber = diesel::sql_query(
        "UPDATE counters SET value = value + 1 WHERE name = 'ledgers' RETURNING value AS number",
    )
    .get_result(&mut session.connection)?;
    Ok(next.number)
}

#[derive(QueryableByName)]
struct LedgerNumber {
    #[diesel(sql_type = BigInt)]
    number: i64,
}

/// A random number: the last 64 bits of a random UUID, of which two are constant.
#[expect(
    clippy::disallowed_methods,
    reason = "once for each change of a configuration"
)]
pub(crate) fn random_number(session: &mut PostgresSession) -> Result<i64> {
    let number = "('x' || translate(right(gen_random_uuid()::text, 17), '-', ''))::bit(64)::bigint";
    Ok(diesel::select(sql::<BigInt>(number)).get_result(&mut session.connection)?)
}
