import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sampleEvents } from "./data.mjs";
import { closePage, eventually, expectAccessible, openConsole, openPage, picture, request, row, startBrowser, startServer, stopBrowser, stopServer, store } from "./kit.mjs";

let server;
const events = sampleEvents(300);
const MARKUP = "<img src=x onerror=\"window.pwned='console'\">";
const failure = { action: "auth.failed", category: "auth", tenant_id: "acme", actor: { id: `u_9 ${MARKUP}`, type: "user" } };

before(async () => {
  server = await startServer();
  await startBrowser();
  await store(server, events);
  await store(server, Array.from({ length: 6 }, () => failure));
  const key = server.master;
  await request(server, "POST", "/alerts/webhooks", { key, body: { url: `https://127.0.0.1:9/alerts?${encodeURIComponent(MARKUP)}` } });
  await request(server, "POST", "/redaction/rules", { key, body: { type: "pattern", name: MARKUP, pattern: "EMP-[0-9]{6}", behavior: "mask" } });
  const rule = { name: MARKUP, action_pattern: "*.deleted", threshold: 3, window_seconds: 60, group_by: "actor_id", severity: "low" };
  await request(server, "POST", "/alerts/rules", { key, body: rule });
});
after(async () => {
  await stopBrowser();
  await stopServer(server);
});

const signIn = (path, options) => openConsole(server, path, options);

test("a key that is not valid does not sign in, and no page keeps one that is", async () => {
  const page = await openPage(server);
  await page.goto(`${server.url}/console`);
  await expectAccessible(page);
  await page.getByLabel("Key").fill("mk_wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").waitFor();
  await page.getByLabel("Key").fill(server.master);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  const kept = await page.evaluate(async () => [localStorage.length, sessionStorage.length, document.cookie, (await indexedDB.databases()).length, location.href, JSON.stringify(history.state)]);
  assert.ok(!JSON.stringify(kept).includes(server.master), `${kept}`);
  assert.deepEqual(kept.slice(0, 4), [0, 0, "", 0]);
  await closePage(page);
});

test("every section is accessible, light and dark, wide and narrow", async () => {
  for (const options of [{}, { colorScheme: "dark", viewport: { width: 320, height: 640 } }]) {
    const page = await signIn("overview", options);
    for (const name of ["Overview", "Events", "Alerts", "Alert rules", "Webhooks", "Destinations", "Retention", "Redaction", "Viewer tiers", "Actions", "Portal", "Projects and keys", "Streams", "Usage and plan", "Verifiable log"]) {
      await page.getByRole("link", { name, exact: true }).click();
      await page.locator("nav a[aria-current]", { hasText: name }).waitFor();
      await page.locator(name === "Events" ? ".line" : ".content h2").first().waitFor();
      await page.getByText("Loading …").waitFor({ state: "detached" });
      await expectAccessible(page);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= page.viewportSize().width, `${name}: ${width} wide`);
      if (!options.viewport && name === "Overview") await picture(page, "console");
      if (!options.viewport && name === "Redaction") await picture(page, "console-redaction");
    }
    await closePage(page);
  }
});

test("an alert is acknowledged and resolved", async () => {
  const page = await signIn("alerts");
  await row(page, "Auth Brute Force").getByRole("button", { name: "Acknowledge" }).click();
  await page.getByText("No alerts with this status").waitFor();
  await page.getByLabel("Status").selectOption("acknowledged");
  await row(page, "Auth Brute Force").getByRole("button", { name: "Resolve" }).click();
  await page.getByText("No alerts with this status").waitFor();
  await page.getByLabel("Status").selectOption("resolved");
  await page.getByRole("link", { name: "Auth Brute Force" }).click();
  await page.getByRole("link", { name: "auth.failed" }).first().click();
  await page.locator("audit-log-event h3", { hasText: "auth.failed" }).waitFor();
  await closePage(page);
});

