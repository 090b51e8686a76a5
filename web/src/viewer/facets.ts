import type { ReactiveControllerHost } from "lit";
import { type Api, isAbort } from "../shared/api.js";
import { type AuditEvent, CATEGORIES, type EventPage, type Summary, type TopField } from "../shared/types.js";
import { type Filter, toFragment, toParameters, type ValueField, valuesOf, without } from "./filter.js";
import type { LiveEvents } from "./live-events.js";

/** Values of a field that are shown, beside those that are chosen. */
const VALUES_MAX = 8;
/** Events whose values are offered where the summary has no most frequent values of a field. */
const EVENTS_LOOKED_AT_MAX = 200;
/** While events arrive, values are counted again at most this often. */
const RECOUNT_MS = 60_000;
const ENUMERATED: Partial<Record<ValueField, readonly string[]>> = {
  category: CATEGORIES, outcome: ["success", "failure", "denied"], actor_type: ["user", "api_key", "service", "system"],
};
const TOP_FIELDS: readonly ValueField[] = ["actor_id", "action", "target_type", "tenant_id"] satisfies readonly TopField[];

export interface FacetValue {
  value: string;
  /** The exact number of events; `undefined` while it is not known. */
  count?: number | undefined;
}

/** A value that a text may mean. */
export interface Named extends FacetValue {
  field: ValueField;
  label: string;
}

interface FacetsHost extends ReactiveControllerHost {
  readonly api: Api;
  readonly events: LiveEvents;
  readonly filter: Filter;
}

/** The values of an event for a field. */
function valuesIn({ context, target, targets }: AuditEvent, field: ValueField): (string | undefined)[] {
  if (field === "ip_address") return [context?.ip_address];
  if (field === "session_id") return [context?.session_id];
  return field === "target_id" ? (targets ?? [target]).map((one) => one?.id) : [];
}

function mostFrequent(events: readonly AuditEvent[], field: ValueField): string[] {
  const counts = new Map<string, number>();
  for (const value of events.flatMap((event) => valuesIn(event, field))) if (value) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([, one], [, other]) => other - one).map(([value]) => value);
}

/**
 * The values of fields beside the list, with exact numbers of events, and the names of actors and targets. The numbers of a field are
 * those without its own filter. Requests follow one another, and only open fields are counted.
 */
export class Facets {
  readonly open = new Set<ValueField>(["category", "actor_id", "action"]);
  /** Whether the values can be seen. */
  isShown = false;
  private values = new Map<ValueField, FacetValue[]>();
  private readonly names = new Map<string, string>();
  private readonly counts = new Map<string, number>();
  private readonly unnamed = new Set<string>();
  private reading = new AbortController();
  private readFor: { summary: Summary | undefined; fragment: string; at: number } | undefined;

  constructor(private readonly host: FacetsHost) {}

  /** Forgets everything: what follows is for another reader. */
  forget(): void {
    this.stop();
    for (const known of [this.values, this.names, this.counts, this.unnamed]) known.clear();
  }

  stop(): void {
    this.reading.abort();
    this.readFor = undefined;
  }

  toggle(field: ValueField, isOpen: boolean): void {
    if (isOpen === this.open.has(field)) return;
    if (isOpen) this.open.add(field);
    else this.open.delete(field);
    this.readFor = undefined;
    this.host.requestUpdate();
  }

  show(isShown: boolean): void {
    if (isShown && !this.isShown) this.readFor = undefined;
    this.isShown = isShown;
  }

  of(field: ValueField): FacetValue[] {
    return this.values.get(field) ?? [];
  }

  /** The name of an actor or a target, or else the value. */
  nameOf(field: ValueField, value: string): string {
    return this.names.get(`${field} ${value}`) ?? value;
  }

  /** Counts again when the list of the present filter, or other counts, have been read. */
  update(): void {
    const { events, filter } = this.host;
    if (!events.pages || events.isLoading || events.isCounting || events.isOffline || events.failure) return;
    const { summary } = events;
    const fragment = toFragment({ filter });
    const last = this.readFor;
    if (last?.fragment === fragment && (last.summary === summary || Date.now() - last.at < RECOUNT_MS)) return;
    if (last?.fragment === fragment) this.counts.clear();
    this.readFor = { summary, fragment, at: Date.now() };
    this.reading.abort();
    this.reading = new AbortController();
    this.learnNames(this.firstEvents());
    // Without a response the values stay as they were; the list says what is wrong with the server.
    void this.readAll(this.reading.signal).catch(() => undefined);
  }

  private firstEvents(): AuditEvent[] {
    const { pages } = this.host.events;
    const length = Math.min(pages?.length ?? 0, EVENTS_LOOKED_AT_MAX);
    return Array.from({ length }, (_, position) => pages?.at(position)).filter((event) => event !== undefined);
  }

