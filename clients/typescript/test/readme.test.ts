// The programs in README.md, as they stand there, and the text that they print.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import test, { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { AuditClient } from "audit-server-client";
import { PACKAGE } from "./paths.js";
import { type Server, startServer } from "./server.js";

const run = promisify(execFile);
// Within the package, so that its name leads to it.
const DIRECTORY = fileURLToPath(new URL("build/readme/", PACKAGE));
const PROGRAMS = [
  ...readFileSync(new URL("README.md", PACKAGE), "utf8").matchAll(/```js\n\/\/ (\w+\.mjs)\n(.*?)```\n```text\n(.*?)```/gs),
].map(([, name, text, output]) => ({ name: name!, text: text!, output: output! }));

let server: Server;

before(async () => {
  rmSync(DIRECTORY, { recursive: true, force: true });
  mkdirSync(DIRECTORY, { recursive: true });
  server = await startServer();
});

after(() => server.stop());

test("the README has its programs", () => {
  assert.deepEqual(PROGRAMS.map(({ name }) => name), ["example.mjs", "errors.mjs", "spool.mjs", "follow.mjs", "webhook.mjs", "moved.mjs"]);
});

for (const { name, text, output } of PROGRAMS) {
  test(`README: ${name} prints what it should`, async () => {
    writeFileSync(`${DIRECTORY}${name}`, text);
    const { stdout, stderr } = await run(process.execPath, [name], {
      cwd: DIRECTORY,
      env: { AUDIT_URL: server.baseUrl, AUDIT_KEY: server.projectKey },
    });
    assert.deepEqual([stdout, stderr], [output, ""]);
  });
}

test("README: the programs for beginners compile with strict types", async () => {
  const readme = readFileSync(new URL("README.md", PACKAGE), "utf8");
  const typed = [...readme.matchAll(/```ts\n\/\/ (\w+\.ts)\n(.*?)```/gs)].map(([, name, text]) => ({ name: name!, text: text! }));
  assert.deepEqual(typed.map(({ name }) => name), ["receiver.ts", "shop.ts", "server.ts", "route.ts"]);
  const programs = [...typed, { name: "example.mts", text: PROGRAMS[0]!.text }];
  for (const { name, text } of programs) {
    writeFileSync(`${DIRECTORY}${name}`, text);
  }
  const compiler = fileURLToPath(new URL("node_modules/typescript/bin/tsc", PACKAGE));
  const options = ["--noEmit", "--strict", "--noUncheckedIndexedAccess", "--module", "nodenext", "--target", "es2022", "--types", "node,express"];
  const { stdout } = await run(process.execPath, [compiler, ...options, ...programs.map(({ name }) => name)], { cwd: DIRECTORY }).catch((error) => error);
  assert.equal(stdout, "");
});

test("examples/auditor.mjs stores a checkpoint, verifies the next one, and refuses another history", async () => {
  const program = fileURLToPath(new URL("examples/auditor.mjs", PACKAGE));
  const file = `${DIRECTORY}checkpoint.txt`;
  const audit = new AuditClient({ baseUrl: server.baseUrl, apiKey: server.projectKey });
  const env = { AUDIT_URL: server.baseUrl, AUDIT_KEY: server.projectKey, AUDIT_LOG_KEY: await audit.log.key() };
  const audited = async (): Promise<string> => (await run(process.execPath, [program, file], { env })).stdout;
  const event = { action: "a.b", category: "auth", tenant_id: "audited", actor: { id: "u", type: "user" } } as const;
  await audit.ingest(event, { receipt: true });
  assert.match(await audited(), /the first checkpoint/);
  await audit.ingest([event, event], { receipt: true });
  assert.match(await audited(), /continue the [0-9]+ of last time/);
  const note = readFileSync(file, "utf8");
  writeFileSync(file, note.replace(/\n[0-9]+\n/, "\n1\n"));
  await assert.rejects(audited(), /invalid_signature/);
});
