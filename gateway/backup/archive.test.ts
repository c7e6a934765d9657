/** A backup that was cut, changed, exchanged or made for another recipient is wholly refused. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { Readable } from "node:stream";
import { before, test } from "node:test";
import { Problem } from "../values/problem.ts";
import { Secret } from "../values/secret.ts";
import {
  BadArchive,
  decrypt,
  encrypt,
  makeIdentity,
  type Part,
  packParts,
  parseIdentities,
  parseRecipients,
  partBytesMax,
  readParts,
} from "./archive.ts";

const parts: readonly Part[] = [
  { name: "contents.json", content: Buffer.from("{}") },
  { name: "main/public.orders/000001", content: Buffer.alloc(300_000, "1\t2\n") },
  { name: "empty", content: Buffer.alloc(0) },
];
let identity: Awaited<ReturnType<typeof makeIdentity>>;
let whole: Buffer;

before(async () => {
  identity = await makeIdentity();
  whole = await seal(parts);
});

test("what was packed is read again, part by part", async () => {
  assert.deepEqual(await read(whole), parts);
});

// biome-ignore format: a table
const damages: readonly (readonly [string, (bytes: Buffer) => Buffer])[] = [
  ["nothing at all",            () => Buffer.alloc(0)],
  ["cut in the header",         (bytes) => bytes.subarray(0, 40)],
  ["cut behind the header",     (bytes) => bytes.subarray(0, 230)],
  ["cut by a byte",             (bytes) => bytes.subarray(0, -1)],
  ["a byte more",               (bytes) => Buffer.concat([bytes, Buffer.from([0])])],
  ["twice",                     (bytes) => Buffer.concat([bytes, bytes])],
  ["a bit of the header",       (bytes) => flip(bytes, 60)],
  ["a bit in the middle",       (bytes) => flip(bytes, Math.floor(bytes.length / 2))],
  ["the last bit",              (bytes) => flip(bytes, bytes.length - 1)],
];
for (const [name, damage] of damages) {
  test(`a damaged file is refused: ${name}`, async () => {
    await assert.rejects(read(damage(whole)), BadArchive);
  });
}

test("another private key does not open it", async () => {
  const stranger = await makeIdentity();

  await assert.rejects(read(whole, stranger.text), BadArchive);
});

test("a part that claims to be huge is refused before it is read", async () => {
  const tar = await collect(packParts(each(parts)));
  tar.write((partBytesMax + 2).toString(8).padStart(11, "0"), 124);

  await assert.rejects(collect(readParts(each([withSum(tar)]))), /too large/);
  await assert.rejects(collect(readParts(each([tar]))), /header is damaged/);
});

test("a tar program opens what is inside", async () => {
  const tar = await collect(packParts(each(parts)));

  const { stdout, status } = spawnSync("tar", ["-tf", "-"], { input: tar });

  assert.equal(status, 0);
  assert.deepEqual(
    stdout.toString().trim().split("\n"),
    parts.map(({ name }) => name),
  );
});

test("keys that are none are refused with a sentence that does not show them", async () => {
  const secret = "AGE-SECRET-KEY-1NOTHING";

  const refused = parseIdentities(new Secret(secret));
  assert.ok(refused instanceof Problem && !refused.sentence.includes("NOTHING"));
  assert.ok(parseIdentities(new Secret("# only a comment\n")) instanceof Problem);
  const stranger = parseRecipients([secret]);
  assert.ok(stranger instanceof Problem && !stranger.sentence.includes("NOTHING"));
  assert.ok(parseRecipients([]) instanceof Problem);
});

async function seal(given: readonly Part[]): Promise<Buffer> {
  const encrypter = parseRecipients([identity.recipient]);
  assert.ok(!(encrypter instanceof Problem));
  return collect(await encrypt(encrypter, packParts(each(given))));
}

async function read(bytes: Buffer, text = identity.text): Promise<readonly Part[]> {
  const decrypter = parseIdentities(text);
  assert.ok(!(decrypter instanceof Problem));
  const found: Part[] = [];
  const source = Readable.from([bytes], { objectMode: false });
  for await (const part of readParts(decrypt(decrypter, source))) found.push(part);
  return found;
}

function flip(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}

function withSum(tar: Buffer): Buffer {
  const header = Buffer.from(tar.subarray(0, 512)).fill(" ", 148, 156);
  const sum = header.reduce((all, byte) => all + byte, 0);
  const changed = Buffer.from(tar);
  changed.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return changed;
}

async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}

async function collect(chunks: AsyncIterable<unknown>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const chunk of chunks) all.push(chunk as Buffer);
  return Buffer.concat(all);
}
