import type { Api } from "../shared/api.js";
import type { AuditEvent, EventPage } from "../shared/types.js";
import { type Filter, toParameters } from "./filter.js";

const PAGE_EVENTS_MAX = 200;
/** Pages whose events stay in memory. Others are dropped and read again with their cursor when they are looked at. */
const KEPT_PAGES_MAX = 40;

interface Page {
  /** The cursor that returns this page; `null` for the first one. */
  cursor: string | null;
  count: number;
  /** `undefined` when dropped. */
  events: AuditEvent[] | undefined;
  lastId: string;
}

/** Newest first: `occurred_at`, then id, both descending, as the server sorts. */
function isBefore(a: AuditEvent, b: AuditEvent): boolean {
  return a.occurred_at === b.occurred_at ? a.id > b.id : a.occurred_at > b.occurred_at;
}

/**
 * The events of a query, read page by page. Positions stay valid while pages are added; memory stays bounded however far one scrolls.
 */
export class EventPages {
  private readonly pages: Page[] = [];
  private next: string | null = null;
  private isStarted = false;
  private reading: Promise<void> | undefined;
  /** The latest time before which a removal has taken events of the log. */
  removedBefore: string | undefined;

  constructor(
    private api: Api,
    private readonly filter: Filter,
    private readonly signal: AbortSignal,
  ) {}

  /** Reads on with another credential of the same reader: cursors are valid for it too. */
  continueWith(api: Api): void {
    this.api = api;
  }

  /** The number of events read so far. */
  get length(): number {
    return this.pages.reduce((sum, page) => sum + page.count, 0);
  }

  /** Whether the last page was read. */
  get isComplete(): boolean {
    return this.isStarted && this.next === null;
  }

  /** The event at a position; `undefined` past the end, or while its page is read again. */
  at(position: number): AuditEvent | undefined {
    let offset = position;
    for (const page of this.pages) {
      if (offset < page.count) return page.events?.[offset];
      offset -= page.count;
    }
    return undefined;
  }

  /** Reads the next page, if there is one. Calls at the same time share one request. */
  more(): Promise<void> {
    if (this.isComplete) return Promise.resolve();
    this.reading ??= this.readNext().finally(() => {
      this.reading = undefined;
    });
    return this.reading;
  }

  private async readNext(): Promise<void> {
    let cursor = this.next;
    let page = await this.read(cursor);
    // Few of many events match: the service ends a page before it has found one.
    while (page.events.length === 0 && page.has_more) {
      cursor = page.cursor;
      page = await this.read(cursor);
    }
    this.isStarted = true;
    this.next = page.has_more ? page.cursor : null;
    const last = page.events.at(-1);
    if (last) this.pages.push({ cursor, count: page.events.length, events: page.events, lastId: last.id });
  }

  private async read(cursor: string | null): Promise<EventPage> {
    const parameters = { ...toParameters(this.filter), limit: PAGE_EVENTS_MAX, cursor: cursor ?? undefined };
    const { body, removedBefore } = await this.api.getWithRemoved<EventPage>("/events", parameters, this.signal);
    this.removedBefore = removedBefore;
    return body;
  }

  /** Reads dropped pages between two positions again, and drops those that are far from them. Returns whether anything changed. */
  async show(from: number, to: number): Promise<boolean> {
    let offset = 0;
    const ranges = this.pages.map((page) => {
      const start = offset;
      offset += page.count;
      return { page, start, end: offset };
    });
    const isShown = ({ start, end }: { start: number; end: number }): boolean => start < to && end > from;
    const missing = ranges.filter((range) => isShown(range) && !range.page.events);
    await Promise.all(missing.map(({ page }) => this.readAgain(page)));
    const kept = this.pages.filter((page) => page.events).length;
    if (kept > KEPT_PAGES_MAX) {
      const middle = (from + to) / 2;
      const distance = ({ start, end }: { start: number; end: number }): number => Math.abs((start + end) / 2 - middle);
      const far = ranges.filter((range) => range.page.events && range.start > 0).sort((a, b) => distance(b) - distance(a));
      for (const { page } of far.slice(0, kept - KEPT_PAGES_MAX)) page.events = undefined;
    }
    return missing.length > 0;
  }

  private async readAgain(page: Page): Promise<void> {
    const { events } = await this.read(page.cursor);
    // An event that was stored since would shift the page; its last event stays the last one.
    const end = events.findIndex((event) => event.id === page.lastId);
    page.events = end < 0 ? events : events.slice(0, end + 1);
    page.count = page.events.length;
  }

  /**
   * Reads the newest events and inserts those that are new at their place. Returns their positions, or `undefined` when there are so
   * many that the list has to be read from its beginning.
   */
  async refresh(): Promise<number[] | undefined> {
    const { events } = await this.read(null);
    const first = this.pages[0];
    if (!first?.events) return events.length > 0 ? undefined : [];
    const known = new Set(first.events.map((event) => event.id));
    const last = first.events.at(-1);
    const isLast = this.pages.length === 1 && this.isComplete;
    const fresh = events.filter((event) => !known.has(event.id) && (isLast || (last && isBefore(event, last))));
    if (fresh.length === events.length && events.length >= PAGE_EVENTS_MAX) return undefined;
    const ids = new Set(fresh.map((event) => event.id));
    first.events = [...first.events, ...fresh].sort((a, b) => (isBefore(a, b) ? -1 : 1));
    first.count = first.events.length;
    first.lastId = first.events.at(-1)?.id ?? "";
    return first.events.flatMap((event, position) => (ids.has(event.id) ? [position] : []));
  }
}
