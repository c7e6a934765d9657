/** The index of the merchant interface: operations, wire format, authentication, repeats. */
import { hash } from "node:crypto";
import { type Operation, versionsOf } from "../../gateway/merchant-api/operation.ts";
import { twinOf } from "../../gateway/merchant-api/wait.ts";
import { settings } from "../../gateway/settings.ts";
import { findCurrency } from "../../gateway/values/currency.ts";
import { type FailureCode, failures } from "../../gateway/values/failure.ts";
import { formatAmount, parseAmount } from "../../gateway/values/money.ts";
import { type Example, signedValues } from "./examples.ts";
import { oauthChapter } from "./oauth-chapter.ts";
import { formula, pathOf, titleOf } from "./operation-page.ts";
import * as sample from "./sample-world.ts";
import { fence, list, mono, numbered, page, table } from "./text.ts";

export function renderIndex(examples: readonly Example[]): string {
  return page(
    "gateway/merchant-api",
    "Merchant interface",
    "A merchant sends a request to an endpoint, which takes one currency, or to an endpoint " +
      "group, which holds one endpoint for each of several currencies and chooses by the " +
      "request's `currency`. A transaction is acknowledged at once, and its result is read by " +
      "polling the order status; or its synchronous twin waits for the result.",
    "## Operations",
    table(["Operation", "Path", "Versions", "Purpose"], examples.map(operationRow)),
    "The version in the path says how a request is authenticated: by checksum in v2, by OAuth in " +
      "v4. An operation of both versions is the same in both.",
    "Further pages: the [status response](status-response.md) and the [errors](errors.md).",
    "## The wire",
    wire(),
    "## Amounts",
    "An amount is a decimal in the highest unit of its currency with `.` as delimiter, read " +
      "digit by digit. More fraction digits than ISO 4217 gives the currency are refused. " +
      "Checksums cover the amount in minor units; replies show at least two fraction digits.",
    table(["Sent", "In minor units", "In replies"], amountRows()),
    "## Authentication by checksum (v2)",
    ...authentication(examples.filter(({ version }) => version === "v2")),
    "## Authentication by OAuth (v4)",
    ...oauthChapter(examples),
    "## Order of checks",
    checks(),
    "## Synchronous requests",
    ...synchronousRequests(examples.map(({ operation }) => operation)),
    "## Captures and returns",
    ...capturesAndReturns(),
    "## Repeated requests",
    repeatedRequests(),
  );
}

function operationRow({ operation }: Example): readonly string[] {
  const { name, purpose } = operation;
  const link = `[${titleOf(name)}](${name}.md)`;
  const versions = versionsOf(operation).join(", ");
  return [link, mono(pathOf(operation, "{endpoint_id}")), versions, purpose];
}

function wire(): string {
  const { bodyBytesMax, transactionsPerSecond, questionsPerSecond } = settings;
  return table(
    ["Rule", "Value"],
    [
      ["Method", "Every operation is a `POST`; other methods are answered with 405."],
      [
        "Paths",
        "`/gw/api/…/{endpoint_id}` for an endpoint, `/gw/api/…/group/{endpoint_group_id}` for a " +
          "group. The operator can replace the word `gw` in paths and, apart from that, in the " +
          "field names `gw-order-id` and `gw-processing-date`.",
      ],
      [
        "Requests",
        "`application/x-www-form-urlencoded` in UTF-8, with `+` or `%20` for a space. White " +
          "space around a value is dropped before anything is checked or signed; an empty value " +
          "counts as absent; unknown fields are ignored; a field sent twice is refused.",
      ],
      [
        "Size",
        `A body may have ${bodyBytesMax.production} bytes. Lengths count characters, not bytes.`,
      ],
      [
        "Replies",
        "The fields as `name=value` joined by `&`, values URL-encoded, as " +
          "`text/html;charset=utf-8`. With `Accept: application/json` or " +
          "`application/vnd.pay+json` the same fields come as a JSON object of strings. The " +
          "operator can have every value followed by a line feed. The first fields are always " +
          "`type`, `serial-number`, `merchant-order-id` and `gw-order-id`, as far as they exist.",
      ],
      [
        "HTTP status",
        "200 for every result and for every refusal, except 403 with a short page when OAuth " +
          "denies access, 404 for an unknown path, 405 for another method, 413 for a body that " +
          "is too large, 429 over the rate limit and 503 while the gateway cannot store the " +
          "request. The last two come with `Retry-After`.",
      ],
      [
        "Dates",
        "`YYYY-MM-DD HH:MM:SS` and the zone, which is UTC unless the operator sets another.",
      ],
      [
        "Serial number",
        "Every request gets one, also a refused one. Support finds the request by it, and " +
          "`by-request-sn` of the order status asks about that very request.",
      ],
      [
        "Rate",
        `In production, by default ${transactionsPerSecond.production} transactions and ` +
          `${questionsPerSecond.production} status requests a second for each merchant.`,
      ],
    ],
  );
}

