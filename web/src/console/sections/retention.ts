import { html, nothing, type TemplateResult } from "lit";
import type { Api } from "../../shared/api.js";
import { visible } from "../../shared/visible.js";
import { save } from "../../viewer/download.js";
import { numbers, t } from "../languages/index.js";
import { fieldsOf, listOf, Section, time } from "../section.js";

export interface Retention {
  policy: { days: number | null; categories: Record<string, number>; preset: string | null; archive: boolean; since: string } | null;
  plan: { seq: number; received_before: Record<string, string>; events: number; held: number; kept: number; digest: string; planned_at: string; not_before: string } | null;
  waiting_for: string | null;
  archive: { end_seq: number; at: string } | null;
  removals: { seq: number; id: string; at: string; events: number; received_before: Record<string, string>; state: string | null }[];
  removed: number;
  minimum_days: number;
}

interface Preview {
  received_before: Record<string, string>;
  months: { month: string; events: number; to_remove: number; held: number; kept: number }[];
  events: number;
  destinations_behind: string[];
  archived: boolean;
}

interface Hold {
  id: string;
  reason: string;
  tenant_id: string[];
  actor_id: string[];
  target_id: string[];
  from: string | null;
  to: string | null;
  placed_at: string;
  second_key: boolean;
  released_at: string | null;
  release_reason: string | null;
}

/** A policy as it is sent. */
interface Policy {
  days?: number;
  preset?: string;
  categories?: Record<string, number>;
  archive?: boolean;
}

/** What the policy removes that keeps all events for ever. */
const NOTHING: Preview = { received_before: {}, months: [], events: 0, destinations_behind: [], archived: true };

/** How long events are kept: the policy, its effect, the plan that can still be cancelled, and legal holds. */
export class RetentionSection extends Section {
  static override properties = { retention: { state: true }, holds: { state: true }, preview: { state: true } };
  declare private retention: Retention | undefined;
  declare private holds: Hold[];
  /** What the policy that was previewed would remove, and that policy. */
  declare private preview: { policy: Policy; found: Preview } | undefined;
  protected get heading(): string {
    return t.sections.retention;
  }
  protected get text(): string {
    return t.retention.text;
  }

  constructor() {
    super();
    this.holds = [];
  }

  private get isReleasedShown(): boolean {
    return this.named("released") !== "";
  }

  protected override async load(api: Api): Promise<void> {
    if (!this.session.isMaster) return;
    this.preview = undefined;
    const released = this.isReleasedShown ? { released: "true" } : {};
    const [retention, { holds }] = await Promise.all([api.get<Retention>("/retention"), api.get<{ holds: Hold[] }>("/holds", released)]);
    this.retention = retention;
    this.holds = holds;
  }

  private async look(event: SubmitEvent): Promise<void> {
    const { days, preset, categories, archive } = fieldsOf(event);
    const all = preset ? { preset } : days ? { days: Number(days) } : undefined;
    const longer = listOf(categories).map((item) => item.split(/\s*[:=]\s*/)).map(([name = "", kept]) => [name, Number(kept)] as const);
    await this.attempt(async () => {
      const found = all ? await this.session.api.get<Preview>("/retention/preview", all) : NOTHING;
      this.preview = { policy: { ...all, ...(longer.length > 0 ? { categories: Object.fromEntries(longer) } : {}), ...(archive ? { archive: true } : {}) }, found };
    });
  }

  private store(policy: Policy, events: number): void {
    this.ask({
      title: t.retention.storeTitle, verb: t.store, ...(events > 0 ? { typed: `${events}` } : {}),
      text: events > 0
        ? `${t.retention.storeText(numbers.format(events))} ${policy.archive ? t.retention.withArchive : t.retention.withoutArchive}`
        : t.retention.storeNothing,
      run: () => this.session.api.send("PUT", "/retention", policy),
    });
  }

  private cancel(seq: number): void {
    this.ask({
      title: t.retention.cancelTitle(seq), verb: t.retention.cancelVerb, text: t.retention.cancelText,
      run: () => this.session.api.send("POST", "/retention/cancel", { plan: seq }),
    });
  }

  private async confirm(event: SubmitEvent): Promise<void> {
    const { until = "" } = fieldsOf(event);
    await this.change(() => this.session.api.send("POST", "/retention/confirm", { until: new Date(until).toISOString() }), t.retention.confirmed);
  }

