/** What the list says when it cannot show events. */
import { html, nothing, type TemplateResult } from "lit";
import type { Failure, FailureKind } from "../shared/api.js";
import type { Messages } from "./languages/index.js";

/** What the page shows to a reader without a token that works. */
export const SIGN_IN = html`<slot name="sign-in"></slot>`;

/** A state instead of the list. */
export function state(title: string, text: string, action: TemplateResult | typeof nothing = nothing): TemplateResult {
  return html`<div class="state" part="state"><h3>${title}</h3><p>${text}</p>${action}</div>`;
}

/** A failure in words, with what can be done about it. */
export function failureText(failure: Failure, t: Messages, isWaiting: boolean, retry: () => void): TemplateResult {
  const titles: Partial<Record<FailureKind, string>> = { expired: t.expired, offline: t.offline, busy: t.busy, forbidden: t.forbidden };
  const texts: Partial<Record<FailureKind, string>> = { expired: isWaiting ? t.expiredWaiting : t.expiredText, offline: t.offlineText };
  return html`
    <h3>${titles[failure.kind] ?? t.failed}</h3>
    <p>${texts[failure.kind] ?? failure.message}</p>
    ${failure.details.map(({ field, message }) => html`<p><code>${field}</code> ${message}</p>`)}
    ${failure.requestId ? html`<p class="mono">${t.requestId}: ${failure.requestId}</p>` : nothing}
    ${failure.kind === "expired" ? SIGN_IN : html`<button @click=${retry}>${t.retry}</button>`}
  `;
}
