/** An order by the id that a merchant or a log names it by. */
import type { Order } from "../orders/order.ts";
import { makeFindBySequence } from "../storage/find-orders.ts";
import { asOrderId, isNumericId, sequenceOf } from "../values/ids.ts";
import { Problem } from "../values/problem.ts";
import type { Installation } from "./installation.ts";

export async function findOrder(
  { database }: Installation,
  text: string,
): Promise<Order | Problem> {
  const id = asOrderId(text);
  const isId = isNumericId(text) && text.length > 6;
  const order = isId ? await makeFindBySequence(database.query)(sequenceOf(id)) : undefined;
  return order?.id === id ? order : new Problem(`There is no order ${text}.`);
}
