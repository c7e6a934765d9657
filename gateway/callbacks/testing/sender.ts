/**
 * The sender's surroundings in tests: names that resolve as a test wants, certificates, and a
 * proxy.
 */
import type { LookupAddress } from "node:dns";
import { createServer } from "node:http";
import { type AddressInfo, connect, isIP } from "node:net";
import type { TestContext } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import {
  issue,
  makeKeys,
  writeCertificate,
  writePrivateKey,
} from "../../../sandbox-bank/certificates/certificate.ts";
import { type AddressOptions, makeAddressRules, type Resolve } from "../addresses.ts";
import type { CallbackRequest } from "../callback.ts";
import { makeSend, type SendOutcome } from "../send.ts";
import { answerWith, startReceiver } from "./receiver.ts";

const staging = { ports: [], allowsLoopback: true, privateNetworks: [], names: [] };
const here = "127.0.0.1";
const dayMs = 86_400_000;

type Options = {
  readonly answers?: readonly (readonly string[])[];
  readonly rules?: AddressOptions;
  readonly authorities?: string[];
  readonly proxy?: string;
  readonly failing?: boolean;
  readonly now?: () => number;
};

/** Answers requests for names in turn. The last answer is repeated. */
export function makeSender(
  t: TestContext,
  { answers = [[here]], rules = staging, ...more }: Options = {},
) {
  const asked: string[] = [];
  const resolve: Resolve = (hostname, done) => {
    asked.push(hostname);
    if (more.failing === true) return done(new Error("no name server answers"), []);
    const addresses = answers[Math.min(asked.length, answers.length) - 1] ?? [];
    const toFound = (address: string): LookupAddress => ({ address, family: isIP(address) || 4 });
    done(null, addresses.map(toFound));
  };
  const start = makeSend({
    rules: makeAddressRules(rules),
    resolve,
    authorities: more.authorities,
    proxy: more.proxy,
    ...(more.now === undefined ? {} : { now: more.now }),
  });
  const cancels: (() => void)[] = [];
  const cancelAll = () => {
    for (const cancel of cancels) cancel();
  };
  t.after(cancelAll);
  const send = async (message: CallbackRequest) => {
    const { promise, resolve: done } = Promise.withResolvers<SendOutcome>();
    const cancel = start(message, done);
    if (cancel !== undefined) cancels.push(cancel);
    const outcome = await promise;
    // Results leave the sending thread a turn later, when undici has kept the connection.
    for (let turns = 0; turns < 2; turns += 1) await turn();
    return outcome;
  };
  const get = (url: string) => send({ method: "GET", url, headers: {}, body: "" });
  return { get, send, asked, cancelAll };
}

/** An authority, and receivers with certificates of it for `localhost`. */
export async function makeAuthority(t: TestContext) {
  const now = Date.now();
  const valid = { validFrom: new Date(now - dayMs), validUntil: new Date(now + dayMs) };
  const over = { validFrom: new Date(now - 2 * dayMs), validUntil: new Date(now - dayMs) };
  const root = await issue({
    name: "A test's authority",
    purpose: "authority",
    keys: await makeKeys("ec"),
    ...valid,
  });
  const secure = async (times: typeof valid) => {
    const keys = await makeKeys("ec");
    const own = await issue({ name: "localhost", purpose: "tls", keys, ...times }, root);
    const tls = { key: await writePrivateKey(own), cert: writeCertificate(own) };
    return startReceiver(t, answerWith(200), tls);
  };
  return { authorities: [writeCertificate(root)], valid, over, secure };
}

/** The proxy connects everything to one port of this machine. */
export async function startProxy(t: TestContext, port: number) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const { pathname, search } = new URL(request.url ?? "");
    fetch(`http://127.0.0.1:${port}${pathname}${search}`).then(
      ({ status }) => response.writeHead(status).end(),
      () => response.destroy(),
    );
  });
  server.on("connect", (request, socket) => {
    asked.push(`CONNECT ${request.url}`);
    socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
    const onward = connect(port, here);
    onward.on("error", () => socket.destroy());
    socket.on("error", () => onward.destroy());
    socket.pipe(onward).pipe(socket);
  });
  await new Promise<void>((listening) => server.listen(0, here, listening));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port: own } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${own}`, asked };
}
