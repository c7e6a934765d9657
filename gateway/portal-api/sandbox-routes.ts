/**
 * The portal's routes for the sandbox, in staging only: test cards, test payments, the sandbox's
 * switches, and a comparison of its ledger with the gateway's.
 */
import { type HandlersOf, row } from "./route.ts";
import { flag, list, optional, record, text } from "./schema.ts";
import { done, moneyShape, nothing } from "./shapes.ts";

const word = (max = 64) => text("", { max, pattern: /^[A-Za-z0-9_-]+$/ });

const sandboxShape = record({
  shop: text("the address of the demonstration shop"),
  cards: list(record({ name: text(), card: text("a test card"), group: text(), what: text() })),
  endpoints: list(record({ name: text(), id: text() })),
  switches: list(
    record({
      name: text(),
      value: text("empty where nothing is set"),
      what: text(),
      takes: text("which values"),
      isFlag: flag(),
      isOff: flag("has its usual value"),
    }),
  ),
});
const paidShape = record({
  order: text(),
  status: text("processing, approved, declined, error or filtered"),
  redirect: optional(text("where the cardholder goes on", { max: 4_000 })),
});
const bookedShape = record({
  reference: text("the first ten characters, which all attempts of an order share"),
  order: optional(text("absent where the gateway has none")),
  bank: optional(moneyShape),
  gateway: optional(moneyShape),
  isHeld: flag("held and not captured"),
  isOpen: flag("the order has not ended: nothing is said of it yet"),
  differs: flag(),
});

// biome-ignore format: a table
export const sandboxRoutes = {
  "GET /sandbox":           row("see_configuration", "operator", nothing, sandboxShape, "the sandbox's test cards and switches; in staging only"),
  "POST /sandbox/pay":      row("operate",           "operator", record({ card: word(), endpoint: word(), wallet: optional(flag("as a wallet's token of this card")) }), paidShape, "pay with a test card, as the demonstration merchant; in staging only"),
  "POST /sandbox/switch":   row("operate",           "operator", record({ name: word(), value: text("empty: its usual value", { max: 200 }) }), done, "set a switch of the sandbox; in staging only"),
  "GET /sandbox/ledger":    row("see_configuration", "operator", nothing, record({ booked: list(bookedShape) }), "the sandbox's latest bookings beside the gateway's; in staging only"),
} as const;

export type SandboxHandlers = HandlersOf<typeof sandboxRoutes>;
