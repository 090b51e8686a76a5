import type { AuditEvent, Json } from "./types.js";

/** How people read an action, in the language of the reader: `GET /actions/labels`. */
export interface ReadableAction {
  action: string;
  icon: string | null;
  label: string;
  template: string | null;
}

/** A part of a sentence. A value comes from the event, and everything else from the template. */
export interface SentencePart {
  text: string;
  isValue: boolean;
}

/** What stands for a value that the event does not have, or that the reader does not see. */
const ABSENT = "–";

/** A template filled with what the reader sees of an event, as exports do it (`crates/audit-domain/src/action_label.rs`). */
export function fill(template: string, event: AuditEvent): SentencePart[] {
  // Every second part is between braces.
  const parts = template.split(/[{}]/).map((text, index) => (index % 2 === 0 ? { text, isValue: false } : { text: textOf(valueOf(text, event)), isValue: true }));
  return parts.filter(({ text }) => text);
}

/** What people read of an event in the place of its action. */
export function sentenceOf({ label, template }: ReadableAction, event: AuditEvent): SentencePart[] {
  return template === null ? [{ text: label, isValue: false }] : fill(template, event);
}

function valueOf(name: string, event: AuditEvent): Json | undefined {
  const [first = "", ...path] = name.split(".");
  if (name === "tenant") return event.tenant_id;
  if (name === "outcome") return event.outcome;
  if (name === "target.type") return event.target?.type;
  if (name === "actor" || name === "target") return event[name]?.name ?? event[name]?.id;
  if (first === "metadata") return member(event.metadata, path);
  return first === "before" || first === "after" ? changed(event, first, path) : undefined;
}

/** What a change of this field has on one side, or else what is at the rest of the path in a change of its beginning. */
function changed({ changes = [] }: AuditEvent, side: "before" | "after", path: string[]): Json | undefined {
  const whole = changes.find(({ field }) => field === path.join("."));
  if (whole) return whole[side];
  for (const change of changes) {
    const length = change.field.split(".").length;
    const found = path.slice(0, length).join(".") === change.field ? member(change[side], path.slice(length)) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function member(value: Json | undefined, path: string[]): Json | undefined {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  const [step, ...rest] = path;
  if (step === undefined) return value;
  return isObject && Object.hasOwn(value, step) ? member(value[step], rest) : undefined;
}

/** Texts as they are, numbers and booleans as JSON. Nothing else is a value of a sentence. */
function textOf(value: Json | undefined): string {
  return ["string", "number", "bigint", "boolean"].includes(typeof value) ? String(value) || ABSENT : ABSENT;
}
