/**
 * Users, their sessions, and the audit. An administrator of a merchant manages that merchant's
 * users alone, and can make no operator of any of them; no user changes its own role or disables
 * itself.
 */
import type { MerchantId } from "../values/ids.ts";
import { hasCardNumber } from "../values/mask-card-numbers.ts";
import { isMerchantRole, type Role } from "../values/roles.ts";
import type { Instant } from "../values/time.ts";
import { type ListedSession, viewSession } from "./account.ts";
import type { Handlers } from "./api.ts";
import { merchantOf } from "./orders.ts";
import { lookedThrough, type PortalNames } from "./reads.ts";
import { type Caller, notFound, PortalRefusal } from "./route.ts";
import { type ApprovalOptions, needSecondPerson } from "./second-person.ts";
import type { Guard } from "./sign-in.ts";

export type TeamUser = {
  readonly login: string;
  readonly role: Role;
  readonly merchant: string | null;
  readonly enabled: boolean;
  readonly password: "own" | "temporary" | "expired" | "none";
  readonly totp: boolean;
  readonly passkeys: number;
  readonly seenAt: number | null;
  readonly isIdle: boolean;
};

type TemporaryPassword = { readonly password: string; readonly expiresAt: Instant };

type Actor = Caller["actor"];

/** Changes are written with their entry in the audit. */
export type TeamStore = {
  list(now: Instant): Promise<readonly TeamUser[]>;
  /** These answer a temporary password, which is shown once. Nothing if the login is taken. */
  add(
    actor: Actor,
    user: NewUser,
  ): Promise<(TemporaryPassword & { readonly login: string }) | undefined>;
  renewPassword(actor: Actor, login: string): Promise<TemporaryPassword>;
  setRole(actor: Actor, login: string, role: Role): Promise<void>;
  enable(actor: Actor, login: string, enabled: boolean): Promise<void>;
  removeFactors(actor: Actor, login: string): Promise<void>;
  demandFactor(actor: Actor, merchantId: MerchantId, demanded: boolean): Promise<void>;
  /** Those of a merchant's users, or all. */
  listSessions(merchantId: MerchantId | undefined): Promise<readonly TeamSession[]>;
  endSession(actor: Actor, login: string, id: string): Promise<boolean>;
};

type TeamSession = ListedSession & { readonly login: string };

type NewUser = { readonly name: string; readonly role: Role; readonly merchantId?: MerchantId };

export type AuditLine = {
  readonly seq: number;
  readonly at: number;
  readonly actor: string;
  readonly origin: string;
  readonly action: string;
  readonly subject: string;
  readonly reason: string | null;
  readonly before: string | null;
  readonly after: string | null;
};

type AuditFilter = {
  readonly by?: string | undefined;
  readonly action?: string | undefined;
  readonly subject?: string | undefined;
  readonly before?: number | undefined;
  readonly limit: number;
  readonly most?: number | undefined;
  readonly search?: string | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
};

export type TeamOptions = Pick<ApprovalOptions, "takeApproval" | "secondPerson"> & {
  readonly guard: Pick<Guard, "bounded">;
  readonly team: TeamStore;
  readonly names: () => PortalNames;
  readonly findEntries: (filter: AuditFilter) => Promise<readonly AuditLine[]>;
  /** The oldest that such a list looks at, if there are older ones. */
  readonly findLookedAt: (
    filter: AuditFilter,
  ) => Promise<Pick<AuditLine, "seq" | "at"> | undefined>;
  readonly verifyAudit: () => Promise<VerifiedAudit>;
};

type VerifiedAudit = {
  readonly restores: readonly string[];
  readonly entries: number;
  readonly signatures: number;
  readonly outsideHeads: number;
  readonly unsigned: number;
  readonly findings: readonly string[];
};

const taken = new PortalRefusal(409, "taken", "There is a user of this login already.");
const notOneself = new PortalRefusal(409, "own_account", "Ask another administrator for this.");
const cardAsLogin = new PortalRefusal(
  400,
  "invalid_input",
  "A login does not contain a card number.",
);
const wrongMerchant = new PortalRefusal(
  400,
  "invalid_input",
  "This role needs a merchant, or has none.",
);

const ofProgram = new PortalRefusal(409, "refused", "An account of a program has no password.");
/** A new user has a new password, and factors of its own. */
const otherSide = new PortalRefusal(
  400,
  "invalid_input",
  "Users do not change between operators and merchants. Add a new user.",
);

