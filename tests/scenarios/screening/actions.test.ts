/**
 * The actions of a rule that fires: block, force 3-D Secure or mark; and who sees which part of it.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { passChallenge } from "../../support/cardholder.ts";
import { endOfFile } from "../../support/end-of-file.ts";
import type { SaleFields } from "../../support/merchant.ts";
import { readGw, runGw } from "../../support/programs.ts";
import { beginChallenge, cards, chargesAt, standingOf, statusOf } from "../../support/threeds.ts";
import { startWalletWorld, textOf, walletFields } from "../../support/wallets.ts";

const world = await startWalletWorld(endOfFile);
const merchant = world.merchant();
const day = 86_400_000;
let payers = 0;

function payer(fields: SaleFields = {}): SaleFields {
  payers += 1;
  return { email: `payer${payers}@example.com`, ipaddress: `198.51.100.${payers}`, ...fields };
}

type Sent = Awaited<ReturnType<typeof merchant.sale>>;

async function stageOf(order: Sent): Promise<string> {
  await world.settle();
  const { "order-stage": stage, "error-code": code } = await merchant.status(order);
  return code === undefined ? (stage ?? "") : `${stage} ${code}`;
}

async function findingsOf(order: Sent): Promise<readonly object[]> {
  const shown = (await readGw(world, "order", "show", order["gw-order-id"])) as {
    readonly history: readonly { readonly detail: { readonly findings?: readonly object[] } }[];
  };
  return shown.history.flatMap(({ detail }) => detail.findings ?? []);
}

const isNew = { kind: "first-seen", parameters: { per: "email", age: "1d" }, action: "force_3ds" };

test("a rule forces 3-D Secure at an endpoint without it, until the payer is known", async () => {
  await world.screenBy({ ...isNew, endpoint: "plain" });
  const jane = payer({ credit_card_number: cards.frictionlessNoMethod });

  const first = await merchant.sale(jane);
  assert.equal(await stageOf(first), "sale_approved");
  assert.deepEqual(standingOf(await merchant.status(first)).slice(2), ["AUTHENTICATED", "05"]);
  const charges = chargesAt(world);
  const unknown = await merchant.sale(payer({ credit_card_number: "4000001000000018" }));
  assert.equal(await stageOf(unknown), "sale_declined 2002");
  assert.equal(chargesAt(world), charges);
  const pending = await beginChallenge(world, cards.challenge, {
    through: "plain",
    fields: payer(),
  });
  const { cres } = await passChallenge(pending.status);
  await pending.merchant.uploadCres(pending.order, cres);
  await world.settle();
  assert.equal((await statusOf(pending))["order-stage"], "sale_approved");

  await world.pass(day);
  const later = await merchant.sale(jane);
  assert.equal(await stageOf(later), "sale_approved");
  assert.equal((await merchant.status(later))["verified-3d-status"], undefined);
});

test("a rule forces 3-D Secure on a cryptogram, unless the gateway has verified it", async () => {
  await world.screenBy({ ...isNew, endpoint: "plain" });
  for (const [kind, verified] of [
    ["walletb_encrypted", undefined],
    ["walletb_decrypted", "AUTHENTICATED"],
  ] as const) {
    const text = await textOf(world, kind, { pan: cards.frictionlessNoMethod });
    const order = await merchant.sale(payer(walletFields(kind, text)));

    assert.equal(await stageOf(order), "sale_approved", kind);
    assert.equal((await merchant.status(order))["verified-3d-status"], verified, kind);
  }
  const charges = chargesAt(world);
  const text = await textOf(world, "walletb_decrypted", { pan: cards.notEnrolled });
  const unknown = await merchant.sale(payer(walletFields("walletb_decrypted", text)));
  assert.equal(await stageOf(unknown), "sale_declined 2002");
  assert.equal(chargesAt(world), charges);
});

test("without a cardholder 3-D Secure cannot be forced, so the payment is marked", async () => {
  await world.screenBy();
  const cardrefid = await world.registerCard();
  await world.screenBy({
    kind: "first-seen",
    parameters: { per: "card", age: "1d" },
    action: "force_3ds",
  });

  const payment = await merchant.rebill({ cardrefid });

  assert.equal(await stageOf(payment), "sale_approved");
  const [finding] = await findingsOf(payment);
  assert.deepEqual(
    { ...finding, rule: "" },
    {
      rule: "",
      kind: "first-seen",
      scope: "gateway",
      action: "mark",
      code: "first_seen_recently",
      facts: { per: "card", seenForS: 0, ageS: 86_400 },
    },
  );
});

test("the operator sees rule and facts, and the merchant only the code", async () => {
  await world.screenBy(
    { kind: "velocity", parameters: { per: "purpose", count: "1", window: "1h" }, action: "mark" },
    { kind: "amount", parameters: { currency: "USD", max: "99.99" }, endpoint: "plain" },
  );

  const marked = await merchant.sale(payer());
  const blocked = await merchant.sale(payer({ amount: "100.00", purpose: "player 1" }));

  assert.equal(await stageOf(marked), "sale_approved");
  assert.equal(await stageOf(blocked), "sale_filtered 1001");
  assert.equal((await merchant.status(blocked))["error-message"], "AMOUNT_ABOVE_MAXIMUM");
  const [noData] = await findingsOf(marked);
  assert.deepEqual(noData, { ...noData, kind: "velocity", missing: "purpose" });
  const [fired] = await findingsOf(blocked);
  assert.deepEqual(fired, {
    ...fired,
    kind: "amount",
    scope: "endpoint",
    action: "block",
    facts: { amount: "100.00", limit: "99.99", currency: "USD" },
  });
  const metrics = await (await fetch(`${world.gateway.url}/metrics`)).text();
  assert.match(metrics, /screening_findings_total\{kind="amount",scope="endpoint",did="block"\} 1/);
  assert.match(metrics, /findings_total\{kind="velocity",scope="gateway",did="no_data"\} 1/);
});

test("sales, holds, verifications, recurrent and wallet payments are counted alike", async () => {
  await world.screenBy();
  const cardrefid = await world.registerCard();
  const three = { per: "card", count: "3", window: "1h" };
  await world.screenBy({ kind: "velocity", parameters: three, endpoint: "plain" });
  const wallet = await textOf(world, "walletb_encrypted");

  const sent = [
    await merchant.sale(payer()),
    await merchant.preauth(payer()),
    await merchant.verify(payer()),
    await merchant.rebill({ cardrefid }),
    await merchant.preauth(payer()),
    await merchant.verify(payer()),
  ];
  const stages: string[] = [];
  for (const order of sent) stages.push(await stageOf(order));
  const paid = await merchant.sale(walletFields("walletb_encrypted", wallet));

  assert.deepEqual(stages, [
    ...["sale_approved", "auth_approved", "av_approved"],
    ...["sale_filtered 1010", "auth_filtered 1010", "av_filtered 1010"],
  ]);
  assert.equal(await stageOf(paid), "sale_filtered 1010");
});

test("a rule of the gateway counts over all merchants of a cell, and a merchant's over its own orders", async () => {
  const once = { per: "email", count: "1", window: "1h" };
  const stranger = await world.stranger("stranger", "second");
  const [jane, joe] = [payer(), payer()];
  await world.screenBy({ kind: "velocity", parameters: once, merchant: await idOf("stranger") });
  await stranger.sale(jane);
  assert.equal(await stageOf(await merchant.sale(jane)), "sale_approved");

  await world.screenBy({ kind: "velocity", parameters: once });
  await stranger.sale(joe);
  assert.equal(await stageOf(await merchant.sale(joe)), "sale_filtered 1010");
});

test("counts contain no plain email, card or address, and are erased with the person", async () => {
  await world.screenBy(
    { kind: "velocity", parameters: { per: "email", count: "1", window: "1h" } },
    { kind: "velocity", parameters: { per: "card", count: "9", window: "1h" }, endpoint: "plain" },
    { kind: "velocity", parameters: { per: "ip", count: "9", window: "1h" }, endpoint: "plain" },
  );
  const { query } = world.installation.database;
  await query("delete from screening_tallies");
  const jane = payer({ credit_card_number: "4000004000000251" });
  await stageOf(await merchant.sale(jane));
  const stored = await query<{ events: Buffer }>("select * from screening_tallies");
  const text = JSON.stringify(stored) + stored.map(({ events }) => events.toString("latin1"));

  assert.equal(stored.length, 3);
  for (const plain of [jane["email"], jane["ipaddress"], "4000004000000251"]) {
    assert.ok(!text.includes(plain ?? ""), `it has ${plain}`);
  }
  await runGw(world, "privacy", "erase", "--email", ` ${jane["email"]}`.trim(), "--yes");
  assert.equal((await query("select from screening_tallies")).length, 2);
  assert.equal(await stageOf(await merchant.sale(jane)), "sale_approved");
});

async function idOf(login: string): Promise<string> {
  const { query } = world.installation.database;
  const [row] = await query<{ id: string }>("select id from merchants where login = $1", [login]);
  return row?.id ?? "";
}
