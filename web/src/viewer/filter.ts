import type { Parameters } from "../shared/api.js";

/** The filters of `GET /events`, in the order of the fragment. */
export const FILTER_FIELDS = [
  "search",
  "category",
  "action",
  "actor_id",
  "actor_type",
  "target_id",
  "target_type",
  "outcome",
  "tenant_id",
  "start_date",
  "end_date",
] as const;
export type FilterField = (typeof FILTER_FIELDS)[number];
export type Filter = Partial<Record<FilterField, string>>;

/** The part of a view that a link carries. */
export interface View {
  filter: Filter;
  /** The id of the open event. */
  event?: string | undefined;
  /** Whether times and bars are in UTC, instead of the zone of the reader. */
  isUtc?: boolean;
}

/** The filter without empty values. */
export function cleaned(filter: Filter): Filter {
  const kept: Filter = {};
  for (const field of FILTER_FIELDS) {
    const value = filter[field]?.trim();
    if (value) kept[field] = value;
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
  const { search: _search, start_date: _start, end_date: _end, ...rest } = cleaned(filter);
  return rest;
}

/** The fragment of a link to a view, without `#`. It has nothing but the view. */
export function toFragment(view: View): string {
  const query = new URLSearchParams(cleaned(view.filter) as Record<string, string>);
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
  const filter: Filter = {};
  for (const field of FILTER_FIELDS) {
    const value = query.get(field);
    if (value) filter[field] = value;
  }
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
