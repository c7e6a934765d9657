/**
 * Recurring payment profiles: what the operations of one profile and those of many share. Names of
 * fields are taken with hyphens too.
 */
import type { CreatedProfile } from "../engine/profiles.ts";
import type { Profile } from "../orders/card-reference.ts";
import type { Endpoint } from "../orders/merchant.ts";
import { type Customer, noCustomer, type Order } from "../orders/order.ts";
import type { FoundOrder } from "../orders/requests.ts";
import { isFinal } from "../orders/stages.ts";
import { initialOf } from "../orders/transactions.ts";
import { Failure } from "../values/failure.ts";
import { asCardRefId, type EndpointId } from "../values/ids.ts";
import { getCurrency } from "../values/iso-codes.ts";
import { isZero, parseAmount } from "../values/money.ts";
import * as field from "./fields.ts";
import { type Context, isWaived, type Repeats, type Reply, type Sent } from "./operation.ts";
import { begin, readCustomer, requestFingerprintOf, splitCard, withoutAmount } from "./purchase.ts";
import { addressFaults, cardFaults, payerFields, stateFaults } from "./purchase-fields.ts";
import { chargeAgain, tooManyDigits } from "./recurring.ts";

const { conditional, optional } = field;
const asSent = "; by default that of the profile";

// biome-ignore format: a table
const customerFields = {
  first_name:   payerFields.first_name,
  last_name:    payerFields.last_name,
  email:        conditional(payerFields.email),
  phone:        conditional(payerFields.phone),
  address1:     conditional(payerFields.address1),
  city:         conditional(payerFields.city),
  zip_code:     conditional(payerFields.zip_code),
  country:      conditional(payerFields.country),
  state:        payerFields.state,
  customer_ip:  conditional(field.ipAddress("customer's IP address, for fraud screening")),
} as const;

/** The fields of the customer that a sale requires. */
const wanted = [
  ...(["email", "phone", "address1", "city", "zip_code", "country", "customer_ip"] as const),
] as const;

/**
 * Returns the endpoint as it registers cards that the operator brings from another gateway: without
 * a verification, and without the customer, of whom that gateway may know nothing.
 */
export function openForBrought(endpoint: Endpoint): Endpoint {
  const optionalFields = [...wanted, "state"];
  return { ...endpoint, settings: { ...endpoint.settings, profiles: "on", optionalFields } };
}

const schedule = optional(
  field.message(128, "automatic schedules are not offered: a request with it is refused"),
);

// biome-ignore format: a table
export const createFields = {
  client_orderid:         field.clientOrderId("merchant order id; it can have one profile"),
  rp_card_type:           field.choice(["SRC", "DST"] as const, "`SRC` for the payer's card, `DST` for the card of a receiver, which is never charged; for `DST` the fields of the customer are ignored"),
  credit_card_number:     field.digits(12, 19, "card number"),
  card_printed_name:      conditional(field.line(128, "cardholder's name as printed on the card; mandatory for `SRC`")),
  expire_month:           conditional(field.pattern("1-2/Numeric", /^(0?[1-9]|1[0-2])$/, "month of expiry; mandatory for `SRC`")),
  expire_year:            conditional(field.pattern("2 or 4/Numeric", /^(20)?\d{2}$/, "year of expiry; mandatory for `SRC`")),
  currency:               field.currency("three-letter currency code, that of the endpoint"),
  ...customerFields,
  cvv2:                   optional(field.digits(3, 4, "card verification value, used for an account verification alone")),
  network_transaction_id: optional(field.networkId("the network's id of the card's first payment at another gateway, sent with later payments")),
  amount:                 optional(field.amount("amount of later payments that name none")),
  order_desc:             optional(field.freeText(65_536, "description of later payments that have none")),
  interval:               schedule,
  period:                 schedule,
  start_date:             schedule,
  finish_date:            schedule,
  amount_from:            schedule,
  amount_to:              schedule,
  amount_sequence:        schedule,
} as const;

export const scheduleNames = Object.entries(createFields).flatMap(([name, each]) =>
  each === schedule ? [name] : [],
);

const profileId = field.cardRefId("id of the profile");

