/**
 * The table of routes: all that the portal can ask of the gateway, who may, whose rows, with what,
 * and what comes back. The front end has the types of this table; the OpenAPI document and the test
 * of roles are made from it.
 */
import type { Access, ApiOf, HandlersOf, Scope } from "./route.ts";
import { anything, flag, instant, list, optional, record, type Schema, text } from "./schema.ts";
import { done, nothing, sessionShape } from "./shapes.ts";

function row<const Who extends Access, Input, Output>(
  access: Who,
  scope: Scope,
  input: Schema<Input>,
  output: Schema<Output>,
  does: string,
) {
  return { access, scope, input, output, does };
}

const secret = (max = 256) => text("", { max });
const byPassword = { password: text("the user's own, once more", { max: 256 }) };
const recoveryCodes = record({ recoveryCodes: list(text("for one use each; shown once")) });

// biome-ignore format: a table
const sessionRow = record({ id: text(), isThis: flag(), beganAt: instant(), seenAt: instant(), network: text("the client's address"), agent: text("its browser") });
// biome-ignore format: a table
const passkeyRow = record({ id: text(), name: text(), createdAt: instant(), lastUsedAt: optional(instant()) });

// biome-ignore format: a table
export const api = {
  // Signing in
  "GET /session":                    row("anyone",    "self", nothing, sessionShape, "who is signed in, and how far"),
  "POST /sign-in":                   row("anyone",    "self", record({ login: text("", { min: 1, max: 64 }), password: secret() }), sessionShape, "begin a session with login and password"),
  "POST /sign-in/code":              row("session",   "self", record({ code: secret(32) }), sessionShape, "show a code of the app, or a recovery code"),
  "POST /sign-in/passkey-challenge": row("session",   "self", nothing, record({ options: anything("for `startAuthentication`") }), "begin to show a passkey"),
  "POST /sign-in/passkey":           row("session",   "self", record({ response: anything("of `startAuthentication`") }), sessionShape, "show a passkey"),
  "POST /sign-out":                  row("session",   "self", nothing, done, "end this session"),

  // The user's own account
  "POST /password":                  row("session",   "self", record({ current: secret(), next: secret() }), sessionShape, "replace the password, and end the other sessions"),
  "GET /sessions":                   row("user",      "self", nothing, record({ sessions: list(sessionRow) }), "list the sessions"),
  "POST /sessions/revoke/:session":  row("user",      "self", record({ session: secret(32) }), done, "end one of the sessions"),
  "POST /totp/begin":                row("enrolling", "self", nothing, record({ secret: text("in base32"), uri: text("for a QR code") }), "make a secret for an authenticator app"),
  "POST /totp/confirm":              row("enrolling", "self", record({ code: secret(6) }), recoveryCodes, "turn codes of the app on"),
  "POST /totp/remove":               row("user",      "self", record(byPassword), sessionShape, "turn codes of the app off"),
  "POST /recovery-codes":            row("user",      "self", record(byPassword), recoveryCodes, "make new recovery codes; the old ones end"),
  "GET /passkeys":                   row("enrolling", "self", nothing, record({ passkeys: list(passkeyRow) }), "list the passkeys"),
  "POST /passkeys/begin":            row("enrolling", "self", nothing, record({ options: anything("for `startRegistration`") }), "begin to add a passkey"),
  "POST /passkeys/confirm":          row("enrolling", "self", record({ name: text("", { min: 1, max: 60 }), response: anything("of `startRegistration`") }), sessionShape, "add a passkey"),
  "POST /passkeys/remove/:passkey":  row("user",      "self", record({ passkey: secret(200), ...byPassword }), done, "remove a passkey"),
} as const;

/** Input and output of each route, by its name: `Api["GET /session"]["output"]`. */
export type Api = ApiOf<typeof api>;
export type Handlers = HandlersOf<typeof api>;
