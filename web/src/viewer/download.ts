import { type Api, Failure, isAbort } from "../shared/api.js";
import { type Filter, toParameters } from "./filter.js";

export type Format = "csv" | "jsonl";

/** Saves all events of a query as a file. Calls `progress` with the bytes received. A broken export is a failure, never half a file. */
export async function download(api: Api, filter: Filter, format: Format, progress: (bytes: number) => void, signal: AbortSignal): Promise<void> {
  const response = await api.fetch("GET", "/events/export", { parameters: { ...toParameters(filter), format }, signal });
  const name = /filename="([^"]+)"/.exec(response.headers.get("content-disposition") ?? "")?.[1] ?? `events.${format}`;
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  const reader = response.body?.getReader();
  for (;;) {
    const read = await reader?.read().catch(broken);
    if (!read || read.done) break;
    parts.push(read.value);
    bytes += read.value.length;
    progress(bytes);
  }
  save(new Blob(parts, { type: response.headers.get("content-type") ?? "application/octet-stream" }), name);
}

function broken(cause: unknown): never {
  if (isAbort(cause)) throw cause;
  throw new Failure("offline", "the export was interrupted");
}

/** Hands a file to the browser. */
export function save(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
