/**
 * Verification of proofs, receipts, completeness and webhook messages, with WebCrypto alone. Runs in browsers, Node, Deno and Bun.
 * It trusts the given key and nothing that the server sends.
 *
 * @module
 */
export { toBase64, toHex } from "./bytes.js";
export {
  type CompletenessDocument,
  type RemovedEvents,
  verifyCompleteness,
  type VerifiedCompleteness,
} from "./completeness.js";
export {
  contentHash,
  contentHashOfParts,
  FIELDS_OF_PARTS,
  type PartName,
  type PartProof,
  PARTS,
} from "./content-hash.js";
export { VerificationError, type VerificationFailure } from "./error.js";
export { canonical, type JsonValue, parseJson } from "./json.js";
export { leafHash, nodeHash, RootBuilder, verifyConsistency, verifyInclusion } from "./merkle.js";
export {
  type Checkpoint,
  type LogName,
  openCheckpoint,
  openNote,
  parseKey,
  parseOrigin,
  type VerifierKey,
} from "./note.js";
export {
  type Expectations,
  type ProofOfEvent,
  type VerifiedEvent,
  verifyProof,
  verifyReceipt,
} from "./proof.js";
export type { WebhookBody } from "../types.js";
export {
  verifyWebhook,
  type VerifyWebhookOptions,
  WEBHOOK_TOLERANCE_SECONDS,
  type WebhookHeaders,
  type WebhookMessage,
} from "./webhook.js";
