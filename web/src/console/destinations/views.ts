/** How the console shows destinations. Everything that a receiver or an event has said is text. */
import { html, type TemplateResult } from "lit";
import { formatJson } from "../../shared/exact-json.js";
import type { Json } from "../../shared/types.js";
import { visible } from "../../shared/visible.js";
import { numbers, t } from "../languages/index.js";
import { time } from "../section.js";
import type { Attempt, Destination, Resent, State } from "../../shared/destinations.js";

const BADGES: Record<State, string> = { active: "on", delayed: "pending", credentials: "critical", parked: "critical", paused: "" };

export function badgeOf(state: State): TemplateResult {
  return html`<span class="badge ${BADGES[state] ?? ""}">${t.destinations.states[state] ?? state}</span>`;
}

/** Events that it has not come to, and how old the first is. */
export function lagOf({ lag_events, lag_seconds }: Destination): string {
  const events = t.eventCount(numbers.format(lag_events), lag_events === 1);
  return lag_events === 0 ? t.destinations.noLag : t.destinations.lagOf(events, numbers.format(lag_seconds ?? 0));
}

/** A record as it is sent: JSON, or a line of CEF. */
export function recordOf(record: Json): string {
  return typeof record === "string" ? visible(record) : formatJson(record);
}

/** What was sent, and the response. */
export function attemptOf({ status, request, response }: Attempt): TemplateResult {
  const lines = [request || t.destinations.nothingSent, `${status ?? t.noStatus}: ${response || t.destinations.noText}`];
  return html`<pre tabindex="0">${visible(lines.join("\n"))}</pre>`;
}

/** The outcome of each event that was sent again. */
export function resentList({ events }: Resent): TemplateResult {
  return html`<ul>${events.map(({ position, verdict, status, response }) => html`<li>${t.destinations.resentOne(numbers.format(position), t.destinations.verdicts[verdict] ?? verdict)} ${status ?? ""} ${visible(response)}</li>`)}</ul>`;
}

/** The configuration of a destination, and how far it is. */
export function facts(destination: Destination): TemplateResult {
  const { filter, settings, credentials, created_by_tenant: tenant, ocsf_classes: classes, previous_credentials_in_use: isReplacing } = destination;
  const rows: [string, TemplateResult | string][] = [
    [t.id, html`<code>${destination.id}</code>`],
    [t.created, html`${time(destination.created_at)}`],
    [t.destinations.delivered, t.destinations.deliveredText(numbers.format(destination.position), numbers.format(destination.cursor_seq))],
    ...(tenant === null ? [] : [[t.destinations.createdByTenant, visible(tenant)] satisfies [string, string]]),
    [t.filter, Object.keys(filter).length > 0 ? html`<pre tabindex="0">${formatJson(filter as Json)}</pre>` : t.destinations.allEvents],
    ...(classes.length > 0 ? [[t.destinations.classes, html`<pre tabindex="0">${formatJson(classes)}</pre>`] satisfies [string, TemplateResult]] : []),
    [t.settings, html`<pre tabindex="0">${formatJson(settings)}</pre>`],
    [t.credentials, `${credentials.join(", ") || t.destinations.noCredentials}${isReplacing ? t.destinations.replacing : ""}`],
  ];
  return html`<table class="facts"><tbody>${rows.map(([name, value]) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>`)}</tbody></table>`;
}
