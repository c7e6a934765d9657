/**
 * The portal's sandbox screen: test payments through the merchant interface, the sandbox's
 * switches, and its ledger next to the gateway's orders. Only staging loads it.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { writeForm } from "@tollgate/protocols/form";
import { type HttpRoute, redirectTo } from "../http/router.ts";
import type { Order } from "../orders/order.ts";
import { totalsOf } from "../orders/transactions.ts";
import { PortalRefusal } from "../portal-api/route.ts";
import type { SandboxHandlers } from "../portal-api/sandbox-routes.ts";
import { viewMoney } from "../portal-api/shapes.ts";
import type { PortalReads } from "../storage/portal/portal-reads.ts";
import { getCurrency } from "../values/iso-codes.ts";
import { Money } from "../values/money.ts";
import { Problem } from "../values/problem.ts";
import {
  type ExampleRequest,
  firstSale,
  makeRequests,
  portalUrlOf,
  type Shop,
  withWallet,
} from "./example-sale.ts";
import { shopUrl, type TestCard } from "./welcome-page.ts";

type Sandbox = Shop & {
  readonly sandboxUrl: string;
  /** The ids by name. */
  readonly endpoints: Readonly<Record<string, string>>;
};

type SandboxOptions = {
  /** Returns undefined before `npm start` has made the demonstration merchant. */
  readonly findSandbox: () => Promise<Sandbox | undefined>;
  readonly reads: Pick<PortalReads, "listOrders" | "findOrder">;
};

/**
 * A browser returns from 3-D Secure with a post, while the portal's pages are requested with GET.
 */
export const backToPortal: HttpRoute = {
  method: "POST",
  path: "/portal/orders",
  answer: async ({ url }) =>
    redirectTo(`/portal/orders${URL.parse(url, "http://gateway")?.search ?? ""}`),
};

const sandboxAnswersWithinMs = 5_000;
const ordersCompared = 50;
const entriesCompared = 2_000;

const noSandbox = new PortalRefusal(
  409,
  "no_sandbox",
  "There is no demonstration merchant. Start the gateway with npm start.",
);
const noCard = new PortalRefusal(400, "invalid_input", "This is no test card or endpoint.");

