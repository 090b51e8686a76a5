// The section Retention: policy and holds with the server, and with responses of the test for a plan, which takes months.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { closePage, expectAccessible, openConsole, request, row, startBrowser, startServer, stopBrowser, stopServer } from "./kit.mjs";

let server;
const MARKUP = "<img src=x onerror=\"window.pwned='hold'\">";

before(async () => {
  server = await startServer();
  await startBrowser();
});
after(async () => {
  await stopBrowser();
  await stopServer(server);
});

test("a policy is previewed before it is stored", async () => {
  const page = await openConsole(server, "retention");
  await page.getByText("Nothing was removed.").waitFor();
  await page.getByLabel("Preset").selectOption("hipaa");
  await page.getByLabel("Longer for categories").fill("security: 3000");
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByText("No event is old enough to be removed.").waitFor();
  await expectAccessible(page);
  assert.equal((await request(server, "GET", "/retention", { key: server.master })).policy, null);
  await page.getByRole("button", { name: "Store this policy" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Store", exact: true }).click();
  await page.locator(".card", { hasText: "security 3,000 days" }).waitFor();
  const { policy } = await request(server, "GET", "/retention", { key: server.master });
  assert.deepEqual([policy.days, policy.preset, policy.categories], [2190, "hipaa", { security: 3000 }]);
  await closePage(page);
});

test("a policy of the test environment leaves the live one alone", async () => {
  const page = await openConsole(server, "retention?environment=test");
  await page.getByLabel("Days (empty: for ever)").fill("500");
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByRole("button", { name: "Store this policy" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Store", exact: true }).click();
  await page.locator(".card", { hasText: "500 days" }).waitFor();
  const policyOf = async (environment) => (await request(server, "GET", `/retention?environment=${environment}`, { key: server.master })).policy;
  assert.equal((await policyOf("test")).days, 500);
  assert.notEqual((await policyOf("live"))?.days, 500);
  await closePage(page);
});

test("the report is saved as JSON and as a page", async () => {
  const page = await openConsole(server, "retention");
  const report = { log: "log/live", policy: null };
  await page.route("**/api/v1/log/report?**", (route) => {
    const isJson = new URL(route.request().url()).searchParams.get("format") === "json";
    return isJson ? route.fulfill({ json: report }) : route.fulfill({ contentType: "text/html", body: "<!doctype html><title>Report</title>" });
  });
  const saved = async (name) => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name }).click()]);
    return [download.suggestedFilename(), readFileSync(await download.path(), "utf8")];
  };
  assert.deepEqual(await saved("Save as JSON"), ["retention-report.json", JSON.stringify(report)]);
  assert.deepEqual(await saved("Save to print"), ["retention-report.html", "<!doctype html><title>Report</title>"]);
  await closePage(page);
});

test("a hold is placed and released with a reason", async () => {
  const page = await openConsole(server, "retention");
  await page.getByLabel("Reason").fill(`Case 7 ${MARKUP}`);
  await page.getByLabel("Tenant").fill("acme");
  await page.getByRole("button", { name: "Place hold" }).click();
  await row(page, "Case 7").getByText("tenant acme").waitFor();
  await row(page, "Case 7").getByRole("button", { name: "Release" }).click();
  await page.getByRole("dialog").getByLabel("Reason").fill("closed");
  await page.getByRole("dialog").getByRole("button", { name: "Release" }).click();
  await page.getByText("No holds.").waitFor();
  await page.getByLabel("Show released holds").check();
  await row(page, "Case 7").getByText("released").waitFor();
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  await closePage(page);
});

test("a plan says what it removes, and is cancelled", async () => {
  const plan = {
    seq: 1203, received_before: { default: "2025-11-01T02:00:00.000Z" }, events: 4211, held: 17, kept: 3, digest: `sha256:${"0".repeat(64)}`,
    planned_at: "2026-11-01T02:00:00.000Z", not_before: "2026-11-02T02:00:00.000Z", state: "planned",
  };
  const removals = [{ seq: 1187, id: "evt_01M7YB69J3GMC5VKW830MM535B", at: "2026-10-02T02:00:00.000Z", events: 871, received_before: { default: "2025-10-01T02:00:00.000Z" }, state: "done" }];
  const policy = { days: 365, categories: {}, preset: "pci", since: "2026-01-15T10:30:00.000Z", seq: 12 };
  const found = { policy, plan, waiting_for: "confirmation", removals, removed: 871, holds: 0, minimum_days: 93, request_id: "req_1" };
  const page = await openConsole(server, "overview");
  const sent = [];
  await page.route(/\/api\/v1\/retention/, (route) => {
    const made = route.request();
    if (made.method() !== "GET") {
      sent.push([new URL(made.url()).pathname, made.postDataJSON()]);
      Object.assign(found, { plan: null, waiting_for: null });
    }
    return route.fulfill({ json: found });
  });
  await page.getByRole("link", { name: "Retention", exact: true }).click();
  await page.getByRole("heading", { name: "Plan 1203" }).waitFor();
  await page.getByText("4,211 events").waitFor();
  await page.getByText("The log is far behind its policy.").waitFor();
  await row(page, "1187").getByText("done").waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Cancel this plan" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel the removal" }).click();
  await page.getByRole("heading", { name: "Plan 1203" }).waitFor({ state: "detached" });
  assert.deepEqual(sent, [["/api/v1/retention/cancel", { plan: 1203 }]]);
  await page.unrouteAll({ behavior: "wait" });
  await closePage(page);
});
