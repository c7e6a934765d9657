/**
 * The gateway is killed at each point of a payment with 3-D Secure: before and after each commit,
 * before a directory server is asked, and before and after the charge reaches the bank. The next
 * gateway continues from there, and charges once with the CVV, or not at all.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { bankMessage, type Moment, orderChange, statement } from "../support/bank/trap-proxy.ts";
import {
  countPending,
  payAt,
  payToTheEnd,
  readEnd,
  readStage,
  startSecureWorld,
  untilNothingHeld,
} from "../support/crash-payments.ts";
import type { Node } from "../support/crash-world.ts";
import { saleFields } from "../support/merchant.ts";
import { isLongRun, rowsOf, testInLongRun } from "../support/series.ts";
import { cards } from "../support/threeds.ts";
import { untilTrue } from "../support/until.ts";

const world = await startSecureWorld({ after });

/** Pending card data that expires before the last test looks for it. */
const brief = {
  GW_METHOD_DEADLINE_S: "7",
  GW_CHALLENGE_DEADLINE_S: "7",
  GW_PARES_DEADLINE_S: "7",
  GW_RESULT_WAIT_S: "3",
  GW_RESULT_GRACE_S: "3",
  GW_PROCESSING_DEADLINE_S: "7",
};

const verified = "AUTHENTICATED";
// biome-ignore format: a table
const ends = {
  paid:      { status: "approved", code: undefined, verified, charges: 1, cvv: "123" },
  // It is unknown whether the charge was sent, so it was reversed.
  unsent:    { status: "error",    code: "5003",    verified, charges: 0, cvv: undefined },
  takenBack: { status: "error",    code: "5003",    verified, charges: 1, cvv: "123" },
};

/**
 * The run of the point, the proxy of the trap, what the trap waits for, the state in which the
 * crash must have left the order, and its end.
 */
type Point = readonly [
  run: "short" | "long",
  when: string,
  card: string,
  place: "database" | "acquirer" | "directory",
  makeMoment: () => Moment,
  left: string,
  end: keyof typeof ends,
  settings?: typeof brief,
];

const [v2, v1] = [cards.challenge, cards.v1Authenticated];

// biome-ignore format: a table
const allPoints: readonly Point[] = [
  ["long",  "when its card data is kept and it is not written",     v2, "database",  () => statement("begin_orders", "before", 1), "none",               "paid", brief],
  ["long",  "when its end is written and its card data still kept", v2, "database",  () => orderChange(5, "after"),                     "approved",           "paid", brief],
  ["long",  "when it is written and nobody was told",          v2, "database",  () => statement("begin_orders", "after", 1),  "awaiting_method",    "paid"],
  ["long",  "before the method's end is written",              v2, "database",  () => orderChange(1, "before"),                    "awaiting_method",    "paid"],
  ["long",  "when the method's end is written",                v2, "database",  () => orderChange(1, "after"),                     "authenticating",     "paid"],
  ["long",  "before the AReq leaves",                          v2, "directory", beforeAnything,                               "authenticating",     "paid"],
  ["long",  "before the challenge is written",                 v2, "database",  () => orderChange(2, "before"),                    "authenticating",     "paid"],
  ["long",  "when the challenge is written",                   v2, "database",  () => orderChange(2, "after"),                     "awaiting_challenge", "paid"],
  ["long",  "before the RReq is written",                      v2, "database",  () => orderChange(3, "before"),                    "awaiting_challenge", "paid"],
  ["short", "when the RReq is written and not answered",       v2, "database",  () => orderChange(3, "after"),                     "awaiting_return",    "paid"],
  ["long",  "before the CRes is written",                      v2, "database",  () => orderChange(4, "before"),                    "awaiting_return",    "paid"],
  ["long",  "when the CRes is written and nobody was told",    v2, "database",  () => orderChange(4, "after"),                     "authorizing",        "unsent"],
  ["long",  "before the charge reaches the bank",              v2, "acquirer",  () => bankMessage("0200", "before", 1),       "authorizing",        "unsent"],
  ["short", "when the charge has reached the bank unanswered", v2, "acquirer",  () => bankMessage("0200", "after", 1),        "authorizing",        "takenBack"],
  ["long",  "before the VEReq leaves",                         v1, "directory", beforeAnything,                               "authenticating",     "paid"],
  ["long",  "before the PaReq is written",                     v1, "database",  () => orderChange(1, "before"),                    "authenticating",     "paid"],
];

