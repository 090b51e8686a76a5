import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { closePage, eventually, expectAccessible, openPage, picture, request, startBrowser, startServer, stopBrowser, stopServer, store, viewerToken } from "./kit.mjs";

let server;
let key;
let ids;
const stored = [
  { action: "user.role.updated", category: "admin", tenant_id: "acme", actor: { id: "u_1", type: "user", name: "Anna Berger", email: "anna@example.com" },
    target: { id: "u_2", type: "user", name: "Marc Olsen" }, changes: [{ field: "role", before: "member", after: "admin" }],
    context: { ip_address: "203.0.113.7" }, metadata: { ticket: "OPS-17", large: 1 } },
  { action: "document.viewed", category: "access", tenant_id: "acme", actor: { id: "u_2", type: "user" } },
  { action: "document.exported", category: "access", tenant_id: "acme", actor: { id: "u_3", type: "service" }, metadata: { count: "BIG" } },
];

before(async () => {
  server = await startServer();
  await startBrowser();
  // A number with more digits than a double keeps.
  const body = JSON.stringify(stored).replace('"BIG"', "12345678901234567890");
  const headers = { Authorization: `Bearer ${server.project}`, "Content-Type": "application/json" };
  ids = (await (await fetch(`${server.url}/api/v1/events`, { method: "POST", headers, body })).json()).ids;
  key = (await request(server, "GET", "/log/key")).trim();
  await eventually(async () => assert.equal((await request(server, "GET", "/log/checkpoint")).split("\n")[1], "3"));
});
after(async () => {
  await stopBrowser();
  await stopServer(server);
});

/** Opens an event in the portal. `change` edits the response of `GET /events/:id`, `changeProof` that of its proof. */
async function openEvent(id, { pinned = key, tier = "full", change, changeProof, proofOf } = {}) {
  const page = await openPage(server);
  const token = await viewerToken(server, "acme", { tier });
  if (change) {
    await page.route(`**/api/v1/events/${id}`, async (route) => {
      const body = await (await route.fetch()).json();
      change(body.event);
      return route.fulfill({ json: body });
    });
  }
  if (changeProof || proofOf) {
    await page.route(`**/api/v1/events/${id}/proof`, async (route) => {
      const body = await (await route.fetch(proofOf && { url: `${server.url}/api/v1/events/${proofOf}/proof` })).json();
      changeProof?.(body);
      return route.fulfill({ json: body });
    });
  }
  await page.goto(`${server.url}/portal#token=${token}&event=${id}${pinned ? `&key=${encodeURIComponent(pinned)}` : ""}`);
  await page.locator("audit-log-proof .mark[class~=verified], .mark[class~=consistent], .mark[class~=failed], .mark[class~=unavailable]").waitFor();
  return page;
}

async function outcome(page) {
  const mark = page.locator("audit-log-proof .mark");
  const failed = await mark.locator("li.failed").allTextContents();
  return { state: (await mark.getAttribute("class")).replace("mark ", ""), failed: failed.map((text) => text.trim().split(":")[0]), text: await mark.textContent() };
}

test("an event that was not changed is verified against the pinned key", async () => {
  for (const id of ids) {
    const page = await openEvent(id);
    const found = await outcome(page);
    assert.equal(found.state, "verified", found.text);
    assert.ok(found.text.includes("exactly as it was recorded"), found.text);
    if (id === ids[0]) {
      await page.getByText("What was checked").click();
      await picture(page, "proof-verified");
    }
    await closePage(page);
  }
});

test("an edited field is shown as such", async () => {
  const edits = [
    (event) => (event.actor.name = "Somebody Else"),
    (event) => (event.changes[0].after = "member"),
    (event) => (event.occurred_at = "2020-01-01T00:00:00.000Z"),
    (event) => delete event.target,
    (event) => (event.metadata.extra = "added"),
  ];
  for (const change of edits) {
    const page = await openEvent(ids[0], { change });
    const found = await outcome(page);
    assert.equal(found.state, "failed", found.text);
    assert.deepEqual(found.failed, ["Content"]);
    assert.ok(found.text.includes("Do not rely on this event"), found.text);
    if (change === edits[0]) await picture(page, "proof-failed");
    await closePage(page);
  }
});

