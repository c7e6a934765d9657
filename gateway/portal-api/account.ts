/**
 * A portal user's own account: signing in with a password and a second factor, changing the
 * password, and listing and ending sessions.
 */
import { createHash, randomBytes } from "node:crypto";
import {
  clientNetworkOf,
  type IsTrusted,
  networkOf,
  type ProxyHeader,
} from "../http/client-network.ts";
import type { HttpRequest } from "../http/router.ts";
import type { AccountStore, ListedSession } from "../storage/people/accounts.ts";
import type { Problem } from "../values/problem.ts";
import { hasRight, type Right, rights } from "../values/roles.ts";
import { Secret } from "../values/secret.ts";
import type { Instant } from "../values/time.ts";
import type { Handlers } from "./api.ts";
import { type Caller, PortalRefusal, type PortalSession, type PortalVisit } from "./route.ts";
import type { SessionView, ShownEnvironment } from "./shapes.ts";
import type { Factor, Guard, RecordSignIn } from "./sign-in.ts";

/** In production, users with one of these rights need a second factor. */
const guarded: readonly Right[] = ["see_configuration", "move_money", "enter_orders"];

export function stateOf({ account, secondFactor }: PortalSession, environment: ShownEnvironment) {
  const hasFactor = account.hasTotp || account.passkeys > 0;
  if (hasFactor && !secondFactor) return "second_factor";
  if (account.isPasswordTemporary) return "new_password";
  const isGuarded =
    environment !== "staging" && guarded.some((right) => hasRight(account.role, right));
  return (isGuarded || account.isFactorDemanded) && !hasFactor ? "enrolment" : "in";
}

export type AccountOptions = {
  readonly environment: ShownEnvironment;
  readonly accounts: AccountStore;
  readonly guard: Guard;
  readonly findPasswordFault: (password: Secret<string>, login: string) => Problem | undefined;
  /** Returns the value of a cookie that marks a browser in which this user has signed in. */
  readonly newDevice: (login: string) => string;
  readonly onSignIn: RecordSignIn;
};

const wrong = new PortalRefusal(401, "wrong_credentials", "Login or password is wrong.");
/** Sent only after the correct password, so that strangers cannot find out that it has expired. */
const expired = new PortalRefusal(
  401,
  "password_expired",
  "This temporary password has expired. Ask an administrator for another.",
);

const usedBefore = new PortalRefusal(
  400,
  "weak_password",
  "The password is one of your last ones.",
);

