/**
 * Writes a backup as a stream of parts: what follows, then every table in parts of some megabytes,
 * then the signed manifest. The caller compresses, encrypts and stores them.
 */
import { createRequire } from "node:module";
import type { CellSnapshot, Picture } from "../storage/backup/snapshots.ts";
import { copyOut, type StoredTable } from "../storage/backup/table-copies.ts";
import type { Signer } from "../storage/people/audit.ts";
import {
  type Contents,
  type CopiedRows,
  digestOf,
  firstPart,
  format,
  type Manifest,
  makeMeter,
  manifestPart,
  type Part,
  partName,
  type Signature,
  signaturePart,
  signedManifest,
} from "./archive.ts";

const partBytes = 4 * 1024 * 1024;
export const { version } = createRequire(import.meta.url)("../package.json");

/** Rows and bytes so far, and the share of the whole that they are, by the statistics. */
export type Progress = {
  readonly table: string;
  readonly rows: number;
  readonly bytes: number;
  readonly share: number;
};

type Options = {
  readonly signer: Signer;
  readonly report: (progress: Progress) => void;
  /** Called with the digest of the manifest, when all rows were read. */
  readonly onRead: (rows: number, manifest: string) => void;
};

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
