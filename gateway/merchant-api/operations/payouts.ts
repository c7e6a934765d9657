/**
 * Payouts: money for a card, by its number or by a reference. They are signed by OAuth alone, and
 * switched on for an endpoint and its gates.
 */
import type { CardReference } from "../../orders/card-reference.ts";
import type { Endpoint } from "../../orders/merchant.ts";
import type { OrderRequest } from "../../orders/requests.ts";
import { canSend } from "../../orders/route.ts";
import { CardNumber, isExpired, isLuhnValid } from "../../values/card-number.ts";
import { Failure } from "../../values/failure.ts";
import { asCardRefId, type EndpointId } from "../../values/ids.ts";
import { statesOf } from "../../values/iso-codes.ts";
import { isZero, type Money, parseAmount } from "../../values/money.ts";
import * as field from "../fields.ts";
import { type Context, endpointFor, operation, type Reply, type Sent } from "../operation.ts";
import { readPurchase, requestFingerprintOf } from "../purchase.ts";
import { addressFaults, namesWith } from "../purchase-fields.ts";
import { acknowledge } from "../reply.ts";

const wanted = "mandatory where the gate wants it";

// biome-ignore format: a table
const paidOutFields = {
  client_orderid:       field.clientOrderId("merchant order id, also sent as `client-order-id`; it can be paid out once"),
  amount:               field.amount("amount in the highest unit with `.` as delimiter"),
  currency:             field.currency("three-letter currency code"),
  order_desc:           field.optional(field.freeText(65_536, "order description")),
  first_name:           field.conditional(field.line(50, `receiver's first name; ${wanted}`)),
  last_name:            field.conditional(field.line(50, `receiver's last name; ${wanted}`)),
  email:                field.conditional(field.email(50, `receiver's email address; ${wanted}`)),
  phone:                field.conditional(field.phone(`receiver's phone number, any characters; ${wanted}`)),
  address1:             field.conditional(field.line(50, `receiver's address; ${wanted}`)),
  city:                 field.conditional(field.line(50, `receiver's city; ${wanted}`)),
  zip_code:             field.conditional(field.line(10, `receiver's postal code; ${wanted}`)),
  country:              field.conditional(field.country(`receiver's country, two letters; ${wanted}`)),
  state:                field.conditional(field.line(3, `receiver's state, one of the country's codes for US, CA and AU; ${wanted}`)),
  birthday:             field.ignorable(field.pattern("10/String", /^\d{6}(\d{2})?$/, `receiver's date of birth, YYYYMMDD or YYMMDD; ${wanted}`)),
  ipaddress:            field.conditional(field.ipAddress(`receiver's IP address, for fraud screening; ${wanted}`)),
  purpose:              field.conditional(field.line(128, `purpose of the payout; ${wanted}`)),
  server_callback_url:  field.optional(field.url("receives the result")),
  notify_url:           field.optional(field.url("receives the result if there is no server_callback_url")),
  merchant_data:        field.optional(field.freeText(65_536, "free merchant data, returned in status and callback")),
} as const;

// biome-ignore format: a table
const cardFields = {
  credit_card_number:   field.conditional(field.digits(12, 19, "card number, also sent as `destination-card-no`; mandatory")),
  expire_month:         field.conditional(field.pattern("1-2/Numeric", /^(0?[1-9]|1[0-2])$/, `month of expiry; ${wanted}`)),
  expire_year:          field.conditional(field.pattern("2 or 4/Numeric", /^(20)?\d{2}$/, `year of expiry; ${wanted}`)),
  card_printed_name:    field.conditional(field.line(128, `receiver's name as printed on the card; ${wanted}`)),
} as const;

// biome-ignore format: a table
const referenceFields = {
  "destination-card-ref-id":          field.conditional(field.cardRefId("`card-ref-id` or `dst-card-ref-id` of a registered card; mandatory without the other reference")),
  "destination-recurring-payment-id": field.conditional(field.cardRefId("`dst-recurring-payment-id` of a registered card, instead of `destination-card-ref-id`")),
} as const;

const orderName = { "client-order-id": "client_orderid" } as const;

const shared = {
  // The checksum signs nothing here, but amounts are read digit by digit all the same.
  control: [{ minorUnitsOf: "amount" }],
} as const;

