// Follows the event feed from a web page, or from Node 18 or later, with a viewer token:
//
//   import { follow } from "./feed.js";
//   follow("https://audit.example.com/api/v1", token, (event) => console.log(event));
//
// The browser's own EventSource cannot send a credential, so the stream is read with fetch.

// The longest pause, with its jitter.
const PAUSE_MS_MAX = 60_000;

/** Calls `take(event, cursor)` for every event, once and in order, until `signal` is aborted or access ends. */
export async function follow(baseUrl, token, take, { cursor = "", signal } = {}) {
  let pauseMs = 1_000;
  while (!signal?.aborted) {
    let askedMs = 0;
    try {
      for await (const message of messages(baseUrl, token, cursor, signal)) {
        pauseMs = 1_000;
        if (message.event === "end") throw new AccessEnded(JSON.parse(message.data).message);
        if (message.event === "audit") take(JSON.parse(message.data), message.id);
        // Only after the event was taken: the next connection starts behind the cursor.
        cursor = message.id || cursor;
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (!(error instanceof Interrupted)) throw error;
      askedMs = error.retryAfterMs;
    }
    // The jitter keeps pages from returning all at once.
    const waitMs = Math.max(pauseMs * (1 + Math.random()), askedMs);
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX / 2);
  }
}

/** The token has expired or was refused: a retry would get the same response. */
export class AccessEnded extends Error {}

/** A temporary failure: the connection broke, or the server asks for a later attempt. */
class Interrupted extends Error {
  constructor(cause, retryAfterMs = 0) {
    super("the stream was interrupted", { cause });
    this.retryAfterMs = retryAfterMs;
  }
}

function interrupted(cause) {
  throw new Interrupted(cause);
}

/** The pause that the server asks for in `Retry-After`, in seconds or as a date; NaN without one. */
function retryAfterMs(response) {
  const value = response.headers.get("Retry-After")?.trim() ?? "";
  return /^\d+$/.test(value) ? Number(value) * 1_000 : Math.max(Date.parse(value) - Date.now(), 0);
}

function failed(response, text) {
  const pauseMs = retryAfterMs(response);
  const isTemporary = response.status >= 500 || (response.status === 429 && !Number.isNaN(pauseMs));
  return isTemporary ? new Interrupted(`status ${response.status}`, pauseMs || 0) : new AccessEnded(text);
}

async function* messages(baseUrl, token, cursor, signal) {
  const headers = { Accept: "text/event-stream", Authorization: `Bearer ${token}` };
  if (cursor) headers["Last-Event-ID"] = cursor;
  const response = await fetch(`${baseUrl}/events/feed`, { headers, signal }).catch(interrupted);
  if (!response.ok) throw failed(response, await response.text().catch(interrupted));
  let text = "";
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(interrupted);
      if (done) return;
      text += decoder.decode(value, { stream: true });
      const blocks = text.split("\n\n");
      text = blocks.pop();
      for (const block of blocks) yield parse(block);
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** The fields of one message. A message without data only advances the cursor or keeps the connection alive. */
function parse(block) {
  const message = { event: "", data: "", id: "" };
  for (const line of block.split("\n")) {
    const colon = line.indexOf(": ");
    const name = line.slice(0, colon);
    if (colon > 0 && name in message) message[name] = line.slice(colon + 2);
  }
  return message;
}
