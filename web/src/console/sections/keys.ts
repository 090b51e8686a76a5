import { html, nothing, type TemplateResult } from "lit";
import type { Api } from "../../shared/api.js";
import { fieldsOf, listOf, Section, time } from "../section.js";
import type { Project } from "../session.js";

interface Key {
  id: string;
  prefix: string;
  name: string;
  project_id?: string;
  environment?: string;
  lastUsedAt?: string | null;
  lastUsedFrom?: string | null;
  createdAt: string;
  revokedAt: string | null;
  expiresAt: string | null;
  scopes: string[] | null;
  networks: string[] | null;
}

const SCOPES = ["events:write", "events:read", "alerts", "viewer-tokens", "admin"];
/** The old key works for a day after it was replaced. */
const OVERLAP_SECONDS = 86_400;

/** Projects, and the keys of projects and of the organization. */
export class Keys extends Section {
  static override properties = { keys: { state: true }, masters: { state: true } };
  declare private keys: Key[];
  declare private masters: Key[];
  protected readonly heading = "Projects and keys";
  protected readonly text = "A project key acts on one project in one environment. A key is shown once, when it is created; the server stores its hash.";

  constructor() {
    super();
    this.keys = [];
    this.masters = [];
  }

  protected override async load(api: Api): Promise<void> {
    this.keys = (await api.get<{ keys: Key[] }>("/keys")).keys;
    if (!this.session.isMaster) return;
    this.masters = (await api.get<{ master_keys: Key[] }>("/master-keys")).master_keys;
  }

  private get isRevokedShown(): boolean {
    return this.named("revoked") !== "";
  }

  private revoke(key: Key, path: string): void {
    this.ask({
      title: `Revoke the key “${key.name}”`, verb: "Revoke", typed: key.name,
      text: `Every request with ${key.prefix}… is refused from now on. This cannot be undone. Last used: ${key.lastUsedAt ?? "never"}.`,
      run: () => this.session.api.send("DELETE", `${path}/${key.id}`),
    });
  }

  private rotate(key: Key, path: string): void {
    this.ask({
      title: `Replace the key “${key.name}”`, verb: "Replace", text: "A new key with the same limits is created. The old one ends in 24 hours.",
      run: async () => {
        const { key: text } = await this.session.api.send<{ key: string }>("POST", `${path}/${key.id}/rotate`, undefined, { overlap: OVERLAP_SECONDS });
        this.reveal(`The key that replaces “${key.name}”`, text);
      },
    });
  }

  private renameKey(key: Key): void {
    this.ask({
      title: `Rename the key “${key.name}”`, verb: "Rename", text: "The key itself stays as it is.", name: key.name,
      run: (name) => this.session.api.send("PATCH", `/keys/${key.id}`, { name }),
    });
  }

  private renameProject(project: Project): void {
    this.ask({
      title: `Rename the project “${project.name}”`, verb: "Rename", text: "Its keys, events and log stay as they are.", name: project.name,
      run: (name) => this.changeProject(project, { name }),
    });
  }

  private archive(project: Project): void {
    const isArchived = project.archived_at !== undefined;
    this.ask({
      title: `${isArchived ? "Unarchive" : "Archive"} the project “${project.name}”`, verb: isArchived ? "Unarchive" : "Archive",
      text: isArchived
        ? "It takes events again."
        : "It takes no events from now on: applications that send some get an error. Reading, proofs and settings stay possible, and it can be unarchived.",
      run: () => this.changeProject(project, { archived: !isArchived }),
    });
  }

  private editFilters(project: Project): void {
    this.ask({
      title: `Metadata filters of the project “${project.name}”`, verb: "Store",
      text: "The members of metadata by which events can be filtered, such as metadata.order.id. They apply to all events, also to those that are stored already.",
      list: { label: "Paths, one per line", items: project.metadata_filter_paths ?? [] },
      run: (text) => this.changeProject(project, { metadata_filter_paths: listOf(text, /\n/) }),
    });
  }

  private async changeProject({ id }: Project, change: { name?: string; archived?: boolean; metadata_filter_paths?: string[] }): Promise<void> {
    const { project } = await this.session.api.send<{ project: Project }>("PATCH", `/projects/${id}`, change);
    this.dispatchEvent(new CustomEvent("project-changed", { detail: project, bubbles: true, composed: true }));
  }

  private async create(event: SubmitEvent, path: string): Promise<void> {
    const form = event.target as HTMLFormElement;
    const { networks, expires_at, ...fields } = fieldsOf(event);
    const scopes = new FormData(form).getAll("scopes");
    const { scopes: _scopes, ...rest } = fields;
    const body = {
      ...rest,
      ...(path === "/keys" ? { type: "project", project_id: this.session.project?.id } : {}),
      ...(scopes.length > 0 ? { scopes } : {}),
      ...(networks ? { networks: listOf(networks) } : {}),
      ...(expires_at ? { expires_at: new Date(expires_at).toISOString() } : {}),
    };
    const send = async (): Promise<void> => {
      const { key } = await this.session.api.send<{ key: string }>("POST", path, body);
      this.reveal(`The key “${fields["name"] ?? ""}”`, key);
    };
    if (await this.change(send)) form.reset();
  }

