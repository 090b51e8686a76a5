/** `/portal`: the viewer on a page of its own. The token comes in the fragment, which browsers send to no server. */
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { Api } from "../shared/api.js";
import { EMPTY_LOOK, type PortalLook, readPortalLook } from "../shared/portal-look.js";
import { scheme, theme } from "../shared/theme.js";
import { visible } from "../shared/visible.js";
import { define } from "../viewer/elements.js";
import { claimsOf, tenantOf } from "../viewer/filter.js";
import { chooseLanguage, languageNames } from "../viewer/languages/index.js";
import type { AuditLogViewer } from "../viewer/viewer.js";
import { PortalDestinations } from "./destinations.js";
import { arrive, leave, projectOfAddress, readSignInPage, showProject, withReturn } from "./sign-in.js";
import { textsOf } from "./texts.js";

/** Names in the fragment that are no part of a view. */
const OWN = ["token", "key", "lang", "theme"] as const;
type Own = Partial<Record<(typeof OWN)[number], string>>;

/** Takes its own names out of the fragment and out of the address bar and the history. */
function takeFragment(): Own {
  const query = new URLSearchParams(location.hash.slice(1));
  const own: Own = {};
  for (const name of OWN) {
    // What an application adds to the address of a view is behind whatever was there.
    const value = query.getAll(name).at(-1);
    if (value !== undefined) own[name] = value;
    query.delete(name);
  }
  const rest = query.toString();
  if (Object.keys(own).length > 0) history.replaceState(null, "", `${location.pathname}${location.search}${rest && `#${rest}`}`);
  return own;
}

const THEMES = ["auto", "light", "dark"] as const;

class Portal extends LitElement {
  static override properties = {
    token: { state: true },
    key: { state: true },
    language: { state: true },
    look: { state: true },
    showsDestinations: { state: true },
    signInPage: { state: true },
    isAsking: { state: true },
    theme: { reflect: true },
  };
  declare private token: string;
  declare private key: string | undefined;
  declare private language: string;
  declare private look: PortalLook;
  declare private showsDestinations: boolean;
  /** Shown to a reader whose token does not work. */
  declare private signInPage: URL | undefined;
  /** Whether the reader is about to be sent to sign in. */
  declare private isAsking: boolean;
  /** Whether a token of this page has worked. */
  private hasRead = false;
  declare theme: string;

  static override styles = [
    theme,
    scheme,
    css`
      :host { display: flex; flex-direction: column; min-height: 100vh; min-height: 100dvh; background: var(--bg); }
      header { display: flex; flex-wrap: wrap; align-items: center; gap: 6px 12px; padding: 8px 12px; border-bottom: 1px solid var(--border); }
      h1 { margin: 0; min-width: 0; font-size: 1.15em; font-weight: 600; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; unicode-bidi: isolate; }
      img { max-height: 28px; max-width: 140px; flex: none; }
      .tenant { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
      select { border-color: transparent; background: transparent; }
      select:hover { border-color: var(--control); }
      @media (max-width: 480px) { header { gap: 2px 12px; padding: 4px 8px; } h1 { flex: 1; } .tenant { order: 1; flex-basis: 100%; } .tenant:empty { display: none; } img { max-width: 72px; } select { width: 92px; padding: 3px 0; } }
      @media (max-height: 500px) { header { padding-block: 2px; } }
      @media print { :host { min-height: 0; } select { display: none; } }
      audit-log-viewer { flex: 1 0 auto; --audit-height: auto; }
    `,
  ];

  constructor() {
    super();
    this.token = "";
    this.theme = "auto";
    this.look = EMPTY_LOOK;
    this.showsDestinations = false;
    this.isAsking = false;
    this.language = chooseLanguage(navigator.languages).name.split("-")[0] ?? "en";
    this.take();
    if (!this.token) void this.askToSignIn();
    // A link that is opened in the same tab changes the fragment alone.
    addEventListener("hashchange", () => this.take());
  }

  private take(): void {
    const { token, key, lang, theme: wanted } = takeFragment();
    if (token !== undefined) this.token = token;
    if (token) {
      this.signInPage = undefined;
      const project = claimsOf(token)?.sub;
      if (project) showProject(project);
      void this.readLook(token);
    }
    // A plus sign that nobody encoded is read as a space, and keys have no spaces.
    if (key !== undefined) this.key = key.replaceAll(" ", "+");
    if (lang !== undefined) this.language = chooseLanguage([lang]).name.split("-")[0] ?? "en";
    if (THEMES.some((name) => name === wanted)) this.theme = wanted ?? "auto";
  }

  /** Without a name and a logo the page has a title of its own; the viewer says what is wrong with a token. */
  private async readLook(token: string): Promise<void> {
    const look = await readPortalLook(new Api({ baseUrl: "", credential: token })).catch(() => undefined);
    if (token !== this.token) return;
    if (look) {
      this.hasRead = true;
      arrive();
    }
    this.look = look ?? EMPTY_LOOK;
    if (this.look.destination_kinds.length === 0) this.showsDestinations = false;
  }

  /** Sends a reader whose token does not work to sign in. Who is reading, or was sent there a moment ago, gets a link to click. */
  private async askToSignIn(): Promise<void> {
    const { token } = this;
    const project = projectOfAddress();
    if (!project) return;
    this.isAsking = !this.hasRead;
    const page = await readSignInPage(project).catch(() => undefined);
    await this.updateComplete;
    const isSame = token === this.token;
    // Pages to sign in do not let themselves be framed.
    if (page && isSame && !this.hasRead && window.top === window && leave()) {
      location.replace(withReturn(page, this.link));
      return;
    }
    if (isSame) this.signInPage = page;
    this.isAsking = false;
  }

  /** The link to what is shown, without the token. */
  private get link(): string {
    return this.renderRoot.querySelector<AuditLogViewer>("audit-log-viewer")?.link ?? location.href;
  }

  private signInLink(): TemplateResult | typeof nothing {
    const { signInPage: page } = this;
    if (!page) return nothing;
    const { signIn } = textsOf(this.language);
    return html`<a class="button" slot="sign-in" target="_top" href=${withReturn(page, this.link)}>${signIn(page.host)}</a>`;
  }

  override render(): TemplateResult {
    const { messages: t } = chooseLanguage([this.language]);
    const { name, logo, destination_kinds: kinds } = this.look;
    const { title: destinations } = textsOf(this.language);
    document.documentElement.lang = this.language;
    document.documentElement.dir = t.direction;
    document.title = name ? `${visible(name)} · ${t.title}` : t.title;
    const names = new Intl.DisplayNames([this.language], { type: "language" });
    return html`
      <header>
        ${logo ? html`<img src=${logo} alt="" />` : nothing}
        <h1>${visible(name ?? t.title)}</h1>
        <span class="tenant muted">${visible(tenantOf(this.token) ?? "")}</span>
        ${kinds.length > 0 ? html`<button aria-pressed=${this.showsDestinations ? "true" : "false"} @click=${() => (this.showsDestinations = !this.showsDestinations)}>${destinations}</button>` : nothing}
        <select aria-label=${t.language} @change=${(event: Event) => (this.language = (event.target as HTMLSelectElement).value)}>
          ${languageNames().map((name) => html`<option value=${name} .selected=${name === this.language}>${names.of(name) ?? name}</option>`)}
        </select>
        <select aria-label=${t.theme} @change=${(event: Event) => (this.theme = (event.target as HTMLSelectElement).value)}>
          ${THEMES.map((name) => html`<option value=${name} .selected=${name === this.theme}>${t.themes[name]}</option>`)}
        </select>
      </header>
      ${this.showsDestinations ? html`<audit-log-portal-destinations .token=${this.token} .kinds=${kinds} .language=${this.language}></audit-log-portal-destinations>` : nothing}
      <audit-log-viewer fragment ?hidden=${this.showsDestinations || this.isAsking} .token=${this.token} .pinnedKey=${this.key} lang=${this.language} theme=${this.theme}
        @audit-token-expired=${() => this.askToSignIn()} @audit-view-changed=${() => this.requestUpdate()}>${this.signInLink()}</audit-log-viewer>
    `;
  }
}

define();
customElements.define("audit-log-portal-destinations", PortalDestinations);
customElements.define("audit-log-portal", Portal);
document.querySelector("#app")?.append(document.createElement("audit-log-portal"));
