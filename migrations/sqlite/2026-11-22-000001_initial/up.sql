-- The schema, on SQLite. The tables of events and of the index differ from PostgreSQL's; all others have the same columns.
--
-- Conventions: ids are hyphenated UUIDs as text, or 16 bytes where the rows are many. Times are microseconds since the Unix
-- epoch (UTC), days are days since 1970-01-01 (UTC), lists are JSON as text. Keys of event data begin with the ledger.

-- ---- Configuration and secrets of the service ----

-- One row. Transactions that write the secrets of the service or add an organization lock it, one at a time. A change that
-- can put a webhook into use gives it another random version; nodes compare it, and then release held deliveries. The
-- version of a project's configuration is in `ledgers`.
CREATE TABLE deployment (
    id BIGINT NOT NULL PRIMARY KEY,
    version BIGINT NOT NULL
);
INSERT INTO deployment (id, version) VALUES (1, 1);

-- Secrets that the service generates for itself, by name, such as the key of the cursors; encrypted where an encryption key is
-- configured. Also values that are not secret: the name of the log, the statements of its keys, the id of the head key.
CREATE TABLE secrets (
    name TEXT NOT NULL PRIMARY KEY,
    secret BLOB NOT NULL,
    created_at BIGINT NOT NULL
);

-- At most one row, written by `audit-server db copy`; most databases have none. In the copy of another database: `unfinished`,
-- and then no server opens it, or `complete`. In a database that was copied as a whole: `moved`, and no server opens it any more.
CREATE TABLE database_copy (
    id BIGINT NOT NULL PRIMARY KEY,
    state TEXT NOT NULL,
    -- Random. The two databases of a copy have the same.
    copy_id BLOB NOT NULL,
    -- Identifies the deployment: SHA-256 of a secret that never changes.
    deployment_id BLOB NOT NULL,
    -- The URL of the other database, without its password.
    other_url TEXT NOT NULL,
    changed_at BIGINT NOT NULL
);

-- ---- Organizations, projects and API keys ----

