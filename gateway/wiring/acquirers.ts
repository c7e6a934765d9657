/** Builds the link behind each gate, and the effect handlers that use the links. */
import { makeAuthorize, makeInquire } from "../acquirers/authorize.ts";
import { makeFollowUpEffect } from "../acquirers/follow-up.ts";
import type { StartAcquirer } from "../acquirers/gates.ts";
import { type HandedAnswers, makeHandedAnswers } from "../acquirers/handed-answers.ts";
import { startIso8583Acquirer } from "../acquirers/iso8583-host/running-acquirer.ts";
import { makeReverse, makeReversePrior } from "../acquirers/reverse.ts";
import { linkShareOf } from "../config/config.ts";
import type { LateApprovals } from "../engine/late-approvals.ts";
import type { Order } from "../orders/order.ts";
import { makeStoreKey } from "../storage/cards/delivered-keys.ts";
import { makeHandOver } from "../storage/server/presence.ts";
import type { ThreeDs } from "../threeds/threeds.ts";
import type { Resources } from "./resources.ts";

type EffectResources = Pick<Resources, "config" | "clock" | "vault" | "configuration" | "gates">;

type Used = Pick<Resources, "config" | "clock" | "database" | "log" | "metrics" | "vault"> &
  Pick<Resources, "gates" | "node" | "audit" | "configuration">;

/** From now on the links of gates are started, and processes hand each other's answers over. */
export function openGates(resources: Used, lateApprovals: LateApprovals): void {
  const { config, clock, database, vault, log, gates, node } = resources;
  const send = makeHandOver(database.query, { retryMs: config.answerTimeoutMs });
  const onFailure = (error: unknown) => log("acquirer.answer_not_handed_over", { err: error });
  const answers = makeHandedAnswers({ ...vault, gates, clock, send, onFailure });
  gates.open(makeStartAcquirer(resources, answers, lateApprovals));
  node.receive(answers.receive);
}

function makeStartAcquirer(
  { config, clock, log, metrics, vault, audit, configuration }: Used,
  answers: HandedAnswers,
  lateApprovals: LateApprovals,
): StartAcquirer {
  const share = linkShareOf(config);
  return (gate, onReady) => {
    const { name } = gate;
    const store = makeStoreKey({ audit, sealSecret: vault.sealSecret, clock }, gate.id);
    return startIso8583Acquirer(gate, {
      clock,
      onReady,
      share,
      answerTimeoutMs: config.answerTimeoutMs,
      limits: { echoAfterMs: config.echoAfterMs, drainMs: config.drainMs },
      log: (event, facts) => log(event, { gate: name, ...facts }),
      async storeKey(delivered) {
        const outcome = await store(delivered);
        // Before the host is answered: it may use the key at once.
        await configuration.reload();
        return outcome;
      },
      onUnreadable: (reason) => metrics.unreadable.inc({ gate: name, reason }),
      onUnmatched: (answer) => answers.handOver(gate.id, answer),
      onLateApproval: (approval) => void lateApprovals.report(approval),
      onAnswer: (mti, answerMs) => metrics.acquirerMs.observe({ gate: name, mti }, answerMs),
    });
  };
}

export function makeAcquirerEffects(
  { config, clock, vault, configuration, gates }: EffectResources,
  threeds: ThreeDs,
) {
  const using = {
    ...threeds,
    clock,
    receiptIdOf: ({ merchantId, id }: Order) => vault.receiptIdOf({ merchantId, orderId: id }),
    getEndpoint: configuration.getEndpoint,
    findAcquirer: gates.find,
    nextReady: gates.nextReady,
    linkWaitMs: config.linkWaitMs,
    answerTimeoutMs: config.answerTimeoutMs,
    processingDeadlineMs: config.processingDeadlineMs,
    findCard: ({ merchantId, card }: Order) => vault.findCard(merchantId, card.cardId),
  };
  return {
    authorize: makeAuthorize(using),
    inquire: makeInquire(using),
    reverse: makeReverse(using),
    reverse_prior: makeReversePrior(using),
    capture: makeFollowUpEffect(using, "capture"),
    refund: makeFollowUpEffect(using, "refund"),
  };
}
