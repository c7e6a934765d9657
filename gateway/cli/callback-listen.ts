/**
 * `gw callback listen`: a receiver for a developer's desk. It prints what it is told, says by the
 * checksum whose it is, and answers as it was asked to.
 */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { signFor } from "../merchant-api/control.ts";
import type { Merchant } from "../orders/merchant.ts";
import type { Configuration } from "../storage/configuration.ts";
import { Problem } from "../values/problem.ts";
import { inConfigured } from "./configured.ts";
import { complain } from "./installation.ts";
import { print } from "./print.ts";
import { untilToldToStop } from "./signals.ts";

type Options = { readonly port: string; readonly answer: string };

const bodyCharactersMax = 65_536;
const shownMax = 1_000;
const nameMax = 40;

export function listenForCallbacks({ port, answer }: Options): Promise<void> {
  return inConfigured(async ({ configuration }) => {
    const isGood = /^\d{1,5}$/.test(port) && Number(port) < 65_536 && /^[2-5]\d\d$/.test(answer);
    if (!isGood) return complain(new Problem("Name a port, and an answer from 200 to 599."));
    const merchants = merchantsOf(configuration);
    const server = createServer(async (request, response) => {
      const fields = await readFields(request).catch(() => undefined);
      if (fields === undefined) return response.writeHead(413).end();
      tell(request, fields, findSigner(merchants, fields));
      response.writeHead(Number(answer)).end();
    });
    const problem = await listen(server, Number(port));
    if (problem !== undefined) return complain(problem);
    const { port: own } = server.address() as AddressInfo;
    process.stdout.write(
      `Send an order with server_callback_url=http://localhost:${own}/ (staging allows it).\n` +
        `Every callback is answered with ${answer}. Ctrl-C ends it.\n`,
    );
    await untilToldToStop();
    server.close();
    server.closeAllConnections();
  });
}

function listen(server: ReturnType<typeof createServer>, port: number) {
  return new Promise<Problem | undefined>((resolve) => {
    server.once("error", ({ message }) => resolve(new Problem(`Cannot listen: ${message}.`)));
    server.listen(port, "localhost", () => resolve(undefined));
  });
}

/** Of the query and of the form: one of the two has them. */
async function readFields(request: IncomingMessage): Promise<URLSearchParams> {
  let body = "";
  for await (const chunk of request.setEncoding("latin1")) {
    body += chunk;
    if (body.length > bodyCharactersMax) throw new Error("too long");
  }
  const [, query = ""] = /\?(.*)$/s.exec(request.url ?? "") ?? [];
  return new URLSearchParams([query, body].filter((part) => part !== "").join("&"));
}

function merchantsOf({ endpoints }: Configuration): readonly Merchant[] {
  const merchants = [...endpoints.values()].map(({ merchant }) => [merchant.id, merchant] as const);
  return [...new Map(merchants).values()];
}

function findSigner(merchants: readonly Merchant[], fields: URLSearchParams) {
  const covered = ["status", "orderid", "client_orderid"];
  const signed = covered.map((name) => fields.get(name) ?? "").join("");
  return merchants.find((merchant) => signFor(merchant, signed) === fields.get("control"));
}

function tell(
  { method = "", headers }: IncomingMessage,
  fields: URLSearchParams,
  signer: Merchant | undefined,
): void {
  const whose = signer === undefined ? "WRONG control" : `right control of ${signer.login}`;
  process.stdout.write(`\n${method}, ${whose}\n`);
  const shown = Object.entries(headers).filter(([name]) => name.startsWith("webhook-"));
  const all = [...fields, ...shown]
    .filter(([name]) => name.length < nameMax)
    .map(([name, value]) => [plain(name), plain(String(value))]);
  print(Object.fromEntries(all));
}

/** Whatever is said to us must not command the terminal. */
function plain(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]+/gu, " ").slice(0, shownMax);
}
