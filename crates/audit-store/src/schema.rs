//! The tables that both databases have, as diesel sees them; `migrations/` creates them. Those of the configuration are in
//! `configuration/schema.rs`.

diesel::table! {
    deployment (id) { id -> BigInt, version -> BigInt, }
}

diesel::table! {
    database_copy (id) {
        id -> BigInt,
        state -> Text,
        copy_id -> Binary,
        deployment_id -> Binary,
        other_url -> Text,
        changed_at -> BigInt,
    }
}

diesel::table! {
    ledgers (id) {
        id -> BigInt,
        project_id -> Text,
        environment -> Text,
        group_id -> BigInt,
        configuration_version -> BigInt,
        size -> BigInt,
        last_event_id -> Nullable<Binary>,
        last_received_at -> Nullable<BigInt>,
        frontier -> Nullable<Binary>,
        lifecycle_seq -> Nullable<BigInt>,
        head_code -> Nullable<Binary>,
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

diesel::table! {
    log_cosigned (ledger_id) {
        ledger_id -> BigInt,
        version -> BigInt,
        note -> Text,
        quorum_size -> BigInt,
        quorum_note -> Nullable<Text>,
    }
}

diesel::allow_tables_to_appear_in_same_query!(ledgers, log_checkpoints, log_cosigned, log_tiles, tenant_maps);

diesel::table! {
    anchors (number) {
        number -> BigInt,
        due_at -> BigInt,
        document -> Text,
        time_stamp -> Nullable<Binary>,
        webhook_stage -> BigInt,
        bucket_stage -> BigInt,
        claimed_until -> BigInt,
    }
}

diesel::table! {
    tenant_maps (ledger_id) {
        ledger_id -> BigInt,
        size -> BigInt,
        frontier -> Binary,
        root -> Binary,
        code -> Binary,
    }
}

diesel::table! {
    tenant_logs (ledger_id, bucket, slot) {
        ledger_id -> BigInt,
        bucket -> BigInt,
        slot -> BigInt,
        label -> Binary,
        tenant_id -> Text,
        frontier -> Binary,
        recent -> Binary,
        recent_seq -> BigInt,
    }
}

diesel::table! {
    tenant_tiles (ledger_id, slot, level, tile_index) {
        ledger_id -> BigInt,
        slot -> BigInt,
        level -> BigInt,
        tile_index -> BigInt,
        first_seq -> BigInt,
        hashes -> Binary,
    }
}

diesel::table! {
    tenant_map_tiles (ledger_id, depth, prefix) {
        ledger_id -> BigInt,
        depth -> BigInt,
        prefix -> BigInt,
        children -> Binary,
    }
}

diesel::table! {
    removals (ledger_id, number) {
        ledger_id -> BigInt,
        number -> BigInt,
        kind -> Text,
        state -> Text,
        event_seq -> Nullable<BigInt>,
        first_seq -> BigInt,
        end_seq -> BigInt,
        cursor_seq -> BigInt,
        records -> BigInt,
        request -> Nullable<Text>,
        code -> Binary,
        changed_at -> BigInt,
        leased_until -> BigInt,
        lease -> Nullable<Binary>,
    }
}

diesel::table! {
    removed_events (ledger_id, tile_index, removal) {
        ledger_id -> BigInt,
        tile_index -> BigInt,
        removal -> BigInt,
        records -> Binary,
    }
}

diesel::table! {
    removed_tenants (ledger_id, slot) { ledger_id -> BigInt, slot -> BigInt, label -> Binary, }
}

diesel::allow_tables_to_appear_in_same_query!(removals, removed_events);

diesel::table! {
    ledger_months (ledger_id, month) { ledger_id -> BigInt, month -> Integer, first_seq -> BigInt, }
}

diesel::table! {
    log_repairs (ledger_id, repaired_at) {
        ledger_id -> BigInt,
        repaired_at -> BigInt,
        size -> BigInt,
        found -> Text,
    }
}

diesel::table! {
    ledger_actions (ledger_id, action) { ledger_id -> BigInt, action -> Text, }
}

diesel::table! {
    ledger_senders (ledger_id, sender) {
        ledger_id -> BigInt,
        sender -> BigInt,
        key_id -> Text,
        address -> Nullable<Text>,
        first_seq -> BigInt,
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
        tenant_id -> Text,
        group_by -> Text,
        group_key -> Text,
        count_distinct -> Nullable<Text>,
        event_count -> BigInt,
        sample_event_ids -> Binary,
        fired_at -> BigInt,
        acknowledged_at -> Nullable<BigInt>,
        resolved_at -> Nullable<BigInt>,
        undelivered_to -> Nullable<Text>,
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
        retry_requested -> Bool,
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
    destination_runs (destination_id, number) {
        destination_id -> Text,
        number -> BigInt,
        ledger_id -> BigInt,
        cursor_seq -> BigInt,
        end_seq -> Nullable<BigInt>,
        position -> BigInt,
        chain -> Binary,
        planned -> Nullable<Text>,
        batch_max -> BigInt,
        state -> Text,
        attempts -> BigInt,
        next_attempt_at -> BigInt,
        leased_until -> BigInt,
        lease -> Nullable<Binary>,
        set_aside_in_a_row -> BigInt,
        checkpoint_at -> BigInt,
        checkpoint_position -> BigInt,
        last_success_at -> Nullable<BigInt>,
        last_error -> Nullable<Text>,
        delivered -> BigInt,
    }
}

diesel::table! {
    destination_set_aside (destination_id, run, position) {
        destination_id -> Text,
        run -> BigInt,
        position -> BigInt,
        seq -> BigInt,
        event_id -> Binary,
        content_hash -> Binary,
        at -> BigInt,
        reason -> Text,
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

diesel::table! {
    index_blocks (id) { id -> BigInt, bytes -> Binary, }
}
