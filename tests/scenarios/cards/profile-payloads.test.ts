/** Many recurring payment profiles in one request, as CSV. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { bookedFor, received } from "../../support/expect.ts";
import { withCheckDigit } from "../../support/merchant.ts";
import { card, creation, newId, openProfiles } from "../../support/profiles.ts";
import { testInLongRun } from "../../support/series.ts";
import { until } from "../../support/until.ts";
import type { Fields } from "../../support/wire.ts";

const { world, ask, statusOf } = await openProfiles();

type Line = Readonly<Record<string, string>>;

/** Sends entries as CSV, and returns the reply with its lines. */
async function askMany(what: string, entries: readonly Fields[]) {
  const names = [...new Set(entries.flatMap((entry) => Object.keys(entry)))];
  const cell = (text = "") => (/[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = entries.map((entry) => names.map((name) => cell(entry[name])).join(","));
  const reply = await ask(what, { payload: [names.join(","), ...lines].join("\r\n") });
  const [head = "", ...rows] = (reply["payload"] ?? "").trimEnd().split("\r\n");
  const columns = head.split(",");
  const told = rows.map((row): Line => {
    const cells = row.split(",");
    return Object.fromEntries(columns.map((name, at) => [name, cells[at] ?? ""]));
  });
  return { reply, told };
}

test("entries of a payload stand alone, and sending it again does nothing twice", async () => {
  const entries = [
    creation({ order_desc: `One "good", with a comma${"!".repeat(65_000)}`, "amount": "3.00" }),
    creation({ "credit-card-number": "4000001000000019" }),
    creation({ "rp_card_type": "DST" }),
    creation({ "client-orderid": card, "credit-card-number": card }),
  ];
  const { reply, told } = await askMany("create-recurring-payments", entries);

  assert.equal(reply["type"], "create-recurring-payments-response", reply["error-message"] ?? "");
  assert.deepEqual([reply["total"], reply["accepted"], reply["refused"]], ["4", "2", "2"]);
  assert.deepEqual(
    told.map((each) => [each["line"], each["error-code"]]),
    [
      ["1", ""],
      ["2", "5"],
      ["3", ""],
      ["4", "5"],
    ],
  );
  assert.ok(!JSON.stringify(reply).includes(card));
  const [source, , destination] = told;
  assert.deepEqual([source?.["dst-card-ref-id"], destination?.["card-ref-id"]], ["", ""]);
  const single = await ask("create-recurring-payment", entries[0] ?? {});
  assert.equal(single["recurring-payment-id"], source?.["recurring-payment-id"]);
  const again = await askMany("create-recurring-payments", entries);
  assert.deepEqual(again.told, told);

  const charges = [
    { "client-orderid": newId(), "recurring-payment-id": source?.["recurring-payment-id"] },
    { "client-orderid": newId(), "recurring-payment-id": destination?.["recurring-payment-id"] },
  ];
  const charged = await askMany("process-recurring-payments", charges);
  const repeated = await Promise.all(
    [1, 2].map(() => askMany("process-recurring-payments", charges)),
  );
  for (const each of repeated) assert.deepEqual(each.told, charged.told);
  assert.deepEqual(
    charged.told.map((each) => each["error-code"]),
    ["", "8"],
  );
  const order = {
    "merchant-order-id": charges[0]?.["client-orderid"] ?? "",
    "gw-order-id": charged.told[0]?.["gw-order-id"] ?? "",
  };
  assert.deepEqual(bookedFor(world, await statusOf(order)), ["sale 300"]);

  const id = source?.["recurring-payment-id"];
  const changes = ["7.00", "8.00"].map((amount) => ({
    "client-orderid": newId(),
    "recurring-payment-id": id,
    amount,
  }));
  const changed = await askMany("update-recurring-payments", changes);
  assert.equal(changed.reply["accepted"], "2");
  const last = await ask("process-recurring-payment", {
    "client-orderid": newId(),
    "recurring-payment-id": id,
  });
  assert.deepEqual(bookedFor(world, await statusOf(last)), ["sale 800"], "the later line counts");
});

test("a payload that cannot be read is refused as a whole, with the line and no value", async () => {
  const line = "client-orderid,recurring-payment-id,amount";
  // biome-ignore format: a table
  const cases: readonly (readonly [payload: string, why: RegExp])[] = [
    [`${line},colour\na,1,1.00,red`,              /line 1: a column is unknown/],
    [`${card},123\na,1,1.00`,                     /line 1: a column is unknown/],
    [`${line},client_orderid\na,1,1.00,b`,        /line 1: a column is repeated/],
    [`${line}\na,1,1.00\nb,${card}`,              /line 3: its columns/],
    [`${line}\na,1,"1.00\nb,1,1.00`,              /line 2: its quotes/],
    [line,                                        /line 1: no entry/],
    [`${line}${"\na,1,1.00".repeat(1001)}`,       /line 1002: more than 1000 entries/],
  ];
  const sent = received(world, "0200");
  for (const [payload, why] of cases) {
    const told = await ask("process-recurring-payments", { payload });
    assert.equal(told["error-code"], "5", told["error-message"] ?? "");
    assert.match(told["error-message"] ?? "", why);
    assert.ok(!told["error-message"]?.includes(card));
  }
  assert.equal((await ask("process-recurring-payments", {}))["error-code"], "4");
  assert.equal(received(world, "0200"), sent);
});

test("the operator's product word names the order in the lines of a reply", async () => {
  const { ask: askThere } = await openProfiles({ GW_FIELD_WORD: "acmepay" });

  const { payload = "" } = await askThere("process-recurring-payments", {
    payload: "client-orderid,recurring-payment-id\na,1",
  });

  const [head] = payload.split("\r\n");
  assert.equal(
    head,
    "line,client-orderid,recurring-payment-id,acmepay-order-id,error-code,error-message",
  );
});

test("a payload of verified cards waits some seconds, and names the cards without an answer", async () => {
  await world.changeEndpoint("plain", { profiles: "verified" });
  await world.bank.setSwitches({ approveLate: true });
  const entries = [creation(), creation({ "rp_card_type": "DST" }), creation()];
  const before = received(world, "0100");
  const asked = askMany("create-recurring-payments", entries);
  const second = askMany("create-recurring-payments", [creation()]);
  await until(
    "three cards are at the bank",
    () => received(world, "0100") >= before + 3 || undefined,
  );
  const third = await askMany("update-recurring-payments", [{ "client-orderid": newId() }]);
  assert.equal(third.reply["error-code"], "12", "a merchant has two payloads at a time");
  world.clock.advance(4_000);

  const { reply, told } = await asked;
  await second;

  assert.deepEqual([reply["accepted"], reply["refused"]], ["1", "2"]);
  assert.deepEqual(
    told.map((each) => each["error-code"]),
    ["5001", "", "5001"],
  );
  await world.bank.setSwitches({ approveLate: false });
  await world.settle();
  const again = await askMany("create-recurring-payments", entries);
  assert.equal(again.reply["accepted"], "3", JSON.stringify(again.told));
  assert.equal(received(world, "0100"), before + 3);
  await world.changeEndpoint("plain", { profiles: "on" });
});

testInLongRun(
  "a thousand entries are answered within five seconds, also of one order id and twice at once",
  async (t) => {
    const cards = [...Array(1000).keys()].map((at) =>
      withCheckDigit(`520000${String(at).padStart(9, "0")}`),
    );
    const entries = cards.map((number) => creation({ "credit-card-number": number }));
    const begun = performance.now();
    const both = await Promise.all([1, 2].map(() => askMany("create-recurring-payments", entries)));
    const tookMs = performance.now() - begun;
    for (const { reply } of both)
      assert.equal(reply["accepted"], "1000", reply["error-message"] ?? "");
    assert.deepEqual(both[1]?.told, both[0]?.told);
    t.diagnostic(`two payloads of 1,000 creations took ${Math.round(tookMs)} ms`);

    const same = Array(1000).fill(creation());
    const many = await askMany("create-recurring-payments", same);
    assert.equal(new Set(many.told.map((each) => each["recurring-payment-id"])).size, 1);
    const charges = (both[0]?.told ?? []).map((each) => ({
      "client-orderid": newId(),
      "recurring-payment-id": each["recurring-payment-id"],
      "amount": "1.00",
    }));
    const sent = received(world, "0200");
    const charged = await askMany("process-recurring-payments", charges);
    assert.equal(charged.reply["accepted"], "1000");
    await world.settle();
    assert.equal(received(world, "0200"), sent + 1000);
  },
);
