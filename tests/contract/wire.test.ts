/**
 * The interface's exchanges, byte for byte. Values that the request does not determine are inserted
 * by name.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { saleFields } from "../support/merchant.ts";
import { joinWorld } from "../support/shared-world.ts";
import { formOf, post, signedSale, signedStatus } from "../support/wire.ts";
import type { World } from "../support/world.ts";

const uuid = "[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}";

function plain(world: World): string {
  return world.set.endpoints["plain"] ?? "";
}

const approvedStatus: readonly string[] = [
  "type=status-response",
  "serial-number={serial}",
  "merchant-order-id=apples",
  "gw-order-id={order}",
  "status=approved",
  "order-stage=sale_approved",
  "amount=10.15",
  "initial-amount=10.15",
  "currency=USD",
  "transaction-type=sale",
  "processor-tx-id={digits}",
  "processor-rrn={reference}",
  "approval-code={approval}",
  "receipt-id=RECEIPT",
  "descriptor=TOLLGATE*DEMO",
  "original-gate-descriptor=TOLLGATE*DEMO",
  "terminal-id=10000018",
  "gw-processing-date={date}",
  "transaction-date=SAME",
  "name=JANE+DOE",
  "cardholder-name=JANE+DOE",
  "card-exp-month=12",
  "card-exp-year=2031",
  "last-four-digits=1111",
  "bin=411111",
  "card-type=VISA",
  "bank-name=UNKNOWN",
  "card-hash-id=HASH",
  "email=jane%40example.com",
  "first-name=Jane",
  "last-name=Doe",
  "phone=%2B1+555+0100",
  "country=US",
  "state=IL",
  "city=Springfield",
  "zip_code=62701",
  "address1=1+Main+Street",
  "gate-partial-reversal=enabled",
  "gate-partial-capture=enabled",
  "avs-result=Y",
  "avs-address=match",
  "avs-postcode=match",
  "cvv-result=match",
  "merchantdata=shelf+7",
];

/** Compares with a text in which `{name}` stands for what the pattern of that name matches. */
function assertWire(text: string, expected: string): Record<string, string> {
  const patterns: Record<string, string> = {
    serial: uuid,
    order: "[1-9]\\d{5,19}",
    date: "\\d{4}-\\d{2}-\\d{2}\\+\\d{2}%3A\\d{2}%3A\\d{2}\\+UTC",
    digits: "\\d{1,20}",
    reference: "[0-9A-Z]{12}",
    approval: "[0-9A-Z]{6}",
  };
  const escaped = expected.replace(/[.*+?^$()|[\]\\]/g, "\\$&");
  const source = escaped.replace(/\{(\w+)\}/g, (_, name) => `(?<${name}>${patterns[name]})`);
  const match = new RegExp(`^${source}$`).exec(text);
  assert.ok(match, `${text}\n  is not\n${expected}`);
  return { ...match.groups };
}

test("a sale's acknowledgement", async (t) => {
  const world = await joinWorld(t);
  const fields = saleFields({ client_orderid: "1 & 2" });

  const reply = await post(
    world,
    `/gw/api/v2/sale/${plain(world)}`,
    signedSale(world, plain(world), fields),
  );

  assertWire(
    reply.text,
    `type=async-response&serial-number={serial}&merchant-order-id=1+%26+2&gw-order-id={order}&end-point-id=${plain(world)}`,
  );
  assert.equal(reply.status, 200);
  assert.equal(reply.headers.get("content-type"), "text/html;charset=utf-8");
  assert.equal(reply.headers.get("cache-control"), "no-store");
  assert.equal(reply.headers.get("x-content-type-options"), "nosniff");
});

