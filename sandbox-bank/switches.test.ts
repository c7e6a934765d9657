/** The effects of the sandbox bank's switches on a gateway. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { BadRequest } from "./http.ts";
import { Switchboard } from "./switches.ts";
import { booked, startTestBank } from "./testing/bank-for-tests.ts";
import { charge, echo, network, TestGateway, testDialects } from "./testing/gateway.ts";

test("a share of the sales is declined, and the same seed declines the same ones", async (t) => {
  const bank = await startTestBank(t);
  const gateway = await TestGateway.signOn(bank.hostPort);
  t.after(() => gateway.close());
  const run = async () => {
    await bank.setSwitches({ declineShare: 0.3, seed: 42 });
    const codes: (string | undefined)[] = [];
    for (let count = 0; count < 200; count += 1)
      codes.push((await gateway.ask(charge())).fields[39]);
    return codes;
  };

  const codes = await run();

  const declined = codes.filter((code) => code === "05").length;
  assert.ok(declined > 40 && declined < 80, `${declined} of 200`);
  assert.equal(codes.filter((code) => code === "00").length, 200 - declined);
  assert.deepEqual(await run(), codes);
});

test("a lost answer is booked and not sent", async (t) => {
  const bank = await startTestBank(t);
  const gateway = await TestGateway.signOn(bank.hostPort);
  t.after(() => gateway.close());
  await bank.setSwitches({ lostAnswerShare: 1 });

  const sale = charge();
  gateway.send(sale, echo);

  assert.equal((await gateway.answer()).mti, "0810");
  assert.deepEqual(booked(bank, sale.fields[37]), ["sale 1000"]);
});

for (const dialect of testDialects) {
  test(`a host that is down comes back on the same port, ${dialect.name}`, async (t) => {
    const bank = await startTestBank(t);
    const port = dialect.portOf(bank);
    const gateway = await TestGateway.signOn(port, dialect);

    await bank.setSwitches({ hostDown: true });
    await gateway.closed;
    const refused = connect(port, "127.0.0.1");
    await assert.rejects(once(refused, "connect"), /ECONNREFUSED/);

    await bank.setSwitches({ hostDown: false });
    const again = await TestGateway.signOn(port, dialect);
    t.after(() => again.close());
    assert.equal((await again.ask(again.charge())).fields[39], "00");
  });

  test(`a refused sign-on is answered 91, and no sale taken after it, ${dialect.name}`, async (t) => {
    const bank = await startTestBank(t);
    await bank.setSwitches({ refuseSignOn: true });
    const gateway = await TestGateway.open(dialect.portOf(bank), dialect);

    assert.equal((await gateway.ask(network("001"))).fields[39], "91");
    gateway.send(gateway.charge());
    await gateway.closed;
  });
}

test("latency delays answers without delaying later requests", async (t) => {
  const bank = await startTestBank(t);
  const gateway = await TestGateway.signOn(bank.hostPort);
  t.after(() => gateway.close());
  await bank.setSwitches({ latencyMedianMs: 20 });

  gateway.send(charge(), echo);

  assert.equal((await gateway.answer()).mti, "0810");
  assert.equal((await gateway.answer()).mti, "0210");
});

test("latency is fixed by the median alone and log-normal with the p99", () => {
  const board = new Switchboard();
  assert.equal(board.nextLatencyMs(), 0);
  board.set({ latencyMedianMs: 120 });
  assert.equal(board.nextLatencyMs(), 120);
  board.set({ latencyP99Ms: 380 });

  const drawn = Array.from({ length: 20_000 }, () => board.nextLatencyMs()).sort((a, b) => a - b);

  assert.ok(Math.abs((drawn[10_000] ?? 0) - 120) < 5);
  assert.ok(Math.abs((drawn[19_800] ?? 0) - 380) < 30);
});

test("an unknown switch or an invalid value changes nothing, and the error says why", () => {
  const board = new Switchboard();
  const before = board.current;
  // biome-ignore format: a table
  const rows: readonly (readonly [unknown, RegExp])[] = [
    [null,                                     /a JSON object/],
    [[],                                       /a JSON object/],
    [{ hostdown: true },                       /no switch called "hostdown"/],
    [{ constructor: 1 },                       /no switch called "constructor"/],
    [{ hostDown: "yes" },                      /hostDown takes true or false/],
    [{ declineShare: 1.5 },                    /declineShare takes a number from 0 to 1/],
    [{ declineShare: "0.5" },                  /declineShare takes a number/],
    [{ latencyMedianMs: -1 },                  /latencyMedianMs takes a number from 0/],
    [{ latencyMedianMs: 9, latencyP99Ms: 3 },  /latencyP99Ms takes 0 or at least/],
    [{ seed: 1.5 },                            /seed takes a whole number/],
    [{ declineShare: 0.5, seed: "1" },         /seed takes a whole number/],
  ];
  for (const [patch, sentence] of rows) {
    const refused = board.set(patch);
    assert.ok(refused instanceof BadRequest, JSON.stringify(patch));
    assert.match(refused.sentence, sentence);
  }
  assert.deepEqual(board.current, before);
});
