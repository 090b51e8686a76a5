import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { type Api, optional } from "../shared/api.js";
import { copyText } from "../shared/copy.js";
import { formatJson, inlineJson } from "../shared/exact-json.js";
import { theme } from "../shared/theme.js";
import type { ReadableAction } from "../shared/sentence.js";
import type { AuditEvent, Change, Json, Party } from "../shared/types.js";
import { visible } from "../shared/visible.js";
import { icon, readable } from "./action-labels.js";
import type { ValueField } from "./filter.js";
import type { Formats } from "./format.js";
import { erasedFields } from "./proof.js";

/** The link to a page about the actor or a target of an event. */
export type PageOf = (kind: "actor" | "target", id: string, tenantId: string) => string;

/** Everything about one event. Fires `filter-by` with `{field, value}`, `step` with -1 or 1, and `close`. */
export class EventDetails extends LitElement {
  static override properties = {
    event: { attribute: false },
    api: { attribute: false },
    pinnedKey: { attribute: false },
    formats: { attribute: false },
    label: { attribute: false },
    pageOf: { attribute: false },
    isRaw: { state: true },
    copied: { state: true },
    erasedAt: { state: true },
  };
  declare event: AuditEvent;
  declare api: Api;
  declare pinnedKey: string | undefined;
  declare formats: Formats;
  /** How people read the action. */
  declare label: ReadableAction | undefined;
  /** Where the page has pages about actors and targets. */
  declare pageOf: PageOf | undefined;
  declare private isRaw: boolean;
  declare private copied: string;
  /** When its parts were erased, where the reader may know it. */
  declare private erasedAt: string[];
  /** The fields that were erased, by path. */
  private erased = new Set<string>();

  static override styles = [
    theme,
    css`
      :host { display: flex; flex-direction: column; min-width: 0; min-height: 0; background: var(--bg); overflow-wrap: anywhere; }
      header { display: flex; gap: 8px; align-items: flex-start; padding: 12px 16px; border-bottom: 1px solid var(--border); }
      header > div:first-child { flex: 1; min-width: 0; }
      h3 { margin: 0; font-size: 1.12em; }
      /* Names have up to 512 characters. All of them are below. */
      header > div:first-child > * { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; overflow: hidden; }
      .buttons { display: flex; gap: 4px; }
      .body { flex: 1; overflow: auto; padding: 4px 16px 20px; min-height: 0; }
      section { margin-top: 16px; }
      h4 { margin: 0 0 6px; font-size: 0.86em; font-weight: 600; color: var(--muted); }
      dl { display: grid; grid-template-columns: fit-content(45%) minmax(0, 1fr); gap: 3px 12px; margin: 0; }
      dt { color: var(--muted); min-width: 92px; }
      dd { margin: 0; min-width: 0; white-space: pre-wrap; }
      button.value { min-height: 0; padding: 0 3px; margin-inline-start: -3px; border: 0; background: none; text-align: start;
        white-space: pre-wrap; text-decoration: underline dotted; text-underline-offset: 3px; display: inline; }
      table { width: 100%; border-collapse: collapse; table-layout: fixed; }
      th, td { padding: 5px 8px; text-align: start; vertical-align: top; border: 1px solid var(--border); }
      th { font-weight: 600; background: var(--surface); }
      td { white-space: pre-wrap; }
      td.before { background: var(--bad-bg); } td.after { background: var(--good-bg); }
      pre { margin: 8px 0 0; padding: 10px; overflow: auto; background: var(--surface); border: 1px solid var(--border);
        border-radius: var(--radius); white-space: pre-wrap; max-height: 60vh; }
      .notice { margin-top: 12px; }
      @media print {
        .buttons, section:has(> button) > button { display: none; }
        .body { overflow: visible; }
        header > div:first-child > * { -webkit-line-clamp: none; }
        pre { max-height: none; }
      }
    `,
  ];

  constructor() {
    super();
    this.isRaw = false;
    this.copied = "";
    this.erasedAt = [];
  }

  override willUpdate(changed: PropertyValues): void {
    if (!changed.has("event")) return;
    this.copied = "";
    this.erased = new Set(erasedFields(this.event));
    this.erasedAt = [];
    if (this.event.erased && !this.api.isViewer) void this.readErasures(this.event, this.event.erased);
  }

