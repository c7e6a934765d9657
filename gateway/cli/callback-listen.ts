/**
 * `gw callback listen`: a receiver for development. It prints every callback, names the merchant
 * whose checksum it carries, and answers with the given status.
 */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { type Output, readConfiguration } from "../administration/session.ts";
import type { SendOutcome } from "../callbacks/send.ts";
import { signFor } from "../merchant-api/control.ts";
import type { Merchant } from "../orders/merchant.ts";
import { maskCardNumbers } from "../values/mask-card-numbers.ts";
import { Problem } from "../values/problem.ts";
import { print, untilStopSignal } from "./command.ts";
import type { MachineSession } from "./machine-command.ts";

const bodyCharactersMax = 65_536;
const shownMax = 1_000;
const nameMax = 40;

export async function listenForCallbacks(
  session: MachineSession,
  { port, answer }: { readonly port: string; readonly answer: string },
): Promise<Output> {
  const isValid = /^\d{1,5}$/.test(port) && Number(port) < 65_536 && /^[2-5]\d\d$/.test(answer);
  if (!isValid) return new Problem("Name a port, and an answer from 200 to 599.");
  const { merchants } = await readConfiguration(session);
  const server = createServer(async (request, response) => {
    const received = await receive(request).catch(() => undefined);
    if (received === undefined) return response.writeHead(413).end();
    const signer = findSigner(merchants, received.fields)?.login;
    const outcome = { status: Number(answer) };
    printCallback({ ...received, signer, outcome }, session.json);
    response.writeHead(Number(answer)).end();
  });
  const { promise: listening, resolve } = Promise.withResolvers<Problem | undefined>();
  server.once("error", ({ message }) => resolve(new Problem(`Cannot listen: ${message}.`)));
  server.listen(Number(port), "localhost", () => resolve(undefined));
  const problem = await listening;
  if (problem !== undefined) return problem;
  const { port: own } = server.address() as AddressInfo;
  greet(
    `Send an order with server_callback_url=http://localhost:${own}/ (staging allows it).\n` +
      `Every callback is answered with ${answer}. Ctrl-C ends it.`,
    session.json,
  );
  await untilStopSignal();
  server.close();
  server.closeAllConnections();
  return undefined;
}

/** Standard output is for the callbacks alone when a program reads it. */
export function greet(sentence: string, json: boolean): void {
  (json ? process.stderr : process.stdout).write(`${sentence}\n`);
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;
type Received = {
  readonly method: string;
  readonly headers: Headers;
  readonly fields: URLSearchParams;
};

async function receive(request: IncomingMessage): Promise<Received> {
  const { method = "", url = "", headers } = request;
  let body = "";
  const isJson = headers["content-type"] === "application/json";
  for await (const chunk of request.setEncoding(isJson ? "utf8" : "latin1")) {
    body += chunk;
    if (body.length > bodyCharactersMax) throw new Error("too long");
  }
  return { method, headers, fields: readFields({ url, headers, body }) };
}

/** Of the query and of the body: one of the two has them. */
export function readFields(request: {
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
}): URLSearchParams {
  const { url, headers, body } = request;
  if (headers["content-type"] === "application/json") return new URLSearchParams(JSON.parse(body));
  const [, query = ""] = /\?(.*)$/s.exec(url) ?? [];
  return new URLSearchParams([query, body].filter((part) => part !== "").join("&"));
}

function findSigner(merchants: readonly Merchant[], fields: URLSearchParams) {
  const covered = ["status", "orderid", "client_orderid"];
  const signed = covered.map((name) => fields.get(name) ?? "").join("");
  return merchants.find((merchant) => signFor(merchant, signed) === fields.get("control"));
}

type Printed = Received & {
  /** The merchant whose checksum it carries. */
  readonly signer: string | undefined;
  /** Nothing when it was sent nowhere. */
  readonly outcome: Partial<Pick<SendOutcome, "status" | "failure">> | undefined;
};

/** A line of JSON, or lines for people. What may pass for a card number is masked. */
export function printCallback(callback: Printed, json: boolean): void {
  const { method, headers, fields, signer, outcome } = callback;
  const shown = Object.entries(headers).filter(([name]) => name.startsWith("webhook-"));
  const all = [...fields, ...shown]
    .filter(([name]) => name.length < nameMax)
    .map(([name, value]) => [printable(name), maskOthers(name, printable(String(value)))]);
  const lines = Object.fromEntries(all);
  const { status, failure } = outcome ?? {};
  if (json) {
    const facts = { method, control: signer ?? null, status, failure, fields: lines };
    process.stdout.write(`${JSON.stringify(facts)}\n`);
    return;
  }
  const checksum = signer === undefined ? "WRONG control" : `right control of ${signer}`;
  const answered = status === undefined ? failure && `no answer: ${failure}` : `answer ${status}`;
  print(`\n${[method, checksum, answered].filter(Boolean).join(", ")}`);
  print(lines);
}

/** They have the digits of a card number at times, and never are one. */
const gatewayIds = new Set(["orderid", "processor-tx-id", "processor-rrn", "control"]);

function maskOthers(name: string, value: string): string {
  return gatewayIds.has(name) ? value : maskCardNumbers(value);
}

/** Control characters could command the terminal. */
function printable(given: string): string {
  return given.replaceAll(/[\p{Cc}\p{Cf}]+/gu, " ").slice(0, shownMax);
}
