/** Shapes of input and output that several routes of the portal API use. */
import type { TransactionKind } from "../orders/order.ts";
import type { FailureCode } from "../values/failure.ts";
import { isNumericId } from "../values/ids.ts";
import { formatAmount, type Money } from "../values/money.ts";
import { moneyStates, sharedBy } from "./order-index.ts";
import { deliveryStates } from "./reads.ts";
import {
  decimal,
  dictionary,
  flag,
  instant,
  list,
  oneOf,
  optional,
  record,
  type Schema,
  text,
  type ValueOf,
  whole,
  word,
} from "./schema.ts";
import type { FactName, ShownEvent } from "./timeline.ts";

export const nothing = record({});
export const done = record({ done: flag() });

const sessionStates = ["out", "second_factor", "new_password", "enrolment", "in"] as const;
export type SessionState = (typeof sessionStates)[number];

const environments = ["staging", "production", "rehearsal"] as const;
export type ShownEnvironment = (typeof environments)[number];

const userShape = record({
  login: text(),
  role: text(),
  merchant: optional(text("whose user it is; absent for an operator's")),
  rights: list(text()),
});

export const sessionShape = record({
  state: oneOf(sessionStates, "`in` is signed in; the others say what has to be done first"),
  environment: oneOf(environments),
  user: optional(userShape),
  factors: optional(record({ totp: flag(), passkeys: whole(), recoveryCodes: whole() })),
});
export type SessionView = ValueOf<typeof sessionShape>;

export const sessionFields = {
  id: text("names it, and opens nothing"),
  isThis: flag(),
  beganAt: instant(),
  seenAt: instant(),
  network: text("the client's address"),
  agent: text("its browser"),
};
export const sessionRow = record(sessionFields);

/** An amount as a text for the screen, and as a number of minor units for programs. */
export const moneyShape = record({
  minor: whole("in minor units"),
  currency: text("ISO 4217"),
  text: text("as a decimal, in the currency's form"),
});
type MoneyView = ValueOf<typeof moneyShape>;

export function viewMoney(money: Money): MoneyView {
  const { code } = money.currency;
  return { minor: Number(money.minor), currency: code, text: formatAmount(money) };
}

/** A page begins after the last row of the page before. New rows would shift row numbers. */
export const cursorInput = {
  after: optional(text("`next` of the page before", { max: 120, isExact: true })),
  limit: optional(whole("50 when left out", 1, 200)),
};

export const searchedTo = optional(instant("older ones were not looked through yet; `next` does"));

/** An id that the database can store as a number. */
export const numericId = (meaning: string) =>
  text(meaning, { max: 19, pattern: /^[1-9]\d*$/, check: isNumericId });
export const orderId = numericId("the order id");

/** A cursor is the text `next` of a page. A text that is not a cursor gives a page without rows. */
export function readCursor(text: string | undefined) {
  if (text === undefined) return undefined;
  const [, at = "0", id = "0", sequence = "0"] = cursorForm.exec(text) ?? [];
  if (!isNumericId(id)) return { at: 0, id: "0", sequence: 0 };
  return { at: Number(at), id, sequence: Number(sequence) };
}

const cursorForm = /^(\d{1,14}(?:\.\d{1,6})?)-(\d{1,19})(?:-(\d{1,6}))?$/;

export const orderLineShape = record({
  order: text("the order id"),
  clientOrder: text("the merchant's own id"),
  at: instant("when it was accepted"),
  merchant: text("the merchant's login"),
  endpoint: text("the endpoint's id"),
  type: text("sale, preauth, account-verification or payout"),
  stage: text("as the merchant's status shows it"),
  status: oneOf([...moneyStates, "approved"], "what has become of its money"),
  reason: word<FailureCode | "">("why it was not approved; a code of the catalogue of failures"),
  threeds: text("the result of 3-D Secure; empty without one"),
  amount: moneyShape,
  network: text(),
  lastFour: text(),
  email: text(),
  name: text("the cardholder's, or the customer's"),
  gate: text("the gate's name; empty for a merchant's user"),
  reference: text("RRN"),
});
export type OrderLineView = ValueOf<typeof orderLineShape>;

const named = record({ name: text(), value: text() });

const transactionShape = record({
  kind: text(),
  stage: text(),
  status: text("processing, in_doubt, approved, declined, error or filtered"),
  amount: moneyShape,
  serialNumber: text(),
  reference: optional(text("RRN")),
  trace: optional(text("STAN")),
  terminal: optional(text()),
  gate: optional(text()),
  choice: optional(text("why this gate")),
  responseCode: optional(text("of the acquirer")),
  approvalCode: optional(text()),
  reason: optional(text()),
  finishedAt: optional(instant()),
});

export const callbackShape = record({
  order: text(),
  merchant: text(),
  sequence: whole("of the transaction in its order"),
  url: text("", { max: 2_000 }),
  state: oneOf(deliveryStates),
  tries: whole(),
  madeAt: instant(),
  nextAt: optional(instant("the next try")),
  endedAt: optional(instant()),
  resentAt: optional(instant("when a user last had it sent again")),
  resentBy: optional(text("the user's login; a merchant's user sees those of its own merchant")),
  lastStatus: optional(whole("of the receiver's answer to the last attempt")),
  lastFailure: optional(text("why the last attempt had no answer")),
});

