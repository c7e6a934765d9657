/** `gw filter`: rules on the command line, and their effect on known past orders. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { writeLines } from "../../support/bank/settlement.ts";
import { endOfFile } from "../../support/end-of-file.ts";
import type { SaleFields } from "../../support/merchant.ts";
import { readGw, runGw } from "../../support/programs.ts";
import { until } from "../../support/until.ts";
import { startWorld } from "../../support/world.ts";

const world = await startWorld(endOfFile);
const merchant = world.merchant();
const plain = world.set.endpoints["plain"] ?? "";
const minute = 60_000;

type Counts = Readonly<Record<"orders" | "paid" | "refunded" | "chargedBack", number>>;
type Tried = Readonly<Record<"all" | "blocked" | "forced" | "marked", Counts>> & {
  readonly rules: readonly (Counts & { readonly kind: string; readonly noData: number })[];
  readonly lists: Readonly<Record<"allow" | "block", Counts>>;
  readonly notes: readonly string[];
};
const tryOut = async (...words: readonly string[]) =>
  (await readGw(world, "filter", "try", ...words)) as Tried;

const counts = (orders: number, paid: number, refunded = 0, chargedBack = 0): Counts => ({
  orders,
  paid,
  refunded,
  chargedBack,
});

async function pay(fields: SaleFields) {
  const order = await merchant.sale(fields);
  await world.settle();
  return order;
}

/**
 * Seven past orders: three of a tester within minutes, one of the tester later, and three of other
 * payers.
 */
const past = await (async () => {
  const tester = { email: "tester@example.com", ipaddress: "198.51.100.9" };
  await pay(tester);
  await world.pass(minute);
  const refunded = await pay({ ...tester, amount: "20.00" });
  await merchant.return(refunded);
  await world.settle();
  await world.pass(minute);
  const disputed = await pay({ ...tester, amount: "30.00", purpose: "player 7" });
  await pay({ ...tester, credit_card_number: "4000004000000020" });
  await world.pass(120 * minute);
  await pay(tester);
  await pay({ email: "jane@example.com", credit_card_number: "4000001000000018" });
  await merchant.sale({ email: "joe@example.com", currency: "EUR" }, "eur");
  await world.settle();
  const { "processor-rrn": reference } = await merchant.status(disputed);
  const file = await writeLines(world, "chargebacks.csv", [
    "case,reference,amount,currency,reason,stage,at",
    `t1,${reference},3000,USD,10.4 fraud,first,2030-01-31`,
  ]);
  await readGw(world, "chargeback", "import", file);
  return { disputed };
})();

const velocity = ["velocity", "--per", "email", "--count", "1", "--window", "1h"];

test("a rule that is off is tried on past orders, and their results are shown", async () => {
  const before = await everything();
  const words = ["filter", "add", ...velocity, "--endpoint", plain, "--disabled"];
  const { rule } = (await readGw(world, ...words)) as { rule: string };
  const added = await everything();

  const tried = await tryOut("--rule", rule);
  const none = await tryOut();
  const printed = await runGw(world, "filter", "try", "--rule", rule);

  assert.deepEqual(tried.all, counts(7, 6, 1, 1));
  // The second and the third were paid, the fourth was declined; two hours later one passes.
  assert.deepEqual(tried.blocked, counts(3, 2, 1, 1));
  assert.deepEqual(tried.forced, counts(0, 0));
  assert.deepEqual(none.blocked, counts(0, 0));
  assert.match(printed.printed, /blocked +3 +2 +1 +1/);
  assert.match(
    printed.printed,
    /velocity +endpoint \d+ of \w+ +block +3 +2 +1 +1 +0\n +parameters: per=email/,
  );
  assert.deepEqual(await everything(), added);
  assert.notDeepEqual(added, before);
  await readGw(world, "filter", "remove", rule);
});

async function everything() {
  const { query } = world.installation.database;
  const tables = ["orders", "order_history", "audit", "screening_rules", "screening_tallies"];
  const counted = tables.map((table) => query(`select count(*)::int as count from ${table}`));
  return (await Promise.all(counted)).flat();
}

