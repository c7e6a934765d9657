/**
 * A rule for the issuer's results for the payer's address and the CVV. It judges an approval, which
 * the gateway reverses if the rule blocks it.
 */
import { type CardChecks, cardChecksOf } from "../../orders/card-checks.ts";
import { Problem } from "../../values/problem.ts";
import * as parameter from "../parameters.ts";
import { defineRule, type Judgement } from "../rule.ts";

const firing = ["no-match", "unless-match"] as const;

const result = (en: string, de: string) => parameter.optional(parameter.choice(firing, en, de));

const parameters = {
  address: result(
    "the result for the street address that fires the rule: `no-match`, or any but `match`",
    "bei diesem Ergebnis für die Adresse greift die Regel: `no-match`, oder jedes außer `match`",
  ),
  postcode: result("the same for the postal code", "dasselbe für die Postleitzahl"),
  cvv: result("the same for the CVV", "dasselbe für die Kartenprüfnummer"),
};

export const checks = defineRule({
  kind: "checks",
  documentation: {
    en:
      "The issuer's result for address, postal code or CVV, which comes with an approval. A " +
      "blocked payment is reversed and declined. Payments by a merchant with a stored card are " +
      "left alone, and so is a CVV that was not sent.",
    de:
      "Das Ergebnis des Herausgebers für Adresse, Postleitzahl oder Kartenprüfnummer, das mit " +
      "einer Genehmigung kommt. Eine blockierte Zahlung wird storniert und abgelehnt. Zahlungen " +
      "eines Händlers mit einer gespeicherten Karte bleiben unberührt.",
  },
  parameters,
  bind(fires) {
    const names = (["address", "postcode", "cvv"] as const).filter((name) => fires[name]);
    if (names.length === 0) return new Problem("address, postcode or cvv is missing.");
    return {
      judgesApprovals: true,
      judge({ order: { transaction, purchase } }): Judgement {
        const { answer } = transaction;
        if (answer?.approvalCode === undefined) return undefined;
        if (purchase.credential?.initiator === "MERCHANT") return undefined;
        const found = cardChecksOf(answer);
        const fired = names.find((name) => isFired(fires[name], found, name));
        if (fired === undefined) return undefined;
        const code = fired === "cvv" ? "cvv_refused" : "address_refused";
        return { code, facts: { of: fired, result: found[fired] ?? "none" } };
      },
    };
  },
});

/** Without a result, the rule for the CVV would refuse payments that have none. */
function isFired(
  firesAt: (typeof firing)[number] | undefined,
  found: CardChecks,
  name: keyof CardChecks,
): boolean {
  const result = found[name];
  if (firesAt === "no-match" || (result === undefined && name === "cvv")) {
    return result === "no-match";
  }
  return result !== "match";
}
