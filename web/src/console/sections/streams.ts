import { html, type TemplateResult } from "lit";
import { numbers, t } from "../languages/index.js";
import { fieldsOf, Section, time } from "../section.js";

interface Info {
  event_count: number;
  status: string;
  created_at: string;
  expires_at: string;
}

/** Claims anonymous streams. */
export class Streams extends Section {
  static override properties = { info: { state: true }, token: { state: true } };
  declare private info: Info | undefined;
  declare private token: string;
  protected get heading(): string {
    return t.sections.streams;
  }
  protected get text(): string {
    return t.streams.text;
  }

  protected override load(): Promise<void> {
    return Promise.resolve();
  }

  private async look(event: SubmitEvent): Promise<void> {
    this.token = fieldsOf(event)["token"] ?? "";
    this.info = undefined;
    await this.attempt(async () => {
      this.info = await this.apiUntil(this.loading.signal).get<Info>(`/streams/${encodeURIComponent(this.token)}/info`);
    });
  }

  private claim(): void {
    const { token } = this;
    this.ask({
      title: t.streams.claimTitle, verb: t.streams.claim,
      text: t.streams.claimText(numbers.format(this.info?.event_count ?? 0), this.session.project?.name ?? ""),
      run: async () => {
        await this.session.api.send("POST", "/streams/claim", { claim_token: token });
        this.info = undefined;
      },
    });
  }

  protected override content(): TemplateResult {
    if (!this.session.isMaster) return html`<p class="notice">${t.streams.needMaster}</p>`;
    const { info } = this;
    return html`<form class="inline" @submit=${this.look}>
        <label class="wide">${t.streams.token}<input name="token" required pattern="[0-9a-fA-F\\-]{36}" placeholder="4ab83020-1741-43cc-9dd1-29bbef9bdf1c" /></label>
        <button class="primary">${t.streams.look}</button>
      </form>
      ${info
        ? html`<p>${t.streams.found(numbers.format(info.event_count), t.streams.statuses[info.status] ?? info.status, time(info.created_at), time(info.expires_at))}</p>
            <button class="primary" ?disabled=${info.status !== "active"} @click=${() => this.claim()}>${t.streams.claimInto}</button>`
        : ""}`;
  }
}
