/**
 * Long lists of card ranges, from a directory server over TLS into a real database and back into
 * memory. The process answers all other requests during the work, and an incomplete list changes
 * nothing.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { writeXml } from "@tollgate/protocols/threeds102";
import { systemClock } from "../values/time.ts";
import { startWorkerThread } from "../worker-threads/worker-thread.ts";
import type { ReaderReply, ReaderRequest } from "./range-reader.ts";
import { type Received, type SentRange, writeErro, writePRes } from "./testing/network.ts";
import { dayMs, findCard, rangeOf, useDatabase } from "./testing/nodes.ts";

const { administration, start } = useDatabase();

/** Ranges of every second thousand cards, from this number on. */
function rangesOf(first: number, count: number): readonly SentRange[] {
  return Array.from({ length: count }, (_, at) => {
    const prefix = String(first + 2 * at);
    return [`${prefix}000`, `${prefix}999`];
  });
}

const [early, late] = [4_000_000_000_000, 5_000_000_000_000];
const cardOf = (first: number, at: number) => `${first + 2 * at}001`;

test("40,000 ranges hold the event loop for milliseconds only, and count all at once", async (t) => {
  const { network, directories, clock } = await start(t);
  network.answer = ({ text }) => writePRes(text, rangesOf(early, 10));
  await directories.refresh();
  clock.move(dayMs);
  await administration().refresh("a");
  network.answer = (request) => inParts(request, late, 40_000);

  let isDone = false;
  const refreshed = directories.refresh().finally(() => {
    isDone = true;
  });
  const turnMs = await longestTurnMs(() => {
    const [old, first, last] = [cardOf(early, 1), cardOf(late, 0), cardOf(late, 39_999)];
    const found = [old, first, last].map((card) => findCard(directories, card) !== undefined);
    assert.ok(["true,false,false", "false,true,true"].includes(found.join()), found.join());
    return !isDone;
  });
  await refreshed;

  assert.equal(directories.countRanges(), 40_000);
  assert.equal(findCard(directories, cardOf(late, 25_432))?.version, "2.2.0");
  assert.equal(findCard(directories, `${late + 1}001`), undefined);
  t.diagnostic(`the longest turn took ${turnMs} ms`);
  assert.ok(turnMs < 20, `${turnMs} ms`);
});

test("a long list of changes is applied to the ranges that are stored", async (t) => {
  const { network, directories, clock, openNode } = await start(t);
  network.answer = (request) => inParts(request, early, 3_000);
  await directories.refresh();
  clock.move(dayMs);
  const changed = rangesOf(early, 3_000).map(([start, end], at): SentRange => {
    return [start, end, at % 3 === 0 ? "D" : "M"];
  });
  network.answer = ({ text }) => writePRes(text, [...changed, ...rangesOf(late, 1_000)], "2");

  await directories.refresh();
  const other = await openNode();

  for (const node of [directories, other]) {
    assert.equal(node.countRanges(), 3_000);
    const found = [0, 1, 2, 3].map((at) => findCard(node, cardOf(early, at)) !== undefined);
    assert.deepEqual(found, [false, true, true, false]);
    assert.ok(findCard(node, cardOf(late, 999)));
  }
  assert.match(network.received.at(-1)?.text ?? "", /"serialNum":"1"/);
});

test("a long list in the shape of 2.3.1 is read, but not one whose ranges overlap", async (t) => {
  const { network, directories, warned } = await start(t);
  network.answer = ({ text }) => write231(text, rangesOf(early, 2_000));
  await directories.refresh();
  await administration().refresh("a");
  network.answer = ({ text }) => write231(text, [...rangesOf(late, 2_000), rangeOf("5")]);
  await directories.refresh();

  assert.equal(directories.countRanges(), 2_000);
  assert.equal(findCard(directories, cardOf(early, 7))?.version, "2.3.1");
  assert.match(warned.join(), /the PRes is invalid: 205 cardRangeData/);
});

test("a long list of 1.0.2 is read as well", async (t) => {
  const { network, directories, put } = await start(t, []);
  await put(network.server("a", { url102: `${network.url}/older` }));
  await directories.reload();
  const cardRanges = rangesOf(early, 5_000).map(([begin, end]) => ({
    begin,
    end,
    action: "A" as const,
  }));
  network.answer = () => writeXml("CRRes", { messageId: "1", cardRanges, serialNumber: "1" });

  await directories.refresh();

  assert.equal(directories.countRanges(), 5_000);
  assert.equal(findCard(directories, cardOf(early, 4_999))?.version, "1.0.2");
});

