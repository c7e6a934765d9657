/**
 * Decides who may run a command. An operating-system account that is a user of the gateway has the
 * rights of the user's role. For any other account, `GW_USERS_ONLY` decides.
 */
import { userName } from "../config/config.ts";
import type { Installation } from "../installation/installation.ts";
import { refusalEntry } from "../storage/people/audit.ts";
import { findUser, hasUsers } from "../storage/people/users.ts";
import { NotAllowed } from "../values/problem.ts";
import { hasRight, isMerchantRole, type Right } from "../values/roles.ts";

type Dependencies = Pick<Installation, "actor" | "config" | "database" | "audit">;

export async function refuse(
  installation: Dependencies,
  right: Right,
  command: string,
): Promise<NotAllowed | undefined> {
  const cause = await findRefusal(installation, right);
  if (cause === undefined) return undefined;
  await installation.audit.write(refusalEntry(`gw ${command}`, right));
  return new NotAllowed(cause, right);
}

/** Checks the right to change the schema. While there are no users, everyone may change it. */
export function admitTo(command: "start" | "serve" | "migrate") {
  return async (installation: Dependencies): Promise<NotAllowed | undefined> =>
    (await hasUsers(installation.database.query))
      ? refuse(installation, "run", command)
      : undefined;
}

/**
 * Checks the rights of both `GW_USER` and the operating-system account. `GW_USER` distinguishes
 * persons who share an account, and must not give them more rights than the account has.
 */
async function findRefusal(installation: Dependencies, right: Right): Promise<string | undefined> {
  const { who } = installation.actor;
  const account = userName();
  return (
    (await judge(installation, who, right)) ??
    (account === who ? undefined : await judge(installation, account, right))
  );
}

async function judge({ actor, config, database }: Dependencies, who: string, right: Right) {
  const user = await findUser(database.query, who);
  const isNamed = config.user !== "" && who === actor.who;
  if (isNamed && user !== undefined && user.merchant !== null) {
    return `${who} is a merchant's user: only operators run commands.`;
  }
  // An operating-system account with the same name as a merchant's user is not that user.
  if (user === undefined || user.merchant !== null) {
    return config.usersOnly
      ? `${who} is no user: GW_USERS_ONLY is on, see \`gw user list\`.`
      : undefined;
  }
  if (!user.enabled) return `The user ${who} is disabled.`;
  if (!isMerchantRole(user.role) && hasRight(user.role, right)) return undefined;
  return `The role ${user.role} of ${who} does not have the right ${right}.`;
}
