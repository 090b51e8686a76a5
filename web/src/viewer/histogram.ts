import { css, html, LitElement, nothing, svg, type PropertyValues, type TemplateResult } from "lit";
import { theme } from "../shared/theme.js";
import { type Bucket, CATEGORIES, type Summary } from "../shared/types.js";
import { choiceOf, type Filter } from "./filter.js";
import { bucketEnd, Formats } from "./format.js";

const HEIGHT = 64;

interface Bar extends Bucket {
  end: number;
}

/**
 * Events over time as bars, stacked by category. One period or a range of periods can be selected by mouse, touch or keyboard.
 *
 * Fires `zoom` with `{start, end}` (RFC 3339), `zoom-out`, and `category` with the one of the legend that was clicked.
 */
export class Histogram extends LitElement {
  static override properties = {
    summary: { attribute: false },
    formats: { attribute: false },
    isZoomed: { attribute: false },
    filter: { attribute: false },
    asOf: { attribute: false },
    active: { state: true },
    anchor: { state: true },
    width: { state: true },
  };
  declare summary: Summary | undefined;
  declare formats: Formats;
  declare isZoomed: boolean;
  declare filter: Filter;
  /** When the summary was read, in words, if it may be out of date. */
  declare asOf: string | undefined;
  /** The index of the period that the keyboard or the mouse is on. */
  declare private active: number;
  /** The other end of the selection. */
  declare private anchor: number | undefined;
  declare private width: number;
  private bars: Bar[] = [];
  private isDragging = false;
  private readonly observer = new ResizeObserver(([entry]) => {
    if (entry) this.width = Math.floor(entry.contentRect.width);
  });

  static override styles = [
    theme,
    css`
      :host { display: block; }
      .chart { position: relative; touch-action: pan-y; cursor: crosshair; border-radius: var(--radius); }
      .chart:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
      svg { display: block; width: 100%; height: ${HEIGHT}px; print-color-adjust: exact; }
      @media (max-height: 500px) { svg { height: ${HEIGHT / 2}px; } .legend { display: none; } }
      .old svg { opacity: 0.5; }
      .auth { fill: var(--auth); } .access { fill: var(--access); } .mutation { fill: var(--mutation); }
      .admin { fill: var(--admin); } .security { fill: var(--security); } .system, .all { fill: var(--system); }
      .all { fill: var(--accent); }
      .selection { fill: var(--accent); opacity: 0.16; }
      .base { stroke: var(--border); }
      .caption { display: flex; gap: 2px 12px; color: var(--muted); font-size: 0.86em; min-height: 20px; }
      .caption b { color: var(--text); font-weight: 600; }
      .legend { display: flex; flex-wrap: wrap; gap: 2px 12px; }
      .legend button { min-height: 24px; padding: 0 5px; gap: 5px; }
      .legend button:not([aria-pressed="true"]) { border-color: transparent; background: none; }
      .caption b.old { color: var(--warn); }
      .period { margin-inline-start: auto; text-align: end; }
      .zoom { min-height: 20px; padding: 0 6px; }
      :host([narrow]) .legend { display: none; }
    `,
  ];

  constructor() {
    super();
    this.active = -1;
    this.width = 0;
    this.isZoomed = false;
    this.filter = {};
  }

  override firstUpdated(): void {
    const chart = this.renderRoot.querySelector(".chart");
    if (chart) this.observer.observe(chart);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.observer.disconnect();
  }

  override willUpdate(changed: PropertyValues): void {
    if (!changed.has("summary")) return;
    this.bars = this.summary ? barsOf(this.summary) : [];
    this.active = Math.min(this.active, this.bars.length - 1);
    this.anchor = undefined;
  }

  private label(index: number): string {
    const bar = this.bars[index];
    if (!bar || !this.summary) return "";
    const { messages } = this.formats;
    const count = messages.eventCount(this.formats.number(bar.count), bar.count === 1);
    return messages.bucket(this.name(bar), count);
  }

