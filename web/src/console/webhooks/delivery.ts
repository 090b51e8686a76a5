/** A delivery of a webhook, and its page: the request, the response to each attempt, what was wrong and what to do. */
import { html, nothing, type TemplateResult } from "lit";
import type { Alert } from "../alerts/alert.js";
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

/** What was wrong, and what to do, of each error in docs/webhooks.md, "Errors in the delivery log". */
const ERRORS: Record<string, readonly [string, string]> = {
  address_not_allowed: ["The host is, or its name resolves to, a private or special address. Nothing was sent.", "Use a public address, or have the operator allow this one (AUDIT_WEBHOOK_ALLOW_PRIVATE)."],
  name_not_resolved: ["The name of the host has no address, or the resolver failed.", "Check the host in the URL and its DNS records."],
  connection_failed: ["No address of the host accepted a connection.", "Check that the receiver runs and that a firewall lets the connections of this server through."],
  tls_failed: ["The certificate is not trusted, has expired or is for another name, or the port does not speak TLS.", "Check the certificate of the receiver, with its intermediate certificates, and the port."],
  timed_out: ["The receiver sent no complete response within 15 seconds.", "Let the receiver respond first and do its work afterwards."],
  connection_dropped: ["The connection ended before the response did.", "Look into the logs of the receiver and of the proxies before it at the time of the attempt."],
  not_sendable: ["The server could not prepare the message: the secret or the URL cannot be decrypted, or the alert is damaged.", "The log of the server has details. Check AUDIT_ENCRYPTION_KEY on every node."],
  protocol_error: ["The response is not HTTP/1, or has too many headers.", "Check that an HTTP server listens on this port, and reduce the headers of its response."],
};

/** What was wrong with an attempt, and what to do; `undefined` for a success. */
export function diagnosis({ status_code: status, error }: Attempt): readonly [string, string] | undefined {
  if (status === null) return ERRORS[error ?? ""] ?? ["There was no response.", "Look into the logs of the receiver."];
  if (status >= 200 && status < 300) return undefined;
  if (status === 410) return ["The receiver says that it is gone. The webhook was disabled.", "Correct the URL, then enable the webhook: deliveries that wait are sent."];
  if (status >= 300 && status < 400) return ["The receiver redirects. Redirects are not followed, because their target was not checked.", "Enter the URL to which it redirects."];
  if (status === 401 || status === 403) return ["The receiver refuses the message.", "Check that it verifies the signature with the present secret, on the unchanged body, and that its clock is right."];
  if (status === 404 || status === 405) return ["The receiver has nothing that takes a POST at this path.", "Check the path in the URL."];
  if (status === 429) return ["The receiver limits the rate.", "Nothing: the next attempt waits, for as long as its Retry-After says."];
  if (status >= 500) return ["The receiver failed.", "Look into its logs at the time of the attempt. The next attempt follows by itself."];
  return ["The receiver refuses the message.", "Look into its logs for the reason."];
}

/** What happens next, in a sentence. */
function outlook({ status, next_attempt_at, attempts }: Delivery, { enabled }: Webhook): TemplateResult {
  if (status === "delivered") return html`<p class="notice good">Delivered. Nothing is to be done.</p>`;
  const last = attempts.at(-1);
  const found = last && diagnosis(last);
  const next = !enabled ? html`The webhook is disabled: the delivery waits until it is enabled.` : status === "failed" ? html`No more attempts follow. Retry when the cause is removed.` : html`Next attempt: ${time(next_attempt_at)}.`;
  return html`<p class="notice ${status === "failed" ? "bad" : ""}">${found ? html`<b>${found[0]}</b> <span>${found[1]}</span>` : nothing} <span>${next}</span></p>`;
}

/** The page of a delivery. `alertHref` leads to its alert. */
export function deliveryPage({ delivery, alert }: OpenedDelivery, webhook: Webhook, alertHref: string): TemplateResult {
  const { type, alert_id, message_id, created_at, finished_at, status } = delivery;
  const rows: [string, TemplateResult | string][] = [
    ["Status", html`<span class="badge ${status}">${status}</span>`],
    ["Message", html`${type}${alert_id ? html` · <a href=${alertHref}>${alert?.rule_name ?? alert_id}</a>` : nothing}`],
    ["Request", html`<pre tabindex="0">POST ${webhook.url}\nwebhook-id: ${message_id}</pre> <span class="muted">with the headers webhook-timestamp and webhook-signature, and a body in the format ${webhook.format}</span>`],
    ["Created", html`${time(created_at)}`],
    ["Finished", html`${time(finished_at)}`],
    ["Id", html`<code>${delivery.id}</code>`],
  ];
  return html`${outlook(delivery, webhook)}
    <div class="scroll" tabindex="0" role="group" aria-label="The delivery"><table class="facts"><tbody>${rows.map(([name, value]) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>`)}</tbody></table></div>`;
}

/** The rows of the attempts: the response to each, and what was wrong. */
export function attemptRows({ attempts }: Delivery): TemplateResult[] {
  return attempts.map((attempt) => html`<tr>
    <th scope="row">${attempt.number}</th><td>${time(attempt.started_at)}</td><td>${attempt.duration_ms} ms</td>
    <td>${attempt.status_code === null ? (attempt.error ?? "–") : `status ${attempt.status_code}`}</td><td class="wide">${diagnosis(attempt)?.[0] ?? "success"}</td>
  </tr>`);
}
