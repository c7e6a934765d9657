/**
 * Makes requests as bytes before the clock starts, so that checksums and card numbers cost the load
 * generator no time while it measures.
 */
import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import { type FormPair, writeForm } from "@tollgate/protocols/form";

/** The merchant and the endpoint that receive the requests. */
export type Target = {
  readonly port: number;
  readonly endpoint: string;
  readonly login: string;
  readonly controlKey: string;
};

export type OrderName = { readonly clientOrderId: string; readonly orderId: string };

/** A token of a wallet, which pays once. */
export type WalletToken = {
  readonly type: "walleta_encrypted" | "walletb_encrypted";
  readonly text: string;
};

type Orders = { readonly orders: readonly OrderName[] };
type Callbacks = {
  /** The URL for the result of the first transaction. */
  readonly callbackUrl?: string | undefined;
  /** The URL for the results of captures and refunds as well. */
  readonly notifyUrl?: string | undefined;
};
type Payments = Callbacks & { readonly prefix: string; readonly count: number };
type References = { readonly references: readonly string[] };

/** The content of the requests of one job. */
export type Batch =
  | (Payments & { readonly kind: "sale" | "sync_sale" | "preauth" })
  | (Callbacks & {
      readonly kind: "wallet_sale";
      readonly prefix: string;
      readonly tokens: readonly WalletToken[];
    })
  | (Payments & References & { readonly kind: "rebill" })
  | (Orders & { readonly kind: "capture" | "refund" | "poll" | "card_reference" | "method_id" })
  /** Reports that the issuer's method has run; the ids are those of the authentications. */
  | (Orders & { readonly kind: "method_upload"; readonly transactionIds: readonly string[] })
  | (References & { readonly kind: "card_info" });

export type Requests = {
  readonly count: number;
  bytesOf(index: number): Uint8Array;
  /** Matches the expected reply; its group is the wanted part of the reply. */
  readonly reply: RegExp;
};

const acknowledgement = /^type=async-response&.*?gw-order-id=(\d+)/;
const approval = /^type=status-response&.*?gw-order-id=(\d+)&status=approved&/;

/** Tokens contain an amount, so every wallet sale has the same. */
const walletMinor = 1_042;

export function makeRequests(target: Target, batch: Batch): Requests {
  const pack = makePack(target);
  switch (batch.kind) {
    case "sale":
    case "sync_sale":
    case "preauth": {
      const { prefix, count } = batch;
      const { operation, reply } = payments[batch.kind];
      return pack(operation, count, reply, (index) => [
        ...payerPairs(target, { prefix, index, minor: minorOf(index) }),
        ...cardPairs(payerOf(prefix, index)),
        ...callbackPairs(batch),
      ]);
    }
    case "wallet_sale": {
      const { prefix, tokens } = batch;
      return pack("sale", tokens.length, acknowledgement, (index) => [
        ...payerPairs(target, { prefix, index, minor: walletMinor }),
        ["payment_data", Buffer.from(tokens[index]?.text ?? "").toString("base64")],
        ["payment_data_type", tokens[index]?.type ?? ""],
        ...callbackPairs(batch),
      ]);
    }
    case "rebill": {
      const { prefix, count, references } = batch;
      return pack("make-rebill", count, acknowledgement, (index) => [
        ...rebillPairs(target, clientOrderIdOf(prefix, index), {
          reference: references[index % references.length] ?? "",
          minor: minorOf(index),
        }),
        ...callbackPairs(batch),
      ]);
    }
    case "card_info": {
      const { references } = batch;
      const reply = /^type=get-card-info-response&/;
      return pack("get-card-info", references.length, reply, (index) => [
        ["login", target.login],
        ["cardrefid", references[index] ?? ""],
        ["control", hash("sha1", target.login + references[index] + target.controlKey)],
      ]);
    }
    case "method_upload": {
      const { orders, transactionIds } = batch;
      return pack("upload-method-url-result", orders.length, acknowledgement, (index) => [
        ["client-order-id", orders[index]?.clientOrderId ?? ""],
        ["threeDSServerTransID", transactionIds[index] ?? ""],
        ...browserPairs,
        ...orderPairs(target, orders[index]),
      ]);
    }
    default: {
      const { orders, kind } = batch;
      const { operation, reply } = questions[kind];
      return pack(operation, orders.length, reply, (index) => [
        ["client_orderid", orders[index]?.clientOrderId ?? ""],
        ...orderPairs(target, orders[index]),
      ]);
    }
  }
}

