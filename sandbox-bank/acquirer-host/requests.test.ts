/** The host's behaviour that is the same in both dialects, and inquiries, which only one has. */
import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import { encode, frame, type IsoMessage, iso87Bitmapped } from "@tollgate/protocols/iso8583";
import { booked, startTestBank } from "../testing/bank-for-tests.ts";
import {
  asciiDialect,
  binaryDialect,
  charge,
  echo,
  follow,
  inquire,
  TestGateway,
  testDialects,
} from "../testing/gateway.ts";

const bank = await startTestBank({ after });
const verification = { mti: "0100", amount: 0, more: { 25: "51" } } as const;

async function signOn(t: TestContext, dialect = asciiDialect): Promise<TestGateway> {
  const gateway = await TestGateway.signOn(dialect.portOf(bank), dialect);
  t.after(() => gateway.close());
  return gateway;
}

for (const dialect of testDialects) {
  test(`an approval carries its numbers and leaves the secrets out, ${dialect.name}`, async (t) => {
    const gateway = await signOn(t, dialect);

    const { fields } = await gateway.ask(gateway.charge({ eci: "05", cavv: "AB".repeat(20) }));

    assert.match(fields[38] ?? "", /^[0-9A-Z]{6}$/);
    assert.match(fields[62] ?? "", dialect.networkId);
    for (const field of [2, 14, 60, 126]) assert.equal(fields[field], undefined);
    assert.doesNotMatch(fields[48] ?? "", /123/);
  });

  test(`the CVV decides, and private fields in no shape are refused, ${dialect.name}`, async (t) => {
    const gateway = await signOn(t, dialect);
    // biome-ignore format: a table
    const rows: readonly (readonly [string, string])[] = [
      ["", "00"], ["123", "00"], ["1234", "00"], ["116", "51"], ["000", "N7"],
    ];
    for (const [cvv, code] of rows) {
      assert.equal((await gateway.ask(gateway.charge({ cvv }))).fields[39], code, `CVV ${cvv}`);
    }
    const unreadable = gateway.charge({ more: dialect.unreadable });
    assert.equal((await gateway.ask(unreadable)).fields[39], "30");
  });

  test(`a verification is decided like a charge and books nothing, ${dialect.name}`, async (t) => {
    const gateway = await signOn(t, dialect);
    const rows = [
      [{}, "00"],
      [{ card: "4000004000000020" }, "51"],
      [{ card: "4000004000000186" }, "00"],
      [{ cvv: "999" }, "N7"],
    ] as const;
    for (const [changes, code] of rows) {
      const asked = gateway.charge({ ...verification, ...changes });
      const { mti, fields } = await gateway.ask(asked);
      assert.deepEqual([mti, fields[39], fields[4]], ["0110", code, "000000000000"]);
      assert.equal((await gateway.ask(follow("0420", asked))).fields[39], "25");
      assert.deepEqual(booked(bank, asked.fields[37]), []);
    }
  });

  test(`only a verification is for nothing, and it is for nothing only, ${dialect.name}`, async (t) => {
    const gateway = await signOn(t, dialect);
    // biome-ignore format: a table
    const rows: readonly (readonly [string, IsoMessage])[] = [
      ["13", gateway.charge({ amount: 0 })],
      ["13", gateway.charge({ amount: 0, mti: "0100" })],
      ["13", gateway.charge({ ...verification, amount: 1 })],
      ["12", gateway.charge({ ...verification, mti: "0200" })],
    ];
    for (const [code, request] of rows) {
      assert.equal((await gateway.ask(request)).fields[39], code);
      assert.deepEqual(booked(bank, request.fields[37]), []);
    }
  });

  test(`a repeated return is answered like the first and booked once, ${dialect.name}`, async (t) => {
    const gateway = await signOn(t, dialect);
    const [sale, refused] = [gateway.charge(), gateway.charge({ card: "4000004000000210" })];
    await gateway.ask(sale);
    await gateway.ask(refused);

    for (const mti of ["0400", "0401", "0401"] as const) {
      const { mti: type, fields } = await gateway.ask(follow(mti, sale, { remaining: 600 }));
      assert.deepEqual([type, fields[39]], ["0410", "00"]);
      assert.equal((await gateway.ask(follow(mti, refused))).fields[39], "57");
    }

    assert.deepEqual(booked(bank, sale.fields[37]), ["sale 1000", "reversal 400"]);
  });

  test(`a repeat whose first never came is booked, ${dialect.name}`, async (t) => {
    const gateway = await signOn(t, dialect);
    const authorisation = gateway.charge({ mti: "0100" });
    await gateway.ask(authorisation);

    const captured = await gateway.ask(follow("0221", authorisation, { amount: 700 }));
    const returned = await gateway.ask(follow("0401", authorisation, { remaining: 500 }));

    assert.deepEqual([captured.fields[39], returned.fields[39]], ["00", "00"]);
    const books = ["authorisation 1000", "capture 700", "reversal 200"];
    assert.deepEqual(booked(bank, authorisation.fields[37]), books);
  });

  test(`lost answers to captures and returns are booked, once, ${dialect.name}`, async (t) => {
    const gateway = await signOn(t, dialect);
    const authorisation = gateway.charge({ mti: "0100" });
    await gateway.ask(authorisation);
    t.after(() => bank.setSwitches({ lostAnswerShare: 0 }));
    await bank.setSwitches({ lostAnswerShare: 1 });

    for (const mti of ["0220", "0221", "0400", "0401"] as const) {
      gateway.send(follow(mti, authorisation, { amount: 700, remaining: 300 }), echo);
      assert.equal((await gateway.answer()).mti, "0810", mti);
    }

    const books = ["authorisation 1000", "capture 700", "reversal 400"];
    assert.deepEqual(booked(bank, authorisation.fields[37]), books);
    // A refusal is never lost, and neither is an answer that settles a doubt.
    assert.equal((await gateway.ask(follow("0220", gateway.charge()))).fields[39], "25");
    assert.equal((await gateway.ask(follow("0420", authorisation))).fields[39], "00");
    assert.equal((await gateway.ask(follow("0421", authorisation))).fields[39], "00");
  });
}