function amountRows(): readonly (readonly string[])[] {
  const samples = [
    ["10.42", "USD"],
    ["0.94", "EUR"],
    ["10.5", "GBP"],
    ["500", "JPY"],
    ["1.234", "KWD"],
  ] as const;
  return samples.map(([amount, code]) => {
    const currency = findCurrency(code);
    const money = currency && parseAmount(amount, currency);
    if (money === undefined) throw new Error(`${amount} ${code} is no amount.`);
    return [`${amount} ${code}`, String(money.minor), formatAmount(money)];
  });
}

function authentication(examples: readonly Example[]): readonly string[] {
  const worked = examples.flatMap(workedOf);
  return [
    "Every request in v2 carries `control`: the SHA-1 checksum, in hexadecimal, of some of its " +
      "values and the merchant control key, joined without separators. A field that is not sent " +
      "counts as empty. Upper and lower case of the checksum are the same. An unknown login, the " +
      "login of another merchant and a wrong checksum get the same answer: " +
      "`INVALID_CONTROL_CODE`.",
    table(
      ["Operation", "Values"],
      examples.map(({ operation: { name, control } }) => [titleOf(name), formula(control)]),
    ),
    `With the control key ${mono(sample.controlKey)}:`,
    table(["Request", "Values", "Checksum"], worked.map(workedRow)),
    "The first of them, checked in a shell:",
    fence(
      "sh",
      `printf '%s' '${(worked[0]?.signed ?? []).join("")}${sample.controlKey}' | sha1sum`,
    ),
  ];
}

type Worked = { readonly title: string; readonly signed: readonly string[] };

/** The number in the path is the group's when a request is sent to one. */
function workedOf({ operation, signed, fields }: Example): readonly Worked[] {
  const title = titleOf(operation.name);
  const atEndpoint = { title: `${title} at an endpoint`, signed };
  if (!operation.control.includes("{id}")) return [{ title, signed }];
  const others = signedValues(operation.control, new Map(fields), sample.group.id);
  return [atEndpoint, { title: `${title} at a group`, signed: others }];
}

function workedRow({ title, signed }: Worked): readonly string[] {
  const control = hash("sha1", signed.join("") + sample.controlKey);
  const values = [...signed, sample.controlKey].filter((value) => value !== "");
  return [title, values.map(mono).join(" + "), mono(control)];
}

function checks(): string {
  return [
    "The first check that fails decides the answer:",
    numbered(
      "The body can be read: content type, encoding, no field twice.",
      "The endpoint or group exists and is switched on.",
      "In v2, the values that the checksum needs are present and can be read.",
      "In v2 the checksum is right, and the login, when sent, is the merchant's; in v4 the " +
        "merchant of the endpoint has signed the request.",
      "The merchant is within the rate limit.",
      "Every other parameter is present where necessary, and of its form.",
      "The business allows it: currency, amount, the order's state.",
    ),
  ].join("\n\n");
}

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
