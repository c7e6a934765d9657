/** The issuer's statements about its cards: proof that only it can make, and ECIs. */
import assert from "node:assert/strict";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { AuthenticationValues, eciFor, maskCard } from "./issuer.ts";

const card = "4000002000000016";

test("a value is genuine for its card only, and never the same twice", () => {
  const values = new AuthenticationValues(Buffer.alloc(32, 7));
  const [first, second] = [values.make(card), values.make(card)];

  assert.match(first, /^[A-Za-z0-9+/]{27}=$/);
  assert.notEqual(first, second);
  assert.ok(values.isGenuine(card, first) && values.isGenuine(card, second));
  assert.ok(!values.isGenuine("4000002000000024", first));
  assert.ok(!new AuthenticationValues(Buffer.alloc(32, 8)).isGenuine(card, first));

  const bytes = Buffer.from(first, "base64");
  for (const place of [0, 5, 6, 19]) {
    const changed = Buffer.from(bytes);
    changed[place] = (changed[place] ?? 0) ^ 1;
    assert.ok(!values.isGenuine(card, changed.toString("base64")), `byte ${place}`);
  }
  for (const odd of ["", "AAAA", `${first}AAAA`, "not base64"]) {
    assert.ok(!values.isGenuine(card, odd));
  }
});

test("a value has the form of its network and use, or the one that the switch forces", () => {
  let forced: "visa" | "mastercard" | null = null;
  const values = new AuthenticationValues(Buffer.alloc(32, 7), () => forced);
  // biome-ignore format: a table
  const rows = [
    [card,               "emv3ds", 20, 21],  ["5200000000000015", "emv3ds", 21, 21],
    [card,               "wallet", 20, 19],  ["5200000000000015", "wallet", 19, 19],
    [card,           "threeds102", 20, 21],  ["5200000000000015", "threeds102", 20, 21],
    ["6767000000000018", "emv3ds", 21, 21],  ["2200000000000012", "emv3ds", 20, 21],
  ] as const;
  for (const [number, use, own, asMastercards] of rows) {
    for (const [shape, bytes] of [
      [null, own],
      ["visa", 20],
      ["mastercard", asMastercards],
    ] as const) {
      forced = shape;
      const value = values.make(number, use);
      assert.equal(Buffer.from(value, "base64").length, bytes, `${number} ${use} ${shape}`);
      assert.equal(value.length, 28);
      assert.equal(value.startsWith("kJ"), bytes === 21);
      assert.ok(values.isGenuine(number, value) && !values.isGenuine("4000002000000024", value));
      const changed = Buffer.from(value, "base64");
      changed[0] = (changed[0] ?? 0) ^ 1;
      assert.ok(!values.isGenuine(number, changed.toString("base64")));
    }
  }
});

test("the key survives a restart, and a damaged key file is replaced", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-cavv-"));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, "bank", "cavv.key");

  const value = (await AuthenticationValues.open(path)).make(card);
  assert.ok((await AuthenticationValues.open(path)).isGenuine(card, value));
  assert.equal((await stat(path)).mode & 0o777, 0o600);

  await writeFile(path, "short");
  assert.ok(!(await AuthenticationValues.open(path)).isGenuine(card, value));
});

test("every network has its own ECIs", () => {
  // biome-ignore format: a table
  const rows = [
    ["4000002000000016", "05", "06"],   ["5200000000000015", "02", "01"],
    ["2223000000000015", "02", "01"],   ["340000000000017",  "05", "06"],
    ["6011000000000012", "05", "06"],   ["3530000000000011", "05", "06"],
    ["6200000000000013", "05", "06"],   ["36000000000016",   "05", "06"],
    ["6767000000000018", "02", "01"],   ["2200000000000012", "02", "01"],
    ["6500000000000002", "05", "06"],   ["2205000000000000", "05", "06"],
  ] as const;
  for (const [number, full, attempt] of rows) {
    assert.deepEqual([eciFor(number, "Y"), eciFor(number, "A")], [full, attempt], number);
  }
});

test("a masked card shows six and four digits at most", () => {
  assert.equal(maskCard(card), "400000****0016");
  assert.equal(maskCard("41111111"), "****");
});
