/**
 * Two nodes know an order. One that slept too long with it, like a machine that is moved, must not
 * undo what another node has done since; and one that was only notified of it must not take it from
 * the node that runs it.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  payAt,
  readEnd,
  readEvents,
  readStage,
  type SecureWorld,
  startSecureWorld,
  whileNobodyWrites,
} from "../support/crash-payments.ts";
import { shortLease } from "../support/crash-world.ts";
import { cards } from "../support/threeds.ts";
import { until, untilTrue } from "../support/until.ts";

test("a node that slept while another asked for a challenge does not pay without it", async (t) => {
  const world = await startSecureWorld(t);
  const sleeper = await world.startNode({ GW_NODE_NAME: "sleeper", ...shortLease });
  const right = await world.startNode({ GW_NODE_NAME: "right" });
  await Promise.all([sleeper.untilReady(), right.untilReady()]);
  world.results.leadTo(right.resultsPort);
  await world.secureBank.setSwitches({ directoryDown: true });
  const isAsked = watchDirectory(world);
  const asleep = payAt(world, sleeper);
  const order = await asleep.begin(cards.challenge);
  await asleep.tellMethod(order);

  await untilTrue("the directory server is asked", isAsked);
  sleeper.child.kill("SIGSTOP");
  await world.secureBank.setSwitches({ directoryDown: false });
  const pay = payAt(world, right);
  await pay.untilStep(order, "CReqForm");
  sleeper.child.kill("SIGCONT");
  await until("the sleeper has told what it thinks", async () => {
    const events = await readEvents(world, order);
    return events.at(-1)?.kind === "challenge_requested" ? undefined : true;
  });

  assert.equal(await readStage(world, order["merchant-order-id"]), "awaiting_challenge");
  await pay.pass(order);
  const { status, verified } = await readEnd(world, right, order);
  assert.deepEqual({ status, verified }, { status: "approved", verified: "AUTHENTICATED" });
});

test("a killed node that was notified of another node's payment does not undo it", async (t) => {
  const world = await startSecureWorld(t);
  const names = ["left", "right"] as const;
  const left = await world.startNode({ GW_NODE_NAME: "left" });
  const right = await world.startNode({ GW_NODE_NAME: "right" });
  await Promise.all([left.untilReady(), right.untilReady()]);
  const order = await payAt(world, left).begin(cards.challengeNoMethod);
  const cres = await payAt(world, left).passOnly(order);
  world.proxies.acquirer.hold();

  const told = await whileNobodyWrites(world, () =>
    [left, right].map((node) => payAt(world, node).uploadCres(order, cres)),
  );
  await Promise.all(told);
  const events = await readEvents(world, order);
  const isLeft = events.find(({ kind }) => kind === "challenge_returned")?.node === "left";
  await (isLeft ? right : left).kill();
  await world.startNode({ GW_NODE_NAME: names[isLeft ? 1 : 0] });
  world.proxies.acquirer.release();

  const { status, charges } = await readEnd(world, isLeft ? left : right, order);
  assert.deepEqual({ status, charges }, { status: "approved", charges: 1 });
});

/**
 * Returns whether a request has been sent since: it is longer than everything else after the
 * handshake.
 */
function watchDirectory({ proxies }: SecureWorld): () => boolean {
  let isAsked = false;
  const isRequest = (piece: Buffer) => {
    isAsked ||= piece[0] !== tlsHandshake && piece.length > 1_500;
    return false;
  };
  const nothing = { isAnswer: () => false, spring: () => undefined };
  proxies.directory.set({ moment: "before", isRequest, ...nothing });
  return () => isAsked;
}

const tlsHandshake = 0x16;
