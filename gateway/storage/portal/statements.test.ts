/**
 * The law of the statement: in any order and as often as versions of orders are written, its sums
 * equal those of the orders, on the right days, to the minor unit.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import fc from "fast-check";
import { type MovementKind, movementKinds } from "../../orders/movements.ts";
import { type ChargebackStage, chargebackStages, type Order } from "../../orders/order.ts";
import { advance, answer, asks, draft, events, start } from "../../orders/testing.ts";
import { initialOf, totalsOf } from "../../orders/transactions.ts";
import { describeOrder, figuresOf } from "../../portal-api/order-index.ts";
import { Failure } from "../../values/failure.ts";
import { asEndpointId, asOrderId, asSerialNumber } from "../../values/ids.ts";
import { getCurrency } from "../../values/iso-codes.ts";
import { commissionOf, Money } from "../../values/money.ts";
import { calendarIn, dayNumber, hours, type Instant, later } from "../../values/time.ts";
import { makeCells } from "../cells/cells.ts";
import { startDatabase } from "../testing/database-for-tests.ts";
import { makeOrderIndex } from "./order-index.ts";
import { makeStatements } from "./statements.ts";

const server = await startDatabase();
after(() => server.stop());
const { database } = server;
const main = { node: database, vault: database };
const cells = makeCells({ main, open: () => main, waitMs: 100, onFailed: () => undefined });
cells.follow({ current: () => ({ cells: [], cellOf: new Map() }), reload: async () => undefined });
const { listDays, findBalances } = makeStatements(cells, database.query);
const { merchantId } = draft;
await database.query(
  "insert into merchants (id, login, name, control_key) values ($1, 'shop', 'shop', '')",
  [merchantId],
);
const endpoints = { "1001": "USD", "1002": "JPY", "1003": "USD" } as const;
for (const [id, currency] of Object.entries(endpoints)) {
  await database.query(
    "insert into endpoints (id, merchant_id, name, currency) values ($1, $2, 'shop', $3)",
    [...[id, merchantId, currency]],
  );
}

/** A zone whose days begin at half past three in UTC. */
const zone = "America/St_Johns";
const fees = { seller: { percent: "2.5", fixed: "3" }, acquirer: { percent: "1.1" } };

const step = fc.record({
  act: fc.constantFrom("capture", "return", "return", "void", "chargeback", "chargeback"),
  percent: fc.integer({ min: 1, max: 100 }),
  end: fc.constantFrom("done", "done", "refused", "open"),
  waitsHours: fc.integer({ min: 0, max: 30 }),
  stage: fc.constantFrom<ChargebackStage>(...chargebackStages),
  caseId: fc.constantFrom("C1", "C2"),
  days: fc.integer({ min: -3, max: 3 }),
});
const script = fc.record({
  kind: fc.constantFrom("sale", "sale", "preauth", "payout"),
  end: fc.constantFrom("done", "done", "done", "refused", "open"),
  endpoint: fc.constantFrom("1001", "1002", "1003"),
  minor: fc.integer({ min: 1, max: 100_000 }),
  /** The part that the issuer approves. */
  granted: fc.constantFrom(100, 100, 60),
  hasFees: fc.boolean(),
  startsHours: fc.integer({ min: 0, max: 48 }),
  steps: fc.array(step, { maxLength: 6 }),
});
type Script = typeof script extends fc.Arbitrary<infer Value> ? Value : never;

type Booked = Map<string, bigint>;
const dayIn = (where: string, at: Instant) => dayNumber(calendarIn(where, at));

