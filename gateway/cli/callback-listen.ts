/**
 * `gw callback listen` receives callbacks on a developer's machine and names the merchant whose
 * control key made each checksum. With `--gateway`, it polls a gateway in staging that cannot reach
 * this machine, so it misses no callback even if that gateway restarts.
 */

import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { option, preset } from "../administration/field.ts";
import { type Output, readConfiguration } from "../administration/session.ts";
import type { SendOutcome } from "../callbacks/send.ts";
import { signFor } from "../merchant-api/control.ts";
import type { Merchant } from "../orders/merchant.ts";
import { maskCardNumbers } from "../values/mask-card-numbers.ts";
import { messageOf, Problem } from "../values/problem.ts";
import { performInstalled } from "./action-commands.ts";
import { print, untilStopSignal } from "./command.ts";
import {
  type CallbackKey,
  causeOf,
  type DemonstrationMerchant,
  isHttpAddress,
  makeForward,
  openDemonstrationMerchant,
} from "./demonstration-merchant.ts";
import { installed, type MachineSession, ownCommand } from "./machine-command.ts";

const askEveryMs = 300;
/** The gateway's default time limit for a receiver's answer (`GW_CALLBACK_TIMEOUT_S`). */
const answersWithinMs = 15_000;

const listenFields = {
  gateway: option("url", "url", [
    "take the demonstration merchant's callbacks from a gateway in staging, which need not " +
      "reach this machine",
  ]),
  forwardTo: option("url", "url", ["with --gateway: send each callback on to this address"]),
  port: preset("whole", "port", "9099", ["where to listen, without --gateway"]),
  answer: preset("whole", "status", "200", ["the HTTP status of every answer, without --gateway"]),
  certificate: option("path", "file", ["listen with TLS: the certificate with its chain, in PEM"]),
  key: option("path", "file", ["the private key of that certificate, in PEM"]),
};
const listening = {
  name: "callback listen",
  does: ["receive and print callbacks on this machine, for development"],
  fields: listenFields,
} as const;
const listenHere = installed("look", "see_orders", { ...listening, perform: listenForCallbacks });

/** With `--gateway`, no installation is opened, because the gateway may be on another machine. */
export const listenCommands = [
  ownCommand({
    ...listening,
    right: "see_orders",
    mode: "look",
    run(given, terminal) {
      const { gateway, forwardTo } = given;
      if (gateway !== undefined) return followCallbacks(gateway, forwardTo, terminal.json);
      if (forwardTo === undefined) return performInstalled(listenHere, given, terminal);
      return new Problem("--forward-to needs --gateway, the address of a gateway in staging.");
    },
  }),
];

const bodyCharactersMax = 65_536;
const shownMax = 1_000;
const nameMax = 40;

async function listenForCallbacks(
  session: MachineSession,
  { port, answer, ...files }: Listening,
): Promise<Output> {
  const isValid = /^\d{1,5}$/.test(port) && Number(port) < 65_536 && /^[2-5]\d\d$/.test(answer);
  if (!isValid) return new Problem("Name a port, and an answer from 200 to 599.");
  const identity = await readIdentity(files);
  if (identity instanceof Problem) return identity;
  const { merchants } = await readConfiguration(session);
  const server = makeServer(identity, async (request, response) => {
    const received = await receive(request).catch(() => undefined);
    if (received === undefined) return response.writeHead(413).end();
    const signer = findSigner(merchants, received.fields)?.login;
    const outcome = { status: Number(answer) };
    printCallback({ ...received, signer, outcome }, session.json);
    response.writeHead(Number(answer)).end();
  });
  const { promise: listening, resolve } = Promise.withResolvers<Problem | undefined>();
  server.once("error", ({ message }) => resolve(new Problem(`Cannot listen: ${message}.`)));
  server.listen(Number(port), identity ? "127.0.0.1" : "localhost", () => resolve(undefined));
  const problem = await listening;
  if (problem !== undefined) return problem;
  const { port: own } = server.address() as AddressInfo;
  greet(
    `Send an order with server_callback_url=${addressOf(identity, own)}.\n` +
      `Every callback is answered with ${answer}. Ctrl-C ends it.`,
    session.json,
  );
  await untilStopSignal();
  server.close();
  server.closeAllConnections();
  return undefined;
}

type Listening = {
  readonly port: string;
  readonly answer: string;
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
};

type Identity = { readonly cert: string; readonly key: string; readonly name: string };

async function readIdentity({
  certificate,
  key,
}: Pick<Listening, "certificate" | "key">): Promise<Identity | undefined | Problem> {
  if (certificate === undefined && key === undefined) return undefined;
  if (certificate === undefined || key === undefined) {
    return new Problem("--certificate and --key are given together.");
  }
  try {
    const [cert, secret] = await Promise.all(
      [certificate, key].map((file) => readFile(file, "utf8")),
    );
    const own = new X509Certificate(cert ?? "");
    if (!own.checkPrivateKey(createPrivateKey(secret ?? ""))) {
      return new Problem("The key is that of another certificate.");
    }
    const [, name = "localhost"] = /\bDNS:([^,\s]+)/.exec(own.subjectAltName ?? "") ?? [];
    return { cert: cert ?? "", key: secret ?? "", name };
  } catch (error) {
    return new Problem(`The certificate and its key cannot be used: ${messageOf(error)}.`);
  }
}

