/** The link to the sandbox over sockets. Tests move the time and never wait for it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { IsoMessage } from "@tollgate/protocols/iso8583";
import type { Bank } from "@tollgate/sandbox-bank";
import { startTestBank } from "@tollgate/sandbox-bank/testing";
import { sandbox } from "./dialects/sandbox.ts";
import { makeMessages } from "./messages.ts";
import { makeAttempt, settings } from "./testing/attempts.ts";
import { openLink } from "./testing/connections.ts";

const { makeCharge } = makeMessages(sandbox, settings);
const limit = { timeoutMs: 30_000 };

function answered(message: IsoMessage | string): IsoMessage["fields"] {
  assert.ok(typeof message !== "string", `ended as ${message}`);
  return message.fields;
}

test("a link signs on before it takes anything", async (t) => {
  const sandbox = await startTestBank(t);
  const { journal, link, until } = openLink(t, sandbox.hostPort);
  assert.equal(link.state, "connecting");
  assert.equal(await link.send(makeCharge(makeAttempt()), limit), "not_sent");

  await until("online");

  assert.ok(link.isReady());
  const states = journal.entries.map(({ facts }) => facts["state"]);
  assert.deepEqual(states, ["connecting", "signing_on", "online"]);
  const [signOn] = sandbox.messages();
  assert.equal(signOn?.fields["70"], "001");
  const answer = answered(await link.send(makeCharge(makeAttempt()), limit));
  assert.equal(answer[39], "00");
});

test("a link that is refused at sign-on tries again and recovers", async (t) => {
  const sandbox = await startTestBank(t);
  await sandbox.setSwitches({ refuseSignOn: true });
  const { clock, link, until } = openLink(t, sandbox.hostPort, { backOffMinMs: 1_000 });

  assert.equal((await until("down")).facts["why"], "sign-on: 91");
  assert.equal(await link.send(makeCharge(makeAttempt()), limit), "not_sent");
  await sandbox.setSwitches({ refuseSignOn: false });
  clock.move(1_000);

  await until("online");
});

test("a quiet link asks for a sign of life and stays", async (t) => {
  const sandbox = await startTestBank(t);
  const { clock, link, until } = openLink(t, sandbox.hostPort, { echoAfterMs: 60_000 });
  await until("online");

  clock.move(40_000);
  answered(await link.send(makeCharge(makeAttempt()), limit));
  clock.move(59_999);
  answered(await link.send(makeCharge(makeAttempt({ reference: "00000000AC01" })), limit));
  assert.equal(countEchoes(sandbox), 0);

  clock.move(60_000);
  // The sandbox answers in order, so the echo is answered when this request is.
  answered(await link.send(makeCharge(makeAttempt({ reference: "00000000AD01" })), limit));
  assert.equal(countEchoes(sandbox), 1);
  clock.move(59_999);
  assert.equal(link.state, "online");
});

function countEchoes(sandbox: Bank): number {
  const isEcho = sandbox.messages().filter(({ fields }) => fields["70"] === "301");
  return isEcho.filter(({ direction }) => direction === "received").length;
}

test("a link comes back after its host was gone, and waits longer each time", async (t) => {
  const sandbox = await startTestBank(t);
  const limits = { backOffMinMs: 100, backOffMaxMs: 350 };
  const { clock, until } = openLink(t, sandbox.hostPort, limits);
  await until("online");

  await sandbox.setSwitches({ hostDown: true });
  await until("down");
  const waitsMs = [];
  for (let round = 0; round < 4; round += 1) {
    waitsMs.push(clock.pendingMs[0]);
    clock.move(clock.pendingMs[0] ?? 0);
    assert.equal((await until("down")).facts["why"], "ECONNREFUSED");
  }
  assert.deepEqual(waitsMs, [100, 200, 350, 350]);

  await sandbox.setSwitches({ hostDown: false });
  clock.move(350);
  await until("online");
});

test("answers find their requests by reference, when trace numbers are the same", async (t) => {
  const sandbox = await startTestBank(t);
  await sandbox.setSwitches({ latencyMedianMs: 10, latencyP99Ms: 100 });
  const { link, until } = openLink(t, sandbox.hostPort);
  await until("online");

  const attempts = Array.from({ length: 1_000 }, (_, index) =>
    makeAttempt({ reference: `REF${String(index).padStart(9, "0")}`, minor: BigInt(index + 1) }),
  );
  const answers = await Promise.all(
    attempts.map((attempt) => link.send(makeCharge(attempt), limit)),
  );

  for (const [index, answer] of answers.entries()) {
    assert.equal(Number(answered(answer)[4]), index + 1);
  }
});

test("a request that is asked twice at once is sent once, and both get the answer", async (t) => {
  const sandbox = await startTestBank(t);
  const { link, until } = openLink(t, sandbox.hostPort);
  await until("online");
  const sale = makeCharge(makeAttempt());

  const [first, second] = await Promise.all([link.send(sale, limit), link.send(sale, limit)]);

  assert.equal(first, second);
  assert.equal(sandbox.ledger().length, 1);
});

test("a link that is closed waits for its answers, signs off and ends", async (t) => {
  const sandbox = await startTestBank(t);
  await sandbox.setSwitches({ latencyMedianMs: 30 });
  const { link, until } = openLink(t, sandbox.hostPort);
  await until("online");

  const sale = link.send(makeCharge(makeAttempt()), limit);
  const closed = link.close();
  const refused = link.send(makeCharge(makeAttempt({ reference: "00000000AC01" })), limit);

  assert.equal(await refused, "not_sent");
  assert.equal(answered(await sale)[39], "00");
  await closed;
  const received = sandbox.messages().filter(({ direction }) => direction === "received");
  assert.deepEqual(
    received.map(({ mti, fields }) => fields["70"] ?? mti),
    ["001", "0200", "002"],
  );
});

test("a link that is down can be closed, and does not come back", async (t) => {
  const sandbox = await startTestBank(t);
  await sandbox.setSwitches({ hostDown: true });
  const { clock, link, until } = openLink(t, sandbox.hostPort);
  await until("down");

  await link.close();

  assert.equal(link.state, "closed");
  assert.deepEqual(clock.pendingMs, []);
});
