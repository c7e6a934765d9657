/**
 * Requests as the bytes that go over the wire, made before the clock starts: checksums and card
 * numbers must not cost the load generator anything while it measures.
 */
import { hash } from "node:crypto";
import { type FormPair, writeForm } from "@tollgate/protocols/form";

/** The merchant and the endpoint that requests are sent to. */
export type Target = {
  readonly port: number;
  readonly endpoint: string;
  readonly login: string;
  readonly controlKey: string;
};

export type OrderName = { readonly clientOrderId: string; readonly orderId: string };

export type Requests = { readonly count: number; bytesOf(index: number): Uint8Array };

export type Beginning = "sale" | "preauth";

/** An order whose issuer's method has run, by the id of its authentication. */
export type MethodName = OrderName & { readonly transactionId: string };

export function makeSaleRequests(
  target: Target,
  asked: { prefix: string; count: number; kind?: Beginning; callbackUrl?: string | undefined },
): Requests {
  const { prefix, count, kind = "sale", callbackUrl } = asked;
  const told: readonly FormPair[] =
    callbackUrl === undefined ? [] : [["server_callback_url", callbackUrl]];
  return pack(count, (index) => {
    const pairs = [...salePairs(target, clientOrderIdOf(prefix, index), index), ...told];
    return post(target.port, `/gw/api/v2/${kind}/${target.endpoint}`, writeForm(pairs));
  });
}

/** As a wallet has handed it over; each is paid with once. */
export type WalletToken = {
  readonly type: "walleta_encrypted" | "walletb_encrypted";
  readonly text: string;
};

/** Tokens name an amount, so every sale is for the same. */
export const walletMinor = 1_042;

export function makeWalletRequests(
  target: Target,
  { prefix, tokens }: { prefix: string; tokens: readonly WalletToken[] },
): Requests {
  return pack(tokens.length, (index) => {
    const { type = "walletb_encrypted", text = "" } = tokens[index] ?? {};
    const pairs = [
      ...payerPairs(target, clientOrderIdOf(prefix, index), walletMinor),
      ["payment_data", Buffer.from(text).toString("base64")] as const,
      ["payment_data_type", type] as const,
    ];
    return post(target.port, `/gw/api/v2/sale/${target.endpoint}`, writeForm(pairs));
  });
}

/** A question about an order, or what is signed like one. */
export function makeOrderRequests(
  target: Target,
  operation: "status" | "capture" | "create-card-ref",
  orders: readonly OrderName[],
): Requests {
  return pack(orders.length, (index) => {
    const { clientOrderId = "", orderId = "" } = orders[index] ?? {};
    const signed = target.login + clientOrderId + orderId + target.controlKey;
    const pairs: readonly FormPair[] = [
      ["login", target.login],
      ["client_orderid", clientOrderId],
      ["orderid", orderId],
      ["control", hash("sha1", signed)],
    ];
    return post(target.port, `/gw/api/v2/${operation}/${target.endpoint}`, writeForm(pairs));
  });
}

/** The browser is told of when the method has run, so that the issuer can be asked. */
export function makeMethodUploads(target: Target, orders: readonly MethodName[]): Requests {
  return pack(orders.length, (index) => {
    const { clientOrderId = "", orderId = "", transactionId = "" } = orders[index] ?? {};
    const signed = target.login + clientOrderId + orderId + target.controlKey;
    const pairs: readonly FormPair[] = [
      ["login", target.login],
      ["client-order-id", clientOrderId],
      ["orderid", orderId],
      ["threeDSServerTransID", transactionId],
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
      ["control", hash("sha1", signed)],
    ];
    const path = `/gw/api/3ds/v1/upload-method-url-result/${target.endpoint}`;
    return post(target.port, path, writeForm(pairs));
  });
}

