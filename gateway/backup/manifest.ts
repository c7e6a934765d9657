/**
 * What a backup says about itself. Its first part tells what follows; its last one, the manifest,
 * what there was, and is signed with the key of the audit. That key is sealed by the vault, so that
 * a backup which someone else has written, or put together from two, is found out by the
 * key-encryption key.
 */
import { createHash, type Hash } from "node:crypto";
import type {
  AppliedMigration,
  SequenceValue,
  StoredTable,
} from "../storage/backup/table-copies.ts";
import { BadArchive } from "./archive.ts";

/** The version of the parts and their order; a reader refuses another one. */
export const format = 1;
export const firstPart = "contents.json";
export const manifestPart = "manifest.json";
export const signaturePart = "signature.json";

export type PlaceContents = {
  readonly cell: string;
  readonly migrations: readonly AppliedMigration[];
  readonly cellMigrations: readonly AppliedMigration[];
  readonly tables: readonly StoredTable[];
  readonly sequences: readonly SequenceValue[];
  readonly partitions: readonly string[];
};

export type Contents = {
  readonly format: number;
  readonly version: string;
  /** The moment of the picture, in milliseconds. */
  readonly takenAt: number;
  /** The main database first. */
  readonly places: readonly PlaceContents[];
};

export type CopiedRows = {
  readonly cell: string;
  readonly table: string;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
};

export type Manifest = {
  /** The digest of the first part. */
  readonly contents: string;
  readonly audit: { readonly seq: number; readonly hash: string };
  readonly tables: readonly CopiedRows[];
};

export type Signature = { readonly key: number; readonly signature: string };

export function digestOf(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

export function signedManifest(manifest: Uint8Array): Buffer {
  return Buffer.from(`tollgate-backup\n${digestOf(manifest)}`);
}

/** The parts of one table's rows. */
export function partName(cell: string, table: StoredTable, number: number): string {
  return `${cell}/${table.schema}.${table.name}/${String(number).padStart(6, "0")}`;
}

/** Measures the rows that pass, in PostgreSQL's text form: a line each. */
export function makeMeter() {
  const hash: Hash = createHash("sha256");
  let [rows, bytes] = [0, 0];
  return {
    take(chunk: Buffer): void {
      hash.update(chunk);
      bytes += chunk.length;
      for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) rows += 1;
    },
    read: () => ({ rows, bytes }),
    finish: () => ({ rows, bytes, sha256: hash.digest("hex") }),
  };
}

/** The signature is verified later, with keys that are in the backup itself. */
export function parsePart<Content>(content: Buffer): Content {
  try {
    return JSON.parse(content.toString("utf8"));
  } catch {
    throw new BadArchive("a part is no JSON");
  }
}
