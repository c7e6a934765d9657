/** The page of the status response: every field that the gateway sends, every status and stage. */
import { sale } from "../../gateway/orders/transitions.ts";
import { statusOf, wireStageOf } from "../../gateway/views/stages.ts";
import type { Example } from "./examples.ts";
import { mono, page, sentence, table } from "./markdown.ts";
import { stagesOf } from "./orders-page.ts";
import { always, describeStatusField } from "./status-fields.ts";

// biome-ignore format: a table
const suffixMeanings: Readonly<Record<string, string>> = {
  filtering:       "accepted; the gateway's own checks are made",
  "3d_validating": "the cardholder is being authenticated by 3-D Secure",
  "3d_validated":  "the cardholder has been authenticated",
  processing:      "with the acquirer",
  unknown:         "in doubt: the acquirer has not answered, and the charge is being taken back",
  approved:        "paid",
  declined:        "refused by the bank, by 3-D Secure or because of the wallet's payment data",
  filtered:        "refused by the gateway's own checks",
  error:           "failed; nothing is charged, or it has been taken back",
};

export function renderStatusPage(example: Example): string {
  const names = [...always, ...example.reply.fields.map(([name]) => name)];
  return page(
    "gateway/views",
    "Status response",
    "The answer to the order status operation. A field that has nothing to say for an order is " +
      "left out; none is ever sent empty. New fields may be added at any time.",
    "## Fields",
    table(
      ["Field", "Description"],
      [...new Set(names)].map((name) => [mono(name), sentence(describeStatusField(name))]),
    ),
    "## Statuses and stages",
    "Poll until the status is one of the four final ones. A status that is not final says " +
      "nothing about the result, however long it lasts: what becomes of an order in doubt is " +
      "decided by the bank's word and never by the clock.",
    table(["`order-stage`", "`status`", "Meaning"], stageRows()),
  );
}

function stageRows(): readonly (readonly string[])[] {
  const rows = stagesOf(sale).map((stage) => {
    const wire = wireStageOf("sale", stage);
    const meaning = suffixMeanings[wire.replace("sale_", "")];
    if (meaning === undefined) throw new Error(`tools/documents/status-page.ts lacks ${wire}.`);
    return [mono(wire), mono(statusOf(stage)), sentence(meaning)];
  });
  return rows.filter(([wire], at) => rows.findIndex(([other]) => other === wire) === at);
}