CREATE TABLE organizations (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    plan TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE projects (
    id TEXT NOT NULL PRIMARY KEY,
    organization_id TEXT NOT NULL REFERENCES organizations (id),
    name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    -- NULL unless it is archived.
    archived_at BIGINT,
    -- A JSON array of dot paths.
    metadata_filter_paths TEXT NOT NULL
);
-- Lists the projects of an organization.
CREATE INDEX projects_by_organization ON projects (organization_id);

-- Master keys (`project_id` is NULL) and project keys. The unique index on the hash authenticates a request.
CREATE TABLE api_keys (
    id TEXT NOT NULL PRIMARY KEY,
    organization_id TEXT NOT NULL REFERENCES organizations (id),
    project_id TEXT REFERENCES projects (id),
    -- NULL for a master key.
    environment TEXT,
    name TEXT NOT NULL,
    -- The leading characters of the key, for display.
    prefix TEXT NOT NULL,
    -- SHA-256 of the key. The key itself is not stored.
    key_hash BLOB NOT NULL UNIQUE,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT,
    -- The address of the client that used it last.
    last_used_from TEXT,
    revoked_at BIGINT,
    -- The key is valid before this time. NULL: until it is revoked.
    expires_at BIGINT,
    -- What the key may do. NULL: everything that its kind may.
    scopes TEXT,
    -- Where it may be used from. NULL: everywhere.
    networks TEXT,
    -- How often all console sessions of the key were ended. A session has the number of its beginning.
    sessions_ended BIGINT NOT NULL DEFAULT 0
);
-- Lists the keys of an organization, and of a project within it.
CREATE INDEX api_keys_by_organization ON api_keys (organization_id);
-- Finds the key that ends next.
CREATE INDEX api_keys_by_end ON api_keys (expires_at) WHERE revoked_at IS NULL AND expires_at IS NOT NULL;

-- ---- Viewers ----

-- HMAC secrets that sign viewer tokens, by the `kid` of the token; encrypted where an encryption key is configured. A retired secret verifies until its last token expires.
CREATE TABLE viewer_secrets (
    kid TEXT NOT NULL PRIMARY KEY,
    secret BLOB NOT NULL,
    created_at BIGINT NOT NULL,
    retired_at BIGINT
);

-- Tiers of a project: the events and fields that a viewer token of the tier can read. The primary key lists them.
CREATE TABLE viewer_tiers (
    project_id TEXT NOT NULL REFERENCES projects (id),
    name TEXT NOT NULL,
    -- NULL: all categories.
    categories TEXT,
    -- NULL: all actions.
    actions TEXT,
    hidden_fields TEXT NOT NULL,
    -- NULL: all ways of reading.
    routes TEXT,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (project_id, name)
);

-- Name and logo that the portal shows to the customers of a project, and the destinations that they may create. A project without a row
-- has neither, and no limit of kinds.
CREATE TABLE portals (
    project_id TEXT NOT NULL PRIMARY KEY REFERENCES projects (id),
    -- NULL: the portal has a title of its own.
    name TEXT,
    -- Media type of the logo. NULL with the logo: none.
    logo_type TEXT,
    logo BLOB,
    -- JSON: the kinds of destinations that tenants may create. NULL: all kinds.
    destination_kinds TEXT,
    -- Where readers without a token sign in. NULL: nowhere.
    sign_in_url TEXT
);

-- How people read an action: labels, sentences and an icon. The primary key lists the actions of a project in order.
CREATE TABLE action_labels (
    project_id TEXT NOT NULL REFERENCES projects (id),
    action TEXT NOT NULL,
    -- JSON: the icon, and label and template of each language.
    entry TEXT NOT NULL,
    PRIMARY KEY (project_id, action)
);

-- ---- Redaction ----

-- Custom rules, and the changed settings of built-in rules (kind `builtin`, id `builtin_…`). The primary key lists the rules
-- of a project.
CREATE TABLE redaction_rules (
    project_id TEXT NOT NULL REFERENCES projects (id),
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    -- Only with kind `pattern`.
    pattern TEXT,
    -- Only with kind `field_redact`.
    fields TEXT,
    behavior TEXT NOT NULL,
    enabled BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (project_id, id)
);

-- ---- Ledgers ----

-- One ledger per project and environment, with its head: what an append needs to know about the events before it. `seq`
-- counts the events of a ledger from 0, without a gap, in commit order. An append locks the row of the head.
CREATE TABLE ledgers (
    id BIGINT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id),
    environment TEXT NOT NULL,
    -- Group of the project, which partitions the index: 0, because SQLite has one group.
    group_id BIGINT NOT NULL,
    -- Version of the project's configuration: the same number in its ledgers. A transaction that changes keys, plan, rules,
    -- tiers or webhooks of the project draws another one at random, so none is used twice, even after the database has lost
    -- its latest commits. Versions have no order. A node caches the configuration with its version; an append compares it.
    configuration_version BIGINT NOT NULL,
    -- Number of events, and the `seq` of the next one.
    size BIGINT NOT NULL,
    -- Stamp of the newest event. `received_at` never decreases; ids of ingested events strictly increase.
    last_event_id BLOB,
    last_received_at BIGINT,
    -- Right edge of the Merkle tree, from which the tree grows. NULL until the first event.
    frontier BLOB,
    -- Position of the newest lifecycle event (policy, hold, plan, removal). Each names the one before it. NULL without one.
    lifecycle_seq BIGINT,
    -- HMAC-SHA256 over id, project, environment and the five columns above, with a key that is not in the database. A head whose
    -- code is wrong was not written by the service: it takes no events and is not signed until `audit-server log repair`.
    head_code BLOB,
    -- Events ingested on one day, for the daily limit of a live ledger. Here, because an append writes this row anyway.
    day BIGINT NOT NULL DEFAULT 0,
    day_events BIGINT NOT NULL DEFAULT 0,
    -- Finds the ledgers of a project.
    UNIQUE (project_id, environment)
);

-- The months in which events of a ledger were stored: calendar months (UTC), counted from January 1970. The month of an event is
-- not before that in which it was received, and never goes back along `seq`, also when clocks do. So the events of the months
-- before M are those before the `first_seq` of M, and can be removed together. Written by the commit that enters the month.
CREATE TABLE ledger_months (
    ledger_id BIGINT NOT NULL REFERENCES ledgers (id),
    month INTEGER NOT NULL,
    first_seq BIGINT NOT NULL,
    PRIMARY KEY (ledger_id, month)
);

-- The distinct actions of a ledger. A prefix or wildcard filter that ends within a segment of the action is expanded to
-- actions here. The primary key serves that range.
CREATE TABLE ledger_actions (
    ledger_id BIGINT NOT NULL REFERENCES ledgers (id),
    action TEXT NOT NULL,
    PRIMARY KEY (ledger_id, action)
);

