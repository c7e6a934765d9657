/** Writes a backup, and reads one into an empty database. */
import { once } from "node:events";
import { createRequire } from "node:module";
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { isDeepStrictEqual } from "node:util";
import type { RestoreTarget } from "../storage/backup/restore-target.ts";
import type { CellSnapshot, Picture } from "../storage/backup/snapshots.ts";
import { copyOut, qualified, type StoredTable } from "../storage/backup/table-copies.ts";
import { isSignedBy, type Signer } from "../storage/people/audit.ts";
import {
  BadArchive,
  type Contents,
  type CopiedRows,
  digestOf,
  firstPart,
  format,
  type Manifest,
  makeMeter,
  manifestPart,
  type Part,
  type PlaceContents,
  parsePart,
  partName,
  type Signature,
  signaturePart,
  signedManifest,
} from "./archive.ts";

const partBytes = 4 * 1024 * 1024;
export const { version } = createRequire(import.meta.url)("../package.json");

export type Progress = {
  readonly table: string;
  readonly rows: number;
  readonly bytes: number;
  readonly share: number;
};

type Options = {
  readonly signer: Signer;
  readonly report: (progress: Progress) => void;
  /** Called with the digest of the manifest when all rows were read. */
  readonly onRead: (rows: number, manifest: string) => void;
};

/** Writes a backup as parts: a list of the parts, the rows of every table, the signed manifest. */
export async function* writeBackup(picture: Picture, options: Options): AsyncGenerator<Part> {
  const contents = Buffer.from(JSON.stringify(contentsOf(picture)));
  yield { name: firstPart, content: contents };
  const total = { rows: 0, bytes: 0, weight: 0 };
  const all = sum(picture.places.flatMap(({ tables }) => tables.map(({ bytes }) => bytes)));
  const tables: CopiedRows[] = [];
  for (const place of picture.places) {
    for (const table of place.tables) {
      const copied = yield* copyTable(place, table, ({ rows, bytes }) => {
        const done = Math.min(1, table.rows > 0 ? rows / table.rows : 0) * table.bytes;
        options.report({
          table: table.name,
          rows: total.rows + rows,
          bytes: total.bytes + bytes,
          share: all === 0 ? 1 : (total.weight + done) / all,
        });
      });
      tables.push(copied);
      total.rows += copied.rows;
      total.bytes += copied.bytes;
      total.weight += table.bytes;
    }
  }
  const whole: Manifest = { contents: digestOf(contents), audit: picture.audit, tables };
  const manifest = Buffer.from(JSON.stringify(whole));
  yield { name: manifestPart, content: manifest };
  yield { name: signaturePart, content: signatureOf(manifest, options.signer) };
  options.onRead(total.rows, digestOf(manifest));
}

function contentsOf({ takenAt, places }: Picture): Contents {
  return {
    format,
    version,
    takenAt,
    places: places.map(({ cell, migrations, cellMigrations, tables, sequences, partitions }) => ({
      cell,
      migrations,
      cellMigrations,
      sequences,
      partitions,
      tables: tables.map(({ schema, name, columns }) => ({ schema, name, columns })),
    })),
  };
}

function signatureOf(manifest: Buffer, signer: Signer): Buffer {
  const signature = signer.signText(signedManifest(manifest)).toString("base64");
  const part: Signature = { key: signer.keyId, signature };
  return Buffer.from(JSON.stringify(part));
}

async function* copyTable(
  { client, cell }: CellSnapshot,
  table: StoredTable,
  report: (sofar: { readonly rows: number; readonly bytes: number }) => void,
): AsyncGenerator<Part, CopiedRows> {
  const meter = makeMeter();
  let [pending, pendingBytes, number] = [[] as Buffer[], 0, 0];
  const flush = (): Part => {
    const content = Buffer.concat(pending);
    [pending, pendingBytes, number] = [[], 0, number + 1];
    return { name: partName(cell, table, number), content };
  };
  for await (const chunk of copyOut(client, table) as AsyncIterable<Buffer>) {
    meter.take(chunk);
    pending.push(chunk);
    pendingBytes += chunk.length;
    if (pendingBytes < partBytes) continue;
    yield flush();
    report(meter.read());
  }
  if (pendingBytes > 0) yield flush();
  report(meter.read());
  return { cell, table: `${table.schema}.${table.name}`, ...meter.finish() };
}

function sum(values: readonly number[]): number {
  return values.reduce((all, each) => all + each, 0);
}

type ReadOptions = {
  readonly target: RestoreTarget;
  readonly report: (table: string, rows: number) => void;
};

export type Loaded = { readonly contents: Contents; readonly manifest: Manifest };

