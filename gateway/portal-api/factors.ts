/**
 * The second factors of a user's own account: codes of an authenticator app, recovery codes, and
 * passkeys (WebAuthn level 2, implemented with `@simplewebauthn/server`).
 */
import type {
  AuthenticationResponseJSON,
  AuthenticatorTransport,
  RegistrationResponseJSON,
} from "@simplewebauthn/server";
import type { FactorStore, Passkey } from "../storage/people/second-factors.ts";
import { later, minutes } from "../values/time.ts";
import {
  type AccountOptions,
  checkOwnPassword,
  digestOf,
  finish,
  newToken,
  recordRefused,
  stateOf,
  viewOf,
} from "./account.ts";
import type { Handlers } from "./api.ts";
import { type Caller, notFound, PortalRefusal } from "./route.ts";
import type { SessionView } from "./shapes.ts";
import type { Factor } from "./sign-in.ts";

export type FactorOptions = AccountOptions & {
  readonly factors: FactorStore;
  readonly origin: () => string;
};

const wrongCode = new PortalRefusal(401, "wrong_code", "The code is wrong, or was used before.");
/** The app must be turned off first, with the password, so that no stranger can replace it. */
const hasApp = new PortalRefusal(409, "has_app", "Turn the codes of the present app off first.");
const knownPasskey = new PortalRefusal(409, "known_passkey", "This passkey was added before.");
const wrongPasskey = new PortalRefusal(401, "wrong_passkey", "The passkey could not be verified.");
/**
 * Prefix of a stored challenge with which a passkey may be added, because the user has given the
 * password again. A challenge for signing in has no prefix.
 */
const toAdd = "add ";
const challengeMs = minutes(5);
/** Loading the WebAuthn library takes a tenth of a second, and most nodes never need it. */
const webauthn = () => import("@simplewebauthn/server");

export function codeHandlers(options: FactorOptions) {
  const { factors, guard, environment } = options;
  const passed = makePassed(options);

  return {
    async "POST /sign-in/code"({ code }, caller) {
      const { session, account, now } = caller;
      const used = await guard.checkCode(caller, account.login, async () =>
        (await factors.useCode(session, code.trim(), now)) ? true : undefined,
      );
      const factor = /^\d{6}$/.test(code.trim()) ? "code" : "recovery code";
      if (used === true) return passed(caller, factor);
      return recordRefused(options, caller, account.login, factor, used ?? wrongCode);
    },
    async "POST /totp/begin"({ password }, caller) {
      if (caller.account.hasTotp) return hasApp;
      const refusal = await checkOwnPassword(options, caller, password);
      return refusal ?? factors.beginTotp(caller.session);
    },
    async "POST /totp/confirm"({ code }, caller) {
      const { session, actor, now, account } = caller;
      if (account.hasTotp) return hasApp;
      const made = await guard.checkCode(caller, account.login, () =>
        factors.confirmTotp(actor, session, code, now),
      );
      if (made instanceof PortalRefusal) return made;
      if (made === undefined) return wrongCode;
      await raise(options, caller);
      return { recoveryCodes: made };
    },
    async "POST /totp/remove"({ password }, caller) {
      const refusal = await checkOwnPassword(options, caller, password);
      if (refusal !== undefined) return refusal;
      const { actor, session } = caller;
      await factors.removeTotp(actor, session);
      const account = { ...session.account, hasTotp: false };
      return viewOf({ ...session, account }, environment);
    },
    async "POST /recovery-codes"({ password }, caller) {
      const refusal = await checkOwnPassword(options, caller, password);
      if (refusal !== undefined) return refusal;
      const { actor, session } = caller;
      return { recoveryCodes: await factors.renewRecoveryCodes(actor, session) };
    },
  } satisfies Partial<Handlers>;
}

