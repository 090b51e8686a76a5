//! An edit of the database: its statements on each of the two databases.

use super::super::{Case, quoted};
use super::{KEYED, PARTIAL, TILED};
use audit_tests::DatabaseKind;

/// An edit of the database.
pub(super) struct Edit {
    /// In the table of the document.
    pub(super) name: &'static str,
    sql: Sql,
    /// Why neither `log verify` nor `log audit` has to notice it, and who does.
    pub(super) excuse: Option<&'static str>,
}

/// The statements of an edit. Placeholders: see [`Attacked::statements`].
enum Sql {
    Both(&'static str),
    Only(DatabaseKind, &'static str),
    Each {
        sqlite: &'static str,
        postgres: &'static str,
    },
    Built(fn(&Attacked<'_>) -> String),
}

/// A log at the moment of an attack.
pub(super) struct Attacked<'a> {
    pub(super) case: &'a Case,
    /// The number of its events.
    pub(super) size: usize,
    /// A checkpoint that the log had before.
    pub(super) older_note: &'a str,
}

impl Attacked<'_> {
    pub(super) fn kind(&self) -> DatabaseKind {
        self.case.database.kind()
    }

    pub(super) fn blob(&self, bytes: &[u8]) -> String {
        self.case.database.blob(bytes)
    }

    /// Replaces the placeholders: `LEDGER` and `HEAD` are conditions on the rows of this log, `OWN` is the number of its ledger, `SIZE`
    /// its number of events, `PROJECT` its project, `OTHER` the number of the ledger of its test events, `#32#` that many bytes,
    /// and `AT_…` the condition on an event: in a full tile, behind it, or with an idempotency key.
    fn filled(&self, sql: &str) -> String {
        let project = quoted(&self.case.organization.project_id);
        let mut sql = sql.to_owned();
        for bytes in [8_192, 8_191, 256, 33, 32, 31, 20, 16, 15, 12, 8] {
            sql = sql.replace(&format!("#{bytes}#"), &self.blob(&vec![7; bytes]));
        }
        for (name, seq) in [("AT_TILED", TILED), ("AT_PARTIAL", PARTIAL), ("AT_KEYED", KEYED)] {
            sql = sql.replace(name, &format!("LEDGER AND seq = {seq}"));
        }
        sql.replace("OWN", "(SELECT id FROM ledgers WHERE HEAD)")
            .replace(
                "OTHER",
                "(SELECT id FROM ledgers WHERE project_id = PROJECT AND environment = 'test')",
            )
            .replace("SIZE", &self.size.to_string())
            .replace("PROJECT", &project)
    }
}

impl Edit {
    const fn new(name: &'static str, sql: Sql) -> Self {
        Self {
            name,
            sql,
            excuse: None,
        }
    }

    pub(super) const fn both(name: &'static str, sql: &'static str) -> Self {
        Self::new(name, Sql::Both(sql))
    }

    pub(super) const fn each(name: &'static str, sqlite: &'static str, postgres: &'static str) -> Self {
        Self::new(name, Sql::Each { sqlite, postgres })
    }

    pub(super) const fn sqlite(name: &'static str, sql: &'static str) -> Self {
        Self::new(name, Sql::Only(DatabaseKind::Sqlite, sql))
    }

    pub(super) const fn postgres(name: &'static str, sql: &'static str) -> Self {
        Self::new(name, Sql::Only(DatabaseKind::Postgres, sql))
    }

    pub(super) const fn built(name: &'static str, sql: fn(&Attacked<'_>) -> String) -> Self {
        Self::new(name, Sql::Built(sql))
    }

    pub(super) const fn excused(self, excuse: &'static str) -> Self {
        Self {
            excuse: Some(excuse),
            ..self
        }
    }

    /// Its statements; `None` where the database has no such table or column.
    pub(super) fn statements(&self, attacked: &Attacked<'_>) -> Option<String> {
        let sql = match (&self.sql, attacked.kind()) {
            (Sql::Both(sql), _) => (*sql).to_owned(),
            (Sql::Only(kind, sql), own) => (*kind == own).then(|| (*sql).to_owned())?,
            (Sql::Each { sqlite, .. }, DatabaseKind::Sqlite) => (*sqlite).to_owned(),
            (Sql::Each { postgres, .. }, DatabaseKind::Postgres) => (*postgres).to_owned(),
            (Sql::Built(build), _) => build(attacked),
        };
        Some(attacked.filled(&sql))
    }
}
