/** The 3-D Secure step in a status response, which drives a merchant's own pages. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { PendingStep } from "../orders/authentication.ts";
import { printBrowserStep } from "./browser-step.ts";

const redirectTo = "https://pay.example/gw/form/redirect/42000001/t0ken";
const hostile = `"'><script>alert(1)</script>`;

const method: PendingStep = {
  kind: "method",
  redirectTo,
  transactionId: "6afa6072-9412-446b-9673-2f98b3ee98a2",
  methodUrl: "https://acs.example/method?a=1&b=2",
  methodData: "eyJhIjoxfQ",
  framedMethodData: "eyJiIjoyfQ",
};
const challenge: PendingStep = {
  kind: "challenge",
  redirectTo,
  acsUrl: "https://acs.example/challenge",
  creq: "eyJjIjozfQ",
  creqFor: (size) => `eyJjIjozfQ-${size}`,
};
const pares: PendingStep = {
  kind: "pares",
  redirectTo,
  acsUrl: "https://acs.example/pareq",
  pareq: "eJxVUt1u+/=",
  md: "m-1",
  termUrl: "https://pay.example/gw/form/pares/42000001/t0ken",
};

type Told = readonly (readonly [name: string, value: string])[];

// biome-ignore format: a table
const steps: readonly (readonly [step: PendingStep, told: Told, action: string, posted: Told])[] = [
  [method, [
    ["redirect-to", redirectTo],
    ["tds-status", "MethodUrlFrame"],
    ["tds-method-url-frame-3ds-server-trans-id", "6afa6072-9412-446b-9673-2f98b3ee98a2"],
    ["tds-method-url-frame-3ds-method-url", "https://acs.example/method?a=1&b=2"],
  ], "https://acs.example/method?a=1&amp;b=2", [["threeDSMethodData", "eyJhIjoxfQ"]]],
  [challenge, [
    ["redirect-to", redirectTo],
    ["tds-status", "CReqForm"],
    ["tds-creq-form-acs-url", "https://acs.example/challenge"],
    ["tds-creq-form-creq", "eyJjIjozfQ"],
  ], "https://acs.example/challenge", [["creq", "eyJjIjozfQ"]]],
  [pares, [
    ["redirect-to", redirectTo],
    ["tds-status", "PaReqForm"],
    ["tds-pareq-form-pareq", "eJxVUt1u+/="],
    ["tds-pareq-form-acs-url", "https://acs.example/pareq"],
    ["tds-pareq-form-md", "m-1"],
  ], "https://acs.example/pareq", [["PaReq", "eJxVUt1u+/="], ["TermUrl", pares.termUrl], ["MD", "m-1"]]],
];

for (const [step, told, action, posted] of steps) {
  test(`a pending ${step.kind} is told by its own fields and as a page that takes it`, () => {
    const [[first, page = ""] = [], ...others] = printBrowserStep(step);

    assert.equal(first, "html");
    assert.deepEqual(
      others.filter(([, value]) => value !== undefined),
      told,
    );
    assert.ok(page.includes(`<form id="tds-step" method="post" action="${action}">`));
    const inputs = page.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g);
    assert.deepEqual(
      [...inputs].map(([, name, value]) => [name, value]),
      posted,
    );
    assert.match(page, /<button>/);
    assert.match(page, /<script>document\.getElementById\("tds-step"\)\.submit\(\);<\/script>/);
  });
}

test("without a step there is nothing to tell", () => {
  const rows = printBrowserStep(undefined);

  assert.equal(rows.length, 10);
  assert.ok(rows.every(([, value]) => value === undefined));
});

test("nothing that an issuer sends becomes markup", () => {
  const spoilt = { ...pares, acsUrl: hostile, pareq: hostile, md: hostile, termUrl: hostile };

  const [[, page = ""] = []] = printBrowserStep(spoilt);

  assert.equal(page.match(/<script>/g)?.length, 1);
  assert.doesNotMatch(page, /alert\(1\)<\/script>/);
});
