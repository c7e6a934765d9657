/** The audit is one chain over all changes, and every manipulation is detected. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { Secret } from "../../values/secret.ts";
import { makeAdministration } from "../configuration/administration.ts";
import { nodeRole, separateVault } from "../schema/database-roles.ts";
import type { Query } from "../server/database.ts";
import { openDatabase } from "../server/database.ts";
import { type DatabaseForTests, startDatabase } from "../testing/database-for-tests.ts";
import {
  type Audit,
  isOwnKey,
  listAuditKeys,
  makeAudit,
  openSigner,
  restoreText,
  type SignedHead,
  type Signer,
  signNewest,
} from "./audit.ts";
import { verifyAudit } from "./audit-verify.ts";

const actor = { who: "alice", from: "office", why: "a ticket" };
const mask = 0x5a;
const flip = (bytes: Uint8Array) => Buffer.from(bytes.map((byte) => byte ^ mask));
/** Replaces the vault. The secret must only not be stored in plain text here. */
const vault = {
  sealSecret: (secret: Secret<string>) => flip(Buffer.from(secret.reveal())),
  openSecret: (sealed: Uint8Array) => new Secret(flip(sealed).toString()),
};
let place: DatabaseForTests;
let audit: Audit;
const outside: SignedHead[] = [];

before(async () => {
  place = await startDatabase();
  const signer = await openSigner(place.database.query, vault);
  const publish = async (head: SignedHead) => void outside.push(head);
  audit = makeAudit(place.database, { actor, signer, publish });
  for (const n of [1, 2, 3]) await audit.write({ action: "gate set", subject: `gate ${n}` });
});
after(() => place.stop());

async function verify(heads: readonly SignedHead[] = outside) {
  const own = (key: Parameters<typeof isOwnKey>[0]) => isOwnKey(key, vault.openSecret);
  return verifyAudit(place.database.query, { outside: heads, isOwnKey: own });
}

test("a change has its entry with who, from where, what, before, after and why", async () => {
  const { createMerchant, setMerchant, enableMerchant } = makeAdministration(audit);
  const secret = randomBytes(20).toString("hex");

  const id = await createMerchant("acme", vault.sealSecret(new Secret(secret)), "main");
  await setMerchant(id, { commissions: true });
  await enableMerchant(id, false);

  const rows = await place.database.query<Readonly<Record<string, unknown>>>(
    `select action, actor, origin, reason, before, after from audit
     where subject = 'merchant acme' order by seq`,
  );
  const shop = { cell: "main", enabled: true, settings: {}, hasOldKey: false };
  const set = { ...shop, settings: { commissions: true } };
  const by = { actor: "alice", origin: "office", reason: "a ticket" };
  assert.deepEqual(rows, [
    { action: "merchant create", ...by, before: null, after: shop },
    { action: "merchant set", ...by, before: shop, after: set },
    { action: "merchant disable", ...by, before: set, after: { ...set, enabled: false } },
  ]);
  const all = await place.database.query<{ text: string }>("select audit::text as text from audit");
  assert.ok(all.every(({ text }) => !text.includes(secret)));
  assert.deepEqual((await verify()).findings, []);
});

test("a change that fails leaves no entry, and an entry that fails no change", async () => {
  const { createMerchant } = makeAdministration(audit);
  const { entries } = await verify();

  await assert.rejects(createMerchant("acme", Buffer.from("a"), "main"), /duplicate key/);
  await assert.rejects(
    audit.change(async (query, write) => {
      await query("insert into merchants (id, login, name, control_key) values (1, 'x', '', '')");
      await write({ action: "merchant create", subject: "merchant x" });
      throw new Error("no");
    }),
  );

  assert.equal((await verify()).entries, entries);
  const found = await place.database.query("select from merchants where login = 'x'");
  assert.equal(found.length, 0);
});

