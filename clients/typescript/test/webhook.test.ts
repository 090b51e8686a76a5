// Signatures of Standard Webhooks, version 1, and what must be refused. The expected signature is the one of its specification.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import test from "node:test";
import { VerificationError, verifyWebhook, type VerifyWebhookOptions } from "audit-log-client/verify";

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
