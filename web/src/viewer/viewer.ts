import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { Api, asFailure, type Failure, isAbort } from "../shared/api.js";
import { scheme, theme } from "../shared/theme.js";
import type { AuditEvent, Summary } from "../shared/types.js";
import { Downloads } from "./downloads.js";
import type { EventDetails } from "./event-details.js";
import { EventPages } from "./event-pages.js";
import { claimsOf, type Filter, fromFragment, isEmpty, tenantOf, toFragment, toParameters, type View } from "./filter.js";
import { Formats } from "./format.js";
import { chooseLanguage } from "./languages/index.js";
import { follow } from "./live-feed.js";
import type { Outcome } from "./proof.js";
import { ProofChecks } from "./proof-checks.js";
import { pendingRow, row } from "./row.js";
import { failureText, state } from "./states.js";
import { viewerStyles } from "./viewer-styles.js";

const ROW_PX = 34;
const NARROW_ROW_PX = 56;
const NARROW_PX = 640;
/** Rows rendered above and below those that are visible. */
const OVERSCAN_ROWS = 12;
/** Older events are read when fewer rows than this are left below. */
const AHEAD_ROWS = 80;
/** New events are collected for this long, so that many become one request. */
const ARRIVALS_MS = 400;
/** The counts over time are read again at most this often while events arrive. */
const SUMMARY_MS = 10_000;
const CLOCK_MS = 15_000;
/** Fresh tokens are asked for at most this often. */
const REFRESH_MS_MIN = 5_000;

/** Returns a fresh token after the present one has expired. */
export type RefreshToken = () => Promise<string> | string;

/**
 * Shows the events of an audit log. Attributes: `base-url`, `token`, `pinned-key`, `lang`, `theme` (`auto`, `light`, `dark`),
 * `fragment` (keeps the view in the URL's fragment), `paused` (no live updates). docs/viewer.md describes them, the events and the styles.
 */
export class AuditLogViewer extends LitElement {
  static override properties = {
    baseUrl: { attribute: "base-url" },
    token: {},
    pinnedKey: { attribute: "pinned-key" },
    lang: { reflect: false },
    theme: { reflect: true },
    fragment: { type: Boolean },
    paused: { type: Boolean },
    projectId: { attribute: "project-id" },
    environment: {},
    refreshToken: { attribute: false },
    filter: { attribute: false },
    wanted: { attribute: false },
    opened: { state: true },
    failure: { state: true },
    isLoading: { state: true },
    isLoadingMore: { state: true },
    summary: { state: true },
    active: { state: true },
    isConnected_: { state: true },
    isOffline: { state: true },
    isAbsolute: { state: true },
    isUtc: { state: true },
    isNarrow: { state: true },
    arrivedCount: { state: true },
    isWaiting: { state: true },
    announcement: { state: true },
  };
  /** The server, without `/api/v1`; the origin of the page by default. */
  declare baseUrl: string;
  /** A viewer token; in the console a key. Never stored, and sent in a header only. */
  declare token: string;
  /** The key of the log, `<name>+<id>+<base64>`, that the proof mark checks signatures against. */
  declare pinnedKey: string | undefined;
  declare theme: string;
  declare fragment: boolean;
  declare paused: boolean;
  declare projectId: string | undefined;
  declare environment: string | undefined;
  declare refreshToken: RefreshToken | undefined;
  declare filter: Filter;
  /** The id of the event to open. */
  declare wanted: string | undefined;
  declare private opened: AuditEvent | undefined;
  declare private failure: Failure | undefined;
  declare private isLoading: boolean;
  declare private isLoadingMore: boolean;
  declare private summary: Summary | undefined;
  declare private active: number;
  declare private isConnected_: boolean;
  declare private isOffline: boolean;
  declare private isAbsolute: boolean;
  declare private isUtc: boolean;
  declare private isNarrow: boolean;
  declare private arrivedCount: number;
  declare private isWaiting: boolean;
  declare private announcement: string;

