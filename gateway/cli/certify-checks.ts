/** The checks of `gw certify`. Each plays one bad day in the sandbox, and is worth points. */
import { randomUUID } from "node:crypto";
import { Problem } from "../values/problem.ts";
import type { Announced, CertifyStage } from "./certify-stage.ts";

export type CertifyCheck = {
  readonly name: string;
  readonly played: string;
  readonly expected: string;
  readonly points: number;
  /** Of the documentation. */
  readonly page: string;
  /** Before all checks are played: what takes its time. */
  readonly prepare?: (stage: CertifyStage) => Promise<string | Problem>;
  /** The reason why the points are lost. `order` is the prepared one. */
  readonly play: (stage: CertifyStage, order: string) => Promise<Problem | undefined>;
};

/** The sandbox bank decides by the card, or by the CVV. All but one need no 3-D Secure. */
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
  { name: "in doubt",   points: 5,  page: "concepts#results",                      played: "an acquirer that does not answer; the gateway reverses the charge", expected: "open until the result comes, then failed, nothing shipped", prepare: prepareInDoubt, play: playInDoubt },
];

async function playPaid(stage: CertifyStage): Promise<Problem | undefined> {
  const result = await stage.pay(cards.approved);
  return result instanceof Problem ? result : bringPaid(stage, result);
}

async function bringPaid(stage: CertifyStage, result: Announced): Promise<Problem | undefined> {
  const { order } = result;
  return (await stage.bring(result)) ?? stage.expect({ order, state: "paid", shipped: 1 });
}

async function bringFailed(stage: CertifyStage, result: Announced): Promise<Problem | undefined> {
  const { order } = result;
  return (await stage.bring(result)) ?? stage.expect({ order, state: "failed", shipped: 0 });
}

async function playDeclined(stage: CertifyStage): Promise<Problem | undefined> {
  const result = await stage.pay(cards.declined);
  return result instanceof Problem ? result : bringFailed(stage, result);
}

async function playDuplicate(stage: CertifyStage): Promise<Problem | undefined> {
  const result = await stage.pay(cards.approved);
  if (result instanceof Problem) return result;
  return (
    (await bringPaid(stage, result)) ?? (await bringPaid(stage, result)) ?? bringPaid(stage, result)
  );
}

/** Each comes again: the first time a server may not be able to place the refund. */
async function playReordered(stage: CertifyStage): Promise<Problem | undefined> {
  const sale = await stage.pay(cards.approved);
  if (sale instanceof Problem) return sale;
  const refund = await stage.refund(sale);
  if (refund instanceof Problem) return refund;
  await stage.bring(refund);
  for (const result of [sale, refund, sale]) {
    const refused = await stage.bring(result);
    if (refused !== undefined) return refused;
  }
  return stage.expect({ order: sale.order, state: "refunded" });
}

async function playDelayed(stage: CertifyStage): Promise<Problem | undefined> {
  const result = await stage.pay(cards.approved);
  if (result instanceof Problem) return result;
  const paid = { order: result.order, state: "paid", shipped: 1 } as const;
  return (await stage.expect(paid, stage.asksWithinMs)) ?? bringPaid(stage, result);
}

/** A chargeback is approved as a sale is: a server that looks at the status alone ships again. */
async function playDisputed(stage: CertifyStage): Promise<Problem | undefined> {
  const sale = await stage.pay(cards.approved);
  if (sale instanceof Problem) return sale;
  const early = await bringPaid(stage, sale);
  if (early !== undefined) return early;
  const chargeback = await stage.chargeBack(sale);
  if (chargeback instanceof Problem) return chargeback;
  return (await bringPaid(stage, chargeback)) ?? bringPaid(stage, chargeback);
}

async function playForged(stage: CertifyStage): Promise<Problem | undefined> {
  const other = await stage.pay(cards.approved);
  const result = await stage.pay(cards.declined);
  if (other instanceof Problem) return other;
  if (result instanceof Problem) return result;
  const { control = "" } = other.fields;
  for (const forged of ["0".repeat(control.length), undefined, control]) {
    const approval = { status: "approved", error_code: undefined, error_message: undefined };
    const passed = await stage.forge(result, { ...approval, control: forged });
    if (passed instanceof Problem) return passed;
    if (!passed) continue;
    await stage.expect({ order: result.order, state: "failed", shipped: 0 }, 0);
    return new Problem("A forged approval was answered with 2xx.");
  }
  return bringFailed(stage, result);
}

/** The server's answer does not matter; it must not believe the refund. */
async function playReplayed(stage: CertifyStage): Promise<Problem | undefined> {
  const result = await stage.pay(cards.approved);
  if (result instanceof Problem) return result;
  const early = await bringPaid(stage, result);
  if (early !== undefined) return early;
  const invented = { type: "reversal", "serial-number": randomUUID() };
  const passed = await stage.forge(result, invented);
  if (passed instanceof Problem) return passed;
  return stage.expect({ order: result.order, state: "paid", shipped: 1 });
}

async function playSlow(stage: CertifyStage): Promise<Problem | undefined> {
  const order = await stage.buy(cards.noAnswer);
  if (order instanceof Problem) return order;
  return stage.expect({ order, state: "open", shipped: 0 });
}

/** A second charge may come later: the last look at all orders finds it. */
async function playRepeated(stage: CertifyStage): Promise<Problem | undefined> {
  const order = randomUUID();
  const press = () => stage.press(cards.approved, order);
  const answers = await Promise.all([press(), press()]);
  const refused = answers.find((answer) => answer instanceof Problem);
  if (refused !== undefined) return refused;
  // One of the two may be refused, as a repeat.
  if (answers.every((answer) => Number(answer) >= 400)) {
    return new Problem(`The purchase was answered with ${answers.join(" and ")}.`);
  }
  const result = await stage.resultOf(order);
  if (result instanceof Problem) return result;
  const again = await press();
  if (again instanceof Problem) return again;
  return bringPaid(stage, result);
}

/** At an endpoint without 3-D Secure the payment ends, and there is nothing to leave. */
async function playAbandoned(stage: CertifyStage, order: string): Promise<Problem | undefined> {
  if (await stage.hasResult(order)) return undefined;
  return stage.expect({ order, state: "open", shipped: 0 });
}

async function prepareInDoubt(stage: CertifyStage): Promise<string | Problem> {
  const order = await stage.buy(cards.noAnswer);
  if (order instanceof Problem) return order;
  return (await stage.expect({ order, state: "open", shipped: 0 })) ?? order;
}

async function playInDoubt(stage: CertifyStage, order: string): Promise<Problem | undefined> {
  const result = await stage.resultOf(order);
  return result instanceof Problem ? result : bringFailed(stage, result);
}
