/** `/console`: administration for operators, developers and support. No script of the page can read the key once it is signed in. */
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { Api, asFailure, Failure, optional } from "../shared/api.js";
import { scheme, theme } from "../shared/theme.js";
import { define } from "../viewer/elements.js";
import { type Address, hashOf, readAddress, withoutItem } from "./address.js";
import { chooseAndRemember, followLanguage, language, LANGUAGE_NAMES, preferredLanguage, showLanguage, t } from "./languages/index.js";
import { messageOf } from "./section.js";
import { Actions } from "./sections/actions.js";
import { AlertRules } from "./sections/alert-rules.js";
import { Alerts } from "./sections/alerts.js";
import { Destinations } from "./sections/destinations.js";
import { Erasures } from "./sections/erasures.js";
import { Events } from "./sections/events.js";
import { FirstSteps } from "./sections/first-steps.js";
import { Keys } from "./sections/keys.js";
import { Log } from "./sections/log.js";
import { Overview } from "./sections/overview.js";
import { PartySection } from "./sections/party.js";
import { PortalSection } from "./sections/portal.js";
import { Redaction } from "./sections/redaction.js";
import { RetentionSection } from "./sections/retention.js";
import { Streams } from "./sections/streams.js";
import { Tiers } from "./sections/tiers.js";
import { UsageSection } from "./sections/usage.js";
import { Webhooks } from "./sections/webhooks.js";
import { beginSession, currentSession, endSession, type Project, Session } from "./session.js";

interface Entry {
  path: keyof typeof t.sections;
  /** Whether links of other sections lead to it, and none of the navigation. */
  isLinked?: true;
  /** What is shown. `query` is the part of the address that belongs to the section. */
  content: (session: Session, query: string) => TemplateResult;
}

const SECTIONS: Entry[] = [
  { path: "overview", content: (session, query) => html`<console-overview .session=${session} .query=${query}></console-overview>` },
  { path: "events", content: (session, query) => html`<console-events .session=${session} .query=${query}></console-events>` },
  { path: "actor", isLinked: true, content: (session, query) => html`<console-party .kind=${"actor"} .session=${session} .query=${query}></console-party>` },
  { path: "target", isLinked: true, content: (session, query) => html`<console-party .kind=${"target"} .session=${session} .query=${query}></console-party>` },
  { path: "alerts", content: (session, query) => html`<console-alerts .session=${session} .query=${query}></console-alerts>` },
  { path: "rules", content: (session, query) => html`<console-rules .session=${session} .query=${query}></console-rules>` },
  { path: "webhooks", content: (session, query) => html`<console-webhooks .session=${session} .query=${query}></console-webhooks>` },
  { path: "destinations", content: (session, query) => html`<console-destinations .session=${session} .query=${query}></console-destinations>` },
  { path: "retention", content: (session, query) => html`<console-retention .session=${session} .query=${query}></console-retention>` },
  { path: "erasures", content: (session, query) => html`<console-erasures .session=${session} .query=${query}></console-erasures>` },
  { path: "redaction", content: (session, query) => html`<console-redaction .session=${session} .query=${query}></console-redaction>` },
  { path: "tiers", content: (session, query) => html`<console-tiers .session=${session} .query=${query}></console-tiers>` },
  { path: "actions", content: (session, query) => html`<console-actions .session=${session} .query=${query}></console-actions>` },
  { path: "portal", content: (session, query) => html`<console-portal .session=${session} .query=${query}></console-portal>` },
  { path: "keys", content: (session, query) => html`<console-keys .session=${session} .query=${query}></console-keys>` },
  { path: "streams", content: (session, query) => html`<console-streams .session=${session} .query=${query}></console-streams>` },
  { path: "usage", content: (session, query) => html`<console-usage .session=${session} .query=${query}></console-usage>` },
  { path: "log", content: (session, query) => html`<console-log .session=${session} .query=${query}></console-log>` },
];

const sessionEnded = (): Failure => new Failure("expired", t.sessionEnded, 401);
/** The failure of a request with a session. The server knows no session that was ended. */
const inWords = (failure: Failure): Failure => (failure.code === "unauthorized" ? sessionEnded() : failure);

