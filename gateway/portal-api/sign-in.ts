/**
 * Protects passwords and codes from guessing (decision 0057). A try is counted before it is judged,
 * so that parallel tries count too. A full count locks, each time for twice as long. A browser in
 * which the user has signed in before has a count of its own: strangers who guess wrong lock the
 * user out of new browsers, and never out of a known one. Guesses do not add more entries than a
 * fixed rate to the audit and the log.
 */
import { createHash, randomBytes } from "node:crypto";
import { makeRateLimit } from "../http/bounds.ts";
import { Secret } from "../values/secret.ts";
import { type Clock, hours, type Instant, later } from "../values/time.ts";
import { PortalRefusal, type PortalVisit, type RecordRefusal } from "./route.ts";

export type SignInTries = {
  /**
   * Adds a try to each count and returns whether all had room for it. If one is full, none is
   * written, so that a flood of tries leaves no rows. An expired count starts again. A count that
   * becomes full stays full for its `lockMs`; if it grows, that time doubles each time.
   */
  add(bounds: readonly DigestBound[], now: Instant): Promise<boolean>;
  /** Removes one try from a count. */
  release(key: Uint8Array): Promise<void>;
  clear(key: Uint8Array): Promise<void>;
};

export type SignInOptions = {
  readonly tries: SignInTries;
  readonly isPassword: (password: Secret<string>, stored?: string) => Promise<boolean>;
  readonly triesMax: number;
  readonly lockMs: number;
};

type Limits = {
  readonly max: number;
  readonly lockMs: number;
  readonly grows: boolean;
  /** The time at which the count of failures returns to zero, unless it has reached its limit. */
  readonly expiresAt: Instant;
};
type Bound = Limits & { readonly key: string };
export type DigestBound = Limits & { readonly key: Uint8Array };

/**
 * The limits of a network, and of all unknown browsers together, as multiples of the limit of one
 * login.
 */
const ofNetwork = 3;
const overall = 100;
/**
 * How long wrong tries of one login are counted. A count of many logins together ends with its
 * lock.
 */
const ownWindowMs = hours(24);
/** How many passwords this process computes at once: half of the threads of Node's pool. */
const computedMax = 2;
const waitingMax = 20;

const tooMany = new PortalRefusal(
  429,
  "too_many_tries",
  "Too many tries. Wait half an hour or more, or ask an administrator for a new password.",
);
const busy = new PortalRefusal(503, "busy", "Too many people sign in at this moment. Try again.");

export type Guard = ReturnType<typeof makeGuard>;

export function makeGuard({ tries, isPassword, triesMax, lockMs }: SignInOptions) {
  let computed = 0;
  const waiting: (() => void)[] = [];
  return { checkPassword, checkCode, isOneOf, bounded };

  /** Checks a password, and refuses without computing it if there were too many tries. */
  async function checkPassword(
    visit: PortalVisit,
    login: string,
    { given, stored }: { readonly given: string; readonly stored: string | undefined },
  ): Promise<PortalRefusal | "right" | "wrong"> {
    const bounds = boundsFor(visit, login);
    if (!(await tries.add(bounds, visit.now))) return tooMany;
    const right = await bounded(() => isPassword(new Secret(given), stored));
    if (right instanceof PortalRefusal || !right) return right || "wrong";
    await forget(bounds);
    return "right";
  }

  /**
   * Checks a code of the second factor. Failed tries are limited, because the sender knows the
   * password already and could try all of the million codes.
   */
  async function checkCode<Result>(
    visit: PortalVisit,
    login: string,
    use: () => Promise<Result | undefined>,
  ): Promise<Result | PortalRefusal | undefined> {
    const bounds = boundsFor(visit, login, "code/");
    if (!(await tries.add(bounds, visit.now))) return tooMany;
    const used = await use();
    if (used !== undefined) await forget(bounds);
    return used;
  }

  /**
   * Removes a correct try from the counts. The login's count starts again. The others lose only
   * this try, because another person may still be guessing.
   */
  async function forget([own, ...others]: readonly DigestBound[]): Promise<void> {
    if (own !== undefined) await tries.clear(own.key);
    for (const { key } of others) await tries.release(key);
  }

  function isOneOf(password: Secret<string>, stored: readonly string[]) {
    return bounded(async () => {
      for (const each of stored) if (await isPassword(password, each)) return true;
      return false;
    });
  }

  /** Computes the hash of a password in turn, unless too many requests are waiting. */
  async function bounded<Result>(compute: () => Promise<Result>): Promise<Result | PortalRefusal> {
    if (waiting.length >= waitingMax) return busy;
    if (computed >= computedMax) await new Promise<void>((resolve) => waiting.push(resolve));
    else computed += 1;
    try {
      return await compute();
    } finally {
      const next = waiting.shift();
      if (next === undefined) computed -= 1;
      else next();
    }
  }

  /** Returns the counts of a try, the login's own first. */
  function boundsFor(
    { network, deviceOf, now }: PortalVisit,
    login: string,
    kind: "" | "code/" = "",
  ): readonly DigestBound[] {
    const device = deviceOf(login);
    const own = { max: triesMax, lockMs, grows: true, expiresAt: later(now, ownWindowMs) };
    if (device !== undefined) return digested({ ...own, key: `${kind}device/${login}/${device}` });
    const shared = { lockMs, grows: false, expiresAt: later(now, lockMs) };
    return digested(
      { ...own, key: `${kind}login/${login}` },
      { ...shared, key: `network/${network}`, max: triesMax * ofNetwork },
      { ...shared, key: "overall", max: triesMax * overall },
    );
  }
}

