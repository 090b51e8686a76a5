/**
 * What the middleware of all frameworks share. `clients/conformance/README.md`, "Middleware", has the contract that the middleware of all clients keep.
 */
import type { EventRecorder } from "./client.js";
import type { NewEvent } from "./types.js";

type Actor = NewEvent["actor"];
type MaybePromise<T> = T | Promise<T>;

/** Facts that the framework knows of a request. */
export interface RequestFacts {
  readonly method: string;
  /** The template of the path, in the framework's syntax. The path itself may have secrets. */
  readonly route: string | undefined;
  readonly status: number;
  readonly durationMs: number;
  /** May be a function of the application: of its proxies, or an option. */
  readonly ip: () => string | undefined;
  readonly userAgent: string | undefined;
  /** The header `X-Request-Id`. */
  readonly requestId: string | undefined;
}

/** From this status on, a request has failed. */
const FAILED_STATUS = 400;
/** The statuses of a request that the actor may not make (RFC 9110, sections 15.5.2 and 15.5.4). */
const DENIED_STATUSES = [401, 403];
/** The actor of a request that nobody has signed in for. */
const ANONYMOUS: Actor = { id: "anonymous", type: "user" };
/** The actor where the function that knows it throws. */
const UNKNOWN: Actor = { id: "unknown", type: "system" };
const USER_AGENT_CHARACTERS_MAX = 512;
const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** Settings for all handlers of an application. */
export interface AuditSettings<Request> {
  /** The client, or the test double. */
  readonly client: EventRecorder;
  /** Who sent the request: an actor, or a function of the request. Without one the event has the actor `anonymous`. */
  readonly actor: Actor | ((request: Request) => MaybePromise<Actor | undefined>);
  /** The customer whose log the event belongs to: an id, or a function of the request. Without one the event is not recorded, which is an error. */
  readonly tenantId: string | ((request: Request) => MaybePromise<string | undefined>);
  /** Whether the address and the user agent are recorded in `context`. `true` if absent. */
  readonly context?: boolean | undefined;
  /**
   * Called when an event could not be recorded, or only without what a throwing function was to give. The response is not affected, not even by
   * an error of this function, which goes to the console.
   */
  readonly onError: (error: unknown) => void;
}

/** What a handler does. A field may be a function of the request, called after the handler. */
export interface Annotation<Request> {
  readonly action: NewEvent["action"];
  readonly category: NewEvent["category"];
  /** The action of a request whose status is 400 or more, such as `auth.failed`. Without it such a request is not recorded. */
  readonly failedAction?: NewEvent["action"] | undefined;
  /** `metadata.route`, such as `/todos/{id}`; that of the framework if absent. Next.js has none. */
  readonly route?: string | undefined;
  readonly target?: NewEvent["target"] | ((request: Request) => MaybePromise<NewEvent["target"]>) | undefined;
  readonly metadata?: NewEvent["metadata"] | ((request: Request) => MaybePromise<NewEvent["metadata"]>) | undefined;
  /** In place of the actor of the settings, for example of a login. */
  readonly actor?: ((request: Request) => MaybePromise<Actor | undefined>) | undefined;
  /** In place of the tenant of the settings. */
  readonly tenantId?: ((request: Request) => MaybePromise<string | undefined>) | undefined;
}

/** Fields that a handler adds to its event while it runs. */
export type Additions = Partial<Omit<NewEvent, "action" | "category">>;

/** Shared by all copies of this module: a program may load it both as ES module and as CommonJS. */
const ADDITIONS = Symbol.for("audit-server-client.additions");
const registry = globalThis as { [ADDITIONS]?: WeakMap<object, Additions> };
const additionsOf = (registry[ADDITIONS] ??= new WeakMap<object, Additions>());

/**
 * Adds fields to the event of a request, from within its handler. Later fields replace earlier ones; `metadata` is merged. The event of a request
 * that fails does not take `idempotency_key`, so that the event of a repeat that succeeds can have it.
 */
export function addToAudit(request: object, additions: Additions): void {
  const before = additionsTo(request);
  // What is no object is refused when the event is recorded: an error here would be one of the handler.
  const metadata = isObject(additions.metadata) ? { ...before.metadata, ...additions.metadata } : (additions.metadata ?? before.metadata);
  additionsOf.set(request, { ...before, ...additions, ...(metadata === undefined ? {} : { metadata }) });
}

/** The fields that a handler has added. */
export function additionsTo(request: object): Additions {
  return additionsOf.get(request) ?? {};
}

