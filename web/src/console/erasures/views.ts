/** Erasures as the API returns them, and their words. */
import { html, nothing, type TemplateResult } from "lit";
import { visible } from "../../shared/visible.js";
import { numbers, t } from "../languages/index.js";
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

const BADGES: Record<string, string> = { listed: "open", planned: "pending", done: "on" };

export function badgeOf(state: State): TemplateResult {
  return html`<span class="badge ${BADGES[state] ?? ""}">${t.erasures.states[state] ?? state}</span>`;
}

export const isOpen = ({ state }: Erasure): boolean => state !== "done" && state !== "cancelled";
/** Whether it changes by itself within seconds. */
export const isMoving = ({ state }: Erasure): boolean => state === "listing" || state === "erasing" || state === "cleaning";
export const isCancellable = ({ state }: Erasure): boolean => state === "listing" || state === "listed" || state === "planned";

/** The number of events, and how many of them go as a whole. */
export function countOf({ events, rows }: Erasure): string {
  return t.erasures.count(t.eventCount(numbers.format(events), events === 1), rows > 0 ? numbers.format(rows) : "");
}

/** What happens next, in a sentence, and what it waits for. */
export function stepOf(erasure: Erasure): TemplateResult {
  const { waiting_for: waiting } = erasure;
  return html`${sentenceOf(erasure)}${waiting === null ? nothing : html`<p class="notice">${t.erasures.waiting[waiting] ?? waiting}</p>`}`;
}

function sentenceOf(erasure: Erasure): TemplateResult {
  const { state, events, read, size, not_before, done_at } = erasure;
  const of = t.erasures;
  if (state === "listing") {
    return html`<p><label>${of.reading(numbers.format(read), numbers.format(size))}<progress max=${Math.max(size, 1)} .value=${read}></progress></label></p>`;
  }
  if (state === "listed") return html`<p>${of.listed}</p>`;
  if (state === "planned") return html`<p>${of.planned(countOf(erasure), time(not_before))}</p>`;
  if (state === "done") return html`<p>${events === 0 ? of.nothing(time(done_at)) : of.done(countOf(erasure), time(done_at))}</p>`;
  return html`<p>${state === "cancelled" ? of.cancelled : of.erasing(countOf(erasure))}</p>`;
}

export function facts(erasure: Erasure): TemplateResult {
  const { basis, ticket, extent, created_at, held, digest, planned_seq, erased_seq, erased_at } = erasure;
  const rows: [string, unknown][] = [
    [t.state, badgeOf(erasure.state)], [t.erasures.extent, t.erasures.extents[extent]?.[0] ?? extent], [t.erasures.basis, t.erasures.bases[basis] ?? basis], [t.erasures.ticket, ticket === null ? "–" : visible(ticket)],
    [t.requested, time(created_at)], [t.events, countOf(erasure)], [t.erasures.held, numbers.format(held)],
    ...(digest === null ? [] : [[t.erasures.digest, html`<code>${digest}</code>`] satisfies [string, unknown]]),
    ...(planned_seq === null ? [] : [[t.erasures.plannedBy, `${planned_seq}`] satisfies [string, unknown]]),
    ...(erased_seq === null ? [] : [[t.erasures.erasedBy, t.erasures.erasedByEvent(erased_seq, time(erased_at))] satisfies [string, unknown]]),
  ];
  return html`<table class="facts"><tbody>${rows.map(([name, value]) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>`)}</tbody></table>`;
}

/** Copies that the service cannot erase. */
export function outOfReach({ out_of_reach: items }: Erasure): TemplateResult | typeof nothing {
  if (items.length === 0) return nothing;
  return html`<h3>${t.erasures.outOfReach}</h3>
    <p class="muted">${t.erasures.outOfReachText}</p>
    <ul>${items.map(({ kind, name, detail }) => html`<li><b>${kind}${name === null ? nothing : html` ${visible(name)}`}</b>: ${visible(detail)}</li>`)}</ul>`;
}
