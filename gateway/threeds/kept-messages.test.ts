/** Kept messages as text, even those of a sender with hostile names of elements. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { asInstant } from "../values/time.ts";
import { writeKept } from "./kept-messages.ts";

function write(fields: Readonly<Record<string, string>>): unknown {
  const kept = { at: asInstant(0), way: "received", type: "CRes", fields } as const;
  return JSON.parse(writeKept(kept) ?? "");
}

test("elements inside others are written inside them", () => {
  assert.deepEqual(write({ transStatus: "Y", "acctInfo.chAccAgeInd": "****" }), {
    messageType: "CRes",
    transStatus: "Y",
    acctInfo: { chAccAgeInd: "****" },
  });
});

test("no name changes what every object inherits, and none keeps the message from being shown", () => {
  write({
    "__proto__.page": "****",
    "a.__proto__.page": "****",
    "constructor.prototype.page": "****",
    "constructor.page": "****",
    eci: "05",
    "eci.0": "****",
  });

  assert.equal("page" in {}, false);
  assert.equal("page" in Object, false);
});
