// The client in this Node, and in the runtimes whose commands AUDIT_TEST_RUNTIMES names, such as "deno run -A,bun".
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { PACKAGE } from "./paths.js";
import { startServer, temporaryDirectory } from "./server.js";

const PROGRAM = fileURLToPath(new URL("test/programs/runtime.mjs", PACKAGE));
const COMMANDS = [process.execPath, ...(process.env["AUDIT_TEST_RUNTIMES"] ?? "").split(",").filter((command) => command !== "")];

for (const [index, command] of COMMANDS.entries()) {
  test(`the client works in ${command}`, async () => {
    const directory = temporaryDirectory();
    const server = await startServer();
    try {
      const [program, ...options] = command.split(" ") as [string, ...string[]];
      const { stdout } = await promisify(execFile)(program, [...options, PROGRAM, `runtime_${index}`, join(directory, "spool")], {
        env: { ...process.env, AUDIT_URL: server.baseUrl, AUDIT_KEY: server.projectKey },
        cwd: fileURLToPath(PACKAGE),
      });
      assert.equal(stdout, "ok\n");
    } finally {
      await server.stop();
      rmSync(directory, { recursive: true });
    }
  });
}
