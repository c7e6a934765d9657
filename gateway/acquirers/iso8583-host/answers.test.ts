/** What may be believed of an answer, and what leaves a charge in doubt. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  cardholder63,
  payment62,
  writeComposite,
  writePositions,
  writeSubelements,
} from "@tollgate/protocols/iso8583";
import { failures } from "../../values/failure.ts";
import { Money } from "../../values/money.ts";
import { type GateKind, gateKinds } from "../gates.ts";
import { makeAnswerReader, meaningOf, refusalOf, responseCodes } from "./answers.ts";
import { dialects } from "./connector.ts";
import { makeAttempt, makeFollowUp } from "./testing/attempts.ts";
import { startsAt } from "./testing/test-clock.ts";

type Changes = { readonly [field: number]: string };

const attempt = makeAttempt();
const networkId = "151121000000001";
const unreadable = { kind: "unknown", cause: "unreadable_answer" };
const loyalty = { balance: "1250", message: "Thank you", bonus: "15", program: "Bonus" };

// biome-ignore format: a table
const spoken: Readonly<Record<GateKind, Readonly<Record<"id" | "words" | "explained", string>>>> = {
  sandbox: {
    id:        networkId,
    words:     writeSubelements("R", [["01", "1250"], ["02", "Thank you"], ["03", "15"], ["04", "Bonus"]]),
    explained: writeSubelements("R", [["05", "No money."]]),
  },
  iso87_binary: {
    id:        writeComposite(payment62, { 2: networkId }),
    words:     writePositions(cardholder63, { 1: "1250".padEnd(12), 2: "15".padEnd(12), 3: "Bonus".padEnd(25), 4: "Thank you".padEnd(60) }),
    explained: writePositions(cardholder63, { 5: "No money.".padEnd(120) }),
  },
};

for (const kind of gateKinds) {
  const { id, words, explained } = spoken[kind];
  const reader = makeAnswerReader(dialects[kind]);
  // biome-ignore format: a table
  const approval = {
    4:  "000000001015",
    11: "000777",
    37: "00000000AB01",
    38: "A1B2C3",
    39: "00",
    49: "978",
    62: id,
  };

  function message(changes: Changes, ...absent: readonly number[]) {
    const kept = Object.entries({ ...approval, ...changes }).filter(
      ([field]) => !absent.includes(Number(field)),
    );
    return { mti: "0210", fields: Object.fromEntries(kept) };
  }

  function read(changes: Changes, ...absent: readonly number[]) {
    return reader.readAuthorization(message(changes, ...absent), attempt, startsAt);
  }

  const approved = {
    responseCode: "00",
    approvalCode: "A1B2C3",
    networkId,
    approvedAmount: attempt.amount,
    processedAt: startsAt,
  };

  test(`a whole approval is one, ${kind}`, () => {
    assert.deepEqual(read({}), { kind: "approved", answer: approved });
  });

  test(`a verification is approved for nothing, ${kind}`, () => {
    const verification = makeAttempt({ kind: "account-verification", minor: 0n });
    const nothing = { 4: "000000000000", 39: "85" };

    const verified = reader.readAuthorization(message(nothing), verification, startsAt);

    assert.equal(verified.kind, "approved");
  });

  test(`an approval for less is an approval in part, whatever its code, ${kind}`, () => {
    const less = { 4: "000000000507" };

    for (const changes of [less, { ...less, 39: "10" }]) {
      const read507 = read(changes);
      assert.ok(read507.kind === "approved_in_part");
      assert.deepEqual(read507.answer.approvedAmount, new Money(507n, attempt.amount.currency));
    }
    assert.equal(read({ 39: "10" }).kind, "approved_in_part");
  });

  // biome-ignore format: a table
  const doubtful: readonly (readonly [Changes, ...number[]])[] = [
    [{}, 38],
    [{ 38: "      " }],
    [{}, 4],
    [{ 4: "000000001016" }],
    [{ 4: "000000000000" }],
    [{}, 49],
    [{ 49: "840" }],
    [{ 37: "00000000AB02" }],
    [{}, 37],
    [{}, 39],
  ];

  test(`an approval that cannot be trusted leaves the outcome unknown, ${kind}`, () => {
    for (const [index, row] of doubtful.entries()) {
      assert.deepEqual(read(...row), unreadable, `row ${index}`);
      const found = reader.readFound(message(...row), attempt, startsAt);
      assert.deepEqual(found, unreadable, `row ${index}`);
    }
    assert.deepEqual(read({ 39: "10", 49: "840" }), unreadable);
  });

  test(`a refusal is one, also when it echoes nothing, ${kind}`, () => {
    const nothing = { approvalCode: undefined, networkId: undefined, approvedAmount: undefined };

    assert.deepEqual(read({ 39: "51" }, 4, 38, 49, 62), {
      kind: "refused",
      answer: { responseCode: "51", ...nothing, processedAt: startsAt },
      refusal: refusalOf("51"),
    });
  });

  test(`words for the cardholder are read where there are any, ${kind}`, () => {
    const thanked = read({ 63: words });
    const told = read({ 39: "51", 63: explained });

    assert.deepEqual(thanked, { kind: "approved", answer: { ...approved, loyalty } });
    assert.ok(told.kind === "refused");
    assert.equal(told.answer.explanation, "No money.");
    assert.equal("loyalty" in told.answer, false);
  });

  test(`words and ids that cannot be read cost no approval, ${kind}`, () => {
    assert.deepEqual(read({ 63: "?" }), { kind: "approved", answer: approved });
    const unnamed = { ...approved, networkId: undefined };
    assert.deepEqual(read({}, 62), { kind: "approved", answer: unnamed });
  });

  test(`an inquiry finds what stands, in full or in part, and nothing else, ${kind}`, () => {
    const find = (changes: Changes) => reader.readFound(message(changes), attempt, startsAt);

    assert.deepEqual(find({}), { kind: "approved", answer: approved });
    assert.equal(find({ 4: "000000000507" }).kind, "approved_in_part");
    for (const code of ["25", "05", "10", "91"]) {
      assert.deepEqual(find({ 39: code }), { kind: "not_found" }, code);
    }
  });

  test(`a capture or a return is approved, refused, or answered in no way, ${kind}`, () => {
    const request = makeFollowUp(attempt, approved, { minor: 300n, remaining: 715n });
    const follow = (changes: Changes, ...absent: readonly number[]) =>
      reader.readFollowUp(message(changes, ...absent), request, startsAt);

    const answer = { ...approved, approvalCode: undefined, approvedAmount: request.amount };
    assert.deepEqual(follow({}, 38), { kind: "approved", answer });
    for (const code of ["57", "25", "13"]) {
      const refused = follow({ 39: code });
      assert.ok(refused.kind === "refused");
      assert.equal(refused.answer.responseCode, code);
    }
    assert.deepEqual(follow({}, 39), unreadable);
    // All or nothing was asked for: a host that did a part has not been understood.
    assert.deepEqual(follow({ 39: "10" }), unreadable);
  });
}

test("an id in another shape than the host's is no id", () => {
  const { readNetworkId } = dialects.iso87_binary;

  assert.equal(readNetworkId({ 62: "40000000000000" }), undefined);
  assert.equal(readNetworkId({ 62: "0000000000000000" }), undefined);
});

test("no code stands in the table twice", () => {
  const codes = responseCodes.map(([code]) => code);

  assert.deepEqual(
    codes.filter((code, index) => codes.indexOf(code) !== index),
    [],
  );
});

test("every reason is a decline that merchants know by a number from 100 to 999", () => {
  for (const [code, , reason] of responseCodes) {
    const { type, number } = failures[reason];
    assert.equal(type, "declined", code);
    assert.ok(number >= 100 && number <= 999, code);
  }
});

test("only the listed codes approve", () => {
  const approvals = responseCodes.filter(([, verdict]) => verdict === "approved");

  assert.deepEqual(
    approvals.map(([code]) => code),
    ["00", "08", "11", "16", "85"],
  );
  assert.equal(meaningOf("10"), "approved_in_part");
  for (const code of ["", "0", "01", "000", "ZZ", "  "]) assert.equal(meaningOf(code), "refused");
});

test("a refusal has its reason, and the host's code as detail", () => {
  // biome-ignore format: a table
  const rows = [
    ["05", "do_not_honour",           "soft"],
    ["51", "insufficient_funds",      "soft"],
    ["54", "expired_card",            "hard"],
    ["41", "lost_card",               "hard"],
    ["43", "stolen_card",             "hard"],
    ["57", "not_permitted",           "hard"],
    ["61", "limit_exceeded",          "soft"],
    ["59", "suspected_fraud",         "hard"],
    ["14", "invalid_card",            "hard"],
    ["91", "issuer_unavailable",      "soft"],
    ["1A", "authentication_required", "soft"],
    ["65", "frequency_exceeded",      "soft"],
    ["82", "cvv_mismatch",            "soft"],
    ["N7", "cvv_mismatch",            "soft"],
    ["10", "partial_approval_refused", "soft"],
    ["Z9", "declined",                "soft"],
  ] as const;

  for (const [responseCode, code, again] of rows) {
    assert.deepEqual(refusalOf(responseCode).reason, { code, detail: `[${responseCode}]` });
    assert.equal(refusalOf(responseCode).isHard, again === "hard", responseCode);
  }
});

test("a host that tells of itself has not said what became of a request", () => {
  for (const code of ["09", "30", "68", "91", "94", "96"])
    assert.ok(refusalOf(code).isUndecided, code);
  for (const code of ["00", "05", "12", "13", "25", "57"])
    assert.ok(!refusalOf(code).isUndecided, code);
});

test("a card that is lost and a request that may yet be done are told from other refusals", () => {
  for (const code of ["41", "43", "14", "59", "46"]) assert.ok(refusalOf(code).isHard, code);
  for (const code of ["09", "68", "94"]) assert.ok(refusalOf(code).mayYetBeDone, code);
  for (const code of ["51", "61", "05", "65", "91", "96"]) {
    assert.ok(!refusalOf(code).isHard && !refusalOf(code).mayYetBeDone, code);
  }
});
