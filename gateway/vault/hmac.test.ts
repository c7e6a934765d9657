/** The HMAC of RFC 2104 equals that of `createHmac`, with which stored digests were made. */
import assert from "node:assert/strict";
import { createHmac, createSecretKey, randomBytes } from "node:crypto";
import { test } from "node:test";
import { erasePads, hmac } from "./keys.ts";

test("the test case 2 of RFC 4231 gives its digest", () => {
  const key = createSecretKey(Buffer.from("Jefe"));

  const digest = hmac(key, "what do ya want for nothing?").toString("hex");

  assert.equal(digest, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
});

test("texts of every length have the digest that createHmac gives, under keys by turns", () => {
  const keys = [createSecretKey(randomBytes(32)), createSecretKey(randomBytes(32))];
  const lengths = [0, 1, 54, 55, 56, 63, 64, 65, 1000, 2708, 2709, 2710, 9000];
  for (const length of lengths) {
    for (const letter of ["x", "é", "漢", "\ud83d", "😀"]) {
      for (const key of keys) {
        const text = letter.repeat(length / letter.length);

        assert.deepEqual(hmac(key, text), createHmac("sha256", key).update(text).digest());
      }
    }
  }
});

test("bytes before the text belong to the message", () => {
  const key = createSecretKey(randomBytes(32));
  for (const length of [0, 32, 5000]) {
    const before = randomBytes(length);

    assert.deepEqual(
      hmac(key, "123", before),
      createHmac("sha256", key).update(before).update("123").digest(),
    );
  }
});

test("a longer key than a block is refused", () => {
  assert.throws(() => hmac(createSecretKey(randomBytes(65)), "text"), RangeError);
});

test("a key whose pads were erased is prepared again when it is used again", () => {
  const key = createSecretKey(randomBytes(32));
  const digest = hmac(key, "text");

  erasePads(key);

  assert.deepEqual(hmac(key, "text"), digest);
});
