import { AuditApiError, AuditError, AuditNetworkError, AuditResponseError, EventsRemovedError, inWords } from "./errors.js";
import type { ErrorDetail } from "./types.js";

/** How requests are sent. */
export interface TransportOptions {
  /** The address of the service, such as `https://audit.example.com`, with or without `/api/v1`. */
  readonly baseUrl: string | undefined;
  /** A project key or a master key. With a viewer token use `AuditViewer`: its events may lack fields. */
  readonly apiKey?: string | undefined;
  /** The project of a master key's requests (`X-Project-Id`). */
  readonly projectId?: string | undefined;
  /** The environment of a master key's requests. Project keys have their own. */
  readonly environment?: "live" | "test" | undefined;
  /** Milliseconds for one attempt, the body of the response included. 30,000 if absent. */
  readonly timeoutMs?: number | undefined;
  /** Retries after a 5xx, a 408, a network failure, or a 429 with `Retry-After`. 2 if absent. */
  readonly retriesMax?: number | undefined;
  /** Milliseconds before the first retry; doubled for each further one, less up to a half at random. 500 if absent. */
  readonly backoffMs?: number | undefined;
  /** The longest wait, unless the service asks for a longer one. 30,000 if absent. */
  readonly backoffMsMax?: number | undefined;
  /** A longer `Retry-After` is not waited for: the error is reported at once. 60 if absent. */
  readonly retryAfterSecondsMax?: number | undefined;
  /** In place of the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

/** One request. */
export interface Call {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below `/api/v1`, with its parameters encoded. */
  readonly path: string;
  readonly query?: object | undefined;
  /** A value to be written as JSON. */
  readonly body?: unknown;
  /** JSON in place of `body`. */
  readonly text?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Whether it selects a project: then the client's `projectId` and `environment` are sent. */
  readonly isScoped?: boolean | undefined;
  /** Whether a second request after a lost response does no harm. If not, only refusals that say that nothing was done are retried. */
  readonly isRepeatable?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called after each attempt that another one follows. */
  readonly onFailedAttempt?: ((error: unknown) => void) | undefined;
  /** Milliseconds for one attempt, in place of the client's. */
  readonly timeoutMs?: number | undefined;
}

export const DEFAULTS = { timeoutMs: 30_000, retriesMax: 2, backoffMs: 500, backoffMsMax: 30_000, retryAfterSecondsMax: 60 } as const;
/** Characters of an error's body that are read; what a proxy sends can be anything. */
const ERROR_CHARACTERS_MAX = 1_048_576;

/** Sends requests, with timeouts and retries. */
export class Transport {
  // Private, so that no log of a client object shows the key.
  readonly #apiKey: string | undefined;
  readonly #fetch: typeof fetch;
  readonly options: Readonly<Omit<TransportOptions, "apiKey" | "fetch">>;
  readonly #base: string;
  readonly timeoutMs: number;
  readonly #retriesMax: number;
  readonly #retryAfterMsMax: number;

  constructor(options: TransportOptions) {
    // Without types a caller can leave out the options.
    const { apiKey, fetch: fetchFunction, ...rest } = options ?? ({} as TransportOptions);
    this.options = rest;
    this.#base = apiBase(rest.baseUrl);
    this.#apiKey = checkedKey(apiKey, "apiKey");
    this.#fetch = fetchFunction ?? ((input, init) => globalThis.fetch(input, init));
    this.timeoutMs = atLeast("timeoutMs", options.timeoutMs ?? DEFAULTS.timeoutMs, 1);
    this.#retriesMax = atLeast("retriesMax", options.retriesMax ?? DEFAULTS.retriesMax, 0);
    this.#retryAfterMsMax =
      1000 * atLeast("retryAfterSecondsMax", options.retryAfterSecondsMax ?? DEFAULTS.retryAfterSecondsMax, 0);
    atLeast("backoffMs", options.backoffMs ?? DEFAULTS.backoffMs, 0);
    atLeast("backoffMsMax", options.backoffMsMax ?? DEFAULTS.backoffMsMax, 0);
  }

