/**
 * Every route of the portal API with every role: a user without session, right or merchant gets
 * nothing. The test walks the table of routes, and a route without an example fails.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { endOfFile } from "../../support/end-of-file.ts";
import { addUser, type Browser, openBrowser, password } from "../../support/operator/portal.ts";
import { examples, mayUse, type Role, roles } from "../../support/operator/portal-routes.ts";
import { isLongRun } from "../../support/series.ts";
import { startWorld } from "../../support/world.ts";

const world = await startWorld(endOfFile, { GW_PORTAL_INDEX_EVERY_S: "1" });
await world.stranger();
const values = await examples.prepare(world);
const browsers = new Map<Role, Browser>();
for (const role of roles) {
  const merchant = role.startsWith("merchant-") ? { merchant: "demo" } : {};
  browsers.set(role, await signedIn(`matrix-${role}`, role, merchant));
}
const other = await signedIn("matrix-other", "merchant-admin", { merchant: "stranger" });

async function signedIn(login: string, role: Role, merchant: { merchant?: string }) {
  const browser = openBrowser(world.gateway);
  const added = await addUser(world, { login, role, ...merchant });
  assert.equal(await browser.signIn(added), "in");
  return browser;
}

test("every route has an example, and no example is left over", () => {
  assert.deepEqual(
    Object.keys(examples.inputs).sort(),
    examples.routes.map(([name]) => name).sort(),
  );
});

/**
 * Secrets and ids, which are never stored as they were sent. Words of commands are checked later.
 */
// biome-ignore format: a table
const exact = ["password", "current", "next", "code", "session", "passkey", "login", "words", "input", "values"];

test("a card number in a text that people write is masked before a route sees it", () => {
  const card = "4000001000000018";
  for (const [name, { input }] of examples.routes.filter(([each]) => each.startsWith("POST"))) {
    const sent = examples.inputOf(name, values);
    for (const field of Object.keys(input.json["properties"] ?? {})) {
      if (exact.includes(field)) continue;
      const read = input.read({ ...sent, [field]: `${card} ` }, "input", () => "masked");
      assert.ok(!JSON.stringify(read).includes(card), `${name}: ${field} may be stored as it is`);
    }
  }
});

test("the setup of a second factor needs the password, and not a challenge of the sign-in", async () => {
  const login = "matrix-factors";
  const own = await signedIn(login, "admin", {});
  const wrong = { password: "a wrong test phrase" };
  for (const route of ["POST /totp/begin", "POST /passkeys/begin"] as const) {
    const { status, body } = await own.call(route, wrong);
    assert.deepEqual([status, body.error?.code], [403, "wrong_password"], route);
  }
  await own.call("POST /sign-in/passkey-challenge", {});
  const refused = await own.call("POST /passkeys/confirm", { name: "key", response: {} });
  await own.call("POST /passkeys/begin", { password });
  const [row] = await world.installation.database.query<{ challenge: string }>(
    `select challenge from portal_sessions join users on users.id = user_id where login = $1`,
    [login],
  );

  assert.equal(refused.body.error?.code, "wrong_passkey");
  assert.match(row?.challenge ?? "", /^add /);
});

for (const [name, { access, scope, output }] of examples.routes) {
  const input = () => examples.inputOf(name, values);

  test(`${name}: without a session nothing is shown`, async () => {
    const { status } = await openBrowser(world.gateway).send(name, input());
    if (access === "anyone") assert.ok([200, 401].includes(status), `${status}`);
    else assert.equal(status, 401);
  });

  for (const role of roles) {
    const may = mayUse(role, access, scope);
    test(`${name}: ${role} ${may ? "may" : "may not"}`, { skip: examples.ends(name) }, async () => {
      const reply = await browsers.get(role)?.send(name, input());
      const code = reply?.body.error?.code;
      if (!may) return assert.deepEqual([reply?.status, code], [403, "not_allowed"]);
      assert.notEqual(code, "not_allowed");
      assert.ok((reply?.status ?? 500) < 500, JSON.stringify(reply?.body));
      if (reply?.status === 200) assert.deepEqual(output.read(reply.body, "output"), reply.body);
    });
  }

  test(`${name}: another merchant's user sees and changes nothing of this one`, async () => {
    const before = await examples.digest(world);
    const { status, body } = await other.send(name, input());

    const text = JSON.stringify(body);
    for (const own of [...values.secrets, '"matrix-merchant-admin@demo"'])
      assert.ok(!text.includes(own), `${own} in ${text}`);
    assert.ok(status < 500);
    // The path names something of another merchant, which does not exist for this user.
    if (scope === "merchant" && name.includes(":")) assert.equal(status, 404, name);
    if (scope === "merchant") assert.equal(await examples.digest(world), before);
    if (examples.ends(name)) await other.signIn("matrix-other@stranger", password);
  });
}

const half = "\ud800";
/** Hostile values, each of which resembles a valid value of some route. */
// biome-ignore format: a list
const hostile = [
  "", "0", "-1", "1e999", "NaN", "9223372036854775807", "9223372036854775808", "9999999999999999999", "9".repeat(60),
  "2030-02-31", "0000-00-00", "9999-99-99", "2030-02-31/file/x", "99999999999999-9223372036854775808", "99999999999999-9223372036854775807-999999",
  "999999999999999_ffffffff-ffff-ffff-ffff-ffffffffffff", "253402300799999", "\u0000", half, "%", "'; --", "__proto__", "../../x", "x".repeat(129),
  9_007_199_254_740_991, -1, 1.5, true, null, {}, [], [null], [["x"]],
];

test("no value of any field makes the gateway fail", async () => {
  const admin = browsers.get("admin") ?? assert.fail();
  let first = 0;
  for (const [name, { input }] of examples.routes) {
    if (examples.ends(name)) continue;
    first += 1;
    const good = examples.inputOf(name, values);
    const fields = Object.keys(input.json["properties"] ?? {});
    const all = fields.flatMap((field) =>
      // An address cannot contain half a character.
      hostile
        .filter((value) => value !== half || !name.includes(`:${field}`))
        .map((value) => ({ ...good, [field]: value })),
    );
    // The short run sends a sixteenth of the values, and begins with a different one at each route.
    const tries = isLongRun ? all : all.filter((_, index) => (index + first) % 16 === 0);
    for (let from = 0; from < tries.length; from += 8) {
      const batch = tries.slice(from, from + 8);
      const replies = await Promise.all(batch.map((each) => admin.send(name, each)));
      for (const [at, { status, body }] of replies.entries()) {
        // Only a few passwords are compared at a time, and the bank of a slow machine may be late.
        const isFine = status < 500 || ["busy", "bank_silent"].includes(body.error?.code ?? "");
        assert.ok(isFine, `${status}: ${name} ${JSON.stringify(batch[at])}`);
      }
    }
  }
});