// biome-ignore format: a table
export const processFields = {
  client_orderid:       field.clientOrderId("merchant order id; it can be paid once"),
  recurring_payment_id: profileId,
  amount:               conditional(field.amount("amount in the highest unit with `.` as delimiter; mandatory unless the profile has one")),
  order_desc:           optional(field.freeText(65_536, `order description${asSent}`)),
  customer_ip:          optional(field.ipAddress(`customer's IP address${asSent}`)),
  first_name:           payerFields.first_name,
  last_name:            payerFields.last_name,
  email:                optional(payerFields.email),
  phone:                optional(payerFields.phone),
  address1:             optional(payerFields.address1),
  city:                 optional(payerFields.city),
  zip_code:             optional(payerFields.zip_code),
  country:              optional(payerFields.country),
  state:                optional(field.line(3, "customer's state")),
  server_callback_url:  payerFields.server_callback_url,
  notify_url:           payerFields.notify_url,
  merchant_data:        payerFields.merchant_data,
} as const;

const together = "; number, name and both parts of the expiry are sent together or not at all";

// biome-ignore format: a table
export const updateFields = {
  client_orderid:         field.clientOrderId("merchant's id of the request"),
  recurring_payment_id:   profileId,
  credit_card_number:     conditional(field.digits(12, 19, `new card number${together}`)),
  card_printed_name:      conditional(field.line(128, "cardholder's name, mandatory with a number")),
  expire_month:           conditional(field.pattern("1-2/Numeric", /^(0?[1-9]|1[0-2])$/, "month of expiry, mandatory with a number")),
  expire_year:            conditional(field.pattern("2 or 4/Numeric", /^(20)?\d{2}$/, "year of expiry, mandatory with a number")),
  first_name:             processFields.first_name,
  last_name:              processFields.last_name,
  email:                  processFields.email,
  phone:                  processFields.phone,
  address1:               processFields.address1,
  city:                   processFields.city,
  zip_code:               processFields.zip_code,
  country:                processFields.country,
  state:                  processFields.state,
  customer_ip:            optional(field.ipAddress("customer's IP address")),
  amount:                 optional(field.amount("amount of later payments that name none")),
  network_transaction_id: createFields.network_transaction_id,
  finish_date:            optional(field.day("`YYYY-MM-DD`, today or earlier: stops the profile; only the operator can start it again")),
} as const;

type CreateRequest = field.Values<typeof createFields>;
type ProcessRequest = field.Values<typeof processFields>;
type UpdateRequest = field.Values<typeof updateFields>;

/** Takes each name with hyphens too. A field in both spellings must have one value. */
export function joinSpellings(sent: Sent, names: field.Fields): Sent | Failure {
  const joined = new Map<string, string>();
  for (const [name, value] of sent) {
    const other = name.replaceAll("-", "_");
    const known = Object.hasOwn(names, other) ? other : name;
    const first = joined.get(known) ?? "";
    if (first !== "" && value !== "" && first !== value) {
      return new Failure("invalid_parameter", `${known}: its two spellings have different values`);
    }
    if (first === "") joined.set(known, value);
  }
  return joined;
}

/** A receiver has no fields of a customer: they are ignored, readable or not. */
export function rewriteCreate(sent: Sent): Sent | Failure {
  const joined = joinSpellings(sent, createFields);
  if (joined instanceof Failure || joined.get("rp_card_type") !== "DST") return joined;
  const ignored: ReadonlySet<string> = new Set([...Object.keys(customerFields), "cvv2"]);
  return new Map([...joined].filter(([name]) => !ignored.has(name)));
}

export function createRules(request: CreateRequest, context: Context): readonly Failure[] {
  const refusal = refuseProfiles(context);
  if (refusal !== undefined) return [refusal];
  if (scheduleNames.some((name) => (context.sent.get(name) ?? "") !== "")) {
    return [new Failure("not_supported_by_gate", "schedule")];
  }
  const faults = cardFaults(request, context.receivedAt);
  if (request.rp_card_type === "DST") {
    const isDated = request.expire_month !== undefined || request.expire_year !== undefined;
    const isNeeded = ({ detail }: Failure) => isDated && detail.startsWith("expire_");
    return faults.filter((fault) => fault.code !== "missing_parameter" || isNeeded(fault));
  }
  const names = wanted.filter((name) => !isWaived(name, context.entryPoint));
  const absent = names.filter((name) => request[name] === undefined);
  return [...faults, ...absent.map(missing), ...stateFaults(request, context)];
}

