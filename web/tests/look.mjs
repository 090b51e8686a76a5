import { startServer, stopServer, startBrowser, stopBrowser, openPage, store, viewerToken, request, expectAccessible } from "./kit.mjs";
import { sampleEvents, summaryOf } from "./data.mjs";
const server = await startServer();
await startBrowser();
try {
  const events = sampleEvents(600);
  await store(server, events);
  await new Promise((r) => setTimeout(r, 1500));
  const token = await viewerToken(server, "acme", { tier: "full" });
  const key = (await request(server, "GET", "/log/key")).trim();
  const shots = process.argv.slice(2);
  for (const [name, options, fragment, act] of [
    ["list", {}, ""],
    ["details", {}, "", async (p) => { await p.locator(".line").nth(3).click(); await p.waitForTimeout(700); }],
    ["dark", { colorScheme: "dark" }, "", async (p) => { await p.locator(".line", { hasText: "role.updated" }).first().click(); await p.getByText("More filters").click(); await p.waitForTimeout(700); }],
    ["narrow", { viewport: { width: 320, height: 640 } }, "&lang=de"],
    ["rtl", {}, "&lang=de&actor_id=u_anna"],
  ]) {
    if (shots.length && !shots.includes(name)) continue;
    const page = await openPage(server, options);
    await page.route("**/events/summary?**", (route) => route.fulfill({ json: summaryOf(events.filter((e) => e.tenant_id === "acme")) }));
    await page.goto(`${server.url}/portal#token=${token}&key=${encodeURIComponent(key)}${fragment}`);
    await page.waitForTimeout(1200);
    if (act) await act(page);
    await page.screenshot({ path: `/tmp/shots/${name}.png` });
    try { await expectAccessible(page); } catch (e) { console.log(name, e.message); }
    console.log(name, page.faults);
    await page.context().close();
  }
} finally { await stopBrowser(); await stopServer(server); }
