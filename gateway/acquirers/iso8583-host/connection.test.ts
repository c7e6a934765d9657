/** A connection over TLS: the hosts that it accepts, and its reasons to refuse the others. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect as connectTcp, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";
import { openIdentities } from "../../../sandbox-bank/certificates/chains.ts";
import type { CertificateTexts } from "../../certificates/certificate-files.ts";
import { Connection, makeGateAuthentication } from "./connection.ts";
import { sandbox } from "./dialects/sandbox.ts";

const folder = await mkdtemp(join(tmpdir(), "connection-test-"));
const day = 86_400_000;
const wire = { ...sandbox, ...makeGateAuthentication(sandbox) };
const nowMs = performance.timeOrigin + performance.now();
const { host, directory } = await openIdentities(join(folder, "present"), nowMs);
const past = await openIdentities(join(folder, "past"), nowMs - 4_000 * day);
const future = await openIdentities(join(folder, "future"), nowMs + 40 * day);
await rm(folder, { recursive: true });

const demands = { requestCert: true, rejectUnauthorized: true };
const old: TlsOptions = { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "ALL@SECLEVEL=0" };

// biome-ignore format: a table
const rows: readonly (readonly [what: string, shows: TlsOptions, ours: CertificateTexts, name: string | undefined, why: RegExp])[] = [
  ["is good",                    host,                                          { ca: host.ca },                  undefined,      /^opened$/],
  ["is good, by its name",       host,                                          { ca: host.ca },                  "localhost",    /^opened$/],
  ["has another name",           host,                                          { ca: host.ca },                  "host.example", /another name/],
  ["has expired",                past.host,                                     { ca: past.host.ca },             undefined,      /has expired/],
  ["is not valid yet",           future.host,                                   { ca: future.host.ca },           undefined,      /not valid yet/],
  ["is of another authority",    host,                                          { ca: directory.ca },             undefined,      /unknown authority/],
  ["is of no public authority",  host,                                          {},                               undefined,      /unknown authority/],
  ["comes with too old a TLS",   { ...host, ...old },                           { ca: host.ca },                  undefined,      /older than 1\.2/],
  ["wants ours, and has it",     { ...host, ...demands },                       { ...host },                      undefined,      /^opened$/],
  ["wants ours in vain",         { ...host, ...demands, maxVersion: "TLSv1.2" }, { ca: host.ca },                 undefined,      /demands a client certificate/],
];

for (const [what, shows, ours, serverName, why] of rows) {
  test(`the certificate of a host ${what}`, async (t) => {
    const port = await listen(t, createTlsServer(shows));

    assert.match(await connect(t, port, { read: async () => ours, serverName }), why);
  });
}

test("a host without TLS is no host with it, and never gets a message", async (t) => {
  const heard: Buffer[] = [];
  const server = createServer((socket) => {
    socket.on("data", (chunk: Buffer) => heard.push(chunk)).on("error", () => undefined);
    socket.write("0810 in plain words");
  });
  const port = await listen(t, server);
  const tls = { read: async () => ({ ca: host.ca }), serverName: undefined };

  assert.match(await connect(t, port, tls), /does not speak TLS/);
  assert.ok(heard.every((chunk) => chunk[0] === 0x16 || chunk[0] === 0x15));
});

for (const [kind, server, read] of [
  ["TCP", createServer(), undefined],
  ["TLS", createTlsServer(host), async () => ({ ca: host.ca })],
] as const) {
  test(`a ${kind} connection is reset when it is dropped, and ended when it is closed`, async (t) => {
    const hostPort = await listen(t, server);
    const line = createServer((socket) => {
      const onward = connectTcp(hostPort, "127.0.0.1").on("error", () => undefined);
      socket.pipe(onward).pipe(socket);
    });
    const port = await listen(t, line);
    const ends: unknown[] = [];

    for (const end of ["drop", "close"] as const) {
      const accepted = once(line, "connection");
      const opened = Promise.withResolvers<void>();
      const [tls, ignore] = [read && { read, serverName: undefined }, () => undefined];
      const events = { onMessage: ignore, onUnreadable: ignore, onLost: ignore };
      const address = { host: "127.0.0.1", port };
      const own = new Connection(address, wire, { ...events, onOpen: opened.resolve }, tls);
      const [socket] = (await accepted) as [Socket];
      const seen = Promise.withResolvers<unknown>();
      socket.on("error", (error: NodeJS.ErrnoException) => seen.resolve(error.code));
      socket.on("end", () => seen.resolve("ended"));
      await opened.promise;
      own[end]("the test says so");
      ends.push(await seen.promise);
    }

    assert.deepEqual(ends, ["ECONNRESET", "ended"]);
  });
}

/** Resolves with `opened`, or with the reason for the failure. */
function connect(t: TestContext, port: number, tls: ConstructorParameters<typeof Connection>[3]) {
  const { promise, resolve } = Promise.withResolvers<string>();
  const events = {
    onOpen: () => resolve("opened"),
    onMessage: () => undefined,
    onUnreadable: () => undefined,
    onLost: resolve,
  };
  const connection = new Connection({ host: "127.0.0.1", port }, wire, events, tls);
  t.after(() => connection.drop("the test is over"));
  return promise;
}

async function listen(t: TestContext, server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket.on("error", () => undefined)));
  server.on("tlsClientError", () => undefined);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}
