/**
 * What each command does, and the right that it needs. `look` needs neither the key-encryption key
 * nor the vault. `keys` needs them, and changes nothing. `change` writes the audit in the
 * transaction of its change; `record` is more than one transaction: one entry before it begins, and
 * one with its outcome.
 */
import { userName } from "../config/config.ts";
import { refusalEntry } from "../storage/audit.ts";
import { findUser, hasUsers } from "../storage/users.ts";
import { Problem } from "../values/problem.ts";
import { hasRight, isMerchantRole, type Right } from "../values/roles.ts";
import type { Installation } from "./installation.ts";

export type CommandMode = "look" | "keys" | "change" | "record";

// biome-ignore format: a table
export const commandRights: Readonly<Record<string, readonly [Right, CommandMode]>> = {
  "start":                      ["run",               "keys"],
  "serve":                      ["run",               "keys"],
  "migrate":                    ["run",               "change"],
  "doctor":                     ["run",               "keys"],
  "files sign":                 ["operate",           "change"],
  "backup":                     ["run",               "record"],
  "restore hold":               ["operate",           "change"],
  "restore status":             ["see_configuration", "look"],
  "restore verify":             ["operate",           "change"],
  "restore release":            ["operate",           "change"],
  "audit list":                 ["see_audit",         "look"],
  "audit verify":               ["see_audit",         "look"],
  "access-review":              ["see_audit",         "look"],
  "approval list":              ["see_audit",         "look"],
  "approval give":              ["operate",           "change"],
  "apply":                      ["operate",           "change"],
  "export":                     ["see_configuration", "look"],
  "user list":                  ["manage_users",      "look"],
  "user add":                   ["manage_users",      "change"],
  "user role":                  ["manage_users",      "change"],
  "user password":              ["manage_users",      "change"],
  "user reset-factors":         ["manage_users",      "change"],
  "user disable":               ["manage_users",      "change"],
  "user enable":                ["manage_users",      "change"],
  "user remove":                ["manage_users",      "change"],
  "merchant list":              ["see_configuration", "look"],
  "merchant show":              ["see_configuration", "look"],
  "merchant show --reveal":     ["reveal_secrets",    "change"],
  "merchant enable":            ["change_merchants",  "change"],
  "merchant disable":           ["change_merchants",  "change"],
  "merchant control-key renew": ["manage_keys",       "change"],
  "merchant control-key set":   ["manage_keys",       "change"],
  "merchant control-key drop":  ["manage_keys",       "change"],
  "merchant create":            ["change_merchants",  "change"],
  "merchant set":               ["change_merchants",  "change"],
  "merchant key list":          ["see_configuration", "look"],
  "merchant key add":           ["manage_keys",       "change"],
  "merchant key remove":        ["manage_keys",       "change"],
  "endpoint list":              ["see_configuration", "look"],
  "endpoint create":            ["change_merchants",  "change"],
  "endpoint set":               ["change_merchants",  "change"],
  "endpoint gates":             ["change_merchants",  "change"],
  "group list":                 ["see_configuration", "look"],
  "group set":                  ["change_merchants",  "change"],
  "group create":               ["change_merchants",  "change"],
  "gate list":                  ["see_configuration", "look"],
  "gate show":                  ["see_configuration", "look"],
  "gate test":                  ["change_acquiring",  "keys"],
  "gate create":                ["change_acquiring",  "change"],
  "gate set":                   ["change_acquiring",  "change"],
  "gate remove":                ["change_acquiring",  "change"],
  "gate mac-key list":          ["see_configuration", "look"],
  "gate mac-key set":           ["manage_keys",       "change"],
  "gate mac-key drop":          ["manage_keys",       "change"],
  "gate mac-key zone":          ["manage_keys",       "change"],
  "gate mac-key drop-zone":     ["manage_keys",       "change"],
  "gate mac-key exchange":      ["manage_keys",       "change"],
  "directory list":             ["see_configuration", "look"],
  "directory show":             ["see_configuration", "look"],
  "directory put":              ["change_acquiring",  "change"],
  "directory refresh":          ["change_acquiring",  "change"],
  "directory remove":           ["change_acquiring",  "change"],
  "wallet set":                 ["change_acquiring",  "change"],
  "wallet domain-file list":    ["see_configuration", "look"],
  "wallet domain-file set":     ["change_acquiring",  "change"],
  "wallet domain-file remove":  ["change_acquiring",  "change"],
  "wallet key list":            ["see_configuration", "keys"],
  "wallet key make":            ["manage_keys",       "change"],
  "wallet key certify":         ["manage_keys",       "change"],
  "wallet key remove":          ["manage_keys",       "change"],
  "filter list":                ["see_configuration", "look"],
  "filter try":                 ["see_orders",        "look"],
  "filter add":                 ["change_merchants",  "change"],
  "filter change":              ["change_merchants",  "change"],
  "filter enable":              ["change_merchants",  "change"],
  "filter disable":             ["change_merchants",  "change"],
  "filter remove":              ["change_merchants",  "change"],
  "list show":                  ["see_orders",        "look"],
  "list add":                   ["change_merchants",  "change"],
  "list remove":                ["change_merchants",  "change"],
  "list import":                ["change_merchants",  "change"],
  "order list":                 ["see_orders",        "look"],
  "order export":               ["see_orders",        "look"],
  "link create":                ["move_money",        "change"],
  "link list":                  ["see_orders",        "look"],
  "link show":                  ["see_orders",        "keys"],
  "link close":                 ["move_money",        "change"],
  "generate orders":            ["operate",           "record"],
  "pay":                        ["move_money",        "record"],
  "tail":                       ["see_orders",        "look"],
  "order show":                 ["see_orders",        "look"],
  "doubt list":                 ["see_orders",        "look"],
  "doubt ask":                  ["move_money",        "record"],
  "doubt settle":               ["move_money",        "record"],
  "reconcile":                  ["reconcile",         "record"],
  "chargeback list":            ["see_orders",        "look"],
  "chargeback import":          ["reconcile",         "record"],
  "callback list":              ["see_orders",        "look"],
  "callback show":              ["see_orders",        "look"],
  "callback resend":            ["resend_callbacks",  "record"],
  "callback listen":            ["see_orders",        "look"],
  "callback secret":            ["reveal_secrets",    "record"],
  "card show":                  ["see_orders",        "look"],
  "card remove":                ["erase_data",        "change"],
  "privacy erase":              ["erase_data",        "change"],
  "bin count":                  ["see_configuration", "look"],
  "bin find":                   ["see_configuration", "look"],
  "bin load":                   ["change_acquiring",  "record"],
  "cell list":                  ["see_configuration", "look"],
  "cell check":                 ["operate",           "keys"],
  "cell add":                   ["operate",           "change"],
  "cell move-merchant":         ["operate",           "record"],
  "key list":                   ["manage_keys",       "keys"],
  "key rotate":                 ["manage_keys",       "record"],
  "key rewrap":                 ["manage_keys",       "record"],
};

