/** A gate is changed while payments continue. A change that needs no new link keeps its link. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { testOnEachDialect } from "../../support/bank/dialects.ts";
import { connectionsOf, countSignOns, gateOf, untilConnections } from "../../support/bank/links.ts";
import { startTrapProxy } from "../../support/bank/trap-proxy.ts";
import { atEnd } from "../../support/clean-up.ts";
import { received } from "../../support/expect.ts";
import type { Acknowledged } from "../../support/merchant.ts";
import { runGw } from "../../support/programs.ts";
import { until, untilTrue } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";

const drainMs = 10_000;
const settings = { GW_LINK_WAIT_S: "1", GW_DRAIN_S: String(drainMs / 1000) };

type Merchant = ReturnType<World["merchant"]>;

testOnEachDialect(
  "a fee, a descriptor or a field of the messages changes without a new link",
  async (t, { through }) => {
    const world = await startWorld(t, settings);
    const merchant = world.merchant(through);
    const { name } = await gateOf(world, through);
    const signOns = countSignOns(world);

    await world.setGate(name, {
      fee: { percent: "1.5" },
      descriptor: "NEW SHOP",
      terminalId: "T2",
    });
    const changed = await until("the change counts", async () => {
      const sale = await merchant.sale();
      await world.settle();
      const status = await merchant.status(sale);
      return status.descriptor === "NEW SHOP" ? status : undefined;
    });

    const [message] = world.bank.messages(changed["processor-rrn"]);
    assert.equal(message?.fields["41"]?.trim(), "T2");
    assert.equal(countSignOns(world), signOns);
    assert.equal(changed.status, "approved");
  },
);

testOnEachDialect(
  "another address takes the payments over, and none of them fails",
  async (t, { through, mti }) => {
    const world = await startWorld(t, settings);
    const merchant = world.merchant(through);
    const gate = await gateOf(world, through);
    const lines = [await startTrapProxy(gate), await startTrapProxy(gate)] as const;
    atEnd(t, () => Promise.all(lines.map((line) => line.close())));
    await world.changeGate(gate.name, { port: lines[0].port });
    const signOns = countSignOns(world);

    const orders: Acknowledged[] = [];
    const isUnderWay = () => countSignOns(world) > signOns;
    await payWhile(merchant, orders, () => orders.length < 20);
    const changing = world.setGate(gate.name, { port: lines[1].port });
    await payWhile(merchant, orders, () => !isUnderWay());
    await changing;
    await payWhile(merchant, orders, () => orders.length < 100);
    await world.settle();
    await untilTrue("the old link is closed", () => isClosed(world, lines[0].port));
    // Only the new line remains.
    lines[0].shut();
    const last = await merchant.sale();
    await world.settle();

    for (const order of [...orders, last]) {
      assert.equal((await merchant.status(order)).status, "approved");
    }
    assert.equal(received(world, mti("0420")) + received(world, mti("0600")), 0);
  },
);

async function payWhile(
  merchant: Merchant,
  orders: Acknowledged[],
  isWanted: () => boolean,
): Promise<void> {
  while (isWanted()) orders.push(...(await Promise.all([merchant.sale(), merchant.sale()])));
}

function isClosed({ logged }: World, port: number): boolean {
  return logged.some((line) => line.includes('"closed"') && line.includes(`:${port}"`));
}

testOnEachDialect(
  "an answer that is on its way over the old link is waited for",
  async (t, { through, mti }) => {
    const world = await startWorld(t, settings);
    const merchant = world.merchant(through);
    const gate = await gateOf(world, through);
    const line = await startTrapProxy(gate);
    atEnd(t, () => line.close());
    await world.changeGate(gate.name, { port: line.port });
    line.hold();
    const before = await merchant.sale();
    await untilTrue("the bank has it", () => received(world, mti("0200")) === 1);

    await world.setGate(gate.name, { port: gate.port });
    await untilTrue("the old link is closing", () => isClosed(world, line.port));
    const after = await merchant.sale();
    await untilTrue("the bank has both", () => received(world, mti("0200")) === 2);
    line.release();
    await world.settle();

    assert.equal((await merchant.status(before)).status, "approved");
    assert.equal((await merchant.status(after)).status, "approved");
    assert.equal(received(world, mti("0420")) + received(world, mti("0600")), 0);
  },
);

testOnEachDialect(
  "a wrong address takes no payment until the old link is drained, and can be put right",
  async (t, { through }) => {
    const world = await startWorld(t, settings);
    const merchant = world.merchant(through);
    const { name, port } = await gateOf(world, through);

    await world.setGate(name, { port: 1 });
    await untilConnections(world, name, "0 of 1");
    // A second mistake does not remove the link that is in use.
    await world.setGate(name, { port: 2 });
    await untilTrue("it is tried", () => world.logged.some((line) => line.includes(':2"')));
    const meanwhile = await merchant.sale();
    await world.settle();
    world.clock.advance(drainMs);
    await untilTrue("the old link is closed", () => isClosed(world, port));
    await world.setGate(name, { port });
    await untilConnections(world, name, "1 of 1");
    const after = await merchant.sale();
    await world.settle();

    assert.equal((await merchant.status(meanwhile)).status, "approved");
    assert.equal((await merchant.status(after)).status, "approved");
  },
);

testOnEachDialect(
  "a host that takes one connection gets the new one when the old one is gone",
  async (t, { through }) => {
    const world = await startWorld(t, settings);
    const merchant = world.merchant(through);
    const { name } = await gateOf(world, through);
    await world.bank.setSwitches({ connectionsMax: 1 });
    const tlsRootsFile = join(world.bank.tlsFolder, "host-ca.pem");

    await world.setGate(name, { tls: true, tlsRootsFile });
    await untilConnections(world, name, "0 of 1");
    const over = await merchant.sale();
    await world.settle();
    await untilConnections(world, name, "1 of 1", () => world.clock.advance(1_000));
    const after = await merchant.sale();
    await world.settle();

    assert.equal((await merchant.status(over)).status, "approved");
    assert.equal((await merchant.status(after)).status, "approved");
    assert.equal(await connectionsOf(world, name), "1 of 1");
  },
);

testOnEachDialect("a gate changes its dialect while payments go on", async (t, { through }) => {
  const world = await startWorld(t, settings);
  const merchant = world.merchant(through);
  const { name } = await gateOf(world, through);
  const held = await merchant.preauth();
  await world.settle();
  const signOns = countSignOns(world);
  const isAscii = through === "plain";
  const next = isAscii
    ? { kind: "iso87_binary", port: world.bank.binaryHostPort }
    : { kind: "sandbox", port: world.bank.hostPort };
  await world.installation.database.query("update gates set kind = $2 where name = $1", [
    ...[name, next.kind],
  ]);

  const orders: Acknowledged[] = [];
  await world.setGate(name, { port: next.port });
  await payWhile(merchant, orders, () => countSignOns(world) === signOns);
  await payWhile(merchant, orders, () => orders.length < 20);
  await merchant.capture(held);
  await world.settle();

  for (const order of orders) assert.equal((await merchant.status(order)).status, "approved");
  assert.equal((await merchant.status(held))["order-stage"], "capture_approved");
});

test("a gate keeps its host while an order needs it, and a new host's answer about that order is ignored", async (t) => {
  // The order stays in doubt, and the bank has booked its charge.
  const settings = { GW_ACQUIRER_ECHO_AFTER_S: "864000" };
  const world = await startWorld(t, settings, { keepsBooks: false });
  const merchant = world.merchant();
  const name = "sandbox";
  await world.bank.setSwitches({ reversalCode: "96" });
  const sale = await merchant.sale({ credit_card_number: "4000004000000129" });
  await untilTrue("the bank has it", () => received(world, "0200") === 1);
  for (let count = 0; count < 3; count += 1) await world.pass(40_000);
  const change = ["gate", "set", name, "--merchant-code", "OTHER"];

  const refused = await runGw(world, ...change);
  const harmless = await runGw(world, "gate", "set", name, "--fee", "1%");
  const unexplained = await runGw(world, ...change, "--force");
  const forced = await runGw(world, ...change, "--force", "--why", "the acquirer has moved us");
  // A running gateway gets the change shortly afterwards.
  await world.restart();
  await world.bank.setSwitches({ reversalCode: "25" });
  const before = received(world, "0421");
  for (let count = 0; count < 6; count += 1) await world.pass(300_000);

  assert.match(refused.complaint, /^Open orders need the host of the gate/m);
  assert.match(unexplained.complaint, /force also needs a reason/);
  assert.deepEqual([refused.code, unexplained.code, harmless.code, forced.code], [2, 2, 0, 0]);
  assert.ok(received(world, "0421") > before, "the reversal goes on");
  assert.match((await merchant.status(sale))["order-stage"] ?? "", /_unknown$/);
  const reversals = world.bank.messages().filter(({ mti }) => mti === "0421");
  assert.ok(reversals.every(({ fields }) => fields["42"]?.trim() !== "OTHER"));
});
