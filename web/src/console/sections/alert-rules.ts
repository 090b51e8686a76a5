import { html, nothing, type PropertyValues, type TemplateResult } from "lit";
import type { Api } from "../../shared/api.js";
import { GROUPS, preview, type Preview, PREVIEW_EVENTS_MAX, type RuleDraft } from "../preview.js";
import { numbers, t } from "../languages/index.js";
import { fieldsOf, listOf, nameOf, Section, time } from "../section.js";

interface Rule extends RuleDraft {
  id: string;
  type: "builtin" | "custom";
  name: string;
  severity: string;
  enabled: boolean;
}

const NUMBERS = ["threshold", "window_seconds", "cooldown_seconds"];
const CONDITIONS = ["actor_types", "categories", "outcomes", "not_actor_ids"] as const;
/** How the form shows a condition. An id may contain commas, so each is a line. */
const textOf = (name: (typeof CONDITIONS)[number], values: string[] = []): string => values.join(name === "not_actor_ids" ? "\n" : ", ");
const GROUP_BY = Object.keys(GROUPS);
const DISTINCT = GROUP_BY.filter((field) => field !== "tenant_id");

/** Alert rules, with a preview of what a rule would have done. */
export class AlertRules extends Section {
  static override properties = { rules: { state: true }, preview: { state: true } };
  declare private rules: Rule[];
  declare private preview: { name: string; result: Preview } | undefined;
  protected get heading(): string {
    return t.sections.rules;
  }
  protected get text(): string {
    return t.rules.text;
  }

  constructor() {
    super();
    this.rules = [];
  }

  /** The rule in the form, which the address names; an empty object for a new one. */
  private get draft(): Partial<Rule> {
    return this.rules.find(({ id }) => id === this.named("rule")) ?? {};
  }

  protected override async load(api: Api): Promise<void> {
    this.rules = (await api.get<{ rules: Rule[] }>("/alerts/rules")).rules;
  }

  protected override reload(): Promise<void> {
    this.preview = undefined;
    return super.reload();
  }

  override updated(changed: PropertyValues): void {
    if ((changed.has("query") || changed.has("isLoaded")) && this.draft.id !== undefined) this.renderRoot.querySelector("form")?.scrollIntoView({ block: "nearest" });
  }

  private amend(rule: Rule, changes: Partial<Rule>): void {
    void this.change(() => this.session.api.send("PATCH", `/alerts/rules/${rule.id}`, changes), t.wasChanged(rule.name));
  }

  private toggle(rule: Rule, input: HTMLInputElement): void {
    if (input.checked) return this.amend(rule, { enabled: true });
    input.checked = true;
    this.ask({
      title: t.switchOffRule(rule.name), verb: t.switchOff,
      text: t.rules.switchOffText(t.severities[rule.severity] ?? rule.severity),
      run: () => this.session.api.send("PATCH", `/alerts/rules/${rule.id}`, { enabled: false }),
    });
  }

  private confirmRemoval(rule: Rule): void {
    this.ask({
      title: t.deleteRule(rule.name), verb: t.delete,
      text: t.rules.deleteText,
      run: () => this.session.api.send("DELETE", `/alerts/rules/${rule.id}`),
    });
  }

  private async show(rule: RuleDraft, name: string): Promise<void> {
    this.preview = undefined;
    await this.attempt(async () => {
      this.preview = { name, result: await preview(this.apiUntil(this.loading.signal), rule) };
    });
    await this.updateComplete;
    this.renderRoot.querySelector("section h3")?.scrollIntoView({ block: "nearest" });
  }

  private async onSubmit(event: SubmitEvent): Promise<void> {
    const texts = fieldsOf(event);
    const fields: Record<string, unknown> = { ...texts };
    for (const name of NUMBERS) if (name in fields) fields[name] = Number(fields[name]);
    for (const name of CONDITIONS) fields[name] = listOf(texts[name], name === "not_actor_ids" ? /\n/ : undefined);
    const isPreview = (event.submitter as HTMLButtonElement | null)?.value === "preview";
    if (isPreview) return this.show(fields as unknown as RuleDraft, t.rules.thisRule);
    const { id, type } = this.draft;
    // A condition that was not edited stays as it is, whatever characters its values have.
    const entered = new FormData(event.target as HTMLFormElement);
    if (id) for (const name of CONDITIONS) if (entered.get(name) === textOf(name, this.draft[name])) delete fields[name];
    const changeable = Object.fromEntries([...NUMBERS, ...CONDITIONS].map((name) => [name, fields[name]]));
    // Without a field the rule counts events.
    const body = type === "builtin" ? changeable : { ...fields, ...(id && !texts["count_distinct"] ? { count_distinct: null } : {}) };
    const { api } = this.session;
    const send = (): Promise<unknown> => (id ? api.send("PATCH", `/alerts/rules/${id}`, body) : api.send("POST", "/alerts/rules", body));
    const notice = t.wasStored(String(fields["name"]));
    if (await this.change(send, notice)) this.go({ rule: undefined }, notice);
  }

