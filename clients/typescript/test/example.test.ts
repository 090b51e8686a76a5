// The packed package, installed into a copy of examples/todo-express, whose own test runs against a real server.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { PACKAGE } from "./paths.js";
import { startServer, temporaryDirectory } from "./server.js";

const run = promisify(execFile);

test("the packed package has what it should, and the to-do application works with it", async () => {
  const directory = temporaryDirectory();
  const root = fileURLToPath(PACKAGE);
  const packed = await run("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", directory], { cwd: root });
  const [{ files, filename }] = JSON.parse(packed.stdout) as [{ filename: string; files: { path: string }[] }];
  const unexpected = files.filter(({ path }) =>
    !/^(dist\/(esm|cjs)\/[\w/-]+\.(js|d\.ts)|dist\/cjs\/package\.json|package\.json|README\.md|CHANGELOG\.md|LICENSE-(APACHE|MIT))$/.test(path));
  assert.deepEqual(unexpected, []);
  for (const name of ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE", "dist/esm/index.d.ts", "dist/cjs/verify/index.js"]) {
    assert.ok(files.some(({ path }) => path === name), name);
  }

  const application = join(directory, "todo-express");
  cpSync(join(root, "examples", "todo-express"), application, {
    recursive: true,
    filter: (source) => !source.includes("node_modules"),
  });
  await run("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", join(directory, filename)], { cwd: application });
  const server = await startServer();
  try {
    await run("npm", ["test"], {
      cwd: application,
      env: { PATH: process.env["PATH"], AUDIT_URL: server.baseUrl, AUDIT_KEY: server.projectKey },
    });
  } finally {
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  }
  assert.ok(readdirSync(root).every((name) => !name.endsWith(".tgz")));
});
