/**
 * An order in words: its totals and transactions, and its timeline, in which steps of the order and
 * attempts to deliver callbacks are one list.
 */
import { resultOf } from "../callbacks/delivery-query.ts";
import { wordIn } from "../language/rows.ts";
import type { Messages } from "../language/texts.ts";
import type { OutputOf } from "../shell/call.ts";

export type OrderDetail = OutputOf<"GET /orders/:order">;
export type Field = { readonly name: string; readonly value: string };
type Entry = OrderDetail["timeline"][number];

export type Step = Pick<Entry, "at" | "messages" | "rules"> & {
  readonly title: string;
  /** The fields of the merchant's status response from then on. */
  readonly seen?: readonly Field[];
  readonly facts: readonly Fact[];
  /** Whether an attempt to deliver a callback has failed. */
  readonly isFailed?: boolean;
};

/** `to` is the screen of what the value names. */
type Fact = readonly [name: string, value: string, to?: string];

type Stated = { readonly status: string };
type Statuses = {
  readonly line: Stated;
  readonly transactions: readonly Stated[];
  readonly callbacks: readonly { readonly callback: { readonly state: string } }[];
  readonly may: { readonly settle: readonly unknown[] };
};

const open: readonly string[] = ["processing", "in_doubt"];

/** Whether more will happen: to the order, to its doubt, or to the delivery of a callback. */
export function isUnfinished(detail: Statuses | undefined): boolean {
  if (detail === undefined) return false;
  const { line, transactions, callbacks, may } = detail;
  const isOpen = [line, ...transactions].some(({ status }) => open.includes(status));
  return (
    isOpen || may.settle.length > 0 || callbacks.some(({ callback }) => callback.state === "due")
  );
}

/** The first step on top. */
export function timelineOf(
  detail: Pick<OrderDetail, "timeline" | "callbacks">,
  messages: Messages,
): readonly Step[] {
  return [
    ...detail.timeline.map((entry) => showEntry(entry, messages)),
    ...resendsOf(detail, messages),
    ...attemptsOf(detail, messages),
  ].toSorted((one, other) => one.at - other.at);
}

function showEntry({ event, facts, seen, ...entry }: Entry, messages: Messages): Step {
  // The table of facts has every name that the gateway sends.
  const given = Object.entries(facts) as [keyof Entry["facts"], string][];
  return {
    ...entry,
    ...(seen !== undefined && { seen: fieldsIn(seen) }),
    title: messages.events[event],
    facts: given.map(([name, value]): Fact => {
      const shown = [messages.factNames[name], showFact(name, value, messages)] as const;
      return name === "gate" ? [...shown, `gates/${value}`] : shown;
    }),
  };
}

function showFact(name: keyof Entry["facts"], value: string, messages: Messages): string {
  if (name === "reason code") return messages.reasonOf(value);
  if (name === "gate choice") return messages.choiceOf(value);
  if (name === "cause") return wordIn(messages.causes, value);
  if (name === "request operation") return wordIn(messages.followUps, value);
  if (name === "authentication status") return wordIn(messages.threedsNames, value);
  return value;
}

function attemptsOf(
  { callbacks }: Pick<OrderDetail, "callbacks">,
  messages: Messages,
): readonly Step[] {
  const { address, duration } = messages.factNames;
  return callbacks.flatMap(({ attempts }) =>
    attempts.map(({ at, url, ms, ...attempt }) => ({
      at,
      title: messages.attemptMade(resultOf(attempt).text),
      isFailed: resultOf(attempt).isFailed,
      // What the address carries is shown with the callback.
      facts: [
        [address, url.split("?", 1).join()],
        [duration, `${ms} ms`],
      ],
    })),
  );
}

/** Callbacks that a user has had sent again at one moment are one step. */
function resendsOf(
  { callbacks }: Pick<OrderDetail, "callbacks">,
  messages: Messages,
): readonly Step[] {
  const users = new Map(
    callbacks.flatMap(({ callback: { resentAt, resentBy = "" } }) =>
      resentAt === undefined ? [] : [[resentAt, resentBy] as const],
    ),
  );
  return [...users].map(([at, by]) => ({
    at,
    title: messages.callbacksResent,
    facts: by === "" ? [] : [[messages.factNames.by, by] as const],
  }));
}

/** A rule of screening that has fired, or could not tell. */
export function ruleOf(
  { kind, scope, action, missing, facts }: NonNullable<Entry["rules"]>[number],
  messages: Messages,
): readonly [name: string, value: string] {
  const { choices, ruleKinds } = messages;
  const did = action === undefined ? messages.ruleMissing(missing ?? "") : wordIn(choices, action);
  const name = `${wordIn(ruleKinds, kind)} (${messages.ruleScopes[scope]})`;
  return [name, `${did} ${facts}`.trim()];
}

/** Some installations end each field with a line feed. */
function fieldsIn(response: string): readonly Field[] {
  const pairs = new URLSearchParams(response.replaceAll("\n", ""));
  return [...pairs].map(([name, value]) => ({ name, value }));
}

/** What the merchant saw before a step. */
export function seenBefore(steps: readonly Step[], at: number): readonly Field[] {
  return steps.slice(0, at).findLast(({ seen }) => seen !== undefined)?.seen ?? [];
}

/** Whether the merchant sees it since this step; the first reply is no news. */
export function isNews({ name, value }: Field, before: readonly Field[]): boolean {
  return before.length > 0 && before.find((field) => field.name === name)?.value !== value;
}

export function totalsOf(
  { totals }: Pick<OrderDetail, "totals">,
  messages: Messages,
): readonly Field[] {
  const names = ["held", "charged", "returned", "chargedBack", "left"] as const;
  return names.map((name) => {
    const { text, currency } = totals[name];
    return { name: messages[name], value: `${text} ${currency}` };
  });
}

type Transaction = OrderDetail["transactions"][number];
/** For those who compare the order with the merchant's log or the acquirer's. */
const technical: readonly string[] = ["stage", "serialNumber", "trace", "terminal"];

/** The facts of a transaction, as its table shows them. */
export function fieldsOf(transaction: Transaction, messages: Messages): readonly Field[] {
  return listFields(transaction, messages, (name) => !technical.includes(name));
}

/** The other facts, which are shown on demand. */
export function detailsOf(transaction: Transaction, messages: Messages): readonly Field[] {
  return listFields(transaction, messages, (name) => technical.includes(name));
}

function listFields(
  { finishedAt: _, kind: __, ...rest }: Transaction,
  messages: Messages,
  isShown: (name: string) => boolean,
): readonly Field[] {
  const { status, amount, choice, reason } = rest;
  const shown = {
    ...rest,
    amount: `${amount.text} ${amount.currency}`,
    status: wordIn(messages.statuses, status),
    ...(choice !== undefined && { choice: messages.choiceOf(choice) }),
    ...(reason !== undefined && { reason: messages.reasonOf(reason) }),
  };
  const names = Object.keys(messages.transactionFields) as (keyof typeof shown)[];
  return names.filter(isShown).flatMap((name) => {
    const value = shown[name];
    return value === undefined ? [] : [{ name: messages.transactionFields[name], value }];
  });
}
