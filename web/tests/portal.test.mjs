import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { hostileEvent, sampleEvents } from "./data.mjs";
import { closePage, eventually, expectAccessible, facetValue, openPage, openPortal, picture, request, startBrowser, startServer, stopBrowser, stopServer, store, viewerToken } from "./kit.mjs";

let server;
let token;
let key;
const events = sampleEvents(500);
const ofAcme = events.filter((event) => event.tenant_id === "acme");

before(async () => {
  server = await startServer();
  await startBrowser();
  await store(server, events);
  token = await viewerToken(server, "acme", { tier: "full" });
  key = (await request(server, "GET", "/log/key")).trim();
});
after(async () => {
  await stopBrowser();
  await stopServer(server);
});

/** The event with markup; integers beyond 2^53 as text. */
const hostileEventText = () => JSON.parse(JSON.stringify(hostileEvent(), (_, value) => (typeof value === "bigint" ? value.toString() : value)));
const lines = (page) => page.locator(".line");
const fragmentOf = (page) => new URLSearchParams(new URL(page.url()).hash.slice(1));
const footer = (page) => page.locator("footer span").first().textContent();

test("a link shows the events of its tenant and loses its token", async () => {
  const page = await openPortal(server, token);
  assert.ok(!page.url().includes("vt_"), page.url());
  assert.equal(await page.locator(".tenant").first().textContent(), "acme");
  const shown = await page.evaluate(() => performance.getEntriesByType("navigation")[0].name);
  assert.ok(!(await page.content()).includes(token), shown);
  const stored = await page.evaluate(() => [localStorage.length, sessionStorage.length, document.cookie, JSON.stringify(history.state)]);
  assert.deepEqual(stored, [0, 0, "", "null"]);
  await closePage(page);
});

test("a token of one tenant shows nothing of another one", async () => {
  const page = await openPortal(server, token, { fragment: "&tenant_id=globex" });
  await lines(page).first().click();
  const tenants = await page.locator("audit-log-event").getByRole("button", { name: "globex" }).count();
  assert.equal(tenants, 0);
  const [id] = await store(server, [{ action: "secret.made", category: "system", tenant_id: "globex", actor: { id: "x", type: "user" } }]);
  await page.goto(`${server.url}/portal`);
  await page.goto(`${server.url}/portal#token=${token}&event=${id}`);
  await lines(page).first().waitFor();
  await page.getByText("This event does not exist").waitFor();
  assert.equal(await page.locator("audit-log-event").count(), 0);
  await closePage(page);
});

test("filters narrow the list, and a link restores them without the token", async () => {
  const page = await openPortal(server, token);
  await facetValue(page, "Administration").click();
  await eventually(() => assert.equal(fragmentOf(page).get("category"), "admin"));
  await page.getByLabel("Filter by another value: Action").fill("user.role.*");
  await page.getByLabel("Filter by another value: Action").press("Enter");
  await eventually(async () => {
    const actions = await page.locator(".line .action").allTextContents();
    assert.ok(actions.length > 0 && actions.every((action) => action.includes("user.role.updated")), actions.join());
  });
  await page.getByRole("button", { name: "Copy link" }).click();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  assert.ok(!link.includes("vt_") && link.includes("action=user.role.*"), link);
  await closePage(page);
  const restored = await openPortal(server, token, { fragment: `&${link.split("#")[1]}` });
  assert.match(await lines(restored).first().textContent(), /user\.role\.updated/);
  await restored.getByRole("button", { name: "Clear filters" }).click();
  await eventually(async () => assert.match(await footer(restored), /^\d+ events$/));
  assert.equal(await restored.locator(".chip").count(), 0);
  await closePage(restored);
});

