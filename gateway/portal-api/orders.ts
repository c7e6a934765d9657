/**
 * Orders for the portal: pages of orders by filters and search, one order with its history, and
 * previews of a capture, a return, a void or a decision about doubt. Orders contain no card number
 * and no CVV, and events are shown only with the facts that `timeline.ts` lists.
 */
import type { Advance } from "../orders/advance.ts";
import { followUpEvents } from "../orders/events.ts";
import { describeRefusal, mostOf, readMovedAmount } from "../orders/movable.ts";
import type { FollowUpTerms, Order } from "../orders/order.ts";
import { stagesInDoubt } from "../orders/stages.ts";
import { followUp, refundPolicyNow, totalsOf, transactionsOf } from "../orders/transactions.ts";
import type { PortalReads } from "../storage/portal/portal-reads.ts";
import { Failure } from "../values/failure.ts";
import { asSerialNumber } from "../values/ids.ts";
import { getCurrency } from "../values/iso-codes.ts";
import { Money } from "../values/money.ts";
import { Problem } from "../values/problem.ts";
import { hasRight } from "../values/roles.ts";
import type { Instant } from "../values/time.ts";
import { statusOf, wireStageOf } from "../views/status.ts";
import { refusalOf } from "./administration.ts";
import type { Handlers } from "./api.ts";
import { csvHeader, writeCsv } from "./csv.ts";
import { decisionsFor, previewDecision } from "./doubt.ts";
import {
  describeOrder,
  filterNames,
  personInSearch,
  wordOf,
  wordsOfSearch,
} from "./order-index.ts";
import {
  type Configured,
  type HistoryEntry,
  loginOf,
  merchantFor,
  type OrderLineRow,
  type StoredAttempt,
  type StoredCallback,
} from "./reads.ts";
import { type Caller, notFound, PortalRefusal } from "./route.ts";
import { type OrderDetailView, type OrderLineView, readCursor, viewMoney } from "./shapes.ts";
import {
  curlOf,
  mayBeNamed,
  sentFieldsOf,
  type TimelineOptions,
  viewTimeline,
} from "./timeline.ts";

export type OrderOptions = TimelineOptions & {
  readonly reads: PortalReads;
  readonly configured: () => Configured;
  /** Returns the URL to which merchants send their requests. */
  readonly merchantAddress: () => string;
  readonly receiptPathOf: (order: Order) => string | undefined;
  /** Returns the step that an operator's decision about an order in doubt would commit. */
  readonly advance: Advance;
  /** Signs the position where an export continues, so that browsers cannot invent a position. */
  readonly tokenOf: (text: string) => string;
  readonly isToken: (text: string, token: string) => boolean;
  readonly recordExport: (actor: Caller["actor"], filters: object) => Promise<void>;
};

const usualLimit = 50;
const inventedCursor = new PortalRefusal(
  400,
  "invalid_input",
  "This part does not follow one of your export.",
);

