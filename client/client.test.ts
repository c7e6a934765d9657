/**
 * The interface of the client: addresses, and the fields that it adds to a request or leaves out.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseForm } from "@tollgate/protocols/form";
import { AccessDenied, makeClient, Refused, Unreachable } from "./client.ts";
import {
  type Answer,
  acknowledged,
  approved,
  makeScene,
  refuse,
  sale,
  say,
  startServer,
} from "./testing.ts";

test("endpoints and groups have their own paths, and the path word is a setting", async (t) => {
  const { baseUrl, received } = await startServer(t, say(acknowledged));
  const merchant = { baseUrl: `${baseUrl}/`, login: "acme", controlKey: "key" };

  await makeClient(merchant).endpoint("1001").sale(sale);
  await makeClient(merchant).group("1007").sale(sale);
  await makeClient({ ...merchant, pathWord: "pay" })
    .endpoint("../1")
    .sale(sale);

  assert.deepEqual(
    received.map(({ url }) => url),
    ["/gw/api/v2/sale/1001", "/gw/api/v2/sale/group/1007", "/pay/api/v2/sale/..%2F1"],
  );
});

test("every transaction has a path of its own, and a synchronous one that answers with the status", async (t) => {
  const plain = await makeScene(t, say(acknowledged));
  const waiting = await makeScene(t, say(approved));
  const ids = { client_orderid: "invoice-1", orderid: "77000001" };

  for (const { sale: charge, ...calls } of [plain.endpoint, waiting.endpoint.sync]) {
    await charge(sale);
    await calls.preauth(sale);
    await calls.capture({ ...ids, amount: "4.20", currency: "USD" });
    await calls.return(ids);
    await calls.accountVerification(sale);
  }

  const names = ["sale", "preauth", "capture", "return", "account-verification"];
  const urlsOf = ({ received }: typeof plain) => received.map(({ url }) => url);
  assert.deepEqual(
    urlsOf(plain),
    names.map((name) => `/gw/api/v2/${name}/1001`),
  );
  assert.deepEqual(
    urlsOf(waiting),
    names.map((name) => `/gw/api/v2/sync/${name}/1001`),
  );
  assert.deepEqual(
    waiting.received.map(({ body }) => body),
    plain.received.map(({ body }) => body),
  );
  assert.equal((await waiting.endpoint.sync.sale(sale)).status, "approved");
});

test("login and control are added, values are trimmed, and empty values are not sent", async (t) => {
  const { endpoint, received } = await makeScene(t, say(acknowledged));

  await endpoint.sale({ ...sale, amount: " 10.42 ", comment: "", purpose: undefined });

  const form = parseForm(Buffer.from(received[0]?.body ?? ""));
  assert.ok("pairs" in form);
  const sent = new Map(form.pairs);
  assert.equal(sent.get("amount"), "10.42");
  assert.equal(sent.get("login"), "acme");
  assert.equal(sent.get("control"), "00e6bdeba6a1bb0729d0d92b361bb8dc5bfb092d");
  assert.equal(sent.has("comment") || sent.has("purpose"), false);
});

test("a reply with the operator's own word has the field names of the types", async (t) => {
  const { baseUrl } = await startServer(t, say(acknowledged.replace("gw-", "acme-")));
  const client = makeClient({ baseUrl, login: "acme", controlKey: "key", fieldWord: "acme" });

  const acknowledgement = await client.endpoint("1001").sale(sale);
  assert.equal(acknowledgement["gw-order-id"], "77000001");
});

test("the names on the wire are typed", async (t) => {
  const { endpoint } = await makeScene(t, say(acknowledged));

  // @ts-expect-error: an amount is text, because a float cannot hold it.
  const asNumber = endpoint.sale({ ...sale, amount: 10.42 });
  await assert.rejects(asNumber, /^TypeError: amount must be text$/);
  // @ts-expect-error: the order description is mandatory.
  await endpoint.sale({ ...sale, order_desc: undefined });
  const acknowledgement = await endpoint.sale(sale);
  // @ts-expect-error: there is no such field.
  assert.equal(acknowledgement["gw-orderid"], undefined);
});

test("a report that breaks off is an error, wherever it breaks off", async (t) => {
  const head = "gw-order-id,email,merchantdata\r\n";
  const row = '1,"a ""b"", c","two\r\nlines"\r\n';
  const cut =
    (text: string): Answer =>
    (response) => {
      response.writeHead(200, { "content-type": "text/csv" });
      response.write(text, () => response.destroy());
    };
  const read = async (answer: Answer) => {
    const { baseUrl } = await startServer(t, answer);
    const client = makeClient({ baseUrl, login: "acme", controlKey: "key" });
    const rows: unknown[] = [];
    const asked = { createdFromDate: "2026-01-01 00:00:00", createdToDate: "2026-01-02 00:00:00" };
    for await (const each of client.transactionReport(asked)) rows.push(each);
    return rows;
  };

  assert.deepEqual(await read(say(head + row)), [
    { "gw-order-id": "1", email: 'a "b", c', merchantdata: "two\r\nlines" },
  ]);
  for (const broken of [cut(head), cut(head + row), say(`${head}1,2`), say("")]) {
    await assert.rejects(read(broken), Unreachable);
  }
  await assert.rejects(read(refuse(429, "TOO_MANY_REQUESTS", 12)), Refused);
  await assert.rejects(read(say("Access denied.", 403)), AccessDenied);
  await assert.rejects(read(say("bad gateway", 502)), Unreachable);
});
