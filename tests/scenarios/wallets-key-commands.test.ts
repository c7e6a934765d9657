/** What `gw wallet key` prints and leaves behind. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createPublicKey } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { runGw } from "../support/programs.ts";
import { startWalletWorld } from "../support/wallets.ts";
import { startWorld } from "../support/world.ts";

const run = promisify(execFile);

test("the printed certificate request is one that OpenSSL reads", async (t) => {
  const world = await startWorld(t);
  const made = await runGw(world, "wallet", "key", "make", "demo", "walleta");

  assert.match(made.printed, /^id +\d+\nrequest\n-----BEGIN CERTIFICATE REQUEST-----\n/m);
  const asked = run("openssl", ["req", "-verify", "-noout", "-pubkey"]);
  asked.child.stdin?.end(made.printed);
  const { stdout } = await asked;
  const [key] = await world.installation.database.query<{ public_key: string }>(
    "select public_key from vault.wallet_keys",
  );
  assert.ok(createPublicKey(stdout).equals(createPublicKey(key?.public_key ?? "")));
});

test("of a removed key nothing is left in the table's file", async (t) => {
  const world = await startWalletWorld(t, { GW_DATABASE_URL: "" });
  const { query } = world.installation.database;
  const keys = await query<{ id: string; sealed: Buffer }>("select * from vault.wallet_keys");
  const readTable = async () => {
    await query("checkpoint");
    const [place] = await query<{ path: string }>(
      "select pg_relation_filepath('vault.wallet_keys') as path",
    );
    return readFile(join(world.dataDir, "postgres", place?.path ?? ""));
  };
  for (const { sealed } of keys) assert.ok((await readTable()).includes(sealed));

  for (const [index, { id, sealed }] of keys.entries()) {
    const removed = await runGw(world, "wallet", "key", "remove", id);

    assert.equal(removed.code, 0, removed.complaint);
    const file = await readTable();
    assert.ok(!file.includes(sealed.subarray(-40)), "its end was found");
    assert.ok(!file.includes(sealed.subarray(0, 40)), "its beginning was found");
    for (const { sealed: other } of keys.slice(index + 1)) assert.ok(file.includes(other));
  }
});
