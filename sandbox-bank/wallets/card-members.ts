/** What the tokens of both wallets are told of the card and the payment. */
import { numberCurrency } from "../money.ts";
import { type Member, text, whole } from "./members.ts";

export type CardOptions = {
  readonly pan: string;
  readonly expirationYear: number;
  readonly expirationMonth: number;
};

/** As a certificate or a signature can say it: after it, years have more than four digits. */
const lastMomentMs = Date.UTC(10_000, 0) - 1;

export const moment: Member<number> = whole(0, lastMomentMs, "milliseconds since 1970");

/** Of ISO 4217, by its letters or its number; it becomes the number. */
const currency: Member<string> = {
  takes: "a currency of ISO 4217: three capital letters or three digits",
  read(value) {
    const number = typeof value === "string" ? numberCurrency(value) : "";
    return /^\d{3}$/.test(number) ? number : undefined;
  },
};

// biome-ignore format: a table
export const cardMembers = {
  pan:             text(/^\d{12,19}$/, "12 to 19 digits"),
  expirationYear:  whole(2000, 2099, "a year of four digits, 2000 to 2099"),
  expirationMonth: whole(1, 12, "a month, 1 to 12"),
};

// biome-ignore format: a table
export const paymentMembers = {
  amount: whole(0, 999_999_999_999, "a whole number of minor units"),
  currency,
};

/** Of ids: visible characters without spaces. */
export const idForm = /^[!-~]{1,255}$/;

export const eciIndicator = text(/^\d{0,2}$/, "up to two digits");
