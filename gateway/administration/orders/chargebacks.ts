/** Records each stage of the acquirer's chargebacks once, in the history of its order. */
import { randomUUIDv7 } from "node:crypto";
import {
  answerDueAt,
  evidencePeriod,
  isCompelling,
  reasonKindOf,
  sharedWith,
} from "../../orders/disputes.ts";
import type { OrderEvent } from "../../orders/events.ts";
import {
  type Chargeback,
  chargebackStages,
  disputeOutcomes,
  type Order,
} from "../../orders/order.ts";
import { byDate, findRecorded, initialOf } from "../../orders/transactions.ts";
import { wordOf } from "../../portal-api/order-index.ts";
import {
  type ChargebackLine,
  chargebackColumns,
  readChargebackFile,
} from "../../reconciliation/acquirer-file.ts";
import type { Configuration } from "../../storage/configuration/configuration.ts";
import {
  findEarlierPayments,
  indexChargeback,
  listChargebacks,
} from "../../storage/portal/reconciliations.ts";
import { Failure } from "../../values/failure.ts";
import { asSerialNumber, type MerchantId } from "../../values/ids.ts";
import { isSameMoney, printMoney } from "../../values/money.ts";
import { Problem } from "../../values/problem.ts";
import { asInstant, type Instant, makePrintDate, parseDate } from "../../values/time.ts";
import { type Action, action, type FindOwner } from "../action.ts";
import { option, required, word } from "../field.ts";
import { formatFields, readFormat } from "../file-format.ts";
import { findByReference, findOrder, order, ownerByOrder, queriesOf } from "../find.ts";
import {
  makeReport,
  type OperatorReport,
  reportToLatest,
} from "../installation/operator-events.ts";
import { disputeAnswers, disputeMeanings } from "../labels.ts";
import { refuseFaults } from "../readers.ts";
import { Report, readConfiguration, type Session } from "../session.ts";

const listedMax = 1_000;

export const chargebackActions: readonly Action[] = [
  action("record", "reconcile", {
    name: "chargeback import",
    does: [
      "record the chargebacks of the acquirer's file on their orders",
      "die Rückbelastungen aus der Datei des Acquirers bei ihren Zahlungen vermerken",
    ],
    duration: "minutes",
    fields: {
      file: word("file", "file.csv", ["the acquirer's file", "die Datei des Acquirers"]),
      ...formatFields([
        "the file's own words for each stage, like PURCHASE=sale",
        "Wörter der Datei für jede Stufe, wie CB1=first",
      ]),
    },
    async perform(session, { file: source, ...given }) {
      const format = readFormat(given, chargebackColumns, chargebackStages);
      if (format instanceof Problem) return format;
      const lines = await readChargebackFile(source.open(), format).catch(
        refuseFaults("Nothing was recorded."),
      );
      if (lines instanceof Problem) return lines;

      const configuration = await readConfiguration(session);
      const report = makeReport(session, (id) => configuration.endpoints.get(id));
      const results = [];
      for (const line of lines) {
        const result = await record({ session, configuration, report }, line);
        results.push({ line: line.line, case: line.chargeback.caseId, ...result });
      }
      const isBad = ({ result }: { result: string }) => result !== "recorded" && result !== "known";
      if (results.some(isBad)) session.findings.note();
      return results.length > 0 ? results : new Report(results, "The file has no chargebacks.");
    },
  }),
  action("look", "see_orders", {
    name: "chargeback list",
    does: [
      "list recorded chargebacks with their deadlines, the latest first",
      "vermerkte Rückbelastungen mit ihren Fristen auflisten, die neuesten zuerst",
    ],
    findOwner: ownerOfOrder,
    fields: {
      since: option("day", "YYYY-MM-DD", ["only those from this day on", "nur die ab diesem Tag"]),
      order: option("text", "orderid", ["only those of one order", "nur die einer Zahlung"]),
    },
    async perform(session, { since: day, order: id }) {
      const since = day === undefined ? asInstant(0) : parseDate(`${day}T00:00:00Z`);
      if (since === undefined) return new Problem("since is a date like 2030-01-31.");
      const found = id === undefined ? await findAll(session, since) : await findOf(session, id);
      if (found instanceof Problem) return found;
      const latestFirst = found
        .filter(({ dispute }) => dispute.at >= since)
        .toSorted((one, other) => other.dispute.at - one.dispute.at)
        .slice(0, listedMax);
      const rows = latestFirst.map(describe);
      return rows.length > 0 ? rows : new Report(rows, "There are no chargebacks.");
    },
  }),
  action("look", "see_orders", {
    name: "chargeback evidence",
    does: [
      "say what to send for a disputed order, and find earlier undisputed payments of its card",
      "zeigen, was zu senden ist, und frühere unbestrittene Zahlungen derselben Karte finden",
    ],
    findOwner: ownerByOrder,
    fields: { order },
    async perform(session, { order: id }) {
      const found = await findOrder(session, id);
      if (found instanceof Problem) return found;
      const dispute = byDate(found).at(-1);
      if (dispute === undefined) return new Problem(`Order ${id} has no chargeback.`);
      const kind = reasonKindOf(dispute);
      const payments = kind === "fraud" ? await findEvidence(session, found, dispute) : [];
      const advice = [disputeMeanings[kind].en, disputeAnswers[kind].en];
      if (
        isCompelling(
          found.card,
          dispute,
          payments.map(({ shared }) => shared),
        )
      )
        advice.push(compelling);
      const rows = payments.map(({ earlier, shared }) => ({
        order: earlier.id,
        "merchant-order": earlier.clientOrderId,
        at: session.printDate(earlier.acceptedAt),
        amount: printMoney(earlier.purchase.amount),
        shared: shared.join(" "),
        ip: earlier.purchase.ipAddress,
        reference: initialOf(earlier).identifiers?.reference ?? "",
      }));
      return new Report(rows, advice.join(" "), rows);
    },
  }),
  action("record", "move_money", {
    name: "chargeback decide",
    does: [
      "record whether a chargeback is accepted or contested, with the reason",
      "vermerken, ob eine Rückbelastung hingenommen oder angefochten wird, mit dem Grund",
    ],
    needsReason: true,
    findOwner: ownerByOrder,
    fields: {
      order,
      case: word("text", "case", ["the acquirer's case", "der Fall beim Acquirer"]),
      decision: required(disputeOutcomes, "decision", [
        "accepted or contested",
        "accepted (hingenommen) oder contested (angefochten)",
      ]),
    },
    async perform(session, { order: id, case: caseId, decision: outcome }) {
      const { reason: why = "", actor } = session;
      const found = await findOrder(session, id);
      if (found instanceof Problem) return found;
      // The merchant gets no callback about the decision on a dispute.
      const report = makeReport(session, () => undefined);
      const decided = await reportToLatest(
        report,
        () => findOrder(session, id).then((each) => (each instanceof Problem ? undefined : each)),
        async () => ({ kind: "dispute_decided", caseId, outcome, who: actor.who, why }),
      );
      if (decided === undefined || decided instanceof Failure) {
        return new Problem(`The case ${caseId} of order ${id} waits for no decision.`, "not_now");
      }
      session.node?.noteStep(decided);
      return { order: id, case: caseId, decision: outcome };
    },
  }),
];

