/** Directory servers as they are configured: changes, files that are missing or of no use. */
import assert from "node:assert/strict";
import { readFile, rename, writeFile } from "node:fs/promises";
import { after, before, beforeEach, test } from "node:test";
import { TestClock } from "../../acquirers/iso8583-host/testing/test-clock.ts";
import { makeRangeStore } from "../../storage/card-ranges.ts";
import type { Database } from "../../storage/database.ts";
import { loadDirectories, makeDirectoryAdministration } from "../../storage/directories.ts";
import { startDatabase } from "../../storage/testing/database-for-tests.ts";
import type { RangeStore } from "./range-store.ts";
import { writePRes } from "./testing/network.ts";
import { dayMs, findCard, rangeOf, startNodes, untilHeard } from "./testing/nodes.ts";

let database: Database;
let stop = async (): Promise<void> => undefined;

before(async () => {
  ({ database, stop } = await startDatabase());
});
after(() => stop());
beforeEach(async () => {
  const { remove } = makeDirectoryAdministration(database.query);
  for (const { name } of await loadDirectories(database.query)) await remove(name);
});

test("an update that fails is not the end of updates", async (t) => {
  let isBroken = true;
  const { directories, servers } = await start(t, ["a"], {
    wrap: (store) => ({
      ...store,
      stamps: () => (isBroken ? Promise.reject(new Error("no database")) : store.stamps()),
    }),
    isUpdated: false,
  });
  await assert.rejects(directories.update(servers), /no database/);

  isBroken = false;
  await directories.update(servers);

  assert.equal(directories.list().length, 1);
});

test("ranges are read again only when they have changed", async (t) => {
  const reads: string[] = [];
  const { network, directories, servers, clock } = await start(t, ["a", "b"], {
    wrap: (store) => ({
      ...store,
      list: (directory, protocol) => {
        reads.push(directory + protocol);
        return store.list(directory, protocol);
      },
    }),
  });
  network.answer = ({ text }) => writePRes(text, [rangeOf("40")]);
  await directories.refresh();
  reads.length = 0;

  await directories.update(servers);
  network.answer = ({ text, path }) => writePRes(text, path === "/a" ? [rangeOf("41")] : []);
  clock.move(dayMs);
  await directories.refresh();

  assert.deepEqual(reads, ["a2"]);
  assert.equal(findCard(directories, "4100000000000001")?.directory, "a");
});

test("an answer that is under way comes, though the settings change meanwhile", async (t) => {
  const { network, directories } = await start(t, ["a"]);
  const { promise: slow, resolve: letGo } = Promise.withResolvers<string>();
  network.answer = () => slow;
  const question = { contentType: "a/b", body: "AReq", answerBytesMax: 100, timeoutMs: 5_000 };
  const waiting = directories.find("a")?.ask(network.url, question);
  await untilHeard(network, 1);

  await directories.update([network.server("a", { url: `${network.url}/elsewhere` })]);
  letGo("ARes");

  assert.equal(await waiting, "ARes");
});

test("one whose files cannot be read keeps its cards, and is asked when they can", async (t) => {
  const { network, directories, makeOther } = await start(t, ["a"]);
  network.answer = ({ text }) => writePRes(text, [rangeOf("40")]);
  await directories.refresh();
  const file = network.certificates.pathOf("gateway.key");
  await rename(file, `${file}.away`);

  const other = await makeOther();
  const enrolment = findCard(other, "4000000000000002");
  const question = { contentType: "a/b", body: "AReq", answerBytesMax: 100, timeoutMs: 5_000 };
  const asked = network.heard.length;
  const answer = await other.find("a")?.ask(network.url, question);
  const heard = network.heard.length - asked;
  await rename(`${file}.away`, file);
  await other.refresh();
  network.answer = () => "ARes";

  assert.equal(enrolment?.directory, "a");
  assert.deepEqual([answer, heard], [undefined, 0]);
  assert.equal(await other.find("a")?.ask(network.url, question), "ARes");
});

test("files that have become useless leave one as it was", async (t) => {
  const { network, directories, servers } = await start(t, ["a"]);
  const file = network.certificates.pathOf("gateway.pem");
  const known = directories.find("a");
  const kept = await readFile(file);
  await writeFile(file, "half of a certifi");

  await directories.update(servers);

  assert.equal(directories.find("a"), known);
  await writeFile(file, kept);
});

async function start(
  t: Parameters<typeof startNodes>[0],
  names: readonly string[],
  more: { readonly wrap?: (store: RangeStore) => RangeStore; readonly isUpdated?: boolean } = {},
) {
  const clock = new TestClock();
  const load = () => loadDirectories(database.query);
  const { put } = makeDirectoryAdministration(database.query);
  const kept = { put, load, store: makeRangeStore(database, clock) };
  return { clock, ...kept, ...(await startNodes(t, { kept, clock, names, ...more })) };
}