test("the histogram, the total and the suggestions are those of the server", async () => {
  const page = await openPortal(server, token);
  await eventually(async () => assert.equal(await footer(page), `${ofAcme.length} events`));
  const bars = page.locator("audit-log-histogram rect:not(.selection)");
  assert.ok((await bars.count()) > 20, "the events are of four weeks");
  const most = new Map();
  for (const { actor } of ofAcme) most.set(actor.name, (most.get(actor.name) ?? 0) + 1);
  const [first] = [...most].sort(([one, ofOne], [other, ofOther]) => ofOther - ofOne || (one < other ? -1 : 1));
  const values = page.getByRole("toolbar", { name: "Actor", exact: true }).getByRole("button");
  await eventually(async () => assert.match(await values.first().textContent(), new RegExp(`${first[0]}\\s*${first[1]}\\s*$`)));
  // The last bar alone: the list has what the histogram says, and the histogram becomes finer.
  await page.getByRole("slider", { name: "Events over time" }).focus();
  await page.keyboard.press("End");
  const said = await page.getByRole("slider", { name: "Events over time" }).getAttribute("aria-valuetext");
  await page.keyboard.press("Enter");
  await eventually(() => assert.ok(fragmentOf(page).get("start_date")));
  const { start_date, end_date } = Object.fromEntries(fragmentOf(page));
  const inside = ofAcme.filter(({ occurred_at }) => occurred_at >= start_date && occurred_at <= end_date).length;
  assert.match(said, new RegExp(`\\b${inside} event`));
  await eventually(async () => assert.match(await footer(page), new RegExp(`^${inside} event`)));
  await closePage(page);

  const hidden = await viewerToken(server, "acme", { tier: "standard" });
  const other = await openPortal(server, hidden, { fragment: "&category=admin" });
  const ofCategory = ofAcme.filter(({ category }) => category === "admin").length;
  await eventually(async () => assert.equal(await footer(other), `${ofCategory} events`));
  await closePage(other);
});

test("search and dates narrow the list", async () => {
  const page = await openPortal(server, token);
  await page.getByRole("combobox", { name: "Search" }).fill("anna document");
  await eventually(async () => {
    const texts = await lines(page).allTextContents();
    assert.ok(texts.length > 0 && texts.every((text) => text.includes("document.") && text.includes("Anna")), texts[0]);
  });
  await page.getByLabel("Period").selectOption("week");
  await eventually(() => assert.ok(fragmentOf(page).get("start_date")));
  await page.getByLabel("Period").selectOption("custom");
  await page.getByLabel("From: date").fill("");
  await page.getByLabel("To: date").fill("2001-01-01");
  await page.getByText("No event matches").waitFor();
  await expectAccessible(page);
  await closePage(page);
});

test("the search field finds ids", async () => {
  const page = await openPortal(server, token);
  const eventsOf = (id) => ofAcme.filter(({ target }) => target?.id.startsWith(id)).length;
  const { id } = ofAcme.map(({ target }) => target ?? {}).find(({ id, type }) => type === "document" && eventsOf(id) > 1);
  await page.getByRole("combobox", { name: "Search" }).fill(`"${id}"`);
  await eventually(async () => assert.equal(await footer(page), `${eventsOf(id)} events`));
  await closePage(page);
});

test("everything can be reached by keyboard", async () => {
  const page = await openPage(server);
  await page.goto(`${server.url}/portal#token=${token}`);
  await lines(page).first().waitFor();
  const focused = () => page.evaluate(() => {
    let element = document.activeElement;
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
    return `${element?.className ?? ""} ${element?.getAttribute("aria-label") ?? element?.textContent?.trim() ?? ""}`;
  });
  const tabTo = async (name) => {
    for (let presses = 0; presses < 40; presses += 1) {
      await page.keyboard.press("Tab");
      if ((await focused()).includes(name)) return;
    }
    assert.fail(`${name} cannot be reached by Tab`);
  };
  for (const name of ["Search", "Period", "Filters", "Live", "Download", "Events over time"]) await tabTo(name);
  await page.keyboard.press("End");
  await page.keyboard.press("Shift+ArrowLeft");
  await page.keyboard.press("Enter");
  await eventually(() => assert.ok(fragmentOf(page).get("start_date") && fragmentOf(page).get("end_date")));
  await page.keyboard.press("Escape");
  await eventually(() => assert.equal(fragmentOf(page).get("start_date"), null));
  await lines(page).first().waitFor();
  await tabTo("Events");
  for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.locator("audit-log-event h3").waitFor();
  assert.equal(await page.evaluate(() => document.querySelector("audit-log-portal").shadowRoot.querySelector("audit-log-viewer").shadowRoot.activeElement?.localName), "audit-log-event");
  const opened = fragmentOf(page).get("event");
  assert.match(opened ?? "", /^evt_/);
  await page.keyboard.press("Escape");
  await eventually(async () => assert.match(await focused(), /^grid/));
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await eventually(() => assert.notEqual(fragmentOf(page).get("event") ?? opened, opened));
  await closePage(page);
});

