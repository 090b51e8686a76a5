import { html, nothing, type TemplateResult } from "lit";
import { Api, optional } from "../../shared/api.js";
import type { Alert } from "../alerts/alert.js";
import { hashOf } from "../address.js";
import { fieldsOf, Section, time } from "../section.js";
import type { Session } from "../session.js";
import { type Attempt, attemptRows, type Delivery, deliveryPage, type OpenedDelivery, type Webhook } from "../webhooks/delivery.js";

/** Webhooks with their deliveries and attempts. */
export class Webhooks extends Section {
  static override properties = { webhooks: { state: true }, opened: { state: true }, deliveries: { state: true }, delivery: { state: true } };
  declare private webhooks: Webhook[];
  declare private opened: Webhook | undefined;
  declare private deliveries: Delivery[];
  /** The one delivery that is shown, instead of all. */
  declare private delivery: OpenedDelivery | undefined;
  private cursor: string | null = null;
  protected readonly heading = "Webhooks";
  protected readonly text = "Each live alert is sent to every enabled webhook as a signed message, with retries.";

  constructor() {
    super();
    this.webhooks = [];
    this.deliveries = [];
  }

  private get deliveryId(): string | undefined {
    return this.idOf("delivery", "whd");
  }

  protected override async load(api: Api, signal: AbortSignal): Promise<void> {
    if (!this.session.isMaster) return;
    this.webhooks = (await api.get<{ webhooks: Webhook[] }>("/alerts/webhooks")).webhooks;
    const opened = this.webhooks.find(({ id }) => id === this.named("webhook"));
    // The deliveries of one are not shown below the name of another.
    if (opened?.id !== this.opened?.id) this.opened = undefined;
    this.delivery = undefined;
    if (opened && this.deliveryId) this.delivery = await this.readDelivery(signal, this.deliveryId);
    else if (opened) await this.readDeliveries(api, opened);
    this.opened = opened;
  }

  private async readDeliveries(api: Api, webhook: Webhook, cursor?: string): Promise<void> {
    const page = await api.get<{ deliveries: Delivery[]; cursor: string | null }>(`/alerts/webhooks/${webhook.id}/deliveries`, { cursor });
    this.deliveries = cursor ? [...this.deliveries, ...page.deliveries] : page.deliveries;
    this.cursor = page.cursor;
  }

  /** Webhooks get alerts of the live environment, whichever the section is in. */
  private get live(): Session {
    return this.session.with({ environment: "live" });
  }

  private async readDelivery(signal: AbortSignal, id: string): Promise<OpenedDelivery> {
    const api = new Api(this.live.api.connection, signal);
    const { delivery } = await api.get<{ delivery: Delivery }>(`/alerts/deliveries/${id}`);
    const found = delivery.alert_id ? await optional(api.get<{ alert: Alert }>(`/alerts/${delivery.alert_id}`)) : undefined;
    return { delivery, alert: found?.alert };
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
    const set = (enabled: boolean): Promise<unknown> => this.session.api.send("PATCH", `/alerts/webhooks/${webhook.id}`, { enabled });
    if (!webhook.enabled) return void this.change(() => set(true), "Enabled.");
    this.ask({
      title: "Disable the webhook", verb: "Disable",
      text: `Alerts that fire from now on are not sent to ${webhook.url}, and not later either. Pending deliveries wait until it is enabled.`,
      run: () => set(false),
    });
  }

  private test(webhook: Webhook): void {
    const notice = "A test message is queued. Refresh the deliveries to see its result.";
    void this.attempt(() => this.session.api.send("POST", `/alerts/webhooks/${webhook.id}/test`)).then((isDone) => {
      if (!isDone) return;
      if (this.opened?.id === webhook.id) void this.loadNewest(notice);
      else this.go({ webhook: webhook.id, delivery: undefined }, notice);
    });
  }

  protected override content(): TemplateResult {
    if (!this.session.isMaster) return html`<p class="notice">Webhooks need a master key.</p>`;
    if (this.opened && this.deliveryId) return html`<p><a href=${this.hrefOf({ delivery: undefined })}>All deliveries to ${this.opened.url}</a></p> ${this.delivery ? this.deliveryOf(this.delivery, this.opened) : nothing}`;
    const rows = this.webhooks.map((webhook) => html`<tr>
      <td><span class="badge ${webhook.enabled ? "on" : ""}">${webhook.enabled ? "enabled" : "disabled"}</span></td>
      <th scope="row">${webhook.url}</th>
      <td>${time(webhook.created_at)}</td>
      <td class="actions">
        <button @click=${() => this.go({ webhook: webhook.id, delivery: undefined })}>Deliveries</button>
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

  private retry(delivery: Delivery): void {
    void this.change(() => this.session.api.send("POST", `/alerts/deliveries/${delivery.id}/retry`), "An attempt is made now.");
  }

  private deliveryOf(opened: OpenedDelivery, webhook: Webhook): TemplateResult {
    const { delivery } = opened;
    return html`<h3>Delivery of ${delivery.type}</h3>
      ${deliveryPage(opened, webhook, hashOf("alerts", `alert=${delivery.alert_id ?? ""}`, this.live))}
      <div class="bar"><button @click=${() => this.loadNewest()}>Refresh</button> <button ?disabled=${!webhook.enabled || this.isBusy} @click=${() => this.retry(delivery)}>Retry</button></div>
      <h3>Attempts</h3>
      ${this.table(["Attempt", "Started", "Took", "Response", "What was wrong"], attemptRows(delivery), "None yet.")}`;
  }

  private deliveryTable(webhook: Webhook): TemplateResult {
    const outcome = ({ number, status_code, error, duration_ms, started_at }: Attempt): TemplateResult =>
      html`<div title=${started_at}>${number}. ${status_code ?? error ?? "–"} <span class="muted">${duration_ms} ms</span></div>`;
    const rows = this.deliveries.map((delivery) => html`<tr>
      <td><span class="badge ${delivery.status}">${delivery.status}</span></td>
      <th scope="row"><a href=${this.hrefOf({ delivery: delivery.id })}>${delivery.type}</a></th>
      <td>${time(delivery.created_at)}</td>
      <td>${delivery.attempts.length > 0 ? delivery.attempts.map(outcome) : "none yet"}</td>
      <td>${time(delivery.next_attempt_at)}</td>
      <td class="actions"><button @click=${() => this.retry(delivery)}>Retry</button></td>
    </tr>`);
    return html`<h3>Deliveries to ${webhook.url}</h3>
      <div class="bar"><button @click=${() => this.loadNewest()}>Refresh</button></div>
      ${this.table(["Status", "Message", "Created", "Attempts", "Next attempt", ""], rows, "Nothing was sent yet.")}
      ${this.cursor ? html`<p><button @click=${() => this.attempt(() => this.readDeliveries(this.apiUntil(this.loading.signal), webhook, this.cursor ?? undefined))}>Show older deliveries</button></p>` : nothing}`;
  }
}
