/** The fields of a recurrent payment: a registered card instead of a card number. */
import {
  amount,
  cardRefId,
  choice,
  currency,
  digits,
  freeText,
  ipAddress,
  line,
  optional,
  pattern,
  url,
} from "./fields.ts";

// biome-ignore format: a table
export const rebillFields = {
  client_orderid:       line(128, "merchant order id; it can be charged once"),
  login:                line(20, "merchant login"),
  cardrefid:            cardRefId("card reference id from registration"),
  order_desc:           freeText(65_536, "order description"),
  amount:               amount("amount in the highest unit with `.` as delimiter"),
  enumerate_amounts:    optional(pattern("128/String", /^(?=.{1,128}$)\d+(\.\d+)?(,\d+(\.\d+)?)*$/, "smaller amounts by commas, tried in turn when the amount is refused")),
  currency:             currency("three-letter currency code"),
  cvv2:                 optional(digits(3, 4, "card verification value")),
  ipaddress:            ipAddress("customer's IP address, for fraud screening"),
  comment:              optional(line(50, "short comment")),
  purpose:              optional(line(128, "destination of the payment, for fraud monitoring")),
  redirect_url:         optional(url("the browser is sent here at the end; mandatory where 3-D Secure is possible")),
  redirect_success_url: optional(url("the browser is sent here when approved")),
  redirect_fail_url:    optional(url("the browser is sent here when declined or filtered")),
  server_callback_url:  optional(url("receives the result")),
  notify_url:           optional(url("receives the results of later transactions")),
  merchant_data:        optional(freeText(65_536, "free merchant data, returned in status and callback")),
  recurrent_scenario:   optional(choice(["REGULAR", "IRREGULAR"] as const, "overrides the gate's setting")),
  recurrent_initiator:  optional(choice(["CARDHOLDER", "MERCHANT"] as const, "overrides the gate's setting")),
  control:              line(40, "checksum"),
} as const;

export const rebillControl = [
  "{id?}",
  "login",
  "client_orderid",
  "cardrefid",
  { minorUnitsOf: "amount" },
  "currency",
] as const;
