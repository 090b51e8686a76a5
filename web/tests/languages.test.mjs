// The languages of the console: the catalogue is whole, the sources have no text beside it, and every section is shown in German.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { build } from "esbuild";
import { sampleEvents } from "./data.mjs";
import { closePage, eventually, expectAccessible, openConsole, openPage, request, row, startBrowser, startServer, stopBrowser, stopServer, store } from "./kit.mjs";

let server;
/** The addresses of items, whose pages have more texts than their sections. */
const items = [];

before(async () => {
  server = await startServer();
  await startBrowser();
  await store(server, [...sampleEvents(40), ...Array.from({ length: 6 }, () => ({ action: "auth.failed", category: "auth", tenant_id: "acme", actor: { id: "u_9", type: "user" } }))]);
  const send = (path, body) => request(server, "POST", path, { key: server.master, body });
  const { webhook } = await send("/alerts/webhooks", { url: "https://127.0.0.1:9/alerts" });
  await send(`/alerts/webhooks/${webhook.id}/test`, {});
  const { deliveries } = await request(server, "GET", `/alerts/webhooks/${webhook.id}/deliveries`, { key: server.master });
  const { destination } = await send("/destinations", { name: "siem", kind: "https", settings: { url: "https://127.0.0.1:9/" }, credentials: {} });
  await send("/redaction/rules", { type: "pattern", name: "EMP", pattern: "EMP-[0-9]{6}", behavior: "mask" });
  await send("/viewer-tiers", { name: "names", hidden_fields: ["context"] });
  await send("/holds", { reason: "K 7", tenant_id: "acme" });
  await request(server, "PUT", "/retention", { key: server.master, body: { preset: "hipaa" } });
  const { erasure } = await send("/erasures", { extent: "person", basis: "gdpr_17", ticket: "V-1", identifiers: { ids: ["u_9"] } });
  const [alert] = (await request(server, "GET", "/alerts", { key: server.master })).alerts;
  items.push(`alerts?alert=${alert.id}`, `rules?rule=${alert.rule_id}`, `webhooks?webhook=${webhook.id}`, `webhooks?webhook=${webhook.id}&delivery=${deliveries[0].id}`,
    `destinations?destination=${destination.id}`, "tiers?tier=names", "actor?id=u_9&tenant_id=acme", "target?id=u_9", `erasures?erasure=${erasure.id}`);
});
after(async () => {
  await stopBrowser();
  await stopServer(server);
});

const sources = join(import.meta.dirname, "../src");

/** The catalogues. A template is its strings and values. */
async function catalogues() {
  const contents = 'export { en } from "./console/languages/en/index.js"; export { de } from "./console/languages/de/index.js"; export { labelsOf } from "./shared/destination-labels.js";';
  const lit = {
    name: "lit",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^lit$/ }, () => ({ path: "lit", namespace: "lit" }));
      onLoad({ filter: /.*/, namespace: "lit" }, () => ({ contents: "export const html = ({ raw }, ...values) => raw.map((text, at) => text + (values[at] ?? '')).join('');" }));
    },
  };
  const { outputFiles } = await build({ stdin: { contents, resolveDir: sources }, bundle: true, format: "esm", charset: "utf8", write: false, plugins: [lit] });
  const { en, de, labelsOf } = await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
  return [{ ...en, labels: labelsOf("en") }, { ...de, labels: labelsOf("de") }];
}

const MARKS = ["⟦0⟧", "⟦1⟧", "⟦2⟧", "⟦3⟧", "⟦4⟧"];

/** The texts of a catalogue by their names. A text with parts has marks in their places. */
function textsOf(value, name = "") {
  if (typeof value === "string") return [[name, value]];
  if (typeof value === "function") return [[name, value(...MARKS)]];
  return Object.entries(value).flatMap(([key, inner]) => textsOf(inner, name ? `${name}.${key}` : key));
}

