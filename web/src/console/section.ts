import { css, type CSSResultGroup, html, LitElement, nothing, type PropertyDeclarations, type PropertyValues, type TemplateResult } from "lit";
import { Api, asFailure, type Failure, isAbort } from "../shared/api.js";
import { copyText } from "../shared/copy.js";
import { theme } from "../shared/theme.js";
import { visible } from "../shared/visible.js";
import { changed, hashOf, readAddress } from "./address.js";
import { dates, followLanguage, t } from "./languages/index.js";
import type { Session } from "./session.js";

/** What an action asks before it happens. */
export interface Question {
  title: string;
  /** What it does and whether it can be undone. */
  text: string;
  verb: string;
  /** A text that must be typed. */
  typed?: string;
  /** A name that is changed. */
  name?: string;
  /** A list that is changed, one item per line, with the label of its field. */
  list?: { label: string; items: string[] };
  /** Gets the new name, or the lines of the new list. */
  run: (text: string) => Promise<unknown>;
}

/** A secret that is shown once. */
interface Secret {
  title: string;
  value: string;
}

/** A time in the reader's zone. */
export function time(value: string | null | undefined): TemplateResult | string {
  return value ? html`<time datetime=${value} title=${value}>${dates.format(new Date(value))}</time>` : "–";
}

/** The name of somebody or something, and its id; the id alone where no name is known. */
export function nameOf({ id, name }: { id?: string; name?: string }): TemplateResult {
  return name ? html`${visible(name)} <span class="muted">${visible(id ?? "")}</span>` : html`${visible(id ?? "–")}`;
}

/** What the API says, in its language; what the page says itself, in that of the page. */
export const messageOf = ({ kind, message }: Failure): string => (kind === "offline" ? t.offline : message);

export { fieldsOf, listOf } from "../shared/form-fields.js";

/** A page of the console: a title, failures, what it shows, and the dialogs of its actions. */
export abstract class Section extends LitElement {
  static override properties: PropertyDeclarations = {
    session: { attribute: false },
    query: { attribute: false },
    failure: { state: true },
    notice: { state: true },
    question: { state: true },
    secret: { state: true },
    copied: { state: true },
    typed: { state: true },
    isBusy: { state: true },
    isLoaded: { state: true },
  };
  declare session: Session;
  /** The part of the address that belongs to the section: its filters and its open item. */
  declare query: string;
  declare protected failure: Failure | undefined;
  declare protected notice: string;
  declare private question: Question | undefined;
  declare private secret: Secret | undefined;
  /** Whether the secret was copied, in words. */
  declare private copied: string;
  declare private typed: string;
  declare protected isBusy: boolean;
  declare protected isLoaded: boolean;
  private attempts = 0;
  /** What is said when the next state of the address is shown. */
  private arrival = "";
  /** The load that fills the page. A newer one aborts it. */
  protected loading = new AbortController();

  static override styles: CSSResultGroup = [
    theme,
    css`
      :host { display: block; padding: 16px 20px 40px; overflow: auto; min-height: 0; }
      h2 { margin: 0 0 2px; font-size: 1.35em; } h3 { margin: 22px 0 8px; font-size: 1.05em; }
      p { margin: 4px 0 10px; max-width: 80ch; } code { overflow-wrap: anywhere; }
      .scroll { position: relative; overflow-x: auto; border: 1px solid var(--border); border-radius: var(--radius); }
      table { width: 100%; border-collapse: collapse; }
      th, td { padding: 6px 10px; text-align: start; vertical-align: middle; border-bottom: 1px solid color-mix(in srgb, var(--border) 60%, transparent); }
      tbody tr:last-child > * { border-bottom: 0; }
      thead th { background: var(--surface); color: var(--muted); font-size: 0.88em; font-weight: 600; white-space: nowrap; }
      td { overflow-wrap: anywhere; min-width: 60px; } td.actions { white-space: nowrap; text-align: end; } time { white-space: nowrap; }
      tbody th { font-weight: 500; min-width: 96px; } td.wide { min-width: 136px; }
      .facts th { width: 1%; white-space: nowrap; vertical-align: top; }
      form.inline { display: flex; flex-wrap: wrap; gap: 8px; align-items: end; padding: 12px; border: 1px solid var(--border); border-radius: var(--radius);
        background: var(--surface); margin: 8px 0 16px; }
      label { display: flex; flex-direction: column; gap: 2px; color: var(--muted); font-size: 0.9em; min-width: 0; }
      label > :is(input, select, textarea) { color: var(--text); font-size: var(--size); }
      label.check { flex-direction: row; align-items: center; gap: 6px; color: var(--text); font-size: 1em; min-height: 30px; }
      label.wide { flex: 1 1 260px; }
      fieldset { display: flex; flex-wrap: wrap; gap: 0 12px; min-width: 0; margin: 0; padding: 0; border: 0; }
      legend { padding: 0; color: var(--muted); font-size: 0.9em; }
      .badge { display: inline-block; padding: 0 8px; border-radius: 10px; background: var(--surface); border: 1px solid var(--border); font-size: 0.9em; white-space: nowrap; }
      .badge.critical, .badge.failed, .badge.open { background: var(--bad-bg); color: var(--bad); border-color: transparent; }
      .badge.high, .badge.pending, .badge.acknowledged { background: var(--warn-bg); color: var(--warn); border-color: transparent; }
      .badge.delivered, .badge.resolved, .badge.on { background: var(--good-bg); color: var(--good); border-color: transparent; }
      .bar { display: flex; flex-wrap: wrap; gap: 8px; align-items: end; margin: 10px 0; }
      .empty { padding: 24px; text-align: center; color: var(--muted); border: 1px dashed var(--border); border-radius: var(--radius); }
      .cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(136px, 1fr)); gap: 10px; margin: 12px 0; }
      .card { padding: 10px 14px; border: 1px solid var(--border); border-radius: var(--radius); background: var(--surface); }
      .card b { display: block; font-size: 1.5em; font-weight: 600; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
      pre { margin: 0; padding: 10px; overflow: auto; background: var(--surface); border: 1px solid var(--border); border-radius: var(--radius);
        white-space: pre-wrap; overflow-wrap: anywhere; }
      .columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(320px, 100%), 1fr)); gap: 14px; }
      dialog { width: min(520px, calc(100vw - 32px)); padding: 18px 20px; border: 1px solid var(--border); border-radius: 10px; background: var(--bg); color: var(--text); }
      dialog::backdrop { background: rgb(0 0 0 / 0.45); } dialog h3 { margin-top: 0; }
      dialog footer { display: flex; gap: 8px; justify-content: flex-end; margin-top: 16px; }
      .notice { margin: 10px 0; } mark { background: var(--bad-bg); color: var(--bad); border-radius: 3px; padding: 0 2px; }
      mark.after { background: var(--good-bg); color: var(--good); }
    `,
  ];

