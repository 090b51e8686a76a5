import { html, nothing, type TemplateResult } from "lit";
import { type Api, asFailure, Failure } from "../../shared/api.js";
import { visible } from "../../shared/visible.js";
import { type Alert, alertFacts, countOf, eventRows, groupOf, historyRows, type LinkTo, noteForm, type OpenedAlert, readAlert } from "../alerts/alert.js";
import { t } from "../languages/index.js";
import { messageOf, Section, time } from "../section.js";

interface Page {
  alerts: Alert[];
  cursor: string | null;
}

type Status = "acknowledged" | "resolved";
/** The statuses that follow each one. */
const NEXT: Record<string, Status[]> = { open: ["acknowledged", "resolved"], acknowledged: ["resolved"] };
const STATUSES = ["open", "acknowledged", "resolved"];
const SEVERITIES = ["critical", "high", "medium", "low"];
const ALL = "all";

/** Fired alerts: open, acknowledged, resolved. */
export class Alerts extends Section {
  static override properties = { page: { state: true }, opened: { state: true }, chosen: { state: true } };
  /** The alerts of the present filter, if they have been read. */
  declare private page: Page | undefined;
  declare private opened: OpenedAlert | undefined;
  /** The ids of the alerts that are changed together. */
  declare private chosen: ReadonlySet<string>;
  protected get heading(): string {
    return t.sections.alerts;
  }
  protected get text(): string {
    return t.alerts.text;
  }

  constructor() {
    super();
    this.chosen = new Set();
  }

  private get alertId(): string | undefined {
    return this.idOf("alert", "alt");
  }

  private get status(): string {
    return this.named("status") || "open";
  }

  private get severity(): string {
    return this.named("severity") || ALL;
  }

  private read(api: Api, cursor?: string): Promise<Page> {
    const of = (value: string): string => (value === ALL ? "" : value);
    return api.get<Page>("/alerts", { status: of(this.status), severity: of(this.severity), cursor });
  }

  protected override async load(api: Api, signal: AbortSignal): Promise<void> {
    // If the new ones cannot be read, the old ones are not those of the page.
    this.page = undefined;
    this.opened = undefined;
    this.chosen = new Set();
    const { alertId } = this;
    if (alertId) this.opened = await readAlert(this.session, api, signal, alertId);
    else this.page = await this.read(api);
  }

  private async more({ alerts, cursor }: Page): Promise<void> {
    const { signal } = this.loading;
    await this.attempt(async () => {
      const page = await this.read(this.apiUntil(signal), cursor ?? undefined);
      this.page = { ...page, alerts: [...alerts, ...page.alerts] };
    });
  }

  /** Changes alerts one after the other. One that cannot be changed does not keep the others from it. */
  private async apply(alerts: readonly Alert[], status: Status): Promise<void> {
    const failures: Failure[] = [];
    for (const { id } of alerts) {
      await this.session.api.send("PATCH", `/alerts/${id}`, { status }).catch((error: unknown) => failures.push(asFailure(error)));
    }
    const [first] = failures;
    if (!first) return;
    await this.loadNewest();
    if (alerts.length === 1 || first.kind === "expired") throw first;
    throw new Failure(first.kind, t.alerts.failed(failures.length, alerts.length, messageOf(first)), first.status, first.code, first.requestId, first.details);
  }

  private set(alerts: readonly Alert[], status: Status): void {
    const [first] = alerts;
    void this.change(() => this.apply(alerts, status), t.alerts.changed(alerts.length === 1 && first ? first.rule_name : t.alerts.alerts(alerts.length), t.statuses[status] ?? status));
  }

  private setAll(status: Status): void {
    const alerts = this.page?.alerts.filter(({ id }) => this.chosen.has(id)) ?? [];
    if (status === "acknowledged") return this.set(alerts, status);
    this.ask({
      title: t.alerts.resolveAll(alerts.length), verb: t.alerts.verbs.resolved, text: t.alerts.resolveText,
      run: () => this.apply(alerts, status),
    });
  }

  private choose(ids: readonly string[], isChosen: boolean): void {
    const chosen = new Set(this.chosen);
    for (const id of ids) isChosen ? chosen.add(id) : chosen.delete(id);
    this.chosen = chosen;
  }

  private select(label: string, name: "status" | "severity", options: string[], labels: Record<string, string>, fallback: string): TemplateResult {
    const onChange = (event: Event): void => {
      const { value } = event.target as HTMLSelectElement;
      this.go({ [name]: value === fallback ? undefined : value });
    };
    return html`<label>${label}<select @change=${onChange}>
      ${[ALL, ...options].map((value) => html`<option value=${value} .selected=${value === this[name]}>${value === ALL ? t.all : labels[value]}</option>`)}
    </select></label>`;
  }

