/** What the host does alike on both of its ports, whatever the dialect. */
import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import type { IsoMessage } from "@tollgate/protocols/iso8583";
import { booked, startTestBank } from "../testing/bank-for-tests.ts";
import { charge, echo, follow, GatewayLine } from "../testing/gateway-line.ts";
import { asciiSpeech, binarySpeech, speeches } from "../testing/speech.ts";

const bank = await startTestBank({ after });
const verification = { mti: "0100", amount: 0, more: { 25: "51" } } as const;

async function signOn(t: TestContext, speech = asciiSpeech): Promise<GatewayLine> {
  const line = await GatewayLine.signOn(speech.portOf(bank), speech);
  t.after(() => line.close());
  return line;
}

for (const speech of speeches) {
  test(`an approval carries its numbers and leaves the secrets out, ${speech.name}`, async (t) => {
    const line = await signOn(t, speech);

    const { fields } = await line.ask(line.charge({ eci: "05", cavv: "AB".repeat(20) }));

    assert.match(fields[38] ?? "", /^[0-9A-Z]{6}$/);
    assert.match(fields[62] ?? "", speech.networkId);
    for (const field of [2, 14, 48, 60, 126]) assert.equal(fields[field], undefined);
  });

  test(`the CVV decides, and private fields in no shape are refused, ${speech.name}`, async (t) => {
    const line = await signOn(t, speech);
    // biome-ignore format: a table
    const rows: readonly (readonly [string, string])[] = [
      ["", "00"], ["123", "00"], ["1234", "00"], ["116", "51"], ["000", "N7"],
    ];
    for (const [cvv, code] of rows) {
      assert.equal((await line.ask(line.charge({ cvv }))).fields[39], code, `CVV ${cvv}`);
    }
    const unreadable = line.charge({ more: speech.unreadable });
    assert.equal((await line.ask(unreadable)).fields[39], "30");
  });

  test(`a verification is decided like a charge and books nothing, ${speech.name}`, async (t) => {
    const line = await signOn(t, speech);
    const rows = [
      [{}, "00"],
      [{ card: "4000004000000020" }, "51"],
      [{ card: "4000004000000186" }, "00"],
      [{ cvv: "999" }, "N7"],
    ] as const;
    for (const [changes, code] of rows) {
      const asked = line.charge({ ...verification, ...changes });
      const { mti, fields } = await line.ask(asked);
      assert.deepEqual([mti, fields[39], fields[4]], ["0110", code, "000000000000"]);
      assert.equal((await line.ask(follow("0420", asked))).fields[39], "25");
      assert.deepEqual(booked(bank, asked.fields[37]), []);
    }
  });

  test(`only a verification is for nothing, and it is for nothing only, ${speech.name}`, async (t) => {
    const line = await signOn(t, speech);
    // biome-ignore format: a table
    const rows: readonly (readonly [string, IsoMessage])[] = [
      ["13", line.charge({ amount: 0 })],
      ["13", line.charge({ amount: 0, mti: "0100" })],
      ["13", line.charge({ ...verification, amount: 1 })],
      ["12", line.charge({ ...verification, mti: "0200" })],
    ];
    for (const [code, request] of rows) {
      assert.equal((await line.ask(request)).fields[39], code);
      assert.deepEqual(booked(bank, request.fields[37]), []);
    }
  });

  test(`a repeated return is answered like the first and booked once, ${speech.name}`, async (t) => {
    const line = await signOn(t, speech);
    const [sale, refused] = [line.charge(), line.charge({ card: "4000004000000210" })];
    await line.ask(sale);
    await line.ask(refused);

    for (const mti of ["0400", "0401", "0401"] as const) {
      const { mti: type, fields } = await line.ask(follow(mti, sale, { remaining: 600 }));
      assert.deepEqual([type, fields[39]], ["0410", "00"]);
      assert.equal((await line.ask(follow(mti, refused))).fields[39], "57");
    }

    assert.deepEqual(booked(bank, sale.fields[37]), ["sale 1000", "reversal 400"]);
  });

  test(`a repeat whose first never came is booked, ${speech.name}`, async (t) => {
    const line = await signOn(t, speech);
    const authorisation = line.charge({ mti: "0100" });
    await line.ask(authorisation);

    const captured = await line.ask(follow("0221", authorisation, { amount: 700 }));
    const returned = await line.ask(follow("0401", authorisation, { remaining: 500 }));

    assert.deepEqual([captured.fields[39], returned.fields[39]], ["00", "00"]);
    const books = ["authorisation 1000", "capture 700", "reversal 200"];
    assert.deepEqual(booked(bank, authorisation.fields[37]), books);
  });

  test(`lost answers to captures and returns are booked, once, ${speech.name}`, async (t) => {
    const line = await signOn(t, speech);
    const authorisation = line.charge({ mti: "0100" });
    await line.ask(authorisation);
    t.after(() => bank.setSwitches({ lostAnswerShare: 0 }));
    await bank.setSwitches({ lostAnswerShare: 1 });

    for (const mti of ["0220", "0221", "0400", "0401"] as const) {
      line.send(follow(mti, authorisation, { amount: 700, remaining: 300 }), echo);
      assert.equal((await line.answer()).mti, "0810", mti);
    }

    const books = ["authorisation 1000", "capture 700", "reversal 400"];
    assert.deepEqual(booked(bank, authorisation.fields[37]), books);
    // A refusal is not lost, and neither is what settles a doubt.
    assert.equal((await line.ask(follow("0220", line.charge()))).fields[39], "25");
    assert.equal((await line.ask(follow("0420", authorisation))).fields[39], "00");
    assert.equal((await line.ask(follow("0421", authorisation))).fields[39], "00");
  });
}

test("both ports share the books, and each is answered in its own dialect", async (t) => {
  const [ascii, binary] = [await signOn(t), await signOn(t, binarySpeech)];
  const sale = charge();
  await ascii.ask(sale);

  assert.equal((await binary.ask(follow("0400", sale, { remaining: 100 }))).fields[39], "00");
  assert.equal((await ascii.ask(follow("0401", sale, { remaining: 100 }))).fields[39], "00");

  assert.deepEqual(booked(bank, sale.fields[37]), ["sale 1000", "reversal 900"]);
});

test("a late approval that goes out on the other port is in that port's dialect", async (t) => {
  const [gone, binary] = [await signOn(t), await signOn(t, binarySpeech)];
  const sale = charge({ card: "4000004000000145" });
  gone.send(sale, echo);
  await gone.answer();
  gone.close();
  await gone.closed;

  // By the answer to an echo the host has learnt of the lost line too.
  await binary.ask(echo);
  binary.send(follow("0420", sale));

  const approval = await binary.answer();
  assert.equal(approval.mti, "0210");
  assert.match(approval.fields[62] ?? "", binarySpeech.networkId);
  assert.equal((await binary.answer()).mti, "0430");
});
