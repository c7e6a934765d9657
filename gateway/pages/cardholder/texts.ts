/**
 * Every word that the cardholder pages say, in one table for each language. A language is added by
 * one more table: the compiler asks for all of its rows.
 */

/** What a result page tells of a payment. */
export type Paid = { readonly amount: string; readonly merchant: string };

// biome-ignore format: a table
const english = {
  continue:           "Continue",

  methodTitle:        "Preparing your payment",
  methodSentence:     "We are connecting to your bank. This takes a few seconds.",
  methodFrame:        "Connection to your bank",

  challengeTitle:     "Confirm your payment",
  challengeSentence:  "Your bank asks you to confirm that it is you who pays.",
  challengeFrame:     "Your bank’s confirmation page",
  challengeButton:    "Continue to your bank",

  waitingTitle:       "Please wait",
  waitingSentence:    "Your payment is being processed. Please leave this page open.",
  doubtSentence:      "Your bank takes longer than usual. Please do not pay again: the result will be shown here, and the shop will learn of it even if you close this page.",

  doneTitle:          "Thank you",
  doneSentence:       "Your bank’s check is finished. Your payment goes on.",

  returnTitle:        "Returning to the shop",
  returnSentence:     "You are being taken back to the shop.",
  returnButton:       "Back to the shop",

  approvedTitle:      "Payment approved",
  approvedSentence:   ({ amount, merchant }: Paid) => `Your payment of ${amount} to ${merchant} was approved.`,
  approvedNext:       "There is nothing more to do: you can close this page.",
  declinedTitle:      "Payment declined",
  declinedSentence:   ({ amount, merchant }: Paid) => `The payment of ${amount} to ${merchant} was declined, and nothing was charged.`,
  declinedNext:       "Go back to the shop to pay with another card, or ask your bank.",
  errorTitle:         "Payment not completed",
  errorSentence:      ({ amount, merchant }: Paid) => `The payment of ${amount} to ${merchant} could not be completed, and nothing was charged.`,
  errorNext:          "Go back to the shop to try again. An amount that your bank still shows as reserved is released by itself.",
  merchant:           "Shop",
  amount:             "Amount",
  card:               "Card",
  order:              "Order",

  unknownTitle:       "No payment here",
  unknownSentence:    "This link belongs to no payment, or its time is over. Go back to the shop to see what became of your order.",
  unavailableTitle:   "One moment",
  unavailableSentence: "We cannot go on at this moment. This page tries again by itself.",
  refusedTitle:       "That did not work",
  refusedSentence:    "Your bank’s answer could not be used, and nothing has changed.",
  refusedLink:        "Try again",
} as const;

type Words<Table> = {
  readonly [Key in keyof Table]: Table[Key] extends string ? string : Table[Key];
};
export type Texts = Words<typeof english>;

const languages: ReadonlyMap<string, Texts> = new Map([["en", english]]);

export type Spoken = { readonly language: string; readonly texts: Texts };

/** The first language of the list that there is a table for, by the reader's preference. */
export function speak(
  acceptLanguage: string | undefined,
  known: ReadonlyMap<string, Texts> = languages,
): Spoken {
  for (const wanted of preferences(acceptLanguage ?? "")) {
    const texts = known.get(wanted);
    if (texts !== undefined) return { language: wanted, texts };
  }
  return { language: "en", texts: english };
}

/** `de-AT;q=0.8, en` means en, then de: regions are left out, and weights sort. */
function preferences(header: string): readonly string[] {
  return header
    .split(",", 20)
    .map((entry) => {
      const [tag = "", ...parameters] = entry.split(";");
      const weight = parameters.find((parameter) => /^\s*q=/i.test(parameter))?.split("=")[1];
      const [primary = ""] = tag.trim().toLowerCase().split("-");
      return { primary, weight: weight === undefined ? 1 : Number.parseFloat(weight) };
    })
    .filter(({ weight }) => weight > 0)
    .sort((left, right) => right.weight - left.weight)
    .map(({ primary }) => primary);
}
