/** Answers that count as a result, and answers that leave a charge in doubt. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  cardholder63,
  type IsoFields,
  payment62,
  response44,
  writeComposite,
  writePositions,
  writeSubelements,
} from "@tollgate/protocols/iso8583";
import { Money } from "../../values/money.ts";
import { startsAt } from "../../values/testing.ts";
import { asInstant } from "../../values/time.ts";
import { type GateKind, gateKinds } from "../gates.ts";
import { dialects } from "./connector.ts";
import { makeAnswerReader } from "./messages.ts";
import { codeIn, makeAttempt, makeFollowUp } from "./testing/attempts.ts";

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
  iso93_ascii: {
    id:        networkId,
    words:     writeSubelements("R", [["01", "1250"], ["02", "Thank you"], ["03", "15"], ["04", "Bonus"]]),
    explained: writeSubelements("R", [["05", "No money."]]),
  },
};

/** The field with the letters Z for the address and N for the CVV. */
const letters = [["83", "Z"] as const, ["87", "N"] as const];
const tagged = { 48: writeSubelements("T", letters) };
const checked: Readonly<Record<GateKind, Changes>> = {
  sandbox: tagged,
  iso87_binary: { 44: writePositions(response44, { 1: "5", 2: "Z", 10: "N" }) },
  iso93_ascii: tagged,
};

for (const kind of gateKinds) {
  const { id, words, explained } = spoken[kind];
  const reader = makeAnswerReader(dialects[kind]);
  const named = (code: string) => codeIn(kind, code);
  // biome-ignore format: a table
  const approval = {
    4:  "000000001015",
    11: "000777",
    37: "00000000AB01",
    38: "A1B2C3",
    39: named("00"),
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
    responseCode: named("00"),
    approvalCode: "A1B2C3",
    networkId,
    approvedAmount: attempt.amount,
    processedAt: startsAt,
  };

  test(`a whole approval is one, ${kind}`, () => {
    assert.deepEqual(read({}), { kind: "approved", answer: approved });
  });

  test(`the issuer's letters for address and CVV are read, and nothing else, ${kind}`, () => {
    const checks = { avs: "Z", cvvResult: "N" };
    assert.deepEqual(read(checked[kind]), { kind: "approved", answer: { ...approved, ...checks } });
    for (const text of ["5", "X", "T83", "T8302ZZ8701"]) {
      assert.deepEqual(read({ 44: text, 48: text }), { kind: "approved", answer: approved }, text);
    }
  });

  test(`a verification is approved for nothing, ${kind}`, () => {
    const verification = makeAttempt({ kind: "account-verification", minor: 0n });
    const nothing = { 4: "000000000000", 39: named("85") };

    const verified = reader.readAuthorization(message(nothing), verification, startsAt);

    assert.equal(verified.kind, "approved");
  });

  test(`an approval for less is an approval in part, whatever its code, ${kind}`, () => {
    const less = { 4: "000000000507" };

    for (const changes of [less, { ...less, 39: named("10") }]) {
      const read507 = read(changes);
      assert.ok(read507.kind === "approved_in_part");
      assert.deepEqual(read507.answer.approvedAmount, new Money(507n, attempt.amount.currency));
    }
    assert.equal(read({ 39: named("10") }).kind, "approved_in_part");
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
    assert.deepEqual(read({ 39: named("10"), 49: "840" }), unreadable);
  });

  test(`a refusal is one, also when it echoes nothing, ${kind}`, () => {
    const nothing = { approvalCode: undefined, networkId: undefined, approvedAmount: undefined };

    assert.deepEqual(read({ 39: named("51") }, 4, 38, 49, 62), {
      kind: "refused",
      answer: { responseCode: named("51"), ...nothing, processedAt: startsAt },
      refusal: dialects[kind].codes.refusalOf(named("51")),
    });
  });

  test(`words for the cardholder are read where there are any, ${kind}`, () => {
    const thanked = read({ 63: words });
    const told = read({ 39: named("51"), 63: explained });

    assert.deepEqual(thanked, { kind: "approved", answer: { ...approved, loyalty } });
    assert.ok(told.kind === "refused");
    assert.equal(told.answer.explanation, "No money.");
    assert.equal("loyalty" in told.answer, false);
  });

  test(`words and ids that cannot be read cost no approval, ${kind}`, () => {
    assert.deepEqual(read({ 63: "?" }), { kind: "approved", answer: approved });
    const unnamed = { ...approved, networkId: undefined };
    assert.deepEqual(read({}, 62), { kind: "approved", answer: unnamed });
    for (const noId of ["a\u00e9", "\u0000", "x".repeat(100)]) {
      assert.deepEqual(read({ 62: noId }), { kind: "approved", answer: unnamed });
    }
    const garbled = read({ 63: words.replace(/[a-z]/, "\u0001") });
    assert.ok(garbled.kind === "approved");
    assert.doesNotMatch(JSON.stringify(garbled.answer.loyalty ?? {}), /u0001/);
  });

  test(`an inquiry finds what stands, in full or in part, and nothing else, ${kind}`, () => {
    const find = (changes: Changes) => reader.readFound(message(changes), attempt, startsAt);

    assert.deepEqual(find({}), { kind: "approved", answer: approved });
    assert.equal(find({ 4: "000000000507" }).kind, "approved_in_part");
    assert.deepEqual(find({ 39: named("25") }), { kind: "not_found" });
    for (const code of ["05", "10", "91"].map(named)) {
      assert.deepEqual(find({ 39: code }), { kind: "other_answer", code });
    }
  });

  test(`a capture or a return is approved, refused, or answered in no way, ${kind}`, () => {
    const request = makeFollowUp(attempt, approved, { minor: 300n, remaining: 715n });
    const sent = { 4: "000000001015", 37: "00000000AB01", 49: "978" };
    const follow = (changes: Changes, ...absent: readonly number[]) =>
      reader.readFollowUp(message(changes, ...absent), sent, request, startsAt);

    const answer = { ...approved, approvalCode: undefined, approvedAmount: request.amount };
    assert.deepEqual(follow({}, 38), { kind: "approved", answer });
    for (const code of ["57", "25", "13"].map(named)) {
      const refused = follow({ 39: code });
      assert.ok(refused.kind === "refused");
      assert.equal(refused.answer.responseCode, code);
    }
    assert.deepEqual(follow({}, 39), unreadable);
    assert.equal(follow({}, 4, 49).kind, "approved");
    for (const code of ["00", "57"].map(named)) {
      for (const other of [{ 4: "000000000715" }, { 4: "000000000000" }, { 49: "840" }]) {
        assert.deepEqual(follow({ 39: code, ...other }), unreadable);
      }
    }
    // A follow-up is approved as a whole. A host that approves a part has misunderstood the
    // message.
    assert.deepEqual(follow({ 39: named("10") }), unreadable);
  });
}

