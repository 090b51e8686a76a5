import { html, nothing, type TemplateResult } from "lit";
import type { Api } from "../../shared/api.js";
import { visible } from "../../shared/visible.js";
import { save } from "../../viewer/download.js";
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
const NUMBERS = new Intl.NumberFormat();
const PRESETS: Record<string, string> = { pci: "PCI DSS: 365 days", hipaa: "HIPAA: 2,190 days", cnil: "CNIL: 335 days" };
const WAITING: Record<string, string> = {
  confirmation: "The log is far behind its policy. Confirm up to which time plans may remove events.",
  clock: "The clock of the server was changed, or the server was stopped for long. It plans again after 24 hours, or when you confirm.",
  time_stamp: "The newest time stamp of an anchor is too old.",
  signature: "The event of the plan is not signed yet.",
  quorum: "The checkpoint has no quorum of witnesses yet.",
  destination: "A destination has not got all events of the plan yet.",
  archive: "No recorded archive has all events of the plan yet. Run audit-server archive create --record.",
};

/** How long events are kept: the policy, its effect, the plan that can still be cancelled, and legal holds. */
export class RetentionSection extends Section {
  static override properties = { retention: { state: true }, holds: { state: true }, preview: { state: true } };
  declare private retention: Retention | undefined;
  declare private holds: Hold[];
  /** What the policy that was previewed would remove, and that policy. */
  declare private preview: { policy: Policy; found: Preview } | undefined;
  protected readonly heading = "Retention";
  protected readonly text =
    "How long the events of this project and environment are kept, and legal holds. Each removal is first an event of the log: what is left can still be verified.";

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
      title: "Store the policy", verb: "Store", ...(events > 0 ? { typed: `${events}` } : {}),
      text: events > 0
        ? `About ${NUMBERS.format(events)} events are old enough and will be removed, after a plan and its grace period. ${policy.archive ? "They go once an archive has them." : "Without an archive, removed events cannot be restored."}`
        : "No event is old enough to be removed now.",
      run: () => this.session.api.send("PUT", "/retention", policy),
    });
  }

  private cancel(seq: number): void {
    this.ask({
      title: `Cancel the plan ${seq}`, verb: "Cancel the removal", text: "Its events stay. While the policy is the same, the next plan is made after a day.",
      run: () => this.session.api.send("POST", "/retention/cancel", { plan: seq }),
    });
  }

  private async confirm(event: SubmitEvent): Promise<void> {
    const { until = "" } = fieldsOf(event);
    await this.change(() => this.session.api.send("POST", "/retention/confirm", { until: new Date(until).toISOString() }), "Confirmed.");
  }

  private async place(event: SubmitEvent): Promise<void> {
    const form = event.target as HTMLFormElement;
    const { from, to, second_key, ...fields } = fieldsOf(event);
    const at = (name: string, value: string | undefined): Record<string, string> => (value ? { [name]: new Date(value).toISOString() } : {});
    const body = { ...fields, ...at("from", from), ...at("to", to), ...(second_key ? { second_key: true } : {}) };
    if (await this.change(() => this.session.api.send("POST", "/holds", body), "The hold was placed.")) form.reset();
  }

  private release(hold: Hold): void {
    this.ask({
      title: `Release the hold ${hold.id}`, verb: "Release", list: { label: "Reason", items: [] },
      text: "The events that it covers follow the retention policy again. The reason becomes part of the log.",
      run: (reason) => this.session.api.send("POST", `/holds/${hold.id}/release`, { reason }),
    });
  }

  /** Saves the report for auditors. A page that the console opens has the policy of the console, which refuses the styles of the report. */
  private async report(format: "json" | "html"): Promise<void> {
    await this.attempt(async () => {
      const response = await this.apiUntil(this.loading.signal).fetch("GET", "/log/report", { parameters: { format } });
      save(await response.blob(), `retention-report.${format}`);
    }, format === "html" ? "Saved: retention-report.html. Open it and print it." : "Saved: retention-report.json.");
  }

  protected override content(): TemplateResult {
    const { retention } = this;
    if (!this.session.isMaster || !retention) return html`<p class="notice">Retention and holds need a master key.</p>`;
    return html`${this.cards(retention)} ${this.plan(retention)} ${this.form(retention)} ${this.effect()} ${this.removals(retention)} ${this.holdList()} ${this.reports()}`;
  }

  private cards({ policy, archive, removed }: Retention): TemplateResult {
    const days = policy?.days ? `${NUMBERS.format(policy.days)} days` : "for ever";
    const longer = Object.entries(policy?.categories ?? {}).map(([name, kept]) => `${name} ${NUMBERS.format(kept)} days`);
    return html`<div class="cards">
      <div class="card"><b>${days}</b><span class="muted">${policy ? html`since ${time(policy.since)}` : "no policy"}${longer.length > 0 ? html`; ${longer.join(", ")}` : nothing}</span></div>
      <div class="card"><b>${NUMBERS.format(removed)}</b><span class="muted">events removed</span></div>
      ${archive ? html`<div class="card"><b>${NUMBERS.format(archive.end_seq)}</b><span class="muted">positions archived, recorded ${time(archive.at)}</span></div>` : nothing}
    </div>`;
  }

  private plan({ plan, waiting_for }: Retention): TemplateResult {
    const waiting = waiting_for ? html`<p class="notice">${WAITING[waiting_for] ?? waiting_for}</p>` : nothing;
    const confirm = waiting_for === "confirmation" || waiting_for === "clock"
      ? html`<form class="inline" @submit=${this.confirm}><label>Remove up to<input name="until" type="datetime-local" required /></label><button>Confirm</button></form>`
      : nothing;
    if (!plan) return html`${waiting} ${confirm}`;
    return html`<h3>Plan ${plan.seq}</h3>
      <p>${NUMBERS.format(plan.events)} events that were received before ${time(plan.received_before["default"])} will be removed, not before ${time(plan.not_before)}.
        ${NUMBERS.format(plan.held)} are held, ${NUMBERS.format(plan.kept)} stay for other reasons.</p>
      ${waiting} ${confirm}
      <div class="bar"><button class="danger" @click=${() => this.cancel(plan.seq)}>Cancel this plan</button></div>`;
  }

  private form({ policy, minimum_days }: Retention): TemplateResult {
    const categories = Object.entries(policy?.categories ?? {}).map(([name, kept]) => `${name}: ${kept}`);
    return html`<h3>Policy</h3>
      <form class="inline" @submit=${this.look}>
        <label>Preset<select name="preset"><option value="">none</option>${Object.entries(PRESETS).map(([name, label]) => html`<option value=${name} ?selected=${policy?.preset === name}>${label}</option>`)}</select></label>
        <label>Days (empty: for ever)<input name="days" type="number" min=${minimum_days} max="36500" .value=${policy?.days && !policy.preset ? `${policy.days}` : ""} /></label>
        <label class="wide">Longer for categories<input name="categories" .value=${categories.join(", ")} placeholder="security: 2190, admin: 730" /></label>
        <label class="check"><input type="checkbox" name="archive" value="yes" ?checked=${policy?.archive ?? false} /> Remove what a recorded archive has, only</label>
        <button class="primary">Preview</button>
      </form>`;
  }

  private effect(): TemplateResult {
    const { preview } = this;
    if (!preview) return html``;
    const { policy, found } = preview;
    const rows = found.months.map((month) => html`<tr>
      <th scope="row">${month.month}</th><td>${NUMBERS.format(month.events)}</td><td>${NUMBERS.format(month.to_remove)}</td><td>${NUMBERS.format(month.held)}</td><td>${NUMBERS.format(month.kept)}</td>
    </tr>`);
    return html`<h3>Effect of the policy, estimated</h3>
      ${policy.categories ? html`<p class="muted">The categories that are kept longer are not part of the estimate: fewer events go.</p>` : nothing}
      ${found.destinations_behind.length > 0 ? html`<p class="notice">${found.destinations_behind.length} destinations have not got all of these events yet.</p>` : nothing}
      ${policy.archive && !found.archived ? html`<p class="notice">No recorded archive has all of these events yet.</p>` : nothing}
      ${this.table(["Month", "Events", "Removed", "Held", "Kept"], rows, "No event is old enough to be removed.")}
      <div class="bar"><button class="primary" @click=${() => this.store(policy, found.events)}>Store this policy</button></div>`;
  }

  private removals({ removals }: Retention): TemplateResult {
    const rows = removals.map(({ seq, at, events, received_before, state }) => html`<tr>
      <th scope="row">${seq}</th><td>${time(at)}</td><td>${NUMBERS.format(events)}</td><td>${time(received_before["default"])}</td><td><span class="badge">${state ?? "unknown"}</span></td>
    </tr>`);
    return html`<h3>Removals</h3>${this.table(["Position", "Authorised", "Events", "Received before", "State"], rows, "Nothing was removed.")}`;
  }

  private reports(): TemplateResult {
    return html`<h3>Report</h3>
      <p class="muted">For auditors: the policies, removals, erasures and holds of this log, as its events say.</p>
      <div class="bar"><button @click=${() => this.report("json")}>Save as JSON</button><button @click=${() => this.report("html")}>Save to print</button></div>`;
  }

  private holdList(): TemplateResult {
    const covers = (hold: Hold): string => {
      const ids = [["tenant", hold.tenant_id[0]], ["actor", hold.actor_id[0]], ["target", hold.target_id[0]]] as const;
      return ids.flatMap(([name, id]) => (id === undefined ? [] : [`${name} ${id}`])).join(", ") || "all events";
    };
    const rows = this.holds.map((hold) => html`<tr>
      <th scope="row">${visible(hold.reason)}<br /><span class="muted">${hold.id}</span></th><td>${visible(covers(hold))}</td><td>${time(hold.from)}</td><td>${time(hold.to)}</td><td>${time(hold.placed_at)}</td>
      <td>${hold.released_at ? html`released ${time(hold.released_at)}` : hold.second_key ? "needs a second key" : "in force"}</td>
      <td class="actions">${hold.released_at ? nothing : html`<button class="danger" @click=${() => this.release(hold)}>Release</button>`}</td>
    </tr>`);
    return html`<h3>Legal holds</h3>
      <label class="check"><input type="checkbox" .checked=${this.isReleasedShown} @change=${() => this.go({ released: this.isReleasedShown ? undefined : "shown" })} /> Show released holds</label>
      ${this.table(["Reason", "Covers", "From", "To", "Placed", "State", ""], rows, "No holds.")}
      <form class="inline" @submit=${this.place}>
        <label class="wide">Reason<input name="reason" required maxlength="500" /></label>
        <label>Tenant<input name="tenant_id" maxlength="256" /></label><label>Actor<input name="actor_id" maxlength="256" /></label><label>Target<input name="target_id" maxlength="256" /></label>
        <label>From<input name="from" type="datetime-local" /></label><label>To<input name="to" type="datetime-local" /></label>
        <label class="check"><input type="checkbox" name="second_key" value="yes" /> Another key must release it</label>
        <button class="primary">Place hold</button>
        <span class="muted">A hold covers the events that meet every condition, and all events without one.</span>
      </form>`;
  }
}
