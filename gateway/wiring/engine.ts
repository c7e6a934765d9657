/** Builds the order engine with its effect handlers, 3-D Secure, and the links of each gate. */
import { makeAuthorize, makeInquire } from "../acquirers/authorize.ts";
import { makeFollowUpEffect, makeReverse, makeReversePrior } from "../acquirers/follow-up.ts";
import type { StartAcquirer } from "../acquirers/gates.ts";
import { type HandedAnswers, makeHandedAnswers } from "../acquirers/handed-answers.ts";
import { startIso8583Acquirer } from "../acquirers/iso8583-host/running-acquirer.ts";
import { makePayOut } from "../acquirers/pay-out.ts";
import { callbackLeaseMs } from "../callbacks/callback.ts";
import { makeFindEndpointUrls } from "../callbacks/callback-urls.ts";
import { allowsHttp, deadlinesOf, linkShareOf } from "../config/config.ts";
import { makeCards } from "../engine/cards.ts";
import { makeEngine as assemble } from "../engine/engine.ts";
import type { LateApprovals } from "../engine/late-approvals.ts";
import type { PageDependencies } from "../engine/payment-page.ts";
import { makeProfiles } from "../engine/profiles.ts";
import { makeKeepRules } from "../engine/retention.ts";
import { afterOutages } from "../engine/run.ts";
import { makeObserveOrders } from "../observability/observe.ts";
import type { Step } from "../orders/advance.ts";
import type { Issuer, Order } from "../orders/order.ts";
import { makeCountPayout } from "../screening/payout-bounds.ts";
import { screen } from "../screening/screen.ts";
import type { Screening } from "../screening/screening.ts";
import { makeStoreKey } from "../storage/cards/delivered-keys.ts";
import { makeAuditProfiles } from "../storage/cards/profiles.ts";
import { routeOrders, routeProfiles, routeReferences } from "../storage/cells/routed-stores.ts";
import { findPosition, makeNextNumbers, openOrderIds } from "../storage/orders/order-ids.ts";
import { makeHandOver } from "../storage/server/presence.ts";
import { lookUp3ds } from "../threeds/authentication-outcome.ts";
import type { Directories } from "../threeds/directories.ts";
import { makeThreeDs as assembleThreeDs, type ThreeDs } from "../threeds/threeds.ts";
import { newCardId, newCardRefId } from "../vault/keys.ts";
import type { NodeContext } from "./node-context.ts";

type Used = Pick<NodeContext, "config" | "log" | "metrics" | "database" | "cells" | "auditAs"> &
  Pick<NodeContext, "clock" | "vault" | "digests" | "isBusy"> &
  Pick<NodeContext, "node" | "hold" | "gates" | "health" | "configuration" | "baseUrl">;

type Parts = Pick<Screening, "judgePayment" | "judgeApproval" | "isGuess"> & {
  readonly threeds: ThreeDs;
  readonly findIssuer: (prefix: string) => Issuer | undefined;
  readonly openWallet: PageDependencies["openWallet"];
  /** Sends the callback of a committed step and indexes its order. */
  readonly onStep: readonly ((step: Step) => void)[];
};

export type Engine = ReturnType<typeof makeEngine>;

