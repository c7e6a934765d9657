/**
 * The port to which directory servers post results: who may connect, which results are accepted,
 * and that each is used once.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  directoryIdentity,
  kindOf,
  makeResult,
  notPassed,
  passed,
  postResult,
  strangeIdentity,
} from "../../support/bank/results.ts";
import {
  beginChallenge,
  cards,
  chargesAt,
  forgeCres,
  joinPatientWorld,
  proofAtHost,
  standingOf,
  statusOf,
} from "../../support/threeds.ts";

const waiting = ["sale_3d_validating", undefined, undefined, undefined];
const approved = ["sale_approved", undefined, "AUTHENTICATED", "05"];
const failed = ["sale_declined", "2000", "NOT_AUTHENTICATED", undefined];

test("a result with the right ids is accepted, and its proof is sent to the host", async (t) => {
  const world = await joinPatientWorld(t);
  const pending = await beginChallenge(world);
  const { status } = pending;

  const told = await postResult(world, status, await makeResult(world, status));
  await pending.merchant.uploadCres(pending.order, forgeCres(status, { transStatus: "N" }));
  await world.settle();
  const final = await statusOf(pending);

  assert.deepEqual(kindOf(told), ["RRes", ""]);
  assert.equal(JSON.parse(told.text).resultsStatus, "01");
  assert.deepEqual(standingOf(final), approved);
  assert.deepEqual(await proofAtHost(world, final), {
    eci: "05",
    value: passed.authenticationValue,
  });
});

// biome-ignore format: a table
const strange = [
  ["of a transaction that nobody knows", { threeDSServerTransID: "8a880dc0-d2d2-4067-bcb1-b08d1690b26e" }, "301"],
  ["with another id of the ACS",         { acsTransID: "8a880dc0-d2d2-4067-bcb1-b08d1690b26e" },           "301"],
  ["with another id of the directory",   { dsTransID: "8a880dc0-d2d2-4067-bcb1-b08d1690b26e" },            "301"],
  ["in another version",                 { messageVersion: "2.1.0" },                                      "203"],
  ["without a status",                   { transStatus: undefined },                                       "201"],
  ["with a status that does not exist",  { transStatus: "X" },                                             "203"],
  ["of another kind",                    { messageType: "AReq" },                                          "101"],
] as const;

test("a result with any wrong part is refused, and the order still waits", async (t) => {
  const world = await joinPatientWorld(t);
  const pending = await beginChallenge(world);
  const other = await beginChallenge(world);
  const { status } = pending;

  for (const [what, wrong, code] of strange) {
    const told = await postResult(world, status, await makeResult(world, status, wrong));
    assert.deepEqual(kindOf(told), ["Erro", code], what);
  }
  const { acsTransID } = await makeResult(world, other.status);
  const foreign = await makeResult(world, status, { acsTransID });
  const mixed = await postResult(world, status, foreign);
  const garbled = await postResult(world, status, '{"messageType":"RReq"');
  const empty = await postResult(world, status, "");
  await world.settle();

  assert.deepEqual(kindOf(mixed), ["Erro", "301"]);
  assert.equal(kindOf(garbled)[0], "Erro");
  assert.equal(kindOf(empty)[0], "Erro");
  assert.deepEqual(standingOf(await statusOf(pending)), waiting);
  assert.deepEqual(standingOf(await statusOf(other)), waiting);
  assert.equal(chargesAt(world), 0);
});

for (const [version, card, code] of [
  ["2.2.0", cards.challenge, "301"],
  ["2.3.1", cards.challenge231, "312"],
] as const) {
  // biome-ignore format: a table
  const rows = [
    ["a yes", {},        notPassed, approved],
    ["a no",  notPassed, {},        failed],
  ] as const;
  for (const [what, first, second, end] of rows) {
    test(`${version}: ${what} stands, repeated or contradicted`, async (t) => {
      const world = await joinPatientWorld(t);
      const pending = await beginChallenge(world, card);
      const { status, merchant, order } = pending;
      const result = await makeResult(world, status, first);
      const other = await makeResult(world, status, second);
      const post = async (body: object) => kindOf(await postResult(world, status, body));

      const early = [await post(result), await post(result), await post(other)];
      await merchant.uploadCres(order, forgeCres(status));
      await world.settle();
      const late = [await post(result), await post(other)];
      await world.settle();

      assert.deepEqual(early, [
        ["RRes", ""],
        ["RRes", ""],
        ["Erro", code],
      ]);
      assert.deepEqual(late, [
        ["RRes", ""],
        ["Erro", code],
      ]);
      assert.deepEqual(standingOf(await statusOf(pending)), end);
      assert.equal(chargesAt(world), end === approved ? 1 : 0);
    });
  }
}

test("a result may be repeated even after the payment was returned", async (t) => {
  const world = await joinPatientWorld(t);
  const { status, merchant, order } = await beginChallenge(world);
  const result = await makeResult(world, status);
  await postResult(world, status, result);
  await merchant.uploadCres(order, forgeCres(status));
  await world.settle();
  await merchant.return(order);
  await world.settle();

  const again = await postResult(world, status, result);
  const other = await postResult(world, status, await makeResult(world, status, notPassed));

  assert.deepEqual(kindOf(again), ["RRes", ""]);
  assert.deepEqual(kindOf(other), ["Erro", "301"]);
  assert.equal((await merchant.status(order))["order-stage"], "reversal_approved");
});

test("twenty simultaneous results, half of them negative, lead to one end and at most one charge", async (t) => {
  const world = await joinPatientWorld(t);
  const pending = await beginChallenge(world);
  const { status } = pending;
  await pending.merchant.uploadCres(pending.order, forgeCres(status));
  const [yes, no] = [await makeResult(world, status), await makeResult(world, status, notPassed)];

  const all = Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? yes : no));
  await Promise.all(all.map((result) => postResult(world, status, result)));
  await world.settle();

  const final = await statusOf(pending);
  const isPaid = final.status === "approved";
  assert.deepEqual(standingOf(final), isPaid ? approved : failed);
  assert.equal(chargesAt(world), isPaid ? 1 : 0);
});

test("a client without a certificate of the directory's authority is refused in the handshake", async (t) => {
  const world = await joinPatientWorld(t);
  const pending = await beginChallenge(world);
  const { status } = pending;
  const result = await makeResult(world, status);

  await assert.rejects(postResult(world, status, result, { identity: undefined }));
  const identity = await strangeIdentity();
  await assert.rejects(postResult(world, status, result, { identity }));
  await world.settle();

  assert.deepEqual(standingOf(await statusOf(pending)), waiting);
  world.clock.advance(60_000);
  const refusals = world.logged.filter((line) => line.includes("directory.connection_refused"));
  assert.deepEqual(
    refusals.map((line) => JSON.parse(line).count),
    [1, 1],
  );
});

test("only a post of JSON to the directory's own address is accepted", async (t) => {
  const world = await joinPatientWorld(t);
  const pending = await beginChallenge(world);
  const { status } = pending;
  const result = await makeResult(world, status);
  const identity = await directoryIdentity(world);

  const got = await postResult(world, status, "", { identity, method: "GET" });
  const form = { identity, contentType: "application/x-www-form-urlencoded" };
  const posted = await postResult(world, status, result, form);
  const elsewhere = await postResult(world, status, result, { identity, path: "/results/other" });
  const nowhere = await postResult(world, status, result, { identity, path: "/" });
  const huge = await postResult(world, status, { ...result, more: "x".repeat(1_100_000) });
  await world.settle();

  assert.deepEqual([got.status, got.allow], [405, "POST"]);
  assert.deepEqual([posted.status, elsewhere.status, nowhere.status], [415, 404, 404]);
  assert.equal(huge.status, 413);
  assert.deepEqual(standingOf(await statusOf(pending)), waiting);
});

test("a result after the deadline changes nothing and charges nothing", async (t) => {
  const world = await joinPatientWorld(t);
  const [slow, lost] = [await beginChallenge(world), await beginChallenge(world)];
  await lost.merchant.uploadCres(lost.order, forgeCres(lost.status));
  await world.pass(600_000);
  const ends = [standingOf(await statusOf(slow)), standingOf(await statusOf(lost))];

  for (const { status } of [slow, lost]) {
    const told = await postResult(world, status, await makeResult(world, status));
    assert.equal(told.status, 200);
  }
  await world.pass(600_000);

  assert.deepEqual([ends[0]?.[1], ends[1]?.[1]], ["2011", "2013"]);
  assert.deepEqual([standingOf(await statusOf(slow)), standingOf(await statusOf(lost))], ends);
  assert.equal(chargesAt(world), 0);
});
