import { css, html, nothing, type TemplateResult } from "lit";
import { Api, isAbort } from "../../shared/api.js";
import { copyText } from "../../shared/copy.js";
import type { AuditEvent, EventPage } from "../../shared/types.js";
import { follow } from "../../viewer/live-feed.js";
import { t } from "../languages/index.js";
import { nameOf, Section, time } from "../section.js";

interface Key {
  name: string;
  project_id?: string;
  environment?: string;
  revokedAt: string | null;
}

const EXAMPLE = {
  action: "document.viewed", category: "access", tenant_id: "acme",
  actor: { id: "user_1", type: "user", name: "Jane Doe" }, target: { id: "doc_7", type: "document", name: "Roadmap" },
};

/** The first steps in a project without events: a key, a request, and what comes next. The feed says when the first event is there. */
export class FirstSteps extends Section {
  static override properties = { keys: { state: true }, key: { state: true }, first: { state: true }, copy: { state: true } };
  static override styles = [
    Section.styles,
    css`
      :host { padding: 0; overflow: visible; }
      ol { display: grid; gap: 10px; padding: 0; list-style: none; counter-reset: step; }
      li { counter-increment: step; padding: 10px 14px; border: 1px solid var(--border); border-inline-start: 4px solid var(--control); border-radius: var(--radius); min-width: 0; }
      li.done { border-inline-start-color: var(--good); background: var(--good-bg); }
      li > h3 { margin: 0 0 6px; } li > h3::before { content: counter(step) ". "; } li.done > h3 { color: var(--good); }
      li p:last-child { margin-bottom: 0; }
    `,
  ];
  /** The keys that send to this project and environment. */
  declare private keys: Key[];
  /** The key that was created here. It is in this element alone, and gone with it. */
  declare private key: string;
  /** The first event of a client. */
  declare private first: AuditEvent | undefined;
  /** Whether the line was copied, in words. */
  declare private copy: string;
  protected get heading(): string {
    return t.firstSteps.title;
  }
  protected get text(): string {
    return t.firstSteps.text;
  }

  constructor() {
    super();
    this.keys = [];
    this.key = "";
    this.copy = "";
  }

  protected override reload(): Promise<void> {
    this.key = "";
    this.first = undefined;
    return super.reload();
  }

  protected override async load(api: Api, signal: AbortSignal): Promise<void> {
    const { project, environment } = this.session;
    const { keys } = await api.get<{ keys: Key[] }>("/keys");
    this.keys = keys.filter((key) => !key.revokedAt && key.environment === environment && (!project || key.project_id === project.id));
    void this.waitForFirst(signal);
  }

  /** Follows the feed until the first event of a client is there. */
  private async waitForFirst(signal: AbortSignal): Promise<void> {
    const ended = new AbortController();
    signal.addEventListener("abort", () => ended.abort(), { once: true });
    const api = new Api({ ...this.session.api.connection, withoutOwnEvents: true }, ended.signal);
    const look = async (): Promise<void> => {
      try {
        const { events } = await api.get<EventPage>("/events", { limit: 1 });
        if (events.length === 0 || ended.signal.aborted) return;
        [this.first] = events;
        ended.abort();
      } catch (error) {
        // The next event, or the next connection, looks again.
        if (!isAbort(error)) return;
      }
    };
    const listener = {
      arrived: () => void look(),
      // What was stored before the feed began.
      connected: (isConnected: boolean) => void (isConnected && look()),
      lost: () => undefined,
      ended: () => undefined,
    };
    await follow(api, {}, listener, ended.signal);
  }

  private createKey(): void {
    const { project, environment, api } = this.session;
    void this.change(async () => {
      const body = { type: "project", project_id: project?.id, name: "first key", environment, scopes: ["events:write"] };
      this.key = (await api.send<{ key: string }>("POST", "/keys", body)).key;
    });
  }

  private get line(): string {
    const credential = this.key || "$PROJECT_KEY";
    return `curl -sS ${location.origin}/api/v1/events -H "Authorization: Bearer ${credential}" -H 'Content-Type: application/json' -d '${JSON.stringify(EXAMPLE)}'`;
  }

  private async copyLine(): Promise<void> {
    this.copy = (await copyText(this.line)) ? t.copied : t.firstSteps.notCopied;
  }

  protected override content(): TemplateResult {
    return html`<ol>${this.keyStep()} ${this.eventStep()} ${this.nextStep()}</ol>`;
  }

  private keyStep(): TemplateResult {
    const { isMaster, environment } = this.session;
    const { length } = this.keys;
    const existing = length === 0 ? nothing : html`<p>${length === 1 ? t.firstSteps.oneKey(this.keys[0]?.name ?? "") : t.firstSteps.keys(length)} ${t.firstSteps.shownOnce}</p>`;
    const own = html`<p>${t.firstSteps.ownKey}</p>`;
    const create = html`<p><button class=${length === 0 ? "primary" : ""} ?disabled=${this.isBusy} @click=${() => this.createKey()}>${t.firstSteps.createKey(t.environments[environment] ?? environment)}</button></p>`;
    return html`<li class=${this.key || length > 0 ? "done" : ""}><h3>${t.firstSteps.key}</h3>
      ${this.key ? html`<p>${t.firstSteps.keyBelow}</p><pre tabindex="0">${this.key}</pre>` : html`${existing} ${isMaster ? create : own}`}
    </li>`;
  }

  private eventStep(): TemplateResult {
    const { first } = this;
    return html`<li class=${first ? "done" : ""}><h3>${t.firstSteps.event}</h3>
      ${this.key ? nothing : html`<p>${t.firstSteps.variable(html`<code>PROJECT_KEY</code>`)}</p>`}
      <pre tabindex="0">${this.line}</pre>
      <p><button @click=${() => this.copyLine()}>${t.copy}</button> <span role="status">${this.copy}</span></p>
      <p role="status">${first
        ? t.firstSteps.arrived(html`<a href=${this.linkTo("events", { event: first.id })}>${first.action}</a>`, nameOf(first.actor ?? {}), time(first.received_at))
        : html`<span class="spinner">${t.firstSteps.waiting}</span>`}</p>
    </li>`;
  }

  private nextStep(): TemplateResult {
    return html`<li><h3>${t.firstSteps.next}</h3>
      <p>${t.firstSteps.nextText(this.linkTo("redaction", {}), this.linkTo("rules", {}), this.linkTo("webhooks", {}))}</p>
    </li>`;
  }
}
