/**
 * Client of the audit log service: records events, reads and follows them, and administers.
 *
 * @module
 */
export {
  AlertRules,
  Alerts,
  Log,
  MasterKeys,
  ProjectKeys,
  Projects,
  Redaction,
  Streams,
  ViewerTiers,
  ViewerTokens,
  Webhooks,
} from "./administration.js";
export type { EventBuffer } from "./buffer.js";
export { AuditApi, AuditClient, type AuditClientOptions, type EventRecorder } from "./client.js";
export { Destinations } from "./destinations.js";
export { Erasures } from "./erasures.js";
export {
  AuditApiError,
  AuditError,
  AuditNetworkError,
  AuditResponseError,
  ClosedError,
  EventRefusedError,
  EventsRemovedError,
  InvalidEventError,
  QueueFullError,
} from "./errors.js";
export type { FollowedEvent, FollowOptions } from "./follow.js";
export { EventReads } from "./reads.js";
export type { RecorderOptions, RecorderStats } from "./recorder.js";
export { Holds, Retention } from "./retention.js";
export type { TransportOptions } from "./transport.js";
export type * from "./types.js";
