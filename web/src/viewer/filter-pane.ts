import { html, nothing, type ReactiveControllerHost, type TemplateResult } from "lit";
import type { Facets } from "./facets.js";
import type { Filter } from "./filter.js";
import type { Formats } from "./format.js";

/** In a viewer that is narrower, the values are in a dialog; with details beside the list, there must be more room. */
const BESIDE_PX = 960;
const BESIDE_DETAILS_PX = 1500;

interface FilterPaneHost extends ReactiveControllerHost {
  readonly renderRoot: ParentNode;
  readonly facets: Facets;
  readonly formats: Formats;
  readonly hasTenants: boolean;
  readonly openedId: string | undefined;
  filter: Filter;
}

/** The place of the values of fields: beside the list where there is room, in a dialog over the page elsewhere. */
export class FilterPane {
  /** Whether the reader wants the values beside the list. */
  private isWanted = true;
  private isDialogOpen = false;

  constructor(private readonly host: FilterPaneHost & Element) {}

  private get isBeside(): boolean {
    return this.host.clientWidth >= (this.host.openedId ? BESIDE_DETAILS_PX : BESIDE_PX);
  }

  get isOpen(): boolean {
    return this.isBeside ? this.isWanted : this.isDialogOpen;
  }

  toggle(): void {
    if (this.isBeside) this.isWanted = !this.isWanted;
    else this.isDialogOpen = !this.isDialogOpen;
    this.host.requestUpdate();
  }

  private close(): void {
    if (!this.isDialogOpen) return;
    this.isDialogOpen = false;
    this.host.requestUpdate();
  }

  /** Opens the dialog that was rendered: the browser keeps the focus within it. */
  place(): void {
    const dialog = this.host.renderRoot.querySelector<HTMLDialogElement>("dialog.facets");
    if (dialog && !dialog.open) dialog.showModal();
  }

  private panel(): TemplateResult {
    const { filter, facets, formats, hasTenants } = this.host;
    return html`<audit-log-facets part="facets"
      .filter=${filter} .facets=${facets} .formats=${formats} .hasTenants=${hasTenants}
      @filter-change=${(event: CustomEvent<Filter>) => (this.host.filter = event.detail)}
    ></audit-log-facets>`;
  }

  /** Beside the list. */
  aside(): TemplateResult | typeof nothing {
    this.host.facets.show(this.isOpen);
    if (!this.isBeside || !this.isWanted) return nothing;
    return html`<aside aria-label=${this.host.formats.messages.filters}>${this.panel()}</aside>`;
  }

  /** Over the page. `count` says how many events there are. */
  dialog(count: string): TemplateResult | typeof nothing {
    if (this.isBeside || !this.isDialogOpen) return nothing;
    const { messages: t } = this.host.formats;
    const close = (): void => this.host.renderRoot.querySelector<HTMLDialogElement>("dialog.facets")?.close();
    return html`<dialog class="facets" aria-label=${t.filters} @close=${() => this.close()}>
      <header><h3>${t.filters}</h3><button class="plain icon" aria-label=${t.close} title=${t.close} @click=${close}>✕</button></header>
      <div class="body">${this.panel()}</div>
      <footer><button class="primary" @click=${close}>${t.showEvents(count)}</button></footer>
    </dialog>`;
  }
}
