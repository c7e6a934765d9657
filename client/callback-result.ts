/** What a callback tells: its fields as they came, and what they are once they are proven. */

/** As any HTTP server has it: `url` with its query, the body as it came. */
export type CallbackRequest = {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body?: string;
};

export type Final = "approved" | "declined" | "error" | "filtered";

/** Every field is proven. Names and values are those of the wire. */
export type CallbackResult = {
  readonly status: Final;
  readonly orderid: string;
  readonly client_orderid: string;
  /** Of the transaction that this is about. */
  readonly "serial-number": string;
  readonly type: string;
  readonly amount?: string;
  readonly "charged-amount"?: string;
  readonly currency?: string;
  readonly error_code?: string;
  readonly error_message?: string;
  readonly merchantdata?: string;
  readonly [other: string]: string | undefined;
};

/**
 * What `control` alone proves: that the gateway has once said these three, one after the other, to
 * somebody. It says so to the cardholder's browser too.
 */
export type ControlledResult = {
  readonly status: Final;
  readonly orderid: string;
  readonly client_orderid: string;
  /** Anybody who has paid once can write these: type, amount, serial number and all others. */
  readonly claimed: Fields;
};

export type Fields = { readonly [name: string]: string | undefined };

/** What every callback has to have, whatever proves it. */
export type Covered = Pick<CallbackResult, "status" | "orderid" | "client_orderid">;

/** What there is instead of a result: "later" when it may yet be one. */
export class NoResult {
  readonly kind: "later" | "refused";
  readonly why: string;

  constructor(kind: NoResult["kind"], why: string) {
    this.kind = kind;
    this.why = why;
  }
}

const finals: ReadonlySet<string> = new Set<Final>(["approved", "declined", "error", "filtered"]);

/** A sequence number and six digits, as the gateway makes them. */
const orderIdForm = /^[1-9]\d{6,18}$/;
const serialNumberForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The gateway's fields come last: what the shop has in its own address does not hide them. */
export function readFields({ method, url, body = "" }: CallbackRequest): Fields {
  const isForm = method.toUpperCase() === "POST";
  return Object.fromEntries(new URLSearchParams(isForm ? body : url.replace(/^[^?]*\??/, "")));
}

export function isFinalStatus(status: string): status is Final {
  return finals.has(status);
}

export function isCovered(fields: Fields): fields is Fields & Covered {
  const { status = "", orderid = "", client_orderid = "" } = fields;
  return isFinalStatus(status) && orderIdForm.test(orderid) && client_orderid !== "";
}

export function isResult(fields: Fields): fields is CallbackResult {
  return isCovered(fields) && serialNumberOf(fields) !== undefined && Boolean(fields["type"]);
}

/** In one spelling, so that no other one passes for another transaction. */
export function serialNumberOf(fields: Fields): string | undefined {
  const given = fields["serial-number"]?.toLowerCase() ?? "";
  return serialNumberForm.test(given) ? given : undefined;
}
