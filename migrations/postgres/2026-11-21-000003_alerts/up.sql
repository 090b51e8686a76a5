-- Alert rules, what they count, and the alerts they raised.

-- Custom rules, and the built-in rules whose settings somebody changed (id without hyphens of a UUID). An edit increases
-- the revision, by which the counts below know that they start afresh.
CREATE TABLE alert_rules (
    project_id TEXT NOT NULL REFERENCES projects (id),
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    action_pattern TEXT NOT NULL,
    threshold BIGINT NOT NULL,
    window_seconds BIGINT NOT NULL,
    group_by TEXT NOT NULL,
    severity TEXT NOT NULL,
    enabled BOOLEAN NOT NULL,
    cooldown_seconds BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (project_id, id)
);

-- What a rule remembers of a group (an actor, a tenant) between events: written in the transaction that stores the
-- events, under the lock of the ledger's head. The key is a hash of rule, tenant and actor. From `expires_at` on the
-- row says nothing any more. No index on that: it would be one more random page for each event that counts.
CREATE TABLE alert_groups (
    ledger_id BIGINT NOT NULL,
    group_hash BYTEA NOT NULL,
    state BYTEA NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (ledger_id, group_hash)
);

-- Ids begin with the milliseconds at which the rule fired, so the key is the order of queries.
CREATE TABLE alerts (
    ledger_id BIGINT NOT NULL,
    id BYTEA NOT NULL,
    rule_id TEXT NOT NULL,
    rule_name TEXT NOT NULL,
    severity TEXT NOT NULL,
    status TEXT NOT NULL,
    group_key TEXT NOT NULL,
    event_count BIGINT NOT NULL,
    -- Ids of events, 16 bytes each.
    sample_event_ids BYTEA NOT NULL,
    fired_at BIGINT NOT NULL,
    acknowledged_at BIGINT,
    resolved_at BIGINT,
    PRIMARY KEY (ledger_id, id)
);
CREATE INDEX alerts_by_rule ON alerts (ledger_id, rule_id, id);
CREATE INDEX alerts_by_severity ON alerts (ledger_id, severity, id);
CREATE INDEX alerts_by_status ON alerts (ledger_id, status, id);
