import { css, html, nothing, type TemplateResult } from "lit";
import type { Api } from "../../shared/api.js";
import { ICONS } from "../../shared/icons.js";
import { fill } from "../../shared/sentence.js";
import type { AuditEvent } from "../../shared/types.js";
import { visible } from "../../shared/visible.js";
import { icon } from "../../viewer/action-labels.js";
import { t } from "../languages/index.js";
import { fieldsOf, Section } from "../section.js";

interface ActionText {
  label: string;
  template: string | null;
}

interface ListedAction {
  action: string;
  seen: boolean;
  label: { icon: string | null; languages: Record<string, ActionText> } | null;
}

/** A language in the form. */
interface Row {
  tag: string;
  label: string;
  template: string;
}

/** The languages of a form without a label. */
const LANGUAGES = ["en", "de"];

/** The actions of a project, and how people read them. */
export class Actions extends Section {
  static override properties = { actions: { state: true }, cursor: { state: true }, counts: { state: true }, rows: { state: true }, rowsOf: { state: true }, newest: { state: true } };
  static override styles = [Section.styles, css`.preview { flex: 1 1 100%; max-width: none; margin: 0 0 8px; } td svg { vertical-align: -2px; }`];
  declare private actions: ListedAction[];
  /** Of the next page. */
  declare private cursor: string | null;
  declare private counts: Map<string, number>;
  declare private rows: Row[];
  /** The project and the action that they are of. */
  declare private rowsOf: string;
  /** The newest event of the action in the form. */
  declare private newest: AuditEvent | undefined;
  protected get heading(): string {
    return t.sections.actions;
  }
  protected get text(): string {
    return t.actionLabels.text;
  }

  constructor() {
    super();
    this.actions = [];
    this.cursor = null;
    this.counts = new Map();
    this.rows = [];
    this.rowsOf = "";
  }

  protected override async load(api: Api, signal: AbortSignal): Promise<void> {
    const page = await api.get<{ actions: ListedAction[]; cursor: string | null }>("/actions", { cursor: this.named("after") });
    this.actions = page.actions;
    this.cursor = page.cursor;
    await this.loadForm(api);
    this.counts = new Map();
    for (const { action, seen } of page.actions) if (seen) void this.count(api, action, signal);
  }

  /** The list does not wait for the numbers, and is shown without those that cannot be read. */
  private async count(api: Api, action: string, signal: AbortSignal): Promise<void> {
    const found = await api.get<{ total: number }>("/events/summary", { action }).catch(() => undefined);
    if (found && !signal.aborted) this.counts = new Map(this.counts).set(action, found.total);
  }

  /** The action in the form, which the address names. */
  private get draft(): ListedAction | undefined {
    const action = this.named("action");
    if (!action) return undefined;
    return this.actions.find((listed) => listed.action === action) ?? { action, seen: false, label: null };
  }

  /** What the form is of; empty without one. */
  private get formOf(): string {
    return this.draft ? `${this.session.project?.id} ${this.draft.action}` : "";
  }

  private async loadForm(api: Api): Promise<void> {
    const { draft, formOf } = this;
    // What was entered stays when the list is read again.
    if (this.rowsOf !== formOf) {
      const languages = draft?.label?.languages ?? {};
      const rows = Object.entries(languages).map(([tag, { label, template }]) => ({ tag, label, template: template ?? "" }));
      this.rows = rows.length > 0 ? rows : LANGUAGES.map((tag) => ({ tag, label: "", template: "" }));
      this.rowsOf = formOf;
      this.newest = undefined;
    }
    if (!draft) return;
    const { events } = await api.get<{ events: AuditEvent[] }>("/events", { action: draft.action, limit: 1 });
    this.newest = events[0];
  }

  private onInput(index: number, change: Partial<Row>): void {
    this.rows = this.rows.map((row, position) => (position === index ? { ...row, ...change } : row));
  }

  private async onSubmit(event: SubmitEvent, { action }: ListedAction): Promise<void> {
    const { icon = null } = fieldsOf(event);
    const filled = this.rows.filter(({ label, template }) => label.trim() || template.trim());
    const texts = filled.map(({ tag, label, template }) => [tag.trim(), { label: label.trim(), template: template.trim() || null }]);
    const body = { icon, languages: Object.fromEntries(texts) as Record<string, ActionText> };
    const send = (): Promise<unknown> => this.session.api.send("PUT", `/actions/${encodeURIComponent(action)}`, body);
    if (await this.change(send, t.actionLabels.stored)) this.go({ action: undefined }, t.actionLabels.stored);
  }

