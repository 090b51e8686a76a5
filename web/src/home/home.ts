/** `/`: what this is, where to go, and whether the server is ready. */
import { css, html, LitElement, type TemplateResult } from "lit";
import { scheme, theme } from "../shared/theme.js";

declare const VERSION: string;

const LINKS = [
  { href: "/console", title: "Console", text: "For operators, developers and support: events, alerts, rules, webhooks, keys. Needs a master key or a project key." },
  { href: "/portal", title: "Portal", text: "For customers: their own events, with a proof of each. Opens from a link that your application makes." },
  { href: "/docs", title: "API", text: "Every endpoint of the HTTP API. The OpenAPI document is at /api/v1/openapi.json." },
  { href: "/viewer.js", title: "Viewer component", text: "A web component that shows a customer's events in your own application." },
];

class Home extends LitElement {
  static override properties = { readiness: { state: true } };
  declare private readiness: "unknown" | "ready" | "not ready";

  static override styles = [
    theme,
    scheme,
    css`
      :host { display: block; min-height: 100vh; background: var(--bg); --size: 15px; }
      .page { max-width: 760px; margin: 0 auto; padding: 48px 20px; }
      h1 { margin: 0 0 8px; font-size: 1.7em; } p { margin: 0 0 14px; }
      ul { list-style: none; padding: 0; display: grid; grid-template-columns: repeat(auto-fit, minmax(min(300px, 100%), 1fr)); gap: 12px; margin: 28px 0; }
      li { border: 1px solid var(--border); border-radius: 10px; padding: 14px 16px; background: var(--surface); }
      li a { font-weight: 600; } li p { margin: 4px 0 0; color: var(--muted); font-size: 0.94em; }
      .state { display: inline-flex; align-items: center; gap: 8px; color: var(--muted); }
      .state i { width: 10px; height: 10px; border-radius: 50%; background: var(--muted); }
      .state.ready i { background: var(--good); } .state.not i { background: var(--bad); }
    `,
  ];

  constructor() {
    super();
    this.readiness = "unknown";
    void this.look();
  }

  private async look(): Promise<void> {
    const isReady = await fetch("/readyz", { cache: "no-store" }).then((response) => response.ok, () => false);
    this.readiness = isReady ? "ready" : "not ready";
  }

  override render(): TemplateResult {
    return html`<div class="page">
      <h1>Audit log</h1>
      <p>Applications report who did what, when and to whose data. This service keeps those reports as records that cannot be changed unnoticed.</p>
      <span class="state ${this.readiness}" role="status"><i></i>Version ${VERSION} · ${this.readiness}</span>
      <ul>${LINKS.map(({ href, title, text }) => html`<li><a href=${href}>${title}</a><p>${text}</p></li>`)}</ul>
    </div>`;
  }
}

customElements.define("audit-home", Home);
document.querySelector("#app")?.append(document.createElement("audit-home"));
