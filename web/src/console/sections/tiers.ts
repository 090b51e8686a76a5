import { html, nothing, type TemplateResult } from "lit";
import type { Api } from "../../shared/api.js";
import { CATEGORIES } from "../../shared/types.js";
import { language, t } from "../languages/index.js";
import { fieldsOf, listOf, Section } from "../section.js";

interface Tier {
  name: string;
  categories: string[] | null;
  actions: string[] | null;
  hidden_fields: string[];
  routes: string[] | null;
}

const READS = ["event", "summary", "feed", "export", "proofs"];
/** The tier must name it. */
const DESTINATIONS = "destinations";
/** The token of "see as" lives this long. */
const LOOK_SECONDS = 600;

/** Viewer tiers, and the viewer as a tenant sees it. */
export class Tiers extends Section {
  static override properties = { tiers: { state: true }, seen: { state: true } };
  declare private tiers: Tier[];
  /** What is seen as somebody else. */
  declare private seen: { token: string; tenant: string; tier: string } | undefined;
  protected get heading(): string {
    return t.sections.tiers;
  }
  protected get text(): string {
    return t.tiers.text;
  }

  constructor() {
    super();
    this.tiers = [];
  }

  /** The tier in the form, which the address names; `undefined` for a new one. */
  private get draft(): Tier | undefined {
    return this.tiers.find(({ name }) => name === this.named("tier"));
  }

  protected override async load(api: Api): Promise<void> {
    if (!this.session.isMaster) return;
    this.tiers = (await api.get<{ viewer_tiers: Tier[] }>("/viewer-tiers")).viewer_tiers;
  }

  private async onSubmit(event: SubmitEvent): Promise<void> {
    const form = event.target as HTMLFormElement;
    const fields = fieldsOf(event);
    const data = new FormData(form);
    const chosen = (name: string, all: readonly string[]): FormDataEntryValue[] | null => (data.getAll(name).length === all.length ? null : data.getAll(name));
    const actions = listOf(fields["actions"]);
    const body = {
      categories: chosen("categories", CATEGORIES), actions: actions.length > 0 ? actions : null, hidden_fields: listOf(fields["hidden_fields"]),
      routes: READS.every((name) => data.getAll("routes").includes(name)) && !data.getAll("routes").includes(DESTINATIONS) ? null : data.getAll("routes"),
    };
    const { api } = this.session;
    const { draft } = this;
    const send = (): Promise<unknown> => (draft ? api.send("PATCH", `/viewer-tiers/${draft.name}`, body) : api.send("POST", "/viewer-tiers", { name: fields["name"], ...body }));
    if (await this.change(send, t.tiers.stored)) this.go({ tier: undefined }, t.tiers.stored);
  }

  private confirmRemoval(tier: Tier): void {
    this.ask({
      title: t.tiers.deleteTitle(tier.name), verb: t.delete, typed: tier.name,
      text: t.tiers.deleteText,
      run: () => this.session.api.send("DELETE", `/viewer-tiers/${tier.name}`),
    });
  }

  private async see(event: SubmitEvent): Promise<void> {
    const { tenant_id = "", tier = "" } = fieldsOf(event);
    await this.attempt(async () => {
      const body = { tenant_id, ...(tier ? { tier } : {}), expires_in: LOOK_SECONDS };
      const { token } = await this.session.issueViewerToken<{ token: string }>(body);
      this.seen = { token, tenant: tenant_id, tier: tier || "standard" };
    });
  }

  protected override content(): TemplateResult {
    return html`${this.session.isMaster ? this.administration() : this.masterOnly()} ${this.lookAs()}`;
  }

  private lookAs(): TemplateResult {
    return html`<h3>${t.tiers.look}</h3>
      <p>${t.tiers.lookText}</p>
      <form class="inline" @submit=${this.see}>
        <label>${t.tenant}<input name="tenant_id" required maxlength="256" /></label>
        <label>${t.tier}<input name="tier" placeholder="standard" maxlength="64" /></label>
        <button class="primary">${t.tiers.seeAs}</button>
      </form>
      ${this.seen
        ? html`<h3>${t.tiers.asTenant(this.seen.tenant, this.seen.tier)}</h3>
            <div class="scroll"><audit-log-viewer .token=${this.seen.token} lang=${language}></audit-log-viewer></div>`
        : nothing}`;
  }

  private administration(): TemplateResult {
    const words = (list: string[] | null, all: string): string => (list === null ? all : list.length > 0 ? list.join(", ") : t.tiers.none);
    const rows = this.tiers.map((tier) => html`<tr>
      <th scope="row">${tier.name}</th><td>${words(tier.categories, t.all)}</td><td>${words(tier.actions, t.all)}</td>
      <td>${words(tier.hidden_fields, "")}</td><td>${words(tier.routes, t.all)}</td>
      <td class="actions"><button @click=${() => this.go({ tier: tier.name })}>${t.edit}</button> <button class="danger" @click=${() => this.confirmRemoval(tier)}>${t.delete}</button></td>
    </tr>`);
    return html`${this.table([t.tier, t.tiers.categories, t.tiers.actions, t.tiers.hiddenFields, t.tiers.reads, ""], rows, t.tiers.noTiers)} ${this.form()}`;
  }

  private form(): TemplateResult {
    const { draft } = this;
    const boxes = (name: "categories" | "routes", title: string, all: readonly string[]): TemplateResult => html`<fieldset><legend>${title}</legend>
      ${all.map((value) => html`<label class="check"><input type="checkbox" name=${name} value=${value} .checked=${draft?.[name]?.includes(value) ?? value !== DESTINATIONS} />${value}</label>`)}
    </fieldset>`;
    return html`<h3>${draft ? t.editOf(draft.name) : t.tiers.new}</h3>
      <form class="inline" @submit=${this.onSubmit}>
        ${draft ? nothing : html`<label>${t.name}<input name="name" required maxlength="64" pattern="[a-z0-9_\\-]+" /></label>`}
        <label class="wide">${t.tiers.hiddenFields}<input name="hidden_fields" .value=${draft?.hidden_fields.join(", ") ?? ""} placeholder="context, metadata, actor.email" /></label>
        <label class="wide">${t.tiers.actionsLabel}<input name="actions" .value=${draft?.actions?.join(", ") ?? ""} placeholder="auth.*, document.*" /></label>
        ${boxes("categories", t.tiers.categories, CATEGORIES)} ${boxes("routes", t.tiers.readsLabel, [...READS, DESTINATIONS])}
        <button class="primary">${draft ? t.storeChanges : t.tiers.create}</button>
        ${draft ? html`<button type="button" class="plain" @click=${() => this.go({ tier: undefined })}>${t.cancel}</button>` : nothing}
      </form>`;
  }
}
