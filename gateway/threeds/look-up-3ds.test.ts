/** How an authentication begins, and to which order an id belongs. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { endpointWith } from "../merchant-api/testing.ts";
import type { EndpointSettings } from "../orders/merchant.ts";
import type { Enrolment, Order } from "../orders/order.ts";
import { draft, threeds } from "../orders/testing.ts";
import { isSameId, lookUp3ds, orderNumberIn } from "./authentication-outcome.ts";

const entropy = Uint8Array.from({ length: 20 }, (_, index) => 255 - index);
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const enrolled: Enrolment = { directory: "visa", version: "2.2.0" };
const withMethod: Enrolment = { ...enrolled, methodUrl: "https://acs.example/method" };

test("a card with a method waits for it, one without is authenticated at once", () => {
  assert.equal(lookUp(withMethod).kind, "method_requested");
  assert.equal(lookUp(enrolled).kind, "authentication_due");
  assert.equal(lookUp({ directory: "visa", version: "1.0.2" }).kind, "enrolment_due");
});

test("the same conditions give the same event", () => {
  assert.deepEqual(lookUp(withMethod), lookUp(withMethod));
});

test("an id is a random UUID that leads back to its order", () => {
  const event = lookUp(enrolled);
  assert.ok(event.kind === "authentication_due");
  const { transactionId } = event.threeds;

  assert.match(transactionId, uuid);
  assert.equal(orderNumberIn(transactionId), Number(draft.id));
  assert.ok(transactionId.startsWith("fffefdfc-fbfa-4"));
});

test("the id of 1.0.2 is twenty bytes in base64", () => {
  const event = lookUp({ directory: "visa", version: "1.0.2" });
  assert.ok(event.kind === "enrolment_due");

  assert.equal(Buffer.from(event.threeds.transactionId, "base64").length, 20);
});

test("after a soft decline the known browser is used again, without the method", () => {
  const browser = { completion: "Y", properties: { browserTZ: "60" } } as const;
  const again = { ...draft.transaction, threeds: { ...threeds, browser } };

  for (const [enrolment, completion] of [
    [withMethod, "N"],
    [enrolled, "U"],
  ] as const) {
    const event = lookUp(enrolment, "when_possible", { transaction: again });
    assert.ok(event.kind === "authentication_due");
    assert.deepEqual(event.threeds.browser, { ...browser, completion });
  }
});

test("what happens to a card that is not enrolled is the endpoint's policy", () => {
  assert.equal(lookUp(undefined, "when_possible").kind, "left_unauthenticated");
  assert.equal(lookUp(undefined, "always").kind, "authentication_failed");
});

test("an id of another form, or of an order that cannot be, leads nowhere", () => {
  for (const id of ["", "42", `${"0".repeat(8)}-0000-4000-8000-ffffffffffff`]) {
    assert.equal(orderNumberIn(id), undefined, id);
  }
  assert.ok(isSameId("ABC", "abc"));
  assert.ok(!isSameId(undefined, undefined));
});

function lookUp(
  enrolment: Enrolment | undefined,
  threeDSecure: EndpointSettings["threeDSecure"] = "when_possible",
  changes: Partial<Order> = {},
) {
  const card = enrolment === undefined ? draft.card : { ...draft.card, enrolment };
  const endpoint = { ...endpointWith([]), settings: { threeDSecure } };
  return lookUp3ds({ ...draft, card, ...changes }, { endpoint, entropy });
}