  /** Reads the times of erasures, which the log has. */
  private async readErasures(event: AuditEvent, erased: { seq: number }[]): Promise<void> {
    const found = await optional(this.api.get<{ removals: { seq: number; at: string }[] }>("/log/removals")).catch(() => undefined);
    const times = found?.removals.filter(({ seq }) => erased.some((erasure) => erasure.seq === seq)).map(({ at }) => at);
    if (event === this.event) this.erasedAt = times ?? [];
  }

  /** Moves the focus to the heading, for readers who came here by keyboard. */
  override focus(): void {
    this.renderRoot.querySelector<HTMLElement>("h3")?.focus();
  }

  override render(): TemplateResult {
    const { event, formats, label } = this;
    const { messages: t } = formats;
    const { actor, target, targets, context, outcome } = event;
    return html`
      <header part="details-header">
        <div>
          <h3 tabindex="-1">${label ? html`${icon(label.icon)} ${readable(label, event)}` : (event.action ?? event.id)}</h3>
          <span class="muted">${this.sentence()}</span>
        </div>
        <div class="buttons">
          <button class="plain icon" aria-label=${t.previousEvent} title=${t.previousEvent} @click=${() => this.step(-1)}>↑</button>
          <button class="plain icon" aria-label=${t.nextEvent} title=${t.nextEvent} @click=${() => this.step(1)}>↓</button>
          <button class="plain icon" aria-label=${t.close} title=${t.close} @click=${() => this.dispatchEvent(new CustomEvent("close"))}>✕</button>
        </div>
      </header>
      <div class="body" tabindex="0" role="group" aria-label=${t.details}>
        <section aria-label=${t.proof.title}>
          <audit-log-proof .event=${event} .api=${this.api} .pinnedKey=${this.pinnedKey} .formats=${formats} exportparts="proof"></audit-log-proof>
        </section>
        ${event.redacted ? html`<p class="notice">${t.redacted}</p>` : nothing}
        ${event.erased ? html`<p class="notice">${t.erasedParts(this.erasedAt.map((at) => formats.full(at)).join(", "))}</p>` : nothing}
        <section>
          <dl>
            ${this.row(t.occurredAt, formats.full(event.occurred_at))} ${this.row(t.receivedAt, formats.full(event.received_at))}
            ${this.row(t.claimedAt, event.claimed_at && formats.full(event.claimed_at))}
            ${this.row(t.category, event.category && (t.categories[event.category] ?? event.category), "category", event.category)}
            ${this.row(t.action, event.action, "action")} ${this.row(t.outcome, outcome && (t.outcomes[outcome] ?? outcome), "outcome", outcome)}
            ${this.row(t.tenant, event.tenant_id, "tenant_id")}
          </dl>
        </section>
        ${this.changes(event.changes)}
        ${this.section(t.actor, [
          this.rowOf("actor.name", t.name, actor?.name), this.rowOf("actor.id", t.id, actor?.id, "actor_id"), this.rowOf("actor.email", t.email, actor?.email),
          this.row(t.type, actor?.type && (t.actorTypes[actor.type] ?? actor.type), "actor_type", actor?.type),
          this.rowOf("actor.on_behalf_of", t.onBehalfOf, nameOf(actor?.on_behalf_of)),
        ], "actor.", actor, "actor")}
        ${this.section(t.target, [
          this.rowOf("target.name", t.name, target?.name), this.rowOf("target.id", t.id, target?.id, "target_id"), this.row(t.type, target?.type, "target_type"),
          this.rowOf("targets", t.furtherTargets, targets?.slice(1).map(nameOf).filter(Boolean).join(", ")),
        ], "target", target ?? targets?.[0] ?? undefined, "target")}
        ${this.section(t.context, [
          this.rowOf("context.ip_address", t.ipAddress, context?.ip_address, "ip_address"), this.rowOf("context.location", t.location, context?.location),
          this.rowOf("context.user_agent", t.userAgent, context?.user_agent), this.rowOf("context.session_id", t.session, context?.session_id, "session_id"),
        ], "context.", context)}
        ${this.section(t.metadata, this.erased.has("metadata") ? [this.rowOf("metadata", t.metadata, "")] : metadataRows(event.metadata).map(([name, value]) => this.row(name, value)), "metadata", event.metadata)}
        <section>
          <dl>${this.row(t.id, event.id)} ${this.row(t.contentHash, event.content_hash)}</dl>
        </section>
        <section>
          <button aria-expanded=${this.isRaw} @click=${() => (this.isRaw = !this.isRaw)}>${this.isRaw ? t.hideJson : t.rawJson}</button>
          <button @click=${() => this.copy(formatJson(event as unknown as Json))}>${this.copied ? t.copied : t.copyJson}</button>
          <span class="visually-hidden" role="status">${this.copied}</span>
          ${this.isRaw ? html`<pre tabindex="0" aria-label=${t.rawJson}>${formatJson(event as unknown as Json)}</pre>` : nothing}
        </section>
      </div>
    `;
  }

