/** Users: to whom they belong, which names they may have, and how their accounts end. */
import assert from "node:assert/strict";
import { userInfo } from "node:os";
import { test } from "node:test";
import { endOfFile } from "../../support/end-of-file.ts";
import {
  addUser,
  codeAt,
  copyOrderRow,
  disableIdle,
  openBrowser,
  password,
  teamOf,
} from "../../support/operator/portal.ts";
import { readGw, runGw } from "../../support/programs.ts";
import { testInLongRun } from "../../support/series.ts";
import { startWorld } from "../../support/world.ts";

const minuteMs = 60_000;
const world = await startWorld(endOfFile);
await world.stranger();
await world.merchant().sale();
await world.settle();
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

test("merchants' users with the names of the gateway's accounts stop no command", async () => {
  const account = userInfo().username;
  const taken = [account, "tollgate", "backup"];
  const given = { role: "merchant-admin", merchant: "demo" };
  const made = [];
  for (const name of taken) made.push((await bob.act("user add", { name, ...given })).result.login);
  // No action makes a login like this, so the test writes it to the table.
  await query(
    `insert into users (login, role, merchant_id)
     select $1, 'merchant-viewer', id from merchants where login = 'demo'`,
    [account],
  );

  const ran = await runGw(world, "migrate", "--dry-run");
  await query("delete from users where login = $1", [account]);

  assert.deepEqual(made, [`${account}@demo`, "tollgate@demo", "backup@demo"]);
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
    const { status, error } = await mallory.act("user add", { name, role, merchant: "stranger" });

    assert.deepEqual([status, error?.code], [400, "invalid_input"]);
  });
}

test("each merchant may use a name once, in one spelling of its letters", async () => {
  const add = async (own: typeof bob, name: string, merchant: string) => {
    const { error, result } = await own.act("user add", { name, role, merchant });
    return error?.code ?? result.login;
  };

  assert.equal(await add(bob, "carl", "demo"), "carl@demo");
  assert.equal(await add(mallory, "carl", "stranger"), "carl@stranger");
  assert.equal(await add(bob, "carl", "demo"), "taken");
  assert.equal(await add(bob, "CARL", "demo"), "taken");
});

