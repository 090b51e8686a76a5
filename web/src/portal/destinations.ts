/** The destinations of the tenant: shown where the tier of the token allows them. */
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { keyed } from "lit/directives/keyed.js";
import { Api, asFailure, type Failure } from "../shared/api.js";
import { inputOf, KINDS, labelOf, valuesOf } from "../shared/destination-kinds.js";
import { labelsOf } from "../shared/destination-labels.js";
import type { Attempt, Destination } from "../shared/destinations.js";
import { fieldsIn, fieldsOf, listOf } from "../shared/form-fields.js";
import { theme } from "../shared/theme.js";
import { visible } from "../shared/visible.js";
import { type Texts, textsOf } from "./texts.js";

/** What a test has brought, of which destination. */
interface Tested {
  id: string;
  attempt: Attempt & { verdict: string };
}

export class PortalDestinations extends LitElement {
  static override properties = {
    token: { attribute: false },
    kinds: { attribute: false },
    language: { attribute: false },
    destinations: { state: true },
    failure: { state: true },
    notice: { state: true },
    secret: { state: true },
    tested: { state: true },
    removed: { state: true },
    kind: { state: true },
    edited: { state: true },
    isBusy: { state: true },
    form: { state: true },
  };
  declare token: string;
  /** The kinds that may be created. */
  declare kinds: string[];
  declare language: string;
  declare private destinations: Destination[];
  declare private failure: Failure | undefined;
  declare private notice: string;
  declare private secret: string;
  declare private tested: Tested | undefined;
  /** The id of the destination whose deletion is to be confirmed. */
  declare private removed: string;
  /** The kind in the form. */
  declare private kind: string;
  /** The destination in the form; without one the form creates one. */
  declare private edited: Destination | undefined;
  /** The fields of the form before they were edited. */
  private initial: Record<string, string> = {};
  declare private isBusy: boolean;
  /** Changes when the form begins anew, without the credentials of before. */
  declare private form: number;

  static override styles = [
    theme,
    css`
      :host { display: block; padding: 12px; }
      h2 { margin: 0 0 2px; font-size: 1.25em; } h3 { margin: 20px 0 8px; font-size: 1.05em; overflow-wrap: anywhere; }
      p { margin: 4px 0 10px; max-width: 80ch; }
      .scroll { position: relative; overflow-x: auto; border: 1px solid var(--border); border-radius: var(--radius); }
      table { width: 100%; border-collapse: collapse; }
      th, td { padding: 6px 10px; text-align: start; vertical-align: middle; border-bottom: 1px solid var(--border); overflow-wrap: anywhere; }
      thead th { background: var(--surface); color: var(--muted); font-size: 0.88em; white-space: nowrap; }
      pre { margin: 4px 0 0; white-space: pre-wrap; overflow-wrap: anywhere; max-height: 200px; overflow: auto; }
      .bar, form { display: flex; flex-wrap: wrap; gap: 8px 12px; align-items: end; margin: 8px 0; }
      label { display: flex; flex-direction: column; gap: 2px; min-width: 0; }
      .wide { flex: 1 0 100%; max-width: 80ch; } label.check { flex-direction: row; align-items: center; gap: 6px; }
    `,
  ];

  constructor() {
    super();
    this.token = "";
    this.kinds = [];
    this.language = "en";
    this.destinations = [];
    this.notice = "";
    this.secret = "";
    this.removed = "";
    this.kind = "";
    this.isBusy = false;
    this.form = 0;
  }

  private get api(): Api {
    return new Api({ baseUrl: "", credential: this.token });
  }

  override willUpdate(changed: PropertyValues): void {
    if (changed.has("token")) {
      // What one token has shown is not shown below another one.
      this.destinations = [];
      this.secret = "";
      this.tested = undefined;
      this.beginForm();
      void this.attempt(async () => undefined);
    }
    if (!this.kinds.includes(this.kind)) this.kind = this.kinds[0] ?? "";
  }

  /** Makes requests, and reads the list again. Returns whether all worked. */
  private async attempt(run: (api: Api) => Promise<unknown>, notice = ""): Promise<boolean> {
    const { token, api } = this;
    this.isBusy = true;
    this.failure = undefined;
    this.notice = "";
    this.removed = "";
    try {
      await run(api);
      const { destinations } = await api.get<{ destinations: Destination[] }>("/destinations");
      if (token !== this.token) return false;
      this.destinations = destinations;
      if (this.edited && !destinations.some(({ id }) => id === this.edited?.id)) this.beginForm();
      this.notice = notice;
      return true;
    } catch (error) {
      if (token === this.token) this.failure = asFailure(error);
      return false;
    } finally {
      this.isBusy = false;
    }
  }