  constructor() {
    super();
    followLanguage(this);
    this.query = "";
    this.notice = "";
    this.typed = "";
    this.copied = "";
    this.isBusy = false;
    this.isLoaded = false;
  }

  protected abstract readonly heading: string;
  protected abstract readonly text: string;
  /** Reads what the page shows, with `api`, whose requests are aborted when a newer load begins. So is `signal`. */
  protected abstract load(api: Api, signal: AbortSignal): Promise<void>;
  protected abstract content(): TemplateResult;

  override willUpdate(changed: PropertyValues): void {
    if (changed.has("session")) void this.reload();
    else if (changed.has("query")) {
      void this.loadNewest(this.arrival);
      this.arrival = "";
    }
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.loading.abort();
  }

  /** A value of the address; empty without one. */
  protected named(name: string): string {
    return new URLSearchParams(this.query).get(name) ?? "";
  }

  /** An id of the address; `undefined` unless it has the form of one. */
  protected idOf(name: string, prefix: string): string | undefined {
    const value = this.named(name);
    return new RegExp(`^${prefix}_[0-9A-Z]{26}$`).test(value) ? value : undefined;
  }

  /** The API with requests that are aborted with `signal`. */
  protected apiUntil(signal: AbortSignal): Api {
    return new Api(this.session.api.connection, signal);
  }

  /** Goes to another state of this section, and says something there. Back returns to the present one. */
  protected go(changes: Record<string, string | undefined>, notice = ""): void {
    const hash = this.hrefOf(changes);
    // The present state is shown already.
    if (hash === location.hash) return;
    this.arrival = notice;
    location.hash = hash;
  }

  /** The link to another state of this section. */
  protected hrefOf(changes: Record<string, string | undefined>): string {
    return hashOf(readAddress().path, changed(this.query, changes), this.session);
  }

  /** The link to another section, which is open in the same project and environment. */
  protected linkTo(path: string, names: Record<string, string>): string {
    return hashOf(path, changed("", names), this.session);
  }

  protected async reload(): Promise<void> {
    this.isLoaded = false;
    await this.loadNewest();
  }

  /** Loads, in place of every load that has not ended. */
  protected async loadNewest(notice = ""): Promise<void> {
    this.loading.abort();
    const { signal } = (this.loading = new AbortController());
    await this.attempt(() => this.load(this.apiUntil(signal), signal), notice);
    if (!signal.aborted) this.isLoaded = true;
  }

  /** Does something and shows its failure. Returns whether it succeeded. */
  protected async attempt(work: () => Promise<unknown>, notice = ""): Promise<boolean> {
    this.attempts += 1;
    this.isBusy = true;
    this.failure = undefined;
    this.notice = "";
    try {
      await work();
      this.notice = notice;
      return true;
    } catch (error) {
      if (isAbort(error)) return false;
      this.failure = asFailure(error);
      if (this.failure.kind === "expired") this.session.onEnded(this.failure);
      return false;
    } finally {
      this.attempts -= 1;
      this.isBusy = this.attempts > 0;
      this.requestUpdate();
    }
  }

