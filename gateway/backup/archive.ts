/**
 * The file of a backup: its container, its encryption, and its list of contents. The container is a
 * tar of named parts, which any tar program opens. A part's name is never used as a path, because
 * the reader writes no files. Each part fits into memory.
 */
import { createHash, type Hash } from "node:crypto";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { constants, createZstdCompress, createZstdDecompress } from "node:zlib";
import { Decrypter, Encrypter, generateX25519Identity, identityToRecipient } from "age-encryption";
import type {
  AppliedMigration,
  SequenceValue,
  StoredTable,
} from "../storage/backup/table-copies.ts";
import { messageOf, Problem } from "../values/problem.ts";
import { Secret } from "../values/secret.ts";

const blockBytes = 512;
/** A reader refuses larger parts before it reads them. */
export const partBytesMax = 16 * 1024 * 1024;

export type Part = { readonly name: string; readonly content: Buffer };

/** The archive is damaged. The message says why. */
export class BadArchive extends Error {}

export async function* packParts(parts: AsyncIterable<Part>): AsyncGenerator<Buffer> {
  for await (const { name, content } of parts) {
    yield headerOf(name, content.length);
    yield content;
    yield Buffer.alloc(paddingOf(content.length));
  }
  yield Buffer.alloc(2 * blockBytes);
}

function paddingOf(bytes: number): number {
  return (blockBytes - (bytes % blockBytes)) % blockBytes;
}

/** Makes a header of the ustar format: name, mode, owner, size, time, checksum, type, magic. */
function headerOf(name: string, bytes: number): Buffer {
  if (Buffer.byteLength(name) > 100 || bytes > partBytesMax) throw new Error(`bad part ${name}`);
  const header = Buffer.alloc(blockBytes);
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, "0")}\0`;
  header.write(name, 0);
  header.write(`${octal(0o600, 7)}${octal(0, 7)}${octal(0, 7)}`, 100);
  header.write(`${octal(bytes, 11)}${octal(0, 11)}`, 124);
  header.write("        0", 148);
  header.write("ustar\u000000", 257);
  header.write(`${octal(sumOf(header), 6)} `, 148);
  return header;
}

function sumOf(header: Buffer): number {
  return header.reduce((sum, byte) => sum + byte, 0);
}

/** Fails unless the archive ends with its two empty blocks and nothing after them. */
export async function* readParts(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Part> {
  const reader = makeReader(bytes);
  for (;;) {
    const header = await reader.take(blockBytes);
    if (header.every((byte) => byte === 0)) break;
    const { name, size } = parseHeader(header);
    const content = await reader.take(size);
    await reader.take(paddingOf(size));
    yield { name, content };
  }
  const last = await reader.take(blockBytes);
  if (!last.every((byte) => byte === 0)) throw new BadArchive("the end is damaged");
  if (!(await reader.isAtEnd())) throw new BadArchive("there is more behind the end");
}

function parseHeader(header: Buffer): { readonly name: string; readonly size: number } {
  const [name = ""] = header.toString("latin1", 0, 100).split("\0");
  const size = Number.parseInt(header.toString("latin1", 124, 135), 8);
  const sum = Number.parseInt(header.toString("latin1", 148, 154), 8);
  const blank = Buffer.from(header).fill(" ", 148, 156);
  if (sumOf(blank) !== sum) throw new BadArchive("a part's header is damaged");
  if (!(size >= 0 && size <= partBytesMax)) throw new BadArchive("a part is too large");
  return { name, size };
}

function makeReader(bytes: AsyncIterable<Uint8Array>) {
  const source = bytes[Symbol.asyncIterator]();
  let chunks: Uint8Array[] = [];
  let length = 0;
  return {
    async take(wanted: number): Promise<Buffer> {
      while (length < wanted) {
        if (!(await fill())) throw new BadArchive("the backup ends too early");
      }
      const all = chunks.length === 1 ? Buffer.from(chunks[0] ?? []) : Buffer.concat(chunks);
      chunks = length > wanted ? [all.subarray(wanted)] : [];
      length -= wanted;
      return all.subarray(0, wanted);
    },
    isAtEnd: async () => length === 0 && !(await fill()),
  };

  async function fill(): Promise<boolean> {
    const { done, value } = await source.next();
    if (done === true) return false;
    chunks.push(value);
    length += value.length;
    return true;
  }
}

const chunkSize = 256 * 1024;
const level = { chunkSize, params: { [constants.ZSTD_c_compressionLevel]: 3 } };

/**
 * Reads the recipients, so that an invalid one is found before the backup is read. The archive is
 * compressed with Zstandard and encrypted with age to the recipients' public keys as a stream: it
 * is never on a disk in plain text.
 */
export function parseRecipients(texts: readonly string[]): Encrypter | Problem {
  const encrypter = new Encrypter();
  for (const text of texts) {
    try {
      encrypter.addRecipient(text);
    } catch {
      // The text is not quoted, because it may be the private key, and the sentence is logged.
      return new Problem("A recipient is no public key of age: it looks like age1….");
    }
  }
  if (texts.length > 0) return encrypter;
  return new Problem(
    "Name a recipient: --recipient age1…, or GW_BACKUP_RECIPIENTS. `gw backup identity <file>` " +
      "makes a key pair.",
  );
}

export async function encrypt(encrypter: Encrypter, plain: AsyncIterable<Buffer>) {
  const compressed = Readable.from(plain, { objectMode: false }).compose(
    createZstdCompress(level),
  ) as Readable;
  return encryptAlone(encrypter, compressed);
}

/** Encrypts without compression, so that the receiver needs no program but age. */
export async function encryptAlone(encrypter: Encrypter, plain: Readable): Promise<Readable> {
  return fromWeb(await encrypter.encrypt(toWeb(plain)));
}

/** Reads the form that `age-keygen` writes: lines that begin with `#` are comments. */
export function parseIdentities(text: Secret<string>): Decrypter | Problem {
  const decrypter = new Decrypter();
  const lines = text.reveal().split(/\r?\n/);
  const keys = lines.map((line) => line.trim()).filter((line) => line !== "" && line[0] !== "#");
  try {
    for (const key of keys) decrypter.addIdentity(key);
  } catch {
    return new Problem("The identity file has a line that is no private key of age.");
  }
  if (keys.length > 0) return decrypter;
  return new Problem("The identity file has no private key: it looks like AGE-SECRET-KEY-1….");
}

