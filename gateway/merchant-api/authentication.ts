/**
 * The two ways in which a merchant proves a request to be his own, chosen by the version in the
 * path: the checksum in v2, OAuth in v4. Operations know of neither.
 */
import type { FormPair } from "@tollgate/protocols/form";
import type { EntryPoint } from "../orders/merchant.ts";
import { Failure } from "../values/failure.ts";
import type { Clock } from "../values/time.ts";
import { checkControl, findUnreadableAmount } from "./control.ts";
import { type AccessDenied, checkOAuth, type OAuthDependencies, type SignedCall } from "./oauth.ts";
import type { Operation, Version } from "./operation.ts";
import { type NamedField, readFields, type Sent, splitFields } from "./read-request.ts";

export type Authentication = {
  /** The names of the fields that count, in the operation's order. */
  readonly known: readonly string[];
  /** Must be readable before the check. */
  readonly before: readonly NamedField[];
  readonly check: (asked: Asked) => Promise<AccessDenied | Failure | undefined>;
  /** What is wrong with all that was not read before the check. */
  readonly readRest: (asked: Asked, values: Record<string, unknown>) => readonly Failure[];
};

export type Asked = {
  readonly call: SignedCall;
  readonly pairs: readonly FormPair[];
  readonly sent: Sent;
  readonly entryPoint: EntryPoint;
};

export type AuthenticationDependencies = {
  readonly oauth: OAuthDependencies;
  readonly clock: Clock;
};

export function makeAuthentication(
  version: Version,
  operation: Operation,
  dependencies: AuthenticationDependencies,
): Authentication {
  return version === "v4" ? byOAuth(operation, dependencies) : byControl(operation);
}

function byControl(operation: Operation): Authentication {
  const { signed, others } = splitFields(operation);
  return {
    known: Object.keys(operation.request),
    before: signed,
    async check({ sent, entryPoint }) {
      const mismatch = checkControl(operation.control, sent, entryPoint);
      if (mismatch !== undefined) return mismatch;
      const closed = entryPoint.endpoints.some(({ settings }) => settings.oauthOnly === true);
      return closed ? new Failure("control_mismatch", "", "only v4 is taken here") : undefined;
    },
    readRest: ({ sent, entryPoint }, values) => readFields(others, sent, entryPoint, values),
  };
}

/** What the checksum is made of is not needed here, and ignored when it is sent. */
const checksumFields: ReadonlySet<string> = new Set(["login", "control"]);

function byOAuth(
  operation: Operation,
  { oauth, clock }: AuthenticationDependencies,
): Authentication {
  const fields = Object.entries(operation.request).filter(([name]) => !checksumFields.has(name));
  return {
    known: fields.map(([name]) => name),
    before: [],
    check: (asked) => checkOAuth(asked, { ...oauth, clock }),
    readRest({ sent, entryPoint }, values) {
      const faults = readFields(fields, sent, entryPoint, values);
      if (faults.length > 0) return faults;
      const unreadable = findUnreadableAmount(operation.control, sent, entryPoint);
      return unreadable === undefined ? [] : [unreadable];
    },
  };
}
