import { css, html, nothing, type TemplateResult } from "lit";
import type { Api } from "../../shared/api.js";
import { KINDS } from "../../shared/destination-kinds.js";
import { EMPTY_LOOK, isLogo, type PortalLook, readPortalLook } from "../../shared/portal-look.js";
import { fieldsOf, Section } from "../section.js";

const LOGO_BYTES_MAX = 65_536;
/** The link of the console lives this long. */
const LINK_SECONDS = 3_600;

/** Name and logo of the portal, and links to it. */
export class PortalSection extends Section {
  static override properties = { look: { state: true } };
  static override styles = [Section.styles, css`.look { display: flex; align-items: center; gap: 12px; margin: 12px 0; } .look img { max-height: 48px; max-width: 200px; }`];
  declare private look: PortalLook;
  protected readonly heading = "Portal";
  protected readonly text = "The portal shows the customers of this project their own events, under this name and logo.";

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
    void this.store({ destination_kinds: chosen.length === Object.keys(KINDS).length ? null : chosen }, "The kinds were stored.");
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
      if (file.size > LOGO_BYTES_MAX) throw new Error(`The file has ${file.size} bytes; at most ${LOGO_BYTES_MAX} are possible.`);
      if (!isLogo(logo)) throw new Error("The logo must be a PNG, JPEG or WebP image.");
      return Promise.resolve();
    });
    if (!this.failure) await this.store({ logo }, "The logo was stored.");
    input.value = "";
  }

  private async link(event: SubmitEvent): Promise<void> {
    const { tenant_id = "", tier = "" } = fieldsOf(event);
    await this.attempt(async () => {
      const body = { tenant_id, ...(tier ? { tier } : {}), expires_in: LINK_SECONDS, portal: true };
      const { portal_url } = await this.session.api.send<{ portal_url: string }>("POST", "/viewer-tokens", body);
      this.reveal(`The portal of ${tenant_id}, for an hour`, portal_url);
    });
  }

  protected override content(): TemplateResult {
    const { look } = this;
    const { isMaster } = this.session;
    return html`${this.masterOnly()}
      <div class="look">${look.logo ? html`<img src=${look.logo} alt="Logo" />` : html`<span class="muted">no logo</span>`}<b>${look.name ?? "Audit log"}</b></div>
      ${isMaster
        ? html`<form class="inline" @submit=${(event: SubmitEvent) => this.store({ name: fieldsOf(event)["name"] ?? null }, "The name was stored.")}>
              <label class="wide">Name (empty: “Audit log”)<input name="name" maxlength="100" .value=${look.name ?? ""} /></label>
              <button class="primary">Store name</button>
            </form>
            <form class="inline" @submit=${(event: SubmitEvent) => event.preventDefault()}>
              <label class="wide">Logo: PNG, JPEG or WebP, at most 64 KiB<input type="file" accept="image/png,image/jpeg,image/webp" @change=${this.onLogo} /></label>
              ${look.logo ? html`<button @click=${() => this.store({ logo: null }, "The logo was removed.")}>Remove logo</button>` : nothing}
            </form>
            <form class="inline" @submit=${this.storeKinds}>
              <fieldset><legend>Destinations that tenants may create, if their tier has destinations</legend>
                ${Object.entries(KINDS).map(([name, { label }]) => html`<label class="check"><input type="checkbox" name="kinds" value=${name} .checked=${look.destination_kinds.includes(name)} />${label}</label>`)}
              </fieldset>
              <button class="primary">Store kinds</button>
            </form>
            <p class="muted">Links to the portal are made with a live project key.</p>`
        : html`<h3>Link to the portal</h3>
            <p>Whoever has the link can read the events of the tenant for an hour.</p>
            <form class="inline" @submit=${this.link}>
              <label>Tenant<input name="tenant_id" required maxlength="256" /></label>
              <label>Tier<input name="tier" placeholder="standard" maxlength="64" /></label>
              <button class="primary">Create link</button>
            </form>`}`;
  }
}

function dataUrl(file: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error("the file cannot be read"));
    reader.readAsDataURL(file);
  });
}
