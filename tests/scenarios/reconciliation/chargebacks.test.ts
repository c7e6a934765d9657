/**
 * Chargebacks: recorded once, never returned as well, and reported to merchants that are configured
 * so.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeReceiver } from "@tollgate/client";
import { testOnEachDialect } from "../../support/bank/dialects.ts";
import { fetchSettlement, reconcile, writeLines } from "../../support/bank/settlement.ts";
import { endOfFile } from "../../support/end-of-file.ts";
import { assertRefused, bookedFor } from "../../support/expect.ts";
import { readGw, runGw } from "../../support/programs.ts";
import { startReceiver } from "../../support/receiver.ts";
import { until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";

const world = await startWorld(endOfFile, { GW_PORTAL_INDEX_EVERY_S: "1" });
const header = "case,reference,amount,currency,reason,stage,at";

async function importLines(world: World, lines: readonly string[], ...more: readonly string[]) {
  const file = await writeLines(world, "chargebacks.csv", [header, ...lines]);
  const { code, printed, complaint } = await runGw(
    ...[world, "chargeback", "import", file, ...more, "--json"],
  );
  const rows: readonly Record<string, unknown>[] = printed === "" ? [] : JSON.parse(printed);
  return { code, complaint, results: rows.map(({ result }) => result) };
}

testOnEachDialect("what was charged back is not returned too", async (_, dialect) => {
  const { through, gate, name } = dialect;
  const merchant = world.merchant(through);
  const sale = await merchant.sale({ amount: "10.00" });
  await world.settle();
  const { "processor-rrn": reference } = await merchant.status(sale);
  const first = `${name}1,${reference},900,USD,10.4 fraud,first,2030-01-31`;

  const recorded = await importLines(world, [first]);
  const again = await importLines(world, [first, first.replace("900", "800")]);
  await assertRefused(merchant.return(sale, { amount: "1.01" }), 11);
  await merchant.return(sale);
  await world.settle();
  await assertRefused(merchant.return(sale, { amount: "0.01" }), 9);
  const { code, report } = await reconcile(world, gate, await fetchSettlement(world, gate));

  assert.deepEqual([recorded.code, recorded.results], [0, ["recorded"]]);
  assert.equal(again.code, 1);
  assert.deepEqual(again.results, ["known", "recorded before with another amount"]);
  const status = await merchant.status(sale);
  assert.equal(status["total-reversal-amount"], "1.00");
  assert.deepEqual(bookedFor(world, status), ["sale 1000", "reversal 100"]);
  assert.equal(code, 0, JSON.stringify(report));

  const won = await importLines(world, [
    `${name}1,${reference},900,USD,won,reversed,2030-02-28 10:00:00`,
  ]);
  await merchant.return(sale, { amount: "9.00" });
  await world.settle();

  assert.deepEqual(won.results, ["recorded"]);
  assert.equal((await merchant.status(sale))["total-reversal-amount"], "10.00");
  const shown = await runGw(world, "order", "show", sale["gw-order-id"] ?? "");
  assert.match(shown.printed, /chargeback-stage +reversed/);
  assert.match(shown.printed, /charged_back\n[\s\S]* {4}chargeback\.reason: 10\.4 fraud/);
  const listed = await readGw(world, "chargeback", "list", "--since", "2030-01-01");
  assert.match(JSON.stringify(listed), new RegExp(`${name}1.*reversed.*${name}1.*first`));
});

test("status and callbacks contain chargebacks only if the endpoint is configured so", async (t) => {
  const receiver = await startReceiver(t);
  const merchant = world.merchant("plain");
  const buy = async () => {
    const sale = await merchant.sale({ amount: "10.00", notify_url: receiver.url });
    await world.settle();
    return { sale, reference: (await merchant.status(sale))["processor-rrn"] };
  };
  const [silent, told] = [await buy(), await buy()];
  await importLines(world, [`S1,${silent.reference},100,USD,4837,first,2030-01-31`]);
  const { "chargeback-stage": before } = await merchant.status(silent.sale);
  const endpoint = world.set.endpoints["plain"] ?? "";
  const books = await startReceiver(t);
  const own = ["--type", "chargeback", "--url", `${books.url}/?is=\${type}&case=\${case_id}`];
  const early = await runGw(world, "endpoint", "callback", "add", endpoint, ...own);
  await runGw(world, "endpoint", "set", endpoint, "--chargebacks", "on");
  await world.restart();

  await importLines(world, [`T1,${told.reference},100,USD,4837,first,2030-01-31`]);
  // The command uses the machine's clock, which is ahead of the world's.
  await world.pass(600_000);
  const heard = (await receiver.untilHeard(3))[2];
  assert.ok(heard !== undefined);
  const status = await merchant.status(told.sale);
  await books.untilHeard(1);

  assert.match(early.complaint, /does not report chargebacks/);
  assert.deepEqual(
    books.heard.map(({ path }) => path),
    ["/?is=chargeback&case=T1"],
  );
  assert.equal(before, undefined);
  assert.equal(heard.fields["orderid"], told.sale["gw-order-id"]);
  const { type, amount, "case-id": caseId, "serial-number": serialNumber = "" } = heard.fields;
  assert.deepEqual([type, amount, caseId], ["chargeback", "10.00", "T1"]);
  assert.deepEqual(
    [heard.fields["status"], heard.fields["chargeback-amount"], heard.fields["chargeback-reason"]],
    ["approved", "1.00", "4837"],
  );
  assert.equal(status["chargeback-amount"], "1.00");
  assert.equal(status["order-stage"], "sale_approved");
  const named = await merchant.describe({ ...told.sale, "serial-number": serialNumber });
  assert.deepEqual(
    [named["transaction-type"], named["order-stage"], named["case-id"]],
    ["chargeback", "chargeback_approved", "T1"],
  );
  await runGw(world, "endpoint", "set", endpoint, "--chargebacks", "transactions");
  await world.restart();
  const latest = await merchant.status(told.sale);
  await importLines(world, [`T2,${told.reference},100,USD,10.4 fraud,fraud,2030-02-01`]);
  await world.pass(600_000);
  const fraud = (await receiver.untilHeard(4))[3]?.fields ?? {};
  await merchant.return(told.sale, { amount: "9.00" });
  await world.settle();
  const after = await merchant.status(told.sale);
  const again = await merchant.describe(told.sale);

  const shownAs = ({ status: word, ...fields }: Readonly<Record<string, unknown>>) =>
    ["transaction-type", "order-stage", "reason-code", "case-id"].reduce(
      (text, name) => `${text} ${fields[name]}`,
      word,
    );
  assert.equal(shownAs(latest), "approved chargeback chargeback_approved 4837 T1");
  assert.equal(shownAs(after), "approved reversal reversal_approved undefined T1");
  assert.equal(shownAs(again), "approved sale sale_approved undefined T1");
  const names = ["type", "status", "amount", "chargeback-amount", "reason-code", "case-id"];
  assert.deepEqual(
    names.map((name) => fraud[name]),
    ["fraud", "approved", "10.00", "1.00", "10.4", "T2"],
  );
  assert.notEqual(fraud["serial-number"], heard.fields["serial-number"]);
  assert.equal(latest["amount"], "10.00");
  // The client's receiver gets a payment and a chargeback, and no repeat.
  const kept: unknown[] = [];
  const { controlKey } = world.set;
  const client = makeReceiver({ controlKey, confirm: merchant.endpoint("plain") });
  for (const { path, ...request } of [...receiver.heard.slice(1), heard]) {
    const keep = ({ type: kind }: { readonly type: string }) => void kept.push(kind);
    assert.equal((await client.receive({ ...request, url: path }, keep)).status, 200);
  }
  assert.deepEqual(kept, ["sale", "chargeback", "fraud", "reversal"]);
});

test("a chargeback has a deadline, evidence and a decision", async () => {
  const merchant = world.merchant("plain");
  const card = { credit_card_number: "4000001000000018", amount: "7.00" };
  const disputed = { ...card, ipaddress: "203.0.113.70" };
  const buy = async (fields: Readonly<Record<string, string>>) => {
    const sale = await merchant.sale(fields);
    await world.settle();
    return merchant.status(sale);
  };
  const earlier = [await buy(disputed), await buy(disputed)];
  const elsewhere = await buy({ ...card, email: "other@shop.example", phone: "1", address1: "2" });
  const { "processor-rrn": reference, "gw-order-id": order = "" } = await buy(disputed);
  const at = new Date(world.clock.now() + 200 * 86_400_000).toISOString().slice(0, 10);
  const file = await writeLines(world, "due.csv", [
    `${header},reply`,
    `E1,${reference},700,USD,10.4 fraud,first,${at},2031-02-03`,
    `E2,${reference},700,USD,10.4,fraud,${at},`,
  ]);
  const gw = (action: string, ...words: readonly string[]) =>
    runGw(world, "chargeback", action, ...words);
  const decide = (caseId: string) =>
    gw("decide", order, caseId, "--decision", "contested", "--why", "delivered");

  await gw("import", file, "--columns", "due=reply");
  const evidence = await until("the portal's index has the payments", async () => {
    const { printed } = await gw("evidence", order, "--json");
    const rows: readonly Record<string, string>[] = JSON.parse(printed);
    return rows.length === 2 ? rows : undefined;
  });
  const advice = await gw("evidence", order);
  const none = await gw("evidence", elsewhere["gw-order-id"] ?? "");
  const decided = await decide("E1");
  const refused = [await decide("E2"), await decide("E3")];
  const listed = await readGw(world, "chargeback", "list", "--order", order);

  assert.deepEqual(
    evidence.map((each) => [each["order"], each["shared"]]).sort(),
    earlier.map((each) => [each["gw-order-id"], "ip email phone address"]),
  );
  assert.match(advice.printed, /denies the payment\..*enough for Visa's compelling evidence 3\.0/s);
  assert.match(none.complaint, /has no chargeback/);
  assert.equal(decided.code, 0, decided.complaint);
  assert.deepEqual(
    refused.map(({ code, complaint }) => [code, /waits for no decision/.test(complaint)]),
    [
      [2, true],
      [2, true],
    ],
  );
  assert.deepEqual(
    Array.isArray(listed) &&
      listed.map(({ case: id, means, due, decision }) => [id, means, due, decision]).sort(),
    [
      ["E1", "fraud", "2031-02-03", "contested"],
      ["E2", "fraud", "", ""],
    ],
  );
  const shown = await runGw(world, "order", "show", order);
  assert.match(shown.printed, /dispute_decided\n[\s\S]*delivered/);
});

test("unknown orders are reported, and a faulty file records nothing", async () => {
  const merchant = world.merchant("plain");
  const sale = await merchant.sale({ amount: "10.00" });
  await world.settle();
  const { "processor-rrn": reference } = await merchant.status(sale);
  const good = `U1,${reference},100,USD,4837,first,2030-01-31`;

  const unknown = await importLines(world, ["U2,000000000000,100,USD,4837,first,2030-01-31"]);
  const euros = await importLines(world, [good.replace("USD", "EUR")]);
  const faulty = await importLines(world, [good, `U3,${reference},x,USD,4111111111111111,third,1`]);
  const status = await readGw(world, "order", "show", sale["gw-order-id"] ?? "");

  assert.deepEqual([unknown.code, unknown.results], [1, ["no such order"]]);
  assert.equal(euros.code, 1);
  assert.equal(faulty.code, 2);
  assert.match(faulty.complaint, /Line 3, column stage/);
  assert.match(faulty.complaint, /Nothing was recorded/);
  assert.doesNotMatch(faulty.complaint, /4111/);
  assert.doesNotMatch(JSON.stringify(status), /charged_back/);
});