-- The keys that have sent events to a ledger, each with the addresses that it sent them from. `events.sender` refers to them. A
-- commit adds a sender with its first event.
CREATE TABLE ledger_senders (
    ledger_id BIGINT NOT NULL REFERENCES ledgers (id),
    -- The first 8 bytes of the SHA-256 of key and address.
    sender BIGINT NOT NULL,
    key_id TEXT NOT NULL,
    -- NULL where it is not known, or not recorded.
    address TEXT,
    -- An event of the sender; it has none before this one.
    first_seq BIGINT NOT NULL,
    PRIMARY KEY (ledger_id, sender)
);
-- Finds the senders with a key.
CREATE INDEX ledger_senders_by_key ON ledger_senders (ledger_id, key_id);

-- ---- Events (SQLite only) ----

-- The events, in commit order, so that an append adds pages at the end only, whatever `occurred_at` is. No secondary
-- index: each would dirty one more page per event.
CREATE TABLE events (
    -- ledger_id << 40 | seq
    entry INTEGER PRIMARY KEY,
    -- Query order: occurred_at in ms << 20 | counter within the millisecond. Also the row number in the index.
    position BIGINT NOT NULL,
    id BLOB NOT NULL,
    content_hash BLOB NOT NULL,
    -- 16 random bytes, from which the salts in `content_hash` are derived. Longer for an erased event: which parts were erased by which
    -- event, and the salts or hashes that still prove the parts.
    content_salt BLOB NOT NULL,
    -- Digest of the event as sent. NULL without an idempotency key.
    sent_digest BLOB,
    redacted BOOLEAN NOT NULL,
    -- Key and address of the client (`ledger_senders`). NULL without a key. Not covered by `content_hash`.
    sender BIGINT,
    -- Authenticates what `content_hash` does not cover, with the head key: 12 bytes.
    row_code BLOB NOT NULL,
    -- The canonical JSON that `content_hash` covers.
    body TEXT NOT NULL,
    -- The two halves of `entry`, for queries by hand.
    ledger_id BIGINT AS (entry >> 40) VIRTUAL,
    seq BIGINT AS (entry & 1099511627775) VIRTUAL
);

-- Query order to event. Serves pages without a filter, and reads an event that the index found. Narrow, so that an event
-- which occurred before others dirties one page of hundreds of rows.
CREATE TABLE event_times (
    position INTEGER PRIMARY KEY,
    entry BIGINT NOT NULL
);

-- Events whose id is not greater than all ids before it in the ledger: claimed stream events. A lookup by id is a binary
-- search over `events`; at these entries it compares with `after_id`.
CREATE TABLE unordered_events (
    entry INTEGER PRIMARY KEY,
    id BLOB NOT NULL,
    -- The greatest id before `entry`.
    after_id BLOB NOT NULL
);
-- Finds an unordered event by its id.
CREATE INDEX unordered_events_by_id ON unordered_events (id);

-- Hashes of the idempotency keys of consecutive events: one row per ledger and commit that has any. The filter of known keys and
-- the tokens of keys in the index are rebuilt from them.
CREATE TABLE event_keys (
    -- Entry of the first event of the run: ledger_id << 40 | seq.
    first_entry INTEGER PRIMARY KEY,
    -- 16 bytes each; zeros for an event without a key.
    hashes BLOB NOT NULL
);

-- A Bloom filter of the idempotency keys of the window, from which the writer sees that a new key is new. Layers of equal blocks; the
-- newest layer takes the keys. The blocks have all keys of the events that `key_filter_ledgers` covers, and possibly more. The layout is in
-- `key_filter.rs`.
CREATE TABLE key_filter_blocks (
    -- layer << 32 | block
    id INTEGER PRIMARY KEY,
    bits BLOB NOT NULL
);
-- The layers whose blocks are complete, with their number of keys.
CREATE TABLE key_filter_layers (
    layer INTEGER PRIMARY KEY,
    -- 0 to 3; each size has eight times as many blocks as the one before it.
    size BIGINT NOT NULL,
    -- The latest month of its keys. The layer is deleted when the month leaves the window.
    month INTEGER NOT NULL,
    keys BIGINT NOT NULL
);
-- Per ledger: the events before this `seq` are in the filter.
CREATE TABLE key_filter_ledgers (
    ledger_id INTEGER PRIMARY KEY,
    seq_end BIGINT NOT NULL
);
-- One row: a random number of the process that writes the blocks, the window in months (0: unbounded), and the first month whose
-- keys the filter has.
CREATE TABLE key_filter (
    id INTEGER PRIMARY KEY,
    owner BIGINT NOT NULL,
    window_months INTEGER NOT NULL,
    first_month INTEGER NOT NULL
);

