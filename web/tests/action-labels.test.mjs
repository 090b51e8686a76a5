// How people read actions: labels and sentences in the list and in the details of the portal.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { build } from "esbuild";
import { closePage, eventually, expectAccessible, openConsole, openPortal, request, row, startBrowser, startServer, stopBrowser, stopServer, store, viewerToken } from "./kit.mjs";

/** A module of the sources. */
async function load(path) {
  const entry = new URL(`../src/${path}`, import.meta.url).pathname;
  const { outputFiles } = await build({ entryPoints: [entry], bundle: true, format: "esm", write: false });
  return import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
}

let server;
let token;
const markup = '<img src=x onerror="globalThis.pwned = 1">';
const changed = {
  action: "user.role.updated", category: "admin", tenant_id: "acme", actor: { id: "u_1", type: "user", name: `Jane ${markup}` },
  target: { id: "u_2", type: "user", name: "Léa" }, changes: [{ field: "role", before: "member", after: "admin" }], metadata: { plan: "gold" },
};

before(async () => {
  server = await startServer();
  await startBrowser();
  await store(server, [changed, { ...changed, action: "auth.failed", category: "auth" }]);
  const languages = {
    en: { label: "Role changed", template: `{actor} gave {target} the role {after.role}, ${markup} {metadata.plan}` },
    de: { label: "Rolle geändert", template: "{actor} hat {target} die Rolle {after.role} gegeben" },
  };
  await request(server, "PUT", "/actions/user.role.updated", { key: server.master, body: { icon: "shield", languages } });
  token = await viewerToken(server, "acme", { tier: "full" });
});
after(async () => {
  await stopBrowser();
  await stopServer(server);
});

const actionOf = (page, text) => page.locator(".line .action").filter({ hasText: text });

test("a template is filled as the server fills it", async () => {
  const [{ fill }, { parseExact }] = await Promise.all([load("shared/sentence.ts"), load("shared/exact-json.ts")]);
  const table = parseExact(readFileSync(new URL("../../clients/conformance/tables/sentences.json", import.meta.url), "utf8"));
  assert.ok(table.filled.length >= 15);
  for (const { template, event = table.event, sentence } of table.filled) {
    assert.equal(fill(template, event).map(({ text }) => text).join(""), sentence, template);
  }
});

test("every icon of the server is drawn, and no other", async () => {
  const { ICONS } = await load("shared/icons.ts");
  const document = JSON.parse(readFileSync(new URL("../../docs/openapi.json", import.meta.url), "utf8"));
  assert.deepEqual(Object.keys(ICONS).sort(), document.components.schemas.ActionIcon.enum.toSorted());
});

test("the list and the details say the sentence, and filters take the action", async () => {
  const page = await openPortal(server, token);
  const sentence = `Jane ${markup} gave Léa the role admin, ${markup} gold`;
  const cell = actionOf(page, "gave Léa");
  await cell.waitFor();
  assert.ok((await cell.textContent()).includes(sentence));
  assert.equal(await cell.locator("span[title]").getAttribute("title"), `${sentence}\nuser.role.updated`);
  assert.equal(await cell.locator("svg").count(), 1);
  assert.equal(await page.locator(".line img").count(), 0);
  // An action without a label is shown itself.
  assert.equal(await actionOf(page, "auth.failed").locator("svg").count(), 0);
  await cell.click();
  const details = page.locator("audit-log-event");
  assert.equal((await details.locator("h3").textContent()).trim(), sentence);
  await expectAccessible(page);
  await details.getByRole("button", { name: "user.role.updated" }).click();
  await eventually(() => assert.equal(new URLSearchParams(new URL(page.url()).hash.slice(1)).get("action"), "user.role.updated"));
  await eventually(async () => assert.equal(await page.locator(".line").count(), 1));
  await closePage(page);
});

test("the language of the page is that of the sentence", async () => {
  const page = await openPortal(server, token, { fragment: "&lang=de", locale: "fr-FR" });
  await actionOf(page, "hat Léa die Rolle admin gegeben").waitFor();
  await closePage(page);
});

