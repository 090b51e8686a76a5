// Finding events in the portal: the search box, values of fields beside the list, periods, and all of it in the address.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sampleEvents } from "./data.mjs";
import { closePage, eventually, expectAccessible, facetValue, openPage, openPortal, picture, startBrowser, startServer, stopBrowser, stopServer, store, viewerToken } from "./kit.mjs";

let server;
let token;
// A Wednesday, in the second quarter; in Berlin clocks are two hours ahead of UTC.
const NOW = new Date("2026-05-13T10:00:00Z");
const OUTCOMES = ["success", "failure", "denied", undefined];
const events = sampleEvents(400, ["acme"], NOW.getTime()).map((event, index) => ({ ...event, outcome: OUTCOMES[index % 4] }));
const schmidt = (index) => ({
  action: "user.role.updated", category: "admin", tenant_id: "acme", actor: { id: `u_schmidt_${index}`, type: "user", name: ["Anna Schmidt", "Jörg Müller"][index] },
  target: { id: "u_lea", type: "user", name: "Léa Fontaine" }, context: { ip_address: "198.51.100.7", session_id: "s_4711" }, occurred_at: "2026-04-15T08:00:00Z",
});

before(async () => {
  server = await startServer();
  await startBrowser();
  await store(server, events);
  await store(server, [schmidt(0), schmidt(0), schmidt(0), schmidt(1)]);
  token = await viewerToken(server, "acme", { tier: "full" });
});
after(async () => {
  await stopBrowser();
  await stopServer(server);
});

const lines = (page) => page.locator(".line");
const fragmentOf = (page) => new URLSearchParams(new URL(page.url()).hash.slice(1));
const search = (page) => page.getByRole("combobox", { name: "Search" });
const options = (page) => page.getByRole("listbox").getByRole("option");
const option = (page, text) => options(page).filter({ hasText: text });
const total = (page) => page.locator("footer[part=footer] span").first().textContent();
const hasTotal = (page, count) => eventually(async () => assert.match((await total(page)).trim(), new RegExp(`^${count} event`)));
/** A portal on a day that the tests know. */
async function openOn(options = {}) {
  const page = await openPage(server, options);
  await page.clock.setFixedTime(NOW);
  await page.goto(`${server.url}/portal#token=${token}${options.fragment ?? ""}`);
  await page.locator(".line, .state h3").first().waitFor();
  return page;
}

test("a name in letters without accents suggests the person with the number of events, which becomes a filter", async () => {
  const page = await openPortal(server, token);
  await search(page).fill("schm");
  await option(page, "Anna Schmidt").filter({ hasText: "Actor · u_schmidt_0 · 3" }).waitFor();
  await expectAccessible(page);
  await search(page).fill("muller");
  await option(page, "Jörg Müller").filter({ hasText: "Actor · u_schmidt_1 · 1" }).waitFor();
  await search(page).fill("anna sch");
  await option(page, "Anna Schmidt").filter({ hasText: "· 3" }).waitFor();
  await page.keyboard.press("ArrowDown");
  assert.equal(await search(page).getAttribute("aria-activedescendant"), "option-0");
  await page.keyboard.press("Enter");
  await hasTotal(page, 3);
  assert.deepEqual([...fragmentOf(page)], [["actor_id", "u_schmidt_0"]]);
  assert.equal(await search(page).inputValue(), "");
  await page.locator(".chip", { hasText: "Anna Schmidt" }).waitFor();
  await closePage(page);
});

test("while typing the list stays until the next one is there, and nothing is said not to match", async () => {
  const page = await openPortal(server, token);
  const seen = await page.evaluateHandle(() => {
    const found = { empty: 0 };
    const { shadowRoot } = document.querySelector("audit-log-portal").shadowRoot.querySelector("audit-log-viewer");
    new MutationObserver(() => (found.empty += shadowRoot.querySelector(".line") ? 0 : 1)).observe(shadowRoot, { childList: true, subtree: true });
    return found;
  });
  await search(page).pressSequentially("anna schm", { delay: 400 });
  await hasTotal(page, 3);
  assert.equal(await seen.evaluate(({ empty }) => empty), 0);
  await search(page).fill("nobody has this name");
  await page.getByText("No event matches").waitFor();
  await page.getByText("The names and IDs of actions, actors and targets were searched").waitFor();
  await closePage(page);
});

