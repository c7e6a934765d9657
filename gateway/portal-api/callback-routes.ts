/** The routes for callbacks: deliveries, their attempts, and callbacks that are sent again. */
import { filteredStates } from "./reads.ts";
import { row } from "./route.ts";
import { flag, instant, list, oneOf, optional, record, text, whole } from "./schema.ts";
import {
  attemptShape,
  callbackShape,
  cursorInput,
  numericId,
  orderId,
  searchedTo,
} from "./shapes.ts";

const sequence = whole("of the transaction in its order", 1, 999_999);

const filters = {
  state: optional(oneOf(filteredStates, "`failing` are those that are due and have failed before")),
  merchant: optional(text("a login; for operators", { max: 64 })),
  endpoint: optional(numericId("an endpoint's id")),
  host: optional(text("of the receiver, with its port or without", { max: 255 })),
  order: optional(orderId),
  since: optional(instant("of results from then on")),
  until: optional(instant("of results before")),
};
const chosen = { ...filters, sequence: optional(sequence) };

const part = record({ name: text(), value: text() });

/** The values, except the merchant's key, from which a receiver computes a callback's checksum. */
const signatureShape = record({
  parts: list(part),
  result: oneOf(["current_key", "old_key", "other", "absent"], "whose key has made `control`"),
  webhook: optional(text("what `webhook-signature` covers, for a body")),
});

const previewShape = record({
  count: whole("that would be sent again"),
  isMore: flag("more are named than are sent again at once"),
  receivers: list(record({ receiver: text(), count: whole() })),
});

const progressShape = record({
  delivered: whole(),
  waiting: whole("not tried yet, or not answered yet"),
  failed: whole("refused or unanswered; they are tried again, unless they have ended"),
});

// biome-ignore format: a table
export const callbackRoutes = {
  "GET /callbacks":                  row("see_orders",       "merchant", record({ ...filters, ...cursorInput }), record({ callbacks: list(callbackShape), next: optional(text()), searchedTo }), "list callbacks, the latest first"),
  "GET /callbacks/progress":         row("see_orders",       "merchant", record({ ...chosen, resentAt: instant("`at` of `POST /actions/run`, as it has sent them") }), progressShape, "how callbacks that were sent again have gone since"),
  "GET /callbacks/:order/:sequence": row("see_orders",       "merchant", record({ order: orderId, sequence }), record({ callback: callbackShape, attempts: list(record({ attempt: attemptShape, signature: signatureShape })) }), "every attempt of a callback, with body, answer and signature"),
  "POST /callbacks/preview":         row("resend_callbacks", "merchant", record(chosen), previewShape, "which callbacks would be sent again"),
} as const;
