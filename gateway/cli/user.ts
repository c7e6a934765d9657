/** `gw user`: people and their roles, for `gw` and for the portal. */
import { type Command, Option } from "commander";
import { giveApproval, listApprovals } from "../storage/approvals.ts";
import { findUser, listUsers, makeUserAdministration, reviewAccess } from "../storage/users.ts";
import { isNumericId } from "../values/ids.ts";
import { Problem } from "../values/problem.ts";
import { isMerchantRole, isRole, roles, userNameForm } from "../values/roles.ts";
import { Secret } from "../values/secret.ts";
import { asInstant, makePrintDate } from "../values/time.ts";
import { hashPassword, newPassword } from "../vault/password.ts";
import { addCommands, type Output, type Session, setAction } from "./command.ts";
import { readConfiguration } from "./installation.ts";
import { findMerchant } from "./merchant-set.ts";

export function addUserCommands(user: Command): void {
  const role = new Option("--role <role>", `one of ${roles.join(", ")}`).makeOptionMandatory();
  const merchant = new Option("--merchant <login>", "whose user it is; for roles of a merchant");
  // biome-ignore format: a table
  addCommands(user, [
    ["list",            "list all users with their roles",              list],
    ["add <name>",      "add a user; a merchant's user signs in as name@merchant", add, [role, merchant]],
    ["role <login>",    "give a user another role",                     setRole, [role]],
    ["password <login>", "make a temporary password for the portal, and print it", setPassword],
    ["reset-factors <login>", "remove the second factors of a user who has lost them", resetFactors],
    ["disable <login>", "disable a user: every command is refused",     (session: Session, login: string) => enable(session, login, false)],
    ["enable <login>",  "enable a user again",                          (session: Session, login: string) => enable(session, login, true)],
    ["remove <login>",  "remove a user; the audit keeps what it did",   remove],
  ]);
}

export function addAccessReview(command: Command): void {
  setAction(command, ({ database }) => reviewAccess(database.query));
}

/** What waits for a second person (GW_SECOND_PERSON). */
export function addApprovalCommands(approval: Command): void {
  // biome-ignore format: a table
  addCommands(approval, [
    ["list",      "list what waits for a second person",     showApprovals],
    ["give <id>", "approve what another user has asked for", approve],
  ]);
}

async function showApprovals({ database, config }: Session): Promise<Output> {
  const printDate = makePrintDate(config.zone);
  return (await listApprovals(database.query)).map(({ askedAt, isGiven, ...approval }) => ({
    ...{ ...approval, askedAt: printDate(asInstant(askedAt)), state: isGiven ? "given" : "waits" },
  }));
}

async function approve({ audit, actor, config }: Session, id: string): Promise<Output> {
  const wanted = { id, byAccount: config.usersOnly };
  const isGiven = isNumericId(id) && (await giveApproval(audit, actor, wanted));
  if (isGiven instanceof Problem) return isGiven;
  return isGiven
    ? { approval: id, state: "given" }
    : new Problem(`Nothing of another user waits under the number ${id}: see gw approval list.`);
}

type RoleOptions = { readonly role: string; readonly merchant?: string };

async function list({ database }: Session): Promise<Output> {
  return (await listUsers(database.query)).map(({ login, role, ...user }) => ({
    ...{ login, role, merchant: user.merchant ?? "" },
    ...{ state: user.enabled ? (user.isIdle ? "idle" : "on") : "off" },
    used: user.usedAt ?? "never",
  }));
}

async function add(session: Session, name: string, given: RoleOptions): Promise<Output> {
  if (!userNameForm.test(name)) {
    return new Problem("A user's name is 1 to 40 letters, digits, dots, dashes or _.");
  }
  const read = await readRole(session, given);
  if (read instanceof Problem) return read;
  const { setPassword, add: addUser } = makeUserAdministration(session.audit);
  const login = await addUser(name, read.role, read.merchantId);
  if (login === undefined) {
    return new Problem(`There is a user ${name} already: see \`gw user list\`.`);
  }
  if (read.role === "service") return { login, ...given };
  const password = newPassword();
  await setPassword(login, { stored: await hashPassword(new Secret(password)), isTemporary: true });
  return { login, ...given, password };
}

/** The user replaces it at the first sign-in. */
async function setPassword(session: Session, login: string): Promise<Output> {
  const user = await findUser(session.database.query, login);
  if (user === undefined) return unknown(login);
  if (user.role === "service") return new Problem(`${login} is a program's account: it has none.`);
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

async function setRole(session: Session, login: string, { role }: RoleOptions): Promise<Output> {
  if (!isRole(role)) return noRole(role);
  const user = await findUser(session.database.query, login);
  if (user === undefined) return unknown(login);
  if (isMerchantRole(role) !== (user.merchant !== null)) {
    return new Problem(
      `${login} cannot become ${role}: users do not change between operators and merchants. ` +
        "Remove the user, and add a new one.",
    );
  }
  await makeUserAdministration(session.audit).setRole(login, role);
  return { login, role };
}

async function remove(session: Session, login: string): Promise<Output> {
  if ((await findUser(session.database.query, login)) === undefined) return unknown(login);
  await makeUserAdministration(session.audit).remove(login);
  return { login, state: "removed" };
}

async function enable(session: Session, login: string, enabled: boolean): Promise<Output> {
  if ((await findUser(session.database.query, login)) === undefined) return unknown(login);
  await makeUserAdministration(session.audit).enable(login, enabled);
  return { login, state: enabled ? "on" : "off" };
}

async function readRole(session: Session, { role, merchant }: RoleOptions) {
  if (!isRole(role)) return noRole(role);
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

function noRole(role: string): Problem {
  return new Problem(`--role is one of ${roles.join(", ")}, not ${role}.`);
}

function unknown(login: string): Problem {
  return new Problem(`There is no user ${login}: see \`gw user list\`.`);
}
