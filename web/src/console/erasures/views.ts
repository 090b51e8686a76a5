/** Erasures as the API returns them, and their words. */
import { html, nothing, type TemplateResult } from "lit";
import { visible } from "../../shared/visible.js";
import { time } from "../section.js";

export type State = "listing" | "listed" | "planned" | "erasing" | "cleaning" | "done" | "cancelled";

export interface Erasure {
  id: string;
  state: State;
  extent: string;
  basis: string;
  ticket: string | null;
  created_at: string;
  /** Events of the log that were read, of `size`. */
  read: number;
  size: number;
  /** Events of the list; `rows` of them are removed as a whole. */
  events: number;
  rows: number;
  /** Events that match, and that a hold covers. */
  held: number;
  digest: string | null;
  not_before: string | null;
  planned_seq: number | null;
  erased_seq: number | null;
  erased_at: string | null;
  done_at: string | null;
  waiting_for: string | null;
  out_of_reach: { kind: string; name: string | null; detail: string }[];
}

export interface ListedEvent {
  seq: number;
  /** `null` where the event is gone. */
  id: string | null;
  occurred_at: string | null;
  action: string | null;
  /** Whether the event is erased as a whole. */
  row: boolean;
  parts: string[];
}

export const NUMBERS = new Intl.NumberFormat();

/** The extents, each with what it erases. */
export const EXTENTS: [name: string, label: string, text: string][] = [
  ["person", "The person", "where the person is the actor, all parts but kind and target; where it is the target, target, metadata and changes; elsewhere the parts that name the person."],
  ["all", "All parts", "all parts of each event but its kind. Position, id, times and tenant stay."],
  ["row", "Whole events", "each event as a whole. Its position and its hash stay."],
];

export const BASES: [name: string, label: string][] = [["gdpr_17", "GDPR, article 17"], ["ccpa", "CCPA"], ["contract", "contract"], ["other", "other"]];

const STATES: Record<State, string> = {
  listing: "reading the log", listed: "to be confirmed", planned: "in its grace period", erasing: "erasing", cleaning: "cleaning up", done: "done", cancelled: "cancelled",
};
const BADGES: Record<string, string> = { listed: "open", planned: "pending", done: "on" };

export const labelOf = (labels: readonly (readonly string[])[], name: string): string => labels.find(([known]) => known === name)?.[1] ?? name;

export function badgeOf(state: State): TemplateResult {
  return html`<span class="badge ${BADGES[state] ?? ""}">${STATES[state] ?? state}</span>`;
}

export const isOpen = ({ state }: Erasure): boolean => state !== "done" && state !== "cancelled";
/** Whether it changes by itself within seconds. */
export const isMoving = ({ state }: Erasure): boolean => state === "listing" || state === "erasing" || state === "cleaning";
export const isCancellable = ({ state }: Erasure): boolean => state === "listing" || state === "listed" || state === "planned";

/** The number of events, and how many of them go as a whole. */
export function countOf({ events, rows }: Erasure): string {
  return `${NUMBERS.format(events)} ${events === 1 ? "event" : "events"}${rows > 0 ? `, ${NUMBERS.format(rows)} of them as a whole` : ""}`;
}

const WAITING: Record<string, string> = {
  clock: "The clock of the server was changed: it goes on after 24 hours.",
  signature: "Its event in the log is not signed yet.",
  quorum: "The checkpoint has no quorum of witnesses yet.",
};

/** What happens next, in a sentence, and what it waits for. */
export function stepOf(erasure: Erasure): TemplateResult {
  const { waiting_for: waiting } = erasure;
  return html`${sentenceOf(erasure)}${waiting === null ? nothing : html`<p class="notice">${WAITING[waiting] ?? waiting}</p>`}`;
}

function sentenceOf(erasure: Erasure): TemplateResult {
  const { state, events, read, size, not_before, done_at } = erasure;
  if (state === "listing") {
    return html`<p><label>Reading the log: ${NUMBERS.format(read)} of ${NUMBERS.format(size)} events<progress max=${Math.max(size, 1)} .value=${read}></progress></label></p>`;
  }
  if (state === "listed") return html`<p>Nothing is erased before you confirm this list.</p>`;
  if (state === "planned") return html`<p>${countOf(erasure)} will be erased, not before ${time(not_before)}. Until then you can cancel. A hold cancels it too.</p>`;
  if (state === "done") return html`<p>${events === 0 ? "No event of this log has the identifiers, or a hold covers those that do." : `${countOf(erasure)}: erased.`} Done ${time(done_at)}.</p>`;
  return state === "cancelled" ? html`<p>It was cancelled: its events stay.</p>` : html`<p>${countOf(erasure)}: being erased. It cannot be cancelled any more.</p>`;
}

export function facts(erasure: Erasure): TemplateResult {
  const { basis, ticket, extent, created_at, held, digest, planned_seq, erased_seq, erased_at } = erasure;
  const rows: [string, unknown][] = [
    ["State", badgeOf(erasure.state)], ["Extent", labelOf(EXTENTS, extent)], ["Basis", labelOf(BASES, basis)], ["Ticket", ticket === null ? "–" : visible(ticket)],
    ["Requested", time(created_at)], ["Events", countOf(erasure)], ["Held, and so not erased", NUMBERS.format(held)],
    ...(digest === null ? [] : [["Digest", html`<code>${digest}</code>`] satisfies [string, unknown]]),
    ...(planned_seq === null ? [] : [["Planned by event", `${planned_seq}`] satisfies [string, unknown]]),
    ...(erased_seq === null ? [] : [["Erased by event", html`${erased_seq}, ${time(erased_at)}`] satisfies [string, unknown]]),
  ];
  return html`<table class="facts"><tbody>${rows.map(([name, value]) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>`)}</tbody></table>`;
}

/** Copies that the service cannot erase. */
export function outOfReach({ out_of_reach: items }: Erasure): TemplateResult | typeof nothing {
  if (items.length === 0) return nothing;
  return html`<h3>Out of reach</h3>
    <p class="muted">Copies that this service cannot erase. Erase them where they are.</p>
    <ul>${items.map(({ kind, name, detail }) => html`<li><b>${kind}${name === null ? nothing : html` ${visible(name)}`}</b>: ${visible(detail)}</li>`)}</ul>`;
}
