/**
 * People and their roles. An operator manages all users, a merchant's administrator those of the
 * merchant. In the portal no user changes its own role or password, removes its own second factors
 * or disables itself: another administrator does that.
 */
import { endSessions } from "../../storage/people/accounts.ts";
import {
  findMerchantId,
  findMerchantOf,
  findUser,
  listUsers,
  makeUserAdministration,
  reviewAccess,
  temporaryPasswordHours,
  type User,
} from "../../storage/people/users.ts";
import { readDatabaseTime } from "../../storage/server/database-clock.ts";
import type { MerchantId } from "../../values/ids.ts";
import { hasCardNumber } from "../../values/mask-card-numbers.ts";
import { Problem } from "../../values/problem.ts";
import { isMerchantRole, type Role, roles, userNameForm } from "../../values/roles.ts";
import { Secret } from "../../values/secret.ts";
import { hours, later, makePrintDate } from "../../values/time.ts";
import { hashPassword, newPassword } from "../../vault/password.ts";
import { type Action, action } from "../action.ts";
import { lastWord, option, required, word } from "../field.ts";
import { type Output, Report, type Session } from "../session.ts";

const login = word("user", "login", ["the user's login", "der Anmeldename des Benutzers"]);
const role = required(roles, "role", [
  `one of ${roles.join(", ")}`,
  `eine von ${roles.join(", ")}`,
]);
const removal = { right: "manage_users", mode: "change" } as const;
const shared = { ...removal, hasOwnRoute: true } as const;

type ByLogin = { readonly login: string };
type ByMerchant = { readonly merchant?: string | undefined };

const ownerOfUser = ({ database }: Pick<Session, "database">, given: ByLogin) =>
  findMerchantOf(database.query, given.login);

const ownerByMerchant = async (
  { database }: Pick<Session, "database">,
  { merchant }: ByMerchant,
) => (merchant === undefined ? undefined : findMerchantId(database.query, merchant));

export const userActions: readonly Action[] = [
  action({
    name: "user list",
    does: ["list all users with their roles", "alle Benutzer mit ihren Rollen auflisten"],
    right: "manage_users",
    mode: "look",
    commandLineOnly: "the portal lists users on a screen of its own",
    fields: {},
    perform: listAll,
  }),
  action({
    name: "user add",
    does: [
      "add a user; a merchant's user signs in as name@merchant",
      "einen Benutzer hinzufügen; der eines Händlers meldet sich als Name@Händler an",
    ],
    ...shared,
    findOwner: ownerByMerchant,
    fields: {
      name: word("text", "name", ["what the user is called", "wie der Benutzer genannt wird"]),
      role,
      merchant: option("merchant", "login", [
        "whose user it is; for roles of a merchant",
        "wessen Benutzer; für Händlerrollen",
      ]),
    },
    perform: add,
  }),
  action({
    name: "user role",
    does: ["give a user another role", "einem Benutzer eine andere Rolle geben"],
    ...shared,
    findOwner: ownerOfUser,
    // With another role too, an administrator could get rid of a colleague's second factors.
    needsSecondPerson: true,
    fields: { login, role },
    perform: setRole,
  }),
  action({
    name: "user password",
    does: [
      "make a temporary password for the portal, and print it",
      "ein vorläufiges Passwort für das Portal anlegen und zeigen",
    ],
    ...shared,
    findOwner: ownerOfUser,
    fields: { login },
    perform: setPassword,
  }),
  action({
    name: "user reset-factors",
    does: [
      "remove the second factors of a user who has lost them",
      "die zweiten Faktoren eines Benutzers entfernen, der sie verloren hat",
    ],
    ...shared,
    findOwner: ownerOfUser,
    needsSecondPerson: true,
    fields: { login },
    perform: resetFactors,
  }),
  action({
    name: "user demand-factor",
    does: [
      "demand a second factor of all users of a merchant, or only of those whose role needs it",
      "von allen Benutzern eines Händlers einen zweiten Faktor verlangen, oder nur von denen, " +
        "deren Rolle ihn braucht",
    ],
    ...shared,
    findOwner: ownerByMerchant,
    fields: {
      merchant: word("merchant", "merchant", ["the merchant's login", "der Händler"]),
      demanded: word("switch", "on|off", [
        "whether all users need one",
        "ob alle Benutzer einen brauchen",
      ]),
    },
    perform: demandFactor,
  }),
  action({
    name: "user end-session",
    does: [
      "sign a user out of the portal, in one session or in all",
      "einen Benutzer vom Portal abmelden, in einer Sitzung oder in allen",
    ],
    ...shared,
    findOwner: ownerOfUser,
    fields: {
      login,
      session: lastWord("text", "session", ["only this session", "nur diese Sitzung"]),
    },
    perform: endSession,
  }),
  action({
    name: "user disable",
    does: [
      "disable a user: every command is refused",
      "einen Benutzer sperren: jeder Befehl wird abgelehnt",
    ],
    ...shared,
    findOwner: ownerOfUser,
    fields: { login },
    perform: (session, given) => enable(session, given, false),
  }),
  action({
    name: "user enable",
    does: ["enable a user again", "einen Benutzer wieder freigeben"],
    ...shared,
    findOwner: ownerOfUser,
    fields: { login },
    perform: (session, given) => enable(session, given, true),
  }),
  action({
    name: "user remove",
    does: [
      "remove a user; the audit keeps what it did",
      "einen Benutzer entfernen; das Protokoll behält, was er getan hat",
    ],
    ...removal,
    needsSecondPerson: true,
    commandLineOnly: "the portal disables users; a removed user cannot be brought back",
    fields: { login },
    perform: remove,
  }),
];

