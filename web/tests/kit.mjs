// What the browser tests share: a server of their own, events, and pages on which every violation of the policy is a failure.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";
import { smaller } from "./smaller-png.mjs";

const here = import.meta.dirname;
export const assets = join(here, "../../crates/audit-web/assets");
const binary = process.env.AUDIT_SERVER_BIN ?? join(here, "../../target/debug/audit-server");
const axe = readFileSync(join(here, "../node_modules/axe-core/axe.min.js"), "utf8");

/** Starts a server on a new database. Its keys are those that it prints. */
export async function startServer(environment = {}) {
  if (!existsSync(binary)) throw new Error(`no server at ${binary}; set AUDIT_SERVER_BIN`);
  const directory = mkdtempSync(join(tmpdir(), "audit-web-"));
  const env = {
    PATH: process.env.PATH,
    AUDIT_DATABASE_URL: `sqlite:${join(directory, "audit.db")}`,
    AUDIT_LISTEN: "127.0.0.1:0",
    AUDIT_DAILY_LIMIT_FREE: "0",
    AUDIT_WEBHOOK_ALLOW_PRIVATE: "true",
    // The tests count events.
    AUDIT_SELF_AUDIT: "off",
    RUST_LOG: "warn",
    ...environment,
  };
  const child = spawn(binary, ["serve"], { env, stdio: ["ignore", "pipe", "inherit"] });
  const server = { child, directory };
  for await (const line of createInterface({ input: child.stdout })) {
    const key = /^(master|project) key\s+(\S+)/.exec(line);
    if (key) server[key[1]] = key[2];
    const project = /^project\s+([0-9a-f-]{36})/.exec(line);
    if (project) server.projectId = project[1];
    const listening = /^listening on (\S+)/.exec(line);
    if (listening) {
      server.url = listening[1];
      break;
    }
  }
  if (!server.url) throw new Error("the server did not start");
  return server;
}

export async function stopServer({ child, directory }) {
  const exited = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await exited;
  rmSync(directory, { recursive: true });
}

/** A request to the API; throws unless it succeeds. */
export async function request(server, method, path, { key = server.project, body } = {}) {
  const headers = { Authorization: `Bearer ${key}` };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const response = await fetch(`${server.url}/api/v1${path}`, { method, headers, body: body && JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text.startsWith("{") ? JSON.parse(text) : text;
}

export async function store(server, events, key) {
  const ids = [];
  for (let start = 0; start < events.length; start += 100) {
    ids.push(...(await request(server, "POST", "/events", { key, body: events.slice(start, start + 100) })).ids);
  }
  return ids;
}

export async function viewerToken(server, tenant_id, options = {}) {
  return (await request(server, "POST", "/viewer-tokens", { body: { tenant_id, ...options } })).token;
}

/** For the browser this host is the server, and no secure context: pages on 127.0.0.1 may do what others may only on HTTPS. */
const PLAIN_HOST = "audit.test";
export const onPlainHttp = (server) => ({ ...server, url: server.url.replace("127.0.0.1", PLAIN_HOST) });

let browser;
export async function startBrowser() {
  const args = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", `--host-resolver-rules=MAP ${PLAIN_HOST} 127.0.0.1`];
  // A page that the test serves has no address of its own, and may not ask this machine.
  if (process.env.AUDIT_WEB_FROM_DISK) args.push("--disable-features=BlockInsecurePrivateNetworkRequests,LocalNetworkAccessChecks");
  browser = await chromium.launch({ executablePath: process.env.AUDIT_TEST_CHROMIUM ?? "/usr/bin/chromium", headless: true, args });
}
export const stopBrowser = () => browser?.close();

/**
 * A new page with nothing stored. Collects everything that a page must not do: errors, violations of its policy, requests to other
 * origins, dialogs, and code that an event brought in (`window.pwned`).
 */
export async function openPage(server, options = {}) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 }, locale: "en-GB", timezoneId: "Europe/Berlin", colorScheme: "light", reducedMotion: "reduce",
    permissions: ["clipboard-read", "clipboard-write"], ...options,
  });
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  const faults = [];
  page.on("pageerror", (error) => faults.push(`error: ${error.stack ?? error}`));
  page.on("console", (message) => {
    // The console has a line for each response that is no success, which the tests cause on purpose, and for a header that needs HTTPS.
    const isExpected = /Failed to load resource|Cross-Origin-Opener-Policy header has been ignored/.test(message.text());
    if (message.type() === "error" && !isExpected) faults.push(`console: ${message.text()}`);
  });
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (made) => {
    const { origin, protocol } = new URL(made.url());
    if (origin !== server.url && protocol !== "data:" && protocol !== "blob:" && !options.origins?.includes(origin)) faults.push(`request: ${made.url()}`);
  });
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => console.error(`violation of ${event.violatedDirective}: ${event.blockedURI}`));
  });
  if (process.env.AUDIT_WEB_FROM_DISK) await serveFromDisk(page, server);
  return Object.assign(page, { faults });
}

