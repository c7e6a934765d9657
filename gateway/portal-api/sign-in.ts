/**
 * Protects passwords and codes from guessing (decision 0057). A guess is counted before it is
 * checked, so that simultaneous ones count too. At the limit, guesses are refused for a time, which
 * doubles with each lock. A browser in which the user has signed in before has its own count, so
 * that strangers can lock the user out of new browsers, but never out of a known one.
 */
import { createHash, randomBytes } from "node:crypto";
import { makeRateLimit } from "../http/bounds.ts";
import { Secret } from "../values/secret.ts";
import { type Clock, hours, type Instant, later } from "../values/time.ts";
import { PortalRefusal, type PortalVisit, type RecordRefusal } from "./route.ts";

export type SignInTries = {
  /**
   * Adds one guess to each count and returns whether the guess is allowed. If a count has reached
   * its limit, no count is changed, so that a flood of guesses writes no rows. An expired count
   * begins again at one. A count that reaches its limit is locked for `lockMs`, doubled with each
   * further lock if `grows` is true.
   */
  add(bounds: readonly DigestBound[], now: Instant): Promise<boolean>;
  /** Removes a guess from a count, because the guess was correct. */
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
  /**
   * When the count of wrong guesses returns to zero. A count at its limit stays until the end of
   * its lock.
   */
  readonly expiresAt: Instant;
};
type Bound = Limits & { readonly key: string };
export type DigestBound = Limits & { readonly key: Uint8Array };

/** Limits on guesses from one network and all unknown browsers, as multiples of a login's limit. */
const ofNetwork = 3;
const overall = 100;
/** Wrong guesses at one login count for a day, those at many logins together as long as a lock. */
const ownWindowMs = hours(24);
/**
 * The number of passwords whose hashes this process computes at the same time is half of the
 * threads in Node's thread pool.
 */
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

  /** After too many guesses, the password is refused before its hash is computed. */
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
   * The number of wrong codes is limited, because the sender already knows the password and could
   * otherwise guess all of the million codes.
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
   * After a correct guess, the count of the login or of the known browser begins again at zero. The
   * counts that many logins share lose only this guess, because another person may still be
   * guessing.
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

  /**
   * A request waits for its turn if the process is computing as many hashes as it may, and is
   * refused at once if too many requests are waiting.
   */
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

  /**
   * Returns the counts to which a guess is added: only that of the browser if it is known, else
   * those of the login, of the network and of all unknown browsers.
   */
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

/** Replaces keys by digests, which have one length and do not show the logins that were guessed. */
function digested(...bounds: readonly Bound[]): readonly DigestBound[] {
  return bounds.map(({ key, ...bound }) => {
    return { ...bound, key: createHash("sha256").update(key.toLowerCase()).digest() };
  });
}

type Tokens = {
  readonly tokenOf: (text: string) => string;
  readonly isToken: (text: string, token: string) => boolean;
};

/** The signed cookie marks a browser in which a user has signed in before. */
export function makeDevices({ tokenOf, isToken }: Tokens) {
  const textOf = (login: string, id: string) => `portal-device/${login.toLowerCase()}/${id}`;
  return {
    newDevice(login: string): string {
      const id = randomBytes(12).toString("hex");
      return `${id}.${tokenOf(textOf(login, id))}`;
    },
    isDevice(login: string, device: string): boolean {
      // The pattern must match the whole cookie. If any text could follow the token, an attacker
      // could change this text to get a new count of wrong guesses.
      const [, id = "", token = ""] = /^([0-9a-f]{24})\.([^.]+)$/.exec(device) ?? [];
      return id !== "" && isToken(textOf(login, id), token);
    },
  };
}

/**
 * The audit records a few refusals of a user per minute, because repeated refusals add no
 * information.
 */
const refusalsRecorded = { perSecond: 0.1, burst: 20 };

export function limitRefusals(record: RecordRefusal, clock: Pick<Clock, "now">): RecordRefusal {
  const limit = makeRateLimit<string>(refusalsRecorded, clock);
  return async (actor, subject, right) => {
    if (limit.take(actor.who) === 0) await record(actor, subject, right);
  };
}

/** The factor that the user has given to sign in, whether it was right or wrong. */
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

/**
 * The login is omitted if no user has it, because it may be a password that was typed into the
 * wrong field.
 */
export type RecordSignIn = (
  visit: PortalVisit,
  login: string | undefined,
  event: SignInEvent,
) => Promise<void>;

type SignIn = {
  /** The given login, or `unknown` if no user has this login. */
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