export function sandboxHandlers({ findSandbox, reads }: SandboxOptions): SandboxHandlers {
  const within = <Input, Output>(
    work: (sandbox: Sandbox, input: Input) => Promise<Output | PortalRefusal>,
  ) => {
    return async (input: Input): Promise<Output | PortalRefusal> => {
      const sandbox = await findSandbox();
      if (sandbox === undefined) return noSandbox;
      return work(sandbox, input).catch((error: unknown) => {
        if (isConnectionFault(error)) return sandboxIsSilent;
        throw error;
      });
    };
  };

  return {
    "GET /sandbox": within(async ({ sandboxUrl, endpoints }) => {
      const [cards, table] = await Promise.all([
        ask<readonly TestCard[]>(sandboxUrl, "/scenarios"),
        ask<readonly Switch[]>(sandboxUrl, "/switch-table"),
      ]);
      const named = Object.entries(endpoints).map(([name, id]) => ({ name, id }));
      return {
        shop: shopUrl,
        cards,
        endpoints: named,
        switches: table.map(viewSwitch),
      };
    }),
    "POST /sandbox/pay": within(
      async (sandbox, { card: name, endpoint, wallet = false }: PayInput) => {
        const cards = await ask<readonly TestCard[]>(sandbox.sandboxUrl, "/scenarios");
        const card = cards.find((each) => each.name === name)?.card;
        if (card === undefined || !Object.values(sandbox.endpoints).includes(endpoint)) {
          return noCard;
        }
        const clientOrderId = `portal-${randomBytes(5).toString("hex")}`;
        const redirectUrl = portalUrlOf(sandbox.baseUrl, clientOrderId);
        const description = `Test card ${name}`;
        const sale = { ...firstSale, card, endpoint, clientOrderId, description, redirectUrl };
        const requests = makeRequests(sandbox, sale);
        const token = wallet ? await mintToken(sandbox.sandboxUrl, card) : undefined;
        const status = await sendSale(
          token === undefined ? requests : { ...requests, sale: withWallet(requests.sale, token) },
        );
        if (status instanceof Problem) return new PortalRefusal(409, "refused", status.sentence);
        const redirect = status.get("redirect-to");
        return {
          order: status.get("gw-order-id") ?? "",
          status: status.get("status") ?? "processing",
          ...(redirect !== null && { redirect }),
        };
      },
    ),
    "POST /sandbox/switch": within(async ({ sandboxUrl }, { name, value }: SwitchInput) => {
      const table = await ask<readonly Switch[]>(sandboxUrl, "/switch-table");
      const off = table.find((each) => each.name === name)?.off;
      const body = new URLSearchParams({ [name]: value === "" ? String(off ?? "") : value });
      const answer = await fetch(`${sandboxUrl}/switches`, {
        method: "POST",
        body,
        signal: AbortSignal.timeout(sandboxAnswersWithinMs),
      });
      if (answer.ok) return { done: true };
      const { error } = (await answer.json()) as { readonly error: string };
      return new PortalRefusal(400, "invalid_input", error);
    }),
    "GET /sandbox/ledger": within(async ({ sandboxUrl }) => {
      const { entries } = await ask<{ entries: readonly Booked[] }>(
        ...([sandboxUrl, `/ledger?last=${entriesCompared}`] as const),
      );
      const all = { words: [], from: undefined, until: undefined, after: undefined };
      const lines = await reads.listOrders({
        ...all,
        merchantId: undefined,
        limit: ordersCompared,
      });
      const found = await Promise.all(
        lines.map((line) => reads.findOrder(line.orderId, undefined)),
      );
      return {
        booked: compare(
          entries,
          found.filter((order) => order !== undefined),
        ),
      };
    }),
  };
}

type PayInput = Parameters<SandboxHandlers["POST /sandbox/pay"]>[0];
type SwitchInput = Parameters<SandboxHandlers["POST /sandbox/switch"]>[0];

const sandboxIsSilent = new PortalRefusal(503, "bank_silent", "The sandbox does not answer.");

/**
 * Recognises the forms of `fetch`: an error that has the socket's error as its cause, or the
 * signal's time-out.
 */
function isConnectionFault(error: unknown): boolean {
  if (error instanceof DOMException) return error.name === "TimeoutError";
  return error instanceof TypeError && error.cause instanceof Error;
}

async function ask<Answer>(sandboxUrl: string, path: string): Promise<Answer> {
  const answer = await fetch(sandboxUrl + path, {
    signal: AbortSignal.timeout(sandboxAnswersWithinMs),
  });
  return (await answer.json()) as Answer;
}

type Switch = {
  readonly name: string;
  readonly value: unknown;
  readonly off: unknown;
  readonly what: string;
  readonly takes: string;
};

function viewSwitch({ name, value, off, what, takes }: Switch) {
  const isFlag = typeof off === "boolean";
  const shown = value === null ? "" : String(value);
  return { name, value: shown, what, takes, isFlag, isOff: value === off };
}

/** Makes a token in the form in which a wallet's app hands it over. */
async function mintToken(sandboxUrl: string, pan: string): Promise<string> {
  const answer = await fetch(`${sandboxUrl}/wallets/walletb`, {
    method: "POST",
    body: JSON.stringify({
      pan,
      expirationYear: 2031,
      expirationMonth: 12,
      authMethod: "CRYPTOGRAM_3DS",
    }),
    signal: AbortSignal.timeout(sandboxAnswersWithinMs),
  });
  return answer.text();
}

type Booked = {
  readonly reference: string;
  readonly kind: string;
  readonly amount: number;
  readonly currency: string;
};

/** The attempts of an order differ in the last two characters of their references. */
const orderPart = (reference: string) => reference.slice(0, 10);

