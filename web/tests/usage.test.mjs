// What people do first: drag over the chart, copy the link, go back, lose the connection.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sampleEvents } from "./data.mjs";
import { closePage, eventually, expectAccessible, facetValue, onPlainHttp, openPage, openPortal, startBrowser, startServer, stopBrowser, stopServer, store, viewerToken } from "./kit.mjs";

let server;
let token;
const events = sampleEvents(300);

before(async () => {
  server = await startServer();
  await startBrowser();
  await store(server, events);
  token = await viewerToken(server, "acme", { tier: "full" });
});
after(async () => {
  await stopBrowser();
  await stopServer(server);
});

const lines = (page) => page.locator(".line");
const details = (page) => page.locator("audit-log-event");
const fragmentOf = (page) => new URLSearchParams(new URL(page.url()).hash.slice(1));
const live = (page, isOn) => page.locator(`.live[aria-pressed=${isOn}]`);

test("the first drag over the chart selects what was dragged over", async () => {
  const page = await openPortal(server, token);
  const chart = page.getByRole("slider", { name: "Events over time" });
  await page.locator("audit-log-histogram rect").first().waitFor();
  const { x, y, width, height } = await chart.boundingBox();
  await page.mouse.move(x + width * 0.25, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width * 0.5, y + height / 2, { steps: 4 });
  await page.mouse.move(x + width * 0.75, y + height / 2, { steps: 4 });
  await page.mouse.up();
  await eventually(() => assert.ok(fragmentOf(page).get("start_date")));
  const days = (Date.parse(fragmentOf(page).get("end_date")) - Date.parse(fragmentOf(page).get("start_date"))) / 86_400_000;
  assert.ok(days > 10 && days < 18, `half of four weeks, not ${days} days`);
  await closePage(page);
});

test("a copied link is said to be copied, on plain HTTP too", async () => {
  for (const [of, isSecure] of [[server, true], [onPlainHttp(server), false]]) {
    const page = await openPortal(of, token, { fragment: "&category=admin", permissions: isSecure ? ["clipboard-read", "clipboard-write"] : [] });
    assert.equal(await page.evaluate(() => globalThis.isSecureContext), isSecure);
    await page.getByRole("button", { name: "Copy link" }).click();
    await page.locator(".toast", { hasText: "Copied" }).waitFor();
    // What was copied, as a reader would paste it.
    await page.getByRole("combobox", { name: "Search" }).focus();
    await page.keyboard.press("Control+v");
    assert.equal(await page.getByRole("combobox", { name: "Search" }).inputValue(), `${of.url}/portal?project=${server.projectId}#category=admin`);
    await closePage(page);
  }
});

test("a link that cannot be copied is shown", async () => {
  const page = await openPage(server, { permissions: [] });
  await page.addInitScript(() => {
    navigator.clipboard.writeText = () => Promise.reject(new DOMException("refused", "NotAllowedError"));
    document.execCommand = () => false;
  });
  await page.goto(`${server.url}/portal#token=${token}&category=admin`);
  await lines(page).first().waitFor();
  await page.getByRole("button", { name: "Copy link" }).click();
  assert.equal(await page.getByLabel("Link to this view").inputValue(), `${server.url}/portal?project=${server.projectId}#category=admin`);
  await expectAccessible(page);
  await page.locator(".notice").getByRole("button", { name: "Close" }).click();
  assert.equal(await page.getByLabel("Link to this view").count(), 0);
  await lines(page).first().click();
  await page.getByRole("button", { name: "Copy JSON" }).click();
  assert.equal(await page.getByRole("button", { name: "Copied" }).count(), 0, "nothing was copied");
  await closePage(page);
});

test("Back returns to the filters and the event before, and each entry has a link", async () => {
  const page = await openPortal(server, token);
  await facetValue(page, "Administration").click();
  await eventually(() => assert.equal(fragmentOf(page).get("category"), "admin"));
  await eventually(async () => assert.deepEqual([...new Set(await page.locator(".line .dot").evaluateAll((dots) => dots.map(({ className }) => className)))], ["dot admin"]));
  await lines(page).nth(1).click();
  await details(page).waitFor();
  const opened = fragmentOf(page).get("event");
  await page.locator(".grid").focus();
  await page.keyboard.press("ArrowDown");
  await eventually(() => assert.notEqual(fragmentOf(page).get("event"), opened));
  await page.goBack();
  await details(page).waitFor({ state: "detached" });
  assert.equal(page.url(), `${server.url}/portal?project=${server.projectId}#category=admin`);
  assert.ok((await lines(page).count()) > 1, "the list is not read again");
  await page.goBack();
  await eventually(async () => assert.equal(await page.locator(".chip").count(), 0));
  await page.goForward();
  await eventually(async () => assert.equal(await page.locator(".chip").count(), 1));
  await page.getByRole("combobox", { name: "Search" }).pressSequentially("role", { delay: 400 });
  await eventually(() => assert.equal(fragmentOf(page).get("search"), "role"));
  await page.goBack();
  await eventually(async () => assert.equal(await page.getByRole("combobox", { name: "Search" }).inputValue(), ""));
  assert.equal(fragmentOf(page).get("category"), "admin");
  await closePage(page);
});

