/**
 * The other end of callbacks: says whether one comes from the gateway, reads it, and tells repeats.
 * A callback may come twice, and one whose work was not done must be able to come again: whoever
 * cannot finish what a result is for says so with `forget`, and answers anything but 2xx.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { makeMemory, makeWaiting, type Seen, type WaitFor } from "./receiver-memory.ts";

export type { Seen, WaitFor } from "./receiver-memory.ts";

export type ReceiverOptions = {
  readonly controlKey: string;
  /** `whsec_…`, of an endpoint that sends forms; several while it changes. */
  readonly webhookSecret?: string | readonly string[];
  /** What was heard before; in this process' memory when not given. */
  readonly seen?: Seen;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
};

/** As any HTTP server has it: `url` with its query, the body as it came. */
export type CallbackRequest = {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body?: string;
};

/** Names and values are those of the wire. */
export type CallbackResult = {
  readonly status: "approved" | "declined" | "error" | "filtered";
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

export type Verified =
  | { readonly kind: "result"; readonly id: string; readonly result: CallbackResult }
  | { readonly kind: "repeat"; readonly id: string; readonly result: CallbackResult }
  | { readonly kind: "refused"; readonly why: string };

export type Receiver = {
  verify(request: CallbackRequest): Promise<Verified>;
  /** The work was not done: when the callback comes again, it is no repeat. */
  forget(id: string): Promise<void>;
  /** Resolves when an order's result is heard, or was just heard. */
  readonly waitFor: WaitFor;
};

const toleranceMs = 5 * 60_000;
const finals: ReadonlySet<string> = new Set(["approved", "declined", "error", "filtered"]);

export function makeReceiver(options: ReceiverOptions): Receiver {
  const { controlKey, seen = makeMemory(), now = Date.now } = options;
  const secrets = [options.webhookSecret ?? []].flat().map(readSecret);
  const { waitFor, tell } = makeWaiting();

  return {
    async verify(request) {
      const body = request.body ?? "";
      const isForm = request.method.toUpperCase() === "POST";
      if (secrets.length > 0 && !isSigned(request, body)) return refused("the signature is wrong");
      const fields = readFields(isForm ? body : request.url.replace(/^[^?]*\??/, ""));
      if (!hasControl(fields)) return refused("control is wrong");
      if (!isResult(fields)) return refused("it is no result");
      // Not the header `webhook-id`: beside a result in the address nothing vouches for it.
      const id = `${fields.orderid}/${fields["serial-number"]}`;
      const isNew = await seen.add(id);
      tell(fields);
      return { kind: isNew ? "result" : "repeat", id, result: fields };
    },
    async forget(id) {
      await seen.delete(id);
    },
    waitFor,
  };

  function hasControl({ status = "", orderid = "", client_orderid = "", control = "" }: Fields) {
    const text = status + orderid + client_orderid + controlKey;
    return isSame(createHash("sha1").update(text).digest("hex"), control.toLowerCase());
  }

  function isSigned({ method, headers }: CallbackRequest, body: string): boolean {
    const [id, timestamp] = [
      headerOf(headers, "webhook-id"),
      headerOf(headers, "webhook-timestamp"),
    ];
    const isFresh = Math.abs(now() - Number(timestamp || Number.NaN) * 1000) <= toleranceMs;
    if (method.toUpperCase() !== "POST" || !isFresh) return false;
    const given = headerOf(headers, "webhook-signature").split(" ");
    const right = secrets.map((secret) => {
      const signed = createHmac("sha256", secret).update(`${id}.${timestamp}.${body}`);
      return `v1,${signed.digest("base64")}`;
    });
    return right.some((signature) => given.some((each) => isSame(signature, each)));
  }
}

type Fields = Readonly<Record<string, string | undefined>>;

/** The gateway's fields come last: what the shop has in its own address does not hide them. */
function readFields(text: string): Fields {
  return Object.fromEntries(new URLSearchParams(text));
}

function isResult(fields: Fields): fields is CallbackResult {
  const needed = [fields["orderid"], fields["client_orderid"], fields["serial-number"]];
  return finals.has(fields["status"] ?? "") && needed.every((value) => value !== undefined);
}

function refused(why: string): Verified {
  return { kind: "refused", why };
}

function readSecret(secret: string): Buffer {
  return Buffer.from(secret.replace(/^whsec_/, ""), "base64");
}

function headerOf(headers: CallbackRequest["headers"], name: string): string {
  if (headers instanceof Headers) return headers.get(name) ?? "";
  const found = Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1] ?? "";
  return typeof found === "string" ? found : found.join(" ");
}

function isSame(right: string, given: string): boolean {
  const [one, other] = [Buffer.from(right), Buffer.from(given)];
  return one.length === other.length && timingSafeEqual(one, other);
}
