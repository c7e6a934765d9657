/** Formats an order's totals, its transactions, and its timeline with attempts of callbacks. */
import { resultOf } from "../callbacks/delivery-query.ts";
import { wordIn } from "../language/rows.ts";
import type { Messages } from "../language/texts.ts";
import type { OutputOf } from "../shell/call.ts";

export type OrderDetail = OutputOf<"GET /orders/:order">;
export type Field = { readonly name: string; readonly value: string };
type Entry = OrderDetail["timeline"][number];

type Step = Pick<Entry, "at" | "messages" | "rules"> & {
  readonly title: string;
  /** The fields of the status response that the merchant gets after this step. */
  readonly seen?: readonly Field[];
  readonly facts: readonly Fact[];
  /** Whether the step is a failed attempt to deliver a callback. */
  readonly isFailed?: boolean;
};

/** `to` is the path of the screen that shows more about the value. */
type Fact = readonly [name: string, value: string, to?: string];

type Stated = { readonly status: string };
type Statuses = {
  readonly line: Stated;
  readonly transactions: readonly Stated[];
  readonly callbacks: readonly { readonly callback: { readonly state: string } }[];
  readonly may: { readonly settle: readonly unknown[] };
};

const open: readonly string[] = ["processing", "in_doubt"];

export function isDisputed({ timeline }: Pick<OrderDetail, "timeline">): boolean {
  return timeline.some(({ event }) => event === "charged_back");
}

/** An unfinished order may change: it is in progress, in doubt, or has a callback to deliver. */
export function isUnfinished(detail: Statuses | undefined): boolean {
  if (detail === undefined) return false;
  const { line, transactions, callbacks, may } = detail;
  const isOpen = [line, ...transactions].some(({ status }) => open.includes(status));
  return (
    isOpen || may.settle.length > 0 || callbacks.some(({ callback }) => callback.state === "due")
  );
}

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
  // `Object.entries` loses the type of the names. The gateway sends only known names of facts.
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
      // The timeline shows the URL without its query, which is on the page of the callback.
      facts: [
        [address, url.split("?", 1).join()],
        [duration, `${ms} ms`],
      ],
    })),
  );
}

/** Callbacks that a user sent again together are one step of the timeline. */
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

/** Describes a screening rule that fired, or that could not decide because a fact was not known. */
export function ruleOf(
  { kind, scope, action, missing, facts }: NonNullable<Entry["rules"]>[number],
  messages: Messages,
): readonly [name: string, value: string] {
  const { choices, ruleKinds } = messages;
  const did = action === undefined ? messages.ruleMissing(missing ?? "") : wordIn(choices, action);
  const name = `${wordIn(ruleKinds, kind)} (${messages.ruleScopes[scope]})`;
  return [name, `${did} ${facts}`.trim()];
}

/** Some installations end each field with a line feed, which is removed. */
function fieldsIn(response: string): readonly Field[] {
  const pairs = new URLSearchParams(response.replaceAll("\n", ""));
  return [...pairs].map(([name, value]) => ({ name, value }));
}

export function seenBefore(steps: readonly Step[], at: number): readonly Field[] {
  return steps.slice(0, at).findLast(({ seen }) => seen !== undefined)?.seen ?? [];
}

/** No field is new if there was no previous status response. */
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
/** Fields that users need only to compare the order with a log of the merchant or the acquirer. */
const technical: readonly string[] = ["stage", "serialNumber", "trace", "terminal"];

/** Returns the fields of a transaction that its table always shows. */
export function fieldsOf(transaction: Transaction, messages: Messages): readonly Field[] {
  return listFields(transaction, messages, (name) => !technical.includes(name));
}

/** Returns the fields of a transaction that its table shows when the user opens the row. */
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
