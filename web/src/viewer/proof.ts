import {
  type Checkpoint,
  contentHash,
  contentHashOfParts,
  leafHash,
  openCheckpoint,
  parseOrigin,
  type PartProof,
  PARTS,
  type ProofOfEvent,
  toHex,
  VerificationError,
  verifyInclusion,
} from "../../../clients/typescript/src/verify/index.js";
import { fieldOf, FIELDS_OF_PARTS } from "../../../clients/typescript/src/verify/content-hash.js";
import { hashesOf } from "../../../clients/typescript/src/verify/merkle.js";
import { fromBase64 } from "../../../clients/typescript/src/verify/bytes.js";
import { type Api, asFailure } from "../shared/api.js";
import type { AuditEvent } from "../shared/types.js";
import { claimsOf } from "./filter.js";

export type StepName = "identity" | "content" | "inclusion" | "signature" | "key";

export interface Step {
  name: StepName;
  state: "ok" | "failed" | "skipped";
  /** For the operator: what was found. */
  detail: string;
}

/**
 * `verified`: every check succeeded, the signature by the pinned key included. `consistent`: the key was not pinned, and what could be
 * checked fits together. `failed`: a check failed. `unavailable`: there is no proof to check.
 */
export type Outcome = "verified" | "consistent" | "failed" | "unavailable";

export interface ProofReport {
  outcome: Outcome;
  steps: Step[];
  /** Why there is no proof. */
  reason?: "forbidden" | "unsupported" | "offline" | "other";
  message?: string;
  /** The name of the log. */
  origin?: string;
  position?: number;
  size?: number;
  /** Parts that a tier hides. */
  hidden: string[];
  /** Parts that were erased. */
  erased: string[];
  key?: string | undefined;
}

/** Fetches the proof of an event and verifies it here, against the pinned key if there is one. */
export async function checkProof(api: Api, event: AuditEvent, pinnedKey: string | undefined): Promise<ProofReport> {
  let proof: ProofOfEvent;
  let key = pinnedKey?.trim() || undefined;
  try {
    proof = await api.get<ProofOfEvent>(`/events/${event.id}/proof`);
    // The key is public, but the API gives it to keys only. A viewer's page gets it from its application.
    if (!key && !api.isViewer) key = (await api.text("/log/key")).trim();
  } catch (error) {
    const failure = asFailure(error);
    const reason = failure.kind === "forbidden" ? "forbidden" : failure.kind === "offline" ? "offline" : "other";
    return { outcome: "unavailable", steps: [], reason, message: failure.message, hidden: [], erased: [] };
  }
  return verify(event, proof, key, Boolean(pinnedKey?.trim()), expectedLog(api));
}

/** The log that the token names: the project is in its claims, and it reads live events only. */
function expectedLog(api: Api): string | undefined {
  const project = claimsOf(api.connection.credential)?.sub;
  return project ? `${project}/live` : undefined;
}

/** Verifies a proof step by step, so that a page can say which one failed. */
export async function verify(
  event: AuditEvent,
  proof: ProofOfEvent,
  key: string | undefined,
  isPinned: boolean,
  log: string | undefined,
): Promise<ProofReport> {
  const steps: Step[] = [];
  const run = async (name: StepName, check: () => Promise<string>): Promise<boolean> => {
    try {
      steps.push({ name, state: "ok", detail: await check() });
      return true;
    } catch (error) {
      if (error instanceof VerificationError && error.code === "unsupported_runtime") throw error;
      steps.push({ name, state: "failed", detail: error instanceof Error ? error.message : String(error) });
      return false;
    }
  };
  const note = readNote(proof.checkpoint);
  const name = note ? logOf(note.origin) : undefined;
  try {
    await run("identity", async () => identity(event, proof, name, log));
    await run("content", () => content(event, proof, name));
    await run("inclusion", () => inclusion(proof, note));
    if (key) {
      let checkpoint: Checkpoint | undefined;
      await run("signature", async () => {
        checkpoint = await openCheckpoint(proof.checkpoint, key, note?.origin);
        parseOrigin(checkpoint);
        return checkpoint.signedBy;
      });
    } else {
      steps.push({ name: "signature", state: "skipped", detail: "" });
    }
  } catch (error) {
    return { outcome: "unavailable", steps, reason: "unsupported", message: asFailure(error).message, hidden: [], erased: [] };
  }
  steps.push({ name: "key", state: isPinned && steps.at(-1)?.state === "ok" ? "ok" : "skipped", detail: key ?? "" });
  const isFailed = steps.some((step) => step.state === "failed");
  const report: ProofReport = {
    outcome: isFailed ? "failed" : isPinned ? "verified" : "consistent",
    steps,
    ...partsWithoutSalt(event, proof),
    position: proof.seq,
    key,
  };
  if (note) Object.assign(report, { origin: note.origin, size: note.size });
  return report;
}

