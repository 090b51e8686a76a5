/**
 * A spool on disk, for Node, Deno and Bun: events survive `kill -9` and a crash of the machine.
 *
 * Files of the directory:
 * - `<number>.spool`: segments. A record is the CRC-32 of its JSON in 8 hexadecimal digits, a space, the JSON and a line feed.
 * - `position.json`: up to which byte of which segment events are settled. It may be older than the truth: then events are sent again, with
 *   the same idempotency keys, and the service stores each once.
 * - `<number>.damaged`: a copy of a segment in which records were damaged.
 * - `refused.jsonl`: events that the service refused for good, with the reason; `refused.1.jsonl` are the ones before.
 * - `lock.<number>`: the process that uses the spool. The one with the highest number counts.
 *
 * @module
 */
import { constants } from "node:fs";
import { copyFile, mkdir, open, readdir, rename, rm, stat, truncate, writeFile } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "./crc32.js";
import type { EventBuffer } from "./buffer.js";
import type { Entry } from "./entry.js";
import { AuditError } from "./errors.js";
import { acquireLock, type Lock } from "./spool-lock.js";

/** How a spool is kept. */
export interface SpoolOptions {
  /** A directory of this spool alone, on a local disk. Created if absent. Two processes cannot share it. */
  readonly directory: string;
  /**
   * Bytes of events that are not settled. When they are used up, the client's `overflow` decides. 1 GiB if absent. On disk it can be 8 MiB more,
   * and 32 MiB of refused events.
   */
  readonly bytesMax?: number | undefined;
  /** Whether each event is synced to the disk before `record` resolves. If not, a crash of the machine can lose the last ones. `true` if absent. */
  readonly sync?: boolean | undefined;
}

const SEGMENT_BYTES_MAX = 8 * 1024 * 1024;
const REFUSED_BYTES_MAX = 16 * 1024 * 1024;
const READ_BYTES = 64 * 1024;
const LINE_FEED = 10;

interface Segment {
  readonly number: number;
  /** Bytes of whole, synced records. */
  bytes: number;
}

interface Position {
  readonly segment: number;
  readonly offset: number;
}