test("an address and the id of an event are found without a search", async () => {
  const page = await openPortal(server, token);
  const searched = [];
  page.on("request", (made) => new URL(made.url()).searchParams.has("search") && searched.push(made.url()));
  await search(page).fill("198.51.100.7");
  await option(page, "198.51.100.7").filter({ hasText: "IP address · 4" }).waitFor();
  await search(page).press("Enter");
  await hasTotal(page, 4);
  assert.equal(fragmentOf(page).get("ip_address"), "198.51.100.7");
  await lines(page).first().click();
  await eventually(() => assert.match(fragmentOf(page).get("event") ?? "", /^evt_/));
  const id = fragmentOf(page).get("event");
  // The session of an event is a filter, as its address is.
  await page.locator("audit-log-event").getByRole("button", { name: "s_4711" }).click();
  await eventually(() => assert.equal(fragmentOf(page).get("session_id"), "s_4711"));
  await page.locator("audit-log-event").getByRole("button", { name: "Close" }).click();
  await search(page).fill(id);
  await option(page, "Open this event").click();
  await page.locator("audit-log-event h3").waitFor();
  assert.equal(fragmentOf(page).get("event"), id);
  assert.deepEqual(searched, []);
  await closePage(page);
});

test("recent searches are in this browser, for this tenant, and can be cleared", async () => {
  const page = await openPortal(server, token);
  await search(page).fill("budget");
  await search(page).press("Enter");
  await eventually(() => assert.equal(fragmentOf(page).get("search"), "budget"));
  await search(page).fill("");
  await option(page, "budget").waitFor();
  await expectAccessible(page);
  await eventually(() => assert.equal(fragmentOf(page).get("search"), null));
  await option(page, "budget").click();
  await eventually(() => assert.equal(fragmentOf(page).get("search"), "budget"));
  const stored = await page.evaluate(() => Object.entries({ ...localStorage }));
  assert.deepEqual(stored.map(([, value]) => value), [`["budget"]`]);
  assert.ok(!JSON.stringify(stored).includes("vt_"));
  const other = await viewerToken(server, "globex", { tier: "full" });
  await page.evaluate((other) => (location.hash = `token=${other}`), other);
  await page.getByText("No events yet").waitFor();
  await search(page).click();
  assert.equal(await options(page).count(), 0, "those of another tenant are not shown");
  await page.evaluate((token) => (location.hash = `token=${token}`), token);
  await lines(page).first().waitFor();
  await search(page).click();
  await option(page, "Clear recent searches").click();
  assert.deepEqual(await page.evaluate(() => localStorage.length), 0);
  assert.equal(await options(page).count(), 0);
  await closePage(page);
});

/** The numbers beside the values of a field, by their names. */
const countsOf = (page, field) => page.getByRole("toolbar", { name: field, exact: true }).getByRole("button").evaluateAll((buttons) =>
  Object.fromEntries(buttons.map((button) => [button.querySelector(".name").textContent.trim(), Number(button.querySelector(".count")?.textContent ?? NaN)])));
const countBy = (list, name) => list.reduce((counts, event) => ({ ...counts, [name(event)]: (counts[name(event)] ?? 0) + 1 }), {});

test("values beside the list have exact numbers, also of what the summary does not count", async () => {
  const page = await openPortal(server, token);
  const all = [...events, schmidt(0), schmidt(0), schmidt(0), schmidt(1)];
  await eventually(async () => assert.deepEqual(await countsOf(page, "Actor"), countBy(all, ({ actor }) => actor.name)));
  const { Authentication, Security } = await countsOf(page, "Category");
  assert.deepEqual([Authentication, Security], ["auth", "security"].map((name) => all.filter(({ category }) => category === name).length));
  for (const name of ["Outcome", "Target", "IP address"]) await page.locator("audit-log-facets summary").filter({ hasText: new RegExp(`^\\s*${name}\\s*$`) }).click();
  const outcomes = countBy(all, ({ outcome }) => outcome);
  await eventually(async () => assert.deepEqual(await countsOf(page, "Outcome"), { Success: outcomes.success, Failure: outcomes.failure, Denied: outcomes.denied }));
  await eventually(async () => {
    const counts = Object.entries(await countsOf(page, "IP address"));
    assert.ok(counts.length > 3);
    for (const [address, count] of counts) assert.equal(count, all.filter(({ context }) => context.ip_address === address).length, address);
  });
  await eventually(async () => assert.ok(Object.values(await countsOf(page, "Target")).every((count) => count > 0)));
  await expectAccessible(page);
  await closePage(page);
});

