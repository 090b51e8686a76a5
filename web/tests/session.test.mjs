import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { closePage, expectAccessible, onPlainHttp, openConsole, openPage, request, startBrowser, startServer, stopBrowser, stopServer } from "./kit.mjs";

let server;
let other;
before(async () => {
  [server, other] = [await startServer(), await startServer()];
  await startBrowser();
});
after(async () => {
  await stopBrowser();
  await stopServer(server);
  await stopServer(other);
});

const section = (page, name) => page.getByRole("heading", { name, exact: true }).waitFor();
const signInForm = (page) => page.getByRole("heading", { name: "Audit log console" }).waitFor();
const signOut = (page) => page.getByRole("button", { name: "Sign out" }).click();
const sessionCookie = async (page) => (await page.context().cookies()).find(({ name }) => name.endsWith("audit_console"));

test("a reload does not end the visit, and no script of the page has the key", async () => {
  for (const [key, on] of [[server.master, server], [server.project, server], [server.master, onPlainHttp(server)]]) {
    const page = await openConsole(on, "webhooks", { key });
    await page.reload();
    await section(page, "Webhooks");
    // Nothing in the page has it: what it stores, its elements, its address.
    const kept = await page.evaluate(() => [localStorage.length, sessionStorage.length, document.cookie, location.href, document.documentElement.outerHTML]);
    assert.deepEqual(kept.slice(0, 3), [0, 0, ""]);
    assert.ok(!JSON.stringify(kept).includes(key));
    const { httpOnly, sameSite, expires, value } = await sessionCookie(page);
    assert.deepEqual([httpOnly, sameSite, expires], [true, "Strict", -1]);
    assert.ok(!value.includes(key));
    // Another tab of the browser is signed in too, and its requests have no key.
    const headers = [];
    const tab = await page.context().newPage();
    tab.on("request", (made) => headers.push(made.headers()));
    await tab.goto(`${on.url}/console#/usage`);
    await section(tab, "Usage and plan");
    assert.ok(headers.length > 3 && !JSON.stringify(headers).includes("authorization"));
    await closePage(page);
  }
});

test("signing out ends the session here, in other browsers, and for a copy of its cookie", async () => {
  const page = await openConsole(server, "usage", { key: server.project });
  const elsewhere = await openConsole(server, "usage", { key: server.project });
  const cookie = await sessionCookie(page);
  await signOut(page);
  await signInForm(page);
  assert.equal(await sessionCookie(page), undefined);
  await page.reload();
  await signInForm(page);
  await page.context().addCookies([cookie]);
  // A page that is open says so, and so does one that is loaded.
  await elsewhere.getByRole("link", { name: "Events", exact: true }).click();
  await page.reload();
  for (const ended of [page, elsewhere]) {
    await ended.getByRole("alert").filter({ hasText: "The session has ended" }).waitFor();
    await signInForm(ended);
    await expectAccessible(ended);
    await closePage(ended);
  }
  // The key itself works.
  const again = await openConsole(server, "usage", { key: server.project });
  await section(again, "Usage and plan");
  await closePage(again);
});

test("a page never acts with the key of another tab", async () => {
  const page = await openConsole(server, "redaction");
  const tab = await page.context().newPage();
  await tab.goto(`${server.url}/console#/usage`);
  await section(tab, "Usage and plan");
  await signOut(tab);
  await signInForm(tab);
  await tab.getByLabel("Key").fill(server.project);
  await tab.getByLabel("Key").press("Enter");
  await section(tab, "Usage and plan");
  await page.getByRole("link", { name: "Webhooks" }).click();
  await page.getByRole("alert").filter({ hasText: "The session has ended" }).waitFor();
  await tab.reload();
  await section(tab, "Usage and plan");
  await closePage(page);
});

test("a sign-out that the server does not get is said, and can be repeated", async () => {
  const page = await openConsole(server, "usage");
  await page.route("**/console/session", (route) => route.abort());
  await signOut(page);
  await page.getByRole("alert").filter({ hasText: "no response from the server" }).waitFor();
  await section(page, "Usage and plan");
  await page.unroute("**/console/session");
  await signOut(page);
  await signInForm(page);
  await closePage(page);
});

test("a session ends with its key", async () => {
  const created = await request(server, "POST", "/keys", { key: server.master, body: { project_id: server.projectId, type: "project", name: "visitor" } });
  const page = await openConsole(server, "usage", { key: created.key });
  await request(server, "DELETE", `/keys/${created.id}`, { key: server.master });
  await page.reload();
  await page.getByRole("alert").filter({ hasText: "revoked" }).waitFor();
  await closePage(page);
});

test("a key that does not work begins no session, and ends none", async () => {
  const kept = await openConsole(server, "usage");
  const page = await openPage(server);
  await page.goto(`${server.url}/console`);
  await page.getByLabel("Key").fill(other.master);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").waitFor();
  assert.equal(await sessionCookie(page), undefined);
  await page.getByLabel("Key").fill(server.master);
  await page.route("**/api/v1/projects?**", (route) => route.fulfill({ status: 503, json: { error: { code: "unavailable", message: "the database is unavailable" } } }));
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").filter({ hasText: "unavailable" }).waitFor();
  assert.equal(await sessionCookie(page), undefined);
  await page.unrouteAll({ behavior: "wait" });
  await closePage(page);
  await kept.reload();
  await section(kept, "Usage and plan");
  await closePage(kept);
});

test("without cookies the key is kept in memory", async () => {
  const page = await openPage(server);
  // What a server has seen of a browser that drops its cookies.
  await page.route("**/console/session", async (route) => {
    if (route.request().method() !== "GET") return route.fallback();
    return route.fulfill({ status: 204 });
  });
  await page.goto(`${server.url}/console#/usage`);
  await page.getByLabel("Key").fill(server.master);
  await page.getByLabel("Key").press("Enter");
  await section(page, "Usage and plan");
  await page.reload();
  await signInForm(page);
  await page.unrouteAll({ behavior: "wait" });
  await closePage(page);
});

test("a page of another origin of the same site cannot use the session", async () => {
  const page = await openConsole(server, "usage");
  // The same host on another port: the browser has the cookie for both.
  const neighbour = createServer((_, response) => response.setHeader("Content-Type", "text/html").end("<title>evil</title>"));
  await once(neighbour.listen(0, "127.0.0.1"), "listening");
  const evil = await page.context().newPage();
  await evil.goto(`http://127.0.0.1:${neighbour.address().port}/`);
  const attempts = await evil.evaluate(async (url) => {
    const outcome = (init) => fetch(`${url}/api/v1/projects`, { credentials: "include", ...init }).then(({ status }) => status, () => "blocked");
    return [await outcome({ headers: { "X-Audit-Console": "current" } }), await outcome({}), await outcome({ mode: "no-cors" })];
  }, server.url);
  // Without the header the request arrives and has no credential. Its response cannot be read; with `no-cors` its status is 0.
  assert.deepEqual(attempts, ["blocked", "blocked", 0]);
  await page.reload();
  await section(page, "Usage and plan");
  await closePage(page);
  neighbour.close();
});
