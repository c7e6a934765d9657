/** The manifest of installed files: every change of a file shows, and so does a forged manifest. */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { findEntries } from "../storage/audit-verify.ts";
import { startDatabase } from "../storage/testing/database-for-tests.ts";
import { Problem } from "../values/problem.ts";
import type { Session } from "./command.ts";
import { checkFiles, signFiles } from "./files.ts";
import { type Installation, openInstallation } from "./installation.ts";

let [folder, stop] = ["", async () => {}];
let installation: Installation;
const program = () => join(folder, "program");
// The two functions read only those parts of a session that an installation has too.
const session = () => installation as unknown as Session;
const troublesOf = async () => (await checkFiles(session(), program())).troubles;

before(async () => {
  const database = await startDatabase();
  folder = await mkdtemp(join(tmpdir(), "tollgate-files-test-"));
  const settings = { GW_DATABASE_URL: database.url, GW_MASTER_KEY: "3".repeat(64) };
  const opened = await openInstallation({
    environment: { ...settings, GW_DATA_DIR: join(folder, "data") },
    ...{ report: () => undefined, besideOthers: true },
  });
  assert.ok(!(opened instanceof Problem));
  installation = opened;
  stop = async () => {
    await installation.close();
    await database.stop();
    await rm(folder, { recursive: true });
  };
  for (const path of ["gateway/cli", "node_modules/.cache", "node_modules/pg"]) {
    await mkdir(join(program(), path), { recursive: true });
  }
  await write("gateway/main.ts", "start()");
  await write("node_modules/pg/index.js", "connect()");
  await write("package.json", "{}");
  await symlink("../gateway", join(program(), "node_modules/gateway"));
});
after(() => stop());

function write(path: string, text: string): Promise<void> {
  return writeFile(join(program(), path), text);
}

test("without a manifest the check is trouble", async () => {
  assert.deepEqual(await troublesOf(), [
    "It cannot be read: run gw files sign after each installation.",
  ]);
});

test("every changed, added and removed file is named, and signing is in the audit", async () => {
  await signFiles(session(), program());
  await write("node_modules/.cache/compiled", "made by Node");
  assert.deepEqual(await troublesOf(), []);

  await write("gateway/main.ts", "steal(); start()");
  await write("gateway/cli/extra.ts", "steal()");
  await rm(join(program(), "package.json"));
  await rm(join(program(), "node_modules/gateway"));
  await symlink("../elsewhere", join(program(), "node_modules/gateway"));
  assert.deepEqual(await troublesOf(), [
    "gateway/main.ts was changed.",
    "node_modules/gateway was changed.",
    "package.json was removed.",
    "gateway/cli/extra.ts was added.",
  ]);

  const entries = await findEntries(installation.database.query, { action: "files", limit: 10 });
  assert.equal(entries.length, 1);
  assert.match(String(entries[0]?.after), /"files":4,"manifest":"[0-9a-f]{64}"/);
});

test("a manifest that was changed to fit the files is not this installation's", async () => {
  await signFiles(session(), program());
  const place = join(folder, "data", "installed-files.json");
  const { files, ...rest } = JSON.parse(await readFile(place, "utf8"));

  await write("gateway/main.ts", "steal()");
  const forged = { ...files };
  delete forged["gateway/main.ts"];
  await writeFile(place, JSON.stringify({ ...rest, files: forged }));

  assert.deepEqual(await troublesOf(), [
    "Its signature is not this installation's: it was changed.",
  ]);
});