/** The fields of an annotation that every framework's event has; `undefined` if it is not to be recorded. */
export async function eventFor<Request>(
  settings: AuditSettings<Request>,
  annotation: Annotation<Request>,
  request: Request,
  facts: RequestFacts,
  added: Additions,
): Promise<NewEvent | undefined> {
  const { idempotency_key: key, ...additions } = added;
  const isFailed = facts.status >= FAILED_STATUS;
  // Of a failure, the key is left to the event of a repeat that succeeds: the service would refuse that as a conflict.
  const keyed = isFailed || key === undefined || key === null ? {} : { idempotency_key: key };
  const action = isFailed ? annotation.failedAction : annotation.action;
  if (action === undefined) {
    return undefined;
  }
  const given = async <T>(of: () => MaybePromise<T>, otherwise?: T): Promise<T | undefined> => {
    try {
      return await of();
    } catch (error) {
      report(settings, error);
      return otherwise;
    }
  };
  const [actor, tenantId, target, metadata, ip] = await Promise.all([
    additions.actor ?? given<Actor | undefined>(() => valueFor(annotation.actor ?? settings.actor, request), UNKNOWN),
    // Without a tenant there is no event.
    additions.tenant_id ?? valueFor(annotation.tenantId ?? settings.tenantId, request),
    // The first of several targets is the target.
    additions.target ?? (additions.targets === undefined ? given(() => valueFor(annotation.target, request)) : undefined),
    given(() => valueFor(annotation.metadata, request)),
    settings.context === false ? undefined : given(facts.ip),
  ]);
  if (tenantId === undefined || tenantId === null || tenantId === "") {
    throw new Error(`no tenant is known for ${action}; the event was not recorded`);
  }
  for (const part of [metadata, additions.metadata]) {
    if (part !== undefined && part !== null && !isObject(part)) {
      throw new Error(`metadata of ${action}: must be an object; the event was not recorded`);
    }
  }
  const context = { ...(settings.context === false ? {} : contextOf(ip, facts.userAgent)), ...additions.context };
  return {
    outcome: outcomeOf(facts.status),
    ...additions,
    ...keyed,
    action,
    category: annotation.category,
    actor: actor ?? ANONYMOUS,
    tenant_id: tenantId,
    ...(target === undefined || target === null ? {} : { target }),
    ...(Object.keys(context).length === 0 ? {} : { context }),
    metadata: { ...metadataOf(facts, annotation.route, "idempotency_key" in keyed), ...metadata, ...additions.metadata },
  };
}

/** How a request with this status ended. */
function outcomeOf(status: number): NonNullable<NewEvent["outcome"]> {
  if (DENIED_STATUSES.includes(status)) {
    return "denied";
  }
  return status < FAILED_STATUS ? "success" : "failure";
}

/** Address and user agent of the client. An IPv4 address is not written as a socket for both versions has it. */
function contextOf(ip: string | undefined, userAgent: string | undefined): NonNullable<NewEvent["context"]> {
  return {
    ...(ip === undefined ? {} : { ip_address: ip.replace(/^::ffff:(?=.*\.)/, "") }),
    ...(userAgent === undefined || userAgent === "" ? {} : { user_agent: userAgent.slice(0, USER_AGENT_CHARACTERS_MAX) }),
  };
}

/** The metadata of every recorded request. With a key of the application only what its repeats have too: the service compares them. */
function metadataOf(facts: RequestFacts, given: string | undefined, hasKey: boolean): Record<string, unknown> {
  const { method, status, requestId } = facts;
  // `:id` and `:id(\d+)` of the frameworks as `{id}`.
  const route = given ?? facts.route?.replaceAll(/:([A-Za-z_][A-Za-z0-9_]*)(\([^()]*\))?/g, "{$1}");
  return {
    method,
    ...(route === undefined ? {} : { route }),
    status,
    ...(hasKey ? {} : { duration_ms: Math.max(0, Math.floor(facts.durationMs)) }),
    ...(hasKey || requestId === undefined || !REQUEST_ID.test(requestId) ? {} : { request_id: requestId }),
  };
}

/** Records the event of a request, and reports whatever goes wrong. Never rejects: the request, or the process, would end with that. */
export async function recordFor<Request>(
  settings: AuditSettings<Request>,
  annotation: Annotation<Request>,
  request: Request,
  facts: RequestFacts,
  additions: Additions,
): Promise<void> {
  try {
    const event = await eventFor(settings, annotation, request, facts, additions);
    if (event !== undefined) {
      await settings.client.record(event);
    }
  } catch (error) {
    report(settings, error);
  }
}

/** Counts an error, and reports it to the application, whose function may throw or reject in turn. */
export function report(settings: Pick<AuditSettings<never>, "client" | "onError">, error: unknown): void {
  settings.client.noteMiddlewareError?.();
  const called = (async () => settings.onError(error))();
  called.catch((fault: unknown) => console.error("audit-server-client: onError failed:", fault, "It was called with:", error));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function valueFor<Request, T>(value: T | ((request: Request) => MaybePromise<T>), request: Request): MaybePromise<T> {
  return typeof value === "function" ? (value as (request: Request) => MaybePromise<T>)(request) : value;
}
