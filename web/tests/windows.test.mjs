// The portal in every window: sizes, zoom, forced colours, print, and the longest values that the API takes.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { longEvent, sampleEvents } from "./data.mjs";
import { closePage, eventually, expectAccessible, openPage, openPortal, picture, startBrowser, startServer, stopBrowser, stopServer, store, viewerToken } from "./kit.mjs";

let server;
let token;
let longToken;
const long = {};
const plain = {};

before(async () => {
  server = await startServer();
  await startBrowser();
  await store(server, sampleEvents(200));
  [plain.id] = await store(server, [{
    action: "user.role.updated", category: "admin", tenant_id: "acme", actor: { id: "u_anna", type: "user", name: "Anna Berger" },
    target: { id: "u_lea", type: "user", name: "Léa Fontaine" }, changes: [{ field: "role", before: "member", after: "admin" }],
  }]);
  for (const length of [60, 512]) [long[length]] = await store(server, [longEvent(length)]);
  token = await viewerToken(server, "acme", { tier: "full" });
  longToken = await viewerToken(server, longEvent(60).tenant_id, { tier: "full" });
});
after(async () => {
  await stopBrowser();
  await stopServer(server);
});

const lines = (page) => page.locator(".line");
const details = (page) => page.locator("audit-log-event");

/** The part of an element that is in the window, in pixels. */
async function shown(page, locator) {
  const box = await locator.boundingBox();
  const { width, height } = page.viewportSize();
  assert.ok(box, `${locator} is not shown`);
  return { ...box, width: Math.min(box.x + box.width, width) - Math.max(box.x, 0), height: Math.min(box.y + box.height, height) - Math.max(box.y, 0) };
}

async function fitsWidth(page) {
  const [wide, visible] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  assert.ok(wide <= visible, `the page is ${wide} px wide in a window of ${visible}`);
}

for (const length of [60, 512]) {
  for (const [width, height] of [[1440, 900], [900, 700], [768, 1024], [320, 640]]) {
    test(`${length} characters without a space in every field leave list and buttons in a window of ${width} px`, async () => {
      const page = await openPortal(server, longToken, { viewport: { width, height }, fragment: `&event=${long[length]}` });
      await details(page).locator("h3").waitFor();
      await page.locator("audit-log-proof .mark h4").waitFor();
      await fitsWidth(page);
      const { clientWidth, scrollWidth } = await details(page).locator(".body").evaluate(({ clientWidth, scrollWidth }) => ({ clientWidth, scrollWidth }));
      assert.ok(scrollWidth <= clientWidth, `the details are ${scrollWidth} px wide in ${clientWidth}`);
      const header = await details(page).locator("header").evaluate(({ clientWidth, scrollWidth }) => scrollWidth - clientWidth);
      assert.ok(header <= 0, `the header is ${header} px too wide`);
      const values = await details(page).locator("dd").evaluateAll((found) => found.map((value) => value.clientWidth));
      assert.ok(Math.min(...values) > 100, `a value has ${Math.min(...values)} px`);
      for (const name of ["Newer event", "Older event"]) assert.ok((await shown(page, page.getByRole("button", { name }))).width > 15);
      if (width >= 700) assert.ok((await shown(page, page.locator(".grid"))).width >= width / 2, "the list has half of the window");
      await page.getByRole("button", { name: "Close" }).click();
      await details(page).waitFor({ state: "detached" });
      await lines(page).first().click();
      await details(page).waitFor();
      await closePage(page);
    });
  }
}

