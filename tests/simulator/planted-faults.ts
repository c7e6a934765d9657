/**
 * Faults that the simulator has to find: each is one place in the gateway's code with a wrong
 * version of it. Those with `fixedBy` were once real, and the wrong version reverts that commit.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

type Place = { readonly file: string; readonly right: string; readonly wrong: string };

export type PlantedFault = Place & {
  readonly name: string;
  readonly fixedBy?: string;
  /** A second change that belongs to the fault. */
  readonly also?: Place;
};

/** Returns the wrong files by their paths in the gateway's folder. */
export function readPlanted(fault: PlantedFault, gateway: string): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const { file, right, wrong } of [fault, ...(fault.also ? [fault.also] : [])]) {
    const text = texts.get(file) ?? readFileSync(join(gateway, file), "utf8");
    if (text.split(right).length !== 2) {
      throw new Error(`cannot plant "${fault.name}": the place has changed`);
    }
    texts.set(
      file,
      text.replace(right, () => wrong),
    );
  }
  return texts;
}

// biome-ignore format: a table
export const plantedFaults: readonly PlantedFault[] = [
  { name: "a reversal ends on any answer", fixedBy: "5d65403", file: "acquirers/follow-up.ts",
    right: 'return { kind: "reversal_refused", code: outcome.code, mayHelp: outcome.mayHelp };', wrong: "return undefined;" },
  { name: "an unknown charge counts as reversed while it may yet arrive", fixedBy: "15f56c5", file: "acquirers/follow-up.ts",
    right: "const isConfirmed = sentAt >= request.identifiers.transmittedAt + answerTimeoutMs;", wrong: "const isConfirmed = true;" },
  { name: "a charge that may yet be done counts as declined", fixedBy: "5d65403", file: "acquirers/authorize.ts",
    right: 'const kind = next === undefined ? "refused_in_doubt" : "amount_in_doubt";', wrong: 'const kind = "refused";' },
  { name: "a refused repeat ends a follow-up", fixedBy: "bc8c40c", file: "acquirers/follow-up.ts",
    right: "if (!sent.repeated) return", wrong: 'if (!sent.repeated || code !== "30") return' },
  { name: "a late approval is lost while the database is away", fixedBy: "9ab3dc0", file: "engine/late-approvals.ts",
    right: "onDelayed(approval, error);\n", wrong: "onDelayed(approval, error);\n        if (tries >= 0) return;\n" },
  { name: "nodes go by their own clocks", fixedBy: "e2475fd", file: "storage/server/database-clock.ts",
    right: "if (Math.abs(own - steady) <= jumpMs) return asInstant(Math.round(steady));", wrong: "if (Math.abs(own - steady) >= 0) return clock.now();" },
  { name: "an answer decides about another transaction", fixedBy: "8b63a08", file: "orders/apply.ts",
    right: "if (isAboutPrior(event)) return true;", wrong: "return true;" },
  { name: "a refused approval is not reversed", fixedBy: "8b63a08", file: "orders/apply.ts",
    right: '|| !approvals.has(event.kind)) return undefined;', wrong: '|| event.kind !== "approved_in_part") return undefined;' },
  { name: "an approval that a rule forbids is not reversed", file: "orders/transitions.ts",
    right: 'approval_refused:      to("reversing", "reverse"),\n    approved_late:', wrong: 'approval_refused:      to("declined", "notify_merchant"),\n    approved_late:' },
  { name: "a corrected attempt begins while a reversal is owed", fixedBy: "8b63a08", file: "engine/accept.ts",
    right: 'return isFinal(stage) && stage !== "approved" && order.owed === undefined;', wrong: 'return isFinal(stage) && stage !== "approved";' },
  { name: "a deadline ends an order that has moved on", fixedBy: "7879f6b", file: "orders/apply.ts",
    right: "return (await commit(step)) === \"done\" ? step.order : undefined;\n  };\n}\n\n/**\n * Begins another", wrong: "return (await commit(step)) === \"done\" ? step.order : event.kind === \"claimed\" ? undefined : makeApply({ advance, commit, load, clock })(await load(order), event).then((next) => next instanceof Failure ? undefined : next);\n  };\n}\n\n/**\n * Begins another",
    also: { file: "orders/apply.ts", right: "makeClaim({ advance, commit, clock }", wrong: "makeClaim({ advance, commit, load, clock }" } },
  { name: "an order is claimed while its lease lasts", fixedBy: "ffa84fc", file: "orders/advance.ts",
    right: "return owed?.claimableAt ?? deadlineAt;", wrong: "return owed && deadlineAt ? (owed.claimableAt < deadlineAt ? owed.claimableAt : deadlineAt) : (owed?.claimableAt ?? deadlineAt);",
    also: { file: "engine/run.ts", right: "due.filter(isClaimable)", wrong: "due" } },
  { name: "a reversal that was sent before the approval ends the doubt", fixedBy: "c94e13f", file: "orders/apply.ts",
    right: "return !endsDoubt.has(event.kind) || now.answer?.processedAt === then.answer?.processedAt;", wrong: "return true;" },
  { name: "an answer that another process awaits is taken for a late approval", fixedBy: "0317693", file: "engine/late-approvals.ts",
    right: "if (isAwaited(order) || hasAnswer(order, answer)) return;", wrong: "if (hasAnswer(order, answer)) return;" },
  { name: "a node claims at once after an outage of the database", fixedBy: "9b76b92", file: "engine/run.ts",
    right: "const afterOutageMs = 10_000;", wrong: "const afterOutageMs = 0;" },
  { name: "a host is believed about the charges of another", fixedBy: "9f76739", file: "acquirers/iso8583-host/connector.ts",
    right: "return (gate.hostChanges ?? 0) !== (settings.hostChanges ?? 0);", wrong: "return gate.hostChanges !== gate.hostChanges;" },

  { name: "a charge is sent again after a crash", file: "acquirers/authorize.ts",
    right: 'if (startedBefore) return inDoubt(acquirer, "node_lost");\n', wrong: "" },
  { name: "a refused repeat proves that a charge was not voided", file: "acquirers/follow-up.ts",
    right: 'if (found?.kind !== "not_found" || !isConfirmed) return', wrong: 'if (order.transaction.kind !== "void" && (found?.kind !== "not_found" || !isConfirmed)) return' },
  { name: "a payout is sent again as a new one", file: "acquirers/pay-out.ts",
    right: 'return startedBefore ? { kind: "outcome_unknown", cause: "node_lost" } : send(order);', wrong: "return send(order);" },
  { name: "a payout that is not known yet counts as unpaid", file: "acquirers/pay-out.ts",
    right: 'return isProved ? { kind: "proved_unpaid" }', wrong: 'return !isProved ? { kind: "proved_unpaid" }' },
  { name: "a refused repeat of a payout counts as unpaid", file: "acquirers/pay-out.ts",
    right: ': { kind: "repeat_refused", code: answer.responseCode };', wrong: ': { kind: "proved_unpaid" };' },
  { name: "a payout in doubt goes to another gate", file: "acquirers/pay-out.ts",
    right: "return kept.with(unknown(outcome.kind === \"unknown\" ? outcome.cause : outcome.kind));", wrong: "return reroute(order, request);" },
  { name: "a payout in doubt is reversed", file: "orders/transitions.ts",
    right: 'outcome_unknown:     to("repeating", "pay_out"),\n    expired:             to("repeating", "pay_out"),\n  },\n  repeating: {\n    paid_out', wrong: 'outcome_unknown:     to("repeating", "reverse"),\n    expired:             to("repeating", "pay_out"),\n  },\n  repeating: {\n    reversed: to("error", "notify_merchant"), reversal_unanswered: to("repeating", "reverse"), reversal_refused: to("repeating", "reverse"),\n    paid_out' },
  { name: "a clock settles a payout", file: "orders/transitions.ts",
    right: 'proved_unpaid:       to("error", "notify_merchant"),\n    original_not_found:  to("repeating", "pay_out"),\n    repeat_unanswered:   to("repeating", "pay_out"),\n    repeat_refused:      to("repeating", "pay_out"),\n    expired:             to("repeating", "alert_operator"),', wrong: 'proved_unpaid:       to("error", "notify_merchant"),\n    original_not_found:  to("repeating", "pay_out"),\n    repeat_unanswered:   to("repeating", "pay_out"),\n    repeat_refused:      to("repeating", "pay_out"),\n    expired:             to("error", "notify_merchant"),' },
  { name: "a claiming node thinks that nothing was sent", file: "engine/run.ts",
    right: "{ startedBefore: owed !== undefined && owed.resting !== true }", wrong: "{ startedBefore: false }" },
  { name: "silence counts as a refusal", file: "acquirers/authorize.ts",
    right: "inDoubt(acquirer, outcome.cause)", wrong: "notSent" },
  { name: "a late approval is not believed", file: "acquirers/iso8583-host/connector.ts",
    right: "onLateApproval({ reference, answer, minor: readAmount(message.fields[4]) });", wrong: "log(\"acquirer.message_unmatched\", {});" },
  { name: "an order is acknowledged before it is committed", file: "engine/accept.ts",
    right: 'if ((await begin({ step, digest, sealCard })) === "taken") {', wrong: 'begin({ step, digest, sealCard }).catch(() => undefined);\n    if (order.id === "") {' },
  { name: "the version of an order is not compared", file: "orders/apply.ts",
    right: "met = await load(order);\n    }\n  }\n\n", wrong: "const { version, changedAt } = await load(order);\n      met = { ...order, version, changedAt };\n    }\n  }\n\n" },
  { name: "a repeat has a new trace number", file: "acquirers/follow-up.ts",
    right: "const sent = { ...message,", wrong: "const sent = { ...message, ...(repeated && { traceNumber: traceNumberOf(order, 99, 1) })," },
  { name: "a callback is lost at the hand-over", file: "callbacks/callbacks.ts",
    right: "if (room <= 0 || isStopping) return 0;", wrong: "if (room <= 0 || !isStopping) return 0;" },
  { name: "a later callback does not wait for an earlier one", file: "callbacks/callbacks.ts",
    right: "if (!isFirst(callback) && (await store.waitsForEarlier(callback))) return;\n", wrong: "" },
  { name: "the result of a follow-up is not called back", file: "orders/advance.ts",
    right: "earlier.length === 0 ? (serverCallback ?? notify) : notify;", wrong: "earlier.length === 0 ? (serverCallback ?? notify) : undefined;" },
  { name: "an order that rests has no deadline", file: "orders/advance.ts",
    right: "return owed?.claimableAt ?? deadlineAt;", wrong: "return owed?.resting === true ? undefined : (owed?.claimableAt ?? deadlineAt);" },
  { name: "an order keeps the card number", file: "engine/cards.ts",
    right: "        ...brought,\n        cardId,\n", wrong: "        ...brought,\n        bin: number.reveal(),\n        cardId,\n" },
  { name: "a node claims at once when it has started", file: "engine/run.ts",
    right: "let othersFrom = later(lookedAt, afterOutageMs);", wrong: "let othersFrom = readTime();" },
  { name: "a charge goes to the host that the gate has by now", file: "acquirers/iso8583-host/connector.ts",
    right: 'if (isOfOtherHost(attempt)) return Promise.resolve({ kind: "not_sent" });\n', wrong: "" },
  { name: "a forced change of a gate's host is not counted", file: "administration/gates/gates.ts",
    right: "return withCount(hostChanges + 1);", wrong: "return withCount(hostChanges);" },
];
