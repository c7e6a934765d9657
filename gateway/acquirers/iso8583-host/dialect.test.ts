/** The meanings of the response codes of ISO 8583:1987. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { failures } from "../../values/failure.ts";
import { iso87Codes } from "./dialect.ts";

const { rows: responseCodes, meaningOf, refusalOf, meaningOfReversal } = iso87Codes;

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

test("a host that speaks of itself says nothing of the card", () => {
  for (const code of ["06", "91", "96"]) assert.equal(refusalOf(code).hint, "host_fault", code);
  for (const code of ["00", "05", "57", "12", "25", "ZZ"]) {
    assert.equal(refusalOf(code).hint, undefined, code);
  }
});

test("a card that is lost and a request that may yet be done are told from other refusals", () => {
  for (const code of ["41", "43", "14", "59", "46"]) assert.ok(refusalOf(code).isHard, code);
  for (const code of ["09", "68", "94"]) {
    assert.equal(refusalOf(code).hint, "may_yet_be_done", code);
  }
  for (const code of ["51", "61", "05", "65", "91", "96"]) {
    const { isHard, hint } = refusalOf(code);
    assert.ok(!isHard && hint !== "may_yet_be_done", code);
  }
});

test("a reversal is done by 00 only", () => {
  assert.equal(meaningOfReversal("00"), "reversed");
  assert.equal(meaningOfReversal("25"), "not_found");
  for (const code of ["09", "68", "91", "94", "96"]) assert.equal(meaningOfReversal(code), "retry");
  for (const code of ["", "05", "08", "10", "12", "21", "30", "85", "ZZ"]) {
    assert.equal(meaningOfReversal(code), "refused", code);
  }
});