/** Window, and the rows that must be seen at once after scrolling to the list. The last two are 1280×1024 at 400 % and 1280×800 at 200 %. */
const SIZES = [
  ["320x256", 320, 256, 3, 1], ["640x360", 640, 360, 5, 1], ["768", 768, 1024, 15, 1], ["900", 900, 700, 12, 1], ["1440", 1440, 900, 15, 1],
  ["zoom-400", 320, 256, 3, 4], ["zoom-200", 640, 400, 5, 2],
];
for (const [name, width, height, rows, deviceScaleFactor] of SIZES) {
  test(`list, details and every control can be reached in a window of ${name}`, async () => {
    const page = await openPortal(server, token, { viewport: { width, height }, deviceScaleFactor });
    await page.locator("audit-log-histogram rect").first().waitFor();
    await fitsWidth(page);
    const footer = page.getByRole("button", { name: "Copy link" });
    await footer.scrollIntoViewIfNeeded();
    assert.ok((await shown(page, footer)).height >= 20, "the last button can be scrolled to");
    await page.locator(".grid").scrollIntoViewIfNeeded();
    const grid = await shown(page, page.locator(".grid"));
    const row = await shown(page, lines(page).nth(1));
    assert.ok(grid.height >= rows * 34 && grid.height / row.height >= rows - 1, `${grid.height} px for rows of ${row.height} px`);
    await expectAccessible(page);
    await picture(page, `portal-${name}`, "windows");
    const opened = lines(page).first();
    await opened.click();
    await details(page).locator("h3").waitFor();
    await fitsWidth(page);
    const pane = await shown(page, details(page));
    if (width < 700) assert.deepEqual([pane.width, pane.height], [width, height], "the details have the whole page");
    else {
      for (const cell of [".who", ".what", ".category", ".when"]) {
        const { x, width: seen } = await shown(page, opened.locator(cell));
        assert.ok(seen > 50 && x + seen <= pane.x, `${cell} has ${seen} px at ${x}, and the details begin at ${pane.x}`);
        const cut = await opened.locator(cell).evaluate(({ clientWidth, scrollWidth }) => scrollWidth - clientWidth);
        assert.ok(cut <= 0, `${cell} is cut by ${cut} px`);
      }
      assert.ok(pane.height >= 300, `${pane.height}`);
    }
    await expectAccessible(page);
    await picture(page, `portal-${name}-details`, "windows");
    await page.getByRole("button", { name: "Close" }).click();
    await details(page).waitFor({ state: "detached" });
    await closePage(page);
  });
}

test("a click on a row whose list becomes narrow opens that row, which stays in sight", async () => {
  const page = await openPortal(server, token, { viewport: { width: 900, height: 700 } });
  await page.locator(".grid").evaluate((grid) => (grid.scrollTop = 1500));
  await eventually(async () => assert.ok(await lines(page).nth(20).isVisible()));
  const row = page.locator("[id='row-52']");
  const before = await shown(page, row);
  await row.click();
  await details(page).locator("h3").waitFor();
  await eventually(async () => assert.equal(await row.getAttribute("aria-selected"), "true"));
  await eventually(async () => assert.ok(Math.abs((await shown(page, row)).y - before.y) < 60));
  await page.getByRole("button", { name: "Close" }).click();
  await eventually(async () => assert.ok(Math.abs((await shown(page, row)).y - before.y) < 60));
  await closePage(page);
});

test("details over the page keep the focus, and Escape returns to the list", async () => {
  const page = await openPortal(server, token, { viewport: { width: 390, height: 844 } });
  await page.locator(".grid").focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await details(page).locator("h3").waitFor();
  for (let presses = 0; presses < 30; presses += 1) {
    await page.keyboard.press("Tab");
    const outside = await page.evaluate(() => {
      const viewer = document.querySelector("audit-log-portal").shadowRoot.activeElement;
      return viewer ? viewer.shadowRoot?.activeElement?.localName : undefined;
    });
    assert.ok(outside === undefined || outside === "audit-log-event", `the focus is on ${outside}, behind the details`);
  }
  await page.keyboard.press("Escape");
  await details(page).waitFor({ state: "detached" });
  await eventually(async () => assert.equal(await page.locator(".grid:focus").count(), 1));
  await closePage(page);
});

