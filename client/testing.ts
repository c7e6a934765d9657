/**
 * Parts of the client's tests: an HTTP server that answers from a script and records requests, and
 * a clock that moves only when a caller pauses.
 */
import { createHash, createHmac } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import type { TestContext } from "node:test";
import { type CallbackRequest, makeClient, type Timing } from "./client.ts";

export type Received = {
  readonly url: string;
  readonly body: string;
  readonly authorization: string | undefined;
};
export type Answer = (response: ServerResponse, received: Received) => void;

export const acknowledged =
  "type=async-response&serial-number=0195933a-7c48-7000-8000-000000000001" +
  "&merchant-order-id=invoice-1&gw-order-id=77000001&end-point-id=1001";
export const approved =
  "type=status-response&serial-number=0195933a-7c48-7000-8000-000000000002" +
  "&merchant-order-id=invoice-1&gw-order-id=77000001&status=approved&order-stage=sale_approved";
export const sale = {
  client_orderid: "invoice-1",
  order_desc: "Two tickets",
  amount: "10.42",
  currency: "USD",
  email: "jane@example.com",
  ipaddress: "203.0.113.7",
  address1: "1 Main Street",
  city: "Paris",
  zip_code: "75001",
  country: "FR",
  phone: "+33 1 0000",
  credit_card_number: "4000001000000018",
  card_printed_name: "JANE DOE",
  expire_month: "12",
  expire_year: "30",
  cvv2: "917",
};

export function say(body: string, status = 200, headers: Record<string, string> = {}): Answer {
  return (response) => {
    response.writeHead(status, { "content-type": "text/html;charset=utf-8", ...headers });
    response.end(body);
  };
}

export function refuse(status: number, message: string, code: number, retryAfter = ""): Answer {
  const type = code < 9 || code === 12 ? "validation-error" : "error";
  const body = `type=${type}&serial-number=s-1&error-message=${message}&error-code=${code}`;
  return say(body, status, retryAfter === "" ? {} : { "retry-after": retryAfter });
}

export const hangUp: Answer = (response) => {
  response.socket?.destroy();
};
export const saysNothing: Answer = () => undefined;

export const controlKey = "top-secret-key";
export const serialNumber = "0195933a-7c48-7000-8000-000000000001";
export const callback: Readonly<Record<string, string>> = {
  status: "approved",
  orderid: "77000001",
  client_orderid: "invoice-1",
  type: "sale",
  amount: "10.42",
  currency: "USD",
  "serial-number": serialNumber,
};

/**
 * Returns a callback as the gateway writes it. A forged field keeps the control of the genuine
 * callback.
 */
export function textOf(fields: Readonly<Record<string, string>>, key = controlKey): string {
  const { status = "", orderid = "", client_orderid = "" } = fields;
  const text = status + orderid + client_orderid + key;
  return String(
    new URLSearchParams({ ...fields, control: createHash("sha1").update(text).digest("hex") }),
  );
}

export function asGet(fields = callback): CallbackRequest {
  return { method: "GET", url: `/told?status=own&${textOf(fields)}`, headers: {} };
}

export function asForm(fields: typeof callback, key: Uint8Array, atMs: number) {
  const [id, timestamp, body] = ["77000001-1", String(atMs / 1000), textOf(fields)];
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  const headers = {
    "Webhook-Id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,b3RoZXI= v1,${signature}`,
  };
  return { method: "POST", url: "/told", headers, body };
}

/** Starts a server that gives the answers in turn, and repeats the last one. */
export async function startServer(t: TestContext, ...answers: readonly Answer[]) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { url = "", headers } = request;
    const body = Buffer.concat(chunks).toString();
    const whole = { url, body, authorization: headers.authorization };
    received.push(whole);
    answers[Math.min(received.length, answers.length) - 1]?.(response, whole);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { baseUrl: `http://127.0.0.1:${port}`, received };
}

export function makeStillTime(random = 0.5): Timing & { readonly pauses: readonly number[] } {
  const pauses: number[] = [];
  let now = 0;
  return {
    pauses,
    now: () => now,
    random: () => random,
    async pause(durationMs, signal) {
      signal?.throwIfAborted();
      pauses.push(durationMs);
      now += durationMs;
    },
  };
}

/** Starts a server with its script, and makes the endpoint 1001 of a client that uses it. */
export async function makeScene(t: TestContext, ...answers: readonly Answer[]) {
  const { baseUrl, received } = await startServer(t, ...answers);
  const timing = makeStillTime();
  const client = makeClient({ baseUrl, login: "acme", controlKey, timing });
  return { endpoint: client.endpoint("1001"), client, received, timing, baseUrl };
}
