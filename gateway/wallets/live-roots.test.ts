/** When the wallets' roots are read again: each at its own time, never without end. */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { writeRootKeys } from "@tollgate/protocols/walletb";
import { asInstant } from "../values/time.ts";
import { freshnessOf, makeLiveRoots } from "./live-roots.ts";

const hourMs = 3_600_000;

test("roots are fresh for as long as the publisher says, within sense", () => {
  // biome-ignore format: a table
  const rows: readonly (readonly [cacheControl: string, age: string, freshMs: number])[] = [
    ["public, max-age=7200", "",            2 * hourMs],
    ["max-age=7200",         "3600",        hourMs],
    ["max-age=7200",         "abc",         2 * hourMs],
    ["max-age=7200",         "3600, 10",    2 * hourMs],
    ["max-age=7200",         "1e9",         2 * hourMs],
    ["max-age=7200",         "9999999999",  300_000],
    ["max-age=7200",         "9".repeat(400), 2 * hourMs],
    [`max-age=${"9".repeat(400)}`, "10",    7 * 24 * hourMs],
    ["max-age=0",            "",            300_000],
    ["no-cache",             "abc",         hourMs],
    ["",                     "",            hourMs],
  ];
  for (const [cacheControl, age, freshMs] of rows) {
    const headers = new Headers({ "cache-control": cacheControl, age });
    assert.equal(freshnessOf(headers), freshMs, `${cacheControl} ${age}`);
  }
});

test("one wallet's roots that cannot be read do not have the other's read again", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-roots-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const place = join(folder, "keys.json");
  const { publicKey: key } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  await writeFile(place, writeRootKeys([{ protocolVersion: "ECv1", key }]));
  let now = 0;
  const warned: string[] = [];
  const roots = makeLiveRoots({
    sources: { walletaFile: join(folder, "none.pem"), walletbPlace: place },
    clock: { now: () => asInstant(now), after: () => () => undefined },
    warn: (wallet) => void warned.push(wallet),
  });

  assert.equal(await roots.refresh(), 60_000);
  await writeFile(place, "broken");
  for (let minute = 1; minute < 60; minute += 1) {
    now = minute * 60_000;
    assert.equal(await roots.refresh(), 60_000);
  }
  assert.deepEqual(new Set(warned), new Set(["walleta"]));
  now = hourMs;
  await roots.refresh();
  assert.ok(warned.includes("walletb"), "after an hour it is");
  assert.equal(roots.walletb().length, 1, "and what was known stays");
});