  private sentence(): string {
    const { actor, target, occurred_at } = this.event;
    const who = actor?.name ?? actor?.id;
    const what = target?.name ?? target?.id;
    const when = this.formats.relative(occurred_at, Date.now());
    return visible([what ? `${who ?? "?"} → ${what}` : who, when].filter(Boolean).join(" · "));
  }

  private step(direction: number): void {
    this.dispatchEvent(new CustomEvent("step", { detail: direction }));
  }

  /** Rows, where the event has a value, or had one below the prefix. */
  private section(title: string, rows: unknown[], prefix: string, value: (object & { id?: string }) | undefined, kind?: "actor" | "target"): TemplateResult | typeof nothing {
    const isErased = [...this.erased].some((path) => path.startsWith(prefix));
    const page = kind && value?.id ? this.pageOf?.(kind, value.id, this.event.tenant_id) : undefined;
    const heading = page ? html`<a href=${page}>${title}</a>` : title;
    return isErased || (value && Object.keys(value).length > 0) ? html`<section><h4>${heading}</h4><dl>${rows}</dl></section>` : nothing;
  }

  /** A line with the value of a field that can be erased. */
  private rowOf(path: string, label: string, value: string | undefined, field?: ValueField): TemplateResult | typeof nothing {
    return this.erased.has(path) ? html`<dt>${label}</dt><dd class="muted">${this.formats.messages.erased}</dd>` : this.row(label, value, field);
  }

  /** A line with a value; one that is a filter can be clicked. */
  private row(label: string, value: string | undefined, field?: ValueField, filterValue = value): TemplateResult | typeof nothing {
    if (value === undefined || value === "") return nothing;
    const { messages: t } = this.formats;
    const detail = { field, value: filterValue };
    const shown = visible(value);
    const content = field
      ? html`<button class="value" title=${t.filterBy(label, shown)} @click=${() => this.dispatchEvent(new CustomEvent("filter-by", { detail }))}>${shown}</button>`
      : shown;
    return html`<dt>${visible(label)}</dt><dd>${content}</dd>`;
  }

  private changes(changes: Change[] | undefined): TemplateResult | typeof nothing {
    const { messages: t } = this.formats;
    if (this.erased.has("changes")) return this.section(t.changes, [this.rowOf("changes", t.changes, "")], "changes", undefined);
    if (!changes || changes.length === 0) return nothing;
    const cell = (value: Json | undefined): unknown => (value === undefined ? html`<span class="muted">${t.absent}</span>` : inlineJson(value));
    return html`<section>
      <h4>${t.changes}</h4>
      <table>
        <thead><tr><th scope="col">${t.field}</th><th scope="col">${t.before}</th><th scope="col">${t.after}</th></tr></thead>
        <tbody>
          ${changes.map((change) => html`<tr><th scope="row">${visible(change.field)}</th><td class="before">${cell(change.before)}</td><td class="after">${cell(change.after)}</td></tr>`)}
        </tbody>
      </table>
    </section>`;
  }

  private async copy(text: string): Promise<void> {
    this.copied = (await copyText(text)) ? this.formats.messages.copied : "";
  }
}

/** The name of a party, with its id. */
function nameOf(party: Party | null | undefined): string {
  return [party?.name, party?.id].filter(Boolean).join(" · ");
}

/** The leaves of metadata with their dot paths. */
function metadataRows(metadata: AuditEvent["metadata"]): [string, string][] {
  const rows: [string, string][] = [];
  const visit = (path: string, value: Json): void => {
    const isBranch = typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;
    if (!isBranch) return void rows.push([path, inlineJson(value)]);
    for (const [name, inner] of Object.entries(value)) visit(path ? `${path}.${name}` : name, inner);
  };
  if (metadata) visit("", metadata);
  return rows;
}
