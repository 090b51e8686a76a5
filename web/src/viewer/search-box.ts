import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { isAbort } from "../shared/api.js";
import { theme } from "../shared/theme.js";
import { visible } from "../shared/visible.js";
import type { Named } from "./facets.js";
import type { ValueField } from "./filter.js";
import type { Formats } from "./format.js";
import { forgetSearches, recentSearches, rememberSearch } from "./recent-searches.js";

/** Typing is quiet for this long before the list is read again. */
const TYPING_MS = 350;
const SUGGESTED_MAX = 8;
const SUGGESTED_OF_FIELD_MAX = 3;
const EVENT_ID = /^evt_[0-9A-Z]{26}$/;
/** An address or a network as a whole. The server says what is wrong with other digits. */
const ADDRESS = /^(\d{1,3}(\.\d{1,3}){3}|(?=.*:.*:)[0-9a-f:]{3,}(\.\d{1,3}){0,3})(\/\d{1,3})?$/i;

/** How many events have a value. */
export type Counter = (field: ValueField, value: string, signal: AbortSignal) => Promise<number | undefined>;

/** Letters without case and accents, so that `muller` suggests Müller. */
const folded = (text: string): string => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
const wordsOf = (text: string): string[] => folded(text).split(/[^\p{L}\p{N}]+/u).filter(Boolean);

function matches({ label, value }: Named, typed: string): boolean {
  if (folded(value).startsWith(folded(typed))) return true;
  const [words, wanted] = [[...wordsOf(label), ...wordsOf(value)], wordsOf(typed)];
  return wanted.length > 0 && wanted.every((prefix) => words.some((word) => word.startsWith(prefix)));
}

interface Option {
  text: string;
  detail?: string;
  run: () => void;
}

/**
 * The field for words, names and ids, with suggestions. Fires `search` with the text, `choose` with `{field, value}` and `open-event`
 * with an id.
 */
export class SearchBox extends LitElement {
  static override properties = {
    value: {},
    formats: { attribute: false },
    candidates: { attribute: false },
    counter: { attribute: false },
    owner: { attribute: false },
    typed: { state: true },
    isOpen: { state: true },
    active: { state: true },
    counts: { state: true },
  };
  /** The search of the list. */
  declare value: string;
  declare formats: Formats;
  declare candidates: () => Named[];
  declare counter: Counter;
  /** Whose searches are remembered in this browser. */
  declare owner: string;
  declare private typed: string;
  declare private isOpen: boolean;
  declare private active: number;
  declare private counts: ReadonlyMap<string, number>;
  private typing: ReturnType<typeof setTimeout> | undefined;
  private counting = new AbortController();
  /** The suggestions that are being counted, or were. */
  private countedFor = "";

  static override styles = [
    theme,
    css`
      :host { display: block; position: relative; }
      input { width: 100%; }
      .popup { position: absolute; inset-block-start: calc(100% + 4px); inset-inline: 0; max-width: 620px; z-index: 5; padding: 4px;
        max-height: min(420px, 60vh); overflow-y: auto; background: var(--raised); border: 1px solid var(--border); border-radius: var(--radius);
        box-shadow: 0 6px 20px rgb(0 0 0 / 0.18); }
      .option { display: flex; gap: 4px 8px; align-items: baseline; padding: 5px 8px; border-radius: 4px; cursor: pointer; }
      .option span:first-child { min-width: 0; overflow-wrap: anywhere; display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; }
      .option .muted { flex: none; max-width: 60%; margin-inline-start: auto; font-variant-numeric: tabular-nums; }
      .option:hover, .option.active { background: var(--selected); }
      .note { margin: 0; padding: 5px 8px; color: var(--muted); font-size: 0.9em; }
      @media (forced-colors: active) { .option.active { outline: 2px solid Highlight; outline-offset: -2px; } }
    `,
  ];

  constructor() {
    super();
    this.value = "";
    this.typed = "";
    this.owner = "";
    this.isOpen = false;
    this.active = -1;
    this.counts = new Map();
  }

  override willUpdate(changed: PropertyValues): void {
    // What is being typed is not replaced by what is searched.
    if (changed.has("value") && this.value !== changed.get("value") && !this.typing) this.typed = this.value;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.settle();
  }

  private settle(): void {
    clearTimeout(this.typing);
    this.typing = undefined;
    this.counting.abort();
    this.countedFor = "";
  }

  /** Forgets what was typed and is not searched yet. */
  clear(): void {
    this.settle();
    this.typed = "";
  }

  private close(): void {
    this.isOpen = false;
    this.active = -1;
    this.countedFor = "";
    // Another filter has other numbers.
    this.counts = new Map();
  }

