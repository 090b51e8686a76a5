//! The tables as diesel sees them. `migrations/` makes them.

diesel::table! {
    configuration (id) { id -> BigInt, version -> BigInt, }
}

diesel::table! {
    secrets (name) { name -> Text, secret -> Binary, created_at -> BigInt, }
}

diesel::table! {
    organizations (id) { id -> Text, name -> Text, plan -> Text, created_at -> BigInt, }
}

diesel::table! {
    projects (id) { id -> Text, organization_id -> Text, name -> Text, created_at -> BigInt, }
}

diesel::table! {
    api_keys (id) {
        id -> Text,
        organization_id -> Text,
        project_id -> Nullable<Text>,
        environment -> Nullable<Text>,
        name -> Text,
        prefix -> Text,
        key_hash -> Binary,
        created_at -> BigInt,
        last_used_at -> Nullable<BigInt>,
        revoked_at -> Nullable<BigInt>,
    }
}

diesel::table! {
    viewer_secrets (kid) { kid -> Text, secret -> Binary, created_at -> BigInt, retired_at -> Nullable<BigInt>, }
}

diesel::table! {
    viewer_tiers (project_id, name) {
        project_id -> Text,
        name -> Text,
        categories -> Nullable<Text>,
        actions -> Nullable<Text>,
        hidden_fields -> Text,
        created_at -> BigInt,
    }
}

diesel::table! {
    redaction_rules (project_id, id) {
        project_id -> Text,
        id -> Text,
        kind -> Text,
        name -> Text,
        pattern -> Nullable<Text>,
        fields -> Nullable<Text>,
        behavior -> Text,
        enabled -> Bool,
        created_at -> BigInt,
    }
}

diesel::table! {
    ledgers (id) {
        id -> BigInt,
        project_id -> Text,
        environment -> Text,
        size -> BigInt,
        last_event_id -> Nullable<Binary>,
        last_received_at -> Nullable<BigInt>,
        frontier -> Nullable<Binary>,
        day -> BigInt,
        day_events -> BigInt,
    }
}

diesel::table! {
    log_tiles (ledger_id, level, tile_index) {
        ledger_id -> BigInt,
        level -> BigInt,
        tile_index -> BigInt,
        hashes -> Binary,
    }
}

diesel::table! {
    log_checkpoints (ledger_id) { ledger_id -> BigInt, size -> BigInt, note -> Text, signed_at -> BigInt, }
}

diesel::allow_tables_to_appear_in_same_query!(ledgers, log_checkpoints);

diesel::table! {
    ledger_actions (ledger_id, action) { ledger_id -> BigInt, action -> Text, }
}

diesel::table! {
    alert_rules (project_id, id) {
        project_id -> Text,
        id -> Text,
        name -> Text,
        action_pattern -> Text,
        threshold -> BigInt,
        window_seconds -> BigInt,
        group_by -> Text,
        severity -> Text,
        enabled -> Bool,
        cooldown_seconds -> BigInt,
        revision -> BigInt,
        created_at -> BigInt,
    }
}

diesel::table! {
    alert_groups (ledger_id, group_hash) {
        ledger_id -> BigInt,
        group_hash -> Binary,
        state -> Binary,
        expires_at -> BigInt,
    }
}

diesel::table! {
    alerts (ledger_id, id) {
        ledger_id -> BigInt,
        id -> Binary,
        rule_id -> Text,
        rule_name -> Text,
        severity -> Text,
        status -> Text,
        group_key -> Text,
        event_count -> BigInt,
        sample_event_ids -> Binary,
        fired_at -> BigInt,
        acknowledged_at -> Nullable<BigInt>,
        resolved_at -> Nullable<BigInt>,
    }
}

diesel::table! {
    webhooks (id) {
        id -> Text,
        project_id -> Text,
        url -> Text,
        enabled -> Bool,
        created_at -> BigInt,
        deleted_at -> Nullable<BigInt>,
    }
}

diesel::table! {
    webhook_secrets (webhook_id, number) {
        webhook_id -> Text,
        number -> BigInt,
        secret -> Binary,
        expires_at -> Nullable<BigInt>,
    }
}

