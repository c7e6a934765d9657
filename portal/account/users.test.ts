/** Tests texts that describe users: roles, ways to sign in, browsers, and codes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { english, german } from "../language/texts.ts";
import { mayHavePasskeys } from "./passkey-prompt.ts";
import { actionsFor, codeIn, describeAgent, hasFactor, roleName, signInBy } from "./users.ts";

const webkit = "Mozilla/5.0 (X) AppleWebKit/537.36 (KHTML, like Gecko)";

// biome-ignore format: a table
const agents = [
  [`${webkit.replace("X", "X11; Linux x86_64")} Chrome/140.0 Safari/537.36`,                         "Chrome, Linux"],
  [`${webkit.replace("X", "Windows NT 10.0; Win64")} Chrome/140.0 Safari/537.36 Edg/140.0`,          "Edge, Windows"],
  [`${webkit.replace("X", "Windows NT 10.0; Win64")} Chrome/140.0 Safari/537.36 OPR/120.0`,          "Opera, Windows"],
  [`${webkit.replace("X", "Macintosh; Intel Mac OS X 10_15")} Version/18.0 Safari/605.1`,            "Safari, MacOS"],
  [`${webkit.replace("X", "iPhone; CPU iPhone OS 18_0 like Mac OS X")} Version/18.0 Safari/604.1`,   "Safari, iPhone"],
  ["Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0",                           "Firefox, Android"],
  ["Mozilla/5.0 (Unknown) Gecko/140.0 Firefox/140.0",                                                "Firefox"],
  ["curl/8.7.1",                                                                                     "curl/8.7.1"],
  ["x".repeat(80),                                                                                   "x".repeat(60)],
  ["",                                                                                               "–"],
] as const;

for (const [agent, name] of agents) {
  test(`a session is described as “${name}”`, () => {
    assert.equal(describeAgent(agent), name);
  });
}

// biome-ignore format: a table
const factors = [
  ["own",       false, 0, "Password",                                false],
  ["temporary", false, 0, "Temporary password",                      false],
  ["own",       true,  0, "Password + app",                          true],
  ["own",       true,  2, "Password + app + 2 passkeys",             true],
  ["none",      false, 1, "No password + 1 passkey",                 true],
] as const;

for (const [password, totp, passkeys, text, isSecond] of factors) {
  test(`the ways to sign in are described as “${text}”`, () => {
    assert.equal(signInBy({ password, totp, passkeys }, english).toLowerCase(), text.toLowerCase());
    assert.equal(hasFactor({ totp, passkeys, recoveryCodes: 0 }), isSecond);
  });
}

test("a role that this portal does not know is shown as it is", () => {
  assert.equal(roleName(english, "merchant-admin"), english.roles["merchant-admin"]);
  assert.equal(roleName(english, "pilot"), "pilot");
  assert.equal(roleName(english), "");
});

test("an enabled user can be disabled, a disabled one enabled, and users cannot change themselves", () => {
  const own = { login: "ann" };
  const carl = { login: "carl", role: "support" } as const;

  assert.equal(actionsFor({ ...carl, enabled: true }, own).at(-1), "user disable");
  assert.equal(actionsFor({ ...carl, enabled: false }, own).at(-1), "user enable");
  assert.deepEqual(actionsFor({ ...carl, login: "ann", enabled: true }, own), []);
  assert.deepEqual(actionsFor({ login: "backup", enabled: true, role: "service" }, own), [
    "user disable",
  ]);
});

test("no two actions on a user have the same label", () => {
  const [carl, ann] = [{ login: "carl", role: "support" } as const, { login: "ann" }];
  const actions = [true, false].flatMap((enabled) => actionsFor({ ...carl, enabled }, ann));
  for (const { buttons } of [english, german]) {
    const labels = new Set(actions.map((action) => buttons[action]));
    assert.equal(labels.size, new Set(actions).size);
  }
});

test("a code is sent without the spaces that apps and lists put into it", () => {
  assert.equal(codeIn(" 123 456 "), "123456");
});

// biome-ignore format: a table
const hosts = [
  ["localhost", true], ["gateway.example", true], ["1.example", true],
  ["127.0.0.1", false], ["10.1.2.3", false], ["[::1]", false],
] as const;

test("passkeys are offered at host names, and never at numeric addresses", () => {
  for (const [host, may] of hosts) assert.equal(mayHavePasskeys(host), may, host);
});
