/** Inquiries: the host tells what its books say, the same every time, and always answers. */
import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import { startTestBank } from "../testing/bank-for-tests.ts";
import { charge, echo, follow, GatewayLine, inquire } from "../testing/gateway-line.ts";
import { binarySpeech } from "../testing/speech.ts";

const bank = await startTestBank({ after });

async function signOn(t: TestContext): Promise<GatewayLine> {
  const line = await GatewayLine.signOn(bank.binaryHostPort, binarySpeech);
  t.after(() => line.close());
  return line;
}

test("a booked charge is told with its amount and the numbers of its approval", async (t) => {
  const line = await signOn(t);
  const sale = line.charge({ more: { 49: "978" } });
  const approval = await line.ask(sale);

  const { mti, fields } = await line.ask(inquire(sale));

  assert.equal(mti, "0610");
  assert.deepEqual([fields[39], fields[4], fields[49]], ["00", "000000001000", "978"]);
  assert.deepEqual([fields[37], fields[38]], [sale.fields[37], approval.fields[38]]);
  assert.equal(fields[62], approval.fields[62]);
});

test("a charge whose answer was lost gets numbers, and keeps them", async (t) => {
  const line = await signOn(t);
  const sale = line.charge({ card: "4000004000000129" });
  line.send(sale, echo);
  await line.answer();

  const [first, second] = [await line.ask(inquire(sale)), await line.ask(inquire(sale))];

  assert.equal(first.fields[39], "00");
  assert.match(first.fields[38] ?? "", /^[0-9A-Z]{6}$/);
  assert.match(first.fields[62] ?? "", binarySpeech.networkId);
  assert.deepEqual([second.fields[38], second.fields[62]], [first.fields[38], first.fields[62]]);
});

test("part of a charge is told as the part that was booked", async (t) => {
  const line = await signOn(t);
  const sale = line.charge({ card: "4000004000000186" });
  await line.ask(sale);

  assert.equal((await line.ask(inquire(sale))).fields[4], "000000000500");
});

test("what is not booked, held back, reversed or a verification is unknown", async (t) => {
  const line = await signOn(t);
  const [reversed, refused, ignored, late, never] = [
    line.charge(),
    line.charge({ card: "4000004000000012" }),
    line.charge({ card: "4000004000000137" }),
    line.charge({ card: "4000004000000145" }),
    line.charge(),
  ];
  const verified = line.charge({ mti: "0100", amount: 0, more: { 25: "51" } });
  for (const request of [reversed, follow("0420", reversed), refused, verified]) {
    await line.ask(request);
  }
  line.send(ignored, late, echo);
  await line.answer();

  for (const request of [reversed, refused, ignored, late, never, verified]) {
    const { fields } = await line.ask(inquire(request));
    assert.equal(fields[39], "25");
    assert.deepEqual([fields[4], fields[38], fields[62]], [undefined, undefined, undefined]);
  }
});

test("a charge that was returned in part still stands", async (t) => {
  const line = await signOn(t);
  const sale = line.charge();
  await line.ask(sale);
  await line.ask(follow("0400", sale, { remaining: 1 }));

  const { fields } = await line.ask(inquire(sale));

  assert.deepEqual([fields[39], fields[4]], ["00", "000000001000"]);
});

test("an inquiry is answered when other answers are lost", async (t) => {
  const line = await signOn(t);
  t.after(() => bank.setSwitches({ lostAnswerShare: 0 }));
  await bank.setSwitches({ lostAnswerShare: 1 });
  const sale = line.charge();

  line.send(sale, inquire(sale));

  const { mti, fields } = await line.answer();
  assert.deepEqual([mti, fields[39]], ["0610", "00"]);
});

test("the ASCII port takes no inquiries", async () => {
  const line = await GatewayLine.signOn(bank.hostPort);

  line.send(inquire(charge()));

  await line.closed;
});