test("of two loads of the alerts page the newer one is shown, also when the older response comes last", async () => {
  const page = await signIn("alerts");
  const environment = page.getByLabel("Environment");
  const none = page.getByText("No alerts with this status");
  await none.waitFor();
  await page.getByLabel("Status").selectOption("all");
  await row(page, "Auth Brute Force").waitFor();
  await environment.selectOption("test");
  await none.waitFor();
  const isOlder = (made) => /\/alerts(\?(?!.*environment=test)|$)/.test(made.url());
  let release;
  const released = new Promise((resolve) => (release = resolve));
  await page.route((url) => isOlder({ url: () => url.href }), async (route) => {
    const response = await route.fetch();
    await released;
    // The page may have aborted the request.
    await route.fulfill({ response }).catch(() => undefined);
  });
  const ended = Promise.race([page.waitForEvent("requestfinished", isOlder), page.waitForEvent("requestfailed", isOlder)]);
  await Promise.all([page.waitForRequest(isOlder), environment.selectOption("live")]);
  await environment.selectOption("test");
  await none.waitFor();
  release();
  await ended;
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  assert.equal(await page.locator("tbody tr").count(), 0);
  await closePage(page);
});

test("a link to an alert opens it and no other", async () => {
  const { alerts } = await request(server, "GET", "/alerts?environment=live", { key: server.master });
  const alert = alerts.find(({ rule_id: rule }) => rule === "auth_brute_force");
  const page = await signIn(`alerts?alert=${alert.id}&project=${alert.project_id}&environment=live`);
  await row(page, alert.id).waitFor();
  assert.equal(await row(page, alert.id).count(), 1);
  assert.equal(await page.getByLabel("Project").inputValue(), alert.project_id);
  await page.getByRole("link", { name: "All alerts" }).click();
  await page.getByLabel("Status").waitFor();
  // A later link may be to the other environment, or to no alert.
  const { key } = await request(server, "POST", "/keys", { key: server.master, body: { project_id: server.projectId, type: "project", name: "trial", environment: "test" } });
  await store(server, Array.from({ length: 5 }, () => failure), key);
  const [trial] = (await request(server, "GET", "/alerts", { key })).alerts;
  const follow = (id, environment) => page.evaluate((hash) => (location.hash = hash), `#/alerts?alert=${id}&project=${server.projectId}&environment=${environment}`);
  await follow(trial.id, "test");
  await row(page, trial.id).waitFor();
  assert.equal(await page.getByLabel("Environment").inputValue(), "test");
  await follow(trial.id, "live");
  await page.getByRole("alert").waitFor();
  assert.equal(await page.getByLabel("Environment").inputValue(), "live");
  assert.equal(await page.locator("tbody tr").count(), 0);
  await closePage(page);
});

test("an edit of a rule leaves the conditions that it does not change", async () => {
  const key = server.master;
  const ids = ["CN=backup,OU=svc", "backup"];
  const path = "/alerts/rules/bulk_data_export";
  const stored = async () => (await request(server, "GET", path, { key })).rule;
  await request(server, "PATCH", path, { key, body: { not_actor_ids: ids, outcomes: ["success"] } });
  const page = await signIn("rules");
  const edit = async (change) => {
    await row(page, "Bulk Data Export").getByRole("button", { name: "Edit" }).click();
    await page.getByRole("heading", { name: "Edit Bulk Data Export" }).waitFor();
    await change();
    const [patch] = await Promise.all([
      page.waitForRequest((made) => made.method() === "PATCH"),
      page.getByRole("button", { name: "Store changes" }).click(),
    ]);
    await page.getByText("Bulk Data Export: changed").or(page.getByText(/: stored/)).waitFor();
    await page.getByRole("heading", { name: "New rule" }).waitFor();
    return patch.postDataJSON();
  };
  const sent = await edit(() => page.getByLabel("Threshold").fill("7"));
  assert.deepEqual(Object.keys(sent).sort(), ["cooldown_seconds", "threshold", "window_seconds"]);
  assert.deepEqual([...(await stored()).not_actor_ids].sort(), [...ids].sort());
  await edit(() => page.getByLabel("Not these actors").fill("CN=backup,OU=svc\nother"));
  const { not_actor_ids, outcomes, threshold } = await stored();
  assert.deepEqual([[...not_actor_ids].sort(), outcomes, threshold], [["CN=backup,OU=svc", "other"], ["success"], 7]);
  await closePage(page);
});

test("a preview counts an address as one however it is written", async () => {
  for (const ip_address of ["::ffff:198.51.100.9", "198.51.100.9"]) await store(server, [{ ...failure, action: "door.forced", context: { ip_address } }]);
  const page = await signIn("rules");
  await page.getByLabel("Name").fill("Doors");
  await page.getByLabel("Action pattern").fill("door.forced");
  await page.getByLabel("Threshold").fill("2");
  await page.getByLabel("Count by").selectOption("ip_address");
  await page.getByRole("button", { name: "Preview" }).last().click();
  await row(page, "198.51.100.9").waitFor();
  await closePage(page);
});

