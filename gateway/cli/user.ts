/** `gw user`: people and their roles, for `gw` and for the portal. */
import { type Command, Option } from "commander";
import { findUser, listUsers, makeUserAdministration } from "../storage/users.ts";
import { Problem } from "../values/problem.ts";
import { isMerchantRole, isRole, roles } from "../values/roles.ts";
import { Secret } from "../values/secret.ts";
import { hashPassword, newPassword } from "../vault/password.ts";
import { addCommands, type Output, type Session } from "./command.ts";
import { readConfiguration } from "./installation.ts";
import { findMerchant } from "./merchant-set.ts";

const loginForm = /^[A-Za-z0-9._@-]{1,64}$/;

export function addUserCommands(user: Command): void {
  const role = new Option("--role <role>", `one of ${roles.join(", ")}`).makeOptionMandatory();
  const merchant = new Option("--merchant <login>", "whose user it is; for roles of a merchant");
  // biome-ignore format: a table
  addCommands(user, [
    ["list",            "list all users with their roles",              list],
    ["add <login>",     "add a user",                                   add, [role, merchant]],
    ["role <login>",    "give a user another role",                     setRole, [role, merchant]],
    ["password <login>", "make a temporary password for the portal, and print it", setPassword],
    ["reset-factors <login>", "remove the second factors of a user who has lost them", resetFactors],
    ["disable <login>", "disable a user: every command is refused",     (session: Session, login: string) => enable(session, login, false)],
    ["enable <login>",  "enable a user again",                          (session: Session, login: string) => enable(session, login, true)],
  ]);
}

type RoleOptions = { readonly role: string; readonly merchant?: string };

async function list({ database }: Session): Promise<Output> {
  return (await listUsers(database.query)).map(({ merchant, enabled, ...user }) => ({
    ...{ ...user, merchant: merchant ?? "", state: enabled ? "on" : "off" },
  }));
}

async function add(session: Session, login: string, given: RoleOptions): Promise<Output> {
  if (!loginForm.test(login)) {
    return new Problem("A user's login is 1 to 64 letters, digits, dots, dashes, _ or @.");
  }
  const read = await readRole(session, given);
  if (read instanceof Problem) return read;
  if ((await findUser(session.database.query, login)) !== undefined) {
    return new Problem(`There is a user ${login} already: see \`gw user role\`.`);
  }
  const { setPassword, add: addUser } = makeUserAdministration(session.audit);
  await addUser(login, read.role, read.merchantId);
  const password = newPassword();
  await setPassword(login, { stored: await hashPassword(new Secret(password)), isTemporary: true });
  return { login, ...given, password };
}

/** The user replaces it at the first sign-in. */
async function setPassword(session: Session, login: string): Promise<Output> {
  if ((await findUser(session.database.query, login)) === undefined) return unknown(login);
  const password = newPassword();
  const stored = await hashPassword(new Secret(password));
  await makeUserAdministration(session.audit).setPassword(login, { stored, isTemporary: true });
  return { login, password };
}

async function resetFactors(session: Session, login: string): Promise<Output> {
  if ((await findUser(session.database.query, login)) === undefined) return unknown(login);
  await makeUserAdministration(session.audit).removeFactors(login);
  return { login, factors: "none" };
}

async function setRole(session: Session, login: string, given: RoleOptions): Promise<Output> {
  const read = await readRole(session, given);
  if (read instanceof Problem) return read;
  if ((await findUser(session.database.query, login)) === undefined) return unknown(login);
  await makeUserAdministration(session.audit).setRole(login, read.role, read.merchantId);
  return { login, ...given };
}

async function enable(session: Session, login: string, enabled: boolean): Promise<Output> {
  if ((await findUser(session.database.query, login)) === undefined) return unknown(login);
  await makeUserAdministration(session.audit).enable(login, enabled);
  return { login, state: enabled ? "on" : "off" };
}

async function readRole(session: Session, { role, merchant }: RoleOptions) {
  if (!isRole(role)) return new Problem(`--role is one of ${roles.join(", ")}, not ${role}.`);
  if (isMerchantRole(role) !== (merchant !== undefined)) {
    return new Problem(
      isMerchantRole(role)
        ? `The role ${role} is within a merchant: name it with --merchant.`
        : `The role ${role} is an operator's: it has no --merchant.`,
    );
  }
  if (merchant === undefined) return { role };
  const found = findMerchant(await readConfiguration(session), merchant);
  return found instanceof Problem ? found : { role, merchantId: found.id };
}

function unknown(login: string): Problem {
  return new Problem(`There is no user ${login}: see \`gw user list\`.`);
}
