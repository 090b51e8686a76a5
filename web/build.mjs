// Builds every page into crates/audit-web/assets and writes the table of files. The output depends on the sources alone: the same
// commit gives the same bytes on every machine.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const crate = process.env.AUDIT_WEB_CRATE ?? join(here, "../crates/audit-web");
const assets = join(crate, "assets");

/** Pages: an entry of TypeScript, a template, a path. */
const PAGES = [
  { name: "index", entry: "src/home/home.ts", path: "/" },
  { name: "portal", entry: "src/portal/portal.ts", path: "/portal" },
  { name: "console", entry: "src/console/console.ts", path: "/console" },
];

const manifest = readFileSync(join(here, "../Cargo.toml"), "utf8");
const version = /\[workspace\.package\]\nversion = "([^"]+)"/.exec(manifest)?.[1];
if (!version) throw new Error("Cargo.toml has no version");

const options = {
  absWorkingDir: here,
  bundle: true,
  format: "esm",
  target: ["es2022"],
  minify: true,
  // The licence of Lit asks for its notice.
  legalComments: "eof",
  charset: "utf8",
  write: false,
  define: { VERSION: JSON.stringify(version) },
  conditions: ["production"],
  logLevel: "warning",
  plugins: [{ name: "css-in-templates", setup: minifyTemplates }],
};

/** Removes the line breaks and indentation of templates of CSS and HTML. Lit treats white space between tags like a browser does. */
function minifyTemplates({ onLoad }) {
  onLoad({ filter: /web\/src\/.*\.ts$/ }, ({ path }) => {
    const source = readFileSync(path, "utf8");
    const contents = source.replace(/\b(css|html|svg)`(?:[^`\\]|\\.)*`/g, (template) => template.replace(/\n\s+/g, "\n"));
    return { contents, loader: "ts" };
  });
}

/** The scripts of the pages. What several of them contain is in files of its own, so that a browser loads it once. */
async function bundlePages() {
  const result = await build({
    ...options, entryPoints: PAGES.map(({ entry }) => entry), splitting: true, metafile: true, outdir: assets,
    entryNames: "[name]-[hash]", chunkNames: "shared-[hash]",
  });
  const scripts = new Map();
  for (const { path, contents } of result.outputFiles) scripts.set(basename(path), contents);
  const found = Object.entries(result.metafile.outputs).map(([path, { entryPoint, imports }]) => ({
    entryPoint, name: basename(path), shared: imports.filter(({ kind }) => kind === "import-statement").map((imported) => basename(imported.path)),
  }));
  return { scripts, outputOf: (entry) => found.find(({ entryPoint }) => entryPoint === entry) };
}

const hashOf = (bytes) => createHash("sha256").update(bytes).digest("hex").slice(0, 12);

async function bundle(entry) {
  const result = await build({ ...options, entryPoints: [entry] });
  return result.outputFiles[0].contents;
}

async function style(entry) {
  const result = await build({ ...options, plugins: [], entryPoints: [entry], loader: { ".css": "css" } });
  return result.outputFiles[0].contents;
}

const files = [];
function add(name, path, bytes, isHashed = false) {
  files.push({ name, path, bytes: Buffer.from(bytes), isHashed });
}
function addHashed(stem, extension, bytes) {
  const name = `${stem}-${hashOf(bytes)}.${extension}`;
  add(name, `/assets/${name}`, bytes, true);
  return `/assets/${name}`;
}

add("viewer.js", "/viewer.js", await bundle("src/viewer/index.ts"));
const icon = addHashed("icon", "svg", readFileSync(join(here, "pages/icon.svg")));
const css = addHashed("page", "css", await style("pages/page.css"));
const { scripts, outputOf } = await bundlePages();
for (const [name, contents] of scripts) add(name, `/assets/${name}`, contents, true);
for (const page of PAGES) {
  const { name, shared } = outputOf(page.entry);
  const template = readFileSync(join(here, `pages/${page.name}.html`), "utf8");
  // Without it the browser asks for the shared files only after it has read the script.
  const preloads = shared.map((chunk) => `<link rel="modulepreload" href="/assets/${chunk}">\n`).join("");
  const html = template.replace("{{style}}", css).replace("{{script}}", `/assets/${name}`).replace("{{icon}}", icon).replace("{{preloads}}", preloads);
  add(`${page.name}.html`, page.path, html);
}

mkdirSync(assets, { recursive: true });
for (const name of readdirSync(assets)) rmSync(join(assets, name));
files.sort((a, b) => (a.name < b.name ? -1 : 1));
for (const file of files) writeFileSync(join(assets, file.name), file.bytes);
const rows = files.map(
  (file) => `    File {
        path: "${file.path}",
        name: "${file.name}",
        etag: "\\"${hashOf(file.bytes)}\\"",
        is_hashed: ${file.isHashed},
        bytes: include_bytes!("../../assets/${file.name}"),
    },\n`,
);
const table = `//! Written by \`web/build\`.

use super::File;

/// Every file.
pub(crate) static FILES: &[File] = &[
${rows.join("")}];
`;
mkdirSync(join(crate, "src/files"), { recursive: true });
writeFileSync(join(crate, "src/files/table.rs"), table);
