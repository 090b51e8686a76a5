/** An alert, and its page: what raised it, its events, and who changed its status when. */
import { html, nothing, type TemplateResult } from "lit";
import { Api, optional, OWN_TENANT } from "../../shared/api.js";
import type { AuditEvent, EventPage } from "../../shared/types.js";
import { visible } from "../../shared/visible.js";
import { numbers, t, viewerTexts } from "../languages/index.js";
import { nameOf, time } from "../section.js";
import type { Session } from "../session.js";

export interface Alert {
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
  project_name?: string;
  environment?: string;
}

/** An alert with what its page shows. Without a list, the key may not read events. */
export interface OpenedAlert {
  alert: Alert;
  events: AuditEvent[] | undefined;
  changes: AuditEvent[] | undefined;
}

export async function readAlert(session: Session, api: Api, signal: AbortSignal, id: string): Promise<OpenedAlert> {
  const { alert } = await api.get<{ alert: Alert }>(`/alerts/${id}`);
  // Changes of an alert of the test environment are in the live log too.
  const live = new Api(session.with({ environment: "live" }).api.connection, signal);
  const [events, changes] = await Promise.all([
    optional(api.get<EventPage>("/events", { id: alert.sample_event_ids })),
    optional(live.get<EventPage>("/events", { tenant_id: OWN_TENANT, action: "audit.alert.updated", target_id: id })),
  ]);
  return { alert, events: events?.events, changes: changes?.events };
}

/** The group of an alert: the name of the actor where it is known. */
export function groupOf({ group_by, group_key, actor_name }: Alert): TemplateResult {
  return html`${t.groups[group_by] ?? group_by} ${nameOf({ id: group_key, name: actor_name ?? "" })}`;
}

export function countOf({ event_count, count_distinct }: Alert): string {
  return t.alerts.count(numbers.format(event_count), count_distinct ? (t.groups[count_distinct] ?? count_distinct) : "");
}

/** Where an alert leads to, as the section makes links. */
export type LinkTo = (path: string, names: Record<string, string>) => string;

/** What raised the alert. */
export function alertFacts(alert: Alert, linkTo: LinkTo): TemplateResult {
  const { group_by, group_key, tenant_id } = alert;
  const isFilter = ["actor_id", "target_id", "tenant_id"].includes(group_by);
  const rows: [string, TemplateResult | string][] = [
    [t.rule, html`<a href=${linkTo("rules", { rule: alert.rule_id })}>${alert.rule_name}</a>`],
    [t.severity, html`<span class="badge ${alert.severity}">${t.severities[alert.severity] ?? alert.severity}</span>`],
    [t.status, html`<span class="badge ${alert.status}">${t.statuses[alert.status] ?? alert.status}</span>`],
    [t.tenant, visible(tenant_id)],
    [t.group, html`${groupOf(alert)}${isFilter ? html` · <a href=${linkTo("events", { tenant_id, [group_by]: group_key })}>${t.alerts.ofGroup}</a>` : nothing}`],
    [t.alerts.whenFired, countOf(alert)],
    [t.project, html`${alert.project_name ?? ""} ${t.environments[alert.environment ?? ""] ?? ""}`],
    [t.id, html`<code>${alert.id}</code>`],
  ];
  return html`<div class="scroll" tabindex="0" role="group" aria-label=${t.alerts.alert}><table class="facts"><tbody>${rows.map(([name, value]) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>`)}</tbody></table></div>`;
}

/** The rows of the history: when each status began, and who set it. */
export function historyRows({ alert, changes = [] }: OpenedAlert): TemplateResult[] {
  const steps = [["open", alert.fired_at], ["acknowledged", alert.acknowledged_at], ["resolved", alert.resolved_at]] as const;
  return steps.flatMap(([status, at]) => {
    if (!at) return [];
    const change = changes.find((event) => event.changes?.some(({ field, after }) => field === "status" && after === status));
    const by = status === "open" ? html`${t.alerts.byRule}` : change?.actor ? nameOf(change.actor) : html`–`;
    return [html`<tr><th scope="row"><span class="badge ${status}">${t.statuses[status] ?? status}</span></th><td>${time(at)}</td><td>${by}</td></tr>`];
  });
}

/** The rows of the events that the alert names. */
export function eventRows({ alert, events }: OpenedAlert, linkTo: LinkTo): TemplateResult[] {
  return alert.sample_event_ids.map((id) => {
    const event = events?.find((other) => other.id === id);
    const target = event?.target ? nameOf(event.target) : "–";
    return html`<tr>
      <th scope="row"><a href=${linkTo("events", { event: id })}>${event?.action ?? id}</a></th>
      <td>${time(event?.occurred_at)}</td><td class="wide">${event?.actor ? nameOf(event.actor) : "–"}</td><td>${target}</td>
      <td class="wide">${visible(event?.context?.ip_address ?? "–")}</td><td>${viewerTexts.outcomes[event?.outcome ?? ""] ?? event?.outcome ?? "–"}</td>
    </tr>`;
  });
}