-- Commits that are not yet indexed. The index is a file of its own, written after the commit; queries scan these events
-- besides. The index stores id and mark of the last commit that it contains. The row of that commit stays, and shows that index and
-- database belong together.
CREATE TABLE event_backlog (
    id INTEGER PRIMARY KEY,
    -- Random. Tells a commit from a rolled-back one that had the same id.
    mark BIGINT NOT NULL,
    -- Per ledger: entry of the first event, number of events, and their month (8 bytes each, big-endian).
    runs BLOB NOT NULL
);

-- The rows of the index whose events were removed or erased, until its segments are rewritten without what they had.
CREATE TABLE removed_rows (
    position INTEGER PRIMARY KEY,
    month INTEGER NOT NULL,
    -- NULL: the event is gone. 0: what remains of an erased event has to be indexed anew. Otherwise the segment that has it.
    fresh BIGINT
);
-- Finds the rows of a month.
CREATE INDEX removed_rows_by_month ON removed_rows (month, position);
-- Finds the segments that are not merged.
CREATE INDEX removed_rows_by_fresh ON removed_rows (fresh) WHERE fresh IS NOT NULL;

-- ---- The verifiable log ----

-- Full tiles of 256 hashes (C2SP tlog-tiles) of the Merkle tree over the content hashes of a ledger; leaf n is the event
-- with `seq` n. Level 0 holds leaf hashes. Partial tiles are computed on request.
CREATE TABLE log_tiles (
    ledger_id BIGINT NOT NULL,
    level BIGINT NOT NULL,
    tile_index BIGINT NOT NULL,
    hashes BLOB NOT NULL,
    PRIMARY KEY (ledger_id, level, tile_index)
);

-- The latest signed checkpoint of a ledger. It is replaced only by one that was proven to continue it.
CREATE TABLE log_checkpoints (
    ledger_id BIGINT NOT NULL PRIMARY KEY,
    size BIGINT NOT NULL,
    note TEXT NOT NULL,
    signed_at BIGINT NOT NULL
);

-- Checkpoints of a ledger with cosignatures of witnesses: the latest one with any, and the latest one with a quorum (and its
-- size; 0 without one). Neither is replaced by one with fewer events. A node replaces a row only if its version is still the one
-- that it has read.
CREATE TABLE log_cosigned (
    ledger_id BIGINT NOT NULL PRIMARY KEY,
    version BIGINT NOT NULL,
    note TEXT NOT NULL,
    quorum_size BIGINT NOT NULL,
    quorum_note TEXT
);

-- Heads that `audit-server log repair` has written again, after it had verified the events: when, with how many events, and what
-- was wrong.
CREATE TABLE log_repairs (
    ledger_id BIGINT NOT NULL,
    repaired_at BIGINT NOT NULL,
    size BIGINT NOT NULL,
    found TEXT NOT NULL,
    PRIMARY KEY (ledger_id, repaired_at)
);

-- Anchors of the last days: signed lists of the heads of all logs, and how far they were sent. Nodes insert an anchor when it is
-- made, and the two unique keys let one of them succeed. In the home cell.
CREATE TABLE anchors (
    -- The number in the chain, from 1.
    number BIGINT NOT NULL PRIMARY KEY,
    -- Start of the interval.
    due_at BIGINT NOT NULL UNIQUE,
    -- Signed note. The next one names its SHA-256.
    document TEXT NOT NULL,
    -- RFC 3161 response over the document. NULL until an authority has given one.
    time_stamp BLOB,
    -- What webhook and bucket have: 0 nothing, 1 the document, 2 document and time stamp.
    webhook_stage BIGINT NOT NULL,
    bucket_stage BIGINT NOT NULL,
    -- Until when a node sends it.
    claimed_until BIGINT NOT NULL
);

-- ---- The logs of tenants ----

-- Derived from the events and from the records of removed ones: deleted rows are computed again when they are needed. docs/ledger.md describes map and logs.

