/** Passwords: their stored form, the ones that are accepted, and that no other text matches. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Secret } from "../values/secret.ts";
import { findPasswordFault, hashPassword, isPassword, newPassword } from "./password.ts";

test("a password is found again, and no other is", async () => {
  const password = new Secret("correct horse battery");
  const stored = await hashPassword(password);

  assert.match(stored, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
  assert.ok(await isPassword(password, stored));
  assert.ok(!(await isPassword(new Secret("correct horse batterz"), stored)));
  assert.ok(!(await isPassword(password)));
  assert.ok(!(await isPassword(password, "")));
  assert.notEqual(await hashPassword(password), stored);
});

test("the hash is the one that other implementations compute", async () => {
  // The reference implementation made this hash: argon2 -id -t 2 -m 16 -p 1, salt "somesalt".
  const stored =
    "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";

  assert.ok(await isPassword(new Secret("password"), stored));
});

// biome-ignore format: a table
const judged: readonly (readonly [password: string, fault: RegExp | undefined])[] = [
  ["elevenchars",               /at least 12/],
  ["twelve cha12",              undefined],
  ["aaaaaaaaaaaaaaaa",          /different characters/],
  ["twelve chars",              /letters and digits/],
  ["5294-1039-4471",            /letters and digits/],
  ["ann.smith is great 1",      /contain the login/],
  ["ANN.SMITH is great 1",      /contain the login/],
  ["x1!".repeat(86),            /at most 256/],
  ["pässwörter sind schön 1",   undefined],
  ["Password1234",              /easy to guess/],
  ["P@ssw0rd2026!",             /easy to guess/],
  ["Sommer2026!!",              /easy to guess/],
  ["qwertz123456",              /easy to guess/],
  ["1q2w3e4r5t6z",              /easy to guess/],
  ["abcd1234efgh",              /easy to guess/],
  ["Tollgate-Admin-1",          /easy to guess/],
  ["q1w2e3r4t5y6",              /easy to guess/],
  ["1qazxsw23edc",              /easy to guess/],
  ["123qweasdzxc",              /easy to guess/],
  ["a1b2c3d4e5f6",              /easy to guess/],
  ["trustno1trustno1",          /easy to guess/],
  ["Blau77Blau77Blau77",        /easy to guess/],
  ["liverpool123",              /easy to guess/],
  ["blue password horse 7",     undefined],
  ["k7wv2-mq9xd",               /at least 12/],
  ["k7wv2-mq9xd-",              undefined],
];

for (const [password, fault] of judged) {
  test(`the password ${password.slice(0, 24)} is ${fault ? "refused" : "taken"}`, () => {
    const found = findPasswordFault(new Secret(password), "ann.smith");
    if (fault === undefined) assert.equal(found, undefined);
    else assert.match(found?.sentence ?? "", fault);
  });
}

test("a temporary password is long and different each time", () => {
  assert.match(newPassword(), /^([a-z2-9]{5}-){3}[a-z2-9]{5}$/);
  assert.notEqual(newPassword(), newPassword());
});
