/** Money that is charged back cannot be refunded too, until the merchant wins the dispute. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure } from "../values/failure.ts";
import { asSerialNumber } from "../values/ids.ts";
import { getCurrency } from "../values/iso-codes.ts";
import { Money } from "../values/money.ts";
import { later } from "../values/time.ts";
import type { ChargebackStage, Order } from "./order.ts";
import { advance, approved, asks, events, meet, start, step } from "./testing.ts";
import { chargebackStateOf, findLatestDispute, reasonCodeOf, totalsOf } from "./transactions.ts";

const usd = getCurrency("USD");
const serialNumber = asSerialNumber("d-1");

function charge(order: Order, stage: ChargebackStage, minor: bigint, caseId = "C1"): Order {
  const amount = new Money(minor, usd);
  const chargeback = { caseId, stage, amount, reason: "10.4", at: start, serialNumber };
  return meet(order, { kind: "charged_back", chargeback, notify: false });
}

test("what is left shrinks with every stage that takes money, and grows when a case is won", () => {
  // biome-ignore format: a table
  const journeys: readonly (readonly [(order: Order) => Order, bigint])[] = [
    [(order) => charge(order, "retrieval", 1042n), 1042n],
    [(order) => charge(order, "fraud", 1042n), 1042n],
    [(order) => charge(charge(order, "first", 1000n), "fraud", 1000n), 42n],
    [(order) => charge(order, "first", 1000n), 42n],
    [(order) => charge(charge(order, "first", 1000n), "representment", 1000n), 42n],
    [(order) => charge(charge(order, "first", 1000n), "pre-arbitration", 900n), 142n],
    [(order) => charge(charge(order, "first", 1000n), "reversed", 1000n), 1042n],
    [(order) => charge(charge(order, "first", 1000n), "reversed", 400n), 442n],
    [(order) => charge(charge(order, "first", 500n), "first", 600n, "C2"), 0n],
  ];
  for (const [journey, left] of journeys) {
    assert.equal(totalsOf(journey(approved())).left.minor, left);
  }
});

test("stages count by their dates, in whichever order their files were imported", () => {
  const at = (order: Order, stage: ChargebackStage, day: number) => {
    const amount = new Money(1000n, usd);
    const dated = { reason: stage, at: later(start, day), serialNumber };
    const chargeback = { caseId: "C1", stage, amount, ...dated };
    return meet(order, { kind: "charged_back", chargeback, notify: false });
  };
  const won = at(at(approved(), "reversed", 2), "first", 1);
  const lost = at(at(at(approved(), "arbitration", 3), "first", 1), "reversed", 2);

  assert.deepEqual([totalsOf(won).left.minor, totalsOf(lost).left.minor], [1042n, 42n]);
  assert.deepEqual(
    [chargebackStateOf(won)?.stage, chargebackStateOf(lost)?.stage],
    ["reversed", "arbitration"],
  );
});

test("a dispute is the latest transaction unless another is running or begins after it", () => {
  const disputed = charge(charge(approved(), "first", 400n), "fraud", 400n);
  const returning = meet(disputed, asks("return", 100n));
  const returned = meet(returning, events.returned);

  assert.equal(findLatestDispute(approved()), undefined);
  assert.equal(findLatestDispute(disputed)?.dispute?.stage, "fraud");
  assert.equal(findLatestDispute(returning), undefined);
  assert.equal(findLatestDispute(charge(returning, "reversed", 400n)), undefined);
  assert.equal(findLatestDispute(returned), undefined);
  assert.equal(findLatestDispute(charge(returned, "reversed", 400n))?.dispute?.stage, "reversed");
});

test("a reason begins with the network's code, or is told whole", () => {
  // biome-ignore format: a table
  const reasons = [
    ["10.4 fraud", "10.4"], ["4837", "4837"], ["C08: not received", "C08"], ["UA01", "UA01"],
    ["FR2", "FR2"], ["won", "won"], ["10.4.1", "10.4.1"], ["2031-01-31", "2031"],
    ["123456", "123456"], ["4837x", "4837x"],
  ] as const;
  for (const [reason, code] of reasons) assert.equal(reasonCodeOf({ reason }), code);
});

test("a return above what is left is refused, and so is one of nothing", () => {
  const disputed = charge(approved(), "first", 1000n);
  const refusal = (order: Order, minor?: bigint) => {
    const refused = advance(order, asks("return", minor), start);
    return refused instanceof Failure ? refused.number : "begun";
  };

  assert.equal(refusal(disputed, 43n), 11);
  assert.equal(refusal(disputed, 42n), "begun");
  assert.equal(refusal(charge(approved(), "first", 1042n), 1n), 9);
});

test("a stage is recorded once, in the charge's currency only", () => {
  const disputed = charge(approved(), "first", 1000n);
  const chargeback = {
    ...({ caseId: "C1", stage: "first", reason: "10.4", at: start, serialNumber } as const),
  };
  const report = (amount: Money) =>
    advance(
      disputed,
      { kind: "charged_back", notify: false, chargeback: { ...chargeback, amount } },
      start,
    );

  assert.ok(report(new Money(1000n, usd)) instanceof Failure);
  assert.ok(
    advance(
      approved(),
      {
        kind: "charged_back",
        notify: false,
        chargeback: { ...chargeback, amount: new Money(1000n, getCurrency("EUR")) },
      },
      start,
    ) instanceof Failure,
  );
});

test("a chargeback owes a callback only where the endpoint wants it, after those of transactions", () => {
  const order = approved();
  const urls = { ...order.purchase.urls, notify: "https://shop.example/notify" };
  const told = { ...order, purchase: { ...order.purchase, urls } };
  const chargeback = {
    caseId: "C1",
    stage: "first" as const,
    reason: "10.4",
    at: start,
    amount: new Money(5n, usd),
    serialNumber,
  };

  const silent = step(told, { kind: "charged_back", chargeback, notify: false });
  const loud = step(told, { kind: "charged_back", chargeback, notify: true });

  const [callback] = loud.callbacks ?? [];
  assert.equal(silent.callbacks, undefined);
  assert.equal(callback?.sequence, 1001);
  assert.equal(callback?.serialNumber, serialNumber);
  assert.equal(loud.order.owed, order.owed);
});
