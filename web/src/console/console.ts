/** `/console`: administration for operators, developers and support. The key is kept in memory only. */
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { Api, asFailure, type Failure, optional } from "../shared/api.js";
import { scheme, theme } from "../shared/theme.js";
import { define } from "../viewer/elements.js";
import { type Filter, fromFragment } from "../viewer/filter.js";
import { AlertRules } from "./sections/alert-rules.js";
import { Alerts } from "./sections/alerts.js";
import { Destinations } from "./sections/destinations.js";
import { Keys } from "./sections/keys.js";
import { Log } from "./sections/log.js";
import { Overview } from "./sections/overview.js";
import { PortalSection } from "./sections/portal.js";
import { Redaction } from "./sections/redaction.js";
import { Streams } from "./sections/streams.js";
import { Tiers } from "./sections/tiers.js";
import { UsageSection } from "./sections/usage.js";
import { Webhooks } from "./sections/webhooks.js";
import { type Project, Session } from "./session.js";

interface Entry {
  path: string;
  label: string;
  content: (session: Session) => TemplateResult;
}

const SECTIONS: Entry[] = [
  { path: "overview", label: "Overview", content: (session) => html`<console-overview .session=${session}></console-overview>` },
  { path: "events", label: "Events", content: events },
  { path: "alerts", label: "Alerts", content: (session) => html`<console-alerts .session=${session} .wanted=${linked().alert}></console-alerts>` },
  { path: "rules", label: "Alert rules", content: (session) => html`<console-rules .session=${session}></console-rules>` },
  { path: "webhooks", label: "Webhooks", content: (session) => html`<console-webhooks .session=${session}></console-webhooks>` },
  { path: "destinations", label: "Destinations", content: (session) => html`<console-destinations .session=${session}></console-destinations>` },
  { path: "redaction", label: "Redaction", content: (session) => html`<console-redaction .session=${session}></console-redaction>` },
  { path: "tiers", label: "Viewer tiers", content: (session) => html`<console-tiers .session=${session}></console-tiers>` },
  { path: "portal", label: "Portal", content: (session) => html`<console-portal .session=${session}></console-portal>` },
  { path: "keys", label: "Projects and keys", content: (session) => html`<console-keys .session=${session}></console-keys>` },
  { path: "streams", label: "Streams", content: (session) => html`<console-streams .session=${session}></console-streams>` },
  { path: "usage", label: "Usage and plan", content: (session) => html`<console-usage .session=${session}></console-usage>` },
  { path: "log", label: "Verifiable log", content: (session) => html`<console-log .session=${session}></console-log>` },
];

/** What a link to an alert names: its id, its project and its environment. */
function linked(): { alert?: string; project?: string; environment?: "live" | "test" } {
  const [path, query = ""] = location.hash.split("?");
  const names = new URLSearchParams(query);
  const alert = names.get("alert") ?? "";
  if (path !== "#/alerts" || !/^alt_[0-9A-Z]{26}$/.test(alert)) return {};
  return { alert, project: names.get("project") ?? "", environment: names.get("environment") === "test" ? "test" : "live" };
}

/** The viewer with the key of the session. A filter or an event of the URL is shown. */
function events(session: Session): TemplateResult {
  const [, query = ""] = location.hash.split("?");
  const { filter, event } = fromFragment(query);
  const { key, project, environment } = session;
  return html`<audit-log-viewer lang="en" .token=${key} .projectId=${project?.id} .environment=${environment} .filter=${memo(filter)} .wanted=${event}></audit-log-viewer>`;
}

let lastFilter: Filter = {};
/** The same object for the same filter: another one would read the list again. */
function memo(filter: Filter): Filter {
  if (JSON.stringify(filter) !== JSON.stringify(lastFilter)) lastFilter = filter;
  return lastFilter;
}

class Console extends LitElement {
  static override properties = {
    session: { state: true },
    failure: { state: true },
    path: { state: true },
    isBusy: { state: true },
  };
  declare private session: Session | undefined;
  declare private failure: Failure | undefined;
  declare private path: string;
  declare private isBusy: boolean;

