/** The settlement file, genuine and falsified. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestBank } from "./testing/bank-for-tests.ts";
import { binaryDialect, charge, follow, TestGateway } from "./testing/gateway.ts";

test("the file has the movements of money of a gate and a day, and no holds", async (t) => {
  const bank = await startTestBank(t);
  const gateway = await TestGateway.signOn(bank.hostPort);
  t.after(() => gateway.close());
  const [sale, hold, released] = [charge(), charge({ mti: "0100" }), charge({ mti: "0100" })];
  for (const request of [sale, hold, released]) await gateway.ask(request);
  await gateway.ask(follow("0400", sale, { remaining: 700 }));
  await gateway.ask(follow("0220", hold, { amount: 600 }));
  await gateway.ask(follow("0400", hold, { remaining: 500 }));
  await gateway.ask(follow("0400", released));
  const other = await TestGateway.signOn(bank.binaryHostPort, binaryDialect);
  t.after(() => other.close());
  await other.ask(other.charge());
  const day = bank.ledger()[0]?.at.slice(0, 10) ?? "";

  const read = async (query: string) => {
    const text = await (await fetch(`${bank.url}/settlement?${query}`)).text();
    return text.trimEnd().split("\n");
  };
  const [header, ...lines] = await read(`gate=sandbox&day=${day}`);

  assert.equal(header, "reference,kind,amount,currency,at");
  assert.deepEqual(
    lines.map((line) => line.split(",").slice(0, 4)),
    [
      [sale.fields[37], "sale", "1000", "USD"],
      [sale.fields[37], "reversal", "300", "USD"],
      [hold.fields[37], "capture", "600", "USD"],
      [hold.fields[37], "reversal", "100", "USD"],
    ],
  );
  assert.equal((await read(`gate=sandbox-binary&day=${day}`)).length, 2);
  assert.equal((await read(`gate=elsewhere&day=${day}`)).length, 6);
  assert.equal((await read("gate=sandbox&day=2001-01-01")).length, 1);
  assert.equal((await fetch(`${bank.url}/settlement?day=today`)).status, 400);
});

test("defects change an amount, omit a line or add one, in the same way for the same seed", async (t) => {
  const bank = await startTestBank(t);
  const gateway = await TestGateway.signOn(bank.hostPort);
  t.after(() => gateway.close());
  for (let count = 0; count < 5; count += 1) await gateway.ask(charge());
  const read = async () => (await (await fetch(`${bank.url}/settlement`)).text()).split("\n");
  const right = await read();

  await bank.setSwitches({ settlementDefects: 3, seed: 5 });
  const [wrong, again] = [await read(), await read()];
  await bank.setSwitches({ settlementDefects: 7 });
  const many = await read();

  assert.deepEqual(again, wrong);
  assert.equal(wrong.length, right.length);
  assert.equal(wrong.filter((line) => right.includes(line)).length, right.length - 2);
  assert.equal(wrong.filter((line) => line.includes(",1100,")).length, 1);
  assert.equal(wrong.filter((line) => line.startsWith("FALSE")).length, 1);
  assert.equal(many.filter((line) => line.startsWith("FALSE")).length, 3);
});
