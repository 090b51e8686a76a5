import { css, html, nothing, type TemplateResult } from "lit";
import { type Api, asFailure, isAbort, optional } from "../../shared/api.js";
import { visible } from "../../shared/visible.js";
import { badgeOf, countOf, type Erasure, facts, isCancellable, isMoving, type ListedEvent, outOfReach, stepOf } from "../erasures/views.js";
import { t } from "../languages/index.js";
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
  protected get heading(): string {
    return t.sections.erasures;
  }
  protected get text(): string {
    return t.erasures.text;
  }

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
      this.go({ erasure: erasure.id, ids: undefined }, t.erasures.wasRequested);
    });
  }

  private exclude(id: string, seq: number): void {
    void this.change(() => this.session.api.send("POST", `/erasures/${id}/exclude`, { seqs: [seq] }), t.erasures.wasExcluded(seq));
  }

  private confirm(erasure: Erasure): void {
    this.ask({
      title: t.erasures.confirmTitle(countOf(erasure)), verb: t.erasures.confirmVerb, typed: erasure.id,
      text: t.erasures.confirmText,
      run: () => this.session.api.send("POST", `/erasures/${erasure.id}/confirm`, { digest: erasure.digest }),
    });
  }

  private cancel({ id }: Erasure): void {
    this.ask({
      title: t.erasures.cancelTitle(id), verb: t.erasures.cancelVerb, text: t.erasures.cancelText,
      run: async () => {
        await this.session.api.send("DELETE", `/erasures/${id}`);
        this.go({ erasure: undefined }, t.erasures.wasCancelled);
      },
    });
  }

  protected override content(): TemplateResult {
    if (!this.session.isMaster) return html`<p class="notice">${t.erasures.needMaster}</p>`;
    return this.wanted ? this.page() : html`${this.form()} ${this.list()}`;
  }

  private form(): TemplateResult {
    return html`<h3>${t.erasures.request}</h3>
      <form class="inline" @submit=${this.request}>
        <label class="wide">${t.erasures.ids}<textarea name="ids" .value=${this.named("ids")} rows="4" autocomplete="off" spellcheck="false" placeholder="usr_42"></textarea></label>
        <label class="wide">${t.erasures.texts}<textarea name="texts" rows="4" autocomplete="off" spellcheck="false" placeholder="jane@example.com"></textarea></label>
        <fieldset><legend>${t.erasures.extent}</legend>${Object.entries(t.erasures.extents).map(([name, [label, text]], index) => html`
          <label class="check"><input type="radio" name="extent" value=${name} ?checked=${index === 0} /> <span>${label}: <span class="muted">${text}</span></span></label>`)}</fieldset>
        <label>${t.erasures.basis}<select name="basis">${Object.entries(t.erasures.bases).map(([name, label]) => html`<option value=${name}>${label}</option>`)}</select></label>
        <label>${t.erasures.ticketLabel}<input name="ticket" maxlength="64" autocomplete="off" /></label>
        <button class="primary" ?disabled=${this.isBusy}>${t.erasures.find}</button>
        <span class="muted">${t.erasures.help}</span>
      </form>`;
  }

  private list(): TemplateResult {
    const rows = this.erasures.map((erasure) => html`<tr>
      <th scope="row"><a href=${this.hrefOf({ erasure: erasure.id })}>${erasure.ticket === null ? erasure.id : visible(erasure.ticket)}</a></th>
      <td>${badgeOf(erasure.state)}</td><td>${t.erasures.bases[erasure.basis] ?? erasure.basis}</td><td>${countOf(erasure)}</td><td>${time(erasure.created_at)}</td><td>${time(erasure.not_before)}</td><td>${time(erasure.done_at)}</td>
    </tr>`);
    return this.table([t.erasures.erasure, t.state, t.erasures.basis, t.events, t.requested, t.notBefore, t.erasures.doneColumn], rows, t.erasures.none);
  }

  private page(): TemplateResult {
    const { opened } = this;
    const back = html`<p><a href=${this.hrefOf({ erasure: undefined })}>${t.erasures.back}</a></p>`;
    if (!opened) return html`${back}<p class="notice">${t.erasures.gone}</p>`;
    const { erasure } = opened;
    const canConfirm = erasure.state === "listed" && erasure.digest !== null;
    return html`${back}
      <h3>${erasure.id}</h3>
      ${stepOf(erasure)} ${facts(erasure)}
      <div class="bar">
        ${canConfirm ? html`<button class="danger" ?disabled=${this.isBusy} @click=${() => this.confirm(erasure)}>${t.erasures.confirm}</button>` : nothing}
        ${isCancellable(erasure) ? html`<button @click=${() => this.cancel(erasure)}>${t.erasures.cancel}</button>` : nothing}
      </div>
      ${erasure.state === "listing" ? nothing : this.events(opened)} ${outOfReach(erasure)}`;
  }

  private events(opened: Opened): TemplateResult {
    const { erasure, events, cursor } = opened;
    const rows = events.map(({ seq, id, occurred_at, action, row, parts }) => html`<tr>
      <th scope="row">${seq}</th><td>${id === null ? t.erasures.removed : html`<a href=${this.linkTo("events", { event: id })}>${visible(action ?? id)}</a>`}</td><td>${time(occurred_at)}</td>
      <td class="wide">${row ? t.erasures.whole : parts.join(", ")}</td>
      <td class="actions">${erasure.state === "listed" ? html`<button ?disabled=${this.isBusy} aria-label=${t.erasures.excludeEvent(seq)} @click=${() => this.exclude(erasure.id, seq)}>${t.erasures.exclude}</button>` : nothing}</td>
    </tr>`);
    return html`<h3>${t.events}</h3>
      ${this.table([t.position, t.event, t.erasures.occurred, t.erasures.erased, ""], rows, t.erasures.noEvents)}
      ${cursor === null ? nothing : html`<p><button ?disabled=${this.isBusy} @click=${() => this.more(opened)}>${t.showMore}</button></p>`}`;
  }
}