  static override styles = [
    theme,
    scheme,
    css`
      :host { display: flex; flex-direction: column; height: 100vh; height: 100dvh; background: var(--bg); }
      .bar { display: flex; flex-wrap: wrap; gap: 6px 10px; align-items: center; padding: 8px 14px; border-bottom: 1px solid var(--border); }
      .bar h1 { margin: 0 auto 0 0; font-size: 1.1em; font-weight: 600; } .bar h1 a { color: inherit; text-decoration: none; }
      .bar .test { background: var(--warn-bg); color: var(--warn); padding: 3px 10px; border-radius: 12px; }
      .main { display: flex; flex: 1; min-height: 0; }
      nav { flex: 0 0 178px; display: flex; flex-direction: column; gap: 1px; padding: 10px 8px; border-inline-end: 1px solid var(--border); background: var(--surface); overflow: auto; }
      nav a { padding: 6px 10px; border-radius: var(--radius); color: inherit; text-decoration: none; white-space: nowrap; }
      nav a:hover { background: var(--selected); } nav a[aria-current] { background: var(--selected); font-weight: 600; box-shadow: inset 3px 0 var(--accent); }
      .content { flex: 1; min-width: 0; min-height: 0; overflow: auto; display: flex; flex-direction: column; }
      .content > * { flex: 1; } audit-log-viewer { --audit-height: auto; min-height: 0; }
      .sign-in { margin: auto; width: min(420px, calc(100vw - 32px)); padding: 24px; border: 1px solid var(--border); border-radius: 10px; background: var(--surface); }
      .sign-in h1 { margin: 0 0 6px; font-size: 1.3em; } .sign-in label { display: flex; flex-direction: column; gap: 4px; margin: 14px 0; }
      @media (max-width: 720px) {
        .main { flex-direction: column; }
        nav { flex: none; flex-direction: row; border-inline-end: 0; border-bottom: 1px solid var(--border); padding: 4px 8px; }
        nav a[aria-current] { box-shadow: inset 0 -3px var(--accent); }
      }
    `,
  ];

  constructor() {
    super();
    this.path = this.pathOfHash();
    this.isBusy = false;
    addEventListener("hashchange", () => {
      this.path = this.pathOfHash();
      this.followLink();
      this.requestUpdate();
    });
  }

