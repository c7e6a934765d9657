/** The page's script finds proofs of work that the gateway accepts. */
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createContext, runInContext } from "node:vm";

test("the solution's SHA-256 begins with as many zero bits as the challenge wants", async () => {
  const source = readFileSync(join(import.meta.dirname, "proof.js"), "utf8");
  const solve = runInContext(`${source};solveProof`, createContext({ setTimeout }));
  for (const bits of [0, 1, 7, 8, 13]) {
    const seed = `${"n".repeat(14)}-_${"S9".repeat(11)}${String(bits).padStart(2, "0")}`;
    const challenge = `${bits}.k2x9.${seed}`;

    const proof = await new Promise<string>((found) => solve(challenge, found));

    const [own = "", solution = ""] = proof.split(":");
    assert.equal(own, challenge);
    const digest = BigInt(`0x${hash("sha256", seed + solution)}`);
    assert.ok(digest >> BigInt(256 - bits) === 0n, `${bits} bits: ${digest.toString(16)}`);
  }
});