-- The state of a ledger's map: how many events of the log it has, and its root. Written after a checkpoint that covers them.
CREATE TABLE tenant_maps (
    ledger_id BIGINT NOT NULL PRIMARY KEY,
    size BIGINT NOT NULL,
    -- Right edge of the log's tree at this size.
    frontier BLOB NOT NULL,
    root BLOB NOT NULL,
    -- HMAC-SHA256 over the columns above, with the key of the heads. A row with another code is discarded, with the map.
    code BLOB NOT NULL
);

-- One log for each tenant that has events.
CREATE TABLE tenant_logs (
    ledger_id BIGINT NOT NULL,
    -- The first 18 bits of the position in the map.
    bucket BIGINT NOT NULL,
    -- The position in the map (64 bits, as a signed number).
    slot BIGINT NOT NULL,
    -- SHA-256 over salt and id: what is left of the name of a tenant whose events are all removed. Its first 64 bits are the slot.
    label BLOB NOT NULL,
    -- Empty where all events of the tenant are removed.
    tenant_id TEXT NOT NULL,
    -- Right edge of the tree over the tenant's events.
    frontier BLOB NOT NULL,
    -- The leaf hashes behind the last full tile, and the `seq` of the first of them.
    recent BLOB NOT NULL,
    recent_seq BIGINT NOT NULL,
    PRIMARY KEY (ledger_id, bucket, slot)
);

-- Full tiles of 256 hashes of a tenant's tree.
CREATE TABLE tenant_tiles (
    ledger_id BIGINT NOT NULL,
    slot BIGINT NOT NULL,
    level BIGINT NOT NULL,
    tile_index BIGINT NOT NULL,
    -- The `seq` of the first leaf, at level 0. Finds the tile of an event.
    first_seq BIGINT NOT NULL,
    hashes BLOB NOT NULL,
    PRIMARY KEY (ledger_id, slot, level, tile_index)
);

-- The map above its buckets, six levels in a row: the children that are not empty, each its number (one byte) and hash.
CREATE TABLE tenant_map_tiles (
    ledger_id BIGINT NOT NULL,
    depth BIGINT NOT NULL,
    prefix BIGINT NOT NULL,
    children BLOB NOT NULL,
    PRIMARY KEY (ledger_id, depth, prefix)
);

-- ---- Removals ----

-- What removes events: plans and removals of retention, erasures. The lifecycle events of the log authorise them; a row has the progress.
--
-- | State | Meaning |
-- |---|---|
-- | `collecting` | records are being written; there is no event yet |
-- | `listed` | the records of an erasure are complete, and wait for the confirmation |
-- | `planned` | the plan is in the log |
-- | `removing` | `audit.events.removed` is in the log; rows are being deleted |
-- | `cleaning` | the rows are deleted; the index and rows that depend on them are not clean yet |
-- | `done` | all of it is complete |
-- | `cancelled` | the plan was cancelled; the records are being deleted, then this row |
CREATE TABLE removals (
    ledger_id BIGINT NOT NULL REFERENCES ledgers (id),
    -- From 1.
    number BIGINT NOT NULL,
    -- `retention` or `erasure`.
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    -- Position of the event that authorises the state: the plan while `planned`, then the removal or erasure. NULL before the
    -- plan.
    event_seq BIGINT,
    -- The range of the log that the records were collected from.
    first_seq BIGINT NOT NULL,
    end_seq BIGINT NOT NULL,
    -- The position at which the work of the state continues.
    cursor_seq BIGINT NOT NULL,
    -- The number of records.
    records BIGINT NOT NULL,
    -- JSON: what an erasure needs before its plan is in the log. No identifier of the person. NULL for retention.
    request TEXT,
    -- HMAC-SHA256 over the columns above but `cursor_seq`, with the key of the heads.
    code BLOB NOT NULL,
    changed_at BIGINT NOT NULL,
    leased_until BIGINT NOT NULL,
    lease BLOB,
    PRIMARY KEY (ledger_id, number)
);
-- Finds the removals that have work to do.
CREATE INDEX removals_open ON removals (state, leased_until) WHERE state <> 'done';

-- What remains of removed events: a row for each removal and tile of 256 positions. A record has 43 bytes: position in the tile, mask of
-- what was removed, content hash, slot of the tenant. The digest in the event of the removal authenticates the records.
CREATE TABLE removed_events (
    ledger_id BIGINT NOT NULL,
    tile_index BIGINT NOT NULL,
    -- The number of the removal.
    removal BIGINT NOT NULL,
    records BLOB NOT NULL,
    PRIMARY KEY (ledger_id, tile_index, removal)
);
-- Reads and deletes the records of one removal.
CREATE INDEX removed_events_by_removal ON removed_events (ledger_id, removal, tile_index);

