import { html, nothing, type TemplateResult } from "lit";
import { Api, optional } from "../../shared/api.js";
import type { Alert } from "../alerts/alert.js";
import { hashOf } from "../address.js";
import { numbers, t } from "../languages/index.js";
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
  protected get heading(): string {
    return t.sections.webhooks;
  }
  protected get text(): string {
    return t.webhooks.text;
  }

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
      this.reveal(t.webhooks.newSecret, webhook.secret);
    };
    if (await this.change(create, t.webhooks.created)) form.reset();
  }

  private rotate(webhook: Webhook): void {
    this.ask({
      title: t.webhooks.rotateTitle, verb: t.webhooks.rotate,
      text: t.webhooks.rotateText(webhook.url),
      run: async () => {
        const rotated = await this.session.api.send<{ webhook: Webhook }>("POST", `/alerts/webhooks/${webhook.id}/rotate-secret`);
        this.reveal(t.webhooks.rotatedSecret, rotated.webhook.secret);
      },
    });
  }

  private confirmRemoval(webhook: Webhook): void {
    this.ask({
      title: t.webhooks.deleteTitle, verb: t.delete, text: t.webhooks.deleteText(webhook.url),
      run: () => this.session.api.send("DELETE", `/alerts/webhooks/${webhook.id}`),
    });
  }

  private toggle(webhook: Webhook): void {
    const set = (enabled: boolean): Promise<unknown> => this.session.api.send("PATCH", `/alerts/webhooks/${webhook.id}`, { enabled });
    if (!webhook.enabled) return void this.change(() => set(true), t.webhooks.wasEnabled);
    this.ask({
      title: t.webhooks.disableTitle, verb: t.webhooks.disable,
      text: t.webhooks.disableText(webhook.url),
      run: () => set(false),
    });
  }

  private test(webhook: Webhook): void {
    const notice = t.webhooks.queued;
    void this.attempt(() => this.session.api.send("POST", `/alerts/webhooks/${webhook.id}/test`)).then((isDone) => {
      if (!isDone) return;
      if (this.opened?.id === webhook.id) void this.loadNewest(notice);
      else this.go({ webhook: webhook.id, delivery: undefined }, notice);
    });
  }

  protected override content(): TemplateResult {
    if (!this.session.isMaster) return html`<p class="notice">${t.webhooks.needMaster}</p>`;
    if (this.opened && this.deliveryId) return html`<p><a href=${this.hrefOf({ delivery: undefined })}>${t.webhooks.allDeliveries(this.opened.url)}</a></p> ${this.delivery ? this.deliveryOf(this.delivery, this.opened) : nothing}`;
    const rows = this.webhooks.map((webhook) => html`<tr>
      <td><span class="badge ${webhook.enabled ? "on" : ""}">${t.webhooks.states[webhook.enabled ? "enabled" : "disabled"]}</span></td>
      <th scope="row">${webhook.url}</th>
      <td>${time(webhook.created_at)}</td>
      <td class="actions">
        <button @click=${() => this.go({ webhook: webhook.id, delivery: undefined })}>${t.webhooks.deliveries}</button>
        <button ?disabled=${!webhook.enabled} @click=${() => this.test(webhook)}>${t.webhooks.test}</button>
        <button @click=${() => this.toggle(webhook)}>${webhook.enabled ? t.webhooks.disable : t.webhooks.enable}</button>
        <button @click=${() => this.rotate(webhook)}>${t.webhooks.rotateSecret}</button>
        <button class="danger" @click=${() => this.confirmRemoval(webhook)}>${t.delete}</button>
      </td>
    </tr>`);
    return html`${this.table([t.state, t.webhooks.url, t.created, ""], rows, t.webhooks.none)}
      <form class="inline" @submit=${this.onSubmit}>
        <label class="wide">${t.webhooks.newUrl}<input name="url" type="url" required maxlength="2048" placeholder="https://example.com/alerts" /></label>
        <button class="primary">${t.webhooks.create}</button>
      </form>
      ${this.opened ? this.deliveryTable(this.opened) : nothing}`;
  }

  private retry(delivery: Delivery): void {
    void this.change(() => this.session.api.send("POST", `/alerts/deliveries/${delivery.id}/retry`), t.webhooks.attemptNow);
  }

  private deliveryOf(opened: OpenedDelivery, webhook: Webhook): TemplateResult {
    const { delivery } = opened;
    return html`<h3>${t.webhooks.deliveryOf(delivery.type)}</h3>
      ${deliveryPage(opened, webhook, hashOf("alerts", `alert=${delivery.alert_id ?? ""}`, this.live))}
      <div class="bar"><button @click=${() => this.loadNewest()}>${t.refresh}</button> <button ?disabled=${!webhook.enabled || this.isBusy} @click=${() => this.retry(delivery)}>${t.webhooks.retry}</button></div>
      <h3>${t.attempts}</h3>
      ${this.table([t.webhooks.attempt, t.webhooks.started, t.webhooks.took, t.response, t.webhooks.wrong], attemptRows(delivery), t.webhooks.noAttempts)}`;
  }

  private deliveryTable(webhook: Webhook): TemplateResult {
    const outcome = ({ number, status_code, error, duration_ms, started_at }: Attempt): TemplateResult =>
      html`<div title=${started_at}>${number}. ${status_code ?? error ?? "–"} <span class="muted">${numbers.format(duration_ms)} ms</span></div>`;
    const rows = this.deliveries.map((delivery) => html`<tr>
      <td><span class="badge ${delivery.status}">${t.delivery.statuses[delivery.status] ?? delivery.status}</span></td>
      <th scope="row"><a href=${this.hrefOf({ delivery: delivery.id })}>${delivery.type}</a></th>
      <td>${time(delivery.created_at)}</td>
      <td>${delivery.attempts.length > 0 ? delivery.attempts.map(outcome) : t.webhooks.noAttemptYet}</td>
      <td>${time(delivery.next_attempt_at)}</td>
      <td class="actions"><button @click=${() => this.retry(delivery)}>${t.webhooks.retry}</button></td>
    </tr>`);
    return html`<h3>${t.webhooks.deliveriesTo(webhook.url)}</h3>
      <div class="bar"><button @click=${() => this.loadNewest()}>${t.refresh}</button></div>
      ${this.table([t.status, t.webhooks.message, t.created, t.attempts, t.nextAttempt, ""], rows, t.webhooks.nothingSent)}
      ${this.cursor ? html`<p><button @click=${() => this.attempt(() => this.readDeliveries(this.apiUntil(this.loading.signal), webhook, this.cursor ?? undefined))}>${t.webhooks.older}</button></p>` : nothing}`;
  }
}
