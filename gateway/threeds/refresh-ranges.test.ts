/**
 * Card ranges from directory servers into a real database and back: repeated, refused and broken
 * answers, and how often ranges are requested.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { writeXml } from "@tollgate/protocols/threeds102";
import { versionOf, writeErro, writePRes } from "./testing/network.ts";
import { dayMs, findCard, rangeOf, untilReceived, useDatabase } from "./testing/nodes.ts";

const { administration, start } = useDatabase();

test("a range that is told twice is stored once, as it was told last", async (t) => {
  const { network, directories } = await start(t, ["a"]);
  network.answer = ({ text }) =>
    writePRes(text, [
      ["4000000000000000", "4000009999999999"],
      ["4000000000000000", "4000009999999999"],
      // The same range, written with nineteen digits.
      ["4000000000000000000", "4000009999999999999"],
      ["5000000000000000", "5000009999999999"],
      ["5000000000000000", "5000009999999999", "D"],
    ]);

  await directories.refresh();

  assert.equal(findCard(directories, "4000000000000002")?.directory, "a");
  assert.equal(findCard(directories, "5000000000000009"), undefined);
});

test("a range of 1.0.2 that is told twice is stored as well", async (t) => {
  const { network, directories, put } = await start(t, []);
  await put(network.server("a", { url102: `${network.url}/older` }));
  await directories.reload();
  network.answer = () => crRes("5000000000000000", "5000000000000000");

  await directories.refresh();

  assert.equal(findCard(directories, "5000000000000009")?.version, "1.0.2");
});

test("one that breaks does not keep the others from being refreshed", async (t) => {
  const { network, directories, warned } = await start(t, ["a", "b"], {
    wrap: (store) => ({
      ...store,
      save: async (lease, ...rest) => {
        if (lease.directory === "a") throw new Error("the disk is full");
        return store.save(lease, ...rest);
      },
    }),
  });
  network.answer = ({ text }) => writePRes(text, [rangeOf("50")]);

  await directories.refresh();

  assert.equal(findCard(directories, "5000000000000009")?.directory, "b");
  assert.match(warned.join("\n"), /a: .*the disk is full/);
});

test("after failures it is asked more and more seldom, in each protocol by itself", async (t) => {
  const { network, directories, clock, put } = await start(t, []);
  const older = { url: `${network.url}/newer`, url102: `${network.url}/older` };
  await put(network.server("a", older));
  await directories.reload();
  network.answer = ({ path }) => (path === "/older" ? crRes("5000000000000000") : undefined);
  const gaps: number[] = [];

  let last = 0;
  for (let seconds = 0; seconds <= 3 * 3_600; seconds += 15) {
    const before = network.received.length;
    await directories.refresh();
    if (network.received.slice(before).some(({ path }) => path === "/newer")) {
      gaps.push(seconds - last);
      last = seconds;
    }
    clock.move(15_000);
  }

  assert.deepEqual(gaps, [0, 30, 60, 120, 300, 900, 3_600, 3_600]);
  assert.equal(network.received.filter(({ path }) => path === "/older").length, 1);
});

test("one that was asked too often is left alone for an hour", async (t) => {
  const { network, directories, clock } = await start(t, ["a"]);
  network.answer = ({ text }) => writeErro(text, "103");

  for (let minute = 0; minute < 60; minute += 1) {
    await directories.refresh();
    clock.move(60_000);
  }
  const within = network.received.length;
  await directories.refresh();

  assert.deepEqual([within, network.received.length], [1, 2]);
});

test("the version that was answered is the first to be tried next time", async (t) => {
  const { network, directories, clock } = await start(t, ["a"]);
  network.answer = (request) =>
    versionOf(request) === "2.1.0" ? writePRes(request.text, []) : writeErro(request.text, "102");
  await directories.refresh();

  clock.move(dayMs);
  await directories.refresh();
  await administration().refresh("a");
  await directories.refresh();

  const versions = network.received.map(versionOf);
  assert.deepEqual(versions, ["2.3.1", "2.2.0", "2.1.0", "2.1.0", "2.3.1", "2.2.0", "2.1.0"]);
});

test("while one node asks, no other does, however long it takes", async (t) => {
  const { network, directories, clock, openNode } = await start(t, ["a"]);
  network.answer = ({ text }) => writePRes(text, [rangeOf("40")]);
  await directories.refresh();
  clock.move(dayMs);
  const other = await openNode();

  // Every version is refused, then the serial number, and then every version again.
  const errors = ["102", "102", "307", "102", "102"];
  let [asking, atOnceMax] = [0, 0];
  network.answer = async ({ text }) => {
    asking += 1;
    atOnceMax = Math.max(asking, atOnceMax);
    clock.move(6_900);
    await other.refresh();
    asking -= 1;
    const error = errors.shift();
    return error === undefined ? writePRes(text, []) : writeErro(text, error);
  };
  await directories.refresh();

  assert.deepEqual([errors.length, atOnceMax], [0, 1]);
});

test("what was asked before the settings changed is not stored after", async (t) => {
  const { network, directories, put } = await start(t, ["a"]);
  const { promise: slow, resolve: respond } = Promise.withResolvers<void>();
  network.answer = async ({ text }) => {
    await slow;
    return writePRes(text, [rangeOf("40")]);
  };
  const asking = directories.refresh();
  await untilReceived(network, 1);

  await put(network.server("a", { url: `${network.url}/elsewhere` }));
  respond();
  await asking;

  assert.equal(findCard(directories, "4000000000000002"), undefined);
});

function crRes(...begins: readonly string[]): string {
  const end = "5099999999999999";
  const cardRanges = begins.map((begin) => ({ begin, end, action: "A" as const }));
  return writeXml("CRRes", { messageId: "1", cardRanges, serialNumber: "1" });
}