test("entries of concurrent changes are one chain", async () => {
  const { entries } = await verify();

  const names = Array.from({ length: 20 }, (_, index) => `gate ${index}`);
  await Promise.all(names.map((subject) => audit.write({ action: "gate set", subject })));

  const verified = await verify();
  assert.deepEqual(verified, { ...verified, entries: entries + 20, unsigned: 0, findings: [] });
});

/** Each row acts as the owner of the database, who may do everything except sign. */
// biome-ignore format: a table
const tamperings: readonly (readonly [what: string, sql: string, finding: RegExp])[] = [
  ["changes who did it",        "update audit set actor = 'mallory' where seq = 3",                                                         /The entry 3 or the one before it was changed/],
  ["changes what it was after", `update audit set after = '{"enabled":false}' where action = 'merchant create'`,                            /was changed/],
  ["changes the order of keys", "update audit set after = (after::jsonb)::json where action = 'merchant create'",                           /was changed/],
  ["deletes one",               "delete from audit where seq = 4",                                                                          /The entry 4 is missing/],
  ["deletes the first",         "delete from audit where seq = 1",                                                                          /The entry 1 is missing/],
  ["deletes several",           "delete from audit where seq between 3 and 5",                                                              /The entries 3 to 5 are missing/],
  ["inserts one before all",    "insert into audit (seq, at, actor, origin, action, subject, hash) values (0, now(), 'alice', '', 'gate set', '', '')",              /There is an entry before the first/],
  ["inserts one at the end",    "insert into audit (seq, at, actor, origin, action, subject, hash) select seq + 1, now(), 'a', '', 'b', '', sha256('c') from audit_head", /was changed/],
  ["swaps two",                 "update audit set seq = case seq when 3 then -4 else -3 end where seq in (3, 4); update audit set seq = -seq where seq < 0", /The entry 3 or the one before it was changed/],
  ["cuts the end off",          "delete from audit where seq > 5",                                                                          /The head names the entry \d+, and the last entry is 5/],
  ["cuts off and moves the head",       "delete from audit where seq > 5; update audit_head set seq = 5, hash = (select hash from audit where seq = 5)", /The entries 6 to \d+ are missing: their head was signed/],
  ["cuts off with signatures",   "delete from audit where seq > 5; delete from audit_signatures where seq > 5; update audit_head set seq = 5, hash = (select hash from audit where seq = 5)", /The entries 6 to \d+ are missing: their head was signed/],
  ["empties it",                "delete from audit; delete from audit_signatures; update audit_head set seq = 0, hash = ''",                /The entries 1 to \d+ are missing/],
  ["forges a signature",        "update audit_signatures set signature = decode(repeat('00', 64), 'hex') where seq = 4",                    /The signature of head 4 is wrong/],
  ["puts another key",          "update audit_keys set sealed = '\\x00'",                                                                   /The signing key 1 was not made by this installation/],
  ["removes the head",          "delete from audit_head",                                                                                   /The head of the audit is missing/],
];

for (const [what, sql, finding] of tamperings) {
  test(`an owner who ${what} is found out`, async () => {
    await undone(async (query) => {
      for (const statement of sql.split("; ")) await query(statement);
      const own = (key: Parameters<typeof isOwnKey>[0]) => isOwnKey(key, vault.openSecret);
      const { findings } = await verifyAudit(query, { outside, isOwnKey: own });

      assert.match(findings.join("\n"), finding);
    });
  });
}

test("a chain that the database's owner has hashed again does not fit the signatures", async () => {
  await undone(async (query) => {
    const actorOf = { who: "mallory", from: "elsewhere" };
    await query("delete from audit; ");
    await query("update audit_head set seq = 0, hash = ''");
    const forged = makeAudit({ transaction: (work) => work(query) }, { actor: actorOf });
    for (const subject of ["gate 1", "gate 2", "gate 3"]) {
      await forged.write({ action: "gate set", subject });
    }
    const { findings } = await verifyAudit(query, { outside });

    assert.match(findings.join("\n"), /The entry 2 is another than the one whose head was signed/);
  });
});

