/** The ledger survives a restart, even if its file is damaged. */
import assert from "node:assert/strict";
import { appendFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { startBank } from "./bank.ts";
import { BankClock } from "./bank-context.ts";
import { type Booking, Ledger } from "./ledger.ts";
import { booked } from "./testing/bank-for-tests.ts";
import { charge, follow, TestGateway } from "./testing/gateway.ts";

const clock = new BankClock();
const sale: Booking = { reference: "R1", kind: "sale", amount: 1_015n, currency: "USD" };
const reversal: Booking = { ...sale, kind: "reversal", amount: 15n };

async function makeFolder(t: { after(clean: () => Promise<void>): void }): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-ledger-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

test("bookings survive a restart, and a reversal still finds them", async (t) => {
  const options = { httpPort: 0, hostPort: 0, dataDir: await makeFolder(t) };
  const [plain, unreturnable] = [charge(), charge({ card: "4000004000000210" })];
  const first = await startBank(options);
  const gateway = await TestGateway.signOn(first.hostPort);
  await gateway.ask(plain);
  await gateway.ask(unreturnable);
  const before = first.ledger();
  await first.stop();
  await gateway.closed;

  const second = await startBank(options);
  t.after(() => second.stop());
  const again = await TestGateway.signOn(second.hostPort);

  assert.deepEqual(second.ledger(), before);
  assert.equal((await again.ask(follow("0420", plain))).fields[39], "00");
  assert.equal((await again.ask(follow("0400", unreturnable))).fields[39], "57");
  assert.deepEqual(booked(second, plain.fields[37]), ["sale 1000", "reversal 1000"]);
  again.close();
});

test("the file has one line of JSON per entry and no card number", async (t) => {
  const dataDir = await makeFolder(t);
  const bank = await startBank({ httpPort: 0, hostPort: 0, dataDir });
  const gateway = await TestGateway.signOn(bank.hostPort);
  const request = charge({ card: "4000004000000210", more: { 49: "978" } });
  await gateway.ask(request);
  const [entry] = bank.ledger();
  await bank.stop();

  const text = await readFile(join(dataDir, "bank", "ledger.jsonl"), "utf8");
  const written = JSON.parse(text);

  assert.deepEqual(written, { ...entry, amount: 1_000, scenario: "reversal-refused" });
  assert.equal(written.currency, "EUR");
  assert.ok(!text.includes("4000004000000210"));
});

test("an incomplete last line is dropped, and the next entry begins a line of its own", async (t) => {
  const path = join(await makeFolder(t), "ledger.jsonl");
  const first = await Ledger.open(path, clock, () => {});
  first.book(sale);
  await first.close();
  await appendFile(path, '{"reference":"R2","kind":"sa');

  const logged: string[] = [];
  const second = await Ledger.open(path, clock, (line) => logged.push(line));
  second.book(reversal);
  await second.close();
  const third = await Ledger.open(path, clock, () => {});
  t.after(() => third.close());

  assert.match(logged.join(), /incomplete/);
  assert.deepEqual(
    third.entries().map(({ reference, kind }) => `${reference} ${kind}`),
    ["R1 sale", "R1 reversal"],
  );
});

test("an invalid line prevents a start with a wrong ledger", async (t) => {
  const path = join(await makeFolder(t), "ledger.jsonl");
  await writeFile(path, '{"reference":"R1","kind":"gift","amount":1,"currency":"USD","at":""}\n');

  await assert.rejects(
    Ledger.open(path, clock, () => {}),
    /line 1 is not an entry/,
  );
});

test("entries booked while others are being written are written too", async (t) => {
  const path = join(await makeFolder(t), "ledger.jsonl");
  const ledger = await Ledger.open(path, clock, () => {});
  for (let count = 0; count < 1_000; count += 1) {
    ledger.book({ ...sale, reference: `R${count}` });
    if (count % 100 === 0) await readFile(path);
  }
  await ledger.close();

  const again = await Ledger.open(path, clock, () => {});
  t.after(() => again.close());
  assert.deepEqual(again.entries(), ledger.entries());
});