/** What needs a second person where GW_SECOND_PERSON is on. */
export const byTwoPersons = [
  "doubt settle",
  "key rotate",
  "key rewrap",
  "user reset-factors",
  // Each of them is a way to get rid of a colleague's factors too.
  "user role",
  "user remove",
];

/** The user's role has not the right: nothing was done, and the attempt is in the audit. */
export class NotAllowed extends Problem {}

type Place = Pick<Installation, "actor" | "config" | "database" | "audit">;

/** An operator of this login has the rights of its role; another login of the machine has all. */
export async function refuse(
  place: Place,
  right: Right,
  command: string,
): Promise<NotAllowed | undefined> {
  const cause = await findRefusal(place, right);
  if (cause === undefined) return undefined;
  await place.audit.write(refusalEntry(`gw ${command}`, right));
  return new NotAllowed(cause);
}

/** Before anything of the schema is changed; an older one may have no users yet. */
export function admitTo(command: "start" | "serve" | "migrate") {
  return async (place: Place): Promise<NotAllowed | undefined> =>
    (await hasUsers(place.database.query)) ? refuse(place, "run", command) : undefined;
}

/** `GW_USER` tells persons apart who share an account, and gives no right that it has not. */
async function findRefusal(place: Place, right: Right): Promise<string | undefined> {
  const { who } = place.actor;
  const account = userName();
  return (
    (await judge(place, who, right)) ??
    (account === who ? undefined : await judge(place, account, right))
  );
}

async function judge({ actor, config, database }: Place, who: string, right: Right) {
  const user = await findUser(database.query, who);
  const isNamed = config.user !== "" && who === actor.who;
  if (isNamed && user !== undefined && user.merchant !== null) {
    return `${who} is a merchant's user: only operators run commands.`;
  }
  // An account of the machine may have the login of a merchant's user, which says nothing of it.
  if (user === undefined || user.merchant !== null) {
    return config.usersOnly
      ? `${who} is no user: GW_USERS_ONLY is on, see \`gw user list\`.`
      : undefined;
  }
  if (!user.enabled) return `The user ${who} is disabled.`;
  if (!isMerchantRole(user.role) && hasRight(user.role, right)) return undefined;
  return `The role ${user.role} of ${who} does not have the right ${right}.`;
}
