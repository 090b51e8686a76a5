import { type Api, Failure, isAbort, type Parameters } from "../shared/api.js";
import { type Filter, toParameters } from "./filter.js";

/** Files for Excel have times of a time zone, the others have times in UTC. */
export type Format = "excel" | "xlsx" | "csv" | "jsonl";

/** Excel separates columns at `;` where the comma is the decimal separator. The region of the browser is taken for that of Excel. */
function excel(zone: string): Parameters {
  const parts = new Intl.NumberFormat(navigator.language).formatToParts(1.5);
  const isComma = parts.some(({ type, value }) => type === "decimal" && value === ",");
  return { for: "excel", separator: isComma ? "semicolon" : "comma", time_zone: zone };
}

/** The file name of a `Content-Disposition` (RFC 6266). That beyond ASCII (RFC 8187) comes first. */
export function fileName(disposition: string): string | undefined {
  const [, encoded] = /;\s*filename\*\s*=\s*UTF-8'[^']*'([^\s;]+)/i.exec(disposition) ?? [];
  try {
    if (encoded) return decodeURIComponent(encoded);
  } catch {
    // Not UTF-8: the other name is left.
  }
  const [, quoted, token] = /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/i.exec(disposition) ?? [];
  return quoted?.replace(/\\(.)/g, "$1") ?? token;
}

/** The parameters of a format. Files for people have the labels of actions in a language, if there are some. */
function formOf(format: Format, zone: string, labels: string | undefined): Parameters {
  switch (format) {
    case "excel": return { ...excel(zone), labels };
    case "xlsx": return { format, time_zone: zone, labels };
    default: return { format };
  }
}

/** Saves all events of a query as a file. Calls `progress` with the bytes received. A broken export is a failure, never half a file. */
export async function download(
  api: Api, filter: Filter, form: { format: Format; zone: string; labels: string | undefined }, progress: (bytes: number) => void, signal: AbortSignal,
): Promise<void> {
  const { format, zone, labels } = form;
  const parameters = { ...toParameters(filter), ...formOf(format, zone, labels) };
  const response = await api.fetch("GET", "/events/export", { parameters, signal });
  const name = fileName(response.headers.get("content-disposition") ?? "") || `audit-events.${format === "excel" ? "csv" : format}`;
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
