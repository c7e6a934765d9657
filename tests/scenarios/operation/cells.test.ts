/** Two cells on two servers: one of them stops, and only its own merchants are affected. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { startOwnServer } from "../../support/databases/database-server.ts";
import { runGw } from "../../support/programs.ts";
import { startWorld } from "../../support/world.ts";

test("a cell without its server affects only its own merchants", async (t) => {
  const server = await startOwnServer(t);
  const world = await startWorld(t, {
    GW_ACCEPT_RETRY_S: "0.2",
    GW_DATABASE_CONNECT_TIMEOUT_S: "1",
  });
  const file = join(world.dataDir, "far.url");
  await writeFile(file, server.url);
  const added = await runGw(world, "cell", "add", "far", "--url-file", file);
  assert.equal(added.code, 0, added.complaint);
  const far = await world.stranger("far-shop", "far");
  const near = world.merchant();
  // This sale is declined, because the books are compared at the end with the remaining cells.
  const before = await far.sale({ credit_card_number: "4000004000000020" });
  await near.sale();
  await world.settle();
  assert.equal((await far.describe(before)).status, "declined");
  assert.equal((await runGw(world, "cell", "check")).code, 0);

  await server.end();
  const refused = await far.sale().then(
    () => "accepted",
    (error: unknown) => String(error),
  );
  const paid = await near.sale();
  await world.settle();
  const ready = await fetch(`${world.gateway.url}/health/ready`);
  const checked = await runGw(world, "cell", "check");
  await world.restart();
  const again = await near.sale();
  await world.settle();

  assert.doesNotMatch(refused, /accepted/);
  assert.equal((await near.describe(paid)).status, "approved");
  assert.equal((await near.describe(again)).status, "approved");
  assert.equal(ready.status, 200);
  assert.match(JSON.stringify(await ready.json()), /cell far/);
  assert.equal(checked.code, 1);
  assert.match(checked.printed, /second +good/);

  // Its payment pages may be open: a restored installation goes on only after all were closed.
  const { query } = world.installation.database;
  assert.equal((await runGw(world, "restore", "hold", "--why", "a copy")).code, 0);
  await query("update installation_hold set verified_at = now()");
  const released = await runGw(world, "restore", "release", "--unreconciled", "--why", "now");
  assert.notEqual(released.code, 0, released.printed);
  assert.equal((await query("select from installation_hold where since is not null")).length, 1);
});