async function findAll(session: Session, since: Instant): Promise<readonly Listed[]> {
  const found = await queriesOf(session).each((query) => listChargebacks(query, since, listedMax));
  return found.flat();
}

async function findOf(session: Session, id: string): Promise<readonly Listed[] | Problem> {
  const found = await findOrder(session, id);
  if (found instanceof Problem) return found;
  return (found.chargebacks ?? []).map((dispute) => ({ order: found, dispute })).reverse();
}

const evidenceMax = 500;
const compelling = "Two of these payments are enough for Visa's compelling evidence 3.0.";

/** A merchant's users may list the chargebacks of one order, and operators those of all orders. */
async function ownerOfOrder(
  opened: Parameters<FindOwner>[0],
  { order: id }: { readonly order?: string | undefined },
): Promise<MerchantId | undefined> {
  return id === undefined ? undefined : ownerByOrder(opened, { order: id });
}

type Listed = { readonly order: Order; readonly dispute: Chargeback };

function describe({ order: found, dispute }: Listed) {
  const { caseId, stage, amount, reason, at, outcome = "" } = dispute;
  const due = answerDueAt(found, dispute);
  return {
    order: found.id,
    case: caseId,
    stage,
    amount: printMoney(amount),
    reason,
    means: reasonKindOf(dispute),
    at: printUtc(at),
    due: due === undefined ? "" : printUtc(due).slice(0, 10),
    decision: outcome,
  };
}

const printUtc = makePrintDate("UTC");

async function findEvidence(session: Session, disputed: Order, dispute: Chargeback) {
  const { card, merchantId } = disputed;
  if (card.lastFour === "") return [];
  const words = [
    wordOf("lastFour", card.lastFour),
    wordOf("merchant", merchantId),
    wordOf("outcome", "approved"),
  ];
  const wanted = { ...evidencePeriod(dispute), words };
  const earlier = await queriesOf(session).call(merchantId, (query) =>
    findEarlierPayments(query, disputed, wanted, evidenceMax),
  );
  return earlier.flatMap((each) => {
    const shared = sharedWith(disputed, each);
    return shared === undefined ? [] : [{ earlier: each, shared }];
  });
}

type Dependencies = {
  readonly session: Session;
  readonly configuration: Configuration;
  readonly report: OperatorReport;
};

async function record({ session, configuration, report }: Dependencies, line: ChargebackLine) {
  const { reference } = line;
  const serialNumber = asSerialNumber(randomUUIDv7());
  const chargeback = { ...line.chargeback, serialNumber };
  const { stage } = chargeback;
  let earlier: Order | undefined;
  const find = async () => {
    const order = await findByReference(session, reference);
    // A capture and a reversal have the reference of their charge, but a refund has its own. A
    // chargeback concerns a charge, so the references of refunds and payouts are ignored.
    const { kind, identifiers } = order ? initialOf(order) : {};
    return kind !== "payout" && identifiers?.reference === reference ? order : undefined;
  };
  const eventFor = async (order: Order): Promise<OrderEvent | undefined> => {
    earlier = findRecorded(order, chargeback) === undefined ? undefined : order;
    const endpoint = configuration.endpoints.get(order.endpointId);
    const { tellsChargebacks = false } = endpoint?.settings ?? {};
    const notify = tellsChargebacks !== false;
    return earlier === undefined ? { kind: "charged_back", chargeback, notify } : undefined;
  };
  const order = await reportToLatest(report, find, eventFor);
  if (order === undefined) return { stage, order: "", result: "no such order" };
  if (order instanceof Failure) return { stage, order: "", result: order.message };
  const recorded = findRecorded(order, chargeback) ?? chargeback;
  // An earlier run may have crashed after it changed the order and before it wrote the row of the
  // table `chargebacks`, so the row is written even if the order has the chargeback already.
  const now = await session.now();
  await queriesOf(session).call(order.merchantId, (query) =>
    indexChargeback(query, order, recorded, now),
  );
  const isSame = isSameMoney(recorded.amount, chargeback.amount);
  const known = isSame ? "known" : "recorded before with another amount";
  return { stage, order: order.id, result: earlier === undefined ? "recorded" : known };
}