export async function createProfile(
  request: CreateRequest,
  context: Context,
): Promise<Reply | Failure> {
  const { services } = context;
  const endpoint = getEndpoint(context);
  if (request.currency.code !== endpoint.currency) return new Failure("currency_not_supported");
  const refusal = refuseAmount(request.amount, endpoint);
  if (refusal !== undefined) return refusal;
  const { rp_card_type: cardType, client_orderid: clientOrderId, amount } = request;
  const profile: Profile = {
    currency: endpoint.currency,
    amount,
    description: request.order_desc,
    ipAddress: request.customer_ip,
    customer: readCustomer(request),
  };
  const wanted = {
    merchantId: endpoint.merchant.id,
    endpointId: endpoint.id,
    clientOrderId,
    requestFingerprint: requestFingerprintOf(`profile/${endpoint.id}`, context),
    cardType,
    profile,
    networkId: request.network_transaction_id,
  };
  const print = (created: CreatedProfile) =>
    profileReply("create", { ...request, ...created, isSource: cardType === "SRC" }, context);
  if (endpoint.settings.profiles !== "verified" || cardType === "DST") {
    const card = splitCard({ ...request, cvv2: undefined });
    const created = await services.profiles.create(wanted, card);
    return created instanceof Failure ? created : print(created);
  }
  const known = await services.profiles.findCreated(wanted);
  if (known !== undefined) return known instanceof Failure ? known : print(known);
  const verified = await verify(request, context, replyTypes.create);
  if (verified instanceof Failure || "type" in verified) return verified;
  const ids = await services.cards.register(verified);
  if (ids instanceof Failure) return ids;
  const created = await services.profiles.adopt(wanted, ids.recurring);
  return created instanceof Failure ? created : print(created);
}

/**
 * Verifies the card with its issuer. Returns the order of a good card, the issuer's refusal, or a
 * reply without a result: the identical request then asks for the result again. An entry of a
 * payload has a failure that says so, because it is accepted or refused.
 */
async function verify(
  { customer_ip: ipaddress, amount: _, ...request }: CreateRequest | UpdateRequest,
  context: Context,
  type: string,
): Promise<Order | Reply | Failure> {
  const { waitUntil, services } = context;
  const { orders } = services;
  const priced = withoutAmount(context);
  if (priced instanceof Failure) return priced;
  const card = { ...request, ipaddress };
  const begun = await begin("account-verification", card, { ...priced, isUnattended: true });
  if (begun instanceof Failure || begun.describes === undefined) return begun;
  const found = await orders.waitForResult(begun.describes, waitUntil);
  if (found instanceof Failure) return found;
  const { stage, reason } = initialOf(found.order);
  if (stage === "approved") return found.order;
  if (isFinal(stage) && reason !== undefined) return new Failure(reason.code, reason.detail);
  if (waitUntil !== undefined) return unanswered;
  return { ...begun, type, fields: [["status", "processing"]] };
}

const unanswered = new Failure("storage_unavailable", "the issuer has not answered yet");

function chargeSubject(endpoint: EndpointId): string {
  return `profile/sale/${endpoint}`;
}

export const processRepeats: Repeats = {
  subjectOf: chargeSubject,
  answer: (begun) => processReply(begun),
};

export function processRules(request: ProcessRequest, context: Context): readonly Failure[] {
  const refusal = refuseProfiles(context);
  return refusal === undefined ? addressFaults(request, context) : [refusal];
}

export async function processProfile(
  request: ProcessRequest,
  context: Context,
): Promise<Reply | Failure> {
  const { entryPoint, services } = context;
  const endpoint = getEndpoint(context);
  const id = asCardRefId(request.recurring_payment_id);
  const reference = await services.cards.find(entryPoint, id, "recurring");
  if (reference instanceof Failure) return reference;
  const { profile } = reference;
  const { amount = profile?.currency === endpoint.currency ? profile.amount : undefined } = request;
  if (amount === undefined) return missing("amount");
  const { order_desc = profile?.description, customer_ip = profile?.ipAddress } = request;
  const charge = {
    ...request,
    recurrent_initiator: "MERCHANT" as const,
    cardrefid: id,
    amount,
    currency: getCurrency(endpoint.currency),
    order_desc: order_desc ?? "",
    ipaddress: customer_ip ?? "",
  };
  const customer = mergeCustomer(profile, request);
  const accepted = await chargeAgain("sale", charge, context, {
    subject: chargeSubject,
    reference,
    customer,
  });
  return accepted instanceof Failure ? accepted : processReply(accepted);
}

function processReply({ order, transaction }: FoundOrder): Reply {
  return {
    type: replyTypes.process,
    describes: { order, transaction },
    clientOrderId: order.clientOrderId,
    orderId: order.id,
    fields: [["status", "processing"]],
  };
}

export function updateRules(request: UpdateRequest, context: Context): readonly Failure[] {
  const refusal = refuseProfiles(context);
  if (refusal !== undefined) return [refusal];
  const isCardSent = cardParts.some((name) => request[name] !== undefined);
  const faults = isCardSent ? cardFaults(request, context.receivedAt) : [];
  const today = context.services.printDate(context.receivedAt).slice(0, 10);
  const isLater = request.finish_date !== undefined && request.finish_date > today;
  return isLater ? [...faults, new Failure("not_supported_by_gate", "schedule")] : faults;
}

