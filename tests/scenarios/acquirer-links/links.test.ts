/**
 * Several connections per gate: one is lost, all are lost for a short or a long time, and hosts
 * answer on another connection, refuse a sign-on, stay silent or send invalid data on one of them.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { test } from "node:test";
import { testOnEachDialect } from "../../support/bank/dialects.ts";
import {
  connectionsOf,
  gateOf,
  startTwoLines,
  untilConnections,
} from "../../support/bank/links.ts";
import { atEnd, type Test } from "../../support/clean-up.ts";
import { bookedFor, received } from "../../support/expect.ts";
import { readGw, runGw } from "../../support/programs.ts";
import { untilTrue } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";

const waitMs = 1_000;
/** The gateway has tried to connect again by then. */
const firstTryMs = 250;
const settings = { GW_LINK_WAIT_S: String(waitMs / 1000) };

testOnEachDialect(
  "a lost connection puts its own requests in doubt; the other goes on",
  async (t, { through, inquires, mti }) => {
    const world = await startWorld(t, settings);
    const merchant = world.merchant(through);
    const { gate, lines } = await startTwoLines(t, world, through);

    for (const line of lines) line.hold();
    const sales = [await merchant.sale(), await merchant.sale()];
    await untilTrue("the bank has both", () => received(world, mti("0200")) === 2);
    lines[0].shut();
    await untilConnections(world, gate.name, "1 of 2");
    lines[1].release();
    await world.settle();
    const after = await merchant.sale();
    await world.settle();

    const stages = await Promise.all(
      sales.map(async (sale) => (await merchant.status(sale)).status),
    );
    assert.deepEqual(stages.toSorted(), ["approved", inquires ? "approved" : "error"]);
    assert.equal(received(world, mti(inquires ? "0600" : "0420")), 1);
    assert.equal((await merchant.status(after)).status, "approved");
  },
);

testOnEachDialect(
  "requests made while every connection is down go out when one is back within the bound",
  async (t, { through }) => {
    const world = await startWorld(t, settings);
    const merchant = world.merchant(through);
    const { name } = await gateOf(world, through);
    const held = await merchant.preauth();
    const paid = await merchant.sale();
    await world.settle();
    await world.bank.setSwitches({ hostDown: true });
    await untilConnections(world, name, "0 of 1");

    const sale = await merchant.sale();
    await merchant.capture(held);
    await merchant.return(paid);
    const { status: before } = await merchant.status(sale);
    await world.bank.setSwitches({ hostDown: false });
    world.clock.advance(firstTryMs);
    await world.settle();

    assert.equal(before, "processing");
    assert.equal((await merchant.status(sale)).status, "approved");
    assert.equal((await merchant.status(held))["order-stage"], "capture_approved");
    assert.equal((await merchant.status(paid))["order-stage"], "reversal_approved");
  },
);

testOnEachDialect(
  "requests end when no connection is back by the bound, and nothing is sent later",
  async (t, { through, mti }) => {
    const world = await startWorld(t, settings);
    const merchant = world.merchant(through);
    const { name } = await gateOf(world, through);
    const held = await merchant.preauth();
    await world.settle();
    await world.bank.setSwitches({ hostDown: true });
    await untilConnections(world, name, "0 of 1");

    const sale = await merchant.sale();
    const capture = await merchant.capture(held);
    await untilTrue("both wait", () => world.clock.isAwaited(waitMs));
    world.clock.advance(waitMs - 1);
    const { status: before } = await merchant.status(sale);
    world.clock.advance(1);
    await world.settle();
    const ended = await merchant.status(sale);
    await world.startHost();
    await world.pass(60_000);

    assert.equal(before, "processing");
    assert.deepEqual([ended.status, ended["error-code"]], ["error", "5002"]);
    assert.deepEqual([ended["processor-rrn"], ended["terminal-id"]], [undefined, undefined]);
    assert.equal((await merchant.status(capture))["order-stage"], "capture_error");
    assert.deepEqual(bookedFor(world, {}), ["authorisation 1015"]);
    assert.equal(received(world, mti("0220")), 0);
  },
);

test("an order waits for a link only while none of its gates has one", async (t) => {
  const world = await startWorld(t, settings);
  const merchant = world.merchant();
  await world.placeGates("plain", [
    ["sandbox", 1, 1],
    ["sandbox-binary", 2, 1],
  ]);
  const { host, port } = await gateOf(world, "binary");
  await world.changeGate("sandbox", { host, port: 1 }, "sandbox");

  const direct = await merchant.sale();
  await world.settle();
  await world.bank.setSwitches({ hostDown: true });
  await untilConnections(world, "sandbox-binary", "0 of 1");
  const waiting = await merchant.sale();
  await world.bank.setSwitches({ hostDown: false });
  world.clock.advance(firstTryMs);
  await world.settle();

  assert.equal(port, world.bank.binaryHostPort);
  assert.equal((await merchant.status(direct)).status, "approved");
  assert.equal((await merchant.status(waiting)).status, "approved");
});

testOnEachDialect(
  "an answer is taken from whichever connection it comes over",
  async (t, { through }) => {
    const world = await startWorld(t, settings);
    const merchant = world.merchant(through);
    await startTwoLines(t, world, through);
    await world.bank.setSwitches({ answersElsewhere: true });

    const held = await Promise.all(Array.from({ length: 10 }, () => merchant.preauth()));
    await world.settle();
    await Promise.all(held.map((order) => merchant.capture(order)));
    await world.settle();

    const statuses = await Promise.all(held.map((order) => merchant.status(order)));
    assert.ok(statuses.every((status) => status["order-stage"] === "capture_approved"));
    assert.equal(world.logged.filter((line) => line.includes("message_unmatched")).length, 0);
  },
);

