/** Rotation with two writers, compression, retention, and a log that cannot be written. */
import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { asInstant } from "../values/time.ts";
import { openRotatingLog } from "./log-file.ts";

const dayMs = 86_400_000;
const start = Date.parse("2026-11-16T12:00:00Z");

test("no line is lost while two processes write and the file rotates", async (t) => {
  const { path, folder } = await makePlace(t);
  const writers = [1, 2].map(() => open(t, path, { bytesMax: 20_000 }));

  for (let round = 0; round < 60; round += 1) {
    for (const [index, writer] of writers.entries()) {
      for (let at = 0; at < 20; at += 1)
        writer.write(`${index}-${round * 20 + at} ${"x".repeat(40)}\n`);
      await writer.look();
    }
    await new Promise(setImmediate);
  }
  for (const writer of writers) await writer.stop();

  const files = await readdir(folder);
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), "utf8")));
  const lines = texts.join("").trimEnd().split("\n");
  assert.ok(files.length > 2, `${files.length} files`);
  assert.equal(lines.length, 2400);
  assert.equal(new Set(lines.map((line) => line.split(" ")[0])).size, 2400);
});

test("a new day begins a new file; old ones are compressed, and deleted after their days", async (t) => {
  const { path, folder } = await makePlace(t);
  let now = start;
  await writeFile(path, "yesterday\n");
  await utimes(path, start / 1000, (start - dayMs) / 1000);
  const log = open(t, path, { keepDays: 30, clock: { now: () => asInstant(now) } });
  await new Promise((ready) => log.once("ready", ready));

  await log.look();
  log.write("today\n");
  while ((await readFile(path, "utf8").catch(() => "")) !== "today\n") log.flush();
  await log.tidy();
  const [rotated = ""] = (await readdir(folder)).filter((name) => name.endsWith(".gz"));
  assert.match(rotated, /^gateway-20261116T120000000Z-\d+\.log\.gz$/);
  assert.equal(String(gunzipSync(await readFile(join(folder, rotated)))), "yesterday\n");
  assert.equal(await readFile(path, "utf8"), "today\n");
  for (const file of [path, join(folder, rotated)]) {
    assert.equal((await stat(file)).mode & 0o007, 0, `others cannot read ${file}`);
  }

  now = start + 28 * dayMs;
  await log.tidy();
  assert.ok((await readdir(folder)).includes(rotated));
  now = start + 30 * dayMs;
  await log.tidy();
  assert.deepEqual(await readdir(folder), ["gateway.log"]);
});

test("a log that cannot be written ends nothing, and its lines are kept", async (t) => {
  const dropped: number[] = [];
  const log = open(t, "/dev/full", { onDropped: (count) => dropped.push(count) });
  await new Promise((ready) => log.once("ready", ready));
  const failed = new Promise((fail) => log.once("error", fail));
  const line = `${"x".repeat(1_000_000)}\n`;

  for (let count = 0; count < 10; count += 1) log.write(line);
  assert.match(String(await failed), /ENOSPC/);

  await log.look().catch(() => undefined);
  assert.deepEqual(dropped, []);
  await log.stop();
});

test("a log whose folder does not exist ends nothing, neither at the start nor at the stop", async (t) => {
  const log = open(t, "/nowhere/gateway.log", {});

  log.write("a line\n");
  await log.stop();
});

async function makePlace(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-log-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return { folder, path: join(folder, "gateway.log") };
}

function open(
  t: TestContext,
  path: string,
  options: Partial<Parameters<typeof openRotatingLog>[1]>,
) {
  const log = openRotatingLog(path, { bytesMax: 1_000_000, keepDays: 30, ...options });
  t.after(() => log.stop());
  return log;
}
