import { css, html, nothing, type TemplateResult } from "lit";
import { optional } from "../../shared/api.js";
import { CATEGORIES, type Summary } from "../../shared/types.js";
import { en } from "../../viewer/languages/en.js";
import { Formats } from "../../viewer/format.js";
import { Section } from "../section.js";

const DAYS = 30;
const NUMBERS = new Intl.NumberFormat();

interface Gauges {
  pendingDeliveries?: number | undefined;
  queueDepth?: number | undefined;
  toRebuild?: number | undefined;
}

/** Counts, alerts and the state of the server at a glance. */
export class Overview extends Section {
  static override properties = {};
  static override styles = [Section.styles, css`.chart { margin: 12px 0; padding: 12px; border: 1px solid var(--border); border-radius: var(--radius); }`];
  protected readonly heading = "Overview";
  protected readonly text = `The last ${DAYS} days of this project, and the state of the server.`;
  private summary: Summary | undefined;
  private openAlerts: string | undefined;
  private logSize: number | undefined;
  private readiness = "";
  private gauges: Gauges = {};
  private readonly formats = new Formats(navigator.language, en, false);

  protected override async load(): Promise<void> {
    const { api } = this.session;
    const start_date = new Date(Date.now() - DAYS * 86_400_000).toISOString();
    const [summary, alerts, checkpoint, ready, metrics] = await Promise.all([
      optional(api.get<Summary>("/events/summary", { start_date, interval: "day", split: "category" })),
      optional(api.get<{ alerts: unknown[]; has_more: boolean }>("/alerts", { status: "open", limit: 100 })),
      optional(api.text("/log/checkpoint")),
      fetch("/readyz", { cache: "no-store" }).then((response) => response.ok, () => false),
      fetch("/metrics", { cache: "no-store" }).then((response) => (response.ok ? response.text() : ""), () => ""),
    ]);
    this.summary = summary;
    this.openAlerts = alerts && `${alerts.alerts.length}${alerts.has_more ? "+" : ""}`;
    this.logSize = checkpoint === undefined ? undefined : Number(checkpoint.split("\n")[1]);
    this.readiness = ready ? "ready" : "not ready";
    const gauge = (name: string): number | undefined => {
      const value = new RegExp(`^${name} (\\S+)$`, "m").exec(metrics)?.[1];
      return value === undefined ? undefined : Number(value);
    };
    this.gauges = {
      pendingDeliveries: gauge("audit_webhook_deliveries_pending"), queueDepth: gauge("audit_store_queue_depth"), toRebuild: gauge("audit_store_events_to_rebuild"),
    };
  }

  private card(name: string, value: string | number | undefined, href?: string): TemplateResult | typeof nothing {
    if (value === undefined) return nothing;
    const label = href ? html`<a href=${href}>${name}</a>` : html`<span class="muted">${name}</span>`;
    return html`<div class="card"><b>${typeof value === "number" ? NUMBERS.format(value) : value}</b>${label}</div>`;
  }

  protected override content(): TemplateResult {
    const { summary, gauges } = this;
    const counts = CATEGORIES.map((name) => [name, summary?.buckets.reduce((sum, bucket) => sum + (bucket.categories?.[name] ?? 0), 0) ?? 0] as const);
    return html`
      <div class="cards">
        ${this.card(`events in ${DAYS} days`, summary?.total, "#/events")} ${this.card("events in the log", this.logSize, "#/log")}
        ${this.card("open alerts", this.openAlerts, "#/alerts")} ${this.card("server", this.readiness)}
        ${this.card("deliveries pending, all projects", gauges.pendingDeliveries, "#/webhooks")}
        ${this.card("requests in the write queue", gauges.queueDepth)} ${this.card("events to index again", gauges.toRebuild)}
      </div>
      ${summary
        ? html`<h3>Events per day</h3>
            <div class="chart"><audit-log-histogram .summary=${summary} .formats=${this.formats} @zoom=${this.onZoom}></audit-log-histogram></div>
            <h3>By category</h3>
            <div class="cards">${counts.map(([name, count]) => this.card(en.categories[name] ?? name, count, `#/events?category=${name}`))}</div>
            ${this.top("Most frequent actions", "action", summary)} ${this.top("Most active actors", "actor_id", summary)}
            ${this.top("Tenants", "tenant_id", summary)}`
        : nothing}
    `;
  }

  private onZoom(event: CustomEvent<{ start: string; end: string }>): void {
    location.hash = `#/events?${new URLSearchParams({ start_date: event.detail.start, end_date: event.detail.end })}`;
  }

  private top(title: string, field: "action" | "actor_id" | "tenant_id", { top }: Summary): TemplateResult {
    const rows = (top[field] ?? []).slice(0, 8).map(
      ({ value, count }) => html`<tr><td><a href="#/events?${new URLSearchParams({ [field]: value })}">${value}</a></td><td>${NUMBERS.format(count)}</td></tr>`,
    );
    return html`<h3>${title}</h3><p class="muted">Among the newest ${NUMBERS.format(top.looked_at)} events.</p>${this.table(["Value", "Events"], rows, "None.")}`;
  }
}