/** The card's references, used one after the other. */
export function makeRebillRequests(
  target: Target,
  { prefix, count, references }: { prefix: string; count: number; references: readonly string[] },
): Requests {
  return pack(count, (index) => {
    const clientOrderId = clientOrderIdOf(prefix, index);
    const minor = 100 + (index % 9_900);
    const reference = references[index % references.length] ?? "";
    const { endpoint, login, controlKey } = target;
    const signed = `${endpoint}${login}${clientOrderId}${reference}${minor}USD${controlKey}`;
    const pairs: readonly FormPair[] = [
      ["client_orderid", clientOrderId],
      ["login", login],
      ["cardrefid", reference],
      ["order_desc", "A recurrent payment of the load benchmark"],
      ["amount", amountOf(minor)],
      ["currency", "USD"],
      ["ipaddress", "203.0.113.7"],
      ["control", hash("sha1", signed)],
    ];
    return post(target.port, `/gw/api/v2/make-rebill/${endpoint}`, writeForm(pairs));
  });
}

export function makeCardQuestions(target: Target, references: readonly string[]): Requests {
  return pack(references.length, (index) => {
    const reference = references[index] ?? "";
    const { endpoint, login, controlKey } = target;
    const pairs: readonly FormPair[] = [
      ["login", login],
      ["cardrefid", reference],
      ["control", hash("sha1", login + reference + controlKey)],
    ];
    return post(target.port, `/gw/api/v2/get-card-info/${endpoint}`, writeForm(pairs));
  });
}

export function clientOrderIdOf(prefix: string, index: number): string {
  return `${prefix}-${index}`;
}

/** Every request another order, another card and, over a hundred dollars' range, another amount. */
function salePairs(target: Target, clientOrderId: string, index: number): readonly FormPair[] {
  return [
    ...payerPairs(target, clientOrderId, 100 + (index % 9_900)),
    ["credit_card_number", cardNumberOf(index)],
    ["card_printed_name", "JANE DOE"],
    ["expire_month", "12"],
    ["expire_year", "2039"],
    ["cvv2", "123"],
  ];
}

function payerPairs(target: Target, clientOrderId: string, minor: number): readonly FormPair[] {
  const email = "jane@example.com";
  const signed = `${target.endpoint}${clientOrderId}${minor}${email}${target.controlKey}`;
  return [
    ["client_orderid", clientOrderId],
    ["order_desc", "An order of the load benchmark"],
    ["amount", amountOf(minor)],
    ["currency", "USD"],
    ["email", email],
    ["ipaddress", "203.0.113.7"],
    ["first_name", "Jane"],
    ["last_name", "Doe"],
    ["address1", "1 Main Street"],
    ["city", "Springfield"],
    ["state", "IL"],
    ["zip_code", "62701"],
    ["country", "US"],
    ["phone", "+1 555 0100"],
    // Mandatory where 3-D Secure is possible.
    ["redirect_url", "https://shop.example/return"],
    ["control", hash("sha1", signed)],
  ];
}

function amountOf(minor: number): string {
  return `${Math.floor(minor / 100)}.${String(minor % 100).padStart(2, "0")}`;
}

/** 4111 11, nine digits that tell the cards apart, and the check digit of Luhn. */
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

function post(port: number, path: string, body: string): string {
  return (
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n` +
    "content-type: application/x-www-form-urlencoded\r\n" +
    `content-length: ${body.length}\r\n\r\n${body}`
  );
}

/** One piece of memory for all of them: a hundred thousand small ones would busy the collector. */
function pack(count: number, write: (index: number) => string): Requests {
  const starts = new Uint32Array(count + 1);
  const texts = Array.from({ length: count }, (_, index) => write(index));
  for (const [index, text] of texts.entries())
    starts[index + 1] = (starts[index] ?? 0) + text.length;
  const bytes = Buffer.from(texts.join(""), "latin1");
  return { count, bytesOf: (index) => bytes.subarray(starts[index], starts[index + 1]) };
}
