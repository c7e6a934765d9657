/** The routes for refused requests and the checksum debugger, which explains a wrong checksum. */
import { row } from "./route.ts";
import {
  flag,
  instant,
  list,
  oneOf,
  optional,
  record,
  text,
  type ValueOf,
  whole,
} from "./schema.ts";
import { cursorInput, nothing, numericId, searchedTo } from "./shapes.ts";

const serial = text("the request's serial number", {
  max: 36,
  pattern: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
});
const id = numericId("of an endpoint or a group");
const words = () => optional(list(text("", { min: 1, max: 64 }), 20));

const lineShape = record({
  serial: text(),
  at: instant(),
  merchant: text("the merchant's login"),
  endpoint: text("the endpoint's or group's id in the path"),
  operation: text(),
  version: text("v2 or v4"),
  code: text("a code of the catalogue of failures, or access_denied"),
  error: text("as it was answered: INVALID_CONTROL_CODE"),
  isSigned: flag("by the merchant; anyone can send the others"),
  from: text("the client's address"),
  clientOrder: text("the merchant's own id"),
});

const part = record({ name: text("a field, or `{id}`"), value: text("", { max: 2_000 }) });

// biome-ignore format: a table
const mistakeKinds = [
  "amount_form", "other_id", "no_id", "login_for_id", "missing", "order", "extra",
  "untrimmed", "url_encoded", "letter_case", "separator", "line_end", "latin1",
  "key_first", "no_key", "key_form", "key_as_control", "other_key", "other_login",
  "digest", "base64", "oauth_only",
] as const;

/** A checksum is computed from these parts and the merchant's key, which is never shown. */
const checksumShape = record({
  parts: list(part),
  matches: flag("the checksum is right"),
  mistakes: list(record({ kind: oneOf(mistakeKinds), detail: text("a value or a field") })),
});

const detailShape = record({
  line: lineShape,
  fields: list(
    record({
      name: text(),
      value: optional(text("absent where it is not kept", { max: 2_000 })),
      length: whole("in characters"),
      isDigits: optional(flag("nothing but digits")),
    }),
  ),
  faults: list(text("", { max: 2_000 })),
  checksum: optional(checksumShape),
  check: optional(text("of OAuth: the check that failed")),
  base: optional(text("of OAuth: what the signature covers, masked", { max: 4_000 })),
});
export type RefusalDetail = ValueOf<typeof detailShape>;
export type ChecksumView = ValueOf<typeof checksumShape>;

const filters = record({
  search: optional(text("a client order id or a serial number", { max: 128, isExact: true })),
  merchant: optional(text("a login; for operators", { max: 64 })),
  operation: words(),
  code: words(),
  endpoint: optional(list(id, 20)),
  from: optional(instant("sent from then on")),
  until: optional(instant("sent before")),
  ...cursorInput,
});

/** The browser sends only those fields of a pasted request that a checksum covers. */
const value = () => optional(text("", { max: 512, isExact: true }));
const pastedFields = record({
  login: value(),
  client_orderid: value(),
  "client-order-id": value(),
  orderid: value(),
  cardrefid: value(),
  amount: value(),
  currency: value(),
  email: value(),
  control: value(),
});

const operationShape = record({
  name: text(),
  formula: list(text("a field, or `{id}`; amounts in minor units")),
});

// biome-ignore format: a table
export const requestRoutes = {
  "GET /requests":            row("see_orders",     "merchant", filters, record({ requests: list(lineShape), next: optional(text()), searchedTo, dropped: whole("that were not kept, of the last seven days") }), "list refused requests, the latest first"),
  "GET /requests/:serial":    row("see_orders",     "merchant", record({ serial }), detailShape, "one refused request, masked, with every fault"),
  "GET /checksum/operations": row("see_orders",     "merchant", nothing, record({ operations: list(operationShape) }), "the operations and what their checksums cover"),
  "POST /checksum/try":       row("reveal_secrets", "merchant", record({ endpoint: id, operation: text("", { max: 64 }), fields: pastedFields }), checksumShape, "find the mistake in a checksum; for users who may see the key"),
} as const;
