/** The English texts of the cardholder's pages. All other languages' tables have the same rows. */

type Paid = { readonly amount: string; readonly merchant: string };
type Receipted = Paid & { readonly returned: string; readonly left: string };
type Shown = Paid & { readonly operator: string };

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
  /** `rtl` for scripts that are written from right to left. */
  direction:          "ltr",
  continue:           "Continue",
  rehearsal:          "Rehearsal: no money moves.",

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
  filteredTitle:      "Payment not accepted",
  filteredSentence:   ({ amount, merchant }: Paid) => `The payment of ${amount} to ${merchant} cannot be accepted, and nothing was charged.`,
  filteredNext:       "Try another card or ask the shop.",
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
  paidAt:             "Paid on",
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

  /** Formats an amount like `10.15 EUR`. */
  money:              (amount: string) => amount,

  pay: {
    title:            ({ merchant }: Paid) => `Payment – ${merchant}`,
    amount:           "Amount to pay",
    reserved:         "Amount to reserve",
    reservedNote:     ({ merchant }: Paid) => `The amount is reserved on your card. ${merchant} charges it later.`,
    verify:           "Verify your card",
    verifyNote:       ({ merchant }: Paid) => `${merchant} checks that the card is yours. Nothing is charged.`,

    wallets:          "Express checkout",
    wallet:           { walleta: "Pay with Wallet A", walletb: "Pay with Wallet B" },
    walletFailed:     "The wallet could not be opened. Pay by card, or try again.",
    or:               "or pay by card",
    card:             "Card",
    contact:          "Contact",
    address:          "Billing address",
    number:           "Card number",
    expiry:           "Expiry date",
    month:            "Month, two digits",
    year:             "Year, two digits",
    monthHint:        "MM",
    yearHint:         "YY",
    cvv:              "Security code",
    cvvHelp:          "Where do I find the security code?",
    cvvBack:          "Three digits on the back of the card, beside the signature.",
    cvvFront:         "American Express: four digits on the front, above the number.",
    name:             "Name on card",
    firstName:        "First name",
    lastName:         "Last name",
    email:            "Email",
    phone:            "Phone",
    street:           "Street and number",
    zip:              "Postal code",
    city:             "City",
    country:          "Country",
    choose:           "Please choose",
    state:            "State or province",
    stateHint:        "Only for USA, Canada, Australia",

    faults: {
      number:         { missing: "Enter your card number.",       wrong: "This card number is not valid. Check the digits." },
      month:          { missing: "Enter the month of expiry.",    wrong: "The month is a number from 01 to 12." },
      year:           { missing: "Enter the year of expiry.",     wrong: "This card has expired. Check the date." },
      cvv:            { missing: "Enter the security code.",      wrong: "Enter three digits, or four for American Express." },
      name:           { missing: "Enter the name on the card.",   wrong: "Enter the name as it is printed on the card." },
      firstName:      { missing: "Enter your first name.",        wrong: "This name is too long." },
      lastName:       { missing: "Enter your last name.",         wrong: "This name is too long." },
      email:          { missing: "Enter your email address.",     wrong: "This is not a complete email address." },
      phone:          { missing: "Enter your phone number.",      wrong: "This phone number is too long." },
      address:        { missing: "Enter street and number.",      wrong: "This address is too long." },
      zipCode:        { missing: "Enter your postal code.",       wrong: "This postal code is too long." },
      city:           { missing: "Enter your city.",              wrong: "This name is too long." },
      country:        { missing: "Choose your country.",          wrong: "Choose your country." },
      state:          { missing: "Choose your state or province.", wrong: "Choose a state or province of your country." },
    },
    fieldsOver:       "This form can no longer be used. Reload the page to pay.",
    fieldsEmpty:      "Enter card number, expiry date and security code.",
    fieldsLater:      "Your card could not be taken at this moment. Please try again.",
    faultsFound:      "Please check the marked fields. Enter card number and security code again: they are never stored on this page.",

    button:           ({ amount }: Paid) => `Pay ${amount}`,
    buttonReserve:    ({ amount }: Paid) => `Reserve ${amount}`,
    buttonVerify:     "Verify card",
    busy:             "One moment …",
    note:             ({ merchant }: Paid) => `Your card details are encrypted. ${merchant} never sees them.`,
    by:               ({ operator }: Shown) => `Payment through ${operator}`,
    timeLeft:         "Time left to pay:",

    refusedTitle:     "This payment did not go through",
    refusedNext:      "Nothing was charged.",
    triesLeft:        (count: number) => count === 1 ? "You can try once more." : `You can try ${count} more times.`,
    refusals: {
      funds:          "Your bank declined the payment because the card’s limit or balance is not sufficient. Try another card.",
      expired:        "Your bank says that the card has expired. Check the expiry date, or try another card.",
      cvv:            "The security code was not right. Enter it again.",
      number:         "No bank knows this card number. Check it, or try another card.",
      kind:           "This card cannot be used for this payment. Try another card.",
      authentication: "Your bank could not confirm that it was you. Try again, or use another card.",
      unreachable:    "The bank could not be reached. Try again.",
      wallet:         "The wallet’s payment could not be used. Pay by card, or try again.",
      declined:       "Your bank declined the payment. Try another card, or ask your bank.",
      rules:          "This payment cannot be accepted. Try another card or ask the shop.",
    },
    tooMany:          "Too many tries came from your connection. Wait a few minutes, then try again.",
    proof:            "Many payments were tried here. Your browser has to solve a small puzzle first: enter your card again, and wait a moment.",
    proofScripts:     "Many payments were tried here. To pay now, allow scripts in your browser and load this page again, or try again in an hour.",

    disabled:         { title: "Payment is not possible now", sentence: "The shop takes no payments here at the moment. Your card was not charged. Go back to the shop to pay in another way." },
    linkPaid:         { title: "This link has been paid",    sentence: "Nothing more can be paid with it. Ask the shop for another one if you want to pay again." },
    linkInUse:        { title: "A payment is in progress",   sentence: "A payment with this link is in progress. This page looks again by itself." },
    linkEnded:        { title: "This link has ended",        sentence: "Nothing can be paid with it any more. Ask the shop for another one." },
  },

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
    "payout":               "Payout",
    "capture":              "Charged",
    "refund":               "Returned",
    "cancel":               "Reservation cancelled",
    "void":                 "Payment taken back",
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