  private async createProject(event: SubmitEvent): Promise<void> {
    const form = event.target as HTMLFormElement;
    const body = fieldsOf(event);
    const create = async (): Promise<void> => {
      const { project } = await this.session.api.send<{ project: Project }>("POST", "/projects", body);
      this.dispatchEvent(new CustomEvent("project-created", { detail: project, bubbles: true, composed: true }));
    };
    if (await this.attempt(create, `Project ${body["name"] ?? ""} created.`)) form.reset();
  }

  private rows(keys: Key[], path: string): TemplateResult[] {
    const shown = keys.filter((key) => this.isRevokedShown || !key.revokedAt);
    return shown.map((key) => html`<tr>
      <th scope="row">${key.name}</th>
      <td><code>${key.prefix}…</code></td>
      <td>${key.environment ?? "all projects"}</td>
      <td>${key.scopes?.join(", ") ?? "everything"}${key.networks ? html`<br /><span class="muted">from ${key.networks.join(", ")}</span>` : nothing}</td>
      <td>${time(key.lastUsedAt)}${key.lastUsedFrom ? html`<br /><span class="muted">${key.lastUsedFrom}</span>` : nothing}</td>
      <td>${key.revokedAt ? html`<span class="badge failed">revoked</span>` : key.expiresAt ? html`until ${time(key.expiresAt)}` : "no end"}</td>
      <td class="actions">
        ${key.revokedAt ? nothing : html`
          ${this.session.isMaster && path === "/keys" ? html`<button @click=${() => this.renameKey(key)}>Rename</button>` : nothing}
          ${this.session.isMaster ? html`<button @click=${() => this.rotate(key, path)}>Replace</button>` : nothing}
          <button class="danger" @click=${() => this.revoke(key, path)}>Revoke</button>`}
      </td>
    </tr>`);
  }

  private projectRows(projects: Project[]): TemplateResult[] {
    return projects.map((project) => html`<tr>
      <th scope="row">${project.name}</th>
      <td><code>${project.id}</code></td>
      <td>${time(project.created_at)}</td>
      <td>${time(project.archived_at)}</td>
      <td>${project.metadata_filter_paths?.join(", ") ?? "–"}</td>
      <td class="actions">
        <button @click=${() => this.renameProject(project)}>Rename</button>
        <button @click=${() => this.editFilters(project)}>Metadata filters</button>
        <button @click=${() => this.archive(project)}>${project.archived_at ? "Unarchive" : "Archive"}</button>
      </td>
    </tr>`);
  }

  protected override content(): TemplateResult {
    const columns = ["Name", "Key", "Environment", "May", "Last used", "Ends", ""];
    const { isMaster, project, projects } = this.session;
    const ofProject = this.keys.filter((key) => !project || key.project_id === project.id);
    return html`
      <label class="check"><input type="checkbox" .checked=${this.isRevokedShown} @change=${() => this.go({ revoked: this.isRevokedShown ? undefined : "shown" })} /> Show revoked keys</label>
      <h3>Keys of the project ${project?.name ?? ""}</h3>
      ${this.table(columns, this.rows(ofProject, "/keys"), "No keys.")}
      ${isMaster ? this.form("/keys", "Create project key") : this.masterOnly()}
      ${isMaster
        ? html`<h3>Projects</h3>
            ${this.table(["Name", "ID", "Created", "Archived", "Metadata filters", ""], this.projectRows(projects), "No projects.")}
            <form class="inline" @submit=${this.createProject}>
              <label class="wide">New project: name<input name="name" required maxlength="100" /></label><button class="primary">Create project</button>
            </form>
            <h3>Master keys</h3>
            <p class="muted">A master key administers every project of the organization.</p>
            ${this.table(columns, this.rows(this.masters, "/master-keys"), "No master keys.")} ${this.form("/master-keys", "Create master key")}`
        : nothing}
    `;
  }

  private form(path: string, verb: string): TemplateResult {
    return html`<form class="inline" @submit=${(event: SubmitEvent) => this.create(event, path)}>
      <label>Name<input name="name" required maxlength="100" /></label>
      ${path === "/keys" ? html`<label>Environment<select name="environment"><option>live</option><option>test</option></select></label>` : nothing}
      <label>Ends<input name="expires_at" type="datetime-local" /></label>
      <label>Networks<input name="networks" placeholder="10.0.0.0/8" /></label>
      ${SCOPES.map((scope) => html`<label class="check"><input type="checkbox" name="scopes" value=${scope} />${scope}</label>`)}
      <button class="primary">${verb}</button>
      <span class="muted">Without a scope, a key may do everything of its kind.</span>
    </form>`;
  }
}
