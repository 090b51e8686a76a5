import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { theme } from "../shared/theme.js";
import { CATEGORIES } from "../shared/types.js";
import { visible } from "../shared/visible.js";
import type { Facets, FacetValue } from "./facets.js";
import { choiceOf, choose, type Filter, nextChoice, type ValueField, valuesOf } from "./filter.js";
import type { Formats } from "./format.js";

const FIELDS: readonly ValueField[] = [
  "category", "actor_id", "action", "tenant_id", "outcome", "target_id", "ip_address", "session_id", "target_type", "actor_type",
];
/** Fields with values that are not listed, which can be typed. */
const TYPED: readonly ValueField[] = ["actor_id", "action", "target_id", "ip_address", "session_id", "target_type", "tenant_id"];

/** Fields with their values and numbers of events. A click includes a value, the next one excludes it. Fires `filter-change`. */
export class FacetPanel extends LitElement {
  static override properties = {
    filter: { attribute: false },
    facets: { attribute: false, hasChanged: () => true },
    formats: { attribute: false },
    hasTenants: { attribute: false },
  };
  declare filter: Filter;
  declare facets: Facets;
  declare formats: Formats;
  /** Whether events of several tenants are shown. */
  declare hasTenants: boolean;

  /** The value of each field that Tab reaches; arrow keys move to the others. */
  private readonly current = new Map<ValueField, string>();

  static override styles = [
    theme,
    css`
      :host { display: block; }
      details { border-bottom: 1px solid var(--border); padding: 2px 0; } details[open] { padding-bottom: 6px; }
      summary { padding: 6px 8px; font-weight: 600; cursor: pointer; border-radius: var(--radius); }
      summary span { font-weight: 400; color: var(--muted); }
      .value { width: 100%; min-height: 28px; padding: 2px 8px; text-align: start; white-space: normal; }
      .value:not([aria-pressed="true"], :hover) { background: none; } .value:not([aria-pressed="true"]) { border-color: transparent; }
      .value.included { font-weight: 600; }
      .value.excluded .name { text-decoration: line-through; }
      .value .state { flex: none; font-weight: 700; }
      .value .excluded-word { color: var(--bad); font-weight: 600; }
      .name { flex: 1; min-width: 0; overflow-wrap: anywhere; display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; }
      .count { flex: none; color: var(--muted); font-variant-numeric: tabular-nums; font-weight: 400; }
      input { width: calc(100% - 16px); margin: 2px 8px; }
      @media (forced-colors: active) { .value[aria-pressed="true"] span:not(.dot) { color: HighlightText; } }
      .none { margin: 0; padding: 2px 8px; color: var(--muted); }
    `,
  ];

  private change(filter: Filter): void {
    this.dispatchEvent(new CustomEvent("filter-change", { detail: filter }));
  }

  private onAdd(field: ValueField, event: KeyboardEvent): void {
    const input = event.target as HTMLInputElement;
    if (event.key !== "Enter" || !input.value.trim()) return;
    this.change(choose(this.filter, field, input.value.trim(), "included"));
    input.value = "";
  }

  override render(): TemplateResult {
    const fields = FIELDS.filter((field) => field !== "tenant_id" || this.hasTenants);
    return html`${fields.map((field) => this.facet(field))}`;
  }

  private facet(field: ValueField): TemplateResult {
    const { messages: t } = this.formats;
    const isOpen = this.facets.open.has(field);
    const count = valuesOf(this.filter, field).length + valuesOf(this.filter, `not_${field}`).length;
    const label = t.fields[field] ?? field;
    return html`<details ?open=${isOpen} @toggle=${(event: Event) => this.facets.toggle(field, (event.target as HTMLDetailsElement).open)}>
      <summary>${label} ${count > 0 ? html`<span>(${this.formats.number(count)})</span>` : nothing}</summary>
      ${isOpen ? this.values(field, label) : nothing}
    </details>`;
  }

  private values(field: ValueField, label: string): TemplateResult {
    const { messages: t } = this.formats;
    const values = this.facets.of(field);
    return html`${values.length > 0
        ? html`<div role="toolbar" aria-orientation="vertical" aria-label=${label} @keydown=${this.onKey}>${
          // A value keeps its button, and with it the focus: the next key must not act on another value.
          repeat(values, ({ value }) => value, (value) => this.value(field, value, values))
        }</div>`
        : nothing}
      ${values.length === 0 && !TYPED.includes(field) ? html`<p class="none">–</p>` : nothing}
      ${TYPED.includes(field)
        ? html`<input
            type="text" maxlength="256" autocomplete="off" spellcheck="false" aria-label=${t.addValue(label)}
            placeholder=${field === "action" ? t.actionHint : t.addValueHint} @keydown=${(event: KeyboardEvent) => this.onAdd(field, event)}
          />`
        : nothing}`;
  }

  private onKey(event: KeyboardEvent): void {
    const buttons = [...(event.currentTarget as Element).querySelectorAll("button")];
    const index = buttons.indexOf(event.target as HTMLButtonElement);
    const positions: Record<string, number> = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: buttons.length - 1 };
    const position = positions[event.key];
    if (position === undefined) return;
    event.preventDefault();
    buttons[position]?.focus();
  }

  private onFocus(field: ValueField, value: string): void {
    this.current.set(field, value);
    this.requestUpdate();
  }

  private value(field: ValueField, { value, count }: FacetValue, values: readonly FacetValue[]): TemplateResult {
    const { messages: t } = this.formats;
    const choice = choiceOf(this.filter, field, value);
    const name = this.facets.nameOf(field, value);
    const isShared = values.filter((one) => this.facets.nameOf(field, one.value) === name).length > 1;
    const label = visible(isShared ? `${name} · ${value}` : this.formats.value(field, name));
    const hint = { any: t.includeValue, included: t.excludeValue, excluded: t.resetValue }[choice](label);
    const isId = label !== visible(value) && field.endsWith("_id");
    const current = values.find((one) => one.value === this.current.get(field)) ?? values[0];
    return html`<button
      class="value ${choice}" tabindex=${current?.value === value ? 0 : -1} @focus=${() => this.onFocus(field, value)} aria-pressed=${choice !== "any"} title=${isId ? `${hint} (${visible(value)})` : hint}
      @click=${() => this.change(choose(this.filter, field, value, nextChoice(choice)))}
    >
      ${choice === "included" ? html`<span class="state" aria-hidden="true">✓</span>` : nothing}
      ${choice === "excluded" ? html`<span class="excluded-word">${t.not}</span>` : nothing}
      ${field === "category" && CATEGORIES.some((name) => name === value) ? html`<span class="dot ${value}"></span>` : nothing}
      <span class="name">${label}</span>
      ${count === undefined ? nothing : html`<span class="count">${this.formats.number(count)}</span>`}
    </button>`;
  }
}
