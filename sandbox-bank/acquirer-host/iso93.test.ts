/** The host in the dialect of ISO 8583:1993: its demands on requests, and its answers. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type IsoFields, type IsoMessage, iso93Ascii } from "@tollgate/protocols/iso8583";
import { startTestBank } from "../testing/bank-for-tests.ts";
import { asciiDialect, nextReference, type TestDialect, TestGateway } from "../testing/gateway.ts";

const dialect: TestDialect = {
  ...asciiDialect,
  name: "1993",
  specification: iso93Ascii,
  framing: "ascii-4",
  portOf: (bank) => bank.iso93HostPort,
};

let traces = 0;

function message(mti: string, code: string, more: IsoFields = {}): IsoMessage {
  traces += 1;
  const trace = String(traces).padStart(6, "0");
  return { mti, fields: { 7: "1115023900", 11: trace, 12: "261115033900", 24: code, ...more } };
}

function sale(more: IsoFields = {}): IsoMessage {
  return message("1200", "200", {
    2: "4000001000000018",
    3: "000000",
    4: "000000001015",
    14: "9912",
    22: "100050100110",
    26: "5999",
    32: "400123",
    37: nextReference(),
    48: "T9203123",
    49: "840",
    ...more,
  });
}

/** Makes a message about a sale. */
function about(mti: string, code: string, original: IsoMessage, more: IsoFields = {}): IsoMessage {
  const { 11: trace, 12: at, 37: reference = "", 49: currency = "" } = original.fields;
  return message(mti, code, {
    3: "000000",
    4: "000000001015",
    26: "5999",
    32: "400123",
    37: reference,
    49: currency,
    56: `${original.mti}${trace}${at}06400123`,
    ...more,
  });
}

test("a sale is answered in the words of the edition, and reversed in part", async (t) => {
  const bank = await startTestBank(t);
  const gateway = await TestGateway.open(dialect.portOf(bank), dialect);
  assert.equal((await gateway.ask(message("1804", "801"))).fields[39], "800");
  const charge = sale({ 59: "echo me" });

  const approved = await gateway.ask(charge);
  const part = { 4: "000000000615", 25: "4000", 30: "000000001015000000000000" };
  const returned = await gateway.ask(about("1420", "401", charge, part));
  const again = await gateway.ask(about("1421", "401", charge, part));
  const unknown = await gateway.ask(about("1420", "400", sale(), { 25: "4021" }));
  const echoed = await gateway.ask(message("1804", "831"));

  assert.deepEqual([approved.mti, approved.fields[39]], ["1210", "000"]);
  assert.deepEqual([approved.fields[12], approved.fields[59]], ["261115033900", "echo me"]);
  assert.match(approved.fields[15] ?? "", /^26\d{4}$/);
  assert.deepEqual([returned.mti, returned.fields[39]], ["1430", "400"]);
  assert.equal(again.fields[39], "400");
  assert.equal(unknown.fields[39], "914");
  assert.equal(echoed.fields[39], "800");
  const booked = bank.ledger(charge.fields[37]).map(({ kind, amount }) => `${kind} ${amount}`);
  assert.deepEqual(booked, ["sale 1015", "reversal 400"]);
  gateway.close();
});

test("a partial approval also contains the original amount", async (t) => {
  const bank = await startTestBank(t);
  const gateway = await TestGateway.open(dialect.portOf(bank), dialect);
  await gateway.ask(message("1804", "801"));

  const { fields } = await gateway.ask(sale({ 2: "4000004000000186" }));

  const said = [fields[39], fields[4], fields[30]];
  assert.deepEqual(said, ["002", "000000000507", "000000001015000000000000"]);
  gateway.close();
});

test("a return names the capture with its amount, not the larger authorisation", async (t) => {
  const bank = await startTestBank(t);
  const gateway = await TestGateway.open(dialect.portOf(bank), dialect);
  await gateway.ask(message("1804", "801"));
  const hold = { ...sale({ 24: "100" }), mti: "1100" };
  const held = { 30: "000000001015000000000000" };
  const capture = about("1220", "202", hold, { ...held, 4: "000000000700" });
  await gateway.ask(hold);
  await gateway.ask(capture);
  const part = { 4: "000000000400", 25: "4000" };
  const taken = { 30: "000000000700000000000000" };
  const other = { ...capture, fields: { ...capture.fields, 11: "999999" } };
  // biome-ignore format: a table
  const rows: readonly (readonly [string, IsoMessage])[] = [
    ["914", about("1420", "401", hold,    { ...part, ...held })],
    ["914", about("1420", "401", hold,    { ...part, ...taken })],
    ["914", about("1420", "401", other,   { ...part, ...taken })],
    ["110", about("1420", "401", capture, { ...part, ...held })],
    ["400", about("1420", "401", capture, { ...part, ...taken })],
    ["400", about("1420", "400", capture, { 4: "000000000400", 25: "4000" })],
  ];

  for (const [code, request] of rows) assert.equal((await gateway.ask(request)).fields[39], code);

  const booked = bank.ledger(hold.fields[37]).map(({ kind, amount }) => `${kind} ${amount}`);
  assert.deepEqual(booked, ["authorisation 1015", "capture 700", "reversal 300", "reversal 400"]);
  gateway.close();
});

test("a request that lacks a field which the edition demands is a format error and books nothing", async (t) => {
  const bank = await startTestBank(t);
  const gateway = await TestGateway.open(dialect.portOf(bank), dialect);
  await gateway.ask(message("1804", "801"));
  const charge = sale();
  await gateway.ask(charge);
  // biome-ignore format: a table
  const wrong: readonly IsoMessage[] = [
    sale({ 12: "261315033900" }),
    sale({ 12: "261115243900" }),
    about("1420", "400", charge),
    about("1420", "400", charge, { 25: "9999" }),
    about("1420", "401", charge, { 25: "4000" }),
    about("1420", "400", charge, { 25: "4021", 56: "0200000001261115033900" + "06400123" }),
    about("1220", "202", charge),
  ];

  for (const request of wrong) {
    const { fields } = await gateway.ask(request);
    assert.equal(fields[39], "904", JSON.stringify(request.fields));
  }
  assert.equal(bank.ledger().length, 1);
  gateway.close();
});
