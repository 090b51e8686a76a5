/** Standard Webhooks, version 1 (https://www.standardwebhooks.com/). */
import { type Bytes, concat, equal, fromBase64, subtle, utf8 } from "./bytes.js";
import { ensure, VerificationError } from "./error.js";
import type { WebhookBody } from "../types.js";

/** Seconds by which the timestamp of a message may differ from the clock. */
export const WEBHOOK_TOLERANCE_SECONDS = 5 * 60;

/** Headers of a request: those of Node, those of `fetch`, or an object. Names in lower case, if it is an object. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | { readonly [name: string]: string | readonly string[] | undefined };

/** A verified message. Drop it if its `id` was seen before. */
export interface WebhookMessage<T = WebhookBody> {
  /** `webhook-id`: the same at every attempt. */
  readonly id: string;
  /** When this attempt was made. */
  readonly timestamp: Date;
  /** The parsed body. */
  readonly body: T;
}

export interface VerifyWebhookOptions {
  /** The secret, `whsec_…`; several while a rotation is under way. */
  readonly secret: string | readonly string[];
  readonly headers: WebhookHeaders;
  /** The body as it arrived. JSON that was parsed and serialized again has another signature. */
  readonly body: string | Uint8Array;
  /** 300 if absent. */
  readonly toleranceSeconds?: number | undefined;
  /** The clock; the system's if absent. */
  readonly now?: Date | undefined;
}

/**
 * Verifies the signature and the timestamp of a webhook message, and parses its body. `body.type` says what `body.data` is; ignore other types than
 * those of `WebhookBody`, as the service adds types without a new version.
 *
 * @throws VerificationError if the message is not from the service.
 */
export async function verifyWebhook<T = WebhookBody>(options: VerifyWebhookOptions): Promise<WebhookMessage<T>> {
  const { headers, now = new Date(), toleranceSeconds = WEBHOOK_TOLERANCE_SECONDS } = options;
  const id = headerOf(headers, "webhook-id");
  const timestamp = headerOf(headers, "webhook-timestamp");
  const signatures = headerOf(headers, "webhook-signature");
  ensure(/^[0-9]{1,12}$/.test(timestamp), "malformed", "webhook-timestamp is not a number of seconds");
  const seconds = Number(timestamp);
  ensure(
    Math.abs(now.getTime() / 1000 - seconds) <= toleranceSeconds,
    "stale_timestamp",
    "webhook-timestamp is too far from the clock: a replay, or a clock is wrong",
  );
  const body = typeof options.body === "string" ? utf8(options.body) : options.body;
  const content = concat(utf8(`${id}.${timestamp}.`), body);
  const secrets = typeof options.secret === "string" ? [options.secret] : options.secret;
  const expected = await Promise.all(secrets.map((secret) => hmac(secret, content)));
  ensure(isAnySignature(signatures, expected), "invalid_signature", "no signature of the message is valid");
  try {
    const parsed = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body)) as T;
    return { id, timestamp: new Date(seconds * 1000), body: parsed };
  } catch (cause) {
    throw new VerificationError("malformed", "the body of the message is not JSON", { cause });
  }
}

function headerOf(headers: WebhookHeaders, name: string): string {
  const value = typeof headers.get === "function" ? headers.get(name) : (headers as Record<string, unknown>)[name];
  ensure(typeof value === "string" && value !== "", "malformed", `the header ${name} is missing`);
  return value;
}

async function hmac(secret: string, content: Bytes): Promise<Bytes> {
  ensure(secret.startsWith("whsec_"), "invalid_key", "the secret of a webhook begins with whsec_");
  const bytes = fromBase64(secret.slice("whsec_".length), "the secret");
  const key = await subtle().importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await subtle().sign("HMAC", key, content));
}

function isAnySignature(header: string, expected: readonly Bytes[]): boolean {
  let found = false;
  for (const entry of header.split(" ")) {
    const [version, base64] = entry.split(",", 2);
    if (version !== "v1" || base64 === undefined || !/^[A-Za-z0-9+/]{43}=$/.test(base64)) {
      continue; // another scheme, or not a signature
    }
    const signature = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    for (const candidate of expected) {
      found = equal(candidate, signature) || found;
    }
  }
  return found;
}