-- The labels of the tenants of removed events, by slot.
CREATE TABLE removed_tenants (
    ledger_id BIGINT NOT NULL,
    slot BIGINT NOT NULL,
    label BLOB NOT NULL,
    PRIMARY KEY (ledger_id, slot)
);

-- ---- Alerts ----

-- Custom rules, and built-in rules with changed settings (their ids are not UUIDs). The primary key lists the rules of a
-- project.
CREATE TABLE alert_rules (
    project_id TEXT NOT NULL REFERENCES projects (id),
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    action_pattern TEXT NOT NULL,
    threshold BIGINT NOT NULL,
    window_seconds BIGINT NOT NULL,
    group_by TEXT NOT NULL,
    -- The field whose distinct values count. NULL: events count.
    count_distinct TEXT,
    severity TEXT NOT NULL,
    enabled BOOLEAN NOT NULL,
    cooldown_seconds BIGINT NOT NULL,
    -- JSON: the values of each condition by its name.
    conditions TEXT NOT NULL,
    -- Incremented by an edit; counts in `alert_groups` of another revision start again.
    revision BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (project_id, id)
);

-- Counting state of a rule for one group (an actor, a tenant, an address). Written in the transaction that stores the events, under
-- the lock of the ledger's head. Expired rows are deleted in key order; an index on `expires_at` would cost one more random
-- page per counted event.
CREATE TABLE alert_groups (
    ledger_id BIGINT NOT NULL,
    -- Hash of the grouping field, the tenant and the value.
    group_hash BLOB NOT NULL,
    state BLOB NOT NULL,
    -- From then on the row has no effect.
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (ledger_id, group_hash)
) WITHOUT ROWID;

-- Fired alerts. Ids begin with the time of firing in ms, so that the primary key lists the alerts of a ledger by time.
CREATE TABLE alerts (
    ledger_id BIGINT NOT NULL,
    id BLOB NOT NULL,
    rule_id TEXT NOT NULL,
    rule_name TEXT NOT NULL,
    severity TEXT NOT NULL,
    status TEXT NOT NULL,
    tenant_id TEXT NOT NULL,
    group_by TEXT NOT NULL,
    group_key TEXT NOT NULL,
    -- As in `alert_rules`, when the rule fired.
    count_distinct TEXT,
    event_count BIGINT NOT NULL,
    -- Event ids, 16 bytes each.
    sample_event_ids BLOB NOT NULL,
    fired_at BIGINT NOT NULL,
    acknowledged_at BIGINT,
    resolved_at BIGINT,
    -- Ids of the webhooks that the alert still has to be queued for, separated by spaces. NULL once their deliveries are written.
    undelivered_to TEXT,
    PRIMARY KEY (ledger_id, id)
) WITHOUT ROWID;
-- Each lists the alerts of a ledger by time, filtered by one column.
CREATE INDEX alerts_by_rule ON alerts (ledger_id, rule_id, id);
CREATE INDEX alerts_by_severity ON alerts (ledger_id, severity, id);
CREATE INDEX alerts_by_status ON alerts (ledger_id, status, id);
-- Finds the ledgers that have alerts without deliveries, and those alerts. Not by `id`: SQLite would use the primary key, and read
-- all alerts of the ledger.
CREATE INDEX alerts_undelivered ON alerts (ledger_id, fired_at) WHERE undelivered_to IS NOT NULL;

-- ---- Webhooks ----

CREATE TABLE webhooks (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id),
    -- Encrypted where an encryption key is configured, as secrets are.
    url BLOB NOT NULL,
    -- Shape of the body: `json`, `slack` or `teams`.
    format TEXT NOT NULL,
    enabled BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    -- A deleted webhook is hidden at once. Its deliveries are deleted in batches, then the row.
    deleted_at BIGINT
);
-- Lists the webhooks of a project.
CREATE INDEX webhooks_by_project ON webhooks (project_id);
-- Finds the deleted webhook to remove next.
CREATE INDEX webhooks_deleted ON webhooks (deleted_at) WHERE deleted_at IS NOT NULL;

