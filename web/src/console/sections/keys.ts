import { html, nothing, type TemplateResult } from "lit";
import type { Api } from "../../shared/api.js";
import { dates, t } from "../languages/index.js";
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
  protected get heading(): string {
    return t.sections.keys;
  }
  protected get text(): string {
    return t.keys.text;
  }

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
      title: t.keys.revokeTitle(key.name), verb: t.keys.revoke, typed: key.name,
      text: t.keys.revokeText(key.prefix, key.lastUsedAt ? dates.format(new Date(key.lastUsedAt)) : t.keys.never),
      run: () => this.session.api.send("DELETE", `${path}/${key.id}`),
    });
  }

  private rotate(key: Key, path: string): void {
    this.ask({
      title: t.keys.replaceTitle(key.name), verb: t.keys.replace, text: t.keys.replaceText,
      run: async () => {
        const { key: text } = await this.session.api.send<{ key: string }>("POST", `${path}/${key.id}/rotate`, undefined, { overlap: OVERLAP_SECONDS });
        this.reveal(t.keys.replaced(key.name), text);
      },
    });
  }

  private renameKey(key: Key): void {
    this.ask({
      title: t.keys.renameKey(key.name), verb: t.keys.rename, text: t.keys.renameKeyText, name: key.name,
      run: (name) => this.session.api.send("PATCH", `/keys/${key.id}`, { name }),
    });
  }

  private renameProject(project: Project): void {
    this.ask({
      title: t.keys.renameProject(project.name), verb: t.keys.rename, text: t.keys.renameProjectText, name: project.name,
      run: (name) => this.changeProject(project, { name }),
    });
  }

  private archive(project: Project): void {
    const isArchived = project.archived_at !== undefined;
    this.ask({
      title: isArchived ? t.keys.unarchiveTitle(project.name) : t.keys.archiveTitle(project.name), verb: isArchived ? t.keys.unarchive : t.keys.archive,
      text: isArchived ? t.keys.unarchiveText : t.keys.archiveText,
      run: () => this.changeProject(project, { archived: !isArchived }),
    });
  }

  private editFilters(project: Project): void {
    this.ask({
      title: t.keys.filtersTitle(project.name), verb: t.store,
      text: t.keys.filtersText,
      list: { label: t.keys.paths, items: project.metadata_filter_paths ?? [] },
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
      this.reveal(t.keys.created(fields["name"] ?? ""), key);
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
    if (await this.attempt(create, t.keys.projectCreated(body["name"] ?? ""))) form.reset();
  }

  private rows(keys: Key[], path: string): TemplateResult[] {
    const shown = keys.filter((key) => this.isRevokedShown || !key.revokedAt);
    return shown.map((key) => html`<tr>
      <th scope="row">${key.name}</th>
      <td><code>${key.prefix}…</code></td>
      <td>${key.environment === undefined ? t.keys.allProjects : t.environments[key.environment]}</td>
      <td>${key.scopes?.join(", ") ?? t.keys.everything}${key.networks ? html`<br /><span class="muted">${t.keys.fromNetworks(key.networks.join(", "))}</span>` : nothing}</td>
      <td>${time(key.lastUsedAt)}${key.lastUsedFrom ? html`<br /><span class="muted">${key.lastUsedFrom}</span>` : nothing}</td>
      <td>${key.revokedAt ? html`<span class="badge failed">${t.keys.revoked}</span>` : key.expiresAt ? t.keys.until(time(key.expiresAt)) : t.keys.noEnd}</td>
      <td class="actions">
        ${key.revokedAt ? nothing : html`
          ${this.session.isMaster && path === "/keys" ? html`<button @click=${() => this.renameKey(key)}>${t.keys.rename}</button>` : nothing}
          ${this.session.isMaster ? html`<button @click=${() => this.rotate(key, path)}>${t.keys.replace}</button>` : nothing}
          <button class="danger" @click=${() => this.revoke(key, path)}>${t.keys.revoke}</button>`}
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
        <button @click=${() => this.renameProject(project)}>${t.keys.rename}</button>
        <button @click=${() => this.editFilters(project)}>${t.keys.metadataFilters}</button>
        <button @click=${() => this.archive(project)}>${project.archived_at ? t.keys.unarchive : t.keys.archive}</button>
      </td>
    </tr>`);
  }

  protected override content(): TemplateResult {
    const columns = [t.name, t.key, t.environment, t.keys.may, t.keys.lastUsed, t.keys.ends, ""];
    const { isMaster, project, projects } = this.session;
    const ofProject = this.keys.filter((key) => !project || key.project_id === project.id);
    return html`
      <label class="check"><input type="checkbox" .checked=${this.isRevokedShown} @change=${() => this.go({ revoked: this.isRevokedShown ? undefined : "shown" })} /> ${t.keys.showRevoked}</label>
      <h3>${t.keys.ofProject(project?.name ?? "")}</h3>
      ${this.table(columns, this.rows(ofProject, "/keys"), t.keys.none)}
      ${isMaster ? this.form("/keys", t.keys.createKey) : this.masterOnly()}
      ${isMaster
        ? html`<h3>${t.keys.projects}</h3>
            ${this.table([t.name, t.keys.projectId, t.created, t.keys.archived, t.keys.metadataFilters, ""], this.projectRows(projects), t.keys.noProjects)}
            <form class="inline" @submit=${this.createProject}>
              <label class="wide">${t.newProjectName}<input name="name" required maxlength="100" /></label><button class="primary">${t.createProject}</button>
            </form>
            <h3>${t.keys.masterKeys}</h3>
            <p class="muted">${t.keys.masterText}</p>
            ${this.table(columns, this.rows(this.masters, "/master-keys"), t.keys.noMasters)} ${this.form("/master-keys", t.keys.createMaster)}`
        : nothing}
    `;
  }

  private form(path: string, verb: string): TemplateResult {
    return html`<form class="inline" @submit=${(event: SubmitEvent) => this.create(event, path)}>
      <label>${t.name}<input name="name" required maxlength="100" /></label>
      ${path === "/keys" ? html`<label>${t.environment}<select name="environment">${Object.entries(t.environments).map(([name, label]) => html`<option value=${name}>${label}</option>`)}</select></label>` : nothing}
      <label>${t.keys.ends}<input name="expires_at" type="datetime-local" /></label>
      <label>${t.networks}<input name="networks" placeholder="10.0.0.0/8" /></label>
      ${SCOPES.map((scope) => html`<label class="check"><input type="checkbox" name="scopes" value=${scope} />${scope}</label>`)}
      <button class="primary">${verb}</button>
      <span class="muted">${t.keys.help}</span>
    </form>`;
  }
}