test("markup in every field of an event stays text", async () => {
  const [id] = await store(server, [hostileEventText()]);
  const hostile = await viewerToken(server, "acme", { tier: "full" });
  const page = await openPage(server);
  const evil = "<img src=x onerror=\"window.pwned='top'\">";
  const hostileValues = ["actor_id", "action", "category", "target_type"].map((field) => [field, [{ value: evil, count: 9 }]]);
  const buckets = [{ start: "2026-01-15T00:00:00.000Z", count: 9, categories: { [evil]: 9 } }];
  const summary = { interval: "day", buckets, total: 9, top: { looked_at: 9, ...Object.fromEntries(hostileValues) }, request_id: "req_00000000000000000000" };
  await page.route("**/events/summary?**", (route) => route.fulfill({ json: summary }));
  await page.goto(`${server.url}/portal#token=${hostile}&event=${id}&actor_id=${encodeURIComponent(evil)}&search=${encodeURIComponent("a")}`);
  await page.locator("audit-log-event h3").waitFor();
  for (const label of ["On behalf of", "Further targets", "Outcome"]) await page.locator("audit-log-event dt", { hasText: label }).waitFor();
  await page.getByRole("button", { name: "Raw JSON" }).click();
  await page.locator("audit-log-proof .mark.consistent, audit-log-proof .mark.verified").waitFor();
  const shown = await page.locator("audit-log-event pre").textContent();
  assert.ok(shown.includes("<script>"), shown);
  await page.getByRole("combobox", { name: "Search" }).fill("img");
  await page.getByRole("listbox").getByRole("option").filter({ hasText: evil }).first().waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("combobox", { name: "Search" }).fill("");
  await page.getByRole("listbox").getByRole("option").filter({ hasText: "img" }).waitFor();
  await page.getByRole("combobox", { name: "Search" }).blur();
  await page.getByRole("button", { name: "Close" }).click();
  await facetValue(page, evil).first().click();
  await lines(page).or(page.getByText("No event matches")).first().waitFor();
  await page.goBack();
  await page.getByRole("button", { name: "Clear filters" }).first().click();
  await lines(page).first().waitFor();
  await lines(page).first().hover();
  await closePage(page);
});

test("the outcome filters the list, by choice and by the value of an event", async () => {
  const opened = { action: "door.opened", category: "access", tenant_id: "acme", actor: { id: "guard", type: "user" } };
  const [id] = await store(server, [{ ...opened, outcome: "denied" }, { ...opened, outcome: "success" }, opened]);
  const page = await openPortal(server, token, { fragment: `&event=${id}&actor_id=guard` });
  const hasLines = (count) => eventually(async () => assert.equal(await lines(page).count(), count));
  await hasLines(3);
  await page.locator("audit-log-event").getByRole("button", { name: "Denied", exact: true }).click();
  await hasLines(1);
  assert.equal(fragmentOf(page).get("outcome"), "denied");
  await page.getByRole("button", { name: "Close" }).click();
  await page.locator("audit-log-facets summary", { hasText: "Outcome" }).click();
  await facetValue(page, "Success").click();
  await hasLines(2);
  assert.deepEqual(fragmentOf(page).getAll("outcome"), ["denied", "success"]);
  await facetValue(page, "Success").click();
  await facetValue(page, "Denied").click();
  await facetValue(page, "Denied").click();
  await hasLines(2);
  assert.equal(fragmentOf(page).get("not_outcome"), "success");
  await closePage(page);
});