  private selectionLabel(): string {
    const [from, to] = this.selection();
    if (from === to) return this.label(from);
    const count = this.bars.slice(from, to + 1).reduce((sum, bar) => sum + bar.count, 0);
    const { messages } = this.formats;
    const range = `${this.name(this.bars[from])} – ${this.name(this.bars[to])}`;
    return messages.bucket(range, messages.eventCount(this.formats.number(count), count === 1));
  }

  /** The name of a period in its time zone. */
  private name(bar: Bar | undefined): string {
    return bar && this.summary ? this.formats.bucket(bar.start, this.summary.interval, this.summary.zone) : "";
  }

  private selection(): [number, number] {
    const anchor = this.anchor ?? this.active;
    return [Math.min(anchor, this.active), Math.max(anchor, this.active)];
  }

  override render(): TemplateResult {
    const { messages } = this.formats;
    const count = this.bars.length;
    const max = Math.max(1, ...this.bars.map((bar) => bar.count));
    const step = count ? this.width / count : 0;
    const gap = step > 4 ? 1 : 0;
    const [from, to] = this.selection();
    const bars = this.bars.map((bar, index) => this.stack(bar, index * step, Math.max(step - gap, 0.5), max));
    const selected = this.active >= 0 && (this.isDragging || this.matches(":focus-within") || this.anchor !== undefined);
    return html`
      <div
        class="chart ${this.asOf ? "old" : ""}"
        part="histogram"
        role="slider"
        tabindex="0"
        aria-label=${messages.histogram}
        aria-valuemin="0"
        aria-valuemax=${Math.max(count - 1, 0)}
        aria-valuenow=${Math.max(this.active, 0)}
        aria-valuetext=${this.active >= 0 ? this.selectionLabel() : messages.histogramHelp}
        title=${messages.histogramHelp}
        @keydown=${this.onKey}
        @focus=${() => !this.isDragging && this.moveTo(this.active < 0 ? count - 1 : this.active, false)}
        @pointerdown=${this.onDown}
        @pointermove=${this.onMove}
        @pointerup=${this.onUp}
        @pointercancel=${() => this.endDrag()}
        @pointerleave=${() => !this.isDragging && !this.matches(":focus-within") && (this.active = -1)}
        @dblclick=${() => this.zoomOut()}
      >
        <svg viewBox="0 0 ${Math.max(this.width, 1)} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true">
          ${bars}
          <line class="base" x1="0" x2=${this.width} y1=${HEIGHT - 0.5} y2=${HEIGHT - 0.5}></line>
          ${selected || (this.active >= 0 && step > 0)
            ? svg`<rect class="selection" x=${from * step} y="0" width=${(to - from + 1) * step} height=${HEIGHT}></rect>`
            : nothing}
        </svg>
      </div>
      <div class="caption">
        ${this.active >= 0 ? html`<b aria-live="off">${this.selectionLabel()}</b>` : nothing} ${this.legend()}
        <span class="period">
          ${this.asOf ? html`<b class="old">${this.asOf}</b> · ` : nothing}${this.caption()}
          ${this.isZoomed ? html`<button class="plain zoom" @click=${() => this.zoomOut()}>${messages.zoomOut}</button>` : nothing}
        </span>
      </div>
    `;
  }

  private legend(): TemplateResult {
    const present = CATEGORIES.filter((name) => this.bars.some((bar) => bar.categories?.[name]));
    const names = this.formats.messages.categories;
    const [from, to] = this.selection();
    const selected = this.active < 0 ? [] : this.bars.slice(from, to + 1);
    const count = (name: string): string => {
      const sum = selected.reduce((total, bar) => total + (bar.categories?.[name] ?? 0), 0);
      return sum > 0 ? ` ${this.formats.number(sum)}` : "";
    };
    return html`<span class="legend">${present.map((name) => {
      const choice = choiceOf(this.filter, "category", name);
      const { includeValue, excludeValue, resetValue } = this.formats.messages;
      const hint = { any: includeValue, included: excludeValue, excluded: resetValue }[choice](names[name] ?? name);
      return html`<button class=${choice} aria-pressed=${choice !== "any"} title=${hint} @click=${() => this.dispatchEvent(new CustomEvent("category", { detail: name }))}
        ><span class="dot ${name}"></span>${names[name] ?? name}${count(name)}</button>`;
    })}</span>`;
  }

