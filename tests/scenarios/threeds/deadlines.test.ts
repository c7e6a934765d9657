/** Cardholders who do not return: every wait has an end, and later messages are refused. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { answerPareq, passChallenge } from "../../support/cardholder.ts";
import { assertRefused } from "../../support/expect.ts";
import {
  beginChallenge,
  beginPares,
  beginWith,
  cards,
  chargesAt,
  forgeCres,
  joinPatientWorld,
  type Pending,
  standingOf,
  startPatientWorld,
  statusOf,
  stepFieldsOf,
  uploadMethodOnly,
} from "../../support/threeds.ts";
import type { World } from "../../support/world.ts";

type Row = {
  readonly step: string;
  readonly deadlineMs: number;
  readonly code: string;
  readonly begin: (world: World) => Promise<Pending>;
  /** Prepares, while it is still in time, the upload that will be late. */
  readonly upload: (pending: Pending) => Promise<() => Promise<unknown>>;
};

const rows: readonly Row[] = [
  {
    step: "the method's result",
    deadlineMs: 600_000,
    code: "2010",
    begin: (world) => beginWith(world, cards.frictionless),
    async upload(pending) {
      const id = (await statusOf(pending))["tds-method-url-frame-3ds-server-trans-id"] ?? "";
      return () => uploadMethodOnly(pending, { threeDSServerTransID: id });
    },
  },
  {
    step: "a challenge",
    deadlineMs: 600_000,
    code: "2011",
    begin: (world) => beginChallenge(world),
    async upload(pending) {
      const cres = forgeCres(await statusOf(pending));
      return () => pending.merchant.uploadCres(pending.order, cres);
    },
  },
  {
    step: "the answer of 1.0.2",
    deadlineMs: 900_000,
    code: "2012",
    begin: (world) => beginPares(world),
    async upload(pending) {
      const answer = await answerPareq(await statusOf(pending), "https://shop.example/term");
      return () => pending.merchant.uploadPares(pending.order, answer);
    },
  },
];

for (const { step, deadlineMs, code, begin, upload } of rows) {
  test(`${step} is waited for until its deadline, and refused after it`, async (t) => {
    const world = await joinPatientWorld(t);
    const pending = await begin(world);
    const bring = await upload(pending);

    await world.pass(deadlineMs - 1);
    const before = await statusOf(pending);
    await world.pass(1);
    const after = await statusOf(pending);
    await assertRefused(bring(), 9);
    await world.settle();

    assert.equal(before.status, "processing");
    assert.notDeepEqual(stepFieldsOf(before), []);
    assert.deepEqual(standingOf(after), ["sale_declined", code, undefined, undefined]);
    assert.deepEqual(stepFieldsOf(after), []);
    assert.equal((await statusOf(pending))["error-code"], code);
    assert.equal(chargesAt(world), 0);
  });

  test(`${step} that comes just in time is accepted`, async (t) => {
    const world = await joinPatientWorld(t);
    const pending = await begin(world);
    const bring = await upload(pending);

    await world.pass(deadlineMs - 1);
    await bring();
    await world.settle();

    assert.notEqual((await statusOf(pending)).status, "declined");
  });

  test(`${step} is refused after its deadline, even before a node has ended the order`, async (t) => {
    const world = await joinPatientWorld(t);
    const pending = await begin(world);
    const bring = await upload(pending);

    world.clock.advance(deadlineMs);
    await assertRefused(bring(), 9);
    await world.settle();

    assert.equal((await statusOf(pending))["error-code"], code);
    assert.equal(chargesAt(world), 0);
  });
}

test("each step has a time limit of its own", async (t) => {
  const world = await joinPatientWorld(t);
  const pending = await beginWith(world, cards.challenge);

  await world.pass(599_000);
  await uploadMethodOnly(pending);
  await world.settle();
  await world.pass(599_000);
  const { cres } = await passChallenge(await statusOf(pending));
  await world.pass(59_000);
  await pending.merchant.uploadCres(pending.order, cres);
  await world.settle();

  assert.deepEqual(standingOf(await statusOf(pending)).slice(0, 2), ["sale_approved", undefined]);
  assert.equal(chargesAt(world), 1);
});

test("the time limits are settings", async (t) => {
  const world = await startPatientWorld(t, {
    GW_METHOD_DEADLINE_S: "20",
    GW_CHALLENGE_DEADLINE_S: "30",
    GW_PARES_DEADLINE_S: "40",
    GW_RESULT_WAIT_S: "10",
    GW_RESULT_GRACE_S: "5",
  });
  const pares = await beginPares(world);
  const challenge = await beginChallenge(world);
  const returned = await beginChallenge(world);
  await returned.merchant.uploadCres(returned.order, forgeCres(returned.status));
  const passed = await beginChallenge(world);
  await passChallenge(passed.status);
  const method = await beginWith(world, cards.challenge);
  const all = [passed, returned, method, challenge, pares];

  const begun = world.clock.now();
  const openAt: string[] = [];
  for (const second of [4, 5, 9, 10, 19, 20, 29, 30, 39, 40]) {
    await world.pass(begun + second * 1_000 - world.clock.now());
    const statuses = await Promise.all(all.map(statusOf));
    openAt.push(`${second}: ${statuses.filter(({ status }) => status === "processing").length}`);
  }
  const codes = (await Promise.all(all.map(statusOf))).map((status) => status["error-code"]);

  // biome-ignore format: a table
  assert.deepEqual(openAt, [
    "4: 5", "5: 4", "9: 4", "10: 3", "19: 3", "20: 2", "29: 2", "30: 1", "39: 1", "40: 0",
  ]);
  assert.deepEqual(codes, [undefined, "2013", "2010", "2011", "2012"]);
});
