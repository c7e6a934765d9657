/**
 * TLS of the merchant port: the clients that it refuses, and certificates that change while it
 * runs.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, writeFileSync } from "node:fs";
import { Agent, type RequestOptions, request } from "node:https";
import { connect as connectPlain, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { type ConnectionOptions, connect, type TLSSocket } from "node:tls";
import { promisify } from "node:util";
import { UnusableCertificate } from "../certificates/certificate-files.ts";
import { makeCertificates } from "../threeds/testing/certificates.ts";
import { systemClock } from "../values/time.ts";
import { makeIsTrusted } from "./client-network.ts";
import { type Bounds, makeServer } from "./server.ts";
import { openTls } from "./tls.ts";

test("a certificate that is replaced under load loses no request, and new connections get it", async (t) => {
  const { port, tls, made, install } = await serve(t);
  const agent = new Agent({ keepAlive: true, maxSockets: 4, rejectUnauthorized: false });
  t.after(() => agent.destroy());
  made.issue("second");
  let answered = 0;
  let isOver = false;
  const clients = Array.from({ length: 4 }, async () => {
    while (!isOver) {
      // Every third request has its own connection, which may get either certificate.
      const fresh = answered % 3 === 0;
      const options = fresh ? { agent: false as const, rejectUnauthorized: false } : { agent };
      assert.equal(await ask(port, options), "ok");
      answered += 1;
    }
  });

  install("second");
  await tls.reload();
  await tls.reload();
  const enough = answered + 20;
  while (answered < enough) await new Promise(setImmediate);
  isOver = true;
  await Promise.all(clients);

  assert.equal(await nameShown(t, port), "second");
  assert.equal(tls.daysLeft(systemClock.now()), 29);
});

test("a pair that does not match or is half written changes nothing, and is reported once", async (t) => {
  const { port, tls, made, install, faults } = await serve(t);
  made.issue("second");
  const looks = async () => {
    for (const _ of [1, 2, 3]) await tls.reload();
  };

  copyFileSync(made.pathOf("second.pem"), made.pathOf("own.pem"));
  await looks();
  assert.equal(await nameShown(t, port), "first");
  assert.equal(tls.isUsable(), false);
  assert.equal(faults.length, 1);
  assert.match(faults[0] ?? "", /own\.pem and .*own\.key cannot be used/);

  writeFileSync(made.pathOf("own.key"), made.read("second.key").slice(0, 100));
  await looks();
  assert.equal(await nameShown(t, port), "first");

  install("second");
  await looks();
  assert.equal(await nameShown(t, port), "second");
  assert.equal(tls.isUsable(), true);
});

test("files between two states are not taken: two readings must agree", async (t) => {
  const { port, tls, made, install, faults } = await serve(t);
  made.issue("second");
  made.issue("third");

  install("second");
  await tls.reload();
  install("third");
  await tls.reload();
  assert.equal(await nameShown(t, port), "first");
  writeFileSync(made.pathOf("own.pem"), "");
  await tls.reload();
  install("third");
  await tls.reload();
  await tls.reload();

  assert.equal(await nameShown(t, port), "third");
  assert.deepEqual(faults, []);
});

test("files that cannot be used at the start are named", async (t) => {
  const made = makeCertificates(t);
  const [certificateFile, keyFile] = [made.pathOf("absent.pem"), made.pathOf("absent.key")];

  const opening = openTls({ certificateFile, keyFile, ...quiet });

  await assert.rejects(opening, (error) => error instanceof UnusableCertificate);
  await assert.rejects(opening, /absent/);
});

test("versions before 1.2 are refused, and unknown server names are not", async (t) => {
  const { open, port, refused } = await serve(t);

  for (const version of ["TLSv1", "TLSv1.1"] as const) {
    const old = open({ minVersion: version, maxVersion: version, ciphers: "ALL@SECLEVEL=0" });
    await assert.rejects(once(old, "secureConnect"), /PROTOCOL_VERSION|protocol version/);
  }
  assert.deepEqual(refused, ["failed TLS handshakes", "failed TLS handshakes"]);
  for (const servername of ["a".repeat(255), "xn--\u0000.example", "-", "%00.example"]) {
    assert.equal(await ask(port, { servername, rejectUnauthorized: false }), "ok", servername);
  }
  for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
    const present = open({ minVersion: version, maxVersion: version });
    await once(present, "secureConnect");
    assert.equal(present.getProtocol(), version);
  }
});

test("plain HTTP gets a sentence, garbage gets nothing", async (t) => {
  const { openRaw, refused } = await serve(t);
  const [plain, garbage] = [openRaw(), openRaw()];

  plain.write("POST /gw/api/v2/sale/1 HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\na=1");
  const answer = await text(plain);
  garbage.write(Buffer.alloc(64, 0xff));
  await new Promise((closed) => garbage.once("close", closed).resume());

  assert.match(answer, /^HTTP\/1.1 400 Bad Request\r\n.*\r\n\r\nThis port takes HTTPS: /s);
  assert.deepEqual(refused, ["plain HTTP where TLS is expected", "failed TLS handshakes"]);
});

test("a handshake that drips ends in time, also when the server stops", async (t) => {
  const { openRaw, refused, server } = await serve(t, {}, 60);
  const hello = Buffer.concat([Buffer.from("1603010200010001fc0303", "hex"), Buffer.alloc(500)]);
  const drip = openRaw();
  let sent = 0;
  const dripping = setInterval(() => drip.write(hello.subarray(sent, ++sent)), 5);
  t.after(() => clearInterval(dripping));

  await new Promise((closed) => drip.once("close", closed).resume());
  assert.ok(sent < hello.length);
  assert.deepEqual(refused, ["failed TLS handshakes"]);
  const slow = await serve(t, {}, 600_000);
  const silent = slow.openRaw();
  await once(silent, "connect");
  await server.close();
  await slow.server.close();
});

test("a client cannot renegotiate", async (t) => {
  const { open } = await serve(t);
  const client = open({ maxVersion: "TLSv1.2" });
  await once(client, "secureConnect");

  client.renegotiate({ rejectUnauthorized: false }, () => undefined);

  const [error] = await once(client, "error");
  assert.match(String(error), /no.renegotiation/i);
});

test("connections of one address are counted before their handshake", async (t) => {
  const { openRaw, open, refused } = await serve(t, { connectionsPerAddressMax: 2 });
  const silent = [openRaw(), openRaw()];
  for (const each of silent) await once(each, "connect");

  await assert.rejects(once(open(), "secureConnect"));

  assert.deepEqual(
    refused.filter((cause) => cause !== "failed TLS handshakes"),
    ["too many connections of one address"],
  );
});

test("behind a proxy that speaks TLS to the gateway each client has its own bound", async (t) => {
  const bounds = { connectionsPerAddressMax: 1, isTrusted: makeIsTrusted(["127.0.0.0/8"]) };
  const { port, refused } = await serve(t, bounds);
  const leaving = new AbortController();
  const from = (address: string, path: string) => {
    const headers = { "x-forwarded-for": address };
    const { signal } = leaving;
    return ask(port, { rejectUnauthorized: false, agent: false, path, headers, signal });
  };
  const waiting = assert.rejects(from("203.0.113.7", "/waits"), { name: "AbortError" });

  while (!refused.includes("too many requests of one client")) {
    await from("198.51.100.1, 203.0.113.7", "/ok");
  }
  assert.equal(await from("203.0.113.8", "/ok"), "ok");
  leaving.abort();
  await waiting;
});

test("where only proxies may connect in plain text, no request of another client is read", async (t) => {
  const { openRaw, refused } = await servePlain(t, {
    proxiesOnly: true,
    isTrusted: makeIsTrusted(["192.0.2.0/24"]),
  });
  const client = openRaw();
  client.write("GET /ok HTTP/1.1\r\nhost: a\r\nx-forwarded-for: 192.0.2.1\r\n\r\n");

  await new Promise((closed) => client.once("close", closed).resume());

  assert.equal(client.bytesRead, 0);
  assert.deepEqual(refused, ["plain HTTP from an address that is no trusted proxy"]);
});

test("openssl finds a server of TLS 1.3", async (t) => {
  const { port, made } = await serve(t);

  const words = ["s_client", "-connect", `127.0.0.1:${port}`, "-CAfile", made.pathOf("first.pem")];
  const running = promisify(execFile)("openssl", [...words, "-verify_return_error", "-brief"]);
  running.child.stdin?.end();

  assert.match((await running).stderr, /Protocol version: TLSv1\.3.*Verification: OK/s);
});

const quiet = { handshakeTimeoutMs: 5_000, onFault: () => undefined, onRenewed: () => undefined };

async function serve(t: TestContext, bounds: Partial<Bounds> = {}, handshakeTimeoutMs = 5_000) {
  const made = makeCertificates(t);
  made.issue("first");
  const install = (name: string) => {
    for (const end of ["pem", "key"]) {
      copyFileSync(made.pathOf(`${name}.${end}`), made.pathOf(`own.${end}`));
    }
  };
  install("first");
  const faults: string[] = [];
  const tls = await openTls({
    certificateFile: made.pathOf("own.pem"),
    keyFile: made.pathOf("own.key"),
    ...quiet,
    handshakeTimeoutMs,
    onFault: (cause) => void faults.push(cause),
  });
  const served = await servePlain(t, bounds, tls);
  const open = (options: ConnectionOptions = {}): TLSSocket => {
    const { port } = served;
    const client = connect({ ...options, port, host: "127.0.0.1", rejectUnauthorized: false });
    t.after(() => client.destroy());
    return client.on("error", () => undefined);
  };
  return { ...served, tls, made, install, faults, open };
}

async function servePlain(
  t: TestContext,
  bounds: Partial<Bounds>,
  tls?: Awaited<ReturnType<typeof openTls>>,
) {
  const refused: string[] = [];
  const onRefused: Bounds["onRefused"] = (cause) => void refused.push(cause);
  const answer = () => ({ status: 200, headers: {}, body: "ok" });
  const server = makeServer({
    bounds: { ...bounds, onRefused },
    isSecure: true,
    answerError: ({ status }) => ({ contentType: "text/plain", body: String(status) }),
    ...(tls && { open: (times, receive) => tls.open(times, receive, onRefused) }),
    routes: [
      { method: "GET", path: "/ok", answer: async () => answer() },
      { method: "GET", path: "/waits", answer: () => new Promise(() => undefined) },
    ],
  });
  const port = await server.listen({ host: "127.0.0.1", port: 0 });
  const clients = new Set<Socket>();
  t.after(async () => {
    for (const client of clients) client.destroy();
    await server.close().catch(() => undefined);
  });
  const openRaw = (): Socket => {
    const client = connectPlain(port, "127.0.0.1").on("error", () => undefined);
    clients.add(client);
    return client;
  };
  return { server, port, refused, openRaw };
}

async function ask(port: number, options: RequestOptions): Promise<string> {
  const target = { host: "127.0.0.1", port, path: "/ok", ...options };
  const asked = request(target).end();
  const [answer] = await once(asked, "response");
  return text(answer);
}

/** Returns the name in the certificate that a new connection gets. */
async function nameShown(t: TestContext, port: number): Promise<string | undefined> {
  const client = connect({ port, host: "127.0.0.1", rejectUnauthorized: false });
  t.after(() => client.destroy());
  await once(client, "secureConnect");
  const { subject } = client.getPeerCertificate();
  client.destroy();
  return String(subject.CN);
}
