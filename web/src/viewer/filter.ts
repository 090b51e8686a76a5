import type { Parameters } from "../shared/api.js";

/** Fields whose events can be included and, with `not_`, excluded: each with several values. */
export const VALUE_FIELDS = [
  "category", "action", "actor_id", "actor_type", "target_id", "target_type", "ip_address", "session_id", "outcome", "tenant_id",
] as const;
export type ValueField = (typeof VALUE_FIELDS)[number];
type TextField = "search" | "start_date" | "end_date";
export type FilterField = TextField | ValueField | `not_${ValueField}`;

/** The filters of `GET /events`, in the order of the fragment. */
export const FILTER_FIELDS: readonly FilterField[] = [
  "search", ...VALUE_FIELDS.flatMap((field) => [field, `not_${field}`] as const), "start_date", "end_date",
];
export type Filter = { [F in TextField]?: string } & { [F in Exclude<FilterField, TextField>]?: string | readonly string[] };

/** What a filter says about one value of a field. */
export type Choice = "included" | "excluded" | "any";

/** The values of a field in a filter. */
export function valuesOf(filter: Filter, field: FilterField): readonly string[] {
  const value = filter[field] ?? [];
  return typeof value === "string" ? [value] : value;
}

export function choiceOf(filter: Filter, field: ValueField, value: string): Choice {
  if (valuesOf(filter, field).includes(value)) return "included";
  return valuesOf(filter, `not_${field}`).includes(value) ? "excluded" : "any";
}

/** The filter with another choice for one value. */
export function choose(filter: Filter, field: ValueField, value: string, choice: Choice): Filter {
  const others = (name: FilterField): string[] => valuesOf(filter, name).filter((one) => one !== value);
  return cleaned({
    ...filter,
    [field]: [...others(field), ...(choice === "included" ? [value] : [])],
    [`not_${field}`]: [...others(`not_${field}`), ...(choice === "excluded" ? [value] : [])],
  });
}

/** A click includes, the next one excludes, and a third one takes the value out of the filter. */
export function nextChoice(choice: Choice): Choice {
  return ({ any: "included", included: "excluded", excluded: "any" } as const)[choice];
}

/** The filter without what it says about fields. */
export function without(filter: Filter, ...fields: readonly FilterField[]): Filter {
  return Object.fromEntries(Object.entries(cleaned(filter)).filter(([field]) => !fields.includes(field as FilterField)));
}

/** Whether the period ends before it begins, so that no event can be in it. */
export function isReversed({ start_date, end_date }: Filter): boolean {
  return Date.parse(start_date ?? "") > Date.parse(end_date ?? "");
}

/** The part of a view that a link carries. */
export interface View {
  filter: Filter;
  /** The id of the open event. */
  event?: string | undefined;
  /** Whether times and bars are in UTC, instead of the zone of the reader. */
  isUtc?: boolean;
}

/** The filter without empty and repeated values. */
export function cleaned(filter: Filter): Filter {
  const kept: Record<string, string | readonly string[]> = {};
  for (const field of FILTER_FIELDS) {
    const values = [...new Set(valuesOf(filter, field).map((value) => value.trim()).filter(Boolean))];
    if (values.length > 0) kept[field] = values.length === 1 ? (values[0] ?? "") : values;
  }
  return kept;
}

export function isEmpty(filter: Filter): boolean {
  return Object.keys(cleaned(filter)).length === 0;
}

/** The filter as parameters of `GET /events`, `/events/summary` and `/events/export`. */
export function toParameters(filter: Filter): Parameters {
  const parameters = cleaned(filter);
  if (parameters.search === undefined) return parameters;
  // People type the beginning of a word, or paste an id, and look whether it is found.
  return { ...parameters, search_mode: "prefix", search_in: ["names", "ids", "email"] };
}

/** The parameters that the feed takes: it has neither words nor dates. */
export function toFeedParameters(filter: Filter): Parameters {
  return without(filter, "search", "start_date", "end_date");
}

/** The fragment of a link to a view, without `#`. It has nothing but the view. */
export function toFragment(view: View): string {
  const filter = cleaned(view.filter);
  const query = new URLSearchParams(FILTER_FIELDS.flatMap((field) => valuesOf(filter, field).map((value) => [field, value])));
  if (view.event) query.set("event", view.event);
  if (view.isUtc) query.set("zone", "utc");
  return query.toString();
}

/** Whether two views differ only in the words that are searched, or in which event is open. */
export function isSameStep(one: View, other: View): boolean {
  const step = (view: View): string =>
    toFragment({ ...view, filter: { ...view.filter, search: view.filter.search ? "…" : "" }, event: view.event && "…" });
  return step(one) === step(other);
}

/** Reads a fragment. Unknown names are ignored. */
export function fromFragment(fragment: string): View {
  const query = new URLSearchParams(fragment.replace(/^#/, ""));
  const filter = Object.fromEntries(FILTER_FIELDS.map((field) => [field, /^search$|_date$/.test(field) ? (query.get(field) ?? "") : query.getAll(field)]));
  const event = query.get("event") ?? "";
  return { filter: cleaned(filter), event: /^evt_[0-9A-Z]{26}$/.test(event) ? event : undefined, isUtc: query.get("zone") === "utc" };
}

/** The tenant of a viewer token. The claims are not secret; only the server verifies them. */
export function tenantOf(token: string): string | undefined {
  return claimsOf(token)?.tenant_id;
}

interface Claims {
  tenant_id?: string;
  tier?: string;
  exp?: number;
  sub?: string;
}

export function claimsOf(token: string): Claims | undefined {
  const [, payload] = token.replace(/^vt_/, "").split(".");
  if (!token.startsWith("vt_") || !payload) return undefined;
  try {
    const bytes = Uint8Array.from(atob(payload.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes)) as Claims;
  } catch {
    return undefined;
  }
}
