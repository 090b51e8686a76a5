import { html, nothing, type ReactiveControllerHost, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import type { AuditEvent } from "../shared/types.js";
import type { ActionLabels } from "./action-labels.js";
import type { EventPages } from "./event-pages.js";
import type { Formats } from "./format.js";
import type { LiveEvents } from "./live-events.js";
import type { ProofChecks } from "./proof-checks.js";
import { pendingRow, row } from "./row.js";

const ROW_PX = 34;
const NARROW_ROW_PX = 56;
/** A list that is narrower has two lines for each event. A list with tenants has one column more. */
const NARROW_PX = 710;
const NARROW_TENANTS_PX = 810;
/** In a viewer that is narrower, details are over the page instead of beside the list. */
const SMALL_PX = 700;
const HEAD_PX = 30;
/** Rows rendered above and below those that are visible. */
const OVERSCAN_ROWS = 12;
/** A list on paper has at most this many rows. */
const PRINTED_ROWS_MAX = 2_000;
/** Older events are read when fewer rows than this are left below. */
const AHEAD_ROWS = 80;

/** The element that shows the list. */
export interface GridHost extends ReactiveControllerHost {
  readonly renderRoot: ParentNode;
  readonly events: LiveEvents;
  readonly checks: ProofChecks;
  readonly labels: ActionLabels;
  readonly formats: Formats;
  readonly hasTenants: boolean;
  readonly isAbsolute: boolean;
  readonly openedId: string | undefined;
  open(position: number, isFocused?: boolean): void;
  close(): void;
}

/** The list: the rows that are seen are rendered, and the heights of all others kept. Arrow keys move an active row. */
export class Grid {
  /** The position of the active row. */
  active = 0;
  isNarrow = false;
  /** Whether there is no room for details beside the list. */
  isSmall = false;
  private isPrinting = false;
  /** New events above what is seen. */
  private arrivedCount = 0;
  private readonly resize = new ResizeObserver(([entry]) => {
    if (entry) this.isSmall = entry.contentRect.width < SMALL_PX;
    this.host.requestUpdate();
  });

  constructor(private readonly host: GridHost & Element) {}

  connect(): void {
    this.resize.observe(this.host);
    addEventListener("beforeprint", this.onPrint);
    addEventListener("afterprint", this.onPrint);
  }

  disconnect(): void {
    this.resize.disconnect();
    removeEventListener("beforeprint", this.onPrint);
    removeEventListener("afterprint", this.onPrint);
  }

  private readonly onPrint = ({ type }: Event): void => {
    this.isPrinting = type === "beforeprint";
    this.host.requestUpdate();
  };

  /** The number of rows that are printed. */
  get printedCount(): number {
    return Math.min(this.host.events.length, PRINTED_ROWS_MAX);
  }

  get element(): HTMLElement | null {
    return this.host.renderRoot.querySelector<HTMLElement>(".grid");
  }

  private get rowHeight(): number {
    return this.isNarrow ? NARROW_ROW_PX : ROW_PX;
  }

  /** The first row becomes the active one. */
  reset(): void {
    this.arrivedCount = 0;
    this.active = 0;
    if (this.element) this.element.scrollTop = 0;
  }

  /** Keeps what is read where it is, and the active row on its event. */
  async insert(positions: readonly number[]): Promise<void> {
    for (const position of positions) if (position <= this.active) this.active += 1;
    const { element } = this;
    if (positions.length > 0 && element && element.scrollTop > 0) {
      this.host.requestUpdate();
      await this.host.updateComplete;
      element.scrollTop += positions.length * this.rowHeight;
      this.arrivedCount += positions.length;
    } else this.active = Math.max(0, Math.min(this.active, this.host.events.length - 1));
  }

  /** Rows get the height that the width of the list asks for. The active row stays where it is seen, or else the first one. */
  private fitWidth(): void {
    const { element, rowHeight } = this;
    if (!element?.clientWidth) return;
    const isNarrow = element.clientWidth < (this.host.hasTenants ? NARROW_TENANTS_PX : NARROW_PX);
    if (isNarrow === this.isNarrow) return;
    const { scrollTop, clientHeight } = element;
    const top = this.active * rowHeight - scrollTop;
    const kept = top >= 0 && top < clientHeight ? this.active : scrollTop / rowHeight;
    this.isNarrow = isNarrow;
    this.host.requestUpdate();
    void this.host.updateComplete.then(() => (element.scrollTop = scrollTop + kept * (this.rowHeight - rowHeight)));
  }

  /** The positions that are rendered. */
  private window(): [number, number] {
    if (this.isPrinting) return [0, this.printedCount];
    const { length } = this.host.events;
    const top = this.element?.scrollTop ?? 0;
    const height = this.element?.clientHeight || 800;
    const from = Math.max(0, Math.floor(top / this.rowHeight) - OVERSCAN_ROWS);
    return [Math.min(from, length), Math.min(length, Math.ceil((top + height) / this.rowHeight) + OVERSCAN_ROWS)];
  }

  /** Sets the heights of what is not rendered, and reads what is about to be seen. */
  layOut(): void {
    const { events, renderRoot } = this.host;
    const { pages } = events;
    if (!pages) return;
    this.fitWidth();
    const [from, to] = this.window();
    renderRoot.querySelector<HTMLElement>(".before-rows")?.style.setProperty("height", `${from * this.rowHeight}px`);
    renderRoot.querySelector<HTMLElement>(".after-rows")?.style.setProperty("height", `${(pages.length - to) * this.rowHeight}px`);
    if (to + AHEAD_ROWS > pages.length && events.canReadMore) void events.more();
    void pages.show(from, to).then((isChanged) => isChanged && this.host.requestUpdate(), (error: unknown) => events.onBackground(error));
  }

  /** The events that are seen. */
  seen(): AuditEvent[] {
    const { element } = this;
    const { pages } = this.host.events;
    if (!pages || !element) return [];
    const from = Math.floor(element.scrollTop / this.rowHeight);
    const count = Math.ceil(element.clientHeight / this.rowHeight);
    return Array.from({ length: count }, (_, index) => pages.at(from + index)).filter((event) => event !== undefined);
  }

  template(pages: EventPages): TemplateResult {
    const { formats, hasTenants, events } = this.host;
    const { messages: t } = formats;
    const [from, to] = this.window();
    const positions = Array.from({ length: to - from }, (_, index) => from + index);
    // A row keeps its element while it is rendered: a click that scrolls must not land on another event.
    const rows = repeat(positions, (position) => position, (position) => this.line(position, pages.at(position)));
    const columns = [t.time, t.action, t.category, t.actor, t.target, ...(hasTenants ? [t.tenant] : [])];
    return html`<div class="list ${this.isNarrow ? "narrow" : ""} ${this.host.labels.isEmpty ? "" : "labelled"}">
      ${this.arrivedCount > 0
        ? html`<div class="arrived"><button class="primary" @click=${() => this.scrollToTop()}>
            ↑ ${t.newEvents(formats.number(this.arrivedCount), this.arrivedCount === 1)}
          </button></div>`
        : nothing}
      <div
        class="grid" part="list" role="grid" tabindex="0" aria-label=${t.events} aria-colcount=${columns.length}
        aria-rowcount=${pages.isComplete ? pages.length + 1 : -1} aria-busy=${events.isLoading}
        aria-activedescendant=${this.active >= from && this.active < to ? `row-${this.active}` : nothing}
        @scroll=${() => this.onScroll()} @keydown=${(event: KeyboardEvent) => this.onKey(event)}
      >
        <div class="columns" role="rowgroup">
          <div class="head" role="row" aria-rowindex="1">${columns.map((name) => html`<div role="columnheader">${name}</div>`)}</div>
        </div>
        <div role="rowgroup">
          <div class="before-rows" role="presentation"></div>
          ${rows}
          <div class="after-rows" role="presentation"></div>
        </div>
        <div class="end">${pages.isComplete ? t.endOfLog : events.isLoadingMore ? t.loadingMore : nothing}</div>
      </div>
    </div>`;
  }

  private line(position: number, event: AuditEvent | undefined): TemplateResult {
    if (!event) return pendingRow(position);
    const { host } = this;
    const state = {
      position,
      isActive: position === this.active,
      isOpen: event.id === host.openedId,
      isFresh: host.events.freshIds.has(event.id),
      isRelative: !host.isAbsolute || this.isNarrow,
      hasTenant: host.hasTenants,
      label: host.labels.of(event),
      open: () => host.open(position),
    };
    return row(event, state, host.formats, host.checks);
  }

  private onScroll(): void {
    if (this.element?.scrollTop === 0) this.arrivedCount = 0;
    this.host.requestUpdate();
  }

  private scrollToTop(): void {
    this.arrivedCount = 0;
    this.active = 0;
    this.element?.scrollTo({ top: 0 });
    this.element?.focus();
    this.host.requestUpdate();
  }

  private onKey(event: KeyboardEvent): void {
    const rows = Math.max(1, Math.floor((this.element?.clientHeight ?? 400) / this.rowHeight) - 2);
    const steps: Record<string, number> = {
      ArrowDown: 1, ArrowUp: -1, PageDown: rows, PageUp: -rows, Home: -Infinity, End: Infinity,
    };
    const step = steps[event.key];
    if (step !== undefined) this.moveBy(step);
    else if (event.key === "Enter" || event.key === " ") this.host.open(this.active, true);
    else if (event.key === "Escape" && this.host.openedId) this.host.close();
    else return;
    event.preventDefault();
  }

  /** Moves the active row, scrolls to it, and shows its details where there is room beside the list. */
  moveBy(rows: number): void {
    const { element } = this;
    const { length } = this.host.events;
    if (!element || length === 0) return;
    this.active = Math.max(0, Math.min(this.active + rows, length - 1));
    const top = this.active * this.rowHeight;
    const end = top + this.rowHeight + (this.isNarrow ? 0 : HEAD_PX);
    if (top < element.scrollTop) element.scrollTop = top;
    else if (end > element.scrollTop + element.clientHeight) element.scrollTop = end - element.clientHeight;
    this.host.requestUpdate();
    if (this.host.openedId && !this.isSmall) this.host.open(this.active);
  }
}
