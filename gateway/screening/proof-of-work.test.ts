/** A proof of work is valid once, for its own page, at its difficulty and before it expires. */
import assert from "node:assert/strict";
import { createSecretKey, randomBytes } from "node:crypto";
import { test } from "node:test";
import { asMerchantId } from "../values/ids.ts";
import { asInstant } from "../values/time.ts";
import { makeVault } from "../vault/vault.ts";
import { challengeLifetimeMs, countZeroBits, makeProofs } from "./page-tries.ts";

const bits = 8;
const here = { merchantId: asMerchantId("7"), page: "order 42000001" };

function makeWorld() {
  const key = { id: 1, key: createSecretKey(randomBytes(32)) };
  const keys = {
    current: () => key,
    list: () => [key],
    find: () => key.key,
    reload: async () => undefined,
  };
  const vault = makeVault(keys as never, async () => undefined);
  const used = new Set<string>();
  const world = { now: asInstant(1_794_708_246_000) };
  const proofs = makeProofs({
    tokenOf: vault.tokenOf,
    isToken: vault.isToken,
    clock: { now: () => world.now },
    async takeNonce({ merchantId, nonce, signedAt }) {
      assert.equal(signedAt > world.now, true);
      const isNew = !used.has(`${merchantId}/${nonce}`);
      used.add(`${merchantId}/${nonce}`);
      return isNew;
    },
  });
  return { proofs, world };
}

function solve(challenge: string, wanted = bits): string {
  for (let count = 0; ; count += 1) {
    if (countZeroBits(seedOf(challenge) + count) >= wanted) return `${challenge}:${count}`;
  }
}

test("a solved challenge is accepted once", async () => {
  const { proofs } = makeWorld();
  const challenge = proofs.issue(here, bits);
  const proof = solve(challenge);

  assert.equal(await proofs.use(here, proof, bits), true);
  assert.equal(await proofs.use(here, proof, bits), false, "replayed");
  // Returns another solution of the same challenge.
  const next = Number(proof.split(":")[1]) + 1;
  let other = next;
  while (countZeroBits(seedOf(challenge) + other) < bits) other += 1;
  const again = `${challenge}:${other}`;
  assert.equal(await proofs.use(here, again, bits), false, "replayed in other words");
});

test("it is good for its own page and merchant alone", async () => {
  const { proofs } = makeWorld();
  const proof = solve(proofs.issue(here, bits));

  assert.equal(await proofs.use({ ...here, page: "order 42000002" }, proof, bits), false);
  assert.equal(await proofs.use({ ...here, merchantId: asMerchantId("8") }, proof, bits), false);
  assert.equal(await makeWorld().proofs.use(here, proof, bits), false, "of another installation");
  assert.equal(await proofs.use(here, proof, bits), true);
});

test("neither difficulty nor expiry can be changed", async () => {
  const { proofs, world } = makeWorld();
  const challenge = proofs.issue(here, 60);
  const [, expiry = ""] = challenge.split(".");

  const easier = challenge.replace(/^60\./, "1.");
  assert.equal(await proofs.use(here, solve(easier, 1), 1), false);
  const unsolved = `${challenge}:${solve(challenge).split(":")[1]}`;
  assert.equal(await proofs.use(here, unsolved, bits), false);
  const easy = proofs.issue(here, bits);
  assert.equal(await proofs.use(here, solve(easy), bits + 1), false, "more work is wanted by now");
  const longer = easy.replace(expiry, (Number.parseInt(expiry, 36) + 600).toString(36));
  assert.equal(await proofs.use(here, solve(longer), bits), false);

  const proof = solve(easy);
  world.now = asInstant(world.now + challengeLifetimeMs + 1_000);
  assert.equal(await proofs.use(here, proof, bits), false, "expired");
});

test("what is no proof is refused without being counted", async () => {
  const { proofs } = makeWorld();
  const challenge = proofs.issue(here, 1);
  const [head = "", solution = ""] = solve(challenge, 1).split(":");
  const wrong = [
    ...["", ":", challenge, `${head}:`, `${head}:0${"0".repeat(15)}`, `${head}:-1`, `${head}:1e3`],
    ...[`${head}:${solution} `, `${head.slice(1)}:${solution}`, `x${head}:${solution}`],
    ...[`${head}x:${solution}`, "1.a.a:1", `${"9".repeat(200)}:1`],
  ];

  for (const proof of wrong) assert.equal(await proofs.use(here, proof, 1), false, proof);
  assert.equal(await proofs.use(here, `${head}:${solution}`, 1), true);
});

test("zero bits are counted as SHA-256 has them", () => {
  assert.equal(countZeroBits("abc"), 0);
  // The hash of this widely published example begins with 00000.
  assert.equal(countZeroBits("Hello, world!4250"), 16);
});

/** The nonce and the signature of the challenge, which are hashed before the solution. */
function seedOf(challenge: string): string {
  return challenge.slice(-40);
}
