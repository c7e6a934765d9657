/** What may be believed of an answer, and what leaves a charge in doubt. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Money } from "../../values/money.ts";
import { readAuthorization } from "./read-answer.ts";
import { makeAttempt, startsAt } from "./testing.ts";

const attempt = makeAttempt();
const approval = {
  4: "000000001015",
  11: "000777",
  37: "00000000AB01",
  38: "A1B2C3",
  39: "00",
  49: "978",
  62: "151121000000001",
};

function read(changes: { readonly [field: number]: string }, ...absent: readonly number[]) {
  const kept = Object.entries({ ...approval, ...changes }).filter(
    ([field]) => !absent.includes(Number(field)),
  );
  return readAuthorization({ mti: "0210", fields: Object.fromEntries(kept) }, attempt, startsAt);
}

test("a whole approval is one", () => {
  assert.deepEqual(read({}), {
    kind: "approved",
    answer: {
      responseCode: "00",
      approvalCode: "A1B2C3",
      networkId: "151121000000001",
      approvedAmount: attempt.amount,
      processedAt: startsAt,
    },
  });
});

test("an approval for less is an approval in part, whatever its code", () => {
  const less = { 4: "000000000507" };

  for (const changes of [less, { ...less, 39: "10" }]) {
    const read507 = read(changes);
    assert.ok(read507.kind === "approved_in_part");
    assert.deepEqual(read507.answer.approvedAmount, new Money(507n, attempt.amount.currency));
  }
  assert.equal(read({ 39: "10" }).kind, "approved_in_part");
});

test("an approval that cannot be trusted leaves the outcome unknown", () => {
  const doubtful = [
    read({}, 38),
    read({ 38: "      " }),
    read({}, 4),
    read({ 4: "000000001016" }),
    read({}, 49),
    read({ 49: "840" }),
    read({ 37: "00000000AB02" }),
    read({}, 37),
    read({}, 39),
    read({ 39: "10", 49: "840" }),
  ];

  for (const [index, authorization] of doubtful.entries()) {
    const expected = { kind: "unknown", cause: "unreadable_answer" };
    assert.deepEqual(authorization, expected, `row ${index}`);
  }
});

test("a refusal is one, also when it echoes nothing", () => {
  const refusal = read({ 39: "51" }, 4, 38, 49, 62);

  assert.deepEqual(refusal, {
    kind: "refused",
    answer: {
      responseCode: "51",
      approvalCode: undefined,
      networkId: undefined,
      approvedAmount: undefined,
      processedAt: startsAt,
    },
  });
});
