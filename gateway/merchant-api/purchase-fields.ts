/**
 * The fields of requests that begin an order: who pays, with which card, and where the results go.
 * What is paid is only in some of them.
 */
import { walletTypes } from "../orders/order.ts";
import { browserFields } from "./browser-fields.ts";
import {
  amount,
  choice,
  conditional,
  country,
  currency,
  digits,
  email,
  freeText,
  ipAddress,
  line,
  optional,
  pattern,
  phone,
  url,
} from "./fields.ts";

// biome-ignore format: a table
export const paidFields = {
  client_orderid:       line(128, "merchant order id; it can be charged once"),
  order_desc:           freeText(65_536, "order description"),
  amount:               amount("amount in the highest unit with `.` as delimiter"),
  currency:             currency("three-letter currency code"),
} as const;

// biome-ignore format: a table
export const walletFields = {
  payment_data:         conditional(freeText(65_536, "a wallet's payment data instead of card data: its JSON text, base64-encoded")),
  payment_data_type:    conditional(choice(walletTypes, "what `payment_data` is: `walleta_encrypted`, `walleta_decrypted`, `walletb_encrypted` or `walletb_decrypted`")),
} as const;

// biome-ignore format: a table
export const payerFields = {
  email:                email(50, "customer's email address"),
  ipaddress:            ipAddress("customer's IP address, for fraud screening"),
  first_name:           optional(line(50, "customer's first name")),
  last_name:            optional(line(50, "customer's last name")),
  address1:             line(50, "customer's address"),
  city:                 line(50, "customer's city"),
  zip_code:             line(10, "customer's postal code"),
  country:              country("customer's country, two letters"),
  state:                conditional(line(3, "customer's state; mandatory for US, CA and AU")),
  phone:                phone("customer's phone number"),
  cell_phone:           optional(phone("customer's mobile phone number")),
  ssn:                  optional(digits(4, 4, "last four digits of the social security number")),
  birthday:             optional(digits(8, 8, "customer's date of birth, YYYYMMDD")),
  site_url:             optional(line(128, "address of the shop")),
  purpose:              optional(line(128, "destination of the payment, for fraud monitoring")),
  comment:              optional(line(50, "short comment")),
  credit_card_number:   conditional(digits(12, 19, "card number")),
  cardNumber:           conditional(digits(12, 19, "another name of credit_card_number")),
  card_printed_name:    conditional(line(128, "cardholder's name as printed on the card")),
  expire_month:         conditional(pattern("1-2/Numeric", /^(0?[1-9]|1[0-2])$/, "month of expiry")),
  expire_year:          conditional(pattern("2 or 4/Numeric", /^(20)?\d{2}$/, "year of expiry")),
  cvv2:                 conditional(digits(3, 4, "card verification value")),
  redirect_url:         conditional(url("the browser is sent here at the end; mandatory where 3-D Secure is possible")),
  redirect_success_url: optional(url("the browser is sent here when approved")),
  redirect_fail_url:    optional(url("the browser is sent here when declined or filtered")),
  server_callback_url:  optional(url("receives the result")),
  notify_url:           optional(url("receives the results of later transactions")),
  merchant_data:        optional(freeText(65_536, "free merchant data, returned in status and callback")),
  login:                optional(line(20, "merchant login; when sent it must be the endpoint's merchant")),
  control:              line(40, "checksum"),
  ...browserFields,
} as const;
