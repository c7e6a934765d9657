/** The types of the portal API's routes. A browser can reach only the routes in `api.ts`. */
import type { FailureCode } from "../values/failure.ts";
import type { MerchantId } from "../values/ids.ts";
import type { Right, Role } from "../values/roles.ts";
import type { Instant } from "../values/time.ts";
import type { Schema, ValueOf } from "./schema.ts";
import type { SessionState } from "./shapes.ts";

/**
 * `anyone` needs no session. `session` needs a session, even if its user has not completed signing
 * in. `enrolling` needs a session whose user has replaced the temporary password, but may still
 * lack a second factor. `user` needs a complete sign-in. A right needs a complete sign-in and a
 * role with this right.
 */
export type Access = "anyone" | "session" | "enrolling" | "user" | Right;

/**
 * `self` means the user's own account only, and `operator` data that no merchant's user may see.
 * `merchant` means the data of the user's merchant, or of all merchants for an operator.
 */
type Scope = "self" | "merchant" | "operator";

export type Account = {
  readonly id: string;
  readonly login: string;
  readonly role: Role;
  /** Undefined for an operator. */
  readonly merchantId: MerchantId | undefined;
  readonly merchant: string | undefined;
  readonly hasTotp: boolean;
  readonly passkeys: number;
  readonly recoveryCodes: number;
  readonly isPasswordTemporary: boolean;
  readonly isFactorDemanded: boolean;
};

export type PortalSession = {
  readonly digest: Uint8Array;
  readonly account: Account;
  readonly beganAt: Instant;
  readonly seenAt: Instant;
  /** Whether the user has proved a second factor in this session. */
  readonly secondFactor: boolean;
  /** The challenge that a passkey has to sign. Undefined if it is missing or has expired. */
  readonly challenge: string | undefined;
  readonly pendingTotp: Uint8Array | undefined;
};

/** The facts about a request that are known before its user's rights are checked. */
export type PortalVisit = {
  /** The client's IPv4 address, or the network of its IPv6 address. */
  readonly network: string;
  readonly agent: string;
  readonly now: Instant;
  readonly session: PortalSession | undefined;
  /** Returns the browser's id, or undefined if this user has not signed in with it before. */
  readonly deviceOf: (login: string) => string | undefined;
  readonly cookies: { set(cookie: "session" | "device", value: string): void };
};

export type Caller = PortalVisit & {
  readonly session: PortalSession;
  readonly account: Account;
  /** Undefined for an operator, who sees all merchants. */
  readonly merchantId: MerchantId | undefined;
  readonly actor: { readonly who: string; readonly from: string };
};

/** Records in the audit that the user's role lacks the right that a route needs. */
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

/** A refusal that the user can act on. `message` is the sentence on the screen. */
export class PortalRefusal {
  readonly status: 400 | 401 | 403 | 404 | 409 | 429 | 503;
  readonly code: RefusalCode;
  readonly message: string;
  /** The form field with the refused value, if the refusal concerns a single field. */
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

/** The browser downloads the file while the gateway is still writing it. */
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

export function row<const Who extends Access, Input, Output>(
  access: Who,
  scope: Scope,
  input: Schema<Input>,
  output: Schema<Output>,
  does: string,
) {
  return { access, scope, input, output, does };
}

/** Routes by method and path, such as `GET /orders/:order`. Parameters are at the path's end. */
export type Routes = Readonly<Record<string, PortalRoute>>;

/** For every route except those for `anyone`, the pipeline has checked session and right. */
export type HandlersOf<Table extends Routes> = {
  readonly [Name in keyof Table]: (
    input: ValueOf<Table[Name]["input"]>,
    visit: Table[Name]["access"] extends "anyone" ? PortalVisit : Caller,
  ) => Promise<ValueOf<Table[Name]["output"]> | PortalRefusal>;
};

export type ApiOf<Table extends Routes> = {
  readonly [Name in keyof Table]: {
    readonly input: ValueOf<Table[Name]["input"]>;
    readonly output: ValueOf<Table[Name]["output"]>;
  };
};
