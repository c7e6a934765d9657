/** Sections of the index that tell what the gateway does over several requests. */
import type { Operation } from "../../gateway/merchant-api/operation.ts";
import { twinOf } from "../../gateway/merchant-api/wait.ts";
import { settings } from "../../gateway/settings.ts";
import { type FailureCode, failures } from "../../gateway/values/failure.ts";
import { list, mono, table } from "./markdown.ts";
import { pathOf, titleOf } from "./operation-page.ts";

export function synchronousRequests(operations: readonly Operation[]): readonly string[] {
  const { name, production } = settings.syncWaitMs;
  const waiting = operations.filter(({ sync }) => sync);
  return [
    "Every operation that begins a transaction has a synchronous twin. It takes the same request " +
      "with the same checksum, waits for the result or a step of 3-D Secure, and answers with " +
      "the " +
      "[status response](status-response.md) in place of the acknowledgement. In v4 the paths " +
      "begin with `/gw/api/v4/sync/`.",
    table(
      ["Operation", "Synchronous path"],
      waiting.map((operation) => [
        titleOf(operation.name),
        mono(pathOf(twinOf(operation), "{endpoint_id}")),
      ]),
    ),
    list(
      `It waits for ${production / 1000} seconds at most, unless the operator sets another time ` +
        `(${mono(name)}). The merchant's own time-out must be longer than that.`,
      "When there is no result in time, the status is `processing`; go on by polling the order " +
        "status, with the reply's `serial-number` as `by-request-sn`.",
      "A refused request is answered at once, as it is without waiting.",
      "The twins are the same request as far as repeats go: after a lost reply, send the " +
        "identical request again to either path.",
    ),
  ];
}

export function capturesAndReturns(): readonly string[] {
  return [
    "Both name an order by `client_orderid` and `orderid`, and take all that there is when no " +
      "`amount` is sent. `amount` and `currency` come together. Each is a transaction of its " +
      "own, with its own result: ask for it with the acknowledgement's `serial-number` as " +
      "`by-request-sn`.",
    list(
      "A preauthorisation is captured once, whole or in part. After a partial capture the rest " +
        "is no longer held. A capture that was declined or failed leaves the hold as it was.",
      "A return of a sale or of a capture gives money back: all of it at once, or in parts until " +
        "nothing is left. Without an `amount` it gives back all that is left.",
      "A return of a preauthorisation that is not captured is a cancel: it lets go of the whole " +
        "hold. Nothing can follow it.",
      "Nothing follows an account verification, nor an order that did not end as approved.",
      "One transaction of an order is on its way at a time.",
      "Parts are possible where `gate-partial-capture` and `gate-partial-reversal` of the status " +
        "response say so. The rest after a part is a part too.",
    ),
    "These are refused, the first that fits deciding, and nothing has happened then:",
    table(["`error-code`", "`error-message`", "When"], refusals.map(refusalRow)),
  ];
}

// biome-ignore format: a table
const refusals: readonly (readonly [code: FailureCode, when: string])[] = [
  ["missing_parameter",      "An `amount` without `currency`, or a `currency` without `amount`."],
  ["order_not_found",        "No order of this endpoint or group has both ids."],
  ["not_allowed_now",        "Another transaction of the order is on its way; or there is nothing to capture or to return: the order is not approved, is captured already, cancelled, or given back entirely."],
  ["currency_not_supported", "The currency is not the order's."],
  ["amount_out_of_range",    "The amount is zero, or more than is held or left; or a part of what an uncaptured preauthorisation holds is to be returned."],
  ["not_supported_by_gate",  "A part is asked for, and the gate that has the order cannot do parts."],
];

function refusalRow([code, when]: (typeof refusals)[number]): readonly string[] {
  const { number, word } = failures[code];
  return [String(number), mono(word), when];
}

export function repeatedRequests(): string {
  return list(
    "A `client_orderid` can be charged once. The identical request gets the first " +
      "acknowledgement again, with the same `gw-order-id` and a serial number of its own, " +
      "whatever became of the order. A merchant whose reply was lost sends the " +
      "same request again without fear.",
    "A different request with the same `client_orderid` starts a new attempt only when every " +
      "earlier order with it ended as declined, filtered or error. Otherwise it is refused as " +
      `${mono(failures.duplicate_order.word)}.`,
    "A capture or return is identical to an earlier one of the order when operation, `amount` " +
      "(or its absence) and `comment` are the same. It gets the first acknowledgement again " +
      "while that transaction is open or approved; after it was declined or failed, the same " +
      "request begins a new one. To return the same amount twice on purpose, give another " +
      "`comment`.",
    "Asked with the serial number of a repeat, the order status describes the transaction that " +
      "the first request began.",
    "Of identical requests at the same moment one wins, and the others get its answer.",
    "Order status by `client_orderid` alone describes the latest order, and the latest " +
      "transaction of it.",
    "After 429 and 503 nothing has happened; send the request again after `Retry-After`.",
  );
}