export function passkeyHandlers(options: FactorOptions) {
  const { factors, environment } = options;
  const passed = makePassed(options);

  return {
    async "POST /sign-in/passkey-challenge"(_, { account, session, now }) {
      const known = await factors.listPasskeys(account.id);
      const { generateAuthenticationOptions } = await webauthn();
      const made = await generateAuthenticationOptions({
        rpID: hostOf(options),
        userVerification: "required",
        allowCredentials: known.map(describePasskey),
      });
      await factors.setChallenge(session.digest, made.challenge, later(now, challengeMs));
      return { options: made };
    },
    async "POST /sign-in/passkey"({ response }, caller) {
      // The response goes unchecked to the WebAuthn library, which refuses a malformed one.
      const isRight = await isShown(response as AuthenticationResponseJSON, caller);
      if (isRight) return passed(caller, "passkey");
      return recordRefused(options, caller, caller.account.login, "passkey", wrongPasskey);
    },
    async "GET /passkeys"(_, { account }) {
      const known = await factors.listPasskeys(account.id);
      const passkeys = known.map(({ id, name, createdAt, lastUsedAt }) => ({
        id,
        name,
        createdAt,
        ...(lastUsedAt === undefined ? {} : { lastUsedAt }),
      }));
      return { passkeys };
    },
    async "POST /passkeys/begin"({ password }, caller) {
      const refusal = await checkOwnPassword(options, caller, password);
      if (refusal !== undefined) return refusal;
      const made = await makeRegistration(options, caller.account);
      const expiresAt = later(caller.now, challengeMs);
      const { digest } = caller.session;
      await factors.setChallenge(digest, `${toAdd}${made.challenge}`, expiresAt);
      return { options: made };
    },
    async "POST /passkeys/confirm"({ name, response }, caller) {
      const added = await readRegistration(response as RegistrationResponseJSON, caller);
      if (added === undefined) return wrongPasskey;
      const { session, actor, now } = caller;
      const passkey = { ...added, name, createdAt: now };
      if (!(await factors.addPasskey(actor, session, passkey))) return knownPasskey;
      await raise(options, caller);
      const account = { ...session.account, passkeys: session.account.passkeys + 1 };
      return viewOf({ ...session, secondFactor: true, account }, environment);
    },
    async "POST /passkeys/remove/:passkey"({ passkey, password }, caller) {
      const refusal = await checkOwnPassword(options, caller, password);
      if (refusal !== undefined) return refusal;
      const { actor, account } = caller;
      const isGone = await factors.removePasskey(actor, account.id, passkey);
      return isGone ? { done: true } : notFound;
    },
  } satisfies Partial<Handlers>;

  /** A passkey of the user must have signed the session's latest challenge, which is valid once. */
  async function isShown(response: AuthenticationResponseJSON, { session, now }: Caller) {
    const known = await factors.listPasskeys(session.account.id);
    const passkey = known.find(({ id }) => id === response.id);
    if (passkey === undefined || session.challenge === undefined) return false;
    await factors.setChallenge(session.digest, "", now);
    const { verifyAuthenticationResponse } = await webauthn();
    try {
      const { verified, authenticationInfo } = await verifyAuthenticationResponse({
        response,
        expectedChallenge: session.challenge,
        expectedOrigin: options.origin(),
        expectedRPID: hostOf(options),
        requireUserVerification: true,
        credential: { ...describePasskey(passkey), ...passkey, transports: [] },
      });
      const { newCounter } = authenticationInfo;
      return verified && (await factors.usePasskey(session, passkey.id, newCounter, now));
    } catch {
      return false;
    }
  }

  async function readRegistration(response: RegistrationResponseJSON, { session, now }: Caller) {
    if (session.challenge?.startsWith(toAdd) !== true) return undefined;
    await factors.setChallenge(session.digest, "", now);
    const expectedChallenge = session.challenge.slice(toAdd.length);
    const { verifyRegistrationResponse } = await webauthn();
    try {
      const { verified, registrationInfo } = await verifyRegistrationResponse({
        response,
        expectedChallenge,
        expectedOrigin: options.origin(),
        expectedRPID: hostOf(options),
        requireUserVerification: true,
      });
      if (!verified || registrationInfo === undefined) return undefined;
      const { id, publicKey, counter, transports } = registrationInfo.credential;
      return { id, publicKey, counter, transports: readTransports(transports) };
    } catch {
      return undefined;
    }
  }
}

async function makeRegistration(options: FactorOptions, { id, login }: Caller["account"]) {
  const known = await options.factors.listPasskeys(id);
  const { generateRegistrationOptions } = await webauthn();
  return generateRegistrationOptions({
    rpName: "Tollgate",
    rpID: hostOf(options),
    userName: login,
    userID: new TextEncoder().encode(id),
    excludeCredentials: known.map(describePasskey),
    authenticatorSelection: { residentKey: "preferred", userVerification: "required" },
  });
}

/** A session that gains rights gets a new token, because another person may know the old one. */
async function raise({ factors, environment }: FactorOptions, { session, cookies }: Caller) {
  const { digest } = session;
  if (stateOf(session, environment) === "in") return factors.raiseSession(digest, digest);
  const token = newToken();
  await factors.raiseSession(digest, digestOf(token));
  cookies.set("session", token);
}

/** Completes a sign-in after the user has proved a second factor. */
function makePassed(options: FactorOptions) {
  return async (caller: Caller, factor: Factor): Promise<SessionView> => {
    await raise(options, caller);
    await finish(options, caller, caller.session, factor);
    return viewOf({ ...caller.session, secondFactor: true }, options.environment);
  };
}

function hostOf({ origin }: Pick<FactorOptions, "origin">): string {
  return new URL(origin()).hostname;
}

/** Keeps known transports only, because the WebAuthn library does not check the browser's list. */
function readTransports(sent: unknown): readonly string[] {
  const known = ["ble", "cable", "hybrid", "internal", "nfc", "smart-card", "usb"];
  return Array.isArray(sent) ? known.filter((each) => sent.includes(each)) : [];
}

function describePasskey({ id, transports }: Passkey) {
  // Only known transports were stored when the passkey was added.
  return { id, transports: [...transports] as AuthenticatorTransport[] };
}
