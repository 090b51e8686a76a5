/** Resources of the HTTP API, as docs/api.md describes them. Hidden fields are absent. */

export const CATEGORIES = ["auth", "access", "mutation", "admin", "security", "system"] as const;
export type Category = (typeof CATEGORIES)[number];

/** Integers beyond 2^53 are `bigint`: a double would lose their digits. */
export type Json = null | boolean | number | bigint | string | Json[] | { [key: string]: Json };

export interface Change {
  field: string;
  before?: Json;
  after?: Json;
}

/** An actor, whom it acts for, or a target, as far as the reader sees it. */
export interface Party {
  id?: string;
  type?: string;
  name?: string;
}

export interface AuditEvent {
  id: string;
  action?: string;
  category?: string;
  tenant_id: string;
  occurred_at: string;
  received_at: string;
  claimed_at?: string;
  content_hash: string;
  content_salt?: string;
  redacted: boolean;
  actor?: Party & { email?: string; on_behalf_of?: Party };
  target?: Party;
  /** `null` stands for one that is hidden. */
  targets?: (Party | null)[];
  outcome?: string;
  context?: { ip_address?: string; user_agent?: string; location?: string; session_id?: string };
  metadata?: { [key: string]: Json };
  changes?: Change[];
  idempotency_key?: string;
  /** The parts that erasures have taken, each with the position of its event in the log. */
  erased?: { seq: number; parts: string[] }[];
}

export interface EventPage {
  events: AuditEvent[];
  cursor: string | null;
  has_more: boolean;
}

export interface Bucket {
  start: string;
  count: number;
  categories?: Partial<Record<string, number>>;
}

export type Interval = "minute" | "hour" | "day" | "week" | "month";

export interface Counted {
  value: string;
  count: number;
}

export type TopField = "actor_id" | "action" | "category" | "target_type" | "tenant_id";

export interface Summary {
  interval: Interval;
  /** The time zone in whose calendar the buckets begin, which the page has asked for. */
  zone: string;
  buckets: Bucket[];
  total: number;
  top: { looked_at: number } & Partial<Record<TopField, Counted[]>>;
}
