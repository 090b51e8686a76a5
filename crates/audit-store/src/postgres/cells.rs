//! The directory of cells (`cells.rs` of the crate).

use super::PostgresSession;
use super::schema::cells;
use crate::cells::rows::{Cell, CellId, CellSize, NewCell, OpenClaim, Placement};
use crate::columns::stored;
use crate::configuration::rows::{Key, KeyTextHash, Organization};
use crate::error::{Result, StoreError};
use crate::ids::StreamTokenHash;
use audit_domain::{KeyId, OrganizationId, Plan, ProjectId, Timestamp};
use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{BigInt, Binary, Nullable, Text};
use std::collections::HashMap;

/// The ledgers of a cell have numbers from this many times the number of the cell.
const LEDGERS_PER_CELL: i64 = 1_000_000_000;

type CellRow = (i64, String, Option<String>, bool, i64);

#[derive(QueryableByName)]
struct PlacementRow {
    #[diesel(sql_type = Text)]
    project_id: String,
    #[diesel(sql_type = BigInt)]
    cell_id: i64,
}

#[derive(QueryableByName)]
struct Number {
    #[diesel(sql_type = BigInt)]
    number: i64,
}

#[derive(QueryableByName)]
struct SizeRow {
    #[diesel(sql_type = BigInt)]
    projects: i64,
    #[diesel(sql_type = BigInt)]
    events: i64,
    #[diesel(sql_type = BigInt)]
    bytes: i64,
}

#[derive(QueryableByName)]
struct OutdatedRow {
    #[diesel(sql_type = BigInt)]
    cell_id: i64,
    #[diesel(sql_type = Text)]
    organization_id: String,
}

#[derive(QueryableByName)]
struct OpenClaimRow {
    #[diesel(sql_type = Binary)]
    token_hash: Vec<u8>,
    #[diesel(sql_type = Text)]
    project_id: String,
    #[diesel(sql_type = Text)]
    environment: String,
}

/// Claims that one call completes, at most.
const OPEN_CLAIMS_MAX: usize = 100;

/// The claim of one stream, or some of those that were begun before a time.
pub(crate) fn open_claims(
    session: &mut PostgresSession,
    of: Option<&[u8]>,
    before: Option<Timestamp>,
) -> Result<Vec<OpenClaim>> {
    let rows: Vec<OpenClaimRow> = sql_query(format!(
        "SELECT token_hash, project_id, environment FROM open_claims \
         WHERE (token_hash = $1 OR claimed_at < $2) ORDER BY claimed_at LIMIT {OPEN_CLAIMS_MAX}"
    ))
    .bind::<Nullable<Binary>, _>(of)
    .bind::<Nullable<BigInt>, _>(before.map(Timestamp::as_micros))
    .load(&mut session.connection)?;
    let damaged = || StoreError::Damaged { what: "claim" };
    let read = |row: OpenClaimRow| {
        Ok(OpenClaim {
            token_hash: row.token_hash.try_into().map_err(|_| damaged())?,
            project_id: stored(&row.project_id, "project id")?,
            environment: stored(&row.environment, "environment")?,
        })
    };
    rows.into_iter().map(read).collect()
}

pub(crate) fn insert_open_claim(
    session: &mut PostgresSession,
    claim: &OpenClaim,
    now: Timestamp,
) -> Result<()> {
    sql_query(
        "INSERT INTO open_claims (token_hash, project_id, environment, claimed_at) VALUES ($1, $2, $3, $4)",
    )
    .bind::<Binary, _>(claim.token_hash.as_slice())
    .bind::<Text, _>(claim.project_id.to_string())
    .bind::<Text, _>(claim.environment.as_str())
    .bind::<BigInt, _>(now.as_micros())
    .execute(&mut session.connection)?;
    Ok(())
}

pub(crate) fn delete_open_claim(session: &mut PostgresSession, token_hash: &StreamTokenHash) -> Result<()> {
    sql_query("DELETE FROM open_claims WHERE token_hash = $1")
        .bind::<Binary, _>(token_hash.as_slice())
        .execute(&mut session.connection)?;
    Ok(())
}

pub(crate) fn stored_claim(
    session: &mut PostgresSession,
    token_hash: &StreamTokenHash,
) -> Result<Option<u64>> {
    let found: Option<Number> = sql_query("SELECT events AS number FROM stored_claims WHERE token_hash = $1")
        .bind::<Binary, _>(token_hash.as_slice())
        .get_result(&mut session.connection)
        .optional()?;
    Ok(found.map(|found| found.number.unsigned_abs()))
}

