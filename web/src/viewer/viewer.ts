import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { Api, asFailure, type Failure, isAbort } from "../shared/api.js";
import { scheme, theme } from "../shared/theme.js";
import type { AuditEvent } from "../shared/types.js";
import { ActionLabels } from "./action-labels.js";
import { CopyLink } from "./copy-link.js";
import { Downloads } from "./downloads.js";
import type { EventDetails, PageOf } from "./event-details.js";
import { Facets } from "./facets.js";
import { choiceOf, choose, type Filter, fromFragment, isEmpty, isReversed, isSameStep, nextChoice, tenantOf, toFragment, type ValueField, type View, without } from "./filter.js";
import { FilterPane } from "./filter-pane.js";
import { Formats } from "./format.js";
import { Grid } from "./grid.js";
import { chooseLanguage } from "./languages/index.js";
import { LiveEvents, type RefreshToken } from "./live-events.js";
import { periodOf, rangeOf } from "./period.js";
import type { Outcome } from "./proof.js";
import { ProofChecks } from "./proof-checks.js";
import { failureText, SIGN_IN, state } from "./states.js";
import { viewerStyles } from "./viewer-styles.js";

export type { RefreshToken } from "./live-events.js";

/** Relative times are written again this often. */
const CLOCK_MS = 15_000;

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
    withoutOwnEvents: { attribute: false },
    pageOf: { attribute: false },
    opened: { state: true },
    isAbsolute: { state: true },
    isUtc: { state: true },
    announcement: { state: true },
    missing: { state: true },
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
  /** Whether the list leaves out the service's own events, which a key sees. */
  declare withoutOwnEvents: boolean | undefined;
  /** Links the actor and the target of an event to pages about them. */
  declare pageOf: PageOf | undefined;
  declare private opened: AuditEvent | undefined;
  declare isAbsolute: boolean;
  declare private isUtc: boolean;
  /** What a screen reader says. */
  declare announcement: string;
  /** Why the wanted event is not shown. */
  declare private missing: string;

  api: Api = new Api({ baseUrl: "", credential: "" });
  formats = new Formats("en", chooseLanguage(["en"]).messages, false);
  readonly checks = new ProofChecks(this);
  readonly labels = new ActionLabels(this);
  readonly events = new LiveEvents(this);
  readonly facets = new Facets(this);
  private readonly pane = new FilterPane(this);
  private readonly grid = new Grid(this);
  private readonly downloads = new Downloads(this);
  private readonly copyLink = new CopyLink(this);
  private clock: ReturnType<typeof setInterval> | undefined;

  static override styles = [theme, scheme, viewerStyles];

  constructor() {
    super();
    this.baseUrl = "";
    this.token = "";
    this.theme = "auto";
    this.fragment = false;
    this.paused = false;
    this.filter = {};
    this.isAbsolute = true;
    this.isUtc = false;
    this.announcement = "";
    this.missing = "";
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.grid.connect();
    this.clock = setInterval(() => !this.isAbsolute && this.requestUpdate(), CLOCK_MS);
    addEventListener("hashchange", this.onHash);
    addEventListener("online", this.onOnline);
    addEventListener("offline", this.onOffline);
    if (this.fragment) this.applyView(fromFragment(location.hash));
    if (this.hasUpdated) this.events.start();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.grid.disconnect();
    clearInterval(this.clock);
    removeEventListener("hashchange", this.onHash);
    removeEventListener("online", this.onOnline);
    removeEventListener("offline", this.onOffline);
    this.events.stop();
    this.facets.stop();
    this.downloads.abort();
  }

  /** The link to what is shown: filters, the open event and UTC, never the token. */
  get link(): string {
    return `${location.href.split("#")[0]}#${toFragment(this.view)}`;
  }

  /** The view as it is in a link. */
  get viewFragment(): string {
    return toFragment(this.view);
  }

  private get view(): View {
    return { filter: this.filter, event: this.opened?.id ?? this.wanted, isUtc: this.isUtc };
  }

  private readonly onHash = (): void => {
    if (!this.fragment || toFragment(fromFragment(location.hash)) === toFragment(this.view)) return;
    this.applyView(fromFragment(location.hash));
  };

  private readonly onOnline = (): void => {
    if (this.events.isOffline || this.events.failure?.kind === "offline") this.events.start();
  };

  private readonly onOffline = (): void => this.events.lost();

  /** Shows a view: its filter, its open event and its zone. */
  applyView(view: View): void {
    // The same filter is not read again.
    if (toFragment({ filter: view.filter }) !== toFragment({ filter: this.filter })) this.filter = view.filter;
    this.wanted = view.event;
    this.isUtc = view.isUtc ?? false;
    this.opened = undefined;
  }

  /** Puts the view into the address bar. Back leads to the view before, not through each letter and each event on the way. */
  private showView(): void {
    if (this.fragment && this.link !== location.href) {
      const isOnTheWay = isSameStep(fromFragment(location.hash), this.view);
      history[isOnTheWay ? "replaceState" : "pushState"](history.state, "", this.link);
    }
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
    const credentials = ["baseUrl", "token", "projectId", "environment", "withoutOwnEvents"];
    const isOther = credentials.some((name) => changed.has(name));
    if (isOther) {
      this.api = new Api({
        baseUrl: this.baseUrl, credential: this.token, projectId: this.projectId, environment: this.environment, withoutOwnEvents: this.withoutOwnEvents,
      });
    }
    const { events } = this;
    const isSameReader = changed.has("token") && events.isSameReader(changed.get("token") as string | undefined);
    if (isOther || changed.has("lang")) void this.labels.read(this.api, this.formats.language, isSameReader);
    if (isSameReader) events.resume();
    else if (isOther || changed.has("filter")) {
      if (isOther) {
        this.opened = undefined;
        events.forget();
        this.facets.forget();
      }
      events.start();
    }
    else if (changed.has("isUtc")) events.recount();
    if (changed.has("wanted") && this.wanted && events.pages && !events.isLoading) void this.openById(this.wanted);
    if (changed.has("paused") && !isOther && events.pages) events.followLive();
  }

  override updated(changed: PropertyValues): void {
    if (changed.has("filter") || changed.has("opened") || changed.has("isUtc")) this.showView();
    this.placeDetails();
    this.pane.place();
    this.grid.layOut();
    this.facets.update();
  }

  /** Details are beside the list, or over the page: then the browser keeps the focus within them. */
  private placeDetails(): void {
    const dialog = this.renderRoot.querySelector<HTMLDialogElement>("dialog.details");
    if (!dialog || (dialog.open && dialog.matches(":modal") === this.grid.isSmall)) return;
    dialog.close();
    if (this.grid.isSmall) dialog.showModal();
    else dialog.open = true;
  }

  /** Reads everything again, from the newest event. Properties that were set before take effect first. */
  async reload(): Promise<void> {
    await this.updateComplete;
    this.events.start();
  }

  eventsStarted(): void {
    this.grid.reset();
    this.checks.clear();
  }

  eventsLoaded(count: number): void {
    if (!this.events.failure) this.announcement = this.formats.messages.loadedCount(this.formats.number(count));
    if (this.wanted) void this.openById(this.wanted);
  }

  eventsArrived(positions: readonly number[]): Promise<void> {
    return this.grid.insert(positions);
  }

  get openedId(): string | undefined {
    return this.opened?.id;
  }

  /** Whether events can be of several tenants. */
  get hasTenants(): boolean {
    return !tenantOf(this.token);
  }

  /** Whose searches this browser remembers: a reader of another tenant does not see them. */
  private get owner(): string {
    return [this.baseUrl, tenantOf(this.token) ?? this.projectId ?? ""].join(" ");
  }

  /** Verifies the proofs of the rows that are seen. */
  private verifyShown(): void {
    void this.checks.run(this.grid.seen(), this.api, this.pinnedKey, this.formats, this.events.signal);
  }

  private onProof(event: CustomEvent<{ outcome: Outcome }>): void {
    if (this.opened) this.checks.note(this.opened, event.detail.outcome);
  }

  override render(): TemplateResult {
    const { messages: t } = this.formats;
    const { pages } = this.events;
    return html`
      <div class="root ${this.grid.isSmall ? "small" : ""} ${this.hasTenants ? "tenants" : ""}" dir=${t.direction} lang=${this.formats.language}>
        ${this.token ? this.head() : nothing}
        <div class="messages">${this.messages()}</div>
        ${this.pane.dialog(this.countText)}
        <div class="main">
          ${this.token ? this.pane.aside() : nothing} ${pages && pages.length > 0 ? this.grid.template(pages) : this.emptyState()}
          ${this.opened
            ? html`<dialog class="details" aria-label=${t.details} @cancel=${this.onCancel} @keydown=${this.onDetailsKey}><audit-log-event
                part="details" exportparts="proof, details-header"
                .event=${this.opened} .api=${this.api} .pinnedKey=${this.pinnedKey} .formats=${this.formats} .label=${this.labels.of(this.opened)} .pageOf=${this.pageOf}
                @close=${() => this.close()} @step=${(event: CustomEvent<number>) => this.step(event.detail)}
                @filter-by=${this.onFilterBy} @audit-proof-checked=${this.onProof}
              ></audit-log-event></dialog>`
            : nothing}
          ${this.copyLink.toast()}
        </div>
        ${this.token ? this.foot() : nothing}
        <div class="visually-hidden" role="status">${this.announcement}</div>
      </div>
    `;
  }

  private head(): TemplateResult {
    const { messages: t } = this.formats;
    const { summary, isConnected, isLive } = this.events;
    const liveText = this.paused || (isLive && isConnected) ? t.live : isLive ? t.liveConnecting : t.liveOff;
    return html`
      <div class="top">
        <audit-log-filters
          .filter=${this.filter} .facets=${this.facets} .formats=${this.formats} .isUtc=${this.isUtc} .owner=${this.owner} .isPanelOpen=${this.pane.isOpen}
          @filter-change=${(event: CustomEvent<Filter>) => (this.filter = event.detail)} @panel=${() => this.pane.toggle()}
          @open-event=${(event: CustomEvent<string>) => (this.wanted = event.detail)}
        >
          <div class="tools">
            <button
              class="live ${isLive && isConnected ? "on" : ""}" aria-pressed=${isLive} title=${isLive ? t.livePause : t.liveStart}
              @click=${() => this.switchLive()}
            >${liveText}</button>
            ${this.downloads.menu(this.api, this.filter, this.formats, this.labels.isEmpty ? undefined : this.formats.language)}
          </div>
        </audit-log-filters>
      </div>
      ${summary && summary.buckets.length > 0
        ? html`<div class="chart">
            <audit-log-histogram
              .summary=${summary} .formats=${this.formats} .asOf=${this.asOf} ?narrow=${this.grid.isSmall}
              .isZoomed=${Boolean(this.filter.start_date || this.filter.end_date)} .filter=${this.filter}
              @category=${({ detail: value }: CustomEvent<string>) =>
                (this.filter = choose(this.filter, "category", value, nextChoice(choiceOf(this.filter, "category", value))))}
              @zoom=${(event: CustomEvent<{ start: string; end: string }>) =>
                (this.filter = { ...this.filter, start_date: event.detail.start, end_date: event.detail.end })}
              @zoom-out=${() => this.zoomOut()}
            ></audit-log-histogram>
          </div>`
        : nothing}
    `;
  }

  private switchLive(): void {
    const { isLive } = this.events;
    if (!isLive && !this.paused) this.events.start();
    else this.paused = isLive;
  }

  /** When what is shown was read, in words, if it may be out of date. */
  private get asOf(): string | undefined {
    const { oldSince, length } = this.events;
    return oldSince && length > 0 ? this.formats.messages.asOf(this.formats.absolute(new Date(oldSince).toISOString())) : undefined;
  }

  /** Before when events of the log were removed, in words. */
  private get removedText(): string | undefined {
    const before = this.events.pages?.removedBefore;
    return before && this.formats.messages.removedBefore(this.formats.absolute(before));
  }

  private zoomOut(): void {
    this.filter = without(this.filter, "start_date", "end_date");
  }

  private messages(): TemplateResult {
    const { messages: t } = this.formats;
    const { failure, isOffline, length } = this.events;
    const offline = html`<div class="notice" role="status"><b>${t.offline}</b><span>${t.offlineText}</span>
      <button @click=${() => this.events.start()}>${t.retry}</button></div>`;
    return html`${isOffline ? offline : nothing}
      ${failure && length > 0 ? html`<div class="notice bad" role="alert">${this.failureText(failure)}</div>` : nothing}
      ${this.missing ? html`<div class="notice" role="status">${this.missing} <button @click=${() => (this.missing = "")}>${t.close}</button></div>` : nothing}
      ${this.copyLink.message()} ${this.checks.message(this.formats)} ${this.downloads.message(this.formats)}`;
  }

  private emptyState(): TemplateResult {
    const { messages: t } = this.formats;
    const { failure, isLoading, pages } = this.events;
    if (!this.token) return state(t.noToken, t.noTokenText, SIGN_IN);
    if (failure) return html`<div class="state" part="state" role="alert">${this.failureText(failure)}</div>`;
    if (isLoading || !pages) return html`<div class="state" part="state" role="status"><p class="spinner">${t.loading}</p></div>`;
    if (isEmpty(this.filter)) return state(t.empty, t.emptyText);
    if (isReversed(this.filter)) return state(t.reversed, t.reversedText);
    return state(t.emptyFilter, this.filter.search ? t.emptySearchText : t.emptyFilterText, html`<button @click=${() => (this.filter = {})}>${t.clearFilters}</button>`);
  }

  private failureText(failure: Failure): TemplateResult {
    return failureText(failure, this.formats.messages, this.events.isWaiting, () => this.events.start());
  }

  private get countText(): string {
    const { messages: t } = this.formats;
    const { pages, summary, length } = this.events;
    const count = summary?.total ?? length;
    return !summary && !pages?.isComplete ? t.loadedCount(this.formats.number(length)) : t.eventCount(this.formats.number(count), count === 1);
  }

  /** The other zone, with the same period of its calendar. */
  private switchZone(): void {
    const period = periodOf(this.filter, this.isUtc);
    this.isUtc = !this.isUtc;
    if (period) this.filter = { ...this.filter, ...rangeOf(period, this.isUtc) };
  }

  private foot(): TemplateResult {
    const { messages: t } = this.formats;
    const { summary, length } = this.events;
    const count = summary?.total ?? length;
    const { printedCount } = this.grid;
    return html`<footer part="footer">
      <span>${length > 0 || summary ? this.countText : nothing}${this.asOf ? html` · <b class="old">${this.asOf}</b>` : nothing}</span>
      ${this.removedText ? html`<span part="removed">${this.removedText}</span>` : nothing}
      ${printedCount < count ? html`<span class="on-paper">${t.loadedCount(this.formats.number(printedCount))}</span>` : nothing}
      <div class="tools">
        <button class="plain" ?disabled=${length === 0 || this.checks.progress?.isRunning} @click=${() => this.verifyShown()}>${t.proof.checkShown}</button>
        ${this.fragment ? html`<button class="plain" @click=${() => this.copyLink.copy()}>${t.copyLink}</button>` : nothing}
        <button class="plain" @click=${() => (this.isAbsolute = !this.isAbsolute)}>${this.isAbsolute ? t.relativeTimes : t.absoluteTimes}</button>
        <button class="plain" aria-pressed=${this.isUtc} @click=${() => this.switchZone()}>${t.utc}</button>
      </div>
    </footer>`;
  }

  /** Shows the details of the event at a position, and moves the focus there on request and where they cover the list. */
  open(position: number, isFocused = false): void {
    const event = this.events.pages?.at(position);
    if (!event) return;
    this.grid.active = position;
    this.wanted = undefined;
    this.missing = "";
    this.opened = event;
    this.dispatchEvent(new CustomEvent("audit-event-opened", { detail: { id: event.id }, bubbles: true, composed: true }));
    if (isFocused || this.grid.isSmall) void this.focusDetails();
  }

  private async focusDetails(): Promise<void> {
    await this.updateComplete;
    const details = this.renderRoot.querySelector<EventDetails>("audit-log-event");
    await details?.updateComplete;
    details?.focus();
  }

  private async openById(id: string): Promise<void> {
    this.missing = "";
    try {
      const { event } = await this.api.get<{ event: AuditEvent }>(`/events/${id}`, {}, this.events.signal);
      this.wanted = undefined;
      this.opened = event;
    } catch (error) {
      if (isAbort(error)) return;
      this.wanted = undefined;
      const { eventNotFound, eventRemoved } = this.formats.messages;
      this.missing = asFailure(error).code === "event_removed" ? eventRemoved : eventNotFound;
    }
  }

  private step(direction: number): void {
    this.grid.moveBy(direction);
    this.open(this.grid.active);
  }

  close(): void {
    this.opened = undefined;
    void this.updateComplete.then(() => this.grid.element?.focus());
  }

  private onDetailsKey(event: KeyboardEvent): void {
    if (event.key === "Escape") this.close();
  }

  /** The gesture or the button of a phone that goes back. */
  private onCancel(event: Event): void {
    event.preventDefault();
    this.close();
  }

  private onFilterBy({ detail: { field, value } }: CustomEvent<{ field: ValueField; value: string }>): void {
    if (this.grid.isSmall) this.opened = undefined;
    this.filter = { ...without(this.filter, `not_${field}`), [field]: value };
  }
}