const cardParts = [
  ...(["credit_card_number", "card_printed_name", "expire_month", "expire_year"] as const),
];

export async function updateProfile(
  request: UpdateRequest,
  context: Context,
): Promise<Reply | Failure> {
  const { entryPoint, services, serialNumber } = context;
  const endpoint = getEndpoint(context);
  const refusal = refuseAmount(request.amount, endpoint);
  if (refusal !== undefined) return refusal;
  const id = asCardRefId(request.recurring_payment_id);
  const reference = await services.cards.findProfile(entryPoint, id);
  if (reference instanceof Failure) return reference;
  const isCardSent = request.credit_card_number !== undefined;
  const isSource = reference.purpose === "recurring";
  if (isCardSent && isSource && endpoint.settings.profiles === "verified") {
    const verified = await verify(request, context, replyTypes.update);
    if (verified instanceof Failure || "type" in verified) return verified;
  }
  const changed = await services.profiles.change(reference, (before) => ({
    card: isCardSent ? splitCard(request) : undefined,
    networkId: request.network_transaction_id ?? before.networkId,
    profile: changeProfile(before.profile, request, endpoint),
    isStopped: request.finish_date !== undefined,
    by: { login: endpoint.merchant.login, request: serialNumber },
    requestFingerprint: requestFingerprintOf(`profile/update/${endpoint.id}`, context),
  }));
  if (changed instanceof Failure) return changed;
  return profileReply("update", { ...request, ...changed, isSource }, context);
}

/** An amount is in the currency of the endpoint that it was sent to. */
function changeProfile(
  before: Profile | undefined,
  request: UpdateRequest,
  { currency }: Endpoint,
): Profile | undefined {
  const { amount, customer_ip: ipAddress } = request;
  const changed = {
    ...(amount !== undefined && { amount, currency }),
    ...(ipAddress !== undefined && { ipAddress }),
    ...(isCustomerSent(request) && { customer: mergeCustomer(before, request) }),
  };
  if (Object.keys(changed).length === 0) return before;
  return { currency, customer: noCustomer, ...before, ...changed };
}

type SentCustomer = Parameters<typeof readCustomer>[0];

function isCustomerSent(request: SentCustomer): boolean {
  return Object.values(readCustomer(request)).some((value) => value !== undefined);
}

function mergeCustomer(profile: Profile | undefined, request: SentCustomer): Customer {
  const sent = Object.entries(readCustomer(request)).filter(([, value]) => value !== undefined);
  return { ...noCustomer, ...profile?.customer, ...Object.fromEntries(sent) };
}

const replyTypes = {
  create: "create-recurring-payment-response",
  process: "process-recurring-payment-response",
  update: "update-recurring-payment-response",
} as const;

type Shown = CreatedProfile & { readonly client_orderid: string; readonly isSource: boolean };

function profileReply(
  kind: "create" | "update",
  { client_orderid: clientOrderId, ids, hashId, isSource }: Shown,
  context: Context,
): Reply {
  const { card, recurring, destination, destination_recurring: receiving } = ids;
  const fields = [
    ["status", "approved"],
    ["recurring-payment-id", isSource ? recurring : receiving],
    ["card-ref-id", isSource ? card : undefined],
    ["unq-card-ref-id", isSource ? hashId : undefined],
    ["dst-recurring-payment-id", isSource ? undefined : receiving],
    ["dst-card-ref-id", isSource ? undefined : destination],
    ["end-point-id", getEndpoint(context).id],
  ] as const;
  return { type: replyTypes[kind], clientOrderId, fields };
}

function refuseProfiles(context: Context): Failure | undefined {
  const { profiles = "off" } = getEndpoint(context).settings;
  return profiles === "off" ? new Failure("not_supported_by_gate", "profiles") : undefined;
}

/** A path without a group has one endpoint. */
function getEndpoint({ entryPoint }: Pick<Context, "entryPoint">): Endpoint {
  const [endpoint] = entryPoint.endpoints;
  if (endpoint === undefined) throw new Error("an entry point has no endpoint");
  return endpoint;
}

function refuseAmount(amount: string | undefined, { currency }: Endpoint): Failure | undefined {
  if (amount === undefined) return undefined;
  const money = parseAmount(amount, getCurrency(currency));
  if (money === undefined) return tooManyDigits("amount");
  return isZero(money) ? new Failure("amount_out_of_range") : undefined;
}

function missing(name: string): Failure {
  return new Failure("missing_parameter", name);
}
