// Uses the types that openapi-typescript makes, through openapi-fetch. Arguments: URL, project key, master key.
import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

const [url, projectKey, masterKey] = process.argv.slice(2);
assert(url && projectKey && masterKey);
const tenant = "generated-typescript";
const client = (key: string) =>
  createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${key}` } });
const project = client(projectKey);

const event = (action: string): components["schemas"]["EventInput"] => ({
  action,
  category: "mutation",
  tenant_id: tenant,
  actor: { id: "user_1", type: "user" },
});
const single = await project.POST("/api/v1/events", { body: event("user.created") });
assert.equal(single.data?.ids.length, 1);
const batch = await project.POST("/api/v1/events", { body: Array.from({ length: 5 }, () => event("user.updated")) });
assert.equal(batch.data?.ids.length, 5);

const today = new Date().toISOString().slice(0, 10);
const found: components["schemas"]["StoredEvent"][] = [];
let cursor: string | null = null;
do {
  const query = { tenant_id: [tenant], start_date: today, limit: 2, ...(cursor === null ? {} : { cursor }) };
  const page: { data?: components["schemas"]["EventPage"] } = await project.GET("/api/v1/events", {
    params: { query },
  });
  assert(page.data);
  found.push(...page.data.events);
  cursor = page.data.cursor;
} while (cursor !== null);
assert.equal(found.length, 6);
assert.equal(found[0]?.actor?.id, "user_1");

const missing = await project.GET("/api/v1/events/{id}", {
  params: { path: { id: "evt_00000000000000000000000000" } },
});
assert(missing.error);
const code: components["schemas"]["ErrorCode"] = missing.error.error.code;
assert.equal(code, "not_found");

// A choice by its discriminator, and a webhook.
const master = client(masterKey);
const rule = await master.POST("/api/v1/redaction/rules", {
  body: { type: "pattern", name: "employee numbers", pattern: "EMP-[0-9]{6}" },
});
assert.equal(rule.data?.rule.type, "pattern");
const made = await master.POST("/api/v1/alerts/webhooks", { body: { url: "https://example.com/hook" } });
assert(made.data?.webhook.secret.startsWith("whsec_"));

// Messages to webhooks are typed too.
type Message = components["schemas"]["AlertFiredMessage"];
const severity = (message: Message): components["schemas"]["AlertSeverity"] => message.data.severity;
assert.equal(typeof severity, "function");
console.log("typescript: ok");
