import { css, html, nothing, type TemplateResult } from "lit";
import { type Api, asFailure, isAbort, optional } from "../../shared/api.js";
import { visible } from "../../shared/visible.js";
import { badgeOf, BASES, countOf, type Erasure, EXTENTS, facts, isCancellable, isMoving, labelOf, type ListedEvent, outOfReach, stepOf } from "../erasures/views.js";
import { fieldsOf, listOf, Section, time } from "../section.js";

/** How often the page reads an erasure that changes by itself. */
const POLL_MS = 2_000;

interface ListPage {
  events: ListedEvent[];
  cursor: string | null;
}

/** An erasure, and what was read of its list. */
interface Opened extends ListPage {
  erasure: Erasure;
}

/** Erasure of persons: the request, the list, its confirmation, and the progress. */
export class Erasures extends Section {
  static override properties = { erasures: { state: true }, opened: { state: true } };
  static override styles = [Section.styles, css`fieldset { flex-direction: column; }`];
  declare private erasures: Erasure[];
  declare private opened: Opened | undefined;
  protected readonly heading = "Erasures";
  protected readonly text =
    "Erase a person from the events of this project and environment. The service lists the events, you check and confirm the list, and after a grace period the listed parts are erased. The log stays verifiable.";

  constructor() {
    super();
    this.erasures = [];
  }

  private get wanted(): string | undefined {
    return this.idOf("erasure", "ers");
  }

  protected override async load(api: Api, signal: AbortSignal): Promise<void> {
    if (!this.session.isMaster) return;
    const { wanted } = this;
    if (wanted) await this.open(api, wanted, signal);
    else this.erasures = (await api.get<{ erasures: Erasure[] }>("/erasures")).erasures;
  }

  /** Reads an erasure and its list, and reads it again while it changes by itself. */
  private async open(api: Api, id: string, signal: AbortSignal): Promise<void> {
    const erasure = (await optional(api.get<{ erasure: Erasure }>(`/erasures/${id}`)))?.erasure;
    const before = this.opened;
    const isSame = before && erasure && before.erasure.id === id && before.erasure.state === erasure.state && before.erasure.digest === erasure.digest;
    const page = isSame ? before : erasure && erasure.state !== "listing" ? await this.read(api, id) : { events: [], cursor: null };
    if (signal.aborted) return;
    this.opened = erasure && { erasure, events: page.events, cursor: page.cursor };
    if (!erasure || !isMoving(erasure)) return;
    const again = (): Promise<void> => this.open(api, id, signal).catch((error: unknown) => {
      if (!isAbort(error)) this.failure = asFailure(error);
    });
    setTimeout(again, POLL_MS);
  }

  private read(api: Api, id: string, cursor?: string): Promise<ListPage> {
    return api.get<ListPage>(`/erasures/${id}/events`, { cursor });
  }

  private async more({ erasure, events, cursor }: Opened): Promise<void> {
    await this.attempt(async () => {
      const page = await this.read(this.apiUntil(this.loading.signal), erasure.id, cursor ?? undefined);
      this.opened = { erasure, events: [...events, ...page.events], cursor: page.cursor };
    });
  }

  private async request(event: SubmitEvent): Promise<void> {
    const form = event.target as HTMLFormElement;
    const { ids, texts, ...fields } = fieldsOf(event);
    const lists = { ids: listOf(ids, /\n/), texts: listOf(texts, /\n/) };
    const identifiers = Object.fromEntries(Object.entries(lists).filter(([, items]) => items.length > 0));
    await this.attempt(async () => {
      const { erasure } = await this.session.api.send<{ erasure: Erasure }>("POST", "/erasures", { ...fields, identifiers });
      // The identifiers stay nowhere.
      form.reset();
      this.go({ erasure: erasure.id }, "The erasure was requested.");
    });
  }

  private exclude(id: string, seq: number): void {
    void this.change(() => this.session.api.send("POST", `/erasures/${id}/exclude`, { seqs: [seq] }), `Event ${seq} was excluded.`);
  }

  private confirm(erasure: Erasure): void {
    this.ask({
      title: `Confirm the list of ${countOf(erasure)}`, verb: "Erase after the grace period", typed: erasure.id,
      text: "You confirm this list. Until the end of the grace period you can cancel. What is erased cannot be restored.",
      run: () => this.session.api.send("POST", `/erasures/${erasure.id}/confirm`, { digest: erasure.digest }),
    });
  }