  private async onCreate(event: SubmitEvent): Promise<void> {
    const fields = fieldsOf(event);
    const kind = KINDS[this.kind];
    if (!kind) return;
    const actions = listOf(fields["actions"]);
    const body = {
      name: fields["name"], kind: this.kind, format: fields["format"],
      settings: valuesOf("settings", kind.settings, fields), credentials: valuesOf("credentials", kind.credentials, fields),
      ...(actions.length > 0 ? { filter: { actions } } : {}),
    };
    this.secret = "";
    const create = async (api: Api): Promise<void> => {
      const { destination } = await api.send<{ destination: Destination }>("POST", "/destinations", body);
      this.secret = destination.signing_secret ?? "";
    };
    if (await this.attempt(create, textsOf(this.language).created(visible(fields["name"] ?? "")))) this.beginForm();
  }

  private beginForm(edited?: Destination): void {
    this.edited = edited;
    this.form += 1;
  }

  private async startEdit(destination: Destination): Promise<void> {
    this.beginForm(destination);
    await this.updateComplete;
    const name = this.renderRoot.querySelector<HTMLInputElement>("input[name=name]");
    if (name?.form) this.initial = fieldsIn(name.form);
    name?.focus();
  }

  /**
   * Sends what was edited. Settings need all credentials, which are not shown: without them the server refuses the change. The signing
   * secret alone is made anew.
   */
  private async onChange(event: SubmitEvent, { id, kind: name, filter, credentials }: Destination): Promise<void> {
    const fields = fieldsOf(event);
    const kind = KINDS[name];
    if (!kind) return;
    const names = Object.keys({ ...this.initial, ...fields });
    const isEdited = (part: string): boolean => names.some((field) => field.startsWith(part) && fields[field] !== this.initial[field]);
    const isGiven = isEdited("credentials.") || (isEdited("settings.") && credentials.every((secret) => secret === "signing_secret"));
    const actions = listOf(fields["actions"]);
    const body = {
      ...(isEdited("name") ? { name: fields["name"] } : {}),
      ...(isEdited("format") ? { format: fields["format"] } : {}),
      ...(isEdited("actions") ? { filter: { ...filter, actions: actions.length > 0 ? actions : undefined } } : {}),
      ...(isEdited("settings.") ? { settings: valuesOf("settings", kind.settings, fields) } : {}),
      ...(isGiven ? { credentials: valuesOf("credentials", kind.credentials, fields) } : {}),
    };
    this.secret = "";
    const change = async (api: Api): Promise<void> => {
      const { destination } = await api.send<{ destination: Destination }>("PATCH", `/destinations/${id}`, body);
      this.secret = destination.signing_secret ?? "";
    };
    if (await this.attempt(change, textsOf(this.language).changed(visible(fields["name"] ?? "")))) this.beginForm();
  }

  private test({ id }: Destination): void {
    this.tested = undefined;
    void this.attempt(async (api) => {
      this.tested = { id, attempt: await api.send<Attempt & { verdict: string }>("POST", `/destinations/${id}/test`) };
    });
  }

  private onReplay(event: SubmitEvent, { id }: Destination): void {
    const { from } = fieldsOf(event);
    if (from) void this.attempt((api) => api.send("POST", `/destinations/${id}/replay`, { from: new Date(from).toISOString() }));
  }

  private async askRemoval(id: string): Promise<void> {
    this.removed = id;
    await this.updateComplete;
    this.renderRoot.querySelector<HTMLButtonElement>("button.cancel")?.focus();
  }

  private rowOf(destination: Destination, t: Texts): TemplateResult {
    const { id, name, kind, state, paused, lag_events: lag, lag_seconds: seconds, last_success_at: success, last_error: error, replay } = destination;
    const number = new Intl.NumberFormat(this.language);
    const date = new Intl.DateTimeFormat(this.language, { dateStyle: "medium", timeStyle: "medium" });
    const attempt = ({ request, status, response }: Attempt): TemplateResult => html`<pre tabindex="0">${visible(`${request}\n${status ?? t.noStatus}: ${response}`)}</pre>`;
    const label = (verb: string): string => `${verb}: ${visible(name)}`;
    const set = (value: boolean): void => void this.attempt((api) => api.send("PATCH", `/destinations/${id}`, { paused: value }));
    const remove = (): void => void this.attempt((api) => api.send("DELETE", `/destinations/${id}`));
    const stop = (): void => void this.attempt((api) => api.send("DELETE", `/destinations/${id}/replay`));
    return html`<tr>
      <td>${t.states[state] ?? state}</td>
      <th scope="row">${visible(name)} <span class="muted">${labelOf(kind, labelsOf(this.language))}</span>
        ${error ? html`<div class="muted">${t.lastError}: ${date.format(new Date(error.at))}</div>${attempt(error)}` : nothing}
        ${this.tested?.id === id ? html`<div role="status">${t.tested[this.tested.attempt.verdict] ?? this.tested.attempt.verdict}</div>${attempt(this.tested.attempt)}` : nothing}</th>
      <td>${lag === 0 ? t.noLag : t.lag(number.format(lag), number.format(seconds ?? 0))}</td>
      <td>${success ? html`<time datetime=${success}>${date.format(new Date(success))}</time>` : "–"}</td>
      <td>
        ${this.removed === id
          ? html`<p>${t.confirmRemoval(visible(name))}</p>
              <div class="bar"><button class="danger" @click=${remove}>${t.remove}</button><button class="cancel" @click=${() => (this.removed = "")}>${t.cancel}</button></div>`
          : html`<div class="bar">
              <button aria-label=${label(t.test)} ?disabled=${this.isBusy} @click=${() => this.test(destination)}>${t.test}</button>
              ${paused || state === "parked" ? nothing : html`<button aria-label=${label(t.pause)} ?disabled=${this.isBusy} @click=${() => set(true)}>${t.pause}</button>`}
              ${paused || state !== "active" ? html`<button aria-label=${label(t.resume)} ?disabled=${this.isBusy} @click=${() => set(false)}>${t.resume}</button>` : nothing}
              <button aria-label=${label(t.edit)} ?disabled=${this.isBusy} @click=${() => this.startEdit(destination)}>${t.edit}</button>
              <button class="danger" aria-label=${label(t.remove)} ?disabled=${this.isBusy} @click=${() => this.askRemoval(id)}>${t.remove}</button>
            </div>`}
        ${replay
          ? html`<p>${t.replaying(number.format(replay.position))} <button aria-label=${label(t.stopReplay)} ?disabled=${this.isBusy} @click=${stop}>${t.stopReplay}</button></p>`
          : html`<form aria-label=${label(t.replay)} @submit=${(event: SubmitEvent) => this.onReplay(event, destination)}>
              <label>${t.replayFrom}<input name="from" type="datetime-local" step="1" required title=${t.replayText} /></label>
              <button ?disabled=${this.isBusy}>${t.replay}</button>
            </form>`}
      </td>
    </tr>`;
  }