class Console extends LitElement {
  static override properties = {
    session: { state: true },
    failure: { state: true },
    address: { state: true },
    isBusy: { state: true },
    isResumed: { state: true },
  };
  declare private session: Session | undefined;
  declare private failure: Failure | undefined;
  /** What is shown. The address bar is the only place where it is kept, so that Back, Forward and a reload lead to it. */
  declare private address: Address;
  declare private isBusy: boolean;
  /** Whether it is known if the browser has a session. */
  declare private isResumed: boolean;

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
      .content > :not(.notice) { flex: 1; } .content > .notice { margin: 10px 20px 0; }
      .sign-in { margin: auto; width: min(420px, calc(100vw - 32px)); padding: 24px; border: 1px solid var(--border); border-radius: 10px; background: var(--surface); }
      .sign-in h1 { margin: 0 0 6px; font-size: 1.3em; } .sign-in label { display: flex; flex-direction: column; gap: 4px; margin: 14px 0; }
      .sign-in .actions { display: flex; justify-content: space-between; gap: 10px; }
      @media (max-width: 720px) {
        .main { flex-direction: column; }
        nav { flex: none; flex-direction: row; border-inline-end: 0; border-bottom: 1px solid var(--border); padding: 4px 8px; }
        nav a[aria-current] { box-shadow: inset 0 -3px var(--accent); }
      }
    `,
  ];

  constructor() {
    super();
    followLanguage(this);
    this.address = readAddress();
    this.isBusy = false;
    this.isResumed = false;
    void this.resume();
    addEventListener("hashchange", () => {
      this.address = readAddress();
      this.session = this.session && this.follow(this.session);
    });
  }

  private async signIn(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const input = (event.target as HTMLFormElement).elements.namedItem("key") as HTMLInputElement;
    const key = input.value.trim();
    input.value = "";
    await this.attempt(async () => {
      // First with the key itself: one that does not work begins no session.
      const opened = await this.open(key);
      this.session = this.follow(opened.as(await beginSession(key)));
    });
  }

  /** Goes on with the session of the browser, if it has one. */
  private async resume(): Promise<void> {
    await this.attempt(async () => {
      const credential = await currentSession();
      if (credential) this.session = this.follow(await this.open(credential));
    });
    if (this.failure) this.failure = inWords(this.failure);
    this.isResumed = true;
  }

  private signOut(): Promise<void> {
    return this.attempt(async () => {
      if (this.session) await endSession(this.session);
      this.session = undefined;
    });
  }

  private async attempt(work: () => Promise<void>): Promise<void> {
    this.isBusy = true;
    this.failure = undefined;
    try {
      await work();
    } catch (error) {
      this.failure = asFailure(error);
    } finally {
      this.isBusy = false;
    }
  }

  private async open(credential: string): Promise<Session> {
    const api = new Api({ baseUrl: "", credential });
    const ended = (failure: Failure): void => {
      this.session = undefined;
      this.failure = inWords(failure);
    };
    if (!api.isMaster) {
      const list = await optional(api.get<{ keys: { project_id: string }[] }>("/keys"));
      const id = list?.keys[0]?.project_id;
      const project = id === undefined ? undefined : { id, name: "", created_at: "" };
      return new Session(credential, [], project, api.isTest ? "test" : "live", ended);
    }
    // A key without the scope `admin` works too, where the organization has one project.
    const projects = (await optional(api.get<{ projects: Project[] }>("/projects", { archived: "all" })))?.projects ?? [];
    const first = projects.find(({ archived_at }) => !archived_at) ?? projects[0];
    return new Session(credential, projects, first, "live", ended);
  }

  /** The session with the project and the environment of the address, which gets those that it does not name. */
  private follow(session: Session): Session {
    const { path, query, ...wanted } = this.address;
    const project = session.projects.find(({ id }) => id === wanted.project) ?? session.project;
    const environment = wanted.environment ?? session.environment;
    const isSame = !session.isMaster || (project?.id === session.project?.id && environment === session.environment);
    const next = isSame ? session : session.with({ project, environment });
    if (!this.isElsewhere(next)) history.replaceState(history.state, "", hashOf(path, query, next));
    return next;
  }

  /** Whether the address is one of another project or environment than the key can show. */
  private isElsewhere({ project, environment }: Session): boolean {
    const { address } = this;
    return (address.project ?? project?.id) !== project?.id || (address.environment ?? environment) !== environment;
  }

  /** Shows another project or environment: the filters stay, the open item is not there. */
  private look(changes: { project?: Project | undefined; environment?: "live" | "test" }): void {
    const { path, query } = this.address;
    if (this.session) location.hash = hashOf(path, withoutItem(query), this.session.with(changes));
  }

  private onProject(event: Event): void {
    const id = (event.target as HTMLSelectElement).value;
    this.look({ project: this.session?.projects.find((project) => project.id === id) });
  }

  /** The viewer of a section has found that the session does not count any more. Another viewer has a token of its own. */
  private onExpired(event: CustomEvent): void {
    const { session } = this;
    const viewer = event.composedPath()[0] as { token?: string };
    if (session && viewer.token === session.credential) session.onEnded(sessionEnded());
  }

  private onCreated(event: CustomEvent<Project>): void {
    const { session } = this;
    if (!session) return;
    this.session = session.with({ projects: [...session.projects, event.detail] });
    // The overview of a project without events has its first steps.
    location.hash = hashOf("overview", "", session.with({ project: event.detail }));
  }

  private onChanged({ detail }: CustomEvent<Project>): void {
    const { session } = this;
    if (!session) return;
    const projects = session.projects.map((project) => (project.id === detail.id ? detail : project));
    this.session = session.with({ projects, project: projects.find(({ id }) => id === session.project?.id) });
  }

  override render(): TemplateResult | typeof nothing {
    if (!this.isResumed) return nothing;
    return this.session ? this.workspace(this.session) : this.signInForm();
  }

  private languageSwitch(): TemplateResult {
    const onChange = async ({ target }: Event): Promise<void> => {
      const select = target as HTMLSelectElement;
      await chooseAndRemember(select.value);
      select.value = language;
    };
    return html`<select aria-label=${t.language} @change=${onChange}>${LANGUAGE_NAMES.map(([name, label]) => html`<option value=${name} lang=${name} .selected=${name === language}>${label}</option>`)}</select>`;
  }

  private notice(): TemplateResult | typeof nothing {
    return this.failure ? html`<p class="notice bad" role="alert">${messageOf(this.failure)}</p>` : nothing;
  }

  private signInForm(): TemplateResult {
    document.title = t.title;
    return html`<form class="sign-in" @submit=${this.signIn}>
      <h1>${t.consoleTitle}</h1>
      <p class="muted">${t.signInText}</p>
      ${this.notice()}
      <label>${t.key}<input name="key" type="password" required autocomplete="off" spellcheck="false" placeholder=${t.keyHint} autofocus /></label>
      <div class="actions"><button class="primary" ?disabled=${this.isBusy}>${this.isBusy ? t.signingIn : t.signIn}</button>${this.languageSwitch()}</div>
    </form>`;
  }

  private workspace(session: Session): TemplateResult {
    const { address } = this;
    const section = SECTIONS.find(({ path }) => path === address.path) ?? SECTIONS[0];
    const current = section?.isLinked ? "events" : section?.path;
    document.title = `${section ? t.sections[section.path] : ""} · ${t.title}`;
    const { isMaster, projects, project, environment } = session;
    return html`
      <header class="bar">
        <h1><a href=${hashOf("overview", "", session)}>${t.title}</a></h1>
        ${environment === "test" ? html`<span class="test">${t.testEnvironment}</span>` : nothing}
        ${isMaster
          ? html`<select aria-label=${t.project} @change=${this.onProject}>${projects.map(({ id, name, archived_at }) => html`<option value=${id} .selected=${id === project?.id}>${archived_at ? t.archivedProject(name) : name}</option>`)}</select>
              <select aria-label=${t.environment} @change=${(event: Event) => this.look({ environment: (event.target as HTMLSelectElement).value as "live" | "test" })}>
                ${(["live", "test"] as const).map((name) => html`<option value=${name} .selected=${name === environment}>${t.environments[name]}</option>`)}
              </select>`
          : html`<span class="muted">${t.projectKey(t.environments[environment] ?? environment)}</span>`}
        ${this.languageSwitch()}
        <button ?disabled=${this.isBusy} @click=${this.signOut}>${t.signOut}</button>
      </header>
      <div class="main">
        <nav aria-label=${t.console}>${SECTIONS.filter(({ isLinked }) => !isLinked).map(({ path }) => html`<a href=${hashOf(path, "", session)} aria-current=${path === current ? "page" : nothing}>${t.sections[path]}</a>`)}</nav>
        <div class="content" @audit-token-expired=${this.onExpired} @project-created=${this.onCreated} @project-changed=${this.onChanged}>
          ${this.isElsewhere(session) ? html`<p class="notice" role="alert">${t.elsewhere}</p>` : nothing}
          ${this.notice()}
          ${section?.content(session, address.query)}
        </div>
      </div>
    `;
  }
}

define();
const elements: [string, CustomElementConstructor][] = [
  ["console-overview", Overview], ["console-first-steps", FirstSteps], ["console-events", Events], ["console-party", PartySection], ["console-alerts", Alerts], ["console-rules", AlertRules], ["console-webhooks", Webhooks], ["console-destinations", Destinations], ["console-retention", RetentionSection], ["console-erasures", Erasures],
  ["console-redaction", Redaction], ["console-tiers", Tiers], ["console-keys", Keys], ["console-streams", Streams], ["console-actions", Actions], ["console-portal", PortalSection], ["console-usage", UsageSection], ["console-log", Log],
  ["console-page", Console],
];
for (const [name, element] of elements) customElements.define(name, element);
await showLanguage(preferredLanguage());
document.querySelector("#app")?.append(document.createElement("console-page"));