const points = rowsOf(allPoints, ([run]) => run === "short");
let node: Node;

before(async () => {
  // In the short run every payment has an order, whose end destroys its card data.
  if (!isLongRun) return;
  // Settings of a node that claims no work, so that it leaves the orders to the killed nodes and
  // only cleans up.
  const aside = { GW_DATABASE_URL: world.databaseUrl, GW_CLAIM_EVERY_S: "86400" };
  await world.startNode({ ...aside, GW_NODE_NAME: "aside" });
});

for (const [index, [, when, card, place, makeMoment, left, end, settings]] of points.entries()) {
  test(`a payment with 3-D Secure survives a kill ${when}`, async () => {
    await startNext(settings);
    const fields = saleFields({ credit_card_number: card });
    let sprung = false;
    const spring = () => {
      sprung = node.child.kill("SIGKILL");
      world.results.leadNowhere();
    };
    world.proxies[place].set({ ...makeMoment(), spring });

    const first = payAt(world, node);
    const paying = payToTheEnd(first, fields).catch(() => undefined);
    await untilTrue("the trap has gone off", () => sprung);
    await node.kill();
    const found = await readStage(world, fields.client_orderid);
    const held = await countPending(world);
    world.proxies[place].reset();
    await startNext(points[index + 1]?.[7]);
    const order = await payToTheEnd(payAt(world, node), fields);
    await paying;

    assert.equal(found, left);
    assert.ok(held.secrets > 0 && held.keys > 0, "its card data was not kept");
    assert.deepEqual(await readEnd(world, node, order), ends[end]);
  });
}

test("an AReq that a killed node has sent is sent again under the same id", async () => {
  await startNext();
  const { secureBank } = world;
  const fields = saleFields({ credit_card_number: cards.directoryTimeout });
  const first = payAt(world, node);
  const begun = await first.sale(fields);
  const status = await first.untilStep(begun, "MethodUrlFrame");
  const transactionId = status["tds-method-url-frame-3ds-server-trans-id"] ?? "";

  await first.tellMethod(begun);
  await secureBank.waitForThreeDsMessage({ type: "AReq", transactionId });
  await node.kill();
  const found = await readStage(world, fields.client_orderid);
  // The second request is not answered either, and soon times out.
  await startNext({ GW_DIRECTORY_TIMEOUT_S: "2" });
  const order = await payToTheEnd(payAt(world, node), fields);

  const asked = secureBank.threeDsMessages(transactionId).filter(({ type }) => type === "AReq");
  assert.equal(found, "authenticating");
  assert.equal(asked.length, 2);
  assert.deepEqual(await readEnd(world, node, order), { ...ends.paid, verified: "UNSUPPORTED" });
});

// Only the long run kills a node between the storing of card data and the order that needs it.
testInLongRun(
  "pending card data that no order needs is destroyed, by its time at the latest",
  async () => {
    await untilNothingHeld(world);
  },
);

async function startNext(settings?: Readonly<Record<string, string>>): Promise<void> {
  if (node?.isRunning) return;
  node = await world.startNode(settings);
  world.results.leadTo(node.resultsPort);
  await node.untilReady();
}

/** Matches a piece that is longer than the end of an idle connection. */
function beforeAnything(): Moment {
  const isRequest = (piece: Buffer) => piece.length > 100;
  return { moment: "before", isRequest, isAnswer: () => false };
}
