/** Commands of operators on stored cards, in an installation with merchants in two cells. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { endOfFile } from "../../support/end-of-file.ts";
import { assertRefused } from "../../support/expect.ts";
import { readGw, runGw, runGwWith } from "../../support/programs.ts";
import { startWorld } from "../../support/world.ts";

const world = await startWorld(endOfFile);
const here = world.merchant();
/** This merchant is in the main cell. */
const there = await world.stranger("there");
const days = 86_400_000;

test("keys are rotated in both cells, and cards of both cells can be used afterwards", async () => {
  const sales = [await here.preauth(), await there.preauth()];
  await world.settle();
  const [before] = await cardKeys();

  const quick = { ...world, settings: { GW_KEY_GRACE_S: "0.1" } };
  const rotated = await runGw(quick, "key", "rotate");
  for (const [at, merchant] of [here, there].entries()) {
    await merchant.capture(sales[at] ?? assert.fail());
  }
  await world.settle();

  assert.equal(rotated.code, 0, rotated.complaint);
  const [old, current] = await cardKeys();
  assert.equal(old?.id, before?.id);
  assert.ok(old?.destroyedAt !== null && old?.cards === 0 && current?.cards === 2);
  assert.equal(world.bank.ledger().filter(({ kind }) => kind === "capture").length, 2);
});

test("a card that is removed with --now is destroyed by the next runs, and cannot pay any more", async () => {
  const cardrefid = await world.registerCard();
  const before = await countCards();

  const removed = await runGw(world, "card", "remove", world.set.login, cardrefid, "--now");
  await cleanUp();

  assert.match(removed.printed, /number destroyed +at once/);
  assert.equal(await countCards(), before - 1);
  await assertRefused(here.rebill({ cardrefid }), 15);
});

test("a person is erased by a card reference, or by the number on standard input", async () => {
  const number = "4000001000000018";
  const name = { card_printed_name: "ERASMUS CARD", credit_card_number: number };
  const first = await here.sale(name);
  await world.settle();
  const { "card-ref-id": cardrefid = "" } = await here.register(first);

  const erased = await readGw(world, "privacy", "erase", "--card", cardrefid, "--yes");
  const other = await there.sale(name);
  await world.settle();
  const wrong = await runGwWith("4000001000000019\n", world, "privacy", "erase", "--card", "--yes");
  const spaced = `${number.slice(0, 4)} ${number.slice(4)}\n`;
  const again = await runGwWith(spaced, world, "privacy", "erase", "--card", "--yes");

  assert.deepEqual(pick(erased), { orders: 1, cards: 1, open: 0 });
  assert.match(wrong.complaint, /no card number/);
  assert.match(again.printed, /orders +1/);
  assert.doesNotMatch(`${again.printed}${again.complaint}`, new RegExp(number.slice(4)));
  assert.deepEqual(await findText("ERASMUS"), []);
  for (const [merchant, order] of [[here, first] as const, [there, other] as const]) {
    assert.equal((await merchant.status(order)).status, "approved");
  }
});

test("a merchant's own setting decides how long its card numbers are stored", async () => {
  const short = await runGw(world, "merchant", "set", world.set.login, "--card-keep-days", "30");
  const set = await runGw(world, "merchant", "set", world.set.login, "--card-keep-days", "31");
  await world.restart();
  const [mine, theirs] = [await here.sale(), await there.sale()];
  await world.settle();

  world.clock.advance(32 * days);
  await world.linksUp();
  await cleanUp();

  assert.equal(short.code, 2);
  assert.equal(set.code, 0, set.complaint);
  await assertRefused(here.return(mine), 9, /card number was destroyed/);
  await there.return(theirs);
  await world.settle();
  assert.equal((await there.status(theirs))["total-reversal-amount"], "10.15");
});

type Listed = {
  readonly id: number;
  readonly purpose: string;
  readonly destroyedAt: string | null;
  readonly cards: number;
};

async function cardKeys(): Promise<readonly Listed[]> {
  const keys = (await readGw(world, "key", "list")) as readonly Listed[];
  return keys.filter(({ purpose }) => purpose === "cards");
}

/** Runs the cleaning twice: one run marks a card, and the next run destroys it. */
async function cleanUp(): Promise<void> {
  await world.gateway.cleanUp();
  await world.gateway.cleanUp();
}

async function countCards(): Promise<number> {
  return (await world.installation.database.query("select from cards")).length;
}

function pick(printed: unknown) {
  const { orders, cards, open } = printed as Record<"orders" | "cards" | "open", number>;
  return { orders, cards, open };
}

async function findText(text: string): Promise<readonly unknown[]> {
  const { query } = world.installation.database;
  return query(
    `select id from cell_second.orders where facts::text || progress::text like $1
     union all select id from public.orders where facts::text || progress::text like $1`,
    [`%${text}%`],
  );
}
