/**
 * Actions that need a second person: large returns, settled doubt, new keys, a colleague's factors.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { userInfo } from "node:os";
import { test } from "node:test";
import { endOfFile } from "../../support/end-of-file.ts";
import { addUser, codeAt, openBrowser, password, teamOf } from "../../support/operator/portal.ts";
import { readGw, runGw } from "../../support/programs.ts";
import { startWorld } from "../../support/world.ts";

const rule = { GW_SECOND_PERSON: "on", GW_SECOND_PERSON_ABOVE: "20", GW_KEY_GRACE_S: "0" };
const world = await startWorld(endOfFile, rule);
await world.stranger();
const as = (user: string) => ({ ...world, settings: { ...rule, GW_USER: user } });
const signedIn = async (login: string, role: "admin" | "merchant-admin" | "merchant-viewer") => {
  const browser = openBrowser(world.gateway);
  const [name = "", merchant] = login.split("@");
  await addUser(world, { login: name, role, ...(merchant && { merchant }) });
  assert.equal(await browser.signIn(login), "in");
  return browser;
};
const ann = await signedIn("ann", "admin");
const bob = await signedIn("bob@demo", "merchant-admin");
const carl = await signedIn("carl@demo", "merchant-admin");
const eve = await signedIn("eve@demo", "merchant-viewer");
const mallory = await signedIn("mallory@stranger", "merchant-admin");

const numberIn = (message = "") => /number (\d+)/.exec(message)?.[1] ?? "";
const paid = async (amount: string) => {
  const sale = await world.merchant().sale({ amount });
  await world.settle();
  return sale["gw-order-id"] ?? "";
};
const giveAs = async (browser: typeof ann, id: string) => {
  const { error, result } = await browser.act("approval give", { id });
  return error?.code ?? result.state;
};

test("a return of a large order waits for another person of the merchant, and is made once", async () => {
  const order = await paid("20.01");
  const refund = (amount = "5.00") =>
    bob.act("order return", { order, amount }, { once: randomUUID() });

  const first = await refund();
  const number = numberIn(first.error?.message);
  assert.equal(first.error?.code, "second_person");
  assert.equal(numberIn((await refund()).error?.message), number, "it is asked for once");
  assert.equal(await giveAs(bob, number), "not_found", "the person who asked");
  assert.equal(await giveAs(mallory, number), "not_found", "another merchant");
  assert.equal(await giveAs(eve, number), "not_found", "a role without the right");
  assert.equal((await refund()).error?.code, "second_person");
  assert.equal(await giveAs(carl, number), "given");

  assert.equal((await refund("6.00")).error?.code, "second_person", "another amount");
  assert.equal((await refund()).error, undefined);
  await world.settle();
  assert.equal((await refund()).error?.code, "second_person", "an approval counts once");
  const written = await world.installation.database.query<{ line: string }>(
    `select actor || ' ' || action as line from audit
     where subject = $1 and action like 'approval%' order by seq`,
    [`order return ${order} amount 5.00`],
  );
  assert.deepEqual(
    written.map(({ line }) => line),
    ["bob@demo approval ask", "carl@demo approval give", "bob@demo approval use"].concat(
      "bob@demo approval ask",
    ),
  );
});

test("a return of a small order needs no second person", async () => {
  const order = await paid("20.00");

  const { error } = await bob.act("order return", { order }, { once: randomUUID() });

  assert.equal(error, undefined);
});

test("a colleague's factors are removed by two persons", async () => {
  const { secret } = (await carl.call("POST /totp/begin", { password })).body;
  await carl.call("POST /totp/confirm", { code: codeAt(secret, world.clock.now()) });
  const reset = () => bob.act("user reset-factors", { login: "carl@demo" });

  const number = numberIn((await reset()).error?.message);
  const listed = (await ann.call("GET /approvals", {})).body.approvals;
  const own = listed.find(({ id }) => id === number);
  assert.deepEqual([own?.work, own?.isOwn], ["user reset-factors carl@demo", false]);
  assert.equal(await giveAs(ann, number), "given");

  assert.deepEqual((await reset()).result, { login: "carl@demo", factors: "none" });
});

test("a colleague's role is changed by two persons, of whom neither has admitted the other", async () => {
  const wanted = { name: "hal", role: "merchant-admin", merchant: "demo" };
  const made = (await bob.act("user add", wanted)).result;
  const hal = openBrowser(world.gateway);
  await hal.signIn(made.login, made.password);
  const next = "another long phrase 7";
  await hal.call("POST /password", { current: made.password, next });
  const change = () => bob.act("user role", { login: "eve@demo", role: "merchant-developer" });

  const number = numberIn((await change()).error?.message);
  assert.equal(await giveAs(hal, number), "refused");
  assert.equal((await change()).error?.code, "second_person");
  assert.equal(await giveAs(ann, number), "given");
  assert.deepEqual((await change()).result, { login: "eve@demo", role: "merchant-developer" });
});

test("an action that would be refused does not ask for an approval", async () => {
  const { database } = world.installation;
  const count = async () => (await database.query("select from approvals")).length;
  const before = await count();

  const own = await bob.act("user reset-factors", { login: "bob@demo" });
  const unknown = await runGw(as("ann"), "user", "role", "nobody", "--role", "admin");

  assert.equal(own.error?.code, "own_account");
  assert.match(unknown.complaint, /^There is no user nobody/);
  assert.equal(await count(), before);
});

test("gw settles doubt and rotates keys when another user has approved it", async () => {
  await addUser(world, { login: "dora", role: "admin" });
  const order = await paid("1.00");
  const works = [
    ["key", "rotate"],
    ["key", "rewrap"],
    ["doubt", "settle", order, "--as", "done", "--why", "told by the bank"],
  ];
  for (const words of works) {
    const refused = await runGw(as("ann"), ...words);
    const number = numberIn(refused.complaint);
    assert.equal(refused.code, 2);
    assert.notEqual(number, "");
    assert.equal((await runGw(as("ann"), "approval", "give", number)).code, 2);
    await readGw(as("dora"), "approval", "give", number);
  }

  const rotated = await runGw(as("ann"), "key", "rotate");
  const settled = await runGw(as("ann"), ...(works.at(-1) ?? []));

  assert.equal(rotated.code, 0, rotated.complaint);
  assert.match(settled.complaint, /doubt/);
  assert.doesNotMatch(settled.complaint, /second person/);
});

test("one account of the machine counts as one person if commands are for users only", async () => {
  const account = userInfo().username;
  const usersOnly = { ...rule, GW_USERS_ONLY: "on" };
  const alone = (user: string) => ({ ...world, settings: { ...usersOnly, GW_USER: user } });
  await addUser(world, { login: account, role: "admin" });
  const number = numberIn((await runGw(alone("ann"), "key", "rotate", "--anew")).complaint);

  const given = await runGw(alone("dora"), "approval", "give", number);

  assert.equal(given.code, 2);
  assert.match(given.complaint, /^A third person has to approve this/);
  await teamOf(world).remove(account);
});
