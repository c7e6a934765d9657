/** The project's sample messages, which three independent programs have agreed on. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { matchPaRes, type PaResOrder, ThreeDsFault, unpackPa, verifyPaRes } from "./index.ts";
import { type Case, otherRoot, trustedRoot, vectors } from "./samples.ts";

const trust = { roots: [trustedRoot], now: vectors.nowMs };

// biome-ignore format: a table
const refusals: Readonly<Record<string, string>> = {
  "changed-amount":    "wrong_signature",
  "other-root":        "untrusted_chain",
  "two-pares":         "repeated_element",
  "two-pares-same-id": "repeated_element",
  "unsigned":          "unsigned",
  "doctype":           "forbidden_xml",
};

test("the good samples are accepted with the values that were signed", () => {
  const good = vectors.cases.filter(({ expected }) => expected === "accept");
  assert.equal(good.length, 4);
  for (const { id, values, ...sample } of good) {
    const paRes = verify(sample.paRes, trust.roots);

    assert.ok(!(paRes instanceof ThreeDsFault), id);
    const { time: _, ...outcome } = paRes.tx;
    assert.deepEqual(outcome, values, id);
    assert.deepEqual(matchPaRes(paRes, orderOf(sample)), [], id);
  }
});

test("the bad samples are refused, each for its own reason", () => {
  const bad = vectors.cases.filter(({ expected }) => expected === "refuse");
  assert.equal(bad.length, 6);
  for (const { id, paRes } of bad) {
    assert.equal(reasonOf(verify(paRes, trust.roots)), refusals[id], id);
  }
});

test("the sample under the other root is refused for its root only", () => {
  const sample = vectors.cases.find(({ id }) => id === "other-root");
  assert.ok(sample);

  assert.ok(!(verify(sample.paRes, [otherRoot]) instanceof ThreeDsFault));
  assert.ok(!(verify(sample.paRes, [trustedRoot, otherRoot]) instanceof ThreeDsFault));
  assert.equal(reasonOf(verify(sample.paRes, [])), "untrusted_chain");
});

test("the samples as form fields contain the XML next to them", () => {
  for (const { id, paRes, xml } of vectors.cases) assert.equal(unpackPa(paRes), xml, id);
});

function verify(paRes: string, roots: readonly string[]) {
  const xml = unpackPa(paRes);
  assert.equal(typeof xml, "string");
  return xml instanceof ThreeDsFault ? xml : verifyPaRes(xml, { ...trust, roots });
}

function reasonOf(result: unknown): string | undefined {
  return result instanceof ThreeDsFault ? result.reason : undefined;
}

function orderOf({ order }: Pick<Case, "order">): PaResOrder {
  const { acqBIN: acqBin, merID: merId, pan, ...rest } = order;
  return { ...rest, acqBin, merId, lastFour: pan.slice(-4) };
}
