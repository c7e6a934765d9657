/**
 * The checks of `gw certify`. Each check simulates one situation in the sandbox, and the merchant's
 * server gets points for handling it correctly.
 */
import { randomUUID } from "node:crypto";
import { type Announced, type CertifyStage, PointsLost } from "./certify-stage.ts";

type CertifyCheck = {
  readonly name: string;
  readonly played: string;
  readonly expected: string;
  readonly points: number;
  /** The page of the documentation about the situation. */
  readonly page: string;
  /** Starts a slow check's order before all checks run. Returns the order's id. */
  readonly prepare?: (stage: CertifyStage) => Promise<string>;
  /**
   * Throws `PointsLost` if the merchant's server handles the situation wrongly. `order` is the id
   * of the order that `prepare` has started, or empty without `prepare`.
   */
  readonly play: (stage: CertifyStage, order: string) => Promise<void>;
};

/** Number and CVV decide the sandbox's answer. Only the card `challenged` requires 3-D Secure. */
const cards = {
  approved: { number: "4000001000000018", cvv: "123" },
  declined: { number: "4000001000000018", cvv: "116" },
  noAnswer: { number: "4000001000000018", cvv: "217" },
  challenged: { number: "4000002100000023", cvv: "123" },
} as const;

// biome-ignore format: a table
export const checks: readonly CertifyCheck[] = [
  { name: "paid",       points: 10, page: "callbacks#your-response",               played: "an approved payment, and its callback",                             expected: "2xx; paid, shipped once",                              play: playPaid },
  { name: "declined",   points: 10, page: "concepts#results",                      played: "a declined payment, and its callback",                              expected: "2xx; failed, nothing shipped",                         play: playDeclined },
  { name: "duplicate",  points: 10, page: "callbacks#repeats",                     played: "the same callback three times",                                     expected: "2xx each time; paid, shipped once",                    play: playDuplicate },
  { name: "reordered",  points: 10, page: "callbacks#your-response",               played: "a refund in the portal; its callback comes before the sale's",      expected: "2xx; refunded",                                        play: playReordered },
  { name: "delayed",    points: 5,  page: "merchant-api/status",                   played: "an approved payment; its callback comes only after all is known",   expected: "paid without the callback, by asking for the status",  play: playDelayed },
  { name: "forged",     points: 15, page: "callbacks#the-request",                 played: "an approval of a declined order, with a wrong, missing or foreign control", expected: "no 2xx; failed, nothing shipped",              play: playForged },
  { name: "disputed",   points: 5,  page: "callbacks#chargebacks",                 played: "a chargeback of a paid order; its callback comes twice",            expected: "2xx each time; paid, shipped once",                    play: playDisputed },
  { name: "replayed",   points: 10, page: "callbacks#which-fields-are-proven",     played: "a genuine control with invented fields: a refund that never was",   expected: "paid, shipped once",                                   play: playReplayed },
  { name: "slow",       points: 5,  page: "concepts#results",                      played: "an acquirer that has not answered yet",                             expected: "the buyer is answered within 30 s; open, nothing shipped", play: playSlow },
  { name: "repeated",   points: 10, page: "concepts#repeats",                      played: "a buyer who presses the button three times",                        expected: "one order at the gateway; paid, shipped once",         play: playRepeated },
  { name: "abandoned",  points: 5,  page: "3d-secure#the-result",                  played: "a challenge that the cardholder leaves",                            expected: "open, nothing shipped",                                prepare: (stage) => stage.buy(cards.challenged), play: playAbandoned },
  { name: "in doubt",   points: 5,  page: "concepts#results",                      played: "an acquirer that does not answer; the gateway reverses the charge", expected: "open until the result comes, then failed, nothing shipped", prepare: buyUnanswered, play: playInDoubt },
];

async function playPaid(stage: CertifyStage): Promise<void> {
  await bringPaid(stage, await stage.pay(cards.approved));
}

async function bringPaid(stage: CertifyStage, result: Announced): Promise<void> {
  await stage.bring(result);
  await stage.expect({ order: result.order, state: "paid", shipped: 1 });
}

async function bringFailed(stage: CertifyStage, result: Announced): Promise<void> {
  await stage.bring(result);
  await stage.expect({ order: result.order, state: "failed", shipped: 0 });
}

