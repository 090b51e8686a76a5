-- Organizations, projects, keys and everything a project is configured with.
-- Ids are hyphenated UUIDs as text, times are microseconds since the Unix epoch (UTC), lists are JSON as text.

-- One row. Every change of keys, plans, rules or tiers increases the version in its own transaction, so that whoever
-- keeps something of them in memory can tell, inside the transaction that relies on it, whether it still holds.
CREATE TABLE configuration (
    id BIGINT NOT NULL PRIMARY KEY,
    version BIGINT NOT NULL
);
INSERT INTO configuration (id, version) VALUES (1, 1);

-- Secrets the service makes for itself, such as the key that seals cursors.
CREATE TABLE secrets (
    name TEXT NOT NULL PRIMARY KEY,
    secret BLOB NOT NULL,
    created_at BIGINT NOT NULL
);

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
    created_at BIGINT NOT NULL
);
CREATE INDEX projects_by_organization ON projects (organization_id);

-- Master keys (no project) and project keys. Only the SHA-256 of a key is kept.
CREATE TABLE api_keys (
    id TEXT NOT NULL PRIMARY KEY,
    organization_id TEXT NOT NULL REFERENCES organizations (id),
    project_id TEXT REFERENCES projects (id),
    environment TEXT,
    name TEXT NOT NULL,
    prefix TEXT NOT NULL,
    key_hash BLOB NOT NULL UNIQUE,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT,
    revoked_at BIGINT
);
CREATE INDEX api_keys_by_organization ON api_keys (organization_id);

-- The secrets that sign viewer tokens. A retired one verifies until its last token has expired.
CREATE TABLE viewer_secrets (
    kid TEXT NOT NULL PRIMARY KEY,
    secret BLOB NOT NULL,
    created_at BIGINT NOT NULL,
    retired_at BIGINT
);

CREATE TABLE viewer_tiers (
    project_id TEXT NOT NULL REFERENCES projects (id),
    name TEXT NOT NULL,
    categories TEXT,
    actions TEXT,
    hidden_fields TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (project_id, name)
);

-- Custom rules, and the settings of built-in rules that somebody changed (kind `builtin`, id `builtin_…`).
CREATE TABLE redaction_rules (
    project_id TEXT NOT NULL REFERENCES projects (id),
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    pattern TEXT,
    fields TEXT,
    behavior TEXT NOT NULL,
    enabled BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (project_id, id)
);

-- Live events stored per project and UTC day (days since 1970-01-01).
CREATE TABLE daily_usage (
    project_id TEXT NOT NULL REFERENCES projects (id),
    day BIGINT NOT NULL,
    events BIGINT NOT NULL,
    PRIMARY KEY (project_id, day)
);
