/**
 * All routes of the portal API: who may use a route, whose data it reads, its input and its output.
 * The front end's types, the OpenAPI document and the test of roles are made from this table.
 */
import { callbackRoutes } from "./callback-routes.ts";
import { configurationRoutes } from "./configuration-routes.ts";
import { filterNames } from "./order-index.ts";
import { requestRoutes } from "./request-routes.ts";
import { type ApiOf, type HandlersOf, type PortalRefusal, row } from "./route.ts";
import { sandboxRoutes } from "./sandbox-routes.ts";
import { anything, each, instant, list, oneOf, optional, record, text, whole } from "./schema.ts";
import {
  actionPreviewShape,
  cursorInput,
  decisions,
  done,
  homeShape,
  nothing,
  numericId,
  orderDetailShape,
  orderId,
  orderLineShape,
  ranges,
  sessionRow,
  sessionShape,
} from "./shapes.ts";
import { teamRoutes } from "./team-routes.ts";
import { reportRoutes } from "./transaction-report.ts";

const secret = (max = 256) => text("", { max, isExact: true });
const byPassword = { password: text("the user's own, once more", { max: 256, isExact: true }) };
const recoveryCodes = record({ recoveryCodes: list(text("for one use each; shown once")) });

const passkeyRow = record({
  id: text(),
  name: text(),
  createdAt: instant(),
  lastUsedAt: optional(instant()),
});

const amount = optional(text("a decimal; left out: all", { max: 20 }));
const orderFilters = record({
  search: optional(
    text(
      "an order id, client order id, last four digits, amount or RRN; or beginnings of names, or " +
        "the beginning of an email address, of its host or of a word in it",
      { max: 128, isExact: true },
    ),
  ),
  merchant: optional(text("a login; for operators", { max: 64 })),
  ...each(filterNames, optional(list(text("", { min: 1, max: 128, isExact: true }), 20))),
  from: optional(instant("accepted from then on")),
  until: optional(instant("accepted before")),
  ...cursorInput,
});
const filtersShape = record({
  merchants: list(record({ login: text(), name: text() }), 100_000),
  endpoints: list(record({ id: text(), name: text(), currency: text() }), 100_000),
  gates: list(record({ id: text(), name: text() }), 10_000),
  currencies: list(text()),
});

const sharedView = {
  name: text("", { min: 1, max: 40 }),
  query: text("filters of an address; no search", { min: 1, max: 500 }),
};
const viewRow = record({ view: text(), ...sharedView, sharedBy: text("a login") });

// biome-ignore format: a table
export const api = {
  "GET /session":                    row("anyone",    "self", nothing, sessionShape, "who is signed in, and how far"),
  "POST /sign-in":                   row("anyone",    "self", record({ login: text("", { min: 1, max: 64 }), password: secret() }), sessionShape, "begin a session with login and password"),
  "POST /sign-in/code":              row("session",   "self", record({ code: secret(32) }), sessionShape, "show a code of the app, or a recovery code"),
  "POST /sign-in/passkey-challenge": row("session",   "self", nothing, record({ options: anything("for `startAuthentication`") }), "begin to show a passkey"),
  "POST /sign-in/passkey":           row("session",   "self", record({ response: anything("of `startAuthentication`") }), sessionShape, "show a passkey"),
  "POST /sign-out":                  row("session",   "self", nothing, done, "end this session"),

  "POST /password":                  row("session",   "self", record({ current: secret(), next: secret() }), sessionShape, "replace the password, and end the other sessions"),
  "GET /sessions":                   row("user",      "self", nothing, record({ sessions: list(sessionRow) }), "list the sessions"),
  "POST /sessions/revoke/:session":  row("user",      "self", record({ session: secret(32) }), done, "end one of the sessions"),
  "POST /totp/begin":                row("enrolling", "self", record(byPassword), record({ secret: text("in base32"), picture: text("the QR code for an app, as a data: URL", { max: 100_000 }) }), "make a secret for an authenticator app"),
  "POST /totp/confirm":              row("enrolling", "self", record({ code: secret(6) }), recoveryCodes, "turn codes of the app on"),
  "POST /totp/remove":               row("user",      "self", record(byPassword), sessionShape, "turn codes of the app off"),
  "POST /recovery-codes":            row("user",      "self", record(byPassword), recoveryCodes, "make new recovery codes; the old ones end"),
  "GET /passkeys":                   row("enrolling", "self", nothing, record({ passkeys: list(passkeyRow) }), "list the passkeys"),
  "POST /passkeys/begin":            row("enrolling", "self", record(byPassword), record({ options: anything("for `startRegistration`") }), "begin to add a passkey"),
  "POST /passkeys/confirm":          row("enrolling", "self", record({ name: text("", { min: 1, max: 60 }), response: anything("of `startRegistration`") }), sessionShape, "add a passkey"),
  "POST /passkeys/remove/:passkey":  row("user",      "self", record({ passkey: secret(200), ...byPassword }), done, "remove a passkey"),

  "GET /orders":                     row("see_orders", "merchant", orderFilters, record({ orders: list(orderLineShape), next: optional(text("for `after`; absent on the last page")) }), "list and search orders, the latest first"),
  "GET /exports/orders":              row("see_orders", "merchant", orderFilters, record({ csv: text("lines of the file; the first part begins with their names", { max: 10_000_000 }), rows: whole(), next: optional(text("for `after`; absent at the end")) }), "the next part of a file with the orders of a list"),
  "GET /orders/:order":              row("see_orders", "merchant", record({ order: orderId }), orderDetailShape, "one order with all that happened to it"),
  "GET /filters":                    row("see_orders", "merchant", nothing, filtersShape, "what lists can be filtered by"),
  "GET /views":                      row("see_orders", "merchant", nothing, record({ views: list(viewRow) }), "list the views of orders that the user's team shares"),
  "POST /views/share":               row("share_views", "merchant", record(sharedView), done, "share a view of orders with the team"),
  "POST /views/remove/:view":        row("share_views", "merchant", record({ view: numericId("of the view") }), done, "take a shared view away from the team"),
  "GET /home":                       row("see_orders", "merchant", record({ range: optional(oneOf(ranges)), merchant: optional(text("a login; for operators", { max: 64 })) }), homeShape, "how payments go"),
  "POST /orders/preview/:order":     row("see_orders",       "merchant", record({ order: orderId, action: oneOf(["capture", "return", "void", ...decisions]), amount }), actionPreviewShape, "what a capture, a return, a void or a decision about doubt would do now"),

  ...reportRoutes,
  ...callbackRoutes,
  ...requestRoutes,

  ...configurationRoutes,
  ...teamRoutes,
  ...sandboxRoutes,
} as const;

/** The types of all routes, to be used like `Api["GET /session"]["output"]`. */
export type Api = ApiOf<typeof api>;
export type Handlers = HandlersOf<typeof api>;
export type RefusedWith = PortalRefusal["code"];
