import { css, html, nothing, type TemplateResult } from "lit";
import type { Api } from "../../shared/api.js";
import { keyed } from "lit/directives/keyed.js";
import { bodyOf, type Draft, destinationForm, newDraft } from "../destinations/form.js";
import { KINDS } from "../../shared/destination-kinds.js";
import { attemptOf, badgeOf, facts, lagOf, NUMBERS, recordOf, resentList } from "../destinations/views.js";
import type { Attempt, Destination, ReplayRange, Resent, SetAside, SetAsidePage } from "../../shared/destinations.js";
import type { Json } from "../../shared/types.js";
import { visible } from "../../shared/visible.js";
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
    css`h3, h4 { overflow-wrap: anywhere; } h4 { margin: 16px 0 6px; } .facts pre { border: 0; padding: 0; background: none; } .facts pre, .records pre { max-height: 300px; } .records pre { margin-bottom: 8px; }`,
  ];
  declare private destinations: Destination[];
  declare private opened: Opened | undefined;
  declare private draft: Draft;
  /** Changes when the form begins anew. */
  private form = 0;
  protected readonly heading = "Destinations";
  protected readonly text = "A destination sends the events of this project and environment to a SIEM or a bucket, in the order of the log. Nothing is dropped: what a receiver does not take now waits, and what it refuses for good is listed.";

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
    let stored: Destination | undefined;
    const store = async (): Promise<void> => {
      const { api } = this.session;
      const sent = draft.id === undefined ? api.send<{ destination: Destination }>("POST", "/destinations", body) : api.send<{ destination: Destination }>("PATCH", `/destinations/${draft.id}`, body);
      stored = (await sent).destination;
      if (stored.signing_secret) this.reveal("Secret that signs requests to the destination", stored.signing_secret);
    };
    const notice = `${String(body["name"])}: stored.`;
    if (!(await this.change(store, notice))) return;
    this.edit(newDraft());
    if (stored) this.go({ destination: stored.id }, notice);
  }

  private setPaused({ id, name }: Destination, paused: boolean): void {
    const set = (): Promise<unknown> => this.session.api.send("PATCH", `/destinations/${id}`, { paused });
    if (!paused) return void this.change(set, "The next attempt is made now.");
    this.ask({
      title: `Pause the destination “${name}”`, verb: "Pause", text: "From now on its receiver gets no events, and what watches them there sees none. They wait, and are sent when it is resumed.",
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
      title: `Delete the destination “${name}”`, verb: "Delete", typed: name,
      text: `Nothing more is sent, and its list of ${NUMBERS.format(set_aside)} events that were set aside is deleted. The events stay in the log. To stop for a time, pause it.`,
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
      title: `Replay to “${name}”`, verb: "Start the replay",
      text: `The events from position ${range.from_seq} of the log on are sent again, beside the new ones, which go on. The receiver has them twice; the records of the replay say that they are of one.`,
      run: async () => {
        await this.session.api.send("POST", `/destinations/${id}/replay`, request);
        this.show(id, { counted: undefined });
      },
    });
  }

  private confirmStop({ id }: Destination): void {
    this.ask({
      title: "Stop the replay", verb: "Stop", text: "Records that were sent stay at the receiver. New events are not concerned.",
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
    if (!this.session.isMaster) return html`<p class="notice">Destinations need a master key.</p>`;
    const { opened, draft } = this;
    const rows = this.destinations.map((destination) => html`<tr>
      <td>${badgeOf(destination.state)}</td>
      <th scope="row">${visible(destination.name)} <span class="muted">${KINDS[destination.kind]?.label ?? destination.kind}, ${destination.format}</span>${destination.created_by_tenant === null ? nothing : html` <span class="muted">of the tenant ${visible(destination.created_by_tenant)}</span>`}</th>
      <td>${lagOf(destination)}</td>
      <td>${time(destination.last_success_at)}</td>
      <td>${time(destination.next_attempt_at)}</td>
      <td>${NUMBERS.format(destination.set_aside)}</td>
      <td class="actions"><button @click=${() => this.go({ destination: destination.id })}>Open</button></td>
    </tr>`);
    const name = draft.id === undefined ? "New destination" : `Edit ${draft.name ?? ""}`;
    return html`<div class="bar"><button @click=${() => this.loadNewest()}>Refresh</button></div>
      ${this.table(["State", "Destination", "Lag", "Last success", "Next attempt", "Set aside", ""], rows, "No destinations in this environment yet.")}
      ${opened ? this.details(opened) : nothing}
      <h3>${name}</h3>
      ${keyed(this.form, html`<form class="inline" aria-label=${name} @submit=${this.onSubmit}>
        ${destinationForm(draft, (changed) => (this.draft = changed))}
        <button class="primary" ?disabled=${this.isBusy}>${draft.id === undefined ? "Create destination" : "Store changes"}</button>
        ${draft.id === undefined ? nothing : html`<button type="button" class="plain" @click=${() => this.edit(newDraft())}>Cancel</button>`}
      </form>`)}`;
  }

  private details(opened: Opened): TemplateResult {
    const { destination, tested } = opened;
    const { state, paused, last_error } = destination;
    return html`<h3>${visible(destination.name)}</h3>
      <div class="bar">
        <button ?disabled=${this.isBusy} @click=${() => this.test(destination)}>Send a test record</button>
        ${paused ? nothing : html`<button @click=${() => this.setPaused(destination, true)}>Pause</button>`}
        ${paused || state !== "active" ? html`<button @click=${() => this.setPaused(destination, false)}>${paused || state === "parked" ? "Resume" : "Send now"}</button>` : nothing}
        <button @click=${() => this.preview(destination)}>Preview</button>
        ${destination.created_by_tenant === null ? html`<button @click=${() => this.startEdit(destination)}>Edit</button>` : nothing}
        <button class="danger" @click=${() => this.confirmRemoval(destination)}>Delete</button>
      </div>
      ${tested ? html`<h4>Test: ${tested.verdict}</h4>${attemptOf(tested)}` : nothing}
      ${last_error ? html`<h4>Last attempt that failed: ${time(last_error.at)}</h4>${attemptOf(last_error)}` : nothing}
      ${facts(destination)} ${opened.preview ? this.previewOf(destination, opened.preview) : nothing} ${this.replayOf(opened)} ${this.setAsideOf(opened)}`;
  }

  private previewOf(destination: Destination, { format, records }: { format: string; records: Json[] }): TemplateResult {
    const onFormat = (event: Event): void => this.preview(destination, (event.target as HTMLSelectElement).value);
    return html`<h4>Preview</h4>
      <p class="muted">The next records; where fewer than ten events wait, the latest ones of the log, as they would come next. Nothing is sent.</p>
      <div class="bar"><label>Format of the preview<select @change=${onFormat}>${KINDS[destination.kind]?.formats.map((name) => html`<option .selected=${name === format}>${name}</option>`)}</select></label></div>
      <div class="records">${records.length > 0 ? records.map((record) => html`<pre tabindex="0">${recordOf(record)}</pre>`) : "The log has no event that passes the filter."}</div>`;
  }

  private replayOf({ destination, counted }: Opened): TemplateResult {
    const { replay } = destination;
    if (replay) {
      return html`<h4>Replay</h4>
        <p>${badgeOf(replay.state)} ${NUMBERS.format(replay.position)} records were sent; it is at ${NUMBERS.format(replay.cursor_seq)} of ${NUMBERS.format(replay.end_seq)} in the log. Its records have the run ${replay.number}.
        <button class="danger" @click=${() => this.confirmStop(destination)}>Stop</button></p>`;
    }
    return html`<h4>Replay</h4>
      <form class="inline" aria-label="Replay" @submit=${(event: SubmitEvent) => this.count(event, destination)}>
        <label>Received from<input name="from" type="datetime-local" step="1" /></label>
        <label>or from position in the log<input name="from_seq" type="number" min="0" placeholder="0" /></label>
        <label>Received before<input name="to" type="datetime-local" step="1" /></label>
        <button ?disabled=${this.isBusy}>Count</button>
      </form>
      ${counted ? this.countOf(destination, counted) : nothing}`;
  }

  private countOf(destination: Destination, counted: Counted): TemplateResult {
    const { from_seq, end_seq, count } = counted.range;
    const total = end_seq - from_seq;
    const matching = NUMBERS.format(count?.matching ?? 0);
    const sentence = count && count.looked_at < total
      ? `${matching} of the first ${NUMBERS.format(count.looked_at)} events pass the filter; the range has ${NUMBERS.format(total)}.`
      : `${matching} of the ${NUMBERS.format(total)} events of the range pass the filter.`;
    return html`<p role="status">${sentence}
      <button class="primary" ?disabled=${total === 0} @click=${() => this.confirmReplay(destination, counted)}>Start the replay</button></p>`;
  }

  private setAsideOf({ destination, setAside, cursor, resent }: Opened): TemplateResult {
    const rows = setAside.map((event) => html`<tr>
      <td>${event.position}${event.run > 0 ? html` <span class="muted">run ${event.run}</span>` : nothing}</td>
      <th scope="row"><a href=${this.linkTo("events", { event: event.event_id })}>${event.event_id}</a> <span class="muted">${event.seq} in the log</span></th>
      <td>${time(event.at)}</td>
      <td>${visible(event.reason)}</td>
      <td class="actions"><button ?disabled=${this.isBusy} @click=${() => this.resend(destination, event)}>Resend</button></td>
    </tr>`);
    const more = (opened: Opened): void => void this.attempt(() => this.showMore(opened));
    return html`<h4>Set aside</h4>
      <p class="muted">Events that the receiver has refused for good. They keep their positions, and leave this list once they are delivered.</p>
      ${resent ? html`<p role="status">${NUMBERS.format(resent.events.length)} sent again, ${NUMBERS.format(resent.remaining)} still in the list.</p>${resentList(resent)}` : nothing}
      ${rows.length > 0 ? html`<div class="bar"><button ?disabled=${this.isBusy} @click=${() => this.resend(destination)}>Resend the first ten</button></div>` : nothing}
      ${this.table(["Position", "Event", "Refused", "Response", ""], rows, "The receiver has refused nothing.")}
      ${cursor && this.opened ? html`<p><button @click=${() => this.opened && more(this.opened)}>Show more</button></p>` : nothing}`;
  }
}
