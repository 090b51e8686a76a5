/**
 * What the service refuses for sure, checked where an event is recorded: fields, their types and their lengths. The service also checks texts for NUL
 * characters, the depth of free-form values, and times.
 */
import { type Entry, eventOf } from "./entry.js";
import { InvalidEventError } from "./errors.js";

const ACTION = /^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$/;
const CATEGORIES = ["auth", "access", "mutation", "admin", "security", "system"];
const ACTOR_TYPES = ["user", "api_key", "service", "system"];
const OUTCOMES = ["success", "failure", "denied"];
const ACTION_CHARACTERS_MAX = 256;
const ID_CHARACTERS_MAX = 256;
const NAME_CHARACTERS_MAX = 512;
const CHANGES_ITEMS_MAX = 200;
const TARGETS_ITEMS_MAX = 16;
/** Characters of an event as JSON. */
const EVENT_CHARACTERS_MAX = 65_536;

/** Says what is wrong with a value of the field with this path. */
type Check = (path: string, value: unknown) => string[];

function text(charactersMin: number, charactersMax: number): Check {
  return (path, value) => {
    if (typeof value !== "string") {
      return [`${path}: must be a string`];
    }
    if (value.length < charactersMin) {
      return [`${path}: must not be empty`];
    }
    return charactersOf(value, charactersMax) > charactersMax ? [`${path}: must have at most ${charactersMax} characters`] : [];
  };
}

/** The number of characters, those beyond U+FFFF as one; exact only above the limit. */
function charactersOf(value: string, limit: number): number {
  return value.length > limit ? [...value].length : value.length;
}

function oneOf(words: readonly string[]): Check {
  return (path, value) => (words.includes(value as string) ? [] : [`${path}: must be one of ${words.join(", ")}`]);
}

const action: Check = (path, value) =>
  typeof value === "string" && value.length <= ACTION_CHARACTERS_MAX && ACTION.test(value)
    ? []
    : [`${path}: must be dot-namespaced lower case like user.created, with at most ${ACTION_CHARACTERS_MAX} characters`];

const anything: Check = () => [];

const freeForm: Check = (path, value) => (isObject(value) ? [] : [`${path}: must be an object`]);

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function fields(members: Readonly<Record<string, Check>>, required: readonly string[]): Check {
  return (path, value) => {
    if (!isObject(value)) {
      return [`${path}: must be an object`];
    }
    const at = (name: string): string => (path === "" ? name : `${path}.${name}`);
    return [
      ...Object.entries(members).flatMap(([name, check]) => {
        const given = value[name];
        if (given === undefined || given === null) {
          return required.includes(name) ? [`${at(name)}: is missing`] : [];
        }
        return check(at(name), given);
      }),
      ...Object.keys(value).flatMap((name) => (Object.hasOwn(members, name) ? [] : [`${at(name)}: is no field of an event`])),
    ];
  };
}

const id = text(1, ID_CHARACTERS_MAX);
const name = text(0, NAME_CHARACTERS_MAX);
const shortText = text(0, ID_CHARACTERS_MAX);
const anyText = text(0, EVENT_CHARACTERS_MAX);
const change = fields({ field: text(1, NAME_CHARACTERS_MAX), before: anything, after: anything }, ["field"]);

const party = { id, type: oneOf(ACTOR_TYPES), name };
const target = fields({ id, type: id, name }, ["id", "type"]);

function items(item: Check, itemsMax: number): Check {
  return (path, value) => {
    if (!Array.isArray(value)) {
      return [`${path}: must be an array`];
    }
    return value.length > itemsMax
      ? [`${path}: must have at most ${itemsMax} items`]
      : value.flatMap((one, index) => item(`${path}[${index}]`, one));
  };
}

const event = fields(
  {
    action,
    category: oneOf(CATEGORIES),
    tenant_id: id,
    actor: fields({ ...party, email: name, on_behalf_of: fields(party, ["id", "type"]) }, ["id", "type"]),
    target,
    targets: items(target, TARGETS_ITEMS_MAX),
    outcome: oneOf(OUTCOMES),
    context: fields({ ip_address: anyText, user_agent: anyText, location: anyText, session_id: shortText }, []),
    metadata: freeForm,
    changes: items(change, CHANGES_ITEMS_MAX),
    idempotency_key: id,
    occurred_at: anyText,
  },
  ["action", "category", "tenant_id", "actor"],
);

/**
 * Checks an event as it is sent.
 *
 * @throws InvalidEventError if the service would refuse it.
 */
export function checkEntry(entry: Entry): void {
  const problems =
    charactersOf(entry, EVENT_CHARACTERS_MAX) > EVENT_CHARACTERS_MAX
      ? [`event: must have at most ${EVENT_CHARACTERS_MAX} characters as JSON`]
      : event("", eventOf(entry));
  if (problems.length > 0) {
    throw new InvalidEventError(`the service would refuse the event: ${problems.join("; ")}`);
  }
}