export function orderHandlers(options: OrderOptions) {
  const { reads, configured, recordExport } = options;

  return {
    async "GET /orders"(input, caller) {
      const { limit = usualLimit } = input;
      const query = queryOf(input, caller, limit);
      if (query === undefined) return { orders: [] };
      const rows = await reads.listOrders(query);
      const orders = rows.map(makeLine(configured(), caller));
      const last = rows.length === limit ? rows.at(-1) : undefined;
      return { orders, ...(last && { next: writeCursor(last) }) };
    },

    async "GET /exports/orders"(input, caller) {
      const { after: signed, search, ...chosen } = input;
      const [after, token = ""] = signed?.split("~") ?? [];
      // The signature covers the position, the user and the filters, so that it is valid only for
      // the next part of the same export.
      const textOf = (cursor: string) =>
        `portal-export/${caller.account.id}/${JSON.stringify([search, chosen])}/${cursor}`;
      if (after !== undefined && !options.isToken(textOf(after), token)) return inventedCursor;
      const query = queryOf({ ...input, after }, caller, exportedTogether);
      if (query === undefined) return { csv: csvHeader, rows: 0 };
      // The audit records only that there was a search, because its text may be an email address.
      const isSearched = search !== undefined && { isSearched: true };
      await recordExport(caller.actor, { ...chosen, ...isSearched, ...(after && { after }) });
      const { rows, end } = await reads.scanOrders(query);
      const lines = rows.map(makeLine(configured(), caller));
      const csv = (after === undefined ? csvHeader : "") + writeCsv(lines);
      const next = end && writeCursor(end);
      const signedNext = next && { next: `${next}~${options.tokenOf(textOf(next))}` };
      return { csv, rows: lines.length, ...signedNext };
    },

    async "GET /filters"(_, caller) {
      const { merchants, endpoints, gates } = configured();
      const isOwn = (id: string) => caller.merchantId === undefined || caller.merchantId === id;
      const own = [...endpoints.values()].filter(({ merchant }) => isOwn(merchant.id));
      return {
        merchants: merchants
          .filter(({ id }) => isOwn(id))
          .map(({ login, name }) => ({ login, name })),
        endpoints: own.map(({ id, name, currency }) => ({ id, name, currency })),
        gates: isOperator(caller) ? [...gates.values()].map(({ id, name }) => ({ id, name })) : [],
        currencies: [...new Set(own.map(({ currency }) => currency))].sort(),
      };
    },

    async "GET /orders/:order"({ order: id }, caller) {
      const order = await reads.findOrder(id, caller.merchantId);
      if (order === undefined) return notFound;
      const [history, { rows: callbacks }, attempts] = await Promise.all([
        reads.findHistory(order),
        reads.listCallbacks({
          merchantId: order.merchantId,
          orderId: order.id,
          state: undefined,
          after: undefined,
          limit: 100,
        }),
        reads.findAttempts(order),
      ]);
      return describeDetail({ order, history, callbacks, attempts }, caller, options);
    },
  } satisfies Partial<Handlers>;

  /** Returns undefined if the merchant in the filters does not exist. */
  function queryOf(input: OrderFilters, caller: Caller, limit: number) {
    const { search = "", from, until, after } = input;
    const words = filterNames.map((name) =>
      (input[name] ?? []).map((value) => wordOf(name, value)),
    );
    const found = { words: wordsOfSearch(search), person: personInSearch(search) };
    const merchantId = merchantFor(caller, configured(), input.merchant);
    if (merchantId === null) return undefined;
    const cursor = readCursor(after);
    const last = cursor && { at: cursor.at, orderId: cursor.id };
    const searched = search.trim() === "" ? {} : { search: found };
    return { merchantId, words, ...searched, from, until, after: last, limit };
  }
}

export function previewHandlers({ reads, advance, configured }: OrderOptions) {
  return {
    async "POST /orders/preview/:order"({ order: id, action, amount }, caller) {
      const order = await reads.findOrder(id, caller.merchantId);
      if (order === undefined) return notFound;
      const money = readMovedAmount(order, amount);
      if (money instanceof Problem) return refusalOf(money);
      if (action !== "capture" && action !== "return" && action !== "void")
        return previewDecision(order, action, { caller, advance });
      const asked = { operation: action, amount: money, comment: undefined };
      const begun = previewOf(order, asked, configured(), caller.now);
      const whole = mostOf(order, action);
      const most = viewMoney(whole);
      if (begun instanceof Failure) {
        return { isAllowed: false, why: describeRefusal(begun, whole), code: begun.code, most };
      }
      return { isAllowed: true, of: begun.kind, amount: viewMoney(begun.amount), most };
    },
  } satisfies Partial<Handlers>;
}

type OrderFilters = Parameters<Handlers["GET /orders"]>[0];
const exportedTogether = 5_000;

export function isOperator({ merchantId }: Caller): boolean {
  return merchantId === undefined;
}

function writeCursor({ at, orderId }: { readonly at: number; readonly orderId: string }): string {
  return `${at}-${orderId}`;
}

function makeLine({ merchants, gates }: Configured, caller: Caller) {
  const logins = new Map<string, string>(merchants.map(({ id, login }) => [id, login]));
  return (row: OrderLineRow): OrderLineView => ({
    order: row.orderId,
    clientOrder: row.clientOrderId,
    at: row.at,
    merchant: logins.get(row.merchantId) ?? "",
    endpoint: row.endpointId,
    type: row.kind,
    stage: row.stage,
    status: row.status,
    reason: row.reason,
    threeds: row.threeds,
    amount: viewMoney(new Money(BigInt(row.amount), getCurrency(row.currency))),
    network: row.network,
    lastFour: row.lastFour,
    email: row.email,
    name: row.name,
    gate: isOperator(caller) ? (gates.get(row.gate)?.name ?? row.gate) : "",
    reference: row.reference,
  });
}

type Found = {
  readonly order: Order;
  readonly history: readonly HistoryEntry[];
  readonly callbacks: readonly StoredCallback[];
  readonly attempts: readonly StoredAttempt[];
};