test("values of a log that the summary has not looked through are counted one by one", async () => {
  const page = await openPage(server);
  const counted = [];
  await page.route("**/events/summary?**", async (route) => {
    const actor = new URL(route.request().url()).searchParams.get("actor_id");
    if (actor) counted.push(actor);
    const summary = await (await route.fetch()).json();
    const top = Object.fromEntries(Object.entries(summary.top).map(([name, found]) => [name, Array.isArray(found) ? found.map(({ value }) => ({ value, count: 1 })) : 1]));
    await route.fulfill({ json: { ...summary, top } });
  });
  await page.goto(`${server.url}/portal#token=${token}`);
  await eventually(async () => assert.deepEqual(await countsOf(page, "Actor"), countBy([...events, schmidt(0), schmidt(0), schmidt(0), schmidt(1)], ({ actor }) => actor.name)));
  assert.equal(new Set(counted).size, counted.length, "each value once");
  await closePage(page);
});

test("suggestions, values and periods fit into every window", async () => {
  for (const [width, height] of [[320, 640], [768, 1024], [1280, 800], [1440, 900]]) {
    for (const lang of ["en", "de"]) {
      const page = await openOn({ viewport: { width, height }, fragment: `&lang=${lang}&not_category=system&actor_id=u_anna&actor_id=u_schmidt_0&start_date=2026-04-01T00:00:00Z` });
      const fits = async (what) => {
        const [wide, visible] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
        assert.ok(wide <= visible, `${what}: ${wide} px in ${visible}`);
        await expectAccessible(page);
        await picture(page, `portal-${what}-${width}-${lang}`, "windows");
      };
      await page.locator("audit-log-dates").waitFor();
      if (width < 960) {
        await page.getByRole("button", { name: /^Filter(s)?$/ }).click();
        await facetValue(page, "Anna Schmidt").waitFor();
        await fits("filters");
        await page.keyboard.press("Escape");
      }
      await page.locator("audit-log-search input").fill("ann");
      await option(page, "Anna Berger").filter({ hasText: /\d$/ }).waitFor();
      await eventually(async () => assert.equal(await options(page).filter({ hasNotText: /\d$/ }).count(), 0));
      await fits("find");
      if (width === 1280 && lang === "en") await picture(page, "portal-find");
      await closePage(page);
    }
  }
});

test("forced colours keep what is included and what is excluded apart from the rest", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const page = await openPortal(server, token, { forcedColors: "active", colorScheme, fragment: "&actor_id=u_anna&not_category=auth" });
    const colours = (locator) => locator.evaluate((button) => [button, button.querySelector(".name"), button.querySelector(".count") ?? button].map((element) => getComputedStyle(element).color));
    await facetValue(page, "Marc Olsen").waitFor();
    const [anna, marc, auth] = await Promise.all(["Anna Berger", "Marc Olsen", "Authentication"].map((name) => colours(facetValue(page, name))));
    assert.equal(new Set([...anna, ...auth]).size, 1, "all of it has the colour of what is chosen");
    assert.notEqual(anna[1], marc[1]);
    await expectAccessible(page);
    await picture(page, `portal-filters-forced-${colorScheme}`, "windows");
    await closePage(page);
  }
});

test("a click includes a value, the next one excludes it, and several can be chosen; Back returns", async () => {
  const page = await openPortal(server, token);
  const count = (wanted) => events.filter(wanted).length;
  await facetValue(page, "Anna Berger").click();
  await hasTotal(page, count(({ actor }) => actor.id === "u_anna"));
  await facetValue(page, "Marc Olsen").click();
  await hasTotal(page, count(({ actor }) => ["u_anna", "u_marc"].includes(actor.id)));
  assert.deepEqual(fragmentOf(page).getAll("actor_id"), ["u_anna", "u_marc"]);
  // The numbers of a field are those without its own filter.
  await eventually(async () => assert.equal((await countsOf(page, "Actor"))["Yusuf Kaya"], count(({ actor }) => actor.id === "u_yusuf")));
  await facetValue(page, "Marc Olsen").click();
  await eventually(() => assert.deepEqual([fragmentOf(page).get("actor_id"), fragmentOf(page).get("not_actor_id")], ["u_anna", "u_marc"]));
  await facetValue(page, "Anna Berger").click();
  await facetValue(page, "Anna Berger").click();
  const withoutMarc = count(({ actor }) => actor.id !== "u_marc") + 4;
  await hasTotal(page, withoutMarc);
  await page.locator(".chip", { hasText: /not\s*Actor\s*Marc Olsen/ }).waitFor();
  assert.equal(await facetValue(page, "Marc Olsen").getAttribute("aria-pressed"), "true");
  // A file has the same events.
  await page.getByRole("button", { name: "Download", exact: true }).click();
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download as JSON lines" }).click();
  const chunks = [];
  for await (const chunk of await (await downloading).createReadStream()) chunks.push(chunk);
  assert.equal(Buffer.concat(chunks).toString().trim().split("\n").length, withoutMarc);
  // The legend is one of the fields.
  await page.locator(".legend").getByRole("button", { name: "Administration" }).click();
  await eventually(() => assert.equal(fragmentOf(page).get("category"), "admin"));
  await hasTotal(page, count(({ actor, category }) => actor.id !== "u_marc" && category === "admin") + 4);
  await page.goBack();
  await hasTotal(page, withoutMarc);
  const restored = await openPortal(server, token, { fragment: `&${fragmentOf(page)}` });
  await hasTotal(restored, withoutMarc);
  await restored.locator(".chip", { hasText: "Marc Olsen" }).waitFor();
  await closePage(restored);
  await closePage(page);
});

