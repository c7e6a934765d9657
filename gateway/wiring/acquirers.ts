/** Builds the link behind each gate, and the effect handlers that use the links. */
import { makeAuthorize, makeInquire } from "../acquirers/authorize.ts";
import { makeFollowUpEffect } from "../acquirers/follow-up.ts";
import type { Gates, StartAcquirer } from "../acquirers/gates.ts";
import { startIso8583Acquirer } from "../acquirers/iso8583-host/running-acquirer.ts";
import { makeReverse, makeReversePrior } from "../acquirers/reverse.ts";
import { linkShareOf } from "../config/config.ts";
import type { LateApprovals } from "../engine/late-approvals.ts";
import type { Order } from "../orders/order.ts";
import { makeStoreKey } from "../storage/cards/delivered-keys.ts";
import type { LiveConfiguration } from "../storage/configuration/configuration.ts";
import type { Audit } from "../storage/people/audit.ts";
import { makeHandOver } from "../storage/server/presence.ts";
import { asGateId, type GateId } from "../values/ids.ts";
import { Secret } from "../values/secret.ts";
import type { Resources } from "./resources.ts";
import type { ThreeDs } from "./threeds.ts";

type LinkDependencies = Pick<Resources, "config" | "clock" | "log" | "metrics" | "vault"> & {
  readonly audit: Audit;
  readonly answers: Pick<HandedAnswers, "handOver">;
};

export function makeStartAcquirer(
  { config, clock, log, metrics, audit, vault, answers }: LinkDependencies,
  lateApprovals: LateApprovals,
  configuration: Pick<LiveConfiguration, "reload">,
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

/** Longer than a process takes to notice the loss of the connection on which it listens. */
const handAgainAfterMs = 5_000;

type Handing = Pick<Resources, "config" | "clock" | "database" | "vault" | "log">;
export type HandedAnswers = ReturnType<typeof makeHandedAnswers>;

/**
 * A host may answer over any connection of a gate, also over one of another process. Such an answer
 * is handed to all processes, and the one that waits takes it; twice, because a process that loses
 * its connection to the database misses what is handed over meanwhile. It may quote a card number,
 * so it is sealed. An answer that is lost both times leaves the charge in doubt.
 */
export function makeHandedAnswers(
  { config, clock, database, vault, log }: Handing,
  gates: Pick<Gates, "find">,
) {
  const send = makeHandOver(database.query, { retryMs: config.answerTimeoutMs });
  const onFailure = (error: unknown) => log("acquirer.answer_not_handed_over", { err: error });
  return {
    handOver(gate: GateId, answer: string): void {
      const sealed = vault.sealSecret(new Secret(answer), answerContext(gate));
      const text = `${gate} ${Buffer.from(sealed).toString("base64")} ${clock.now()}`;
      send(text).catch(onFailure);
      setTimeout(() => void send(text).catch(onFailure), handAgainAfterMs).unref();
    },
    receive(text: string): void {
      const [gate = "", sealed = "", receivedAt = "0"] = text.split(" ");
      const acquirer = gates.find(asGateId(gate));
      if (acquirer === undefined) return;
      try {
        const opened = vault.openSecret(Buffer.from(sealed, "base64"), answerContext(gate));
        acquirer.takeAnswer(opened.reveal(), Number(receivedAt));
      } catch (error) {
        onFailure(error);
      }
    },
  };
}

const answerContext = (gate: string) => `answer of gate ${gate}`;

type EffectDependencies = Pick<Resources, "config" | "clock" | "vault"> & {
  readonly configuration: LiveConfiguration;
  readonly gates: Gates;
  readonly threeds: ThreeDs;
};

export function makeAcquirerEffects(dependencies: EffectDependencies) {
  const { config, clock, vault, threeds, configuration, gates } = dependencies;
  const shared = {
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
    handlers: {
      authorize: makeAuthorize(shared),
      inquire: makeInquire(shared),
      reverse: makeReverse(shared),
      reverse_prior: makeReversePrior(shared),
      capture: makeFollowUpEffect(shared, "capture"),
      refund: makeFollowUpEffect(shared, "refund"),
    },
  };
}
