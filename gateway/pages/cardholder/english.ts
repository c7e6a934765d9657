/** The English texts of the cardholder's pages. All other languages have the same rows. */

type Paid = { readonly amount: string; readonly merchant: string };
type Receipted = Paid & { readonly returned: string; readonly left: string };

export type Texts = TextsLike<typeof english>;

type TextsLike<Table> = {
  readonly [Key in keyof Table]: Table[Key] extends string
    ? string
    : Table[Key] extends (...given: never) => string
      ? Table[Key]
      : TextsLike<Table[Key]>;
};

// biome-ignore format: a table
export const english = {
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
  verifiedTitle:      "Card verified",
  verifiedSentence:   ({ merchant }: Paid) => `Your card was verified for ${merchant}. Nothing was charged.`,
  unverifiedTitle:    "Card not verified",
  unverifiedSentence: ({ merchant }: Paid) => `Your bank did not verify your card for ${merchant}. Nothing was charged.`,
  unverifiedNext:     "Go back to the shop to use another card, or ask your bank.",
  uncheckedTitle:     "Verification not completed",
  uncheckedSentence:  ({ merchant }: Paid) => `Your card could not be verified for ${merchant}. Nothing was charged.`,
  uncheckedNext:      "Go back to the shop to try again.",
  merchant:           "Shop",
  amount:             "Amount",
  card:               "Card",
  order:              "Order",

  receiptLink:        "Show the receipt",

  unknownTitle:       "No payment here",
  unknownSentence:    "This link belongs to no payment, or its time is over. Go back to the shop to see what became of your order.",
  unavailableTitle:   "One moment",
  unavailableSentence: "We cannot go on at this moment. This page tries again by itself.",
  refusedTitle:       "That did not work",
  refusedSentence:    "Your bank’s answer could not be used, and nothing has changed.",
  refusedLink:        "Try again",

  /** Amounts come as `10.15 EUR`. */
  money:              (amount: string) => amount,

  receiptTitle:       "Receipt",
  receiptPrint:       "Print",
  receiptSince:       "Since then",
  receiptSinceDate:   "Date",
  receiptSinceKind:   "What",
  receiptSinceAmount: "Amount",
  receiptType:        "Transaction",
  noReceiptTitle:     "No receipt here",
  noReceiptSentence:  "This link belongs to no receipt. Check that it is complete, or ask the shop.",

  receiptStates: {
    charged:          ({ amount, merchant }: Receipted) => `You paid ${amount} to ${merchant}.`,
    held:             ({ amount, merchant }: Receipted) => `${amount} is reserved for ${merchant} and not yet charged.`,
    verified:         ({ merchant }: Receipted) => `Your card was verified for ${merchant}. Nothing was charged.`,
    returned:         ({ amount, merchant }: Receipted) => `Your payment of ${amount} to ${merchant} was returned in full.`,
    returned_in_part: ({ amount, merchant, returned, left }: Receipted) => `Of your payment of ${amount} to ${merchant}, ${returned} was returned; ${left} remains charged.`,
    cancelled:        ({ amount, merchant }: Receipted) => `The reservation of ${amount} for ${merchant} was cancelled. Nothing was charged.`,
  },
  receiptKinds: {
    "sale":                 "Payment",
    "preauth":              "Reservation",
    "account-verification": "Card verification",
    "capture":              "Charged",
    "refund":               "Returned",
    "cancel":               "Reservation cancelled",
  },
  receiptRows: {
    merchant:         "Shop",
    descriptor:       "On your statement",
    terminal:         "Terminal",
    amount:           "Amount",
    held:             "Reserved amount",
    charged:          "Charged amount",
    returned:         "Returned amount",
    left:             "Remaining amount",
    card:             "Card",
    cardType:         "Card type",
    approvalCode:     "Approval code",
    reference:        "Reference (RRN)",
    networkId:        "Transaction number",
    processedAt:      "Processed",
    finishedAt:       "Completed",
    clientOrderId:    "Order",
    orderId:          "Payment number",
    receiptId:        "Receipt number",
  },
} as const;
