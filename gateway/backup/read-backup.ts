/**
 * Reads a backup into an empty database: the schema of that time, then every row, in one
 * transaction. Names in a backup are compared with those of the schema and never used themselves.
 * The transaction commits only after the digests and the signature of the manifest are verified.
 */
import { once } from "node:events";
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { isDeepStrictEqual } from "node:util";
import type { RestoreTarget } from "../storage/backup/restore-target.ts";
import { qualified, type StoredTable } from "../storage/backup/table-copies.ts";
import { isSignedBy } from "../storage/people/audit.ts";
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

type Options = {
  readonly target: RestoreTarget;
  /** Called with the number of rows of the table so far. */
  readonly report: (table: string, rows: number) => void;
};

export type Loaded = { readonly contents: Contents; readonly manifest: Manifest };

export async function readBackup(
  source: AsyncIterable<Part>,
  { target, report }: Options,
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

/** What it says is not believed before the signature is; it only has to make sense. */
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

/** Every part has its place: one with another name ends the work. */
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
  { target, report }: Options,
): Promise<CopiedRows> {
  const meter = makeMeter();
  const rows = target.copyInto(table);
  const done = finished(rows);
  // The failure of a write is the failure of the whole; `done` reports it.
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
