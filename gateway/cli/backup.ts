/**
 * `gw backup` writes the whole installation, without the key-encryption key, into one encrypted
 * file while payments continue. The file gets its final name when all its data is on the disk.
 */
import { randomBytes } from "node:crypto";
import { open, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { list, option, word } from "../administration/field.ts";
import { openVault } from "../administration/session.ts";
import { encrypt, makeIdentity, packParts, parseRecipients } from "../backup/archive.ts";
import { type Progress, writeBackup } from "../backup/backup.ts";
import { partsOf } from "../config/settings.ts";
import { recordBackup } from "../storage/backup/backups.ts";
import { openPicture, type Picture, PictureRefused } from "../storage/backup/snapshots.ts";
import { openSigner } from "../storage/people/audit.ts";
import { messageOf, Problem } from "../values/problem.ts";
import { calendar } from "../values/time.ts";
import { installed, ownCommand } from "./machine-command.ts";
import { makeProgressLines } from "./terminal.ts";

export const backupCommands = [
  installed("record", "run", {
    name: "backup",
    showsProgress: true,
    fields: {
      to: option("path", "folder", ["where the file is written, or - for standard output"]),
      recipient: list("text", "key", ["a public key of age: who can restore it"]),
    },
    async perform(session, options) {
      const { database, cells, config } = session;
      const encrypter = parseRecipients(options.recipient ?? partsOf(config.backupRecipients));
      if (encrypter instanceof Problem) return encrypter;
      const to = options.to ?? config.backupFolder;
      const unusable = await findFolderProblem(to);
      if (unusable !== undefined) return unusable;
      const away = session.unreachableCells;
      if (away.length > 0)
        return new Problem(`The cell ${away[0]} is unreachable: a backup has all cells.`);
      const signer = await openSigner(database.query, await openVault(session));
      let picture: Picture | undefined;
      try {
        picture = await openPicture(database, cells);
        let read = { rows: 0, manifest: "" };
        const parts = writeBackup(picture, {
          signer,
          report: makeReport(),
          onRead: (rows, manifest) => {
            read = { rows, manifest };
          },
        });
        const encrypted = await encrypt(encrypter, packParts(parts));
        const { place, bytes } = await store(encrypted, to, picture);
        const { takenAt } = picture;
        await recordBackup(database.query, { ...read, takenAt, place, bytes });
        const facts = { backup: place, "taken at": calendar(takenAt).iso, ...read, bytes };
        if (to !== "-") return facts;
        process.stderr.write(`${JSON.stringify(facts)}\n`);
        return undefined;
      } catch (error) {
        if (error instanceof PictureRefused) return new Problem(error.message);
        return new Problem(`No backup was made: ${messageOf(error)}.`);
      } finally {
        await picture?.close();
      }
    },
  }),
  ownCommand({
    name: "backup identity",
    does: ["make a key pair: the private key in a new file"],
    fields: {
      file: word("path", "file", ["the new file"]),
    },
    async run({ file }) {
      const { recipient, text } = await makeIdentity();
      try {
        await writeFile(file, text.reveal(), { flag: "wx", mode: 0o600 });
      } catch (error) {
        return new Problem(`The file ${file} cannot be written: ${messageOf(error)}.`);
      }
      return { recipient, "private key": file };
    },
  }),
];

async function findFolderProblem(to: string): Promise<Problem | undefined> {
  if (to === "-") return undefined;
  if (to === "") return new Problem("Say where: --to <folder>, or GW_BACKUP_FOLDER.");
  const found = await stat(to).catch(() => undefined);
  return found?.isDirectory() === true ? undefined : new Problem(`${to} is no folder.`);
}

async function store(encrypted: Readable, to: string, { takenAt }: Picture) {
  if (to === "-") {
    const measured = measure(encrypted);
    await pipeline(measured, process.stdout, { end: false });
    return { place: "standard output", bytes: measured.read() };
  }
  const moment = calendar(takenAt).iso.replaceAll(/[-:]|\.\d+/g, "");
  const file = join(to, `tollgate-${moment}.tar.zst.age`);
  const partial = `${file}.${randomBytes(4).toString("hex")}.partial`;
  let bytes = 0;
  try {
    bytes = await write(encrypted, partial);
    await rename(partial, file);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
  // Syncs the folder too, so that the backup file keeps its final name after a power failure.
  const folder = await open(to);
  await folder.sync().finally(() => folder.close());
  return { place: file, bytes };
}

async function write(encrypted: Readable, partial: string): Promise<number> {
  const handle = await open(partial, "wx", 0o600);
  try {
    const measured = measure(encrypted);
    await handle.writeFile(measured);
    await handle.sync();
    return measured.read();
  } finally {
    await handle.close();
  }
}

/** Counts the bytes of a stream, whose chunks are passed on unchanged. */
function measure(chunks: AsyncIterable<Buffer>) {
  let bytes = 0;
  return {
    read: () => bytes,
    async *[Symbol.asyncIterator]() {
      for await (const chunk of chunks) {
        bytes += chunk.length;
        yield chunk;
      }
    },
  };
}

/** The remaining time is an estimate, because database statistics about new rows are inexact. */
function makeReport(): (progress: Progress) => void {
  const began = performance.now();
  const tell = makeProgressLines();
  return ({ table, rows, bytes, share }) =>
    tell(() => {
      const spent = performance.now() - began;
      const left = share > 0 ? Math.round((spent * (1 - share)) / share / 1000) : 0;
      return `${table}: ${rows} rows, ${(bytes / 1e6).toFixed(1)} MB, about ${left} s left`;
    });
}