  private learnNames(events: readonly AuditEvent[]): void {
    for (const { actor, target, targets } of events) {
      const named = [["actor_id", actor], ...(targets ?? [target]).map((one) => ["target_id", one])] as const;
      for (const [field, party] of named) {
        if (typeof party !== "object" || !party?.id || !party.name) continue;
        // The newest event has the present name.
        if (!this.names.has(`${field} ${party.id}`)) this.names.set(`${field} ${party.id}`, party.name);
      }
    }
  }

  private async readAll(signal: AbortSignal): Promise<void> {
    if (!this.isShown) return;
    for (const field of this.open) {
      await this.readField(field, signal);
      signal.throwIfAborted();
    }
  }

  private async readField(field: ValueField, signal: AbortSignal): Promise<void> {
    const { api, filter, events } = this.host;
    const base = without(filter, field, `not_${field}`);
    const isFiltered = toFragment({ filter: base }) !== toFragment({ filter });
    const summary = isFiltered ? await this.summary(base, signal) : events.summary;
    const isTop = TOP_FIELDS.includes(field);
    let found: string[] = [];
    if (isTop) found = summary?.top[field as TopField]?.map(({ value }) => value) ?? [];
    else if (!ENUMERATED[field]) {
      const page = isFiltered ? await api.get<EventPage>("/events", { ...toParameters(base), limit: EVENTS_LOOKED_AT_MAX }, signal) : { events: this.firstEvents() };
      this.learnNames(page.events);
      found = mostFrequent(page.events, field);
    }
    if (summary) this.learnCounts(base, field, summary);
    const chosen = [...valuesOf(filter, field), ...valuesOf(filter, `not_${field}`)];
    const values = [...new Set([...(ENUMERATED[field] ?? []), ...found.slice(0, VALUES_MAX), ...chosen])];
    const known = (value: string): number | undefined => this.counts.get(this.key(base, field, value));
    const show = (): void => {
      this.values.set(field, values.map((value) => ({ value, count: known(value) })));
      this.host.requestUpdate();
    };
    show();
    for (const value of values) {
      if (field === "actor_id") await this.readName(value, signal);
      if (known(value) === undefined && summary) await this.count(field, value, signal, base);
      show();
    }
  }

  private key(base: Filter, field: ValueField, value: string): string {
    return toFragment({ filter: { ...base, [field]: value } });
  }

  /** Numbers that a summary has exactly: of categories, and of the most frequent values if it has looked at all events. */
  private learnCounts(base: Filter, field: ValueField, { buckets, top, total }: Summary): void {
    const learn = (value: string, count: number): unknown => this.counts.set(this.key(base, field, value), count);
    if (field === "category" && (total === 0 || buckets.some(({ categories }) => categories))) {
      for (const value of CATEGORIES) learn(value, buckets.reduce((sum, { categories }) => sum + (categories?.[value] ?? 0), 0));
    } else if (TOP_FIELDS.includes(field) && top.looked_at >= total) {
      for (const { value, count } of top[field as TopField] ?? []) learn(value, count);
    }
  }

  /** How many events a filter has with one value of a field; `undefined` where the server does not count them. */
  async count(field: ValueField, value: string, signal: AbortSignal, filter: Filter): Promise<number | undefined> {
    const base = without(filter, field, `not_${field}`);
    const key = this.key(base, field, value);
    if (!this.counts.has(key)) {
      const summary = await this.summary({ ...base, [field]: value }, signal);
      if (summary) this.counts.set(key, summary.total);
    }
    return this.counts.get(key);
  }

  private async summary(filter: Filter, signal: AbortSignal): Promise<Summary | undefined> {
    try {
      return await this.host.api.get<Summary>("/events/summary", { ...toParameters(filter), split: "category" }, signal);
    } catch (error) {
      if (isAbort(error)) throw error;
      // Too many events to count, or a tier without counts.
      return undefined;
    }
  }

  /** The name in the newest event of an actor, if none of the events that were read has one. */
  private async readName(id: string, signal: AbortSignal): Promise<void> {
    if (this.names.has(`actor_id ${id}`) || this.unnamed.has(id)) return;
    const page = await this.host.api.get<EventPage>("/events", { actor_id: id, limit: 1 }, signal).catch((error: unknown) => {
      if (isAbort(error)) throw error;
      return { events: [] };
    });
    this.learnNames(page.events);
    this.unnamed.add(id);
  }

  /** Every value that is known of the events that were read, for suggestions. `labelOf` names values of enumerated fields. */
  candidates(labelOf: (field: ValueField, value: string) => string): Named[] {
    const { summary } = this.host.events;
    const events = this.firstEvents();
    const named = (field: ValueField, values: readonly string[]): Named[] => values.map((value) => ({ field, value, label: labelOf(field, value) }));
    const top = TOP_FIELDS.map((field) => named(field, [
      ...new Set([...(summary?.top[field as TopField] ?? []), ...this.of(field)].map(({ value }) => value)),
    ]));
    const read = (["target_id", "ip_address", "session_id"] as const).map((field) => named(field, mostFrequent(events, field)));
    return [...top, ...read, ...Object.entries(ENUMERATED).map(([field, values]) => named(field as ValueField, values))].flat();
  }
}
