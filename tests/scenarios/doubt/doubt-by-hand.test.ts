/**
 * Doubt that an operator settles with `gw doubt` beside a running gateway, and the consequences.
 */
import assert from "node:assert/strict";
import { userInfo } from "node:os";
import { test } from "node:test";
import {
  comeBack,
  detailsOf,
  doubtful,
  leaveUnanswered,
  loseOnTheWay,
  messagesAbout,
  settleByHand,
  startDoubtPlace,
} from "../../support/doubt.ts";
import { bookedFor } from "../../support/expect.ts";
import type { Acknowledged } from "../../support/merchant.ts";
import { addUser, openBrowser } from "../../support/operator/portal.ts";
import { readGw, runGw } from "../../support/programs.ts";

const hourMs = 3_600_000;
const longestGapMs = 300_000;
const date = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2} UTC$/;
const told = { by: "anna", why: "ticket 4711" };
const why = ["--why", told.why, "--by", told.by];

test("orders in doubt are listed with what the bank must be asked about", async (t) => {
  const place = await startDoubtPlace(t);
  const { world, merchant } = place;
  const nothing = await runGw(world, "doubt", "list");
  const orders = await leaveUnanswered(place, doubtful);

  const listed = (await readGw(world, "doubt", "list")) as Record<string, string>[];
  const { printed } = await runGw(world, "doubt", "list");

  const lines = printed.split("\n").filter((line) => /^\d/.test(line));
  const [gate] = await world.installation.database.query<{ id: string }>(
    "select id from gates where name = 'sandbox'",
  );
  assert.equal(nothing.printed, "Nothing is in doubt.\n");
  assert.equal(listed.length, doubtful.length);
  assert.equal(lines.length, doubtful.length);
  for (const [at, { stage, amount }] of doubtful.entries()) {
    const { sent = "", trace = "", "next try": next = "", ...line } = listed[at] ?? {};
    const order = orders[at] ?? assert.fail();
    assert.deepEqual(line, {
      order: order["gw-order-id"],
      "merchant-order": order["merchant-order-id"],
      stage: `${stage}_unknown`,
      amount: `${amount} USD`,
      gate: gate?.id,
      reference: (await merchant.status(order))["processor-rrn"],
      tries: 1,
      refused: "",
    });
    assert.match(sent, date);
    assert.match(trace, /^\d{6}$/);
    assert.match(next, date);
    assert.match(lines[at] ?? "", new RegExp(`^${order["gw-order-id"]} .*${stage}_unknown`));
  }
});

test("a transaction in doubt is tried again at once when an operator asks for it", async (t) => {
  const place = await startDoubtPlace(t);
  const { world, merchant } = place;
  const orders = await leaveUnanswered(place, doubtful);
  for (let tries = 0; tries < 8; tries += 1) await world.pass(longestGapMs);
  await comeBack(place);
  await world.settle();

  for (const [at, { name, stage, settled }] of doubtful.entries()) {
    const order = orders[at] ?? assert.fail();
    const waiting = await merchant.describe(order);
    const asking = ["doubt", "ask", order["gw-order-id"], "--why", "they are up again"];
    const ran = await runGw(world, ...asking);
    await world.settle();

    assert.equal(ran.code, 0, ran.complaint);
    assert.equal(waiting["order-stage"], `${stage}_unknown`, name);
    assert.equal((await merchant.describe(order))["order-stage"], settled, name);
    assert.deepEqual(await detailsOf(world, order, "asked_again"), [
      { by: userInfo().username, why: "they are up again" },
    ]);
  }
});

test("a user of the portal makes the gateway ask the bank again, about the version on the screen", async (t) => {
  const place = await startDoubtPlace(t);
  const { world, merchant } = place;
  const [order = assert.fail()] = await leaveUnanswered(place, doubtful.slice(0, 1));
  for (let tries = 0; tries < 8; tries += 1) await world.pass(longestGapMs);
  await comeBack(place);
  await world.settle();
  const finn = openBrowser(world.gateway);
  await finn.signIn(await addUser(world, { login: "finn", role: "finance" }));
  const id = order["gw-order-id"] ?? "";
  const { version } = (await finn.call("GET /orders/:order", { order: id })).body;
  const ask = (seen: number) =>
    finn.act("doubt ask", { order: id }, { seen, reason: "they are up again" });

  const outdated = await ask(version - 1);
  const asked = await ask(version);
  await world.settle();

  assert.equal(outdated.error?.code, "moved_on");
  assert.equal(asked.status, 200, JSON.stringify(asked.error));
  assert.equal((await merchant.describe(order))["order-stage"], doubtful[0]?.settled);
  assert.deepEqual(await detailsOf(world, order, "asked_again"), [
    { by: "finn", why: "they are up again" },
  ]);
});

