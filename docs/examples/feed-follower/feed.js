// Follows the event feed from a web page, or from Node 18 or later, with a viewer token:
//
//   import { follow } from "./feed.js";
//   follow("https://audit.example.com/api/v1", token, (event) => console.log(event));
//
// The browser's own EventSource cannot send a credential, so the stream is read with fetch.

const PAUSE_MS_MAX = 60_000;

/** Calls `take(event, cursor)` with every event, each once and in order, until `signal` is aborted or access ends. */
export async function follow(baseUrl, token, take, { cursor = "", signal } = {}) {
  let pauseMs = 1_000;
  while (!signal?.aborted) {
    try {
      for await (const message of messages(baseUrl, token, cursor, signal)) {
        pauseMs = 1_000;
        if (message.event === "end") throw new AccessEnded(JSON.parse(message.data).message);
        if (message.event === "audit") take(JSON.parse(message.data), message.id);
        // Not before the event was taken: who comes back gets what comes after this.
        cursor = message.id || cursor;
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (!(error instanceof Interrupted)) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX);
  }
}

/** The server will not answer the same request otherwise: the token has expired or was refused. */
export class AccessEnded extends Error {}

/** The connection broke, or the server is busy: worth another try. */
class Interrupted extends Error {}

function interrupted(cause) {
  throw new Interrupted("the stream was interrupted", { cause });
}

async function* messages(baseUrl, token, cursor, signal) {
  const headers = { Accept: "text/event-stream", Authorization: `Bearer ${token}` };
  if (cursor) headers["Last-Event-ID"] = cursor;
  const answer = await fetch(`${baseUrl}/events/feed`, { headers, signal }).catch(interrupted);
  if (answer.status >= 400 && answer.status < 500 && answer.status !== 429) throw new AccessEnded(await answer.text());
  if (!answer.ok) interrupted(`status ${answer.status}`);
  let text = "";
  const decoder = new TextDecoder();
  const reader = answer.body.getReader();
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

/** The fields of one message. A message without data only moves the place, or keeps the connection alive. */
function parse(block) {
  const message = { event: "", data: "", id: "" };
  for (const line of block.split("\n")) {
    const colon = line.indexOf(": ");
    const name = line.slice(0, colon);
    if (colon > 0 && name in message) message[name] = line.slice(colon + 2);
  }
  return message;
}
