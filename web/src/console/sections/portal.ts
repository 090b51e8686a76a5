import { css, html, nothing, type TemplateResult } from "lit";
import type { Api } from "../../shared/api.js";
import { KINDS, labelOf } from "../../shared/destination-kinds.js";
import { labelsOf } from "../../shared/destination-labels.js";
import { EMPTY_LOOK, isLogo, type PortalLook, readPortalLook } from "../../shared/portal-look.js";
import { language, numbers, t } from "../languages/index.js";
import { fieldsOf, Section } from "../section.js";

const LOGO_BYTES_MAX = 65_536;
/** The link of the console lives this long. */
const LINK_SECONDS = 3_600;

/** Name and logo of the portal, where its readers sign in, and links to it. */
export class PortalSection extends Section {
  static override properties = { look: { state: true } };
  static override styles = [Section.styles, css`.look { display: flex; align-items: center; gap: 12px; margin: 12px 0; } .look img { max-height: 48px; max-width: 200px; }`];
  declare private look: PortalLook;
  protected get heading(): string {
    return t.sections.portal;
  }
  protected get text(): string {
    return t.portal.text;
  }

  constructor() {
    super();
    this.look = EMPTY_LOOK;
  }

  protected override async load(api: Api): Promise<void> {
    this.look = await readPortalLook(api);
  }

  private storeKinds(event: SubmitEvent): void {
    event.preventDefault();
    const chosen = new FormData(event.target as HTMLFormElement).getAll("kinds").map(String);
    void this.store({ destination_kinds: chosen.length === Object.keys(KINDS).length ? null : chosen }, t.portal.kindsStored);
  }

  private store(change: { [name in keyof PortalLook]?: PortalLook[name] | null }, notice: string): Promise<boolean> {
    return this.change(() => this.session.api.send("PATCH", "/portal", change), notice);
  }

  private async onLogo(event: Event): Promise<void> {
    const input = event.target as HTMLInputElement;
    const file = input.files?.[0];
    if (!file) return;
    const logo = await dataUrl(file);
    await this.attempt(() => {
      if (file.size > LOGO_BYTES_MAX) throw new Error(t.portal.tooLarge(numbers.format(file.size), numbers.format(LOGO_BYTES_MAX)));
      if (!isLogo(logo)) throw new Error(t.portal.noImage);
      return Promise.resolve();
    });
    if (!this.failure) await this.store({ logo }, t.portal.logoStored);
    input.value = "";
  }

  private async link(event: SubmitEvent): Promise<void> {
    const { tenant_id = "", tier = "" } = fieldsOf(event);
    await this.attempt(async () => {
      const body = { tenant_id, ...(tier ? { tier } : {}), expires_in: LINK_SECONDS, portal: true };
      const { portal_url } = await this.session.issueViewerToken<{ portal_url: string }>(body);
      this.reveal(t.portal.linkTitle(tenant_id), portal_url);
    });
  }

  protected override content(): TemplateResult {
    const { look } = this;
    const { isMaster } = this.session;
    return html`${this.masterOnly()}
      <div class="look">${look.logo ? html`<img src=${look.logo} alt=${t.portal.logo} />` : html`<span class="muted">${t.portal.noLogo}</span>`}<b>${look.name ?? t.title}</b></div>
      ${isMaster
        ? html`<form class="inline" @submit=${(event: SubmitEvent) => this.store({ name: fieldsOf(event)["name"] ?? null }, t.portal.nameStored)}>
              <label class="wide">${t.portal.nameLabel}<input name="name" maxlength="100" .value=${look.name ?? ""} /></label>
              <button class="primary">${t.portal.storeName}</button>
            </form>
            <form class="inline" @submit=${(event: SubmitEvent) => event.preventDefault()}>
              <label class="wide">${t.portal.logoLabel}<input type="file" accept="image/png,image/jpeg,image/webp" @change=${this.onLogo} /></label>
              ${look.logo ? html`<button @click=${() => this.store({ logo: null }, t.portal.logoRemoved)}>${t.portal.removeLogo}</button>` : nothing}
            </form>
            <form class="inline" @submit=${this.storeKinds}>
              <fieldset><legend>${t.portal.kinds}</legend>
                ${Object.keys(KINDS).map((name) => html`<label class="check"><input type="checkbox" name="kinds" value=${name} .checked=${look.destination_kinds.includes(name)} />${labelOf(name, labelsOf(language))}</label>`)}
              </fieldset>
              <button class="primary">${t.portal.storeKinds}</button>
            </form>
            <form class="inline" @submit=${(event: SubmitEvent) => this.store({ sign_in_url: fieldsOf(event)["sign_in_url"] ?? null }, t.portal.signInStored)}>
              <label class="wide">${t.portal.signInLabel}<input name="sign_in_url" type="url" maxlength="2048" placeholder="https://app.example.com/audit-log/sign-in" .value=${look.sign_in_url ?? ""} /></label>
              <button class="primary">${t.portal.storeSignIn}</button>
            </form>`
        : nothing}
      <h3>${t.portal.link}</h3>
      <p>${t.portal.linkText}</p>
      <form class="inline" @submit=${this.link}>
        <label>${t.tenant}<input name="tenant_id" required maxlength="256" /></label>
        <label>${t.tier}<input name="tier" placeholder="standard" maxlength="64" /></label>
        <button class="primary">${t.portal.createLink}</button>
      </form>`;
  }
}

function dataUrl(file: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error(t.portal.unreadable));
    reader.readAsDataURL(file);
  });
}
