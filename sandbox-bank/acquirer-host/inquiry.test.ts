/** Inquiries: the host tells what its books say, the same every time, and always answers. */
import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import { startTestBank } from "../testing/bank-for-tests.ts";
import { binaryDialect, charge, echo, follow, inquire, TestGateway } from "../testing/gateway.ts";

const bank = await startTestBank({ after });

async function signOn(t: TestContext): Promise<TestGateway> {
  const gateway = await TestGateway.signOn(bank.binaryHostPort, binaryDialect);
  t.after(() => gateway.close());
  return gateway;
}

test("a booked charge is told with its amount and the numbers of its approval", async (t) => {
  const gateway = await signOn(t);
  const sale = gateway.charge({ more: { 49: "978" } });
  const approval = await gateway.ask(sale);

  const { mti, fields } = await gateway.ask(inquire(sale));

  assert.equal(mti, "0610");
  assert.deepEqual([fields[39], fields[4], fields[49]], ["00", "000000001000", "978"]);
  assert.deepEqual([fields[37], fields[38]], [sale.fields[37], approval.fields[38]]);
  assert.equal(fields[62], approval.fields[62]);
});

test("a charge whose answer was lost gets numbers, and keeps them", async (t) => {
  const gateway = await signOn(t);
  const sale = gateway.charge({ card: "4000004000000129" });
  gateway.send(sale, echo);
  await gateway.answer();

  const [first, second] = [await gateway.ask(inquire(sale)), await gateway.ask(inquire(sale))];

  assert.equal(first.fields[39], "00");
  assert.match(first.fields[38] ?? "", /^[0-9A-Z]{6}$/);
  assert.match(first.fields[62] ?? "", binaryDialect.networkId);
  assert.deepEqual([second.fields[38], second.fields[62]], [first.fields[38], first.fields[62]]);
});

test("part of a charge is told as the part that was booked", async (t) => {
  const gateway = await signOn(t);
  const sale = gateway.charge({ card: "4000004000000186" });
  await gateway.ask(sale);

  assert.equal((await gateway.ask(inquire(sale))).fields[4], "000000000500");
});

test("what is not booked, held back, reversed or a verification is unknown", async (t) => {
  const gateway = await signOn(t);
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
  const gateway = await signOn(t);
  const sale = gateway.charge();
  await gateway.ask(sale);
  await gateway.ask(follow("0400", sale, { remaining: 1 }));

  const { fields } = await gateway.ask(inquire(sale));

  assert.deepEqual([fields[39], fields[4]], ["00", "000000001000"]);
});

test("an inquiry is answered when other answers are lost", async (t) => {
  const gateway = await signOn(t);
  t.after(() => bank.setSwitches({ lostAnswerShare: 0 }));
  await bank.setSwitches({ lostAnswerShare: 1 });
  const sale = gateway.charge();

  gateway.send(sale, inquire(sale));

  const { mti, fields } = await gateway.answer();
  assert.deepEqual([mti, fields[39]], ["0610", "00"]);
});

test("the ASCII port takes no inquiries", async () => {
  const gateway = await TestGateway.signOn(bank.hostPort);

  gateway.send(inquire(charge()));

  await gateway.closed;
});
