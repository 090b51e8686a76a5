import { html, nothing, type TemplateResult } from "lit";
import type { Api } from "../../shared/api.js";
import { formatJson } from "../../shared/exact-json.js";
import type { Json } from "../../shared/types.js";
import { t } from "../languages/index.js";
import { fieldsOf, listOf, Section } from "../section.js";

interface Rule {
  id: string;
  type: "builtin" | "pattern" | "field_redact";
  name: string;
  pattern?: string;
  fields?: string[];
  behavior: string;
  enabled: boolean;
}

interface Tested {
  original: Json;
  redacted: Json;
  metadata: { was_redacted: boolean; redacted_fields: string[]; redacted_rules: string[]; rules_evaluated: number };
}

const BEHAVIORS = ["replace", "hash", "mask"];
/** Typing is quiet for this long before the event is tested. */
const TYPING_MS = 300;
const EXAMPLE = {
  action: "user.created", tenant_id: "acme",
  actor: { id: "user_1", type: "user", name: "Jane Doe", email: "jane@example.com" },
  metadata: { note: "paid with 4111 1111 1111 1111, call +1 415 555 0132", header: "Bearer abcdef123456", ok: "fine" },
};

/** Redaction rules, and a tester that marks what they remove. */
export class Redaction extends Section {
  static override properties = { rules: { state: true }, tested: { state: true }, fault: { state: true }, type: { state: true } };
  declare private rules: Rule[];
  declare private tested: Tested | undefined;
  declare private fault: string;
  declare private type: string;
  private event = formatJson(EXAMPLE);
  private typing: ReturnType<typeof setTimeout> | undefined;
  protected get heading(): string {
    return t.sections.redaction;
  }
  protected get text(): string {
    return t.redaction.text;
  }

  constructor() {
    super();
    this.rules = [];
    this.fault = "";
    this.type = "pattern";
  }

  protected override async load(api: Api): Promise<void> {
    this.rules = (await api.get<{ rules: Rule[] }>("/redaction/rules")).rules;
    await this.test(api);
  }

  private onInput(event: Event): void {
    this.event = (event.target as HTMLTextAreaElement).value;
    clearTimeout(this.typing);
    this.typing = setTimeout(() => void this.test(), TYPING_MS);
  }

  private async test(api: Api = this.session.api): Promise<void> {
    let event: unknown;
    try {
      event = JSON.parse(this.event);
    } catch (error) {
      this.fault = error instanceof Error ? error.message : t.redaction.notJson;
      return;
    }
    this.fault = "";
    await this.attempt(async () => {
      this.tested = await api.send<Tested>("POST", "/redaction/test", { event });
    });
  }

  private amend(rule: Rule, changes: Partial<Rule>): void {
    void this.change(() => this.session.api.send("PUT", `/redaction/rules/${rule.id}`, changes), t.wasChanged(rule.name));
  }

  private toggle(rule: Rule, input: HTMLInputElement): void {
    if (input.checked) return this.amend(rule, { enabled: true });
    input.checked = true;
    this.ask({
      title: t.switchOffRule(rule.name), verb: t.switchOff,
      text: t.redaction.switchOffText,
      run: () => this.session.api.send("PUT", `/redaction/rules/${rule.id}`, { enabled: false }),
    });
  }

  private confirmRemoval(rule: Rule): void {
    this.ask({
      title: t.deleteRule(rule.name), verb: t.delete,
      text: t.redaction.deleteText,
      run: () => this.session.api.send("DELETE", `/redaction/rules/${rule.id}`),
    });
  }

  private async onSubmit(event: SubmitEvent): Promise<void> {
    const form = event.target as HTMLFormElement;
    const { fields, ...body } = fieldsOf(event);
    const rule = body["type"] === "field_redact" ? { ...body, fields: listOf(fields) } : body;
    if (await this.change(() => this.session.api.send("POST", "/redaction/rules", rule), t.wasCreated(body["name"] ?? ""))) form.reset();
  }

