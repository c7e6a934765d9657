/** Signing in to the portal, staying signed in, and the protection from others. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { endOfFile } from "../../support/end-of-file.ts";
import { addUser, codeAt, openBrowser, password, teamOf } from "../../support/operator/portal.ts";
import { startWorld } from "../../support/world.ts";

const minuteMs = 60_000;
const world = await startWorld(endOfFile);
const browser = () => openBrowser(world.gateway);
let users = 0;
const newUser = async (role: "admin" | "merchant-viewer" = "admin", isTemporary = false) => {
  const merchant = role === "admin" ? {} : { merchant: "demo" };
  return addUser(world, { login: `user-${++users}`, role, ...merchant, isTemporary });
};

test("a user signs in, gets the list of its rights, and signs out", async () => {
  const login = await newUser("merchant-viewer");
  const user = { login, role: "merchant-viewer", merchant: "demo", rights: ["see_orders"] };
  const own = browser();

  assert.equal(await own.signIn(login), "in");
  const { body, headers } = await own.call("GET /session", {});
  assert.deepEqual(body.user, user);
  assert.match(headers.get("cache-control") ?? "", /no-store/);
  await own.call("POST /sign-out", {});

  assert.equal((await own.call("GET /session", {})).body.state, "out");
});

test("a wrong password and an unknown login are answered alike", async () => {
  const login = await newUser();

  const replies = [
    await browser().call("POST /sign-in", { login, password: "a wrong test phrase" }),
    await browser().call("POST /sign-in", { login: "nobody-1", password }),
  ];

  assert.deepEqual(
    replies.map(({ status }) => status),
    [401, 401],
  );
  assert.deepEqual(replies[0]?.body, replies[1]?.body);
});

test("neither scripts nor other sites get the cookie, and its text is nowhere in the database", async () => {
  const own = browser();
  const { headers } = await own.call("POST /sign-in", { login: await newUser(), password });

  assert.match(headers.getSetCookie()[0] ?? "", /^tollgate-session=.*; HttpOnly; SameSite=Strict/);
  const token = own.jar.get("tollgate-session") ?? "";
  const stored = await world.installation.database.query<{ row: string }>(
    "select portal_sessions::text as row from portal_sessions",
  );
  assert.ok(token.length === 43 && stored.length > 0);
  assert.ok(stored.every(({ row }) => !row.includes(token)));
});

// biome-ignore format: a table
const foreign: readonly (readonly [what: string, headers: Record<string, string>])[] = [
  ["of another origin",                    { origin: "https://evil.example" }],
  ["of another port of this host",         { origin: "http://127.0.0.1:1" }],
  ["of a host that a proxy passes on",     { origin: "http://evil.example", host: "evil.example" }],
  ["that the browser calls cross-site",    { "sec-fetch-site": "cross-site" }],
  ["of a sandboxed frame",                 { origin: "null" }],
];

for (const [what, headers] of foreign) {
  test(`a change ${what} is refused`, async () => {
    const own = browser();
    await own.signIn(await newUser());

    const { status, body } = await own.call("POST /sign-out", {}, { headers });

    assert.deepEqual([status, body.error?.code], [403, "foreign_origin"]);
    assert.equal((await own.call("GET /session", {})).body.state, "in");
  });
}

test("a form of another site, which cannot send the header, is refused", async () => {
  const own = browser();
  await own.signIn(await newUser());
  const cookie = [...own.jar].map(([key, value]) => `${key}=${value}`).join("; ");

  const url = `http://127.0.0.1:${world.gateway.port}/portal/api/sign-out`;
  const { status } = await fetch(url, { method: "POST", headers: { cookie }, body: "{}" });

  assert.equal(status, 403);
});

test("a session ends after fifteen minutes without a request, and polls do not count", async () => {
  const own = browser();
  await own.signIn(await newUser());

  world.clock.advance(14 * minuteMs);
  assert.equal((await own.call("GET /session", {})).body.state, "in");
  world.clock.advance(14 * minuteMs);
  const poll = { headers: { "x-portal-poll": "1" } };
  assert.equal((await own.call("GET /session", {}, poll)).body.state, "in");
  world.clock.advance(minuteMs);

  assert.equal((await own.call("GET /session", {}, poll)).body.state, "out");
});

test("a busy session ends after twelve hours", async () => {
  const own = browser();
  await own.signIn(await newUser());

  for (let minutes = 0; minutes < 12 * 60 - 10; minutes += 10) {
    world.clock.advance(10 * minuteMs);
    assert.equal((await own.call("GET /session", {})).body.state, "in");
  }
  world.clock.advance(10 * minuteMs);

  assert.equal((await own.call("GET /session", {})).body.state, "out");
});

test("a user sees where it is signed in, and ends a session elsewhere", async () => {
  const login = await newUser();
  const [here, elsewhere] = [browser(), browser()];
  await here.signIn(login);
  await elsewhere.signIn(login);

  const { sessions } = (await here.call("GET /sessions", {})).body;
  const other = sessions.find(({ isThis }) => !isThis)?.id ?? "";
  const { body } = await here.call("POST /sessions/revoke/:session", { session: other });

  assert.deepEqual([sessions.length, body.done], [2, true]);
  assert.equal((await elsewhere.call("GET /session", {})).body.state, "out");
  assert.equal((await here.call("GET /session", {})).body.state, "in");
});

test("a user cannot end a session of another user", async () => {
  const [own, other] = [browser(), browser()];
  await own.signIn(await newUser());
  await other.signIn(await newUser());
  const [session] = (await other.call("GET /sessions", {})).body.sessions;

  const { body } = await own.call("POST /sessions/revoke/:session", { session: session?.id ?? "" });

  assert.equal(body.done, false);
  assert.equal((await other.call("GET /session", {})).body.state, "in");
});

test("attempts above the limits leave nothing in the database", async () => {
  const login = await newUser();
  // A job may delete expired rows of earlier tests at any moment.
  const count = async () => {
    const [row] = await world.installation.database.query<{ rows: number; sum: number }>(
      `select count(*)::int as rows, sum(tries)::int as sum from sign_in_tries
       where expires_at >= to_timestamp($1::float8 / 1000)`,
      [world.clock.now()],
    );
    return row;
  };
  for (let tried = 0; tried < 10; tried += 1) await browser().signIn(login, "a wrong guess");
  const full = await count();

  for (let tried = 0; tried < 3; tried += 1) {
    assert.equal(await browser().signIn(login, "a wrong guess"), "too_many_tries");
  }
  assert.deepEqual(await count(), full);
  world.clock.advance(30 * minuteMs);
  assert.equal(await browser().signIn(login), "in");
});

// biome-ignore format: a table
const malformed: readonly (readonly [what: string, name: string, input: object])[] = [
  ["a login with a character that is none", "POST /sign-in",           { login: "a\0b", password }],
  ["a passkey without an answer",           "POST /passkeys/confirm",  { name: "key", response: {} }],
  ["a passkey with a list as its answer",   "POST /passkeys/confirm",  { name: "key", response: [1] }],
  ["a passkey of wrong types",              "POST /passkeys/confirm",  { name: "key", response: { id: 1, rawId: 2, type: "public-key", response: { clientDataJSON: 3, attestationObject: {}, transports: "usb" } } }],
  ["a passkey that shows nothing",          "POST /sign-in/passkey",   { response: { id: { toString: 1 }, response: null } }],
  ["a body that is no object",              "POST /password",          ["a"]],
];

test("malformed input is refused, and never an error of the gateway", async () => {
  const own = browser();
  await own.signIn(await newUser());
  for (const [what, name, input] of malformed) {
    await own.call("POST /passkeys/begin", { password });
    const { status } = await own.send(name, input);
    assert.ok([400, 401].includes(status), `${what}: ${status}`);
  }
});

test("a disabled user is signed out at once", async () => {
  const login = await newUser();
  const own = browser();
  await own.signIn(login);

  const disable = "update users set enabled = false where login = $1";
  await world.installation.database.query(disable, [login]);

  assert.equal((await own.call("GET /session", {})).body.state, "out");
  assert.equal(await browser().signIn(login), "wrong_credentials");
});

test("a user has to sign in again after another person changed its role, factors or state", async () => {
  const login = await newUser();
  const own = browser();
  const team = teamOf(world);
  const changes = [
    () => team.setRole(login, "support"),
    () => team.removeFactors(login),
    () => team.enable(login, false).then(() => team.enable(login, true)),
  ];
  for (const change of changes) {
    await own.signIn(login);
    await change();
    assert.equal((await own.call("GET /session", {})).body.state, "out");
  }
});

test("a user can guess no more passwords of others than a stranger", async () => {
  const [own, login] = [browser(), await newUser()];
  const codes: string[] = [];
  for (let tried = 0; tried < 31; tried += 1) {
    codes.push(await browser().signIn(`other-${tried}`, "a wrong guess"));
    if (tried % 10 === 0) {
      own.jar.clear();
      await own.signIn(login);
    }
  }
  world.clock.advance(30 * minuteMs);

  assert.equal(codes.at(-1), "too_many_tries");
});

test("an authenticator app is not replaced by another one without the password", async () => {
  const own = browser();
  await own.signIn(await newUser());
  const { secret } = (await own.call("POST /totp/begin", { password })).body;
  await own.call("POST /totp/confirm", { code: codeAt(secret, world.clock.now()) });

  const { body } = await own.call("POST /totp/begin", { password });

  assert.deepEqual([body.error?.code, body.secret], ["has_app", undefined]);
});

test("a temporary password only allows its replacement, which ends other sessions", async () => {
  const login = await newUser("admin", true);
  const [own, other] = [browser(), browser()];
  await other.signIn(login);
  assert.equal(await own.signIn(login), "new_password");

  assert.equal((await own.call("GET /sessions", {})).body.error?.code, "new_password");
  const tries = ["short", password, "another long phrase 7"].map((next) => ({
    current: password,
    next,
  }));
  const codes = [];
  for (const each of tries) {
    const { body } = await own.call("POST /password", each);
    codes.push(body.error?.code ?? body.state);
  }

  assert.deepEqual(codes, ["weak_password", "weak_password", "in"]);
  assert.equal((await other.call("GET /session", {})).body.state, "out");
  assert.equal(await browser().signIn(login), "wrong_credentials");
});

test("codes of an app are turned on, required and accepted once, and recovery codes replace them", async () => {
  const login = await newUser();
  const own = browser();
  await own.signIn(login);
  const { secret } = (await own.call("POST /totp/begin", { password })).body;
  const codeNow = () => codeAt(secret, world.clock.now());
  const first = codeNow();
  const { recoveryCodes } = (await own.call("POST /totp/confirm", { code: first })).body;

  const next = browser();
  assert.equal(await next.signIn(login), "second_factor");
  assert.equal((await next.call("GET /sessions", {})).body.error?.code, "second_factor");
  const show = async (code: string, at = next) => {
    const { body } = await at.call("POST /sign-in/code", { code });
    return body.error?.code ?? body.state;
  };
  assert.equal(await show(first), "wrong_code", "the code that turned it on");
  world.clock.advance(30_000);
  const second = codeNow();
  assert.equal(await show(second), "in");

  const third = browser();
  await third.signIn(login);
  assert.equal(await show(second, third), "wrong_code", "a code that was used");
  assert.equal(await show(recoveryCodes[0] ?? "", third), "in");
  const fourth = browser();
  await fourth.signIn(login);
  assert.equal(await show(recoveryCodes[0] ?? "", fourth), "wrong_code", "a recovery code again");
  const rows = await world.installation.database.query<{ row: string }>(
    "select users::text as row from users where login = $1",
    [login],
  );
  assert.ok(!rows[0]?.row.includes(secret) && !rows[0]?.row.includes(recoveryCodes[1] ?? "-"));
});

test("a user with the password cannot try all codes", async () => {
  const login = await newUser();
  const own = browser();
  await own.signIn(login);
  const { secret } = (await own.call("POST /totp/begin", { password })).body;
  const code = codeAt(secret, world.clock.now());
  await own.call("POST /totp/confirm", { code });

  const codes: (string | undefined)[] = [];
  for (let tried = 0; tried < 12; tried += 1) {
    const attacker = browser();
    await attacker.signIn(login);
    codes.push((await attacker.call("POST /sign-in/code", { code: "000000" })).body.error?.code);
  }

  assert.equal(codes.at(-1), "too_many_tries");
  const refused = world.logged.filter((line) => line.includes("portal.sign_in_refused"));
  assert.ok(refused.some((line) => line.includes(`"${login}"`)));
});

test("a stranger's guesses lock strangers out for half an hour, and not the user's own browser", async () => {
  const login = await newUser();
  const own = browser();
  await own.signIn(login);
  await own.call("POST /sign-out", {});

  for (let tried = 0; tried < 10; tried += 1)
    await browser().signIn(login, `a wrong guess ${tried}`);

  assert.equal(await browser().signIn(login), "too_many_tries");
  assert.equal(await own.signIn(login), "in");
  world.clock.advance(30 * minuteMs);
  assert.equal(await browser().signIn(login), "in");
});

test("in production, roles that see settings or move money need a second factor", async () => {
  const proxied = { environment: "production", trustedProxies: "127.0.0.1/32" } as const;
  const node = await world.otherNode("production", proxied);
  const from = { "x-forwarded-for": "192.0.2.7" };
  const [admin, viewer] = [openBrowser(node, from), openBrowser(node, from)];

  assert.equal(await viewer.signIn(await newUser("merchant-viewer")), "in");
  assert.equal(await admin.signIn(await newUser("admin")), "enrolment");
  assert.equal((await admin.call("GET /sessions", {})).body.error?.code, "enrolment");
  const { secret } = (await admin.call("POST /totp/begin", { password })).body;
  const code = codeAt(secret, world.clock.now());
  await admin.call("POST /totp/confirm", { code });

  assert.equal((await admin.call("GET /sessions", {})).status, 200);
});

test("every change of an account is in the audit, without a secret", async () => {
  const login = await newUser();
  const own = browser();
  await own.signIn(login);
  const { secret } = (await own.call("POST /totp/begin", { password })).body;
  const code = codeAt(secret, world.clock.now());
  await own.call("POST /totp/confirm", { code });
  await own.call("POST /password", { current: password, next: "another long phrase 7" });

  const rows = await world.installation.database.query<{ action: string; row: string }>(
    "select action, audit::text as row from audit where actor = $1 order by seq",
    [login],
  );
  assert.deepEqual(
    rows.map(({ action }) => action),
    ["portal sign-in", "user totp on", "user password"],
  );
  assert.ok(rows.every(({ row }) => !row.includes(secret) && !row.includes("phrase")));
});

test("an administrator's new password ends the lock of a known browser", async () => {
  const [login, own, administrator] = [await newUser(), browser(), browser()];
  await own.signIn(login);
  for (let tried = 0; tried < 10; tried += 1) await own.signIn(login, "a wrong guess");
  assert.equal(await own.signIn(login), "too_many_tries");
  await administrator.signIn(await newUser());

  const made = (await administrator.act("user password", { login })).result;

  assert.equal(await own.signIn(login, made.password), "new_password");
  const next = "another long phrase 7";
  await own.call("POST /password", { current: made.password, next });
  await own.call("POST /sign-out", {});
  assert.equal(await own.signIn(login, next), "in");
});

test("a portal that is not built says so, and every answer has a strict policy", async () => {
  for (const path of ["/portal/", "/portal/orders", "/portal/orders/1"]) {
    const answer = await fetch(`http://127.0.0.1:${world.gateway.port}${path}`);
    const policy = answer.headers.get("content-security-policy") ?? "";
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self' 'nonce-/);
    assert.equal(answer.headers.get("cache-control"), "no-store");
  }
  for (const path of [
    "/portal/api/none",
    "/portal/assets/..%2Findex.html",
    "/portal/assets/no.js",
  ]) {
    assert.equal((await fetch(`http://127.0.0.1:${world.gateway.port}${path}`)).status, 404);
  }
});

// This test is the last one, because the database's clock, which counts the three days, stays
// changed.
test("a temporary password that is not replaced in three days opens nothing", async () => {
  const login = await newUser("admin", true);
  assert.equal(await browser().signIn(login), "new_password");

  world.clock.advance(72 * 60 * minuteMs);

  assert.equal(await browser().signIn(login), "password_expired");
  assert.equal(await browser().signIn(login, "a wrong guess"), "wrong_credentials");
});
