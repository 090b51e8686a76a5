/** What the middleware of all frameworks share. */
import type { EventRecorder } from "./client.js";
import type { NewEvent } from "./types.js";

type Actor = NewEvent["actor"];
type MaybePromise<T> = T | Promise<T>;

/** Facts that the framework knows of a request. */
export interface RequestFacts {
  readonly method: string;
  /** The path without its query, which may have secrets. */
  readonly path: string;
  readonly status: number;
  readonly ip: string | undefined;
  readonly userAgent: string | undefined;
}

/** Settings for all handlers of an application. */
export interface AuditSettings<Request> {
  /** The client, or the test double. */
  readonly client: EventRecorder;
  /** Who sent the request. */
  readonly actor: (request: Request) => MaybePromise<Actor | undefined>;
  /** The customer whose log the event belongs to. */
  readonly tenantId: (request: Request) => MaybePromise<string | undefined>;
  /** Whether the address and the user agent are recorded in `context`. `true` if absent. */
  readonly context?: boolean | undefined;
  /** Called when an event could not be recorded. The response is not affected. */
  readonly onError: (error: unknown) => void;
}

/** What a handler does. A field may be a function of the request, called after the handler. */
export interface Annotation<Request> {
  readonly action: NewEvent["action"];
  readonly category: NewEvent["category"];
  readonly target?: NewEvent["target"] | ((request: Request) => MaybePromise<NewEvent["target"]>) | undefined;
  readonly metadata?: NewEvent["metadata"] | ((request: Request) => MaybePromise<NewEvent["metadata"]>) | undefined;
  /** In place of the actor of the settings, for example of a login. */
  readonly actor?: ((request: Request) => MaybePromise<Actor | undefined>) | undefined;
  /** In place of the tenant of the settings. */
  readonly tenantId?: ((request: Request) => MaybePromise<string | undefined>) | undefined;
  /** `success` (the default): only if the status is below 400. `always`: `metadata.status` tells what happened. */
  readonly on?: "success" | "always" | undefined;
}

/** Fields that a handler adds to its event while it runs. */
export type Additions = Partial<Omit<NewEvent, "action" | "category">>;

/** Shared by all copies of this module: a program may load it both as ES module and as CommonJS. */
const ADDITIONS = Symbol.for("audit-server-client.additions");
const registry = globalThis as { [ADDITIONS]?: WeakMap<object, Additions> };
const additionsOf = (registry[ADDITIONS] ??= new WeakMap<object, Additions>());

/** Adds fields to the event of a request, from within its handler. Later fields replace earlier ones; `metadata` is merged. */
export function addToAudit(request: object, additions: Additions): void {
  const before = additionsTo(request);
  const metadata = { ...before.metadata, ...additions.metadata };
  additionsOf.set(request, { ...before, ...additions, ...(Object.keys(metadata).length === 0 ? {} : { metadata }) });
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
  additions: Additions,
): Promise<NewEvent | undefined> {
  if (facts.status >= 400 && annotation.on !== "always") {
    return undefined;
  }
  const [actor, tenantId, target, metadata] = await Promise.all([
    additions.actor ?? (annotation.actor ?? settings.actor)(request),
    additions.tenant_id ?? (annotation.tenantId ?? settings.tenantId)(request),
    additions.target ?? valueFor(annotation.target, request),
    valueFor(annotation.metadata, request),
  ]);
  if (actor === undefined || tenantId === undefined) {
    const missing = actor === undefined ? "actor" : "tenant";
    throw new Error(`${annotation.action}: ${facts.method} ${facts.path} has no ${missing}; the event was not recorded`);
  }
  const seen = settings.context === false ? {} : definedOf({ ip_address: facts.ip, user_agent: facts.userAgent });
  const context = { ...seen, ...additions.context };
  const { method, path, status } = facts;
  return {
    ...additions,
    action: annotation.action,
    category: annotation.category,
    actor,
    tenant_id: tenantId,
    ...(target === undefined ? {} : { target }),
    ...(Object.keys(context).length === 0 ? {} : { context }),
    metadata: { method, path, status, ...metadata, ...additions.metadata },
  };
}

/** Records the event of a request, and reports whatever goes wrong. */
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
    settings.onError(error);
  }
}

function valueFor<Request, T extends object | null | undefined>(
  value: T | ((request: Request) => MaybePromise<T>) | undefined,
  request: Request,
): MaybePromise<T> | undefined {
  return typeof value === "function" ? (value as (request: Request) => MaybePromise<T>)(request) : value;
}

function definedOf<T extends object>(fields: T): { [Name in keyof T]?: NonNullable<T[Name]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