  private api: Api = new Api({ baseUrl: "", credential: "" });
  private formats = new Formats("en", chooseLanguage(["en"]).messages, false);
  private pages: EventPages | undefined;
  private loading = new AbortController();
  private following = new AbortController();
  private readonly downloads = new Downloads(this);
  private readonly checks = new ProofChecks(this);
  private arrivals: ReturnType<typeof setTimeout> | undefined;
  private clock: ReturnType<typeof setInterval> | undefined;
  private summaryReadAt = 0;
  private askedAt = -Infinity;
  private askedFor = "";
  private readonly freshIds = new Set<string>();
  private readonly resize = new ResizeObserver(([entry]) => {
    if (entry) this.isNarrow = entry.contentRect.width < NARROW_PX;
    this.requestUpdate();
  });

  static override styles = [theme, scheme, viewerStyles];

  constructor() {
    super();
    this.baseUrl = "";
    this.token = "";
    this.theme = "auto";
    this.fragment = false;
    this.paused = false;
    this.filter = {};
    this.isLoading = false;
    this.isLoadingMore = false;
    this.active = 0;
    this.isConnected_ = false;
    this.isOffline = false;
    this.isAbsolute = true;
    this.isUtc = false;
    this.isNarrow = false;
    this.arrivedCount = 0;
    this.isWaiting = false;
    this.announcement = "";
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.resize.observe(this);
    this.clock = setInterval(() => !this.isAbsolute && this.requestUpdate(), CLOCK_MS);
    addEventListener("hashchange", this.onHash);
    addEventListener("online", this.onOnline);
    if (this.fragment) this.applyView(fromFragment(location.hash));
    if (this.hasUpdated) this.start();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.resize.disconnect();
    clearInterval(this.clock);
    clearTimeout(this.arrivals);
    removeEventListener("hashchange", this.onHash);
    removeEventListener("online", this.onOnline);
    this.loading.abort();
    this.following.abort();
    this.downloads.abort();
  }

  /** The link to what is shown: filters and the open event, never the token. */
  get link(): string {
    return `${location.href.split("#")[0]}#${toFragment(this.view)}`;
  }

  private get view(): View {
    return { filter: this.filter, event: this.opened?.id ?? this.wanted };
  }

  private readonly onHash = (): void => {
    if (!this.fragment || toFragment(fromFragment(location.hash)) === toFragment(this.view)) return;
    this.applyView(fromFragment(location.hash));
  };

  private readonly onOnline = (): void => {
    if (this.isOffline || this.failure?.kind === "offline") this.start();
  };

  private applyView(view: View): void {
    this.filter = view.filter;
    this.wanted = view.event;
    this.opened = undefined;
  }

  private showView(): void {
    if (this.fragment && this.link !== location.href) history.replaceState(history.state, "", this.link);
    this.dispatchEvent(new CustomEvent("audit-view-changed", { detail: { fragment: toFragment(this.view) }, bubbles: true, composed: true }));
  }

  override willUpdate(changed: PropertyValues): void {
    if (changed.has("lang") || changed.has("isUtc") || !this.hasUpdated) {
      const inherited = this.parentElement?.closest("[lang]")?.getAttribute("lang");
      const { name, messages } = chooseLanguage([this.lang, inherited, ...navigator.languages].filter((tag) => tag) as string[]);
      // The reader's region decides how dates and numbers look, where it has one for this language.
      const regional = navigator.languages.find((tag) => tag.split("-")[0] === name.split("-")[0]);
      this.formats = new Formats(name.includes("-") ? name : (regional ?? name), messages, this.isUtc);
    }
    const credentials = ["baseUrl", "token", "projectId", "environment"];
    const isOther = credentials.some((name) => changed.has(name));
    if (isOther) {
      this.api = new Api({
        baseUrl: this.baseUrl, credential: this.token, projectId: this.projectId, environment: this.environment,
      });
    }
    if (changed.has("token") && this.isSameReader(changed.get("token") as string | undefined)) this.resume();
    else if (isOther || changed.has("filter")) this.start();
    if (changed.has("wanted") && this.wanted && this.pages && !this.isLoading) void this.openById(this.wanted);
    if (changed.has("paused") && !isOther && this.pages) this.followLive();
  }