  protected override content(): TemplateResult {
    const { isMaster } = this.session;
    const rows = this.rules.map((rule) => html`<tr>
      <td><input type="checkbox" aria-label=${t.ruleEnabled(rule.name)} .checked=${rule.enabled} ?disabled=${!isMaster}
        @change=${(event: Event) => this.toggle(rule, event.target as HTMLInputElement)} /></td>
      <th scope="row">${rule.name} ${rule.type === "builtin" ? html`<span class="badge">${t.builtin}</span>` : nothing}</th>
      <td><code>${rule.pattern ?? rule.fields?.join(", ") ?? ""}</code></td>
      <td><select aria-label=${t.redaction.behaviorOf(rule.name)} ?disabled=${!isMaster} @change=${(event: Event) => this.amend(rule, { behavior: (event.target as HTMLSelectElement).value })}>
        ${BEHAVIORS.map((name) => html`<option value=${name} .selected=${name === rule.behavior}>${t.redaction.behaviors[name]}</option>`)}</select></td>
      <td class="actions">${isMaster && rule.type !== "builtin" ? html`<button class="danger" @click=${() => this.confirmRemoval(rule)}>${t.delete}</button>` : nothing}</td>
    </tr>`);
    return html`${this.masterOnly()} ${this.tester()}
      <h3>${t.redaction.rules}</h3>${this.table([t.on, t.rule, t.redaction.finds, t.redaction.behavior, ""], rows, t.noRules)} ${isMaster ? this.form() : nothing}`;
  }

  private tester(): TemplateResult {
    const { tested } = this;
    return html`<h3>${t.redaction.try}</h3>
      <div class="columns">
        <label>${t.redaction.event}<textarea rows="14" spellcheck="false" maxlength="65536" .value=${this.event} @input=${this.onInput}></textarea></label>
        <div>
          <span class="muted">${t.redaction.changes(html`<mark>${t.redaction.removed}</mark>`, html`<mark class="after">${t.redaction.storedMark}</mark>`)}</span>
          ${this.fault ? html`<p class="notice bad">${this.fault}</p>` : nothing}
          ${tested?.metadata.was_redacted
            ? html`<div class="scroll"><table>
                  <thead><tr><th scope="col">${t.field}</th><th scope="col">${t.redaction.sent}</th><th scope="col">${t.redaction.stored}</th></tr></thead>
                  <tbody>${pairs(tested.original, tested.redacted).map(([path, before, after]) => html`<tr><th scope="row"><code>${path}</code></th><td>${marked(before, after, "removed")}</td><td>${marked(after, before, "after")}</td></tr>`)}</tbody>
                </table></div>
                <p class="muted">${t.redaction.evaluated(tested.metadata.redacted_rules.join(", "), tested.metadata.rules_evaluated)}</p>`
            : tested ? html`<p>${t.redaction.nothing}</p>` : nothing}
        </div>
      </div>`;
  }

  private form(): TemplateResult {
    return html`<h3>${t.newRule}</h3>
      <form class="inline" @submit=${this.onSubmit}>
        <label>${t.type}<select name="type" @change=${(event: Event) => (this.type = (event.target as HTMLSelectElement).value)}>
          ${Object.entries(t.redaction.types).map(([name, label]) => html`<option value=${name}>${label}</option>`)}</select></label>
        <label>${t.name}<input name="name" required maxlength="100" /></label>
        ${this.type === "pattern"
          ? html`<label class="wide">${t.redaction.pattern}<input name="pattern" required maxlength="1000" spellcheck="false" /></label>`
          : html`<label class="wide">${t.redaction.paths}<input name="fields" required placeholder="**.ssn, actor.email" spellcheck="false" /></label>`}
        <label>${t.redaction.behavior}<select name="behavior">${BEHAVIORS.map((name) => html`<option value=${name}>${t.redaction.behaviors[name]}</option>`)}</select></label>
        <button class="primary">${t.createRule}</button>
      </form>`;
  }
}

/** The values that differ, with their dot paths. */
function pairs(before: Json | undefined, after: Json | undefined, path = ""): [string, string, string][] {
  const isObject = (value: Json | undefined): value is { [key: string]: Json } => typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isObject(before) || !isObject(after)) return [[path, text(before), text(after)]];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  // A field may have the name of something that every object inherits, such as `constructor`.
  const own = (value: { [key: string]: Json }, name: string): Json | undefined => (Object.hasOwn(value, name) ? value[name] : undefined);
  return names.flatMap((name) => pairs(own(before, name), own(after, name), path ? `${path}.${name}` : name));
}

function text(value: Json | undefined): string {
  return value === undefined ? "" : typeof value === "string" ? value : formatJson(value);
}

/** A text with the part marked that the other one does not have. */
function marked(value: string, other: string, name: string): TemplateResult {
  let start = 0;
  while (start < value.length && value[start] === other[start]) start += 1;
  let end = 0;
  while (end < value.length - start && end < other.length - start && value.at(-1 - end) === other.at(-1 - end)) end += 1;
  const middle = value.slice(start, value.length - end);
  return html`${value.slice(0, start)}${middle ? html`<mark class=${name}>${middle}</mark>` : nothing}${value.slice(value.length - end)}`;
}
