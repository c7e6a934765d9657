/**
 * From an archive to the bytes that leave the machine, and back: compressed with Zstandard, then
 * encrypted with age to the public keys of the recipients. Both are streams: nothing is written to
 * a disk in between. Loaded by the commands of backups alone.
 */
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { constants, createZstdCompress, createZstdDecompress } from "node:zlib";
import { Decrypter, Encrypter, generateX25519Identity, identityToRecipient } from "age-encryption";
import { messageOf, Problem } from "../values/problem.ts";
import { Secret } from "../values/secret.ts";
import { BadArchive } from "./archive.ts";

const chunkSize = 256 * 1024;
const level = { chunkSize, params: { [constants.ZSTD_c_compressionLevel]: 3 } };

/** An invalid recipient is found before any byte is read. */
export function parseRecipients(texts: readonly string[]): Encrypter | Problem {
  const encrypter = new Encrypter();
  for (const text of texts) {
    try {
      encrypter.addRecipient(text);
    } catch {
      // Not shown: it may be the private key, and the sentence goes to the journal.
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
  const encrypted = await encrypter.encrypt(toWeb(compressed));
  return fromWeb(encrypted);
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
    // The library's own sentences are about its format; which of its parts failed is for no one.
    throw new BadArchive(`it cannot be decrypted (${messageOf(error)})`);
  }
}

/** A private key, with its public key in a comment as `age-keygen` writes it. */
export async function makeIdentity() {
  const identity = await generateX25519Identity();
  const recipient = await identityToRecipient(identity);
  return { recipient, text: new Secret(`# public key: ${recipient}\n${identity}\n`) };
}

/** The types of Node and of the browser's library differ in name only. */
function toWeb(stream: Readable): globalThis.ReadableStream<Uint8Array> {
  return Readable.toWeb(stream) as unknown as globalThis.ReadableStream<Uint8Array>;
}

function fromWeb(stream: globalThis.ReadableStream<Uint8Array>): Readable {
  return Readable.fromWeb(stream as unknown as ReadableStream<Uint8Array>);
}
