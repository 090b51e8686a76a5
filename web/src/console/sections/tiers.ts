import { html, nothing, type TemplateResult } from "lit";
import type { Api } from "../../shared/api.js";
import { CATEGORIES } from "../../shared/types.js";
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
  protected readonly heading = "Viewer tiers";
  protected readonly text = "A tier decides which events and which of their fields a viewer token shows. A change applies at once, also to tokens that were issued.";

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
    if (await this.change(send, "The tier was stored.")) this.go({ tier: undefined }, "The tier was stored.");
  }

  private confirmRemoval(tier: Tier): void {
    this.ask({
      title: `Delete the tier “${tier.name}”`, verb: "Delete", typed: tier.name,
      text: "All viewer tokens of this tier stop working at once, and new ones cannot be made. This cannot be undone.",
      run: () => this.session.api.send("DELETE", `/viewer-tiers/${tier.name}`),
    });
  }

  private async see(event: SubmitEvent): Promise<void> {
    const { tenant_id = "", tier = "" } = fieldsOf(event);
    await this.attempt(async () => {
      const body = { tenant_id, ...(tier ? { tier } : {}), expires_in: LOOK_SECONDS };
      const { token } = await this.session.api.send<{ token: string }>("POST", "/viewer-tokens", body);
      this.seen = { token, tenant: tenant_id, tier: tier || "standard" };
    });
  }

  protected override content(): TemplateResult {
    return html`${this.session.isMaster ? this.administration() : this.lookAs()}`;
  }

  private lookAs(): TemplateResult {
    return html`<p class="notice">Tiers are changed with a master key. With a live project key, you can see what a tenant sees.</p>
      <form class="inline" @submit=${this.see}>
        <label>Tenant<input name="tenant_id" required maxlength="256" /></label>
        <label>Tier<input name="tier" placeholder="standard" maxlength="64" /></label>
        <button class="primary">See as this tenant</button>
      </form>
      ${this.seen
        ? html`<h3>As tenant ${this.seen.tenant}, tier ${this.seen.tier}</h3>
            <div class="scroll"><audit-log-viewer .token=${this.seen.token} lang="en"></audit-log-viewer></div>`
        : nothing}`;
  }

  private administration(): TemplateResult {
    const words = (list: string[] | null, all: string): string => (list === null ? all : list.length > 0 ? list.join(", ") : "none");
    const rows = this.tiers.map((tier) => html`<tr>
      <th scope="row">${tier.name}</th><td>${words(tier.categories, "all")}</td><td>${words(tier.actions, "all")}</td>
      <td>${words(tier.hidden_fields, "")}</td><td>${words(tier.routes, "all")}</td>
      <td class="actions"><button @click=${() => this.go({ tier: tier.name })}>Edit</button> <button class="danger" @click=${() => this.confirmRemoval(tier)}>Delete</button></td>
    </tr>`);
    return html`${this.table(["Tier", "Categories", "Actions", "Hidden fields", "Reads", ""], rows, "No tiers.")} ${this.form()}
      <p class="muted">To see the log as a tenant, sign in with a live project key: only such a key can issue viewer tokens.</p>`;
  }

  private form(): TemplateResult {
    const { draft } = this;
    const boxes = (name: "categories" | "routes", title: string, all: readonly string[]): TemplateResult => html`<fieldset><legend>${title}</legend>
      ${all.map((value) => html`<label class="check"><input type="checkbox" name=${name} value=${value} .checked=${draft?.[name]?.includes(value) ?? value !== DESTINATIONS} />${value}</label>`)}
    </fieldset>`;
    return html`<h3>${draft ? `Edit ${draft.name}` : "New tier"}</h3>
      <form class="inline" @submit=${this.onSubmit}>
        ${draft ? nothing : html`<label>Name<input name="name" required maxlength="64" pattern="[a-z0-9_\\-]+" /></label>`}
        <label class="wide">Hidden fields<input name="hidden_fields" .value=${draft?.hidden_fields.join(", ") ?? ""} placeholder="context, metadata, actor.email" /></label>
        <label class="wide">Actions (empty: all)<input name="actions" .value=${draft?.actions?.join(", ") ?? ""} placeholder="auth.*, document.*" /></label>
        ${boxes("categories", "Categories", CATEGORIES)} ${boxes("routes", "Reads; destinations: creates those of its tenant, and needs a tier that hides nothing", [...READS, DESTINATIONS])}
        <button class="primary">${draft ? "Store changes" : "Create tier"}</button>
        ${draft ? html`<button type="button" class="plain" @click=${() => this.go({ tier: undefined })}>Cancel</button>` : nothing}
      </form>`;
  }
}