pub(crate) fn insert_stored_claim(
    session: &mut PostgresSession,
    claim: &OpenClaim,
    events: u64,
) -> Result<()> {
    sql_query("INSERT INTO stored_claims (token_hash, project_id, events) VALUES ($1, $2, $3)")
        .bind::<Binary, _>(claim.token_hash.as_slice())
        .bind::<Text, _>(claim.project_id.to_string())
        .bind::<BigInt, _>(events.cast_signed())
        .execute(&mut session.connection)?;
    Ok(())
}

pub(crate) fn cells(session: &mut PostgresSession) -> Result<Vec<Cell>> {
    let rows = cells::table
        .order(cells::id)
        .load::<CellRow>(&mut session.connection)?;
    let read = |(id, name, schema, takes_projects, _): CellRow| Cell {
        id: CellId(id),
        name,
        schema,
        takes_projects,
    };
    Ok(rows.into_iter().map(read).collect())
}

pub(crate) fn has_cells(session: &mut PostgresSession) -> Result<bool> {
    let others = cells::table.filter(cells::id.ne(CellId::HOME.0));
    Ok(diesel::select(diesel::dsl::exists(others)).get_result(&mut session.connection)?)
}

pub(crate) fn cell_of_project(session: &mut PostgresSession, project_id: ProjectId) -> Result<CellId> {
    let found: Option<Number> = sql_query("SELECT cell_id AS number FROM placements WHERE project_id = $1")
        .bind::<Text, _>(project_id.to_string())
        .get_result(&mut session.connection)
        .optional()?;
    Ok(found.map_or(CellId::HOME, |found| CellId(found.number)))
}

/// The projects that are not in the home cell.
pub(crate) fn placements(session: &mut PostgresSession) -> Result<HashMap<String, CellId>> {
    let rows: Vec<PlacementRow> =
        sql_query("SELECT project_id, cell_id FROM placements").load(&mut session.connection)?;
    let read = |row: PlacementRow| (row.project_id, CellId(row.cell_id));
    Ok(rows.into_iter().map(read).collect())
}

fn read_placement(row: Option<PlacementRow>) -> Result<Option<Placement>> {
    row.map(|row| {
        Ok(Placement {
            project_id: stored(&row.project_id, "project id")?,
            cell: CellId(row.cell_id),
        })
    })
    .transpose()
}

const PLACEMENT_OF_KEY: &str = "SELECT cell_keys.project_id, coalesce(placements.cell_id, 0) AS cell_id \
     FROM cell_keys LEFT JOIN placements ON placements.project_id = cell_keys.project_id WHERE ";

pub(crate) fn placement_of_key(
    session: &mut PostgresSession,
    hash: &KeyTextHash,
) -> Result<Option<Placement>> {
    let found = sql_query(format!("{PLACEMENT_OF_KEY} key_hash = $1"))
        .bind::<Binary, _>(hash.as_slice())
        .get_result(&mut session.connection)
        .optional()?;
    read_placement(found)
}

pub(crate) fn placement_of_key_id(session: &mut PostgresSession, id: KeyId) -> Result<Option<Placement>> {
    let found = sql_query(format!("{PLACEMENT_OF_KEY} key_id = $1"))
        .bind::<Text, _>(id.to_string())
        .get_result(&mut session.connection)
        .optional()?;
    read_placement(found)
}

pub(crate) fn cells_of_organization(
    session: &mut PostgresSession,
    id: OrganizationId,
) -> Result<Vec<CellId>> {
    let found: Vec<Number> = sql_query(
        "SELECT DISTINCT placements.cell_id AS number FROM projects \
         JOIN placements ON placements.project_id = projects.id \
         WHERE projects.organization_id = $1 AND placements.cell_id <> 0 ORDER BY number",
    )
    .bind::<Text, _>(id.to_string())
    .load(&mut session.connection)?;
    Ok(found.into_iter().map(|found| CellId(found.number)).collect())
}

/// Of cells with equally many projects, one at random.
pub(crate) fn cell_for_new_project(session: &mut PostgresSession) -> Result<CellId> {
    let found: Option<Number> = sql_query(
        "SELECT cells.id AS number FROM cells WHERE takes_projects ORDER BY CASE cells.id \
             WHEN 0 THEN (SELECT count(*) FROM projects) - (SELECT count(*) FROM placements WHERE cell_id <> 0) \
             ELSE (SELECT count(*) FROM placements WHERE placements.cell_id = cells.id) END, random() LIMIT 1",
    )
    .get_result(&mut session.connection)
    .optional()?;
    Ok(found.map_or(CellId::HOME, |found| CellId(found.number)))
}

