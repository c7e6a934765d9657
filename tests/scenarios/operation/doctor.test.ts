/** `gw doctor`: every check reports the fault that it is for, with advice. */
import assert from "node:assert/strict";
import { chmod, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { findFreePort } from "../../support/bank/results-balancer.ts";
import { makeAuthority, writeIdentity } from "../../support/bank/tls-line.ts";
import { startExternalServer } from "../../support/databases/database-pair.ts";
import { endOfFile } from "../../support/end-of-file.ts";
import { makeFolder } from "../../support/folder.ts";
import { type Changes, listChecks, makeLook, type Session } from "../../support/operator/doctor.ts";
import { runGw } from "../../support/programs.ts";
import { until } from "../../support/until.ts";
import { startWorld } from "../../support/world.ts";

const world = await startWorld(endOfFile);
const { installation, dataDir } = world;
const { query } = installation.database;
const look = makeLook(installation);
const production = { environment: "production", baseUrl: "https://pay.example" } as const;

test("a sound installation has no problems, and every check prints its line", async () => {
  const { printed, code } = await runGw(world, "doctor", "--json");
  const found: readonly Record<string, unknown>[] = JSON.parse(printed);

  // The server of the tests does not wait for the disk, and the doctor reports that.
  const unsound = found.filter(({ troubles }) => Array.isArray(troubles) && troubles.length > 0);
  const unsafe = unsound.filter(({ check }) => check === "durability");
  assert.deepEqual(unsound, unsafe);
  assert.equal(code, unsafe.length);
  assert.deepEqual(
    found.map(({ check }) => check),
    listChecks().map(({ name }) => name),
  );
  assert.match(
    await look("environment"),
    /warning GW_ENV is staging.*GW_BASE_URL is not an https/s,
  );
});

test("the documentation lists every check", async () => {
  const page = await readFile(join(import.meta.dirname, "../../../docs/monitoring.md"), "utf8");

  for (const { row } of listChecks()) assert.ok(page.includes(row), row);
});

test("an unusable file of IP countries is a problem, and a rule without data a warning", async () => {
  const { query } = installation.database;
  await query(
    `insert into screening_rules (kind, parameters, action)
     values ('countries', '{"compare":"issuer-ip"}', 'block')`,
  );
  const missing = await look("screening", { config: { ipCountryFile: "/none.mmdb" } });
  const without = await look("screening", { config: production });
  await query("delete from screening_rules");

  assert.match(missing, /\ntrouble It cannot be used: ENOENT/);
  assert.match(without, /\nwarning The rule \d+ does not fire, no data: set GW_IP_COUNTRY_FILE/);
  assert.equal(await look("screening"), "IP country file: none");
});

test("a database server's certificate that expires soon is reported", async (t) => {
  const port = await findFreePort();
  const authority = await makeAuthority("Database CA");
  const server = await startExternalServer(t, port, await authority.issue("db.example", 10));
  const databaseUrl = server.url.replace(/@.*:/, "@localhost:");

  const ending = await look("servers", { databaseUrl: `${databaseUrl}?sslmode=no-verify` });
  const plain = await look("servers", { databaseUrl: `${databaseUrl}?sslmode=disable` });

  assert.match(ending, /takes writes\nwarning The certificate of the .* expires in 9 days: renew/);
  assert.match(plain, /takes writes$/);
});

test("the doctor ends with 1 after a problem, and with 2 if it cannot check", async () => {
  const full = await runGw({ ...world, settings: { GW_DISK_FREE_MIB: "999999999" } }, "doctor");
  const blind = await runGw({ ...world, settings: { GW_PORT: "http" } }, "doctor");

  assert.match(full.printed, /trouble free disk space: \d+ MiB in .*\n +Make room/);
  assert.equal(full.code, 1);
  assert.match(blind.complaint, /GW_PORT must be a port/);
  assert.equal(blind.code, 2);
});

test("a shell without the settings of the installation gets a refusal, and neither data nor key", async (t) => {
  const folder = await makeFolder(t, "no-settings");
  const { databaseUrl } = installation;
  // Another installation's folder, and a database that has a key elsewhere.
  const places = [
    { installation: { databaseUrl: "" }, dataDir: join(folder, "data") },
    { installation: { databaseUrl: "" }, dataDir: folder },
    { installation: { databaseUrl }, dataDir: folder },
  ];

  for (const place of places) {
    for (const words of [["doctor"], ["merchant", "list"], ["key", "list"]]) {
      const { code, complaint } = await runGw(place, ...words);
      assert.match(
        complaint,
        /^There is no installation in \S+ \(GW_DATA_DIR\).*GW_ENV is staging/,
      );
      assert.equal(code, 2);
    }
    assert.equal((await runGw(place, "config")).code, 0);
  }
  assert.deepEqual(await readdir(folder), []);
});

test("a file of additional authorities that the service cannot use is reported", async () => {
  const authority = await makeAuthority("Root");
  const [file, empty] = [join(dataDir, "authorities.pem"), join(dataDir, "no-authority.pem")];
  await writeFile(file, authority.ca, { mode: 0o600 });
  await writeFile(empty, "-----BEGIN CERTIFICATE-----\nnone\n-----END CERTIFICATE-----\n");
  const lookWith = async (given: string) => {
    process.env["NODE_EXTRA_CA_CERTS"] = given;
    return look("authorities").finally(() => delete process.env["NODE_EXTRA_CA_CERTS"]);
  };

  const closed = await lookWith(file);
  await chmod(file, 0o640);

  assert.equal(await look("authorities"), "additional authorities: none");
  if (process.getuid?.() === 0) assert.match(closed, /\nwarning Root alone can read \S+\.pem:/);
  assert.equal(await lookWith(file), `additional authorities: ${file}`);
  const unusable = /\ntrouble NODE_EXTRA_CA_CERTS cannot be used/;
  assert.match(await lookWith(empty), /\ntrouble NODE_EXTRA_CA_CERTS .*\(it has no certificate\)/);
  assert.match(await lookWith(join(dataDir, "absent.pem")), unusable);
});

test("settings that endanger a production gateway are reported", async () => {
  const open = { ...production, host: "0.0.0.0" };

  // biome-ignore format: a table
  const rows: readonly (readonly [check: string, config: Changes["config"], said: RegExp])[] = [
    ["environment", open,                                        /trouble .*demonstration|trouble .*sandbox and/],
    ["environment", open,                                        /trouble GW_HOST is 0\.0\.0\.0.* set GW_TLS_CERTIFICATE_FILE/],
    ["embedded",    { ...production, databaseUrl: "" },          /trouble The embedded database .*GW_DATABASE_URL/],
    ["login",       { ...production, databaseUrl: "postgres:" }, /trouble Give the gateway a login .* no superuser/],
    ["gates",       production,                                  /trouble The gate \S+ leads to a sandbox: production has none/],
    ["ports",       { tlsCertificateFile: "tls.pem" },           /warning Set GW_ADMIN_PORT: everyone/],
    ["ports",       production,                                  /warning Set GW_ADMIN_PORT: production has/],
    ["readiness",   { ...production, adminPort: 1 },             /node: not running\ntrouble No node answers at http:\/\/127\.0\.0\.1:1\/health\/ready/],
    ["readiness",   { adminPort: 1 },                            /warning No node answers/],
    ["readiness",   { tlsCertificateFile: "tls.pem", adminPort: "" }, /warning Set GW_ADMIN_PORT, so that gw doctor can ask/],
    ["ports",       { ...production, adminPort: 9090, adminHost: "0.0.0.0" }, /trouble GW_ADMIN_HOST is 0\.0\.0\.0, and the world/],
    ["ports",       { ...production, adminPort: 9090, adminHost: "8.8.8.8" }, /trouble GW_ADMIN_HOST is 8\.8\.8\.8/],
    ["ports",       { adminPort: 9090, adminHost: "10.0.0.5" },  /^health and figures: GW_ADMIN_PORT$/],
    ["ports",       { portalUrl: "https://p.example", portalPort: 9443 }, /warning GW_PORTAL_URL has the port 443, and the portal listens on 9443/],
    ["ports",       { portalUrl: "https://p.example:9443", portalPort: 9443 }, /^health and figures: GW_PORT$/],
    ["retention",   { callbackKeepDays: 0, historyKeepMonths: 0, logKeepDays: 0 }, /GW_CALLBACK_KEEP_DAYS is 0.*GW_HISTORY_KEEP_MONTHS is 0.*GW_LOG_KEEP_DAYS is 0/s],
    ["audit heads", {},                                          /warning Set GW_AUDIT_HEAD_FILE/],
    ["users",       production,                                  /^users idle for 90 days: none$/],
    ["users",       { ...production, portalTriesMax: 11, portalLockMs: 60_000, portalIdleMs: 901_000 }, /GW_PORTAL_TRIES is above 10.*GW_PORTAL_LOCK_S is below 1800.*GW_PORTAL_IDLE_S is above 900/s],
    ["users",       { secondPerson: true },                      /warning Set GW_USERS_ONLY=on: without it, one person approves/],
    ["users",       { secondPerson: true, usersOnly: true },     /^users idle for 90 days: none$/],
    ["audit heads", { auditHeadFile: join(dataDir, "absent", "heads.log") }, /trouble GW_AUDIT_HEAD_FILE cannot be written by this user: ENOENT/],
    ["clock",       { clockSkewAlertMs: -1 },                    /trouble Synchronise the clocks/],
    ["disk",        { diskFreeMib: 999_999_999 },                /trouble Make room/],
    ["memory",      { workers: 1 },                              /^memory: \d+ MiB for 1 process$/],
    ["memory",      { workers: 1_000_000 },                      /warning Each takes up to 256 MiB: lower GW_WORKERS/],
    ["log",         { logFile: join(dataDir, "absent", "gateway.log") }, /trouble Make its folder writable/],
  ];
  for (const [check, config, said] of rows)
    assert.match(await look(check, { config }), said, check);
});

test("a variable that resembles a setting is reported with that setting", async () => {
  const settings = { GW_PROT: "8080", GW_MISSPELT_WHOLLY: "1" };
  const { printed } = await runGw({ ...world, settings }, "doctor");

  assert.match(printed, /warning unknown settings: .*GW_PROT/);
  assert.match(printed, /GW_PROT is no setting: did you mean GW_PORT\?/);
  assert.match(printed, /GW_MISSPELT_WHOLLY is no setting: see `gw config`/);
});

test("files that others can read or that expire soon are reported", async (t) => {
  const authority = await makeAuthority("Root");
  const soon = await writeIdentity(t, dataDir, "soon", await authority.issue("a", 9));
  const over = await writeIdentity(t, dataDir, "over", await authority.issue("b", -1));
  const config = {
    tlsCertificateFile: soon.certificate,
    tlsKeyFile: soon.key,
    resultsCertificateFile: over.certificate,
    resultsKeyFile: over.key,
  };
  const mixed = { ...config, tlsKeyFile: over.key };
  const folder = join(dataDir, "wide");
  await mkdir(folder);
  await chmod(folder, 0o777);
  await chmod(over.key, 0o644);

  const certificates = await look("certificates", { config });
  const permissions = await look("permissions", { config: { ...config, dataDir: folder } });

  assert.match(
    certificates,
    /warning .*merchant port \(GW_TLS_CERTIFICATE_FILE\) expires in [89] d/,
  );
  assert.match(certificates, /trouble .*results port .* has expired: renew it/);
  assert.match(
    await look("certificates", { config: mixed }),
    /trouble .*merchant port .* cannot be/,
  );
  const named = { tlsCertificateFile: soon.certificate, tlsKeyFile: soon.key };
  const misnamed = { ...named, baseUrl: "https://pay.example" };
  const uncovered = /trouble .*merchant port .* is not for pay\.example: get one that is/;
  assert.match(await look("certificates", { config: misnamed }), uncovered);
  const covered = { ...named, baseUrl: "https://localhost" };
  assert.doesNotMatch(await look("certificates", { config: covered }), /is not for/);
  assert.match(permissions, /trouble Others can read or change the key .*over\.key: chmod 600/);
  assert.doesNotMatch(permissions, /soon\.key/);
  assert.match(permissions, /trouble Others can write to .*wide: chmod go-w/);
  const key = { masterKeyFile: over.key };
  assert.match(await look("key", { config: key }), /trouble Others can read it: chmod 600/);
});

test("unreachable servers, unencrypted connections and a database that may lose orders are reported", async () => {
  const url = new URL(installation.databaseUrl);
  const two = installation.databaseUrl.replace(url.host, `${url.host},127.0.0.1:1`);

  assert.match(await look("servers", { databaseUrl: two }), /warning One of them cannot take over/);
  const durability = await installation.database.transaction(async (inside) => {
    await inside("set local synchronous_commit = off");
    return look("durability", { database: { ...installation.database, query: inside } });
  });
  assert.match(durability, /off\ntrouble Acknowledged orders can be lost/);
  assert.match(
    await look("cells", { unreachableCells: ["north"] }),
    /trouble The cell north is unreachable/,
  );
  const through = (answers: Session["database"]["query"]) => ({
    config: production,
    database: { ...installation.database, query: answers },
  });
  assert.match(await look("version", through(broken)), /warning It could not be checked/);
  const old = through(
    async () => [{ version: "PostgreSQL 14.1 on Linux", number: 140_001 }] as never,
  );
  assert.match(await look("version", old), /trouble PostgreSQL 15 or newer is needed/);
  const plain = through(async () => [{ isEncrypted: false, address: "10.0.0.7" }] as never);
  assert.match(await look("encryption", plain), /trouble Add sslmode=verify-full and sslrootcert/);
  const sure = through(async () => [{ isEncrypted: true, address: "10.0.0.7" }] as never);
  const pooled = (mode: string) =>
    look("encryption", { ...sure, databaseUrl: `postgres://gw@192.0.2.1/db${mode}` });
  assert.match(await pooled(""), /plain text, to a pooler\ntrouble Add sslmode=verify-full/);
  assert.equal(await pooled("?sslmode=verify-full"), "connection to the database: TLS");
  const allowed = { ...plain, config: { ...production, allow: "plain-database" } };
  assert.match(await look("encryption", allowed), /warning Add sslmode=verify-full/);
});

test("production refuses plain links and an audit without outside heads, unless it is allowed", async () => {
  const answers = async () => [{ isEncrypted: false, address: "10.0.0.7" }] as never;
  const node = { ...installation.databases.node, query: answers };
  const cells = { ...installation.cells, databasesOf: () => ({ node, vault: node }) };
  const lookWith = (allow: string) =>
    look("environment", { config: { ...production, allow }, cells });
  await query(`insert into gates (id, name, kind, settings)
    select (select max(id) + 1 from gates), 'line', kind,
      (settings::jsonb - 'sandbox')::json
    from gates where name = 'sandbox-binary'`);

  const refused = await lookWith("");
  const allowed = await lookWith("plain-database,plain-gates,local-audit");
  await query("delete from gates where name = 'line'");

  const refusals = [
    /trouble The gate line uses plain TCP: use --tls on, or add plain-gates to GW_ALLOW/,
    /trouble The database of the cell main is reached without TLS: .* add plain-database/,
    /trouble The database's owner could shorten the audit unnoticed: .* add local-audit/,
  ];
  for (const refusal of refusals) {
    assert.match(refused, refusal);
    assert.doesNotMatch(allowed, refusal);
  }
});

test("rights that no role of the gateway should have are reported", async () => {
  const role = "tollgate_gateway";
  await query("grant create on schema public to public");
  await query(`grant update on audit to ${role}`);

  const [open, audit] = [await look("public"), await look("audit rights")];
  await query("revoke create on schema public from public");
  await query(`revoke update on audit from ${role}`);

  assert.match(open, /trouble Another role .* run revoke create on schema public from public/);
  assert.match(audit, /can be changed by nodes.*trouble/s);
  assert.doesNotMatch(await look("public"), /trouble/);
  assert.doesNotMatch(await look("audit rights"), /trouble/);
});

test("neglected keys and entries are reported", async () => {
  await query(`insert into vault.wallet_keys (merchant_id, wallet, sealed, public_key, expires_at)
    values (1, 'walleta', '', '', now() + interval '3 days')`);
  await query(`insert into gate_zone_keys
      (gate_id, cipher, algorithm, mac_bytes, check_value, sealed, every_s, asked_at)
    select id, 'aes', 'cmac-aes', 8, '', '', 60, now() - interval '1 day'
    from gates where name = 'sandbox'`);
  await query(
    `update merchants set old_control_key = '', control_key_set_at = now() - interval '31 days'
    where login = $1`,
    [world.set.login],
  );
  await installation.audit.write({ action: "test", subject: "test" });
  await query("delete from audit_signatures where seq = (select seq from audit_head)");
  await query(
    "update audit set at = now() - interval '1 hour' where seq = (select seq from audit_head)",
  );

  assert.match(
    await look("wallet keys"),
    /warning The certificate of the walleta key \d+ expires in 2/,
  );
  assert.match(await look("mac keys"), /warning The host of sandbox delivers no keys/);
  assert.match(await look("control keys"), /warning The key of .* gw merchant control-key drop/);
  assert.match(await look("audit heads"), /warning The newest entry of the audit is not signed/);
  await query("delete from gate_zone_keys");
  await query("delete from vault.wallet_keys where sealed = ''");
  await query("update merchants set old_control_key = null");
});

test("keys that are older than their cryptoperiod are named, with what replaces them", async () => {
  assert.match(await look("keys"), /^keys, in days: cards 0 of 365, .*links 0, .*screening 0/);

  await query("update vault.keys set created_at = now() - interval '400 days'");
  const told = await look("keys");
  const unlimited = await look("keys", { config: { cryptoperiodDays: 0 } });
  await query("update vault.keys set created_at = now()");

  const advice = [
    ...[
      /key cards is 400 days old, .*: run gw key rotate\./,
      /key secrets is .*: run gw key rotate/,
    ],
    ...[
      /key fingerprints is .*: run gw key rotate --fingerprints/,
      /key held is .* is a node running/,
    ],
    /key key-encryption is .*: run gw key rewrap/,
  ];
  for (const each of advice) assert.match(told, each);
  assert.doesNotMatch(told, /key (?:webhooks|receipts|links|screening) is/);
  assert.doesNotMatch(unlimited, /key cards is/);
});

test("a directory server without TLS is a problem", async () => {
  await query(`insert into directory_servers (name, settings)
    select 'plain', settings - 'sandbox' || '{"url": "http://ds.example/"}' from directory_servers limit 1`);

  const found = await look("directories");
  await query("delete from directory_servers where name = 'plain'");

  assert.match(found, /trouble plain has an http:\/\/ address/);
  assert.match(found, /GW_RESULTS_URL is not set/);
});

test("orders in doubt and callbacks that are not accepted are reported", async () => {
  const order = await world.merchant().sale({ credit_card_number: noAnswer });
  await world.bank.waitForMessage({ mti: "0200" });
  await world.bank.setSwitches({ hostDown: true });
  await world.pass(installation.config.answerTimeoutMs + 1_000);
  await query(
    `insert into callbacks
       (merchant_id, order_id, sequence, serial, url, receiver, made_at, due_at, tries)
     values (101, $1, 99, $2, 'https://shop.example/a?b=word', 'shop.example', now(),
       now() - interval '1 hour', 4)`,
    [order["gw-order-id"], order["serial-number"]],
  );

  const [doubt, long] = [
    await look("doubt"),
    await look("doubt", { config: { doubtAlarmMs: -1e12 } }),
  ];
  const callbacks = await look("callbacks");
  await query("update callbacks set tries = 1 where sequence = 99");
  const failedOnce = await look("callbacks");
  await query("delete from callbacks where sequence = 99");
  await world.startHost();
  await world.pass(3_600_000);

  assert.match(doubt, /orders in doubt: 1\nwarning See gw doubt list/);
  assert.match(long, /trouble One has been so for longer than GW_DOUBT_ALARM_S/);
  assert.match(callbacks, /trouble 1 should have been sent five minutes ago/);
  assert.match(callbacks, /warning shop\.example has failed 3 times or more/);
  // The home screen of the portal counts it too.
  assert.match(failedOnce, /failed once or more and tried again: 1; receivers .*more: none\n/);
  assert.doesNotMatch(failedOnce, /warning/);
  assert.doesNotMatch(callbacks, /word/);
});

test("a Node that is not the pinned one is a problem in production", async () => {
  const { execPath } = process;
  const good = await look("node", { config: production });
  process.execPath = "/bin/sh";
  const found = await look("node", { config: production });
  process.execPath = execPath;

  assert.match(good, /^Node: v\d+\.\d+\.\d+, \S+$/);
  assert.match(found, /\ntrouble \/\S+sh is not the Node of tools\/node-checksums\.json/);
});

test("a clock that is not synchronised is reported, where the system knows", async () => {
  const folder = join(dataDir, "programs");
  await mkdir(folder);
  await writeFile(join(folder, "timedatectl"), "#!/bin/sh\necho no\n", { mode: 0o755 });
  const { PATH } = process.env;
  process.env["PATH"] = `${folder}:${PATH}`;

  const found = await look("time");
  process.env["PATH"] = "/nowhere";
  const unknown = await look("time");
  process.env["PATH"] = PATH;
  await rm(folder, { recursive: true });

  assert.match(found, /time synchronisation: off\nwarning Run chrony/);
  assert.match(unknown, /unknown\nwarning timedatectl gives no answer/);
});

const noAnswer = "4000004000000129";
const broken = () => Promise.reject(new Error("connection lost"));

test("the node of this machine is asked, and names the gates that are not signed on", async () => {
  const port = Number(new URL(world.gateway.url).port);
  const config = { ...production, port, adminPort: "" } as const;
  assert.equal(await look("readiness", { config }), "node: ready");

  await world.bank.setSwitches({ hostDown: true });
  const named = await until("the gate is missing", async () => {
    const found = await look("readiness", { config });
    return found.includes("trouble gate sandbox: not signed on") ? found : undefined;
  });
  assert.match(named, /^node: .*: not signed on; acquirer\.tls_failed and acquirer\.link_down/s);
});