export function teamHandlers(options: TeamOptions) {
  const { team, names, guard } = options;
  const listOwn = async ({ merchantId, account, now }: Caller) =>
    (await team.list(now)).filter(
      ({ merchant }) => merchantId === undefined || merchant === account.merchant,
    );
  /** Of another user whom the caller may manage. */
  const managing = <Output>(work: (user: TeamUser, caller: Caller) => Promise<Output>) => {
    return async ({ login }: { readonly login: string }, caller: Caller) => {
      if (login === caller.account.login) return notOneself;
      const user = (await listOwn(caller)).find((each) => each.login === login);
      return user === undefined ? notFound : work(user, caller);
    };
  };
  /** As `gw` words it, so that an approval counts for either. */
  const byTwo = (caller: Caller, work: string) => {
    const wanted = { work, right: "manage_users", merchantId: caller.merchantId } as const;
    return options.secondPerson ? needSecondPerson(options, caller, wanted) : undefined;
  };
  /** Whose user it becomes; nothing for an operator's. */
  const ownerOf = (role: Role, merchant: string | undefined, caller: Caller) => {
    const isMerchants = isMerchantRole(role);
    if (caller.merchantId !== undefined) return isMerchants ? caller.merchantId : wrongMerchant;
    const found = merchantOf(names(), merchant);
    const isGiven = found !== undefined && found !== null;
    return isMerchants === isGiven && found !== null ? found : wrongMerchant;
  };

  return {
    /** From their next request on: a session without a second factor has to set one up. */
    async "POST /users/demand-factor"({ demanded, merchant }, caller) {
      const owner = caller.merchantId ?? merchantOf(names(), merchant);
      if (owner === undefined || owner === null) return wrongMerchant;
      await team.demandFactor(caller.actor, owner, demanded);
      return { done: true };
    },
    async "GET /users"(_, caller) {
      const users = (await listOwn(caller)).map(({ merchant, seenAt, ...user }) => ({
        ...{ ...user, ...(merchant === null ? {} : { merchant }) },
        ...(seenAt === null ? {} : { seenAt }),
      }));
      return { users, isFactorDemanded: caller.account.isFactorDemanded };
    },
    async "POST /users/add"({ name, role, merchant }, caller) {
      if (hasCardNumber(name)) return cardAsLogin;
      const owner = ownerOf(role, merchant, caller);
      if (owner instanceof PortalRefusal) return owner;
      const user = { name, role, ...(owner && { merchantId: owner }) };
      return (await guard.bounded(() => team.add(caller.actor, user))) ?? taken;
    },
    async "POST /users/role/:login"({ login, role }, caller) {
      if (isMerchantRole(role) !== login.includes("@")) return otherSide;
      const set = managing(async () => {
        const refusal = await byTwo(caller, `user role ${login} role ${role}`);
        return refusal ?? team.setRole(caller.actor, login, role);
      });
      return (await set({ login }, caller)) ?? { done: true };
    },
    async "POST /users/enable/:login"({ login, enabled }, caller) {
      const set = managing(() => team.enable(caller.actor, login, enabled));
      return (await set({ login }, caller)) ?? { done: true };
    },
    "POST /users/password/:login": managing(async ({ login, role }, { actor }) => {
      if (role === "service") return ofProgram;
      const made = await guard.bounded(() => team.renewPassword(actor, login));
      return made instanceof PortalRefusal ? made : { login, ...made };
    }),
    async "POST /users/reset-factors/:login"({ login }, caller) {
      const reset = managing(async () => {
        const refusal = await byTwo(caller, `user reset-factors ${login}`);
        return refusal ?? team.removeFactors(caller.actor, login);
      });
      return (await reset({ login }, caller)) ?? { done: true };
    },

    async "GET /users/sessions"(_, { merchantId, session }) {
      const found = await team.listSessions(merchantId);
      return { sessions: found.map((each) => viewSession(each, session)) };
    },
    async "POST /users/end-session/:login/:session"({ login, session }, caller) {
      const own = await listOwn(caller);
      if (!own.some((user) => user.login === login)) return notFound;
      return { done: await team.endSession(caller.actor, login, session) };
    },
  } satisfies Partial<Handlers>;
}

export function auditHandlers({
  findEntries,
  findLookedAt,
  verifyAudit,
}: Pick<TeamOptions, "findEntries" | "findLookedAt" | "verifyAudit">) {
  let running: Promise<VerifiedAudit> | undefined;
  return {
    async "GET /audit"({ after, limit = 50, from: since, ...filter }) {
      const isCursor = /^\d{1,15}$/.test(after ?? "");
      const before = after === undefined ? undefined : Number(isCursor ? after : 0);
      const asked = { ...filter, since, before, limit, most: lookedThrough };
      const entries = await findEntries(asked);
      const lines = entries.toReversed().map(({ reason, before: was, after: is, ...entry }) => ({
        ...entry,
        ...(reason === null ? {} : { reason }),
        ...(was === null ? {} : { before: was }),
        ...(is === null ? {} : { after: is }),
      }));
      const isWhole = lines.length === limit;
      const end = isWhole ? undefined : await findLookedAt(asked);
      const from = isWhole ? lines.at(-1) : end;
      return {
        entries: lines,
        ...(from && { next: String(from.seq) }),
        ...(end && { searchedTo: end.at }),
      };
    },

    /** One at a time on a node: users who ask meanwhile get the same answer. */
    async "POST /audit/verify"() {
      running ??= verifyAudit().finally(() => {
        running = undefined;
      });
      return running;
    },
  } satisfies Partial<Handlers>;
}