test("characters that reorder or hide text are shown by their code", async () => {
  const reversed = "user_\u202enimda\u202c";
  const event = {
    action: "user.created", category: "admin", tenant_id: "acme", actor: { id: reversed, type: "user", name: "Ad\u200bmin" }, target: { id: "t", type: "file", name: "\u2066invoice\u2069" },
    metadata: { "plan\u202e": "\ufefffree" }, changes: [{ field: "role\u202e", before: "\u202ea", after: ["\u202eb"] }],
  };
  const [id] = await store(server, [event]);
  const page = await openPortal(server, token, { fragment: `&event=${id}&actor_id=${encodeURIComponent(reversed)}` });
  await page.locator("audit-log-event h3").waitFor();
  await page.getByRole("button", { name: "Raw JSON" }).click();
  const unseen = /[\u200b\u202a-\u202e\u2066-\u2069\ufeff]/;
  const texts = await page.locator("audit-log-viewer").evaluate((viewer) => {
    const found = [];
    const walk = (root) => {
      for (const element of root.querySelectorAll("*")) {
        for (const node of element.childNodes) if (node.nodeType === Node.TEXT_NODE) found.push(node.data);
        for (const name of ["title", "aria-label"]) found.push(element.getAttribute(name) ?? "");
        if (element.shadowRoot) walk(element.shadowRoot);
      }
    };
    walk(viewer.shadowRoot);
    return found;
  });
  assert.deepEqual(texts.filter((text) => unseen.test(text)), []);
  assert.ok(texts.some((text) => text.includes("user_⟨U+202E⟩nimda⟨U+202C⟩")), "the code is shown");
  const raw = await page.locator("audit-log-event pre").textContent();
  assert.equal(JSON.parse(raw).actor.id, reversed, "the JSON is the same value");
  // The filter of the chip is the value, not what is shown of it.
  assert.equal(fragmentOf(page).get("actor_id"), reversed);
  assert.equal(await lines(page).count(), 1);
  await page.locator("audit-log-proof .mark.consistent").waitFor();
  await closePage(page);
});

test("names that every object inherits, and the largest values, are shown as they are", async () => {
  const long = "x".repeat(16_000);
  // As text: an object literal would set its prototype, and a double would lose digits of the number.
  const body = `[{"action":"user.created","category":"admin","tenant_id":"acme","actor":{"id":"u","type":"user"},"metadata":{"__proto__":{"polluted":"yes"},`
    + `"constructor":{"prototype":{"polluted":"yes"}},"toString":"text","hasOwnProperty":"none","long":"${long}","number":9007199254740993},"changes":[{"field":"constructor","before":{"__proto__":1},"after":null}]}]`;
  const stored = await fetch(`${server.url}/api/v1/events`, { method: "POST", headers: { Authorization: `Bearer ${server.project}`, "Content-Type": "application/json" }, body });
  assert.equal(stored.status, 201, await stored.clone().text());
  const { ids } = await stored.json();
  const page = await openPortal(server, token, { fragment: `&event=${ids[0]}` });
  const details = page.locator("audit-log-event");
  for (const name of ["__proto__.polluted", "constructor.prototype.polluted", "toString", "hasOwnProperty"]) await details.getByText(name, { exact: true }).waitFor();
  await details.getByText("9007199254740993").waitFor();
  await page.locator("audit-log-proof .mark.consistent").waitFor();
  assert.equal(await page.evaluate(() => ({}).polluted), undefined);
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(width <= page.viewportSize().width, `${width} wide`);
  await closePage(page);
});

test("the token is in no entry of the history, in no referrer and in no address", async () => {
  const page = await openPage(server);
  const sent = [];
  page.on("request", (made) => sent.push([made.url(), made.headers().referer ?? ""]));
  await page.goto(`${server.url}/`);
  await page.goto(`${server.url}/portal#token=${token}&category=admin`);
  await lines(page).first().waitFor();
  await lines(page).first().click();
  await page.locator("audit-log-event h3").waitFor();
  // A second link in the same tab.
  await page.evaluate((token) => (location.hash = `token=${token}`), token);
  await eventually(() => assert.ok(!page.url().includes(token), page.url()));
  const entries = await page.evaluate(() => globalThis.navigation.entries().map(({ url }) => url ?? "another document, without referrer"));
  assert.ok(entries.length >= 2 && !entries.some((url) => url.includes(token)), `${entries}`);
  for (const [url, referer] of sent) assert.ok((url.split("#")[0] + referer).includes(token) === false && referer === "", `${url} ${referer}`);
  await closePage(page);
});

test("no page has a link that runs code", async () => {
  const [id] = await store(server, [hostileEventText()]);
  const page = await openPortal(server, token, { fragment: `&event=${id}` });
  await page.locator("audit-log-event h3").waitFor();
  const links = await page.evaluate(() => {
    const found = [];
    const walk = (root) => {
      for (const element of root.querySelectorAll("*")) {
        for (const name of ["href", "src", "action", "formaction", "srcdoc"]) if (element.hasAttribute(name)) found.push(element.getAttribute(name));
        for (const { name } of element.attributes) if (name.startsWith("on")) found.push(name);
        if (element.shadowRoot) walk(element.shadowRoot);
      }
    };
    walk(document);
    return found;
  });
  assert.ok(links.every((link) => link.startsWith("/assets/")), `${links}`);
  await closePage(page);
});

