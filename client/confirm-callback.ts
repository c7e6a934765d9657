/**
 * Asks the gateway whether what a callback claims is so, and takes the gateway's own word for every
 * field: `control` does not cover the amount, the type or the serial number.
 */
import {
  type CallbackResult,
  type Covered,
  type Fields,
  isFinalStatus,
  NoResult,
  serialNumberOf,
} from "./callback-result.ts";
import { Refused } from "./errors.ts";
import type { StatusReply, StatusRequest } from "./operations.generated.ts";

/** An endpoint or a group of the client is one. */
export type StatusSource = { status(request: StatusRequest): Promise<StatusReply> };

/** Where a callback has another name for what a status response tells. */
// biome-ignore format: a table
const names: readonly (readonly [inCallback: string, inStatus: keyof StatusReply])[] = [
  ["type",                  "transaction-type"],
  ["amount",                "amount"],
  ["charged-amount",        "charged-amount"],
  ["currency",              "currency"],
  ["error_code",            "error-code"],
  ["error_message",         "error-message"],
  ["descriptor",            "descriptor"],
  ["processor-tx-id",       "processor-tx-id"],
  ["processor-rrn",         "processor-rrn"],
  ["approval-code",         "approval-code"],
  ["bin",                   "bin"],
  ["last-four-digits",      "last-four-digits"],
  ["card-type",             "card-type"],
  ["card-holder-name",      "cardholder-name"],
  ["email",                 "email"],
  ["phone",                 "phone"],
  ["gate-partial-reversal", "gate-partial-reversal"],
  ["gate-partial-capture",  "gate-partial-capture"],
  ["merchantdata",          "merchantdata"],
];

/** The gateway's refusals that say that there is no such transaction. */
const unknownCodes = [5, 6];

export async function confirmCallback(
  fields: Fields & Covered,
  source: StatusSource,
): Promise<CallbackResult | NoResult> {
  const { status, orderid, client_orderid } = fields;
  const serialNumber = serialNumberOf(fields);
  try {
    const reply = await source.status({ client_orderid, orderid, "by-request-sn": serialNumber });
    const isSame =
      reply["gw-order-id"] === orderid &&
      reply["merchant-order-id"] === client_orderid &&
      reply["by-request-sn"]?.toLowerCase() === serialNumber;
    if (!isSame) return new NoResult("refused", "the gateway tells of another transaction");
    if (!isFinalStatus(reply.status)) return new NoResult("later", "the gateway has no result yet");
    if (reply.status !== status) return new NoResult("refused", "the gateway tells another result");
    return resultOf(reply, { status, orderid, client_orderid, serialNumber: serialNumber ?? "" });
  } catch (error) {
    const isUnknown = error instanceof Refused && unknownCodes.includes(error.code);
    if (isUnknown) return new NoResult("refused", "the gateway knows no such transaction");
    return new NoResult(
      "later",
      `the gateway cannot be asked: ${error instanceof Error ? error.message : ""}`,
    );
  }
}

function resultOf(
  reply: StatusReply,
  { serialNumber, ...covered }: Covered & { readonly serialNumber: string },
): CallbackResult {
  const told = names.flatMap(([name, inStatus]) => {
    const value = reply[inStatus];
    return value === undefined || value === "" ? [] : [[name, value] as const];
  });
  const type = reply["transaction-type"] ?? "";
  return { ...Object.fromEntries(told), ...covered, type, "serial-number": serialNumber };
}
