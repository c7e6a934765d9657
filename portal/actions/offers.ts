/** The actions that screens offer, with their rights, and the words of buttons and windows. */
import { wordIn } from "../language/rows.ts";
import type { Messages } from "../language/texts.ts";

/** The name of an action. After `filter add` stands the kind of the screening rule to add. */
export type Offered = keyof Messages["buttons"] | `filter add ${string}`;

/** Rights for actions, by their names or first words. A test compares them with the gateway's. */
const rights: Readonly<Record<string, string>> = {
  "merchant": "change_merchants",
  "merchant control-key": "manage_keys",
  "merchant key": "manage_keys",
  "merchant report": "manage_keys",
  // In the portal, the action `merchant show` only shows a merchant's control key.
  "merchant show": "reveal_secrets",
  "endpoint": "change_merchants",
  "endpoint callback test": "resend_callbacks",
  "route": "change_merchants",
  "group": "change_merchants",
  "gate": "change_acquiring",
  "gate mac-key": "manage_keys",
  "directory": "change_acquiring",
  "wallet": "change_acquiring",
  "wallet key": "manage_keys",
  "filter": "change_merchants",
  "list": "change_merchants",
  "link": "move_money",
  "terminal": "enter_orders",
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

/** The title of an action's window names the item that is changed. */
export function wordsFor({ action, name, ...given }: Named, messages: Messages) {
  const usual = wordIn(messages.buttons, action.replace(/^(filter add) .*/, "$1"));
  const { label = usual } = given;
  const titles: Readonly<Record<string, (name: string) => string>> = messages.titles;
  const title = name === undefined ? label : (titles[action]?.(name) ?? `${label}: ${name}`);
  return { label, title, isDangerous: / (remove|disable|close|drop|drop-zone)$/.test(action) };
}
