// The server that is tested serves the committed files.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { assets, startServer, stopServer } from "./kit.mjs";

const server = await startServer();
try {
  for (const [path, name] of [["/", "index.html"], ["/portal", "portal.html"], ["/console", "console.html"], ["/viewer.js", "viewer.js"]]) {
    const served = await (await fetch(server.url + path)).text();
    if (served !== readFileSync(join(assets, name), "utf8")) throw new Error(`${path} of the server is another build: build the server again`);
  }
} finally {
  await stopServer(server);
}
