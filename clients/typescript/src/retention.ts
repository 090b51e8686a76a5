/** Retention and legal holds of the log of one project and environment. */
import { Resource } from "./administration.js";
import type * as T from "./types.js";

/** How long events are kept. */
export class Retention extends Resource {
  /** The policy, the plan in its grace period, and the removals. */
  get(): Promise<T.RetentionInfo> {
    return this.call("GET", "/retention");
  }

  /** Replaces the policy: `days` for all events, more days for some `categories`, or a `preset`; `{}` for ever. */
  set(policy: T.NewRetention): Promise<T.RetentionInfo> {
    return this.call("PUT", "/retention", { body: policy });
  }

  /** What a policy, by default the one in force, would remove now. The numbers are estimates. */
  preview(policy: T.PreviewedRetention = {}): Promise<T.RetentionPreview> {
    return this.call("GET", "/retention/preview", { query: policy });
  }

  /** Lets plans reach up to a time, where the log is far behind its policy. */
  confirm(until: string): Promise<T.RetentionInfo> {
    return this.call("POST", "/retention/confirm", { body: { until }, isRepeatable: true });
  }

  /** Cancels the plan in its grace period, by its `seq`. */
  cancel(plan: number): Promise<T.RetentionInfo> {
    return this.call("POST", "/retention/cancel", { body: { plan } });
  }
}

/** Legal holds. The events that one covers are not removed while it is in force. */
export class Holds extends Resource {
  /** Those in force, oldest first; with `released` also those that were released. */
  async list(filter: T.HoldFilter = {}): Promise<T.Hold[]> {
    return (await this.call<T.ResponseOf<"list_holds">>("GET", "/holds", { query: filter })).holds;
  }

  /** A hold on the events that meet every condition, and on all of them without one. With `second_key` another key releases it. */
  async place(hold: T.NewHold): Promise<T.Hold> {
    return (await this.call<T.ResponseOf<"place_hold">>("POST", "/holds", { body: hold })).hold;
  }

  /** The events that it covered follow the retention policy again. */
  async release(id: string, reason: string): Promise<T.Hold> {
    const path = `/holds/${encodeURIComponent(id)}/release`;
    return (await this.call<T.ResponseOf<"release_hold">>("POST", path, { body: { reason } })).hold;
  }
}