test("the rules of a file and the lists are tried together", async () => {
  const file = join(world.dataDir, "rules.yaml");
  await writeFile(
    file,
    `screening:
  rules:
    - { rule: countries, compare: issuer-ip, action: 3ds }
    - { rule: velocity, per: purpose, count: 1, window: 1d, action: mark }
    - { rule: amount, currency: USD, max: 25, action: mark }
    - { rule: amount, currency: USD, max: 1, enabled: false }
`,
  );
  const entry = ["list", "add", "block", "email", "jane@example.com"];
  const { entry: id } = (await readGw(world, ...entry)) as { entry: string };

  const tried = await tryOut("--file", file);
  const unlisted = await tryOut("--file", file, "--no-lists");
  const elsewhere = await tryOut("--file", file, "--endpoint", world.set.endpoints["eur"] ?? "");
  const later = await tryOut("--since", new Date(world.clock.now() + minute).toISOString());
  await readGw(world, "list", "remove", id);

  const [countries, purpose, amount] = tried.rules;
  assert.deepEqual(tried.lists.block, counts(1, 1));
  assert.deepEqual(tried.blocked, counts(1, 1));
  // Two cards are in the sandbox's BIN table, of the United States: Jane's and the declined one.
  assert.equal(countries?.orders, 2);
  assert.equal(countries?.noData, 5);
  assert.deepEqual(unlisted.forced, counts(2, 1));
  assert.equal(purpose?.noData, 6);
  assert.equal(amount?.orders, 1);
  assert.deepEqual(tried.marked, counts(1, 1, 0, 1));
  assert.equal(tried.rules[3]?.orders, 0);
  assert.deepEqual([elsewhere.all.orders, later.all.orders], [1, 0]);
});

test("rules are added, changed, switched and removed, and refused with what is wrong", async () => {
  const { rule } = (await readGw(world, "filter", "add", ...velocity)) as { rule: string };
  const sales = async () => {
    const fields = { email: `new${Math.random()}@example.com` };
    const codes = [];
    for (const each of [fields, fields]) {
      codes.push((await merchant.status(await pay(each)))["error-code"] ?? "paid");
    }
    return codes.join(" ");
  };
  const becomes = (codes: string) =>
    until(`sales end with ${codes}`, async () => ((await sales()) === codes ? true : undefined));
  await becomes("paid 1010");
  await readGw(world, "filter", "change", rule, "count=2");
  await becomes("paid paid");
  await readGw(world, "filter", "change", rule, "count=1", "--action", "mark");
  const [listed] = (await readGw(world, "filter", "list")) as readonly object[];
  assert.deepEqual(listed, {
    rule,
    kind: "velocity",
    parameters: { per: "email", count: "1", window: "1h" },
    counts: "everywhere",
    action: "mark",
    state: "on",
    data: "good",
  });
  await readGw(world, "filter", "disable", rule);
  await readGw(world, "filter", "change", rule, "--action", "block");
  await readGw(world, "filter", "enable", rule);
  await becomes("paid 1010");
  await readGw(world, "filter", "remove", rule);
  await becomes("paid paid");

  const wrong = [
    [["add", "velocity", "--per", "email", "--window", "1h"], /velocity: count or sum is missing/],
    [["add", "velocity", "--per", "shoe", "--window", "1h", "--count", "1"], /per is .*not shoe/],
    [["add", ...velocity, "--endpoint", "1"], /no endpoint's id/],
    [
      ["add", ...velocity, "--action", "maim"],
      /action is one of block, 3ds, mark, allow, not maim/,
    ],
    [["change", "999", "count=1"], /There is no rule 999/],
    [["remove", "x"], /There is no rule x/],
    [["try", "--rule", "999"], /There is no rule 999/],
    [["try", "--file", "/none.yaml"], /cannot be read/],
    [["try", "--since", "soon"], /soon is no moment/],
  ] as const;
  for (const [words, sentence] of wrong) {
    const ran = await runGw(world, "filter", ...words);
    assert.equal(ran.code, 2, words.join(" "));
    assert.match(ran.complaint, sentence);
  }
});

test("a filtered order shows the operator which rule fired on which facts", async () => {
  const shown = await runGw(world, "order", "show", past.disputed["gw-order-id"]);
  assert.doesNotMatch(shown.printed, /findings/);
  const words = ["filter", "add", "amount", "--currency", "USD", "--max", "5"];
  const { rule } = (await readGw(world, ...words)) as { rule: string };
  const order = await until("the rule counts", async () => {
    const sent = await pay({});
    return (await merchant.status(sent)).status === "filtered" ? sent : undefined;
  });

  const { printed } = await runGw(world, "order", "show", order["gw-order-id"]);

  assert.match(printed, new RegExp(`rule: ${rule}\\n.*kind: amount\\n.*scope: gateway\\n`));
  assert.match(printed, /facts.amount: 10.15\n.*facts.limit: 5.00\n.*facts.currency: USD\n/);
  await readGw(world, "filter", "remove", rule);
});

test("a rule for the issuer's answer is tried on the answers that past orders have", async () => {
  await until("no rule filters the sale any more", async () => {
    const sent = await pay({ credit_card_number: "4000005000000019" });
    return (await merchant.status(sent)).status === "approved" ? sent : undefined;
  });
  const words = ["checks", "--address", "no-match", "--disabled"];
  const { rule } = (await readGw(world, "filter", "add", ...words)) as { rule: string };

  const tried = await tryOut("--rule", rule);

  assert.deepEqual(tried.blocked, counts(1, 1));
  await readGw(world, "filter", "remove", rule);
});
