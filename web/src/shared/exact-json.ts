import type { Json } from "./types.js";

/** The third argument of a reviver (ECMAScript 2026); older browsers do not pass it. */
interface Source {
  source?: string;
}

/** Parses JSON. Integers that a double would change become `bigint`, where the browser tells their digits. */
export function parseExact(text: string): unknown {
  const revive = (_key: string, value: unknown, context?: Source): unknown => {
    const isLossy = typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value);
    const source = context?.source;
    return isLossy && source !== undefined && /^-?\d+$/.test(source) ? BigInt(source) : value;
  };
  return JSON.parse(text, revive as (key: string, value: unknown) => unknown);
}

/** Writes JSON for people to read, with all digits. */
export function formatJson(value: Json | undefined, indent = ""): string {
  if (value === undefined) return "";
  if (typeof value === "bigint") return value.toString();
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const inner = `${indent}  `;
  const isList = Array.isArray(value);
  const items = isList
    ? value.map((item) => formatJson(item, inner))
    : Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${formatJson(item, inner)}`);
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  return items.length === 0 ? open + close : `${open}\n${inner}${items.join(`,\n${inner}`)}\n${indent}${close}`;
}

/** A value on one line: texts as they are, everything else as JSON. */
export function inlineJson(value: Json | undefined): string {
  return typeof value === "string" ? value : formatJson(value).replace(/\n\s*/g, " ");
}