  override updated(changed: PropertyValues): void {
    if (changed.has("filter") || changed.has("opened")) this.showView();
    this.layOut();
  }

  /** Reads everything again, from the newest event. Properties that were set before take effect first. */
  async reload(): Promise<void> {
    await this.updateComplete;
    this.start();
  }

  private start(): void {
    this.loading.abort();
    this.following.abort();
    this.loading = new AbortController();
    this.isWaiting = false;
    this.failure = undefined;
    this.isOffline = false;
    this.arrivedCount = 0;
    this.active = 0;
    this.pages = undefined;
    this.checks.clear();
    if (!this.token) return;
    void this.load(new EventPages(this.api, this.filter, this.loading.signal), this.loading.signal);
  }

  private async load(pages: EventPages, signal: AbortSignal): Promise<void> {
    this.isLoading = true;
    this.pages = pages;
    void this.readSummary(signal);
    try {
      await pages.more();
      this.announcement = this.formats.messages.loadedCount(this.formats.number(pages.length));
    } catch (error) {
      if (isAbort(error)) return;
      this.fail(asFailure(error));
    } finally {
      if (!signal.aborted) this.isLoading = false;
    }
    if (signal.aborted) return;
    const grid = this.grid;
    if (grid) grid.scrollTop = 0;
    if (!this.failure) this.followLive();
    if (this.wanted) void this.openById(this.wanted);
    this.requestUpdate();
  }

  /** Whether the present token shows the same events as the one before it, so that the list and its cursors stay valid. */
  private isSameReader(before: string | undefined): boolean {
    const [old, fresh] = [claimsOf(before ?? ""), claimsOf(this.token)];
    const isSame = old && fresh && old.sub === fresh.sub && old.tenant_id === fresh.tenant_id && old.tier === fresh.tier;
    return Boolean(isSame && this.pages && this.pages.length > 0);
  }

  /** Goes on with a fresh token: the list and its place stay. */
  private resume(): void {
    this.isWaiting = false;
    this.failure = undefined;
    this.pages?.continueWith(this.api);
    this.followLive();
  }

  private async readSummary(signal: AbortSignal): Promise<void> {
    this.summaryReadAt = Date.now();
    try {
      const parameters = { ...toParameters(this.filter), split: "category" };
      this.summary = await this.api.get<Summary>("/events/summary", parameters, signal);
    } catch (error) {
      // A server without counts, or a tier without them: the list works alone.
      if (!isAbort(error) && ["not_found", "forbidden"].includes(asFailure(error).kind)) this.summary = undefined;
    }
  }

  private followLive(): void {
    this.following.abort();
    this.isConnected_ = false;
    if (this.paused || !this.token) return;
    this.following = new AbortController();
    let isFirst = true;
    const listener = {
      arrived: () => this.onArrival(),
      connected: (isConnected: boolean) => {
        if (isConnected) this.isOffline = false;
        // What was stored after the list was read and before the feed began.
        if (isConnected && isFirst) this.onArrival();
        isFirst &&= !isConnected;
        this.isConnected_ = isConnected;
      },
      ended: (failure: Failure) => {
        if (failure.kind === "expired") this.fail(failure);
        // A tier without the feed: the list works alone.
        else this.paused = true;
      },
    };
    void follow(this.api, this.filter, listener, this.following.signal);
  }

  private onArrival(): void {
    this.arrivals ??= setTimeout(() => {
      this.arrivals = undefined;
      void this.showArrivals();
    }, ARRIVALS_MS);
  }

