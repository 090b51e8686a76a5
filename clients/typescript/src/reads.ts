/** What a viewer token may read, and keys too. No import of Node, no import of the writing part. */
import { AuditApiError, AuditError } from "./errors.js";
import { type FollowedEvent, followFeed, type FollowOptions } from "./follow.js";
import { pagesOf } from "./pages.js";
import type { Transport } from "./transport.js";
import type {
  AuditEvent,
  Completeness,
  EventFilter,
  EventPage,
  EventProof,
  EventSummary,
  ExportFilter,
  FeedFilter,
  FeedPage,
  SummaryFilter,
  VisibleEvent,
} from "./types.js";
import {
  type CompletenessDocument,
  type Expectations,
  parseJson,
  type ProofOfEvent,
  type VerifiedCompleteness,
  type VerifiedEvent,
  verifyCompleteness,
  verifyProof,
  verifyReceipt,
} from "./verify/index.js";

/** Milliseconds that a long poll may take beyond its `wait`. */
const POLL_MARGIN_MS = 15_000;

/** Reading, following, exporting and verifying events: whole ones with a key, `VisibleEvent`s with a viewer token. */
export class EventReads<Event extends VisibleEvent = AuditEvent> {
  constructor(protected readonly transport: Transport) {}

  /** One page of `GET /events`, newest first. */
  list(filter: EventFilter = {}): Promise<EventPage<Event>> {
    return this.transport.json({ method: "GET", path: "/events", query: filter, isScoped: true });
  }

  /** All pages from the one of the filter's `cursor` on. */
  pages(filter: EventFilter = {}): AsyncGenerator<EventPage<Event>, void, undefined> {
    return pagesOf((cursor) => this.list({ ...filter, ...cursor }));
  }

  /** All events that match, newest first. */
  async *iterate(filter: EventFilter = {}): AsyncGenerator<Event, void, undefined> {
    for await (const page of this.pages({ limit: 200, ...filter })) {
      yield* page.events;
    }
  }

  /** How many events match, by time, and the most frequent values of the newest ones. */
  summary(filter: SummaryFilter = {}): Promise<EventSummary> {
    return this.transport.json({ method: "GET", path: "/events/summary", query: filter, isScoped: true });
  }

  /** One event. A viewer gets the fields that its tier shows. */
  async get(id: string): Promise<Event> {
    const call = { method: "GET", path: `/events/${encodeURIComponent(id)}`, isScoped: true } as const;
    return (await this.transport.json<{ event: Event }>(call)).event;
  }

  /** The proof that an event is in the log. {@link verify} reads it and verifies it. */
  proof(id: string): Promise<EventProof> {
    return this.transport.json({ method: "GET", path: `/events/${encodeURIComponent(id)}/proof`, isScoped: true });
  }

  /** The receipt of an event: its proof in one file. */
  receipt(id: string): Promise<string> {
    const path = `/events/${encodeURIComponent(id)}/receipt`;
    return this.transport.text({ method: "GET", path, isScoped: true, headers: { Accept: "text/plain" } });
  }

  /**
   * Reads an event and its proof, and verifies both against the key of the deployment. Use the `event` of the result: it has the
   * fields that are proved and no others.
   *
   * @throws VerificationError if the event is not, unchanged, in the log.
   */
  async verify(id: string, expectations: Expectations): Promise<VerifiedEvent> {
    const path = `/events/${encodeURIComponent(id)}`;
    // With all digits of large integers, which the content hash covers.
    const [event, proof] = await Promise.all([
      this.transport.read({ method: "GET", path, isScoped: true }, (text) => parseJson(text) as { event: object }),
      this.proof(id),
    ]);
    const verified = await verifyProof(event.event, proof as ProofOfEvent, expectations);
    if (verified.event["id"] !== id) {
      throw new AuditError(`the service sent the event ${String(verified.event["id"])} in place of ${id}`);
    }
    return verified;
  }

  /** Reads and verifies the receipt of an event. */
  async verifyReceipt(id: string, expectations: Expectations): Promise<VerifiedEvent> {
    return verifyReceipt(await this.receipt(id), expectations);
  }

  /** The proof that a tenant's events are complete. With a viewer token that of its tenant. */
  completeness(tenantId?: string): Promise<Completeness> {
    return this.transport.json({
      method: "GET",
      path: "/log/completeness",
      query: { tenant_id: tenantId },
      isScoped: true,
    });
  }

  /** Reads all events of the tenant from the feed, and verifies that none was left out. */
  async verifyCompleteness(key: string | readonly string[], tenantId?: string): Promise<VerifiedCompleteness> {
    const document = (await this.completeness(tenantId)) as CompletenessDocument;
    return verifyCompleteness(document, this.#committed(tenantId === undefined ? {} : { tenant_id: tenantId }), key);
  }

  /** All events that are committed, in the order of the feed. */
  async *#committed(filter: FeedFilter): AsyncGenerator<Event, void, undefined> {
    for (let after: string | undefined; ; ) {
      const page = await this.feed({ ...filter, limit: 200, ...(after === undefined ? {} : { after }) });
      yield* page.events;
      if (!page.has_more) {
        return;
      }
      after = page.cursor;
    }
  }

  /** One page of the feed: events in commit order, oldest first. With `wait` it is a long poll. */
  feed(filter: FeedFilter = {}, signal?: AbortSignal): Promise<FeedPage<Event>> {
    return this.transport.json({
      method: "GET",
      path: "/events/feed",
      query: filter,
      isScoped: true,
      signal,
      timeoutMs: Math.max(this.transport.timeoutMs, 1000 * Number(filter.wait ?? 0) + POLL_MARGIN_MS),
    });
  }

  /**
   * Follows the feed without end: each event once, in commit order, with the cursor behind it. Store the cursor after the event is safely
   * stored, and pass it as `after` next time. Interruptions are retried; an error that waiting does not cure ends the iteration.
   */
  follow(options: FollowOptions = {}): AsyncGenerator<FollowedEvent<Event>, void, undefined> {
    return followFeed(this.transport, (filter, signal) => this.feed(filter, signal), options);
  }

  /**
   * An export of all matching events as the service sends it: JSON lines, CSV or XLSX. A body that ends without an error is complete.
   */
  async export(filter: ExportFilter = {}, signal?: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const response = await this.transport.open({
      method: "GET",
      path: "/events/export",
      query: filter,
      isScoped: true,
      signal,
      headers: { Accept: "*/*" },
    });
    if (response.body === null) {
      throw new AuditApiError({ message: "the export has no body", status: response.status });
    }
    return response.body as ReadableStream<Uint8Array>;
  }
}
