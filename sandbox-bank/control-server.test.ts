/** The sandbox bank's HTTP interface, as scripts and the portal use it. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { LoggedMessage } from "./message-log.ts";
import { scenarios } from "./scenarios.ts";
import { startTestBank } from "./testing/bank-for-tests.ts";
import { charge, follow, nextReference, TestGateway } from "./testing/gateway.ts";

const bank = await startTestBank({ after });
const gateway = await TestGateway.signOn(bank.hostPort);
after(() => gateway.close());

type Books = { readonly entries: readonly { readonly at: string }[] };
type Messages = { readonly messages: readonly LoggedMessage[] };

async function get<Body = unknown>(path: string): Promise<Body> {
  const response = await fetch(bank.url + path);
  assert.equal(response.status, 200);
  return JSON.parse(await response.text());
}

function post(body: string, type = "application/json"): Promise<Response> {
  const headers = { "content-type": type };
  return fetch(`${bank.url}/switches`, { method: "POST", headers, body });
}

test("the catalogue is served row by row", async () => {
  const served = scenarios.map(({ name, card, group, what }) => ({ name, card, group, what }));
  assert.deepEqual(await get("/scenarios"), served);
  assert.equal(new Set(served.map(({ name }) => name)).size, served.length);
  assert.equal(new Set(served.map(({ card }) => card)).size, served.length);
});

test("the ledger is served completely or by reference, with amounts as whole numbers", async () => {
  const sale = charge({ amount: 1_015 });
  await gateway.ask(sale);
  await gateway.ask(follow("0400", sale, { remaining: 1_000 }));

  const reference = sale.fields[37];
  const { entries } = await get<Books>(`/ledger?reference=${reference}`);

  const [at = "", later = ""] = entries.map((entry) => entry.at);
  assert.ok(at <= later && !Number.isNaN(Date.parse(at)));
  assert.deepEqual(entries, [
    { reference, kind: "sale", amount: 1_015, currency: "USD", at },
    { reference, kind: "reversal", amount: 15, currency: "USD", at: later },
  ]);
  assert.deepEqual(await get(`/ledger?reference=${nextReference()}`), { entries: [] });
  assert.deepEqual((await get<Books>("/ledger?last=1")).entries, [entries[1]]);
});

test("switches are served with what they do, what they take and their usual values", async () => {
  const table =
    await get<readonly { name: string; value: unknown; off: unknown }[]>("/switch-table");

  const [hostDown] = table.filter(({ name }) => name === "hostDown");
  assert.deepEqual(hostDown, {
    name: "hostDown",
    value: false,
    off: false,
    takes: "true or false",
    what: "the acquirer host stops listening, on both ports, and drops its connections",
  });
  assert.equal(table.length, Object.keys(await get<object>("/switches")).length);
});

test("a long ledger is served as one JSON document", async () => {
  for (let count = 0; count < 1_200; count += 1) gateway.send(charge());
  for (let count = 0; count < 1_200; count += 1) await gateway.answer();

  const { entries } = await get<Books>("/ledger");

  assert.equal(entries.length, bank.ledger().length);
});

test("messages are served decoded and masked, received and sent", async () => {
  const card = "4000002000000016";
  const sale = charge({ card, cvv: "123" });
  await gateway.ask(sale);

  const { messages } = await get<Messages>(`/messages?reference=${sale.fields[37]}`);

  const [received, sent] = messages;
  assert.deepEqual([received?.direction, received?.mti], ["received", "0200"]);
  assert.deepEqual([sent?.direction, sent?.mti, messages.length], ["sent", "0210", 2]);
  assert.equal(received?.fields["2"], "400000****0016");
  assert.equal(sent?.fields["39"], "00");
  assert.doesNotMatch(JSON.stringify(messages), /4000002000000016|9203123/);
  assert.deepEqual(bank.messages(sale.fields[37]), messages);
});

test("switches are read and set as JSON", async () => {
  const before = await get("/switches");
  assert.deepEqual(before, bank.switches());

  const response = await post('{"declineShare":0.25,"latencyMedianMs":0.5}');
  assert.equal(response.status, 200);
  const changed = { ...bank.switches(), declineShare: 0.25, latencyMedianMs: 0.5 };
  assert.deepEqual(await response.json(), changed);
  assert.deepEqual(await get("/switches"), changed);

  await post('{"declineShare":0,"latencyMedianMs":0}');
  assert.deepEqual(await get("/switches"), before);
});

test("wrong switches are refused with a sentence", async () => {
  for (const body of ['{"downHost":true}', '{"hostDown":1}', "hostDown", "[]"]) {
    const response = await post(body);
    assert.equal(response.status, 400, body);
    assert.match(JSON.stringify(await response.json()), /^\{"error":"[A-Z].+\."\}$/);
  }
  assert.equal((await post("x".repeat(100_000))).status, 413);
});

test("switches are set by a form too, whose texts are read by the kind of the switch", async () => {
  const form = (text: string) => post(text, "application/x-www-form-urlencoded");
  const before = bank.switches();

  const response = await form("directoryDown=true&declineShare=0.5&reversalCode=96");
  const refused = await form("directoryDown=perhaps");

  const changed = { ...before, directoryDown: true, declineShare: 0.5, reversalCode: "96" };
  assert.deepEqual(await response.json(), changed);
  assert.equal(refused.status, 400);
  await form("directoryDown=false&declineShare=0&reversalCode=");
  assert.deepEqual(bank.switches(), before);
});

test("an unknown path is reported, and odd URLs do no harm", async () => {
  for (const path of ["/nothing", "//", "/ledger/../../etc", "/%"]) {
    assert.equal((await fetch(bank.url + path)).status, 404, path);
  }
  assert.equal((await fetch(`${bank.url}/ledger`, { method: "DELETE" })).status, 404);
});

test("a test can wait for a message before and after it came", async () => {
  const sale = charge();
  const reference = sale.fields[37] ?? "";
  const waiting = bank.waitForMessage({ mti: "0420", reference });
  gateway.send(sale, follow("0420", sale));

  assert.equal((await waiting).fields[37], reference);
  assert.equal((await bank.waitForMessage({ mti: "0200", reference })).fields[2], sale.fields[2]);
});