test("a row that was tampered with shows as such when the rows are verified", async () => {
  const page = await openPage(server);
  const token = await viewerToken(server, "acme", { tier: "full" });
  await page.route("**/api/v1/events?**", async (route) => {
    const body = await (await route.fetch()).text();
    return route.fulfill({ contentType: "application/json", body: body.replace("Anna Berger", "Somebody Else") });
  });
  await page.goto(`${server.url}/portal#token=${token}&key=${encodeURIComponent(key)}`);
  await page.getByRole("button", { name: "Verify shown events" }).click();
  await page.getByText("Verified: 2. Not verified: 1. Without a proof: 0.").waitFor();
  assert.match(await page.locator(".line.tampered").textContent(), /Somebody Else/);
  assert.equal(await page.locator(".line .mark.verified").count(), 2);
  await expectAccessible(page);
  await picture(page, "proof-list");
  await closePage(page);
});

test("an event that was edited with its hash is not in the tree", async () => {
  const page = await openEvent(ids[0], {
    change: (event) => (event.content_hash = `sha256:${"11".repeat(32)}`),
    changeProof: (proof) => (proof.content_hash = `sha256:${"11".repeat(32)}`),
  });
  const found = await outcome(page);
  assert.deepEqual([found.state, found.failed], ["failed", ["Content", "Inclusion"]], found.text);
  await closePage(page);
});

test("swapped events and swapped proofs are noticed", async () => {
  const other = await request(server, "GET", `/events/${ids[1]}`);
  const swapped = await openEvent(ids[0], { change: (event) => Object.assign(event, { action: other.event.action, actor: other.event.actor, target: other.event.target, category: "access" }) });
  assert.equal((await outcome(swapped)).state, "failed");
  await closePage(swapped);
  const proof = await openEvent(ids[0], { proofOf: ids[1] });
  const found = await outcome(proof);
  assert.deepEqual([found.state, found.failed], ["failed", ["Identity", "Content"]], found.text);
  await closePage(proof);
});

test("an event that was deleted from the log has no proof", async () => {
  const page = await openPage(server);
  const token = await viewerToken(server, "acme", { tier: "full" });
  const gone = { error: { code: "not_found", message: "event not found" }, request_id: "req_00000000000000000002" };
  await page.route("**/proof", (route) => route.fulfill({ status: 404, json: gone }));
  await page.goto(`${server.url}/portal#token=${token}&event=${ids[0]}&key=${encodeURIComponent(key)}`);
  await page.getByText("No proof available").waitFor();
  await closePage(page);
});

test("a forged checkpoint and another key are refused", async () => {
  const forged = await openEvent(ids[0], { changeProof: (proof) => (proof.checkpoint = proof.checkpoint.replace("\n3\n", "\n4\n")) });
  const found = await outcome(forged);
  assert.equal(found.state, "failed");
  assert.ok(found.failed.includes("Signature"), found.text);
  await closePage(forged);
  const [name] = key.split("+");
  const foreign = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
  const page = await openEvent(ids[0], { pinned: foreign });
  const refused = await outcome(page);
  assert.deepEqual([refused.state, refused.failed], ["failed", ["Signature"]], `${name} ${refused.text}`);
  await closePage(page);
});

test("without a key nothing is claimed about the signature", async () => {
  const page = await openEvent(ids[0], { pinned: "" });
  const found = await outcome(page);
  assert.equal(found.state, "consistent");
  assert.ok(found.text.includes("The signature was not checked"), found.text);
  await closePage(page);
});

test("with hidden fields the rest is verified, and the hidden parts are named", async () => {
  const page = await openEvent(ids[0], { tier: "standard" });
  const found = await outcome(page);
  assert.equal(found.state, "verified", found.text);
  assert.ok(found.text.includes("Not visible to you, and so not checked: actor.email, network, client, metadata"), found.text);
  await closePage(page);
});

test("erased parts are named apart from hidden ones, and no value of one is believed", async () => {
  const erased = [{ seq: 2, parts: ["actor.email", "network"] }];
  const page = await openEvent(ids[0], { tier: "standard", change: (event) => Object.assign(event, { erased }) });
  const found = await outcome(page);
  assert.equal(found.state, "verified", found.text);
  assert.ok(found.text.includes("Not visible to you, and so not checked: client, metadata"), found.text);
  assert.ok(found.text.includes("Erased, and so not checked: actor.email, network"), found.text);
  await closePage(page);
  const forged = await openEvent(ids[0], { tier: "standard", change: (event) => Object.assign(event, { erased, context: { ip_address: "192.0.2.1" } }) });
  const refused = await outcome(forged);
  assert.deepEqual([refused.state, refused.failed], ["failed", ["Content"]], refused.text);
  await closePage(forged);
});
