import { css, html, nothing, type TemplateResult } from "lit";
import type { Api } from "../../shared/api.js";
import { keyed } from "lit/directives/keyed.js";
import { bodyOf, type Draft, destinationForm, newDraft } from "../destinations/form.js";
import { KINDS, labelOf } from "../../shared/destination-kinds.js";
import { labelsOf } from "../../shared/destination-labels.js";
import type { OcsfClass } from "../destinations/ocsf-classes.js";
import { attemptOf, badgeOf, facts, lagOf, recordOf, resentList } from "../destinations/views.js";
import type { Attempt, Destination, ReplayRange, Resent, SetAside, SetAsidePage } from "../../shared/destinations.js";
import type { Json } from "../../shared/types.js";
import { visible } from "../../shared/visible.js";
import { language, numbers, t } from "../languages/index.js";
import { fieldsOf, Section, time } from "../section.js";

/** A counted replay, and the request that starts the same. */
interface Counted {
  range: ReplayRange;
  request: { from_seq: number; to?: string };
}

/** What the reader looks at of the opened destination. */
interface Opened {
  destination: Destination;
  setAside: SetAside[];
  cursor: string | null;
  tested?: Attempt & { verdict: string };
  resent?: Resent;
  preview?: { format: string; records: Json[] };
  counted?: Counted | undefined;
}

/** Destinations: how far each is, what its receiver responds, replays, and events that it refused. */
export class Destinations extends Section {
  static override properties = { destinations: { state: true }, opened: { state: true }, draft: { state: true } };
  static override styles = [
    Section.styles,
    css`h3, h4 { overflow-wrap: anywhere; } h4 { margin: 16px 0 6px; } .facts pre { border: 0; padding: 0; background: none; } .facts pre, .records pre { max-height: 300px; } .records pre { margin-bottom: 8px; }
      .classes, .row { flex: 1 1 100%; } .row { display: flex; flex-wrap: wrap; gap: 8px; align-items: end; min-width: 0; margin-bottom: 8px; } .row .action { flex: 1 1 260px; } .fault { color: var(--bad); }`,
  ];
  declare private destinations: Destination[];
  declare private opened: Opened | undefined;
  declare private draft: Draft;
  /** Changes when the form begins anew. */
  private form = 0;
  /** The classes of the last request of the form, which a failure names by their places. */
  private sent: OcsfClass[] = [];
  protected get heading(): string {
    return t.sections.destinations;
  }
  protected get text(): string {
    return t.destinations.text;
  }

  constructor() {
    super();
    this.destinations = [];
    this.draft = newDraft();
  }

  protected override async load(api: Api): Promise<void> {
    if (!this.session.isMaster) return;
    this.destinations = (await api.get<{ destinations: Destination[] }>("/destinations")).destinations;
    const { draft } = this;
    if (draft.id !== undefined && !this.destinations.some(({ id }) => id === draft.id)) this.edit(newDraft());
    const destination = this.destinations.find(({ id }) => id === this.named("destination"));
    // What the reader looks at of one is not shown below the name of another.
    if (destination?.id !== this.opened?.destination.id) this.opened = undefined;
    if (destination) await this.open(api, destination);
  }

  private edit(draft: Draft): void {
    this.form += 1;
    this.draft = draft;
  }

  /** Opens a destination in the form, which is below everything else. */
  private async startEdit(destination: Destination): Promise<void> {
    this.edit({ ...destination, isConfigured: false });
    await this.updateComplete;
    this.renderRoot.querySelector<HTMLInputElement>("input[name=name]")?.focus();
  }

  /** Shows something of a destination, if it is still the opened one. */
  private show(id: string, part: Partial<Opened>): void {
    if (this.opened?.destination.id === id) this.opened = { ...this.opened, ...part };
  }

  private async open(api: Api, destination: Destination): Promise<void> {
    const page = await api.get<SetAsidePage>(`/destinations/${destination.id}/set-aside`);
    // What was read in the meantime, such as a preview, stays.
    this.opened = { ...this.opened, destination, setAside: page.events, cursor: page.cursor };
  }

