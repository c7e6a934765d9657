/**
 * A node is killed while its orders wait for cardholders, one at each waiting stage. A result that
 * reaches another node, or the next one, finds the order and its card data with the CVV.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  countPending,
  type Pay,
  payAt,
  readEnd,
  startSecureWorld,
  untilNothingHeld,
  untilStage,
} from "../support/crash-payments.ts";
import type { Node } from "../support/crash-world.ts";
import type { Acknowledged } from "../support/merchant.ts";
import { cards } from "../support/threeds.ts";

const world = await startSecureWorld({ after });

/** Brings the order to its stage, and returns what is posted afterwards. */
type Reach = (pay: Pay, order: Acknowledged) => Promise<(pay: Pay) => Promise<unknown>>;
type Row = readonly [stage: string, card: string, reach: Reach];

// biome-ignore format: a table
const rows: readonly Row[] = [
  ["awaiting_method",    cards.other,             untilMethod],
  ["awaiting_challenge", cards.challenge,         untilChallenge],
  ["awaiting_return",    cards.challengeNoMethod, untilReturn],
  ["awaiting_result",    cards.challengeNoMethod, untilResult],
  ["awaiting_pares",     cards.v1Authenticated,   untilPares],
];

const verified = "AUTHENTICATED";
/** The host's answer to a CVV, for which it must have received it. */
// biome-ignore format: a table
const ends = [
  { status: "approved", code: undefined, verified, charges: 1, cvv: "123" },
  { status: "declined", code: "116",     verified, charges: 1, cvv: "116" },
] as const;
const cases = rows.flatMap((row) => ends.map((end) => ({ row, end })));

let left: Node;
let right: Node;

before(async () => {
  left = await startReady();
  right = await startReady();
});

test("every waiting order of a killed node is paid at the other one", async () => {
  const waiting = await beginAll(left);

  await left.kill();

  await finishAll(waiting, right);
});

test("every waiting order of a killed node is paid at the next one", async () => {
  const waiting = await beginAll(right);

  await right.kill();
  const next = await startReady();

  await finishAll(waiting, next);
});

type Waiting = (typeof cases)[number] & {
  readonly order: Acknowledged;
  readonly goOn: (pay: Pay) => Promise<unknown>;
};

async function startReady(): Promise<Node> {
  const node = await world.startNode();
  await node.untilReady();
  return node;
}

function beginAll(node: Node): Promise<readonly Waiting[]> {
  const pay = payAt(world, node);
  return Promise.all(
    cases.map(async ({ row, end }) => {
      const [stage, card, reach] = row;
      const order = await pay.begin(card, { cvv2: end.cvv });
      const goOn = await reach(pay, order);
      await untilStage(world, order, stage);
      return { row, end, order, goOn };
    }),
  );
}

async function finishAll(waiting: readonly Waiting[], node: Node): Promise<void> {
  assert.deepEqual(await countPending(world), { secrets: cases.length, keys: cases.length });
  const pay = payAt(world, node);
  await Promise.all(waiting.map(({ goOn }) => goOn(pay)));

  for (const { row, order, end } of waiting) {
    assert.deepEqual(await readEnd(world, node, order), end, `it was in ${row[0]}`);
  }
  await untilNothingHeld(world);
}

async function untilMethod(pay: Pay, order: Acknowledged) {
  await pay.untilStep(order, "MethodUrlFrame");
  return (next: Pay) => next.tellMethod(order);
}

async function untilChallenge(pay: Pay, order: Acknowledged) {
  await pay.tellMethod(order);
  await pay.untilStep(order, "CReqForm");
  return (next: Pay) => next.pass(order);
}

async function untilReturn(pay: Pay, order: Acknowledged) {
  const cres = await pay.passOnly(order);
  return (next: Pay) => next.uploadCres(order, cres);
}

async function untilResult(pay: Pay, order: Acknowledged) {
  return pay.returnEarly(order);
}

async function untilPares(pay: Pay, order: Acknowledged) {
  await pay.untilStep(order, "PaReqForm");
  return (next: Pay) => next.answerPares(order);
}