-- Secrets that sign deliveries: the latest, and rotated ones until they expire. Encrypted where an encryption key is
-- configured. The primary key lists the secrets of a webhook.
CREATE TABLE webhook_secrets (
    webhook_id TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    secret BLOB NOT NULL,
    -- NULL for the latest.
    expires_at BIGINT,
    PRIMARY KEY (webhook_id, number)
);
-- Finds expired secrets to delete.
CREATE INDEX webhook_secrets_by_expiry ON webhook_secrets (expires_at) WHERE expires_at IS NOT NULL;

-- One message to one webhook. Until it is finished it has a stage:
--   `ready`    an attempt may begin now; `due_at` is the order.
--   `waiting`  `due_at` is when it becomes ready: the time of the next retry, or the end of the lease of the attempt in
--              flight, so that the delivery of a crashed node is retried.
--   `held`     the webhook is disabled, or the plan does not include webhooks.
CREATE TABLE webhook_deliveries (
    id BLOB NOT NULL PRIMARY KEY,
    webhook_id TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    -- `alert.fired`, with the alert, or `webhook.test`.
    kind TEXT NOT NULL,
    ledger_id BIGINT,
    alert_id BLOB,
    status TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    -- Attempts by the retry schedule. The others were requested.
    scheduled_attempts BIGINT NOT NULL,
    -- Whether a failed attempt is retried by the schedule.
    is_retried BOOLEAN NOT NULL,
    -- NULL once finished.
    stage TEXT,
    due_at BIGINT,
    -- Next attempt by the schedule, while a requested attempt precedes it.
    scheduled_at BIGINT,
    -- Whether an attempt was requested during the one in flight.
    retry_requested BOOLEAN NOT NULL,
    -- Identifies the attempt in flight: only its node records the outcome.
    lease BLOB,
    created_at BIGINT NOT NULL,
    finished_at BIGINT
);
-- Finds the webhooks with ready deliveries, one step each, and leases the first deliveries of a webhook.
CREATE INDEX webhook_deliveries_ready ON webhook_deliveries (webhook_id, due_at) WHERE stage = 'ready';
-- Finds the waiting deliveries that are due, and the time at which the next one is.
CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (due_at) WHERE stage = 'waiting';
-- Finds the held deliveries of a webhook that is enabled again.
CREATE INDEX webhook_deliveries_held ON webhook_deliveries (webhook_id) WHERE stage = 'held';
-- Lists the deliveries of a webhook by time, and deletes those of a deleted webhook.
CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (webhook_id, id);
-- The same list, filtered by status.
CREATE INDEX webhook_deliveries_by_status ON webhook_deliveries (webhook_id, status, id);
-- Finds finished deliveries past their retention to delete.
CREATE INDEX webhook_deliveries_by_finish ON webhook_deliveries (finished_at) WHERE finished_at IS NOT NULL;

-- The attempts of a delivery, from 1. The primary key lists them.
CREATE TABLE delivery_attempts (
    delivery_id BLOB NOT NULL REFERENCES webhook_deliveries (id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    started_at BIGINT NOT NULL,
    duration_ms BIGINT NOT NULL,
    status_code BIGINT,
    failure TEXT,
    PRIMARY KEY (delivery_id, number)
);

-- ---- Destinations ----

-- Receivers of the events of one environment of a project: SIEMs, buckets, collectors. How far each is, is in `destination_runs`.
CREATE TABLE destinations (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id),
    environment TEXT NOT NULL,
    name TEXT NOT NULL,
    -- `https`, `s3`, `splunk_hec`, `datadog`, `otlp` or `syslog`.
    kind TEXT NOT NULL,
    -- Format of the records: `json`, `ocsf` or `cef`.
    format TEXT NOT NULL,
    -- Whether records in another format than `json` also have the event.
    include_raw BOOLEAN NOT NULL,
    -- JSON: classes of records in `ocsf` by action, in the place of those of the mapping.
    ocsf_classes TEXT NOT NULL,
    -- JSON: which events are delivered.
    filter TEXT NOT NULL,
    -- Settings and credentials together; encrypted where an encryption key is configured, as secrets are.
    config BLOB NOT NULL,
    -- The configuration before it, until a delivery with the present one has succeeded. NULL otherwise.
    previous_config BLOB,
    paused BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    -- The tenant that has created it for its own events. NULL: the project.
    created_by_tenant TEXT
);
-- Lists the destinations of a project.
CREATE INDEX destinations_by_project ON destinations (project_id);

