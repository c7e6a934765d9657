/** The gateway's totals of a day, which the acquirer's host compares itself. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Dialect, dialects } from "../../support/bank/dialects.ts";
import { connectionsOf } from "../../support/bank/links.ts";
import { dayOf } from "../../support/bank/settlement.ts";
import { atEnd } from "../../support/clean-up.ts";
import { endOfFile } from "../../support/end-of-file.ts";
import { runGw, runGwWith } from "../../support/programs.ts";
import { startWorld } from "../../support/world.ts";

const world = await startWorld(endOfFile, {}, { sharesClock: true });
const approvedInPart = "4000004000000186";
const [ascii, ...others] = dialects;

type Sums = { readonly count: number; readonly minor: string };
type Report = {
  readonly agrees: boolean;
  readonly totals: readonly {
    readonly currency: string;
    readonly balance: string;
    readonly debits: Sums;
    readonly debitReversals: Sums;
    readonly credits: Sums;
  }[];
};

function testWithTotals(title: string, body: (t: TestContext, dialect: Dialect) => Promise<void>) {
  for (const dialect of others) test(`${dialect.name}: ${title}`, (t) => body(t, dialect));
}

async function compare(gate: string, day = dayOf(world), settings = {}) {
  const { installation, dataDir } = world;
  const words = ["--gate", gate, "--day", day, "--totals", "--json"];
  const { code, printed, complaint } = await runGw(
    { installation, dataDir, settings },
    "reconcile",
    ...words,
  );
  const report: Report | undefined = printed === "" ? undefined : JSON.parse(printed);
  return { code, complaint, report };
}

async function setGate(gate: string, ...options: readonly string[]): Promise<void> {
  const { code, complaint } = await runGw(world, "gate", "set", gate, ...options);
  assert.equal(code, 0, complaint);
  await world.restart();
}

testWithTotals("a day of payments is in balance", async (_, { through, gate, mti }) => {
  const merchant = world.merchant(through);
  const sale = await merchant.sale({ amount: "10.15" });
  const kept = await merchant.sale({ amount: "5.00" });
  const held = await merchant.preauth({ amount: "20.00" });
  await merchant.preauth({ amount: "30.00" });
  // This charge is reversed at once, so neither side counts it.
  await merchant.sale({ credit_card_number: approvedInPart });
  await world.settle();
  await merchant.return(sale, { amount: "3.00" });
  await merchant.capture(held, { amount: "15.00" });
  await world.settle();
  await setGate(gate, "--refund-after", "always");
  await merchant.return(kept, { amount: "2.00" });
  await world.settle();
  await setGate(gate, "--refund-after", "never");
  const before = await connectionsOf(world, gate);

  const { code, report, complaint } = await compare(gate);

  assert.equal(code, 0, complaint + JSON.stringify(report));
  const usd = report?.totals.find(({ currency }) => currency === "USD");
  assert.deepEqual(usd, {
    currency: "USD",
    balance: "in balance",
    debits: { count: 3, minor: "3015" },
    debitReversals: { count: 1, minor: "300" },
    credits: { count: 1, minor: "200" },
  });
  const types = world.bank.messages(undefined).map((message) => message.mti);
  assert.ok(types.includes(mti("0500")) && types.includes(mti("0510")));
  assert.equal(await connectionsOf(world, gate), before);
});

testWithTotals("text names each currency and the result", async (_, { gate }) => {
  const { code, printed } = await runGw(
    ...[world, "reconcile", "--gate", gate, "--day", dayOf(world), "--totals"],
  );

  assert.equal(code, 0);
  assert.match(printed, /result +in balance/);
  assert.match(printed, /USD +3 +30\.15 +1 +3\.00 +1 +2\.00 +in balance/);
});

testWithTotals("a falsified ledger is out of balance", async (t, { gate }) => {
  atEnd(t, () => world.bank.setSwitches({ settlementDefects: 0 }));
  await world.bank.setSwitches({ settlementDefects: 1 });

  const { code, report } = await compare(gate);

  assert.equal(code, 1);
  assert.equal(report?.agrees, false);
  assert.equal(report?.totals[0]?.balance, "out of balance");
});

testWithTotals("money that only the host has is out of balance", async (_, { gate, through }) => {
  const merchant = world.merchant(through);
  await merchant.sale({ amount: "1.00" });
  await world.settle();
  const right = await compare(gate);
  // An order is removed, as if the gateway had lost it. The other rows stay.
  const { query } = world.installation.database;
  const [latest] = await query<{ id: string; later: string }>(
    `select id, (accepted_at + interval '3 days')::text as later from orders
     order by id desc limit 1`,
  );
  await query("update orders set accepted_at = $2 where id = $1", [latest?.id, latest?.later]);

  const wrong = await compare(gate);

  assert.deepEqual([right.code, wrong.code], [0, 1], right.complaint + wrong.complaint);
});

testWithTotals("an empty day is asked about in the gate's currencies", async (t, { gate }) => {
  const nothing = await compare(gate, "2001-02-03");
  atEnd(t, () => setGate(gate, "--currencies", "all"));
  await setGate(gate, "--currencies", "EUR,USD");

  const { code, report } = await compare(gate, "2026-01-02");

  assert.equal(nothing.code, 2);
  assert.match(nothing.complaint, /Nothing moved through/);
  assert.equal(code, 0);
  assert.deepEqual(
    report?.totals.map(({ currency, balance }) => `${currency} ${balance}`),
    ["EUR in balance", "USD in balance"],
  );
});

test("a dialect without the message, or a command without a subject, ends with 2", async () => {
  const gate = ascii?.gate ?? "";
  await world.merchant(ascii?.through ?? "").sale();
  await world.settle();

  const without = await compare(gate);
  const neither = await runGw(world, "reconcile", "--gate", gate, "--day", dayOf(world));
  const both = await runGw(
    ...[
      world,
      "reconcile",
      "--gate",
      gate,
      "--day",
      dayOf(world),
      "--totals",
      import.meta.filename,
    ],
  );

  assert.deepEqual([without.code, neither.code, both.code], [2, 2, 2]);
  assert.match(without.complaint, /The dialect sandbox has no message for totals/);
  for (const { complaint } of [neither, both]) assert.match(complaint, /or totals/);
});

test("a host that is silent after the sign-on ends with 2", async (t) => {
  const { gate = "" } = others[0] ?? {};
  // Network messages are answered at once, all others after this time.
  atEnd(t, () => world.bank.setSwitches({ latencyMedianMs: 0 }));
  await world.bank.setSwitches({ latencyMedianMs: 600_000 });

  const brief = { GW_ACQUIRER_ANSWER_TIMEOUT_S: "2" };
  const { code, complaint, report } = await compare(gate, dayOf(world), brief);

  assert.equal(code, 2);
  assert.match(complaint, /The host has not answered the totals in USD: timeout/);
  assert.equal(report, undefined);
});

testWithTotals("totals travel over mutual TLS, with message authentication", async (t, dialect) => {
  const { gate } = dialect;
  const key = "2B7E151628AED2A6ABF7158809CF4F3C";
  const file = (name: string) => join(world.bank.tlsFolder, name);
  atEnd(t, () => world.bank.setSwitches({ macKeys: null, demandCertificate: false }));
  await world.bank.setSwitches({ macKeys: `cmac-8:${key}`, demandCertificate: true });
  const tls = await runGw(
    ...[world, "gate", "set", gate, "--tls", "on", "--tls-roots", file("host-ca.pem")],
    ...["--tls-certificate", file("host-client.pem"), "--tls-key", file("host-client.key")],
  );
  assert.equal(tls.code, 0, tls.complaint);

  const without = await compare(gate);
  const set = ["gate", "mac-key", "set", gate, "--algorithm", "cmac"];
  const keyed = await runGwWith(`${key}\n`, world, ...set);
  const authenticated = await compare(gate);

  assert.equal(keyed.code, 0, keyed.complaint);
  assert.equal(without.code, 2);
  assert.match(without.complaint, /39 is 98|sign-on: 916/);
  // An earlier test has taken an order out of the gateway's books.
  assert.equal(authenticated.code, 1, authenticated.complaint);
  assert.equal(authenticated.report?.totals[0]?.balance, "out of balance");
});

testWithTotals("a host that is down ends with 2", async (_, { gate }) => {
  const set = await runGw(world, "gate", "set", gate, "--host", "127.0.0.1:1");
  assert.equal(set.code, 0, set.complaint);

  const { code, complaint, report } = await compare(gate);

  assert.equal(code, 2);
  assert.match(complaint, /The host at 127\.0\.0\.1:1 cannot be asked: ECONNREFUSED/);
  assert.equal(report, undefined);
});
