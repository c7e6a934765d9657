/**
 * A route of the portal API: who may use it, whose rows it shows, its input and its output. The
 * table in `api.ts` consists of routes, and nothing else is reachable.
 */
import type { FailureCode } from "../values/failure.ts";
import type { MerchantId } from "../values/ids.ts";
import type { Right, Role } from "../values/roles.ts";
import type { Instant } from "../values/time.ts";
import type { Schema, ValueOf } from "./schema.ts";
import type { SessionState } from "./shapes.ts";

/**
 * `anyone` needs no session. `session` needs one in any state, `enrolling` one whose user has
 * replaced the temporary password, `user` one that has signed in completely. A right needs such a
 * user whose role has the right.
 */
export type Access = "anyone" | "session" | "enrolling" | "user" | Right;

/**
 * Whose rows the route reads and changes. `self` means the user's own account only. `merchant`
 * means those of the user's merchant, or all for an operator. `operator` means rows that no
 * merchant's user may see.
 */
type Scope = "self" | "merchant" | "operator";

export type Account = {
  readonly id: string;
  readonly login: string;
  readonly role: Role;
  /** The merchant of a merchant's user. Undefined for an operator. */
  readonly merchantId: MerchantId | undefined;
  readonly merchant: string | undefined;
  readonly hasTotp: boolean;
  readonly passkeys: number;
  readonly recoveryCodes: number;
  readonly isPasswordTemporary: boolean;
  /** Whether the merchant demands a second factor of all its users. */
  readonly isFactorDemanded: boolean;
};

export type PortalSession = {
  readonly digest: Uint8Array;
  readonly account: Account;
  readonly beganAt: Instant;
  readonly seenAt: Instant;
  /** Whether the session has passed the second factor. */
  readonly secondFactor: boolean;
  /** The latest challenge, until it expires. */
  readonly challenge: string | undefined;
  readonly pendingTotp: Uint8Array | undefined;
};

/** The facts about a request that are known before its user is. */
export type PortalVisit = {
  /** The client's address or its network. */
  readonly network: string;
  readonly agent: string;
  readonly now: Instant;
  readonly session: PortalSession | undefined;
  /** Returns the id of a browser in which this login has signed in before. */
  readonly deviceOf: (login: string) => string | undefined;
  readonly cookies: { set(cookie: "session" | "device", value: string): void };
};

export type Caller = PortalVisit & {
  readonly session: PortalSession;
  readonly account: Account;
  /** The user's merchant. Undefined for an operator, who sees all merchants. */
  readonly merchantId: MerchantId | undefined;
  readonly actor: { readonly who: string; readonly from: string };
};

/** Records in the audit that a user's role did not allow a request. */
export type RecordRefusal = (
  actor: Caller["actor"],
  subject: string,
  right: string,
) => Promise<void>;

// biome-ignore format: a list
export type RefusalCode = FailureCode | SessionState
  | "unavailable" | "busy" | "foreign_origin" | "signed_out" | "not_found" | "not_allowed" | "invalid_input" | "card_number" | "refused"
  | "wrong_credentials" | "password_expired" | "wrong_password" | "weak_password" | "too_many_tries" | "wrong_code" | "has_app" | "known_passkey" | "wrong_passkey"
  | "taken" | "second_person" | "own_account" | "no_sandbox" | "bank_silent" | "not_now" | "moved_on" | "not_in_doubt" | "bank_is_asked" | "may_arrive" | "not_in_this_stage";

/** A refusal on which the user can act. `message` is a sentence for the screen. */
export class PortalRefusal {
  readonly status: 400 | 401 | 403 | 404 | 409 | 429 | 503;
  readonly code: RefusalCode;
  readonly message: string;
  /** The field of a form that the refusal concerns. */
  readonly field: string | undefined;

  constructor(
    status: PortalRefusal["status"],
    code: RefusalCode,
    message: string,
    field?: string | undefined,
  ) {
    this.status = status;
    this.code = code;
    this.message = message;
    this.field = field;
  }
}

/** A file that the browser downloads while it is written. */
export class PortalFile {
  readonly name: string;
  readonly parts: AsyncIterable<string>;

  constructor(name: string, parts: AsyncIterable<string>) {
    this.name = name;
    this.parts = parts;
  }
}

export const notFound = new PortalRefusal(404, "not_found", "There is no such thing here.");

export type PortalRoute = {
  readonly access: Access;
  readonly scope: Scope;
  readonly input: Schema<unknown>;
  readonly output: Schema<unknown>;
  readonly does: string;
};

/** Makes a row of a table of routes. */
export function row<const Who extends Access, Input, Output>(
  access: Who,
  scope: Scope,
  input: Schema<Input>,
  output: Schema<Output>,
  does: string,
) {
  return { access, scope, input, output, does };
}

/**
 * Routes by method and path, like `GET /orders/:order`. Parameters stand at the end of the path.
 */
export type Routes = Readonly<Record<string, PortalRoute>>;

/**
 * The handlers of a table. A route for users gets a caller, because the pipeline has checked the
 * session and the right.
 */
export type HandlersOf<Table extends Routes> = {
  readonly [Name in keyof Table]: (
    input: ValueOf<Table[Name]["input"]>,
    visit: Table[Name]["access"] extends "anyone" ? PortalVisit : Caller,
  ) => Promise<ValueOf<Table[Name]["output"]> | PortalRefusal>;
};

/** The types of a table of routes for the front end. */
export type ApiOf<Table extends Routes> = {
  readonly [Name in keyof Table]: {
    readonly input: ValueOf<Table[Name]["input"]>;
    readonly output: ValueOf<Table[Name]["output"]>;
  };
};
