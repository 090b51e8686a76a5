// Readers without a token: from a link to the application that signs them in, and back to the view.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, beforeEach, test } from "node:test";
import { sampleEvents } from "./data.mjs";
import { closePage, eventually, expectAccessible, facetValue, openConsole, openPage, openPortal, request, startBrowser, startServer, stopBrowser, stopServer, store, viewerToken } from "./kit.mjs";

let server;
let token;
let refused;
/** The application of the customer. `adds` says what it adds to the address to which it sends a reader back. */
const application = { requests: [], adds: undefined };

/** As docs/viewer.md has it. */
async function signIn(query, response) {
  const returnTo = String(query.get("return_to"));
  if (!returnTo.startsWith(`${server.url}/portal?`)) return response.writeHead(400).end();
  response.writeHead(302, { "Cache-Control": "no-store", Location: `${returnTo}${returnTo.includes("#") ? "&" : "#"}${await application.adds()}` }).end();
}

async function tokenAndKey() {
  const { portal_url: link } = await request(server, "POST", "/viewer-tokens", { body: { tenant_id: "acme", tier: "full", portal: true } });
  return link.split("#")[1];
}

before(async () => {
  application.server = createServer((made, response) => {
    const { pathname, searchParams } = new URL(made.url, "http://application");
    if (pathname === "/frame") return response.writeHead(200, { "Content-Type": "text/html" }).end(`<!doctype html><title>Application</title><iframe src="${searchParams.get("src")}" width="900" height="700"></iframe>`);
    if (pathname !== "/sign-in") return response.writeHead(404).end();
    application.requests.push({ from: searchParams.get("from"), returnTo: searchParams.get("return_to"), headers: made.headers });
    return void signIn(searchParams, response);
  });
  await new Promise((resolve) => application.server.listen(0, "127.0.0.1", resolve));
  application.host = `127.0.0.1:${application.server.address().port}`;
  application.url = `http://${application.host}`;
  server = await startServer({ AUDIT_PORTAL_FRAME_ANCESTORS: application.url });
  await startBrowser();
  await store(server, sampleEvents(200));
  token = await viewerToken(server, "acme", { tier: "full" });
  refused = `${token.slice(0, -4)}AAAA`;
  await setPage(`${application.url}/sign-in?from=audit%20log`);
});
after(async () => {
  await stopBrowser();
  await stopServer(server);
  application.server.close();
});
beforeEach(() => Object.assign(application, { requests: [], adds: tokenAndKey }));

const setPage = (url) => request(server, "PATCH", "/portal", { key: server.master, body: { sign_in_url: url } });
const linkTo = (fragment) => `${server.url}/portal?project=${server.projectId}${fragment}`;
const open = (options) => openPage(server, { origins: [application.url], ...options });
const lines = (page) => page.locator(".line");
const signInLink = (page) => page.getByRole("link", { name: `Sign in at ${application.host}` });
const stored = (page) => page.evaluate(() => [Object.entries({ ...sessionStorage }), localStorage.length, document.cookie, JSON.stringify(history.state)]);
const returnToOf = async (link) => new URL(await link.getAttribute("href")).searchParams.get("return_to");