/** Lives through the script, and notes what each event has changed on its day. */
function live(given: Script, number: number, booked: Booked): readonly Order[] {
  const code = endpoints[given.endpoint];
  const currency = getCurrency(code);
  const money = (minor: number) => new Money(BigInt(minor), currency);
  const share = (percent: number) => money(Math.ceil((given.minor * percent) / 100));
  let at = later(start, hours(given.startsHours));
  let serial = 0;
  const newSerial = () => {
    serial += 1;
    return asSerialNumber(`s-${number}-${serial}`);
  };
  const amount = money(given.minor);
  let order: Order = {
    ...draft,
    id: asOrderId(String(42_000_000 + number)),
    clientOrderId: `invoice-${number}`,
    endpointId: asEndpointId(given.endpoint),
    acceptedAt: at,
    purchase: { ...draft.purchase, amount },
    transaction: { ...draft.transaction, kind: given.kind, amount, serialNumber: newSerial() },
  };
  const versions: Order[] = [];
  const book = (kind: MovementKind, day: number, minor: bigint) => {
    const key = `${day} ${given.endpoint} ${code} ${kind}`;
    booked.set(key, (booked.get(key) ?? 0n) + minor);
  };
  const meet = (event: Parameters<typeof advance>[1]) => {
    const taken = advance(order, event, at);
    if (taken instanceof Failure) return false;
    const [before, now] = [totalsOf(order), totalsOf(taken.order)];
    const charged = now.charged.minor - before.charged.minor;
    book("gross", dayIn(zone, at), charged);
    book("returns", dayIn(zone, at), now.returned.minor - before.returned.minor);
    for (const fee of charged > 0n && given.hasFees ? Object.values(fees) : []) {
      book("fees", dayIn(zone, at), commissionOf(fee, now.charged).minor);
    }
    if (event.kind === "paid_out") book("payouts", dayIn(zone, at), amount.minor);
    order = taken.order;
    versions.push(order);
    return true;
  };
  const answered = () => ({ ...answer, processedAt: at });

  meet(events.received);
  const { identifiers } = order.transaction;
  assert.ok(identifiers !== undefined);
  const gate = { ...identifiers.gate, ...(given.hasFees && { fees }) };
  order = {
    ...order,
    transaction: { ...order.transaction, identifiers: { ...identifiers, gate } },
  };
  const first = given.kind === "payout" ? events.paid_out : events.authorized;
  const approvedAmount = given.kind === "payout" ? undefined : share(given.granted);
  if (given.end === "refused") meet({ ...events.refused, answer: answered() });
  else if (given.end === "done") meet({ ...first, answer: { ...answered(), approvedAmount } });
  else meet(events.outcome_unknown);

  for (const { act, percent, end, waitsHours, stage, caseId, days } of given.steps) {
    at = later(at, hours(waitsHours));
    if (act === "chargeback") {
      const dated = later(start, hours(24 * days));
      const facts = { caseId, stage, amount: share(percent), at: dated, serialNumber: newSerial() };
      const { chargeback } = events.charged_back;
      if (order.transaction.stage === "approved" && given.kind !== "payout") {
        meet({ ...events.charged_back, chargeback: { ...chargeback, ...facts } });
      }
      continue;
    }
    const part = act === "void" ? undefined : share(percent).minor;
    const asked = asks(act, part, { currency: code });
    if (!meet({ ...asked, serialNumber: newSerial() }) || end === "open") continue;
    const done = act === "capture" ? events.captured : events.returned;
    meet({ ...(end === "done" ? done : events.refused), answer: answered() });
  }
  bookChargebacks(order, (day, minor) => book("chargebacks", day, minor));
  const isOpen = given.kind === "payout" && given.end === "open";
  if (isOpen) book("pending", dayIn(zone, order.acceptedAt), amount.minor);
  return versions;
}

/** Walks through each case by date, apart from the others. */
function bookChargebacks(order: Order, book: (day: number, minor: bigint) => void): void {
  const sorted = (order.chargebacks ?? []).toSorted((one, other) => one.at - other.at);
  for (const stages of Map.groupBy(sorted, ({ caseId }) => caseId).values()) {
    let back = 0n;
    for (const { stage, amount, at } of stages) {
      const before = back;
      if (["first", "pre-arbitration", "arbitration"].includes(stage)) back = amount.minor;
      else if (stage === "reversed") back -= back < amount.minor ? back : amount.minor;
      book(dayIn("UTC", at), back - before);
    }
  }
}

function shuffle<Item>(items: readonly Item[], seed: number): readonly Item[] {
  let state = seed;
  const keyed = items.map((item) => {
    state = (state * 48_271 + 11) % 2_147_483_647;
    return { item, key: state };
  });
  return keyed.toSorted((one, other) => one.key - other.key).map(({ item }) => item);
}

async function readBooked(): Promise<Booked> {
  const rows = await database.query<Record<string, string>>(
    `select (day - date '1970-01-01')::text as number, endpoint_id::text as endpoint, *
     from statement_days`,
  );
  const entries = rows.flatMap(({ number, endpoint, currency, ...row }) =>
    movementKinds.map(
      (kind) => [`${number} ${endpoint} ${currency} ${kind}`, BigInt(row[kind] ?? 0)] as const,
    ),
  );
  return new Map(entries);
}

/** Splits versions into batches that have each order once, as the node's queue has. */
function distinct(versions: readonly Order[]): readonly (readonly Order[])[] {
  const seen = new Map<string, number>();
  const batches: Order[][] = [];
  for (const order of versions) {
    const count = seen.get(order.id) ?? 0;
    seen.set(order.id, count + 1);
    batches[count] = [...(batches[count] ?? []), order];
  }
  return batches;
}

