/** Directory servers and their configuration: changes, and files that are missing or unusable. */
import assert from "node:assert/strict";
import { readFile, rename, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { writePRes } from "./testing/network.ts";
import { dayMs, findCard, rangeOf, untilReceived, useDatabase } from "./testing/nodes.ts";

const { start } = useDatabase();

test("a reload that fails changes nothing and is not the end of reloads", async (t) => {
  let isBroken = false;
  const { directories, warned, put, network } = await start(t, ["a"], {
    wrap: (store) => ({
      ...store,
      stamps: () => (isBroken ? Promise.reject(new Error("no database")) : store.stamps()),
    }),
  });
  isBroken = true;
  await directories.reload();
  assert.deepEqual(warned, ["refresh: Error: no database"]);
  assert.equal(directories.list().length, 1);

  isBroken = false;
  await put(network.server("b"));
  await directories.reload();

  assert.equal(directories.list().length, 2);
});

test("ranges are read again only when they have changed", async (t) => {
  const reads: string[] = [];
  const { network, directories, clock } = await start(t, ["a", "b"], {
    wrap: (store) => ({
      ...store,
      readRanges: (directory, protocol, take) => {
        reads.push(directory + protocol);
        return store.readRanges(directory, protocol, take);
      },
    }),
  });
  network.answer = ({ text }) => writePRes(text, [rangeOf("40")]);
  await directories.refresh();
  reads.length = 0;

  await directories.reload();
  network.answer = ({ text, path }) => writePRes(text, path === "/a" ? [rangeOf("41")] : []);
  clock.move(dayMs);
  await directories.refresh();

  assert.deepEqual(reads, ["a2"]);
  assert.equal(findCard(directories, "4100000000000001")?.directory, "a");
});

test("an answer that is under way comes, though the settings change meanwhile", async (t) => {
  const { network, directories, put } = await start(t, ["a"]);
  const { promise: slow, resolve: respond } = Promise.withResolvers<string>();
  network.answer = () => slow;
  const question = { contentType: "a/b", body: "AReq", answerBytesMax: 100, timeoutMs: 5_000 };
  const waiting = directories.find("a")?.send(network.url, question);
  await untilReceived(network, 1);

  await put(network.server("a", { url: `${network.url}/elsewhere` }));
  await directories.reload();
  respond("ARes");

  assert.equal(await waiting, "ARes");
});

test("one whose files cannot be read keeps its cards, and is asked when they can", async (t) => {
  const { network, directories, openNode } = await start(t, ["a"]);
  network.answer = ({ text }) => writePRes(text, [rangeOf("40")]);
  await directories.refresh();
  const file = network.certificates.pathOf("gateway.key");
  await rename(file, `${file}.away`);

  const other = await openNode();
  const enrolment = findCard(other, "4000000000000002");
  const question = { contentType: "a/b", body: "AReq", answerBytesMax: 100, timeoutMs: 5_000 };
  const before = network.received.length;
  const answer = await other.find("a")?.send(network.url, question);
  const received = network.received.length - before;
  await rename(`${file}.away`, file);
  await other.refresh();
  network.answer = () => "ARes";

  assert.equal(enrolment?.directory, "a");
  assert.deepEqual([answer, received], [undefined, 0]);
  assert.equal(await other.find("a")?.send(network.url, question), "ARes");
});

test("files that have become useless leave one as it was", async (t) => {
  const { network, directories } = await start(t, ["a"]);
  const file = network.certificates.pathOf("gateway.pem");
  const known = directories.find("a");
  const kept = await readFile(file);
  await writeFile(file, "half of a certifi");

  await directories.reload();

  assert.equal(directories.find("a"), known);
  await writeFile(file, kept);
});

test("readings of the servers and what follows them go one after the other", async (t) => {
  const { directories } = await start(t, ["a"]);
  const order: string[] = [];
  const { promise: held, resolve: goOn } = Promise.withResolvers<void>();

  const first = directories.reload(async () => {
    await held;
    order.push("first");
  });
  const second = directories.reload(async () => void order.push("second"));
  goOn();
  await Promise.all([first, second]);

  assert.deepEqual(order, ["first", "second"]);
});