  private cancel({ id }: Erasure): void {
    this.ask({
      title: `Cancel the erasure ${id}`, verb: "Cancel the erasure", text: "Its events stay, and its list is deleted. To erase the person, request it again.",
      run: async () => {
        await this.session.api.send("DELETE", `/erasures/${id}`);
        this.go({ erasure: undefined }, "The erasure was cancelled.");
      },
    });
  }

  protected override content(): TemplateResult {
    if (!this.session.isMaster) return html`<p class="notice">Erasures need a master key.</p>`;
    return this.wanted ? this.page() : html`${this.form()} ${this.list()}`;
  }

  private form(): TemplateResult {
    return html`<h3>Request</h3>
      <form class="inline" @submit=${this.request}>
        <label class="wide">Ids, one a line<textarea name="ids" rows="4" autocomplete="off" spellcheck="false" placeholder="usr_42"></textarea></label>
        <label class="wide">Names and addresses, one a line<textarea name="texts" rows="4" autocomplete="off" spellcheck="false" placeholder="jane@example.com"></textarea></label>
        <fieldset><legend>Extent</legend>${EXTENTS.map(([name, label, text], index) => html`
          <label class="check"><input type="radio" name="extent" value=${name} ?checked=${index === 0} /> <span>${label}: <span class="muted">${text}</span></span></label>`)}</fieldset>
        <label>Basis<select name="basis">${BASES.map(([name, label]) => html`<option value=${name}>${label}</option>`)}</select></label>
        <label>Ticket (no name, no address)<input name="ticket" maxlength="64" autocomplete="off" /></label>
        <button class="primary" ?disabled=${this.isBusy}>Find the events</button>
        <span class="muted">An id matches a whole value. A name or an address also matches within a text, at word boundaries. The identifiers are kept in memory until the list is made, and stored nowhere.</span>
      </form>`;
  }

  private list(): TemplateResult {
    const rows = this.erasures.map((erasure) => html`<tr>
      <th scope="row"><a href=${this.hrefOf({ erasure: erasure.id })}>${erasure.ticket === null ? erasure.id : visible(erasure.ticket)}</a></th>
      <td>${badgeOf(erasure.state)}</td><td>${labelOf(BASES, erasure.basis)}</td><td>${countOf(erasure)}</td><td>${time(erasure.created_at)}</td><td>${time(erasure.not_before)}</td><td>${time(erasure.done_at)}</td>
    </tr>`);
    return this.table(["Erasure", "State", "Basis", "Events", "Requested", "Not before", "Done"], rows, "No erasures.");
  }

  private page(): TemplateResult {
    const { opened } = this;
    const back = html`<p><a href=${this.hrefOf({ erasure: undefined })}>All erasures</a></p>`;
    if (!opened) return html`${back}<p class="notice">This erasure does not exist, or it was cancelled.</p>`;
    const { erasure } = opened;
    const canConfirm = erasure.state === "listed" && erasure.digest !== null;
    return html`${back}
      <h3>${erasure.id}</h3>
      ${stepOf(erasure)} ${facts(erasure)}
      <div class="bar">
        ${canConfirm ? html`<button class="danger" ?disabled=${this.isBusy} @click=${() => this.confirm(erasure)}>Confirm this list</button>` : nothing}
        ${isCancellable(erasure) ? html`<button @click=${() => this.cancel(erasure)}>Cancel this erasure</button>` : nothing}
      </div>
      ${erasure.state === "listing" ? nothing : this.events(opened)} ${outOfReach(erasure)}`;
  }

  private events(opened: Opened): TemplateResult {
    const { erasure, events, cursor } = opened;
    const rows = events.map(({ seq, id, occurred_at, action, row, parts }) => html`<tr>
      <th scope="row">${seq}</th><td>${id === null ? "removed" : html`<a href=${this.linkTo("events", { event: id })}>${visible(action ?? id)}</a>`}</td><td>${time(occurred_at)}</td>
      <td class="wide">${row ? "the whole event" : parts.join(", ")}</td>
      <td class="actions">${erasure.state === "listed" ? html`<button ?disabled=${this.isBusy} aria-label="Exclude event ${seq}" @click=${() => this.exclude(erasure.id, seq)}>Exclude</button>` : nothing}</td>
    </tr>`);
    return html`<h3>Events</h3>
      ${this.table(["Position", "Event", "Occurred", "Erased", ""], rows, "No events.")}
      ${cursor === null ? nothing : html`<p><button ?disabled=${this.isBusy} @click=${() => this.more(opened)}>Show more</button></p>`}`;
  }
}
