/** A second person is independent: users cannot approve their own requests by another name. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Problem } from "../../values/problem.ts";
import { startDatabase } from "../testing/database-for-tests.ts";
import { giveApproval, takeApproval } from "./approvals.ts";
import { type Actor, makeAudit } from "./audit.ts";
import { makeUserAdministration } from "./users.ts";

const tables = await startDatabase();
after(() => tables.stop());
const auditAs = (actor: Actor) => makeAudit(tables.database, { actor });
const usersAs = (actor: Actor) => makeUserAdministration(auditAs(actor));

const portal = "portal, 10.0.0.1";
const root = { who: "root", from: "machine" };
const ann = { who: "ann", from: portal };
const dora = { who: "dora", from: portal };
/** The user runs `gw` from the machine's account of the same name, and from another account. */
const annByGw = { who: "ann", from: "machine" };
const annAsSam = { who: "ann", from: "sam@machine from 10.0.0.2" };
const doraAsSam = { who: "dora", from: "sam@machine" };
const doraAsAnn = { who: "dora", from: "ann@machine" };
const sam = { who: "sam", from: portal };
const samByGw = { who: "sam", from: "machine" };

type Change = (users: ReturnType<typeof makeUserAdministration>, login: string) => Promise<unknown>;
const enable: Change = (users, login) => users.enable(login, true);
const setRole: Change = (users, login) => users.setRole(login, "finance");
const setPassword: Change = (users, login) =>
  users.setPassword(login, { stored: "x", isTemporary: true });
const removeFactors: Change = (users, login) => users.removeFactors(login);
const add: Change = async (users, login) => {
  await usersAs(root).remove(login);
  await users.add(login, "admin");
};

type Case = {
  readonly asks?: Actor;
  readonly gives?: Actor;
  readonly change?: readonly [by: Actor, change: Change, whose: string];
  readonly isLater?: boolean;
  readonly byAccount?: boolean;
};

// biome-ignore format: a table
const cases: readonly (readonly [what: string, given: Case, isGiven: boolean])[] = [
  ["two users whom another person has added",             {},                                                     true],
  ["a user whom the asker has added",                     { change: [ann, add, "dora"] },                         false],
  ["a user whom the asker has enabled",                   { change: [ann, enable, "dora"] },                      false],
  ["a user whose role the asker has changed",             { change: [ann, setRole, "dora"] },                     false],
  ["a user whose password the asker has replaced",        { change: [ann, setPassword, "dora"] },                 false],
  ["a user whose factors the asker has removed",          { change: [ann, removeFactors, "dora"] },               false],
  ["a user who has added the asker",                      { change: [dora, add, "ann"] },                         false],
  ["a user whom another person has changed before",       { change: [root, setPassword, "dora"] },                true],
  ["a user whom another person has changed since",        { change: [root, setPassword, "dora"], isLater: true }, false],
  ["a user who has changed the own password since",       { change: [dora, setPassword, "dora"], isLater: true }, true],
  ["an asker whom another person has changed since",      { change: [root, setPassword, "ann"], isLater: true },  true],
  ["one account for two persons, where that is allowed",  { asks: annAsSam, gives: doraAsSam },                   true],
  ["one account for two persons, where it is one person", { asks: annAsSam, gives: doraAsSam, byAccount: true },  false],
  ["two accounts",                                        { asks: annByGw, gives: doraAsSam, byAccount: true },   true],
  ["the owner of the account that has asked",             { asks: annAsSam, gives: sam, byAccount: true },        false],
  ["an account of the asker in the portal",               { gives: doraAsAnn, byAccount: true },                  false],
  ["a user whom the asker's account has added",           { asks: annAsSam, change: [samByGw, add, "dora"], byAccount: true }, false],
  ["a user whom another name of the account has added",   { asks: annAsSam, change: [{ ...root, from: "sam@machine" }, add, "dora"], byAccount: true }, false],
];

for (const [what, given, isGiven] of cases) {
  test(`${what}: the approval is ${isGiven ? "given" : "refused"}`, async () => {
    const { asks = ann, gives = dora, change, isLater = false, byAccount = false } = given;
    for (const { who } of [ann, dora]) await usersAs(root).add(who, "admin");
    const changeNow = () => change?.[1](usersAs(change[0]), change[2]);
    const work = `work of ${what}`;
    if (!isLater) await changeNow();
    const sentence = await takeApproval(auditAs(asks), asks.who, { work, right: "operate" });
    const id = /number (\d+)/.exec(sentence ?? "")?.[1] ?? "";
    if (isLater) await changeNow();

    const done = await giveApproval(auditAs(gives), gives, { id, byAccount });

    assert.equal(done instanceof Problem ? false : done, isGiven);
    const taken = await takeApproval(auditAs(asks), asks.who, { work, right: "operate" });
    assert.equal(taken === undefined, isGiven);
    const [entry] = await tables.database.query<{ action: string }>(
      "select action from audit where subject = $1 and actor = $2 and action <> 'approval ask'",
      [work, gives.who],
    );
    assert.equal(entry?.action, isGiven ? "approval give" : "approval refused");
    // The next case begins with entries that are too old to count.
    await tables.database.query("update audit set at = at - interval '31 days'");
  });
}