test("what cannot be shown is said in words", async () => {
  const quiet = await openPortal(server, await viewerToken(server, "nobody"));
  await quiet.getByText("No events yet").waitFor();
  await expectAccessible(quiet);
  await closePage(quiet);

  const without = await openPage(server);
  await without.goto(`${server.url}/portal`);
  await without.getByText("No access yet").waitFor();
  await expectAccessible(without);
  await closePage(without);

  const refused = await openPortal(server, `${token.slice(0, -4)}AAAA`);
  await refused.getByText("Your access has expired").waitFor();
  await closePage(refused);

  const busy = await openPage(server);
  let isBusy = true;
  const error = { error: { code: "unavailable", message: "too many requests" }, request_id: "req_00000000000000000001" };
  await busy.route("**/api/v1/events?**", (route) => (isBusy ? route.fulfill({ status: 503, json: error }) : route.fallback()));
  await busy.goto(`${server.url}/portal#token=${token}`);
  await busy.getByText("req_00000000000000000001").waitFor();
  isBusy = false;
  await busy.getByRole("button", { name: "Try again" }).click();
  await lines(busy).first().waitFor();
  await closePage(busy);

  const slow = await openPage(server);
  let release;
  const released = new Promise((resolve) => (release = resolve));
  await slow.route("**/api/v1/events?**", async (route) => (await released, route.fallback()));
  await slow.goto(`${server.url}/portal#token=${token}`);
  await slow.getByText("Loading events").waitFor();
  release();
  await lines(slow).first().waitFor();
  await closePage(slow);
});

test("without a connection the list stays, and comes up to date afterwards", async () => {
  const page = await openPortal(server, token);
  await page.context().setOffline(true);
  await page.locator(".grid").evaluate((grid) => (grid.scrollTop = grid.scrollHeight));
  await page.getByText("No connection").waitFor();
  assert.ok((await lines(page).count()) > 0);
  await page.context().setOffline(false);
  await page.getByText("No connection").waitFor({ state: "detached" });
  await lines(page).first().waitFor();
  await closePage(page);
});

test("new events appear without losing the place, and not while paused", async () => {
  const page = await openPortal(server, token);
  await page.locator(".live[aria-pressed=true]", { hasText: /^\s*Live/ }).waitFor();
  const event = (name) => ({ action: `live.${name}`, category: "system", tenant_id: "acme", actor: { id: "clock", type: "system" } });
  await store(server, [event("first")]);
  await lines(page).filter({ hasText: "live.first" }).waitFor();
  const grid = page.locator(".grid");
  await grid.evaluate((element) => (element.scrollTop = 1200));
  const seen = async () => grid.evaluate((element) => {
    const top = element.getBoundingClientRect().top + 40;
    return [...element.querySelectorAll(".line")].find((line) => line.getBoundingClientRect().top > top)?.querySelector("time").title;
  });
  await eventually(async () => assert.ok(await seen()));
  const before = await seen();
  await store(server, [event("second"), event("third")]);
  await page.getByRole("button", { name: "2 new events" }).waitFor();
  assert.equal(await seen(), before);
  await page.getByRole("button", { name: "2 new events" }).click();
  await lines(page).filter({ hasText: "live.third" }).waitFor();
  await page.getByRole("button", { name: "Live" }).click();
  await page.locator(".live[aria-pressed=false]").waitFor();
  await store(server, [event("unseen")]);
  // Started again, the list goes on with what is stored from then on; what was missed comes with it.
  await page.getByRole("button", { name: "Live" }).click();
  await page.locator(".live[aria-pressed=true]", { hasText: /^\s*Live/ }).waitFor();
  await lines(page).filter({ hasText: "live.unseen" }).waitFor();
  await closePage(page);
});