test("by keyboard a value keeps the focus while numbers change, and Escape closes suggestions", async () => {
  const page = await openPortal(server, token);
  const focused = () => page.locator("audit-log-facets .value:focus .name").textContent();
  await facetValue(page, "auth.failed").waitFor();
  const actions = page.getByRole("toolbar", { name: "Action", exact: true });
  await actions.getByRole("button").first().focus();
  await page.keyboard.press("End");
  const chosen = (await focused()).trim();
  for (const name of ["action", "not_action"]) {
    await page.keyboard.press("Enter");
    await eventually(() => assert.equal(fragmentOf(page).get(name), chosen));
    await eventually(async () => assert.equal((await focused()).trim(), chosen));
  }
  await page.keyboard.press("Enter");
  await eventually(() => assert.deepEqual([...fragmentOf(page)], []));
  await search(page).fill("ann");
  await options(page).first().waitFor();
  await page.keyboard.press("Escape");
  await options(page).first().waitFor({ state: "hidden" });
  assert.equal(await search(page).inputValue(), "ann");
  await facetValue(page, "auth.failed").click();
  await search(page).fill("198.51.100.7");
  await page.getByRole("button", { name: "Clear filters" }).first().click();
  await eventually(async () => assert.deepEqual([await search(page).inputValue(), [...fragmentOf(page)]], ["", []]));
  await closePage(page);
});

test("what the server does not count is shown without a number, and the list works", async () => {
  const page = await openPage(server);
  const error = { error: { code: "validation_error", message: "too many", details: [{ field: "not_actor_id", message: "too many" }] }, request_id: "req_00000000000000000005" };
  await page.route((url) => url.pathname.endsWith("/summary") && url.searchParams.has("not_actor_id"), (route) => route.fulfill({ status: 400, json: error }));
  await page.goto(`${server.url}/portal#token=${token}&not_actor_id=u_marc`);
  await lines(page).first().waitFor();
  await facetValue(page, "auth.failed").or(page.getByLabel("Filter by another value: Action")).first().waitFor();
  assert.equal(await page.locator("audit-log-histogram").count(), 0, "no chart of other events");
  assert.equal(await page.locator(".old").count(), 0);
  await closePage(page);
});

