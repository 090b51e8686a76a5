import { html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { visible } from "../../shared/visible.js";
import { Section, time } from "../section.js";

interface Alert {
  id: string;
  rule_id: string;
  rule_name: string;
  severity: string;
  status: string;
  tenant_id: string;
  group_by: string;
  group_key: string;
  actor_name?: string;
  count_distinct?: string;
  event_count: number;
  sample_event_ids: string[];
  fired_at: string;
  acknowledged_at: string | null;
  resolved_at: string | null;
}

interface Page {
  alerts: Alert[];
  cursor: string | null;
}

/** Fired alerts: open, acknowledged, resolved. */
export class Alerts extends Section {
  static override properties = { status: { state: true }, severity: { state: true }, alerts: { state: true }, wanted: { attribute: false } };
  declare private status: string;
  declare private severity: string;
  declare private alerts: Alert[];
  /** The id of the one alert of a link. */
  declare wanted: string | undefined;
  private cursor: string | null = null;
  protected readonly heading = "Alerts";
  protected readonly text = "Raised by the alert rules. An alert is open until somebody acknowledges or resolves it; it never becomes open again.";

  constructor() {
    super();
    this.status = "open";
    this.severity = "";
    this.alerts = [];
  }

  private read(signal: AbortSignal, cursor?: string): Promise<Page> {
    return this.session.api.get<Page>("/alerts", { status: this.status, severity: this.severity, cursor }, signal);
  }

  override willUpdate(changed: PropertyValues): void {
    if (changed.has("session") || changed.has("wanted")) void this.reload();
  }

  protected override reload(): Promise<void> {
    // If the new ones cannot be read, the old ones are not those of the page.
    this.alerts = [];
    this.cursor = null;
    return super.reload();
  }

  protected override async load(signal: AbortSignal): Promise<void> {
    if (this.wanted) {
      this.alerts = [(await this.session.api.get<{ alert: Alert }>(`/alerts/${this.wanted}`, {}, signal)).alert];
      this.cursor = null;
      return;
    }
    const page = await this.read(signal);
    this.alerts = page.alerts;
    this.cursor = page.cursor;
  }

  private async more(): Promise<void> {
    await this.attempt(async () => {
      const page = await this.read(this.loading.signal, this.cursor ?? undefined);
      this.alerts = [...this.alerts, ...page.alerts];
      this.cursor = page.cursor;
    });
  }

  private set(alert: Alert, status: string): void {
    void this.change(() => this.session.api.send("PATCH", `/alerts/${alert.id}`, { status }), `${alert.rule_name}: ${status}.`);
  }

  private select(label: string, value: string, options: string[], set: (value: string) => void): TemplateResult {
    const onChange = (event: Event): void => {
      set((event.target as HTMLSelectElement).value);
      void this.reload();
    };
    return html`<label>${label}<select @change=${onChange}>
      <option value="" .selected=${value === ""}>all</option>
      ${options.map((name) => html`<option .selected=${name === value}>${name}</option>`)}
    </select></label>`;
  }

  protected override content(): TemplateResult {
    const rows = this.alerts.map((alert) => html`<tr>
      <td><span class="badge ${alert.severity}">${alert.severity}</span></td>
      <th scope="row">${alert.rule_name}</th>
      <td>${visible(alert.tenant_id)}</td>
      <td>${alert.group_by} ${visible(alert.group_key)}${alert.actor_name ? html` (${visible(alert.actor_name)})` : nothing}</td>
      <td>${alert.event_count}${alert.count_distinct ? ` distinct ${alert.count_distinct}` : ""}: ${alert.sample_event_ids.slice(0, 3).map((id, index) => html`<a href="#/events?event=${id}">event ${index + 1}</a> `)}</td>
      <td>${time(alert.fired_at)}</td>
      <td><span class="badge ${alert.status}">${alert.status}</span></td>
      <td class="actions">
        ${alert.status === "open" ? html`<button @click=${() => this.set(alert, "acknowledged")}>Acknowledge</button>` : nothing}
        ${alert.status !== "resolved" ? html`<button @click=${() => this.set(alert, "resolved")}>Resolve</button>` : nothing}
      </td>
    </tr>`);
    const columns = ["Severity", "Rule", "Tenant", "Group", "Events", "Fired", "Status", ""];
    if (this.wanted) return html`${this.table(columns, rows, "No such alert.")}<p><a href="#/alerts">All alerts</a></p>`;
    return html`
      <div class="bar">
        ${this.select("Status", this.status, ["open", "acknowledged", "resolved"], (value) => (this.status = value))}
        ${this.select("Severity", this.severity, ["critical", "high", "medium", "low"], (value) => (this.severity = value))}
      </div>
      ${this.table(columns, rows, "No alerts with this status.")}
      ${this.cursor ? html`<p><button ?disabled=${this.isBusy} @click=${() => this.more()}>Show older alerts</button></p>` : nothing}
    `;
  }
}