test("a hundred thousand events can be scrolled", async () => {
  const page = await openPage(server);
  const total = 100_000;
  await page.addInitScript((total) => {
    globalThis.requests = 0;
    const make = (index) => ({
      id: `evt_${String(total - index).padStart(26, "0")}`, action: `bulk.n${index}`, category: "system", tenant_id: "acme", redacted: false,
      occurred_at: new Date(1.7e12 - index * 1000).toISOString(), received_at: new Date(1.7e12).toISOString(), content_hash: "sha256:00", actor: { id: "u", type: "user" },
    });
    const original = globalThis.fetch;
    globalThis.fetch = async (url, init) => {
      if (!String(url).includes("/events?")) return original(url, init);
      globalThis.requests += 1;
      const from = Number(new URLSearchParams(String(url).split("?")[1]).get("cursor") ?? 0);
      const events = Array.from({ length: Math.min(200, total - from) }, (_, offset) => make(from + offset));
      const hasMore = from + 200 < total;
      return new Response(JSON.stringify({ events, cursor: hasMore ? String(from + 200) : null, has_more: hasMore, request_id: "r" }));
    };
  }, total);
  const requests = () => page.evaluate(() => globalThis.requests);
  await page.goto(`${server.url}/portal#token=${token}`);
  const grid = page.locator(".grid");
  await grid.waitFor();
  await page.evaluate(() => {
    const grid = document.querySelector("audit-log-portal").shadowRoot.querySelector("audit-log-viewer").shadowRoot.querySelector(".grid");
    const scroll = () => {
      grid.scrollTop = grid.scrollHeight;
      if (!grid.textContent.includes("No older events")) requestAnimationFrame(scroll);
    };
    scroll();
  });
  // Five hundred pages. The time only bounds a hang.
  await page.getByText("No older events").waitFor({ timeout: 600_000 });
  await lines(page).filter({ hasText: "bulk.n99999" }).waitFor();
  assert.ok((await lines(page).count()) < 100, "only the rows that are seen are in the page");
  const read = await requests();
  assert.ok(read >= 500, `${read}`);
  // Back in the middle: those pages were dropped and are read again.
  await grid.evaluate((element) => (element.scrollTop = 50_000 * 34));
  await lines(page).filter({ hasText: "bulk.n50001" }).waitFor();
  assert.ok((await requests()) > read);
  await grid.evaluate((element) => (element.scrollTop = 0));
  await lines(page).filter({ hasText: "bulk.n0" }).first().waitFor();
  await closePage(page);
});

/** Chooses from the menu of downloads. */
async function download(page, menu, name) {
  await page.getByRole("button", { name: menu, exact: true }).click();
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name }).click();
  const file = await downloading;
  const chunks = [];
  for await (const chunk of await file.createReadStream()) chunks.push(chunk);
  return { name: file.suggestedFilename(), text: Buffer.concat(chunks).toString() };
}

test("bars, rows, filters and files share the time zone of the reader, whose days have 23 to 25 hours", async () => {
  // The last two are of 2 November in Los Angeles, where clocks are put back on it, and of 3 November in UTC.
  const times = ["2025-10-20T18:00:00.000Z", "2025-11-02T06:59:59.999Z", "2025-11-02T07:00:00.000Z", "2025-11-03T07:30:00.000Z"];
  const event = (occurred_at) => ({ action: "zone.seen", category: "system", tenant_id: "Ärzte", actor: { id: "clock", type: "system" }, occurred_at });
  await store(server, times.map(event));
  const zoned = await viewerToken(server, "Ärzte", { tier: "full" });
  const page = await openPortal(server, zoned, { timezoneId: "America/Los_Angeles" });
  await page.locator("audit-log-histogram").getByText("America/Los_Angeles").waitFor();
  const slider = page.getByRole("slider", { name: "Events over time" });
  await slider.focus();
  await page.keyboard.press("End");
  assert.equal(await slider.getAttribute("aria-valuetext"), "2 Nov 2025: 2 events");
  await page.keyboard.press("Enter");
  await eventually(() => assert.ok(fragmentOf(page).get("start_date")));
  const { start_date, end_date } = Object.fromEntries(fragmentOf(page));
  assert.deepEqual([start_date, end_date], ["2025-11-02T07:00:00.000Z", "2025-11-03T07:59:59.999Z"]);
  await eventually(async () => assert.deepEqual(await page.locator(".line time").allTextContents(), ["02 Nov 2025, 23:30:00", "02 Nov 2025, 00:00:00"]));
  const { name, text } = await download(page, "Download", "Download for Excel");
  assert.equal(name, "audit-events-Ärzte-from-2025-11-02-to-2025-11-02.csv");
  assert.ok(text.includes(`,"2025-11-02 23:30:00",`) && text.includes(`,"2025-11-02 00:00:00",`), text);

  // The button for UTC changes bars and names alike.
  await page.getByRole("button", { name: "Clear filters" }).first().click();
  await page.getByRole("button", { name: "UTC", exact: true }).click();
  await eventually(async () => assert.match(await page.locator("audit-log-histogram .caption").textContent(), /UTC/));
  await slider.focus();
  await page.keyboard.press("End");
  assert.equal(await slider.getAttribute("aria-valuetext"), "3 Nov 2025: 1 event");
  await closePage(page);
});