test("a rule is previewed, created, changed and deleted", async () => {
  const page = await signIn("rules");
  await row(page, "Auth Brute Force").getByRole("button", { name: "Preview" }).click();
  await page.getByText(/would have raised/).first().waitFor();
  await page.getByLabel("Name").fill("Exports");
  await page.getByLabel("Action pattern").fill("document.exported");
  await page.getByLabel("Threshold").fill("2");
  await page.getByLabel("Window, seconds").fill("3600");
  await page.getByLabel("Count by").selectOption("tenant_id");
  await page.getByLabel("Count distinct").selectOption("actor_id");
  await page.getByLabel("Only outcomes").fill("success, denied");
  await page.getByRole("button", { name: "Create rule" }).click();
  await row(page, "Exports").getByText("2 distinct actor_id in 3600 s by tenant_id").waitFor();
  await row(page, "Exports").getByRole("button", { name: "Edit" }).click();
  await page.getByRole("heading", { name: "Edit Exports" }).waitFor();
  assert.equal(await page.getByLabel("Only outcomes").inputValue(), "denied, success");
  await page.getByLabel("Count distinct").selectOption("events");
  await page.getByLabel("Cooldown, seconds").fill("60");
  await page.getByRole("button", { name: "Store changes" }).click();
  await row(page, "Exports").getByText("2 in 3600 s by tenant_id").waitFor();
  await row(page, "Exports").getByRole("cell", { name: "60 s", exact: true }).waitFor();
  await row(page, "Exports").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByText("This cannot be undone").waitFor();
  await expectAccessible(page);
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await row(page, "Exports").waitFor({ state: "detached" });
  await closePage(page);
});

test("the tester marks what redaction removes", async () => {
  const page = await signIn("redaction");
  const event = { actor: { id: "a", type: "user", email: "jane@example.com" }, metadata: { note: `EMP-123456 ${MARKUP}` } };
  await page.getByRole("textbox", { name: "Event (nothing is stored)" }).fill(JSON.stringify(event));
  await eventually(async () => {
    const marks = await page.locator("table mark").allTextContents();
    assert.ok(marks.includes("jane@example.com"), marks.join(" | "));
    assert.ok(marks.some((text) => text.includes("EMP-123456")), marks.join(" | "));
  });
  const email = row(page, "Email");
  await email.getByRole("checkbox").uncheck({ force: true, noWaitAfter: true }).catch(() => undefined);
  await page.getByRole("dialog").getByRole("button", { name: "Switch off" }).click();
  await eventually(async () => assert.ok(!(await page.locator("table mark").allTextContents()).includes("jane@example.com")));
  await email.getByRole("checkbox").check();
  await eventually(async () => assert.ok((await page.locator("table mark").allTextContents()).includes("jane@example.com")));
  await closePage(page);
});