test("a signed restore explains the heads that it has lost", async () => {
  const highest = Math.max(...outside.map(({ seq }) => seq));
  const cut = `delete from audit where seq > 5; delete from audit_signatures where seq > 5;
    update audit_head set seq = 5, hash = (select hash from audit where seq = 5)`;
  const restore = async (query: Query, restoredAt: number, sign: Signer["signText"]) => {
    for (const statement of cut.split("; ")) await query(statement);
    const facts = { taken: "2026-11-16T12:00:00Z", manifest: "ab", auditSeq: 5, restoredAt };
    const after = { ...facts, signature: sign(restoreText(facts)).toString("base64") };
    const restored = makeAudit({ transaction: (work) => work(query) }, { actor });
    await restored.write({ action: "restore", subject: "installation", after });
    return verifyAudit(query, { outside });
  };
  const signer = await openSigner(place.database.query, vault);
  const later = Math.max(...outside.map(({ at }) => at)) + 1;

  await undone(async (query) => {
    const { findings, restores } = await restore(query, later, signer.signText);
    const lost = `The entries 6 to ${highest} of then were lost with it.`;
    assert.deepEqual(findings, []);
    assert.deepEqual(restores, [`alice restored the backup of 2026-11-16T12:00:00Z. ${lost}`]);
  });
  await undone(async (query) => {
    const { findings, restores } = await restore(query, later, () => Buffer.alloc(64));
    assert.match(findings.join("\n"), /The entry 6 is another than the one whose head was signed/);
    assert.deepEqual(restores, []);
  });
  await undone(async (query) => {
    const { findings } = await restore(query, later - 1, signer.signText);
    assert.match(findings.join("\n"), /are missing: their head was signed/);
  });
});

test("a head from outside without a valid signature proves nothing", async () => {
  const [head] = outside;
  assert.ok(head !== undefined);

  const { findings } = await verify([{ ...head, hash: "00".repeat(32) }]);

  assert.deepEqual(findings, [
    `The outside head ${head.seq} is not signed by a key of this installation.`,
  ]);
});

test("an entry that was written without the key is signed later", async () => {
  const unsigned = makeAudit(place.database, { actor });
  await unsigned.write({ action: "card show", subject: "card reference 1 of acme" });
  assert.equal((await verify()).unsigned, 1);

  const head = await signNewest(place.database, await openSigner(place.database.query, vault));

  assert.ok(head !== undefined);
  assert.deepEqual(await verify([head]), { ...(await verify([head])), unsigned: 0, findings: [] });
  const again = await openSigner(place.database.query, vault);
  assert.equal(await signNewest(place.database, again), undefined);
  assert.equal((await listAuditKeys(place.database.query)).length, 1);
});

test("the gateway's role adds entries, and can neither change nor delete them", async () => {
  assert.equal(await separateVault(place.database), undefined);
  const options = { poolSize: 1, connectTimeoutMs: 5_000, onLost: () => undefined };
  const node = openDatabase(place.url, { ...options, role: nodeRole });
  try {
    await makeAudit(node, { actor }).write({ action: "cards destroy", subject: "cards" });

    for (const table of ["audit", "audit_signatures", "audit_keys"]) {
      for (const sql of [`delete from ${table}`, `truncate ${table}`]) {
        await assert.rejects(node.query(sql), /permission denied/, sql);
      }
    }
    await assert.rejects(node.query("update audit set actor = 'x'"), /permission denied/);
    await assert.rejects(node.query("update audit_keys set sealed = ''"), /permission denied/);
    await assert.rejects(node.query("update audit_signatures set seq = 0"), /permission denied/);
  } finally {
    await node.close();
  }
  assert.deepEqual((await verify()).findings, []);
});

async function undone(work: (query: Query) => Promise<void>): Promise<void> {
  const undo = new Error("undone");
  await place.database
    .transaction(async (query) => {
      await work(query);
      throw undo;
    })
    .catch((error) => {
      if (error !== undo) throw error;
    });
}
