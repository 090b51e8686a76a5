import { link, open, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { AuditError } from "./errors.js";

/** The right to use a spool. */
export interface Lock {
  release(): Promise<void>;
}

/**
 * Directories that this process uses, for systems that do not tell when a process started. Shared by all copies of this module: a program may load
 * it both as ES module and as CommonJS.
 */
const USED = Symbol.for("audit-server-client.spools");
const registry = globalThis as { [USED]?: Set<string> };
const used = (registry[USED] ??= new Set());

/**
 * Locks a directory for this process. Files `lock.<n>` name their process; the one with the highest number counts, and holds the lock
 * while that process lives. A new one is linked under the next number with its content, which fails if another process was
 * faster. So a lock of a killed process is taken over once, without a moment in which two processes hold it.
 */
export async function acquireLock(directory: string): Promise<Lock> {
  if (used.has(directory)) {
    throw new AuditError(`the spool ${directory} is in use by this process`);
  }
  used.add(directory);
  try {
    return await lockFile(directory);
  } catch (error) {
    used.delete(directory);
    throw error;
  }
}

async function lockFile(directory: string): Promise<Lock> {
  const holder = await ownIdentity();
  const draft = join(directory, `lock.new.${crypto.randomUUID()}`);
  const file = await open(draft, "wx", 0o600);
  try {
    await file.writeFile(JSON.stringify(holder));
  } finally {
    await file.close();
  }
  try {
    const numbers = await lockNumbers(directory);
    const last = numbers.at(-1) ?? 0;
    if (last > 0 && (await isHeld(lockPath(directory, last)))) {
      throw new AuditError(`the spool ${directory} is in use by another process`);
    }
    const own = last + 1;
    await link(draft, lockPath(directory, own)).catch((cause: unknown) => {
      throw new AuditError(`the spool ${directory} is in use by another process`, { cause });
    });
    // A process that was delayed since it read the directory may have linked a number that was used and removed since.
    if ((await lockNumbers(directory)).at(-1) !== own) {
      await rm(lockPath(directory, own), { force: true });
      throw new AuditError(`the spool ${directory} is in use by another process`);
    }
    for (const number of numbers) {
      await rm(lockPath(directory, number), { force: true });
    }
    return { release: () => release(directory, own) };
  } finally {
    await rm(draft, { force: true });
  }
}

/** The file stays, so that its number is not used again; an empty one is not held. */
async function release(directory: string, number: number): Promise<void> {
  const draft = await open(lockPath(directory, number), "w");
  await draft.close();
  used.delete(directory);
}

function lockPath(directory: string, number: number): string {
  return join(directory, `lock.${number}`);
}

async function lockNumbers(directory: string): Promise<number[]> {
  const names = await readdir(directory);
  const numbers = names.flatMap((name) => /^lock\.([0-9]+)$/.exec(name)?.[1] ?? []).map(Number);
  return numbers.sort((left, right) => left - right);
}

interface Identity {
  readonly pid: number;
  /** Start of the process, where the system tells it: process numbers are used again. */
  readonly started: string | null;
}

async function ownIdentity(): Promise<Identity> {
  return { pid: process.pid, started: await startOf(process.pid) };
}

async function isHeld(path: string): Promise<boolean> {
  let holder: Identity;
  try {
    holder = JSON.parse(await readFile(path, "utf8")) as Identity;
  } catch {
    return false; // released, or removed by the next holder, whose number the caller then finds taken
  }
  if (!Number.isSafeInteger(holder.pid) || !isAlive(holder.pid)) {
    return false;
  }
  const started = await startOf(holder.pid);
  if (holder.pid === process.pid && started === null) {
    return false; // an earlier process with our number, as in a container that was started again
  }
  if (started === "") {
    return false; // a zombie: killed, and its parent has not asked for its status yet
  }
  return started === null || holder.started === null || started === holder.started;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"; // it lives, and belongs to another user
  }
}

/** The boot and the clock tick at which a process started (Linux); empty of one that has ended and was not waited for; `null` elsewhere. */
async function startOf(pid: number): Promise<string | null> {
  try {
    const status = await readFile(`/proc/${pid}/stat`, "utf8");
    const boot = await readFile("/proc/sys/kernel/random/boot_id", "utf8");
    // From field 3 on; the second one is a name in parentheses, which may have spaces.
    const fields = status.slice(status.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" || fields[0] === "X" ? "" : `${boot.trim()} ${fields[19]}`;
  } catch {
    return null;
  }
}