/** Words that are the same in both languages. */
const SAME = new Set([
  "Status", "Name", "Filter", "Format", "Webhooks", "Portal", "Streams", "URL", "CCPA", "ID", "Log", "Checkpoint", "Logo", "Server", "Free", "Pro", "Enterprise", "Index", "Site", "Tags", "Host", "Port",
  "Facility", "Token", "Region", "Source type", "HTTPS", "Splunk HTTP Event Collector", "Datadog", "OpenTelemetry", "Webhook", "Bucket", "Test: ⟦0⟧", "Plan ⟦0⟧",
]);

test("German has every text of English, with the same parts", async () => {
  const [english, german] = (await catalogues()).map((texts) => new Map(textsOf(texts)));
  assert.deepEqual([...german.keys()].sort(), [...english.keys()].sort());
  for (const [name, text] of english) {
    const other = german.get(name);
    const parts = (of) => MARKS.filter((mark) => of.includes(mark));
    assert.deepEqual(parts(other), parts(text), name);
    const words = text.replace(/⟦\d⟧/g, "").replace(/\P{L}+/gu, "");
    if (words.length > 2 && text === other) assert.ok(SAME.has(text), `${name} is not translated: ${text}`);
    assert.ok(!/\b(Du|dein|deine|dir|dich)\b/i.test(other), `${name} is not formal: ${other}`);
  }
});

