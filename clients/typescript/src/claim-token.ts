const UUID4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/** The token of a stream: the given one, or a new one. `name` is the option that the caller gave it by. */
export function claimToken(given: string | undefined, name: string): string {
  const token = given ?? crypto.randomUUID();
  if (!UUID4.test(token)) {
    throw new TypeError(`${name} is a UUID of version 4`);
  }
  return token;
}

/** The path to which a client sends its events. */
export function ingestPath(token: string | undefined): string {
  return token === undefined ? "/events" : `/streams/${token}/events`;
}