function identity(event: AuditEvent, proof: ProofOfEvent, name: string | undefined, log: string | undefined): string {
  if (event.content_hash !== proof.content_hash) throw new Error("the proof is one of another event");
  if (!name) throw new Error("the checkpoint does not name a log of a project");
  if (log && name !== log) throw new Error(`the proof is one of the log ${name}`);
  return event.id;
}

async function content(event: AuditEvent, proof: ProofOfEvent, name: string | undefined): Promise<string> {
  if (!name) throw new Error("the log is unknown, and its name is part of the hash");
  const { content_salt, parts } = proof;
  const isWhole = typeof content_salt === "string";
  const forged = erasedFields(event).find((path) => fieldOf({ ...event }, path) !== undefined);
  if (forged) throw new Error(`${forged} is shown, and it was erased: nothing proves it`);
  const hash = isWhole
    ? await contentHash(event, content_salt, name)
    : await contentHashOfParts(event, (parts ?? {}) as Record<string, PartProof>, name);
  const computed = `sha256:${toHex(hash)}`;
  if (computed !== proof.content_hash) throw new Error(`the fields shown give ${computed}, the log has ${proof.content_hash}`);
  return computed;
}

/** The parts of an event that were erased. */
function erasedParts({ erased }: AuditEvent): Set<string> {
  return new Set((erased ?? []).flatMap(({ parts }) => parts));
}

/** The fields of these parts, by path. */
export function erasedFields(event: AuditEvent): string[] {
  const gone = erasedParts(event);
  return PARTS.filter((name) => gone.has(name)).flatMap((name) => FIELDS_OF_PARTS[name]);
}

async function inclusion(proof: ProofOfEvent, note: Note | undefined): Promise<string> {
  if (!note) throw new Error("the checkpoint is not in the form of one");
  const hex = proof.content_hash.replace(/^sha256:/, "");
  const bytes = Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  const hashes = hashesOf(proof.inclusion, "the inclusion proof");
  const leaf = await leafHash(bytes);
  await verifyInclusion({ index: proof.seq, size: note.size, leaf, hashes, root: fromBase64(note.root, "the root") });
  return `${proof.seq} / ${note.size}`;
}

interface Note {
  origin: string;
  size: number;
  root: string;
}

/** The lines of a checkpoint, whoever signed it. */
function readNote(checkpoint: unknown): Note | undefined {
  if (typeof checkpoint !== "string") return undefined;
  const [origin = "", size = "", root = ""] = checkpoint.split("\n");
  return /^(0|[1-9]\d{0,15})$/.test(size) ? { origin, size: Number(size), root } : undefined;
}

/** `<project id>/<environment>` of the name of a log. */
function logOf(origin: string): string | undefined {
  return /^[^/]+\/([^/]+\/(?:live|test))(?:\/tenants\/[0-9a-f]{64})?$/.exec(origin)?.[1];
}

/** The parts of which the proof has the hash alone: those that were erased, and those that a tier hides. */
function partsWithoutSalt(event: AuditEvent, { content_salt, parts }: ProofOfEvent): Pick<ProofReport, "hidden" | "erased"> {
  if (typeof content_salt === "string" || !parts) return { hidden: [], erased: [] };
  const gone = erasedParts(event);
  const names = PARTS.filter((name) => Object.hasOwn(parts[name] ?? {}, "hash"));
  return { hidden: names.filter((name) => !gone.has(name)), erased: names.filter((name) => gone.has(name)) };
}
