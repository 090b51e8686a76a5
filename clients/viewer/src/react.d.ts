import type { AuditLogViewerEvents, Filter, RefreshToken } from "./viewer.js";

export interface AuditLogViewerProperties {
  baseUrl?: string;
  /** A viewer token, from your own server. */
  token: string;
  pinnedKey?: string;
  /** BCP 47, such as `de`. */
  language?: string;
  theme?: "auto" | "light" | "dark";
  fragment?: boolean;
  paused?: boolean;
  /** Keep the object the same while the filter is: another object reads the list again. */
  filter?: Filter;
  refreshToken?: RefreshToken;
  className?: string;
  style?: Record<string, string | number>;
  id?: string;
  onTokenExpired?: (event: AuditLogViewerEvents["audit-token-expired"]) => void;
  onViewChanged?: (event: AuditLogViewerEvents["audit-view-changed"]) => void;
  onEventOpened?: (event: AuditLogViewerEvents["audit-event-opened"]) => void;
  onProofChecked?: (event: AuditLogViewerEvents["audit-proof-checked"]) => void;
}

/** `<audit-log-viewer>` as a React component. The return type is that of any React element. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export declare function AuditLogViewer(properties: AuditLogViewerProperties): any;
