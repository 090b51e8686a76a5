import { html, nothing, type TemplateResult } from "lit";
import { type Api, isAbort } from "../../shared/api.js";
import { type Checkpoint, openCheckpoint, toHex } from "../../../../clients/typescript/src/verify/index.js";
import { readMetrics } from "../../shared/metrics.js";
import { save } from "../../viewer/download.js";
import { fieldsOf, Section } from "../section.js";
import { HISTORY_CHECKPOINTS_MAX, type Noted, notesIn, type Step, verifyHistory } from "./checkpoints.js";
import { storedOutside } from "./outside.js";

/** Checkpoints that this page has read are kept up to this number, the newest ones. */
const SEEN_MAX = 20;
const NUMBERS = new Intl.NumberFormat();

/** The signed checkpoint, verified here, and whether it continues earlier ones. */
export class Log extends Section {
  static override properties = { checked: { state: true }, history: { state: true } };
  /** The outcome of the check of the signature. */
  declare private checked: { text: string; isGood: boolean };
  declare private history: Step[];
  /** The checkpoints that this page has read before the present one. */
  private seen: Noted[] = [];
  private note = "";
  private key = "";
  private rotations = "";
  private metrics = "";
  private checkpoint: Checkpoint | undefined;
  protected readonly heading = "The verifiable log";
  protected readonly text = "Every event is a leaf of a Merkle tree, and its root is signed within a second. Store a checkpoint and the key outside of this server: whoever has them can prove every later change.";

  constructor() {
    super();
    this.checked = { text: "", isGood: false };
    this.history = [];
  }

  protected override async load(api: Api, signal: AbortSignal): Promise<void> {
    const before = this.note;
    [this.note, this.key, this.rotations, this.metrics] = await Promise.all([
      api.text("/log/checkpoint"), api.text("/log/key"), api.text("/log/key/rotations"), readMetrics(signal),
    ]);
    try {
      this.checkpoint = await openCheckpoint(this.note, this.key);
      this.checked = { text: "The signature was verified in this browser, with the key below.", isGood: true };
      await this.remember(api, before, this.checkpoint);
    } catch (error) {
      if (isAbort(error)) throw error;
      this.checkpoint = undefined;
      this.checked = { text: `The signature was not verified: ${error instanceof Error ? error.message : String(error)}`, isGood: false };
    }
  }

  /** Verifies that the checkpoint continues those that the page has read before. Those of another project are forgotten. */
  private async remember(api: Api, before: string, present: Checkpoint): Promise<void> {
    const isOfLog = ({ note }: Noted): boolean => note.startsWith(`${present.origin}\n`);
    const read = { note: before, source: `read before ${new Date().toLocaleTimeString()}` };
    const seen = before && before !== this.note ? [...this.seen, read] : this.seen;
    this.seen = seen.filter(isOfLog).slice(-SEEN_MAX);
    this.history = await verifyHistory(api, this.seen, present, this.key);
  }

  private async compare(event: SubmitEvent): Promise<void> {
    const form = event.target as HTMLFormElement;
    const { earlier = "", key = "" } = fieldsOf(event);
    const files = (form.elements.namedItem("files") as HTMLInputElement).files ?? [];
    await this.attempt(async () => {
      const ofFiles = await Promise.all(Array.from(files, async (file) => notesIn(await file.text(), file.name)));
      const noted = [...notesIn(earlier, "entered"), ...ofFiles.flat()];
      if (!this.checkpoint) throw new Error("The present checkpoint is not verified.");
      if (noted.length === 0) throw new Error("Enter a checkpoint, or choose files that have some.");
      if (noted.length > HISTORY_CHECKPOINTS_MAX) throw new Error(`There are ${noted.length} checkpoints; at most ${HISTORY_CHECKPOINTS_MAX} are verified at once.`);
      this.history = await verifyHistory(this.apiUntil(this.loading.signal), [...noted, ...this.seen], this.checkpoint, key || this.key);
    });
  }

  private async evidence(): Promise<void> {
    await this.attempt(async () => {
      const response = await this.apiUntil(this.loading.signal).fetch("GET", "/events/export");
      const events = await response.blob();
      save(events, "events.jsonl");
      save(new Blob([this.note], { type: "text/plain" }), "checkpoint.txt");
      save(new Blob([this.key], { type: "text/plain" }), "key.txt");
    }, "Saved: events.jsonl, checkpoint.txt, key.txt. A self-contained archive with a proof of each event is made by `audit-server log export`.");
  }

  protected override content(): TemplateResult {
    const { checkpoint, checked } = this;
    const outcome = ({ text, isGood }: { text: string; isGood: boolean }): TemplateResult =>
      html`<div class="notice ${isGood ? "good" : "bad"}" role=${isGood ? "status" : "alert"}>${isGood ? "✓" : "✗"} ${text}</div>`;
    return html`
      ${outcome(checked)}
      ${checkpoint
        ? html`<div class="cards">
            <div class="card"><b>${NUMBERS.format(checkpoint.size)}</b><span class="muted">events</span></div>
          </div>
          <p>Root <code>${toHex(checkpoint.root)}</code><br />Log <code>${checkpoint.origin}</code></p>`
        : nothing}
      <h3>Checkpoint</h3><pre tabindex="0">${this.note}</pre>
      <h3>Key</h3><pre tabindex="0">${this.key}</pre>
      ${this.rotations.trim() ? html`<h3>Rotations of the key</h3><pre tabindex="0">${this.rotations}</pre>` : nothing}
      <div class="bar"><button @click=${() => this.reload()}>Read again</button><button @click=${() => this.evidence()}>Download events, checkpoint and key</button></div>
      <h3>History</h3>
      <p class="muted">The present checkpoint continues an earlier one if no event before it was changed, removed or inserted. Verify those that you have stored:
        a file may have several. This server keeps the latest checkpoint only, because earlier ones prove something only where nobody who can change the log can
        change them.</p>
      <ul>${storedOutside(this.note, this.metrics).map((line) => html`<li>${line}</li>`)}</ul>
      ${this.historyTable()}
      <form class="inline" @submit=${this.compare}>
        <label class="wide">Earlier checkpoints<textarea name="earlier" rows="6" spellcheck="false"></textarea></label>
        <label>Files<input name="files" type="file" multiple /></label>
        <label class="wide">Key that you stored (empty: the one above)<input name="key" spellcheck="false" /></label>
        <button class="primary">Verify in this browser</button>
      </form>
    `;
  }

  private historyTable(): TemplateResult {
    const rows = this.history.map(({ source, size, root, fault }) => html`<tr>
      <td>${size === undefined ? "–" : NUMBERS.format(size)}</td><td><code>${root.slice(0, 16)}</code></td><td>${source}</td>
      <td>${fault ? html`<div class="notice bad" role="alert">✗ ${fault}</div>` : html`<div class="notice good">✓ continued by the present checkpoint</div>`}</td>
    </tr>`);
    return this.table(["Events", "Root", "From", "Outcome"], rows, "No earlier checkpoint yet.");
  }
}