/** While working on the pages: the files of the last build, with the headers of the server. */
async function serveFromDisk(page, server) {
  const names = { "/": "index.html", "/portal": "portal.html", "/console": "console.html", "/viewer.js": "viewer.js" };
  await page.route(`${server.url}/**`, async (route) => {
    const { pathname } = new URL(route.request().url());
    const name = names[pathname] ?? (pathname.startsWith("/assets/") ? pathname.slice(8) : undefined);
    if (!name) return route.fallback();
    const { headers } = await fetch(`${server.url.replace(PLAIN_HOST, "127.0.0.1")}${names[pathname] ? pathname : "/portal"}`);
    const type = { html: "text/html; charset=utf-8", js: "text/javascript", css: "text/css", svg: "image/svg+xml" }[name.split(".").pop()];
    const policy = { "content-type": type };
    for (const header of ["content-security-policy", "referrer-policy"]) policy[header] = headers.get(header);
    await route.fulfill({ body: readFileSync(join(assets, name)), headers: policy });
  });
}

/** Closes the page and fails if it did anything that it must not do. */
export async function closePage(page) {
  const pwned = await page.evaluate(() => globalThis.pwned).catch(() => undefined);
  // A handler of a route may still read a response, which the context disposes.
  await page.unrouteAll({ behavior: "wait" });
  await page.context().close();
  if (pwned) page.faults.push(`an event ran code: ${pwned}`);
  if (page.faults.length > 0) throw new Error(page.faults.join("\n"));
}

/** Fails on anything that axe-core calls serious or critical. */
export async function expectAccessible(page) {
  // The policy of the page forbids a script element; the browser's own tools may evaluate.
  const client = await page.context().newCDPSession(page);
  await client.send("Runtime.evaluate", { expression: axe });
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  const serious = found.violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  const lines = serious.map(({ id, help, nodes }) => `${id}: ${help}\n  ${nodes.slice(0, 3).map((node) => `${node.target}: ${node.failureSummary}`).join("\n  ")}`);
  if (lines.length > 0) throw new Error(`not accessible:\n${lines.join("\n")}`);
}

/** Opens the portal with a token, and waits for the list or a state. */
export async function openPortal(server, token, { fragment = "", ...options } = {}) {
  const page = await openPage(server, options);
  await page.goto(`${server.url}/portal#token=${token}${fragment}`);
  await page.locator(".line, .state h3").first().waitFor();
  return page;
}

/** Opens a section of the console with a key. */
export async function openConsole(server, path, { key = server.master, ...options } = {}) {
  const page = await openPage(server, options);
  await page.goto(`${server.url}/console#/${path}`);
  await page.getByLabel("Key").fill(key);
  await page.getByLabel("Key").press("Enter");
  await page.locator("nav a[aria-current]").waitFor();
  return page;
}

/** A value of a field beside the list, or in the dialog of filters. */
export const facetValue = (page, label) => page.locator("audit-log-facets .value").filter({ hasText: label });

/** The rows of tables with this text. */
export const row = (page, text) => page.locator("tbody tr").filter({ hasText: text });

/** Polls until the check holds, and fails with its last error. The time only bounds a hang: it is far longer than a busy machine needs. */
export async function eventually(check, seconds = 120) {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** A picture for the documentation, or one to look at (`kind` is `windows`), if they are wanted. */
export async function picture(page, name, kind = "documentation") {
  const directory = { documentation: process.env.AUDIT_WEB_PICTURES, windows: process.env.AUDIT_WEB_WINDOWS }[kind];
  if (!directory) return;
  await page.mouse.move(0, 0);
  writeFileSync(join(directory, `${name}.png`), smaller(await page.screenshot({ scale: "css" })));
}