  private formOf(t: Texts): TemplateResult {
    const { edited } = this;
    const kind = KINDS[edited?.kind ?? this.kind];
    const labels = labelsOf(this.language);
    const title = edited ? t.editOf(visible(edited.name)) : t.newDestination;
    const settings = kind?.settings.map((field) => inputOf("settings", field, edited?.settings[field.name], labels));
    // Those that are stored are not shown, and stay if none is given.
    const credentials = kind?.credentials.map((field) => inputOf("credentials", edited ? { ...field, required: false } : field, undefined, labels));
    return html`<h3>${title}</h3>
      <form aria-label=${title} @submit=${(event: SubmitEvent) => (edited ? this.onChange(event, edited) : this.onCreate(event))}>
        <label>${t.name}<input name="name" required maxlength="100" autocomplete="off" .value=${edited?.name ?? ""} /></label>
        ${edited
          ? nothing
          : html`<label>${t.kind}<select @change=${(event: Event) => (this.kind = (event.target as HTMLSelectElement).value)}>
              ${this.kinds.map((name) => html`<option value=${name} .selected=${name === this.kind}>${labelOf(name, labels)}</option>`)}
            </select></label>`}
        <label>${t.format}<select name="format">${kind?.formats.map((format) => html`<option .selected=${format === (edited?.format ?? "json")}>${format}</option>`)}</select></label>
        <label>${t.actions}<input name="actions" placeholder="auth.*, *.deleted" .value=${edited?.filter.actions?.join(", ") ?? ""} /></label>
        ${keyed(this.kind, html`${settings} ${edited ? html`<p class="muted wide">${t.keepCredentials}</p>` : nothing} ${credentials}`)}
        <button class="primary" ?disabled=${this.isBusy}>${edited ? t.storeChanges : t.create}</button>
        ${edited ? html`<button type="button" @click=${() => this.beginForm()}>${t.cancel}</button>` : nothing}
      </form>`;
  }

  override render(): TemplateResult {
    const t = textsOf(this.language);
    const { failure, secret } = this;
    const reasons = failure ? [failure.message, ...failure.details.map(({ field, message }) => `${field}: ${message}`)] : [];
    return html`<h2>${t.title}</h2><p class="muted">${t.text}</p>
      ${failure ? html`<p class="notice bad" role="alert">${t.failed} ${visible(reasons.join(" · "))}</p>` : nothing}
      <p role="status">${this.notice}</p>
      ${secret ? html`<div class="notice"><span>${t.secret}</span> <code>${secret}</code></div>` : nothing}
      <div class="bar"><button ?disabled=${this.isBusy} @click=${() => this.attempt(async () => undefined)}>${t.refresh}</button></div>
      ${this.destinations.length > 0
        ? html`<div class="scroll" tabindex="0" role="region" aria-label=${t.title}><table>
            <thead><tr><th scope="col">${t.columns.state}</th><th scope="col">${t.columns.name}</th><th scope="col">${t.columns.lag}</th><th scope="col">${t.columns.success}</th><th scope="col">${t.columns.actions}</th></tr></thead>
            <tbody>${this.destinations.map((destination) => this.rowOf(destination, t))}</tbody>
          </table></div>`
        : html`<p>${t.none}</p>`}
      ${keyed(this.form, this.formOf(t))}`;
  }
}
