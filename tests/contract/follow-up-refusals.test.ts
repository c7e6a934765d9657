/**
 * Everything that can be wrong with a capture or a return, on each path: how it is refused, that
 * nothing is written, and that nothing is sent to the bank.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Test } from "../support/clean-up.ts";
import { joinWorld } from "../support/shared-world.ts";
import { formOf, post, signedFollowUp } from "../support/wire.ts";
import type { World } from "../support/world.ts";

type Fields = Readonly<Record<string, string | undefined>>;

/**
 * A change that makes a correct request wrong, the refusal, and the money that the request signs.
 */
type Row = readonly [change: Fields, code: number, message: RegExp, money?: string];

// biome-ignore format: a table
const unauthenticated: readonly Row[] = [
  [{ login: undefined },                    4, /^MISSING_PARAMETER: login$/],
  [{ login: "" },                           4, /^MISSING_PARAMETER: login$/],
  [{ login: "x".repeat(21) },               5, /^INVALID_PARAMETER: login: longer than 20 characters$/],
  [{ login: "somebody" },                   2, /^INVALID_CONTROL_CODE$/],
  [{ client_orderid: undefined },           4, /^MISSING_PARAMETER: client_orderid$/],
  [{ client_orderid: "   " },               4, /^MISSING_PARAMETER: client_orderid$/],
  [{ client_orderid: "x".repeat(129) },     5, /^INVALID_PARAMETER: client_orderid: longer than 128/],
  [{ client_orderid: "a\u0000b" },          5, /^INVALID_PARAMETER: client_orderid: control characters$/],
  [{ orderid: undefined },                  4, /^MISSING_PARAMETER: orderid$/],
  [{ orderid: "" },                         4, /^MISSING_PARAMETER: orderid$/],
  [{ orderid: "apples" },                   5, /^INVALID_PARAMETER: orderid: not an order id$/],
  [{ orderid: "0" },                        5, /orderid/],
  [{ orderid: "0123456789" },               5, /orderid/],
  [{ orderid: "-123456789" },               5, /orderid/],
  [{ orderid: "12345678.0" },               5, /orderid/],
  [{ orderid: "12345678 9" },               5, /orderid/],
  [{ orderid: "1' or '1'='1" },             5, /orderid/],
  [{ orderid: "9223372036854775808" },      5, /orderid/],
  [{ orderid: "9".repeat(21) },             5, /orderid/],
  [{ amount: "1e3" },                       5, /^INVALID_PARAMETER: amount/],
  [{ amount: ".5" },                        5, /amount/],
  [{ amount: "4." },                        5, /amount/],
  [{ amount: "-4.00" },                     5, /amount/],
  [{ amount: "+4.00" },                     5, /amount/],
  [{ amount: "4,00" },                      5, /amount/],
  [{ amount: "4.001" },                     5, /^INVALID_PARAMETER: amount: more fraction digits/],
  [{ amount: "12345678901" },               5, /amount/],
  [{ currency: undefined },                 4, /^MISSING_PARAMETER: currency$/],
  [{ currency: "" },                        4, /^MISSING_PARAMETER: currency$/],
  [{ currency: "usd" },                     5, /^INVALID_PARAMETER: currency/],
  [{ currency: "XYZ" },                     5, /currency/],
  [{ currency: "US Dollar" },               5, /currency/],
  [{ control: undefined },                  4, /^MISSING_PARAMETER: control$/],
  [{ control: "" },                         4, /^MISSING_PARAMETER: control$/],
  [{ control: "0".repeat(40) },             2, /^INVALID_CONTROL_CODE$/],
  [{ control: "z".repeat(40) },             2, /^INVALID_CONTROL_CODE$/],
  [{ control: "0".repeat(39) },             2, /^INVALID_CONTROL_CODE$/],
  [{ control: "0".repeat(41) },             5, /^INVALID_PARAMETER: control: longer than 40/],
  // The amount is signed: it cannot be omitted, changed, or sent without a currency.
  [{},                                      2, /^INVALID_CONTROL_CODE$/, ""],
  [{},                                      2, /^INVALID_CONTROL_CODE$/, "401USD"],
  [{},                                      2, /^INVALID_CONTROL_CODE$/, "400"],
  [{},                                      2, /^INVALID_CONTROL_CODE$/, "4.00USD"],
  [{ amount: undefined },                   2, /^INVALID_CONTROL_CODE$/, "400USD"],
];

