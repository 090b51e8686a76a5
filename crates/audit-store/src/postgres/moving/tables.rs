//! The tables and what a move does with their rows.

/// The tables whose rows of a project are copied as they are, in an order that their foreign keys allow, each with the
/// condition of a project `$1` with the ledgers `$2`.
pub(super) const COPIED_TABLES: [(&str, &str); 18] = [
    ("api_keys", "project_id = $1"),
    ("viewer_tiers", "project_id = $1"),
    ("portals", "project_id = $1"),
    ("redaction_rules", "project_id = $1"),
    ("alert_rules", "project_id = $1"),
    ("stored_claims", "project_id = $1"),
    ("webhooks", "project_id = $1"),
    ("webhook_secrets", OF_WEBHOOKS),
    ("webhook_deliveries", OF_WEBHOOKS),
    (
        "delivery_attempts",
        "delivery_id IN (SELECT webhook_deliveries.id FROM webhooks JOIN webhook_deliveries \
         ON webhook_deliveries.webhook_id = webhooks.id WHERE webhooks.project_id = $1)",
    ),
    ("ledger_months", OF_LEDGERS),
    ("ledger_actions", OF_LEDGERS),
    ("ledger_senders", OF_LEDGERS),
    ("log_repairs", OF_LEDGERS),
    ("log_checkpoints", OF_LEDGERS),
    ("log_cosigned", OF_LEDGERS),
    ("alert_groups", OF_LEDGERS),
    ("alerts", OF_LEDGERS),
];

/// The other tables with rows of a project: those that are copied in another way, or computed from the events.
#[cfg(test)]
const OTHER_TABLES: [&str; 3] = ["projects", "ledgers", "events"];

/// The tables that a cell computes from the events of a project.
pub(super) const DERIVED_TABLES: [&str; 6] = [
    "event_backlog",
    "log_tiles",
    "tenant_maps",
    "tenant_logs",
    "tenant_tiles",
    "tenant_map_tiles",
];

/// The tables without rows of a project, and those of the directory.
#[cfg(test)]
const TABLES_OF_THE_CELL: [&str; 20] = [
    "__diesel_schema_migrations",
    "anchors",
    "cell_keys",
    "cell_organizations",
    "cells",
    "counters",
    "database_copy",
    "deployment",
    "index_blocks",
    "index_format",
    "index_groups",
    "index_segments",
    "open_claims",
    "organizations",
    "placements",
    "secrets",
    "stream_clients",
    "stream_events",
    "streams",
    "viewer_secrets",
];

pub(super) const OF_WEBHOOKS: &str = "webhook_id IN (SELECT id FROM webhooks WHERE project_id = $1)";
pub(super) const OF_LEDGERS: &str = "ledger_id = ANY($2)";

#[cfg(test)]
fn known_tables() -> std::collections::BTreeSet<&'static str> {
    let copied = COPIED_TABLES.iter().map(|(table, _)| *table);
    copied
        .chain(OTHER_TABLES)
        .chain(DERIVED_TABLES)
        .chain(TABLES_OF_THE_CELL)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::known_tables;
    use std::collections::BTreeSet;

    /// A new table must be entered in one of the lists, so that a move does not lose its rows.
    #[test]
    fn a_move_knows_every_table() {
        let migrations = concat!(env!("CARGO_MANIFEST_DIR"), "/../../migrations/postgres");
        let mut created = BTreeSet::from(["__diesel_schema_migrations".to_owned()]);
        for folder in std::fs::read_dir(migrations).expect("the migrations") {
            let up = folder.expect("a migration").path().join("up.sql");
            let sql = std::fs::read_to_string(up).expect("a migration");
            let tables = sql.lines().filter_map(|line| line.strip_prefix("CREATE TABLE "));
            created.extend(
                tables
                    .filter(|line| !line.contains(" PARTITION OF "))
                    .map(|line| line.split([' ', '(']).next().unwrap_or_default().to_owned()),
            );
        }
        let known: BTreeSet<String> = known_tables().into_iter().map(str::to_owned).collect();
        assert_eq!(known, created);
    }
}
