/** `gw order show`: an order as merchants see it, and everything that happened to it. */

import type { Order } from "../orders/order.ts";
import { transactionsOf } from "../orders/transactions.ts";
import { findHistory } from "../storage/history.ts";
import { formatAmount } from "../values/money.ts";
import { Problem } from "../values/problem.ts";
import { makePrintDate } from "../values/time.ts";
import { printStatus, wireStageOf } from "../views/status.ts";
import { findOrder } from "./find-order.ts";
import { complain, withInstallation } from "./installation.ts";
import { print } from "./print.ts";

export function showOrder(text: string, { json = false }: { readonly json?: boolean }) {
  return withInstallation(async (installation) => {
    const order = await findOrder(installation, text);
    if (order instanceof Problem) return complain(order);

    const { config, database } = installation;
    const printDate = makePrintDate(config.zone);
    const found = { order, transaction: order.transaction };
    const fields = printStatus(found, { bySerialNumber: undefined, printDate });
    const seen = fields.filter(([, value]) => value !== undefined && value !== "");
    const transactions = transactionLines(order);
    const history = await findHistory(database.query, order);
    if (json) return print({ order: Object.fromEntries(seen), transactions, history }, true);

    print({
      "gw-order-id": order.id,
      "merchant-order-id": order.clientOrderId,
      ...Object.fromEntries(seen),
    });
    process.stdout.write("\n");
    print(transactions);
    process.stdout.write("\n");
    print(
      history.map(({ version, at, node, kind, detail }) => ({
        version,
        at,
        node,
        event: kind,
        detail: JSON.stringify(detail),
      })),
    );
  });
}

/** Why the gate was chosen stands with the transaction that went through it. */
function transactionLines(order: Order) {
  return transactionsOf(order).map(({ kind, stage, amount, serialNumber, identifiers }) => ({
    stage: wireStageOf(kind, stage),
    amount: `${formatAmount(amount)} ${amount.currency.code}`,
    "serial-number": serialNumber,
    gate: identifiers?.gate.id ?? "",
    chosen: identifiers?.gate.choice ?? "",
  }));
}
