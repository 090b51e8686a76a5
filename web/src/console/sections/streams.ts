import { html, type TemplateResult } from "lit";
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
  protected readonly heading = "Streams";
  protected readonly text = "A client without an account sends events to a stream, which its token names. A claim moves them into this project.";

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
      title: "Claim the stream", verb: "Claim",
      text: `Its ${this.info?.event_count ?? 0} events move into the project ${this.session.project?.name ?? ""}, redacted by its rules. The token can never be used again.`,
      run: async () => {
        await this.session.api.send("POST", "/streams/claim", { claim_token: token });
        this.info = undefined;
      },
    });
  }

  protected override content(): TemplateResult {
    if (!this.session.isMaster) return html`<p class="notice">Claiming needs a master key.</p>`;
    const { info } = this;
    return html`<form class="inline" @submit=${this.look}>
        <label class="wide">Token of the stream<input name="token" required pattern="[0-9a-fA-F\\-]{36}" placeholder="4ab83020-1741-43cc-9dd1-29bbef9bdf1c" /></label>
        <button class="primary">Look up</button>
      </form>
      ${info
        ? html`<p>${info.event_count} events, ${info.status}, created ${time(info.created_at)}, ends ${time(info.expires_at)}</p>
            <button class="primary" ?disabled=${info.status !== "active"} @click=${() => this.claim()}>Claim into this project</button>`
        : ""}`;
  }
}