interface Write {
  readonly record: Buffer;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** Opens a spool, by its directory or options, and finds the events that an earlier process left. Pass it to the client as `spool`. */
export async function openSpool(directoryOrOptions: string | SpoolOptions): Promise<Spool> {
  const options = typeof directoryOrOptions === "string" ? { directory: directoryOrOptions } : directoryOrOptions;
  await mkdir(options.directory, { recursive: true, mode: 0o700 });
  const lock = await acquireLock(options.directory);
  try {
    const spool = new Spool(options, lock);
    await spool.recover();
    return spool;
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** Events on disk. Made by {@link openSpool}. */
export class Spool implements EventBuffer {
  readonly isDurable = true;
  readonly #directory: string;
  readonly #bytesMax: number;
  readonly #sync: boolean;
  readonly #lock: Lock;
  #segments: Segment[] = [];
  #position: Position = { segment: 0, offset: 0 };
  /** Bytes of the records behind the position that `oldest` has returned, in order. */
  #handedOut: Position[] = [];
  #file: FileHandle | undefined;
  #queue: Write[] = [];
  #queuedBytes = 0;
  #writing: Promise<void> | undefined;
  #pending = 0;
  #isClosed = false;
  /** Records that were damaged before they could be sent; a torn record at the end of a segment is not one. */
  #damaged = 0;

  constructor(options: SpoolOptions, lock: Lock) {
    this.#directory = options.directory;
    this.#bytesMax = options.bytesMax ?? 1024 ** 3;
    this.#sync = options.sync ?? true;
    this.#lock = lock;
  }

  get pending(): number {
    return this.#pending;
  }

  /** Records in the middle of a segment that cannot be read any more. They were skipped; a copy of the file is kept as `<number>.damaged`. */
  get damaged(): number {
    return this.#damaged;
  }

  hasRoom(bytes: number): boolean {
    return this.#unsettledBytes + this.#queuedBytes + bytes + 10 <= this.#bytesMax;
  }

  get #unsettledBytes(): number {
    const written = this.#segments.reduce((sum, segment) => sum + segment.bytes, 0);
    const isReadInPart = this.#segments[0]?.number === this.#position.segment;
    return written - (isReadInPart ? this.#position.offset : 0);
  }

  append(entry: Entry): Promise<void> {
    if (this.#isClosed) {
      return Promise.reject(new AuditError("the spool is closed"));
    }
    const json = Buffer.from(entry, "utf8");
    const record = Buffer.concat([Buffer.from(`${checksum(json)} `), json, Buffer.from("\n")]);
    this.#pending += 1;
    this.#queuedBytes += record.length;
    return new Promise((resolve, reject) => {
      this.#queue.push({ record, resolve, reject });
      this.#writing ??= this.#writeAll();
    });
  }

  /** Writes what is queued, in as few syncs as possible: all events that came during a sync share the next one. */
  async #writeAll(): Promise<void> {
    await Promise.resolve(); // `#writing` is assigned first
    while (this.#queue.length > 0) {
      const writes = this.#queue;
      this.#queue = [];
      const bytes = writes.reduce((sum, write) => sum + write.record.length, 0);
      this.#queuedBytes -= bytes;
      try {
        await this.#write(Buffer.concat(writes.map((write) => write.record)));
        writes.forEach((write) => write.resolve());
      } catch (cause) {
        this.#pending -= writes.length;
        const error = new AuditError("the event could not be written to the spool", { cause });
        writes.forEach((write) => write.reject(error));
      }
    }
    // In the same turn as the check above: an event that comes later starts again.
    this.#writing = undefined;
  }

  async #write(records: Buffer): Promise<void> {
    try {
      await this.#writeRecords(records);
    } catch (error) {
      if (this.#unsettledBytes > 0 || this.#segments.length === 0) {
        throw error;
      }
      // A full disk, perhaps of settled events: the last segment stays until it is full.
      for (let settled = this.#segments[0]; settled !== undefined; settled = this.#segments[0]) {
        await rm(this.#path(settled.number), { force: true });
        this.#segments.shift();
      }
      await this.#writeRecords(records);
    }
  }

  async #writeRecords(records: Buffer): Promise<void> {
    try {
      let segment = this.#segments.at(-1);
      if (this.#file === undefined || segment === undefined || segment.bytes >= SEGMENT_BYTES_MAX) {
        segment = await this.#newSegment((segment?.number ?? this.#position.segment) + 1);
      }
      const file = this.#file!;
      // At the known end: what a failed write has left there is written over.
      for (let written = 0; written < records.length; ) {
        const rest = records.length - written;
        written += (await file.write(records, written, rest, segment.bytes + written)).bytesWritten;
      }
      if (this.#sync) {
        await file.datasync();
      }
      segment.bytes += records.length;
    } catch (error) {
      await this.#leaveSegment();
      throw error;
    }
  }

  async #newSegment(number: number): Promise<Segment> {
    const full = this.#file;
    this.#file = undefined;
    await full?.close();
    this.#file = await open(this.#path(number), "wx", 0o600);
    const segment = { number, bytes: 0 };
    this.#segments.push(segment);
    if (this.#sync) {
      await syncDirectory(this.#directory);
    }
    return segment;
  }

  /** After a failed sync nobody knows what is on the disk: the next records go into another segment. */
  async #leaveSegment(): Promise<void> {
    const file = this.#file;
    const segment = this.#segments.at(-1);
    this.#file = undefined;
    if (file === undefined || segment === undefined) {
      return;
    }
    await file.close().catch(() => undefined);
    if (segment.bytes > 0) {
      await truncate(this.#path(segment.number), segment.bytes).catch(() => undefined);
    } else {
      await rm(this.#path(segment.number)).then(() => this.#segments.pop(), () => undefined);
    }
  }

  async oldest(count: number): Promise<Entry[]> {
    const entries: Entry[] = [];
    this.#handedOut = [];
    for (const segment of this.#segments.slice()) {
      if (entries.length >= count || segment.number < this.#position.segment) {
        continue;
      }
      const start = segment.number === this.#position.segment ? this.#position.offset : 0;
      if (start >= segment.bytes) {
        continue;
      }
      for await (const { json, end } of this.#records(segment, start)) {
        if (json !== undefined) {
          entries.push(json);
          this.#handedOut.push({ segment: segment.number, offset: end });
        }
        if (entries.length >= count) {
          break;
        }
      }
    }
    return entries;
  }

  async settle(count: number): Promise<void> {
    const position = this.#handedOut[count - 1];
    if (position === undefined) {
      return;
    }
    this.#handedOut = this.#handedOut.slice(count);
    this.#position = position;
    this.#pending -= count;
    const isRead = (segment: Segment): boolean =>
      segment.number < position.segment ||
      // The last segment of an idle spool, too; but not while it may be written to.
      (segment.number === position.segment && segment.bytes <= position.offset && segment.number !== this.#segments.at(-1)?.number);
    const read = this.#segments.filter(isRead);
    this.#segments = this.#segments.filter((segment) => !isRead(segment));
    // The position first: after a crash in between, the segments before it are removed and not sent again.
    // A full disk is no reason to keep what is settled: it is sent again at most, with the same keys.
    await this.#savePosition().catch(() => undefined);
    for (const segment of read) {
      await rm(this.#path(segment.number), { force: true });
    }
  }

  async #savePosition(): Promise<void> {
    const path = join(this.#directory, "position.json");
    // Not synced: an older position after a crash of the machine costs repeated requests and loses nothing.
    await writeFile(`${path}.new`, JSON.stringify(this.#position), { mode: 0o600 });
    await rename(`${path}.new`, path);
  }

  async noteRefused(entry: Entry, error: Error): Promise<void> {
    const path = join(this.#directory, "refused.jsonl");
    const { message } = error;
    const { code, status, details } = error as { code?: string; status?: number; details?: unknown };
    const line = `${JSON.stringify({ event: JSON.parse(entry) as unknown, error: { message, code, status, details } })}\n`;
    const size = await stat(path).then((found) => found.size, () => 0);
    if (size + line.length > REFUSED_BYTES_MAX) {
      await rename(path, join(this.#directory, "refused.1.jsonl"));
    }
    const file = await open(path, "a", 0o600);
    try {
      await file.write(line);
      if (this.#sync) {
        await file.datasync();
      }
    } finally {
      await file.close();
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) {
      return;
    }
    this.#isClosed = true;
    await this.#writing;
    await this.#file?.close();
    this.#file = undefined;
    await this.#lock.release();
  }

  /** Reads the directory: the position, the segments, and how many events wait in them. */
  async recover(): Promise<void> {
    this.#position = await this.#savedPosition();
    const names = await readdir(this.#directory);
    const numbers = names.flatMap((name) => /^([0-9]{16})\.spool$/.exec(name)?.[1] ?? []).map(Number);
    for (const number of numbers.sort((left, right) => left - right)) {
      if (number < this.#position.segment) {
        await rm(this.#path(number), { force: true });
        continue;
      }
      const segment = { number, bytes: (await stat(this.#path(number))).size };
      const start = number === this.#position.segment ? Math.min(this.#position.offset, segment.bytes) : 0;
      segment.bytes = await this.#recoverSegment(segment, start);
      this.#segments.push(segment);
    }
  }

  /** Counts the events of a segment. Returns the bytes of its whole records: a torn one at the end was never acknowledged. */
  async #recoverSegment(segment: Segment, start: number): Promise<number> {
    let whole = start;
    let damaged = 0;
    const before = this.#damaged;
    for await (const { json, end } of this.#records(segment, start)) {
      if (json === undefined) {
        damaged += 1;
        continue;
      }
      this.#pending += 1;
      // Records before this one that cannot be read were not torn by a crash at the end.
      this.#damaged += damaged;
      damaged = 0;
      whole = end;
    }
    if (this.#damaged > before) {
      await copyFile(this.#path(segment.number), this.#path(segment.number).replace(/spool$/, "damaged"));
    }
    if (whole < segment.bytes) {
      await truncate(this.#path(segment.number), whole);
    }
    return whole;
  }

  async #savedPosition(): Promise<Position> {
    try {
      const file = await open(join(this.#directory, "position.json"), constants.O_RDONLY);
      try {
        const { segment, offset } = JSON.parse(await file.readFile("utf8")) as Position;
        return Number.isSafeInteger(segment) && Number.isSafeInteger(offset) ? { segment, offset } : { segment: 0, offset: 0 };
      } finally {
        await file.close();
      }
    } catch {
      return { segment: 0, offset: 0 }; // none yet, or not readable after a crash: everything is sent again
    }
  }

  /** The records of a segment from an offset on, `json` undefined for one that cannot be read, with the offset behind each. */
  async *#records(segment: Segment, start: number): AsyncGenerator<{ json: string | undefined; end: number }> {
    const file = await open(this.#path(segment.number), constants.O_RDONLY);
    try {
      let offset = start;
      let rest: Buffer = Buffer.alloc(0);
      for (let read = start; read < segment.bytes; ) {
        const buffer = Buffer.alloc(Math.min(READ_BYTES, segment.bytes - read));
        const { bytesRead } = await file.read(buffer, 0, buffer.length, read);
        if (bytesRead === 0) {
          return;
        }
        read += bytesRead;
        rest = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
        for (let line = rest.indexOf(LINE_FEED); line >= 0; line = rest.indexOf(LINE_FEED)) {
          offset += line + 1;
          yield { json: jsonOf(rest.subarray(0, line)), end: offset };
          rest = rest.subarray(line + 1);
        }
      }
      if (rest.length > 0) {
        yield { json: undefined, end: offset + rest.length };
      }
    } finally {
      await file.close();
    }
  }

  #path(number: number): string {
    return join(this.#directory, `${String(number).padStart(16, "0")}.spool`);
  }
}

function checksum(json: Uint8Array): string {
  return crc32(json).toString(16).padStart(8, "0");
}

/** The JSON of a record without its line feed; `undefined` if it is damaged. */
function jsonOf(record: Buffer): string | undefined {
  const json = record.subarray(9);
  const isWhole = record.length > 9 && record.subarray(0, 9).toString("latin1") === `${checksum(json)} `;
  return isWhole ? json.toString("utf8") : undefined;
}

async function syncDirectory(path: string): Promise<void> {
  if (process.platform === "win32") {
    return; // Windows does not sync directories.
  }
  const directory = await open(path, constants.O_RDONLY);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
