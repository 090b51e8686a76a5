//! What each migration does, and what its time depends on. `db check` prints it before an upgrade.

/// A migration, as an operator reads it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Description {
    /// The name of its directory.
    pub(super) name: &'static str,
    /// What it does, in one sentence without a full stop.
    pub(super) summary: &'static str,
    pub(super) on_sqlite: MigrationWork,
    pub(super) on_postgres: MigrationWork,
}

/// What the time of a migration depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MigrationWork {
    /// Nothing: it changes the catalog, or creates empty tables.
    Constant,
    /// It reads these tables, for example to build an index on each.
    Reads(&'static [&'static str]),
    /// It writes these tables again as a whole.
    Rewrites(&'static [&'static str]),
}

impl MigrationWork {
    /// The tables whose size decides.
    #[must_use]
    pub const fn tables(self) -> &'static [&'static str] {
        match self {
            Self::Constant => &[],
            Self::Reads(tables) | Self::Rewrites(tables) => tables,
        }
    }

    /// How long it takes over `bytes` of these tables, with their indexes, in seconds. Measured on two shared cores with a
    /// virtual disk (docs/operations.md); the rate of other machines differs.
    #[must_use]
    pub fn seconds(self, bytes: u64) -> f64 {
        let rate = match self {
            Self::Constant => return 0.0,
            Self::Reads(_) => READ_MIB_PER_SECOND,
            Self::Rewrites(_) => REWRITTEN_MIB_PER_SECOND,
        };
        bytes as f64 / (rate * 1024.0 * 1024.0)
    }
}

/// A table is read and one index on it built. Measured with the table in memory: 325 MiB/s on SQLite, 520 on PostgreSQL. A table
/// that is larger than the memory comes from the disk.
const READ_MIB_PER_SECOND: f64 = 100.0;
/// A table and its index are written again: 24 MiB/s on SQLite, 98 on PostgreSQL.
const REWRITTEN_MIB_PER_SECOND: f64 = 24.0;

/// All migrations, oldest first.
pub(super) const ALL: &[Description] = &[Description {
    name: "2026-11-22-000001_initial",
    summary: "creates the tables of an empty database",
    on_sqlite: MigrationWork::Constant,
    on_postgres: MigrationWork::Constant,
}];
