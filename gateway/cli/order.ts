/** `gw order show`: an order as merchants see it, and everything that happened to it. */

import { StartProblem } from "../storage/embedded.ts";
import { makeFindBySequence } from "../storage/find-orders.ts";
import { findHistory } from "../storage/history.ts";
import { asOrderId, isNumericId, sequenceOf } from "../values/ids.ts";
import { makePrintDate } from "../values/time.ts";
import { printStatus } from "../views/status.ts";
import { complain, inHouse } from "./house.ts";
import { print } from "./print.ts";

export function showOrder(text: string, { json = false }: { readonly json?: boolean }) {
  return inHouse(async ({ database, config }) => {
    const id = asOrderId(text);
    const known = isNumericId(text) && text.length > 6;
    const order = known ? await makeFindBySequence(database.query)(sequenceOf(id)) : undefined;
    if (order?.id !== id) return complain(new StartProblem(`There is no order ${text}.`));

    const printDate = makePrintDate(config.zone);
    const fields = printStatus(order, { bySerialNumber: undefined, printDate });
    const seen = fields.filter(([, value]) => value !== undefined && value !== "");
    const history = await findHistory(database.query, order);
    if (json) return print({ order: Object.fromEntries(seen), history }, true);

    print({
      "gw-order-id": id,
      "merchant-order-id": order.clientOrderId,
      ...Object.fromEntries(seen),
    });
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