// biome-ignore format: a table
const authenticated: readonly Row[] = [
  [{ amount: undefined },                   4,  /^MISSING_PARAMETER: amount$/, ""],
  [{ amount: "" },                          4,  /^MISSING_PARAMETER: amount$/, ""],
  [{ comment: "x".repeat(51) },             5,  /^INVALID_PARAMETER: comment: longer than 50 characters$/],
  [{ comment: "wrong\u0007size" },          5,  /^INVALID_PARAMETER: comment: control characters$/],
  [{ comment: "wrong\nsize" },              5,  /^INVALID_PARAMETER: comment: control characters$/],
  [{ orderid: "12345678" },                 6,  /^ORDER_NOT_FOUND$/],
  [{ orderid: "9223372036854775807" },      6,  /^ORDER_NOT_FOUND$/],
  [{ client_orderid: "another" },           6,  /^ORDER_NOT_FOUND$/],
  [{ currency: "EUR" },                     10, /^CURRENCY_NOT_SUPPORTED/, "400EUR"],
  [{ amount: "0" },                         11, /^AMOUNT_OUT_OF_RANGE/,    "0USD"],
  [{ amount: "0.00" },                      11, /^AMOUNT_OUT_OF_RANGE/,    "0USD"],
  [{ amount: "10.16" },                     11, /^AMOUNT_OUT_OF_RANGE/,    "1016USD"],
  [{ amount: "9999999999" },                11, /^AMOUNT_OUT_OF_RANGE/,    "999999999900USD"],
];

for (const operation of ["capture", "return"] as const) {
  test(`a wrong ${operation} is refused with the reason, and has no effect`, async (t) => {
    const { world, good } = await startWithOrder(t, operation);
    const untouched = await standOf(world);

    for (const path of pathsOf(world, operation)) {
      for (const row of unauthenticated) await assertTold(world, path, good, row);
    }
    assert.deepEqual(await standOf(world), untouched);

    for (const path of pathsOf(world, operation)) {
      for (const row of authenticated) await assertTold(world, path, good, row);
    }
    await world.settle();
    const kept = untouched.requests + authenticated.length * 4;
    assert.deepEqual(await standOf(world), { ...untouched, requests: kept });

    // The unchanged request is correct on each of the paths.
    for (const path of pathsOf(world, operation)) {
      const reply = read(await post(world, path, signedFollowUp(world, good, "400USD")));
      assert.equal(reply["gw-order-id"], good.orderid);
    }
  });

  test(`a ${operation} that cannot be read is refused before anything else`, async (t) => {
    const { world, good } = await startWithOrder(t, operation);
    const untouched = await standOf(world);
    const body = signedFollowUp(world, good, "400USD");

    // biome-ignore format: a table
    const unreadable: readonly (readonly [body: string | Uint8Array, type?: string])[] = [
      [`${body}&amount=4.00`],
      [`${body}&orderid=${good.orderid}`],
      [`${body}&comment=a&comment=a`],
      [`${body}&colour=red&colour=blue`],
      [`${body}&comment=%zz`],
      [`${body}&comment=%C0%AF`],
      [Buffer.concat([Buffer.from(`${body}&comment=`), Buffer.from([0xff, 0xfe])])],
      [body,                                 "multipart/form-data; boundary=x"],
      [JSON.stringify(good),                 "application/json"],
    ];
    for (const path of pathsOf(world, operation)) {
      for (const [sent, type = "application/x-www-form-urlencoded"] of unreadable) {
        const reply = read(await post(world, path, sent, { "content-type": type }));
        assert.equal(reply["error-code"], "1", String(sent).slice(-40));
      }
    }
    assert.deepEqual(await standOf(world), untouched);
  });
}

/** The checksum of a void covers no amount, which only confirms the charge. */
// biome-ignore format: a table
const ofVoid: readonly Row[] = [
  [{},                            2,  /^INVALID_CONTROL_CODE$/, "1015USD"],
  [{ orderid: "apples" },         5,  /^INVALID_PARAMETER: orderid: not an order id$/, ""],
  [{ amount: "1e3" },             5,  /^INVALID_PARAMETER: amount/, ""],
  [{ currency: "XXQ" },           5,  /^INVALID_PARAMETER: currency/, ""],
  [{ currency: undefined },       4,  /^MISSING_PARAMETER: currency$/, ""],
  [{ amount: "10.155" },          5,  /^INVALID_PARAMETER: amount/, ""],
  [{ amount: undefined, currency: "EUR" }, 10, /^CURRENCY_NOT_SUPPORTED$/, ""],
  [{ orderid: "12345678" },       6,  /^ORDER_NOT_FOUND$/, ""],
  [{ currency: "EUR" },           10, /^CURRENCY_NOT_SUPPORTED$/, ""],
  [{ amount: "0" },               11, /^AMOUNT_OUT_OF_RANGE/, ""],
  [{ amount: "10.14" },           11, /^AMOUNT_OUT_OF_RANGE: only the whole/, ""],
  [{ amount: "10.16" },           11, /^AMOUNT_OUT_OF_RANGE/, ""],
];

test("a wrong void is refused with the reason, and has no effect", async (t) => {
  const { world, good: order } = await startWithOrder(t, "void");
  const good = { ...order, amount: "10.15" };
  const { requests: _, ...untouched } = await standOf(world);

  for (const path of pathsOf(world, "void")) {
    for (const row of ofVoid) await assertTold(world, path, good, row);
  }
  await world.settle();
  const { requests: __, ...afterwards } = await standOf(world);
  assert.deepEqual(afterwards, untouched);

  for (const path of pathsOf(world, "void")) {
    const reply = read(await post(world, path, signedFollowUp(world, good, "")));
    assert.equal(reply["gw-order-id"], good.orderid);
  }
});

