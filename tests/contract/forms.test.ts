/** The requests of the payment page on the wire: replies byte for byte, checksums and refusals. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { formFields } from "../support/posted-page.ts";
import { joinWorld } from "../support/shared-world.ts";
import { type Fields, formOf, post, sha1, signedStatus } from "../support/wire.ts";
import type { World } from "../support/world.ts";

const uuid = "[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}";

/** `signed` is the text between the id and the key. */
type Operation = readonly [name: string, signed: (fields: Fields) => string, fields: () => Fields];

const paid = ({ client_orderid = "", email = "" }: Fields) => `${client_orderid}1015${email}`;
const unpaid = ({ client_orderid = "", email = "" }: Fields) => client_orderid + email;
const withoutAmount = () => {
  const { amount: _, currency: __, order_desc: ___, ...rest } = formFields();
  return rest;
};

// biome-ignore format: a table
const operations: readonly Operation[] = [
  ["sale-form",                 paid,   formFields],
  ["preauth-form",              paid,   formFields],
  ["account-verification-form", unpaid, withoutAmount],
];

function send(world: World, name: string, id: string, fields: Fields, signed: string) {
  const at = id === world.set.group ? `group/${id}` : id;
  const control = sha1(id + signed + world.set.controlKey);
  return post(world, `/gw/api/v2/${name}/${at}`, formOf({ ...fields, control }));
}

for (const [name, signed, make] of operations) {
  test(`${name}: the acknowledgement, of an endpoint and of a group`, async (t) => {
    const world = await joinWorld(t);
    for (const id of [world.set.endpoints["plain"] ?? "", world.set.group]) {
      const fields = make();
      const reply = await send(world, name, id, fields, signed(fields));
      const again = await send(world, name, id, fields, signed(fields));

      const url = `http%3A%2F%2F[\\w.]+%3A\\d+%2Fpay%2F(\\d+)\\.[\\w-]{24}`;
      const order = fields["client_orderid"];
      const expected = new RegExp(
        `^type=async-form-response&serial-number=${uuid}&merchant-order-id=${order}` +
          `&gw-order-id=(\\d+)&redirect-url=${url}$`,
      );
      const [, ack, inUrl] = expected.exec(reply.text) ?? assert.fail(reply.text);
      assert.equal(reply.status, 200);
      assert.equal(ack, inUrl);
      const rest = (text: string) => text.replace(/serial-number=[^&]+&/, "");
      assert.equal(rest(again.text), rest(reply.text));
    }
  });

  test(`${name}: email, phone and address may be absent; then nothing is signed for them`, async (t) => {
    const world = await joinWorld(t);
    const id = world.set.endpoints["plain"] ?? "";
    const bare = ["email", "phone", "address1", "city", "zip_code", "country", "state"];
    const entries = Object.entries(make()).filter(([field]) => !bare.includes(field));
    const fields = Object.fromEntries(entries);

    const reply = await send(world, name, id, fields, signed(fields));
    const wrong = await send(world, name, id, fields, `${signed(fields)}x`);

    assert.match(reply.text, /^type=async-form-response&/);
    assert.match(wrong.text, /^type=validation-error&.*error-code=2$/);
  });
}

test("card data in a form request is ignored, and a repeat with other card data is the same", async (t) => {
  const world = await joinWorld(t);
  const id = world.set.endpoints["plain"] ?? "";
  const fields = formFields();
  const card = { credit_card_number: "4111111111111111", cvv2: "123", ipaddress: "no address" };

  const reply = await send(world, "sale-form", id, { ...fields, ...card }, paid(fields));
  const again = await send(world, "sale-form", id, { ...fields, cvv2: "9" }, paid(fields));
  const status = await post(
    world,
    `/gw/api/v2/status/${id}`,
    signedStatus(world, { ...named(fields) }),
  );

  const urlOf = (text: string) => /redirect-url=(.*)$/.exec(text)?.[1] ?? assert.fail(text);
  assert.equal(urlOf(reply.text), urlOf(again.text));
  assert.match(status.text, /&status=processing&order-stage=sale_processing&/);
  assert.doesNotMatch(status.text, /411111|1111|card-type|processor-rrn|error-code/);
});

// biome-ignore format: a table
const refused: readonly (readonly [what: string, change: Fields, code: number])[] = [
  ["an amount of zero",           { amount: "0.00" },                      11],
  ["a currency of no endpoint",   { currency: "JPY", amount: "1015" },     10],
  ["a missing description",       { order_desc: undefined },               4],
  ["a state of another country",  { country: "US", state: "XX" },          5],
  ["a relative return address",   { redirect_url: "/return" },             5],
];

for (const [what, change, code] of refused) {
  test(`sale-form refuses ${what}`, async (t) => {
    const world = await joinWorld(t);
    const id = world.set.endpoints["plain"] ?? "";
    const fields: Fields = { ...formFields(), ...change };
    const minor = change["amount"] === "0.00" ? "0" : "1015";
    const text = `${fields["client_orderid"]}${minor}${fields["email"]}`;

    const reply = await send(world, "sale-form", id, fields, text);

    assert.match(reply.text, new RegExp(`error-code=${code}$`));
  });
}

test("a form has no synchronous variant", async (t) => {
  const world = await joinWorld(t);
  const reply = await post(world, `/gw/api/v2/sync/sale-form/${world.set.endpoints["plain"]}`, "");

  assert.equal(reply.status, 404);
});

function named({ client_orderid }: Fields): Fields {
  return { client_orderid };
}
