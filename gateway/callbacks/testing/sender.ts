/** What tests of sending send with: names that they answer for, certificates, a proxy. */
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import type { TestContext } from "node:test";
import {
  issue,
  makeKeys,
  writeCertificate,
  writePrivateKey,
} from "../../../sandbox-bank/certificates/certificate.ts";
import { type AddressOptions, makeAddressRules } from "../addresses.ts";
import type { Resolve } from "../look-up.ts";
import { makeSend } from "../send.ts";
import { answerWith, makeStillClock, startReceiver } from "./receiver.ts";

const staging = { ports: [], allowsLoopback: true, privateNetworks: [], names: [] };
const here = "127.0.0.1";
const dayMs = 86_400_000;

type Options = {
  readonly answers?: readonly (readonly string[])[];
  readonly rules?: AddressOptions;
  readonly authorities?: string[];
  readonly proxy?: string;
  readonly failing?: boolean;
};

/** Names are answered for in turn; asked once more than there are answers, the last is repeated. */
export function makeSender(
  t: TestContext,
  { answers = [[here]], rules = staging, ...more }: Options = {},
) {
  const asked: string[] = [];
  const resolve: Resolve = (hostname, done) => {
    asked.push(hostname);
    if (more.failing === true) return done(new Error("no name server answers"), []);
    const addresses = answers[Math.min(asked.length, answers.length) - 1] ?? [];
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    );
  };
  const clock = makeStillClock();
  const { send, stop } = makeSend({
    ...{ rules: makeAddressRules(rules), clock, timeoutMs: 15_000, resolve },
    ...{ authorities: more.authorities, proxy: more.proxy },
  });
  t.after(stop);
  const get = (url: string) => send({ method: "GET", url, headers: {}, body: "" });
  return { get, send, asked, clock, stop };
}

/** An authority, and receivers with certificates of it for `localhost`. */
export async function makeAuthority(t: TestContext) {
  const now = Date.now();
  const valid = { validFrom: new Date(now - dayMs), validUntil: new Date(now + dayMs) };
  const over = { validFrom: new Date(now - 2 * dayMs), validUntil: new Date(now - dayMs) };
  const root = await issue({
    ...{ name: "A test's authority", purpose: "authority", keys: await makeKeys("ec"), ...valid },
  });
  const secure = async (times: typeof valid) => {
    const keys = await makeKeys("ec");
    const own = await issue({ name: "localhost", purpose: "tls", keys, ...times }, root);
    const tls = { key: await writePrivateKey(own), cert: writeCertificate(own) };
    return startReceiver(t, answerWith(200), tls);
  };
  return { authorities: [writeCertificate(root)], valid, over, secure };
}

/** It leads everything to one port of this machine. */
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
