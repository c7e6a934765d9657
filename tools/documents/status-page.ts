/** The page of the status response: every field that the gateway sends, every status and stage. */
import type { TransactionKind } from "../../gateway/orders/order.ts";
import { tables } from "../../gateway/orders/transitions.ts";
import { type Status, statusOf, wireStageOf, wireTypeOf } from "../../gateway/views/stages.ts";
import type { Example } from "./examples.ts";
import { mono, page, sentence, table } from "./markdown.ts";
import { always, describeStatusField } from "./status-fields.ts";
import { stagesOf, transactionKinds } from "./transition-tables.ts";

// biome-ignore format: a table
const suffixMeanings: Readonly<Record<string, string>> = {
  filtering:       "accepted; the gateway's own checks are made",
  "3d_validating": "the cardholder is being authenticated by 3-D Secure",
  "3d_validated":  "the cardholder has been authenticated",
  processing:      "with the acquirer",
  unknown:         "in doubt: the acquirer has not answered, and the doubt is being settled with it",
  approved:        "done: the money is taken, held or given back, or the card is verified",
  declined:        "refused by the bank, by 3-D Secure or because of the wallet's payment data",
  filtered:        "refused by the gateway's own checks",
  error:           "failed; nothing was done, or it has been taken back",
};

// biome-ignore format: a table
const kindMeanings: Readonly<Record<TransactionKind, string>> = {
  sale:                   "sale",
  preauth:                "preauthorisation",
  "account-verification": "account verification",
  capture:                "capture",
  reversal:               "return of money that was taken",
  cancel:                 "return that lets go of what a preauthorisation holds",
};

export function renderStatusPage(example: Example): string {
  const names = [...always, ...example.reply.fields.map(([name]) => name)];
  return page(
    "gateway/views",
    "Status response",
    "The answer to the order status operation and to synchronous requests. It describes one " +
      "transaction of an order: the latest, or the one whose request `by-request-sn` names. A " +
      "field that has nothing to say for it is left out; none is ever sent empty. New fields may " +
      "be added at any time.",
    "## Fields",
    table(
      ["Field", "Description"],
      [...new Set(names)].map((name) => [mono(name), sentence(describeStatusField(name))]),
    ),
    "## Statuses and stages",
    "Poll until the status is one of the four final ones. A status that is not final says " +
      "nothing about the result, however long it lasts: what becomes of an order in doubt is " +
      "decided by the bank's word and never by the clock.",
    "`order-stage` begins with what the transaction is and ends with how far it is, as in " +
      `${mono(wireStageOf("sale", "approved"))}.`,
    table(
      ["Transaction", "`transaction-type`", "`order-stage` begins with"],
      transactionKinds.map((kind) => [
        sentence(kindMeanings[kind]),
        mono(wireTypeOf(kind)),
        mono(partsOf(wireStageOf(kind, "approved")).prefix),
      ]),
    ),
    table(
      ["`order-stage` ends with", "`status`", "Of which transactions", "Meaning"],
      [...endings()].map(endingRow),
    ),
  );
}

type Ending = { readonly status: Status; readonly kinds: ReadonlySet<TransactionKind> };

/** By the end of the stage's wire name; several inner stages may look the same from outside. */
function endings(): ReadonlyMap<string, Ending> {
  const found = new Map<string, { status: Status; kinds: Set<TransactionKind> }>();
  for (const kind of transactionKinds) {
    for (const stage of stagesOf(tables[kind])) {
      const { suffix } = partsOf(wireStageOf(kind, stage));
      const ending = found.get(suffix) ?? { status: statusOf(stage), kinds: new Set() };
      found.set(suffix, { ...ending, kinds: ending.kinds.add(kind) });
    }
  }
  return found;
}

function endingRow([suffix, { status, kinds }]: readonly [string, Ending]): readonly string[] {
  const meaning = suffixMeanings[suffix];
  if (meaning === undefined) throw new Error(`tools/documents/status-page.ts lacks ${suffix}.`);
  const everyKind = kinds.size === transactionKinds.length;
  const shown = everyKind ? "all" : [...new Set([...kinds].map(wireTypeOf))].map(mono).join(", ");
  return [mono(`_${suffix}`), mono(status), shown, sentence(meaning)];
}

function partsOf(wireStage: string) {
  const at = wireStage.indexOf("_") + 1;
  return { prefix: wireStage.slice(0, at), suffix: wireStage.slice(at) };
}
