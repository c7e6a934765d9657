/** Users in the database: their logins, and the state of their sessions. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { asMerchantId } from "../../values/ids.ts";
import { asInstant, later, minutes } from "../../values/time.ts";
import { startDatabase } from "../testing/database-for-tests.ts";
import { makeSessionStore } from "./accounts.ts";
import { makeFactorStore } from "./second-factors.ts";
import { makeUserAdministration, reviewAccess } from "./users.ts";

const tables = await startDatabase();
after(() => tables.stop());
const { query } = tables.database;
await query("insert into merchants (id, login, name, control_key) values (1, 'acme', '', '')");
const [acme] = await query<{ id: string }>("select id from merchants where login = 'acme'");
const merchantId = asMerchantId(acme?.id ?? "");
const users = makeUserAdministration(tables.audit);
const now = asInstant(1_794_708_246_000);

test("a merchant's user has the merchant's login after its name", async () => {
  assert.equal(await users.add("tollgate", "merchant-admin", merchantId), "tollgate@acme");
  assert.equal(await users.add("tollgate", "admin"), "tollgate");
  assert.equal(await users.add("TOLLGATE", "admin"), undefined);
});

test("a merchant's user gets no operator's role, and the other way round", async () => {
  await users.setRole("tollgate@acme", "admin");
  await users.setRole("tollgate", "merchant-admin");

  const rows = await query("select login, role from users order by login");
  assert.deepEqual(rows, [
    { login: "tollgate", role: "admin" },
    { login: "tollgate@acme", role: "merchant-admin" },
  ]);
});

test("a review names the person who admitted each user", async () => {
  await query("insert into users (login, role) values ('unaudited', 'viewer')");

  const reviewed = await reviewAccess(query);

  assert.deepEqual(
    reviewed.map((row) => [row["login"], row["admitted by"]]),
    [
      ["tollgate", "a test"],
      ["tollgate@acme", "a test"],
      ["unaudited", "unknown"],
    ],
  );
});

test("a challenge for a passkey expires", async () => {
  const digest = Buffer.from("session");
  await query(
    `insert into portal_sessions (digest, user_id, began_at, seen_at, network, agent)
     select $1, id, to_timestamp($2::float8 / 1000), to_timestamp($2::float8 / 1000), '', ''
     from users where login = 'tollgate'`,
    [digest, now],
  );
  await query("update users set password = 'x'");
  const stored = { query, auditAs: () => tables.audit };
  // Codes and secrets are not used here.
  const factors = makeFactorStore(stored as unknown as Parameters<typeof makeFactorStore>[0]);
  const times = { idleMs: minutes(60), sessionMs: minutes(60), hashPassword: async () => "" };
  const sessions = makeSessionStore({ ...stored, ...times });
  const ends = later(now, minutes(5));

  await factors.setChallenge(digest, "a challenge", ends);

  assert.equal((await sessions.find(digest, asInstant(ends - 1)))?.challenge, "a challenge");
  assert.equal((await sessions.find(digest, ends))?.challenge, undefined);
});