const payments = {
  sale: { operation: "sale", reply: acknowledgement },
  sync_sale: { operation: "sync/sale", reply: approval },
  preauth: { operation: "preauth", reply: acknowledgement },
};

const questions = {
  capture: { operation: "capture", reply: acknowledgement },
  refund: { operation: "return", reply: acknowledgement },
  poll: { operation: "status", reply: /&status=approved&/ },
  method_id: { operation: "status", reply: /3ds-server-trans-id=([0-9a-f-]{36})/ },
  card_reference: { operation: "create-card-ref", reply: /card-ref-id=(\d+)/ },
};

const mintersMax = 8;

/** Returns different tokens of the sandbox bank, of both wallets in turn. */
export async function mintTokens(bankUrl: string, count: number): Promise<readonly WalletToken[]> {
  const tokens: WalletToken[] = [];
  const card = { pan: "4111111111111111", expirationYear: 2039, expirationMonth: 12 };
  const payment = { ...card, amount: walletMinor, currency: "USD" };
  let next = 0;
  await Promise.all(Array.from({ length: mintersMax }, mintSome));
  return tokens;

  async function mintSome(): Promise<void> {
    for (let index = next++; index < count; index = next++) {
      const wallet = index % 2 === 0 ? "walleta" : "walletb";
      const method = wallet === "walletb" ? { authMethod: "CRYPTOGRAM_3DS" } : {};
      const answer = await fetch(`${bankUrl}/wallets/${wallet}`, {
        method: "POST",
        body: JSON.stringify({ ...payment, ...method }),
      });
      if (!answer.ok) throw new Error(`the bank mints no token: ${await answer.text()}`);
      tokens.push({ type: `${wallet}_encrypted`, text: await answer.text() });
    }
  }
}

export function clientOrderIdOf(prefix: string, index: number): string {
  return `${prefix}-${index}`;
}

/** Returns amounts over a range of a hundred dollars. */
function minorOf(index: number): number {
  return 100 + (index % 9_900);
}

/**
 * Returns one of ten thousand payers, each with a card and an address. Each job begins with another
 * one, so that a returning payer pays another amount.
 */
function payerOf(prefix: string, index: number): number {
  return (index + crc32(prefix)) % 10_000;
}

function amountOf(minor: number): string {
  return `${Math.floor(minor / 100)}.${String(minor % 100).padStart(2, "0")}`;
}

function callbackPairs({ callbackUrl, notifyUrl }: Callbacks): readonly FormPair[] {
  const pairs = [["server_callback_url", callbackUrl] as const, ["notify_url", notifyUrl] as const];
  return pairs.flatMap(([name, url]) => (url === undefined ? [] : [[name, url] as const]));
}

/**
 * Returns the fields of every request about an order, except for the client order id, whose name
 * varies.
 */
function orderPairs({ login, controlKey }: Target, order: OrderName | undefined): FormPair[] {
  const { clientOrderId = "", orderId = "" } = order ?? {};
  return [
    ["login", login],
    ["orderid", orderId],
    ["control", hash("sha1", login + clientOrderId + orderId + controlKey)],
  ];
}

const browserPairs: readonly FormPair[] = [
  ["threeDSCompInd", "Y"],
  ["browserJavascriptEnabled", "true"],
  ["browserJavaEnabled", "false"],
  ["browserLanguage", "en-GB"],
  ["browserColorDepth", "24"],
  ["browserTZ", "-60"],
  ["browserScreenHeight", "1080"],
  ["browserScreenWidth", "1920"],
  ["browserUserAgent", "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/140.0"],
  ["browserAcceptHeader", "text/html,application/xhtml+xml,*/*;q=0.8"],
];