  /** The same transport for another project or environment of a master key. */
  scoped(scope: Pick<TransportOptions, "projectId" | "environment">): Transport {
    return new Transport({ ...this.options, ...scope, apiKey: this.#apiKey, fetch: this.#fetch });
  }

  get hasKey(): boolean {
    return this.#apiKey !== undefined;
  }

  /** Milliseconds to wait before a retry: exponential, with jitter. */
  backoffMs(retry: number, firstMsMin = 0): number {
    const wait = Math.max(this.options.backoffMs ?? DEFAULTS.backoffMs, firstMsMin) * 2 ** Math.min(retry, 20);
    return Math.min(wait, Math.max(this.options.backoffMsMax ?? DEFAULTS.backoffMsMax, firstMsMin)) * (0.5 + Math.random() / 2);
  }

  /** Milliseconds of `Retry-After`, as far as they are waited for. */
  toldMs(error: unknown): number {
    return error instanceof AuditApiError ? Math.min(error.retryAfterMs ?? 0, this.#retryAfterMsMax) : 0;
  }

  /** Milliseconds before what failed with all attempts is sent again; `failures` counts such sends in a row. */
  pauseMs(failures: number, error: unknown): number {
    return Math.max(this.toldMs(error), this.backoffMs(this.#retriesMax + failures, 1));
  }

  /** The JSON of a successful response. */
  async json<T>(call: Call): Promise<T> {
    return this.read(call, (text, status) => parsed<T>(text, status));
  }

  /** The text of a successful response. */
  async text(call: Call): Promise<string> {
    return this.read(call, (text) => text);
  }

  /**
   * A successful response, as `parse` reads it. What `parse` cannot read is retried like a 5xx: nothing says that the request was
   * carried out.
   */
  async read<T>(call: Call, parse: (text: string, status: number) => T): Promise<T> {
    return this.#retried(call, async () => {
      const attempt = this.#attempt(call);
      try {
        const response = await attempt.response;
        return parse(await response.text(), response.status);
      } catch (error) {
        throw attempt.failure(error);
      } finally {
        attempt.end();
      }
    });
  }

  /** A successful response whose body the caller reads, without a limit of time for the body. */
  async open(call: Call): Promise<Response> {
    return this.#retried(call, async () => {
      const attempt = this.#attempt(call);
      try {
        return await attempt.response;
      } catch (error) {
        throw attempt.failure(error);
      } finally {
        attempt.stopTimeout();
      }
    });
  }

  async #retried<T>(call: Call, attempt: () => Promise<T>): Promise<T> {
    for (let retry = 0; ; retry += 1) {
      try {
        return await attempt();
      } catch (error) {
        const wait = this.#waitBeforeRetry(error, retry, call);
        if (wait === undefined) {
          throw error;
        }
        call.onFailedAttempt?.(error);
        await sleep(wait, call.signal);
      }
    }
  }

  /** Milliseconds; `undefined` if the request must not be sent again. */
  #waitBeforeRetry(error: unknown, retry: number, call: Call): number | undefined {
    if (retry >= this.#retriesMax || call.signal?.aborted === true || !(error instanceof AuditError)) {
      return undefined;
    }
    if (!(error instanceof AuditApiError)) {
      return isRepeatable(call) ? this.backoffMs(retry) : undefined;
    }
    const { status, retryAfterMs } = error;
    const isRetried = status === 429 ? retryAfterMs !== undefined : isFailure(status) && isRepeatable(call);
    if (!isRetried || (retryAfterMs ?? 0) > this.#retryAfterMsMax) {
      return undefined;
    }
    return Math.max(retryAfterMs ?? 0, this.backoffMs(retry));
  }

  #attempt(call: Call) {
    const controller = new AbortController();
    const timeoutMs = call.timeoutMs ?? this.timeoutMs;
    let isTimedOut = false;
    const timer = setTimeout(() => {
      isTimedOut = true;
      controller.abort();
    }, timeoutMs);
    const abort = (): void => controller.abort();
    if (call.signal?.aborted === true) {
      abort();
    }
    call.signal?.addEventListener("abort", abort, { once: true });
    const end = (): void => {
      clearTimeout(timer);
      call.signal?.removeEventListener("abort", abort);
    };
    return {
      response: this.#send(call, controller.signal),
      end,
      stopTimeout: () => clearTimeout(timer),
      failure: (error: unknown): unknown => {
        if (error instanceof AuditError) {
          return error;
        }
        const reason = isTimedOut ? `no response within ${timeoutMs} ms` : reasonOf(error);
        return new AuditNetworkError(`${nameOf(call)}: no response of ${new URL(this.#base).origin}: ${reason}`, { cause: error });
      },
    };
  }

  async #send(call: Call, signal: AbortSignal): Promise<Response> {
    const headers: Record<string, string> = { Accept: "application/json", ...call.headers };
    if (this.#apiKey !== undefined) {
      headers["Authorization"] = `Bearer ${this.#apiKey}`;
    }
    const { projectId, environment } = call.isScoped === true ? this.options : {};
    if (projectId !== undefined) {
      headers["X-Project-Id"] = projectId;
    }
    const init: RequestInit = { method: call.method, headers, signal, redirect: "manual", cache: "no-store" };
    const body = call.text ?? (call.body === undefined ? undefined : JSON.stringify(call.body));
    if (body !== undefined) {
      headers["Content-Type"] = "application/json";
      init.body = body;
    }
    const url = this.#base + call.path + queryText({ ...call.query, environment });
    const response = await this.#fetch(url, init);
    if (!response.ok) {
      throw await apiError(response, call);
    }
    return response;
  }
}

/** Whether the server has failed, or was too slow to read the request (408): another attempt may succeed. */
export function isFailure(status: number): boolean {
  return status >= 500 || status === 408;
}

/** Whether time can remove the cause of an error: no response of the service, a failure, a limit. */
export function isTemporary(error: unknown): boolean {
  return !(error instanceof AuditApiError) || isFailure(error.status) || error.status === 429;
}