test("files for people have the sentences, and those for programs do not", async () => {
  const page = await openPortal(server, token, { fragment: "&lang=de", locale: "fr-FR" });
  await actionOf(page, "hat Léa die Rolle admin gegeben").waitFor();
  for (const [name, has] of [["Für Excel herunterladen", true], ["Als CSV herunterladen", false]]) {
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "Herunterladen", exact: true }).click();
    await page.getByRole("button", { name }).click();
    const text = readFileSync(await (await downloading).path(), "utf8");
    assert.deepEqual([text.includes("summary"), text.includes("hat Léa die Rolle admin gegeben")], [has, has], text);
  }
  await closePage(page);
});

test("what a tier hides is a dash, and so is its label without the action", async () => {
  const tier = { name: "bare", hidden_fields: ["actor.name", "actor.id", "metadata", "changes"] };
  await request(server, "POST", "/viewer-tiers", { key: server.master, body: tier });
  const page = await openPortal(server, await viewerToken(server, "acme", { tier: "bare" }));
  const cell = actionOf(page, "gave Léa");
  await cell.waitFor();
  assert.ok((await cell.textContent()).includes(`– gave Léa the role –, ${markup} –`), await cell.textContent());
  await closePage(page);
  await request(server, "POST", "/viewer-tiers", { key: server.master, body: { name: "blind", hidden_fields: ["action"] } });
  const blind = await openPortal(server, await viewerToken(server, "acme", { tier: "blind" }));
  await blind.locator(".line").nth(1).waitFor();
  assert.deepEqual(await blind.locator(".line .action").allTextContents(), ["–", "–"]);
  await closePage(blind);
});

test("the console lists actions with counts, and stores what the preview shows", async () => {
  await store(server, [{ ...changed, action: "user.created", category: "mutation", actor: { id: "u_3", type: "user", name: "Ines" } }]);
  const page = await openConsole(server, "actions");
  const listed = row(page, "user.role.updated");
  await eventually(async () => assert.match(await listed.textContent(), /user\.role\.updated\s+1\s+Role changed/));
  await expectAccessible(page);
  await row(page, "user.created").getByRole("button", { name: "Label" }).click();
  const form = page.locator("form").filter({ hasText: "Store label" });
  await form.getByLabel("Icon").selectOption("user");
  await form.getByLabel("Label").first().fill("New user");
  await form.getByLabel("Sentence").first().fill("{actor} created {target} on {metadata.plan}, {metadata.none}");
  await form.getByText("Ines created Léa on gold, –").waitFor();
  await expectAccessible(page);
  await form.getByRole("button", { name: "Store label" }).click();
  await page.getByText("The label was stored.").waitFor();
  const { labels } = await request(server, "GET", "/actions/labels?language=en");
  const stored = { action: "user.created", icon: "user", label: "New user", template: "{actor} created {target} on {metadata.plan}, {metadata.none}" };
  assert.deepEqual(labels[0], stored);
  // The form is there once it has what is stored, so nothing that is entered is replaced.
  await form.waitFor({ state: "detached" });
  let answer;
  await page.route(/\/api\/v1\/actions(\?|$)/, async (route) => {
    await new Promise((resolve) => (answer = resolve));
    return route.fallback();
  });
  await row(page, "user.created").getByRole("button", { name: "Edit" }).click();
  await eventually(() => assert.ok(answer));
  assert.equal(await form.count(), 0);
  answer();
  await page.unroute(/\/api\/v1\/actions(\?|$)/);
  // A fault is the server's to name.
  await form.getByLabel("Sentence").first().fill("{who}");
  await form.getByRole("button", { name: "Store label" }).click();
  await page.getByRole("alert").filter({ hasText: "unknown placeholder {who}" }).waitFor();
  await form.getByRole("button", { name: "Delete label" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete label" }).click();
  await eventually(async () => assert.equal((await request(server, "GET", "/actions/labels?language=en")).labels.length, 1));
  await closePage(page);
});
