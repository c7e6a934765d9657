/**
 * A log file that rotates by size and by day, for several processes at once. A process that finds
 * the file too large renames it and opens a new one; the others notice that its inode has changed,
 * and open the new one too. Old files are compressed once no process writes to them, and deleted
 * after the configured days.
 */
import { createReadStream, createWriteStream, fstatSync } from "node:fs";
import { readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import { createGzip } from "node:zlib";
import type { DestinationStream } from "pino";
import { asInstant, type Clock, calendar, systemClock } from "../values/time.ts";
import { openDestination } from "./log.ts";

type LogFileOptions = {
  readonly bytesMax: number;
  /** How many days files are kept. Zero means for ever. */
  readonly keepDays: number;
  /** Called with the number of lines that were dropped while the disk was full. */
  readonly onDropped?: (count: number) => void;
  readonly clock?: Pick<Clock, "now">;
};

const lookEveryMs = 500;
const flushWithinMs = 2_000;
/** The memory for lines while the disk is full. Above it, lines are dropped and counted. */
const waitingBytesMax = 16_777_216;
/** How long a process may write to a renamed file, for example because it was suspended. */
const settleMs = 300_000;
const dayMs = 86_400_000;

export function openRotatingLog(path: string, options: LogFileOptions) {
  const { bytesMax, keepDays, onDropped, clock = systemClock } = options;
  const destination = openDestination({ dest: path, maxLength: waitingBytesMax });
  let opened = { inode: 0, day: "" };
  let [dropped, isFailing, lookedAt] = [0, false, 0];
  destination.on("ready", () => {
    // The type does not have this member.
    const { ino, size, mtimeMs } = fstatSync(Number(Reflect.get(destination, "fd")));
    opened = { inode: ino, day: dayOf(size > 0 ? mtimeMs : clock.now()) };
  });
  destination.on("drop", () => {
    dropped += 1;
  });
  destination.on("write", () => {
    isFailing = false;
  });
  destination.on("error", (error) => {
    // The fault is reported once. The lines wait, and are written when there is space again.
    if (!isFailing) process.stderr.write(`The log ${path} cannot be written: ${error.message}\n`);
    isFailing = true;
  });
  // Pino flushes at the exit, which never returns while the disk is full, and fails without a file.
  const { flushSync } = destination;
  destination.flushSync = () => {
    if (!isFailing) Reflect.apply(flushSync, destination, []);
  };
  const timer = setInterval(() => void look().catch(() => undefined), lookEveryMs).unref();
  return Object.assign(destination satisfies DestinationStream, { look, tidy, stop });

  /** Writes the waiting lines too, because an operator may be reading along. */
  async function look(): Promise<void> {
    destination.flush();
    if (dropped > 0 && !isFailing) {
      onDropped?.(dropped);
      dropped = 0;
    }
    const now = clock.now();
    const found = await stat(path).catch(() => undefined);
    if (found?.ino !== opened.inode) destination.reopen();
    else if (found.size >= bytesMax || (found.size > 0 && dayOf(now) !== opened.day)) {
      await rename(path, rotatedName(path, now));
      destination.reopen();
    }
    if (Math.abs(now - lookedAt) < settleMs / 5) return;
    lookedAt = now;
    await tidy();
  }

  /** Compresses and deletes rotated files. Only one of several processes does it. */
  async function tidy(): Promise<void> {
    for (const file of await listRotated(path)) {
      const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: clock.now() }));
      const ageMs = clock.now() - mtimeMs;
      if (keepDays > 0 && ageMs > keepDays * dayMs) await rm(file, { force: true });
      else if (file.endsWith(".part") && ageMs > dayMs) await rm(file, { force: true });
      else if (file.endsWith(".log") && ageMs > settleMs) await compress(file);
    }
  }

  async function stop(): Promise<void> {
    clearInterval(timer);
    if (isFailing) {
      process.stderr.write(`The log ${path} lacks its last lines.\n`);
      return;
    }
    const { promise: flushed, resolve } = Promise.withResolvers<Error | null | undefined>();
    destination.flush(resolve);
    const late = delay(flushWithinMs, new Error("the disk takes no more"), { ref: false });
    const error = await Promise.race([flushed, late]);
    if (error) process.stderr.write(`The log ${path} lacks its last lines: ${error.message}\n`);
  }
}

/**
 * Returns the name of a rotated file. `gateway.log` becomes `gateway-20261116T002607123Z-4711.log`,
 * so that no two names are the same.
 */
function rotatedName(path: string, now: number): string {
  const { iso } = calendar(asInstant(now));
  const at = `${iso.slice(0, 19)}${String(now % 1000).padStart(3, "0")}Z`.replace(/[-:]/g, "");
  return `${path.replace(/\.log$/, "")}-${at}-${process.pid}.log`;
}

async function listRotated(path: string): Promise<readonly string[]> {
  const stem = basename(path).replace(/\.log$/, "");
  const files = await readdir(dirname(path));
  const isOurs = (name: string) =>
    name.startsWith(`${stem}-`) && /-\d{8}T\d{9}Z-\d+\.log(\.gz(\.part)?)?$/.test(name);
  return files.filter(isOurs).map((name) => join(dirname(path), name));
}

/**
 * The compressed file is complete before the original is deleted. A file that a crash or a full
 * disk leaves incomplete is made again.
 */
async function compress(file: string): Promise<void> {
  const part = `${file}.gz.part`;
  const before = await stat(file);
  try {
    const target = createWriteStream(part, { flags: "wx", flush: true, mode: 0o640 });
    await pipeline(createReadStream(file), createGzip(), target);
  } catch (error) {
    const isOthers = error instanceof Error && "code" in error && error.code === "EEXIST";
    if (!isOthers) await rm(part, { force: true });
    return;
  }
  if ((await stat(file)).size !== before.size) return rm(part);
  await utimes(part, before.atime, before.mtime);
  await rename(part, `${file}.gz`);
  await rm(file);
}

/** The day in UTC. */
function dayOf(milliseconds: number): string {
  const { year, month, day } = calendar(asInstant(milliseconds));
  return `${year}-${month}-${day}`;
}