  private confirmRemoval(action: string): void {
    this.ask({
      title: t.actionLabels.removeTitle(action), verb: t.actionLabels.remove, text: t.actionLabels.removeText,
      run: async () => {
        await this.session.api.send("DELETE", `/actions/${encodeURIComponent(action)}`);
        this.go({ action: undefined });
      },
    });
  }

  protected override content(): TemplateResult {
    const { isMaster } = this.session;
    const rows = this.actions.map((listed) => {
      const languages = listed.label?.languages ?? {};
      const text = languages["en"] ?? Object.values(languages)[0];
      const count = this.counts.get(listed.action);
      return html`<tr>
        <th scope="row"><a href=${this.linkTo("events", { action: listed.action })}>${listed.action}</a></th>
        <td>${listed.seen ? (count ?? "…") : html`<span class="muted">${t.actionLabels.notSeen}</span>`}</td>
        <td>${icon(listed.label?.icon)} ${visible(text?.label ?? "")}</td><td>${visible(text?.template ?? "")}</td>
        <td class="actions">${isMaster ? html`<button @click=${() => this.go({ action: listed.action })}>${listed.label ? t.actionLabels.edit : t.actionLabels.label}</button>` : nothing}</td>
      </tr>`;
    });
    const { draft } = this;
    return html`${this.masterOnly()} ${draft && isMaster && this.rowsOf === this.formOf ? this.form(draft) : nothing}
      ${this.table(t.actionLabels.columns, rows, t.actionLabels.none)}
      <div class="bar">
        ${this.named("after") ? html`<button @click=${() => this.go({ after: undefined })}>${t.actionLabels.first}</button>` : nothing}
        ${this.cursor ? html`<button @click=${() => this.go({ after: this.cursor ?? undefined })}>${t.actionLabels.next}</button>` : nothing}
      </div>
      ${isMaster
        ? html`<form class="inline" @submit=${(event: SubmitEvent) => this.go({ action: fieldsOf(event)["other"] })}>
            <label class="wide">${t.actionLabels.other}<input name="other" required maxlength="256" pattern="[a-z][a-z0-9_]*(\\.[a-z][a-z0-9_]*)+" placeholder="user.role.updated" /></label>
            <button>${t.actionLabels.label}</button>
          </form>`
        : nothing}`;
  }

  private form(draft: ListedAction): TemplateResult {
    const names = ["", ...Object.keys(ICONS)];
    const selected = draft.label?.icon ?? "";
    return html`<h3>${t.actionLabels.formTitle(draft.action)}</h3>
      <form class="inline" @submit=${(event: SubmitEvent) => this.onSubmit(event, draft)}>
        <label>${t.actionLabels.icon}<select name="icon">${names.map((name) => html`<option value=${name} ?selected=${name === selected}>${name || t.actionLabels.noIcon}</option>`)}</select></label>
        ${this.rows.map((row, index) => this.row(row, index))}
        <p class="muted preview">${t.actionLabels.placeholders}</p>
        <button class="primary">${t.actionLabels.store}</button>
        <button type="button" @click=${() => (this.rows = [...this.rows, { tag: "", label: "", template: "" }])}>${t.actionLabels.addLanguage}</button>
        ${draft.label ? html`<button type="button" class="danger" @click=${() => this.confirmRemoval(draft.action)}>${t.actionLabels.remove}</button>` : nothing}
        <button type="button" class="plain" @click=${() => this.go({ action: undefined })}>${t.cancel}</button>
      </form>`;
  }

  private row({ tag, label, template }: Row, index: number): TemplateResult {
    const input = (name: keyof Row, text: string, value: string, length: number, hint = ""): TemplateResult => html`<label class=${name === "tag" ? "" : "wide"}>${text}<input
      maxlength=${length} placeholder=${hint} .value=${value} ?required=${name === "tag" ? Boolean(label || template) : name === "label" && Boolean(template)}
      @input=${(event: Event) => this.onInput(index, { [name]: (event.target as HTMLInputElement).value })} /></label>`;
    const { newest } = this;
    const sentence = newest && (template ? fill(template, newest).map((part) => part.text).join("") : label);
    return html`${input("tag", t.actionLabels.language, tag, 35)} ${input("label", t.actionLabels.label, label, 100)} ${input("template", t.actionLabels.template, template, 300, t.actionLabels.templateHint)}
      ${label || template ? html`<p class="preview" role="status"><span class="muted">${t.actionLabels.preview}:</span> ${newest ? visible(sentence ?? "") : t.actionLabels.noEvent}</p>` : nothing}`;
  }
}
