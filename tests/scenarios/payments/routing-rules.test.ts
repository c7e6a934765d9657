/** Routing rules as an operator writes, tries and explains them, and what they do to orders. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { endOfFile } from "../../support/end-of-file.ts";
import type { Acknowledged } from "../../support/merchant.ts";
import { readGw, runGw } from "../../support/programs.ts";
import { beginWith, cards, uploadMethod } from "../../support/threeds.ts";
import { startWorld } from "../../support/world.ts";

const world = await startWorld(endOfFile);
const merchant = world.merchant();
const plain = world.set.endpoints["plain"] ?? "";
const secure = world.set.endpoints["secure"] ?? "";
const eur = world.set.endpoints["eur"] ?? "";
for (const name of ["plain", "secure", "eur"]) {
  await world.placeGates(name, [
    ["sandbox", 1, 1],
    ["sandbox-binary", 2, 1],
  ]);
}
await world.changeGate("sandbox", { fee: { percent: "2.5" } });
await world.changeGate("sandbox-binary", { fee: { percent: "1", fixed: "30" } });

const american = { credit_card_number: "4000001000000018" };
const mastercard = "5200000000000007";
const gw = (...words: readonly string[]) => readGw(world, ...words);

async function removeRules(endpoint: string) {
  const rules = await gw("route", "list", endpoint);
  const count = Array.isArray(rules) ? rules.length : 0;
  for (let at = 0; at < count; at += 1) await gw("route", "remove", endpoint, "1");
}

async function gateOf(order: Acknowledged) {
  const [row] = await world.readRows<{ gate: string; choice: string }>(
    `select gates.name as gate, progress #>> '{transaction,identifiers,gate,choice}' as choice
     from orders join gates on gates.id::text = progress #>> '{transaction,identifiers,gate,id}'
     where orders.id = $1`,
    [order["gw-order-id"]],
  );
  return row;
}

async function pay(fields: Parameters<typeof merchant.sale>[0]) {
  const order = await merchant.sale(fields);
  await world.settle();
  return { status: await merchant.status(order), ...(await gateOf(order)) };
}

test("the first rule that is met chooses the gate, explains it, or refuses the order", async () => {
  await removeRules(plain);
  await gw("route", "add", plain, "--amount", "500..", "--funding", "credit", "--to", "refuse");
  await gw(
    "route",
    "add",
    plain,
    "--network",
    "VISA",
    "--amount",
    "100..",
    "--to",
    "sandbox-binary",
  );
  await gw("route", "add", plain, "--issuer-country", "USA", "--to", "cheapest");
  await world.restart();

  const small = await pay({ ...american, amount: "10.00" });
  const cheap = await pay({ ...american, amount: "50.00" });
  const large = await pay({ amount: "100.00" });
  const sent = world.bank.ledger().length;
  const refused = await pay({ ...american, amount: "500.00" });

  assert.equal(small.gate, "sandbox");
  assert.equal(small.choice, "rule 3: issuer-country=USA; by cost; rank 1");
  assert.equal(cheap.gate, "sandbox-binary");
  assert.equal(large.gate, "sandbox-binary");
  assert.equal(large.choice, "rule 2: network=VISA amount=100..; only gate");
  assert.equal(refused.status.status, "error");
  assert.equal(refused.status["error-code"], "5005");
  assert.match(refused.status["error-message"] ?? "", /routing rule 1/);
  assert.equal(world.bank.ledger().length, sent);
});

test("a running gateway follows a rule that is added, changed, moved and removed", async () => {
  await removeRules(plain);
  const go = async () => (await pay({ amount: "20.00" })).gate;
  await gw("route", "add", plain, "--to", "sandbox-binary");
  await world.restart();
  const added = await go();
  await gw("route", "add", plain, "--network", "VISA", "--to", "sandbox", "--place", "1");
  await world.restart();
  const before = await go();
  await gw("route", "move", plain, "2", "--place", "1");
  await world.restart();
  const moved = await go();
  await gw("route", "set", plain, "1", "--network", "JCB");
  await world.restart();
  const changed = await go();
  const { printed } = await runGw(world, "route", "list", plain);

  assert.deepEqual(
    [added, before, moved, changed],
    ["sandbox-binary", "sandbox", "sandbox-binary", "sandbox"],
  );
  assert.match(printed, /1 +network=JCB +sandbox-binary\n2 +network=VISA +sandbox/);
});

test("a gate that a rule names cannot be taken from the endpoint, and no rule names another", async () => {
  await removeRules(plain);
  await gw("route", "add", plain, "--to", "sandbox-binary");

  const taken = await runGw(world, "endpoint", "gates", plain, "sandbox");
  const other = await runGw(world, "route", "add", plain, "--to", "sandbox-iso93");
  const nothing = await runGw(world, "route", "set", plain, "7", "--to", "refuse");

  assert.match(taken.complaint, /Rule 1: The endpoint has no gate sandbox-binary\./);
  assert.match(other.complaint, /Rule 2: The endpoint has no gate sandbox-iso93\./);
  assert.match(nothing.complaint, /The endpoint has no rule 7\./);
});

test("a file has the rules of an endpoint, and the same file changes nothing", async () => {
  await removeRules(plain);
  await gw("route", "add", plain, "--network", "VISA", "--amount", "100..", "--to", "sandbox:1:2");
  const { printed: file } = await runGw(world, "export");
  const path = join(world.dataDir, "gateway.yaml");
  const rule = "network=VISA amount=100.. to=sandbox:1:2";
  assert.ok(file.includes(`- ${rule}`), file);

  await writeFile(path, file.replace(rule, "wallet=card to=cheapest"));
  const changed = await runGw(world, "apply", "-f", path);
  const again = await runGw(world, "apply", "-f", path);
  await writeFile(path, file.replace(rule, "wallet=card to=nowhere"));
  const refused = await runGw(world, "apply", "-f", path);

  assert.match(changed.printed, new RegExp(`routes: ${rule} -> wallet=card to=cheapest`));
  assert.match(again.printed, /Nothing to change/);
  assert.match(refused.complaint, /Rule 1: The endpoint has no gate nowhere\. Nothing was changed/);
});

test("rules are tried on past orders before they count", async () => {
  const amounts = ["100.00", "200.00", "5.00"];
  for (const amount of amounts) await merchant.sale({ amount, currency: "EUR" }, "eur");
  const other = { amount: "300.00", currency: "EUR", credit_card_number: mastercard };
  await merchant.sale(other, "eur");
  await world.settle();
  const before = await world.readRows("select id, version from orders order by id");

  const rule = "network=VISA;amount=100..;to=sandbox-binary";
  const proposed = await gw(
    "route",
    "try",
    eur,
    "--rule",
    rule,
    "--rule",
    "amount=300..;to=refuse",
  );
  await gw("route", "add", eur, "--network", "VISA", "--amount", "100..", "--to", "sandbox-binary");
  const present = await gw("route", "try", eur);
  const wrong = await runGw(world, "route", "try", eur, "--rule", "network=VISA;to=none");

  const visa = {
    rule: "1",
    gate: "sandbox-binary",
    orders: 2,
    approved: 2,
    moved: 2,
    from: "sandbox 2",
  };
  assert.deepEqual(proposed, [
    visa,
    { rule: "2", gate: "none", orders: 1, approved: 1, moved: 1, from: "sandbox 1" },
    { rule: "", gate: "sandbox", orders: 1, approved: 1, moved: 0, from: "" },
  ]);
  assert.deepEqual(present, [
    visa,
    { rule: "", gate: "sandbox", orders: 2, approved: 2, moved: 0, from: "" },
  ]);
  assert.match(wrong.complaint, /The endpoint has no gate none/);
  assert.deepEqual(await world.readRows("select id, version from orders order by id"), before);
});

test("a rule about 3-D Secure decides when the outcome is known, before anything is sent", async () => {
  await removeRules(secure);
  const rules = (to: string) => gw("route", "add", secure, "--3ds", "authenticated", "--to", to);
  await rules("sandbox-binary");
  await world.restart();

  const authenticated = await beginWith(world, cards.frictionless);
  await uploadMethod(authenticated);
  await world.settle();
  const other = await beginWith(world, cards.notEnrolled);
  await world.settle();
  await removeRules(secure);
  await rules("refuse");
  await world.restart();
  const sent = world.bank.ledger().length;
  const refused = await beginWith(world, cards.frictionless);
  const status = await uploadMethod(refused);

  const moved = await gateOf(authenticated.order);
  assert.equal(moved?.gate, "sandbox-binary");
  assert.equal(moved?.choice, "rule 1: 3ds=authenticated; only gate");
  assert.equal((await gateOf(other.order))?.gate, "sandbox");
  assert.equal(status.status, "error");
  assert.equal(status["error-code"], "5005");
  assert.equal(world.bank.ledger().length, sent);
});
