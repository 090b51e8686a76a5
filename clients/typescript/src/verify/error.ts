/** What made a verification fail. Programs decide by this; the message is for people. */
export type VerificationFailure =
  /** The key is not a text `<name>+<key id>+<base64>` of an Ed25519 key. */
  | "invalid_key"
  /** The note, proof, receipt or document is not in the form that its format prescribes. */
  | "malformed"
  /** No given key has signed, or a signature by a given key is not valid. */
  | "invalid_signature"
  /** The signed checkpoint is one of another log than expected. */
  | "other_log"
  /** The event is not the one whose hash was stored: a field was changed, added or removed. */
  | "content_hash_mismatch"
  /** The hash of the event does not lead to the signed root. */
  | "not_included"
  /** The two checkpoints are not of one history. */
  | "inconsistent"
  /** The log has fewer events than the caller knows of. */
  | "too_small"
  /** Events were left out, added, changed or moved. */
  | "incomplete"
  /** The timestamp of the webhook message is outside of the tolerance. */
  | "stale_timestamp"
  /** This runtime has no WebCrypto, or one without Ed25519. */
  | "unsupported_runtime";

/** A verification failed. Nothing of the verified object may be trusted. */
export class VerificationError extends Error {
  override readonly name = "VerificationError";

  constructor(
    /** The check that failed. */
    readonly code: VerificationFailure,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

/** Throws a {@link VerificationError} unless the condition holds. */
export function ensure(condition: boolean, code: VerificationFailure, message: string): asserts condition {
  if (!condition) {
    throw new VerificationError(code, message);
  }
}
