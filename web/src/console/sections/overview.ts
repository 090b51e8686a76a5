import { css, html, nothing, type TemplateResult } from "lit";
import { type Api, optional, OWN_TENANT } from "../../shared/api.js";
import { readMetrics, samplesOf } from "../../shared/metrics.js";
import { visible } from "../../shared/visible.js";
import { CATEGORIES, type EventPage, type Summary } from "../../shared/types.js";
import { Formats } from "../../viewer/format.js";
import { readSummary } from "../../viewer/summary.js";
import { locale, numbers, t, viewerTexts } from "../languages/index.js";
import { nameOf, Section, time } from "../section.js";
import { type Erasure, isOpen } from "../erasures/views.js";
import type { Retention } from "./retention.js";
import type { Usage } from "./usage.js";

const DAYS = 30;
/** More open alerts are shown as `20+`. */
const OPEN_ALERTS_MAX = 20;
/** Values of each list of frequent values. */
const TOP_MAX = 8;

/** Numbers of the server, over all projects: the name of a gauge in `/metrics`, the section that it leads to, and whether it counts bytes. A server that does
 * not show its metrics here has none of them. */
const GAUGES: { metric: keyof typeof t.overview.gauges; path?: string; isBytes?: boolean }[] = [
  { metric: "audit_webhook_deliveries_pending", path: "webhooks" },
  { metric: "audit_destination_lag_events", path: "destinations" },
  { metric: "audit_store_queue_depth" },
  { metric: "audit_index_backlog_events" },
  { metric: "audit_store_events_to_rebuild" },
  { metric: "audit_database_bytes", isBytes: true },
  { metric: "audit_database_index_bytes", isBytes: true },
  { metric: "audit_database_wal_bytes", isBytes: true },
];

/** The events of the day, of those that the plan allows. */
function today({ events_today: { count, max } }: Usage): string {
  return max === null ? numbers.format(count) : t.overview.ofMax(numbers.format(count), numbers.format(max));
}

/** Counts, alerts and the state of the server at a glance. */
export class Overview extends Section {
  static override properties = {};
  static override styles = [Section.styles, css`.chart { margin: 12px 0; padding: 12px; border: 1px solid var(--border); border-radius: var(--radius); }`];
  protected get heading(): string {
    return t.sections.overview;
  }
  protected get text(): string {
    return t.overview.text(DAYS);
  }
  private summary: Summary | undefined;
  private openAlerts: string | undefined;
  private logSize: number | undefined;
  private isReady = false;
  private metrics = "";
  private usage: Usage | undefined;
  /** The plan of retention in its grace period. */
  private plan: Retention["plan"] = null;
  /** The erasures that are neither done nor cancelled. */
  private erasures: Erasure[] = [];
  /** The names of the most active actors. */
  private names = new Map<string, string>();
  /** Whether no client has sent an event yet. */
  private isEmpty = false;
  private formats = new Formats(locale, viewerTexts, false);

  protected override async load(api: Api, signal: AbortSignal): Promise<void> {
    const start_date = new Date(Date.now() - DAYS * 86_400_000).toISOString();
    const { isMaster } = this.session;
    const [summary, alerts, checkpoint, usage, ready, metrics, first, retention, erasures] = await Promise.all([
      optional(readSummary(api, { start_date, interval: "day", not_tenant_id: OWN_TENANT }, this.formats.zone, signal)),
      optional(api.get<{ alerts: unknown[]; has_more: boolean }>("/alerts", { status: "open", limit: OPEN_ALERTS_MAX })),
      optional(api.text("/log/checkpoint")),
      optional(api.get<{ usage: Usage }>("/usage")),
      fetch("/readyz", { cache: "no-store", signal }).then((response) => response.ok, () => false),
      readMetrics(signal),
      optional(api.get<EventPage>("/events", { not_tenant_id: OWN_TENANT, limit: 1 })),
      isMaster ? optional(api.get<Retention>("/retention")) : undefined,
      isMaster ? optional(api.get<{ erasures: Erasure[] }>("/erasures")) : undefined,
    ]);
    this.plan = retention?.plan ?? null;
    this.erasures = erasures?.erasures.filter(isOpen) ?? [];
    this.summary = summary;
    void this.readNames(api);
    this.isEmpty = first?.events.length === 0 && !first.has_more && !this.session.project?.archived_at;
    this.usage = usage?.usage;
    this.openAlerts = alerts && `${alerts.alerts.length}${alerts.has_more ? "+" : ""}`;
    this.logSize = checkpoint === undefined ? undefined : Number(checkpoint.split("\n")[1]);
    this.isReady = ready;
    this.metrics = metrics;
  }