  private async showArrivals(): Promise<void> {
    const { pages, grid } = this;
    if (!pages || this.paused) return;
    const { signal } = this.loading;
    try {
      const positions = await pages.refresh();
      if (signal.aborted) return;
      if (!positions) return this.start();
      for (const position of positions) {
        const event = pages.at(position);
        if (event) this.freshIds.add(event.id);
        if (position <= this.active) this.active += 1;
      }
      if (positions.length > 0 && grid && grid.scrollTop > 0) {
        // What is read stays where it is.
        await this.updateComplete;
        grid.scrollTop += positions.length * this.rowHeight;
        this.arrivedCount += positions.length;
      } else this.active = Math.max(0, Math.min(this.active, pages.length - 1));
      if (Date.now() - this.summaryReadAt > SUMMARY_MS) void this.readSummary(signal);
      this.requestUpdate();
    } catch (error) {
      if (!isAbort(error)) this.fail(asFailure(error));
    }
  }

  /** Shows a failure, and asks the page for a fresh token if the present one has ended. */
  private fail(failure: Failure): void {
    if (failure.kind === "offline" && this.pages && this.pages.length > 0) {
      this.isOffline = true;
      return;
    }
    this.failure = failure;
    if (failure.kind !== "expired") return;
    this.following.abort();
    this.isConnected_ = false;
    void this.askForToken(failure);
  }

  private async askForToken(failure: Failure): Promise<void> {
    // Several requests may fail with one token.
    if (this.askedFor === this.token) return;
    this.askedFor = this.token;
    const request = new CustomEvent("audit-token-expired", { detail: { code: failure.code }, bubbles: true, composed: true, cancelable: true });
    const isHandled = !this.dispatchEvent(request);
    // A page whose fresh tokens are refused too must not be asked without end.
    const isTooSoon = Date.now() - this.askedAt < REFRESH_MS_MIN;
    this.isWaiting = isHandled || (Boolean(this.refreshToken) && !isTooSoon);
    if (!this.refreshToken || isTooSoon) return;
    this.askedAt = Date.now();
    try {
      this.token = await this.refreshToken();
    } catch {
      this.isWaiting = false;
    }
  }

  private get grid(): HTMLElement | null {
    return this.renderRoot.querySelector<HTMLElement>(".grid");
  }

  private get rowHeight(): number {
    return this.isNarrow ? NARROW_ROW_PX : ROW_PX;
  }

  /** The positions that are rendered. */
  private window(): [number, number] {
    const { grid, pages } = this;
    const length = pages?.length ?? 0;
    const top = grid?.scrollTop ?? 0;
    const height = grid?.clientHeight || 800;
    const from = Math.max(0, Math.floor(top / this.rowHeight) - OVERSCAN_ROWS);
    return [Math.min(from, length), Math.min(length, Math.ceil((top + height) / this.rowHeight) + OVERSCAN_ROWS)];
  }

  /** Sets the heights of what is not rendered, and reads what is about to be seen. */
  private layOut(): void {
    const { pages } = this;
    if (!pages) return;
    const [from, to] = this.window();
    const before = this.renderRoot.querySelector<HTMLElement>(".before-rows");
    const after = this.renderRoot.querySelector<HTMLElement>(".after-rows");
    before?.style.setProperty("height", `${from * this.rowHeight}px`);
    after?.style.setProperty("height", `${(pages.length - to) * this.rowHeight}px`);
    if (to + AHEAD_ROWS > pages.length && !pages.isComplete && !this.isLoading && !this.isLoadingMore && !this.failure && !this.isOffline) {
      void this.more();
    }
    void pages.show(from, to).then((isChanged) => isChanged && this.requestUpdate(), (error: unknown) => this.onBackground(error));
  }

  private onBackground(error: unknown): void {
    if (!isAbort(error)) this.fail(asFailure(error));
  }

