/** Acquirers' files in their own formats; a fault names its line and column, never the cell. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CsvFaults } from "../values/csv-records.ts";
import {
  type AmountForm,
  readSettlementFile,
  type SettlementFormat,
  settlementColumns,
  settlementWords,
} from "./acquirer-file.ts";

const usual: SettlementFormat = {
  columns: settlementColumns,
  words: new Map(settlementWords.map((word) => [word, word])),
  amounts: "minor",
  delimiter: ",",
};
const header = "reference,kind,amount,currency";

async function read(text: string, changes: Partial<SettlementFormat> = {}) {
  const chunks = (async function* () {
    yield Buffer.from(text);
  })();
  const lines: string[] = [];
  try {
    for await (const each of readSettlementFile(chunks, { ...usual, ...changes })) {
      const { minor, currency } = each.money;
      lines.push(`${each.line} ${each.reference} ${each.kind} ${minor} ${currency.code}`);
    }
    return lines;
  } catch (error) {
    if (error instanceof CsvFaults) return error.sentences;
    throw error;
  }
}

test("amounts are read as the format says, digit by digit", async () => {
  // biome-ignore format: a table
  const rows: readonly (readonly [AmountForm, string, string, string | undefined])[] = [
    ["minor",   "1015",    "USD", "1015 USD"],
    ["minor",   "0",       "978", "0 EUR"],
    ["minor",   "10.15",   "USD", undefined],
    ["minor",   "1e3",     "USD", undefined],
    ["minor",   "9".repeat(19), "USD", undefined],
    ["decimal", "10.15",   "usd", "1015 USD"],
    ["decimal", "10.155",  "USD", undefined],
    ["decimal", "10.155",  "KWD", "10155 KWD"],
    ["decimal", "1,000.00", "USD", undefined],
    ["decimal", "1000.00", "JPY", "1000 JPY"],
    ["comma",   '"10,15"', "JPY", undefined],
    ["comma",   '"10,15"', "USD", "1015 USD"],
    ["decimal", "",        "USD", undefined],
    ["minor",   "1",       "XYZ", undefined],
  ];
  for (const [amounts, amount, currency, expected] of rows) {
    const [first = ""] = await read(`${header}\nR1,sale,${amount},${currency}\n`, { amounts });
    const faulty = /^Line 2, column (amount|currency): /;
    if (expected === undefined) assert.match(first, faulty, `${amounts} ${amount} ${currency}`);
    else assert.equal(first, `2 R1 sale ${expected}`);
  }
});

test("a minus is accepted before refunds only", async () => {
  assert.deepEqual(await read(`${header}\nR1,refund,-5,USD\n`), ["2 R1 refund 5 USD"]);
  assert.match((await read(`${header}\nR1,sale,-5,USD\n`))[0] ?? "", /negative/);
});

test("columns are found by name in any order, or by place without a header", async () => {
  const named = "Amount;RRN;x;CCY;kind\n7;r1;;USD;sale\n";
  const columns = { ...settlementColumns, reference: "rrn", currency: "ccy" };
  const places = { reference: "2", kind: "5", amount: "1", currency: "4" };

  assert.deepEqual(await read(named, { columns, delimiter: ";" }), ["2 R1 sale 7 USD"]);
  assert.deepEqual(await read("7,r1,,USD,sale\n", { columns: places }), ["1 R1 sale 7 USD"]);
  assert.deepEqual(await read("a,b\n1,2\n"), [
    ...["reference", "kind", "amount", "currency"].map((name) => `Line 1: no column ${name}.`),
  ]);
  assert.match((await read(`${header},amount\n`))[0] ?? "", /several columns amount/);
});

test("a faulty file is refused as a whole, and no fault repeats a cell", async () => {
  const card = "4111111111111111";
  const faults = await read(`${header}\nR1,sale,1,USD\n${card},sale,1,USD\nR2,${card},1,USD\n`);

  assert.equal(faults.length, 2);
  assert.ok(!faults.join().includes(card));
  assert.match((await read(`${header}\n"R1,sale,1,USD\n`))[0] ?? "", /quotes/);
  assert.match((await read(""))[0] ?? "", /empty/);
  const many = await read(`${header}\n${"?,?,?,?\n".repeat(100)}`);
  assert.match(many.at(-1) ?? "", /Stopped reading after 20 faults/);
});