test("a copied link leads to the application and back to the same view, also after a reload", async () => {
  const author = await openPortal(server, token, { fragment: "&category=admin&zone=utc" });
  await author.getByRole("button", { name: "Copy link" }).click();
  const link = await author.evaluate(() => navigator.clipboard.readText());
  assert.equal(link, linkTo("#category=admin&zone=utc"));
  await closePage(author);

  const page = await open();
  const addresses = [];
  page.on("request", (made) => addresses.push(made.url()));
  await page.goto(`${server.url}/`);
  await page.goto(link);
  await lines(page).first().waitFor();
  assert.equal(page.url(), link, "the view of the link, without the token");
  assert.deepEqual(application.requests.map(({ from, returnTo }) => [from, returnTo]), [["audit log", link]]);
  assert.equal(application.requests[0].headers.referer, undefined);
  assert.equal(await page.locator(".chip").count(), 1);
  await eventually(async () => assert.deepEqual(await stored(page), [[], 0, "", "null"]));
  // The key of the log came with the token.
  await lines(page).first().click();
  await page.locator("audit-log-proof .mark.verified").waitFor();
  const opened = page.url();
  await page.reload();
  await page.locator("audit-log-event h3").waitFor();
  assert.equal(page.url(), opened);
  assert.equal(application.requests[1].returnTo, opened);
  for (const address of addresses) assert.ok(!/\bvt_|[?&]key=/.test(address.split("#")[0]), address);
  await page.getByRole("button", { name: "Close" }).first().click();
  // Back leads through the views, also that of before the reload, and to the page before the link, never to the application.
  await page.goBack();
  await page.locator("audit-log-event h3").waitFor();
  await page.goBack();
  await page.locator("audit-log-event").waitFor({ state: "detached" });
  await lines(page).first().waitFor();
  await eventually(() => assert.equal(page.url(), link));
  await page.goBack();
  await eventually(() => assert.equal(page.url(), `${server.url}/`));
  await closePage(page);
});

test("a reader who comes back without a token is not sent in circles, and goes again with a click", async () => {
  application.adds = () => "";
  const page = await open();
  const link = linkTo("#category=admin");
  await page.goto(link);
  await page.getByText("No access yet").waitFor();
  await signInLink(page).waitFor();
  assert.equal(application.requests.length, 1);
  assert.equal(await returnToOf(signInLink(page)), link);
  await expectAccessible(page);
  const [session, ...others] = await stored(page);
  assert.deepEqual(others, [0, "", "null"]);
  assert.match(JSON.stringify(session), /^\[\["[a-z-]+","\d+"\]\]$/, "nothing but a time");
  await page.reload();
  await signInLink(page).waitFor();
  assert.equal(application.requests.length, 1);
  // A while later the page goes by itself again.
  await page.evaluate(([name, at]) => sessionStorage.setItem(name, at - 6 * 60_000), session[0]);
  await page.reload();
  await signInLink(page).waitFor();
  assert.equal(application.requests.length, 2);
  application.adds = tokenAndKey;
  await signInLink(page).click();
  await lines(page).first().waitFor();
  assert.equal(page.url(), link);
  await eventually(async () => assert.deepEqual((await stored(page))[0], []));
  await closePage(page);
});

test("a token that is refused from the start leads to the application, once", async () => {
  const page = await open();
  await page.goto(`${server.url}/portal#token=${refused}&category=admin`);
  await lines(page).first().waitFor();
  assert.equal(page.url(), linkTo("#category=admin"));
  assert.deepEqual(application.requests.map(({ returnTo }) => returnTo), [linkTo("#category=admin")]);
  application.adds = () => `token=${refused}`;
  await page.reload();
  await page.getByText("Your access has expired").waitFor();
  await signInLink(page).waitFor();
  assert.equal(application.requests.length, 2);
  assert.ok(!(await page.content()).includes(refused) && !page.url().includes("vt_"));
  await closePage(page);
});

test("what the application adds counts, not what a link brings along", async () => {
  const page = await open();
  const link = linkTo(`#token=${refused}&key=other&category=admin`);
  await page.goto(`${application.url}/sign-in?return_to=${encodeURIComponent(link)}`);
  await lines(page).first().click();
  await page.locator("audit-log-proof .mark.verified").waitFor();
  assert.ok(!/token=|key=/.test(page.url()), page.url());
  assert.equal(application.requests.length, 1);
  await closePage(page);
});

