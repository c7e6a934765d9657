/**
 * Connections to a directory server are not reused when they may be stale, and none is cut short.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { systemClock } from "../values/time.ts";
import {
  type DirectoryRequest,
  makeDirectoryClient,
  readCertificates,
} from "./directory-client.ts";
import { type Network, startNetwork } from "./testing/network.ts";

const request: DirectoryRequest = {
  contentType: "text/plain",
  body: "",
  answerBytesMax: 100,
  timeoutMs: 60_000,
};

test("a message that may not be repeated is not, when a kept connection breaks", async (t) => {
  const network = await startNetwork(t);
  const client = await makeClient(network);
  await client.send(network.url, { ...request, body: "first" });

  network.answer = () => undefined;
  const areq = await client.send(network.url, { ...request, body: "AReq" });

  assert.equal(areq, undefined);
  assert.deepEqual(bodiesOf(network), ["first", "AReq"]);
  assert.equal(network.received[0]?.socket, network.received[1]?.socket);
  client.close();
});

test("a message that may be repeated is, on a new connection", async (t) => {
  const network = await startNetwork(t);
  const client = await makeClient(network);
  await client.send(network.url, { ...request, body: "first" });

  const first = network.received[0]?.socket;
  network.answer = ({ socket }) => (socket === first ? undefined : "answered");
  const answer = await client.send(network.url, { ...request, body: "PReq", mayRepeat: true });

  assert.equal(answer, "answered");
  assert.deepEqual(bodiesOf(network), ["first", "PReq", "PReq"]);
  client.close();
});

test("an idle connection is given up before a server would close it", async (t) => {
  const network = await startNetwork(t);
  const client = await makeClient(network);
  await client.send(network.url, request);
  const socket = network.received[0]?.socket;
  assert.ok(socket !== undefined && !socket.closed);

  // The timers of one process fire in their order, even if it is slow, so the client's fires first.
  await pause(4_900);
  const other = await makeClient(network);
  await other.send(network.url, request);

  assert.ok(socket.closed, "it is still open");
  client.close();
  other.close();
});

test("one that is drained closes what is idle at once, and waits for what was asked", async (t) => {
  const network = await startNetwork(t);
  const client = await makeClient(network);
  const { promise: slow, resolve: respond } = Promise.withResolvers<string>();
  network.answer = ({ text }) => (text === "slow" ? slow : "quick");
  const waiting = client.send(network.url, { ...request, body: "slow" });
  await client.send(network.url, { ...request, body: "quick" });
  const idle = network.received.find(({ text }) => text === "quick")?.socket;
  assert.ok(idle !== undefined);

  const closed = once(idle, "close");
  const drained = client.drain();
  await closed;
  respond("late, but there");

  assert.equal(await waiting, "late, but there");
  await drained;
});

async function makeClient(network: Network) {
  network.answer = () => "good";
  const certificates = await readCertificates(network.server("a").settings);
  return makeDirectoryClient(certificates, systemClock, () => undefined);
}

function bodiesOf({ received }: Network): readonly string[] {
  return received.map(({ text }) => text);
}
