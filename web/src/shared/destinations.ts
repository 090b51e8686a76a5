/** Resources of `/destinations`, as docs/api.md describes them. */
import type { Json } from "./types.js";

export type State = "active" | "delayed" | "credentials" | "parked" | "paused";

/** An attempt that failed, or that a test has made. */
export interface Attempt {
  status: number | null;
  request: string;
  response: string;
}

export interface Replay {
  number: number;
  position: number;
  cursor_seq: number;
  end_seq: number;
  state: State;
}

export interface Destination {
  id: string;
  name: string;
  kind: string;
  format: string;
  include_raw: boolean;
  ocsf_classes: { action: string; class_uid: number; activity_id: number }[];
  filter: { actions?: string[]; categories?: string[]; tenant_ids?: string[] };
  settings: { [name: string]: Json };
  credentials: string[];
  paused: boolean;
  state: State;
  created_at: string;
  /** The tenant that has created it with a viewer token. */
  created_by_tenant: string | null;
  position: number;
  cursor_seq: number;
  lag_events: number;
  lag_seconds: number | null;
  last_success_at: string | null;
  last_error: (Attempt & { at: string }) | null;
  next_attempt_at: string | null;
  set_aside: number;
  previous_credentials_in_use: boolean;
  replay: Replay | null;
  signing_secret?: string;
}

export interface SetAside {
  run: number;
  position: number;
  seq: number;
  event_id: string;
  at: string;
  reason: string;
}

export interface SetAsidePage {
  events: SetAside[];
  cursor: string | null;
}

export interface Resent {
  events: (Attempt & { run: number; position: number; verdict: string })[];
  remaining: number;
}

export interface ReplayRange {
  from_seq: number;
  end_seq: number;
  count: { matching: number; looked_at: number } | null;
}
