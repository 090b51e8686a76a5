import { html, nothing, type TemplateResult } from "lit";
import { type Api, isAbort } from "../../shared/api.js";
import { type Checkpoint, openCheckpoint, toHex } from "../../../../clients/typescript/src/verify/index.js";
import { readMetrics } from "../../shared/metrics.js";
import { save } from "../../viewer/download.js";
import { locale, numbers, t } from "../languages/index.js";
import { fieldsOf, Section } from "../section.js";
import { HISTORY_CHECKPOINTS_MAX, type Noted, notesIn, type Step, verifyHistory } from "./checkpoints.js";
import { storedOutside } from "./outside.js";

/** Checkpoints that this page has read are kept up to this number, the newest ones. */
const SEEN_MAX = 20;

/** The signed checkpoint, verified here, and whether it continues earlier ones. */
export class Log extends Section {
  static override properties = { checked: { state: true }, history: { state: true } };
  /** The outcome of the check of the signature, and why it was not verified. */
  declare private checked: { isGood: boolean; fault: string } | undefined;
  declare private history: Step[];
  /** The checkpoints that this page has read before the present one. */
  private seen: Noted[] = [];
  private note = "";
  private key = "";
  private rotations = "";
  private metrics = "";
  private checkpoint: Checkpoint | undefined;
  protected get heading(): string {
    return t.log.title;
  }
  protected get text(): string {
    return t.log.text;
  }

  constructor() {
    super();
    this.history = [];
  }

  protected override async load(api: Api, signal: AbortSignal): Promise<void> {
    const before = this.note;
    [this.note, this.key, this.rotations, this.metrics] = await Promise.all([
      api.text("/log/checkpoint"), api.text("/log/key"), api.text("/log/key/rotations"), readMetrics(signal),
    ]);
    try {
      this.checkpoint = await openCheckpoint(this.note, this.key);
      this.checked = { isGood: true, fault: "" };
      await this.remember(api, before, this.checkpoint);
    } catch (error) {
      if (isAbort(error)) throw error;
      this.checkpoint = undefined;
      this.checked = { isGood: false, fault: error instanceof Error ? error.message : String(error) };
    }
  }

  /** Verifies that the checkpoint continues those that the page has read before. Those of another project are forgotten. */
  private async remember(api: Api, before: string, present: Checkpoint): Promise<void> {
    const isOfLog = ({ note }: Noted): boolean => note.startsWith(`${present.origin}\n`);
    const read = { note: before, source: t.log.readBefore(new Date().toLocaleTimeString(locale)) };
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
      const noted = [...notesIn(earlier, t.log.entered), ...ofFiles.flat()];
      if (!this.checkpoint) throw new Error(t.log.presentNotVerified);
      if (noted.length === 0) throw new Error(t.log.noCheckpoints);
      if (noted.length > HISTORY_CHECKPOINTS_MAX) throw new Error(t.log.tooMany(noted.length, HISTORY_CHECKPOINTS_MAX));
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
    }, t.log.saved);
  }

  protected override content(): TemplateResult {
    const { checkpoint, checked } = this;
    const outcome = ({ isGood, fault }: { isGood: boolean; fault: string }): TemplateResult =>
      html`<div class="notice ${isGood ? "good" : "bad"}" role=${isGood ? "status" : "alert"}>${isGood ? `✓ ${t.log.verified}` : `✗ ${t.log.notVerified(fault)}`}</div>`;
    return html`
      ${checked ? outcome(checked) : nothing}
      ${checkpoint
        ? html`<div class="cards">
            <div class="card"><b>${numbers.format(checkpoint.size)}</b><span class="muted">${t.log.events}</span></div>
          </div>
          <p>${t.log.root} <code>${toHex(checkpoint.root)}</code><br />${t.log.log} <code>${checkpoint.origin}</code></p>`
        : nothing}
      <h3>${t.log.checkpoint}</h3><pre tabindex="0">${this.note}</pre>
      <h3>${t.key}</h3><pre tabindex="0">${this.key}</pre>
      ${this.rotations.trim() ? html`<h3>${t.log.rotations}</h3><pre tabindex="0">${this.rotations}</pre>` : nothing}
      <div class="bar"><button @click=${() => this.reload()}>${t.log.readAgain}</button><button @click=${() => this.evidence()}>${t.log.download}</button></div>
      <h3>${t.log.history}</h3>
      <p class="muted">${t.log.historyText}</p>
      <ul>${storedOutside(this.note, this.metrics).map((line) => html`<li>${line}</li>`)}</ul>
      ${this.historyTable()}
      <form class="inline" @submit=${this.compare}>
        <label class="wide">${t.log.earlier}<textarea name="earlier" rows="6" spellcheck="false"></textarea></label>
        <label>${t.log.files}<input name="files" type="file" multiple /></label>
        <label class="wide">${t.log.ownKey}<input name="key" spellcheck="false" /></label>
        <button class="primary">${t.log.verify}</button>
      </form>
    `;
  }

  private historyTable(): TemplateResult {
    const rows = this.history.map(({ source, size, root, fault }) => html`<tr>
      <td>${size === undefined ? "–" : numbers.format(size)}</td><td><code>${root.slice(0, 16)}</code></td><td>${source}</td>
      <td>${fault ? html`<div class="notice bad" role="alert">✗ ${fault}</div>` : html`<div class="notice good">✓ ${t.log.continued}</div>`}</td>
    </tr>`);
    return this.table([t.events, t.log.root, t.from, t.outcome], rows, t.log.none);
  }
}