test("a server that does not know the zone of the browser counts in UTC", async () => {
  const page = await openPage(server);
  const error = { error: { code: "validation_error", message: "no", details: [{ field: "time_zone", message: "no" }] }, request_id: "req_00000000000000000002" };
  const isOfBrowser = (url) => url.pathname.endsWith("/events/summary") && url.searchParams.get("time_zone") === "Europe/Berlin";
  await page.route(isOfBrowser, (route) => route.fulfill({ status: 400, json: error }));
  await page.goto(`${server.url}/portal#token=${token}`);
  await page.locator("audit-log-histogram").getByText("· UTC").waitFor();
  await closePage(page);
});

test("a file for Excel has the separator of the reader's region", async () => {
  for (const [locale, menu, name, header] of [
    ["en-GB", "Download", "Download for Excel", "\ufeffid,occurred_at,"],
    ["de-DE", "Herunterladen", "Für Excel herunterladen", "\ufeffid;occurred_at;"],
  ]) {
    const page = await openPortal(server, token, { locale, fragment: "&category=admin" });
    const file = await download(page, menu, name);
    assert.ok(file.text.startsWith(header), file.text.slice(0, 40));
    await closePage(page);
  }
});

test("events are downloaded as CSV and as JSON lines", async () => {
  const page = await openPortal(server, token, { fragment: "&category=admin" });
  for (const [name, extension, check] of [
    ["Download as Excel workbook (XLSX)", /\.xlsx$/, (text) => assert.match(text, /^PK/)],
    ["Download as CSV", /\.csv$/, (text) => assert.match(text, /^id,occurred_at/)],
    ["Download as JSON lines", /\.jsonl$/, (text) => assert.equal(JSON.parse(text.split("\n")[0]).category, "admin")],
  ]) {
    const file = await download(page, "Download", name);
    assert.match(file.name, extension);
    check(file.text);
  }
  await closePage(page);
});

test("it is accessible and complete in German, dark and narrow", async () => {
  for (const options of [{}, { colorScheme: "dark" }, { viewport: { width: 320, height: 640 } }]) {
    for (const language of ["en", "de"]) {
      const page = await openPage(server, options);
          // A narrow list has few rows: those that have changes.
      await page.goto(`${server.url}/portal#token=${token}&key=${encodeURIComponent(key)}&lang=${language}${options.viewport ? "&action=user.role.updated" : ""}`);
      await lines(page).first().waitFor();
      await page.locator("audit-log-histogram rect").first().waitFor();
      const title = { en: "Audit log", de: "Audit-Log" }[language];
      assert.equal(await page.title(), title);
      await expectAccessible(page);
      if (options.viewport && language === "de") await picture(page, "portal-narrow");
      await lines(page).filter({ hasText: "role.updated" }).first().click();
      await page.locator("audit-log-proof .mark[role]:not(:has(.spinner))").waitFor();
      await page.locator("audit-log-event table td").first().waitFor();
      await expectAccessible(page);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= page.viewportSize().width, `${width} wide`);
      if (!options.viewport && !options.colorScheme && language === "en") await picture(page, "portal");
      if (options.colorScheme && language === "de") await picture(page, "portal-dark");
      await closePage(page);
    }
  }
});

test("the portal is small", async () => {
  const page = await openPortal(server, token);
  const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime);
  console.log(`first content after ${Math.round(paint)} ms`);
  const weights = await page.evaluate(() => performance.getEntriesByType("resource").filter(({ name }) => name.includes("/assets/")).map(({ decodedBodySize }) => decodedBodySize));
  assert.ok(weights.length >= 2 && weights.reduce((sum, weight) => sum + weight, 0) < 200_000, `${weights}`);
  await closePage(page);
});