function rebillPairs(
  { endpoint, login, controlKey }: Target,
  clientOrderId: string,
  { reference, minor }: { readonly reference: string; readonly minor: number },
): readonly FormPair[] {
  const signed = `${endpoint}${login}${clientOrderId}${reference}${minor}USD${controlKey}`;
  return [
    ["client_orderid", clientOrderId],
    ["login", login],
    ["cardrefid", reference],
    ["order_desc", "A recurrent payment of the load benchmark"],
    ["amount", amountOf(minor)],
    ["currency", "USD"],
    ["ipaddress", "203.0.113.7"],
    ["control", hash("sha1", signed)],
  ];
}

function payerPairs(
  target: Target,
  { prefix, index, minor }: { prefix: string; index: number; minor: number },
): readonly FormPair[] {
  const clientOrderId = clientOrderIdOf(prefix, index);
  const payer = payerOf(prefix, index);
  const email = `jane${payer}@example.com`;
  const signed = `${target.endpoint}${clientOrderId}${minor}${email}${target.controlKey}`;
  return [
    ["client_orderid", clientOrderId],
    ["order_desc", "An order of the load benchmark"],
    ["amount", amountOf(minor)],
    ["currency", "USD"],
    ["email", email],
    ["ipaddress", `198.18.${payer >> 8}.${payer & 255}`],
    ["first_name", "Jane"],
    ["last_name", "Doe"],
    ["address1", "1 Main Street"],
    ["city", "Springfield"],
    ["state", "IL"],
    ["zip_code", "62701"],
    ["country", "US"],
    ["phone", "+1 555 0100"],
    // This field is mandatory if 3-D Secure is possible.
    ["redirect_url", "https://shop.example/return"],
    ["control", hash("sha1", signed)],
  ];
}

/** Returns the request for a payment page: a sale without its card. */
export function formPairs(target: Target, prefix: string, index: number): readonly FormPair[] {
  return payerPairs(target, { prefix, index, minor: minorOf(index) });
}

/** Returns a card with the field names of the payment page. */
export function payingCard(prefix: string, index: number): readonly FormPair[] {
  return [
    ["cc-number", cardNumberOf(payerOf(prefix, index))],
    ["cc-exp-month", "12"],
    ["cc-exp-year", "39"],
    ["cc-csc", "123"],
    ["cc-name", "JANE DOE"],
  ];
}

function cardPairs(index: number): readonly FormPair[] {
  return [
    ["credit_card_number", cardNumberOf(index)],
    ["card_printed_name", "JANE DOE"],
    ["expire_month", "12"],
    ["expire_year", "2039"],
    ["cvv2", "123"],
  ];
}

/** Returns a card number: 411111, nine digits that make it unique, and the Luhn check digit. */
export function cardNumberOf(index: number): string {
  const digits = `411111${String(index % 1_000_000_000).padStart(9, "0")}`;
  let sum = 0;
  for (let at = 0; at < digits.length; at += 1) {
    // With the check digit there are sixteen, so every digit at an even place is doubled.
    const value = Number(digits[at]) * (at % 2 === 0 ? 2 : 1);
    sum += value > 9 ? value - 9 : value;
  }
  return `${digits}${(10 - (sum % 10)) % 10}`;
}

/**
 * Packs all requests into one buffer, because a hundred thousand small ones would slow the garbage
 * collector.
 */
function makePack({ port, endpoint }: Target) {
  return (
    operation: string,
    count: number,
    reply: RegExp,
    pairsOf: (index: number) => readonly FormPair[],
  ): Requests => {
    const version = operation.startsWith("upload-") ? "3ds/v1" : "v2";
    const head =
      `POST /gw/api/${version}/${operation}/${endpoint} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n` +
      "content-type: application/x-www-form-urlencoded\r\ncontent-length: ";
    const starts = new Uint32Array(count + 1);
    const texts = Array.from({ length: count }, (_, index) => {
      const body = writeForm(pairsOf(index));
      const text = `${head}${body.length}\r\n\r\n${body}`;
      starts[index + 1] = (starts[index] ?? 0) + text.length;
      return text;
    });
    const bytes = Buffer.from(texts.join(""), "latin1");
    return { count, reply, bytesOf: (at) => bytes.subarray(starts[at], starts[at + 1]) };
  };
}
