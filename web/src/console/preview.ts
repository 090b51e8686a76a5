import type { Api } from "../shared/api.js";
import type { AuditEvent, EventPage } from "../shared/types.js";

/** Events that a preview looks at. */
export const PREVIEW_EVENTS_MAX = 2_000;

export interface RuleDraft {
  action_pattern: string;
  threshold: number;
  window_seconds: number;
  group_by: string;
  cooldown_seconds: number;
}

export interface Preview {
  /** Events looked at, and those that match the pattern. */
  lookedAt: number;
  matching: number;
  /** The alerts that the rule would have raised, newest first. */
  alerts: { group: string; at: string; count: number }[];
}

/** Whether a glob, in which `*` stands for any characters, matches a whole action. */
export function matches(pattern: string, action: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  if (rest.length === 0) return pattern === action;
  if (!action.startsWith(first)) return false;
  let position = first.length;
  const last = rest.pop() ?? "";
  for (const part of rest) {
    const found = action.indexOf(part, position);
    if (found < 0) return false;
    position = found + part.length;
  }
  return action.length - last.length >= position && action.endsWith(last);
}

/** What a rule would have done with the newest events: counted by group within the window, with a pause after each alert. */
export function simulate(events: readonly AuditEvent[], rule: RuleDraft): Preview {
  const oldestFirst = [...events].sort((a, b) => (a.received_at < b.received_at ? -1 : 1));
  const groups = new Map<string, { times: number[]; quietUntil: number }>();
  const preview: Preview = { lookedAt: events.length, matching: 0, alerts: [] };
  for (const event of oldestFirst) {
    if (!event.action || !matches(rule.action_pattern, event.action)) continue;
    preview.matching += 1;
    const group = rule.group_by === "tenant_id" ? event.tenant_id : (event.actor?.id ?? "");
    const key = rule.group_by === "tenant_id" ? group : `${event.tenant_id}\n${group}`;
    const at = Date.parse(event.occurred_at);
    const state = groups.get(key) ?? { times: [], quietUntil: -Infinity };
    groups.set(key, state);
    state.times = [...state.times.filter((time) => time > at - rule.window_seconds * 1000), at];
    if (state.times.length < rule.threshold || at < state.quietUntil) continue;
    preview.alerts.unshift({ group, at: event.occurred_at, count: state.times.length });
    state.quietUntil = at + rule.cooldown_seconds * 1000;
    state.times = [];
  }
  return preview;
}

/** Reads the newest events of the pattern's prefix and simulates the rule on them. */
export async function preview(api: Api, rule: RuleDraft): Promise<Preview> {
  const prefix = rule.action_pattern.split("*")[0] ?? "";
  // The filter of the API takes a prefix; the rest of the pattern is matched here.
  const action = prefix === "" ? undefined : rule.action_pattern === prefix ? prefix : `${prefix}*`;
  const events: AuditEvent[] = [];
  let cursor: string | undefined;
  do {
    const page = await api.get<EventPage>("/events", { action, limit: 200, cursor });
    events.push(...page.events);
    cursor = page.cursor ?? undefined;
  } while (cursor && events.length < PREVIEW_EVENTS_MAX);
  return simulate(events.slice(0, PREVIEW_EVENTS_MAX), rule);
}