  private async showMore(opened: Opened): Promise<void> {
    const page = await this.apiUntil(this.loading.signal).get<SetAsidePage>(`/destinations/${opened.destination.id}/set-aside`, { cursor: opened.cursor ?? undefined });
    this.opened = { ...opened, setAside: [...opened.setAside, ...page.events], cursor: page.cursor };
  }

  private async onSubmit(event: SubmitEvent): Promise<void> {
    const { draft } = this;
    const body = bodyOf(draft, fieldsOf(event));
    this.sent = draft.ocsf_classes ?? [];
    let stored: Destination | undefined;
    const store = async (): Promise<void> => {
      const { api } = this.session;
      const sent = draft.id === undefined ? api.send<{ destination: Destination }>("POST", "/destinations", body) : api.send<{ destination: Destination }>("PATCH", `/destinations/${draft.id}`, body);
      stored = (await sent).destination;
      if (stored.signing_secret) this.reveal(t.destinations.secret, stored.signing_secret);
    };
    const notice = t.wasStored(String(body["name"]));
    if (!(await this.change(store, notice))) return;
    this.edit(newDraft());
    if (stored) this.go({ destination: stored.id }, notice);
  }

  private setPaused({ id, name }: Destination, paused: boolean): void {
    const set = (): Promise<unknown> => this.session.api.send("PATCH", `/destinations/${id}`, { paused });
    if (!paused) return void this.change(set, t.destinations.resumed);
    this.ask({
      title: t.destinations.pauseTitle(name), verb: t.pause, text: t.destinations.pauseText,
      run: set,
    });
  }

  private test({ id }: Destination): void {
    void this.change(async () => {
      this.show(id, { tested: await this.session.api.send<Attempt & { verdict: string }>("POST", `/destinations/${id}/test`) });
    });
  }

  private preview({ id }: Destination, format?: string): void {
    void this.attempt(async () => {
      this.show(id, { preview: await this.apiUntil(this.loading.signal).get<{ format: string; records: Json[] }>(`/destinations/${id}/preview`, { format }) });
    });
  }

  private confirmRemoval({ id, name, set_aside }: Destination): void {
    this.ask({
      title: t.destinations.deleteTitle(name), verb: t.delete, typed: name,
      text: t.destinations.deleteText(numbers.format(set_aside)),
      run: () => this.session.api.send("DELETE", `/destinations/${id}`),
    });
  }

  private count(event: SubmitEvent, { id }: Destination): void {
    const { from_seq, from, to } = fieldsOf(event);
    const instant = (local: string | undefined): string | undefined => local && new Date(local).toISOString();
    const end = instant(to);
    const body = { ...(from_seq === undefined ? {} : { from_seq: Number(from_seq) }), ...(from ? { from: instant(from) } : {}), ...(end ? { to: end } : {}), dry_run: true };
    void this.attempt(async () => {
      this.show(id, { counted: undefined });
      const range = await this.session.api.send<ReplayRange>("POST", `/destinations/${id}/replay`, body);
      const request = { from_seq: range.from_seq, ...(end ? { to: end } : {}) };
      this.show(id, { counted: { range, request } });
    });
  }

  private confirmReplay({ id, name }: Destination, { range, request }: Counted): void {
    this.ask({
      title: t.destinations.replayTitle(name), verb: t.destinations.startReplay,
      text: t.destinations.replayText(numbers.format(range.from_seq)),
      run: async () => {
        await this.session.api.send("POST", `/destinations/${id}/replay`, request);
        this.show(id, { counted: undefined });
      },
    });
  }

  private confirmStop({ id }: Destination): void {
    this.ask({
      title: t.destinations.stopTitle, verb: t.stop, text: t.destinations.stopText,
      run: () => this.session.api.send("DELETE", `/destinations/${id}/replay`),
    });
  }