export const attemptShape = record({
  sequence: whole(),
  at: instant(),
  method: text(),
  url: text("with the beginning of `control` alone", { max: 100_000 }),
  body: text("with the beginning of `control` alone", { max: 1_000_000 }),
  status: optional(whole("of the receiver's answer")),
  failure: optional(text("why there was no answer")),
  ms: whole(),
  answer: optional(text("the beginning of it; for operators", { max: 100_000 })),
});

/** The facts of an event by their names, such as the acquirer's response code. */
const factsShape = dictionary(text()) as Schema<Partial<Record<FactName, string>>>;
const ruleShape = record({
  kind: text(),
  scope: oneOf(["gateway", "merchant", "endpoint"]),
  action: optional(oneOf(["block", "force_3ds", "mark", "allow"])),
  missing: optional(text("what the rule could not know")),
  facts: text("as JSON"),
});

const messageShape = record({
  at: instant(),
  way: oneOf(["sent", "received"]),
  type: text("like 0420 or ARes"),
  isDerived: flag("made again from the order: a plain charge's messages are not kept"),
  fields: list(named),
  raw: optional(text("encoded anew from the masked fields", { max: 20_000 })),
});

const transactionKinds = [
  "sale",
  "preauth",
  "account-verification",
  "payout",
  "capture",
  "refund",
  "cancel",
  "void",
] as const satisfies readonly TransactionKind[];

/** The gateway asks the acquirer again, or the operator settles the doubt. */
export const decisions = ["ask", "settle-done", "settle-not-done"] as const;
export type Decision = (typeof decisions)[number];

const statuses = ["processing", "approved", "declined", "error", "filtered"] as const;

export const actionPreviewShape = record({
  isAllowed: flag(),
  why: optional(text("why not")),
  code: optional(text("of that")),
  of: optional(oneOf(transactionKinds, "what begins, or what is in doubt")),
  amount: optional(moneyShape),
  most: optional(moneyShape),
  becomes: optional(oneOf(statuses, "of a decision; absent where the result stays as it is")),
});
export type ActionPreview = ValueOf<typeof actionPreviewShape>;

const statusText = text("the reply to the merchant's status request", { max: 300_000 });

export const orderDetailShape = record({
  line: orderLineShape,
  version: whole("changes with every step; decisions name the one that was shown"),
  request: list(named),
  curl: text("the request as a command, without card and checksum", { max: 300_000 }),
  seen: statusText,
  transactions: list(transactionShape),
  timeline: list(
    record({
      at: instant(),
      version: whole(),
      event: word<ShownEvent>("what happened"),
      node: optional(text()),
      facts: factsShape,
      rules: optional(list(ruleShape)),
      messages: optional(list(messageShape)),
      seen: optional(statusText),
    }),
  ),
  callbacks: list(record({ callback: callbackShape, attempts: list(attemptShape) })),
  totals: record({
    held: moneyShape,
    charged: moneyShape,
    returned: moneyShape,
    chargedBack: moneyShape,
    left: moneyShape,
  }),
  may: record({
    capture: flag(),
    return: flag(),
    void: flag(),
    resend: flag(),
    settle: list(oneOf(decisions), decisions.length),
  }),
  receipt: optional(text("its path, or its URL where the portal has an address of its own")),
});
export type OrderDetailView = ValueOf<typeof orderDetailShape>;

/** A gate's links of this node, and its health as all nodes see it. */
export const gateHealthShape = {
  up: whole("connections of this node"),
  wanted: whole(),
  health: oneOf(["healthy", "weakened", "unhealthy", "off"] as const),
  why: text("why the health has changed last, or empty"),
  sent: decimal("charges in the latest window"),
  failed: decimal("of these, unanswered or refused by the host"),
  approvalRate: optional(decimal()),
  usualRate: optional(decimal("the usual approval rate")),
  answerMs: optional(decimal("the mean time from message to answer")),
};

export const ranges = ["hour", "day", "week", "month", "year"] as const;

export const homeShape = record({
  range: oneOf(ranges),
  since: instant("orders that were accepted from then on are counted"),
  stepMs: whole("the length of a point of the series"),
  series: list(
    record({ at: instant(), approved: whole(), refused: whole(), processing: whole() }),
    2_000,
  ),
  perMinute: decimal("orders a minute, over the last five"),
  approvalRate: optional(decimal("of the orders that have ended; absent without any")),
  outcomes: dictionary(whole(), "orders by status"),
  reasons: list(record({ reason: text(), count: whole() })),
  threeds: dictionary(whole(), "orders by the result of 3-D Secure"),
  /** The captured amounts minus refunds and chargebacks, one amount for each currency. */
  net: list(moneyShape),
  overhead: optional(
    record({ p50: whole("at most, in milliseconds"), p95: whole(), p99: whole(), count: whole() }),
  ),
  inDoubt: whole("orders in doubt now"),
  failingCallbacks: whole("callbacks now that were refused or unanswered"),
  /** Approvals by gate, network, issuer country and amount, for the last day or week. */
  shares: record({
    since: instant(),
    rows: list(
      record({
        by: oneOf(sharedBy),
        value: text("as the filter of the orders has it"),
        approved: whole(),
        ended: whole(),
        before: optional(decimal("the approval rate of the same time a week before")),
      }),
      1_000,
    ),
  }),
  links: list(record({ gate: text(), ...gateHealthShape })),
  missing: list(text("what keeps this node from being ready")),
});
