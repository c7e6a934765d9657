/** The clients that may post results: chains, resumed sessions, renewed and unusable files. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect as connectPlain } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { connect, type SecureVersion } from "node:tls";
import { makeCertificates } from "../threeds/testing/certificates.ts";
import { TestClock } from "../values/testing.ts";
import {
  type Authority,
  type Limits,
  openResultsServer,
  type ResultsServer,
  readResultsCertificate,
  startResultsServer,
} from "./results-server.ts";

type Test = Parameters<typeof makeCertificates>[0] & { after(clean: () => Promise<void>): void };
type World = Awaited<ReturnType<typeof start>>;

for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
  test(`${version}: a certificate of an intermediate is taken also from one who resumes`, async (t) => {
    const world = await start(t);
    const first = await post(world, version);

    const second = await post(world, version, { session: first.session });

    assert.deepEqual([first.answered, second.answered], ["200", "200"]);
    assert.equal(second.isReused, false);
  });
}

test("after an update no session is resumed either", async (t) => {
  const world = await start(t);
  world.made.issue("renewed", "root");
  await world.server.renew(async () => identityOf(world, "renewed"));
  const first = await post(world, "TLSv1.2");

  const second = await post(world, "TLSv1.2", { session: first.session });

  assert.deepEqual([second.answered, second.isReused], ["200", false]);
});

test("our own certificate can be renewed; one without its key is not taken over", async (t) => {
  const world = await start(t);
  const { made, server } = world;
  made.issue("renewed", "root");
  const before = (await post(world, "TLSv1.3")).shown;

  await server.renew(async () => identityOf(world, "renewed"));
  const after = (await post(world, "TLSv1.3")).shown;
  const { certificate } = identityOf(world, "own");
  await server.renew(async () => ({ ...identityOf(world, "renewed"), certificate }));
  await server.renew(() => Promise.reject(new Error("no such file")));
  server.update();
  const kept = (await post(world, "TLSv1.3")).shown;

  assert.deepEqual([before, after, kept], ["own", "renewed", "renewed"]);
  assert.equal(world.renewErrors.length, 2);
});

test("handshakes that fail are told of at once, and then once a minute", async (t) => {
  const world = await start(t);
  for (let count = 0; count < 5; count += 1) await failHandshake(world.server);
  const atOnce = world.refusals.length;

  world.clock.move(60_000);
  world.clock.move(60_000);
  await failHandshake(world.server);

  assert.equal(atOnce, 1);
  assert.deepEqual(world.refusals, [1, 4, 1]);
});

test("a silent client is disconnected, and connections beyond the limit are refused", async (t) => {
  const { server, clock, causes } = await start(t, { connectionsMax: 2, handshakeTimeoutMs: 200 });

  const silent = [1, 2, 3].map(() => connectPlain(server.port, "127.0.0.1").resume());
  await Promise.all(silent.map((socket) => once(socket, "close")));

  clock.move(60_000);
  assert.equal(causes[0], "too many connections");
  assert.match(causes[1] ?? "", /handshake timeout/i);
});

test("a result that cannot be stored yet is held for four seconds", async (t) => {
  const world = await start(t, undefined, { isServing: false });

  const early = post(world, "TLSv1.3");
  await untilHeld(world);
  world.clock.move(4_000);
  const held = post(world, "TLSv1.3");
  await untilHeld(world);
  world.server.serve(async () => "{}");
  world.clock.move(200);

  assert.equal((await early).answered, "503");
  assert.equal((await held).answered, "200");
});

async function untilHeld({ clock }: World): Promise<void> {
  while (!clock.pendingMs.includes(200)) await setImmediate();
}

test("an authority that becomes known later is let in after an update", async (t) => {
  const world = await start(t);
  const { made, server, authorities } = world;
  made.issue("other-root", undefined, true);
  made.issue("other", "other-root");
  const other = { ...identityOf(world, "other"), line: "POST /results/other" };
  await assert.rejects(post(world, "TLSv1.2", other));

  authorities.set("other", { certificates: made.read("other-root.pem") });
  server.update();
  const after = await post(world, "TLSv1.2", other);

  assert.equal(after.answered, "200");
});

// biome-ignore format: a table
const requests: readonly (readonly [line: string, type: string, body: string, status: string])[] = [
  ["POST /results/visa",    "application/json;charset=utf-8", "{}",                       "200"],
  ["POST /results/unknown", "application/json",               "{}",                       "404"],
  ["POST /results",         "application/json",               "{}",                       "404"],
  ["POST /results/other",   "application/json",               "{}",                       "403"],
  ["GET /results/visa",     "application/json",               "{}",                       "405"],
  ["POST /results/visa",    "text/plain",                     "{}",                       "415"],
  ["POST /results/visa",    "application/json",               "x".repeat(1_048_577),      "413"],
];

test("a request that is no result is refused with its own status", async (t) => {
  const world = await start(t);
  world.made.issue("other-root", undefined, true);
  world.authorities.set("other", { certificates: world.made.read("other-root.pem") });

  for (const [line, type, body, status] of requests) {
    const { answered } = await post(world, "TLSv1.3", { line, type, body });
    assert.equal(answered, status, `${line} ${type}`);
  }
});

const unset = { resultsCertificateFile: "", resultsKeyFile: "" };

test("without files there is none; the operator's own must be readable", async (t) => {
  const dataDir = await makeFolder(t);
  const missing = { resultsCertificateFile: "/no/own.pem", resultsKeyFile: "/no/own.key" };

  for (const environment of ["staging", "production"] as const) {
    const settings = { environment, dataDir };
    assert.equal(await readResultsCertificate({ ...settings, ...unset }), undefined);
    await assert.rejects(readResultsCertificate({ ...settings, ...missing }), /ENOENT/);
  }
});

test("staging shows the sandbox's certificate unless another is set; production never", async (t) => {
  const dataDir = await makeFolder(t);
  await write(join(dataDir, "bank", "tls"), "gateway");
  await write(join(dataDir, "own"), "own");
  const own = {
    resultsCertificateFile: join(dataDir, "own", "own.pem"),
    resultsKeyFile: join(dataDir, "own", "own.key"),
  };

  const shown = async (environment: "staging" | "production", files: typeof unset) =>
    (await readResultsCertificate({ environment, dataDir, ...files }))?.certificate;

  assert.equal(await shown("staging", unset), "gateway certificate");
  assert.equal(await shown("staging", own), "own certificate");
  assert.equal(await shown("production", unset), undefined);
  assert.equal(await shown("production", own), "own certificate");
});

test("a node with directory servers says so when it has no certificate for them", async (t) => {
  const dataDir = await makeFolder(t);
  const logged: string[] = [];
  const open = (isNeeded: boolean) =>
    openResultsServer({
      settings: {
        ...unset,
        environment: "staging",
        dataDir,
        host: "127.0.0.1",
        resultsPort: 8443,
        resultsUrl: "",
      },
      clock: new TestClock(),
      authorities: () => new Map(),
      isNeeded: () => isNeeded,
      log: (event) => logged.push(event),
    });

  await open(false);
  const needed = await open(true);
  needed.serve(async () => "{}");
  needed.update();
  await needed.renew();
  await needed.stop();

  assert.deepEqual(logged, ["directory.certificate_missing"]);
  assert.equal(needed.urlOf("a b"), "https://127.0.0.1:8443/results/a%20b");
});

async function start(t: Test, limits?: Limits, { isServing = true } = {}) {
  const made = makeCertificates(t);
  made.issue("root", undefined, true);
  made.issue("intermediate", "root", true);
  made.issue("directory", "intermediate");
  made.issue("own", "root");
  const clock = new TestClock();
  const refusals: number[] = [];
  const causes: string[] = [];
  const renewErrors: unknown[] = [];
  const authorities = new Map<string, Authority>([
    ["visa", { certificates: made.read("root.pem"), name: "directory" }],
  ]);
  const server = await startResultsServer({
    host: "127.0.0.1",
    port: 0,
    clock,
    own: identityOf({ made }, "own"),
    authorities: () => authorities,
    onRefused(cause, count) {
      causes.push(cause);
      refusals.push(count);
    },
    onRenewError: (error) => renewErrors.push(error),
    onCrash: (error) => assert.fail(String(error)),
    ...(limits === undefined ? {} : { limits }),
  });
  t.after(() => server.stop());
  if (isServing) server.serve(async () => "{}");
  return { made, clock, refusals, causes, renewErrors, authorities, server };
}

function identityOf({ made }: Pick<World, "made">, name: string) {
  return { certificate: made.read(`${name}.pem`), key: made.read(`${name}.key`) };
}

type Posted = {
  readonly session?: Buffer | undefined;
  readonly certificate?: string;
  readonly key?: string;
  readonly line?: string;
  readonly type?: string;
  readonly body?: string;
};

/** Posts like a directory server: on a new connection with the session of an earlier one. */
async function post({ made, server }: World, version: SecureVersion, posted: Posted = {}) {
  const { session, line = "POST /results/visa", type = "application/json", body = "{}" } = posted;
  const chain = made.read("directory.pem") + made.read("intermediate.pem");
  const socket = connect({
    host: "127.0.0.1",
    port: server.port,
    minVersion: version,
    maxVersion: version,
    ca: made.read("root.pem"),
    cert: posted.certificate ?? chain,
    key: posted.key ?? made.read("directory.key"),
    ...(session === undefined ? {} : { session }),
  });
  const sessions: Buffer[] = [];
  socket.on("session", (given) => sessions.push(given));
  await once(socket, "secureConnect");
  const head = `${line} HTTP/1.1\r\nHost: a\r\nContent-Type: ${type}\r\n`;
  socket.on("error", () => undefined);
  socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`);
  const [answer] = await once(socket, "data");
  const seen = {
    answered: String(answer).split(" ")[1],
    shown: socket.getPeerCertificate().subject.CN,
    isReused: socket.isSessionReused(),
    session: sessions.at(-1) ?? socket.getSession(),
  };
  socket.destroy();
  return seen;
}

async function failHandshake({ port }: ResultsServer): Promise<void> {
  const socket = connectPlain(port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.end("this is no handshake");
  socket.resume();
  await once(socket, "close");
}

async function makeFolder(t: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-results-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function write(folder: string, name: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `${name}.pem`), `${name} certificate`);
  await writeFile(join(folder, `${name}.key`), `${name} key`);
}
