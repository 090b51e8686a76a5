// What the package exports, and what each entry point drags in.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { PACKAGE } from "./paths.js";

const { exports, dependencies, sideEffects, version } = JSON.parse(readFileSync(new URL("package.json", PACKAGE), "utf8")) as {
  exports: Record<string, string | { import: { default: string } }>;
  dependencies?: object;
  sideEffects: boolean;
  version: string;
};
const ENTRIES = Object.entries(exports).flatMap(([name, target]) => (typeof target === "string" ? [] : [{ name, file: target.import.default }]));

/** The files and modules that a file imports, directly or not. */
function importsOf(file: URL, found = new Set<string>()): Set<string> {
  if (found.has(file.href)) {
    return found;
  }
  found.add(file.href);
  for (const [, name] of readFileSync(file, "utf8").matchAll(/(?:import|export)\s[^;]*?from\s+"([^"]+)"|import\s*\("([^"]+)"\)/g)) {
    if (name!.startsWith(".")) {
      importsOf(new URL(name!, file), found);
    } else {
      found.add(name!);
    }
  }
  return found;
}

test("every entry point loads as an ES module and as CommonJS, with the same names", async () => {
  const require = createRequire(import.meta.url);
  assert.equal(ENTRIES.length, 10);
  for (const { name } of ENTRIES) {
    const specifier = `audit-server-client${name.slice(1)}`;
    const module = (await import(specifier)) as object;
    assert.deepEqual(Object.keys(require(specifier) as object).sort(), Object.keys(module).sort(), name);
  }
});

test("only the spool imports Node, nothing imports a package, and the viewer part cannot write", () => {
  assert.equal(dependencies, undefined);
  assert.equal(sideEffects, false);
  for (const { name, file } of ENTRIES) {
    const imported = [...importsOf(new URL(file, PACKAGE))];
    const modules = imported.filter((found) => !found.startsWith("file:"));
    assert.ok(modules.every((found) => found.startsWith("node:")), `${name}: ${modules.join(" ")}`);
    assert.equal(modules.length > 0, name === "./spool", `${name}: ${modules.join(" ")}`);
    if (name === "./browser") {
      assert.ok(!imported.some((found) => /(recorder|ingest|client|administration)\.js$/.test(found)));
    }
    if (name === "./logstitch") {
      assert.ok(!imported.some((found) => /(administration|reads|follow)\.js$|\/verify\//.test(found)));
    }
    if (name === "./verify") {
      assert.ok(imported.every((found) => found.includes("/verify/")));
    }
  }
});

test("the changelog has the version", () => {
  assert.ok(readFileSync(fileURLToPath(new URL("CHANGELOG.md", PACKAGE)), "utf8").includes(`## ${version}`));
});
