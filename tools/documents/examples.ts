/**
 * Makes one example for each operation: its fields, the request as it is sent, and the gateway's
 * reply. An example that the gateway refuses stops the generator.
 */
import { createPrivateKey, hash } from "node:crypto";
import { writeForm } from "@tollgate/protocols/form";
import { OAuthFault, signRequest } from "@tollgate/protocols/oauth1";
import { AccessDenied } from "../../gateway/merchant-api/control.ts";
import {
  type ControlTerm,
  type Operation,
  pathIn,
  type Reply,
  type Version,
  versionsOf,
} from "../../gateway/merchant-api/operation.ts";
import { operations } from "../../gateway/merchant-api/operations/index.ts";
import { makePipeline } from "../../gateway/merchant-api/pipeline.ts";
import { writeReply } from "../../gateway/merchant-api/reply.ts";
import { Failure } from "../../gateway/values/failure.ts";
import { asSerialNumber } from "../../gateway/values/ids.ts";
import { findCurrency } from "../../gateway/values/iso-codes.ts";
import { parseAmount } from "../../gateway/values/money.ts";
import { samplePayloads } from "./recipes.ts";
import { makeSampleGateway } from "./sample-gateway.ts";
import * as sample from "./sample-world.ts";

export type Example = {
  readonly operation: Operation;
  /** The version of the interface of the request. */
  readonly version: Version;
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** The values of the checksum's formula, in order, without the key. */
  readonly signed: readonly string[];
  /** The header of the same request in v4, whose fields omit the login and the control. */
  readonly authorization: string;
  readonly reply: Reply;
  /** The text of the reply. */
  readonly answer: string;
};

const sharedValues: Readonly<Record<string, string>> = {
  login: sample.endpoint.merchant.login,
  email: "jane@example.com",
  ipaddress: "203.0.113.7",
  first_name: "Jane",
  last_name: "Doe",
  address1: "1 Main Street",
  city: "Springfield",
  state: "IL",
  zip_code: "62701",
  country: "US",
  phone: "+1 555 0100",
  credit_card_number: "4000001000000018",
  card_printed_name: "JANE DOE",
  expire_month: "12",
  expire_year: "2030",
  cvv2: "123",
  redirect_url: "https://shop.example/return",
};

const tickets = { client_orderid: "invoice-1042", orderid: sample.makeOrderId(1) };
const room = { client_orderid: "invoice-1043", orderid: sample.makeOrderId(2) };

const month = {
  cardrefid: sample.references.card,
  order_desc: "A month of apples",
  amount: "19.99",
  currency: "USD",
};

const secure = { "client-order-id": tickets.client_orderid, orderid: tickets.orderid };
const sampleTransactionId = "8a880dc0-d2d2-4067-bcb1-b08d1690b26e";
const sampleCres = Buffer.from(
  JSON.stringify({
    messageType: "CRes",
    messageVersion: "2.2.0",
    threeDSServerTransID: sampleTransactionId,
    acsTransID: "d7c1ee99-9478-44a6-b1f2-391e29c6b340",
    transStatus: "Y",
  }),
).toString("base64url");

/**
 * The values of each operation: the sale is refunded, and the preauthorisation is captured in part.
 * The status request names the sale by its serial number, because the refund came after it.
 */
const ownValues: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  sale: { ...tickets, order_desc: "Two tickets", amount: "10.42", currency: "USD" },
  preauth: { ...room, order_desc: "Two nights", amount: "180.00", currency: "USD" },
  capture: { ...room, amount: "150.00", currency: "USD" },
  return: { ...tickets, comment: "Cancelled show" },
  status: { ...tickets, "by-request-sn": sampleSerialNumber(0) },
  "account-verification": { client_orderid: "customer-77" },
  "create-card-ref": room,
  "create-card-ref-v4": room,
  "get-card-info": { cardrefid: sample.references.card },
  "remove-card-ref": { cardrefid: sample.references.card },
  "make-rebill": { ...month, client_orderid: "subscription-12-01", enumerate_amounts: "9.99,4.99" },
  "make-rebill-sale": { ...month, client_orderid: "subscription-12-02" },
  "make-rebill-preauth": { ...month, client_orderid: "subscription-12-03" },
  "create-recurring-payment": {
    client_orderid: "subscriber-77",
    rp_card_type: "SRC",
    currency: "USD",
    customer_ip: "203.0.113.7",
    amount: "19.99",
    order_desc: "A month of apples",
  },
  "process-recurring-payment": {
    client_orderid: "subscription-12-04",
    recurring_payment_id: sample.references.recurring,
  },
  "update-recurring-payment": {
    client_orderid: "subscriber-77-update",
    recurring_payment_id: sample.references.recurring,
    amount: "24.99",
  },
  "create-recurring-payments": { payload: samplePayloads.create },
  "process-recurring-payments": { payload: samplePayloads.process },
  "update-recurring-payments": { payload: samplePayloads.update },
  void: { client_orderid: "subscription-12-02", orderid: sample.makeOrderId(5) },
  payout: {
    client_orderid: "payout-311",
    amount: "25.00",
    currency: "USD",
    order_desc: "Winnings",
  },
  "payout-by-ref": {
    client_orderid: "payout-312",
    amount: "25.00",
    currency: "USD",
    "destination-card-ref-id": sample.references.card,
  },
  "sale-form": {
    client_orderid: "invoice-1044",
    order_desc: "Two tickets",
    amount: "10.42",
    currency: "USD",
  },
  "preauth-form": {
    client_orderid: "invoice-1045",
    order_desc: "Two nights",
    amount: "180.00",
    currency: "USD",
  },
  "account-verification-form": { client_orderid: "customer-78" },
  "upload-method-url-result": {
    ...secure,
    threeDSServerTransID: sampleTransactionId,
    threeDSCompInd: "Y",
  },
  "upload-cres-result": { ...secure, cres: sampleCres },
  "upload-pares-result": {
    ...secure,
    paRes: "eJzVWVmTo0iSfm+z/g9l1Y9MF6fQ0cYwe0Zq0BmzDsK9JICBKUu2",
    md: "q7dJ0s1mB2xYH5oTn4c8KpAe",
  },
};

