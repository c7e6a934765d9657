/** Message types of ISO 8583:1987: the pitfall is the answer to a repeat. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isRequest, responseMti } from "./index.ts";

// biome-ignore format: a table
const answers: readonly (readonly [request: string, response: string])[] = [
  ["0100", "0110"], ["0200", "0210"], ["0220", "0230"], ["0221", "0230"],
  ["0400", "0410"], ["0401", "0410"], ["0420", "0430"], ["0421", "0430"],
  ["0500", "0510"], ["0800", "0810"], ["0423", "0432"], ["0180", "0190"],
];

test("a request is answered by the next function, and a repeat like its original", () => {
  for (const [request, response] of answers) assert.equal(responseMti(request), response);
});

test("an answer is not answered", () => {
  for (const mti of ["0110", "0210", "0430", "0810", "02", "02000", "02x0", ""]) {
    assert.equal(isRequest(mti), false, mti);
    assert.throws(() => responseMti(mti), /is not a request/);
  }
});
