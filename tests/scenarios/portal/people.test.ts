/** People: whose users they are, what they may be called, and how their accounts end. */
import assert from "node:assert/strict";
import { userInfo } from "node:os";
import { test } from "node:test";
import { endOfFile } from "../../support/end-of-file.ts";
import { addUser, codeAt, openBrowser, password } from "../../support/operator/portal.ts";
import { readGw, runGw } from "../../support/programs.ts";
import { startWorld } from "../../support/world.ts";

const world = await startWorld(endOfFile);
await world.stranger();
const { query } = world.installation.database;
const browser = () => openBrowser(world.gateway);
const signedIn = async (login: string, role: "admin" | "merchant-admin", merchant?: string) => {
  const own = browser();
  const added = await addUser(world, { login, role, ...(merchant && { merchant }) });
  assert.equal(await own.signIn(added), "in");
  return own;
};
const ann = await signedIn("ann", "admin");
const bob = await signedIn("bob", "merchant-admin", "demo");
const mallory = await signedIn("mallory", "merchant-admin", "stranger");
const role = "merchant-viewer" as const;

test("a merchant's administrator who takes the names of the gateway's accounts stops no command", async () => {
  const account = userInfo().username;
  const added = [];
  for (const name of [account, "tollgate", "backup"]) {
    added.push((await bob.call("POST /users/add", { name, role: "merchant-admin" })).body.login);
  }
  // As a node of the version before would have stored it.
  await query(
    `insert into users (login, role, merchant_id)
     select $1, 'merchant-viewer', id from merchants where login = 'demo'`,
    [account],
  );

  const ran = await runGw(world, "migrate", "--dry-run");
  await query("delete from users where login = $1", [account]);

  assert.deepEqual(added, [`${account}@demo`, "tollgate@demo", "backup@demo"]);
  assert.equal(ran.code, 0, ran.complaint);
  const operator = await readGw(world, "user", "add", "tollgate", "--role", "support");
  assert.equal(Object(operator).login, "tollgate");
});

// biome-ignore format: a table
const names: readonly (readonly [what: string, name: string])[] = [
  ["with another merchant's login",        "bob@demo"],
  ["with an empty merchant",               "bob@"],
  ["of a Cyrillic look-alike",             "\u0442ollgate"],
  ["with a character that is not printed", "tollgate\u200b"],
  ["with a space",                         "tollgate "],
  ["of 41 characters",                     "t".repeat(41)],
  ["without a character",                  ""],
];

for (const [what, name] of names) {
  test(`a name ${what} is refused`, async () => {
    const { status, body } = await mallory.call("POST /users/add", { name, role });

    assert.deepEqual([status, body.error?.code], [400, "invalid_input"]);
  });
}

test("the same name may be used by each merchant once, in one case of its letters", async () => {
  const add = async (own: typeof bob, name: string) => {
    const { body } = await own.call("POST /users/add", { name, role });
    return body.error?.code ?? body.login;
  };

  assert.equal(await add(bob, "carl"), "carl@demo");
  assert.equal(await add(mallory, "carl"), "carl@stranger");
  assert.equal(await add(bob, "carl"), "taken");
  assert.equal(await add(bob, "CARL"), "taken");
});

test("no merchant's user becomes an operator, and no operator a merchant's user", async () => {
  const change = async (own: typeof ann, login: string, given: "admin" | typeof role) => {
    const { body } = await own.call("POST /users/role/:login", { login, role: given });
    return body.error?.code;
  };

  assert.equal(await change(bob, "carl@demo", "admin"), "invalid_input");
  assert.equal(await change(ann, "carl@demo", "admin"), "invalid_input");
  assert.equal(await change(ann, "tollgate", role), "invalid_input");
  const ran = await runGw(world, "user", "role", "carl@demo", "--role", "admin");
  assert.deepEqual([ran.code, ran.printed], [2, ""]);
  assert.match(ran.complaint, /Remove the user, and add a new one/);
  const rows = await query(
    "select role from users where login in ('carl@demo', 'tollgate') order by login",
  );
  assert.deepEqual(rows, [{ role }, { role: "support" }]);
});

test("a removed user is out at once, and a new one of its name has nothing of it", async () => {
  const own = await signedIn("dave", "admin");
  const { secret } = (await own.call("POST /totp/begin", { password })).body;
  await own.call("POST /totp/confirm", { code: codeAt(secret, world.clock.now()) });

  const removed = await runGw(world, "user", "remove", "dave", "--why", "left the company");

  assert.equal(removed.code, 0, removed.complaint);
  assert.equal((await own.call("GET /session", {})).body.state, "out");
  assert.equal(await browser().signIn("dave"), "wrong_credentials");
  assert.equal((await runGw(world, "user", "remove", "dave")).code, 2);
  await addUser(world, { login: "dave", role: "auditor" });
  assert.equal(await browser().signIn("dave"), "in");
});