const fieldWord = "gw";
const privateKey = createPrivateKey(sample.privateKeyPem);

/**
 * Makes the examples in the order of the table of operations, because later operations need the
 * orders of earlier ones.
 */
export async function makeExamples(): Promise<readonly Example[]> {
  const dependencies = {
    services: makeSampleGateway(),
    findEntryPoint: () => sample.endpoint,
    clock: sample.clock,
    takeToken: () => 0,
    oauth: {
      baseUrls: () => [sample.baseUrl],
      windowMs: 0,
      takeNonce: async () => true,
      noteOldKey: () => undefined,
    },
  };
  const examples: Example[] = [];
  for (const [index, operation] of operations.entries()) {
    const [version = "v2"] = versionsOf(operation);
    const inVersion2 = fieldsOf(operation);
    const authorization = authorizationOf(operation, inVersion2, index);
    const signed = signedValues(operation.control, new Map(inVersion2), sample.endpoint.id);
    const control = hash("sha1", signed.join("") + sample.controlKey);
    const fields = version === "v2" ? [...inVersion2, ["control", control] as const] : inVersion2;
    const serialNumber = sampleSerialNumber(index);
    const { answer: reply } = await makePipeline(
      operation,
      dependencies,
      version,
    )({
      id: sample.endpoint.id,
      form: "endpoint",
      contentType: undefined,
      body: Buffer.from(writeForm(fields)),
      serialNumber,
      method: "POST",
      target: targetOf(operation, version),
      port: 0,
      authorization,
    });
    if (reply instanceof Failure || reply instanceof AccessDenied) {
      const why = reply instanceof Failure ? reply.message : reply.check;
      throw new Error(`The example of ${operation.name} in ${import.meta.filename}: ${why}`);
    }
    const answer = writeReply(reply, serialNumber, "form", { fieldWord, lineFeeds: false });
    examples.push({ operation, version, fields, signed, authorization, reply, answer });
  }
  return examples;
}

/** Fields that v4 does not need. */
export const checksumFields: ReadonlySet<string> = new Set(["login", "control"]);

function authorizationOf(operation: Operation, fields: Example["fields"], index: number): string {
  const parameters = fields.filter(([name]) => !checksumFields.has(name));
  const header = signRequest(
    { method: "POST", url: signedUrlOf(operation), parameters },
    {
      consumerKey: sample.endpoint.merchant.login,
      nonce: hash("md5", `nonce of example ${index}`),
      timestamp: Math.floor(sample.clock.now() / 1000),
      privateKey,
    },
  );
  if (header instanceof OAuthFault) throw new Error(`No example is signed: ${header.reason}.`);
  return header;
}

/** The URL that an OAuth signature covers. */
export function signedUrlOf(operation: Operation): string {
  return sample.baseUrl + targetOf(operation, "v4");
}

function targetOf(operation: Operation, version: Version): string {
  return `/gw/api${pathIn(version, operation).replace("{id}", sample.endpoint.id)}`;
}

/** Returns the values that the checksum covers, in order; `id` is the number in the path. */
export function signedValues(
  terms: readonly ControlTerm[],
  values: ReadonlyMap<string, string>,
  id: string,
): readonly string[] {
  return terms.map((term) => {
    if (term === "{id}" || term === "{id?}") return id;
    if (typeof term === "string") return values.get(term) ?? "";
    if ("minorUnitsOf" in term) return minorUnitsOf(term.minorUnitsOf, values);
    const minor = minorUnitsOf(term.moneyIfSent, values);
    return minor === "" ? "" : `${minor}${values.get("currency")}`;
  });
}

function minorUnitsOf(field: string, values: ReadonlyMap<string, string>): string {
  const currency = findCurrency(values.get("currency") ?? "");
  const money = currency && parseAmount(values.get(field) ?? "", currency);
  return money === undefined ? "" : String(money.minor);
}

function fieldsOf({ name, request }: Operation): readonly (readonly [string, string])[] {
  const values: Readonly<Record<string, string>> = { ...sharedValues, ...ownValues[name] };
  return Object.keys(request).flatMap((field) => {
    const value = values[field];
    return value === undefined ? [] : [[field, value] as const];
  });
}

/**
 * Makes a serial number that looks like a real one: its first digits are the time, and the others
 * look random.
 */
function sampleSerialNumber(index: number) {
  const time = (sample.clock.now() + 41_000 * index).toString(16).padStart(12, "0");
  const digits = hash("sha1", `serial number ${index}`);
  const [a, b, c] = [digits.slice(0, 3), digits.slice(3, 6), digits.slice(6, 18)];
  return asSerialNumber(`${time.slice(0, 8)}-${time.slice(8)}-7${a}-a${b}-${c}`);
}
