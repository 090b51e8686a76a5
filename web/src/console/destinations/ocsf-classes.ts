/** The classes of OCSF that a destination gives to actions, in its form. Names are those of the schema, in every language. */
import { html, nothing, type TemplateResult } from "lit";
import type { Detail } from "../../shared/api.js";
import type { Destination } from "../../shared/destinations.js";
import { t } from "../languages/index.js";
import { visible } from "../../shared/visible.js";
import named from "./ocsf-classes.json";

/** The class for the actions that match a pattern. */
export type OcsfClass = Destination["ocsf_classes"][number];

const CLASSES: Record<string, { name: string; activities: Record<string, string> }> = named;
const ITEMS_MAX = 100;
/** The activity that every class has. */
const OTHER = 99;
const NEW: OcsfClass = { action: "", class_uid: 6003, activity_id: OTHER };

/** The rows. `faults` are those of the rows that were `sent`: a row that was changed since is another one. */
export function classRows(rows: OcsfClass[], onRows: (rows: OcsfClass[]) => void, sent: OcsfClass[], faults: Detail[]): TemplateResult {
  return html`<fieldset class="classes">
    <legend>${t.destinations.classes}</legend>
    <p class="muted">${t.destinations.classesText}</p>
    ${rows.map((row, index) => {
      const put = (...replaced: OcsfClass[]): void => onRows([...rows.slice(0, index), ...replaced, ...rows.slice(index + 1)]);
      const place = sent.indexOf(row);
      return rowOf(row, index, put, (field) => faults.find((fault) => place >= 0 && fault.field === `ocsf_classes[${place}].${field}`)?.message);
    })}
    ${rows.length < ITEMS_MAX ? html`<button type="button" @click=${() => onRows([...rows, { ...NEW }])}>${t.destinations.addClass}</button>` : nothing}
  </fieldset>`;
}

function rowOf(row: OcsfClass, index: number, put: (...rows: OcsfClass[]) => void, faultOf: (field: keyof OcsfClass) => string | undefined): TemplateResult {
  const { action, class_uid, activity_id } = row;
  const number = (event: Event): number => Number((event.target as HTMLSelectElement).value);
  const onAction = (event: Event): void => put({ ...row, action: (event.target as HTMLInputElement).value });
  const onClass = (event: Event): void => {
    const uid = number(event);
    put({ ...row, class_uid: uid, activity_id: CLASSES[uid]?.activities[activity_id] ? activity_id : OTHER });
  };
  const onActivity = (event: Event): void => put({ ...row, activity_id: number(event) });
  const option = (id: string, name: string, selected: number): TemplateResult => html`<option value=${id} .selected=${id === String(selected)}>${`${id} ${name}`}</option>`;
  /** `control` gets the id of the fault, if there is one. */
  const field = (name: keyof OcsfClass, label: string, control: (fault: string | typeof nothing) => TemplateResult): TemplateResult => {
    const message = faultOf(name);
    const id = `fault-${index}-${name}`;
    return html`<div class=${name}><label>${label}${control(message ? id : nothing)}</label>${message ? html`<span class="fault" id=${id}>${visible(message)}</span>` : nothing}</div>`;
  };
  return html`<div class="row" role="group" aria-label=${t.destinations.classRow(`${index + 1}`)}>
    ${field("action", t.destinations.classAction, (fault) => html`<input required maxlength="200" autocomplete="off" spellcheck="false" placeholder="invoice.*"
      aria-invalid=${fault !== nothing} aria-describedby=${fault} .value=${action} @input=${onAction} />`)}
    ${field("class_uid", t.destinations.class, (fault) => html`<select aria-invalid=${fault !== nothing} aria-describedby=${fault} @change=${onClass}>
      ${Object.entries(CLASSES).map(([id, { name }]) => option(id, name, class_uid))}</select>`)}
    ${field("activity_id", t.destinations.activity, (fault) => html`<select aria-invalid=${fault !== nothing} aria-describedby=${fault} @change=${onActivity}>
      ${Object.entries(CLASSES[class_uid]?.activities ?? {}).map(([id, name]) => option(id, name, activity_id))}</select>`)}
    <button type="button" @click=${() => put()}>${t.destinations.removeClass(`${index + 1}`)}</button>
  </div>`;
}
