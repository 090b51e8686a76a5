import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { theme } from "../shared/theme.js";
import { CATEGORIES, type Summary, type TopField } from "../shared/types.js";
import { visible } from "../shared/visible.js";
import { cleaned, FILTER_FIELDS, type Filter, type FilterField } from "./filter.js";
import { type Formats, fromLocalInput, toLocalInput } from "./format.js";

/** Typing is quiet for this long before the list is read again. */
const TYPING_MS = 350;
const RANGES = { hour: 3_600, day: 86_400, week: 7 * 86_400, month: 30 * 86_400, quarter: 90 * 86_400 } as const;
type RangeName = keyof typeof RANGES;

interface TextField {
  field: FilterField;
  label: string;
  hint?: string;
  suggestions?: TopField;
}

/** The filters of the list. Fires `filter-change` with the new filter. */
export class FilterBar extends LitElement {
  static override properties = {
    filter: { attribute: false },
    top: { attribute: false },
    formats: { attribute: false },
    isUtc: { attribute: false },
    hasTenants: { attribute: false },
    isExpanded: { state: true },
    isCustomRange: { state: true },
  };
  declare filter: Filter;
  declare top: Summary["top"] | undefined;
  declare formats: Formats;
  declare isUtc: boolean;
  /** Whether events of several tenants are shown. */
  declare hasTenants: boolean;
  declare private isExpanded: boolean;
  declare private isCustomRange: boolean;
  private typing: ReturnType<typeof setTimeout> | undefined;
  /** The period that was chosen by name, and the start that it gave. */
  private chosen: { name: RangeName; start: string } | undefined;

  static override styles = [
    theme,
    css`
      :host { display: block; }
      .row { display: flex; flex-wrap: wrap; gap: 6px 8px; align-items: center; }
      .grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); gap: 8px; margin-top: 8px; }
      .search { flex: 1 1 180px; }
      label { display: flex; flex-direction: column; gap: 2px; min-width: 0; font-size: 0.88em; color: var(--muted); }
      label > :is(input, select) { font-size: var(--size); color: var(--text); width: 100%; }
      .chips { display: flex; flex-wrap: wrap; gap: 6px; margin-top: 8px; }
      .chip { min-height: 26px; padding: 1px 8px; border-radius: 13px; background: var(--selected); border-color: transparent; max-width: 100%; }
      .chip span:last-of-type { overflow: hidden; text-overflow: ellipsis; max-width: 260px; }
      .dates { display: flex; flex-wrap: wrap; gap: 8px; }
    `,
  ];

  constructor() {
    super();
    this.filter = {};
    this.isUtc = false;
    this.hasTenants = false;
    this.isExpanded = false;
    this.isCustomRange = false;
  }

  private set(field: FilterField, value: string | undefined): void {
    const filter = { ...this.filter };
    if (value) filter[field] = value;
    else delete filter[field];
    this.change(filter);
  }

  private change(filter: Filter): void {
    clearTimeout(this.typing);
    this.filter = filter;
    this.dispatchEvent(new CustomEvent("filter-change", { detail: cleaned(filter) }));
  }

  private onInput(field: FilterField, event: Event): void {
    const { value } = event.target as HTMLInputElement;
    clearTimeout(this.typing);
    this.typing = setTimeout(() => this.set(field, value), TYPING_MS);
  }

  private onEnter(field: FilterField, event: KeyboardEvent): void {
    if (event.key === "Enter") this.set(field, (event.target as HTMLInputElement).value);
  }

  private rangeName(): RangeName | "all" | "custom" {
    const { start_date, end_date } = this.filter;
    if (this.isCustomRange) return "custom";
    if (!start_date && !end_date) return "all";
    return this.chosen && !end_date && this.chosen.start === start_date ? this.chosen.name : "custom";
  }

  private onRange(event: Event): void {
    const { value } = event.target as HTMLSelectElement;
    this.isCustomRange = value === "custom";
    if (value === "custom") return;
    const { start_date: _start, end_date: _end, ...rest } = this.filter;
    if (value === "all") return this.change(rest);
    const name = value as RangeName;
    const start = new Date(Date.now() - RANGES[name] * 1000).toISOString();
    this.chosen = { name, start };
    this.change({ ...rest, start_date: start });
  }

