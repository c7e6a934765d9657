/** What the user may do with an order, what it would bring about, and what is sent for it. */
import type { Messages } from "../language/english.ts";
import type { OutputOf } from "../shell/call.ts";
import type { OrderDetail } from "./order-texts.ts";

type Decision = OrderDetail["may"]["settle"][number];
export type Action = "capture" | "return" | "resend" | Decision;
export type Preview = OutputOf<"POST /orders/preview/:order">;

export function actionsFor({ may }: Pick<OrderDetail, "may">): readonly Action[] {
  const moves = (["capture", "return", "resend"] as const).filter((name) => may[name]);
  return [...moves, ...may.settle];
}

export function isDecision(action: Action): action is Decision {
  return action === "ask" || action === "settle-done" || action === "settle-not-done";
}

export function whyNot(preview: Preview | undefined, { refusalOf }: Messages): string | undefined {
  const { why, code = "" } = preview ?? {};
  return why === undefined ? undefined : refusalOf(code, why);
}

export function amountOf(preview: Preview | undefined): string {
  return preview?.amount === undefined ? "" : `${preview.amount.text} ${preview.amount.currency}`;
}

/** What the action would do now, in words. */
export function outcomeOf(action: Action, { of, becomes }: Preview, messages: Messages): string {
  const { begins, decided } = messages;
  if (action === "capture") return begins.capture;
  if (!isDecision(action)) return begins[of === "cancel" ? "cancel" : "refund"];
  if (action === "ask") return decided.asked;
  return becomes === undefined ? decided.stays : decided[becomes];
}

type Shown = { readonly line: { readonly order: string }; readonly version: number };
/** `once` is the dialog's own: sent again, it is done once. */
type Written = { readonly reason: string; readonly amount: string; readonly once: string };

/** A decision names the version that was shown; without an amount, all of it is meant. */
export function requestOf(
  action: Action,
  { line: { order }, version }: Shown,
  { reason, amount, once }: Written,
) {
  const input = { order, reason, once, ...givenAmount(amount) };
  const settle = (outcome: "done" | "not-done") =>
    ["POST /orders/settle/:order", { order, reason, version, outcome }] as const;
  if (action === "resend") return ["POST /callbacks/resend", { order, reason }] as const;
  if (action === "capture") return ["POST /orders/capture/:order", input] as const;
  if (action === "return") return ["POST /orders/return/:order", input] as const;
  if (action === "ask") return ["POST /orders/ask/:order", { order, reason, version }] as const;
  return settle(action === "settle-done" ? "done" : "not-done");
}

export function givenAmount(text: string): { readonly amount?: string } {
  return text.trim() === "" ? {} : { amount: text.trim() };
}