  private async more(): Promise<void> {
    this.isLoadingMore = true;
    try {
      await this.pages?.more();
    } catch (error) {
      this.onBackground(error);
    } finally {
      this.isLoadingMore = false;
    }
  }

  /** Verifies the proofs of the rows that are seen. */
  private verifyShown(): void {
    const { pages, grid } = this;
    if (!pages || !grid) return;
    const from = Math.floor(grid.scrollTop / this.rowHeight);
    const count = Math.ceil(grid.clientHeight / this.rowHeight);
    const shown = Array.from({ length: count }, (_, index) => pages.at(from + index)).filter((event) => event !== undefined);
    void this.checks.run(shown, this.api, this.pinnedKey, this.formats, this.loading.signal);
  }

  private onProof(event: CustomEvent<{ outcome: Outcome }>): void {
    if (this.opened) this.checks.note(this.opened, event.detail.outcome);
  }

  override render(): TemplateResult {
    const { messages: t } = this.formats;
    const isListed = this.pages && (this.pages.length > 0 || (!this.isLoading && !this.failure));
    return html`
      <div class="root ${this.isNarrow ? "narrow" : ""} ${this.hasTenants ? "tenants" : ""}" dir=${t.direction} lang=${this.formats.language}>
        ${this.token ? this.head() : nothing}
        <div class="messages">${this.messages()}</div>
        <div class="main">
          ${isListed && this.pages && this.pages.length > 0 ? this.list(this.pages) : this.emptyState()}
          ${this.opened
            ? html`<audit-log-event
                part="details" exportparts="proof, details-header"
                .event=${this.opened} .api=${this.api} .pinnedKey=${this.pinnedKey} .formats=${this.formats}
                @close=${() => this.close()} @step=${(event: CustomEvent<number>) => this.step(event.detail)}
                @filter-by=${this.onFilterBy} @audit-proof-checked=${this.onProof} @keydown=${this.onDetailsKey}
              ></audit-log-event>`
            : nothing}
        </div>
        ${this.token ? this.foot() : nothing}
        <div class="visually-hidden" role="status">${this.announcement}</div>
      </div>
    `;
  }

  /** Whether events can be of several tenants. */
  private get hasTenants(): boolean {
    return !tenantOf(this.token);
  }

  private head(): TemplateResult {
    const { messages: t } = this.formats;
    const { summary } = this;
    return html`
      <div class="top">
        <audit-log-filters
          .filter=${this.filter} .top=${summary?.top} .formats=${this.formats} .isUtc=${this.isUtc} .hasTenants=${this.hasTenants}
          @filter-change=${(event: CustomEvent<Filter>) => (this.filter = event.detail)}
        >
          <div class="tools">
            <button class="live" aria-pressed=${!this.paused} title=${this.paused ? t.liveStart : t.livePause} @click=${() => (this.paused = !this.paused)}>
              ${!this.paused && !this.isConnected_ && !this.failure ? t.liveConnecting : t.live}
            </button>
            ${this.downloads.menu(this.api, this.filter, this.formats)}
          </div>
        </audit-log-filters>
      </div>
      ${summary && summary.buckets.length > 0
        ? html`<div class="chart">
            <audit-log-histogram
              .summary=${summary} .formats=${this.formats} ?narrow=${this.isNarrow}
              .isZoomed=${Boolean(this.filter.start_date || this.filter.end_date)}
              @zoom=${(event: CustomEvent<{ start: string; end: string }>) =>
                (this.filter = { ...this.filter, start_date: event.detail.start, end_date: event.detail.end })}
              @zoom-out=${() => this.zoomOut()}
            ></audit-log-histogram>
          </div>`
        : nothing}
    `;
  }

  private zoomOut(): void {
    const { start_date: _start, end_date: _end, ...rest } = this.filter;
    this.filter = rest;
  }