const moved = (all: Booked) => [...all].filter(([, minor]) => minor !== 0n).sort();

test("the statement's sums equal the orders' on each day, however their versions are written", async () => {
  const runs = fc.asyncProperty(
    fc.array(script, { minLength: 1, maxLength: 12 }),
    fc.integer({ min: 1, max: 1_000_000 }),
    async (scripts, seed) => {
      await database.query("truncate order_index, order_figures, statement_days");
      const expected: Booked = new Map();
      const lives = scripts.map((each, number) => live(each, number, expected));
      const versions = shuffle(lives.flat(), seed);
      const now = () => start;
      const describe = (order: Order) => describeOrder(order, zone);
      const writers = [2, 5].map((pageSize) =>
        makeOrderIndex(database, { describe, figuresOf, now, pageSize }),
      );

      await Promise.all(
        writers.map(async ({ write }, at) => {
          const own = versions.filter((_, each) => each % 2 === at);
          for (const batch of distinct(own)) await write(batch);
        }),
      );
      for (const batch of distinct(versions.toReversed())) await writers[0]?.write(batch);

      assert.deepEqual(moved(await readBooked()), moved(expected));
      await assertTotals(lives.map((each) => each.at(-1) ?? assert.fail()));
    },
  );
  await fc.assert(runs, { numRuns: 40 });
});

/** Compares the balances and the sum of all days with the totals of the orders as they are now. */
async function assertTotals(orders: readonly Order[]): Promise<void> {
  const sums = new Map<string, { charged: bigint; returned: bigint; back: bigint; out: bigint }>();
  for (const order of orders) {
    const { charged, returned, chargedBack } = totalsOf(order);
    const { kind, stage, amount } = initialOf(order);
    const { code } = charged.currency;
    const sum = sums.get(code) ?? { charged: 0n, returned: 0n, back: 0n, out: 0n };
    sum.charged += charged.minor;
    sum.returned += returned.minor;
    sum.back += chargedBack.minor;
    sum.out += kind === "payout" && stage === "approved" ? amount.minor : 0n;
    sums.set(code, sum);
  }
  const balances = await findBalances({ merchantId });
  const days = await listDays(merchantId, always);
  for (const [currency, { charged, returned, back, out }] of sums) {
    const own = days.filter((each) => each.currency === currency);
    const total = (kind: (typeof kinds)[number]) =>
      own.reduce((sum, each) => sum + BigInt(each[kind]), 0n);
    const kinds = ["gross", "returns", "chargebacks", "payouts", "fees", "net"] as const;
    const [gross, given, disputed, paid, fee, net] = kinds.map(total);
    assert.deepEqual([gross, given, disputed, paid], [charged, returned, back, out]);
    assert.equal(net, charged - returned - back - out - (fee ?? 0n));
    assert.equal(balances.find((each) => each.currency === currency)?.net, String(net));
  }
}

const always = { from: "2020-01-01", until: "2040-01-01" };

test("another time zone moves movements to other days as orders change, and no sum differs", async () => {
  await database.query("truncate order_index, order_figures, statement_days");
  const late = { ...answer, processedAt: later(start, hours(12)) };
  const [received] = live(sale, 1, new Map());
  assert.ok(received !== undefined);
  const taken = advance(received, { ...events.authorized, answer: late }, late.processedAt);
  assert.ok(!(taken instanceof Failure));
  const writeIn = (where: string, order: Order) =>
    makeOrderIndex(database, {
      describe: (each) => describeOrder(each, where),
      figuresOf,
      now: () => start,
    }).write([order]);
  const readDays = async () => {
    const days = await listDays(merchantId, always);
    return days.map(({ day, gross }) => `${day} ${gross}`);
  };

  await writeIn("Pacific/Kiritimati", taken.order);
  const before = await readDays();
  await writeIn("Pacific/Pago_Pago", { ...taken.order, version: taken.order.version + 1 });
  const then = await readDays();

  assert.deepEqual([before.length, then.length], [1, 1]);
  assert.notEqual(before[0]?.slice(0, 10), then[0]?.slice(0, 10));
  assert.equal(before[0]?.slice(11), then[0]?.slice(11));
});

const sale: Script = {
  kind: "sale",
  end: "open",
  endpoint: "1001",
  minor: 1042,
  granted: 100,
  hasFees: false,
  startsHours: 0,
  steps: [],
};