test("a link keeps UTC, and Back returns to the zone of the reader", async () => {
  const page = await openPortal(server, token, { fragment: "&category=admin" });
  await page.locator("audit-log-histogram").getByText("· Europe/Berlin").waitFor();
  await page.getByRole("button", { name: "UTC", exact: true }).click();
  await page.locator("audit-log-histogram").getByText("· UTC").waitFor();
  assert.equal(page.url(), `${server.url}/portal?project=${server.projectId}#category=admin&zone=utc`);
  await page.goBack();
  await page.locator("audit-log-histogram").getByText("· Europe/Berlin").waitFor();
  await closePage(page);
  const linked = await openPortal(server, token, { fragment: "&category=admin&zone=utc" });
  await linked.locator("audit-log-histogram").getByText("· UTC").waitFor();
  assert.equal(await linked.getByRole("button", { name: "UTC", exact: true }).getAttribute("aria-pressed"), "true");
  await closePage(linked);
});

/** The list, the chart and the count are said to be old, and nothing is said to be live. */
async function isOld(page) {
  await live(page, false).waitFor();
  await page.locator("footer .old", { hasText: /as of \d/ }).waitFor();
  await page.locator("audit-log-histogram .old", { hasText: /as of \d/ }).waitFor();
  assert.ok((await lines(page).count()) > 5, "the list stays");
  await expectAccessible(page);
}

test("without a connection list, chart and count stay and are marked as old, also after a change of filters", async () => {
  const page = await openPortal(server, token);
  await live(page, true).filter({ hasText: "Live" }).waitFor();
  assert.equal(await page.locator(".old").count(), 0);
  await page.context().setOffline(true);
  await page.getByText("No connection").waitFor();
  await isOld(page);
  await facetValue(page, "Administration").click();
  await eventually(() => assert.equal(fragmentOf(page).get("category"), "admin"));
  await page.getByRole("button", { name: "Try again" }).click();
  await isOld(page);
  await page.context().setOffline(false);
  await page.getByText("No connection").waitFor({ state: "detached" });
  await eventually(async () => assert.deepEqual([...new Set(await page.locator(".line .dot").evaluateAll((dots) => dots.map(({ className }) => className)))], ["dot admin"]));
  await live(page, true).filter({ hasText: "Live" }).waitFor();
  await eventually(async () => assert.equal(await page.locator(".old").count(), 0));
  await closePage(page);
});

test("a server that is away and back is said to be away, without a request of the reader", async () => {
  const page = await openPage(server);
  let isAway = false;
  await page.route("**/api/v1/**", (route) => (isAway ? route.abort("connectionrefused") : route.fallback()));
  // A feed that ends at once makes the page connect again.
  await page.route("**/events/feed?**", (route) => (isAway ? route.abort("connectionrefused") : route.fulfill({ contentType: "text/event-stream", body: ": hello\n\n" })));
  await page.goto(`${server.url}/portal#token=${token}`);
  await lines(page).first().waitFor();
  isAway = true;
  await page.getByText("No connection").waitFor();
  await isOld(page);
  isAway = false;
  await page.getByText("No connection").waitFor({ state: "detached" });
  await closePage(page);
});

test("an expired access leaves the list, and says so", async () => {
  const page = await openPage(server);
  let isExpired = false;
  const error = { error: { code: "unauthorized", message: "the token has expired" }, request_id: "req_00000000000000000003" };
  await page.route("**/api/v1/**", (route) => (isExpired ? route.fulfill({ status: 401, json: error }) : route.fallback()));
  await page.goto(`${server.url}/portal#token=${token}`);
  await lines(page).first().waitFor();
  isExpired = true;
  await facetValue(page, "Administration").click();
  await page.getByText("Your access has expired").waitFor();
  await isOld(page);
  await closePage(page);
});

test("a link for another tenant shows nothing of the one before", async () => {
  const page = await openPortal(server, token);
  const other = await viewerToken(server, "globex", { tier: "full" });
  await page.route("**/api/v1/events**", (route) => route.abort("connectionrefused"));
  await page.evaluate((other) => (location.hash = `token=${other}`), other);
  await page.getByText("No connection").waitFor();
  assert.equal(await lines(page).count(), 0);
  assert.equal((await page.locator("footer span").first().textContent()).trim(), "");
  await closePage(page);
});

test("a count that cannot be read is not shown as that of the list", async () => {
  const page = await openPortal(server, token);
  await page.locator("audit-log-histogram rect").first().waitFor();
  const error = { error: { code: "unavailable", message: "too many requests" }, request_id: "req_00000000000000000004" };
  await page.route("**/events/summary?**", (route) => route.fulfill({ status: 503, json: error }));
  await facetValue(page, "Administration").click();
  await page.locator("footer .old", { hasText: /as of \d/ }).waitFor();
  assert.equal(await live(page, true).count(), 1);
  await closePage(page);
});
