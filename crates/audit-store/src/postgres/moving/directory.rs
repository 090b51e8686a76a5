//! The directory of a move, and the connections to its cells.

use crate::cells::CellId;
use crate::database::{DatabaseUrl, write_transaction};
use crate::error::{Result, StoreError};
use crate::postgres::cells::set_served;
use crate::postgres::connection::{self, Purpose};
use crate::postgres::{Database, PostgresSession};
use crate::store::Store;
use audit_domain::ProjectId;
use diesel::connection::SimpleConnection;
use diesel::sql_types::{BigInt, Bool, Nullable, Text};
use diesel::{OptionalExtension, PgConnection, QueryableByName, RunQueryDsl, sql_query};

#[derive(QueryableByName)]
struct PlacementRow {
    #[diesel(sql_type = BigInt)]
    cell_id: i64,
    #[diesel(sql_type = Nullable<BigInt>)]
    copy_in: Option<i64>,
}

#[derive(QueryableByName)]
struct PauseRow {
    #[diesel(sql_type = BigInt)]
    cell_id: i64,
    #[diesel(sql_type = Bool)]
    is_paused: bool,
}

/// Where a project is when a move of it begins.
pub(super) struct Begun {
    pub(super) cell: CellId,
    pub(super) copy_in: Option<CellId>,
}

fn postgres_url(url: DatabaseUrl) -> Result<String> {
    match url {
        DatabaseUrl::Postgres(url) => Ok(url),
        _ => Err(StoreError::CellsUnsupported),
    }
}

/// The URL of a cell.
pub(super) fn url_of(home: &Store, id: CellId) -> Result<String> {
    let cells = home.read(|reader| reader.cells())?;
    let cell = cells.into_iter().find(|cell| cell.id == id);
    let cell = cell.ok_or(StoreError::Damaged { what: "cell" })?;
    postgres_url(home.cell_url(cell.url.as_deref(), cell.schema.as_deref())?)
}

pub(super) fn session_of(home: &Store, id: CellId) -> Result<PostgresSession> {
    Database::existing(&url_of(home, id)?).open_writer()
}

/// Enters a move in the directory. Returns the present place of the project.
pub(super) fn enter_move(home: &mut PgConnection, project_id: ProjectId, target: CellId) -> Result<Begun> {
    let entered: Option<PlacementRow> = sql_query(
        "INSERT INTO placements (project_id, cell_id, moving_to) VALUES ($1, 0, nullif($2, 0)) \
         ON CONFLICT (project_id) DO UPDATE SET moving_to = nullif($2, placements.cell_id) \
             WHERE placements.moving_to IS NULL OR placements.moving_to = $2 \
         RETURNING cell_id, copy_in",
    )
    .bind::<Text, _>(project_id.to_string())
    .bind::<BigInt, _>(target.0)
    .get_result(home)
    .optional()?;
    let entered = entered.ok_or(StoreError::Duplicate)?;
    Ok(Begun {
        cell: CellId(entered.cell_id),
        copy_in: entered.copy_in.map(CellId),
    })
}

pub(super) fn forget_copy(home: &mut PgConnection, project_id: ProjectId) -> Result<()> {
    sql_query("UPDATE placements SET copy_in = NULL WHERE project_id = $1")
        .bind::<Text, _>(project_id.to_string())
        .execute(home)?;
    Ok(())
}

/// Has the cell that the directory names serve a project, unless a move has paused it. `false` when it has.
///
/// # Errors
/// When a database fails.
pub(crate) fn serve(home: &Store, project_id: ProjectId) -> Result<bool> {
    let mut directory = connection::connect(&url_of(home, CellId::HOME)?, Purpose::Write)?;
    serve_in(&mut directory, project_id, false, |cell| {
        let mut session = session_of(home, cell)?;
        write_transaction(&mut session, |session| set_served(session, project_id))
    })
}

/// The row of the directory is locked meanwhile, so that no move switches to another cell.
pub(super) fn serve_in(
    home: &mut PgConnection,
    project_id: ProjectId,
    ends_pause: bool,
    serve: impl FnOnce(CellId) -> Result<()>,
) -> Result<bool> {
    home.batch_execute("BEGIN; SET LOCAL idle_in_transaction_session_timeout = '30s'")?;
    let served = (|| {
        let found: Option<PauseRow> = sql_query(
            "SELECT cell_id, coalesce(paused_until > clock_timestamp(), FALSE) AS is_paused FROM placements \
             WHERE project_id = $1 FOR UPDATE",
        )
        .bind::<Text, _>(project_id.to_string())
        .get_result(home)
        .optional()?;
        let Some(found) = found.filter(|found| ends_pause || !found.is_paused) else {
            return Ok(false);
        };
        sql_query("UPDATE placements SET paused_until = NULL WHERE project_id = $1")
            .bind::<Text, _>(project_id.to_string())
            .execute(home)?;
        serve(CellId(found.cell_id))?;
        Ok(true)
    })();
    let end = if matches!(served, Ok(true)) {
        "COMMIT"
    } else {
        "ROLLBACK"
    };
    home.batch_execute(end)?;
    served
}
