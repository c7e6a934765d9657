/**
 * Users and their roles, and work that waits for a second person's approval. A merchant's
 * administrator manages the merchant's users. In the portal, no user can change their own role or
 * password, remove their own second factors or disable themselves.
 */
import { endSessions } from "../../storage/people/accounts.ts";
import { findApproval, giveApproval, listApprovals } from "../../storage/people/approvals.ts";
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
import { isNumericId, type MerchantId } from "../../values/ids.ts";
import { hasCardNumber } from "../../values/mask-card-numbers.ts";
import { Problem } from "../../values/problem.ts";
import { isMerchantRole, portalRoles, type Role, roles, userNameForm } from "../../values/roles.ts";
import { Secret } from "../../values/secret.ts";
import { asInstant, hours, later } from "../../values/time.ts";
import { hashPassword, newPassword } from "../../vault/password.ts";
import { type Action, action } from "../action.ts";
import { type Help, lastWord, option, required, word } from "../field.ts";
import { printSwitch } from "../readers.ts";
import { type Output, Report, type Session } from "../session.ts";

const login = word("user", "login", ["the user's login", "der Anmeldename des Benutzers"]);
const roleNames = roles.join(", ");
const role = {
  ...required(roles, "role", [`one of ${roleNames}`, `eine von ${roleNames}`]),
  // Programs get accounts by the command line only, and merchants' users cannot make operators.
  offered: (by: Role) => portalRoles.filter((each) => !isMerchantRole(by) || isMerchantRole(each)),
};
const ofUser = {
  findOwner: ({ database }: Pick<Session, "database">, given: ByLogin) =>
    findMerchantOf(database.query, given.login),
} as const;

type ByLogin = { readonly login: string };
type ByMerchant = { readonly merchant?: string | undefined };

const ownerByMerchant = async (
  { database }: Pick<Session, "database">,
  { merchant }: ByMerchant,
) => (merchant === undefined ? undefined : findMerchantId(database.query, merchant));

export const userActions: readonly Action[] = [
  action("look", "manage_users", {
    name: "user list",
    does: ["list all users with their roles"],
    commandLineOnly: "the portal lists users on a screen of its own",
    async perform({ database }) {
      return (await listUsers(database.query)).map((user) => ({
        login: user.login,
        role: user.role,
        merchant: user.merchant ?? "",
        state: user.enabled ? (user.isIdle ? "idle" : "on") : "off",
        used: user.usedAt ?? "never",
      }));
    },
  }),
  action("change", "manage_users", {
    name: "user add",
    does: [
      "add a user; a merchant's user signs in as name@merchant",
      "einen Benutzer hinzufügen; der eines Händlers meldet sich als Name@Händler an",
    ],
    findOwner: ownerByMerchant,
    computesPassword: true,
    fields: {
      name: word("text", "name", ["what the user is called", "der Name des Benutzers"]),
      role,
      merchant: option("merchant", "login", [
        "whose user it is; for roles of a merchant",
        "wessen Benutzer; für Händlerrollen",
      ]),
    },
    async perform(session, { name, ...given }) {
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
        if (newLogin !== undefined && made !== undefined)
          await users.setPassword(newLogin, made.kept);
        return newLogin;
      });
      if (added === undefined) return new Problem(`There is a user ${name} already.`, "taken");
      return made === undefined
        ? { login: added, ...given }
        : made.report({ login: added, ...given });
    },
  }),
  action("change", "manage_users", {
    name: "user role",
    does: [
      "give a user another role, and sign the user out",
      "einem Benutzer eine andere Rolle geben und ihn abmelden",
    ],
    ...ofUser,
    // A user who gets the role `service` loses all second factors, so a second person must agree.
    needsSecondPerson: true,
    fields: { login, role },
    perform: onUser(async (user, session, { role: next }) => {
      if (isMerchantRole(next) !== (user.merchant !== null)) {
        return invalid(
          `${user.login} cannot become ${next}: users do not change between operators and ` +
            "merchants. Remove the user, and add a new one.",
        );
      }
      if (session.user !== undefined && next === "service") return programsAccount;
      await usersOf(session).setRole(user.login, next);
      return { login: user.login, role: next };
    }),
  }),
  action("change", "manage_users", {
    name: "user password",
    does: [
      "replace a user's password by a temporary one, print it, and sign the user out",
      "das Passwort eines Benutzers durch ein vorläufiges ersetzen, es zeigen und ihn abmelden",
    ],
    ...ofUser,
    computesPassword: true,
    fields: { login },
    // The user replaces the temporary password at the first sign-in.
    perform: onUser(async (user, session) => {
      if (user.role === "service") {
        return new Problem(`${user.login} is a program's account: it has no password.`);
      }
      const { kept, report } = await makePassword(session);
      await usersOf(session).setPassword(user.login, kept);
      return report({ login: user.login });
    }),
  }),
  action("change", "manage_users", {
    name: "user reset-factors",
    does: [
      "remove the second factors of a user who has lost them",
      "die zweiten Faktoren eines Benutzers entfernen, der sie verloren hat",
    ],
    ...ofUser,
    needsSecondPerson: true,
    fields: { login },
    perform: onUser(async ({ login: of }, session) => {
      await usersOf(session).removeFactors(of);
      return { login: of, factors: "none" };
    }),
  }),
  action("change", "manage_users", {
    name: "user demand-factor",
    does: [
      "demand a second factor of all users of a merchant, or only of those whose role needs it; " +
        "users without one set it up before anything else",
      "von allen Benutzern eines Händlers einen zweiten Faktor verlangen, oder nur von denen, " +
        "deren Rolle ihn braucht; wer keinen hat, richtet ihn vor allem anderen ein",
    ],
    findOwner: ownerByMerchant,
    fields: {
      merchant: word("merchant", "merchant", ["the merchant's login", "der Händler"]),
      demanded: word("switch", "on|off", [
        "whether all users need one",
        "ob alle Benutzer einen brauchen",
      ]),
    },
    // A user without a second factor has to set one up at the next request of their session.
    async perform({ audit, database }, { merchant, demanded }) {
      const merchantId = await findMerchantId(database.query, merchant);
      if (merchantId === undefined) return noMerchant(merchant);
      await usersOf({ audit }).demandFactor(merchantId, demanded === "on");
      return { merchant, demanded };
    },
  }),
  action("change", "manage_users", {
    name: "user end-session",
    does: [
      "sign a user out of the portal, in one session or in all",
      "einen Benutzer vom Portal abmelden, in einer Sitzung oder in allen",
    ],
    ...ofUser,
    needsReason: false,
    fields: {
      login,
      session: lastWord("text", "session", ["only this session", "nur diese Sitzung"]),
    },
    async perform({ audit, database }, { login: of, session: id }) {
      if ((await findUser(database.query, of)) === undefined) return unknown(of);
      const ended = await endSessions(audit, of, id);
      if (ended > 0 || id === undefined) return { login: of, "sessions ended": ended };
      return new Problem(`${of} has no session ${id}.`, "nothing_found");
    },
  }),
  enablingAction("user disable", false, [
    "disable a user, who is signed out at once: every command is refused",
    "einen Benutzer sperren und sofort abmelden: jeder Befehl wird abgelehnt",
  ]),
  enablingAction("user enable", true, ["enable a user again", "einen Benutzer wieder freigeben"]),
  action("change", "manage_users", {
    name: "user remove",
    does: ["remove a user; the audit keeps what it did"],
    needsSecondPerson: true,
    commandLineOnly: "the portal disables users; a removed user cannot be brought back",
    fields: { login },
    perform: onUser(async ({ login: of }, session) => {
      await usersOf(session).remove(of);
      return { login: of, state: "removed" };
    }),
  }),
];

