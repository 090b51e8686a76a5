#!/usr/bin/env node
"use strict";
// Runs the program of the platform's package, which npm installs as an optional dependency.
const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const name = `audit-server-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/bin/audit-server`);
} catch {
  const platforms = Object.keys(require("./package.json").optionalDependencies).join(", ");
  console.error(`audit-server: the package ${name} is not installed. There are ${platforms}; npm leaves them out with --omit=optional.`);
  process.exit(1);
}
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// A terminal sends these to both processes, a service manager sends SIGTERM to this one. The program decides when it ends.
process.on("SIGINT", () => {});
process.on("SIGHUP", () => {});
process.on("SIGTERM", () => child.kill("SIGTERM"));
child.on("error", (error) => {
  console.error(`audit-server: ${program}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
