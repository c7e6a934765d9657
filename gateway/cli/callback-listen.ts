/**
 * `gw callback listen`: a receiver for development. It prints every callback, names the merchant
 * whose checksum it carries, and answers with the given status.
 */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { signFor } from "../merchant-api/control.ts";
import type { Merchant } from "../orders/merchant.ts";
import { Problem } from "../values/problem.ts";
import { type Output, print, type Session, untilStopSignal } from "./command.ts";
import { readConfiguration } from "./installation.ts";

const bodyCharactersMax = 65_536;
const shownMax = 1_000;
const nameMax = 40;

export async function listenForCallbacks(
  session: Session,
  { port, answer }: { readonly port: string; readonly answer: string },
): Promise<Output> {
  const isValid = /^\d{1,5}$/.test(port) && Number(port) < 65_536 && /^[2-5]\d\d$/.test(answer);
  if (!isValid) return new Problem("Name a port, and an answer from 200 to 599.");
  const { merchants } = await readConfiguration(session);
  const server = createServer(async (request, response) => {
    const fields = await readFields(request).catch(() => undefined);
    if (fields === undefined) return response.writeHead(413).end();
    printCallback(request, fields, findSigner(merchants, fields));
    response.writeHead(Number(answer)).end();
  });
  const { promise: listening, resolve } = Promise.withResolvers<Problem | undefined>();
  server.once("error", ({ message }) => resolve(new Problem(`Cannot listen: ${message}.`)));
  server.listen(Number(port), "localhost", () => resolve(undefined));
  const problem = await listening;
  if (problem !== undefined) return problem;
  const { port: own } = server.address() as AddressInfo;
  print(
    `Send an order with server_callback_url=http://localhost:${own}/ (staging allows it).\n` +
      `Every callback is answered with ${answer}. Ctrl-C ends it.`,
  );
  await untilStopSignal();
  server.close();
  server.closeAllConnections();
  return undefined;
}

/** Of the query and of the body: one of the two has them. */
async function readFields(request: IncomingMessage): Promise<URLSearchParams> {
  let body = "";
  const isJson = request.headers["content-type"] === "application/json";
  for await (const chunk of request.setEncoding(isJson ? "utf8" : "latin1")) {
    body += chunk;
    if (body.length > bodyCharactersMax) throw new Error("too long");
  }
  if (isJson) return new URLSearchParams(JSON.parse(body));
  const [, query = ""] = /\?(.*)$/s.exec(request.url ?? "") ?? [];
  return new URLSearchParams([query, body].filter((part) => part !== "").join("&"));
}

function findSigner(merchants: readonly Merchant[], fields: URLSearchParams) {
  const covered = ["status", "orderid", "client_orderid"];
  const signed = covered.map((name) => fields.get(name) ?? "").join("");
  return merchants.find((merchant) => signFor(merchant, signed) === fields.get("control"));
}

function printCallback(
  { method = "", headers }: IncomingMessage,
  fields: URLSearchParams,
  signer: Merchant | undefined,
): void {
  const checksum = signer === undefined ? "WRONG control" : `right control of ${signer.login}`;
  print(`\n${method}, ${checksum}`);
  const shown = Object.entries(headers).filter(([name]) => name.startsWith("webhook-"));
  const all = [...fields, ...shown]
    .filter(([name]) => name.length < nameMax)
    .map(([name, value]) => [withoutControls(name), withoutControls(String(value))]);
  print(Object.fromEntries(all));
}

/** Control characters could command the terminal. */
function withoutControls(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]+/gu, " ").slice(0, shownMax);
}