  private async place(event: SubmitEvent): Promise<void> {
    const form = event.target as HTMLFormElement;
    const { from, to, second_key, ...fields } = fieldsOf(event);
    const at = (name: string, value: string | undefined): Record<string, string> => (value ? { [name]: new Date(value).toISOString() } : {});
    const body = { ...fields, ...at("from", from), ...at("to", to), ...(second_key ? { second_key: true } : {}) };
    if (await this.change(() => this.session.api.send("POST", "/holds", body), t.retention.placed)) form.reset();
  }

  private release(hold: Hold): void {
    this.ask({
      title: t.retention.releaseTitle(hold.id), verb: t.retention.release, list: { label: t.reason, items: [] },
      text: t.retention.releaseText,
      run: (reason) => this.session.api.send("POST", `/holds/${hold.id}/release`, { reason }),
    });
  }

  /** Saves the report for auditors. A page that the console opens has the policy of the console, which refuses the styles of the report. */
  private async report(format: "json" | "html"): Promise<void> {
    await this.attempt(async () => {
      const response = await this.apiUntil(this.loading.signal).fetch("GET", "/log/report", { parameters: { format } });
      save(await response.blob(), `retention-report.${format}`);
    }, format === "html" ? t.retention.savedHtml : t.retention.savedJson);
  }

  protected override content(): TemplateResult {
    const { retention } = this;
    if (!this.session.isMaster || !retention) return html`<p class="notice">${t.retention.needMaster}</p>`;
    return html`${this.cards(retention)} ${this.plan(retention)} ${this.form(retention)} ${this.effect()} ${this.removals(retention)} ${this.holdList()} ${this.reports()}`;
  }

  private cards({ policy, archive, removed }: Retention): TemplateResult {
    const days = policy?.days ? t.retention.days(numbers.format(policy.days)) : t.retention.forEver;
    const longer = Object.entries(policy?.categories ?? {}).map(([name, kept]) => t.retention.categoryDays(name, numbers.format(kept)));
    return html`<div class="cards">
      <div class="card"><b>${days}</b><span class="muted">${policy ? t.retention.since(time(policy.since)) : t.retention.noPolicy}${longer.length > 0 ? html`; ${longer.join(", ")}` : nothing}</span></div>
      <div class="card"><b>${numbers.format(removed)}</b><span class="muted">${t.retention.eventsRemoved}</span></div>
      ${archive ? html`<div class="card"><b>${numbers.format(archive.end_seq)}</b><span class="muted">${t.retention.archived(time(archive.at))}</span></div>` : nothing}
    </div>`;
  }

  private plan({ plan, waiting_for }: Retention): TemplateResult {
    const waiting = waiting_for ? html`<p class="notice">${t.retention.waiting[waiting_for] ?? waiting_for}</p>` : nothing;
    const confirm = waiting_for === "confirmation" || waiting_for === "clock"
      ? html`<form class="inline" @submit=${this.confirm}><label>${t.retention.removeUpTo}<input name="until" type="datetime-local" required /></label><button>${t.retention.confirm}</button></form>`
      : nothing;
    if (!plan) return html`${waiting} ${confirm}`;
    return html`<h3>${t.retention.plan(plan.seq)}</h3>
      <p>${t.retention.planText(numbers.format(plan.events), time(plan.received_before["default"]), time(plan.not_before), numbers.format(plan.held), numbers.format(plan.kept))}</p>
      ${waiting} ${confirm}
      <div class="bar"><button class="danger" @click=${() => this.cancel(plan.seq)}>${t.retention.cancel}</button></div>`;
  }

  private form({ policy, minimum_days }: Retention): TemplateResult {
    const categories = Object.entries(policy?.categories ?? {}).map(([name, kept]) => `${name}: ${kept}`);
    return html`<h3>${t.retention.policy}</h3>
      <form class="inline" @submit=${this.look}>
        <label>${t.retention.preset}<select name="preset"><option value="">${t.retention.noPreset}</option>${Object.entries(t.retention.presets).map(([name, label]) => html`<option value=${name} ?selected=${policy?.preset === name}>${label}</option>`)}</select></label>
        <label>${t.retention.daysLabel}<input name="days" type="number" min=${minimum_days} max="36500" .value=${policy?.days && !policy.preset ? `${policy.days}` : ""} /></label>
        <label class="wide">${t.retention.longer}<input name="categories" .value=${categories.join(", ")} placeholder="security: 2190, admin: 730" /></label>
        <label class="check"><input type="checkbox" name="archive" value="yes" ?checked=${policy?.archive ?? false} /> ${t.retention.onlyArchived}</label>
        <button class="primary">${t.preview}</button>
      </form>`;
  }

