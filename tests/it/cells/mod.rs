//! Cells: a deployment whose projects are in several schemas.

mod archives;
mod archiving;
mod citus;
mod own_events;
mod routing;
mod watching;

use audit_tests::{Database, DatabaseKind, Organization, Server, command_line_on};

/// A home cell that two servers serve.
struct Cells {
    /// They end before the database is dropped.
    servers: [Server; 2],
    database: Database,
}

impl Cells {
    fn serve(database: Database, settings: &[(&str, &str)]) -> Self {
        let servers = [(); 2].map(|()| Server::start(&database, settings));
        Self { servers, database }
    }

    /// Runs `db cells` with these arguments. Returns its output.
    fn cells(&self, arguments: &[&str]) -> String {
        let arguments = [&["db", "cells"], arguments].concat();
        command_line_on(&self.database, &arguments).success()
    }

    /// A new organization whose project is in this cell.
    fn organization_in(&self, cell: &str) -> Organization {
        self.cells(&["place", cell]);
        Organization::create(&self.servers[0], "enterprise")
    }

    /// Asserts that the logs of all cells have these numbers of events, and the indexes all of them.
    fn verify(&self, events: usize) {
        let verified = command_line_on(&self.database, &["log", "verify"]).success();
        let expected = format!("{events} events match the log");
        assert!(verified.contains(&expected), "{verified}");
        command_line_on(&self.database, &["index", "verify"]).success();
    }

    /// A deployment with the home cell and the cells `near` and `far`. Two servers were started before the cells were created. `None`
    /// where there is no PostgreSQL, and the test passes.
    fn create() -> Option<Self> {
        Self::create_with(&audit_tests::webhook_environment())
    }

    /// The same with these environment variables of the servers.
    fn create_with(settings: &[(&str, &str)]) -> Option<Self> {
        if !DatabaseKind::Postgres.is_available() {
            return None;
        }
        let home = Cells::serve(Database::create(DatabaseKind::Postgres), settings);
        home.cells(&["create", "near"]);
        home.cells(&["create", "far"]);
        Some(home)
    }

    /// The rows of a table in each cell: home, near, far.
    fn rows(&self, table: &str) -> [i64; 3] {
        ["public", "cell_near", "cell_far"].map(|schema| self.database.count(&format!("{schema}.{table}")))
    }
}
