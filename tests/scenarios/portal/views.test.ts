/** Views of the list of orders that a team shares: the operators, or the users of one merchant. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { endOfFile } from "../../support/end-of-file.ts";
import { addUser, openBrowser } from "../../support/operator/portal.ts";
import { startWorld } from "../../support/world.ts";

const world = await startWorld(endOfFile);
await world.stranger();
const [ann, sue] = [
  await signedIn("ann", { role: "admin" }),
  await signedIn("sue", { role: "support" }),
];
const bob = await signedIn("bob", { role: "merchant-admin", merchant: "demo" });
const eve = await signedIn("eve", { role: "merchant-viewer", merchant: "demo" });
const other = await signedIn("ida", { role: "merchant-admin", merchant: "stranger" });

async function signedIn(login: string, user: Omit<Parameters<typeof addUser>[1], "login">) {
  const browser = openBrowser(world.gateway);
  await browser.signIn(await addUser(world, { login, ...user }));
  return browser;
}

const viewsOf = async (browser: typeof ann) => (await browser.call("GET /views", {})).body.views;
const namesOf = async (browser: typeof ann) => (await viewsOf(browser)).map(({ name }) => name);

test("a shared view is seen by the whole team and by no other, and is in the audit", async () => {
  await ann.call("POST /views/share", { name: "Refused", query: "status=declined" });
  await bob.call("POST /views/share", { name: "Euros", query: "currency=EUR&from=2030-01-31" });

  assert.deepEqual([await namesOf(ann), await namesOf(sue)], [["Refused"], ["Refused"]]);
  assert.deepEqual([await namesOf(bob), await namesOf(eve)], [["Euros"], ["Euros"]]);
  assert.deepEqual(await namesOf(other), []);
  const [euros] = await viewsOf(eve);
  const { status } = await other.call("POST /views/remove/:view", { view: euros?.view ?? "" });
  assert.equal(status, 404);
  const entries = await world.installation.database.query(
    "select actor, subject from audit where action = 'view share' order by seq",
  );
  assert.deepEqual(entries, [
    { actor: "ann", subject: "view Refused" },
    { actor: "bob@demo", subject: "view Euros" },
  ]);
});

test("the same filters are one view, which any member of the team with the right can remove", async () => {
  await sue.call("POST /views/share", { name: "Lost", query: "status=declined" });
  const [lost] = await viewsOf(ann);
  assert.deepEqual([lost?.name, lost?.sharedBy], ["Lost", "sue"]);

  const removed = await ann.call("POST /views/remove/:view", { view: lost?.view ?? "" });

  assert.equal(removed.status, 200);
  assert.deepEqual(await viewsOf(sue), []);
});

test("a search, which may name a person, is not shared", async () => {
  for (const query of ["search=doe", "status=declined&search=doe", "page=2"]) {
    const { status, body } = await ann.call("POST /views/share", { name: "Doe", query });
    assert.deepEqual([status, body.error?.code], [400, "invalid_input"], query);
  }
  assert.deepEqual(await viewsOf(ann), []);
});

test("a team shares at most fifty views", async () => {
  for (let count = 1; count <= 50; count += 1) {
    const shared = await bob.call("POST /views/share", {
      name: `View ${count}`,
      query: `endpoint=${count}`,
    });
    assert.equal(shared.status, count < 50 ? 200 : 409);
  }
  assert.equal((await viewsOf(eve)).length, 50);
});
