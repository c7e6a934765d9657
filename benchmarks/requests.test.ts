/** Requests must be correct, because refused ones would measure only the speed of refusals. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseForm } from "@tollgate/protocols/form";
import { cardNumberOf, makeRequests } from "./requests.ts";

test("card numbers end in their check digit and differ", () => {
  // This is the test number that every card library knows.
  assert.equal(cardNumberOf(111_111_111), "4111111111111111");
  assert.equal(new Set([0, 1, 2, 10].map(cardNumberOf)).size, 4);
});

test("every request names its own length and order", () => {
  const target = { port: 1, endpoint: "7", login: "demo", controlKey: "key" };
  const requests = makeRequests(target, { kind: "sale", prefix: "order", count: 3 });

  const text = Buffer.from(requests.bytesOf(2)).toString();
  const [head = "", body = ""] = text.split("\r\n\r\n");

  assert.match(head, new RegExp(`\r\ncontent-length: ${body.length}$`));
  const form = parseForm(Buffer.from(body));
  assert.ok("pairs" in form);
  assert.deepEqual(form.pairs[0], ["client_orderid", "order-2"]);
});
