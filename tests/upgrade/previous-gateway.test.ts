/**
 * A gateway from before the newest migration, from the repository's own history, runs with the
 * schema of this version, as in an update in which nodes are replaced one by one.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { assertBooksAgree, readRows } from "../support/books.ts";
import { atEnd, type Test } from "../support/clean-up.ts";
import { startCrashWorld } from "../support/crash-world.ts";
import { startLoad } from "../support/load.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");
const schema = "gateway/storage/schema";
const migrations = [`:(glob)${schema}/*-[0-9]*.sql`, `:(exclude,glob)${schema}/*-0001-schema.sql`];

const commit = await findPrevious();
const skip =
  commit === undefined && "no migration or no history here, or the packages have changed since";

test("a gateway from before the newest migration accepts payments with the new schema", {
  skip,
}, async (t) => {
  const folder = await extract(t, commit ?? "");
  const world = await startCrashWorld(t);
  const applied = await listApplied(world.databaseUrl);
  const known = await listMigrations(folder);

  const old = await world.startNode({ GW_NODE_NAME: "old" }, join(folder, "gateway/cli/gw.ts"));
  const current = await world.startNode({ GW_NODE_NAME: "new" });
  await Promise.all([old.untilReady(), current.untilReady()]);
  let turn = 0;
  const url = () => {
    turn += 1;
    return turn % 2 === 0 ? old.url : current.url;
  };
  const merchants = { set: world.set, url };
  const paying = startLoad(t, { ...merchants, clients: 4, sales: 60 });
  await paying.finish();

  const unknown = (await listMigrations(root)).filter((name) => !known.includes(name));
  assert.ok(unknown.length > 0, "the older gateway knows every migration");
  for (const name of unknown) assert.ok(applied.includes(name), `${name} is not applied`);
  await assertBooksAgree({ ...world, ...merchants }, paying);
  const writers = await readRows<{ node: string }>(
    world.databaseUrl,
    "select distinct node from order_history order by node",
  );
  assert.deepEqual(
    writers.map(({ node }) => node),
    ["new", "old"],
  );
});

/**
 * Returns the parent of the commit that added the newest migration. Its packages must be installed
 * here.
 */
async function findPrevious(): Promise<string | undefined> {
  const added = ["log", "-1", "--diff-filter=A", "--format=%H^", "--", ...migrations];
  try {
    const commit = await git("rev-parse", "--verify", await git(...added));
    const { dependencies } = JSON.parse(await git("show", `${commit}:gateway/package.json`));
    for (const [name, wanted] of Object.entries(dependencies)) {
      const place = join(root, "node_modules", name, "package.json");
      const { version } = JSON.parse(await readFile(place, "utf8"));
      if (version !== wanted) return undefined;
    }
    return commit;
  } catch {
    return undefined;
  }
}

async function git(...words: readonly string[]): Promise<string> {
  return (await run("git", [...words], { cwd: root })).stdout.trim();
}

/**
 * Extracts the commit. Its own packages are the commit's, and all others those of this
 * installation.
 */
async function extract(t: Test, commit: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-previous-"));
  atEnd(t, () => rm(folder, { recursive: true, force: true }));
  await run("sh", ["-c", `git archive ${commit} | tar -x -C "$0"`, folder], { cwd: root });
  const [theirs, ours] = [join(root, "node_modules"), join(folder, "node_modules")];
  await mkdir(join(ours, "@tollgate"), { recursive: true });
  for (const name of await readdir(theirs)) {
    if (name !== "@tollgate") await symlink(join(theirs, name), join(ours, name));
  }
  for (const name of await readdir(join(theirs, "@tollgate"))) {
    const place = await readlink(join(theirs, "@tollgate", name));
    await symlink(place, join(ours, "@tollgate", name));
  }
  return folder;
}

async function listApplied(databaseUrl: string): Promise<readonly string[]> {
  const rows = await readRows<{ name: string }>(
    databaseUrl,
    `select 'main-' || name as name from migrations
     union all select 'cell-' || name from public.cell_migrations`,
  );
  return rows.map(({ name }) => name);
}

async function listMigrations(folder: string): Promise<readonly string[]> {
  return (await readdir(join(folder, schema))).filter((name) => /^\w+-\d{4}-/.test(name));
}