test("a charge that the bank has booked is approved by hand, and can be refunded", async (t) => {
  const place = await startDoubtPlace(t, hourMs);
  const { world, merchant } = place;
  const orders = await leaveUnanswered(place, doubtful);
  const settle = async (order: Acknowledged) => {
    const ran = await settleByHand(world, order, "done", why);
    assert.equal(ran.code, 0, ran.complaint);
    const status = await merchant.describe(order);
    return { order, status, sent: messagesAbout(world, status) };
  };

  const byHand: Awaited<ReturnType<typeof settle>>[] = [];
  for (const order of orders) byHand.push(await settle(order));
  await comeBack(place);
  await world.pass(hourMs);

  for (const [at, { name, stage, returned }] of doubtful.entries()) {
    const { order, status, sent } = byHand[at] ?? assert.fail();
    assert.equal(messagesAbout(world, status), sent, `${name}: nothing is asked any more`);
    await merchant.return(order);
    await world.settle();
    const after = await merchant.status(order);

    assert.equal(status["order-stage"], `${stage}_approved`, name);
    assert.match(status["receipt-id"] ?? "", /^\d{20,39}$/);
    assert.equal(after["order-stage"], "reversal_approved", name);
    assert.equal(bookedFor(world, after).join(", "), returned, name);
    assert.partialDeepStrictEqual(await detailsOf(world, order, "settled_as_done"), [told]);
  }
});

test("a charge that the bank has not booked ends in an error, and may be requested again", async (t) => {
  // Each of them takes an hour, and the world is behind until the last.
  const place = await startDoubtPlace(t, (doubtful.length + 1) * hourMs);
  const { world, merchant } = place;
  for (const kind of doubtful) {
    const { order, ask } = await loseOnTheWay(place, kind);

    const ran = await settleByHand(world, order, "not-done", why);
    const settled = await merchant.describe(order);
    await comeBack(place);
    await world.pass(hourMs);
    const again = await ask();
    await world.settle();
    const done = await merchant.describe(again);

    assert.equal(ran.code, 0, ran.complaint);
    assert.equal(settled["order-stage"], `${kind.stage}_error`);
    assert.equal(settled["error-code"], "5006");
    assert.equal(done["order-stage"], `${kind.stage}_approved`);
    assert.equal(bookedFor(world, done).join(", "), kind.done);
    assert.deepEqual(await detailsOf(world, order, "settled_as_not_done"), [told]);
  }
});

test("an impossible decision of an operator is refused with a reason", async (t) => {
  const { world, merchant } = await startDoubtPlace(t);
  const order = await merchant.sale();
  await world.settle();
  const id = order["gw-order-id"];
  const notInDoubt = new RegExp(`^Order ${id} is not in doubt\\.$`);

  // biome-ignore format: a table
  const wrong: readonly (readonly [words: readonly string[], sentence: RegExp])[] = [
    [["settle", id, "--as", "done", ...why],         notInDoubt],
    [["settle", id, "--as", "not-done", ...why],     notInDoubt],
    [["ask", id, ...why],                            notInDoubt],
    [["settle", "12345678", "--as", "done", ...why], /^There is no order 12345678\.$/],
    [["ask", "apples", ...why],                      /^There is no order apples\.$/],
    [["settle", id, "--as", "maybe", ...why],        /^as is one of done, not-done, not maybe\.$/],
    [["settle", id, "--as", "done"],                 /^why is required\.$/],
    [["settle", id, ...why],                         /^as is required\.$/],
    [["ask", id],                                    /^why is required\.$/],
    [["settle", id, "--as", "done", "--why", ""], /^Neither the reason nor the name can be empty\.$/],
    [["ask", id, "--why", "  "],                  /^Neither the reason nor the name can be empty\.$/],
    [["ask", id, "--why", "x", "--by", ""],       /^Neither the reason nor the name can be empty\.$/],
  ];
  // The commands run one after the other, because each parallel command would load the sources in a
  // thread.
  for (const [words, sentence] of wrong) {
    const { code, complaint } = await runGw(world, "doubt", ...words);
    assert.match(complaint.trim(), sentence, words.join(" "));
    assert.equal(code, 2, words.join(" "));
  }
  assert.equal((await merchant.status(order))["order-stage"], "sale_approved");
});