test("a node that stops while it reads a long list leaves it to another node", async (t) => {
  const { network, directories, openNode } = await start(t);
  const { promise: answered, resolve: onAnswered } = Promise.withResolvers<void>();
  network.answer = function* (request) {
    yield* inParts(request, late, 20_000);
    if (!isNewest(request)) onAnswered();
  };
  const refreshed = directories.refresh();
  await answered;

  await directories.stop();
  await refreshed;
  const other = await openNode();
  const before = other.countRanges();
  await other.refresh();

  assert.deepEqual([before, other.countRanges()], [0, 20_000]);
});

test("a thread that has read nothing has no ranges to store, not an empty list", async (t) => {
  const thread = startWorkerThread<ReaderRequest, ReaderReply>({
    file: new URL("./range-reader-thread.ts", import.meta.url),
    inFlightMax: 1,
    replyWithinMs: 60_000,
    clock: systemClock,
    onLost: assert.fail,
  });
  t.after(thread.stop);

  const reply = await thread.ask({ list: "put", from: 0 });

  assert.deepEqual(reply, { kind: "invalid", cause: "the thread has no ranges" });
});

const pieces = (request: Received) => [...inParts(request, late, 5_000)];

// biome-ignore format: a table
const broken: readonly (readonly [what: string, answer: (request: Received) => Iterable<string | undefined>, cause: RegExp])[] = [
  ["it ends too early",         (request) => pieces(request).slice(0, -1),                                       /the PRes is invalid: 101 not JSON/],
  ["a part of it is missing",   (request) => pieces(request).toSpliced(2, 1, "{"),                               /the PRes is invalid: 101 not JSON/],
  ["a range in it is invalid",  (request) => pieces(request).map((part, at) => at === 3 ? part?.replace('"startRange":"5', '"startRange":"x') : part), /the PRes is invalid: 203 cardRangeData/],
  ["the connection breaks",     (request) => [...pieces(request).slice(0, 3), undefined],                        /aborted/],
  ["it is too long",            function* ({ text }) { const part = writePRes(text, rangesOf(late, 5_000)); for (let mib = 0; mib < 129; mib += 1) yield part.slice(0, 1024 * 1024).padEnd(1024 * 1024); }, /the answer is too long/],
];

test("a list that is broken anywhere leaves the ranges that were there", async (t) => {
  const { network, directories, clock, warned } = await start(t);
  network.answer = ({ text }) => writePRes(text, rangesOf(early, 10));
  await directories.refresh();
  for (const [what, answer, cause] of broken) {
    warned.length = 0;
    clock.move(dayMs);
    await administration().refresh("a");
    network.answer = (request) =>
      isNewest(request) ? writeErro(request.text, "102") : answer(request);
    await directories.refresh();

    assert.match(warned.join(), cause, what);
    assert.equal(directories.countRanges(), 10, what);
    assert.ok(findCard(directories, cardOf(early, 9)), what);
  }
});

/**
 * Measures the processor time that this thread spent in one turn of its event loop, without other
 * threads.
 */
async function longestTurnMs(goesOn: () => boolean): Promise<number> {
  let [longest, last] = [0, process.threadCpuUsage()];
  while (goesOn()) {
    await setTimeout(1);
    const { user, system } = process.threadCpuUsage(last);
    longest = Math.max(longest, (user + system) / 1000);
    last = process.threadCpuUsage();
  }
  return longest;
}

/** A PRes of 2.2.0. A few ranges are written at a time, because this thread writes them too. */
function* inParts(request: Received, first: number, count: number): Iterable<string> {
  const whole = writePRes(request.text, rangesOf(first, 1));
  if (isNewest(request)) {
    yield whole;
    return;
  }
  const [head = ""] = /^.*"cardRangeData":\[/.exec(whole) ?? [];
  yield head;
  for (let at = 0; at < count; at += 250) {
    const part = writePRes(request.text, rangesOf(first + 2 * at, Math.min(250, count - at)));
    yield (at === 0 ? "" : ",") + part.slice(head.length, -"]}".length);
  }
  yield "]}";
}

function isNewest({ text }: Received): boolean {
  return JSON.parse(text).messageVersion === "2.3.1";
}

function write231(preq: string, ranges: readonly SentRange[]): string {
  const { messageVersion, threeDSServerTransID } = JSON.parse(preq);
  const cardRangeData = ranges.map(([start, end]) => ({
    ranges: [{ start, end }],
    actionInd: "A",
    dsProtocolVersions: ["2.2.0", "2.3.1"],
    acsProtocolVersions: [{ version: "2.3.1", acsInfoInd: ["01"] }],
  }));
  const ids = { threeDSServerTransID, dsTransID: "8a880dc0-d2d2-4067-bcb1-b08d1690b26e" };
  return JSON.stringify({
    messageType: "PRes",
    messageVersion,
    ...ids,
    serialNum: "1",
    cardRangeData,
  });
}
