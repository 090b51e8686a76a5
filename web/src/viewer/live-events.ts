import type { ReactiveControllerHost } from "lit";
import { type Api, asFailure, type Failure, isAbort } from "../shared/api.js";
import type { Summary } from "../shared/types.js";
import { EventPages } from "./event-pages.js";
import { claimsOf, type Filter, toParameters } from "./filter.js";
import type { Formats } from "./format.js";
import { follow } from "./live-feed.js";
import { readSummary } from "./summary.js";

/** New events are collected for this long, so that many become one request. */
const ARRIVALS_MS = 400;
/** The counts over time are read again at most this often while events arrive. */
const SUMMARY_MS = 10_000;
/** Fresh tokens are asked for at most this often. */
const REFRESH_MS_MIN = 5_000;

/** Returns a fresh token after the present one has expired. */
export type RefreshToken = () => Promise<string> | string;

/** The element that shows the events. */
export interface LiveEventsHost extends ReactiveControllerHost, EventTarget {
  token: string;
  paused: boolean;
  refreshToken: RefreshToken | undefined;
  readonly api: Api;
  readonly filter: Filter;
  readonly formats: Formats;
  /** The events are read again, from the newest one. */
  eventsStarted(): void;
  /** The first page was read. */
  eventsLoaded(count: number): void;
  /** New events were inserted at these positions. */
  eventsArrived(positions: readonly number[]): Promise<void>;
}

/**
 * The events of the present filter: read page by page, followed live, and continued with fresh tokens. Events that were read before
 * stay until those of the present filter have been read.
 */
export class LiveEvents {
  pages: EventPages | undefined;
  /** The pages of the present filter, before their first one was read. */
  private next: EventPages | undefined;
  summary: Summary | undefined;
  failure: Failure | undefined;
  isLoading = false;
  isLoadingMore = false;
  /** Whether the feed is open. */
  isConnected = false;
  isOffline = false;
  /** Whether the summary is not that of the present filter, because it could not be read. */
  private isSummaryOld = false;
  /** Whether the summary of the present filter is being read. */
  isCounting = false;
  /** When events were read last, and when they were counted, in milliseconds since 1970. */
  private readAt = 0;
  private countedAt = 0;
  /** Whether a fresh token is on its way. */
  isWaiting = false;
  readonly freshIds = new Set<string>();

  private loading = new AbortController();
  private following = new AbortController();
  private arrivals: ReturnType<typeof setTimeout> | undefined;
  private summaryReadAt = 0;
  private askedAt = -Infinity;
  private askedFor = "";

  constructor(private readonly host: LiveEventsHost) {}

  private set(changes: Partial<Pick<LiveEvents, "pages" | "summary" | "failure" | "isLoading" | "isLoadingMore" | "isConnected" | "isOffline" | "isWaiting">>): void {
    Object.assign(this, changes);
    this.host.requestUpdate();
  }

  /** Aborted when the events are read from their beginning. */
  get signal(): AbortSignal {
    return this.loading.signal;
  }

  get length(): number {
    return this.pages?.length ?? 0;
  }

  stop(): void {
    clearTimeout(this.arrivals);
    this.arrivals = undefined;
    this.loading.abort();
    this.following.abort();
  }

  /** Forgets everything: the events that follow are those of another reader. */
  forget(): void {
    this.stop();
    this.next = undefined;
    this.isSummaryOld = false;
    this.set({ pages: undefined, summary: undefined, isOffline: false });
    this.host.eventsStarted();
  }

  /** Reads everything again, from the newest event. */
  start(): void {
    this.stop();
    this.loading = new AbortController();
    this.set({ isWaiting: false, failure: undefined, isConnected: false, isLoading: false });
    if (this.host.token) void this.load(new EventPages(this.host.api, this.host.filter, this.signal), this.signal);
  }

  private async load(pages: EventPages, signal: AbortSignal): Promise<void> {
    this.next = pages;
    this.set({ isLoading: true });
    void this.readSummary(signal);
    try {
      await pages.more();
    } catch (error) {
      if (isAbort(error)) return;
      this.fail(asFailure(error));
      // The feed tells when the server is there again.
      if (this.isOffline) this.followLive();
      return;
    } finally {
      if (!signal.aborted) this.set({ isLoading: false });
    }
    if (signal.aborted) return;
    this.next = undefined;
    this.readAt = Date.now();
    this.set({ pages, isOffline: false });
    this.host.eventsStarted();
    this.host.eventsLoaded(pages.length);
    this.followLive();
  }

  /** When what is shown was read, in milliseconds since 1970, if it may be out of date. */
  get oldSince(): number | undefined {
    if (!this.isOffline && !this.failure && !this.isSummaryOld) return undefined;
    return this.summary ? this.countedAt : this.readAt;
  }

  /** Whether new events appear. */
  get isLive(): boolean {
    return !this.host.paused && !this.failure && !this.isOffline;
  }

  /** The server does not respond. */
  lost(): void {
    if (this.length > 0) this.set({ isOffline: true, isConnected: false });
  }

