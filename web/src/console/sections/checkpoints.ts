/** Earlier checkpoints of a log, and whether the present one continues them. */
import { type Api, isAbort } from "../../shared/api.js";
import { t } from "../languages/index.js";
import { type Checkpoint, openCheckpoint, toHex, verifyConsistency } from "../../../../clients/typescript/src/verify/index.js";
import { hashesOf } from "../../../../clients/typescript/src/verify/merkle.js";

/** A checkpoint, and where it comes from. */
export interface Noted {
  note: string;
  source: string;
}

/** A row of the history. */
export interface Step {
  source: string;
  size: number | undefined;
  root: string;
  /** What is wrong with it; empty if it is signed and the present checkpoint continues it. */
  fault: string;
}

/** The history is verified up to so many checkpoints, each with a request. */
export const HISTORY_CHECKPOINTS_MAX = 100;

/** The checkpoints in a text: notes one after the other, each of which ends with its signatures (C2SP signed-note). */
export function notesIn(text: string, source: string): Noted[] {
  const notes: string[] = [];
  let lines: string[] = [];
  const isSignature = (line: string | undefined): boolean => line?.startsWith("— ") ?? false;
  for (const line of text.replaceAll("\r", "").split("\n")) {
    if (isSignature(lines.at(-1)) && !isSignature(line)) {
      notes.push(`${lines.join("\n")}\n`);
      lines = [];
    }
    // Empty lines between two notes belong to neither.
    if (lines.length > 0 || line !== "") lines.push(line);
  }
  if (lines.length > 0) notes.push(`${lines.join("\n").trimEnd()}\n`);
  return notes.map((note, index) => ({ note, source: notes.length > 1 ? `${source}, ${index + 1}` : source }));
}

/** Fails unless the present checkpoint continues an earlier one. */
async function checkContinues(api: Api, earlier: Checkpoint, present: Checkpoint): Promise<void> {
  const [from, to] = [earlier.size, present.size];
  if (earlier.origin !== present.origin) throw new Error(t.log.otherLog(earlier.origin));
  if (from > to) throw new Error(t.log.shrunk(from, to));
  const { consistency } = from === to ? { consistency: [] } : await api.get<{ consistency: string[] }>("/log/consistency", { from, to });
  await verifyConsistency({ from: earlier, to: present, hashes: hashesOf(consistency, "the consistency proof") });
}

/** Verifies that the present checkpoint continues each of these, which together are then one history. Ordered by size. */
export async function verifyHistory(api: Api, noted: readonly Noted[], present: Checkpoint, key: string): Promise<Step[]> {
  const steps: Step[] = [];
  for (const { note, source } of noted) {
    let opened: Checkpoint | undefined;
    let fault = "";
    try {
      opened = await openCheckpoint(note, key);
      await checkContinues(api, opened, present);
    } catch (error) {
      if (isAbort(error)) throw error;
      fault = error instanceof Error ? error.message : String(error);
    }
    steps.push({ source, size: opened?.size, root: opened ? toHex(opened.root) : "", fault });
  }
  return steps.sort((a, b) => (a.size ?? 0) - (b.size ?? 0));
}
