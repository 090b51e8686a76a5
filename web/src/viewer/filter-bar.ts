import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { theme } from "../shared/theme.js";
import { visible } from "../shared/visible.js";
import type { Facets } from "./facets.js";
import { choose, cleaned, type Filter, VALUE_FIELDS, type ValueField, valuesOf, without } from "./filter.js";
import type { Formats } from "./format.js";
import { type Period, periodOf, PERIODS, rangeOf } from "./period.js";
import type { Counter, SearchBox } from "./search-box.js";

/** Periods that end now. */
const RANGES = { hour: 3_600, day: 86_400, week: 7 * 86_400, month: 30 * 86_400, quarter: 90 * 86_400 } as const;
type RangeName = keyof typeof RANGES;

/** Search, period and what the list is filtered by. Fires `filter-change` with the new filter, and `panel` for the values of fields. */
export class FilterBar extends LitElement {
  static override properties = {
    filter: { attribute: false },
    facets: { attribute: false, hasChanged: () => true },
    formats: { attribute: false },
    isUtc: { attribute: false },
    owner: { attribute: false },
    isPanelOpen: { attribute: false },
    isCustomRange: { state: true },
  };
  declare filter: Filter;
  declare facets: Facets;
  declare formats: Formats;
  declare isUtc: boolean;
  /** Whose searches are remembered in this browser. */
  declare owner: string;
  declare isPanelOpen: boolean;
  declare private isCustomRange: boolean;
  /** The period that was chosen by name, and the start that it gave. */
  private chosen: { name: RangeName; start: string } | undefined;

  static override styles = [
    theme,
    css`
      :host { display: block; }
      .row { display: flex; flex-wrap: wrap; gap: 6px 8px; align-items: center; }
      audit-log-search { flex: 1 1 220px; min-width: 0; }
      .chips { display: flex; flex-wrap: wrap; gap: 6px; margin-top: 8px; }
      .chip { min-height: 26px; padding: 1px 8px; border-radius: 13px; background: var(--selected); border-color: transparent; max-width: 100%; }
      .chip .value { overflow: hidden; text-overflow: ellipsis; max-width: 260px; }
      .chip b { color: var(--bad); } .chip b + .muted + .value { text-decoration: line-through; }
    `,
  ];

  constructor() {
    super();
    this.filter = {};
    this.isUtc = false;
    this.owner = "";
    this.isPanelOpen = false;
    this.isCustomRange = false;
  }

  private change(filter: Filter): void {
    this.filter = cleaned(filter);
    this.dispatchEvent(new CustomEvent("filter-change", { detail: this.filter }));
  }

  private rangeName(): Period | RangeName | "all" | "custom" {
    const { start_date, end_date } = this.filter;
    if (this.isCustomRange) return "custom";
    if (!start_date && !end_date) return "all";
    const isChosen = this.chosen && !end_date && this.chosen.start === start_date;
    return periodOf(this.filter, this.isUtc) ?? (isChosen ? this.chosen?.name : undefined) ?? "custom";
  }

  private onRange(event: Event): void {
    const { value } = event.target as HTMLSelectElement;
    this.isCustomRange = value === "custom";
    if (value === "custom") return;
    const rest = without(this.filter, "start_date", "end_date");
    const period = PERIODS.find((name) => name === value);
    if (period) return this.change({ ...rest, ...rangeOf(period, this.isUtc) });
    if (value === "all") return this.change(rest);
    const name = value as RangeName;
    const start = new Date(Date.now() - RANGES[name] * 1000).toISOString();
    this.chosen = { name, start };
    this.change({ ...rest, start_date: start });
  }

  override render(): TemplateResult {
    const { messages: t } = this.formats;
    const range = this.rangeName();
    const { start_date, end_date } = this.filter;
    const hasFilter = Object.keys(this.filter).length > 0;
    return html`
      <div class="row" role="search" part="filters">
        ${this.search()} ${this.periods(range)}
        <button aria-expanded=${this.isPanelOpen} @click=${() => this.dispatchEvent(new CustomEvent("panel"))}>${t.filters}</button>
        ${hasFilter ? html`<button class="plain" @click=${() => this.clear()}>${t.clearFilters}</button>` : nothing}
        <slot></slot>
      </div>
      ${range === "custom"
        ? html`<audit-log-dates .start=${start_date} .end=${end_date} .formats=${this.formats} .isUtc=${this.isUtc}
            @range=${({ detail }: CustomEvent<Filter>) => this.change({ ...without(this.filter, "start_date", "end_date"), ...detail })}
          ></audit-log-dates>`
        : nothing}
      ${this.chips()}
    `;
  }

  private search(): TemplateResult {
    const counter: Counter = (field, value, signal) => this.facets.count(field, value, signal, without(this.filter, "search"));
    return html`<audit-log-search
      .value=${this.filter.search ?? ""} .formats=${this.formats} .owner=${this.owner} .counter=${counter}
      .candidates=${() => this.facets.candidates((field, value) => this.label(field, value))}
      @search=${({ detail }: CustomEvent<string>) => this.change({ ...this.filter, search: detail })}
      @choose=${({ detail: { field, value } }: CustomEvent<{ field: ValueField; value: string }>) =>
        this.change(choose(without(this.filter, "search"), field, value, "included"))}
      @open-event=${({ detail }: CustomEvent<string>) => this.dispatchEvent(new CustomEvent("open-event", { detail }))}
    ></audit-log-search>`;
  }

  private periods(range: string): TemplateResult {
    const { messages: t, zone } = this.formats;
    const option = (name: string, text: string): TemplateResult => html`<option value=${name} .selected=${range === name}>${text}</option>`;
    return html`<select aria-label=${t.range} title=${zone} @change=${this.onRange}>
      ${option("all", t.ranges.all)}
      <optgroup label=${zone}>${PERIODS.map((name) => option(name, t.periods[name]))}</optgroup>
      <optgroup label=${t.untilNow}>${(Object.keys(RANGES) as RangeName[]).map((name) => option(name, t.ranges[name]))}</optgroup>
      ${option("custom", t.ranges.custom)}
    </select>`;
  }

  private clear(): void {
    this.isCustomRange = false;
    this.renderRoot.querySelector<SearchBox>("audit-log-search")?.clear();
    this.change({});
  }

  private label(field: ValueField, value: string): string {
    return this.formats.value(field, this.facets.nameOf(field, value));
  }

  private chips(): TemplateResult | typeof nothing {
    const fields = VALUE_FIELDS.flatMap((field) => [
      ...valuesOf(this.filter, field).map((value) => this.chip(field, value, false)),
      ...valuesOf(this.filter, `not_${field}`).map((value) => this.chip(field, value, true)),
    ]);
    return fields.length > 0 ? html`<div class="chips">${fields}</div>` : nothing;
  }

  private chip(field: ValueField, value: string, isExcluded: boolean): TemplateResult {
    const { messages: t } = this.formats;
    const [name, label] = [t.fields[field] ?? field, visible(this.label(field, value))];
    return html`<button class="chip" title=${t.removeFilter(name, visible(value))} @click=${() => this.change(choose(this.filter, field, value, "any"))}>
      ${isExcluded ? html`<b>${t.not}</b>` : nothing}<span class="muted">${name}</span><span class="value">${label}</span><span aria-hidden="true">×</span>
    </button>`;
  }
}