  override render(): TemplateResult {
    const { messages: t } = this.formats;
    const range = this.rangeName();
    const count = Object.keys(this.filter).length;
    return html`
      <div class="row" role="search" part="filters">
        <input
          class="search"
          type="search"
          aria-label=${t.search}
          placeholder=${`${t.search}: ${t.searchHint}`}
          maxlength="256"
          .value=${this.filter.search ?? ""}
          @input=${(event: Event) => this.onInput("search", event)}
          @keydown=${(event: KeyboardEvent) => this.onEnter("search", event)}
        />
        <select aria-label=${t.category} @change=${(event: Event) => this.set("category", (event.target as HTMLSelectElement).value)}>
          <option value="" .selected=${!this.filter.category}>${t.allCategories}</option>
          ${CATEGORIES.map((name) => html`<option value=${name} .selected=${this.filter.category === name}>${this.categoryLabel(name)}</option>`)}
        </select>
        <select aria-label=${t.range} @change=${this.onRange}>
          ${(["all", ...Object.keys(RANGES), "custom"] as (keyof typeof t.ranges)[]).map(
            (name) => html`<option value=${name} .selected=${range === name}>${t.ranges[name]}</option>`,
          )}
        </select>
        <button aria-expanded=${this.isExpanded} @click=${() => (this.isExpanded = !this.isExpanded)}>
          ${this.isExpanded ? t.fewerFilters : t.moreFilters}
        </button>
        ${count > 0 ? html`<button class="plain" @click=${() => this.clear()}>${t.clearFilters}</button>` : nothing}
        <slot></slot>
      </div>
      ${range === "custom" ? this.dates() : nothing}
      ${this.isExpanded ? this.fields() : nothing} ${this.chips()}
    `;
  }

  private clear(): void {
    this.isCustomRange = false;
    this.change({});
  }

  private categoryLabel(name: string): string {
    const label = this.formats.messages.categories[name] ?? name;
    const found = this.top?.category?.find((counted) => counted.value === name);
    return found ? `${label} (${this.formats.number(found.count)})` : label;
  }

  private dates(): TemplateResult {
    const { messages: t } = this.formats;
    const input = (field: "start_date" | "end_date", label: string): TemplateResult => html`
      <label>
        ${label} (${this.formats.zone})
        <input
          type="datetime-local"
          step="1"
          .value=${toLocalInput(this.filter[field], this.isUtc)}
          @change=${(event: Event) =>
            this.set(field, fromLocalInput((event.target as HTMLInputElement).value, this.isUtc, field === "end_date"))}
        />
      </label>
    `;
    return html`<div class="dates">${input("start_date", t.from)} ${input("end_date", t.to)}</div>`;
  }

  private fields(): TemplateResult {
    const { messages: t } = this.formats;
    const texts: TextField[] = [
      { field: "action", label: t.action, hint: t.actionHint, suggestions: "action" },
      { field: "actor_id", label: t.actorId, suggestions: "actor_id" },
      { field: "target_id", label: t.targetId },
      { field: "target_type", label: t.targetType, suggestions: "target_type" },
    ];
    if (this.hasTenants) texts.push({ field: "tenant_id", label: t.tenant, suggestions: "tenant_id" });
    return html`<div class="grid">
      ${texts.map((text) => this.textField(text))} ${this.choice("actor_type", t.actorType, t.actorTypes)}
      ${this.choice("outcome", t.outcome, t.outcomes)}
    </div>`;
  }

  private choice(field: FilterField, label: string, values: Record<string, string>): TemplateResult {
    return html`<label>
      ${label}
      <select @change=${(event: Event) => this.set(field, (event.target as HTMLSelectElement).value)}>
        <option value="" .selected=${!this.filter[field]}>${this.formats.messages.any}</option>
        ${Object.entries(values).map(([name, text]) => html`<option value=${name} .selected=${this.filter[field] === name}>${text}</option>`)}
      </select>
    </label>`;
  }

  private textField({ field, label, hint, suggestions }: TextField): TemplateResult {
    const values = (suggestions && this.top?.[suggestions]) ?? [];
    const id = `suggestions-${field}`;
    return html`<label>
      ${label}
      <input
        type="text"
        maxlength="256"
        autocomplete="off"
        spellcheck="false"
        placeholder=${hint ?? ""}
        list=${values.length > 0 ? id : nothing}
        .value=${this.filter[field] ?? ""}
        @input=${(event: Event) => this.onInput(field, event)}
        @keydown=${(event: KeyboardEvent) => this.onEnter(field, event)}
      />
    </label>
    ${values.length > 0
      ? // Not in the label, which would be read out with all suggestions.
        html`<datalist id=${id}>${values.map(({ value, count }) => html`<option value=${value}>${this.formats.number(count)}</option>`)}</datalist>`
      : nothing}`;
  }

  private chips(): TemplateResult | typeof nothing {
    const { messages: t } = this.formats;
    const names: Record<FilterField, string> = {
      search: t.search, category: t.category, action: t.action, actor_id: t.actorId, actor_type: t.actorType, target_id: t.targetId,
      target_type: t.targetType, outcome: t.outcome, tenant_id: t.tenant, start_date: t.from, end_date: t.to,
    };
    const set = FILTER_FIELDS.filter((field) => this.filter[field] && field !== "search" && field !== "category");
    if (set.length === 0) return nothing;
    const shown = (field: FilterField, value: string): string => (field.endsWith("_date") ? this.formats.absolute(value) : visible(value));
    return html`<div class="chips">
      ${set.map((field) => {
        const value = shown(field, this.filter[field] ?? "");
        return html`<button class="chip" title=${t.removeFilter(names[field], value)} @click=${() => this.set(field, undefined)}>
          <span class="muted">${names[field]}</span><span>${value}</span><span aria-hidden="true">×</span>
        </button>`;
      })}
    </div>`;
  }
}
