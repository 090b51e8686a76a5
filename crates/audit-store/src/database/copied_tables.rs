//! The tables that a copy of a database takes over as they are, with all their columns.
//!
//! Events and tiles are copied by code of their own, because there are many of them. A table or column that is missing here
//! fails the test below.

/// A table whose rows are copied as they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CopiedTable {
    /// The same on both databases.
    pub(crate) name: &'static str,
    /// Separated by spaces.
    columns: &'static str,
}

impl CopiedTable {
    /// The names of the columns.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &'static str> {
        self.columns.split_whitespace()
    }
}

const fn table(name: &'static str, columns: &'static str) -> CopiedTable {
    CopiedTable { name, columns }
}

/// The copied tables. A table comes after those to which it refers.
pub(crate) const COPIED_TABLES: [CopiedTable; 34] = [
    table("deployment", "id version"),
    table("secrets", "name secret created_at"),
    table("organizations", "id name plan created_at"),
    table(
        "projects",
        "id organization_id name created_at archived_at metadata_filter_paths",
    ),
    table(
        "api_keys",
        "id organization_id project_id environment name prefix key_hash created_at last_used_at \
         last_used_from revoked_at expires_at scopes networks sessions_ended",
    ),
    table("viewer_secrets", "kid secret created_at retired_at"),
    table(
        "viewer_tiers",
        "project_id name categories actions hidden_fields routes created_at",
    ),
    table(
        "portals",
        "project_id name logo_type logo destination_kinds sign_in_url",
    ),
    table("action_labels", "project_id action entry"),
    table(
        "redaction_rules",
        "project_id id kind name pattern fields behavior enabled created_at",
    ),
    // The copy gives the ledgers the groups of the target.
    table(
        "ledgers",
        "id project_id environment group_id configuration_version size last_event_id last_received_at frontier \
         lifecycle_seq head_code day day_events",
    ),
    table(
        "removals",
        "ledger_id number kind state event_seq first_seq end_seq cursor_seq records request code changed_at \
         leased_until lease",
    ),
    table("removed_events", "ledger_id tile_index removal records"),
    table("removed_tenants", "ledger_id slot label"),
    table("ledger_months", "ledger_id month first_seq"),
    table("ledger_actions", "ledger_id action"),
    table("ledger_senders", "ledger_id sender key_id address first_seq"),
    table("log_repairs", "ledger_id repaired_at size found"),
    table("log_checkpoints", "ledger_id size note signed_at"),
    table("log_cosigned", "ledger_id version note quorum_size quorum_note"),
    table(
        "anchors",
        "number due_at document time_stamp webhook_stage bucket_stage claimed_until",
    ),
    table(
        "alert_rules",
        "project_id id name action_pattern threshold window_seconds group_by count_distinct severity enabled \
         cooldown_seconds conditions revision created_at",
    ),
    table("alert_groups", "ledger_id group_hash state expires_at"),
    table(
        "alerts",
        "ledger_id id rule_id rule_name severity status tenant_id group_by group_key count_distinct event_count \
         sample_event_ids fired_at acknowledged_at resolved_at undelivered_to",
    ),
    table(
        "webhooks",
        "id project_id url format enabled created_at deleted_at",
    ),
    table("webhook_secrets", "webhook_id number secret expires_at"),
    table(
        "webhook_deliveries",
        "id webhook_id kind ledger_id alert_id status attempts scheduled_attempts is_retried stage due_at scheduled_at \
         retry_requested lease created_at finished_at",
    ),
    table(
        "delivery_attempts",
        "delivery_id number started_at duration_ms status_code failure",
    ),
    table(
        "destinations",
        "id project_id environment name kind format include_raw ocsf_classes filter config previous_config paused \
         created_at created_by_tenant",
    ),
    table(
        "destination_runs",
        "destination_id number ledger_id cursor_seq end_seq position chain planned batch_max state attempts \
         next_attempt_at leased_until lease set_aside_in_a_row checkpoint_at checkpoint_position last_success_at \
         last_error delivered",
    ),
    table(
        "destination_set_aside",
        "destination_id run position seq event_id content_hash at reason",
    ),
    table(
        "streams",
        "token_hash created_at expires_at claimed_at event_count day day_events is_empty",
    ),
    table(
        "stream_events",
        "token_hash number id occurred_at received_at idempotency_hash sent_digest redacted body",
    ),
    table("stream_clients", "client requests day new_streams last_seen_at"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::StoreOptions;
    use audit_domain::{Clock, Timestamp};
    use audit_tests::{Database, DatabaseKind};
    use std::collections::{BTreeMap, BTreeSet};
    use std::sync::Arc;

    /// Tables that are copied row by row by `sqlite/copy.rs` and `postgres/copy.rs`, with the columns that these know.
    const COPIED_BY_CODE: [(DatabaseKind, &str, &str); 5] = [
        (
            DatabaseKind::Sqlite,
            "events",
            "entry position id content_hash content_salt sent_digest redacted sender row_code body",
        ),
        (DatabaseKind::Sqlite, "event_keys", "first_entry hashes"),
        (
            DatabaseKind::Postgres,
            "events",
            "ledger_id seq month id occurred_at content_hash content_salt idempotency_hash sent_digest redacted sender row_code body",
        ),
        (
            DatabaseKind::Sqlite,
            "log_tiles",
            "ledger_id level tile_index hashes",
        ),
        (
            DatabaseKind::Postgres,
            "log_tiles",
            "ledger_id level tile_index hashes",
        ),
    ];

    /// Tables that each database derives from the others, and its own records.
    const DERIVED: [&str; 26] = [
        // The copy sets them to the numbers of its rows.
        "counters",
        "tenant_maps",
        "tenant_logs",
        "tenant_tiles",
        "tenant_map_tiles",
        "event_times",
        "unordered_events",
        "key_filter",
        "key_filter_blocks",
        "key_filter_layers",
        "key_filter_ledgers",
        "event_backlog",
        // The target builds its index from the events that exist, and its months are not rewritten yet.
        "removed_rows",
        "event_months",
        "index_groups",
        "index_segments",
        "index_blocks",
        "index_format",
        "database_copy",
        // The directory of cells: a copied deployment has none.
        "cells",
        "placements",
        "cell_keys",
        "cell_organizations",
        "open_claims",
        "stored_claims",
        "__diesel_schema_migrations",
    ];

    fn words(text: &str) -> BTreeSet<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn a_copy_takes_every_table_and_column_of_both_databases() {
        for kind in [DatabaseKind::Sqlite, DatabaseKind::Postgres] {
            if !kind.is_available() {
                continue;
            }
            let database = Database::create(kind);
            let (url, options) = (database.url().parse().unwrap(), StoreOptions::default());
            let clock: Arc<dyn Clock> = Arc::new(Timestamp::from_seconds(1_768_473_000));
            crate::database::Database::open(&url, &options, &clock).unwrap();
            let mut catalog = database.tables();
            catalog.retain(|name, _| !DERIVED.contains(&name.as_str()));
            let listed = COPIED_TABLES.iter().map(|table| (table.name, table.columns));
            let by_code = COPIED_BY_CODE.iter().filter(|(of, _, _)| *of == kind);
            let copied: BTreeMap<String, BTreeSet<String>> = listed
                .chain(by_code.map(|(_, name, columns)| (*name, *columns)))
                .map(|(name, columns)| (name.to_owned(), words(columns)))
                .collect();
            assert_eq!(copied, catalog, "{kind:?}");
        }
    }
}