test("captures and returns at an unknown endpoint or group are refused", async (t) => {
  const { world, good } = await startWithOrder(t, "capture");
  const untouched = await standOf(world);
  const body = signedFollowUp(world, good, "400USD");
  const { endpoints, group } = world.set;
  const ids = ["999999", "0", "abc", "group/999999", `group/${endpoints["plain"]}`, group];

  for (const name of ["capture", "return", "sync/capture", "sync/return"]) {
    for (const id of ids) {
      const reply = read(await post(world, `/gw/api/v2/${name}/${id}`, body));
      assert.equal(reply["error-code"], "3", `${name}/${id}`);
    }
  }

  assert.deepEqual(await standOf(world), untouched);
});

test("an order is refused at another endpoint of its merchant, and found by the group", async (t) => {
  const { world, good } = await startWithOrder(t, "capture");
  const untouched = await standOf(world);
  const body = signedFollowUp(world, good, "400USD");

  const elsewhere = await post(world, `/gw/api/v2/capture/${world.set.endpoints["binary"]}`, body);
  const still = await standOf(world);
  const group = await post(world, `/gw/api/v2/capture/group/${world.set.group}`, body);
  await world.settle();

  assert.equal(read(elsewhere)["error-code"], "6");
  assert.deepEqual(still, { ...untouched, requests: untouched.requests + 1 });
  assert.equal(read(group)["gw-order-id"], good.orderid);
});

test("captures and returns are requested by POST only", async (t) => {
  const world = await joinWorld(t);
  for (const path of [...pathsOf(world, "capture"), ...pathsOf(world, "return")]) {
    for (const method of ["GET", "PUT", "DELETE", "OPTIONS", "HEAD", "PATCH"]) {
      const answer = await fetch(world.gateway.url + path, { method });
      assert.equal(answer.status, 405, `${method} ${path}`);
      assert.equal(answer.headers.get("allow"), "POST");
    }
  }
});

test("a client that accepts JSON gets refusals and acknowledgements as JSON", async (t) => {
  const { world, good } = await startWithOrder(t, "return");
  const json = { accept: "application/json" };
  const [path = "", , sync = ""] = pathsOf(world, "return");

  const refused = await post(world, path, formOf({ ...good, control: "0".repeat(40) }), json);
  const body = signedFollowUp(world, good, "400USD");
  const acknowledged = await post(world, path, body, json);
  const waited = await post(world, sync, body, json);

  assert.equal(refused.headers.get("content-type"), "application/json;charset=utf-8");
  const { "serial-number": serial, ...refusal } = JSON.parse(refused.text);
  assert.match(serial, /^[0-9a-f-]{36}$/);
  assert.deepEqual(refusal, {
    type: "validation-error",
    "error-message": "INVALID_CONTROL_CODE",
    "error-code": "2",
  });
  assert.equal(JSON.parse(acknowledged.text).type, "async-response");
  assert.equal(JSON.parse(waited.text)["order-stage"], "reversal_approved");
});

/** Makes an order that can be captured or returned, and the correct request for that. */
async function startWithOrder(t: Test, operation: string) {
  const world = await joinWorld(t);
  const merchant = world.merchant();
  const order = await (operation === "capture" ? merchant.preauth() : merchant.sale());
  await world.settle();
  const good = {
    login: world.set.login,
    client_orderid: order["merchant-order-id"],
    orderid: order["gw-order-id"],
    amount: "4.00",
    currency: "USD",
  };
  return { world, good };
}

async function assertTold(world: World, path: string, good: Fields, row: Row): Promise<void> {
  const [change, code, message, money = "400USD"] = row;
  const reply = await post(world, path, signedFollowUp(world, { ...good, ...change }, money));
  const fields = read(reply);
  const what = `${path} ${JSON.stringify(change)} ${money}`;

  assert.equal(reply.status, 200, what);
  assert.equal(fields["type"], "validation-error", what);
  assert.equal(fields["error-code"], String(code), `${what} ${fields["error-message"]}`);
  assert.match(fields["error-message"] ?? "", message, what);
}

/** Reads everything that a request could have changed. */
async function standOf({ readRows, bank }: World) {
  const orders = await readRows("select id, version, stage, progress from orders order by id");
  const history = await readRows(
    "select order_id, version from order_history order by order_id, version",
  );
  const requests = await readRows("select serial from requests");
  return { orders, history, requests: requests.length, messages: bank.messages().length };
}

function pathsOf({ set }: World, operation: string): readonly string[] {
  const ids = [set.endpoints["plain"] ?? "", `group/${set.group}`];
  const names = [operation, `sync/${operation}`];
  return names.flatMap((name) => ids.map((id) => `/gw/api/v2/${name}/${id}`));
}

function read({ text }: { readonly text: string }): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text));
}
