// Receives alert webhooks: verifies them, drops repeats, responds at once.
//
// Run:  npm ci
//       WEBHOOK_SECRET=whsec_… TLS_CERT=../receiver.pem TLS_KEY=../receiver.key node receiver.js
//
// Without TLS_CERT it speaks plain HTTP on the loopback interface, for a reverse proxy that terminates TLS.

import { readFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import { Webhook } from "standardwebhooks";

const BODY_BYTES_MAX = 64 * 1024;

const { WEBHOOK_SECRET, TLS_CERT, TLS_KEY, PORT = "8443" } = process.env;
const webhook = new Webhook(WEBHOOK_SECRET);
// In production, a database table of messages with the id as its key, committed before the response: the service does not
// send a message again after a 2xx.
const seen = new Set();

/** The response status. */
function receive(headers, body) {
  let message;
  try {
    message = webhook.verify(body, headers);
  } catch (error) {
    console.log(`refused: ${error.message}`);
    return 401;
  }
  const id = headers["webhook-id"];
  if (!seen.has(id)) {
    seen.add(id);
    // Slow work runs after the response.
    setImmediate(work, message);
  }
  return 204;
}

function work({ type, data }) {
  if (type === "alert.fired") {
    console.log(`${data.severity} alert ${data.id}: ${data.rule_name}, ${data.group_key}`);
  } else {
    console.log(`${type}: ${JSON.stringify(data)}`);
  }
}

/** The raw body: parsed and re-serialized JSON would have another signature. */
async function read(request) {
  const chunks = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length > BODY_BYTES_MAX) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function handle(request, response) {
  if (request.method !== "POST") return response.writeHead(405, { allow: "POST" }).end();
  const body = await read(request).catch(() => undefined);
  response.writeHead(body ? receive(request.headers, body) : 413).end();
}

const server = TLS_CERT
  ? https.createServer({ cert: readFileSync(TLS_CERT), key: readFileSync(TLS_KEY) }, handle)
  : http.createServer(handle);
server.listen(Number(PORT), "127.0.0.1", () => console.log(`receiving on port ${server.address().port}`));