  private pathOfHash(): string {
    const path = location.hash.replace(/^#\//, "").split("?")[0] ?? "";
    return SECTIONS.some((section) => section.path === path) ? path : "overview";
  }

  private async signIn(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const input = (event.target as HTMLFormElement).elements.namedItem("key") as HTMLInputElement;
    const key = input.value.trim();
    input.value = "";
    this.isBusy = true;
    this.failure = undefined;
    try {
      this.session = await this.open(key);
    } catch (error) {
      this.failure = asFailure(error);
    } finally {
      this.isBusy = false;
    }
  }

  private async open(key: string): Promise<Session> {
    const api = new Api({ baseUrl: "", credential: key });
    const ended = (failure: Failure): void => {
      this.session = undefined;
      this.failure = failure;
    };
    if (!key.startsWith("mk_")) {
      const list = await optional(api.get<{ keys: { project_id: string }[] }>("/keys"));
      const id = list?.keys[0]?.project_id;
      const project = id === undefined ? undefined : { id, name: "", created_at: "" };
      return new Session(key, [], project, key.startsWith("pk_test_") ? "test" : "live", ended);
    }
    // A key without the scope `admin` works too, where the organization has one project.
    const projects = (await optional(api.get<{ projects: Project[] }>("/projects", { archived: "all" })))?.projects ?? [];
    const first = projects.find(({ archived_at }) => !archived_at) ?? projects[0];
    const link = linked();
    const project = projects.find(({ id }) => id === link.project) ?? first;
    return new Session(key, projects, project, link.environment ?? "live", ended);
  }

  /** Shows the project and the environment of a link to an alert. */
  private followLink(): void {
    const { session } = this;
    const { project: id, environment } = linked();
    if (!session?.isMaster || environment === undefined) return;
    const project = session.projects.find((project) => project.id === id) ?? session.project;
    if (project?.id === session.project?.id && environment === session.environment) return;
    this.session = session.with({ project, environment });
  }

  private onProject(event: Event): void {
    const id = (event.target as HTMLSelectElement).value;
    this.session = this.session?.with({ project: this.session.projects.find((project) => project.id === id) });
  }

  private onCreated(event: CustomEvent<Project>): void {
    const { session } = this;
    if (session) this.session = session.with({ projects: [...session.projects, event.detail], project: event.detail });
  }

  private onChanged({ detail }: CustomEvent<Project>): void {
    const { session } = this;
    if (!session) return;
    const projects = session.projects.map((project) => (project.id === detail.id ? detail : project));
    this.session = session.with({ projects, project: projects.find(({ id }) => id === session.project?.id) });
  }

  override render(): TemplateResult {
    return this.session ? this.workspace(this.session) : this.signInForm();
  }

  private signInForm(): TemplateResult {
    const { failure } = this;
    return html`<form class="sign-in" @submit=${this.signIn}>
      <h1>Audit log console</h1>
      <p class="muted">Sign in with a master key or a project key. The key stays in this page: reloading or closing it signs you out.</p>
      ${failure ? html`<p class="notice bad" role="alert">${failure.message}</p>` : nothing}
      <label>Key<input name="key" type="password" required autocomplete="off" spellcheck="false" placeholder="mk_… or pk_…" autofocus /></label>
      <button class="primary" ?disabled=${this.isBusy}>${this.isBusy ? "Signing in …" : "Sign in"}</button>
    </form>`;
  }

  private workspace(session: Session): TemplateResult {
    const section = SECTIONS.find(({ path }) => path === this.path) ?? SECTIONS[0];
    document.title = `${section?.label ?? ""} · Audit log`;
    const { isMaster, projects, project, environment } = session;
    return html`
      <header class="bar">
        <h1><a href="#/overview">Audit log</a></h1>
        ${environment === "test" ? html`<span class="test">test environment</span>` : nothing}
        ${isMaster
          ? html`<select aria-label="Project" @change=${this.onProject}>${projects.map(({ id, name, archived_at }) => html`<option value=${id} .selected=${id === project?.id}>${name}${archived_at ? " (archived)" : ""}</option>`)}</select>
              <select aria-label="Environment" @change=${(event: Event) => (this.session = session.with({ environment: (event.target as HTMLSelectElement).value as "live" | "test" }))}>
                ${(["live", "test"] as const).map((name) => html`<option .selected=${name === environment}>${name}</option>`)}
              </select>`
          : html`<span class="muted">project key</span>`}
        <button @click=${() => (this.session = undefined)}>Sign out</button>
      </header>
      <div class="main">
        <nav aria-label="Console">${SECTIONS.map(({ path, label }) => html`<a href="#/${path}" aria-current=${path === section?.path ? "page" : nothing}>${label}</a>`)}</nav>
        <div class="content" @project-created=${this.onCreated} @project-changed=${this.onChanged}>${section?.content(session)}</div>
      </div>
    `;
  }
}

define();
const elements: [string, CustomElementConstructor][] = [
  ["console-overview", Overview], ["console-alerts", Alerts], ["console-rules", AlertRules], ["console-webhooks", Webhooks], ["console-destinations", Destinations],
  ["console-redaction", Redaction], ["console-tiers", Tiers], ["console-keys", Keys], ["console-streams", Streams], ["console-portal", PortalSection], ["console-usage", UsageSection], ["console-log", Log],
  ["console-page", Console],
];
for (const [name, element] of elements) customElements.define(name, element);
document.querySelector("#app")?.append(document.createElement("console-page"));