test("both ports share the books, and each is answered in its own dialect", async (t) => {
  const [ascii, binary] = [await signOn(t), await signOn(t, binaryDialect)];
  const sale = charge();
  await ascii.ask(sale);

  assert.equal((await binary.ask(follow("0400", sale, { remaining: 100 }))).fields[39], "00");
  assert.equal((await ascii.ask(follow("0401", sale, { remaining: 100 }))).fields[39], "00");

  assert.deepEqual(booked(bank, sale.fields[37]), ["sale 1000", "reversal 900"]);
});

test("a late approval that goes out on the other port is in that port's dialect", async (t) => {
  const [gone, binary] = [await signOn(t), await signOn(t, binaryDialect)];
  const sale = charge({ card: "4000004000000145" });
  gone.send(sale, echo);
  await gone.answer();
  gone.close();
  await gone.closed;

  // The answer to an echo shows that the host has noticed the lost connection too.
  await binary.ask(echo);
  binary.send(follow("0420", sale));

  const approval = await binary.answer();
  assert.equal(approval.mti, "0210");
  assert.match(approval.fields[62] ?? "", binaryDialect.networkId);
  assert.equal((await binary.answer()).mti, "0430");
});

test("an inquiry about a booked charge returns its amount and the numbers of its approval", async (t) => {
  const gateway = await signOn(t, binaryDialect);
  const sale = gateway.charge({ more: { 49: "978" } });
  const approval = await gateway.ask(sale);

  const { mti, fields } = await gateway.ask(inquire(sale));

  assert.equal(mti, "0610");
  assert.deepEqual([fields[39], fields[4], fields[49]], ["00", "000000001000", "978"]);
  assert.deepEqual([fields[37], fields[38]], [sale.fields[37], approval.fields[38]]);
  assert.equal(fields[62], approval.fields[62]);
});