/** The literals of a source, with `\0` in the place of each expression of a template. */
function literals(source) {
  const found = [];
  let at = 0;
  let last = "";
  const skipTo = (end) => (at = source.indexOf(end, at) < 0 ? source.length : source.indexOf(end, at) + end.length);
  const quoted = (quote) => {
    const start = (at += 1);
    while (source[at] !== quote) at += source[at] === "\\" ? 2 : 1;
    found.push({ tag: "", text: source.slice(start, at) });
    at += 1;
  };
  const expression = () => {
    for (let isClass = false; source[at] !== "/" || isClass; at += source[at] === "\\" ? 2 : 1) {
      if (source[at] === "[") isClass = true;
      if (source[at] === "]") isClass = false;
    }
    at += 1;
  };
  const template = () => {
    const [tag] = /\w*$/.exec(source.slice(0, at));
    let text = "";
    at += 1;
    while (source[at] !== "`") {
      if (source.startsWith("${", at)) {
        at += 2;
        code();
        text += "\0";
      } else {
        text += source[at];
        at += 1;
      }
    }
    at += 1;
    found.push({ tag, text });
  };
  /** Reads to the brace that closes, and past it. */
  function code() {
    while (at < source.length) {
      const character = source[at];
      if (source.startsWith("//", at) && last !== "/") skipTo("\n");
      else if (source.startsWith("/*", at)) skipTo("*/");
      else if (character === '"' || character === "'") quoted(character);
      else if (character === "`") template();
      else if (character === "/" && /[(,=:[!&|?{};]/.test(last)) {
        at += 1;
        expression();
      } else {
        at += 1;
        if (character === "{") code();
        if (character === "}") return;
      }
      if (/\S/.test(character)) last = character;
    }
  }
  while (at < source.length) code();
  return found;
}

/** Names in templates, the same in every language. */
const NAMES = /\b(ms|POST|webhook-id|PROJECT_KEY)\b/g;

/** What a reader would see of a literal, if it is a text: words in a template of HTML, a label, or several words in a string. */
function seen({ tag, text }) {
  if (tag === "css") return [];
  if (tag === "html" || tag === "svg") {
    const labels = Array.from(text.matchAll(/ (?:aria-label|title|alt|label)="([^"]*)"/g), ([, label]) => label);
    return [text.replace(/<[^>]*>/g, "\0").replace(/\\n/g, "\n").replace(NAMES, ""), ...labels].filter((part) => /\p{L}{2}/u.test(part));
  }
  return /\p{L}{2,}[,.:;!?“”’…]* [\p{L}“]|^\p{Lu}\p{Ll}+[.:…]*$/u.test(text) ? [text] : [];
}

/** Strings that are the same in every language: commands, examples of events and headers, a selector, and what the verifier of the client says. */
const STRINGS = [/^curl -sS /, /^first key$/, /^Jane Doe$/, /^Roadmap$/, /^paid with 4111/, /^Bearer abc/, /^authorization: Bearer …$/, /^section h3$/, /^the consistency proof$/];

test("the sources of the console have no text beside the catalogue", () => {
  for (const example of ['html`<p>${a ? html`x` : "y"} Words <b>${c}</b></p>`', "html`<i aria-label=\"${a} on\"></i>`", 'f("Two words")', "const a = /[`\"]/; f(`Deleted ${b}`, 'The log')", 'const b = "Deleted"']) {
    assert.ok(literals(example).flatMap(seen).length > 0, `not found: ${example}`);
  }
  const files = [...readdirSync(join(sources, "console"), { recursive: true }).map((path) => `console/${path}`), "shared/destination-kinds.ts"].filter((path) => path.endsWith(".ts") && !path.includes("/languages/"));
  assert.ok(files.length > 25);
  const faults = files.flatMap((path) => {
    const texts = literals(readFileSync(join(sources, path), "utf8")).flatMap(seen);
    return texts.filter((text) => !STRINGS.some((known) => known.test(text))).map((text) => `${path}: ${text.trim().replaceAll("\0", "…")}`);
  });
  assert.deepEqual(faults, []);
});

/** Opens a section of the console in another language than English. */
async function openIn(locale, path, keyLabel) {
  const page = await openPage(server, { locale });
  await page.goto(`${server.url}/console#/${path}`);
  await page.getByLabel(keyLabel).fill(server.master);
  await page.getByLabel(keyLabel).press("Enter");
  await page.locator("nav a[aria-current]").waitFor();
  return page;
}

/** The texts and labels that the page shows, of all shadow trees. */
const shownOf = (page) => page.evaluate(() => {
  const found = [];
  const visit = (node) => {
    if (node.nodeType === Node.TEXT_NODE) found.push(node.data.replace(/\s+/g, " ").trim());
    for (const name of ["aria-label", "title", "placeholder", "alt"]) if (node.getAttribute?.(name)) found.push(node.getAttribute(name));
    if (["STYLE", "SCRIPT", "PRE", "CODE"].includes(node.nodeName)) return;
    for (const child of [...(node.shadowRoot?.childNodes ?? []), ...node.childNodes]) visit(child);
  };
  visit(document.body);
  return found;
});

test("every section is shown in German, and is accessible", async () => {
  const [english, german] = (await catalogues()).map((texts) => new Map(textsOf(texts)));
  const names = [...english].filter(([name, text]) => !text.includes("⟦") && text !== german.get(name)).map(([, text]) => text);
  // The names of built-in rules are the server's.
  const { rules } = await request(server, "GET", "/alerts/rules", { key: server.master });
  const known = [...german.values(), ...rules.map(({ name }) => name)];
  const foreign = new Set(names.filter((text) => !known.includes(text)));
  const page = await openIn("de-AT", "overview", "Schlüssel");
  assert.equal(await page.evaluate(() => document.documentElement.lang), "de");
  const check = async (path, heading) => {
    await page.locator(path === "events" ? ".line" : ".content h2").first().waitFor();
    await page.getByText("Wird geladen …").waitFor({ state: "detached" });
    assert.equal(await page.title(), `${heading} · Audit-Log`);
    assert.deepEqual((await shownOf(page)).filter((text) => foreign.has(text)), [], path);
    await expectAccessible(page);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= page.viewportSize().width, `${path}: ${width} wide`);
  };
  const sections = [...english.keys()].flatMap((name) => /^sections\.(\w+)$/.exec(name)?.[1] ?? []);
  // Links of other sections lead to these.
  const linked = ["actor", "target"];
  for (const path of sections.filter((path) => !linked.includes(path))) {
    const heading = german.get(`sections.${path}`);
    await page.getByRole("link", { name: heading, exact: true }).first().click();
    await page.locator("nav a[aria-current]", { hasText: heading }).waitFor();
    await check(path, heading);
  }
  for (const address of items) {
    await page.evaluate((hash) => (location.hash = hash), `#/${address}`);
    await page.locator(".content h3, .content form h3").first().waitFor();
    await check(address, german.get(`sections.${/^\w+/.exec(address)[0]}`));
  }
  await closePage(page);
});

test("numbers, dates and dialogs are those of the language", async () => {
  const page = await openIn("de-DE", "retention", "Schlüssel");
  await page.locator(".card", { hasText: "2.190 Tage" }).waitFor();
  const { policy } = await request(server, "GET", "/retention", { key: server.master });
  const format = new Intl.DateTimeFormat("de-DE", { dateStyle: "medium", timeStyle: "medium", timeZone: "Europe/Berlin" });
  await page.locator(".card", { hasText: `seit ${format.format(new Date(policy.since))}` }).waitFor();
  await row(page, "K 7").getByRole("button", { name: "Aufheben" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Grund").waitFor();
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Abbrechen" }).click();
  // What the API says stays as it says it.
  await page.route("**/api/v1/retention/preview?**", (route) => route.fulfill({ status: 422, json: { error: { code: "invalid", message: "days is too small" } } }));
  await page.getByLabel("Tage (leer: unbegrenzt)").fill("500");
  await page.getByLabel("Vorgabe").selectOption("");
  await page.getByRole("button", { name: "Vorschau" }).click();
  await page.getByRole("alert").getByText("days is too small").waitFor();
  await page.route("**/api/v1/retention/preview?**", (route) => route.abort());
  await page.getByRole("button", { name: "Vorschau" }).click();
  await page.getByRole("alert").getByText("Der Server antwortet nicht").waitFor();
  await page.unrouteAll({ behavior: "wait" });
  await closePage(page);
});

test("the language is chosen by its own name, keeps what was entered, and is remembered", async () => {
  const page = await openIn("fr-FR", "rules", "Key");
  assert.equal(await page.evaluate(() => document.documentElement.lang), "en");
  await page.getByLabel("Action pattern").fill("door.forced");
  const language = page.getByLabel("Language");
  assert.deepEqual(await language.locator("option").allTextContents(), ["English", "Deutsch"]);
  assert.deepEqual(await page.evaluate(() => Object.entries(localStorage)), []);
  await language.selectOption("Deutsch");
  await page.getByRole("heading", { name: "Alarmregeln" }).waitFor();
  assert.equal(await page.getByLabel("Muster der Aktion").inputValue(), "door.forced");
  assert.equal(await page.evaluate(() => document.documentElement.lang), "de");
  assert.equal(await page.title(), "Alarmregeln · Audit-Log");
  assert.deepEqual(await page.evaluate(() => Object.entries(localStorage)), [["audit-log-language", "de"]]);
  await page.getByRole("link", { name: "Ereignisse", exact: true }).click();
  await page.locator("audit-log-viewer").getByRole("combobox", { name: "Suche" }).waitFor();
  await page.reload();
  await page.locator("audit-log-viewer").getByRole("combobox", { name: "Suche" }).waitFor();
  await page.getByRole("button", { name: "Abmelden" }).click();
  await page.getByRole("heading", { name: "Konsole des Audit-Logs" }).waitFor();
  await expectAccessible(page);
  await page.getByLabel("Sprache").selectOption("English");
  await page.getByRole("heading", { name: "Audit log console" }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "Audit log console" }).waitFor();
  await closePage(page);
});

test("without the file of a language the console stays in English", async () => {
  const page = await openConsole(server, "usage");
  const loaded = [];
  await page.route("**/assets/**", (route) => {
    loaded.push(route.request().url());
    return route.abort();
  });
  await page.getByLabel("Language").selectOption("Deutsch");
  await eventually(async () => assert.equal(await page.getByLabel("Language").inputValue(), "en"));
  assert.ok(loaded.length > 0, "German is a file of its own");
  await page.getByRole("heading", { name: "Usage and plan" }).waitFor();
  await page.unrouteAll({ behavior: "wait" });
  await closePage(page);
});
