import { html, nothing, type TemplateResult } from "lit";
import { type Checkpoint, openCheckpoint, toHex, verifyConsistency } from "../../../../clients/typescript/src/verify/index.js";
import { hashesOf } from "../../../../clients/typescript/src/verify/merkle.js";
import { save } from "../../viewer/download.js";
import { fieldsOf, Section } from "../section.js";

/** The signed checkpoint, verified here, and its continuity with an earlier one. */
export class Log extends Section {
  static override properties = { checked: { state: true }, earlier: { state: true } };
  /** The outcome of the check of the signature. */
  declare private checked: { text: string; isGood: boolean };
  declare private earlier: { text: string; isGood: boolean } | undefined;
  private note = "";
  private key = "";
  private rotations = "";
  private checkpoint: Checkpoint | undefined;
  protected readonly heading = "The verifiable log";
  protected readonly text = "Every event is a leaf of a Merkle tree, and its root is signed within a second. Store a checkpoint and the key outside of this server: whoever has them can prove every later change.";

  constructor() {
    super();
    this.checked = { text: "", isGood: false };
  }

  protected override async load(): Promise<void> {
    const { api } = this.session;
    this.earlier = undefined;
    [this.note, this.key, this.rotations] = await Promise.all([api.text("/log/checkpoint"), api.text("/log/key"), api.text("/log/key/rotations")]);
    try {
      this.checkpoint = await openCheckpoint(this.note, this.key);
      this.checked = { text: "The signature was verified in this browser, with the key below.", isGood: true };
    } catch (error) {
      this.checkpoint = undefined;
      this.checked = { text: `The signature was not verified: ${error instanceof Error ? error.message : String(error)}`, isGood: false };
    }
  }

  private async compare(event: SubmitEvent): Promise<void> {
    const { earlier = "", key = "" } = fieldsOf(event);
    await this.attempt(async () => {
      try {
        this.earlier = await this.continuity(`${earlier.trimEnd()}\n`, key || this.key);
      } catch (error) {
        this.earlier = { text: error instanceof Error ? error.message : String(error), isGood: false };
      }
    });
  }

  private async continuity(note: string, key: string): Promise<{ text: string; isGood: boolean }> {
    const old = await openCheckpoint(note, key);
    const now = this.checkpoint;
    if (!now) return { text: "The present checkpoint is not verified.", isGood: false };
    if (old.origin !== now.origin) return { text: `The checkpoint is one of another log: ${old.origin}`, isGood: false };
    if (old.size > now.size) return { text: `The log had ${old.size} events and has ${now.size} now: events were removed.`, isGood: false };
    const { consistency } = await this.session.api.get<{ consistency: string[] }>("/log/consistency", { from: old.size, to: now.size });
    await verifyConsistency({ from: old, to: now, hashes: hashesOf(consistency, "the consistency proof") });
    return { text: `The log continues this checkpoint: its ${old.size} events are unchanged, and ${now.size - old.size} were added.`, isGood: true };
  }

  private async evidence(): Promise<void> {
    await this.attempt(async () => {
      const response = await this.session.api.fetch("GET", "/events/export");
      const events = await response.blob();
      save(events, "events.jsonl");
      save(new Blob([this.note], { type: "text/plain" }), "checkpoint.txt");
      save(new Blob([this.key], { type: "text/plain" }), "key.txt");
    }, "Saved: events.jsonl, checkpoint.txt, key.txt. A self-contained archive with a proof of each event is made by `audit-server log export`.");
  }

  protected override content(): TemplateResult {
    const { checkpoint, checked, earlier } = this;
    const outcome = ({ text, isGood }: { text: string; isGood: boolean }): TemplateResult =>
      html`<div class="notice ${isGood ? "good" : "bad"}" role=${isGood ? "status" : "alert"}>${isGood ? "✓" : "✗"} ${text}</div>`;
    return html`
      ${outcome(checked)}
      ${checkpoint
        ? html`<div class="cards">
            <div class="card"><b>${new Intl.NumberFormat().format(checkpoint.size)}</b><span class="muted">events</span></div>
          </div>
          <p>Root <code>${toHex(checkpoint.root)}</code><br />Log <code>${checkpoint.origin}</code></p>`
        : nothing}
      <h3>Checkpoint</h3><pre tabindex="0">${this.note}</pre>
      <h3>Key</h3><pre tabindex="0">${this.key}</pre>
      ${this.rotations.trim() ? html`<h3>Rotations of the key</h3><pre tabindex="0">${this.rotations}</pre>` : nothing}
      <div class="bar"><button @click=${() => this.reload()}>Read again</button><button @click=${() => this.evidence()}>Download events, checkpoint and key</button></div>
      <h3>Does the log continue an earlier checkpoint?</h3>
      <form class="inline" @submit=${this.compare}>
        <label class="wide">Earlier checkpoint<textarea name="earlier" rows="6" required spellcheck="false"></textarea></label>
        <label class="wide">Key that you stored (empty: the one above)<input name="key" spellcheck="false" /></label>
        <button class="primary">Verify in this browser</button>
      </form>
      ${earlier ? outcome(earlier) : nothing}
    `;
  }
}