export const accessReviewActions: readonly Action[] = [
  action({
    name: "access-review",
    does: [
      "print all users with role, last use, factors and who admitted them",
      "alle Benutzer ausgeben: Rolle, letzte Nutzung, Faktoren, und wer sie zugelassen hat",
    ],
    right: "see_audit",
    mode: "look",
    commandLineOnly: "the person who has reviewed it signs the printed list",
    fields: {},
    perform: ({ database }) => reviewAccess(database.query),
  }),
];

async function listAll({ database }: Session): Promise<Output> {
  return (await listUsers(database.query)).map((user) => ({
    login: user.login,
    role: user.role,
    merchant: user.merchant ?? "",
    state: user.enabled ? (user.isIdle ? "idle" : "on") : "off",
    used: user.usedAt ?? "never",
  }));
}

type NewUser = ByMerchant & { readonly name: string; readonly role: string };

async function add(session: Session, { name, ...given }: NewUser): Promise<Output> {
  if (!userNameForm.test(name)) {
    return invalid("A user's name is 1 to 40 letters, digits, dots, dashes or _.");
  }
  if (hasCardNumber(name)) return invalid("A user's name does not contain a card number.");
  const owned = await readRole(session, given);
  if (owned instanceof Problem) return owned;
  const made = owned.role === "service" ? undefined : await makePassword(session);
  const added = await session.audit.together(async (audit) => {
    const users = makeUserAdministration(audit);
    const newLogin = await users.add(name, owned.role, owned.merchantId);
    if (newLogin !== undefined && made !== undefined) await users.setPassword(newLogin, made.kept);
    return newLogin;
  });
  if (added === undefined) return new Problem(`There is a user ${name} already.`, "taken");
  return made === undefined ? { login: added, ...given } : made.report({ login: added, ...given });
}

/** The role, and the merchant whose user it becomes. */
async function readRole(
  { database, user }: Session,
  { role: name, merchant }: Omit<NewUser, "name">,
): Promise<{ readonly role: Role; readonly merchantId?: MerchantId } | Problem> {
  // One of the field's choices.
  const given = name as Role;
  if (isMerchantRole(given) !== (merchant !== undefined)) {
    return invalid(
      isMerchantRole(given)
        ? `The role ${given} is within a merchant: name the merchant.`
        : `The role ${given} is an operator's: it has no merchant.`,
    );
  }
  if (user !== undefined && given === "service") return programsAccount;
  if (merchant === undefined) return { role: given };
  const merchantId = await findMerchantId(database.query, merchant);
  return merchantId === undefined ? noMerchant(merchant) : { role: given, merchantId };
}

