/** Fields that are filtered by one value or by any of several. */
export type FilterField =
  | "category" | "action" | "actor_id" | "actor_type" | "target_id" | "target_type" | "ip_address" | "session_id" | "outcome" | "tenant_id";

/** Filters of the list: those of `GET /events`. `not_` leaves out the events that have a value. Dates are RFC 3339. */
export type Filter = { [F in FilterField | `not_${FilterField}`]?: string | readonly string[] } & {
  search?: string;
  start_date?: string;
  end_date?: string;
};

/** Returns a fresh viewer token after the present one has expired. */
export type RefreshToken = () => Promise<string> | string;

/** `<audit-log-viewer>`. */
export declare class AuditLogViewer extends HTMLElement {
  /** The server, without `/api/v1`. Attribute `base-url`. */
  baseUrl: string;
  /** A viewer token. Attribute `token`. */
  token: string;
  /** The key of the log that proofs are verified against. Attribute `pinned-key`. */
  pinnedKey: string | undefined;
  /** `auto`, `light` or `dark`. Attribute `theme`. */
  theme: string;
  /** Whether the URL's fragment carries the view. Attribute `fragment`. */
  fragment: boolean;
  /** Whether live updates are paused. Attribute `paused`. */
  paused: boolean;
  filter: Filter;
  refreshToken: RefreshToken | undefined;
  /** The link to what is shown, without the token. */
  readonly link: string;
  /** Reads everything again. */
  reload(): Promise<void>;
}

/** Texts of one language; web/src/viewer/languages/en.ts has all of them. */
export type Messages = Record<string, unknown>;
/** Adds a language, or replaces texts of one. Texts that are left out are English. */
export declare function registerLanguage(name: string, messages: Messages): void;
/** The names of all languages. */
export declare function languageNames(): string[];

/** Events of the element; all of them bubble. */
export interface AuditLogViewerEvents {
  "audit-token-expired": CustomEvent<{ code: string }>;
  "audit-view-changed": CustomEvent<{ fragment: string }>;
  "audit-event-opened": CustomEvent<{ id: string }>;
  "audit-proof-checked": CustomEvent<{ event: string; outcome: "verified" | "consistent" | "failed" | "unavailable" }>;
}

declare global {
  interface HTMLElementTagNameMap {
    "audit-log-viewer": AuditLogViewer;
  }
  interface HTMLElementEventMap extends AuditLogViewerEvents {}
}
