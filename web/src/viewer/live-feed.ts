import { type Api, Failure, asFailure, isAbort } from "../shared/api.js";
import type { Filter } from "./filter.js";
import { toFeedParameters } from "./filter.js";

const PAUSE_MS_MIN = 1_000;
const PAUSE_MS_MAX = 30_000;

interface Message {
  event: string;
  data: string;
  id: string;
}

export interface FeedListener {
  /** An event that matches the filter was stored. */
  arrived(): void;
  /** Whether the stream is open. */
  connected(isConnected: boolean): void;
  /** The server does not respond. Another attempt follows. */
  lost(): void;
  /** The server refuses to continue. */
  ended(failure: Failure): void;
}

/** Follows the feed from now on until `signal` is aborted, over interruptions. */
export async function follow(api: Api, filter: Filter, listener: FeedListener, signal: AbortSignal): Promise<void> {
  let cursor = "latest";
  let pauseMs = PAUSE_MS_MIN;
  while (!signal.aborted) {
    try {
      for await (const message of messages(api, filter, cursor, signal)) {
        pauseMs = PAUSE_MS_MIN;
        listener.connected(true);
        if (message.event === "end") {
          const { code, message: text, cursor: left } = JSON.parse(message.data) as { code: string; message: string; cursor?: string };
          throw new Failure("expired", text, 401, code, "", [], api.connection.credential, left);
        }
        if (message.id) cursor = message.id;
        if (message.event === "audit") listener.arrived();
      }
    } catch (error) {
      if (signal.aborted || isAbort(error)) return;
      const failure = asFailure(error);
      // Events behind the cursor were removed; the list shows none that are new.
      if (failure.cursor) cursor = failure.cursor;
      else if (["expired", "forbidden", "invalid", "not_found"].includes(failure.kind)) {
        listener.connected(false);
        listener.ended(failure);
        return;
      }
      if (failure.kind === "offline") listener.lost();
    }
    listener.connected(false);
    // The jitter keeps pages from returning all at once.
    await pause(pauseMs * (1 + Math.random()), signal);
    pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });
}

async function* messages(api: Api, filter: Filter, cursor: string, signal: AbortSignal): AsyncGenerator<Message> {
  const parameters = { ...toFeedParameters(filter), after: cursor };
  const response = await api.fetch("GET", "/events/feed", { parameters, accept: "text/event-stream", signal });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) return;
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += value;
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) yield parseMessage(block);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function parseMessage(block: string): Message {
  const message: Message = { event: "", data: "", id: "" };
  for (const line of block.split("\n")) {
    const colon = line.indexOf(": ");
    const name = line.slice(0, colon);
    if (name === "event" || name === "data" || name === "id") message[name] = line.slice(colon + 2);
  }
  return message;
}
