/** The routes for merchants, endpoints, gates, screening rules, links and reconciliations. */
import type { FieldKind } from "../administration/field.ts";
import { isDay } from "../values/time.ts";
import { row } from "./route.ts";
import {
  anything,
  decimal,
  dictionary,
  either,
  flag,
  instant,
  list,
  oneOf,
  optional,
  record,
  text,
  type ValueOf,
  whole,
  word,
} from "./schema.ts";
import { cursorInput, gateHealthShape, moneyShape, nothing, numericId } from "./shapes.ts";

const name = (max = 64) => text("", { min: 1, max });
const settings = dictionary(text(), "as one would write them in a form, by the fields of actions");

/** Enough for a logo or for a file of some thousand lines. */
const inputMax = 900_000;
const fieldText = text("", { max: inputMax, isExact: true });
const actionName = text("like `endpoint set`", { min: 1, max: 60 });
const action = {
  action: actionName,
  values: dictionary(
    either(either(fieldText, flag()), list(text("", { max: 500, isExact: true }), 100)),
    "by field; a file or a secret is its text",
  ),
};
const actionShape = record({
  name: text(),
  does: text(),
  isChange: flag("it needs a reason, and is in the audit"),
  duration: optional(oneOf(["minutes", "hours"], "it has no preview; `hours`: it is only begun")),
  fields: list(
    record({
      name: text(),
      label: text(),
      help: text(),
      kind: word<FieldKind>("of its control"),
      isRequired: flag(),
      isList: flag(),
      preset: optional(text()),
      choices: list(record({ value: text(), label: text() })),
      document: optional(text("the address of its documentation")),
    }),
  ),
});

const changeShape = record({
  action: text("as the audit names it"),
  subject: text(),
  fields: list(record({ name: text(), before: text(), after: text() })),
});
export type ChangeView = ValueOf<typeof changeShape>;

const gatePlace = record({ name: text(), rank: whole(), weight: whole() });
const endpointLine = record({
  id: text(),
  name: text(),
  merchant: text("its login"),
  currency: text(),
  enabled: flag(),
  threeds: text("off, when_possible or always"),
  gates: list(gatePlace),
});
export type EndpointLine = ValueOf<typeof endpointLine>;

const merchantLine = record({
  login: text(),
  name: text(),
  enabled: flag(),
  cell: text(),
  endpoints: whole(),
  currencies: list(text()),
});

const walletKey = record({
  id: text(),
  wallet: text(),
  createdAt: text("a day"),
  certificate: oneOf(["present", "missing", "none"], "`none` where the wallet needs none"),
  expiresAt: optional(text("a day")),
});
const groupShape = record({
  id: text(),
  name: text(),
  enabled: flag(),
  endpoints: list(endpointLine),
});
const ruleShape = record({
  id: text(),
  kind: text(),
  parameters: dictionary(text()),
  action: text(),
  enabled: flag(),
  merchant: optional(text("its login; absent: everywhere")),
  endpoint: optional(text("its id")),
});
export type RuleView = ValueOf<typeof ruleShape>;

const merchantShape = record({
  line: merchantLine,
  settings,
  endpoints: list(endpointLine, 100_000),
  groups: list(groupShape, 100_000),
  controlKey: record({
    setAt: optional(text()),
    oldLastUsed: optional(text("`never`, or when; absent without an old key")),
  }),
  oauthKeys: list(record({ id: text(), name: text(), bits: whole(), sha256: text() })),
  wallets: dictionary(text(), "its identifiers, by the fields of `wallet set`"),
  walletKeys: list(walletKey),
  rules: list(ruleShape, 100_000),
});
export type MerchantView = ValueOf<typeof merchantShape>;

const gateLine = record({
  id: text(),
  name: text(),
  kind: text(),
  host: text(),
  tls: flag(),
  isSandbox: flag(),
  currencies: list(text("every currency without any")),
  endpoints: whole(),
  ...gateHealthShape,
});
const gateShape = record({
  line: gateLine,
  settings,
  endpoints: list(endpointLine, 100_000),
  hasZoneKey: flag(),
});

const routeShape = record({
  gate: optional(text("absent where no gate takes it")),
  share: decimal("of such sales"),
  outcome: oneOf(["cleared", "cleared_for_3ds", "filtered_out", "gate_unavailable"]),
  why: text(),
});

export type RouteView = ValueOf<typeof routeShape>;

const linkShape = record({
  link: text(),
  merchant: text(),
  endpoint: text(),
  amount: moneyShape,
  description: text(),
  createdAt: instant(),
  createdBy: text(),
  expiresAt: optional(instant()),
  uses: whole("begun; those that end unpaid make room"),
  usesMax: optional(whole("absent: any number")),
  state: oneOf(["open", "closed", "expired", "used"]),
});
export type LinkView = ValueOf<typeof linkShape>;