  private buttons(alert: Alert): TemplateResult {
    return html`${NEXT[alert.status]?.map((status) => html`<button @click=${() => this.set([alert], status)}>${t.alerts.verbs[status]}</button> `)}`;
  }

  private row(alert: Alert): TemplateResult {
    const onChoose = (event: Event): void => this.choose([alert.id], (event.target as HTMLInputElement).checked);
    return html`<tr>
      <td>${alert.status === "resolved" ? nothing : html`<input type="checkbox" aria-label=${t.alerts.choose(alert.rule_name)} .checked=${this.chosen.has(alert.id)} @change=${onChoose} />`}</td>
      <td><span class="badge ${alert.severity}">${t.severities[alert.severity] ?? alert.severity}</span></td>
      <th scope="row"><a href=${this.hrefOf({ alert: alert.id })}>${alert.rule_name}</a></th>
      <td>${visible(alert.tenant_id)}</td><td class="wide">${groupOf(alert, this.links)}</td><td>${countOf(alert)}</td>
      <td>${time(alert.fired_at)}</td>
      <td><span class="badge ${alert.status}">${t.statuses[alert.status] ?? alert.status}</span></td>
      <td class="actions">${this.buttons(alert)}</td>
    </tr>`;
  }

  protected override content(): TemplateResult {
    const { opened, page } = this;
    if (this.alertId) return opened ? this.alertPage(opened) : this.back();
    return html`
      <div class="bar">${this.select(t.status, "status", STATUSES, t.statuses, "open")} ${this.select(t.severity, "severity", SEVERITIES, t.severities, ALL)} ${page ? this.bulk(page) : nothing}</div>
      ${page ? this.table([t.alerts.chosen, t.severity, t.rule, t.tenant, t.group, t.events, t.alerts.fired, t.status, ""], page.alerts.map((alert) => this.row(alert)), t.alerts.none) : this.failure ? nothing : this.waiting()}
      ${page?.cursor ? html`<p><button ?disabled=${this.isBusy} @click=${() => this.more(page)}>${t.alerts.older}</button></p>` : nothing}
    `;
  }

  private bulk({ alerts }: Page): TemplateResult | typeof nothing {
    const ids = alerts.filter(({ status }) => status !== "resolved").map(({ id }) => id);
    const { size } = this.chosen;
    if (ids.length === 0) return nothing;
    const isAll = size === ids.length;
    return html`<button @click=${() => this.choose(ids, !isAll)}>${isAll ? t.alerts.chooseNone : t.alerts.chooseAll(ids.length)}</button>
      ${(["acknowledged", "resolved"] as const).map((status) => html`<button ?disabled=${size === 0 || this.isBusy} @click=${() => this.setAll(status)}>${t.alerts.applyTo(t.alerts.verbs[status], size)}</button>`)}`;
  }

  private readonly links: LinkTo = (path, names) => this.linkTo(path, names);

  /** Writes a note, with a change of the status or alone. */
  private note({ id, rule_name }: Alert, note: string, status: string): Promise<boolean> {
    const body = { ...(note && { note }), ...(status && { status }) };
    return this.change(() => this.session.api.send("PATCH", `/alerts/${id}`, body), status ? t.alerts.changed(rule_name, t.statuses[status] ?? status) : t.alerts.noted(rule_name));
  }

  private back(): TemplateResult {
    return html`<p><a href=${this.hrefOf({ alert: undefined })}>${t.alerts.back}</a></p>`;
  }

  private alertPage(opened: OpenedAlert): TemplateResult {
    const { links: linkTo } = this;
    const { alert } = opened;
    return html`${this.back()}
      <h3>${alert.rule_name}</h3>
      ${alertFacts(alert, linkTo)}
      ${noteForm(opened, Object.fromEntries(NEXT[alert.status]?.map((status) => [status, t.alerts.verbs[status]]) ?? []), (note, status) => this.note(alert, note, status))}
      <h3>${t.alerts.history}</h3>
      ${this.table([t.status, t.alerts.since, t.alerts.by, t.alerts.note], historyRows(opened), "")}
      <h3>${t.events}</h3>
      <p class="muted">${t.alerts.eventsText}</p>
      ${this.table([t.event, t.time, t.actor, t.target, t.address, t.outcome], eventRows(opened, linkTo), t.alerts.noEvents)}`;
  }
}
