/** What the audit and the log keep of sign-ins and of refusals, without growing with guesses. */
import { makeRateLimit } from "../http/rate-limit.ts";
import type { Clock } from "../values/time.ts";
import type { AccountOptions, SignInEvent } from "./account.ts";
import type { RecordRefusal } from "./route.ts";

/** Of one user: more say no more, and would fill the audit. */
const refusalsRecorded = { perSecond: 0.1, burst: 20 };

export function limitRefusals(record: RecordRefusal, clock: Pick<Clock, "now">): RecordRefusal {
  const limit = makeRateLimit<string>(refusalsRecorded, clock);
  return async (actor, subject, right) => {
    if (limit.take(actor.who) === 0) await record(actor, subject, right);
  };
}

type SignIn = {
  /** `unknown` for one that no user has. */
  readonly login: string;
  readonly network: string;
};

type Records = {
  readonly clock: Pick<Clock, "now">;
  readonly onSignedIn: (signIn: SignIn) => void;
  readonly onRefused: (signIn: SignIn) => void;
  readonly write: (signIn: SignIn, event: SignInEvent) => Promise<void>;
};

export function makeRecordSignIn(records: Records): AccountOptions["onSignIn"] {
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
