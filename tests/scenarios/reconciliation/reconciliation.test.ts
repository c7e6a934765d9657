/** The gateway's books compared with the acquirer's settlement file. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { testOnEachDialect } from "../../support/bank/dialects.ts";
import { dayOf, fetchSettlement, reconcile } from "../../support/bank/settlement.ts";
import { detailsOf } from "../../support/doubt.ts";
import { endOfFile } from "../../support/end-of-file.ts";
import { runGw } from "../../support/programs.ts";
import { startWorld } from "../../support/world.ts";

const world = await startWorld(endOfFile);
const approvedInPart = "4000004000000186";

testOnEachDialect("a day of payments agrees with the file", async (_, { through, gate }) => {
  const merchant = world.merchant(through);
  const sale = await merchant.sale({ amount: "10.15" });
  const held = await merchant.preauth({ amount: "20.00" });
  const cancelled = await merchant.preauth({ amount: "30.00" });
  await world.settle();
  await merchant.return(sale, { amount: "3.00" });
  await merchant.capture(held, { amount: "15.00" });
  await merchant.return(cancelled);
  await world.settle();

  const { code, report } = await reconcile(world, gate, await fetchSettlement(world, gate));

  assert.equal(code, 0, JSON.stringify(report));
  assert.equal(report?.agrees, true);
  assert.ok((report?.matched ?? 0) >= 3);
  assert.deepEqual(report?.differences, []);
});

testOnEachDialect("a charge that was reversed at once is no difference", async (_, dialect) => {
  const { through, gate } = dialect;
  const merchant = world.merchant(through);
  const sale = await merchant.sale({ credit_card_number: approvedInPart });
  await world.settle();
  const lines = await fetchSettlement(world, gate);
  const { "processor-rrn": reference = "none" } = await merchant.status(sale);

  const { code, report } = await reconcile(world, gate, lines);
  const unreversed = lines.filter((line) => !line.startsWith(`${reference},reversal`));
  const standing = await reconcile(world, gate, unreversed);

  assert.equal(code, 0, JSON.stringify(report));
  assert.equal(report?.offset, 2);
  assert.deepEqual([standing.code, standing.report?.differences.length], [1, 1]);
  assert.equal(standing.report?.differences[0]?.kind, "missing here");
});

testOnEachDialect("every kind of falsified line is found, once", async (_, { through, gate }) => {
  const merchant = world.merchant(through);
  for (const amount of ["1.00", "2.00", "3.00", "4.00"]) await merchant.sale({ amount });
  await world.settle();
  await world.bank.setSwitches({ settlementDefects: 3, seed: 7 });
  const lines = await fetchSettlement(world, gate);
  await world.bank.setSwitches({ settlementDefects: 0 });

  const { code, report } = await reconcile(world, gate, lines);

  assert.equal(code, 1);
  const kinds = report?.differences.map(({ kind }) => kind).sort();
  assert.deepEqual(kinds, ["different amount", "missing here", "missing there"]);
});

testOnEachDialect("a difference stands once in the order's history", async (_, dialect) => {
  const { through, gate } = dialect;
  const merchant = world.merchant(through);
  const sale = await merchant.sale({ amount: "77.00" });
  await world.settle();
  const { "processor-rrn": reference = "" } = await merchant.status(sale);
  const lines = await fetchSettlement(world, gate);
  const twice = lines.filter((line) => line.startsWith(reference));

  const duplicate = [...lines, ...twice];
  const first = await reconcile(world, gate, duplicate);
  const again = await reconcile(world, gate, duplicate);
  const euros = lines.map((line) => {
    return line.startsWith(reference) ? line.replace("USD", "EUR") : line;
  });
  const other = await reconcile(world, gate, euros);
  const notes = await detailsOf(world, sale, "noted");
  const shown = await runGw(world, "order", "show", sale["gw-order-id"] ?? "");

  const about = `${dayOf(world)} ${gate} ${reference} sale`;
  assert.deepEqual([first.code, again.code, other.code], [1, 1, 1]);
  assert.equal(first.report?.differences[0]?.order, sale["gw-order-id"]);
  assert.deepEqual(
    notes.map(({ detail }) => detail),
    [
      `${about}: duplicate (here nothing, acquirer 77.00 USD)`,
      `${about}: different currency (here 77.00 USD, acquirer 77.00 EUR)`,
    ],
  );
  assert.match(shown.printed, /duplicate \(here nothing/);
});

testOnEachDialect("an acquirer's own format is described by options", async (_, dialect) => {
  const { gate } = dialect;
  const lines = await fetchSettlement(world, gate);
  const theirs = lines.slice(1).map((line) => {
    const [reference = "", kind = "", minor = "", currency = ""] = line.split(",");
    const amount = `${minor.padStart(3, "0").slice(0, -2)},${minor.padStart(3, "0").slice(-2)}`;
    const word = kind === "sale" || kind === "capture" ? "PUR" : "CR";
    const sign = word === "CR" ? "-" : "";
    return [` ${reference} `, word, sign + amount, currency === "USD" ? "840" : currency].join(";");
  });
  const file = ["RRN;TYPE;AMT;CCY", ...theirs, "X;FEE;0,10;USD"];

  const { code, report, complaint } = await reconcile(
    ...[world, gate, file, "--delimiter", ";", "--amounts", "comma"],
    ...["--columns", "reference=RRN,kind=TYPE,amount=AMT,currency=CCY"],
    ...["--words", "PUR=sale,CR=refund,FEE=ignore"],
  );

  assert.equal(code, 0, complaint + JSON.stringify(report));
});

test("a file that cannot be read, or a gate that does not exist, ends with 2", async () => {
  const header = "reference,kind,amount,currency,at";
  const bad = [header, "4111111111111111,sale,100,USD,", "R1,sold,1.5,USD,"];

  const faults = await reconcile(world, "sandbox", bad);
  const empty = await reconcile(world, "sandbox", [""]);
  const gate = await reconcile(world, "nowhere", [header]);
  const missing = await runGw(
    ...[world, "reconcile", "--gate", "sandbox", "--day", "2030-01-01", "/nowhere.csv"],
  );

  for (const { code } of [faults, empty, gate, missing]) assert.equal(code, 2);
  assert.match(faults.complaint, /Line 2, column reference: not a reference/);
  assert.match(faults.complaint, /Line 3, column kind: a word without a meaning/);
  assert.match(faults.complaint, /Line 3, column amount/);
  assert.doesNotMatch(faults.complaint, /4111|sold/);
});
