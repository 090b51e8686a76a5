/** A JSON value. Integers beyond ±(2^53−1) are `bigint` where {@link parseJson} read them. */
export type JsonValue = null | boolean | number | bigint | string | JsonValue[] | { [name: string]: JsonValue };

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\.)*"/sy;
const SPACE = /[ \t\n\r]*/y;

/** Levels of nesting that {@link parseJson} accepts. The service accepts fewer. */
export const JSON_LEVELS_MAX = 200;

/**
 * Parses JSON like `JSON.parse`, but keeps all digits of integers: beyond ±(2^53−1) they become `bigint`. The content hash
 * covers every digit, and `JSON.parse` rounds.
 */
export function parseJson(text: string): JsonValue {
  return new Parser(text).document();
}

class Parser {
  #offset = 0;

  constructor(readonly text: string) {}

  document(): JsonValue {
    const value = this.#value(0);
    this.#match(SPACE);
    if (this.#offset !== this.text.length) {
      this.#fail();
    }
    return value;
  }

  #fail(): never {
    throw new SyntaxError(`not JSON at character ${this.#offset}`);
  }

  /** The token at the offset, which moves behind it. */
  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#offset;
    const found = pattern.exec(this.text)?.[0];
    if (found !== undefined) {
      this.#offset += found.length;
    }
    return found;
  }

  #peek(): string | undefined {
    this.#match(SPACE);
    return this.text[this.#offset];
  }

  #expect(character: string): void {
    if (this.#peek() !== character) {
      this.#fail();
    }
    this.#offset += 1;
  }

  #value(level: number): JsonValue {
    if (level > JSON_LEVELS_MAX) {
      this.#fail();
    }
    switch (this.#peek()) {
      case "{":
        return this.#object(level);
      case "[":
        return this.#array(level);
      case '"':
        return this.#string();
      default:
        return this.#scalar();
    }
  }

  #string(): string {
    const token = this.#match(STRING);
    return token === undefined ? this.#fail() : (JSON.parse(token) as string);
  }

  #scalar(): JsonValue {
    for (const [word, value] of [["null", null], ["true", true], ["false", false]] as const) {
      if (this.text.startsWith(word, this.#offset)) {
        this.#offset += word.length;
        return value;
      }
    }
    const token = this.#match(NUMBER);
    if (token === undefined) {
      return this.#fail();
    }
    const value = Number(token);
    return /^-?[0-9]+$/.test(token) && !Number.isSafeInteger(value) ? BigInt(token) : value;
  }

  #array(level: number): JsonValue[] {
    const items: JsonValue[] = [];
    this.#expect("[");
    if (this.#peek() === "]") {
      this.#offset += 1;
      return items;
    }
    for (;;) {
      items.push(this.#value(level + 1));
      if (this.#peek() !== ",") {
        break;
      }
      this.#offset += 1;
    }
    this.#expect("]");
    return items;
  }

  #object(level: number): { [name: string]: JsonValue } {
    const members: { [name: string]: JsonValue } = {};
    this.#expect("{");
    if (this.#peek() === "}") {
      this.#offset += 1;
      return members;
    }
    for (;;) {
      this.#match(SPACE);
      const name = this.#string();
      this.#expect(":");
      const value = this.#value(level + 1);
      // An assignment to `__proto__` would not create a member. A repeated name would show a reader one of two values.
      if (Object.hasOwn(members, name)) {
        this.#fail();
      }
      Object.defineProperty(members, name, { value, writable: true, enumerable: true, configurable: true });
      if (this.#peek() !== ",") {
        break;
      }
      this.#offset += 1;
    }
    this.#expect("}");
    return members;
  }
}

/**
 * Canonical JSON (RFC 8785), with all digits of integers that are `bigint`. ECMAScript's own `JSON.stringify` defines how the RFC
 * writes strings and numbers, and its `sort` compares UTF-16 code units, as the RFC does.
 */
export function canonical(value: unknown): string {
  if (typeof value === "bigint") {
    return value.toString();
  }
  if (Array.isArray(value)) {
    return `[${value.map(canonical).join(",")}]`;
  }
  if (typeof value === "object" && value !== null) {
    const members = value as Record<string, unknown>;
    const names = Object.keys(members).filter((name) => members[name] !== undefined);
    return `{${names.sort().map((name) => `${JSON.stringify(name)}:${canonical(members[name])}`).join(",")}}`;
  }
  return JSON.stringify(value) ?? "null";
}
