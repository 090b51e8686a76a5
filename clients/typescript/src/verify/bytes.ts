import { ensure, VerificationError } from "./error.js";

/** Bytes over an own buffer, as WebCrypto takes them. */
export type Bytes = Uint8Array<ArrayBuffer>;

const encoder = new TextEncoder();

/** UTF-8. */
export function utf8(text: string): Bytes {
  return encoder.encode(text) as Bytes;
}

/** All pieces in one array. */
export function concat(...pieces: readonly Uint8Array[]): Bytes {
  const whole = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let offset = 0;
  for (const piece of pieces) {
    whole.set(piece, offset);
    offset += piece.length;
  }
  return whole;
}

/** Whether two arrays have the same bytes. Takes the same time wherever they differ. */
export function equal(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) {
    return false;
  }
  let difference = 0;
  for (let index = 0; index < left.length; index += 1) {
    difference |= left[index]! ^ right[index]!;
  }
  return difference === 0;
}

/** Lower-case hexadecimal. */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The bytes of lower-case hexadecimal digits. */
export function fromHex(text: unknown, what: string, length: number): Bytes {
  ensure(
    typeof text === "string" && text.length === 2 * length && /^[0-9a-f]*$/.test(text),
    "malformed",
    `${what} is not ${2 * length} hexadecimal digits`,
  );
  return Uint8Array.from({ length }, (_, index) => Number.parseInt(text.slice(2 * index, 2 * index + 2), 16));
}

/** Base64 with padding (RFC 4648, section 4). */
export function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) {
    text += String.fromCharCode(byte);
  }
  return btoa(text);
}

/** The bytes of a base64 text in its only form: with padding, without white space. */
export function fromBase64(text: unknown, what: string): Bytes {
  ensure(typeof text === "string", "malformed", `${what} is not base64`);
  let binary: string;
  try {
    binary = atob(text);
  } catch (cause) {
    throw new VerificationError("malformed", `${what} is not base64`, { cause });
  }
  // `atob` also accepts white space, missing padding and unused bits that are not zero.
  ensure(btoa(binary) === text, "malformed", `${what} is not base64`);
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

/** WebCrypto of this runtime. */
export function subtle(): SubtleCrypto {
  const found = globalThis.crypto?.subtle;
  if (found === undefined) {
    throw new VerificationError(
      "unsupported_runtime",
      "this runtime has no WebCrypto; a browser has it on pages of HTTPS and of localhost only",
    );
  }
  return found;
}

/** SHA-256 of the pieces, one after the other. */
export async function sha256(...pieces: readonly Uint8Array[]): Promise<Bytes> {
  return new Uint8Array(await subtle().digest("SHA-256", concat(...pieces)));
}
