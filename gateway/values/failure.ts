/**
 * The catalogue of all refusals and failures of the gateway, which is published as a page. Declines
 * have the action codes of ISO 8583:1993 as their numbers where possible, because integrators know
 * them (decision 0004). A published number never changes its meaning.
 */

/** `validation-error` and `error` are types of replies. All but the first are results of orders. */
export type FailureType = "validation-error" | "error" | "declined" | "filtered";

// biome-ignore format: a table
export const failures = {
  malformed_request:        row("validation-error", 1,  "INVALID_REQUEST",           "the request cannot be parsed: encoding, content type, a field sent twice"),
  control_mismatch:         row("validation-error", 2,  "INVALID_CONTROL_CODE",      "the checksum or the login is wrong"),
  unknown_endpoint:         row("validation-error", 3,  "INVALID_ENDPOINT",          "no such endpoint or group, or it is disabled"),
  missing_parameter:        row("validation-error", 4,  "MISSING_PARAMETER",         "a required field is absent or empty"),
  invalid_parameter:        row("validation-error", 5,  "INVALID_PARAMETER",         "a field's value does not have the documented format"),
  order_not_found:          row("validation-error", 6,  "ORDER_NOT_FOUND",           "the merchant has no such order at this endpoint"),
  duplicate_order:          row("validation-error", 7,  "DUPLICATE_ORDER",           "another order with this client_orderid is paid or may still be paid"),
  card_reference_not_found: row("validation-error", 8,  "CARD_REFERENCE_NOT_FOUND",  "the merchant has no such card reference"),
  not_allowed_now:          row("error",            9,  "NOT_ALLOWED_IN_THIS_STATE", "the order's state does not allow this"),
  currency_not_supported:   row("validation-error", 10, "CURRENCY_NOT_SUPPORTED",    "the endpoint does not accept this currency"),
  amount_out_of_range:      row("validation-error", 11, "AMOUNT_OUT_OF_RANGE",       "the amount is zero or not possible here"),
  too_many_requests:        row("validation-error", 12, "TOO_MANY_REQUESTS",         "the merchant's rate limit is exceeded; wait for the time in Retry-After"),
  not_supported_by_gate:    row("error",            13, "NOT_SUPPORTED_BY_GATE",     "the acquirer behind this endpoint does not support this, or the operator does not allow it to the merchant"),
  card_reference_expired:   row("error",            14, "CARD_REFERENCE_EXPIRED",    "the card behind the reference has expired"),
  card_reference_removed:   row("error",            15, "CARD_REFERENCE_REMOVED",    "the card reference was removed"),
  token_not_found:          row("validation-error", 16, "TOKEN_NOT_FOUND",           "the token of hosted fields is unknown, expired, spent or of another endpoint"),

  do_not_honour:            row("declined", 100, "DO_NOT_HONOUR",              "declined without a reason"),
  expired_card:             row("declined", 101, "EXPIRED_CARD",               "the card has expired"),
  restricted_card:          row("declined", 104, "RESTRICTED_CARD",            "the card may not be used here"),
  refer_to_issuer:          row("declined", 107, "REFER_TO_ISSUER",            "the cardholder must contact the issuer"),
  invalid_merchant:         row("declined", 109, "INVALID_MERCHANT",           "the acquirer does not know the merchant"),
  invalid_amount:           row("declined", 110, "INVALID_AMOUNT",             "the host refuses the amount"),
  invalid_card:             row("declined", 111, "INVALID_CARD_NUMBER",        "no such card number"),
  insufficient_funds:       row("declined", 116, "INSUFFICIENT_FUNDS",         "not enough funds on the account"),
  no_card_record:           row("declined", 118, "NO_SUCH_ISSUER",             "no issuer is known for the card"),
  not_permitted:            row("declined", 119, "NOT_PERMITTED_TO_CARDHOLDER", "the card is not allowed this kind of payment"),
  not_permitted_terminal:   row("declined", 120, "NOT_PERMITTED_TO_TERMINAL",  "the terminal is not allowed this kind of payment"),
  limit_exceeded:           row("declined", 121, "AMOUNT_LIMIT_EXCEEDED",      "the card's amount limit is exceeded"),
  security_violation:       row("declined", 122, "SECURITY_VIOLATION",         "the host suspects tampering"),
  frequency_exceeded:       row("declined", 123, "FREQUENCY_LIMIT_EXCEEDED",   "the card's frequency limit is exceeded"),
  cvv_mismatch:             row("declined", 160, "CVV_MISMATCH",               "the card verification value is wrong"),
  authentication_required:  row("declined", 161, "AUTHENTICATION_REQUIRED",    "the issuer requires 3-D Secure authentication"),
  partial_approval_refused: row("declined", 162, "PARTIAL_APPROVAL_REFUSED",   "approved for a smaller amount and reversed, because the endpoint does not accept partial approvals"),
  closed_account:           row("declined", 163, "CLOSED_ACCOUNT",             "the account is closed"),
  recurring_stopped:        row("declined", 164, "RECURRING_STOPPED",          "the cardholder has stopped recurrent payments"),
  address_refused:          row("declined", 165, "ADDRESS_REFUSED",            "approved and reversed: a rule forbids the issuer's result for the payer's address"),
  cvv_refused:              row("declined", 166, "CVV_REFUSED",                "approved and reversed: a rule forbids the issuer's result for the card verification value"),
  pick_up_card:             row("declined", 200, "PICK_UP_CARD",               "the issuer asks to retain the card"),
  suspected_fraud:          row("declined", 202, "SUSPECTED_FRAUD",            "the issuer suspects fraud"),
  lost_card:                row("declined", 208, "LOST_CARD",                  "the card is reported lost"),
  stolen_card:              row("declined", 209, "STOLEN_CARD",                "the card is reported stolen"),
  invalid_transaction:      row("declined", 902, "INVALID_TRANSACTION",        "the host does not accept this kind of transaction"),
  format_error:             row("declined", 904, "FORMAT_ERROR",               "the host could not read the gateway's message"),
  host_malfunction:         row("declined", 909, "HOST_MALFUNCTION",           "the host reports an internal failure"),
  issuer_unavailable:       row("declined", 912, "ISSUER_UNAVAILABLE",         "the issuer does not answer; may be tried again"),
  duplicate_transmission:   row("declined", 913, "DUPLICATE_TRANSMISSION",     "the host has seen this transaction before"),
  declined:                 row("declined", 999, "DECLINED",                   "declined with a code that has no row here"),

  amount_below_minimum:     row("filtered", 1000, "AMOUNT_BELOW_MINIMUM", "below the endpoint's minimum amount"),
  amount_above_maximum:     row("filtered", 1001, "AMOUNT_ABOVE_MAXIMUM", "above the endpoint's maximum amount"),
  velocity_exceeded:        row("filtered", 1010, "TOO_MANY_PAYMENTS",    "too many payments, or too large a sum, in a short time"),
  too_many_cards:           row("filtered", 1011, "TOO_MANY_CARDS",       "too many different cards in a short time"),
  too_many_declines:        row("filtered", 1012, "TOO_MANY_DECLINES",    "too many declined payments"),
  duplicate_purchase:       row("filtered", 1013, "DUPLICATE_PURCHASE",   "the same card has paid the same amount shortly before"),
  first_seen_recently:      row("filtered", 1014, "FIRST_SEEN_RECENTLY",  "the card or the payer is new"),
  country_mismatch:         row("filtered", 1015, "COUNTRY_MISMATCH",     "the countries of card, payer and IP address differ"),
  blocked_by_list:          row("filtered", 1020, "BLOCKED",              "the card, the payer or their network is blocked"),

  authentication_failed:    row("declined", 2000, "AUTHENTICATION_FAILED",       "3-D Secure: the cardholder was not authenticated"),
  authentication_rejected:  row("declined", 2001, "AUTHENTICATION_REJECTED",     "3-D Secure: the issuer forbids the payment"),
  authentication_missing:   row("declined", 2002, "AUTHENTICATION_NOT_POSSIBLE", "3-D Secure is required by the endpoint and not possible for the card"),
  method_expired:           row("declined", 2010, "METHOD_RESULT_NOT_RECEIVED",  "3-D Secure: the method result was not received in time"),
  challenge_expired:        row("declined", 2011, "CHALLENGE_NOT_COMPLETED",     "3-D Secure: the challenge was not completed in time"),
  pares_expired:            row("declined", 2012, "PARES_NOT_RECEIVED",          "3-D Secure 1.0.2: the PARes was not received in time"),
  challenge_result_missing: row("declined", 2013, "CHALLENGE_RESULT_NOT_RECEIVED", "3-D Secure: the browser returned, but no result came from the directory server"),
  pares_refused:            row("declined", 2014, "PARES_REFUSED",               "3-D Secure 1.0.2: the PARes is not signed by the issuer, or belongs to another order"),
  payment_page_expired:     row("declined", 2900, "PAYMENT_PAGE_EXPIRED",        "the cardholder did not pay on the payment page in time"),

  wallet_refused:           row("declined", 3000, "WALLET_DATA_REFUSED",        "the wallet's payment data was refused"),
  wallet_other_type:        row("declined", 3001, "WALLET_TYPE_MISMATCH",       "the payment data is not what payment_data_type says"),
  wallet_not_configured:    row("declined", 3002, "WALLET_NOT_CONFIGURED",      "the endpoint's merchant lacks a key for this kind of payment data; the detail names what"),
  wallet_bad_signature:     row("declined", 3003, "WALLET_SIGNATURE_INVALID",   "the payment data was not signed by the wallet, or not for this recipient"),
  wallet_expired:           row("declined", 3004, "WALLET_DATA_EXPIRED",        "the payment data is too old, or a key that it rests on has expired"),
  wallet_replayed:          row("declined", 3005, "WALLET_DATA_USED_BEFORE",    "the same payment data was sent with another order"),
  wallet_other_merchant:    row("declined", 3006, "WALLET_OTHER_MERCHANT",      "the payment data was made for another merchant"),
  wallet_other_amount:      row("declined", 3007, "WALLET_AMOUNT_MISMATCH",     "the payment data is for another amount or currency"),
  wallet_encoded_twice:     row("declined", 3008, "WALLET_DATA_ENCODED_TWICE",  "the payment data was serialized twice: send the wallet's own text, base64-encoded once"),
  wallet_not_decrypted:     row("declined", 3009, "WALLET_DATA_NOT_DECRYPTED",  "none of the merchant's keys opens the payment data"),
  wallet_bad_card:          row("declined", 3010, "WALLET_CARD_INVALID",        "the card in the payment data cannot be used, or has expired"),
  wallet_not_supported:     row("declined", 3011, "WALLET_DATA_NOT_SUPPORTED",  "the payment data is of a kind that cannot be processed"),

  internal_failure:         row("error", 5000, "INTERNAL_ERROR",          "an internal failure of the gateway; support finds it by the serial number"),
  storage_unavailable:      row("error", 5001, "TEMPORARILY_UNAVAILABLE", "the gateway cannot store the request now; send the identical request again"),
  gate_unavailable:         row("error", 5002, "GATE_UNAVAILABLE",        "no link to the acquirer; nothing was sent"),
  reversed_after_doubt:     row("error", 5003, "REVERSED",                "the acquirer did not answer; the charge was reversed"),
  processing_expired:       row("error", 5004, "PROCESSING_EXPIRED",      "the order was not processed in time; nothing was sent"),
  no_gate:                  row("error", 5005, "NO_GATE",                 "no gate of the endpoint accepts this currency and amount, or a routing rule refuses the payment; nothing was sent"),
  settled_by_operator:      row("error", 5006, "SETTLED_BY_OPERATOR",     "the acquirer did not answer; an operator has confirmed that nothing is charged"),
  card_not_held:            row("error", 5007, "CARD_NO_LONGER_HELD",     "the card data is no longer held: the card was removed, or lost in a failure of the gateway; nothing was sent"),
  value_not_supported:      row("error", 5008, "AUTHENTICATION_VALUE_NOT_SUPPORTED", "no gate of the endpoint has a place for an authentication value or cryptogram of this length; nothing was sent"),
  not_voided:               row("error", 5009, "NOT_VOIDED",              "the acquirer did not answer; it is certain by now that nothing is voided, and the charge stands"),
  not_paid_out:             row("error", 5010, "NOT_PAID_OUT",            "the acquirer did not answer; it has confirmed that nothing is paid out"),
} as const;

export type FailureCode = keyof typeof failures;

/**
 * An expected refusal, returned and never thrown. `detail` is sent to the merchant, so it names
 * fields and rules, never values; `cause` is for the log.
 */
export class Failure {
  readonly code: FailureCode;
  readonly detail: string;
  readonly cause: string;

  constructor(code: FailureCode, detail = "", cause = "") {
    this.code = code;
    this.detail = detail;
    this.cause = cause;
  }

  get number(): number {
    return failures[this.code].number;
  }

  get message(): string {
    const { word } = failures[this.code];
    return this.detail === "" ? word : `${word}: ${this.detail}`;
  }
}

function row(type: FailureType, number: number, word: string, meaning: string) {
  return { type, number, word, meaning };
}

export type FailureRow = Readonly<ReturnType<typeof row>>;