  /** Changes something, then reads the page again. */
  protected async change(work: () => Promise<unknown>, notice = ""): Promise<boolean> {
    const isDone = await this.attempt(work);
    if (!isDone) return false;
    await this.loadNewest();
    if (!this.failure) this.notice = notice;
    return true;
  }

  protected ask(question: Question): void {
    this.typed = question.name ?? question.list?.items.join("\n") ?? "";
    this.question = question;
    void this.showDialog();
  }

  protected reveal(title: string, value: string): void {
    this.secret = { title, value };
    this.copied = "";
    void this.showDialog();
  }

  private async showDialog(): Promise<void> {
    await this.updateComplete;
    const dialog = this.renderRoot.querySelector("dialog");
    if (dialog && !dialog.open) dialog.showModal();
  }

  private closeDialog(): void {
    this.question = undefined;
    this.secret = undefined;
  }

  override render(): TemplateResult {
    const { failure } = this;
    return html`
      <h2>${this.heading}</h2>
      <p class="muted">${this.text}</p>
      ${failure
        ? html`<div class="notice bad" role="alert">
            <b>${messageOf(failure)}</b>
            ${failure.details.map(({ field, message }) => html`<span><code>${field}</code> ${message}</span>`)}
            ${failure.requestId ? html`<span class="mono">${failure.requestId}</span>` : nothing}
            <button @click=${() => this.reload()}>${t.tryAgain}</button>
          </div>`
        : nothing}
      <div role="status">${this.notice ? html`<div class="notice good">${this.notice}</div>` : nothing}</div>
      ${this.isLoaded ? this.content() : this.waiting()} ${this.question ? this.questionDialog(this.question) : nothing}
      ${this.secret ? this.secretDialog(this.secret) : nothing}
    `;
  }

  protected waiting(): TemplateResult {
    return html`<p class="spinner">${t.loading}</p>`;
  }

  private questionDialog({ title, text, verb, typed, name, list, run }: Question): TemplateResult {
    const confirm = async (event: SubmitEvent): Promise<void> => {
      event.preventDefault();
      const text = this.typed.trim();
      this.closeDialog();
      await this.change(() => run(text), t.done(title));
    };
    const onInput = (event: Event): void => {
      this.typed = (event.target as HTMLInputElement | HTMLTextAreaElement).value;
    };
    const isDangerous = name === undefined && list === undefined;
    return html`<dialog aria-labelledby="question" @close=${() => this.closeDialog()}>
      <form @submit=${confirm}>
        <h3 id="question">${title}</h3>
        <p>${text}</p>
        ${typed
          ? html`<label>${t.toConfirm(typed)}
              <input autocomplete="off" spellcheck="false" @input=${onInput} /></label>`
          : nothing}
        ${name === undefined ? nothing : html`<label>${t.newName}<input required maxlength="100" autocomplete="off" .value=${name} @input=${onInput} /></label>`}
        ${list ? html`<label>${list.label}<textarea rows="6" autocomplete="off" spellcheck="false" .value=${list.items.join("\n")} @input=${onInput}></textarea></label>` : nothing}
        <footer>
          <button type="button" @click=${() => this.closeDialog()}>${t.cancel}</button>
          <button class=${isDangerous ? "danger" : "primary"} ?disabled=${typed !== undefined && this.typed !== typed}>${verb}</button>
        </footer>
      </form>
    </dialog>`;
  }

  private secretDialog({ title, value }: Secret): TemplateResult {
    const copy = async (): Promise<void> => {
      this.copied = (await copyText(value)) ? t.copied : t.notCopied;
    };
    return html`<dialog aria-labelledby="secret" @close=${() => this.closeDialog()}>
      <h3 id="secret">${title}</h3>
      <p>${t.shownOnce}</p>
      <pre tabindex="0">${value}</pre>
      <p role="status">${this.copied}</p>
      <footer>
        <button @click=${copy}>${t.copy}</button>
        <button class="primary" @click=${() => this.closeDialog()}>${t.haveStored}</button>
      </footer>
    </dialog>`;
  }

  /** A table, or a sentence when it is empty. */
  protected table(columns: string[], rows: TemplateResult[], empty: string): TemplateResult {
    if (rows.length === 0) return html`<div class="empty">${empty}</div>`;
    return html`<div class="scroll" tabindex="0" role="group" aria-label=${this.heading}>
      <table>
        <thead><tr>${columns.map((name) => html`<th scope="col">${name || html`<span class="visually-hidden">${t.actions}</span>`}</th>`)}</tr></thead>
        <tbody>${rows}</tbody>
      </table>
    </div>`;
  }

  /** Says that only a master key may do something. */
  protected masterOnly(): TemplateResult | typeof nothing {
    return this.session.isMaster ? nothing : html`<p class="notice">${t.masterOnly}</p>`;
  }
}
