/** Field 90 of ISO 8583:1987, against the reversals among the samples. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { DecodeFault, originalData, parseOriginalData } from "./index.ts";
import { samples } from "./samples.ts";

const original = {
  mti: "0200",
  stan: "000120",
  transmittedAt: "1114120037",
  acquirerId: "400001",
  forwarderId: "40000100007",
};

test("a reversal names its original as the sample does", () => {
  const sample = samples.good.find(({ id }) => id === "a08-0420")?.fields[90] ?? "";

  assert.equal(originalData(original), sample);
  assert.deepEqual(parseOriginalData(sample), original);
});

test("an absent forwarder is written as zeros and read as absent", () => {
  const { forwarderId: _, ...direct } = original;

  assert.equal(originalData(direct), "020000012011141200370000040000100000000000");
  assert.deepEqual(parseOriginalData(originalData(direct)), direct);
});

test("parts of the wrong width are not written", () => {
  const wrong = [{ stan: "120" }, { mti: "020" }, { transmittedAt: "114120037" }];
  for (const parts of wrong) {
    assert.throws(() => originalData({ ...original, ...parts }), /wrong width/);
  }
  assert.throws(() => originalData({ ...original, stan: "00012O" }), /42 digits/);
  assert.throws(() => originalData({ ...original, acquirerId: "400000000001" }), /42 digits/);
});

test("text that is not 42 digits is refused", () => {
  for (const text of ["", "0".repeat(41), "0".repeat(43), `${"0".repeat(41)}x`]) {
    assert.deepEqual(parseOriginalData(text), new DecodeFault(90, "wrong_content"));
  }
});
