/** The form of a destination, and the request that it makes. */
import { html, nothing, type TemplateResult } from "lit";
import { keyed } from "lit/directives/keyed.js";
import { CATEGORIES, type Json } from "../../shared/types.js";
import { language, t } from "../languages/index.js";
import { listOf } from "../section.js";
import { inputOf, KINDS, labelOf, valuesOf } from "../../shared/destination-kinds.js";
import { labelsOf } from "../../shared/destination-labels.js";
import type { Detail } from "../../shared/api.js";
import { classRows, type OcsfClass } from "./ocsf-classes.js";

/** The destination in the form: without an id it is a new one. */
export interface Draft {
  id?: string;
  name?: string;
  kind: string;
  format?: string;
  include_raw?: boolean;
  ocsf_classes?: OcsfClass[];
  filter?: { actions?: string[]; categories?: string[]; tenant_ids?: string[] };
  settings?: { [name: string]: Json };
  /** Whether settings and credentials are given. Stored credentials are not shown, so both are replaced or neither. */
  isConfigured: boolean;
}

/** The format whose records have classes. */
const OCSF = "ocsf";

export const newDraft = (): Draft => ({ kind: "https", isConfigured: true });

/** The body of the request that creates or changes the destination. */
export function bodyOf(draft: Draft, form: Record<string, string>): Record<string, unknown> {
  const conditions = {
    actions: listOf(form["actions"]), categories: listOf(form["categories"]),
    // An id may contain commas.
    tenant_ids: listOf(form["tenant_ids"], /\n/),
  };
  const body: Record<string, unknown> = {
    name: form["name"], format: form["format"], include_raw: form["include_raw"] !== undefined,
    filter: Object.fromEntries(Object.entries(conditions).filter(([, values]) => values.length > 0)),
  };
  const kind = KINDS[draft.kind];
  if (draft.id === undefined) body["kind"] = draft.kind;
  if (form["format"] === OCSF) body["ocsf_classes"] = (draft.ocsf_classes ?? []).map((row) => ({ ...row, action: row.action.trim() }));
  if (kind && draft.isConfigured) {
    body["settings"] = valuesOf("settings", kind.settings, form);
    body["credentials"] = valuesOf("credentials", kind.credentials, form);
  }
  return body;
}

/** The form. `onDraft` gets what the reader chooses before anything is sent; `faults` are those of the classes that were `sent`. */
export function destinationForm(draft: Draft, onDraft: (draft: Draft) => void, sent: OcsfClass[], faults: Detail[]): TemplateResult {
  const { id, kind: name, format: chosen = "json", ocsf_classes: classes = [], filter = {}, isConfigured } = draft;
  const kind = KINDS[name];
  const labels = labelsOf(language);
  const onKind = (event: Event): void => onDraft({ ...draft, kind: (event.target as HTMLSelectElement).value });
  const onConfigured = (event: Event): void => onDraft({ ...draft, isConfigured: (event.target as HTMLInputElement).checked });
  const onFormat = (event: Event): void => onDraft({ ...draft, format: (event.target as HTMLSelectElement).value });
  const formats = kind?.formats ?? [];
  return html`
    <label>${t.name}<input name="name" required maxlength="100" autocomplete="off" .value=${draft.name ?? ""} /></label>
    ${id === undefined
      ? html`<label>${t.destinations.kind}<select @change=${onKind}>${Object.keys(KINDS).map((value) => html`<option value=${value} .selected=${value === name}>${labelOf(value, labels)}</option>`)}</select></label>`
      : nothing}
    <label>${t.destinations.format}<select name="format" @change=${onFormat}>${formats.map((format) => html`<option .selected=${format === chosen}>${format}</option>`)}</select></label>
    <label class="check"><input type="checkbox" name="include_raw" .checked=${draft.include_raw ?? false} />${t.destinations.includeRaw}</label>
    ${chosen === OCSF ? classRows(classes, (rows) => onDraft({ ...draft, ocsf_classes: rows }), sent, faults) : nothing}
    <label class="wide">${t.onlyActions}<input name="actions" placeholder="auth.*, *.deleted" .value=${filter.actions?.join(", ") ?? ""} /></label>
    <label class="wide">${t.onlyCategories}<input name="categories" placeholder=${CATEGORIES.join(", ")} .value=${filter.categories?.join(", ") ?? ""} /></label>
    <label class="wide">${t.destinations.onlyTenants}<textarea name="tenant_ids" rows="2" .value=${filter.tenant_ids?.join("\n") ?? ""}></textarea></label>
    ${id === undefined
      ? nothing
      : html`<label class="check"><input type="checkbox" .checked=${isConfigured} @change=${onConfigured} />${t.destinations.replaceSettings}</label>`}
    ${kind && isConfigured
      ? // A value of another kind must not stay in a field that takes its place.
        keyed(name, html`${kind.settings.map((field) => inputOf("settings", field, draft.settings?.[field.name], labels))}
          ${kind.credentials.map((field) => inputOf("credentials", field, undefined, labels))}`)
      : nothing}`;
}
