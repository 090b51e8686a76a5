import { AuditNetworkError } from "./errors.js";

/** A message of a stream (HTML standard, "Server-sent events"). */
export interface ServerSentEvent {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string;
}

/** Characters of one message. An event has at most 65,536 of compact JSON, and the service adds some fields. */
const MESSAGE_CHARACTERS_MAX = 1_048_576;
/** Without a byte for so long the connection is lost: the service sends a comment at least every 15 s. */
export const SILENCE_MS_MAX = 60_000;

/** The messages of a response. Ends when the response does; throws when the connection breaks or is silent. */
export async function* serverSentEvents(
  response: Response,
  silenceMsMax = SILENCE_MS_MAX,
): AsyncGenerator<ServerSentEvent, void, undefined> {
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (;;) {
      const chunk = await readWithin(reader, silenceMsMax);
      if (chunk === undefined) {
        return;
      }
      text += decoder.decode(chunk, { stream: true });
      if (text.length > MESSAGE_CHARACTERS_MAX) {
        throw new AuditNetworkError("a message of the stream is too long");
      }
      const messages = text.split("\n\n");
      text = messages.pop()!;
      for (const message of messages) {
        const parsed = parseMessage(message);
        if (parsed !== undefined) {
          yield parsed;
        }
      }
    }
  } finally {
    // The connection may be broken already; nothing depends on whether it ends properly.
    await reader.cancel().catch(() => undefined);
  }
}

async function readWithin(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  silenceMsMax: number,
): Promise<Uint8Array | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new AuditNetworkError("the stream of events is silent")), silenceMsMax);
  });
  try {
    const { done, value } = await Promise.race([reader.read(), silence]);
    return done ? undefined : value;
  } catch (cause) {
    throw cause instanceof AuditNetworkError ? cause : new AuditNetworkError("the stream of events broke", { cause });
  } finally {
    clearTimeout(timer);
  }
}

/** `undefined` for a comment. */
function parseMessage(message: string): ServerSentEvent | undefined {
  let id: string | undefined;
  let event = "";
  const data: string[] = [];
  for (const line of message.split("\n")) {
    const [name, value = ""] = line.split(/: ?(.*)/s, 2) as [string, string?];
    if (name === "id") {
      id = value;
    } else if (name === "event") {
      event = value;
    } else if (name === "data") {
      data.push(value);
    }
  }
  return id === undefined && event === "" && data.length === 0 ? undefined : { id, event, data: data.join("\n") };
}
