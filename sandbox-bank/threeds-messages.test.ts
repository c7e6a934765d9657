/** The log of 3-D Secure messages, in the process and over HTTP. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { BankClock } from "./bank-context.ts";
import { ThreeDsMessages } from "./message-log.ts";
import { startTestBank } from "./testing/bank-for-tests.ts";
import { makeAReq } from "./testing/requests.ts";
import { startThreeDsServer } from "./testing/threeds-server.ts";

const bank = await startTestBank({ after });
const server = await startThreeDsServer({ after }, bank);
const card = "4000002000000016";

test("messages are served oldest first, by transaction, with masked cards", async () => {
  const areq = makeAReq(card, server.resultUrl);
  const id = String(areq["threeDSServerTransID"]);
  await server.ask(makeAReq(card, server.resultUrl));
  await server.ask(areq);

  const response = await fetch(`${bank.url}/threeds-messages?transaction=${id}`);
  const text = await response.text();

  const messages = bank.threeDsMessages(id);
  assert.deepEqual(JSON.parse(text), { messages });
  const [received, sent] = messages;
  assert.deepEqual([received?.direction, received?.type], ["received", "AReq"]);
  assert.deepEqual([sent?.direction, sent?.type, messages.length], ["sent", "ARes", 2]);
  assert.equal(received?.fields["acctNumber"], "400000****0016");
  assert.ok(!Number.isNaN(Date.parse(received?.at ?? "")));
  assert.ok(!text.includes(card));

  const all = JSON.parse(await (await fetch(`${bank.url}/threeds-messages`)).text());
  assert.equal(all.messages.length, 4);
});

test("a faulty request is listed with its readable part", async () => {
  const areq = makeAReq(card, server.resultUrl, "2.2.0", { merchantName: "" });
  const transactionId = String(areq["threeDSServerTransID"]);
  await server.ask(areq);

  const [received, sent] = bank.threeDsMessages(transactionId);
  assert.equal(received?.type, "AReq");
  assert.equal(received?.fields["acctNumber"], undefined);
  assert.deepEqual([sent?.type, sent?.fields["errorCode"]], ["Erro", "201"]);
});

test("a test can wait for a message before and after it came", async () => {
  const areq = makeAReq(card, server.resultUrl);
  const transactionId = String(areq["threeDSServerTransID"]);
  const waiting = bank.waitForThreeDsMessage({ type: "ARes", transactionId });
  await server.ask(areq);

  assert.equal((await waiting)["transStatus"], "Y");
  assert.deepEqual(
    await bank.waitForThreeDsMessage({ type: "ARes", transactionId }),
    await waiting,
  );
});

test("a test that waits for a missing message gets an error when the sandbox bank stops", async (t) => {
  const stopping = await startTestBank(t);
  const waiting = stopping.waitForThreeDsMessage({ type: "RReq" });
  await stopping.stop();

  await assert.rejects(waiting, /before a message RReq came/);
});

test("only the last ten thousand are kept", () => {
  const messages = new ThreeDsMessages(new BankClock());
  for (let count = 0; count < 25_000; count += 1) {
    const transactionId = String(count);
    messages.record("sent", "PRes", transactionId, {});
  }
  const kept = messages.list();
  assert.deepEqual([kept.length, kept[0]?.transactionId], [10_000, "15000"]);
});
