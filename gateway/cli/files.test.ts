/** Checks that the manifest of installed files reveals changed files and a forged manifest. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmod,
  chown,
  copyFile,
  mkdir,
  mkdtemp,
  readFile,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type Installation, openInstallation } from "../installation/installation.ts";
import { findEntries } from "../storage/people/audit-verify.ts";
import { startDatabase } from "../storage/testing/database-for-tests.ts";
import { Problem } from "../values/problem.ts";
import { checkFiles, signFiles } from "./files.ts";
import type { MachineSession } from "./machine-command.ts";

let [folder, stop] = ["", async () => {}];
let installation: Installation;
const program = () => join(folder, "program");
const place = () => join(folder, "data", "installed-files.json");
const isRoot = process.getuid?.() === 0;
const nobody = 65_534;
// Both functions use only those parts of a session that an installation has too.
const session = () => installation as unknown as MachineSession;
const troublesOf = async () => (await checkFiles(session(), program())).troubles;

before(async () => {
  process.umask(0o022);
  const database = await startDatabase();
  folder = await mkdtemp(join(tmpdir(), "tollgate-files-test-"));
  const settings = { GW_DATABASE_URL: database.url, GW_MASTER_KEY: "3".repeat(64) };
  const opened = await openInstallation({
    environment: { ...settings, GW_DATA_DIR: join(folder, "data") },
    report: () => undefined,
    besideOthers: true,
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
  await write("package.json", '{ "version": "1.2.3" }');
  await symlink("../gateway", join(program(), "node_modules/gateway"));
});
after(() => stop());

function write(path: string, text: string): Promise<void> {
  return writeFile(join(program(), path), text);
}

test("the check reports trouble without a manifest", async () => {
  assert.deepEqual(await troublesOf(), [
    "It cannot be read: run gw files sign after each installation.",
  ]);
});

test("every changed, added and removed file is named, and signing is in the audit", async () => {
  await signFiles(session(), program());
  const { what, troubles } = await checkFiles(session(), program());
  assert.deepEqual(troubles, []);
  assert.match(what, / of release 1\.2\.3, signed at 20\d\d-/);

  await write("gateway/main.ts", "steal(); start()");
  await write("gateway/cli/extra.ts", "steal()");
  await mkdir(join(program(), "portal/dist"), { recursive: true });
  await write("portal/dist/main.js", "built()");
  await rm(join(program(), "package.json"));
  await rm(join(program(), "node_modules/gateway"));
  await symlink("../elsewhere", join(program(), "node_modules/gateway"));
  assert.deepEqual(await troublesOf(), [
    "gateway/main.ts was changed.",
    "node_modules/gateway was changed.",
    "package.json was removed.",
    "gateway/cli/extra.ts was added.",
    ...["portal", "portal/dist", "portal/dist/main.js"].map((path) => `${path} was added.`),
  ]);

  const entries = await findEntries(installation.database.query, { action: "files", limit: 10 });
  assert.equal(entries.length, 1);
  assert.match(String(entries[0]?.after), /"release":"1.2.3","files":10,"manifest":"[0-9a-f]{64}"/);
});

test("the check reports an older program even with the manifest that was signed for it", async () => {
  await write("package.json", '{ "version": "1.2.3" }');
  await signFiles(session(), program());
  await copyFile(place(), join(folder, "older.json"));
  await write("package.json", '{ "version": "1.2.4" }');
  await signFiles(session(), program());
  assert.deepEqual(await troublesOf(), []);

  await write("package.json", '{ "version": "1.2.3" }');
  await copyFile(join(folder, "older.json"), place());
  const [told, ...others] = (await troublesOf()) ?? [];
  assert.match(String(told), /not the manifest that was signed last, for release 1\.2\.4 at 20/);
  assert.deepEqual(others, []);
});

test("changed permissions are reported, and files that others can write are not signed", async () => {
  await signFiles(session(), program());
  const file = join(program(), "gateway/main.ts");

  await chmod(file, 0o755);
  assert.match(
    String(await troublesOf()),
    /^gateway\/main\.ts had the mode and owner 644 \d+:\d+, /,
  );

  await chmod(file, 0o666);
  const advice = "gateway/main.ts can be written by users other than its owner: chmod go-w";
  assert.match(String(await troublesOf()), new RegExp(advice));
  const refused = await signFiles(session(), program());
  await chmod(file, 0o644);
  assert.ok(refused instanceof Problem && refused.sentence.includes(advice));
  assert.deepEqual(await troublesOf(), []);
});

test("the check reports links out of the installation, pipes and a compile cache", async () => {
  await signFiles(session(), program());
  const added = ["gateway/outside", "gateway/away", "gateway/pipe", "node_modules/.cache/compiled"];
  await symlink("/etc/hostname", join(program(), "gateway/outside"));
  await symlink("../../absent", join(program(), "gateway/away"));
  execFileSync("mkfifo", ["-m", "600", join(program(), "gateway/pipe")]);
  await write("node_modules/.cache/compiled", "steal()");

  const troubles = await troublesOf();
  for (const path of added) await rm(join(program(), path));

  assert.deepEqual(troubles, [
    `gateway/away leads out of the installation, to ${join(folder, "absent")}.`,
    "gateway/outside leads out of the installation, to /etc/hostname.",
    "gateway/pipe is no file, no folder and no link.",
    "node_modules/.cache has compiled sources: delete it.",
    ...["away", "outside", "pipe"].map((name) => `gateway/${name} was added.`),
  ]);
});

test("the check reports a folder or a file that cannot be read", async () => {
  await signFiles(session(), program());
  for (const path of [folder, join(folder, "data")]) await chmod(path, 0o755);
  await chmod(place(), 0o644);
  const closed = ["gateway/cli", "gateway/main.ts"];
  for (const path of closed) await chmod(join(program(), path), 0);

  // The files belong to root, who could read them in spite of their mode.
  if (isRoot) process.seteuid?.(nobody);
  const troubles = await troublesOf().finally(() => isRoot && process.seteuid?.(0));
  for (const path of closed)
    await chmod(join(program(), path), path.endsWith(".ts") ? 0o644 : 0o755);

  assert.match(String(troubles), /gateway\/cli cannot be read: EACCES/);
  assert.match(String(troubles), /gateway\/main\.ts cannot be read: EACCES/);
});

test("in production every file belongs to root", { skip: !isRoot }, async () => {
  const { config } = installation;
  const production = {
    ...session(),
    config: { ...config, environment: "production" },
  } as MachineSession;
  await signFiles(production, program());
  assert.deepEqual((await checkFiles(production, program())).troubles, []);

  const file = join(program(), "gateway/main.ts");
  await chown(file, nobody, 0);
  const { troubles } = await checkFiles(production, program());
  await chown(file, 0, 0);
  assert.match(String(troubles), /gateway\/main\.ts does not belong to root: chown -h root/);
});

test("a manifest that was changed to fit the files is not this installation's", async () => {
  await signFiles(session(), program());
  const { files, ...rest } = JSON.parse(await readFile(place(), "utf8"));

  await write("gateway/main.ts", "steal()");
  const forged = { ...files };
  delete forged["gateway/main.ts"];
  await writeFile(place(), JSON.stringify({ ...rest, files: forged }));

  assert.deepEqual(await troublesOf(), [
    "Its signature is not this installation's: it was changed.",
  ]);
});
