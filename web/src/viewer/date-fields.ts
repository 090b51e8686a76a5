import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { theme } from "../shared/theme.js";
import { isReversed } from "./filter.js";
import { type Formats, fromLocalInput, toLocalInput } from "./format.js";

/** Editing a date is quiet for this long before the list is read again: a year has four digits. */
const TYPING_MS = 500;
const WHOLE_DAY = { start: "00:00:00", end: "23:59:59" } as const;

/** The two ends of a period: dates, with times if the reader wants them. Fires `range` with `{start_date, end_date}` (RFC 3339). */
export class DateFields extends LitElement {
  static override properties = {
    start: { attribute: false },
    end: { attribute: false },
    formats: { attribute: false },
    isUtc: { attribute: false },
    hasTimes: { state: true },
    isDateMissing: { state: true },
  };
  declare start: string | undefined;
  declare end: string | undefined;
  declare formats: Formats;
  declare isUtc: boolean;
  declare private hasTimes: boolean;
  declare private isDateMissing: boolean;
  private typing: ReturnType<typeof setTimeout> | undefined;

  static override styles = [
    theme,
    css`
      :host { display: flex; flex-wrap: wrap; align-items: end; gap: 6px 12px; margin-top: 8px; }
      fieldset { display: flex; flex-wrap: wrap; gap: 4px; margin: 0; padding: 0; border: 0; min-width: 0; }
      legend { padding: 0; font-size: 0.88em; color: var(--muted); }
      p { flex-basis: 100%; margin: 0; color: var(--bad); }
      input[aria-invalid="true"] { border-color: var(--bad); }
    `,
  ];

  constructor() {
    super();
    this.isUtc = false;
    this.hasTimes = false;
    this.isDateMissing = false;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.typing);
  }

  private onChange({ target }: Event): void {
    const { name, value } = target as HTMLInputElement;
    const time = this.renderRoot.querySelector<HTMLInputElement>(`[name=${name}-time]`);
    // Without its date a period is open at this end.
    if (time && !value) time.value = "";
    clearTimeout(this.typing);
    this.typing = setTimeout(() => this.apply(), TYPING_MS);
  }

  private apply(): void {
    const input = (name: string): string => this.renderRoot.querySelector<HTMLInputElement>(`[name=${name}]`)?.value ?? "";
    this.isDateMissing = (["start", "end"] as const).some((name) => input(`${name}-time`) && !input(name));
    if (this.isDateMissing) return;
    const read = (name: "start" | "end"): string | undefined => fromLocalInput(input(name), input(`${name}-time`), this.isUtc, name === "end");
    this.dispatchEvent(new CustomEvent("range", { detail: { start_date: read("start"), end_date: read("end") } }));
  }

  private field(name: "start" | "end", label: string, hasTimes: boolean, isInvalid: boolean): TemplateResult {
    const { messages: t, zone } = this.formats;
    const [date = "", time = ""] = toLocalInput(this[name], this.isUtc).split("T");
    return html`<fieldset>
      <legend>${label} (${zone})</legend>
      <input type="date" name=${name} aria-label=${t.dateOf(label)} aria-invalid=${isInvalid} max="9999-12-31" .value=${date} @change=${this.onChange} />
      ${hasTimes
        ? html`<input type="time" name="${name}-time" aria-label=${t.timeOf(label)} .value=${time === WHOLE_DAY[name] ? "" : time} @change=${this.onChange} />`
        : nothing}
    </fieldset>`;
  }

  override render(): TemplateResult {
    const { messages: t } = this.formats;
    const isWhole = (name: "start" | "end"): boolean => !this[name] || toLocalInput(this[name], this.isUtc).endsWith(WHOLE_DAY[name]);
    const hasTimes = this.hasTimes || !isWhole("start") || !isWhole("end");
    const isInvalid = isReversed({ start_date: this.start ?? "", end_date: this.end ?? "" });
    return html`${this.field("start", t.from, hasTimes, isInvalid)} ${this.field("end", t.to, hasTimes, isInvalid)}
      ${hasTimes ? nothing : html`<button @click=${() => (this.hasTimes = true)}>${t.addTimes}</button>`}
      ${isInvalid || this.isDateMissing ? html`<p role="alert">${isInvalid ? `${t.reversed}. ${t.reversedText}` : t.dateMissing}</p>` : nothing}`;
  }
}
