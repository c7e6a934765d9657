/** Reads the filter of callbacks from the URL, and makes the request that sends them again. */
import { makeFilters, startOfDay } from "../orders/order-query.ts";
import type { InputOf, OutputOf, User } from "../shell/call.ts";

export type Delivery = OutputOf<"GET /callbacks">["callbacks"][number];
export type Chosen = InputOf<"POST /callbacks/preview">;
export type DeliveryFilter = Omit<Chosen, "sequence">;
type Signature = OutputOf<"GET /callbacks/:order/:sequence">["attempts"][number]["signature"];

export type Delivered = Pick<Delivery, "state" | "tries">;

export const states = [
  "due",
  "failing",
  "delivered",
  "stopped",
  "given_up",
] as const satisfies readonly DeliveryFilter["state"][];

/** A callback is failing if it is due and an earlier attempt was refused or not answered. */
export function stateOf({ state, tries }: Delivered): (typeof states)[number] {
  return state === "due" && tries > 0 ? "failing" : state;
}

type Attempt = { readonly status?: number | undefined; readonly failure?: string | undefined };

/** Describes an attempt by the HTTP status of its answer, or by the reason why no answer came. */
export function resultOf({ status, failure }: Attempt) {
  const isFailed = status === undefined ? failure !== undefined : status < 200 || status > 299;
  return { text: String(status ?? failure ?? ""), isFailed };
}

const names = ["state", "endpoint", "merchant", "host", "order", "from", "until"] as const;

export const filters = makeFilters(names);

export function readDeliveryQuery(query: URLSearchParams): DeliveryFilter {
  const text = (name: string) => query.get(name)?.trim() || undefined;
  const state = states.find((each) => each === query.get("state"));
  const [since, until] = [startOfDay(text("from")), startOfDay(text("until"), 1)];
  const [endpoint, merchant, host, order] = ["endpoint", "merchant", "host", "order"].map(text);
  return {
    ...(state && { state }),
    ...(endpoint && { endpoint }),
    ...(merchant && { merchant }),
    ...(host && { host }),
    ...(order && /^[1-9]\d{0,18}$/.test(order) && { order }),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
  };
}

/** Returns the callback's id as it appears in the portal's URLs. */
export function idOf({ order, sequence }: Pick<Delivery, "order" | "sequence">): string {
  return `${order}-${sequence}`;
}

export function readId(id: string): Pick<Delivery, "order" | "sequence"> {
  const [order = "", sequence = ""] = id.split("-");
  return { order, sequence: Number(sequence) };
}

/** A filter must name an order or a start time, because others may select too many callbacks. */
export function maySendAgain({ order, since }: DeliveryFilter): boolean {
  return order !== undefined || since !== undefined;
}

/** The request of a merchant's user includes that merchant's callbacks only. */
export function resendRequest(
  { since, until, sequence, ...chosen }: Chosen,
  { merchant = chosen.merchant }: Pick<User, "merchant">,
  reason: string,
): InputOf<"POST /actions/run"> {
  const print = (at: number | undefined) =>
    at === undefined ? undefined : new Date(at).toISOString();
  const times = { since: print(since), until: print(until) };
  const texts = { ...chosen, merchant, ...times, sequence: sequence?.toString() };
  const given = Object.entries(texts).flatMap(([name, text]) => (text ? [[name, text]] : []));
  return { action: "callback resend", values: Object.fromEntries(given), reason };
}

/** Reads how many callbacks are sent again, and when the user requested that. */
export function resentBy({ result, at }: Pick<OutputOf<"POST /actions/run">, "result" | "at">) {
  return { count: Number(Reflect.get(result, "to be sent again") ?? 0), resentAt: at };
}

export function verdictOf(result: Signature["result"]): "right" | "wrong" | "unknown" {
  return result === "current_key" ? "right" : result === "other" ? "wrong" : "unknown";
}
