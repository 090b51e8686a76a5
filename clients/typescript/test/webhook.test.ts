// Signatures of Standard Webhooks, version 1, and what must be refused. The expected signature is the one of its specification.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import test from "node:test";
import { AuditClient } from "audit-server-client";
import { VerificationError, verifyWebhook, type VerifyWebhookOptions } from "audit-server-client/verify";
import { startServer, temporaryDirectory } from "./server.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const BODY = '{"test": 2432232314}';
const HEADERS = {
  "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
  "webhook-timestamp": "1614265330",
  "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
};
const NOW = new Date(1_614_265_330_000);

function message(changes: Partial<VerifyWebhookOptions> = {}, headers: Record<string, string | undefined> = {}): Promise<unknown> {
  return verifyWebhook({ secret: SECRET, headers: { ...HEADERS, ...headers }, body: BODY, now: NOW, ...changes });
}

function signature(secret: string, timestamp = HEADERS["webhook-timestamp"], body = BODY): string {
  const key = Buffer.from(secret.slice(6), "base64");
  return `v1,${createHmac("sha256", key).update(`${HEADERS["webhook-id"]}.${timestamp}.${body}`).digest("base64")}`;
}

test("a message of the specification verifies, with every kind of headers and body", async () => {
  const expected = { id: HEADERS["webhook-id"], timestamp: NOW, body: { test: 2432232314 } };
  assert.deepEqual(await message(), expected);
  assert.deepEqual(await message({ headers: new Headers(HEADERS), body: Buffer.from(BODY) }), expected);
  const other = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
  assert.deepEqual(await message({ secret: [other, SECRET] }), expected);
  assert.deepEqual(await message({}, { "webhook-signature": `v1a,x ${signature(other)} ${signature(SECRET)}` }), expected);
});

test("a forged, replayed or incomplete message is refused", async () => {
  const refused: [string, () => Promise<unknown>][] = [
    ["invalid_signature", () => message({ body: '{"test": 2432232315}' })],
    ["invalid_signature", () => message({}, { "webhook-id": "msg_other" })],
    ["invalid_signature", () => message({}, { "webhook-signature": signature(SECRET).replace("v1,", "v2,") })],
    ["invalid_signature", () => message({}, { "webhook-signature": "v1," })],
    ["invalid_signature", () => message({ secret: "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" })],
    ["invalid_signature", () => message({ secret: [] })],
    ["stale_timestamp", () => message({ now: new Date(NOW.getTime() + 301_000) })],
    ["stale_timestamp", () => message({ now: new Date(NOW.getTime() - 301_000) })],
    ["malformed", () => message({}, { "webhook-timestamp": "soon" })],
    ["malformed", () => message({}, { "webhook-signature": undefined })],
    ["malformed", () => message({ body: "no" }, { "webhook-signature": signature(SECRET, undefined, "no") })],
    ["invalid_key", () => message({ secret: "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" })],
  ];
  for (const [code, forged] of refused) {
    await assert.rejects(forged(), (error) => error instanceof VerificationError && error.code === code, code);
  }
});

/** A certificate for localhost, and the authority that has signed it. Needs OpenSSL 3. */
function certificates(directory: string): { cert: Buffer; key: Buffer; authority: string } {
  const file = (name: string): string => join(directory, name);
  const made = (name: string, ...options: string[]): void => {
    const common = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-days", "2"];
    execFileSync("openssl", [...common, "-keyout", file(`${name}.key`), "-out", file(`${name}.pem`), ...options], { stdio: "pipe" });
  };
  made("ca", "-subj", "/CN=Webhook test");
  made("receiver", "-subj", "/CN=localhost", "-CA", file("ca.pem"), "-CAkey", file("ca.key"),
    "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE");
  return { cert: readFileSync(file("receiver.pem")), key: readFileSync(file("receiver.key")), authority: file("ca.pem") };
}

test("a message that the service sends verifies, with the old and the new secret of a rotation", async () => {
  const directory = temporaryDirectory();
  const { cert, key, authority } = certificates(directory);
  const receiver = createServer({ cert, key });
  receiver.listen(0, "127.0.0.1");
  await once(receiver, "listening");
  const server = await startServer({ AUDIT_WEBHOOK_ALLOW_PRIVATE: "true", AUDIT_WEBHOOK_CA_FILE: authority });
  try {
    const master = new AuditClient({ baseUrl: server.baseUrl, apiKey: server.masterKey });
    const url = `https://127.0.0.1:${(receiver.address() as AddressInfo).port}/alerts`;
    const { id, secret } = await master.webhooks.create({ url });
    const { secret: newSecret } = await master.webhooks.rotateSecret(id);
    const arrived = once(receiver, "request") as Promise<[IncomingMessage, { end(): void }]>;
    await master.webhooks.test(id);
    const [request, response] = await arrived;
    const body = Buffer.concat(await request.toArray() as Buffer[]);
    response.end();
    for (const valid of [secret, newSecret]) {
      const message = await verifyWebhook<{ type: string; data: unknown }>({ secret: valid, headers: request.headers, body });
      assert.deepEqual([message.body.type, message.body.data], ["webhook.test", { webhook_id: id }]);
    }
  } finally {
    await server.stop();
    receiver.close();
    receiver.closeAllConnections();
    rmSync(directory, { recursive: true });
  }
});
