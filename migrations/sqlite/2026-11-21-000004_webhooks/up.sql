-- Webhooks and what is to be delivered to them.

CREATE TABLE webhooks (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id),
    url TEXT NOT NULL,
    enabled BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX webhooks_by_project ON webhooks (project_id);

-- The secrets that sign: the newest, and those it replaced until they expire. Sealed when there is an encryption key.
CREATE TABLE webhook_secrets (
    webhook_id TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    secret BLOB NOT NULL,
    expires_at BIGINT,
    PRIMARY KEY (webhook_id, number)
);

-- One message to one webhook. `due_at` is when the next attempt may begin, none once it is finished; whoever takes the
-- delivery moves it to the end of the lease, so that a node that dies in the middle of an attempt gives it back.
CREATE TABLE webhook_deliveries (
    id BLOB NOT NULL PRIMARY KEY,
    webhook_id TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    -- `alert.fired`, with the alert, or `webhook.test`.
    kind TEXT NOT NULL,
    ledger_id BIGINT,
    alert_id BLOB,
    status TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    -- Whether the schedule of retries applies; otherwise the next attempt is the last.
    is_retried BOOLEAN NOT NULL,
    due_at BIGINT,
    lease BLOB,
    created_at BIGINT NOT NULL,
    finished_at BIGINT
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (webhook_id, id);
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
