import { html, nothing, type ReactiveControllerHost, type TemplateResult } from "lit";
import type { Api } from "../shared/api.js";
import type { AuditEvent } from "../shared/types.js";
import type { Formats } from "./format.js";
import { checkProof, type Outcome } from "./proof.js";

/** How a check of several events goes, or how it ended. */
export interface Progress {
  text: string;
  isRunning: boolean;
  isBad: boolean;
}

const SIGNS: Record<Outcome, string> = { verified: "✓", consistent: "✓", failed: "✗", unavailable: "?" };

/** The outcomes of the proofs of a list. */
export class ProofChecks {
  /** By the event as it was checked: an event that is read again is another one. */
  private readonly outcomes = new Map<AuditEvent, Outcome>();
  progress: Progress | undefined;

  constructor(private readonly host: ReactiveControllerHost) {}

  clear(): void {
    this.outcomes.clear();
    this.progress = undefined;
  }

  note(event: AuditEvent, outcome: Outcome): void {
    this.outcomes.set(event, outcome);
    this.host.requestUpdate();
  }

  isTampered(event: AuditEvent): boolean {
    return this.outcomes.get(event) === "failed";
  }

  private show(progress: Progress | undefined): void {
    this.progress = progress;
    this.host.requestUpdate();
  }

  /** Verifies the proofs of events, one after the other. */
  async run(events: readonly AuditEvent[], api: Api, pinnedKey: string | undefined, formats: Formats, signal: AbortSignal): Promise<void> {
    if (this.progress?.isRunning) return;
    const { proof: t } = formats.messages;
    const number = (count: number): string => formats.number(count);
    const found: Record<Outcome, number> = { verified: 0, consistent: 0, failed: 0, unavailable: 0 };
    for (const [index, event] of events.entries()) {
      this.show({ text: t.checkingShown(number(index + 1), number(events.length)), isRunning: true, isBad: found.failed > 0 });
      const { outcome } = await checkProof(api, event, pinnedKey);
      if (signal.aborted) return;
      found[outcome] += 1;
      this.note(event, outcome);
    }
    const text = t.checkedShown(number(found.verified + found.consistent), number(found.failed), number(found.unavailable));
    this.show({ text, isRunning: false, isBad: found.failed > 0 });
  }

  /** The mark of a row whose proof was checked. */
  mark(event: AuditEvent, { messages: { proof: t } }: Formats): TemplateResult | typeof nothing {
    const outcome = this.outcomes.get(event);
    if (!outcome) return nothing;
    const label = { verified: t.verified, consistent: t.consistent, failed: t.failed, unavailable: t.unavailable }[outcome];
    return html`<span class="mark ${outcome}" role="img" aria-label=${label} title=${label}>${SIGNS[outcome]}</span>`;
  }

  /** The line above the list. */
  message({ messages: t }: Formats): TemplateResult | typeof nothing {
    if (!this.progress) return nothing;
    const { text, isRunning, isBad } = this.progress;
    return html`<div class="notice ${isBad ? "bad" : "good"}" role=${isBad ? "alert" : "status"}>${text}
      ${isRunning ? nothing : html`<button @click=${() => this.show(undefined)}>${t.close}</button>`}</div>`;
  }
}