/** The user replaces it at the first sign-in. */
async function setPassword(session: Session, given: ByLogin): Promise<Output> {
  const user = await findOther(session, given);
  if (user instanceof Problem) return user;
  if (user.role === "service") {
    return new Problem(`${user.login} is a program's account: it has no password.`);
  }
  const { kept, report } = await makePassword(session);
  await makeUserAdministration(session.audit).setPassword(user.login, kept);
  return report({ login: user.login });
}

/** Programs take the end as a number, in milliseconds since 1970. */
async function makePassword({ config, database }: Session) {
  const password = newPassword();
  const stored = await hashPassword(new Secret(password));
  const now = await readDatabaseTime(database.query);
  const expiresAt = later(now, hours(temporaryPasswordHours));
  return {
    kept: { stored, isTemporary: true },
    report: (user: object) =>
      new Report(
        { ...user, password, expiresAt },
        { ...user, password, expiresAt: makePrintDate(config.zone)(expiresAt) },
      ),
  };
}

async function resetFactors(session: Session, given: ByLogin): Promise<Output> {
  const user = await findOther(session, given);
  if (user instanceof Problem) return user;
  await makeUserAdministration(session.audit).removeFactors(user.login);
  return { login: user.login, factors: "none" };
}

async function setRole(
  session: Session,
  given: ByLogin & { readonly role: string },
): Promise<Output> {
  const user = await findOther(session, given);
  if (user instanceof Problem) return user;
  // One of the field's choices.
  const next = given.role as Role;
  if (isMerchantRole(next) !== (user.merchant !== null)) {
    return invalid(
      `${user.login} cannot become ${next}: users do not change between operators and merchants. ` +
        "Remove the user, and add a new one.",
    );
  }
  if (session.user !== undefined && next === "service") return programsAccount;
  await makeUserAdministration(session.audit).setRole(user.login, next);
  return { login: user.login, role: next };
}

async function remove(session: Session, given: ByLogin): Promise<Output> {
  const user = await findOther(session, given);
  if (user instanceof Problem) return user;
  await makeUserAdministration(session.audit).remove(user.login);
  return { login: user.login, state: "removed" };
}

async function enable(session: Session, given: ByLogin, enabled: boolean): Promise<Output> {
  const user = await findOther(session, given);
  if (user instanceof Problem) return user;
  await makeUserAdministration(session.audit).enable(user.login, enabled);
  return { login: user.login, state: enabled ? "on" : "off" };
}

type FactorDemand = { readonly merchant: string; readonly demanded: string };

/** It counts from the users' next requests on: a session without a second factor sets one up. */
async function demandFactor(
  { audit, database }: Session,
  { merchant, demanded }: FactorDemand,
): Promise<Output> {
  const merchantId = await findMerchantId(database.query, merchant);
  if (merchantId === undefined) return noMerchant(merchant);
  await makeUserAdministration(audit).demandFactor(merchantId, demanded === "on");
  return { merchant, demanded };
}

async function endSession(
  { audit, database }: Session,
  { login: of, session: id }: ByLogin & { readonly session?: string | undefined },
): Promise<Output> {
  if ((await findUser(database.query, of)) === undefined) return unknown(of);
  const ended = await endSessions(audit, of, id);
  if (ended > 0 || id === undefined) return { login: of, "sessions ended": ended };
  return new Problem(`${of} has no session ${id}.`, "nothing_found");
}

/** Finds the user whom the action changes: in the portal, another one than who performs it. */
async function findOther(
  { database, actor, user }: Session,
  { login: of }: ByLogin,
): Promise<User | Problem> {
  if (user !== undefined && actor.who === of) {
    return new Problem("Ask another administrator for this.", "own_account");
  }
  return (await findUser(database.query, of)) ?? unknown(of);
}

const programsAccount = new Problem("Accounts of programs are made on the command line.");

function unknown(of: string): Problem {
  return new Problem(`There is no user ${of}.`, "not_found");
}

function noMerchant(merchant: string): Problem {
  return invalid(`There is no merchant ${merchant}.`);
}

function invalid(sentence: string): Problem {
  return new Problem(sentence, "invalid_input");
}