diesel::table! {
    webhook_deliveries (id) {
        id -> Binary,
        webhook_id -> Text,
        kind -> Text,
        ledger_id -> Nullable<BigInt>,
        alert_id -> Nullable<Binary>,
        status -> Text,
        attempts -> BigInt,
        scheduled_attempts -> BigInt,
        is_retried -> Bool,
        stage -> Nullable<Text>,
        due_at -> Nullable<BigInt>,
        scheduled_at -> Nullable<BigInt>,
        retry_asked -> Bool,
        lease -> Nullable<Binary>,
        created_at -> BigInt,
        finished_at -> Nullable<BigInt>,
    }
}

diesel::table! {
    delivery_attempts (delivery_id, number) {
        delivery_id -> Binary,
        number -> BigInt,
        started_at -> BigInt,
        duration_ms -> BigInt,
        status_code -> Nullable<BigInt>,
        failure -> Nullable<Text>,
    }
}

diesel::table! {
    streams (token_hash) {
        token_hash -> Binary,
        created_at -> BigInt,
        expires_at -> BigInt,
        claimed_at -> Nullable<BigInt>,
        event_count -> BigInt,
        day -> BigInt,
        day_events -> BigInt,
        is_empty -> Bool,
    }
}

diesel::table! {
    stream_events (token_hash, number) {
        token_hash -> Binary,
        number -> BigInt,
        id -> Binary,
        occurred_at -> BigInt,
        received_at -> BigInt,
        idempotency_hash -> Nullable<Binary>,
        sent_digest -> Nullable<Binary>,
        redacted -> Bool,
        body -> Text,
    }
}

diesel::table! {
    stream_clients (client) {
        client -> Text,
        requests -> Binary,
        day -> BigInt,
        new_streams -> BigInt,
        last_seen_at -> BigInt,
    }
}

diesel::allow_tables_to_appear_in_same_query!(organizations, projects, webhooks);

diesel::table! {
    index_blocks (id) { id -> BigInt, bytes -> Binary, }
}

/// The tables of events on SQLite.
pub(crate) mod sqlite {
    use super::ledgers;

    diesel::table! {
        events (entry) {
            entry -> BigInt,
            position -> BigInt,
            id -> Binary,
            content_hash -> Binary,
            sent_digest -> Nullable<Binary>,
            redacted -> Bool,
            body -> Text,
        }
    }

    diesel::table! {
        event_times (position) { position -> BigInt, entry -> BigInt, }
    }

    diesel::table! {
        unordered_events (entry) { entry -> BigInt, id -> Binary, after_id -> Binary, }
    }

    diesel::table! {
        event_keys (first_entry) { first_entry -> BigInt, hashes -> Binary, }
    }

    diesel::allow_tables_to_appear_in_same_query!(events, event_times, unordered_events, ledgers);

    diesel::table! {
        event_tail (id) { id -> BigInt, mark -> BigInt, runs -> Binary, }
    }

    diesel::table! {
        index_segments (id) {
            id -> BigInt,
            level -> BigInt,
            row_count -> BigInt,
            first_position -> BigInt,
            last_position -> BigInt,
            leaves -> BigInt,
            directories -> BigInt,
            is_complete -> Bool,
        }
    }

    diesel::table! {
        indexed (id) { id -> BigInt, last_commit -> BigInt, last_segment -> BigInt, }
    }

    diesel::allow_tables_to_appear_in_same_query!(event_tail, indexed);
}

/// The tables of events on PostgreSQL.
pub(crate) mod postgres {
    use super::ledgers;

    diesel::allow_tables_to_appear_in_same_query!(events, ledgers);

    diesel::table! {
        events (ledger_id, seq) {
            ledger_id -> BigInt,
            seq -> BigInt,
            id -> Binary,
            occurred_at -> BigInt,
            content_hash -> Binary,
            idempotency_hash -> Nullable<Binary>,
            sent_digest -> Nullable<Binary>,
            redacted -> Bool,
            body -> Text,
        }
    }

    diesel::table! {
        index_segments (id) {
            id -> BigInt,
            level -> BigInt,
            row_count -> BigInt,
            first_occurred_at -> BigInt,
            first_id -> Binary,
            last_occurred_at -> BigInt,
            last_id -> Binary,
            leaves -> BigInt,
            directories -> BigInt,
            is_complete -> Bool,
        }
    }

    diesel::table! {
        indexed (ledger_id) { ledger_id -> BigInt, size -> BigInt, }
    }
}