export async function* decrypt(
  decrypter: Decrypter,
  encrypted: Readable,
): AsyncGenerator<Uint8Array> {
  try {
    const plain = fromWeb(await decrypter.decrypt(toWeb(encrypted)));
    yield* plain.compose(createZstdDecompress({ chunkSize })) as AsyncIterable<Uint8Array>;
  } catch (error) {
    // The library's messages are about its format, so a sentence goes before them.
    throw new BadArchive(`it cannot be decrypted (${messageOf(error)})`);
  }
}

/** Makes a private key, with its public key in a comment as `age-keygen` writes it. */
export async function makeIdentity() {
  const identity = await generateX25519Identity();
  const recipient = await identityToRecipient(identity);
  return { recipient, text: new Secret(`# public key: ${recipient}\n${identity}\n`) };
}

/** The types of Node and of the browser's library differ in name only. */
export function toWeb(stream: Readable): globalThis.ReadableStream<Uint8Array> {
  return Readable.toWeb(stream) as unknown as globalThis.ReadableStream<Uint8Array>;
}

export function fromWeb(stream: globalThis.ReadableStream<Uint8Array>): Readable {
  return Readable.fromWeb(stream as unknown as ReadableStream<Uint8Array>);
}

/**
 * The version of the parts and their order. The first part of a backup lists the following parts.
 * The last, the manifest, lists what the backup contains and is signed with the key of the audit.
 * The vault seals that key, so a backup that a stranger has written, or that was put together from
 * two, is recognised with the key-encryption key.
 */
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
  /** The moment of the data in the backup, in milliseconds. */
  readonly takenAt: number;
  /** The databases, the main one first. */
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

export function partName(cell: string, table: StoredTable, number: number): string {
  return `${cell}/${table.schema}.${table.name}/${String(number).padStart(6, "0")}`;
}

/** Counts rows in PostgreSQL's text form, with a line for each. */
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
