import { html, nothing, type ReactiveControllerHost, type TemplateResult } from "lit";
import { copyText } from "../shared/copy.js";
import type { Formats } from "./format.js";

/** A short message is shown for this long. */
const TOAST_MS = 4_000;

/** The element whose link is copied. */
export interface CopyLinkHost extends ReactiveControllerHost {
  readonly link: string;
  readonly formats: Formats;
  announcement: string;
}

/** Copies the link to a view and says so. Where the browser refuses, the link is shown, for the reader to copy. */
export class CopyLink {
  private state: "copied" | "refused" | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly host: CopyLinkHost) {}

  private show(state: CopyLink["state"]): void {
    clearTimeout(this.timer);
    this.state = state;
    this.host.requestUpdate();
  }

  async copy(): Promise<void> {
    const isCopied = await copyText(this.host.link);
    this.show(isCopied ? "copied" : "refused");
    if (!isCopied) return;
    this.host.announcement = this.host.formats.messages.copied;
    this.timer = setTimeout(() => this.show(undefined), TOAST_MS);
  }

  /** The short message. Screen readers hear the announcement. */
  toast(): TemplateResult | typeof nothing {
    return this.state === "copied" ? html`<div class="toast" aria-hidden="true">${this.host.formats.messages.copied}</div>` : nothing;
  }

  /** The line above the list. */
  message(): TemplateResult | typeof nothing {
    if (this.state !== "refused") return nothing;
    const { messages: t } = this.host.formats;
    return html`<div class="notice" role="status"><label for="link">${t.linkToCopy}</label>
      <input id="link" readonly .value=${this.host.link} @focus=${(event: Event) => (event.target as HTMLInputElement).select()} />
      <button @click=${() => this.show(undefined)}>${t.close}</button></div>`;
  }
}