test("a charge whose answer was lost gets numbers, and keeps them", async (t) => {
  const gateway = await signOn(t, binaryDialect);
  const sale = gateway.charge({ card: "4000004000000129" });
  gateway.send(sale, echo);
  await gateway.answer();

  const [first, second] = [await gateway.ask(inquire(sale)), await gateway.ask(inquire(sale))];

  assert.equal(first.fields[39], "00");
  assert.match(first.fields[38] ?? "", /^[0-9A-Z]{6}$/);
  assert.match(first.fields[62] ?? "", binaryDialect.networkId);
  assert.deepEqual([second.fields[38], second.fields[62]], [first.fields[38], first.fields[62]]);
});

test("an inquiry about a partial approval returns the booked part", async (t) => {
  const gateway = await signOn(t, binaryDialect);
  const sale = gateway.charge({ card: "4000004000000186" });
  await gateway.ask(sale);

  assert.equal((await gateway.ask(inquire(sale))).fields[4], "000000000500");
});

test("an inquiry does not know a charge that is delayed, reversed, a verification or not booked", async (t) => {
  const gateway = await signOn(t, binaryDialect);
  const [reversed, refused, ignored, late, never] = [
    gateway.charge(),
    gateway.charge({ card: "4000004000000012" }),
    gateway.charge({ card: "4000004000000137" }),
    gateway.charge({ card: "4000004000000145" }),
    gateway.charge(),
  ];
  const verified = gateway.charge({ mti: "0100", amount: 0, more: { 25: "51" } });
  for (const request of [reversed, follow("0420", reversed), refused, verified]) {
    await gateway.ask(request);
  }
  gateway.send(ignored, late, echo);
  await gateway.answer();

  for (const request of [reversed, refused, ignored, late, never, verified]) {
    const { fields } = await gateway.ask(inquire(request));
    assert.equal(fields[39], "25");
    assert.deepEqual([fields[4], fields[38], fields[62]], [undefined, undefined, undefined]);
  }
});

test("a charge that was returned in part still stands", async (t) => {
  const gateway = await signOn(t, binaryDialect);
  const sale = gateway.charge();
  await gateway.ask(sale);
  await gateway.ask(follow("0400", sale, { remaining: 1 }));

  const { fields } = await gateway.ask(inquire(sale));

  assert.deepEqual([fields[39], fields[4]], ["00", "000000001000"]);
});

test("an inquiry is answered when other answers are lost", async (t) => {
  const gateway = await signOn(t, binaryDialect);
  t.after(() => bank.setSwitches({ lostAnswerShare: 0 }));
  await bank.setSwitches({ lostAnswerShare: 1 });
  const sale = gateway.charge();

  gateway.send(sale, inquire(sale));

  const { mti, fields } = await gateway.answer();
  assert.deepEqual([mti, fields[39]], ["0610", "00"]);
});

test("the ASCII port accepts no inquiries", async () => {
  const gateway = await TestGateway.signOn(bank.hostPort);

  gateway.send(inquire(charge()));

  await gateway.closed;
});

test("a reversal padded at the other end closes the connection and books nothing", async (t) => {
  const rightPadded = { ...iso87Bitmapped, oddDigits: "right F" } as const;
  const sale = charge({ dialect: binaryDialect });
  await (await signOn(t, binaryDialect)).ask(sale);
  // The currency is checked in any case.
  const { 49: _, ...fields } = follow("0400", sale).fields;

  for (const field of [2, 19, 20, 21, 22, 23, 24]) {
    const gateway = await signOn(t, binaryDialect);
    const odd = { [field]: field === 2 ? "371449635398431" : "036" };
    const request = { mti: "0400", fields: { ...fields, ...odd } };
    gateway.sendBytes(frame("binary-2", encode(rightPadded, request)));
    const closed = gateway.closed.then(() => "closed");

    assert.equal(await Promise.race([closed, gateway.next()]), "closed");
    assert.match(bank.logged.at(-1) ?? "", new RegExp(`: ${field} is invalid_padding`));
  }
  assert.deepEqual(booked(bank, sale.fields[37]), ["sale 1000"]);
});
