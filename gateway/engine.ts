/**
 * The order engine wired together: decisions, commits, doers and the search for work that is due.
 * Part of the wiring that `main.ts` does, kept apart because tests and the command line need to see
 * that there is nothing else to it.
 */

import type { Acquirer } from "./acquirers/acquirer.ts";
import { makeAuthorize } from "./acquirers/authorize.ts";
import { reasonOf } from "./acquirers/iso8583-host/response-codes.ts";
import { makeReverse } from "./acquirers/reverse.ts";
import type { Config } from "./config.ts";
import { makeScreen } from "./filters/screen.ts";
import { makeAdvance } from "./orders/advance.ts";
import { makeApply, makeClaim } from "./orders/apply.ts";
import type { Deadlines } from "./orders/deadlines.ts";
import type { Doers } from "./orders/doer.ts";
import type { Endpoint } from "./orders/merchant.ts";
import type { Answer, Order } from "./orders/order.ts";
import { parseReference } from "./orders/trace.ts";
import { makeBegin, makeCommit } from "./storage/commit.ts";
import type { Database } from "./storage/database.ts";
import {
  makeFindBySequence,
  makeFindBySerial,
  makeFindCarried,
  makeFindDue,
  makeFindOrders,
} from "./storage/find-orders.ts";
import { makeNextOrderId } from "./storage/order-ids.ts";
import { makeLookUp3ds } from "./threeds/look-up-3ds.ts";
import type { EndpointId, GateId, ReceiptId } from "./values/ids.ts";
import type { Clock } from "./values/time.ts";
import type { Vault } from "./vault/vault.ts";
import { makeAccept } from "./work/accept.ts";
import { makeAlertOperator } from "./work/alert-operator.ts";
import { makeCarry } from "./work/carry.ts";
import { makeClaimWork } from "./work/claim.ts";
import { makeFindOrder } from "./work/find-order.ts";

export type EngineNeeds = {
  readonly config: Config;
  readonly database: Database;
  readonly node: string;
  readonly clock: Clock;
  readonly vault: Vault;
  readonly getEndpoint: (id: EndpointId) => Endpoint;
  readonly findAcquirer: (gate: GateId) => Acquirer | undefined;
  readonly newReceiptId: () => ReceiptId;
  readonly onBatch: (queue: string) => (size: number, durationMs: number) => void;
  readonly onStep: (order: Order) => void;
  readonly onTrouble: (order: Order, error: unknown) => void;
  readonly alert: (order: Order) => void;
};

const batchMax = 256;

export type Engine = ReturnType<typeof makeEngine>;

export function makeEngine(needs: EngineNeeds) {
  const { config, database, node, clock, vault } = needs;
  const one = (queue: string) => ({ batchMax, inFlightMax: 1, onBatch: needs.onBatch(queue) });
  const commits = { beginTriesMs: config.beginTriesMs };

  const { byId, byClientOrderId } = makeFindOrders(database.hot, one("read"));
  const findKnown = (merchantId: Order["merchantId"], clientOrderId: string) =>
    byClientOrderId({ merchantId, clientOrderId });
  const findBySequence = makeFindBySequence(database.hot);

  const advance = makeAdvance(deadlinesOf(config), {
    screen: makeScreen(needs.getEndpoint),
    look_up_3ds: makeLookUp3ds(needs.getEndpoint),
  });
  const commit = makeCommit(database.hot, node, { ...one("move"), ...commits });
  const apply = makeApply({ advance, commit, load, clock });
  const carry = makeCarry({
    doers: doersOf(needs),
    apply,
    onStep: needs.onStep,
    onTrouble: needs.onTrouble,
  });
  const accept = makeAccept({
    advance,
    begin: makeBegin(database.query, node, { ...one("begin"), ...commits }),
    findKnown,
    vault,
    nextOrderId: makeNextOrderId(database.query),
    carry,
    clock,
    inFlightMax: config.inFlightMax,
  });
  const work = makeClaimWork({
    node,
    clock,
    findDue: makeFindDue(database.hot),
    findCarried: makeFindCarried(database.hot),
    claim: makeClaim({ advance, commit, clock }),
    carry,
    batchMax,
  });
  const find = makeFindOrder({
    findById: byId,
    findKnown,
    findBySerial: makeFindBySerial(database.hot),
  });
  return { accept, find, carry, work, reportLateApproval };

  async function load(merchantId: Order["merchantId"], orderId: Order["id"]): Promise<Order> {
    const order = await byId({ merchantId, orderId });
    if (order === undefined) throw new Error(`order ${orderId} has vanished`);
    return order;
  }

  /** Nobody waits for this approval any more; the charge that it confirms must not stand. */
  async function reportLateApproval(reference: string, answer: Answer): Promise<void> {
    const named = parseReference(reference);
    const order = named === undefined ? undefined : await findBySequence(named.sequence);
    if (order?.transaction.charge?.reference !== reference) return;
    const next = await apply(order, { kind: "approved_late", answer });
    if ("owed" in next) carry.start(next, { startedBefore: false, inHand: undefined });
  }
}

function doersOf(needs: EngineNeeds): Doers {
  const { config, clock, vault, newReceiptId } = needs;
  const acquirerOf = ({ transaction }: Order) =>
    transaction.charge === undefined ? undefined : needs.findAcquirer(transaction.charge.gate.id);
  const findCard = vault.reveal;
  const { answerTimeoutMs } = config;
  return {
    authorize: makeAuthorize({
      acquirerOf,
      reasonOf,
      newReceiptId,
      clock,
      answerTimeoutMs,
    }),
    reverse: makeReverse({ acquirerOf, findCard }),
    alert_operator: makeAlertOperator(needs.alert),
  };
}

function deadlinesOf(config: Config): Deadlines {
  return {
    stageMs: {
      filtering: config.processingDeadlineMs,
      authenticating: config.processingDeadlineMs,
      awaiting_method: config.methodDeadlineMs,
      awaiting_challenge: config.challengeDeadlineMs,
      awaiting_pares: config.paresDeadlineMs,
      authorizing: config.processingDeadlineMs,
      reversing: config.doubtAlarmMs,
    },
    leaseMs: config.answerTimeoutMs + config.leaseSlackMs,
    reversalGapsMs: config.reversalGapsMs,
  };
}