testOnEachDialect(
  "an approval that arrives over another connection after its own was lost is reversed",
  async (t, { through, mti }) => {
    const world = await startWorld(t, settings);
    const merchant = world.merchant(through);
    const { gate, lines } = await startTwoLines(t, world, through);
    const lateAnswer = "4000004000000145";

    // Links are used in turn, so one of two sales is on the line that is cut.
    const sales = [
      await merchant.sale({ credit_card_number: lateAnswer }),
      await merchant.sale({ credit_card_number: lateAnswer }),
    ];
    await untilTrue("the bank has both", () => received(world, mti("0200")) === 2);
    lines[0].shut();
    await untilConnections(world, gate.name, "1 of 2");
    await world.pass(30_000);
    await world.pass(60_000);

    for (const sale of sales) {
      const status = await merchant.status(sale);
      assert.equal(status.status, "error");
      const books = bookedFor(world, status);
      const [charges, reversals] = ["sale", "reversal"].map(
        (kind) => books.filter((entry) => entry.startsWith(kind)).length,
      );
      assert.equal(charges, reversals);
    }
  },
);

testOnEachDialect(
  "a gate is ready with one connection when the host takes no more, and does not insist",
  async (t, { through }) => {
    const world = await startWorld(t, settings);
    const merchant = world.merchant(through);
    const { name } = await gateOf(world, through);
    await world.bank.setSwitches({ connectionsMax: 1 });
    await world.changeGate(name, { connections: 3 });
    const downs = () => world.logged.filter((line) => line.includes('"acquirer.link_down"')).length;
    const before = downs();

    for (let second = 0; second < 60; second += 1) {
      const seen = downs();
      world.clock.advance(1_000);
      await untilTrue("tries have ended", () => downs() >= seen);
      await connectionsOf(world, name);
    }
    const sale = await merchant.sale();
    await world.settle();

    assert.equal(await connectionsOf(world, name), "1 of 3");
    assert.equal((await merchant.status(sale)).status, "approved");
    // Each of two links tries again after a quarter of a second, a half, one, two … up to 30
    // seconds.
    assert.ok(downs() - before <= 2 * 12, `${downs() - before} tries`);
  },
);

testOnEachDialect(
  "a sign-on that is refused on one connection leaves the other in service",
  async (t, { through }) => {
    const world = await startWorld(t, settings);
    const merchant = world.merchant(through);
    const { gate, lines } = await startTwoLines(t, world, through);
    await world.bank.setSwitches({ refuseSignOn: true });
    lines[0].shut();
    await untilConnections(world, gate.name, "1 of 2");
    lines[0].reset();
    world.clock.advance(firstTryMs);
    await untilTrue("it is refused", () => world.logged.some((line) => /sign-on: /.test(line)));

    const sale = await merchant.sale();
    await world.settle();
    assert.equal((await merchant.status(sale)).status, "approved");

    await world.bank.setSwitches({ refuseSignOn: false });
    await untilConnections(world, gate.name, "2 of 2", () => world.clock.advance(1_000));
  },
);

// biome-ignore format: a table
const hostile = [
  { what: "accepts and says nothing",  say: () => undefined },
  { what: "answers with garbage",      say: (socket: Socket) => void socket.write(Buffer.alloc(9_000, 0xff)) },
  { what: "hangs up on every message", say: (socket: Socket) => void socket.destroy() },
];

for (const { what, say } of hostile) {
  test(`a host that ${what} at one address takes nothing from the other`, async (t) => {
    const world = await startWorld(t, settings);
    const merchant = world.merchant();
    const port = await listen(t, say);
    const { name, host } = await gateOf(world, "plain");
    const otherAddresses = [{ host, port }];
    await world.changeGate(name, { otherAddresses });
    // This is longer than the sign-on may take.
    world.clock.advance(10_000);
    await untilTrue("the bad link is lost", () => hasLost(world, `${host}:${port}`));

    const sales = await Promise.all(Array.from({ length: 5 }, () => merchant.sale()));
    await world.settle();

    assert.equal(await connectionsOf(world, name), "1 of 2");
    const statuses = await Promise.all(sales.map((sale) => merchant.status(sale)));
    assert.ok(statuses.every(({ status }) => status === "approved"));
  });
}

function hasLost({ logged }: World, address: string): boolean {
  return logged.some((line) => line.includes('"acquirer.link_down"') && line.includes(address));
}

async function listen(t: Test, say: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("data", () => say(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  atEnd(t, () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

testOnEachDialect(
  "gw gate test signs on and gets an echo, or says why not",
  async (t, { through }) => {
    const world = await startWorld(t, settings);
    const { name } = await gateOf(world, through);

    const good = (await readGw(world, "gate", "test", name)) as Record<string, string>;
    await world.bank.setSwitches({ hostDown: true });
    const down = await runGw(world, "gate", "test", name);

    assert.deepEqual([good["gate"], good["sign-on"]], [name, "accepted"]);
    assert.match(good["echo"] ?? "", /^\d+ ms$/);
    assert.equal(down.code, 2);
    assert.match(down.complaint, /^The host at 127\.0\.0\.1:\d+ cannot be asked: /);
  },
);
