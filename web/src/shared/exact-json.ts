import { parseJson } from "../../../clients/typescript/src/verify/json.js";
import type { Json } from "./types.js";
import { visible, visibleInJson } from "./visible.js";

/** Parses JSON with all digits of integers. Texts without a long number take the faster way. */
export function parseExact(text: string): unknown {
  return /\d{16}/.test(text) ? parseJson(text) : JSON.parse(text);
}

/** Writes JSON for people to read, with all digits. */
export function formatJson(value: Json | undefined, indent = ""): string {
  if (value === undefined) return "";
  if (typeof value === "bigint") return value.toString();
  if (value === null || typeof value !== "object") return visibleInJson(JSON.stringify(value));
  const inner = `${indent}  `;
  const isList = Array.isArray(value);
  const items = isList
    ? value.map((item) => formatJson(item, inner))
    : Object.entries(value).map(([key, item]) => `${visibleInJson(JSON.stringify(key))}: ${formatJson(item, inner)}`);
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  return items.length === 0 ? open + close : `${open}\n${inner}${items.join(`,\n${inner}`)}\n${indent}${close}`;
}

/** A value on one line, for people: texts without quotes, everything else as JSON. */
export function inlineJson(value: Json | undefined): string {
  return typeof value === "string" ? visible(value) : formatJson(value).replace(/\n\s*/g, " ");
}
