import type { Api } from "../shared/api.js";
import type { AuditEvent, EventPage } from "../shared/types.js";

/** Events that a preview looks at. */
export const PREVIEW_EVENTS_MAX = 2_000;

export interface RuleDraft {
  action_pattern: string;
  threshold: number;
  window_seconds: number;
  group_by: string;
  count_distinct?: string;
  actor_types?: string[];
  categories?: string[];
  not_actor_ids?: string[];
  outcomes?: string[];
  further_action_patterns?: string[];
  failed_action_patterns?: string[];
  cooldown_seconds: number;
}

export interface Preview {
  /** Events looked at, and those that match the pattern. */
  lookedAt: number;
  matching: number;
  /** The alerts that the rule would have raised, newest first. */
  alerts: { group: string; name: string; at: string; count: number }[];
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

const FAILED: readonly unknown[] = ["failure", "denied"];

/** An address in its canonical form, as the server compares it: `::ffff:203.0.113.7` is `203.0.113.7`. Another text stays. */
function canonicalAddress(text: string): string {
  const url = `http://[${text}]/`;
  if (!/^[0-9A-Fa-f:.]+$/.test(text) || !URL.canParse(url)) return text;
  const address = new URL(url).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(address);
  if (!mapped) return address;
  return mapped.slice(1).map((half) => `${parseInt(half, 16) >> 8}.${parseInt(half, 16) & 255}`).join(".");
}

const addressOf = (text: string | null | undefined): string | undefined => (text ? canonicalAddress(text) : undefined);

/** The fields by which rules group, and whose distinct values they count. */
export const GROUPS: Record<string, (event: AuditEvent) => string | undefined> = {
  actor_id: (event) => event.actor?.id,
  tenant_id: (event) => event.tenant_id,
  ip_address: (event) => addressOf(event.context?.ip_address),
  session_id: (event) => event.context?.session_id ?? undefined,
  target_id: (event) => event.target?.id,
};

/** The names of those groups that have one. */
const NAMES: Record<string, (event: AuditEvent) => string | undefined> = { actor_id: (event) => event.actor?.name, target_id: (event) => event.target?.name };

/** Whether a rule counts an event: a pattern matches its action, and it meets every condition. */
export function counts(rule: RuleDraft, event: AuditEvent): boolean {
  const { action, actor, category, outcome } = event;
  const isAny = (patterns: string[] = []): boolean => patterns.some((pattern) => matches(pattern, action ?? ""));
  const isFailure = FAILED.includes(outcome) && isAny(rule.failed_action_patterns);
  if (!action || !(isAny([rule.action_pattern, ...(rule.further_action_patterns ?? [])]) || isFailure)) return false;
  const isOf = (values: string[] | undefined, value: string | null | undefined): boolean => !values?.length || values.includes(value ?? "");
  return isOf(rule.actor_types, actor?.type) && isOf(rule.categories, category) && isOf(rule.outcomes, outcome) && !rule.not_actor_ids?.includes(actor?.id ?? "");
}

/** What a rule would have done with the newest events: counted by group within the window, with a pause after each alert. */
export function simulate(events: readonly AuditEvent[], rule: RuleDraft): Preview {
  const oldestFirst = [...events].sort((a, b) => (a.received_at < b.received_at ? -1 : 1));
  const groups = new Map<string, { counted: Map<string, number>; quietUntil: number }>();
  const preview: Preview = { lookedAt: events.length, matching: 0, alerts: [] };
  for (const event of oldestFirst) {
    if (!counts(rule, event)) continue;
    const group = GROUPS[rule.group_by]?.(event);
    // Each event is a value of its own, unless distinct values count.
    const value = rule.count_distinct ? GROUPS[rule.count_distinct]?.(event) : event.id;
    if (group === undefined || value === undefined) continue;
    preview.matching += 1;
    const key = `${event.tenant_id}\n${group}`;
    const at = Date.parse(event.occurred_at);
    const state = groups.get(key) ?? { counted: new Map<string, number>(), quietUntil: -Infinity };
    groups.set(key, state);
    for (const [other, time] of state.counted) if (time < at - rule.window_seconds * 1000) state.counted.delete(other);
    state.counted.set(value, Math.max(at, state.counted.get(value) ?? at));
    if (state.counted.size < rule.threshold || at < state.quietUntil) continue;
    preview.alerts.unshift({ group, name: NAMES[rule.group_by]?.(event) ?? "", at: event.occurred_at, count: state.counted.size });
    state.quietUntil = at + rule.cooldown_seconds * 1000;
    state.counted.clear();
  }
  return preview;
}

/** Reads the newest events of the pattern's prefix and simulates the rule on them. */
export async function preview(api: Api, rule: RuleDraft): Promise<Preview> {
  // The filter of the API takes a prefix; the rest of the pattern is matched here. Several patterns may have none in common.
  const isOne = !rule.further_action_patterns?.length && !rule.failed_action_patterns?.length;
  const prefix = isOne ? (rule.action_pattern.split("*")[0] ?? "") : "";
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