test("the category is text in each row and in the legend", async () => {
  const page = await openPortal(server, token, { fragment: "&category=admin" });
  await page.locator("audit-log-histogram rect").first().waitFor();
  assert.deepEqual([...new Set(await page.locator(".line .category").allTextContents())].map((text) => text.trim()), ["Administration"]);
  const slider = page.getByRole("slider", { name: "Events over time" });
  await slider.focus();
  await page.keyboard.press("End");
  const said = await slider.getAttribute("aria-valuetext");
  const [, count] = /: (\d+) event/.exec(said);
  await page.locator(".legend", { hasText: `Administration ${count}` }).waitFor();
  await closePage(page);
});

test("forced colours keep categories, the open row and what is switched on", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const page = await openPortal(server, token, { forcedColors: "active", colorScheme });
    await page.locator("audit-log-histogram rect").first().waitFor();
    const paint = (locator) => locator.evaluate((element) => getComputedStyle(element).backgroundColor);
    const [dots, none] = [await page.locator(".line .dot").evaluateAll((found) => found.map((dot) => getComputedStyle(dot).backgroundColor)), await paint(lines(page).first())];
    assert.ok(new Set(dots).size > 2 && !dots.includes(none), `${[...new Set(dots)]}`);
    await lines(page).nth(2).click();
    await details(page).locator("h3").waitFor();
    const outline = (position) => lines(page).nth(position).evaluate((line) => getComputedStyle(line).outlineStyle);
    assert.deepEqual([await outline(2), await outline(4)], ["solid", "none"]);
    const [on, off] = [await paint(page.locator(".live[aria-pressed=true]")), await paint(page.getByRole("button", { name: "UTC", exact: true }))];
    assert.notEqual(on, off);
    await expectAccessible(page);
    await picture(page, `portal-forced-${colorScheme}`, "windows");
    await closePage(page);
  }
});

test("on paper are rows or the whole event, dark letters and no controls", async () => {
  const page = await openPage(server, { colorScheme: "dark" });
  await page.goto(`${server.url}/portal#token=${longToken}&theme=dark&event=${long[512]}`);
  await page.locator("audit-log-proof .mark h4").waitFor();
  await page.emulateMedia({ media: "print" });
  const body = details(page).locator(".body");
  await eventually(async () => assert.ok(await body.evaluate(({ clientHeight, scrollHeight }) => clientHeight >= scrollHeight), "nothing of the event is cut"));
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  assert.ok(height > 800, `${height}`);
  assert.equal(await page.getByRole("button", { name: "Download" }).isVisible(), false);
  const text = await details(page).evaluate((element) => getComputedStyle(element).color);
  assert.match(text, /^rgb\((\d|[1-5]\d), /, "dark letters");
  await picture(page, "portal-print-details", "windows");
  await page.emulateMedia({ media: "screen" });
  await page.getByRole("button", { name: "Close" }).click();
  await page.emulateMedia({ media: "print" });
  await lines(page).first().waitFor();
  assert.equal(await page.getByRole("combobox", { name: "Search" }).isVisible(), false);
  await closePage(page);
});

test("all events that were read are printed, not only those in the window", async () => {
  const page = await openPortal(server, token);
  const count = Number(/^\d+/.exec(await page.locator("footer").getByText(/^\d+ events$/).textContent())[0]);
  assert.ok((await lines(page).count()) < count);
  const pdf = (await page.pdf()).toString("latin1");
  // A sheet of A4 has about thirty rows.
  const sheets = pdf.match(/\/Type \/Page\b/g).length;
  assert.ok(sheets >= 4, `${sheets} sheets`);
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  await eventually(async () => assert.equal(await lines(page).count(), count));
  await page.emulateMedia({ media: "print" });
  await picture(page, "portal-print", "windows");
  await page.emulateMedia({ media: "screen" });
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  await eventually(async () => assert.ok((await lines(page).count()) < count));
  await closePage(page);
});