test("in a narrow window the values are in a dialog, which arrow keys and Escape serve", async () => {
  for (const [width, height] of [[320, 640], [768, 1024]]) {
    const page = await openPortal(server, token, { viewport: { width, height } });
    assert.equal(await page.locator("aside").count(), 0);
    await page.getByRole("button", { name: "Filters", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Filters" });
    await dialog.getByRole("button", { name: /Authentication/ }).focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await eventually(() => assert.equal(fragmentOf(page).get("category"), "access"));
    const count = events.filter(({ category }) => category === "access").length;
    await dialog.getByRole("button", { name: `Show ${count} events` }).waitFor();
    await expectAccessible(page);
    const [wide, visible] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
    assert.ok(wide <= visible, `${wide} px in ${visible}`);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await page.locator(".chip", { hasText: "Access" }).waitFor();
    await closePage(page);
  }
});

/** Periods on Wednesday 13 May 2026, in Berlin. */
const PERIODS = {
  today: ["2026-05-12T22:00:00.000Z", "2026-05-13T21:59:59.999Z"],
  yesterday: ["2026-05-11T22:00:00.000Z", "2026-05-12T21:59:59.999Z"],
  thisWeek: ["2026-05-10T22:00:00.000Z", "2026-05-17T21:59:59.999Z"],
  lastWeek: ["2026-05-03T22:00:00.000Z", "2026-05-10T21:59:59.999Z"],
  thisMonth: ["2026-04-30T22:00:00.000Z", "2026-05-31T21:59:59.999Z"],
  lastMonth: ["2026-03-31T22:00:00.000Z", "2026-04-30T21:59:59.999Z"],
  thisQuarter: ["2026-03-31T22:00:00.000Z", "2026-06-30T21:59:59.999Z"],
  // Clocks were put forward on 29 March.
  lastQuarter: ["2025-12-31T23:00:00.000Z", "2026-03-31T21:59:59.999Z"],
};

test("periods are those of the calendar of the reader's zone, and a link has their days", async () => {
  const page = await openOn();
  const period = page.getByLabel("Period");
  assert.equal(await period.locator("optgroup").first().getAttribute("label"), "Europe/Berlin");
  for (const [name, [start, end]] of Object.entries(PERIODS)) {
    await period.selectOption(name);
    await eventually(() => assert.deepEqual([fragmentOf(page).get("start_date"), fragmentOf(page).get("end_date")], [start, end], name));
    assert.equal(await period.inputValue(), name);
    await hasTotal(page, [...events, schmidt(0), schmidt(0), schmidt(0), schmidt(1)].filter(({ occurred_at }) => occurred_at >= start.replace(".000Z", "") && occurred_at <= end).length);
  }
  await period.selectOption("lastMonth");
  await page.getByRole("button", { name: "UTC", exact: true }).click();
  await eventually(() => assert.deepEqual([fragmentOf(page).get("start_date"), fragmentOf(page).get("end_date")], ["2026-04-01T00:00:00.000Z", "2026-04-30T23:59:59.999Z"]));
  assert.equal(await period.inputValue(), "lastMonth");
  await page.goBack();
  await eventually(() => assert.equal(fragmentOf(page).get("zone"), null));
  await eventually(async () => assert.equal(await period.inputValue(), "lastMonth"));
  await closePage(page);
  const restored = await openOn({ fragment: `&start_date=${PERIODS.lastWeek[0]}&end_date=${PERIODS.lastWeek[1]}` });
  await eventually(async () => assert.equal(await restored.getByLabel("Period").inputValue(), "lastWeek"));
  await closePage(restored);
});

test("dates are whole days, times are optional, and a reversed period says so", async () => {
  const page = await openOn();
  const dates = () => [fragmentOf(page).get("start_date"), fragmentOf(page).get("end_date")];
  await page.getByLabel("Period").selectOption("custom");
  await page.getByLabel("From: date").fill("2026-05-01");
  await page.getByLabel("To: date").fill("2026-05-02");
  await eventually(() => assert.deepEqual(dates(), ["2026-04-30T22:00:00.000Z", "2026-05-02T21:59:59.999Z"]));
  await page.getByRole("button", { name: "Add times" }).click();
  await page.getByLabel("From: time").fill("10:30");
  await page.getByLabel("To: time").fill("10:30");
  await eventually(() => assert.deepEqual(dates(), ["2026-05-01T08:30:00.000Z", "2026-05-02T08:30:59.999Z"]));
  await page.getByLabel("From: date").fill("");
  await eventually(() => assert.deepEqual(dates(), [null, "2026-05-02T08:30:59.999Z"]));
  await page.getByLabel("From: time").fill("10:30");
  await page.getByText("A time needs a date").waitFor();
  await expectAccessible(page);
  await page.getByLabel("From: date").fill("2026-05-03");
  await page.getByRole("alert").filter({ hasText: "“From” is after “To”" }).waitFor();
  await page.locator(".state h3", { hasText: "“From” is after “To”" }).waitFor();
  assert.equal(await page.getByText("No event matches").count(), 0);
  assert.equal(await page.getByLabel("From: date").getAttribute("aria-invalid"), "true");
  await expectAccessible(page);
  await closePage(page);
});

test("all of it is there in German", async () => {
  const page = await openOn({ fragment: "&lang=de&not_outcome=denied" });
  await page.locator(".chip", { hasText: /nicht\s*Ergebnis\s*Verweigert/ }).waitFor();
  await page.getByRole("combobox", { name: "Suche" }).fill("schm");
  await option(page, "Anna Schmidt").filter({ hasText: "Akteur · u_schmidt_0 · 3" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByLabel("Zeitraum").selectOption({ label: "Letzter Monat" });
  await eventually(() => assert.equal(fragmentOf(page).get("start_date"), PERIODS.lastMonth[0]));
  await page.getByRole("toolbar", { name: "Kategorie" }).getByRole("button", { name: /Verwaltung/ }).waitFor();
  await expectAccessible(page);
  await closePage(page);
});
