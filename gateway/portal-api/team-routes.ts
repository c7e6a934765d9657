/**
 * The routes for the team and the audit: users, their sessions, work that waits for a second
 * person's approval, and audit entries.
 */
import { roles } from "../values/roles.ts";
import { row } from "./route.ts";
import { flag, instant, list, oneOf, optional, record, text, whole } from "./schema.ts";
import { cursorInput, nothing, searchedTo, sessionFields } from "./shapes.ts";

const userRow = record({
  login: text(),
  role: oneOf(roles),
  merchant: optional(text()),
  enabled: flag(),
  password: oneOf(["own", "temporary", "expired", "none"], "who has chosen it"),
  totp: flag("codes of an app are on"),
  passkeys: whole(),
  seenAt: optional(instant("of a session, or the latest sign-in")),
  isIdle: flag("has not used the account for 90 days"),
});
const approvalRow = record({
  id: text(),
  work: text(),
  askedBy: text(),
  askedAt: instant(),
  isGiven: flag("the user who asked can do it now"),
  isOwn: flag("asked by this user"),
});
const auditRow = record({
  seq: whole(),
  at: instant(),
  actor: text(),
  origin: text(),
  action: text(),
  subject: text(),
  reason: optional(text()),
  before: optional(text("JSON", { max: 1_000_000 })),
  after: optional(text("JSON", { max: 1_000_000 })),
});
const auditFilters = record({
  search: optional(text("in who, what, of what and why", { max: 128, isExact: true })),
  by: optional(text("", { max: 64 })),
  action: optional(text("or its beginning", { max: 64 })),
  subject: optional(text("", { max: 128, isExact: true })),
  from: optional(instant()),
  until: optional(instant()),
  ...cursorInput,
});
// biome-ignore format: a table
export const teamRoutes = {
  "GET /users":                       row("manage_users", "merchant", nothing, record({ users: list(userRow, 100_000), isFactorDemanded: flag("the user's merchant demands a second factor of all its users") }), "list users; a merchant's administrator sees that merchant's"),
  "GET /users/sessions":              row("manage_users", "merchant", nothing, record({ sessions: list(record({ login: text(), ...sessionFields })) }), "list the sessions of users, the latest first"),
  "GET /approvals":                   row("see_orders",   "merchant", nothing, record({ approvals: list(approvalRow) }), "list what waits for a second person, of the user's rights"),
  "GET /audit":                       row("see_audit",    "operator", auditFilters, record({ entries: list(auditRow), next: optional(text()), searchedTo }), "list the audit, the latest first"),
} as const;
