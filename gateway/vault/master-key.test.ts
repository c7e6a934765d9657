/** The key-encryption key comes from one of four sources, and no message shows the bytes read. */
import assert from "node:assert/strict";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Secret } from "../values/secret.ts";
import {
  checkValueOf,
  combineParts,
  type MasterKeySource,
  makeKeyFile,
  makeKeyText,
  parseKeyText,
  readMasterKey,
} from "./master-key.ts";

const nothing: MasterKeySource = {
  setting: "GW_MASTER_KEY",
  file: "",
  given: "",
  command: "",
  partFiles: ["", ""],
};
const hex = "0123456789abcdef".repeat(4);
const base64 = Buffer.from(hex, "hex").toString("base64");
let folder = "";

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "master-key-test-"));
});
after(() => rm(folder, { recursive: true, force: true }));

test("a file, the environment and a command give the same key", async () => {
  const file = await write("one.key", `${hex}\n`);
  const printing = JSON.stringify([process.execPath, "-e", `console.log("${base64}")`]);

  for (const source of [
    { ...nothing, file },
    { ...nothing, given: new Secret(hex) },
    { ...nothing, given: new Secret(base64) },
    { ...nothing, command: printing },
    { ...nothing, command: `cat ${file}` },
  ]) {
    const key = await readMasterKey(source);
    assert.equal(Buffer.from(key).toString("hex"), hex);
  }
});

test("two parts give one key, in whichever order, and no part is like it", async () => {
  const [one, two] = [await write("one.part", makeKeyText()), await write("two.part", hex)];

  const key = await readMasterKey({ ...nothing, partFiles: [one, two] });
  const turned = await readMasterKey({ ...nothing, partFiles: [two, one] });
  const twice = await readMasterKey({ ...nothing, partFiles: [one, one] });

  assert.deepEqual(key, turned);
  assert.equal(key.length, 32);
  assert.notEqual(Buffer.from(key).toString("hex"), hex);
  assert.match(String(twice), /the same part/);
});

test("a change of one bit in a part makes another key", () => {
  const [one, two] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const changed = Buffer.from(two);
  changed[31] = 3;

  assert.notDeepEqual(combineParts(one, two), combineParts(one, changed));
  assert.notEqual(checkValueOf(one), checkValueOf(two));
  assert.match(checkValueOf(one), /^[0-9a-f]{8}$/);
});

// biome-ignore format: a table
const troubles: readonly (readonly [source: Partial<MasterKeySource>, sentence: RegExp])[] = [
  [{ file: "/nowhere/a.key" },                  /\/nowhere\/a\.key cannot be read: set GW_MASTER_KEY_FILE/],
  [{ given: new Secret("tooshort") },           /GW_MASTER_KEY must be 64 hexadecimal digits/],
  [{ command: "no-such-program-here" },         /GW_MASTER_KEY_COMMAND .* there is no such program/],
  [{ command: '["sh","-c","echo word; exit 7"]' }, /gave no key: it ended with 7\.$/],
  [{ command: '["sh","-c","kill -9 $$"]' },     /it was ended by SIGKILL/],
  [{ command: "echo tooshort" },                /must print 64 hexadecimal digits/],
  [{ command: "[broken" },                      /must be a program and its words/],
];

test("trouble with the key is one sentence that does not repeat it", async () => {
  for (const [source, sentence] of troubles) {
    const told = await readMasterKey({ ...nothing, ...source });

    assert.equal(typeof told, "string");
    assert.match(String(told), sentence);
    assert.doesNotMatch(String(told), /tooshort|word;/);
  }
});

test("a key is read in hexadecimal or base64 and in no other form", () => {
  assert.equal(parseKeyText(` ${hex.toUpperCase()}\n`)?.toString("hex"), hex);
  assert.equal(parseKeyText(base64.replace("=", ""))?.toString("hex"), hex);
  for (const text of ["", hex.slice(1), `${hex}0`, `${hex.slice(1)}g`, base64.slice(2)]) {
    assert.equal(parseKeyText(text), undefined, text);
  }
});

test("a key file is for its owner alone, and is never written over", async () => {
  const file = join(folder, "made.key");

  assert.equal(await makeKeyFile(file), true);
  const first = await readMasterKey({ ...nothing, file });
  assert.equal(await makeKeyFile(file), false);

  assert.equal((await stat(file)).mode & 0o777, 0o600);
  assert.deepEqual(await readMasterKey({ ...nothing, file }), first);
});

async function write(name: string, text: string): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, text, { mode: 0o600 });
  return file;
}
