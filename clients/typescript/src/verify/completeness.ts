import { type Bytes, concat, equal, fromBase64, sha256, toHex, utf8 } from "./bytes.js";
import { ensure } from "./error.js";
import { hashesOf, hashOfBase64, leafHash, nodeHash, RootBuilder } from "./merkle.js";
import { openCheckpoint, openNote, parseKeys } from "./note.js";
import { hashOf } from "./proof.js";

/** The response of `GET /log/completeness`. */
export interface CompletenessDocument {
  readonly tenant_id: string;
  /** Salt of the tenant, in base64. */
  readonly salt: string;
  /** The signed checkpoint of the tenant's log; absent for a tenant without events. */
  readonly checkpoint?: string | null | undefined;
  /** The path from the tenant's leaf to the root of the map; absent for a tenant without events. */
  readonly path?: readonly string[] | null | undefined;
  /** The signed note of the map of all tenants. */
  readonly map: string;
  /** What removals have taken of the events; absent where they have taken none. */
  readonly removed?: RemovedEvents | null | undefined;
}

/** What removals have taken of a tenant's events, by the statement of the server. */
export interface RemovedEvents {
  /** Their number. */
  readonly events: number;
  /** How many events at the beginning of the tenant's log are removed. */
  readonly prefix: number;
  /** The hashes of the complete subtrees over these, largest first, in base64. */
  readonly frontier: readonly string[];
  /** The leaves of the other removed events. */
  readonly leaves: readonly { readonly index: number; readonly hash: string }[];
}

/** What was proved. */
export interface VerifiedCompleteness {
  readonly tenantId: string;
  /** Events that the tenant had, removed ones included. */
  readonly size: number;
  /** How many of them retention or erasures removed, by the statement of the server. It is not signed: auditors verify removals. */
  readonly removed: number;
  /** Events of the caller that are newer than the document. */
  readonly newer: number;
  /** When the map was signed (RFC 3339). Compare it with the clock: an old one hides newer events. */
  readonly signedAt: string;
  /** `<name of the deployment>/<project id>/<environment>`. */
  readonly log: string;
}

const MAP_LEVELS = 64;

/**
 * Verifies that a tenant's events are complete: none was left out, added, changed or moved. Those that the server states as removed are
 * not among `events`.
 *
 * @param events the tenant's events in the order of the feed. Only `tenant_id` and `content_hash` are used, so verify the
 *   content of each event with its proof.
 * @param key the key of the deployment, from a channel that the server does not control.
 * @throws VerificationError if anything does not verify.
 */
export async function verifyCompleteness(
  document: CompletenessDocument,
  events: Iterable<object> | AsyncIterable<object>,
  key: string | readonly string[],
): Promise<VerifiedCompleteness> {
  const keys = await parseKeys(key);
  const map = await openNote(document.map, keys);
  const head = map.text.slice(0, -1).split("\n");
  const [name = "", signedAt = "", mapRoot = ""] = head;
  ensure(
    name.endsWith("/tenants") && name.startsWith(`${map.key.name}/`),
    "other_log",
    "the note is not that of a map of tenants of the key's owner",
  );
  const salt = fromBase64(document.salt, "the salt");
  const label = await sha256(utf8("audit tenant 1\n"), salt, utf8(document.tenant_id));
  let [size, root] = [0, await sha256()];
  if (typeof document.checkpoint === "string") {
    ensure(head.length === 4, "incomplete", "the map says that the tenant has no events");
    ({ size, root } = await openCheckpoint(document.checkpoint, key, `${name}/${toHex(label)}`));
    await verifyMapPath(document.path, label, size, root, fromBase64(mapRoot, "the root of the map"));
  } else {
    const empty = head.slice(4).join("\n") === `empty ${toHex(label)}`;
    ensure(empty, "incomplete", "the map does not say that the tenant has no events");
  }
  const { prefix, frontier, gone } = removedLeaves(document.removed, size);
  const removed = prefix + gone.size;
  const builder = new RootBuilder(prefix, frontier);
  let [present, newer] = [0, 0];
  for await (const event of events) {
    const { tenant_id, content_hash } = event as { tenant_id?: unknown; content_hash?: unknown };
    ensure(tenant_id === document.tenant_id, "incomplete", "an event is one of another tenant");
    if (present === size - removed) {
      newer += 1;
      continue;
    }
    await addRemoved(builder, gone);
    await builder.add(await leafHash(hashOf(content_hash)));
    present += 1;
  }
  await addRemoved(builder, gone);
  const leftOut = size - removed - present;
  ensure(leftOut === 0, "incomplete", `the tenant has ${size} events, of which ${removed} are removed: ${leftOut} were left out`);
  ensure(
    equal(await builder.root(), root),
    "incomplete",
    "the events are not those of the tenant, or not in the order of the feed",
  );
  return { tenantId: document.tenant_id, size, removed, newer, signedAt, log: name.slice(0, -"/tenants".length) };
}

/** How many leaves at the beginning are removed, their frontier, and the other removed leaves by index. */
function removedLeaves(removed: CompletenessDocument["removed"], size: number) {
  const gone = new Map<number, Bytes>();
  if (removed === undefined || removed === null) {
    return { prefix: 0, frontier: [], gone };
  }
  const { events, prefix, leaves } = removed;
  const isCount = Number.isSafeInteger(prefix) && prefix >= 0 && prefix <= size;
  ensure(isCount, "malformed", "removed.prefix is not a number of the tenant's events");
  ensure(Array.isArray(leaves), "malformed", "removed.leaves is not a list");
  for (const leaf of leaves) {
    const index = leaf?.index;
    const isBehind = Number.isSafeInteger(index) && index >= prefix && index < size;
    ensure(isBehind, "malformed", "an index in removed.leaves is not behind the prefix, or not one of the tenant's events");
    gone.set(index, hashOfBase64(leaf.hash, "a hash of removed.leaves"));
  }
  ensure(events === prefix + gone.size, "malformed", "removed.events is not the number of removed events");
  return { prefix, frontier: hashesOf(removed.frontier, "removed.frontier"), gone };
}

/** Adds the removed leaves that come next. */
async function addRemoved(builder: RootBuilder, gone: ReadonlyMap<number, Bytes>): Promise<void> {
  for (let leaf = gone.get(builder.size); leaf !== undefined; leaf = gone.get(builder.size)) {
    await builder.add(leaf);
  }
}

/** Verifies that the tenant's leaf leads to the root of the map. */
async function verifyMapPath(
  path: unknown,
  label: Uint8Array,
  size: number,
  root: Uint8Array,
  mapRoot: Uint8Array,
): Promise<void> {
  const siblings = hashesOf(path, "the path of the tenant");
  ensure(siblings.length === MAP_LEVELS, "malformed", "the path of the tenant does not have 64 hashes");
  const sizeBytes = new Uint8Array(8);
  new DataView(sizeBytes.buffer).setBigUint64(0, BigInt(size));
  let node = await leafHash(concat(label, sizeBytes, root));
  let position = BigInt(`0x${toHex(label.slice(0, 8))}`);
  for (const sibling of siblings) {
    node = position & 1n ? await nodeHash(sibling, node) : await nodeHash(node, sibling);
    position >>= 1n;
  }
  ensure(equal(node, mapRoot), "incomplete", "the tenant's log is not in the map");
}