  /** Whether the present token shows the same events as the one before it, so that the list and its cursors stay valid. */
  isSameReader(before: string | undefined): boolean {
    const [old, fresh] = [claimsOf(before ?? ""), claimsOf(this.host.token)];
    const isSame = old && fresh && old.sub === fresh.sub && old.tenant_id === fresh.tenant_id && old.tier === fresh.tier;
    return Boolean(isSame && this.length > 0);
  }

  /** Goes on with a fresh token: the list and its place stay. */
  resume(): void {
    if (this.next) return this.start();
    this.set({ isWaiting: false, failure: undefined });
    this.pages?.continueWith(this.host.api);
    this.followLive();
  }

  /** Counts again, in the present time zone. */
  recount(): void {
    if (this.pages) void this.readSummary(this.signal);
  }

  private async readSummary(signal: AbortSignal): Promise<void> {
    this.summaryReadAt = Date.now();
    this.isCounting = true;
    try {
      const summary = await readSummary(this.host.api, toParameters(this.host.filter), this.host.formats.zone, signal);
      this.countedAt = Date.now();
      this.isSummaryOld = false;
      this.set({ summary });
    } catch (error) {
      if (isAbort(error)) return;
      // A server without counts, a tier without them, or too many events to count: the list works alone.
      if (["not_found", "forbidden", "invalid"].includes(asFailure(error).kind)) this.set({ summary: undefined });
      this.isSummaryOld = this.summary !== undefined;
    } finally {
      // A read that was aborted has another one in its place.
      if (!signal.aborted) this.isCounting = false;
      this.host.requestUpdate();
    }
  }

  followLive(): void {
    this.following.abort();
    this.set({ isConnected: false });
    if (this.host.paused || !this.host.token) return;
    this.following = new AbortController();
    let isFirst = true;
    const listener = {
      arrived: () => this.onArrival(),
      connected: (isConnected: boolean) => {
        if (isConnected && this.next) return this.start();
        // What was stored after the list was read and before the feed began.
        if (isConnected && (isFirst || this.isOffline)) this.onArrival();
        if (isConnected && this.isOffline) this.summaryReadAt = 0;
        isFirst &&= !isConnected;
        this.set(isConnected ? { isConnected, isOffline: false } : { isConnected });
      },
      lost: () => this.lost(),
      ended: (failure: Failure) => {
        if (failure.kind === "expired") this.fail(failure);
        // A tier without the feed: the list works alone.
        else this.host.paused = true;
      },
    };
    void follow(this.host.api, this.host.filter, listener, this.following.signal);
  }

  private onArrival(): void {
    this.arrivals ??= setTimeout(() => {
      this.arrivals = undefined;
      void this.readArrivals();
    }, ARRIVALS_MS);
  }

  private async readArrivals(): Promise<void> {
    const { pages, signal } = this;
    if (!pages || this.host.paused) return;
    try {
      const positions = await pages.refresh();
      if (signal.aborted) return;
      if (!positions) return this.start();
      this.readAt = Date.now();
      // The server responds again.
      this.failure = undefined;
      for (const position of positions) {
        const event = pages.at(position);
        if (event) this.freshIds.add(event.id);
      }
      await this.host.eventsArrived(positions);
      if (Date.now() - this.summaryReadAt > SUMMARY_MS) void this.readSummary(signal);
      this.host.requestUpdate();
    } catch (error) {
      this.onBackground(error);
    }
  }

  /** Reads the next page. */
  async more(): Promise<void> {
    this.set({ isLoadingMore: true });
    try {
      await this.pages?.more();
    } catch (error) {
      this.onBackground(error);
    } finally {
      this.set({ isLoadingMore: false });
    }
  }

  /** Whether an older page can be read now. */
  get canReadMore(): boolean {
    return Boolean(this.pages && !this.pages.isComplete && !this.isLoading && !this.isLoadingMore && !this.failure && !this.isOffline);
  }

  /** A failure of a request that nobody waits for. */
  onBackground(error: unknown): void {
    if (!isAbort(error)) this.fail(asFailure(error));
  }

  /** Shows a failure, and asks the page for a fresh token if the present one has ended. */
  private fail(failure: Failure): void {
    if (failure.kind === "offline" && this.length > 0) {
      this.lost();
      return;
    }
    // The request was made with the token before. Reading goes on with the present one.
    if (failure.kind === "expired" && !failure.refuses(this.host.token)) return;
    this.set({ failure, isOffline: false });
    if (failure.kind !== "expired") return;
    this.following.abort();
    this.set({ isConnected: false });
    void this.askForToken(failure);
  }

  private async askForToken(failure: Failure): Promise<void> {
    const { host } = this;
    // Several requests may fail with one token.
    if (this.askedFor === host.token) return;
    this.askedFor = host.token;
    const request = new CustomEvent("audit-token-expired", { detail: { code: failure.code }, bubbles: true, composed: true, cancelable: true });
    const isHandled = !host.dispatchEvent(request);
    // A page whose fresh tokens are refused too must not be asked without end.
    const isTooSoon = Date.now() - this.askedAt < REFRESH_MS_MIN;
    this.set({ isWaiting: isHandled || (Boolean(host.refreshToken) && !isTooSoon) });
    if (!host.refreshToken || isTooSoon) return;
    this.askedAt = Date.now();
    try {
      host.token = await host.refreshToken();
    } catch {
      this.set({ isWaiting: false });
    }
  }
}