/**
 * Reads a backup into an empty database: the schema of that time and every row, in one transaction,
 * which commits only after the digests and the signature of the manifest are verified. Names in a
 * backup are compared with those of the schema and never used themselves.
 */
export async function readBackup(
  source: AsyncIterable<Part>,
  { target, report }: ReadOptions,
): Promise<Loaded & { readonly digest: string }> {
  const parts = makePartReader(source);
  const first = await parts.take(firstPart);
  const contents = checkContents(parsePart(first));
  await target.prepare(contents.places);
  const rows: CopiedRows[] = [];
  for (const place of contents.places) {
    const own = await target.tablesOf(place.cell);
    if (!isDeepStrictEqual(sorted(own), sorted(place.tables))) {
      throw new BadArchive(`the tables of the cell ${place.cell} are not those of its version`);
    }
    for (const table of place.tables) {
      rows.push(await loadTable(parts, place, table, { target, report }));
    }
  }
  const whole = await parts.take(manifestPart);
  const signature = parsePart<Signature>(await parts.take(signaturePart));
  await parts.end();
  const manifest = parsePart<Manifest>(whole);
  if (manifest.contents !== digestOf(first) || !isDeepStrictEqual(manifest.tables, rows)) {
    throw new BadArchive("its rows are not those of its manifest");
  }
  const key = await target.findOwnAuditKey(signature.key);
  const bytes = Buffer.from(signature.signature, "base64");
  if (key === undefined || !isSignedBy(key, signedManifest(whole), bytes)) {
    throw new BadArchive("its manifest is not signed by the installation that it is of");
  }
  return { contents, manifest, digest: digestOf(whole) };
}

const cellForm = /^[a-z][a-z0-9_]{0,30}$/;

/** Checks only the form: the values are not used before the signature was verified. */
function checkContents(contents: Contents): Contents {
  if (contents?.format !== format) {
    throw new BadArchive(`its format is ${contents?.format}, and this version reads ${format}`);
  }
  const { places } = contents;
  const cells = Array.isArray(places) ? places.map(({ cell }) => cell) : [];
  const isSound =
    cells[0] === "main" &&
    new Set(cells).size === cells.length &&
    cells.every((cell) => typeof cell === "string" && cellForm.test(cell)) &&
    places.every(isPlace) &&
    Number.isSafeInteger(contents.takenAt);
  if (!isSound) throw new BadArchive("its list of contents is damaged");
  return contents;
}

function isPlace({ migrations, cellMigrations, tables, sequences, partitions }: PlaceContents) {
  const lists = [migrations, cellMigrations, tables, sequences, partitions];
  return lists.every(Array.isArray) && partitions.every((name) => /^\w{1,60}$/.test(name));
}

function sorted(tables: readonly StoredTable[]): readonly string[] {
  return tables.map((table) => `${qualified(table)} ${table.columns.join(" ")}`).toSorted();
}

type PartReader = ReturnType<typeof makePartReader>;

/** Reads parts in their fixed order. A part with an unexpected name ends the restore. */
function makePartReader(source: AsyncIterable<Part>) {
  const iterator = source[Symbol.asyncIterator]();
  let next: Part | undefined;
  const peek = async () => {
    next ??= (await iterator.next()).value;
    return next;
  };
  return {
    async find(name: string): Promise<Buffer | undefined> {
      const part = await peek();
      if (part?.name !== name) return undefined;
      next = undefined;
      return part.content;
    },
    async take(name: string): Promise<Buffer> {
      const content = await this.find(name);
      if (content === undefined) throw new BadArchive(`${name} is not where it should be`);
      return content;
    },
    async end(): Promise<void> {
      if ((await peek()) !== undefined) throw new BadArchive("it has more parts than it says");
    },
  };
}

async function loadTable(
  parts: PartReader,
  { cell }: PlaceContents,
  table: StoredTable,
  { target, report }: ReadOptions,
): Promise<CopiedRows> {
  const meter = makeMeter();
  const rows = target.copyInto(table);
  const done = finished(rows);
  // The awaited `done` reports a failed write. This listener only prevents an unhandled rejection.
  done.catch(() => undefined);
  try {
    for (let number = 1; ; number += 1) {
      const content = await parts.find(partName(cell, table, number));
      if (content === undefined) break;
      meter.take(content);
      await write(rows, content, done);
      report(table.name, meter.read().rows);
    }
  } catch (error) {
    rows.destroy();
    throw error;
  }
  rows.end();
  await done;
  const copied = { cell, table: qualified(table), ...meter.finish() };
  if (rows.rowCount !== copied.rows) throw new BadArchive(`rows of ${table.name} are missing`);
  return copied;
}

async function write(rows: Writable, content: Buffer, done: Promise<void>): Promise<void> {
  if (!rows.write(content)) await Promise.race([once(rows, "drain"), done]);
}