  private fire(name: string, detail: unknown): void {
    this.settle();
    this.close();
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  private onInput(event: Event): void {
    this.settle();
    this.typed = (event.target as HTMLInputElement).value;
    this.isOpen = true;
    this.active = -1;
    this.typing = setTimeout(() => {
      this.typing = undefined;
      // Addresses and ids of events are in no search. They are suggested.
      if (!this.special()) this.dispatchEvent(new CustomEvent("search", { detail: this.typed }));
      this.requestUpdate();
    }, TYPING_MS);
  }

  /** What is no search: an event or an address. */
  private special(): Option | undefined {
    const text = this.typed.trim();
    const { messages: t } = this.formats;
    if (EVENT_ID.test(text)) return { text, detail: t.openEvent, run: () => this.leave("open-event", text) };
    return ADDRESS.test(text) ? this.suggestion({ field: "ip_address", value: text, label: text }) : undefined;
  }

  /** Takes what was typed out of the field. */
  private leave(name: string, detail: unknown): void {
    this.typed = "";
    this.fire(name, detail);
  }

  private suggestion({ field, value, label }: Named): Option {
    const count = this.counts.get(`${field} ${value}`);
    const detail = [this.formats.messages.fields[field] ?? field, label === value ? "" : visible(value), count === undefined ? "" : this.formats.number(count)];
    const run = (): void => {
      rememberSearch(this.owner, label);
      this.leave("choose", { field, value });
    };
    return { text: visible(label), detail: detail.filter(Boolean).join(" · "), run };
  }

  private suggested(): Named[] {
    const typed = this.typed.trim();
    if (!typed || ADDRESS.test(typed)) return typed ? [{ field: "ip_address", value: typed, label: typed }] : [];
    const found = this.candidates().filter((one) => matches(one, typed));
    return found.filter(({ field }, index) => found.slice(0, index).filter((one) => one.field === field).length < SUGGESTED_OF_FIELD_MAX).slice(0, SUGGESTED_MAX);
  }

  private options(): Option[] {
    const special = this.special();
    if (special) return [special];
    if (this.typed.trim()) return this.suggested().map((one) => this.suggestion(one));
    const recent: Option[] = recentSearches(this.owner).map((text) => ({ text: visible(text), run: () => this.commit(text) }));
    return recent.length > 0 ? [...recent, { text: this.formats.messages.clearRecent, run: () => this.clearRecent() }] : [];
  }

  private commit(text: string): void {
    this.typed = text;
    const special = this.special();
    if (special) return special.run();
    rememberSearch(this.owner, text);
    this.fire("search", text);
  }

  /** Counts the suggestions, one after the other. Those that the list of a search brings come later. */
  private async count(): Promise<void> {
    const suggested = this.suggested();
    const wanted = suggested.map(({ field, value }) => `${field} ${value}`).join("\n");
    if (wanted === this.countedFor) return;
    this.countedFor = wanted;
    this.counting.abort();
    const { signal } = (this.counting = new AbortController());
    try {
      for (const { field, value } of suggested) {
        const count = await this.counter(field, value, signal);
        if (signal.aborted) return;
        if (count !== undefined) this.counts = new Map(this.counts).set(`${field} ${value}`, count);
      }
    } catch (error) {
      if (!isAbort(error)) throw error;
    }
  }

  private onKey(event: KeyboardEvent): void {
    const options = this.isOpen ? this.options() : [];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      this.isOpen = true;
      // -1 is the field itself.
      const count = options.length + 1;
      this.active = ((this.active + 1 + step + count) % count) - 1;
    } else if (event.key === "Enter") (options[this.active] ?? { run: () => this.commit(this.typed) }).run();
    else if (event.key === "Escape" && this.isOpen) this.isOpen = false;
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  override updated(changed: PropertyValues): void {
    if (changed.has("active")) this.renderRoot.querySelector(".option.active")?.scrollIntoView({ block: "nearest" });
    if (this.isOpen && !this.typing) void this.count();
  }

  private clearRecent(): void {
    forgetSearches(this.owner);
    this.active = -1;
    this.requestUpdate();
  }

  override render(): TemplateResult {
    const { messages: t } = this.formats;
    const options = this.isOpen ? this.options() : [];
    const hasOptions = options.length > 0;
    return html`
      <input
        type="search" role="combobox" aria-label=${t.search} aria-describedby="help" aria-autocomplete="list" aria-expanded=${hasOptions}
        aria-controls=${hasOptions ? "options" : nothing} aria-activedescendant=${this.active >= 0 ? `option-${this.active}` : nothing}
        placeholder=${`${t.search}: ${t.searchHint}`} maxlength="256" autocomplete="off" spellcheck="false" .value=${this.typed}
        @input=${this.onInput} @keydown=${this.onKey} @focus=${() => (this.isOpen = true)} @click=${() => (this.isOpen = true)} @blur=${() => this.close()}
        @change=${() => rememberSearch(this.owner, this.typed)}
      />
      <div class="popup" ?hidden=${!this.isOpen} @pointerdown=${(event: Event) => event.preventDefault()}>
        ${hasOptions ? this.list(options) : nothing}
        <p class="note" id="help">${t.searchHelp}</p>
      </div>
    `;
  }

  private list(options: readonly Option[]): TemplateResult {
    const { messages: t } = this.formats;
    const isRecent = !this.typed.trim();
    return html`${isRecent ? html`<p class="note">${t.recentSearches}</p>` : nothing}
      <div role="listbox" id="options" aria-label=${isRecent ? t.recentSearches : t.suggestions}>
        ${options.map(({ text, detail, run }, index) => html`<div
          class="option ${index === this.active ? "active" : ""}" role="option" id="option-${index}" aria-selected=${index === this.active} @click=${run}
        ><span>${text}</span>${detail ? html`<span class="muted">${detail}</span>` : nothing}</div>`)}
      </div>`;
  }
}