function compare(entries: readonly Booked[], orders: readonly Order[]) {
  const booked = Map.groupBy(entries, ({ reference }) => orderPart(reference));
  const ours = new Map(
    orders.flatMap((order) => {
      const reference = order.transaction.identifiers?.reference;
      return reference === undefined ? [] : [[orderPart(reference), order] as const];
    }),
  );
  // The entries in order of arrival. Those from before the oldest order here belong to orders that
  // are not shown.
  const parts = [...booked.keys()];
  const since = parts.findIndex((part) => ours.has(part));
  const strange = parts.slice(since < 0 ? parts.length : since).filter((part) => !ours.has(part));
  return [...strange, ...ours.keys()].slice(0, 200).map((reference) => ({
    reference,
    ...compareOne(booked.get(reference) ?? [], ours.get(reference)),
  }));
}

function compareOne(entries: readonly Booked[], order: Order | undefined) {
  const { held, standing } = order === undefined ? {} : totalsOf(order);
  const code = entries[0]?.currency ?? standing?.currency.code ?? "USD";
  const booked = balanceInLedger(entries);
  const isHeld = (held?.minor ?? 0n) > 0n;
  const own = isHeld ? held : standing;
  const isOpen = order !== undefined && (order.owed !== undefined || !isEnded(order));
  const total = isHeld ? booked.held : booked.taken;
  return {
    ...(order && { order: order.id }),
    ...(entries.length > 0 && { bank: viewMoney(new Money(total, getCurrency(code))) }),
    ...(own && { gateway: viewMoney(own) }),
    isHeld,
    isOpen,
    differs:
      !isOpen && (total !== (own?.minor ?? 0n) || (isHeld ? booked.taken : booked.held) !== 0n),
  };
}

function isEnded({ transaction: { finishedAt } }: Order): boolean {
  return finishedAt !== undefined;
}

function balanceInLedger(entries: readonly Booked[]) {
  const sum = (...kinds: readonly string[]) =>
    entries
      .filter(({ kind }) => kinds.includes(kind))
      .reduce((total, { amount }) => total + BigInt(amount), 0n);
  const given = sum("reversal", "refund");
  const held = sum("authorisation");
  // Before a capture, a reversal reduces the hold, and after it the captured money.
  const isCaptured = entries.some(({ kind }) => kind === "capture");
  if (held > 0n && !isCaptured) return { held: held - given, taken: 0n };
  return { held: 0n, taken: sum("sale", "capture") - given };
}

const askEveryMs = 60;
/** Together these are about five seconds, in which a payment with the slow test card ends. */
const askTimes = 80;
const answerWithinMs = 10_000;

/**
 * Returns the last status. It may still be `processing`, and then contains the URL on which the
 * cardholder continues.
 */
async function sendSale(
  requests: Record<"sale" | "status", ExampleRequest>,
): Promise<URLSearchParams | Problem> {
  const answer = await post(requests.sale);
  if (answer instanceof Problem) return answer;
  if (answer.get("type") !== "async-response") {
    return new Problem(
      `The gateway refused the sale: ${answer.get("error-code")} ${answer.get("error-message")}`,
    );
  }
  let status: URLSearchParams = answer;
  for (let times = 0; times < askTimes; times += 1) {
    await pause(askEveryMs);
    const asked = await post(requests.status);
    if (asked instanceof Problem) break;
    status = asked;
    if (status.get("status") !== "processing" || status.has("redirect-to")) break;
  }
  return status;
}

async function post({ url, fields }: ExampleRequest): Promise<URLSearchParams | Problem> {
  try {
    const answer = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: writeForm(fields),
      signal: AbortSignal.timeout(answerWithinMs),
    });
    // Under GW_LINE_FEEDS every value ends with a line feed.
    return new URLSearchParams((await answer.text()).replaceAll("\n", ""));
  } catch (error) {
    return new Problem(`The gateway did not answer itself at ${url}: ${String(error)}.`);
  }
}
