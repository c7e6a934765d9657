/** The host outside of the catalogue: links, forms, captures, reversals, broken input. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { encode, frame, type IsoMessage, iso87Ascii } from "@tollgate/protocols/iso8583";
import { Random } from "../switches.ts";
import { booked, startTestBank } from "../testing/bank-for-tests.ts";
import { charge, echo, follow, network, TestGateway } from "../testing/gateway.ts";

const bank = await startTestBank({ after });

async function signOn(t: { after(clean: () => void): void }): Promise<TestGateway> {
  const gateway = await TestGateway.signOn(bank.hostPort);
  t.after(() => gateway.close());
  return gateway;
}

test("an approval echoes the request, adds its own numbers and leaves the card out", async (t) => {
  const gateway = await signOn(t);
  const sale = charge();

  const { mti, fields } = await gateway.ask(sale);

  assert.equal(mti, "0210");
  for (const field of [3, 4, 7, 11, 32, 37, 41, 42, 49]) {
    assert.equal(fields[field], sale.fields[field], `field ${field}`);
  }
  assert.match(fields[12] ?? "", /^\d{6}$/);
  assert.match(fields[13] ?? "", /^\d{4}$/);
  assert.equal(fields[15], fields[13]);
  assert.match(fields[38] ?? "", /^[0-9A-Z]{6}$/);
  assert.equal(fields[39], "00");
  assert.match(fields[62] ?? "", /^\d{15}$/);
  assert.deepEqual([fields[2], fields[14], fields[48]], [undefined, undefined, "T8701M"]);
});

test("the CVV decides for a card without a row of its own", async (t) => {
  const gateway = await signOn(t);
  // biome-ignore format: a table
  const rows: readonly (readonly [string, string])[] = [
    ["",    "00"], ["123", "00"], ["1234", "00"], ["101", "54"], ["116", "51"],
    ["119", "57"], ["209", "43"], ["000",  "N7"], ["321", "N7"],
  ];
  for (const [cvv, code] of rows) {
    const sale = charge({ cvv, card: "4111111111111111" });
    assert.equal((await gateway.ask(sale)).fields[39], code, `CVV ${cvv}`);
    assert.equal(booked(bank, sale.fields[37]).length, code === "00" ? 1 : 0);
  }
  const lost = charge({ cvv: "217" });
  gateway.send(lost, echo);
  assert.equal((await gateway.answer()).mti, "0810");
  assert.deepEqual(booked(bank, lost.fields[37]), ["sale 1000"]);
});

test("a charge that is wrong for every card is refused with the reason", async (t) => {
  const gateway = await signOn(t);
  const { 4: _amount, ...withoutAmount } = charge().fields;
  // biome-ignore format: a table
  const rows: readonly (readonly [string, IsoMessage])[] = [
    ["14", charge({ card: "4111111111111112" })],
    ["54", charge({ more: { 14: "2001" } })],
    ["12", charge({ more: { 3: "010000" } })],
    ["30", { mti: "0200", fields: withoutAmount }],
    ["30", charge({ more: { 48: "T92" } })],
  ];
  for (const [code, request] of rows) {
    assert.equal((await gateway.ask(request)).fields[39], code);
    assert.deepEqual(booked(bank, request.fields[37]), []);
  }
});

test("the same charge sent twice is booked twice, and a reversal reverses one", async (t) => {
  const gateway = await signOn(t);
  const sale = charge();

  await gateway.ask(sale);
  await gateway.ask(sale);
  await gateway.ask(follow("0420", sale));

  const books = ["sale 1000", "sale 1000", "reversal 1000"];
  assert.deepEqual(booked(bank, sale.fields[37]), books);
});

test("an authorisation is captured once however often the advice is repeated", async (t) => {
  const gateway = await signOn(t);
  const authorisation = charge({ mti: "0100" });
  assert.equal((await gateway.ask(authorisation)).mti, "0110");

  const first = await gateway.ask(follow("0220", authorisation, { amount: 700 }));
  const repeat = await gateway.ask(follow("0221", authorisation, { amount: 700 }));

  assert.deepEqual([first.mti, first.fields[39]], ["0230", "00"]);
  assert.deepEqual([repeat.mti, repeat.fields[39]], ["0230", "00"]);
  assert.deepEqual(booked(bank, authorisation.fields[37]), ["authorisation 1000", "capture 700"]);

  await gateway.ask(follow("0400", authorisation, { remaining: 500 }));
  assert.deepEqual(booked(bank, authorisation.fields[37]).slice(2), ["reversal 200"]);
});

test("a capture needs an authorisation that holds the money", async (t) => {
  const gateway = await signOn(t);
  const [authorisation, cancelled] = [charge({ mti: "0100" }), charge({ mti: "0100" })];
  const sale = charge();
  for (const request of [authorisation, cancelled, sale]) await gateway.ask(request);
  await gateway.ask(follow("0400", cancelled));
  const reference = authorisation.fields[37] ?? "";

  // biome-ignore format: a table
  const rows: readonly (readonly [string, IsoMessage])[] = [
    ["13", follow("0220", authorisation, { amount: 1_001 })],
    ["13", follow("0220", authorisation, { amount: 0 })],
    ["13", follow("0220", cancelled)],
    ["12", follow("0220", sale)],
    ["12", follow("0220", charge({ mti: "0100", reference, more: { 49: "978" } }))],
    ["25", follow("0220", charge())],
  ];
  for (const [code, request] of rows) assert.equal((await gateway.ask(request)).fields[39], code);
});

test("partial reversals state the remaining amount, and repeats are booked once", async (t) => {
  const gateway = await signOn(t);
  const sale = charge();
  await gateway.ask(sale);

  for (const remaining of [700, 700, 400, 700]) {
    const { mti, fields } = await gateway.ask(follow("0400", sale, { remaining }));
    assert.deepEqual([mti, fields[39]], ["0410", "00"]);
  }
  for (const advice of [follow("0420", sale), follow("0421", sale)]) {
    const answer = await gateway.ask(advice);
    assert.deepEqual([answer.mti, answer.fields[39]], ["0430", "00"]);
  }

  const books = ["sale 1000", "reversal 300", "reversal 300", "reversal 400"];
  assert.deepEqual(booked(bank, sale.fields[37]), books);
});

test("a reversal that reverses nothing is refused", async (t) => {
  const gateway = await signOn(t);
  const sale = charge();
  await gateway.ask(sale);

  assert.equal((await gateway.ask(follow("0400", sale, { remaining: 1_000 }))).fields[39], "13");
  assert.equal((await gateway.ask(follow("0400", charge()))).fields[39], "25");
});

test("a late approval is sent on another connection when its own is closed", async (t) => {
  const gone = await TestGateway.signOn(bank.hostPort);
  const gateway = await signOn(t);
  const sale = charge({ card: "4000004000000145" });
  gone.send(sale, echo);
  await gone.answer();
  gone.close();
  await gone.closed;

  // The answer to an echo shows that the host has noticed the lost connection too.
  await gateway.ask(echo);
  gateway.send(follow("0420", sale));

  assert.equal((await gateway.answer()).mti, "0210");
  assert.equal((await gateway.answer()).mti, "0430");
});

test("only network messages are accepted before sign-on and after sign-off", async (t) => {
  const stranger = await TestGateway.open(bank.hostPort);
  assert.equal((await stranger.ask(echo)).fields[39], "00");
  const sale = charge();
  stranger.send(sale);
  await stranger.closed;

  const gateway = await signOn(t);
  assert.equal((await gateway.ask(network("002"))).fields[39], "00");
  gateway.send(sale);
  await gateway.closed;

  assert.deepEqual(booked(bank, sale.fields[37]), []);
});

test("invalid bytes close the connection and are never logged", async (t) => {
  const gateway = await signOn(t);
  const card = "4000002000000016";
  gateway.sendBytes(frame("binary-2", Buffer.from(`0200${card}`)));
  await gateway.closed;
  const answer = await signOn(t);
  answer.send({ mti: "0210", fields: charge({ card }).fields });
  await answer.closed;

  assert.match(bank.logged.join("\n"), /20 bytes are not a message/);
  assert.doesNotMatch(bank.logged.join("\n"), new RegExp(card));
});

test("random and mutilated bytes never stop the bank", async (t) => {
  const random = new Random(7);
  const closedBefore = bank.logged.length;

  for (let round = 0; round < 100; round += 1) {
    await sendAlone(makeNoise(random));
    await sendAlone(frame("binary-2", makeNoise(random)));
    await sendAlone(frame("binary-2", spoil(encode(iso87Ascii, charge()), random)));
  }

  const gateway = await signOn(t);
  assert.equal((await gateway.ask(charge())).fields[39], "00");
  assert.ok(bank.logged.length - closedBefore > 150);
});

async function sendAlone(bytes: Buffer): Promise<void> {
  const gateway = await TestGateway.signOn(bank.hostPort);
  gateway.sendBytes(bytes);
  gateway.close();
  await gateway.closed;
}

function makeNoise(random: Random): Buffer {
  return Buffer.from(Array.from({ length: 600 * random.next() }, () => 256 * random.next()));
}

function spoil(bytes: Buffer, random: Random): Buffer {
  bytes[Math.floor(bytes.length * random.next())] = 256 * random.next();
  return bytes;
}

test("many sales in pieces of any size are all answered, in order", async (t) => {
  const gateway = await signOn(t);
  const sales = Array.from({ length: 200 }, () => charge());
  const bytes = Buffer.concat(sales.map((sale) => frame("binary-2", encode(iso87Ascii, sale))));

  for (let start = 0; start < bytes.length; start += 777) {
    gateway.sendBytes(bytes.subarray(start, start + 777));
  }

  for (const sale of sales) assert.equal((await gateway.answer()).fields[11], sale.fields[11]);
});
