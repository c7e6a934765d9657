/** The cards of the simulation's cardholders, and how each is enrolled in 3-D Secure. */
import type { CardData } from "../../gateway/orders/events.ts";
import type { Enrolment } from "../../gateway/orders/order.ts";
import { CardNumber } from "../../gateway/values/card-number.ts";
import { Secret } from "../../gateway/values/secret.ts";

export const directoryName = "ds";
const method = { methodUrl: "https://acs.example/method" };

/** The cards' digits occur in no other number, so that stored text can be searched for them. */
// biome-ignore format: a table
const cards: readonly (readonly [digits: string, enrolment: Omit<Enrolment, "directory"> | undefined])[] = [
  ["4000000000000002", undefined],
  ["4000002000000016", { version: "2.2.0", ...method }],
  ["4000002200000014", { version: "2.1.0" }],
  ["4000002300000013", { version: "2.3.1", ...method }],
  ["4000003000000014", { version: "1.0.2" }],
];

export const allDigits = cards.map(([digits]) => digits);
const enrolments = new Map(cards);

export function findEnrolment(number: CardNumber): Enrolment | undefined {
  const enrolment = enrolments.get(number.reveal());
  return enrolment && { directory: directoryName, ...enrolment };
}

export const expiry = { expiryMonth: "12", expiryYear: "30" };

export function cardOf(digits: string): CardData {
  return { number: new CardNumber(digits), ...expiry, cvv: new Secret("917") };
}

export function factsOf({ number }: CardData) {
  const { bin, lastFour, network } = number;
  return { bin, lastFour, network, ...expiry, holderName: "JANE DOE" };
}