export function makeEngine(context: Used, parts: Parts) {
  const { config, log, metrics, database, cells, clock, vault, digests, hold } = context;
  const { threeds } = parts;
  const { onBatch, onStuck, alertOperator, ...observe } = makeObserveOrders(log, metrics);
  const store = routeOrders(cells, {
    node: context.node,
    onBatch,
    onStuck,
    retryMs: config.acceptRetryMs,
    confirmKeys: vault.confirmKeys,
    callbackLeaseMs: callbackLeaseMs(config.callbackTimeoutMs),
    isBusy: context.isBusy,
    watchDue: (findDue) => afterOutages(findDue, clock),
  });
  const orderIds = openOrderIds(database, { ownTime: clock.own, retryMs: config.acceptRetryMs });
  const engine = assemble({
    ...parts,
    ...threeds,
    ...observe,
    store,
    node: context.node,
    clock,
    vault,
    digests,
    settings: config,
    deadlines: deadlinesOf(config),
    immediate: { screen, look_up_3ds: lookUp3ds },
    findEndpointUrls: makeFindEndpointUrls(context.configuration.getEndpoint),
    handlers: {
      ...makeAcquirerEffects(context, threeds, parts),
      authenticate: threeds.authenticate,
      ask_enrolment: threeds.ask_enrolment,
      alert_operator: alertOperator,
    },
    countPayout: makeCountPayout(store.payoutDays, vault.digestSubject, config.zone),
    getEndpoint: context.configuration.getEndpoint,
    isReady: context.gates.isReady,
    findShares: context.health.shares,
    nextNumbers: makeNextNumbers(orderIds.takeBlock),
    findBySequence: async (sequence) =>
      store.atPosition(await findPosition(database.query, sequence)),
    newCardId,
    digest: vault.digest,
    tokens: vault,
    baseUrl: context.baseUrl,
    linkLifeMs: config.linkLifeMs,
    onStep: [threeds.onStep, ...parts.onStep, observe.onStep],
  });
  return {
    ...engine,
    /** No order is claimed while the installation is on hold. */
    claims: { ...engine.claims, claimDue: hold.unless(engine.claims.claimDue, 0) },
    cards: makeCards({
      store: routeReferences(cells),
      findCard: vault.findCard,
      fingerprint: vault.fingerprint,
      newReferenceId: newCardRefId,
      clock,
      graceMs: config.cardReferenceGraceMs,
    }),
    profiles: makeProfiles({
      ...context,
      ...parts,
      store: { ...routeReferences(cells), ...routeProfiles(cells, vault) },
      newReferenceId: newCardRefId,
      newCardId,
      ...makeKeepRules(config, () => context.configuration.current().merchants),
      audit: makeAuditProfiles(context.auditAs),
    }),
    closeOrderIds: orderIds.close,
    /** For each cell, a probe that resolves when its queues of reads and new orders advance. */
    probes: store.probes,
    countInDoubt: store.countInDoubt,
  };
}

type ThreeDsUsed = Pick<Used, "config" | "clock" | "log" | "vault" | "configuration" | "baseUrl"> &
  Pick<NodeContext, "pendingCards">;

type DirectoryServers = {
  readonly directories: Pick<Directories, "find" | "findEnrolment">;
  readonly resultsUrl: (directory: string) => string;
};

export function makeThreeDs(
  { config, clock, log, vault, pendingCards, configuration, baseUrl }: ThreeDsUsed,
  { directories, resultsUrl }: DirectoryServers,
) {
  return assembleThreeDs({
    settings: config,
    clock,
    log,
    pendingCards,
    directories,
    resultsUrl,
    baseUrl,
    tokenOf: vault.tokenOf,
    isToken: vault.isToken,
    allowHttp: allowsHttp(config),
    timeoutMs: config.directoryTimeoutMs,
    getEndpoint: configuration.getEndpoint,
    findCard: ({ merchantId, card }: Order) => vault.findCard(merchantId, card.cardId),
    /** The merchant's name and number for 3-D Secure are settings of the gate. */
    findMerchant: ({ transaction: { identifiers } }: Order) =>
      identifiers && configuration.current().gates.get(identifiers.gate.id)?.settings,
  });
}

type EffectDependencies = Pick<
  NodeContext,
  "config" | "clock" | "vault" | "configuration" | "gates" | "health"
>;

type GateDependencies = Pick<
  NodeContext,
  "config" | "clock" | "database" | "log" | "metrics" | "vault"
> &
  Pick<NodeContext, "gates" | "node" | "audit" | "configuration">;

/** A process passes on acquirers' answers for which another process is waiting. */
export function openGates(context: GateDependencies, lateApprovals: LateApprovals): void {
  const { config, clock, database, vault, log, gates, node } = context;
  const send = makeHandOver(database.query, { retryMs: config.answerTimeoutMs });
  const onFailure = (error: unknown) => log("acquirer.answer_not_handed_over", { err: error });
  const answers = makeHandedAnswers({ ...vault, gates, clock, send, onFailure });
  gates.open(makeStartAcquirer(context, answers, lateApprovals));
  node.receive(answers.receive);
}

function makeStartAcquirer(
  { config, clock, log, metrics, vault, audit, configuration }: GateDependencies,
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
        // The new key is loaded before the host gets the reply, because the host may use it then.
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

function makeAcquirerEffects(
  { config, clock, vault, configuration, gates, health }: EffectDependencies,
  threeds: ThreeDs,
  { judgeApproval }: Pick<Parts, "judgeApproval">,
) {
  const using = {
    ...threeds,
    judgeApproval,
    clock,
    receiptIdOf: ({ merchantId, id }: Order) => vault.receiptIdOf({ merchantId, orderId: id }),
    getEndpoint: configuration.getEndpoint,
    findAcquirer: gates.find,
    nextReady: gates.nextReady,
    health,
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
    pay_out: makePayOut(using),
  };
}