  /** Sends one event again, or the first ten of the list. */
  private resend({ id }: Destination, one?: SetAside): void {
    const body = one ? { run: one.run, positions: [one.position] } : {};
    void this.change(async () => {
      this.show(id, { resent: await this.session.api.send<Resent>("POST", `/destinations/${id}/set-aside/resend`, body) });
    });
  }

  protected override content(): TemplateResult {
    if (!this.session.isMaster) return html`<p class="notice">${t.destinations.needMaster}</p>`;
    const { opened, draft } = this;
    const rows = this.destinations.map((destination) => html`<tr>
      <td>${badgeOf(destination.state)}</td>
      <th scope="row">${visible(destination.name)} <span class="muted">${labelOf(destination.kind, labelsOf(language))}, ${destination.format}</span>${destination.created_by_tenant === null ? nothing : html` <span class="muted">${t.destinations.ofTenant(visible(destination.created_by_tenant))}</span>`}</th>
      <td>${lagOf(destination)}</td>
      <td>${time(destination.last_success_at)}</td>
      <td>${time(destination.next_attempt_at)}</td>
      <td>${numbers.format(destination.set_aside)}</td>
      <td class="actions"><button @click=${() => this.go({ destination: destination.id })}>${t.destinations.open}</button></td>
    </tr>`);
    const name = draft.id === undefined ? t.destinations.new : t.editOf(draft.name ?? "");
    return html`<div class="bar"><button @click=${() => this.loadNewest()}>${t.refresh}</button></div>
      ${this.table([t.state, t.destinations.destination, t.destinations.lag, t.destinations.lastSuccess, t.nextAttempt, t.destinations.setAside, ""], rows, t.destinations.none)}
      ${opened ? this.details(opened) : nothing}
      <h3>${name}</h3>
      ${keyed(this.form, html`<form class="inline" aria-label=${name} @submit=${this.onSubmit}>
        ${destinationForm(draft, (changed) => (this.draft = changed), this.sent, this.failure?.details ?? [])}
        <button class="primary" ?disabled=${this.isBusy}>${draft.id === undefined ? t.destinations.create : t.storeChanges}</button>
        ${draft.id === undefined ? nothing : html`<button type="button" class="plain" @click=${() => this.edit(newDraft())}>${t.cancel}</button>`}
      </form>`)}`;
  }

  private details(opened: Opened): TemplateResult {
    const { destination, tested } = opened;
    const { state, paused, last_error } = destination;
    return html`<h3>${visible(destination.name)}</h3>
      <div class="bar">
        <button ?disabled=${this.isBusy} @click=${() => this.test(destination)}>${t.destinations.test}</button>
        ${paused ? nothing : html`<button @click=${() => this.setPaused(destination, true)}>${t.pause}</button>`}
        ${paused || state !== "active" ? html`<button @click=${() => this.setPaused(destination, false)}>${paused || state === "parked" ? t.resume : t.destinations.sendNow}</button>` : nothing}
        <button @click=${() => this.preview(destination)}>${t.preview}</button>
        ${destination.created_by_tenant === null ? html`<button @click=${() => this.startEdit(destination)}>${t.edit}</button>` : nothing}
        <button class="danger" @click=${() => this.confirmRemoval(destination)}>${t.delete}</button>
      </div>
      ${tested ? html`<h4>${t.destinations.tested(t.destinations.verdicts[tested.verdict] ?? tested.verdict)}</h4>${attemptOf(tested)}` : nothing}
      ${last_error ? html`<h4>${t.destinations.lastError(time(last_error.at))}</h4>${attemptOf(last_error)}` : nothing}
      ${facts(destination)} ${opened.preview ? this.previewOf(destination, opened.preview) : nothing} ${this.replayOf(opened)} ${this.setAsideOf(opened)}`;
  }

