/** A delivery of a webhook, and its page: the request, the response to each attempt, what was wrong and what to do. */
import { html, nothing, type TemplateResult } from "lit";
import type { Alert } from "../alerts/alert.js";
import type { Diagnosis } from "../languages/en/parts.js";
import { numbers, t } from "../languages/index.js";
import { time } from "../section.js";

export interface Webhook {
  id: string;
  url: string;
  format: string;
  enabled: boolean;
  secret: string;
  created_at: string;
}

export interface Attempt {
  number: number;
  started_at: string;
  duration_ms: number;
  status_code: number | null;
  error: string | null;
}

export interface Delivery {
  id: string;
  webhook_id: string;
  message_id: string;
  type: string;
  alert_id: string | null;
  status: string;
  created_at: string;
  next_attempt_at: string | null;
  finished_at: string | null;
  attempts: Attempt[];
}

/** A delivery with what its page shows. The alert is absent for a test, and where the key may not read it. */
export interface OpenedDelivery {
  delivery: Delivery;
  alert: Alert | undefined;
}

/** What was wrong with an attempt, and what to do; `undefined` for a success. */
export function diagnosis({ status_code: status, error }: Attempt): Diagnosis | undefined {
  const { errors, ...of } = t.delivery;
  if (status === null) return errors[error ?? ""] ?? of.noResponse;
  if (status >= 200 && status < 300) return undefined;
  if (status === 410) return of.gone;
  if (status >= 300 && status < 400) return of.redirects;
  if (status === 401 || status === 403) return of.unauthorized;
  if (status === 404 || status === 405) return of.noPath;
  if (status === 429) return of.limited;
  if (status >= 500) return of.serverFailed;
  return of.refused;
}

/** What happens next, in a sentence. */
function outlook({ status, next_attempt_at, attempts }: Delivery, { enabled }: Webhook): TemplateResult {
  if (status === "delivered") return html`<p class="notice good">${t.delivery.delivered}</p>`;
  const last = attempts.at(-1);
  const found = last && diagnosis(last);
  const next = !enabled ? t.delivery.disabled : status === "failed" ? t.delivery.noMore : t.delivery.next(time(next_attempt_at));
  return html`<p class="notice ${status === "failed" ? "bad" : ""}">${found ? html`<b>${found[0]}</b> <span>${found[1]}</span>` : nothing} <span>${next}</span></p>`;
}

/** The page of a delivery. `alertHref` leads to its alert. */
export function deliveryPage({ delivery, alert }: OpenedDelivery, webhook: Webhook, alertHref: string): TemplateResult {
  const { type, alert_id, message_id, created_at, finished_at, status } = delivery;
  const rows: [string, TemplateResult | string][] = [
    [t.status, html`<span class="badge ${status}">${t.delivery.statuses[status] ?? status}</span>`],
    [t.webhooks.message, html`${type}${alert_id ? html` · <a href=${alertHref}>${alert?.rule_name ?? alert_id}</a>` : nothing}`],
    [t.request, html`<pre tabindex="0">POST ${webhook.url}\nwebhook-id: ${message_id}</pre> <span class="muted">${t.delivery.withHeaders(webhook.format)}</span>`],
    [t.created, html`${time(created_at)}`],
    [t.delivery.finished, html`${time(finished_at)}`],
    [t.id, html`<code>${delivery.id}</code>`],
  ];
  return html`${outlook(delivery, webhook)}
    <div class="scroll" tabindex="0" role="group" aria-label=${t.delivery.delivery}><table class="facts"><tbody>${rows.map(([name, value]) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>`)}</tbody></table></div>`;
}

/** The rows of the attempts: the response to each, and what was wrong. */
export function attemptRows({ attempts }: Delivery): TemplateResult[] {
  return attempts.map((attempt) => html`<tr>
    <th scope="row">${attempt.number}</th><td>${time(attempt.started_at)}</td><td>${numbers.format(attempt.duration_ms)} ms</td>
    <td>${attempt.status_code === null ? (attempt.error ?? "–") : t.delivery.status(attempt.status_code)}</td><td class="wide">${diagnosis(attempt)?.[0] ?? t.delivery.success}</td>
  </tr>`);
}
