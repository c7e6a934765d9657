/** The entries of the menu, in their order, and which users see each entry. */
import type { IconName } from "../design/icons.tsx";
import type { Messages } from "../language/texts.ts";
import type { Session } from "./call.ts";

/** The names of those texts that are plain texts and have no gaps to fill. */
type TextName = {
  [Name in keyof Messages]: Messages[Name] extends string ? Name : never;
}[keyof Messages];

type Entry = {
  readonly screen: TextName;
  readonly icon: IconName;
  /** The right without which a user does not see the entry. */
  readonly right?: string;
  readonly environment?: Session["environment"];
  /** Whether only operators see the entry, even if a merchant's user has the right. */
  readonly isOperators?: boolean;
};

/**
 * The entries in the order of the menu. On a phone, the menu shows the first four, and a button
 * opens the others.
 */
const entries: readonly Entry[] = [
  { screen: "home", icon: "home" },
  { screen: "orders", icon: "orders" },
  { screen: "callbacks", icon: "callbacks" },
  { screen: "requests", icon: "requests" },
  { screen: "transaction-report", icon: "download", right: "see_orders" },
  { screen: "statement", icon: "balance", right: "see_orders" },
  { screen: "payment-links", icon: "link", right: "see_orders" },
  { screen: "merchants", icon: "shop", right: "see_configuration" },
  { screen: "gates", icon: "gate", right: "see_configuration", isOperators: true },
  { screen: "screening", icon: "shield", right: "see_configuration", isOperators: true },
  { screen: "reconciliation", icon: "balance", right: "reconcile", isOperators: true },
  { screen: "vault-keys", icon: "key", right: "manage_keys", isOperators: true },
  { screen: "team", icon: "team", right: "manage_users" },
  { screen: "audit", icon: "audit", right: "see_audit" },
  { screen: "sandbox", icon: "sandbox", right: "operate", environment: "staging" },
];

/** Returns the choices whose names contain all words, and a search for orders by the text. */
export function findChoices<Choice extends { readonly name: string }>(
  all: readonly Choice[],
  text: string,
  [open, search]: readonly [open: Choice, search: Choice],
): readonly Choice[] {
  if (text === "") return all;
  const words = text.toLowerCase().split(/\s+/);
  const found = all.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)));
  const isOrder = /^[1-9]\d{5,18}$/.test(text);
  return isOrder ? [open, search, ...found] : [...found, search];
}

/** The first choice follows the last one. */
export function choiceBeside(at: number, key: string, count: number): number | undefined {
  const step = { ArrowDown: 1, ArrowUp: -1 }[key];
  return step === undefined ? undefined : (at + step + count) % count;
}

export function entriesFor({ environment, user }: Session): readonly Entry[] {
  return entries.filter(
    ({ right, isOperators = false, environment: only = environment }) =>
      only === environment &&
      !(isOperators && user?.merchant !== undefined) &&
      (right === undefined || user?.rights.includes(right)),
  );
}