  /** Reads the names of the most active actors from their latest events. Until then, and without them, the ids are shown. */
  private async readNames(api: Api): Promise<void> {
    const ids = (this.summary?.top.actor_id ?? []).slice(0, TOP_MAX).map(({ value }) => value);
    const pages = await Promise.all(ids.map((actor_id) => api.get<EventPage>("/events", { actor_id, limit: 1 }).catch(() => undefined)));
    this.names = new Map(ids.map((id, index) => [id, pages[index]?.events[0]?.actor?.name ?? ""]));
    this.requestUpdate();
  }

  private gauges(): (TemplateResult | typeof nothing)[] {
    return GAUGES.flatMap(({ metric, path, isBytes }) => {
      const [sample] = samplesOf(this.metrics, metric);
      if (!sample) return [];
      return [this.card(t.overview.gauges[metric], isBytes ? this.formats.bytes(sample.value) : sample.value, path && this.linkTo(path, {}))];
    });
  }

  /** What will be removed, while it can still be stopped. */
  private removals(): TemplateResult {
    const { plan, erasures } = this;
    const [first] = erasures.flatMap(({ state, not_before }) => (state === "planned" && not_before ? [not_before] : [])).sort();
    const open = t.overview.erasures(this.linkTo("erasures", {}), erasures.length);
    return html`
      ${plan ? html`<p class="notice">${t.overview.removal(this.linkTo("retention", {}), numbers.format(plan.events), time(plan.not_before))}</p>` : nothing}
      ${erasures.length > 0
        ? html`<p class="notice">${first ? t.overview.erasuresPlanned(open, time(first)) : t.overview.erasuresOpen(open)}</p>`
        : nothing}`;
  }

  private card(name: string, value: string | number | undefined, href?: string): TemplateResult | typeof nothing {
    if (value === undefined) return nothing;
    const label = href ? html`<a href=${href}>${name}</a>` : html`<span class="muted">${name}</span>`;
    return html`<div class="card"><b>${typeof value === "number" ? numbers.format(value) : value}</b>${label}</div>`;
  }

  protected override content(): TemplateResult {
    const { summary } = this;
    if (this.formats.language !== locale) this.formats = new Formats(locale, viewerTexts, false);
    const counts = CATEGORIES.map((name) => [name, summary?.buckets.reduce((sum, bucket) => sum + (bucket.categories?.[name] ?? 0), 0) ?? 0] as const);
    return html`
      ${this.isEmpty ? html`<console-first-steps .session=${this.session}></console-first-steps>` : nothing}
      ${this.removals()}
      <div class="cards">
        ${this.card(t.overview.eventsInDays(DAYS), summary?.total, this.linkTo("events", {}))} ${this.card(t.overview.eventsInLog, this.logSize, this.linkTo("log", {}))}
        ${this.card(t.overview.openAlerts, this.openAlerts, this.linkTo("alerts", {}))} ${this.card(t.overview.server, this.isReady ? t.overview.ready : t.overview.notReady)}
        ${this.usage ? this.card(t.overview.today, today(this.usage), this.linkTo("usage", {})) : nothing} ${this.gauges()}
      </div>
      ${summary
        ? html`<h3>${t.overview.perDay}</h3>
            <div class="chart"><audit-log-histogram .summary=${summary} .formats=${this.formats} @zoom=${this.onZoom}></audit-log-histogram></div>
            <h3>${t.overview.byCategory}</h3>
            <div class="cards">${counts.map(([name, count]) => this.card(viewerTexts.categories[name] ?? name, count, this.linkTo("events", { category: name })))}</div>
            ${this.top(t.overview.actions, "action", summary)} ${this.top(t.overview.actors, "actor_id", summary)}
            ${this.top(t.overview.tenants, "tenant_id", summary)}`
        : nothing}
    `;
  }

  private onZoom(event: CustomEvent<{ start: string; end: string }>): void {
    location.hash = this.linkTo("events", { start_date: event.detail.start, end_date: event.detail.end });
  }

  private top(title: string, field: "action" | "actor_id" | "tenant_id", { top }: Summary): TemplateResult {
    const rows = (top[field] ?? []).slice(0, TOP_MAX).map(
      ({ value, count }) => html`<tr><td><a href=${this.linkTo("events", { [field]: value })}>${field === "actor_id" ? nameOf({ id: value, name: this.names.get(value) ?? "" }) : visible(value)}</a></td><td>${numbers.format(count)}</td></tr>`,
    );
    return html`<h3>${title}</h3><p class="muted">${t.overview.among(numbers.format(top.looked_at))}</p>${this.table([t.value, t.events], rows, t.overview.none)}`;
  }
}
