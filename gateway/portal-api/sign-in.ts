/**
 * Passwords and codes against guessing (decision 0057). A try is counted before it is judged, so
 * that parallel ones count too. A browser in which the user has signed in before has a count of its
 * own: strangers who guess wrong keep the user out of no known browser, and out of new ones for
 * minutes only.
 */
import { createHash } from "node:crypto";
import { Secret } from "../values/secret.ts";
import { type Instant, later, minutes } from "../values/time.ts";
import { PortalRefusal, type PortalVisit } from "./route.ts";

export type SignInTries = {
  /**
   * Adds a try to each count, and answers whether all had room for it. A full count is not written,
   * nor are those beside it: a flood of tries leaves no rows. One that has expired begins anew.
   */
  add(bounds: readonly DigestBound[], now: Instant, expiresAt: Instant): Promise<boolean>;
  /** Takes one try back. */
  release(key: Uint8Array): Promise<void>;
  clear(key: Uint8Array): Promise<void>;
};

export type SignInOptions = {
  readonly tries: SignInTries;
  readonly isPassword: (password: Secret<string>, stored?: string) => Promise<boolean>;
};

type Bound = { readonly key: string; readonly max: number };
type DigestBound = { readonly key: Uint8Array; readonly max: number };

const windowMs = minutes(5);
/** Passwords under computation in this process: half of the threads of Node's pool. */
const computedMax = 2;
const waitingMax = 20;

const tooMany = new PortalRefusal(429, "too_many_tries", "Too many tries. Wait five minutes.");
const busy = new PortalRefusal(503, "busy", "Too many people sign in at this moment. Try again.");

export type Guard = ReturnType<typeof makeGuard>;

export function makeGuard({ tries, isPassword }: SignInOptions) {
  let computed = 0;
  const waiting: (() => void)[] = [];
  return { checkPassword, countCode, bounded };

  /** Nothing when the password is right. */
  async function checkPassword(
    visit: PortalVisit,
    login: string,
    { given, stored }: { readonly given: string; readonly stored: string | undefined },
  ): Promise<PortalRefusal | "right" | "wrong"> {
    const keys = boundsFor(visit, login);
    if (!(await count(keys, visit.now))) return tooMany;
    const right = await bounded(() => isPassword(new Secret(given), stored));
    if (right instanceof PortalRefusal || !right) return right || "wrong";
    const [own, network] = keys.map(digestKey);
    if (own !== undefined) await tries.clear(own);
    // Who has an account could else begin to count anew, and go on with the logins of others.
    if (network !== undefined) await tries.release(network);
    return "right";
  }

  /** Computes a password's hash when it is its turn, unless too many wait. */
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

  /** For codes, whose sender knows the password: a million codes are few. */
  async function countCode(login: string, now: Instant): Promise<PortalRefusal | undefined> {
    return (await count([{ key: `code/${login}`, max: 10 }], now)) ? undefined : tooMany;
  }

  function count(bounds: readonly Bound[], now: Instant): Promise<boolean> {
    const digests = bounds.map((bound) => ({ key: digestKey(bound), max: bound.max }));
    return tries.add(digests, now, later(now, windowMs));
  }
}

/** The login's own first. */
function boundsFor({ network, deviceOf }: PortalVisit, login: string): readonly Bound[] {
  const device = deviceOf(login);
  if (device !== undefined) return [{ key: `device/${login}/${device}`, max: 10 }];
  return [
    { key: `login/${login}`, max: 10 },
    { key: `network/${network}`, max: 30 },
  ];
}

/** Of one length for any text, and no list of the logins that were tried. */
function digestKey({ key }: Bound): Buffer {
  return createHash("sha256").update(key.toLowerCase()).digest();
}
