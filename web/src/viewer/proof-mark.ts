import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import type { Api } from "../shared/api.js";
import { theme } from "../shared/theme.js";
import type { AuditEvent } from "../shared/types.js";
import type { Formats } from "./format.js";
import { checkProof, type ProofReport, type Step } from "./proof.js";

/** Fetches and verifies the proof of an event, and says in words what it means. */
export class ProofMark extends LitElement {
  static override properties = {
    event: { attribute: false },
    api: { attribute: false },
    pinnedKey: { attribute: false },
    formats: { attribute: false },
    report: { state: true },
  };
  declare event: AuditEvent;
  declare api: Api;
  declare pinnedKey: string | undefined;
  declare formats: Formats;
  declare private report: ProofReport | undefined;
  private run = 0;

  static override styles = [
    theme,
    css`
      :host { display: block; overflow-wrap: anywhere; }
      .mark { border-inline-start: 4px solid var(--border); padding: 8px 12px; border-radius: var(--radius); background: var(--surface); }
      .mark.verified { border-color: var(--good); background: var(--good-bg); }
      .mark.consistent { border-color: var(--accent); background: var(--selected); }
      .mark.failed { border-color: var(--bad); background: var(--bad-bg); }
      .mark.unavailable { border-color: var(--warn); }
      h4 { display: flex; align-items: center; gap: 8px; margin: 0 0 4px; font-size: 1em; }
      .verified h4 { color: var(--good); } .consistent h4 { color: var(--accent); } .failed h4 { color: var(--bad); } .unavailable h4 { color: var(--warn); }
      p { margin: 4px 0; }
      ul { margin: 8px 0; padding: 0; list-style: none; }
      li { padding-block: 2px; padding-inline-start: 22px; position: relative; }
      li::before { position: absolute; inset-inline-start: 2px; }
      li.ok::before { content: "✓"; color: var(--good); } li.failed::before { content: "✗"; color: var(--bad); font-weight: 700; }
      li.skipped::before { content: "–"; }
      .detail { display: block; }
      details { margin-top: 4px; } summary { cursor: pointer; }
      ul:not(.steps) li { padding-inline-start: 12px; } ul:not(.steps) li::before { content: "·"; }
      dl { display: grid; grid-template-columns: auto 1fr; gap: 2px 10px; margin: 8px 0 0; }
      dd { margin: 0; }
    `,
  ];

  override willUpdate(changed: PropertyValues): void {
    if (changed.has("event") || changed.has("pinnedKey")) void this.check();
  }

  private async check(): Promise<void> {
    const run = ++this.run;
    this.report = undefined;
    const report = await checkProof(this.api, this.event, this.pinnedKey);
    if (run !== this.run) return;
    this.report = report;
    const detail = { event: this.event.id, outcome: report.outcome };
    this.dispatchEvent(new CustomEvent("audit-proof-checked", { detail, bubbles: true, composed: true }));
  }

  override render(): TemplateResult {
    const { messages } = this.formats;
    const t = messages.proof;
    const { report } = this;
    if (!report) return html`<div class="mark" role="status"><p class="spinner">${t.running}</p></div>`;
    const titles = { verified: t.verified, consistent: t.consistent, failed: t.failed, unavailable: t.unavailable };
    const texts = { verified: t.verifiedText, consistent: t.consistentText, failed: t.failedText, unavailable: this.reason(report) };
    const signs = { verified: "✓", consistent: "✓", failed: "✗", unavailable: "?" };
    const isGood = report.outcome === "verified" || report.outcome === "consistent";
    return html`
      <div class="mark ${report.outcome}" part="proof proof-${report.outcome}" role=${report.outcome === "failed" ? "alert" : "status"}>
        <h4><span aria-hidden="true">${signs[report.outcome]}</span>${titles[report.outcome]}</h4>
        <p>${texts[report.outcome]}</p>
        ${report.outcome === "consistent" ? html`<p>${report.key ? t.unpinnedText : t.noKeyText}</p>` : nothing}
        ${report.hidden.length > 0 ? html`<p>${t.hidden(report.hidden.join(", "))}</p>` : nothing}
        ${report.erased.length > 0 ? html`<p>${t.erased(report.erased.join(", "))}</p>` : nothing}
        ${report.steps.length > 0
          ? html`<details ?open=${!isGood}>
              <summary>${t.checks}</summary>
              ${report.outcome === "verified" ? html`<p>${t.pinnedText}</p>` : nothing}
              <ul class="steps">${report.steps.map((step) => this.step(step))}</ul>
              ${this.facts(report)}
            </details>`
          : nothing}
        <details>
          <summary>${t.notProven}</summary>
          <ul>${t.notProvenList.map((text) => html`<li>${text}</li>`)}</ul>
        </details>
        ${isGood ? nothing : html`<p><button @click=${() => this.check()}>${t.again}</button></p>`}
      </div>
    `;
  }

  private reason(report: ProofReport): string {
    const t = this.formats.messages.proof;
    const known = { forbidden: t.tier, unsupported: t.unsupported, offline: this.formats.messages.offlineText, other: "" };
    const reason = known[report.reason ?? "other"] || report.message || "";
    return `${t.unavailableText} ${reason}`;
  }

  private step({ name, state, detail }: Step): TemplateResult {
    const t = this.formats.messages.proof;
    return html`<li class=${state}>
      ${t.steps[name]}${state === "skipped" ? html` <span class="muted">(${t.skipped})</span>` : nothing}
      ${state === "failed" ? html`<code class="detail">${detail}</code>` : nothing}
    </li>`;
  }

  private facts({ position, size, origin, key }: ProofReport): TemplateResult | typeof nothing {
    const t = this.formats.messages.proof;
    if (position === undefined || size === undefined) return nothing;
    return html`
      <p>${t.position(this.formats.number(position + 1), this.formats.number(size))}</p>
      <dl>
        ${origin ? html`<dt class="muted">${t.signedBy}</dt><dd class="mono">${origin}</dd>` : nothing}
        ${key ? html`<dt class="muted">${t.key}</dt><dd class="mono">${key}</dd>` : nothing}
      </dl>
    `;
  }
}