export function accountHandlers(options: AccountOptions) {
  const { accounts, guard, environment } = options;
  const view = (session: PortalSession | undefined) => viewOf(session, environment);

  return {
    "GET /session": async (_, { session }) => view(session),
    "POST /sign-in": signIn,
    async "POST /sign-out"(_, caller) {
      await accounts.closeSession(caller.session.digest);
      caller.cookies.set("session", "");
      await options.onSignIn(caller, caller.account.login, { action: "portal sign-out" });
      return { done: true };
    },
    "POST /password": changePassword,
    async "GET /sessions"(_, { account, session }) {
      const found = await accounts.listSessions(account.id);
      return { sessions: found.map((each) => viewSession(each, session)) };
    },
    "POST /sessions/revoke/:session": async ({ session }, { account, actor }) => ({
      done: await accounts.revokeSession(actor, account.login, session),
    }),
  } satisfies Partial<Handlers>;

  async function signIn(
    { login, password }: { readonly login: string; readonly password: string },
    visitor: PortalVisit,
  ): Promise<SessionView | PortalRefusal> {
    const user = await accounts.findPassword(login, visitor.now);
    const visit = user?.isTemporary ? { ...visitor, ...newBrowser } : visitor;
    const judged = await guard.checkPassword(visit, login, {
      given: password,
      stored: user?.stored,
    });
    if (judged !== "right" || user === undefined) {
      const refusal = judged instanceof PortalRefusal ? judged : wrong;
      return recordRefused(options, visit, user && login, "password", refusal);
    }
    if (user.isExpired) return recordRefused(options, visit, login, "password", expired);
    // The browser's earlier session ends, because another person may know its token.
    if (visit.session !== undefined) await accounts.closeSession(visit.session.digest);
    const token = newToken();
    const { now, network, agent } = visit;
    const opened = await accounts.openSession({
      digest: digestOf(token),
      userId: user.id,
      now,
      network,
      agent,
    });
    if (opened === undefined) return wrong;
    visit.cookies.set("session", token);
    if (stateOf(opened, environment) === "second_factor") {
      await options.onSignIn(visit, login, { action: "portal password right" });
    } else {
      await finish(options, visit, opened, "password");
    }
    return view(opened);
  }

  async function changePassword(
    { current, next }: { readonly current: string; readonly next: string },
    caller: Caller,
  ): Promise<SessionView | PortalRefusal> {
    const { session, account, actor } = caller;
    if (stateOf(session, environment) === "second_factor") {
      return new PortalRefusal(403, "second_factor", "Show your second factor first.");
    }
    const refusal = await checkOwnPassword(options, caller, current);
    if (refusal !== undefined) return refusal;
    const fault = options.findPasswordFault(new Secret(next), account.login);
    if (fault !== undefined) return new PortalRefusal(400, "weak_password", fault.sentence);
    const earlier = await accounts.listPasswords(account.id);
    const isUsed = await guard.isOneOf(new Secret(next), earlier);
    if (isUsed !== false) return isUsed === true ? usedBefore : isUsed;
    const set = () => accounts.setPassword(actor, session, new Secret(next));
    const busy = await options.guard.bounded(set);
    if (busy instanceof PortalRefusal) return busy;
    return view({ ...session, account: { ...account, isPasswordTemporary: false } });
  }
}

/**
 * While a user's password is temporary, the browser counts as unknown: locks on wrong guesses from
 * it do not apply, and it gets a new cookie at the sign-in.
 */
export const newBrowser = { deviceOf: () => undefined };

export function newToken(): string {
  return randomBytes(32).toString("base64url");
}

/**
 * Marks the browser as known to this user, and records the sign-in. Wrong passwords from a known
 * browser are counted separately from those of strangers.
 */
export async function finish(
  { accounts, newDevice, onSignIn }: Pick<AccountOptions, "accounts" | "newDevice" | "onSignIn">,
  visit: PortalVisit,
  { account }: PortalSession,
  factor: Factor,
): Promise<void> {
  const { id, login } = account;
  if (visit.deviceOf(login) === undefined) visit.cookies.set("device", newDevice(login));
  await accounts.markUsed(id, visit.now);
  await onSignIn(visit, login, { action: "portal sign-in", factor });
}

export async function recordRefused(
  { onSignIn }: Pick<AccountOptions, "onSignIn">,
  visit: PortalVisit,
  login: string | undefined,
  factor: Factor,
  refusal: PortalRefusal,
): Promise<PortalRefusal> {
  await onSignIn(visit, login, { action: "portal sign-in refused", factor, why: refusal.code });
  return refusal;
}

/**
 * Asks for the password again before a change of the account's password or second factors, because
 * another person may be using the signed-in user's browser.
 */
export async function checkOwnPassword(
  options: Pick<AccountOptions, "accounts" | "guard" | "onSignIn">,
  caller: Caller,
  given: string,
): Promise<PortalRefusal | undefined> {
  const { accounts, guard } = options;
  const { login } = caller.account;
  const user = await accounts.findPassword(login, caller.now);
  const judged = await guard.checkPassword(caller, login, { given, stored: user?.stored });
  if (judged === "right") return undefined;
  const refusal =
    judged === "wrong"
      ? new PortalRefusal(403, "wrong_password", "The password is wrong.")
      : judged;
  return recordRefused(options, caller, login, "password", refusal);
}

