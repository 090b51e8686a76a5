/** The types of the interface's published TypeScript client, by its names. */

export type ActorType = "user" | "api_key" | "service" | "system";
export type EventCategory = "auth" | "access" | "mutation" | "admin" | "security" | "system";

export interface Actor {
  id: string;
  type: ActorType;
  name?: string;
  email?: string;
}

export interface Target {
  id: string;
  type: string;
  name?: string;
}

export interface Change {
  field: string;
  before: unknown;
  after: unknown;
}

export interface EventContext {
  ip_address?: string;
  user_agent?: string;
  location?: string;
  session_id?: string;
}

interface EventFields {
  action: string;
  category: EventCategory;
  tenant_id: string;
  actor: Actor;
  target?: Target;
  context?: EventContext;
  metadata?: Record<string, unknown>;
  changes?: Change[];
  idempotency_key?: string;
}

/** An event to be recorded. Without `idempotency_key` the client gives it a random UUID. */
export interface EventInput extends EventFields {
  /** RFC 3339. The present time if absent. */
  occurred_at?: string;
}

/** A stored event. */
export interface EventResponse extends EventFields {
  id: string;
  occurred_at: string;
  received_at: string;
  content_hash: string;
}

interface SendingOptions {
  /** The address of the service. */
  baseUrl: string;
  /** So many queued events are sent at once. 10 if absent; a request has 100 at most. */
  batchSize?: number;
  /** Fewer are sent this many milliseconds after the first of them. 5,000 if absent. */
  flushInterval?: number;
  /** Further events are dropped. 1,000 if absent. */
  maxQueueSize?: number;
  /** Whether `log`, `flush`, `close` and a partly refused `logBatch` throw. */
  strict?: boolean;
  /** Called once for each failed request, and for each refused event. It must not throw. */
  onError?: (error: Error) => void;
}

export interface LogStitchOptions extends SendingOptions {
  /** A project key, or a master key. */
  projectKey: string;
}

export interface StreamOptions extends SendingOptions {
  /** The claim token of a stream. A new one if absent. */
  token?: string;
}

export interface EventListParams {
  tenant_id?: string;
  actor_id?: string;
  actor_type?: ActorType;
  action?: string;
  category?: EventCategory;
  target_id?: string;
  target_type?: string;
  start_date?: string;
  end_date?: string;
  search?: string;
  cursor?: string;
  limit?: number;
}

export interface EventListResponse {
  events: EventResponse[];
  cursor: string | null;
  has_more: boolean;
  request_id: string;
}

export interface IngestResponse {
  /** Of the stored events, in the order of the call. */
  ids: string[];
  redacted_count: number;
  request_id: string;
  /** The refused events, by their index in the call. The published client has no such field. */
  errors?: { index: number; code: string; message: string; details?: { field: string; message: string }[] }[];
}

export interface ViewerTokenParams {
  tenant_id: string;
  tier?: string;
  /** Seconds. */
  expires_in?: number;
}

export interface ViewerTokenResponse {
  token: string;
  expires_at: string;
  request_id: string;
}
