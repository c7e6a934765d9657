/** The trees of a comparison are those of the commit and of the unchanged working tree. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Ended } from "./plan.ts";
import { layOutTrees } from "./trees.ts";

test("a clean tree is laid out beside the earlier commit", (t) => {
  const { repository, folder, git } = makeRepository(t);

  const { earlier, now, isDirty } = layOutTrees(repository, "HEAD~1", folder);

  assert.equal(isDirty, false);
  assert.equal(read(earlier.folder, "gateway.ts"), "first");
  assert.equal(read(now.folder, "gateway.ts"), "second");
  assert.equal(earlier.name, git("rev-parse", "--short", "HEAD~1"));
  assert.deepEqual([earlier.sharesPackages, now.sharesPackages], [true, true]);
});

test("changes and new files belong to a dirty tree, and the repository stays as it is", (t) => {
  const { repository, folder, git } = makeRepository(t);
  writeFileSync(join(repository, "gateway.ts"), "third");
  writeFileSync(join(repository, "new.ts"), "new");
  writeFileSync(join(repository, "package-lock.json"), "{ }");
  const [status, objects] = [git("status", "--porcelain"), git("count-objects")];

  const { earlier, now, isDirty } = layOutTrees(repository, "HEAD", folder);

  assert.equal(isDirty, true);
  assert.equal(read(now.folder, "gateway.ts"), "third");
  assert.equal(read(now.folder, "new.ts"), "new");
  assert.equal(read(earlier.folder, "gateway.ts"), "second");
  assert.equal(earlier.sharesPackages, false);
  assert.deepEqual([git("status", "--porcelain"), git("count-objects")], [status, objects]);
});

test("an unknown commit, an option as commit, and a folder without git end with a sentence", (t) => {
  const { repository, folder } = makeRepository(t);

  for (const commit of ["nonsense", "--all", "HEAD:gateway.ts"]) {
    assert.throws(() => layOutTrees(repository, commit, folder), Ended, commit);
  }
  assert.throws(() => layOutTrees(folder, "HEAD", folder), /not a git repository/);
});

function makeRepository(t: TestContext) {
  const place = mkdtempSync(join(tmpdir(), "tollgate-trees-"));
  t.after(() => rmSync(place, { recursive: true }));
  const [repository, folder] = [join(place, "repository"), join(place, "trees")];
  mkdirSync(repository);
  const author = ["-c", "user.name=t", "-c", "user.email=t@example.com"];
  const git = (...parameters: readonly string[]) =>
    execFileSync("git", ["-C", repository, ...author, ...parameters], { encoding: "utf8" }).trim();
  git("init", "--quiet");
  writeFileSync(join(repository, "package-lock.json"), "{}");
  for (const content of ["first", "second"]) {
    writeFileSync(join(repository, "gateway.ts"), content);
    git("add", "--all");
    git("commit", "--quiet", "--message", content);
  }
  return { repository, folder, git };
}

function read(folder: string, file: string): string {
  return readFileSync(join(folder, file), "utf8");
}
