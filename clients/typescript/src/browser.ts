/**
 * The part for browsers: reads with a viewer token, and verification. It imports nothing of Node and cannot write.
 *
 * @module
 */
import { EventReads } from "./reads.js";
import { Transport, type TransportOptions } from "./transport.js";
import type { VisibleEvent } from "./types.js";

export { AuditApiError, AuditError, AuditNetworkError, AuditResponseError } from "./errors.js";
export type { FollowedEvent, FollowOptions } from "./follow.js";
export { EventReads } from "./reads.js";
export type {
  Completeness,
  ErrorCode,
  ErrorDetail,
  EventFilter,
  EventPage,
  EventProof,
  EventSummary,
  ExportFilter,
  FeedFilter,
  FeedPage,
  SummaryFilter,
  VisibleEvent,
} from "./types.js";
export { VerificationError, type VerifiedEvent, verifyProof, verifyReceipt } from "./verify/index.js";

/** How a viewer reads. */
export interface ViewerOptions extends Omit<TransportOptions, "apiKey" | "projectId" | "environment"> {
  /** A viewer token, `vt_…`, from your own server. Never put a key into a page. */
  readonly token: string;
}

/** The events of one tenant, as a viewer token shows them. */
export class AuditViewer extends EventReads<VisibleEvent> {
  constructor(options: ViewerOptions) {
    const { token, ...rest } = options;
    if (!token.startsWith("vt_")) {
      throw new TypeError("token is a viewer token (vt_…); keys must not be used in a browser");
    }
    super(new Transport({ ...rest, apiKey: token }));
  }
}
