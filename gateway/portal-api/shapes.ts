/** Shapes that several routes of the portal API share. */
import { formatAmount, type Money } from "../values/money.ts";
import { flag, list, oneOf, optional, record, text, type ValueOf, whole } from "./schema.ts";

export const nothing = record({});
export const done = record({ done: flag() });

export const sessionStates = ["out", "second_factor", "new_password", "enrolment", "in"] as const;
export type SessionState = (typeof sessionStates)[number];

const userShape = record({
  login: text(),
  role: text(),
  merchant: optional(text("whose user it is; absent for an operator's")),
  rights: list(text()),
});

export const sessionShape = record({
  state: oneOf(sessionStates, "`in` is signed in; the others say what has to be done first"),
  environment: oneOf(["staging", "production"]),
  user: optional(userShape),
  factors: optional(record({ totp: flag(), passkeys: whole(), recoveryCodes: whole() })),
});
export type SessionView = ValueOf<typeof sessionShape>;

/** Money as the screen shows it and as it is counted. */
export const moneyShape = record({
  minor: whole("in minor units"),
  currency: text("ISO 4217"),
  text: text("as a decimal, in the currency's form"),
});
export type MoneyView = ValueOf<typeof moneyShape>;

export function viewMoney(money: Money): MoneyView {
  const { code } = money.currency;
  return { minor: Number(money.minor), currency: code, text: formatAmount(money) };
}

/** A list goes on after the last row of the page before; rows are never counted off. */
export const cursorInput = {
  after: optional(text("`next` of the page before", { max: 60 })),
  limit: optional(whole("50 when left out", 1, 200)),
};
