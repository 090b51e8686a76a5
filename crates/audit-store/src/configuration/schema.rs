//! The tables of the configuration. Only this module can name them.

use crate::schema::{destination_runs, ledgers};

diesel::table! {
    secrets (name) { name -> Text, secret -> Binary, created_at -> BigInt, }
}

diesel::table! {
    organizations (id) { id -> Text, name -> Text, plan -> Text, created_at -> BigInt, }
}

diesel::table! {
    projects (id) {
        id -> Text,
        organization_id -> Text,
        name -> Text,
        created_at -> BigInt,
        archived_at -> Nullable<BigInt>,
        metadata_filter_paths -> Text,
    }
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
        last_used_from -> Nullable<Text>,
        revoked_at -> Nullable<BigInt>,
        expires_at -> Nullable<BigInt>,
        scopes -> Nullable<Text>,
        networks -> Nullable<Text>,
        sessions_ended -> BigInt,
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
        routes -> Nullable<Text>,
        created_at -> BigInt,
    }
}

diesel::table! {
    portals (project_id) {
        project_id -> Text,
        name -> Nullable<Text>,
        logo_type -> Nullable<Text>,
        logo -> Nullable<Binary>,
        destination_kinds -> Nullable<Text>,
        sign_in_url -> Nullable<Text>,
    }
}

diesel::table! {
    action_labels (project_id, action) { project_id -> Text, action -> Text, entry -> Text, }
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
    alert_rules (project_id, id) {
        project_id -> Text,
        id -> Text,
        name -> Text,
        action_pattern -> Text,
        threshold -> BigInt,
        window_seconds -> BigInt,
        group_by -> Text,
        count_distinct -> Nullable<Text>,
        severity -> Text,
        enabled -> Bool,
        cooldown_seconds -> BigInt,
        conditions -> Text,
        revision -> BigInt,
        created_at -> BigInt,
    }
}

diesel::table! {
    webhooks (id) {
        id -> Text,
        project_id -> Text,
        url -> Binary,
        format -> Text,
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
    destinations (id) {
        id -> Text,
        project_id -> Text,
        environment -> Text,
        name -> Text,
        kind -> Text,
        format -> Text,
        include_raw -> Bool,
        ocsf_classes -> Text,
        filter -> Text,
        config -> Binary,
        previous_config -> Nullable<Binary>,
        paused -> Bool,
        created_at -> BigInt,
        created_by_tenant -> Nullable<Text>,
    }
}

diesel::allow_tables_to_appear_in_same_query!(
    organizations,
    projects,
    destinations,
    destination_runs,
    ledgers
);
diesel::allow_tables_to_appear_in_same_query!(webhooks, projects);
diesel::allow_tables_to_appear_in_same_query!(webhooks, organizations);
diesel::allow_tables_to_appear_in_same_query!(api_keys, ledgers);