async function describeDetail(
  { order, history, callbacks, attempts }: Found,
  caller: Caller,
  options: OrderOptions,
): Promise<OrderDetailView> {
  const configured = options.configured();
  const { held, charged, returned, chargedBack, left } = totalsOf(order);
  const receipt = options.receiptPathOf(order);
  return {
    line: makeLine(configured, caller)(describeOrder(order)),
    version: order.version,
    request: sentFieldsOf(order),
    curl: curlOf(order, options.merchantAddress()),
    seen: await options.statusTextOf(order),
    transactions: transactionsOf(order).map((each) => viewTransaction(each, configured, caller)),
    timeline: await viewTimeline(order, history, {
      ...options,
      gates: configured.gates,
      isOperator: isOperator(caller),
    }),
    callbacks: callbacks.map((callback) => ({
      callback: viewCallback(callback, configured, caller),
      attempts: attempts
        .filter(({ sequence }) => sequence === callback.sequence)
        .map((attempt) => viewAttempt(attempt, caller)),
    })),
    totals: {
      held: viewMoney(held),
      charged: viewMoney(charged),
      returned: viewMoney(returned),
      chargedBack: viewMoney(chargedBack),
      left: viewMoney(left),
    },
    may: mayOf(order, callbacks, configured, caller),
    ...(receipt === undefined ? {} : { receipt }),
  };
}

function mayOf(
  order: Order,
  callbacks: readonly StoredCallback[],
  configured: Configured,
  caller: Caller,
) {
  const { role } = caller.account;
  const can = (operation: FollowUpTerms["operation"]) =>
    hasRight(role, "move_money") &&
    !(
      previewOf(
        order,
        { operation, amount: undefined, comment: undefined },
        configured,
        caller.now,
      ) instanceof Failure
    );
  return {
    capture: can("capture"),
    return: can("return"),
    void: can("void"),
    settle: hasRight(role, "move_money") ? decisionsFor(order, caller) : [],
    resend: hasRight(role, "resend_callbacks") && callbacks.length > 0,
  };
}

/** Returns what a capture, a return or a void would begin now, or why it would be refused. */
function previewOf(order: Order, request: FollowUpTerms, { endpoints }: Configured, now: Instant) {
  const refunds = refundPolicyNow(endpoints.get(order.endpointId), order);
  const serialNumber = asSerialNumber("00000000-0000-0000-0000-000000000000");
  const kind = followUpEvents[request.operation];
  return followUp(order, { kind, serialNumber, request, ...(refunds && { refunds }) }, now);
}

function viewTransaction(transaction: Order["transaction"], { gates }: Configured, caller: Caller) {
  const { kind, stage, amount, serialNumber, identifiers, answer, reason, finishedAt } =
    transaction;
  const status = stagesInDoubt.includes(stage) ? "in_doubt" : statusOf(stage);
  return {
    kind,
    stage: wireStageOf(kind, stage),
    status,
    serialNumber,
    amount: viewMoney(amount),
    ...(identifiers && {
      reference: identifiers.reference,
      trace: identifiers.traceNumber,
      terminal: identifiers.gate.terminalId,
      ...(isOperator(caller) && {
        gate: gates.get(identifiers.gate.id)?.name ?? identifiers.gate.id,
        choice: identifiers.gate.choice,
      }),
    }),
    ...(answer && { responseCode: answer.responseCode }),
    ...(answer?.approvalCode && { approvalCode: answer.approvalCode }),
    ...(reason && { reason: reason.code }),
    ...(finishedAt && { finishedAt }),
  };
}

export function viewCallback(callback: StoredCallback, configured: Configured, caller: Caller) {
  const { merchantId, orderId, nextAt, endedAt, resentAt, resentBy, ...rest } = callback;
  const { lastStatus, lastFailure, ...known } = rest;
  return {
    ...known,
    order: orderId,
    merchant: loginOf(configured, merchantId),
    ...(nextAt !== null && { nextAt }),
    ...(endedAt !== null && { endedAt }),
    ...(resentAt !== null && { resentAt }),
    ...(resentBy !== null && mayBeNamed(resentBy, isOperator(caller)) && { resentBy }),
    ...(lastStatus !== null && { lastStatus }),
    ...(lastFailure !== null && { lastFailure }),
  };
}

/**
 * The checksum is shortened, because a merchant's user could use a full one to present a forged
 * callback to the shop as genuine. Only operators see the receiver's answer, because the callback's
 * URL may point at a server that a merchant's user must not read.
 */
export function viewAttempt(
  { node: _, status, failure, url, body, answer, ...attempt }: StoredAttempt,
  { merchantId }: Pick<Caller, "merchantId">,
) {
  return {
    ...attempt,
    url: hideControl(url),
    body: hideControl(body),
    ...(merchantId === undefined && { answer }),
    ...(status !== null && { status }),
    ...(failure !== null && { failure }),
  };
}

function hideControl(text: string): string {
  return text.replaceAll(/(\bcontrol"?[=:]"?[0-9a-f]{6})[0-9a-f]{34}/gi, "$1…");
}
