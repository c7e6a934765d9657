/** Checks that `gw migrate` succeeds only if every cell of a real database is up to date. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { openVault } from "../administration/session.ts";
import { openInstallation } from "../installation/installation.ts";
import { cellContext } from "../storage/cells/cells.ts";
import { startDatabase } from "../storage/testing/database-for-tests.ts";
import { Problem } from "../values/problem.ts";
import { Secret } from "../values/secret.ts";

const { url, listCell, stop } = await startDatabase();
const folder = await mkdtemp(join(tmpdir(), "tollgate-migrate-test-"));
after(async () => {
  await stop();
  await rm(folder, { recursive: true, force: true });
});

const makeEnvironment = () => ({
  GW_DATABASE_URL: url,
  GW_DATA_DIR: folder,
  GW_MASTER_KEY: "3".repeat(64),
});

test("a cell that is unreachable is named, and the command fails", async () => {
  const before = await migrate();
  await addCellAway("north");
  const after = await migrate();
  const asJson = await migrate("--json");

  assert.deepEqual([before.code, after.code, asJson.code], [0, 1, 1]);
  assert.match(before.output, /up to date/);
  assert.match(after.output, /^The cell north was not updated: .* run `gw migrate` again\.$/m);
  assert.doesNotMatch(after.output, /up to date/);
  assert.deepEqual(JSON.parse(asJson.output), { migrations: [], cellsAway: ["north"] });
});

async function addCellAway(name: string): Promise<void> {
  const place = { environment: makeEnvironment(), report: () => undefined, besideOthers: true };
  const installation = await openInstallation(place);
  assert.ok(!(installation instanceof Problem));
  const { sealSecret } = await openVault(installation);
  const sealed = sealSecret(new Secret("postgres://gw@127.0.0.1:1/none"), cellContext(name));
  await listCell(name, sealed);
  await installation.close();
}

function migrate(...words: readonly string[]) {
  const env = { ...process.env, ...makeEnvironment() };
  const program = ["gateway/cli/gw.ts", "migrate", "--yes", ...words];
  return new Promise<{ code: number | null; output: string }>((resolve) => {
    const child = execFile(process.execPath, program, { env }, (_error, output) =>
      resolve({ code: child.exitCode, output }),
    );
  });
}
