/**
 * Compares the books after the faults: what merchants were told, what the gateway stores, what the
 * bank has booked and what the receiver got must agree. Returns every contradiction as a sentence.
 */
import { assertBalancesAgree, readLedger, readRows, type StoredOrder } from "../support/books.ts";
import { plainCard } from "../support/merchant.ts";
import type { Heard } from "../support/receiver.ts";
import { cards } from "../support/threeds.ts";
import type { Merchants, Purchase } from "./merchants.ts";

type Stores = { readonly databaseUrl: string; readonly dataDir: string };
type Sources = Stores & {
  readonly merchants: Merchants;
  /** The callbacks that the receiver answered with 200. */
  readonly heard: readonly Heard[];
  readonly logs: readonly string[];
};
type Named = { readonly kind: string; readonly stage: string; readonly serialNumber: string };
type Row = StoredOrder & {
  readonly client_orderid: string;
  readonly progress: { readonly transaction: Named; readonly earlier: readonly Named[] };
};

/** Returns the unfinished work: orders that are not final, and callbacks that are due. */
export async function readUnfinished({ databaseUrl }: Pick<Stores, "databaseUrl">) {
  return readRows<{ what: string }>(
    databaseUrl,
    `select format('order %s is %s and owes %s', id, stage, coalesce(owes::text, 'nothing')) as what
     from orders where owes is not null or finished_at is null
     union all select format('a callback of order %s is due', order_id) from callbacks
     where due_at is not null`,
  );
}

export async function compareBooks(sources: Sources): Promise<readonly string[]> {
  const { databaseUrl, dataDir, merchants, heard, logs } = sources;
  const left = await readUnfinished({ databaseUrl });
  const orders = await readRows<Row>(
    databaseUrl,
    "select id, client_orderid, finished_at is null as due, progress from orders",
  );
  const ledger = await readLedger(dataDir);
  const booked = ledger.map((entry) => ({ ...entry, amount: BigInt(entry.amount) }));
  return [
    ...left.map(({ what }) => what),
    ...merchants.refused.map((refusal) => `a merchant was refused: ${refusal}`),
    ...findLost(orders, merchants.purchases),
    ...findMiscounted(orders, booked),
    ...findUntold(orders, heard),
    ...(await findChanged(merchants)),
    ...findInLogs(logs),
  ];
}

/** Finds acknowledged orders that are missing, and client order ids with two. */
function findLost(orders: readonly Row[], purchases: readonly Purchase[]): readonly string[] {
  const byClientId = Map.groupBy(orders, (order) => order.client_orderid);
  const known = new Set(purchases.map(({ clientOrderId }) => clientOrderId));
  const lost = purchases.flatMap(({ clientOrderId, orderIds }) => {
    const own = (byClientId.get(clientOrderId) ?? []).map(({ id }) => id);
    if (own.length > 1) return [`${clientOrderId} has the orders ${own.join(", ")}`];
    const absent = orderIds.filter((id) => !own.includes(id));
    return absent.map((id) => `order ${id} was acknowledged for ${clientOrderId} and is lost`);
  });
  const unknown = orders.filter((order) => !known.has(order.client_orderid));
  return [...lost, ...unknown.map(({ id }) => `order ${id} was begun by no merchant`)];
}

/** Compares order by order, so that every order that contradicts the bank is named. */
function findMiscounted(
  orders: readonly Row[],
  booked: Parameters<typeof assertBalancesAgree>[1],
): readonly string[] {
  try {
    assertBalancesAgree(orders, booked);
    return [];
  } catch (error) {
    return [`the bank's books differ: ${String(error)}`];
  }
}

/** Finds ended transactions whose final status no callback has sent. */
function findUntold(orders: readonly Row[], heard: readonly Heard[]): readonly string[] {
  const told = new Set(heard.map(({ fields }) => `${fields["serial-number"]} ${fields["status"]}`));
  return orders.flatMap(({ id, progress }) =>
    [...progress.earlier, progress.transaction]
      .filter(({ stage }) => finals.has(stage))
      .filter(({ serialNumber, stage }) => !told.has(`${serialNumber} ${stage}`))
      .map(
        ({ kind, stage }) => `the ${kind} of order ${id} ended ${stage} and was not called back`,
      ),
  );
}

const finals: ReadonlySet<string> = new Set(["approved", "declined", "filtered", "error"]);

/**
 * Finds transactions whose final status for the merchant differs from the gateway's at the end. The
 * order may have a later transaction: a stopped node that reads a return late begins it again if
 * its repeat at the other node has failed since (`outages.long.test.ts`).
 */
async function findChanged({ purchases, ask }: Merchants): Promise<readonly string[]> {
  const changed: string[] = [];
  // Asks one after the other, because an hour has too many purchases to ask about all at once.
  for (const purchase of purchases) {
    for (const told of purchase.told) {
      const { status } = await ask(purchase, told);
      if (status === told.status) continue;
      const { orderIds, journey } = purchase;
      const then = `told as ${told.status} at ${(told.atMs / 1000).toFixed(1)} s`;
      const name = `transaction ${told.serialNumber} of order ${orderIds[0]} (${journey})`;
      changed.push(`${name} was ${then} and is ${status} now`);
    }
  }
  return changed;
}

/** Log events that no fault of another part excuses. */
const faultsOfOurs =
  /"event":"(request\.failed|order\.effect_failed|storage\.step_stuck|acquirer\.late_approval_lost)"/;

function findInLogs(logs: readonly string[]): readonly string[] {
  const shown = [plainCard, cards.frictionlessNoMethod].filter((card) =>
    logs.some((log) => log.includes(card)),
  );
  const bad = logs
    .flatMap((log) => log.split("\n").filter((line) => faultsOfOurs.test(line)))
    .map((line) => JSON.parse(line));
  return [
    ...shown.map((card) => `the card ${card.slice(0, 4)}… is in a log`),
    ...bad.slice(0, 20).map(({ event, err }) => `a node logged ${event}: ${err?.stack}`),
  ];
}
