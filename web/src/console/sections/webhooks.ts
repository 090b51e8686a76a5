import { html, nothing, type TemplateResult } from "lit";
import { fieldsOf, Section, time } from "../section.js";

interface Webhook {
  id: string;
  url: string;
  enabled: boolean;
  secret: string;
  created_at: string;
}

interface Attempt {
  number: number;
  started_at: string;
  duration_ms: number;
  status_code: number | null;
  error: string | null;
}

interface Delivery {
  id: string;
  type: string;
  alert_id: string | null;
  status: string;
  created_at: string;
  next_attempt_at: string | null;
  attempts: Attempt[];
}

/** Webhooks with their deliveries and attempts. */
export class Webhooks extends Section {
  static override properties = { webhooks: { state: true }, opened: { state: true }, deliveries: { state: true } };
  declare private webhooks: Webhook[];
  declare private opened: Webhook | undefined;
  declare private deliveries: Delivery[];
  private cursor: string | null = null;
  protected readonly heading = "Webhooks";
  protected readonly text = "Each live alert is sent to every enabled webhook as a signed message, with retries.";

  constructor() {
    super();
    this.webhooks = [];
    this.deliveries = [];
  }

  protected override async load(): Promise<void> {
    if (!this.session.isMaster) return;
    this.webhooks = (await this.session.api.get<{ webhooks: Webhook[] }>("/alerts/webhooks")).webhooks;
    this.opened = this.webhooks.find(({ id }) => id === this.opened?.id);
    if (this.opened) await this.readDeliveries(this.opened);
  }

  private async readDeliveries(webhook: Webhook, cursor?: string): Promise<void> {
    const page = await this.session.api.get<{ deliveries: Delivery[]; cursor: string | null }>(`/alerts/webhooks/${webhook.id}/deliveries`, { cursor });
    this.deliveries = cursor ? [...this.deliveries, ...page.deliveries] : page.deliveries;
    this.cursor = page.cursor;
    this.opened = webhook;
  }

  private async onSubmit(event: SubmitEvent): Promise<void> {
    const form = event.target as HTMLFormElement;
    const body = fieldsOf(event);
    const create = async (): Promise<void> => {
      const { webhook } = await this.session.api.send<{ webhook: Webhook }>("POST", "/alerts/webhooks", body);
      this.reveal("Secret of the new webhook", webhook.secret);
    };
    if (await this.change(create, "The webhook was created.")) form.reset();
  }

  private rotate(webhook: Webhook): void {
    this.ask({
      title: "Rotate the secret", verb: "Rotate",
      text: `A new secret signs messages to ${webhook.url}. The old one also signs for 24 hours: give the new one to the receiver until then.`,
      run: async () => {
        const rotated = await this.session.api.send<{ webhook: Webhook }>("POST", `/alerts/webhooks/${webhook.id}/rotate-secret`);
        this.reveal("New secret of the webhook", rotated.webhook.secret);
      },
    });
  }

  private confirmRemoval(webhook: Webhook): void {
    this.ask({
      title: "Delete the webhook", verb: "Delete", text: `Nothing more is sent to ${webhook.url}. Its deliveries, pending ones included, are deleted too.`,
      run: () => this.session.api.send("DELETE", `/alerts/webhooks/${webhook.id}`),
    });
  }

  private toggle(webhook: Webhook): void {
    const { enabled } = webhook;
    void this.change(() => this.session.api.send("PATCH", `/alerts/webhooks/${webhook.id}`, { enabled: !enabled }), enabled ? "Disabled. Pending deliveries wait." : "Enabled.");
  }

  private test(webhook: Webhook): void {
    void this.change(async () => {
      await this.session.api.send("POST", `/alerts/webhooks/${webhook.id}/test`);
      this.opened = webhook;
    }, "A test message is queued. Refresh the deliveries to see its result.");
  }

  protected override content(): TemplateResult {
    if (!this.session.isMaster) return html`<p class="notice">Webhooks need a master key.</p>`;
    const rows = this.webhooks.map((webhook) => html`<tr>
      <td><span class="badge ${webhook.enabled ? "on" : ""}">${webhook.enabled ? "enabled" : "disabled"}</span></td>
      <th scope="row">${webhook.url}</th>
      <td>${time(webhook.created_at)}</td>
      <td class="actions">
        <button @click=${() => this.attempt(() => this.readDeliveries(webhook))}>Deliveries</button>
        <button ?disabled=${!webhook.enabled} @click=${() => this.test(webhook)}>Test</button>
        <button @click=${() => this.toggle(webhook)}>${webhook.enabled ? "Disable" : "Enable"}</button>
        <button @click=${() => this.rotate(webhook)}>Rotate secret</button>
        <button class="danger" @click=${() => this.confirmRemoval(webhook)}>Delete</button>
      </td>
    </tr>`);
    return html`${this.table(["State", "URL", "Created", ""], rows, "No webhooks yet.")}
      <form class="inline" @submit=${this.onSubmit}>
        <label class="wide">New webhook: URL<input name="url" type="url" required maxlength="2048" placeholder="https://example.com/alerts" /></label>
        <button class="primary">Create webhook</button>
      </form>
      ${this.opened ? this.deliveryTable(this.opened) : nothing}`;
  }

  private deliveryTable(webhook: Webhook): TemplateResult {
    const retry = (delivery: Delivery): void => {
      void this.change(() => this.session.api.send("POST", `/alerts/deliveries/${delivery.id}/retry`), "An attempt is made now.");
    };
    const outcome = ({ number, status_code, error, duration_ms, started_at }: Attempt): TemplateResult =>
      html`<div title=${started_at}>${number}. ${status_code ?? error ?? "–"} <span class="muted">${duration_ms} ms</span></div>`;
    const rows = this.deliveries.map((delivery) => html`<tr>
      <td><span class="badge ${delivery.status}">${delivery.status}</span></td>
      <th scope="row">${delivery.type}</th>
      <td>${time(delivery.created_at)}</td>
      <td>${delivery.attempts.length > 0 ? delivery.attempts.map(outcome) : "none yet"}</td>
      <td>${time(delivery.next_attempt_at)}</td>
      <td class="actions"><button @click=${() => retry(delivery)}>Retry</button></td>
    </tr>`);
    return html`<h3>Deliveries to ${webhook.url}</h3>
      <div class="bar"><button @click=${() => this.attempt(() => this.readDeliveries(webhook))}>Refresh</button></div>
      ${this.table(["Status", "Message", "Created", "Attempts", "Next attempt", ""], rows, "Nothing was sent yet.")}
      ${this.cursor ? html`<p><button @click=${() => this.attempt(() => this.readDeliveries(webhook, this.cursor ?? undefined))}>Show older deliveries</button></p>` : nothing}`;
  }
}