pub(crate) fn outdated_organizations(session: &mut PostgresSession) -> Result<Vec<(CellId, OrganizationId)>> {
    let found: Vec<OutdatedRow> = sql_query(
        "SELECT cell_organizations.cell_id, cell_organizations.organization_id FROM cell_organizations \
         JOIN organizations ON organizations.id = cell_organizations.organization_id \
         WHERE organizations.plan <> cell_organizations.plan",
    )
    .load(&mut session.connection)?;
    found
        .into_iter()
        .map(|row| {
            Ok((
                CellId(row.cell_id),
                stored(&row.organization_id, "organization id")?,
            ))
        })
        .collect()
}

pub(crate) fn cell_size(session: &mut PostgresSession) -> Result<CellSize> {
    let row: SizeRow = sql_query(
        "SELECT count(DISTINCT project_id) AS projects, coalesce(sum(size), 0)::bigint AS events, \
             (SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class \
              WHERE relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace) AS bytes \
         FROM ledgers",
    )
    .get_result(&mut session.connection)?;
    Ok(CellSize {
        projects: row.projects,
        events: row.events,
        bytes: row.bytes,
    })
}

pub(crate) fn next_cell_id(session: &mut PostgresSession) -> Result<CellId> {
    let next: Number =
        sql_query("UPDATE counters SET value = value + 1 WHERE name = 'cells' RETURNING value AS number")
            .get_result(&mut session.connection)?;
    Ok(CellId(next.number))
}

pub(crate) fn number_ledgers_of(session: &mut PostgresSession, cell: CellId) -> Result<()> {
    let before_first = cell.0.saturating_mul(LEDGERS_PER_CELL);
    sql_query("UPDATE counters SET value = $1 WHERE name = 'ledgers'")
        .bind::<BigInt, _>(before_first)
        .execute(&mut session.connection)?;
    Ok(())
}

pub(crate) fn insert_cell(
    session: &mut PostgresSession,
    id: CellId,
    cell: &NewCell,
    now: Timestamp,
) -> Result<()> {
    diesel::insert_into(cells::table)
        .values((
            cells::id.eq(id.0),
            cells::name.eq(&cell.name),
            cells::schema_name.eq(&cell.schema),
            cells::takes_projects.eq(false),
            cells::created_at.eq(now.as_micros()),
        ))
        .execute(&mut session.connection)?;
    Ok(())
}

pub(crate) fn place_new_projects_in(session: &mut PostgresSession, places: &[CellId]) -> Result<()> {
    let ids: Vec<i64> = places.iter().map(|cell| cell.0).collect();
    diesel::update(cells::table)
        .set(cells::takes_projects.eq(cells::id.eq_any(ids)))
        .execute(&mut session.connection)?;
    Ok(())
}

/// Enters the cell of a new project.
pub(crate) fn place(session: &mut PostgresSession, project_id: ProjectId, cell: CellId) -> Result<()> {
    sql_query("INSERT INTO placements (project_id, cell_id) VALUES ($1, $2)")
        .bind::<Text, _>(project_id.to_string())
        .bind::<BigInt, _>(cell.0)
        .execute(&mut session.connection)?;
    Ok(())
}

pub(crate) fn insert_key_of_cell(session: &mut PostgresSession, key: &Key, hash: &KeyTextHash) -> Result<()> {
    let Some((project_id, _)) = key.project else {
        return Err(StoreError::Damaged {
            what: "project of a key",
        });
    };
    sql_query("INSERT INTO cell_keys (key_hash, key_id, project_id) VALUES ($1, $2, $3)")
        .bind::<Binary, _>(hash.as_slice())
        .bind::<Text, _>(key.id.to_string())
        .bind::<Text, _>(project_id.to_string())
        .execute(&mut session.connection)?;
    Ok(())
}

pub(crate) fn note_plan(
    session: &mut PostgresSession,
    cell: CellId,
    id: OrganizationId,
    plan: Plan,
) -> Result<()> {
    sql_query(
        "INSERT INTO cell_organizations (organization_id, cell_id, plan) VALUES ($1, $2, $3) \
         ON CONFLICT (organization_id, cell_id) DO UPDATE SET plan = excluded.plan",
    )
    .bind::<Text, _>(id.to_string())
    .bind::<BigInt, _>(cell.0)
    .bind::<Text, _>(plan.as_str())
    .execute(&mut session.connection)?;
    Ok(())
}

pub(crate) fn copy_organization(session: &mut PostgresSession, organization: &Organization) -> Result<()> {
    sql_query(
        "INSERT INTO organizations (id, name, plan, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO NOTHING",
    )
    .bind::<Text, _>(organization.id.to_string())
    .bind::<Text, _>(&organization.name)
    .bind::<Text, _>(organization.plan.as_str())
    .bind::<BigInt, _>(organization.created_at.as_micros())
    .execute(&mut session.connection)?;
    Ok(())
}