test("the status of an approved sale, every field in the interface's order", async (t) => {
  const world = await joinWorld(t);
  const fields = saleFields({
    client_orderid: "apples",
    first_name: "Jane",
    last_name: "Doe",
    merchant_data: "shelf 7",
  });
  const path = `/gw/api/v2/sale/${plain(world)}`;
  await post(world, path, signedSale(world, plain(world), fields));
  await world.settle();

  const body = signedStatus(world, { client_orderid: "apples" });
  const reply = await post(world, `/gw/api/v2/status/${plain(world)}`, body);

  assertWire(
    reply.text.replace(/(transaction-date=)[^&]+/, "$1SAME"),
    approvedStatus
      .join("&")
      .replace("RECEIPT", field(reply.text, "receipt-id"))
      .replace("HASH", field(reply.text, "card-hash-id")),
  );
});

test("the status of a declined sale has the reason", async (t) => {
  const world = await joinWorld(t);
  const fields = saleFields({ client_orderid: "pears", credit_card_number: "4000004000000020" });
  await post(world, `/gw/api/v2/sale/${plain(world)}`, signedSale(world, plain(world), fields));
  await world.settle();

  const body = signedStatus(world, { client_orderid: "pears" });
  const { text } = await post(world, `/gw/api/v2/status/${plain(world)}`, body);

  assert.match(text, /&status=declined&order-stage=sale_declined&/);
  assert.match(text, /&error-message=INSUFFICIENT_FUNDS%3A\+%5B51%5D&error-code=116$/);
});

test("a wrong checksum", async (t) => {
  const world = await joinWorld(t);
  const body = formOf({ ...saleFields(), control: "0".repeat(40) });

  const reply = await post(world, `/gw/api/v2/sale/${plain(world)}`, body);

  assert.equal(reply.status, 200);
  assertWire(
    reply.text,
    "type=validation-error&serial-number={serial}&error-message=INVALID_CONTROL_CODE&error-code=2",
  );
});

test("the same keys as JSON, when JSON is accepted", async (t) => {
  const world = await joinWorld(t);
  const body = signedSale(world, plain(world), saleFields({ client_orderid: "json" }));
  const path = `/gw/api/v2/sale/${plain(world)}`;

  for (const accept of ["application/json", "application/vnd.pay+json"]) {
    const reply = await post(world, path, body, { accept });
    const { type, "serial-number": serial, ...rest } = JSON.parse(reply.text);

    assert.equal(reply.headers.get("content-type"), "application/json;charset=utf-8");
    assert.equal(type, "async-response");
    assert.match(serial, new RegExp(`^${uuid}$`));
    assert.deepEqual(Object.keys(rest), ["merchant-order-id", "gw-order-id", "end-point-id"]);
  }
});

test("the operator's own product word in paths and in field names", async (t) => {
  const world = await joinWorld(t, { GW_PATH_WORD: "acme", GW_FIELD_WORD: "acmepay" });
  const body = signedSale(world, plain(world), saleFields({ client_orderid: "word" }));

  const reply = await post(world, `/acme/api/v2/sale/${plain(world)}`, body);
  const old = await post(world, `/gw/api/v2/sale/${plain(world)}`, body);
  await world.settle();
  const asked = signedStatus(world, { client_orderid: "word" });
  const status = await post(world, `/acme/api/v2/status/${plain(world)}`, asked);

  assert.match(reply.text, /&merchant-order-id=word&acmepay-order-id=\d+&/);
  assert.match(status.text, /&acmepay-processing-date=/);
  assert.equal(old.status, 404);
});

test("a line feed after every value, when the operator wants it", async (t) => {
  const world = await joinWorld(t, { GW_LINE_FEEDS: "on" });
  const body = signedSale(world, plain(world), saleFields({ client_orderid: "feeds" }));

  const { text } = await post(world, `/gw/api/v2/sale/${plain(world)}`, body);

  assertWire(
    text,
    `type=async-response\n&serial-number={serial}\n&merchant-order-id=feeds\n&gw-order-id={order}\n&end-point-id=${plain(world)}\n`,
  );
});

function field(text: string, name: string): string {
  return new RegExp(`&${name}=([^&]+)`).exec(text)?.[1] ?? assert.fail(name);
}
