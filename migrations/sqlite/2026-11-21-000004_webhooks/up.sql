-- Webhooks and what is to be delivered to them.

CREATE TABLE webhooks (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id),
    url TEXT NOT NULL,
    enabled BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    -- Nobody sees it from then on; its rows are removed little by little.
    deleted_at BIGINT
);
CREATE INDEX webhooks_by_project ON webhooks (project_id);
CREATE INDEX webhooks_deleted ON webhooks (deleted_at) WHERE deleted_at IS NOT NULL;

-- The secrets that sign: the newest, and those it replaced until they expire. Sealed when there is an encryption key.
CREATE TABLE webhook_secrets (
    webhook_id TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    secret BLOB NOT NULL,
    expires_at BIGINT,
    PRIMARY KEY (webhook_id, number)
);
CREATE INDEX webhook_secrets_by_expiry ON webhook_secrets (expires_at) WHERE expires_at IS NOT NULL;

-- One message to one webhook. Until it is finished it has a stage, and `due_at` is when the next attempt may begin:
-- `ready` it may begin now; `waiting` it is being attempted, and `due_at` is the end of the lease, so that a node that dies
-- in the middle gives it back, or it will be ready then; `held` its webhook is not in use.
CREATE TABLE webhook_deliveries (
    id BLOB NOT NULL PRIMARY KEY,
    webhook_id TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    -- `alert.fired`, with the alert, or `webhook.test`.
    kind TEXT NOT NULL,
    ledger_id BIGINT,
    alert_id BLOB,
    status TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    -- Those of the schedule among them; the others were asked for.
    scheduled_attempts BIGINT NOT NULL,
    -- Whether the schedule of retries applies; otherwise the next attempt is the last.
    is_retried BOOLEAN NOT NULL,
    stage TEXT,
    due_at BIGINT,
    -- When the schedule has the next attempt, while one that was asked for comes before it.
    scheduled_at BIGINT,
    -- Somebody asked for another attempt during the one under way.
    retry_asked BOOLEAN NOT NULL,
    lease BLOB,
    created_at BIGINT NOT NULL,
    finished_at BIGINT
);
CREATE INDEX webhook_deliveries_ready ON webhook_deliveries (webhook_id, due_at) WHERE stage = 'ready';
CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (due_at) WHERE stage = 'waiting';
CREATE INDEX webhook_deliveries_held ON webhook_deliveries (webhook_id) WHERE stage = 'held';
CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (webhook_id, id);
CREATE INDEX webhook_deliveries_by_status ON webhook_deliveries (webhook_id, status, id);
CREATE INDEX webhook_deliveries_by_finish ON webhook_deliveries (finished_at) WHERE finished_at IS NOT NULL;

CREATE TABLE delivery_attempts (
    delivery_id BLOB NOT NULL REFERENCES webhook_deliveries (id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    started_at BIGINT NOT NULL,
    duration_ms BIGINT NOT NULL,
    status_code BIGINT,
    failure TEXT,
    PRIMARY KEY (delivery_id, number)
);
