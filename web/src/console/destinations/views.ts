/** How the console shows destinations. Everything that a receiver or an event has said is text. */
import { html, type TemplateResult } from "lit";
import { formatJson } from "../../shared/exact-json.js";
import type { Json } from "../../shared/types.js";
import { visible } from "../../shared/visible.js";
import { time } from "../section.js";
import type { Attempt, Destination, Resent, State } from "../../shared/destinations.js";

export const NUMBERS = new Intl.NumberFormat();
const BADGES: Record<State, string> = { active: "on", delayed: "pending", credentials: "critical", parked: "critical", paused: "" };
const LABELS: Record<State, string> = { active: "active", delayed: "delayed", credentials: "credentials refused", parked: "parked", paused: "paused" };

export function badgeOf(state: State): TemplateResult {
  return html`<span class="badge ${BADGES[state] ?? ""}">${LABELS[state] ?? state}</span>`;
}

/** Events that it has not come to, and how old the first is. */
export function lagOf({ lag_events, lag_seconds }: Destination): string {
  const noun = lag_events === 1 ? "event" : "events";
  return lag_events === 0 ? "none" : `${NUMBERS.format(lag_events)} ${noun}, ${NUMBERS.format(lag_seconds ?? 0)} s`;
}

/** A record as it is sent: JSON, or a line of CEF. */
export function recordOf(record: Json): string {
  return typeof record === "string" ? visible(record) : formatJson(record);
}

/** What was sent, and the response. */
export function attemptOf({ status, request, response }: Attempt): TemplateResult {
  const lines = [request || "nothing was sent", `${status ?? "no status"}: ${response || "no text"}`];
  return html`<pre tabindex="0">${visible(lines.join("\n"))}</pre>`;
}

/** The outcome of each event that was sent again. */
export function resentList({ events }: Resent): TemplateResult {
  return html`<ul>${events.map(({ position, verdict, status, response }) => html`<li>position ${position}: ${verdict} ${status ?? ""} ${visible(response)}</li>`)}</ul>`;
}

/** The configuration of a destination, and how far it is. */
export function facts(destination: Destination): TemplateResult {
  const { filter, settings, credentials, created_by_tenant: tenant, ocsf_classes: classes, previous_credentials_in_use: isReplacing } = destination;
  const rows: [string, TemplateResult | string][] = [
    ["Id", html`<code>${destination.id}</code>`],
    ["Created", html`${time(destination.created_at)}`],
    ["Delivered", `${NUMBERS.format(destination.position)} records; next is event ${NUMBERS.format(destination.cursor_seq)} of the log`],
    ...(tenant === null ? [] : [["Created by the tenant", visible(tenant)] satisfies [string, string]]),
    ["Filter", Object.keys(filter).length > 0 ? html`<pre tabindex="0">${formatJson(filter as Json)}</pre>` : "all events"],
    ...(classes.length > 0 ? [["Classes in OCSF", html`<pre tabindex="0">${formatJson(classes)}</pre>`] satisfies [string, TemplateResult]] : []),
    ["Settings", html`<pre tabindex="0">${formatJson(settings)}</pre>`],
    ["Credentials", `${credentials.join(", ") || "none"}${isReplacing ? "; the receiver has taken nothing with the new ones yet, and the ones before are tried as well" : ""}`],
  ];
  return html`<table class="facts"><tbody>${rows.map(([name, value]) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>`)}</tbody></table>`;
}