export const payout = operation({
  ...shared,
  name: "payout",
  path: "/v2/payout/{id}",
  versions: ["v4", "v2"],
  takesHmac: true,
  purpose:
    "Sends money to a card. The request is acknowledged at once; poll status for the result. A " +
    "payout cannot be taken back.",
  rewrite: rename({ ...orderName, "destination-card-no": "credit_card_number" }),
  request: { ...paidOutFields, ...cardFields },
  rules: (request, context) => [
    ...numberFaults(request, context),
    ...sharedFaults(request, context),
  ],
  repeats: { subjectOf: (endpoint) => subjectOf("payout", endpoint), answer: acknowledge },
  handle: (request, context) => payOut("payout", request, context, async () => readCard(request)),
});

export const payoutByRef = operation({
  ...shared,
  name: "payout-by-ref",
  path: "/v4/payout-by-ref/{id}",
  versions: ["v4"],
  purpose:
    "Sends money to a registered card. The request is acknowledged at once; poll status for the " +
    "result. A payout cannot be taken back.",
  rewrite: rename(orderName),
  request: { ...paidOutFields, ...referenceFields },
  rules: (request, context) => [...referenceFaults(request), ...sharedFaults(request, context)],
  repeats: { subjectOf: (endpoint) => subjectOf("payout-by-ref", endpoint), answer: acknowledge },
  handle: (request, context) =>
    payOut("payout-by-ref", request, context, () => findCard(request, context)),
});

type Name = "payout" | "payout-by-ref";
type PaidOut = field.Values<typeof paidOutFields>;
type CardValues = field.Values<typeof cardFields>;
type ReferenceValues = field.Values<typeof referenceFields>;

/** A field may be sent under another name. If both names are sent, they must agree. */
function rename(names: Readonly<Record<string, string>>) {
  return (sent: Sent): Sent | Failure => {
    const renamed = new Map(sent);
    for (const [other, name] of Object.entries(names)) {
      const [value = "", own = ""] = [sent.get(other), sent.get(name)];
      if (value !== "" && own !== "" && value !== own) {
        return invalid(`${other}: not the same as ${name}`);
      }
      if (own === "") renamed.set(name, value);
    }
    return renamed;
  };
}

function subjectOf(name: Name, endpoint: EndpointId): string {
  return `${name}/${endpoint}`;
}

type Destination = Pick<OrderRequest, "card" | "cardData">;

async function payOut(
  name: Name,
  request: PaidOut,
  context: Context,
  findDestination: () => Promise<Destination | Failure>,
): Promise<Reply | Failure> {
  const { entryPoint, serialNumber, services } = context;
  const endpoint = endpointFor(entryPoint, request.currency.code);
  if (endpoint === undefined) return new Failure("currency_not_supported");
  if (!paysOut(endpoint)) return new Failure("not_supported_by_gate", "payout");
  const amount = parseAmount(request.amount, request.currency);
  if (amount === undefined || !isWithin(endpoint, amount))
    return new Failure("amount_out_of_range");
  const destination = await findDestination();
  if (destination instanceof Failure) return destination;
  const isRegistered = destination.card.kind === "registered";
  const accepted = await services.orders.accept({
    kind: "payout",
    merchantId: endpoint.merchant.id,
    endpointId: endpoint.id,
    clientOrderId: request.client_orderid,
    serialNumber,
    purchase: { ...readPurchase(request, amount), ...(isRegistered && { credential: onFile }) },
    requestFingerprint: requestFingerprintOf(subjectOf(name, endpoint.id), context),
    ...destination,
  });
  return accepted instanceof Failure ? accepted : acknowledge(accepted);
}

const onFile = { initiator: "MERCHANT", scenario: "IRREGULAR", networkId: undefined } as const;

function paysOut({ settings, gates }: Endpoint): boolean {
  return settings.payouts === true && gates.some(({ payouts }) => payouts !== undefined);
}

function isWithin({ settings, gates }: Endpoint, amount: Money): boolean {
  const { payoutMin = "0", payoutMax } = settings;
  const able = gates.filter(({ payouts }) => payouts !== undefined);
  const isInBounds =
    amount.minor >= BigInt(payoutMin) &&
    (payoutMax === undefined || amount.minor <= BigInt(payoutMax));
  return isInBounds && !isZero(amount) && canSend({ gates: able }, amount);
}