test("when a token expires the events stay, with a link to sign in", async () => {
  const page = await open();
  await page.goto(`${server.url}/portal#token=${token}`);
  await lines(page).first().waitFor();
  let isExpired = true;
  const error = { error: { code: "token_expired", message: "the viewer token has expired" }, request_id: "req_00000000000000000003" };
  await page.route("**/api/v1/events?**", (route) => (isExpired ? route.fulfill({ status: 401, json: error }) : route.fallback()));
  await facetValue(page, "Administration").click();
  await signInLink(page).waitFor();
  await page.getByText("Your access has expired").waitFor();
  assert.ok((await lines(page).count()) > 5, "the list stays");
  assert.equal(application.requests.length, 0);
  assert.equal(await returnToOf(signInLink(page)), linkTo("#category=admin"));
  await expectAccessible(page);
  // The link follows the view.
  await facetValue(page, "Security").click();
  await eventually(async () => assert.equal(await returnToOf(signInLink(page)), linkTo("#category=admin&category=security")));
  isExpired = false;
  await signInLink(page).click();
  await lines(page).first().waitFor();
  assert.equal(page.url(), linkTo("#category=admin&category=security"));
  assert.equal(application.requests.length, 1);
  await closePage(page);
});

test("an address that is no page is not gone to, whatever the server says", async () => {
  for (const url of ["javascript:window.pwned='sign-in'", "data:text/html,<script>window.pwned='data'</script>", "http://application.example.com/", "//application.example.com/", "", null]) {
    const page = await open();
    const answered = page.waitForResponse("**/sign-in");
    await page.route("**/api/v1/portal/*/sign-in", (route) => route.fulfill({ json: { sign_in_url: url } }));
    await page.goto(linkTo("#category=admin"));
    await answered;
    await page.getByText("No access yet").waitFor();
    assert.equal(await page.locator("[slot=sign-in]").count(), 0, url);
    assert.equal(page.url(), linkTo("#category=admin"));
    assert.deepEqual((await stored(page))[0], []);
    await closePage(page);
  }
});

test("without a page to sign in, and with an address that names no project, the portal says that there is no access", async () => {
  const asked = [];
  for (const project of ["00000000-0000-4000-8000-000000000000", "..%2F..%2Fhealthz", "x"]) {
    const page = await open();
    page.on("request", (made) => made.url().includes("/api/") && asked.push(made.url()));
    await page.goto(`${server.url}/portal?project=${project}#category=admin`);
    await page.getByText("No access yet").waitFor();
    assert.equal(await page.locator("[slot=sign-in]").count(), 0);
    await closePage(page);
  }
  assert.deepEqual(asked, [`${server.url}/api/v1/portal/00000000-0000-4000-8000-000000000000/sign-in`]);
});

test("in a frame the portal goes nowhere by itself", async () => {
  const page = await open({ locale: "de-DE" });
  await page.goto(`${application.url}/frame?src=${encodeURIComponent(linkTo("#category=admin"))}`);
  const link = page.frameLocator("iframe").getByRole("link", { name: `Bei ${application.host} anmelden` });
  await link.waitFor();
  assert.equal(application.requests.length, 0);
  await link.click();
  await lines(page).first().waitFor();
  assert.equal(page.url(), linkTo("#category=admin"), "in the whole window");
  await closePage(page);
});

test("the console stores the page to sign in", async () => {
  const page = await openConsole(server, "portal");
  const field = page.getByLabel("Page of your application");
  await eventually(async () => assert.equal(await field.inputValue(), `${application.url}/sign-in?from=audit%20log`));
  await field.fill("https://user@application.example.com/");
  await page.getByRole("button", { name: "Store page" }).click();
  await page.getByRole("alert").filter({ hasText: "sign_in_url" }).waitFor();
  await field.fill("https://application.example.com/");
  await page.getByRole("button", { name: "Store page" }).click();
  await page.getByText("The page was stored").waitFor();
  assert.equal((await request(server, "GET", "/portal")).portal.sign_in_url, "https://application.example.com/");
  await field.fill("");
  await page.getByRole("button", { name: "Store page" }).click();
  await eventually(async () => assert.equal((await request(server, "GET", "/portal")).portal.sign_in_url, null));
  await expectAccessible(page);
  await closePage(page);
});