  private previewOf(destination: Destination, { format, records }: { format: string; records: Json[] }): TemplateResult {
    const onFormat = (event: Event): void => this.preview(destination, (event.target as HTMLSelectElement).value);
    return html`<h4>${t.preview}</h4>
      <p class="muted">${t.destinations.previewText}</p>
      <div class="bar"><label>${t.destinations.previewFormat}<select @change=${onFormat}>${KINDS[destination.kind]?.formats.map((name) => html`<option .selected=${name === format}>${name}</option>`)}</select></label></div>
      <div class="records">${records.length > 0 ? records.map((record) => html`<pre tabindex="0">${recordOf(record)}</pre>`) : t.destinations.previewEmpty}</div>`;
  }

  private replayOf({ destination, counted }: Opened): TemplateResult {
    const { replay } = destination;
    if (replay) {
      return html`<h4>${t.destinations.replay}</h4>
        <p>${badgeOf(replay.state)} ${t.destinations.replaying(numbers.format(replay.position), numbers.format(replay.cursor_seq), numbers.format(replay.end_seq), `${replay.number}`)}
        <button class="danger" @click=${() => this.confirmStop(destination)}>${t.stop}</button></p>`;
    }
    return html`<h4>${t.destinations.replay}</h4>
      <form class="inline" aria-label=${t.destinations.replay} @submit=${(event: SubmitEvent) => this.count(event, destination)}>
        <label>${t.destinations.from}<input name="from" type="datetime-local" step="1" /></label>
        <label>${t.destinations.fromPosition}<input name="from_seq" type="number" min="0" placeholder="0" /></label>
        <label>${t.destinations.before}<input name="to" type="datetime-local" step="1" /></label>
        <button ?disabled=${this.isBusy}>${t.destinations.countEvents}</button>
      </form>
      ${counted ? this.countOf(destination, counted) : nothing}`;
  }

  private countOf(destination: Destination, counted: Counted): TemplateResult {
    const { from_seq, end_seq, count } = counted.range;
    const total = end_seq - from_seq;
    const matching = numbers.format(count?.matching ?? 0);
    const sentence = count && count.looked_at < total
      ? t.destinations.countedPart(matching, numbers.format(count.looked_at), numbers.format(total))
      : t.destinations.counted(matching, numbers.format(total));
    return html`<p role="status">${sentence}
      <button class="primary" ?disabled=${total === 0} @click=${() => this.confirmReplay(destination, counted)}>${t.destinations.startReplay}</button></p>`;
  }

  private setAsideOf({ destination, setAside, cursor, resent }: Opened): TemplateResult {
    const rows = setAside.map((event) => html`<tr>
      <td>${event.position}${event.run > 0 ? html` <span class="muted">${t.destinations.run(`${event.run}`)}</span>` : nothing}</td>
      <th scope="row"><a href=${this.linkTo("events", { event: event.event_id })}>${event.event_id}</a> <span class="muted">${t.destinations.inLog(`${event.seq}`)}</span></th>
      <td>${time(event.at)}</td>
      <td>${visible(event.reason)}</td>
      <td class="actions"><button ?disabled=${this.isBusy} @click=${() => this.resend(destination, event)}>${t.destinations.resend}</button></td>
    </tr>`);
    const more = (opened: Opened): void => void this.attempt(() => this.showMore(opened));
    return html`<h4>${t.destinations.setAside}</h4>
      <p class="muted">${t.destinations.setAsideText}</p>
      ${resent ? html`<p role="status">${t.destinations.resent(numbers.format(resent.events.length), numbers.format(resent.remaining))}</p>${resentList(resent)}` : nothing}
      ${rows.length > 0 ? html`<div class="bar"><button ?disabled=${this.isBusy} @click=${() => this.resend(destination)}>${t.destinations.resendTen}</button></div>` : nothing}
      ${this.table([t.position, t.event, t.destinations.refused, t.response, ""], rows, t.destinations.noneRefused)}
      ${cursor && this.opened ? html`<p><button @click=${() => this.opened && more(this.opened)}>${t.showMore}</button></p>` : nothing}`;
  }
}