  private messages(): TemplateResult {
    const { messages: t } = this.formats;
    const offline = html`<div class="notice" role="status"><b>${t.offline}</b><span>${t.offlineText}</span>
      <button @click=${() => this.start()}>${t.retry}</button></div>`;
    const isListed = this.pages && this.pages.length > 0;
    return html`${this.isOffline ? offline : nothing}
      ${this.failure && isListed ? html`<div class="notice bad" role="alert">${this.failureText(this.failure)}</div>` : nothing}
      ${this.checks.message(this.formats)} ${this.downloads.message(this.formats)}`;
  }

  private emptyState(): TemplateResult {
    const { messages: t } = this.formats;
    if (!this.token) return state(t.noToken, t.noTokenText);
    if (this.failure) return html`<div class="state" part="state" role="alert">${this.failureText(this.failure)}</div>`;
    if (this.isLoading || !this.pages) return html`<div class="state" part="state" role="status"><p class="spinner">${t.loading}</p></div>`;
    if (isEmpty(this.filter)) return state(t.empty, t.emptyText);
    return state(t.emptyFilter, t.emptyFilterText, html`<button @click=${() => (this.filter = {})}>${t.clearFilters}</button>`);
  }

  private failureText(failure: Failure): TemplateResult {
    return failureText(failure, this.formats.messages, this.isWaiting, () => this.start());
  }

  private list(pages: EventPages): TemplateResult {
    const { messages: t } = this.formats;
    const [from, to] = this.window();
    const positions = Array.from({ length: to - from }, (_, index) => from + index);
    // A row keeps its element while it is rendered: a click that scrolls must not land on another event.
    const rows = repeat(positions, (position) => position, (position) => this.line(position, pages.at(position)));
    const columns = [t.time, t.action, t.actor, t.target, ...(this.hasTenants ? [t.tenant] : [])];
    return html`<div class="list">
      ${this.arrivedCount > 0
        ? html`<div class="arrived"><button class="primary" @click=${() => this.scrollToTop()}>
            ↑ ${t.newEvents(this.formats.number(this.arrivedCount), this.arrivedCount === 1)}
          </button></div>`
        : nothing}
      <div
        class="grid" part="list" role="grid" tabindex="0" aria-label=${t.events} aria-colcount=${columns.length}
        aria-rowcount=${pages.isComplete ? pages.length + 1 : -1}
        aria-activedescendant=${this.active >= from && this.active < to ? `row-${this.active}` : nothing}
        @scroll=${this.onScroll} @keydown=${this.onKey}
      >
        <div class="columns" role="rowgroup">
          <div class="head" role="row" aria-rowindex="1">${columns.map((name) => html`<div role="columnheader">${name}</div>`)}</div>
        </div>
        <div role="rowgroup">
          <div class="before-rows" role="presentation"></div>
          ${rows}
          <div class="after-rows" role="presentation"></div>
        </div>
        <div class="end">${pages.isComplete ? t.endOfLog : this.isLoadingMore ? t.loadingMore : nothing}</div>
      </div>
    </div>`;
  }

  private line(position: number, event: AuditEvent | undefined): TemplateResult {
    if (!event) return pendingRow(position);
    const state = {
      position,
      isActive: position === this.active,
      isOpen: event.id === this.opened?.id,
      isFresh: this.freshIds.has(event.id),
      isRelative: !this.isAbsolute || this.isNarrow,
      hasTenant: this.hasTenants,
      open: () => this.open(position),
    };
    return row(event, state, this.formats, this.checks);
  }

