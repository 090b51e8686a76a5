import { parseExact } from "./exact-json.js";

/** What a page can do about a failure. */
export type FailureKind =
  /** The credential has expired or is not valid any more: a fresh one is needed. */
  | "expired"
  /** The credential may not do this. */
  | "forbidden"
  /** The request is wrong; `details` say where. */
  | "invalid"
  | "not_found"
  /** The server is overloaded or limits the rate: a later attempt may work. */
  | "busy"
  /** No response. */
  | "offline"
  | "server";

export interface Detail {
  field: string;
  message: string;
}

export class Failure extends Error {
  /** The credential that was refused. Private, so that no report of an error has it. */
  readonly #refused: string | undefined;

  constructor(
    readonly kind: FailureKind,
    message: string,
    readonly status = 0,
    readonly code = "",
    readonly requestId = "",
    readonly details: Detail[] = [],
    refused?: string,
    /** Where a reader continues whose events were removed. */
    readonly cursor?: string,
  ) {
    super(message);
    this.#refused = refused;
  }

  /** Whether this credential was refused. A response can arrive after another credential has taken the place of the refused one. */
  refuses(credential: string): boolean {
    return this.kind === "expired" && (this.#refused === undefined || this.#refused === credential);
  }
}

export type Parameters = Record<string, string | number | boolean | readonly string[] | undefined>;

/** Begins what stands for the key where a console is signed in by a cookie, which no script can read: the kind of the key, and the id of the session. */
const SESSION = /^session:(?:master|live|test):/;

/** Where requests go and with which credential. */
export interface Connection {
  /** The server without `/api/v1`; empty for the origin of the page. */
  baseUrl: string;
  /** A viewer token, a project key, a master key, or what stands for the key of a session. */
  credential: string;
  /** The project that a master key acts on. */
  projectId?: string | undefined;
  /** The environment that a master key acts on. */
  environment?: string | undefined;
  /** Whether lists and counts of events leave out the service's own, unless the request names a tenant. */
  withoutOwnEvents?: boolean | undefined;
}

/** The tenant of the service's own events. */
export const OWN_TENANT = "audit-server";

const KINDS: Record<number, FailureKind> = {
  400: "invalid",
  401: "expired",
  403: "forbidden",
  404: "not_found",
  409: "invalid",
  410: "not_found",
  413: "invalid",
  429: "busy",
  503: "busy",
};

interface ErrorBody {
  error?: { code?: string; message?: string; details?: Detail[]; cursor?: string };
  request_id?: string;
}

/** Requests to the HTTP API with one credential, which is sent in a header and never in a URL. */
export class Api {
  /** `signal` aborts every request that has none of its own. */
  constructor(
    readonly connection: Connection,
    private readonly signal?: AbortSignal,
  ) {}

  get isMaster(): boolean {
    return /^(mk_|session:master:)/.test(this.connection.credential);
  }

  /** Whether the key is one of the test environment. */
  get isTest(): boolean {
    return /^(pk_test_|session:test:)/.test(this.connection.credential);
  }

  get isViewer(): boolean {
    return this.connection.credential.startsWith("vt_");
  }

  /** A JSON resource. */
  async get<T>(path: string, parameters: Parameters = {}, signal?: AbortSignal): Promise<T> {
    return this.json<T>(await this.fetch("GET", path, { parameters, signal }));
  }

  /** A JSON resource, with the time before which a removal has taken events of the log. */
  async getWithRemoved<T>(path: string, parameters: Parameters, signal: AbortSignal): Promise<{ body: T; removedBefore: string | undefined }> {
    const response = await this.fetch("GET", path, { parameters, signal });
    return { body: await this.json<T>(response), removedBefore: response.headers.get("Events-Removed-Before") ?? undefined };
  }

  async text(path: string, parameters: Parameters = {}): Promise<string> {
    const response = await this.fetch("GET", path, { parameters });
    return response.text().catch(offline);
  }

  async send<T>(method: "POST" | "PUT" | "PATCH" | "DELETE", path: string, body?: unknown, parameters: Parameters = {}): Promise<T> {
    return this.json<T>(await this.fetch(method, path, { parameters, body }));
  }

  private async json<T>(response: Response): Promise<T> {
    const text = await response.text().catch(offline);
    try {
      return parseExact(text) as T;
    } catch {
      throw new Failure("server", "the response is not JSON", response.status);
    }
  }

  /** A response with a status of success; every other outcome is thrown as a [Failure]. */
  async fetch(
    method: string,
    path: string,
    options: { parameters?: Parameters; body?: unknown; accept?: string; signal?: AbortSignal | undefined } = {},
  ): Promise<Response> {
    const { credential, baseUrl, projectId, environment, withoutOwnEvents } = this.connection;
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(options.parameters ?? {})) {
      if (value === undefined || value === "") continue;
      for (const one of Array.isArray(value) ? value : [value]) query.append(name, String(one));
    }
    if (this.isMaster && environment === "test" && /^\/(events|destinations|alerts(\?|$|\/alt_)|log|retention|holds|erasures|actions$)/.test(path)) query.set("environment", "test");
    if (withoutOwnEvents && /^\/events(\/(summary|feed|export))?$/.test(path) && !query.has("tenant_id")) query.set("not_tenant_id", OWN_TENANT);
    const headers = headersOf(credential);
    if (this.isMaster && projectId && !path.startsWith("/projects")) headers["X-Project-Id"] = projectId;
    if (options.accept) headers["Accept"] = options.accept;
    const init: RequestInit = { method, headers };
    const signal = options.signal ?? this.signal;
    if (signal) init.signal = signal;
    if (options.body !== undefined) {
      headers["Content-Type"] = "application/json";
      init.body = JSON.stringify(options.body);
    }
    const text = query.toString();
    const url = `${baseUrl.replace(/\/+$/, "")}/api/v1${path}${text && `?${text}`}`;
    return request(url, init, credential);
  }
}

/** The headers with which a credential is presented. The cookie of a session counts only with its own (`docs/viewer.md`, Sessions). */
export function headersOf(credential: string): Record<string, string> {
  if (SESSION.test(credential)) return { "X-Audit-Console": credential.replace(SESSION, "") };
  return credential ? { Authorization: `Bearer ${credential}` } : {};
}

/** A response with a status of success to a request with this credential; every other outcome is thrown as a [Failure]. */
export async function request(url: string, init: RequestInit, credential: string, credentials: RequestCredentials = SESSION.test(credential) ? "same-origin" : "omit"): Promise<Response> {
  const response = await fetch(url, { ...init, credentials, cache: "no-store", referrerPolicy: "no-referrer" }).catch(offline);
  if (!response.ok) throw await failed(response, credential);
  return response;
}

function offline(cause: unknown): never {
  if (cause instanceof DOMException && cause.name === "AbortError") throw cause;
  throw new Failure("offline", "no response from the server");
}

async function failed(response: Response, credential: string): Promise<Failure> {
  const body = (await response.json().catch(() => ({}))) as ErrorBody;
  const kind = KINDS[response.status] ?? "server";
  const message = body.error?.message ?? `status ${response.status}`;
  return new Failure(kind, message, response.status, body.error?.code, body.request_id, body.error?.details, credential, body.error?.cursor);
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** Every thrown value as a failure. */
export function asFailure(error: unknown): Failure {
  return error instanceof Failure ? error : new Failure("server", error instanceof Error ? error.message : String(error));
}

/** What the credential may not see, or the server does not have, is `undefined`. Other failures are thrown. */
export async function optional<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof Failure && ["forbidden", "not_found"].includes(error.kind)) return undefined;
    throw error;
  }
}
