/**
 * The actions that screens offer, with the right that each action needs, and the words of its
 * button and its window.
 */
import { wordIn } from "../language/rows.ts";
import type { Messages } from "../language/texts.ts";

/**
 * The name of an offered action. For the action that adds a screening rule, the kind of the rule
 * follows the name.
 */
export type Offered = keyof Messages["buttons"] | `filter add ${string}`;

/**
 * The right that each action needs, by the action's name or by its first words. A test compares
 * these rights with those in the gateway.
 */
const rights: Readonly<Record<string, string>> = {
  "merchant": "change_merchants",
  "merchant control-key": "manage_keys",
  "merchant key": "manage_keys",
  "merchant report": "manage_keys",
  // In the portal, this action is only used to show a merchant's control key, so it needs the right
  // to see secrets.
  "merchant show": "reveal_secrets",
  "endpoint": "change_merchants",
  "endpoint callback test": "resend_callbacks",
  "group": "change_merchants",
  "gate": "change_acquiring",
  "gate mac-key": "manage_keys",
  "directory": "change_acquiring",
  "wallet": "change_acquiring",
  "wallet key": "manage_keys",
  "filter": "change_merchants",
  "list": "change_merchants",
  "link": "move_money",
  "reconcile": "reconcile",
  "chargeback": "reconcile",
  "chargeback decide": "move_money",
  "callback": "reveal_secrets",
  "key": "manage_keys",
  "user": "manage_users",
};

export function rightFor(action: Offered): string {
  const words = action.split(" ");
  const beginnings = words.map((_, at) => words.slice(0, words.length - at).join(" "));
  return beginnings.map((each) => rights[each]).find((right) => right !== undefined) ?? "operate";
}

type Named = {
  readonly action: Offered;
  readonly label?: string;
  readonly name?: string | undefined;
};

/**
 * Returns the label of an action's button, and the title of its window, which names the item that
 * is changed.
 */
export function wordsFor({ action, name, ...given }: Named, messages: Messages) {
  const usual = wordIn(messages.buttons, action.replace(/^(filter add) .*/, "$1"));
  const { label = usual } = given;
  const titles: Readonly<Record<string, (name: string) => string>> = messages.titles;
  const title = name === undefined ? label : (titles[action]?.(name) ?? `${label}: ${name}`);
  return { label, title, isDangerous: / (remove|disable|close|drop|drop-zone)$/.test(action) };
}