const differenceShape = record({
  kind: text(),
  reference: text(),
  what: text(),
  order: optional(text()),
  here: optional(text()),
  there: optional(text()),
  line: optional(whole("of the file")),
});
const reconciliationLine = record({
  gate: text(),
  day: text(),
  way: oneOf(["file", "totals"]),
  at: instant(),
  by: text(),
  agrees: flag(),
  matched: whole(),
  differences: whole(),
});
export type ReconciliationLine = ValueOf<typeof reconciliationLine>;
const totalShape = record({
  currency: text(),
  kind: text(),
  countHere: whole(),
  countThere: optional(whole()),
  here: text(),
  there: optional(text()),
  balance: optional(text("as the host says")),
});
const reconciliationShape = record({
  line: reconciliationLine,
  totals: list(totalShape),
  differences: list(differenceShape, 10_000),
});
export type ReconciliationView = ValueOf<typeof reconciliationShape>;

const reason = optional(text("why; a change needs it", { min: 3, max: 200 }));
const formId = text("of the form: sent again with the same, nothing is done twice", {
  max: 64,
  pattern: /^[\w-]{16,64}$/,
});
const performed = {
  ...action,
  reason,
  once: optional(formId),
  seen: optional(whole("the version of the order that the screen shows: a later one is refused")),
};
const gate = text("", { max: 40 });
const day = text("like 2030-01-31", { max: 10, pattern: /^\d{4}-\d\d-\d\d$/, check: isDay });

// biome-ignore format: a table
export const configurationRoutes = {
  "GET /actions/:action":    row("user", "self", record({ action: actionName, language: oneOf(["en", "de"]) }), actionShape, "what an action takes, for its form"),
  "POST /actions/preview":   row("user", "merchant", record(action), record({ changes: list(changeShape) }), "what an action would change now; nothing is changed"),
  "POST /actions/run":       row("user", "merchant", record(performed), record({ result: anything("as `gw … --json` prints it"), hasFindings: flag("something needs a person"), notes: list(text("what the user should know")), at: instant() }), "perform an action; changes need a reason"),

  "GET /merchants":          row("see_configuration", "merchant", record({ search: optional(text("a part of the login or name", { max: 100 })), ...cursorInput, after: optional(text("`next` of the page before", { max: 64, isExact: true })) }), record({ merchants: list(merchantLine), next: optional(text()) }), "list merchants by their logins; a merchant's user sees that one"),
  "GET /merchants/:login":   row("see_configuration", "merchant", record({ login: name() }), merchantShape, "one merchant with endpoints, groups, keys, wallets and rules"),
  "GET /endpoints/:endpoint": row("see_configuration", "merchant", record({ endpoint: name(20) }), record({ line: endpointLine, settings }), "one endpoint with its settings"),
  "GET /gates":              row("see_configuration", "operator", nothing, record({ gates: list(gateLine, 10_000) }), "list gates"),
  "GET /gates/:gate":        row("see_configuration", "operator", record({ gate }), gateShape, "one gate with its settings"),
  "GET /rules":              row("see_configuration", "merchant", record(cursorInput), record({ rules: list(ruleShape), kinds: list(text()), next: optional(text()) }), "list the rules of screening; a merchant's user sees that merchant's own"),
  "GET /routing":            row("see_configuration", "operator", record({ endpoint: name(20), amount: text("", { min: 1, max: 20 }) }), record({ routes: list(routeShape) }), "which gates a sale would take now, and why"),

  "GET /links":              row("see_orders", "merchant", record({ merchant: optional(text("a login; for operators", { max: 64 })), ...cursorInput }), record({ links: list(linkShape), next: optional(text()) }), "list payment links, the latest first"),
  "GET /links/:link":        row("see_orders", "merchant", record({ link: numericId("of the link") }), record({ line: linkShape, url: text(), svg: text("its QR code", { max: 100_000 }), returnUrl: optional(text()), callbackUrl: optional(text()) }), "one payment link with its QR code"),

  "GET /reconciliations":    row("reconcile", "operator", record({ gate: optional(gate), ...cursorInput }), record({ reconciliations: list(reconciliationLine), next: optional(text()) }), "list compared days, the latest first"),
  "GET /reconciliations/:gate/:day": row("reconcile", "operator", record({ gate, day, way: optional(oneOf(["file", "totals"])) }), reconciliationShape, "one compared day with every difference"),
} as const;