function readCard(request: CardValues): Destination {
  const number = new CardNumber(request.credit_card_number ?? "");
  const { bin, lastFour, network } = number;
  const { expire_month: month, expire_year: year, card_printed_name: holderName = "" } = request;
  const expiryMonth = month?.padStart(2, "0") ?? "";
  const expiryYear = year?.slice(-2) ?? "";
  const shownYear = expiryYear === "" ? "" : `20${expiryYear}`;
  const facts = { bin, lastFour, network, holderName, expiryMonth, expiryYear: shownYear };
  return {
    card: { kind: "new", facts },
    cardData: { number, expiryMonth, expiryYear, cvv: undefined },
  };
}

async function findCard(
  request: ReferenceValues,
  { entryPoint, services: { cards } }: Context,
): Promise<Destination | Failure> {
  const { "destination-card-ref-id": card, "destination-recurring-payment-id": recurring } =
    request;
  const purposes: readonly CardReference["purpose"][] =
    card === undefined ? ["destination_recurring"] : ["card", "destination"];
  const reference = await cards.find(entryPoint, asCardRefId(card ?? recurring ?? ""), ...purposes);
  if (reference instanceof Failure) return reference;
  if (reference.isDevice === true) return deviceNumber;
  const cardData = await cards.findCardData(reference);
  if (cardData instanceof Failure) return cardData;
  if (cardData === undefined) return new Failure("card_reference_removed");
  return { card: { kind: "registered", facts: reference.card }, cardData };
}

const deviceNumber = new Failure("not_allowed_now", "a wallet's device number takes no payouts");

/** Fields by which other gateways of this interface pay out to a bank account. */
const bankFields = [
  ...["account_number", "account_name", "bank_name", "bank_branch", "bank_code", "routing_number"],
  ...["iban", "bic", "swift"],
];

function numberFaults(request: CardValues & PaidOut, { receivedAt, sent }: Context) {
  const { credit_card_number: number, expire_month: month, expire_year: year } = request;
  const faults: Failure[] = [];
  if (number === undefined) faults.push(isToBank(sent) ? onlyCards : missing("credit_card_number"));
  else if (!isLuhnValid(number)) faults.push(invalid("credit_card_number: check digit"));
  else
    faults.push(
      ...namesWith(number, request).map((name) => invalid(`${name}: ${field.hasNumber}`)),
    );
  if (month === undefined && year !== undefined) faults.push(missing("expire_month"));
  if (year === undefined && month !== undefined) faults.push(missing("expire_year"));
  if (month !== undefined && year !== undefined && isExpired(month, year, receivedAt)) {
    faults.push(invalid("expire_year: the card has expired"));
  }
  return faults;
}

function isToBank(sent: Sent): boolean {
  return bankFields.some((name) => (sent.get(name) ?? "") !== "");
}

const onlyCards = new Failure("not_supported_by_gate", "payouts go to cards only");

function referenceFaults(request: ReferenceValues): readonly Failure[] {
  const { "destination-card-ref-id": card, "destination-recurring-payment-id": recurring } =
    request;
  if (card === undefined && recurring === undefined) return [missing("destination-card-ref-id")];
  if (card === undefined || recurring === undefined) return [];
  return [invalid("destination-recurring-payment-id: not beside destination-card-ref-id")];
}

/** Fields that the endpoint's gates want and the request lacks, and its wrong values. */
function sharedFaults(request: PaidOut, context: Context): readonly Failure[] {
  const { known, sent, entryPoint } = context;
  const endpoint = endpointFor(entryPoint, request.currency.code);
  const gates = endpoint !== undefined && paysOut(endpoint) ? endpoint.gates : [];
  const asked = new Set(gates.flatMap(({ payouts }) => payouts?.fields ?? []));
  const isUnreadable = (name: string) => name === "birthday" && request.birthday === undefined;
  const lacks = (name: string) => (sent.get(name) ?? "") === "" || isUnreadable(name);
  const lacking = known.filter((name) => asked.has(name) && lacks(name));
  const { country = "", state } = request;
  const isForeign = state !== undefined && statesOf(country)?.has(state) === false;
  return [
    ...lacking.map(missing),
    ...(isForeign ? [invalid("state: not a state of the country")] : []),
    ...addressFaults(request, context),
  ];
}

function missing(name: string): Failure {
  return new Failure("missing_parameter", name);
}

function invalid(detail: string): Failure {
  return new Failure("invalid_parameter", detail);
}