function makeServer(identity: Identity | undefined, listener: RequestListener) {
  if (identity === undefined) return createServer(listener);
  return createTlsServer({ cert: identity.cert, key: identity.key }, listener);
}

function addressOf(identity: Identity | undefined, port: number): string {
  if (identity !== undefined) return `https://${identity.name}:${port}/`;
  return `http://localhost:${port}/ (staging allows it)`;
}

/** With `--json`, messages use standard error, because a program reads standard output. */
function greet(sentence: string, json: boolean): void {
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

/** The fields of a callback are either in the query of the URL or in the body. */
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
  /** Undefined if no known merchant's control key made the callback's checksum. */
  readonly signer: string | undefined;
  /** Undefined if the callback was printed and not forwarded. */
  readonly outcome: Partial<Pick<SendOutcome, "status" | "failure">> | undefined;
};

/** Prints a callback. Digits that may be a card number are masked. */
function printCallback(callback: Printed, json: boolean): void {
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

/** The gateway's own values are not masked, even if they have as many digits as a card number. */
const gatewayIds = new Set(["orderid", "processor-tx-id", "processor-rrn", "control"]);

function maskOthers(name: string, value: string): string {
  return gatewayIds.has(name) ? value : maskCardNumbers(value);
}

/** The sender of a callback could manipulate the terminal by control characters. */
function printable(given: string): string {
  return given.replaceAll(/[\p{Cc}\p{Cf}]+/gu, " ").slice(0, shownMax);
}

async function followCallbacks(
  gateway: string,
  forwardTo: string | undefined,
  json: boolean,
): Promise<Output> {
  if (forwardTo !== undefined && !isHttpAddress(forwardTo)) {
    return new Problem(`${forwardTo} is no address like http://localhost:3000/callback.`);
  }
  const merchant = await openDemonstrationMerchant(gateway);
  if (merchant instanceof Problem) return merchant;
  const forward = forwardTo === undefined ? undefined : makeForward(forwardTo, answersWithinMs);
  const target = forwardTo === undefined ? "are printed" : `go to ${forwardTo}`;
  const greeting = `Callbacks of ${merchant.login} at ${merchant.url} ${target}. Ctrl-C ends it.`;
  const take = async (key: CallbackKey): Promise<Problem | undefined> => {
    const request = await merchant.writeCallback(key, forwardTo);
    if (request instanceof Problem) return request;
    const outcome = await forward?.(request);
    const fields = readFields(request);
    printCallback({ ...request, fields, signer: merchant.login, outcome }, json);
    return undefined;
  };
  const ended = new AbortController();
  const stopped = untilStopSignal().then(() => ended.abort());
  const problem = await Promise.race([
    stopped.then(() => undefined),
    follow(merchant, { take, signal: ended.signal, onOpen: () => greet(greeting, json) }),
  ]);
  ended.abort();
  return problem;
}

type Following = {
  readonly take: (key: CallbackKey) => Promise<Problem | undefined>;
  readonly signal: AbortSignal;
  /** Called after the gateway's first answer, from which on the command misses no callback. */
  readonly onOpen: () => void;
};

/**
 * Polls the gateway, even while it is unreachable, and passes each new callback to `take`, once and
 * in order. Ends when `signal` is aborted, or returns a problem that polling cannot solve.
 */
async function follow(
  merchant: DemonstrationMerchant,
  { take, signal, onOpen }: Following,
): Promise<Problem | undefined> {
  let since = "";
  let taken: Set<string> | undefined;
  let isUnreachable = false;
  while (!signal.aborted) {
    try {
      const page = await merchant.listCallbacks(since);
      if (page instanceof Problem) return page;
      if (isUnreachable) process.stderr.write("The gateway is back.\n");
      isUnreachable = false;
      const names = new Set(page.callbacks.map(nameOf));
      if (taken === undefined) onOpen();
      taken ??= names;
      for (const key of page.callbacks.toReversed()) {
        const problem = taken.has(nameOf(key)) ? undefined : await take(key);
        if (problem !== undefined) return problem;
        taken.add(nameOf(key));
      }
      // An answer may repeat callbacks of the previous answer, but no older ones. The names in the
      // last answer are therefore enough to pass no callback twice.
      taken = names;
      since = String(page.now);
    } catch (error) {
      if (!isUnreachable)
        process.stderr.write(`The gateway is unreachable: ${causeOf(error)}. Waiting for it.\n`);
      isUnreachable = true;
    }
    await pause(askEveryMs, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}

function nameOf({ order, sequence }: CallbackKey): string {
  return `${order}-${sequence}`;
}
