/** Who gets in where results are posted: chains, resumed sessions, renewed and useless files. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as connectPlain } from "node:net";
import { test } from "node:test";
import { connect, type SecureVersion, type TLSSocket } from "node:tls";
import { TestClock } from "../acquirers/iso8583-host/testing/test-clock.ts";
import { makeCertificates } from "../threeds/directories/testing/certificates.ts";
import {
  type Authority,
  type Limits,
  type ResultsServer,
  startResultsServer,
} from "./results-server.ts";

type Test = Parameters<typeof makeCertificates>[0] & { after(clean: () => Promise<void>): void };
type World = Awaited<ReturnType<typeof start>>;

for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
  test(`${version}: a certificate of an intermediate is taken also from one who resumes`, async (t) => {
    const world = await start(t);
    const first = await post(world, version);

    const second = await post(world, version, first.session);

    assert.deepEqual([first.status, second.status], ["200", "200"]);
    assert.equal(second.isReused, false);
  });
}

test("after an update no session is resumed either", async (t) => {
  const world = await start(t);
  world.server.update();
  const first = await post(world, "TLSv1.2");

  const second = await post(world, "TLSv1.2", first.session);

  assert.deepEqual([second.status, second.isReused], ["200", false]);
});

test("our own certificate can be renewed; one without its key is not taken over", async (t) => {
  const world = await start(t);
  const { made, server } = world;
  made.issue("renewed", "root");
  const before = (await post(world, "TLSv1.3")).shown;

  server.update({ certificate: made.read("renewed.pem"), key: made.read("renewed.key") });
  const after = (await post(world, "TLSv1.3")).shown;
  const mixed = { certificate: made.read("own.pem"), key: made.read("renewed.key") };
  assert.throws(() => server.update(mixed));
  server.update();
  const kept = (await post(world, "TLSv1.3")).shown;

  assert.deepEqual([before, after, kept], ["own", "renewed", "renewed"]);
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

test("whoever stays silent is let go, and more than so many are not let in", async (t) => {
  const { server, clock, causes } = await start(t, { connectionsMax: 2, handshakeTimeoutMs: 200 });

  const silent = [1, 2, 3].map(() => connectPlain(server.port, "127.0.0.1").resume());
  await Promise.all(silent.map((socket) => once(socket, "close")));

  clock.move(60_000);
  assert.equal(causes[0], "too many connections");
  assert.match(causes[1] ?? "", /handshake timeout/i);
});

async function start(t: Test, limits?: Limits) {
  const made = makeCertificates(t);
  made.issue("root", undefined, true);
  made.issue("intermediate", "root", true);
  made.issue("directory", "intermediate");
  made.issue("own", "root");
  const clock = new TestClock();
  const refusals: number[] = [];
  const causes: string[] = [];
  const authority: Authority = { certificates: made.read("root.pem"), name: "directory" };
  const server = await startResultsServer({
    ...{ host: "127.0.0.1", port: 0, clock },
    own: { certificate: made.read("own.pem"), key: made.read("own.key") },
    authorities: () => new Map([["visa", authority]]),
    takeResult: async () => "{}",
    onRefused(cause, count) {
      causes.push(cause);
      refusals.push(count);
    },
    onCrash: (error) => assert.fail(String(error)),
    ...(limits === undefined ? {} : { limits }),
  });
  t.after(() => server.stop());
  return { made, clock, refusals, causes, server };
}

/** As a directory server does, on a connection of its own; with the session of an earlier one. */
async function post({ made, server }: World, version: SecureVersion, session?: Buffer) {
  const socket = connect({
    ...{ host: "127.0.0.1", port: server.port, minVersion: version, maxVersion: version },
    ...{ ca: made.read("root.pem"), key: made.read("directory.key") },
    cert: made.read("directory.pem") + made.read("intermediate.pem"),
    ...(session === undefined ? {} : { session }),
  });
  const sessions: Buffer[] = [];
  socket.on("session", (given) => sessions.push(given));
  await once(socket, "secureConnect");
  const status = await postOn(socket);
  const told = {
    ...{ status, shown: socket.getPeerCertificate().subject.CN },
    isReused: socket.isSessionReused(),
    session: sessions.at(-1) ?? socket.getSession(),
  };
  socket.destroy();
  return told;
}

async function postOn(socket: TLSSocket): Promise<string | undefined> {
  socket.write(
    "POST /results/visa HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n" +
      "Content-Length: 2\r\n\r\n{}",
  );
  const [answer] = await once(socket, "data");
  return String(answer).split(" ")[1];
}

async function failHandshake({ port }: ResultsServer): Promise<void> {
  const socket = connectPlain(port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.end("this is no handshake");
  socket.resume();
  await once(socket, "close");
}
