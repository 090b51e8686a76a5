import { startServer, stopServer, startBrowser, stopBrowser, openPage, store, request, expectAccessible } from "./kit.mjs";
import { sampleEvents, summaryOf } from "./data.mjs";
const server = await startServer();
await startBrowser();
try {
  const events = sampleEvents(400);
  await store(server, events);
  const m = { key: server.master };
  await store(server, Array.from({ length: 6 }, () => ({ action: "auth.failed", category: "auth", tenant_id: "acme", actor: { id: "u_marc", type: "user", name: "Marc Olsen" } })));
  await request(server, "POST", "/alerts/webhooks", { ...m, body: { url: "https://127.0.0.1:9/alerts" } });
  await request(server, "POST", "/redaction/rules", { ...m, body: { type: "pattern", name: "employee number", pattern: "EMP-[0-9]{6}", behavior: "mask" } });
  await new Promise((r) => setTimeout(r, 1500));
  const only = process.argv.slice(2);
  for (const [name, options] of [["home", {}], ["signin", {}], ["overview", {}], ["events", {}], ["alerts", {}], ["rules", {}], ["webhooks", {}], ["redaction", {}], ["tiers", {}], ["keys", {}], ["streams", {}], ["log", {}], ["overview-narrow", { viewport: { width: 320, height: 640 }, colorScheme: "dark" }]]) {
    if (only.length && !only.includes(name)) continue;
    const page = await openPage(server, options);
    await page.route("**/events/summary?**", (route) => route.fulfill({ json: summaryOf(events) }));
    await page.goto(name === "home" ? server.url : `${server.url}/console#/${name.replace("-narrow", "")}`);
    if (name !== "home" && name !== "signin") {
      await page.getByLabel("Key").fill(server.master);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.waitForTimeout(900);
      if (name === "rules") { await page.getByRole("button", { name: "Preview" }).first().click(); await page.waitForTimeout(500); }
      if (name === "webhooks") { await page.getByRole("button", { name: "Test" }).first().click(); await page.waitForTimeout(700); }
    } else await page.waitForTimeout(300);
    await page.screenshot({ path: `/tmp/shots/c-${name}.png` });
    try { await expectAccessible(page); } catch (e) { console.log(name, e.message); }
    if (page.faults.length) console.log(name, page.faults);
    await page.context().close();
  }
} finally { await stopBrowser(); await stopServer(server); }
