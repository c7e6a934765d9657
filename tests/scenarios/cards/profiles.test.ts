/** Recurring payment profiles: cards that are registered without a payment, and charged. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { bookedFor, received } from "../../support/expect.ts";
import { withCheckDigit } from "../../support/merchant.ts";
import { card, creation, type Named, named, newId, openProfiles } from "../../support/profiles.ts";
import { runGwProcess } from "../../support/programs.ts";
import { type Fields, giveKey, makeKeyPair, postSigned } from "../../support/wire.ts";

const { world, merchant, signer, ask, create, update, charge, statusOf } = await openProfiles({
  GW_CARD_GUESSES_MAX: "30",
});
const other = "5200000000000015";
const declined = "4000004000000020";

function isLuhnValid(digits: string): boolean {
  return withCheckDigit(digits.slice(0, -1)) === digits;
}

test("a profile is created without a message to the bank, and charged by its id", async () => {
  const sent = received(world, "0100") + received(world, "0200");
  const networkId = withCheckDigit("48329748723150");
  const made = await create({ "network-transaction-id": networkId });
  assert.equal(received(world, "0100") + received(world, "0200"), sent);
  assert.equal(made["type"], "create-recurring-payment-response");
  assert.equal(made["status"], "approved");
  for (const id of ["recurring-payment-id", "card-ref-id", "unq-card-ref-id"]) {
    assert.match(made[id] ?? "", /^\d{1,20}$/, id);
  }
  assert.equal(made["dst-card-ref-id"], undefined);

  const charged = await charge(made["recurring-payment-id"]);
  const status = await statusOf(charged);

  assert.equal(charged["type"], "process-recurring-payment-response");
  assert.equal(charged["status"], "processing");
  assert.deepEqual(
    [status["order-stage"], status["transaction-type"], status.email],
    ["sale_approved", "sale", "jane@example.com"],
  );
  assert.equal(status["card-hash-id"], made["unq-card-ref-id"]);
  assert.deepEqual(bookedFor(world, status), ["sale 499"]);
  const [message] = world.bank.messages(status["processor-rrn"]);
  assert.ok(JSON.stringify(message?.fields).includes(networkId), "it could be a card number");
  assert.equal((await create({ "network-transaction-id": `${card}0` }))["error-code"], "5");
});

test("the card-ref-id of a profile is a card reference, and so is the id that a registration gives", async () => {
  const made = await create();
  const told = await merchant.cardInfo(made["card-ref-id"]);
  assert.deepEqual([told["last-four-digits"], told["expire-year"]], ["0018", "2031"]);

  const paid = await merchant.sale({ credit_card_number: card });
  await world.settle();
  const about = { client_orderid: paid["merchant-order-id"], orderid: paid["gw-order-id"] };
  const registered = await ask("create-card-ref", about);
  const charged = await charge(registered["recurring-payment-id"]);

  assert.equal((await statusOf(charged))["order-stage"], "sale_approved");
  assert.equal(
    (await charge(registered["recurring-payment-id"], { amount: "" }))["error-code"],
    "4",
  );
  await merchant.removeCard(registered["card-ref-id"] ?? "");
  assert.equal((await charge(registered["recurring-payment-id"]))["error-code"], "15");
});

test("a network's id is sent as it came, even if its digits could be a card number", async () => {
  const [first, second] = ["450709373078097", withCheckDigit("48329748723150")];
  assert.ok(isLuhnValid(first));
  const made = await create({ "network-transaction-id": first });
  const id = made["recurring-payment-id"];
  const sentBy = async (charged: Named) => {
    const [message] = world.bank.messages((await statusOf(charged))["processor-rrn"]);
    return JSON.stringify(message?.fields);
  };

  assert.ok((await sentBy(await charge(id))).includes(first));
  await update({ "recurring-payment-id": id, "network-transaction-id": second });
  assert.ok((await sentBy(await charge(id))).includes(second));
  for (const bad of ["Ä-1", "a b", `${card}0`, other, "NTI-4000001000000018"]) {
    const sent = { "network-transaction-id": bad };
    for (const told of [
      await create(sent),
      await update({ "recurring-payment-id": id, ...sent }),
    ]) {
      if (bad === `${card}0` && told["type"]?.startsWith("update")) continue;
      assert.equal(told["error-code"], "5", bad);
      assert.match(told["error-message"] ?? "", /network_transaction_id/);
    }
  }
});

test("identical creations give the same ids, also at once; another one with the order id is refused", async () => {
  const fields = creation();
  const made = await Promise.all([1, 2, 3].map(() => ask("create-recurring-payment", fields)));
  const ids = new Set(made.map((each) => each["recurring-payment-id"]));
  assert.equal(ids.size, 1);
  const changed = await ask("create-recurring-payment", { ...fields, city: "Shelbyville" });
  assert.equal(changed["error-code"], "7");
  const second = await ask("create-recurring-payment", { ...fields, "client-orderid": newId() });
  assert.ok(!ids.has(second["recurring-payment-id"]));
  assert.equal(second["unq-card-ref-id"], made[0]?.["unq-card-ref-id"]);
});

test("the card of a receiver gets ids that are never charged, and needs nothing of a customer", async () => {
  const made = await create({
    "rp_card_type": "DST",
    "card-printed-name": undefined,
    "expire-month": undefined,
    "expire-year": undefined,
    "email": "no address",
    "customer-ip": undefined,
    "country": undefined,
  });
  assert.equal(
    made["recurring-payment-id"],
    made["dst-recurring-payment-id"],
    String(made["error-message"]),
  );
  assert.match(made["dst-card-ref-id"] ?? "", /^\d+$/);
  assert.deepEqual([made["card-ref-id"], made["unq-card-ref-id"]], [undefined, undefined]);

  for (const id of [made["recurring-payment-id"], made["dst-card-ref-id"]]) {
    assert.equal((await charge(id))["error-code"], "8");
  }
});

test("bad creations are refused, each with its code", async () => {
  // biome-ignore format: a table
  const cases: readonly (readonly [fields: Fields, code: number, detail: RegExp])[] = [
    [{ "rp_card_type": "BOTH" }, 5, /rp_card_type/],
    [{ "rp_card_type": undefined }, 4, /rp_card_type/],
    [{ "client-orderid": "" }, 4, /client_orderid/],
    [{ "client-orderid": `A${card}` }, 5, /client_orderid: contains the card number/],
    [{ "credit-card-number": "4000001000000019" }, 5, /check digit/],
    [{ "currency": "EUR" }, 10, /^/],
    [{ "card-printed-name": undefined }, 4, /card_printed_name/],
    [{ "expire-year": "2020" }, 5, /expire_year/],
    [{ "rp_card_type": "DST", "expire-year": undefined }, 4, /expire_year/],
    [{ "rp_card_type": "DST", "expire-month": undefined }, 4, /expire_month/],
    [{ "email": undefined }, 4, /email/],
    [{ "state": "ZZ" }, 5, /state/],
    [{ "customer-ip": undefined }, 4, /customer_ip/],
    [{ "amount": "0.00" }, 11, /^/],
    [{ "amount": "1.001" }, 5, /amount: more fraction digits/],
    [{ "zip_code": "00000" }, 5, /zip_code: its two spellings/],
    ...["interval", "period", "start-date", "finish-date", "amount-from", "amount-to", "amount-sequence"].map((name) => [{ [name]: "1" }, 13, /schedule$/] as const),
  ];
  for (const [fields, code, detail] of cases) {
    const { "error-code": told, "error-message": message = "" } = await create(fields);
    assert.equal(told, String(code), `${JSON.stringify(fields)}: ${message}`);
    assert.match(message, detail);
  }
  const same = await create({ zip_code: "62701" });
  assert.equal(same["status"], "approved");
  const id = same["recurring-payment-id"];
  for (const [amount, code] of [
    ["1.001", "5"],
    ["0.00", "11"],
  ] as const) {
    assert.equal((await charge(id, { amount }))["error-code"], code);
    assert.equal((await update({ "recurring-payment-id": id, amount }))["error-code"], code);
  }
});

test("profiles are for endpoints that have them, in v4 and without groups", async () => {
  const fields = creation();
  await world.changeEndpoint("eur", { profiles: "off" });
  for (const what of ["create", "process", "update"]) {
    const own =
      what === "create"
        ? { ...fields, currency: "EUR" }
        : { "client-orderid": newId(), "recurring-payment-id": "1" };
    const off = await ask(`${what}-recurring-payment`, own, { endpoint: "eur" });
    assert.deepEqual(
      [off["error-code"], off["error-message"]],
      ["13", "NOT_SUPPORTED_BY_GATE: profiles"],
    );
    for (const path of [
      `v4/${what}-recurring-payment/group/${world.set.group}`,
      `v2/${what}-recurring-payment/1`,
    ]) {
      assert.equal((await postSigned(world, signer, `/gw/api/${path}`, own)).status, 404);
    }
  }
});

test("a charge uses the profile's amount, is made once, and its id can be charged again", async () => {
  const made = await create({ amount: "19.99", order_desc: "A month of apples" });
  const id = made["recurring-payment-id"];
  const fields = { "client-orderid": newId(), "recurring-payment-id": id };
  const [first, second] = await Promise.all(
    [1, 2].map(() => ask("process-recurring-payment", fields)),
  );
  assert.equal(first?.["gw-order-id"], second?.["gw-order-id"]);
  const status = await statusOf(first ?? {});
  assert.deepEqual(bookedFor(world, status), ["sale 1999"]);
  assert.deepEqual(
    await ask("process-recurring-payment", fields).then((each) => each["gw-order-id"]),
    first?.["gw-order-id"],
  );
  const more = await ask("process-recurring-payment", { ...fields, amount: "5.00" });
  assert.equal(more["error-code"], "7");
  assert.deepEqual(bookedFor(world, await statusOf(await charge(id))), ["sale 499"]);
});

test("an id that is unknown, of another merchant or of another kind is not found", async () => {
  const made = await create();
  const pair = makeKeyPair();
  const stranger = await world.stranger();
  const endpoint = stranger.set.endpoints["plain"] ?? "";
  await world.installation.database.query(
    `update endpoints set settings = '{"threeDSecure": "off", "profiles": "on"}' where id = $1`,
    [endpoint],
  );
  await giveKey(world, stranger.set.login, pair);
  const by = { consumerKey: stranger.set.login, privateKey: pair.privateKey };

  for (const what of ["process", "update"]) {
    for (const id of ["1", made["card-ref-id"], made["recurring-payment-id"]]) {
      const fields = { "client-orderid": newId(), "recurring-payment-id": id, "amount": "1.00" };
      const told = await ask(`${what}-recurring-payment`, fields, { endpoint, by });
      assert.equal(told["error-code"], "8", `${what} ${told["error-message"]}`);
    }
  }
  assert.equal((await charge(made["card-ref-id"]))["error-code"], "8");
});

test("a new number keeps the profile's id, gets a hash id of its own, and is charged", async () => {
  const made = await create();
  const id = made["recurring-payment-id"];
  const paid = await charge(id);
  await world.settle();
  const renewed = {
    "credit-card-number": other,
    "card-printed-name": "J DOE",
    "expire-month": "1",
    "expire-year": "2032",
  };
  for (const name of Object.keys(renewed)) {
    const part = await update({ "recurring-payment-id": id, ...renewed, [name]: undefined });
    assert.equal(part["error-code"], "4", name);
  }

  const changed = await update({ "recurring-payment-id": id, ...renewed, email: "j@example.com" });
  assert.equal(
    changed["type"],
    "update-recurring-payment-response",
    String(changed["error-message"]),
  );
  assert.deepEqual(
    [changed["recurring-payment-id"], changed["card-ref-id"]],
    [id, made["card-ref-id"]],
  );
  assert.notEqual(changed["unq-card-ref-id"], made["unq-card-ref-id"]);
  const status = await statusOf(await charge(id));
  assert.deepEqual(
    [status["last-four-digits"], status["card-exp-year"], status.email],
    ["0015", "2032", "j@example.com"],
  );
  // The old number is kept for refunds.
  await merchant.return(named(paid));
  assert.equal((await statusOf(paid))["order-stage"], "reversal_approved");

  await update({ "recurring-payment-id": id, ...renewed, email: "j@example.com" });
  const audited = await runGwProcess(world, "audit", "list", "--json");
  const entries = JSON.parse(audited.printed).filter(
    ({ action, subject }: Named) => action === "profile change" && subject?.includes(id ?? "-"),
  );
  assert.equal(entries.length, 1, "the repeat changes nothing");
  assert.match(JSON.stringify(entries[0]), /520000\*\*\*\*0015/);
});

test("a profile is stopped by a date until the operator starts it again", async () => {
  const made = await create();
  const id = made["recurring-payment-id"];
  const at = (days: number) =>
    new Date(world.clock.now() + days * 86_400_000).toISOString().slice(0, 10);
  const later = await update({ "recurring-payment-id": id, "finish-date": at(1) });
  assert.deepEqual(
    [later["error-code"], later["error-message"]],
    ["13", "NOT_SUPPORTED_BY_GATE: schedule"],
  );
  for (const impossible of ["31.12.2020", "2026-02-31", "0000-01-01"]) {
    const told = await update({ "recurring-payment-id": id, "finish-date": impossible });
    assert.equal(told["error-code"], "5", impossible);
  }

  assert.equal(
    (await update({ "recurring-payment-id": id, "finish-date": at(0) }))["status"],
    "approved",
  );
  assert.equal((await charge(id))["error-code"], "15");
  await assert.rejects(
    merchant.rebill({ cardrefid: made["card-ref-id"] ?? "" }),
    /CARD_REFERENCE_REMOVED/,
  );
  await update({ "recurring-payment-id": id, amount: "5.00" });
  assert.equal((await charge(id))["error-code"], "15");

  const restarted = await runGwProcess(world, "card", "restart", "demo", id ?? "");
  assert.equal(restarted.code, 0, restarted.printed);
  assert.equal((await statusOf(await charge(id)))["order-stage"], "sale_approved");
});

test("a late repeat of an older update undoes neither a newer one nor the operator's restart", async () => {
  const made = await create({ amount: "1.00" });
  const about = { "recurring-payment-id": made["recurring-payment-id"] };
  const same = { "client-orderid": newId(), ...about, "amount": "1.00" };
  const older = { "client-orderid": newId(), ...about, "amount": "5.00" };
  const stop = { "client-orderid": newId(), ...about, "finish-date": "2020-01-31" };
  for (const fields of [same, older, { ...about, amount: "7.00" }, stop]) await update(fields);
  await runGwProcess(world, "card", "restart", "demo", about["recurring-payment-id"] ?? "");

  for (const fields of [same, older, stop]) {
    const told = await update(fields);
    assert.equal(told["status"], "approved", String(told["error-message"]));
    assert.equal(told["card-ref-id"], made["card-ref-id"]);
  }

  const charged = await charge(about["recurring-payment-id"], { amount: undefined });
  assert.equal((await statusOf(charged)).amount, "7.00");
  await update({ ...older, "client-orderid": newId() });
  const later = await charge(about["recurring-payment-id"], { amount: undefined });
  assert.equal((await statusOf(later)).amount, "5.00");
});

test("at an endpoint that verifies, the issuer is also asked about a new number", async () => {
  await world.changeEndpoint("plain", { profiles: "verified" });
  const id = (await create())["recurring-payment-id"];
  const numbered = (number: string) => ({
    "client-orderid": newId(),
    "recurring-payment-id": id,
    "credit-card-number": number,
    "card-printed-name": "J DOE",
    "expire-month": "1",
    "expire-year": "2032",
  });

  const refused = await update(numbered(declined));
  const kept = await statusOf(await charge(id));
  const good = numbered(other);
  const [changed, again] = [await update(good), await update(good)];
  const status = await statusOf(await charge(id));
  await world.changeEndpoint("plain", { profiles: "on" });

  assert.deepEqual([refused["type"], refused["error-code"]], ["error", "116"]);
  assert.equal(kept["last-four-digits"], "0018");
  assert.equal(changed["type"], "update-recurring-payment-response");
  assert.deepEqual(again["unq-card-ref-id"], changed["unq-card-ref-id"]);
  assert.equal(status["last-four-digits"], "0015");
});

test("at an endpoint that verifies, the issuer is asked first, once, and without 3-D Secure", async () => {
  const verifying = { profiles: "verified" };
  for (const name of ["plain", "secureAlways"]) await world.changeEndpoint(name, verifying);
  const at = (fields: Fields, endpoint = "plain") =>
    ask("create-recurring-payment", fields, { endpoint });

  const bad = creation({ "credit-card-number": declined });
  const refused = await at(bad);
  assert.deepEqual([refused["type"], refused["error-code"]], ["error", "116"]);
  assert.equal((await at(bad))["error-code"], "116", "the bank is not asked again");
  const { "client-orderid": id } = bad;
  const good = {
    ...creation({ "network-transaction-id": "NTI" }),
    "client-orderid": id,
    "cvv2": "123",
  };
  const [made, again] = await Promise.all([at(good), at(good)]);
  assert.equal(made["status"], "approved", String(made["error-message"]));
  assert.deepEqual(again["recurring-payment-id"], made["recurring-payment-id"]);
  assert.equal((await at({ ...good, city: "Shelbyville" }))["error-code"], "7");
  assert.equal((await at(good))["card-ref-id"], made["card-ref-id"]);
  const status = await statusOf(await charge(made["recurring-payment-id"]));
  assert.equal(status["order-stage"], "sale_approved");
  const secure = await at(creation({ "credit-card-number": "4000002000000016" }), "secureAlways");
  assert.equal(secure["status"], "approved", String(secure["error-message"]));

  for (const name of ["plain", "secureAlways"])
    await world.changeEndpoint(name, { profiles: "on" });
  assert.equal((await at(good))["card-ref-id"], made["card-ref-id"]);
});

test("a merchant that searches for a card's number is told nothing beyond a bound", async () => {
  const guesses = [...Array(40).keys()].map((middle) => {
    const digits = `411111${String(middle).padStart(5, "0")}`;
    const check = [...Array(10).keys()].find((each) => isLuhnValid(`${digits}${each}1111`)) ?? 0;
    return `${digits}${check}1111`;
  });
  const told = await Promise.all(
    guesses.map(async (guess) => (await create({ "credit-card-number": guess }))["error-code"]),
  );
  assert.ok(told.filter((code) => code === "1011").length >= 8, String(told));
});

test("an expired card is refused with a code of its own", async () => {
  const made = await create({ "expire-month": "1", "expire-year": "2027" });
  const id = made["recurring-payment-id"];
  assert.equal(made["status"], "approved", String(made["error-message"]));
  await world.pass(86_400_000 * 1200);
  assert.equal((await charge(id))["error-code"], "14");
});
