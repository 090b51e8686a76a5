import { html, nothing, type ReactiveControllerHost, type TemplateResult } from "lit";
import { type Api, asFailure, isAbort } from "../shared/api.js";
import { download, type Format } from "./download.js";
import type { Filter } from "./filter.js";
import type { Formats } from "./format.js";

/** The menu of downloads and the one that runs. */
export class Downloads {
  isMenuOpen = false;
  private bytes: number | undefined;
  private failure = "";
  private running: AbortController | undefined;

  constructor(private readonly host: ReactiveControllerHost) {}

  abort(): void {
    this.running?.abort();
  }

  private openMenu(isOpen: boolean): void {
    this.isMenuOpen = isOpen;
    this.host.requestUpdate();
  }

  private async save(api: Api, filter: Filter, form: { format: Format; zone: string; labels: string | undefined }): Promise<void> {
    this.openMenu(false);
    this.abort();
    const running = new AbortController();
    this.running = running;
    this.failure = "";
    const progress = (bytes: number | undefined): void => {
      this.bytes = bytes;
      this.host.requestUpdate();
    };
    progress(0);
    try {
      await download(api, filter, form, progress, running.signal);
    } catch (error) {
      if (!isAbort(error)) this.failure = asFailure(error).message;
    } finally {
      progress(undefined);
    }
  }

  /** `labels` is the language of the labels of actions, if there are some. */
  menu(api: Api, filter: Filter, { messages: t, zone }: Formats, labels: string | undefined): TemplateResult {
    const save = (format: Format): Promise<void> => this.save(api, filter, { format, zone, labels });
    const onFocus = (event: FocusEvent): void => {
      if (!(event.currentTarget as Element).contains(event.relatedTarget as Node | null)) this.openMenu(false);
    };
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== "Escape") return;
      this.openMenu(false);
      (event.currentTarget as Element).querySelector("button")?.focus();
    };
    return html`<div class="menu" @focusout=${onFocus} @keydown=${onKey}>
      <button aria-expanded=${this.isMenuOpen} aria-haspopup="true" @click=${() => this.openMenu(!this.isMenuOpen)}>${t.download}</button>
      ${this.isMenuOpen
        ? html`<div>
            <button @click=${() => save("excel")}>${t.downloadExcel}</button>
            <button @click=${() => save("xlsx")}>${t.downloadXlsx}</button>
            <button @click=${() => save("csv")}>${t.downloadCsv}</button>
            <button @click=${() => save("jsonl")}>${t.downloadJson}</button>
          </div>`
        : nothing}
    </div>`;
  }

  /** The lines above the list. */
  message(formats: Formats): TemplateResult | typeof nothing {
    const { messages: t } = formats;
    if (this.bytes !== undefined) {
      return html`<div class="notice good" role="status">${t.downloading(formats.bytes(this.bytes))}
        <button @click=${() => this.abort()}>${t.cancel}</button></div>`;
    }
    return this.failure ? html`<div class="notice bad" role="alert">${t.downloadFailed}: ${this.failure}</div>` : nothing;
  }
}
