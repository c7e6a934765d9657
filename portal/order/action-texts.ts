/** The actions on an order: which are offered, their texts and the requests that perform them. */
import { stateOf } from "../callbacks/delivery-query.ts";
import { wordIn } from "../language/rows.ts";
import type { Messages } from "../language/texts.ts";
import type { InputOf, OutputOf } from "../shell/call.ts";
import type { OrderDetail } from "./order-texts.ts";

type Decision = OrderDetail["may"]["settle"][number];
export type Action = Move | "resend" | Decision;
const moves = ["capture", "return", "void"] as const;
type Move = (typeof moves)[number];
export type Preview = OutputOf<"POST /orders/preview/:order">;

export function actionsFor({ may }: Pick<OrderDetail, "may">): readonly Action[] {
  return [...([...moves, "resend"] as const).filter((name) => may[name]), ...may.settle];
}

export function isDecision(action: Action): action is Decision {
  return action === "ask" || action === "settle-done" || action === "settle-not-done";
}

function isMove(action: Action): action is Move {
  return moves.some((move) => move === action);
}

/** The user types the amount to confirm an action that cannot be undone. */
export function isIrreversible(action: Action): boolean {
  return action !== "capture" && action !== "resend" && action !== "ask";
}

type MoneyText = { readonly text: string; readonly currency: string };
type Amounts = { readonly most: MoneyText | undefined; readonly whole: MoneyText };

/** The amount that the user wants to move, or types to confirm a decision about doubt. */
export function amountField(action: Action, { most, whole }: Amounts, messages: Messages) {
  const { amount, amountHints, typeAmount, typeAmountHint } = messages;
  if (action === "resend" || action === "ask") return undefined;
  if (isDecision(action)) return { label: typeAmount, description: typeAmountHint(moneyOf(whole)) };
  return { label: amount, description: most && amountHints[action](moneyOf(most)) };
}

/** Trailing zeros of the typed amount may be missing, and a comma is read as a decimal point. */
export function isConfirmed(
  action: Action,
  typed: string,
  { amount }: { readonly amount: Pick<MoneyText, "text"> },
): boolean {
  if (!isIrreversible(action)) return true;
  const given = typed.trim().replace(",", ".");
  if (isMove(action)) return given !== "";
  return /^\d+(\.\d*)?$/.test(given) && Number(given) === Number(amount.text);
}

export type Done = {
  readonly action: Action;
  /** The serial number of the transaction that the action began. */
  readonly serialNumber?: string;
  /** The number of callbacks that the action sends again. */
  readonly count?: number;
  readonly resentAt?: number;
};

type Outcomes = Pick<OrderDetail, "line" | "transactions" | "callbacks">;

/** `status` is the order status in whose colour the text is shown. */
export function confirmationOf(
  { action, serialNumber, count = 0, resentAt = 0 }: Done,
  { line, transactions, callbacks }: Outcomes,
  messages: Messages,
): { readonly text: string; readonly status: string } {
  const begun = transactions.find((each) => each.serialNumber === serialNumber);
  if (begun !== undefined) {
    const { kind, amount, status, reason = "" } = begun;
    const what = `${wordIn(messages.types, kind)} ${moneyOf(amount)}`;
    const word = wordIn(messages.statuses, status);
    if (status === "processing") return { text: messages.onItsWay(what), status };
    return {
      text: [what, word, reason && messages.reasonOf(reason)].filter(Boolean).join(": "),
      status,
    };
  }
  if (action === "resend") {
    const sent = callbacks.filter(({ callback }) => (callback.resentAt ?? 0) >= resentAt);
    const countOf = (state: string) =>
      sent.filter(({ callback }) => stateOf(callback) === state).length;
    const [delivered, failing] = [countOf("delivered"), countOf("failing")];
    const failed = failing === 0 ? "" : ` ${messages.resendFailed(failing)}`;
    const status = failing > 0 ? "declined" : delivered === count ? "approved" : "processing";
    const done = `${messages.actions.resend}: ${messages.resendDone(delivered, count)}.`;
    return { text: `${done}${failed}`, status };
  }
  const { status } = line;
  if (!isDecision(action) || action === "ask") return { text: messages.decided.asked, status };
  return {
    text: messages.settled(messages.decisions[action], wordIn(messages.statuses, status)),
    status,
  };
}

export function whyNot(
  preview: Preview | undefined,
  { refusalOf, atMost }: Messages,
): string | undefined {
  const { why, code = "", most } = preview ?? {};
  if (why === undefined) return undefined;
  const refusal = refusalOf(code, why);
  // The maximum amount is added to the German text. Only the English sentence contains it.
  if (code !== "amount_out_of_range" || refusal === why) return refusal;
  return `${refusal}. ${atMost(moneyOf(most))}`;
}

function moneyOf(money: MoneyText | undefined): string {
  return money === undefined ? "" : `${money.text} ${money.currency}`;
}

export function amountOf(preview: Preview | undefined): string {
  return moneyOf(preview?.amount);
}

/** Explains a decision about doubt. For a payout, the text also says what to ask the acquirer. */
export function hintOf(
  action: Decision,
  { transactions }: Pick<OrderDetail, "transactions">,
  { decisionHints, askAboutPayout }: Messages,
): string {
  const payout = transactions.find(({ kind }) => kind === "payout");
  if (payout === undefined || action === "ask") return decisionHints[action];
  const { amount, reference = "", trace = "", terminal = "" } = payout;
  const question = askAboutPayout(moneyOf(amount), reference, trace, terminal);
  return `${question} ${decisionHints[action]}`;
}

/** Describes what the action would do if the user performed it now. */
export function outcomeOf(action: Action, { of, becomes }: Preview, messages: Messages): string {
  const { begins, decided } = messages;
  if (action === "capture") return begins.capture;
  if (action === "void") return begins.void;
  if (!isDecision(action)) return begins[of === "cancel" ? "cancel" : "refund"];
  if (action === "ask") return decided.asked;
  if (becomes === undefined) return decided.stays;
  if (of === "payout" && becomes === "approved") return decided.paidOut;
  if (of === "void") return becomes === "approved" ? decided.voided : decided.notVoided;
  return decided[becomes];
}

type Shown = { readonly line: { readonly order: string }; readonly version: number };
/** The gateway performs an action once for each token `once`, even if the request is repeated. */
type Written = { readonly reason: string; readonly amount: string; readonly once: string };

/** The gateway's names of the actions. */
const performed = {
  "capture": "order capture",
  "return": "order return",
  "void": "order void",
  "resend": "callback resend",
  "ask": "doubt ask",
  "settle-done": "doubt settle",
  "settle-not-done": "doubt settle",
} as const satisfies Readonly<Record<Action, string>>;

/** A decision about doubt names the version that the user saw. No amount means the whole amount. */
export function requestOf(
  action: Action,
  { line: { order }, version }: Shown,
  { reason, amount, once }: Written,
): InputOf<"POST /actions/run"> {
  const request = { action: performed[action], reason };
  if (isMove(action)) return { ...request, values: { order, ...givenAmount(amount) }, once };
  if (action === "resend") return { ...request, values: { order } };
  if (action === "ask") return { ...request, values: { order }, seen: version };
  const as = action === "settle-done" ? "done" : "not-done";
  return { ...request, values: { order, as }, seen: version };
}

export function givenAmount(text: string): { readonly amount?: string } {
  return text.trim() === "" ? {} : { amount: text.trim() };
}