export const accessReviewActions: readonly Action[] = [
  action("look", "see_audit", {
    name: "access-review",
    commandLineOnly: "the person who has reviewed it signs the printed list",
    perform: ({ database }) => reviewAccess(database.query),
  }),
];

async function readRole(
  { database, user }: Session,
  { role: given, merchant }: ByMerchant & { readonly role: Role },
): Promise<{ readonly role: Role; readonly merchantId?: MerchantId } | Problem> {
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

/** Programs receive the password's expiry as a number, in milliseconds since 1970. */
async function makePassword({ now, printDate, isTrial }: Session) {
  const password = newPassword();
  const stored = isTrial ? "" : await hashPassword(new Secret(password));
  const expiresAt = later(await now(), hours(temporaryPasswordHours));
  return {
    kept: { stored, isTemporary: true },
    report: (user: object) =>
      new Report(
        { ...user, password, expiresAt },
        { ...user, password, expiresAt: printDate(expiresAt) },
      ),
  };
}

function enablingAction(name: string, enabled: boolean, does: Help): Action {
  return action("change", "manage_users", {
    name,
    does,
    ...ofUser,
    fields: { login },
    perform: onUser(async ({ login: of }, session) => {
      await usersOf(session).enable(of, enabled);
      return { login: of, state: printSwitch(enabled) };
    }),
  });
}

const usersOf = ({ audit }: Pick<Session, "audit">) => makeUserAdministration(audit);

/** Wraps an action on a user: finds the user, and refuses the portal's users their own account. */
function onUser<Given>(work: (user: User, session: Session, given: Given) => Promise<Output>) {
  return async (session: Session, given: Given & ByLogin): Promise<Output> => {
    const { database, actor } = session;
    if (session.user !== undefined && actor.who === given.login) {
      return new Problem("Ask another administrator for this.", "own_account");
    }
    const found = await findUser(database.query, given.login);
    return found === undefined ? unknown(given.login) : work(found, session, given);
  };
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

type ById = { readonly id: string };

const find = async ({ database }: Pick<Session, "database">, { id }: ById) =>
  isNumericId(id) ? findApproval(database.query, id) : undefined;

/** Work waits for approval by a second person with the same right (GW_SECOND_PERSON). */
export const approvalActions: readonly Action[] = [
  action("look", "see_audit", {
    name: "approval list",
    does: ["list what waits for a second person"],
    commandLineOnly: "the portal lists what waits on a screen of its own",
    async perform({ database, printDate }) {
      return (await listApprovals(database.query)).map(({ askedAt, isGiven, ...approval }) => ({
        ...approval,
        askedAt: printDate(asInstant(askedAt)),
        state: isGiven ? "given" : "waits",
      }));
    },
  }),
  action("change", "operate", {
    name: "approval give",
    does: [
      "approve what another user has asked for",
      "freigeben, worum ein anderer Benutzer gebeten hat",
    ],
    findRight: async (session, given) => (await find(session, given))?.right,
    findOwner: async (session, given) => (await find(session, given))?.merchantId ?? undefined,
    needsReason: false,
    fields: {
      id: word("text", "id", ["its number in the list", "seine Nummer in der Liste"]),
    },
    async perform({ audit, actor, config }, { id }) {
      const wanted = { id, byAccount: config.usersOnly };
      const isGiven = isNumericId(id) && (await giveApproval(audit, actor, wanted));
      if (isGiven instanceof Problem) return isGiven;
      if (isGiven) return { approval: id, state: "given" };
      return new Problem(`Nothing of another user waits under the number ${id}.`, "not_found");
    },
  }),
];