function isRepeatable(call: Call): boolean {
  return call.isRepeatable ?? call.method !== "POST";
}

function apiBase(baseUrl: string | undefined): string {
  if (baseUrl === undefined) {
    throw new TypeError("baseUrl is missing: the address of the service, such as https://audit.example.com; is its variable set?");
  }
  let url: URL;
  try {
    url = new URL(baseUrl);
  } catch {
    throw new TypeError("baseUrl is not a URL such as https://audit.example.com");
  }
  if ((url.protocol !== "http:" && url.protocol !== "https:") || url.search !== "" || url.hash !== "") {
    throw new TypeError("baseUrl is a URL of http or https without query and fragment");
  }
  if (url.username !== "" || url.password !== "") {
    throw new TypeError("baseUrl has no user name and password");
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, "").replace(/\/api\/v1$/, "")}/api/v1`;
}

/** Checks a key. `name` is the option that the caller gave it by. */
export function checkedKey(apiKey: string | undefined, name: string): string | undefined {
  const key = apiKey?.trim();
  // An invalid character would be reported by `fetch`, with the whole key in the message.
  if (key !== undefined && !/^[\x21-\x7e]+$/.test(key)) {
    throw new TypeError(`${name} is empty or has characters that no key has`);
  }
  return key;
}

/** Checks an option. */
export function atLeast(name: string, value: number, least: number): number {
  if (!Number.isFinite(value) || value < least) {
    throw new RangeError(`${name} is a number of at least ${least}`);
  }
  return value;
}

/** A call in messages. The token of a stream is a secret: who has it can claim the stream. */
function nameOf({ method, path }: Call): string {
  return `${method} ${path.replace(/^\/streams\/[^/]+\//, "/streams/…/")}`;
}

/** Why a request failed: `fetch` says it in the cause of the cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) {
    return String(error);
  }
  if (error.cause instanceof Error) {
    return reasonOf(error.cause);
  }
  // An error for several addresses of a name has no message.
  return error.message !== "" ? error.message : String((error as { code?: unknown }).code ?? error.name);
}

function queryText(query: object): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null) {
        parameters.append(name, String(one));
      }
    }
  }
  const text = parameters.toString();
  return text === "" ? "" : `?${text}`;
}

function parsed<T>(text: string, status: number): T {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) {
      return value as T;
    }
  } catch (cause) {
    throw new AuditResponseError("the response is not JSON of the service, but perhaps of a proxy", status, { cause });
  }
  throw new AuditResponseError("the response is not a JSON object", status);
}

async function apiError(response: Response, call: Call): Promise<AuditApiError> {
  const { code, message, details, requestId, cursor } = errorBody((await response.text()).slice(0, ERROR_CHARACTERS_MAX));
  const fields = {
    message: `${nameOf(call)}: ${response.status} ${code ?? ""}: ${message ?? "no error of the service"}${inWords(details)}`,
    status: response.status,
    code,
    details,
    requestId: requestId ?? response.headers.get("x-request-id") ?? undefined,
    retryAfterMs: retryAfterMs(response.headers.get("retry-after")),
  };
  return code === "events_removed" && cursor !== undefined ? new EventsRemovedError(fields, cursor) : new AuditApiError(fields);
}

/** The fields of an error, each only if it is what it should be: a proxy can send anything. */
export function errorBody(text: string): { code?: string; message?: string; details?: ErrorDetail[]; cursor?: string; requestId?: string } {
  let body: { error?: { code?: unknown; message?: unknown; details?: unknown; cursor?: unknown }; request_id?: unknown } | null;
  try {
    body = JSON.parse(text) as typeof body;
  } catch {
    return {}; // not a response of the service; the status says enough
  }
  const found: ReturnType<typeof errorBody> = {};
  if (typeof body?.error?.code === "string") {
    found.code = body.error.code;
  }
  if (typeof body?.error?.message === "string") {
    found.message = body.error.message;
  }
  if (Array.isArray(body?.error?.details)) {
    found.details = body.error.details.filter(isDetail);
  }
  if (typeof body?.error?.cursor === "string") {
    found.cursor = body.error.cursor;
  }
  if (typeof body?.request_id === "string") {
    found.requestId = body.request_id;
  }
  return found;
}

function isDetail(detail: unknown): detail is ErrorDetail {
  const { field, message } = (detail ?? {}) as { field?: unknown; message?: unknown };
  return typeof field === "string" && typeof message === "string";
}

/** Seconds or an HTTP date (RFC 9110, section 10.2.3); `undefined` for anything else. */
function retryAfterMs(header: string | null): number | undefined {
  if (header === null) {
    return undefined;
  }
  if (/^[0-9]{1,10}$/.test(header.trim())) {
    return 1000 * Number(header);
  }
  const date = /^[A-Z][a-z]{2}, .* GMT$/.test(header.trim()) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

/** Waits; ends early with the signal. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve();
      return;
    }
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    // Longer timers overflow.
    const timer = setTimeout(end, Math.min(ms, 2 ** 31 - 1));
    signal?.addEventListener("abort", end, { once: true });
  });
}