  private foot(): TemplateResult {
    const { messages: t } = this.formats;
    const { pages, summary } = this;
    const total = summary?.total;
    const loaded = pages?.length ?? 0;
    const count = total ?? loaded;
    const text = total === undefined && !pages?.isComplete ? t.loadedCount(this.formats.number(loaded)) : t.eventCount(this.formats.number(count), count === 1);
    return html`<footer part="footer">
      <span>${loaded > 0 || total !== undefined ? text : nothing}</span>
      <div class="tools">
        <button class="plain" ?disabled=${this.checks.progress?.isRunning} @click=${() => this.verifyShown()}>${t.proof.checkShown}</button>
        ${this.fragment ? html`<button class="plain" @click=${() => this.copyLink()}>${t.copyLink}</button>` : nothing}
        <button class="plain" @click=${() => (this.isAbsolute = !this.isAbsolute)}>${this.isAbsolute ? t.relativeTimes : t.absoluteTimes}</button>
        <button class="plain" aria-pressed=${this.isUtc} @click=${() => (this.isUtc = !this.isUtc)}>${t.utc}</button>
      </div>
    </footer>`;
  }

  private async copyLink(): Promise<void> {
    await navigator.clipboard.writeText(this.link).catch(() => undefined);
    this.announcement = this.formats.messages.copied;
  }

  private onScroll(): void {
    if (this.grid?.scrollTop === 0) this.arrivedCount = 0;
    this.requestUpdate();
  }

  private scrollToTop(): void {
    this.arrivedCount = 0;
    this.active = 0;
    this.grid?.scrollTo({ top: 0 });
    this.grid?.focus();
  }

  private onKey(event: KeyboardEvent): void {
    const rows = Math.max(1, Math.floor((this.grid?.clientHeight ?? 400) / this.rowHeight) - 2);
    const steps: Record<string, number> = {
      ArrowDown: 1, ArrowUp: -1, PageDown: rows, PageUp: -rows, Home: -Infinity, End: Infinity,
    };
    const step = steps[event.key];
    if (step !== undefined) this.moveTo(this.active + step);
    else if (event.key === "Enter" || event.key === " ") this.open(this.active, true);
    else if (event.key === "Escape" && this.opened) this.close();
    else return;
    event.preventDefault();
  }

  private moveTo(position: number): void {
    const { grid, pages } = this;
    if (!grid || !pages) return;
    this.active = Math.max(0, Math.min(position, pages.length - 1));
    const top = this.active * this.rowHeight;
    const head = this.isNarrow ? 0 : 30;
    if (top < grid.scrollTop) grid.scrollTop = top;
    else if (top + this.rowHeight + head > grid.scrollTop + grid.clientHeight) grid.scrollTop = top + this.rowHeight + head - grid.clientHeight;
    if (this.opened && !this.isNarrow) this.open(this.active);
  }

  private open(position: number, isFocused = false): void {
    const event = this.pages?.at(position);
    if (!event) return;
    this.active = position;
    this.wanted = undefined;
    this.opened = event;
    this.dispatchEvent(new CustomEvent("audit-event-opened", { detail: { id: event.id }, bubbles: true, composed: true }));
    if (isFocused || this.isNarrow) void this.focusDetails();
  }

  private async focusDetails(): Promise<void> {
    await this.updateComplete;
    const details = this.renderRoot.querySelector<EventDetails>("audit-log-event");
    await details?.updateComplete;
    details?.focus();
  }

  private async openById(id: string): Promise<void> {
    try {
      const { event } = await this.api.get<{ event: AuditEvent }>(`/events/${id}`, {}, this.loading.signal);
      this.wanted = undefined;
      this.opened = event;
    } catch (error) {
      if (isAbort(error)) return;
      this.wanted = undefined;
      this.announcement = this.formats.messages.eventNotFound;
    }
  }

  private step(direction: number): void {
    this.moveTo(this.active + direction);
    this.open(this.active);
  }

  private close(): void {
    this.opened = undefined;
    void this.updateComplete.then(() => this.grid?.focus());
  }

  private onDetailsKey(event: KeyboardEvent): void {
    if (event.key === "Escape") this.close();
  }

  private onFilterBy(event: CustomEvent<{ field: keyof Filter; value: string }>): void {
    if (this.isNarrow) this.opened = undefined;
    this.filter = { ...this.filter, [event.detail.field]: event.detail.value };
  }
}