test("a merchant's user cannot become an operator, and an operator cannot become a merchant's user", async () => {
  const change = async (own: typeof ann, login: string, given: "admin" | typeof role) => {
    return (await own.act("user role", { login, role: given })).error?.code;
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

test("a user cannot change its own account where another administrator has to", async () => {
  const refused = await Promise.all([
    bob.act("user role", { login: "bob@demo", role }),
    bob.act("user disable", { login: "bob@demo" }),
    bob.act("user password", { login: "bob@demo" }),
    ann.act("user reset-factors", { login: "ann" }),
  ]);

  const told = refused.map(({ status, error }) => `${status} ${error?.code}`);
  assert.deepEqual(told, Array(4).fill("409 own_account"));
});

const act = (action: string, values: object) => ({ action, values, reason: "a test" });
// biome-ignore format: a table
const beyond: readonly (readonly [what: string, route: string, input: object])[] = [
  ["adds an operator",                        "POST /actions/run", act("user add", { name: "evil", role: "admin", merchant: "demo" })],
  ["adds a user of another merchant",         "POST /actions/run", act("user add", { name: "evil", role, merchant: "stranger" })],
  ["makes a user a program's account",        "POST /actions/run", act("user role", { login: "carl@demo", role: "service" })],
  ["gives another merchant's user a role",    "POST /actions/run", act("user role", { login: "mallory@stranger", role })],
  ["disables an operator",                    "POST /actions/run", act("user disable", { login: "ann" })],
  ["makes a password for an operator",        "POST /actions/run", act("user password", { login: "ann" })],
  ["makes a password for another merchant's", "POST /actions/run", act("user password", { login: "mallory@stranger" })],
  ["removes an operator's second factors",    "POST /actions/run", act("user reset-factors", { login: "ann" })],
  ["demands factors of another merchant",     "POST /actions/run", act("user demand-factor", { merchant: "stranger", demanded: "on" })],
  ["signs an operator out",                   "POST /actions/run", act("user end-session", { login: "ann" })],
  ["approves anything",                       "POST /actions/run", act("approval give", { id: "1" })],
];

const readUsers = () => query("select * from users order by id");

for (const [what, route, input] of beyond) {
  test(`refused: a merchant's administrator ${what}`, async () => {
    const before = await readUsers();

    const { status } = await bob.send(route, input);

    assert.ok([400, 404, 409].includes(status), `${status}`);
    assert.deepEqual(await readUsers(), before);
  });
}

test("a session that ended in the meantime is not found", async () => {
  const session = "0".repeat(32);

  const { error } = await bob.act("user end-session", { login: "carl@demo", session });

  assert.equal(error?.code, "not_found");
});

test("gw signs a user out of the portal, and shows until when a new password is valid", async () => {
  const own = await signedIn("nora", "admin");

  const ended = await readGw(world, "user", "end-session", "nora");
  const again = await runGw(world, "user", "end-session", "nora", "0".repeat(32));
  const made = Object(await readGw(world, "user", "password", "nora"));

  assert.deepEqual(ended, { login: "nora", "sessions ended": 1 });
  assert.equal(again.code, 2);
  assert.equal((await own.call("GET /session", {})).body.state, "out");
  const leftMs = made.expiresAt - Date.now();
  assert.ok(Math.abs(leftMs - 72 * 60 * minuteMs) < minuteMs, `${leftMs}`);
});

test("a removed user is signed out at once, and a new user of its name inherits nothing", async () => {
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

const guess = async (own: ReturnType<typeof browser>, login: string, times: number) => {
  for (let tried = 0; tried < times; tried += 1) await own.signIn(login, "a wrong guess");
};

test("each lock of a login lasts twice as long, counted separately for new and for known browsers", async () => {
  const login = await addUser(world, { login: "erin", role: "auditor" });
  const own = browser();
  await own.signIn(login);

  await guess(browser(), login, 10);
  world.clock.advance(30 * minuteMs);
  await guess(browser(), login, 10);
  world.clock.advance(30 * minuteMs);
  assert.equal(await browser().signIn(login), "too_many_tries", "the second lock lasts an hour");
  assert.equal(await own.signIn(login), "in", "a known browser is not locked by strangers");
  world.clock.advance(30 * minuteMs);
  assert.equal(await browser().signIn(login), "in");

  await guess(own, login, 10);
  assert.equal(await own.signIn(login), "too_many_tries", "a known browser has a count of its own");
  assert.equal(await browser().signIn(login), "in");
});

test("a changed cookie of a known browser counts as a new browser", async () => {
  const login = await addUser(world, { login: "gina", role: "auditor" });
  const { headers } = await browser().call("POST /sign-in", { login, password });
  const cookies = headers.getSetCookie().map((cookie) => cookie.split(";")[0] ?? "");
  const device = cookies.find((cookie) => cookie.includes("-device=")) ?? assert.fail();
  const signInWith = async (cookie: string, given: string) => {
    const own = { headers: { cookie } };
    const { body } = await browser().call("POST /sign-in", { login, password: given }, own);
    return body.error?.code;
  };

  for (let tried = 0; tried < 10; tried += 1) {
    await signInWith(`${device}.${tried}`, "a wrong guess");
  }

  assert.equal(await signInWith(`${device}.10`, password), "too_many_tries");
  assert.equal(await signInWith(device, password), undefined);
  // The attempts also count for the network, which the other tests share.
  world.clock.advance(30 * minuteMs);
});

test("an administrator's new password opens a locked login", async () => {
  const login = await addUser(world, { login: "frank", role: "auditor" });
  await guess(browser(), login, 10);
  assert.equal(await browser().signIn(login), "too_many_tries");

  await teamOf(world).enable(login, true);

  assert.equal(await browser().signIn(login), "in");
});

test("correct codes do not count, and wrong ones lock the code and not the password", async () => {
  const own = await signedIn("gwen", "admin");
  const { secret } = (await own.call("POST /totp/begin", { password })).body;
  const show = async (code: string) => {
    const next = browser();
    assert.equal(await next.signIn("gwen"), "second_factor");
    const { body } = await next.call("POST /sign-in/code", { code });
    return body.error?.code ?? body.state;
  };
  const right = () => {
    world.clock.advance(30_000);
    return codeAt(secret, world.clock.now());
  };
  await own.call("POST /totp/confirm", { code: codeAt(secret, world.clock.now()) });

  for (let times = 0; times < 11; times += 1) assert.equal(await show(right()), "in");
  for (let times = 0; times < 10; times += 1) assert.equal(await show("000000"), "wrong_code");

  assert.equal(await show(right()), "too_many_tries");
  world.clock.advance(30 * minuteMs);
  assert.equal(await show(right()), "in");
});

testInLongRun(
  "a password is none of the last ones, and its hashes are all that is kept",
  async () => {
    const own = await signedIn("hugo", "admin");
    const chosen = ["first", "second", "third", "fourth"].map((each) => `the ${each} phrase 7`);
    let current = password;
    const change = async (next: string) => {
      const { body } = await own.call("POST /password", { current, next });
      if (body.error === undefined) current = next;
      return body.error?.code ?? body.state;
    };
    for (const next of chosen) assert.equal(await change(next), "in");

    for (const next of chosen) assert.equal(await change(next), "weak_password");
    assert.equal(await change("the fifth phrase 7"), "in");
    assert.equal(await change("the sixth phrase 7"), "in");
    assert.equal(await change("the first phrase 7"), "in", "six passwords ago");
    const [row] = await query<{ text: string }>(
      "select users::text as text from users where login = 'hugo'",
    );
    assert.ok(!row?.text.includes("phrase"));
  },
);

test("the token from before the second factor is invalid after it", async () => {
  const own = await signedIn("lena", "admin");
  const { secret } = (await own.call("POST /totp/begin", { password })).body;
  await own.call("POST /totp/confirm", { code: codeAt(secret, world.clock.now()) });
  const [next, thief] = [browser(), browser()];
  await next.signIn("lena");
  for (const [name, value] of next.jar) thief.jar.set(name, value);

  world.clock.advance(30_000);
  await next.call("POST /sign-in/code", { code: codeAt(secret, world.clock.now()) });

  assert.equal((await next.call("GET /session", {})).body.state, "in");
  assert.equal((await thief.call("GET /session", {})).body.state, "out");
});

test("a merchant requires a second factor of its viewers, and not of other merchants' users", async () => {
  const viewers = await Promise.all(
    ["demo", "stranger"].map(async (merchant) => {
      const own = browser();
      await own.signIn(await addUser(world, { login: "nick", role, merchant }));
      return own;
    }),
  );
  await bob.signIn("bob@demo");
  await bob.act("user demand-factor", { demanded: "on", merchant: "demo" });

  const states = await Promise.all(
    viewers.map(async (own) => (await own.call("GET /session", {})).body.state),
  );
  await query("update merchants set demands_second_factor = false");

  assert.deepEqual(states, ["enrolment", "in"]);
});

test("the audit has each sign-in with its factor, each refusal and each sign-out", async () => {
  const login = await addUser(world, { login: "kim", role: "auditor" });
  const own = browser();
  await own.signIn(login, "a wrong guess");
  await own.signIn("a mistyped secret", "a wrong guess");
  await own.signIn(login);
  const { secret } = (await own.call("POST /totp/begin", { password })).body;
  await own.call("POST /totp/confirm", { code: codeAt(secret, world.clock.now()) });
  await own.call("POST /sign-out", {});
  await own.signIn(login);
  await own.call("POST /sign-in/code", { code: "000000" });
  world.clock.advance(30_000);
  await own.call("POST /sign-in/code", { code: codeAt(secret, world.clock.now()) });

  const written = await query<{ line: string }>(
    `select action || coalesce(' ' || (after ->> 'factor'), '') as line from audit
     where actor = $1 and origin like 'portal, %' order by seq`,
    [login],
  );
  assert.deepEqual(
    written.map(({ line }) => line),
    [
      ...["portal sign-in refused password", "portal sign-in password", "user totp on"],
      ...["portal sign-out", "portal password right", "portal sign-in refused code"],
      "portal sign-in code",
    ],
  );
  assert.equal((await query("select from audit where audit::text like '%mistyped%'")).length, 0);
  const signedInLines = world.logged.filter((line) => line.includes("portal.signed_in"));
  assert.equal(signedInLines.filter((line) => line.includes(`"${login}"`)).length, 2);
});

test("every part of an export is in the audit, and no part begins at an invented position", async () => {
  // The rows are more than a part of an export has.
  assert.equal(await copyOrderRow(world, 5000), 5000);
  await Promise.all([ann.signIn("ann"), bob.signIn("bob@demo")]);
  const part = (own: typeof ann, after?: string, status = ["approved"]) =>
    own.call("GET /exports/orders", { status, ...(after && { after }) });

  const { next = "" } = (await part(bob)).body;
  const second = (await part(bob, next)).body;
  const forged = await Promise.all([
    part(bob, next.replace(/~.*/, "")),
    part(bob, next.replace(/^\d/, "9")),
    part(bob, next, ["declined"]),
    part(ann, next),
  ]);

  assert.ok(second.rows > 0);
  for (const { status, body } of forged) {
    assert.deepEqual([status, body.error?.code], [400, "invalid_input"]);
  }
  const written = await query<{ from: string | null }>(
    `select after ->> 'after' as from from audit
     where action = 'portal order export' and actor = 'bob@demo' order by seq`,
  );
  assert.deepEqual(written, [{ from: null }, { from: next.replace(/~.*/, "") }]);
});

test("the metrics count refused sign-ins, new administrators and revealed secrets", async () => {
  await runGw(world, "merchant", "show", "demo", "--reveal");
  await runGw(world, "merchant", "control-key", "renew", "stranger");

  const metrics = await (await fetch(`http://127.0.0.1:${world.gateway.port}/metrics`)).text();

  for (const kind of ["sign_in_refused", "administrator_made", "secret_revealed"]) {
    assert.match(metrics, new RegExp(`^tollgate_audit_last_hour\\{kind="${kind}"\\} [1-9]`, "m"));
  }
  assert.match(metrics, /\{kind="secret_revealed"\} 2$/m, "a new control key is shown too");
});

test("users who have not used their account for 90 days are shown, and disabled if so configured", async () => {
  const login = await addUser(world, { login: "ida", role: "auditor" });
  await ann.signIn("ann");
  const isIdle = async () => {
    const { users } = (await ann.call("GET /users", {})).body;
    return users.filter((user) => user.isIdle).map((user) => user.login);
  };
  assert.ok(!(await isIdle()).includes(login));
  await query("update users set used_at = now() - interval '91 days' where login = $1", [login]);

  assert.ok((await isIdle()).includes(login));
  const listed = await runGw(world, "user", "list");
  assert.match(listed.printed, /^ida +auditor +idle/m);
  const checked = await runGw(world, "doctor");
  assert.match(checked.printed, /or set GW_USER_IDLE_DAYS: ida\./);
  await disableIdle(query, world.installation.audit, 90);
  assert.equal(await browser().signIn(login), "wrong_credentials");
});

test("the review of access shows each user with role, factors, last use and who added it", async () => {
  await ann.signIn("ann");
  const made = await ann.act("user add", { name: "petra", role: "finance" });
  assert.equal(made.status, 200);

  const rows = await readGw(world, "access-review");

  const of = (login: string) => Object(rows).find((row: { login: string }) => row.login === login);
  const { added, ...petra } = of("petra");
  assert.match(added, /^\d{4}-\d\d-\d\d$/);
  assert.deepEqual(petra, {
    login: "petra",
    role: "finance",
    merchant: "",
    state: "on",
    used: "never",
    factors: "password",
    "admitted by": "ann",
  });
  assert.equal(of("lena").factors, "password + app");
  assert.match(of("bob@demo").used, /^\d{4}-\d\d-\d\d$/);
});

test("the first command on the day of the admission counts as a use, of the person and the account", async () => {
  const account = userInfo().username;
  await addUser(world, { login: "chief", role: "admin" });
  await addUser(world, { login: account, role: "admin" });

  await runGw({ ...world, settings: { GW_USER: "chief" } }, "merchant", "list");
  const rows = await readGw(world, "access-review");
  for (const login of [account, "chief"]) await teamOf(world).remove(login);

  for (const login of [account, "chief"]) {
    const { used } = Object(rows).find((row: { login: string }) => row.login === login);
    assert.match(used, /^\d{4}-\d\d-\d\d$/, login);
  }
});

test("GW_USER gives no right that the account of the machine does not have", async () => {
  const account = userInfo().username;
  const as = (settings: Record<string, string>) => ({ ...world, settings });
  await addUser(world, { login: "boss", role: "admin" });
  const strange = await runGw(as({ GW_USERS_ONLY: "on", GW_USER: "boss" }), "user", "list");
  await addUser(world, { login: account, role: "support" });

  const boss = await runGw(as({ GW_USER: "boss" }), "user", "list");
  const own = await runGw(as({ GW_USERS_ONLY: "on", GW_USER: "boss" }), "merchant", "list");
  await teamOf(world).remove(account);

  assert.equal(strange.code, 3);
  assert.match(strange.complaint, new RegExp(`${account} is no user: GW_USERS_ONLY is on`));
  assert.equal(boss.code, 3);
  assert.match(boss.complaint, new RegExp(`role support of ${account} does not have the right`));
  assert.equal(own.code, 0, own.complaint);
});

test("an account of a program runs the gateway, and cannot sign in", async () => {
  const as = { ...world, settings: { GW_USER: "robot" } };
  const added = await readGw(world, "user", "add", "robot", "--role", "service");
  await addUser(world, { login: "olga", role: "admin" });
  const own = browser();
  await own.signIn("olga");
  await readGw(world, "user", "role", "olga", "--role", "service");

  assert.deepEqual(added, { login: "robot", role: "service" });
  assert.equal((await runGw(world, "user", "password", "robot")).code, 2);
  assert.equal((await runGw(as, "migrate", "--dry-run")).code, 0);
  assert.equal((await runGw(as, "merchant", "list")).code, 3);
  assert.equal((await own.call("GET /session", {})).body.state, "out");
  assert.equal(await browser().signIn("olga"), "wrong_credentials");
});

// This test is the last one, because it disables the administrators.
test("the last administrator is not disabled for being idle", async () => {
  const isOn = async () =>
    (await query("select from users where login = 'ann' and enabled")).length === 1;
  await query("update users set used_at = now() - interval '91 days' where role = 'admin'");

  await disableIdle(query, world.installation.audit, 90);
  assert.ok(await isOn());
  await addUser(world, { login: "jane", role: "admin" });
  await disableIdle(query, world.installation.audit, 90);
  assert.ok(!(await isOn()));
});
