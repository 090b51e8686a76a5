// Measures how soon the portal and the console show events, on a server with many of them: `node first-content.mjs [EVENTS]`, a million by
// default. Needs a built server (AUDIT_SERVER_BIN; use a release build) and chromium. Prints the median of cold loads, and decides nothing.
import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { once } from "node:events";
import { closePage, openPage, startBrowser, startServer, stopBrowser, stopServer, viewerToken } from "./tests/kit.mjs";
import { sampleEvents } from "./tests/data.mjs";

const LOADS = 7;
const BLOCK_EVENTS = 10_000;
const count = Number(process.argv[2] ?? 1_000_000);
const binary = process.env.AUDIT_SERVER_BIN ?? join(import.meta.dirname, "../target/debug/audit-server");

/** Imports so many events over HTTP: the same few, with other ids of their targets. */
async function load(server) {
  const path = join(server.directory, "events.jsonl");
  const file = createWriteStream(path);
  const sample = sampleEvents(Math.min(count, BLOCK_EVENTS));
  for (let written = 0; written < count; written += sample.length) {
    const lines = sample.slice(0, count - written).map((event, index) => JSON.stringify({ ...event, metadata: { ...event.metadata, number: written + index } }));
    if (!file.write(`${lines.join("\n")}\n`)) await once(file, "drain");
  }
  file.end();
  await once(file, "finish");
  const importing = spawn(binary, ["import", path, "--url", server.url, "--key", server.project], { stdio: ["ignore", "ignore", "inherit"] });
  const [code] = await once(importing, "exit");
  if (code !== 0) throw new Error(`the import failed: ${code}`);
}

/** Milliseconds from the start of a load without a cache to the first paint, and to the first event. */
async function measure(server, path, prepare) {
  const times = { paint: [], event: [] };
  for (let loads = 0; loads < LOADS; loads += 1) {
    const page = await openPage(server);
    await page.goto(`${server.url}${path}`);
    const from = await prepare(page);
    await page.locator(".line").first().waitFor();
    const [paint, now] = await page.evaluate(() => [performance.getEntriesByName("first-contentful-paint")[0].startTime, performance.now()]);
    times.paint.push(paint);
    times.event.push(now - from);
    await closePage(page);
  }
  const median = (values) => Math.round(values.sort((a, b) => a - b)[Math.floor(values.length / 2)]);
  console.log(`${path.split("#")[0]}: first content ${median(times.paint)} ms, first event ${median(times.event)} ms (median of ${LOADS})`);
}

const server = await startServer();
try {
  await load(server);
  await startBrowser();
  const token = await viewerToken(server, "acme", { tier: "full" });
  console.log(`${count} events`);
  await measure(server, `/portal#token=${token}`, async () => 0);
  // Signing in is not part of the time.
  await measure(server, "/console#/events", async (page) => {
    await page.getByLabel("Key").fill(server.master);
    const from = await page.evaluate(() => performance.now());
    await page.getByLabel("Key").press("Enter");
    return from;
  });
} finally {
  await stopBrowser();
  await stopServer(server);
}