  private effect(): TemplateResult {
    const { preview } = this;
    if (!preview) return html``;
    const { policy, found } = preview;
    const rows = found.months.map((month) => html`<tr>
      <th scope="row">${month.month}</th><td>${numbers.format(month.events)}</td><td>${numbers.format(month.to_remove)}</td><td>${numbers.format(month.held)}</td><td>${numbers.format(month.kept)}</td>
    </tr>`);
    return html`<h3>${t.retention.effect}</h3>
      ${policy.categories ? html`<p class="muted">${t.retention.withoutLonger}</p>` : nothing}
      ${found.destinations_behind.length > 0 ? html`<p class="notice">${t.retention.destinationsBehind(found.destinations_behind.length)}</p>` : nothing}
      ${policy.archive && !found.archived ? html`<p class="notice">${t.retention.notArchived}</p>` : nothing}
      ${this.table([t.retention.month, t.events, t.retention.removed, t.retention.held, t.retention.kept], rows, t.retention.nothingOld)}
      <div class="bar"><button class="primary" @click=${() => this.store(policy, found.events)}>${t.retention.storeThis}</button></div>`;
  }

  private removals({ removals }: Retention): TemplateResult {
    const rows = removals.map(({ seq, at, events, received_before, state }) => html`<tr>
      <th scope="row">${seq}</th><td>${time(at)}</td><td>${numbers.format(events)}</td><td>${time(received_before["default"])}</td><td><span class="badge">${state === null ? t.retention.unknown : (t.retention.states[state] ?? state)}</span></td>
    </tr>`);
    return html`<h3>${t.retention.removals}</h3>${this.table([t.position, t.retention.authorised, t.events, t.retention.receivedBefore, t.state], rows, t.retention.nothingRemoved)}`;
  }

  private reports(): TemplateResult {
    return html`<h3>${t.retention.report}</h3>
      <p class="muted">${t.retention.reportText}</p>
      <div class="bar"><button @click=${() => this.report("json")}>${t.retention.saveJson}</button><button @click=${() => this.report("html")}>${t.retention.saveHtml}</button></div>`;
  }

  private holdList(): TemplateResult {
    const covers = (hold: Hold): string => {
      const ids = [["tenant", hold.tenant_id[0]], ["actor", hold.actor_id[0]], ["target", hold.target_id[0]]] as const;
      return ids.flatMap(([name, id]) => (id === undefined ? [] : [t.retention.coversId[name](id)])).join(", ") || t.retention.coversAll;
    };
    const rows = this.holds.map((hold) => html`<tr>
      <th scope="row">${visible(hold.reason)}<br /><span class="muted">${hold.id}</span></th><td>${visible(covers(hold))}</td><td>${time(hold.from)}</td><td>${time(hold.to)}</td><td>${time(hold.placed_at)}</td>
      <td>${hold.released_at ? t.retention.released(time(hold.released_at)) : hold.second_key ? t.retention.needsSecond : t.retention.inForce}</td>
      <td class="actions">${hold.released_at ? nothing : html`<button class="danger" @click=${() => this.release(hold)}>${t.retention.release}</button>`}</td>
    </tr>`);
    return html`<h3>${t.retention.holds}</h3>
      <label class="check"><input type="checkbox" .checked=${this.isReleasedShown} @change=${() => this.go({ released: this.isReleasedShown ? undefined : "shown" })} /> ${t.retention.showReleased}</label>
      ${this.table([t.reason, t.retention.covers, t.from, t.to, t.retention.placedAt, t.state, ""], rows, t.retention.noHolds)}
      <form class="inline" @submit=${this.place}>
        <label class="wide">${t.reason}<input name="reason" required maxlength="500" /></label>
        <label>${t.tenant}<input name="tenant_id" maxlength="256" .value=${this.named("tenant_id")} /></label><label>${t.actor}<input name="actor_id" maxlength="256" .value=${this.named("actor_id")} /></label><label>${t.target}<input name="target_id" maxlength="256" .value=${this.named("target_id")} /></label>
        <label>${t.from}<input name="from" type="datetime-local" /></label><label>${t.to}<input name="to" type="datetime-local" /></label>
        <label class="check"><input type="checkbox" name="second_key" value="yes" /> ${t.retention.second}</label>
        <button class="primary">${t.retention.place}</button>
        <span class="muted">${t.retention.help}</span>
      </form>`;
  }
}