test("a webhook shows its secret once, and its deliveries", async () => {
  const page = await signIn("webhooks");
  await page.getByLabel("New webhook: URL").fill("https://127.0.0.1:9/other");
  await page.getByRole("button", { name: "Create webhook" }).click();
  const dialog = page.getByRole("dialog");
  assert.match(await dialog.locator("pre").textContent(), /^whsec_[A-Za-z0-9+/=]{44}$/);
  await dialog.getByRole("button", { name: "I have stored it" }).click();
  const other = row(page, "/other").first();
  await other.getByRole("button", { name: "Test" }).click();
  await eventually(async () => {
    await page.getByRole("button", { name: "Refresh" }).click();
    await row(page, "connection_failed").first().waitFor({ timeout: 500 });
  });
  await other.getByRole("button", { name: "Rotate secret" }).click();
  await dialog.getByRole("button", { name: "Rotate" }).click();
  assert.match(await dialog.locator("pre").textContent(), /^whsec_/);
  await dialog.getByRole("button", { name: "I have stored it" }).click();
  await other.getByRole("button", { name: "Disable" }).click();
  await dialog.getByText("are not sent to https://127.0.0.1:9/other").waitFor();
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  assert.equal(await row(page, "disabled").count(), 0);
  await other.getByRole("button", { name: "Disable" }).click();
  await dialog.getByRole("button", { name: "Disable" }).click();
  await row(page, "disabled").waitFor();
  await row(page, "/other").first().getByRole("button", { name: "Delete" }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await row(page, "/other").waitFor({ state: "detached" });
  await closePage(page);
});

test("a key is created, shown once and revoked with its name typed", async () => {
  const page = await signIn("keys");
  const form = page.locator("form").filter({ hasText: "Create project key" });
  await form.getByLabel("Name").fill("reporting");
  await form.getByLabel("events:read").check();
  await form.getByRole("button", { name: "Create project key" }).click();
  const dialog = page.getByRole("dialog");
  const text = await dialog.locator("pre").textContent();
  assert.match(text, /^pk_live_/);
  await dialog.getByRole("button", { name: "I have stored it" }).click();
  await request(server, "GET", "/events", { key: text });
  await row(page, "reporting").getByRole("button", { name: "Revoke" }).click();
  const revoke = dialog.getByRole("button", { name: "Revoke" });
  assert.ok(await revoke.isDisabled());
  await dialog.getByRole("textbox").fill("reporting");
  await revoke.click();
  await row(page, "reporting").waitFor({ state: "detached" });
  await assert.rejects(request(server, "GET", "/events", { key: text }), /key_revoked/);
  await page.getByLabel("New project: name").fill(MARKUP);
  await page.getByRole("button", { name: "Create project", exact: true }).click();
  await eventually(async () => assert.equal(await page.getByLabel("Project", { exact: true }).locator("option:checked").textContent(), MARKUP));
  await closePage(page);
});

test("a key and a project are renamed, and the project is archived and takes events again", async () => {
  const { key } = await request(server, "POST", "/keys", { key: server.master, body: { project_id: server.projectId, type: "project", name: "collector" } });
  const page = await signIn("keys");
  const dialog = page.getByRole("dialog");
  const rename = async (from, to) => {
    await row(page, from).getByRole("button", { name: "Rename" }).click();
    await dialog.getByLabel("New name").fill(to);
    await dialog.getByRole("button", { name: "Rename" }).click();
    await row(page, to).waitFor();
  };
  await rename("collector", "importer");
  await rename(server.projectId, "shop");
  const project = row(page, server.projectId);
  const press = async (verb) => {
    await project.getByRole("button", { name: verb, exact: true }).click();
    await dialog.getByRole("button", { name: verb, exact: true }).click();
  };
  await press("Archive");
  await project.getByRole("button", { name: "Unarchive" }).waitFor();
  await expectAccessible(page);
  await assert.rejects(request(server, "POST", "/events", { key, body: failure }), /project_archived/);
  await page.getByRole("link", { name: "Events", exact: true }).click();
  await page.locator(".line").first().waitFor();
  await page.getByRole("link", { name: "Projects and keys", exact: true }).click();
  await press("Unarchive");
  await project.getByRole("button", { name: "Archive", exact: true }).waitFor();
  await request(server, "POST", "/events", { key, body: failure });
  await request(server, "PATCH", `/projects/${server.projectId}`, { key: server.master, body: { name: "default" } });
  await closePage(page);
});

test("the metadata filters of a project are changed and removed", async () => {
  const page = await signIn("keys");
  const dialog = page.getByRole("dialog");
  const project = row(page, server.projectId);
  const stored = async () => (await request(server, "GET", `/projects/${server.projectId}`, { key: server.master })).project.metadata_filter_paths;
  const change = async (lines) => {
    await project.getByRole("button", { name: "Metadata filters" }).click();
    await expectAccessible(page);
    await dialog.getByLabel("Paths, one per line").fill(lines);
    await dialog.getByRole("button", { name: "Store" }).click();
  };
  await change("metadata.plan\n\n metadata.order.id ");
  await project.getByText("metadata.order.id, metadata.plan").waitFor();
  assert.deepEqual(await stored(), ["metadata.order.id", "metadata.plan"]);
  await request(server, "GET", "/events?metadata.plan=pro");
  await change("metadata.plan\norder.id");
  await page.getByRole("alert").filter({ hasText: "metadata_filter_paths" }).waitFor();
  assert.deepEqual(await stored(), ["metadata.order.id", "metadata.plan"]);
  await project.getByRole("button", { name: "Metadata filters" }).click();
  assert.equal(await dialog.getByLabel("Paths, one per line").inputValue(), "metadata.order.id\nmetadata.plan");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await change("");
  await project.getByText("metadata.plan").waitFor({ state: "detached" });
  assert.equal(await stored(), undefined);
  await closePage(page);
});

test("a key that may only read events sees what it may", async () => {
  const body = { project_id: server.projectId, type: "project", name: "reader", scopes: ["events:read"] };
  const { key } = await request(server, "POST", "/keys", { key: server.master, body });
  const page = await signIn("overview", { key });
  await page.getByText("events in the log").waitFor();
  assert.equal(await page.getByText("open alerts").count(), 0);
  await page.getByRole("link", { name: "Alerts", exact: true }).click();
  await page.getByRole("alert").waitFor();
  await page.getByRole("link", { name: "Events", exact: true }).click();
  await page.locator(".line").first().waitFor();
  await closePage(page);
});

test("a tier is created, and its tenant is seen with a master key and a project key", async () => {
  const page = await signIn("tiers");
  await page.getByLabel("Project", { exact: true }).selectOption({ label: "default" });
  await page.getByLabel("Name").fill("names");
  await page.getByLabel("Hidden fields").fill("target, metadata");
  await page.getByRole("button", { name: "Create tier" }).click();
  await row(page, "names").waitFor();
  for (const shown of [page, await signIn("tiers", { key: server.project })]) {
    await shown.getByLabel("Tenant").fill("globex");
    await shown.getByLabel("Tier", { exact: true }).fill("names");
    await shown.getByRole("button", { name: "See as this tenant" }).click();
    await shown.locator(".line").first().waitFor();
    assert.deepEqual([...new Set(await shown.locator(".line .what").allTextContents())], ["–"]);
    await closePage(shown);
  }
  // The key that the master key made for the token can do nothing else, and expires.
  const { keys } = await request(server, "GET", "/keys", { key: server.master });
  const [issuer, ...others] = keys.filter(({ name }) => name === "console:viewer-tokens");
  assert.deepEqual([issuer.scopes, others], [["viewer-tokens"], []]);
  assert.ok(Date.parse(issuer.expiresAt) < Date.now() + 7_200_000);
});

test("the log is verified in the browser, and a checkpoint of another history is refused", async () => {
  const checkpoint = () => request(server, "GET", "/log/checkpoint");
  const first = await checkpoint();
  await store(server, [failure]);
  const earlier = await eventually(async () => {
    const note = await checkpoint();
    assert.notEqual(note, first);
    return note;
  });
  await store(server, [failure]);
  const page = await signIn("log");
  await page.getByText("The signature was verified in this browser").waitFor();
  await page.getByText("No witness has cosigned this checkpoint.").waitFor();
  await page.getByText("This server has made no anchor").waitFor();
  await page.getByLabel("Project", { exact: true }).selectOption({ label: "default" });
  await page.getByLabel("Earlier checkpoints").fill(earlier);
  const files = [{ name: "stored.txt", mimeType: "text/plain", buffer: Buffer.from(`${first}\n${earlier}`) }];
  await page.getByLabel("Files").setInputFiles(files);
  await page.getByRole("button", { name: "Verify in this browser" }).click();
  for (const name of ["entered", "stored.txt, 1", "stored.txt, 2"]) await row(page, name).getByText("continued by the present checkpoint").waitFor();
  await expectAccessible(page);
  // What the page has read itself is verified each time it reads again.
  await store(server, [failure]);
  await eventually(async () => {
    await page.getByRole("button", { name: "Read again" }).click();
    await row(page, "read before").first().getByText("continued by the present checkpoint").waitFor({ timeout: 500 });
  });
  const forged = earlier.replace(/^(.*\n)(\d+)/, (_, origin, size) => `${origin}${Number(size) + 1}`);
  await page.getByLabel("Earlier checkpoints").fill(forged);
  await page.getByRole("button", { name: "Verify in this browser" }).click();
  await row(page, "entered").locator(".notice.bad").waitFor();
  await page.getByLabel("Earlier checkpoints").fill(earlier);
  await page.getByRole("button", { name: "Verify in this browser" }).click();
  await row(page, "entered").getByText("continued by the present checkpoint").waitFor();
  await page.route("**/log/consistency?**", async (route) => {
    const body = await (await route.fetch()).json();
    body.consistency.reverse();
    body.consistency.push(body.consistency[0] ?? "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=");
    return route.fulfill({ json: body });
  });
  await page.getByRole("button", { name: "Verify in this browser" }).click();
  await row(page, "entered").locator(".notice.bad").waitFor();
  await page.unrouteAll({ behavior: "wait" });
  await closePage(page);
});

const DOT = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==", "base64");

test("the portal gets a name and a logo, and a link is made for a tenant", async () => {
  const page = await signIn("portal");
  await page.getByLabel("Project", { exact: true }).selectOption({ label: "default" });
  await page.getByRole("textbox", { name: "Name" }).fill(`Acme ${MARKUP}`);
  await page.getByRole("button", { name: "Store name" }).click();
  await page.getByText("The name was stored").waitFor();
  const logo = page.getByLabel(/^Logo:/);
  for (const [name, mimeType, buffer] of [
    ["logo.svg", "image/svg+xml", Buffer.from("<svg xmlns='http://www.w3.org/2000/svg' onload='window.pwned=1'/>")],
    ["logo.png", "image/png", Buffer.from("no image")],
    ["logo.png", "image/png", Buffer.alloc(65_537)],
  ]) {
    await logo.setInputFiles([{ name, mimeType, buffer }]);
    await page.locator(".notice.bad").waitFor();
  }
  await logo.setInputFiles([{ name: "logo.png", mimeType: "image/png", buffer: DOT }]);
  await page.getByText("The logo was stored").waitFor();
  await page.getByRole("img", { name: "Logo" }).waitFor();
  await expectAccessible(page);
  await closePage(page);

  let link;
  for (const key of [server.master, server.project]) {
    const maker = await signIn("portal", { key });
    await maker.getByLabel("Tenant").fill("globex");
    await maker.getByRole("button", { name: "Create link" }).click();
    link = await maker.getByRole("dialog").locator("pre").textContent();
    assert.ok(link.startsWith(`${server.url}/portal#token=vt_`), link);
    await closePage(maker);
  }

  const portal = await openPage(server);
  await portal.goto(link);
  await portal.getByRole("heading", { name: `Acme ${MARKUP}` }).waitFor();
  await portal.locator("header img").waitFor();
  assert.deepEqual(await portal.locator("header img").evaluate((image) => [image.complete, image.naturalWidth]), [true, 1]);
  await portal.locator(".line").first().waitFor();
  await portal.locator(".line").first().click();
  await portal.locator("audit-log-proof .mark.verified").waitFor();
  await expectAccessible(portal);
  await closePage(portal);

  const again = await signIn("portal");
  await again.getByLabel("Project", { exact: true }).selectOption({ label: "default" });
  await again.getByRole("button", { name: "Remove logo" }).click();
  await again.getByText("The logo was removed").waitFor();
  await again.getByText("no logo").waitFor();
  await closePage(again);
});

test("the page of the log says what witnesses and anchors have", async () => {
  const page = await signIn("overview");
  await page.route("**/log/checkpoint", async (route) => {
    const note = await (await route.fetch()).text();
    return route.fulfill({ body: `${note}— witness.example AAAAAAAA\n` });
  });
  const of = (pending) => `audit_anchor_last_timestamp_seconds 1790000000\naudit_anchors_pending{place="webhook"} ${pending}\naudit_anchors_pending{place="bucket"} 0\n`;
  const show = async (metrics, text) => {
    await page.unroute("**/metrics");
    await page.route("**/metrics", (route) => (metrics === undefined ? route.fulfill({ status: 404 }) : route.fulfill({ body: metrics })));
    await page.evaluate(() => (location.hash = "#/overview"));
    await page.evaluate(() => (location.hash = "#/log"));
    await page.getByRole("listitem").filter({ hasText: text }).waitFor();
  };
  await show(of(0), "The latest anchor is of");
  await page.getByText("All places have all anchors.").waitFor();
  await page.getByText("Cosignatures of witnesses on this checkpoint: 1.").waitFor();
  await show(of(2), "Anchors not sent yet: the webhook lacks 2.");
  await show(undefined, "This address does not show the metrics of the server");
  await page.unrouteAll({ behavior: "wait" });
  await closePage(page);
});

test("usage and plan are shown", async () => {
  const page = await signIn("usage", { key: server.project });
  await page.getByText("Enterprise").waitFor();
  const { usage } = await request(server, "GET", "/usage");
  assert.equal(await row(page, "Live events today").locator("td").first().textContent(), new Intl.NumberFormat("en-GB").format(usage.events_today.count));
  await row(page, "Viewer tiers").getByText(`${usage.viewer_tiers.count}`, { exact: true }).waitFor();
  await closePage(page);
});

test("the start page says where to go and that the server is ready", async () => {
  const page = await openPage(server);
  await page.goto(server.url);
  await page.getByText(/Version .* ready/).waitFor();
  await expectAccessible(page);
  for (const name of ["Console", "Portal", "API"]) assert.equal(await page.getByRole("link", { name, exact: true }).count(), 1);
  await closePage(page);
});
