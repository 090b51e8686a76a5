/** An alert, and its page: what raised it, its events, its notes, and who changed its status when. */
import { html, nothing, type TemplateResult } from "lit";
import { Api, optional, OWN_TENANT } from "../../shared/api.js";
import type { AuditEvent, EventPage, Party } from "../../shared/types.js";
import { visible } from "../../shared/visible.js";
import { numbers, t, viewerTexts } from "../languages/index.js";
import { fieldsOf, nameOf, time } from "../section.js";
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

/** The newest changes and notes that are shown. */
const CHANGES_MAX = 200;

const PARTIES: Record<string, "actor" | "target"> = { actor_id: "actor", target_id: "target" };

export async function readAlert(session: Session, api: Api, signal: AbortSignal, id: string): Promise<OpenedAlert> {
  const { alert } = await api.get<{ alert: Alert }>(`/alerts/${id}`);
  // Changes of an alert of the test environment are in the live log too.
  const live = new Api(session.with({ environment: "live" }).api.connection, signal);
  const [events, changes] = await Promise.all([
    optional(api.get<EventPage>("/events", { id: alert.sample_event_ids })),
    optional(live.get<EventPage>("/events", { tenant_id: OWN_TENANT, action: "audit.alert.updated", target_id: id, limit: CHANGES_MAX })),
  ]);
  return { alert, events: events?.events, changes: changes?.events };
}

/** The group of an alert: the name of the actor where it is known. */
export function groupOf({ group_by, group_key, actor_name, tenant_id }: Alert, linkTo: LinkTo): TemplateResult {
  const kind = PARTIES[group_by];
  const party = { id: group_key, name: actor_name ?? "" };
  return html`${t.groups[group_by] ?? group_by} ${kind ? partyLink(linkTo, kind, party, tenant_id) : nameOf(party)}`;
}

/** An actor or a target, with the link to its page. */
function partyLink(linkTo: LinkTo, kind: "actor" | "target", party: Party | undefined, tenant_id: string): TemplateResult {
  return party?.id ? html`<a href=${linkTo(kind, { id: party.id, tenant_id })}>${nameOf(party)}</a>` : html`–`;
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
    [t.group, html`${groupOf(alert, linkTo)}${isFilter ? html` · <a href=${linkTo("events", { tenant_id, [group_by]: group_key })}>${t.alerts.ofGroup}</a>` : nothing}`],
    [t.alerts.whenFired, countOf(alert)],
    [t.project, html`${alert.project_name ?? ""} ${t.environments[alert.environment ?? ""] ?? ""}`],
    [t.id, html`<code>${alert.id}</code>`],
  ];
  return html`<div class="scroll" tabindex="0" role="group" aria-label=${t.alerts.alert}><table class="facts"><tbody>${rows.map(([name, value]) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>`)}</tbody></table></div>`;
}

/** What an operator has found, in a change of the alert. */
function noteOf(event: AuditEvent | undefined): string {
  const note = event?.metadata?.["note"];
  return typeof note === "string" ? visible(note) : "";
}

/** The rows of the history: when each status began, who set it, and the notes. */
export function historyRows({ alert, changes = [] }: OpenedAlert): TemplateResult[] {
  const steps = [["open", alert.fired_at], ["acknowledged", alert.acknowledged_at], ["resolved", alert.resolved_at]] as const;
  const began = steps.flatMap(([status, at]) => {
    const event = changes.find((change) => change.changes?.some(({ field, after }) => field === "status" && after === status));
    return at ? [{ status, at, event }] : [];
  });
  const noted = changes.filter((event) => noteOf(event) && !began.some((step) => step.event === event)).map((event) => ({ status: "", at: event.occurred_at, event }));
  return [...began, ...noted].sort((one, other) => Date.parse(one.at) - Date.parse(other.at)).map(({ status, at, event }) => {
    const by = status === "open" ? html`${t.alerts.byRule}` : event?.actor ? nameOf(event.actor) : html`–`;
    const badge = status ? html`<span class="badge ${status}">${t.statuses[status] ?? status}</span>` : t.alerts.note;
    return html`<tr><th scope="row">${badge}</th><td>${time(at)}</td><td>${by}</td><td class="wide">${noteOf(event)}</td></tr>`;
  });
}

/** The form for a note, with the buttons that change the status beside it. `submit` gets the status of the button, or an empty one. */
export function noteForm({ changes }: OpenedAlert, buttons: Record<string, string>, submit: (note: string, status: string) => Promise<boolean>): TemplateResult {
  const onSubmit = async (event: SubmitEvent): Promise<void> => {
    const form = event.target as HTMLFormElement;
    const { note = "" } = fieldsOf(event);
    const { value } = event.submitter as HTMLButtonElement;
    if ((note || value) && (await submit(note, value))) form.reset();
  };
  return html`<form class="inline" @submit=${onSubmit}>
    <label class="wide">${t.alerts.note}<input name="note" maxlength="1000" autocomplete="off" /></label>
    <button value="">${t.alerts.addNote}</button>
    ${Object.entries(buttons).map(([status, verb]) => html`<button value=${status}>${verb}</button>`)}
    <span class="muted">${changes ? t.alerts.noteHint : t.alerts.notesHidden}</span>
  </form>`;
}

/** The rows of the events that the alert names. */
export function eventRows({ alert, events }: OpenedAlert, linkTo: LinkTo): TemplateResult[] {
  return alert.sample_event_ids.map((id) => {
    const event = events?.find((other) => other.id === id);
    const link = (kind: "actor" | "target"): TemplateResult => partyLink(linkTo, kind, event?.[kind], alert.tenant_id);
    return html`<tr>
      <th scope="row"><a href=${linkTo("events", { event: id })}>${event?.action ?? id}</a></th>
      <td>${time(event?.occurred_at)}</td><td class="wide">${link("actor")}</td><td>${link("target")}</td>
      <td class="wide">${visible(event?.context?.ip_address ?? "–")}</td><td>${viewerTexts.outcomes[event?.outcome ?? ""] ?? event?.outcome ?? "–"}</td>
    </tr>`;
  });
}
