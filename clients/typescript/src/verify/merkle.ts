/** Merkle trees of RFC 6962 and RFC 9162, section 2.1. */
import { type Bytes, concat, equal, fromBase64, sha256 } from "./bytes.js";
import { ensure } from "./error.js";

/** Hashes of a proof: twice the levels of a tree of 2^63 leaves are more than any proof has. */
export const PROOF_HASHES_MAX = 128;

const LEAF = Uint8Array.of(0);
const NODE = Uint8Array.of(1);

/** SHA-256(0x00 ‖ data). */
export function leafHash(data: Uint8Array): Promise<Bytes> {
  return sha256(LEAF, data);
}

/** SHA-256(0x01 ‖ left ‖ right). */
export function nodeHash(left: Uint8Array, right: Uint8Array): Promise<Bytes> {
  return sha256(NODE, left, right);
}

/** The hashes of a proof from base64. */
export function hashesOf(texts: unknown, what: string): Bytes[] {
  ensure(Array.isArray(texts) && texts.length <= PROOF_HASHES_MAX, "malformed", `${what} is not a list of hashes`);
  return texts.map((text) => hashOfBase64(text, `a hash of ${what}`));
}

/** The 32 bytes of a hash from base64. */
export function hashOfBase64(text: unknown, what: string): Bytes {
  const hash = fromBase64(text, what);
  ensure(hash.length === 32, "malformed", `${what} is not 32 bytes long`);
  return hash;
}

/** Verifies that a leaf is in a tree (RFC 9162, section 2.1.3.2). */
export async function verifyInclusion(proof: {
  /** Index of the leaf, from 0. */
  readonly index: number;
  /** Leaves of the tree. */
  readonly size: number;
  readonly leaf: Uint8Array;
  readonly hashes: readonly Uint8Array[];
  readonly root: Uint8Array;
}): Promise<void> {
  const { index, size } = proof;
  ensure(Number.isSafeInteger(index) && index >= 0 && index < size, "not_included", "the log has no such position");
  let position = index;
  let last = size - 1;
  let node: Uint8Array = proof.leaf;
  for (const hash of proof.hashes) {
    ensure(last !== 0, "not_included", "the proof has too many hashes");
    if (position % 2 === 1 || position === last) {
      node = await nodeHash(hash, node);
      while (position % 2 === 0 && position !== 0) {
        position = Math.floor(position / 2);
        last = Math.floor(last / 2);
      }
    } else {
      node = await nodeHash(node, hash);
    }
    position = Math.floor(position / 2);
    last = Math.floor(last / 2);
  }
  ensure(last === 0, "not_included", "the proof has too few hashes");
  ensure(equal(node, proof.root), "not_included", "the event is not in the log at this position");
}

/** Verifies that a tree continues a smaller one (RFC 9162, section 2.1.4.2). */
export async function verifyConsistency(proof: {
  readonly from: { readonly size: number; readonly root: Uint8Array };
  readonly to: { readonly size: number; readonly root: Uint8Array };
  readonly hashes: readonly Uint8Array[];
}): Promise<void> {
  const { from, to } = proof;
  ensure(from.size <= to.size, "inconsistent", "the later checkpoint has fewer events");
  if (from.size === 0 || from.size === to.size) {
    ensure(proof.hashes.length === 0, "inconsistent", "the proof has too many hashes");
    ensure(from.size === 0 || equal(from.root, to.root), "inconsistent", "two roots of one size");
    return;
  }
  const isPower = Number.isInteger(Math.log2(from.size)) && 2 ** Math.round(Math.log2(from.size)) === from.size;
  const path = isPower ? [from.root, ...proof.hashes] : [...proof.hashes];
  ensure(path.length > 0, "inconsistent", "the proof has too few hashes");
  let position = from.size - 1;
  let last = to.size - 1;
  while (position % 2 === 1) {
    position = Math.floor(position / 2);
    last = Math.floor(last / 2);
  }
  let [fromRoot, toRoot] = [path[0]!, path[0]!];
  for (const hash of path.slice(1)) {
    ensure(last !== 0, "inconsistent", "the proof has too many hashes");
    if (position % 2 === 1 || position === last) {
      fromRoot = await nodeHash(hash, fromRoot);
      toRoot = await nodeHash(hash, toRoot);
      while (position % 2 === 0 && position !== 0) {
        position = Math.floor(position / 2);
        last = Math.floor(last / 2);
      }
    } else {
      toRoot = await nodeHash(toRoot, hash);
    }
    position = Math.floor(position / 2);
    last = Math.floor(last / 2);
  }
  ensure(last === 0, "inconsistent", "the proof has too few hashes");
  ensure(
    equal(fromRoot, from.root) && equal(toRoot, to.root),
    "inconsistent",
    "the later checkpoint does not continue the earlier one: history was rewritten",
  );
}

/** Computes the root of a tree from its leaf hashes, one after the other, in memory that grows with the tree's height. */
export class RootBuilder {
  readonly #edge: Bytes[];
  #size: number;

  /**
   * @param size leaves before the first one that is added.
   * @param frontier the hashes of the complete subtrees over these, largest first (RFC 6962, section 2.1).
   * @throws VerificationError if it does not have one hash for each bit that is set in `size`.
   */
  constructor(size = 0, frontier: readonly Bytes[] = []) {
    const count = [...BigInt(size).toString(2)].filter((bit) => bit === "1").length;
    ensure(frontier.length === count, "malformed", `the frontier is not one of ${size} leaves`);
    this.#edge = [...frontier];
    this.#size = size;
  }

  /** Leaves so far. */
  get size(): number {
    return this.#size;
  }

  /** Adds a leaf hash. */
  async add(leaf: Bytes): Promise<void> {
    let node = leaf;
    for (let index = this.#size; index % 2 === 1; index = Math.floor(index / 2)) {
      node = await nodeHash(this.#edge.pop()!, node);
    }
    this.#edge.push(node);
    this.#size += 1;
  }

  /** The root of the leaves so far (RFC 9162, section 2.1.1). */
  async root(): Promise<Bytes> {
    let node = this.#edge.at(-1) ?? (await sha256(concat()));
    for (const left of this.#edge.slice(0, -1).reverse()) {
      node = await nodeHash(left, node);
    }
    return node;
  }
}