  protected override content(): TemplateResult {
    const { isMaster } = this.session;
    const rows = this.rules.map((rule) => html`<tr>
      <td><input type="checkbox" aria-label=${t.ruleEnabled(rule.name)} .checked=${rule.enabled} ?disabled=${!isMaster}
        @change=${(event: Event) => this.toggle(rule, event.target as HTMLInputElement)} /></td>
      <th scope="row">${rule.name} ${rule.type === "builtin" ? html`<span class="badge">${t.builtin}</span>` : nothing}</th>
      <td class="wide"><code>${rule.action_pattern}</code></td>
      <td class="wide">${t.rules.firesAtCount(rule.threshold, rule.count_distinct ?? "", rule.window_seconds, rule.group_by)}</td>
      <td><span class="badge ${rule.severity}">${t.severities[rule.severity] ?? rule.severity}</span></td>
      <td>${rule.cooldown_seconds} s</td>
      <td class="actions">
        <button @click=${() => this.show(rule, rule.name)}>${t.preview}</button>
        ${isMaster ? html`<button @click=${() => this.go({ rule: rule.id })}>${t.edit}</button>` : nothing}
        ${isMaster && rule.type === "custom" ? html`<button class="danger" @click=${() => this.confirmRemoval(rule)}>${t.delete}</button>` : nothing}
      </td>
    </tr>`);
    return html`${this.masterOnly()} ${this.table([t.on, t.rule, t.action, t.rules.firesAt, t.severity, t.rules.cooldown, ""], rows, t.noRules)}
      <div class="columns">${isMaster ? html`<div>${this.form()}</div>` : nothing} ${this.preview ? this.previewOf(this.preview.name, this.preview.result) : nothing}</div>`;
  }

  private previewOf(name: string, { lookedAt, matching, alerts }: Preview): TemplateResult {
    const rows = alerts.slice(0, 20).map((alert) => html`<tr><td>${nameOf({ id: alert.group, name: alert.name })}</td><td>${alert.count}</td><td>${time(alert.at)}</td></tr>`);
    return html`<section aria-label=${t.preview}><h3 tabindex="-1">${t.rules.previewOf(name)}</h3>
      <p>${t.rules.found(numbers.format(lookedAt), numbers.format(PREVIEW_EVENTS_MAX), numbers.format(matching), html`<b>${numbers.format(alerts.length)}</b>`)}</p>
      ${this.table([t.group, t.count, t.time], rows, t.rules.noAlert)}</section>`;
  }

  private form(): TemplateResult {
    const { draft } = this;
    const isBuiltin = draft.type === "builtin";
    const input = (name: keyof Rule, label: string, type: string, fallback: string | number, attributes: { min?: number; max?: number } = {}): TemplateResult => html`<label>
      ${label}<input name=${name} type=${type} required ?disabled=${isBuiltin && !NUMBERS.includes(name)} min=${attributes.min ?? nothing} max=${attributes.max ?? nothing} .value=${String(draft[name] ?? fallback)} />
    </label>`;
    const select = (name: "group_by" | "count_distinct" | "severity", label: string, options: string[], labels: Record<string, string> = {}): TemplateResult => html`<label>
      ${label}<select name=${name} ?disabled=${isBuiltin}>${options.map((value) => html`<option value=${value} .selected=${(draft[name] ?? "") === value}>${value ? (labels[value] ?? value) : t.rules.eachEvent}</option>`)}</select>
    </label>`;
    const list = (name: (typeof CONDITIONS)[number], label: string): TemplateResult => html`<label class="wide">
      ${label}<input name=${name} .value=${textOf(name, draft[name])} />
    </label>`;
    return html`<h3>${draft.id ? t.editOf(draft.name ?? "") : t.newRule}</h3>
      <form class="inline" @submit=${this.onSubmit}>
        ${input("name", t.name, "text", "")} ${input("action_pattern", t.rules.pattern, "text", "*.deleted")}
        ${input("threshold", t.rules.threshold, "number", 5, { min: 1, max: 10_000 })} ${input("window_seconds", t.rules.window, "number", 300, { min: 60, max: 3_600 })}
        ${select("count_distinct", t.rules.countDistinct, ["", ...DISTINCT])} ${select("group_by", t.rules.countBy, GROUP_BY)} ${select("severity", t.severity, ["low", "medium", "high", "critical"], t.severities)}
        ${input("cooldown_seconds", t.rules.cooldownSeconds, "number", 3_600, { min: 0, max: 604_800 })}
        ${list("actor_types", t.rules.onlyActorTypes)} ${list("categories", t.onlyCategories)}
        ${list("outcomes", t.rules.onlyOutcomes)} <label class="wide">${t.rules.notActors}<textarea name="not_actor_ids" rows="2" .value=${textOf("not_actor_ids", draft.not_actor_ids)}></textarea></label>
        <button class="primary" value="store">${draft.id ? t.storeChanges : t.createRule}</button>
        ${isBuiltin ? nothing : html`<button value="preview">${t.preview}</button>`}
        ${draft.id ? html`<button type="button" class="plain" @click=${() => this.go({ rule: undefined })}>${t.cancel}</button>` : nothing}
      </form>`;
  }
}
