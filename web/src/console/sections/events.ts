import { css, html, LitElement, type PropertyValues, type TemplateResult } from "lit";
import { theme } from "../../shared/theme.js";
import { fromFragment, isSameStep, toFragment } from "../../viewer/filter.js";
import type { PageOf } from "../../viewer/event-details.js";
import type { AuditLogViewer } from "../../viewer/viewer.js";
import { changed, hashOf, readAddress } from "../address.js";
import { followLanguage, language, t } from "../languages/index.js";
import type { Session } from "../session.js";

/** The name in the address of the service's own events: they are shown. */
const OWN = "own";

/** The viewer with the key of the session. Its view is in the address. The service's own events are behind a switch. */
export class Events extends LitElement {
  static override properties = { session: { attribute: false }, query: { attribute: false } };
  declare session: Session;
  declare query: string;

  static override styles = [
    theme,
    css`
      :host { display: flex; flex-direction: column; min-height: 0; }
      audit-log-viewer { --audit-height: auto; flex: 1; min-height: 0; }
      label { display: flex; align-items: center; gap: 6px; padding: 6px 14px 0; }
    `,
  ];

  constructor() {
    super();
    followLanguage(this);
  }

  private get isOwnShown(): boolean {
    return new URLSearchParams(this.query).has(OWN);
  }

  private get viewer(): AuditLogViewer | null {
    return this.renderRoot.querySelector("audit-log-viewer");
  }

  override updated(properties: PropertyValues): void {
    const { viewer } = this;
    if (!viewer || !properties.has("query")) return;
    const view = fromFragment(this.query);
    if (toFragment(view) !== viewer.viewFragment) viewer.applyView(view);
  }

  /** Puts the view into the address. Back leads to the view before, not through each letter and each event on the way. */
  private onView({ detail: { fragment } }: CustomEvent<{ fragment: string }>): void {
    const before = fromFragment(readAddress().query);
    if (fragment === toFragment(before)) return;
    const hash = this.hashOf(fragment, this.isOwnShown);
    if (isSameStep(before, fromFragment(fragment))) location.replace(hash);
    else location.hash = hash;
  }

  private onOwn(event: Event): void {
    location.hash = this.hashOf(toFragment(fromFragment(this.query)), (event.target as HTMLInputElement).checked);
  }

  private hashOf(fragment: string, isOwnShown: boolean): string {
    const names = new URLSearchParams(fragment);
    if (isOwnShown) names.set(OWN, "shown");
    return hashOf("events", names.toString(), this.session);
  }

  /** The page of the actor or the target of an event. */
  private readonly pageOf: PageOf = (kind, id, tenant_id) => hashOf(kind, changed("", { id, tenant_id }), this.session);

  override render(): TemplateResult {
    const { credential, project, environment } = this.session;
    return html`<label><input type="checkbox" .checked=${this.isOwnShown} @change=${this.onOwn} />${t.showOwn}</label>
      <audit-log-viewer lang=${language} .token=${credential} .projectId=${project?.id} .environment=${environment} .withoutOwnEvents=${!this.isOwnShown} .pageOf=${this.pageOf}
        @audit-view-changed=${this.onView}></audit-log-viewer>`;
  }
}