/** Digests the keys, so that they have one length and do not list the logins that were tried. */
function digested(...bounds: readonly Bound[]): readonly DigestBound[] {
  return bounds.map(({ key, ...bound }) => {
    return { ...bound, key: createHash("sha256").update(key.toLowerCase()).digest() };
  });
}

type Tokens = {
  readonly tokenOf: (text: string) => string;
  readonly isToken: (text: string, token: string) => boolean;
};

/** Recognises browsers in which a user has signed in before by a signed cookie. */
export function makeDevices({ tokenOf, isToken }: Tokens) {
  const textOf = (login: string, id: string) => `portal-device/${login.toLowerCase()}/${id}`;
  return {
    newDevice(login: string): string {
      const id = randomBytes(12).toString("hex");
      return `${id}.${tokenOf(textOf(login, id))}`;
    },
    isDevice(login: string, device: string): boolean {
      // The whole cookie is compared: if any text could follow the token, each spelling would have
      // its own count of wrong tries.
      const [, id = "", token = ""] = /^([0-9a-f]{24})\.([^.]+)$/.exec(device) ?? [];
      return id !== "" && isToken(textOf(login, id), token);
    },
  };
}

/**
 * Limits audit entries to a few refusals per user and minute. Repeated refusals add no information.
 */
const refusalsRecorded = { perSecond: 0.1, burst: 20 };

export function limitRefusals(record: RecordRefusal, clock: Pick<Clock, "now">): RecordRefusal {
  const limit = makeRateLimit<string>(refusalsRecorded, clock);
  return async (actor, subject, right) => {
    if (limit.take(actor.who) === 0) await record(actor, subject, right);
  };
}

/** The factors that the user has proved, or tried to prove. */
export type Factor = "password" | "code" | "recovery code" | "passkey";

type SignInEvent = {
  readonly action:
    | "portal sign-in"
    | "portal password right"
    | "portal sign-in refused"
    | "portal sign-out";
  readonly factor?: Factor;
  readonly why?: string;
};

/** Writes the audit. A login that no user has is omitted, because it may be a mistyped password. */
export type RecordSignIn = (
  visit: PortalVisit,
  login: string | undefined,
  event: SignInEvent,
) => Promise<void>;

type SignIn = {
  /** The login, or `unknown` if no user has it. */
  readonly login: string;
  readonly network: string;
};

export type WriteSignIn = (signIn: SignIn, event: SignInEvent) => Promise<void>;

type Records = {
  readonly clock: Pick<Clock, "now">;
  readonly onSignedIn: (signIn: SignIn) => void;
  readonly onRefused: (signIn: SignIn) => void;
  readonly write: WriteSignIn;
};

export function makeRecordSignIn(records: Records): RecordSignIn {
  const { clock, onSignedIn, onRefused, write } = records;
  const limit = makeRateLimit<string>(refusalsRecorded, clock);
  return async ({ network }, login = "unknown", event) => {
    const signIn = { login, network };
    if (event.action === "portal sign-in") onSignedIn(signIn);
    if (event.action === "portal sign-in refused") {
      onRefused(signIn);
      if (limit.take(login) > 0) return;
    }
    await write(signIn, event);
  };
}