test("a reversal, or an inquiry about a follow-up, that states another amount proves nothing", () => {
  const { readReversal, readFoundFollowUp } = makeAnswerReader(dialects.iso87_binary);
  const sent = { 4: "000000001015", 37: "00000000AB01", 49: "978" };
  const request = makeFollowUp(attempt, { approvalCode: "A1B2C3", networkId });
  const find = (fields: Changes) =>
    readFoundFollowUp({ mti: "0610", fields }, sent, request, startsAt);

  for (const other of [{ 4: "000000001014" }, { 49: "840" }]) {
    for (const code of ["00", "25", "12"]) {
      const answer = { mti: "0430", fields: { ...sent, ...other, 39: code } };
      assert.deepEqual(readReversal(answer, sent), unreadable);
    }
    assert.deepEqual(find({ ...sent, ...other, 39: "00" }), unreadable);
  }
  assert.deepEqual(readReversal({ mti: "0430", fields: { 39: "00" } }, sent), { kind: "reversed" });
  assert.equal(find({ 37: sent[37], 39: "00" }).kind, "approved");
  assert.equal(find({ 37: sent[37], 39: "25" }).kind, "not_found");
  assert.equal(find({ 37: sent[37], 39: "05" }).kind, "other_answer");
  assert.deepEqual(find({ 39: "25" }), unreadable);
});

test("an id in another shape than the host's is no id", () => {
  const { readNetworkId } = dialects.iso87_binary;

  assert.equal(readNetworkId({ 62: "40000000000000" }), undefined);
  assert.equal(readNetworkId({ 62: "0000000000000000" }), undefined);
});

test("in 1993, an accepted reversal or advice approves what follows a charge, and no charge", () => {
  const reader = makeAnswerReader(dialects.iso93_ascii);
  const followUp = makeFollowUp(attempt, { approvalCode: "A1B2C3", networkId });
  const fields = { 4: "000000001015", 37: "00000000AB01", 38: "A1B2C3", 49: "978" };

  for (const code of ["400", "901"]) {
    const answer = { mti: "1210", fields: { ...fields, 39: code } };
    assert.deepEqual(reader.readAuthorization(answer, attempt, startsAt), unreadable, code);
    assert.equal(reader.readFollowUp(answer, fields, followUp, startsAt).kind, "approved", code);
  }
});

test("an answer is dated by its host, in the terminal's zone and the nearest year", () => {
  const newYear = asInstant(Date.UTC(2027, 0, 1, 0, 0, 30));
  const hostAt = (kind: "sandbox" | "iso93_ascii", zone: string, fields: IsoFields) =>
    makeAnswerReader(dialects[kind], zone).readAnswer({ 39: "00", ...fields }, newYear)?.hostAt;

  assert.equal(hostAt("sandbox", "UTC", { 12: "235959", 13: "1231" }), newYear - 31_000);
  assert.equal(hostAt("sandbox", "Asia/Tokyo", { 12: "090030", 13: "0101" }), newYear);
  assert.equal(hostAt("iso93_ascii", "UTC", { 12: "261231235959" }), newYear - 31_000);
  assert.equal(hostAt("sandbox", "UTC", { 13: "0101" }), undefined);
  assert.equal(hostAt("sandbox", "UTC", { 12: "996199", 13: "9999" }), undefined);
});