export function viewOf(
  session: PortalSession | undefined,
  environment: ShownEnvironment,
): SessionView {
  if (session === undefined) return { state: "out", environment };
  const { account } = session;
  const { login, role, merchant, hasTotp: totp, passkeys, recoveryCodes } = account;
  const own = rights.filter((right) => hasRight(role, right));
  return {
    state: stateOf(session, environment),
    environment,
    user: { login, role, ...(merchant === undefined ? {} : { merchant }), rights: own },
    factors: { totp, passkeys, recoveryCodes },
  };
}

export function viewSession<Listed extends ListedSession>(
  { digest, ...session }: Listed,
  own: PortalSession,
) {
  return { ...session, id: idOf(digest), isThis: idOf(digest) === idOf(own.digest) };
}

/** Returns the id of a session in lists. It is not the session's token, so it gives no access. */
function idOf(digest: Uint8Array): string {
  return Buffer.from(digest).toString("hex").slice(0, 32);
}

export type VisitOptions = {
  /** The gateway's origin as browsers see it. It is not known before the gateway listens. */
  readonly origin: () => string;
  readonly now: () => Instant;
  readonly isTrusted: IsTrusted;
  readonly proxyHeader: ProxyHeader;
  /** Returns undefined if the session does not exist or has expired. */
  readonly findSession: (digest: Uint8Array, now: Instant) => Promise<PortalSession | undefined>;
  readonly touchSession: (digest: Uint8Array, now: Instant) => Promise<void>;
  readonly isDevice: (login: string, device: string) => boolean;
};

/** A session's use is recorded at this interval only, so that most requests write nothing. */
const touchEveryMs = 30_000;
const deviceDays = 180;

/** A session's cookie has a random token, and the database stores only the token's digest. */
export async function openVisit(
  request: HttpRequest,
  options: VisitOptions,
  cookies: string[],
): Promise<PortalVisit> {
  const { headers, socket } = request;
  const isSecure = options.origin().startsWith("https:");
  const sent = cookiesOf(headers.cookie);
  const token = sent.get(cookieName("session", isSecure)) ?? "";
  const now = options.now();
  const session = token === "" ? undefined : await options.findSession(digestOf(token), now);
  const isActive = headers["x-portal-poll"] === undefined;
  if (session !== undefined && isActive && now - session.seenAt > touchEveryMs) {
    await options.touchSession(session.digest, now);
  }
  const device = sent.get(cookieName("device", isSecure)) ?? "";
  const direct = networkOf(socket.remoteAddress);
  const behind = clientNetworkOf(headers, options.isTrusted, options.proxyHeader);
  const isProxied = options.isTrusted(socket.remoteAddress ?? "");
  return {
    network: (isProxied ? behind : undefined) ?? direct ?? "unknown",
    agent: (headers["user-agent"] ?? "").slice(0, 300),
    now,
    session,
    deviceOf: (login) => (options.isDevice(login, device) ? device : undefined),
    cookies: {
      set(cookie, value) {
        const ageS = value === "" ? 0 : cookie === "device" ? deviceDays * 86_400 : undefined;
        const age = ageS === undefined ? "" : `; Max-Age=${ageS}`;
        const secure = isSecure ? "; Secure" : "";
        const own = `${cookieName(cookie, isSecure)}=${value}; Path=/`;
        cookies.push(`${own}; HttpOnly; SameSite=Strict${secure}${age}`);
      },
    },
  };
}

/** Other hosts of the same domain cannot set a cookie whose name begins with `__Host-`. */
function cookieName(cookie: "session" | "device", isSecure: boolean): string {
  return `${isSecure ? "__Host-" : ""}tollgate-${cookie}`;
}

function cookiesOf(header = ""): ReadonlyMap<string, string> {
  const pairs = header.split(";").map((pair) => pair.trim().split("="));
  return new Map(pairs.map(([name = "", value = ""]) => [name, value]));
}

export function digestOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
