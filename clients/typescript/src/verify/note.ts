/** Signed notes (https://c2sp.org/signed-note) and checkpoints (https://c2sp.org/tlog-checkpoint). */
import { type Bytes, equal, fromBase64, fromHex, sha256, subtle, utf8 } from "./bytes.js";
import { ensure, VerificationError } from "./error.js";

/** Bytes of a note. */
export const NOTE_BYTES_MAX = 128 * 1024;
/** Signatures of a note. */
export const NOTE_SIGNATURES_MAX = 100;

const SIGNATURE_START = "\u2014 ";
const ED25519 = 1;

/** A key that verifies notes. */
export interface VerifierKey {
  /** The name of the deployment, with which the names of all its logs begin. */
  readonly name: string;
  /** The first four bytes of SHA-256(name ‖ "\n" ‖ 0x01 ‖ public key). */
  readonly id: Bytes;
  readonly publicKey: Bytes;
}

/** A verified checkpoint: the head of a log at some time. */
export interface Checkpoint {
  /** The name of the log. */
  readonly origin: string;
  /** Number of events. */
  readonly size: number;
  /** Root of the tree over the content hashes of the events. */
  readonly root: Bytes;
  /** The name of the key that signed it. */
  readonly signedBy: string;
}

/** Parses the text of `GET /log/key`: `<name>+<key id>+<base64>`. */
export async function parseKey(text: string): Promise<VerifierKey> {
  const fail = (cause?: unknown): never => {
    throw new VerificationError("invalid_key", "a key has the form <name>+<key id>+<base64 of an Ed25519 key>", { cause });
  };
  const [name = "", idText = "", ...rest] = text.trim().split("+");
  const typed = ((): { id: Bytes; bytes: Bytes } => {
    try {
      return { id: fromHex(idText, "the key id", 4), bytes: fromBase64(rest.join("+"), "the key") };
    } catch (error) {
      return fail(error);
    }
  })();
  if (!isName(name) || typed.bytes.length !== 33 || typed.bytes[0] !== ED25519) {
    fail();
  }
  const expected = (await sha256(utf8(`${name}\n`), typed.bytes)).slice(0, 4);
  ensure(equal(expected, typed.id), "invalid_key", "the key id is not that of the key");
  return { name, id: typed.id, publicKey: typed.bytes.slice(1) };
}

function isName(text: string): boolean {
  return text !== "" && !/[\s+\u0000-\u001f]/u.test(text);
}

/** Parses one key, or several of which any may have signed. */
export async function parseKeys(keys: string | readonly string[]): Promise<VerifierKey[]> {
  const texts = typeof keys === "string" ? [keys] : keys;
  ensure(texts.length > 0, "invalid_key", "no key is given");
  return Promise.all(texts.map(parseKey));
}

interface Signature {
  readonly name: string;
  readonly id: Bytes;
  readonly bytes: Bytes;
}

function parseSignature(line: string): Signature {
  const fault = "a line after the text of the note is not a signature";
  ensure(line.startsWith(SIGNATURE_START), "malformed", fault);
  const [name = "", base64, ...rest] = line.slice(SIGNATURE_START.length).split(" ");
  ensure(isName(name) && rest.length === 0, "malformed", fault);
  const bytes = fromBase64(base64, "a signature");
  ensure(bytes.length > 4, "malformed", fault);
  return { name, id: bytes.slice(0, 4), bytes: bytes.slice(4) };
}

async function isSignature(key: VerifierKey, text: string, signature: Bytes): Promise<boolean> {
  let imported: CryptoKey;
  try {
    imported = await subtle().importKey("raw", key.publicKey, { name: "Ed25519" }, false, ["verify"]);
  } catch (cause) {
    throw new VerificationError("unsupported_runtime", "the WebCrypto of this runtime has no Ed25519", { cause });
  }
  return subtle().verify({ name: "Ed25519" }, imported, signature, utf8(text));
}

/** Verifies a signed note. Returns its text, and the key that has signed it. */
export async function openNote(
  note: unknown,
  keys: readonly VerifierKey[],
): Promise<{ text: string; key: VerifierKey }> {
  ensure(typeof note === "string" && note.length <= NOTE_BYTES_MAX, "malformed", "the note is too long");
  ensure(!/[\u0000-\u0009\u000b-\u001f]/.test(note), "malformed", "the note has control characters");
  const blank = note.lastIndexOf("\n\n");
  ensure(blank >= 0 && note.endsWith("\n") && note.length > blank + 2, "malformed", "the note has no signatures");
  const text = note.slice(0, blank + 1);
  const lines = note.slice(blank + 2, -1).split("\n");
  ensure(lines.length <= NOTE_SIGNATURES_MAX, "malformed", "the note has too many signatures");
  let signer: VerifierKey | undefined;
  for (const signature of lines.map(parseSignature)) {
    const key = keys.find(({ name, id }) => name === signature.name && equal(id, signature.id));
    if (key === undefined) {
      continue; // the signature of a witness or of an unknown key
    }
    ensure(await isSignature(key, text, signature.bytes), "invalid_signature", "a signature is not valid");
    signer ??= key;
  }
  ensure(signer !== undefined, "invalid_signature", "the note is not signed by the given key");
  return { text, key: signer };
}

/**
 * Verifies a signed checkpoint.
 *
 * @param keys the text of the key, or texts of keys of which any may have signed.
 * @param origin the name that the log must have; if absent, any log of the key's owner.
 */
export async function openCheckpoint(
  note: unknown,
  keys: string | readonly string[],
  origin?: string,
): Promise<Checkpoint> {
  const { text, key } = await openNote(note, await parseKeys(keys));
  const [found = "", sizeText = "", rootText = "", ...extensions] = text.slice(0, -1).split("\n");
  ensure(/^(0|[1-9][0-9]*)$/.test(sizeText), "malformed", "the second line of a checkpoint is its size");
  const size = Number(sizeText);
  ensure(Number.isSafeInteger(size), "malformed", "the size of the checkpoint is too large");
  const root = fromBase64(rootText, "the root of the checkpoint");
  ensure(root.length === 32, "malformed", "the root of the checkpoint is not 32 bytes long");
  ensure(size > 0 || equal(root, await sha256()), "malformed", "the root is not that of the empty log");
  ensure(extensions.every((line) => line !== ""), "malformed", "the checkpoint has an empty line");
  if (origin !== undefined) {
    ensure(found === origin, "other_log", `this is a checkpoint of ${found}, not of ${origin}`);
  }
  ensure(found.startsWith(`${key.name}/`), "other_log", `${found} is not a log of ${key.name}`);
  return { origin: found, size, root, signedBy: key.name };
}

/** A log's name without that of the deployment. */
export interface LogName {
  /** `<project id>/<environment>`, as content hashes name it. */
  readonly log: string;
  /** The label of the tenant whose log it is; `undefined` for the log of all tenants. */
  readonly tenantLabel: string | undefined;
}

/** The parts of the name of a log. */
export function parseOrigin(checkpoint: Pick<Checkpoint, "origin" | "signedBy">): LogName {
  const rest = checkpoint.origin.slice(checkpoint.signedBy.length + 1);
  const match = /^([^/]+\/(?:live|test))(?:\/tenants\/([0-9a-f]{64}))?$/.exec(rest);
  ensure(match !== null, "other_log", `${checkpoint.origin} is not the log of a project or of one of its tenants`);
  return { log: match[1]!, tenantLabel: match[2] };
}