  private caption(): string | typeof nothing {
    const [first, last] = [this.bars[0], this.bars.at(-1)];
    if (!first || !last || !this.summary) return nothing;
    if (this.active >= 0) return this.summary.zone;
    return `${this.name(first)} – ${this.name(last)} · ${this.summary.zone}`;
  }

  private stack(bar: Bar, x: number, width: number, max: number): unknown {
    if (bar.count === 0) return nothing;
    const scale = (HEIGHT - 4) / max;
    if (!bar.categories) {
      const height = Math.max(bar.count * scale, 1.5);
      return svg`<rect class="all" x=${x} width=${width} y=${HEIGHT - height} height=${height}></rect>`;
    }
    let y = HEIGHT;
    return CATEGORIES.map((name) => {
      const count = bar.categories?.[name] ?? 0;
      if (count === 0) return nothing;
      const height = Math.max(count * scale, 1.5);
      y -= height;
      return svg`<rect class=${name} x=${x} width=${width} y=${Math.max(y, 0)} height=${height}></rect>`;
    });
  }

  private moveTo(index: number, isExtending: boolean): void {
    if (isExtending) this.anchor ??= this.active;
    else this.anchor = undefined;
    this.active = Math.max(0, Math.min(index, this.bars.length - 1));
  }

  private onKey(event: KeyboardEvent): void {
    const isRtl = getComputedStyle(this).direction === "rtl";
    const forward = isRtl ? -1 : 1;
    const steps: Record<string, number> = {
      ArrowRight: forward, ArrowLeft: -forward, ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10,
      Home: -this.bars.length, End: this.bars.length,
    };
    const step = steps[event.key];
    if (step !== undefined) this.moveTo(this.active + step, event.shiftKey);
    else if (event.key === "Enter" || event.key === " ") this.zoom();
    else if (event.key === "Escape" && this.isZoomed) this.zoomOut();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private indexAt(event: PointerEvent): number {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const offset = Math.max(0, Math.min(event.clientX - box.left, box.width - 1));
    return Math.floor((offset / box.width) * this.bars.length);
  }

  private onDown(event: PointerEvent): void {
    if (event.button !== 0 || this.bars.length === 0) return;
    (event.currentTarget as Element).setPointerCapture(event.pointerId);
    this.isDragging = true;
    this.active = this.indexAt(event);
    this.anchor = this.active;
  }

  private onMove(event: PointerEvent): void {
    if (this.bars.length > 0) this.active = this.indexAt(event);
  }

  /** The browser scrolls with this touch instead. */
  private endDrag(): void {
    this.isDragging = false;
    this.anchor = undefined;
  }

  private onUp(event: PointerEvent): void {
    if (!this.isDragging) return;
    this.isDragging = false;
    this.active = this.indexAt(event);
    this.zoom();
  }

  private zoom(): void {
    const [from, to] = this.selection();
    const [first, last] = [this.bars[from], this.bars[to]];
    if (!first || !last) return;
    const detail = { start: new Date(first.start).toISOString(), end: new Date(last.end - 1).toISOString() };
    this.anchor = undefined;
    this.dispatchEvent(new CustomEvent("zoom", { detail }));
  }

  private zoomOut(): void {
    this.dispatchEvent(new CustomEvent("zoom-out"));
  }
}

/** The buckets, each up to the next one: those without an event are among them. */
function barsOf({ buckets, interval, zone }: Summary): Bar[] {
  const ends = buckets.slice(1).map(({ start }) => Date.parse(start));
  return buckets.map((bucket, index) => ({ ...bucket, end: ends[index] ?? bucketEnd(bucket.start, interval, zone) }));
}