-- The progress of destinations. Run 0 delivers the log without an end. Every other run is a replay of a part of the log; its row is
-- deleted at the end. A run has one batch in flight. A node leases the run, and each of its writes names the lease, so a node that
-- has lost the lease to another one changes nothing.
CREATE TABLE destination_runs (
    destination_id TEXT NOT NULL REFERENCES destinations (id),
    number BIGINT NOT NULL,
    ledger_id BIGINT NOT NULL REFERENCES ledgers (id),
    -- The `seq` to read next.
    cursor_seq BIGINT NOT NULL,
    -- The first `seq` that is not delivered. NULL: the run has no end.
    end_seq BIGINT,
    -- Number of the last record that was delivered. Records are numbered from 1 without a gap.
    position BIGINT NOT NULL,
    -- Hash chain over the delivered records, 32 bytes.
    chain BLOB NOT NULL,
    -- JSON: the batch in flight. Committed before it is sent, so that after a crash the same batch is sent again.
    planned TEXT,
    -- The most records of the next batch.
    batch_max BIGINT NOT NULL,
    -- `active`; `delayed` or `credentials` after a failure, until `next_attempt_at`; `parked` until the destination is changed.
    state TEXT NOT NULL,
    -- Attempts since the last success.
    attempts BIGINT NOT NULL,
    next_attempt_at BIGINT NOT NULL,
    leased_until BIGINT NOT NULL,
    -- Random; identifies the lease of a node. NULL: no node delivers.
    lease BLOB,
    -- Events that were set aside since the last success.
    set_aside_in_a_row BIGINT NOT NULL,
    -- When the last checkpoint record was delivered, and the last position that it covers.
    checkpoint_at BIGINT NOT NULL,
    checkpoint_position BIGINT NOT NULL,
    last_success_at BIGINT,
    -- JSON: time, status, request and response of the last failure.
    last_error TEXT,
    -- Number of records that were delivered.
    delivered BIGINT NOT NULL,
    PRIMARY KEY (destination_id, number)
);
-- Finds the runs whose next attempt may begin. Parked runs are not read.
CREATE INDEX destination_runs_due ON destination_runs (state, next_attempt_at);

-- Events that a receiver has refused for good. They keep their position. Without a reference to the destination: the rows of a
-- deleted one can be many, and are deleted in batches. The primary key lists them in the order of the stream.
CREATE TABLE destination_set_aside (
    destination_id TEXT NOT NULL,
    run BIGINT NOT NULL,
    position BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    event_id BLOB NOT NULL,
    content_hash BLOB NOT NULL,
    at BIGINT NOT NULL,
    -- What the receiver has responded.
    reason TEXT NOT NULL,
    PRIMARY KEY (destination_id, run, position)
);

-- ---- Anonymous streams ----

-- A stream is identified by the SHA-256 of its token. The row outlives its events, so that a token is never reused.
CREATE TABLE streams (
    token_hash BLOB NOT NULL PRIMARY KEY,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    claimed_at BIGINT,
    -- Accepted events: in total, and on one day.
    event_count BIGINT NOT NULL,
    day BIGINT NOT NULL,
    day_events BIGINT NOT NULL,
    -- Whether the events are deleted: claimed, or purged after expiry.
    is_empty BOOLEAN NOT NULL
);
-- Finds expired streams to purge.
CREATE INDEX streams_by_expiry ON streams (expires_at) WHERE NOT is_empty;

-- The events of unclaimed streams, apart from those of projects. The primary key lists the events of a stream.
CREATE TABLE stream_events (
    token_hash BLOB NOT NULL REFERENCES streams (token_hash),
    number BIGINT NOT NULL,
    id BLOB NOT NULL,
    occurred_at BIGINT NOT NULL,
    received_at BIGINT NOT NULL,
    -- NULL without an idempotency key, like the digest of the event as sent.
    idempotency_hash BLOB,
    sent_digest BLOB,
    redacted BOOLEAN NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (token_hash, number)
);

-- Rate limits of the clients of streams: an IPv4 address, or the /64 of an IPv6 address.
CREATE TABLE stream_clients (
    client TEXT NOT NULL PRIMARY KEY,
    -- Times of the latest requests, in ms since the Unix epoch, 8 bytes each.
    requests BLOB NOT NULL,
    -- Streams created on one day.
    day BIGINT NOT NULL,
    new_streams BIGINT NOT NULL,
    last_seen_at BIGINT NOT NULL
);
-- Finds clients past their retention to delete.
CREATE INDEX stream_clients_by_last_seen ON stream_clients (last_seen_at);