async function playDeclined(stage: CertifyStage): Promise<void> {
  await bringFailed(stage, await stage.pay(cards.declined));
}

async function playDuplicate(stage: CertifyStage): Promise<void> {
  const result = await stage.pay(cards.approved);
  for (let times = 0; times < 3; times += 1) await bringPaid(stage, result);
}

/**
 * Sends a refund's callback before its sale's. The merchant's server may refuse the refund's
 * callback, because it does not know the sale yet, so all callbacks are sent again.
 */
async function playReordered(stage: CertifyStage): Promise<void> {
  const sale = await stage.pay(cards.approved);
  const refund = await stage.refund(sale);
  await stage.bring(refund).catch(forgive);
  for (const result of [sale, refund, sale]) await stage.bring(result);
  await stage.expect({ order: sale.order, state: "refunded" });
}

function forgive(error: unknown): void {
  if (!(error instanceof PointsLost)) throw error;
}

async function playDelayed(stage: CertifyStage): Promise<void> {
  const result = await stage.pay(cards.approved);
  await stage.expect({ order: result.order, state: "paid", shipped: 1 }, stage.asksWithinMs);
  await bringPaid(stage, result);
}

/** A chargeback's callback is `approved` too. The server must not ship the goods for it. */
async function playDisputed(stage: CertifyStage): Promise<void> {
  const sale = await stage.pay(cards.approved);
  await bringPaid(stage, sale);
  const chargeback = await stage.chargeBack(sale);
  await bringPaid(stage, chargeback);
  await bringPaid(stage, chargeback);
}

async function playForged(stage: CertifyStage): Promise<void> {
  const other = await stage.pay(cards.approved);
  const result = await stage.pay(cards.declined);
  const { control = "" } = other.fields;
  for (const forged of ["0".repeat(control.length), undefined, control]) {
    const approval = { status: "approved", error_code: undefined, error_message: undefined };
    if (!(await stage.forge(result, { ...approval, control: forged }))) continue;
    await stage.expect({ order: result.order, state: "failed", shipped: 0 }, 0).catch(forgive);
    throw new PointsLost("A forged approval was answered with 2xx.");
  }
  await bringFailed(stage, result);
}

/**
 * Invents a refund by changing fields that a genuine checksum does not cover. The server may answer
 * with any status, but must not report the order as refunded.
 */
async function playReplayed(stage: CertifyStage): Promise<void> {
  const result = await stage.pay(cards.approved);
  await bringPaid(stage, result);
  await stage.forge(result, { type: "reversal", "serial-number": randomUUID() });
  await stage.expect({ order: result.order, state: "paid", shipped: 1 });
}

async function playSlow(stage: CertifyStage): Promise<void> {
  await buyUnanswered(stage);
}

/** Buys with a card for which the acquirer gives no answer. Returns the order's id. */
async function buyUnanswered(stage: CertifyStage): Promise<string> {
  const order = await stage.buy(cards.noAnswer);
  await stage.expect({ order, state: "open", shipped: 0 });
  return order;
}

/**
 * Buys the same twice at once and again after the result, like an impatient buyer. If the server
 * charges the card again later, the final check of all orders finds the second charge.
 */
async function playRepeated(stage: CertifyStage): Promise<void> {
  const order = randomUUID();
  const press = () => stage.press(cards.approved, order);
  const answers = await Promise.all([press(), press()]);
  // The shop may refuse one of the two simultaneous requests as a repeat, but not both.
  if (answers.every((status) => status >= 400)) {
    throw new PointsLost(`The purchase was answered with ${answers.join(" and ")}.`);
  }
  const result = await stage.resultOf(order);
  await press();
  await bringPaid(stage, result);
}

/**
 * The cardholder leaves the 3-D Secure challenge, so the server must not ship the goods. At an
 * endpoint without 3-D Secure, the order has a result already, and the server gets the points.
 */
async function playAbandoned(stage: CertifyStage, order: string): Promise<void> {
  if (await stage.hasResult(order)) return;
  await stage.expect({ order, state: "open", shipped: 0 });
}

async function playInDoubt(stage: CertifyStage, order: string): Promise<void> {
  await bringFailed(stage, await stage.resultOf(order));
}
