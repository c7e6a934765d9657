/**
 * Actions in the portal: the same work, checks and audit as those of `gw`, for users of the right
 * role and merchant, without access to the gateway's disk.
 */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { dayOf, fetchSettlement } from "../../support/bank/settlement.ts";
import { endOfFile } from "../../support/end-of-file.ts";
import { changing, type Values, writeExampleFiles } from "../../support/operator/command-table.ts";
import { addUser, type Browser, openBrowser } from "../../support/operator/portal.ts";
import {
  makePortalActions,
  nameIn,
  offered,
  type Request,
  requestOf,
} from "../../support/operator/portal-actions.ts";
import { hasRight, type Role, roles } from "../../support/operator/portal-routes.ts";
import { isLongRun } from "../../support/series.ts";
import { until } from "../../support/until.ts";
import { startWorld } from "../../support/world.ts";

const world = await startWorld(endOfFile, { GW_PORTAL_INDEX_EVERY_S: "1", GW_KEY_GRACE_S: "0" });
const stranger = await world.stranger();
const { publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
await writeExampleFiles(
  world.dataDir,
  publicKey.export({ format: "pem", type: "spki" }).toString(),
);
const plain = world.set.endpoints["plain"] ?? "";
const values: Values = new Map([
  ["folder", world.dataDir],
  ["bank", world.bank.tlsFolder],
  ["endpoint", plain],
]);
const ann = await signedIn("ann", "admin");
const bob = await signedIn("bob", "merchant-admin", "demo");
const mallory = await signedIn("mallory", "merchant-admin", "stranger");
const linkTo = (endpoint: string, more: Request["values"] = {}): Request => ({
  action: "link create",
  values: { endpoint, amount: "12.50", currency: "USD", ...more },
});
/** Skips a test while its commands are not actions yet. */
const needs = (...actions: string[]) => ({ skip: !actions.every((each) => offered.has(each)) });

async function signedIn(login: string, role: Role, merchant?: string): Promise<Browser> {
  const browser = openBrowser(world.gateway);
  const added = await addUser(world, { login, role, ...(merchant && { merchant }) });
  assert.equal(await browser.signIn(added), "in");
  return browser;
}

type Entry = Readonly<Record<"action" | "actor" | "origin" | "reason", string>>;
const readEntries = () =>
  world.installation.database.query<Entry>(
    "select action, actor, origin, reason from audit order by seq",
  );
const run = (browser: Browser, request: Request) =>
  browser.call("POST /actions/run", { reason: "the test", ...request });

/** Waits for the end of an action that is answered when it has begun, because it may take hours. */
const untilEnded = (path: string) =>
  until(`${path} has ended`, async () =>
    (await readEntries()).find(({ action }) => action === `${path} ended`),
  );

/** Actions whose examples name something that does not exist. */
const namesNothing = [
  ...["reconcile", "approval give", "doubt ask", "doubt settle", "callback resend"],
  "chargeback decide",
];

for (const example of changing.filter((each) => offered.has(nameIn(each)))) {
  test(`${example.path}: a preview changes nothing, and the action does what gw does`, async () => {
    const request = await requestOf(example, values);
    const before = await readEntries();

    const tried = await ann.call("POST /actions/preview", request);
    assert.deepEqual(await readEntries(), before);
    const done = await run(ann, request);

    const text = `${JSON.stringify(tried.body)} ${JSON.stringify(done.body)}`;
    const { duration, mode } = offered.get(nameIn(example)) ?? {};
    // An action of several transactions has no preview.
    const isChange = mode === "change" || example.path.includes(" --");
    const isTried = isChange && duration === undefined;
    if (example.isRefused) {
      const refusal = namesNothing.includes(example.path) ? 404 : 409;
      return assert.deepEqual(
        [done.status, tried.status],
        [refusal, isTried ? refusal : 200],
        text,
      );
    }
    assert.deepEqual([tried.status, done.status], [200, 200], text);
    if (duration === "hours") await untilEnded(example.path);
    const written = (await readEntries()).slice(before.length);
    assert.ok(written.length > 0);
    for (const { actor, origin, reason } of written) {
      assert.deepEqual([actor, reason], ["ann", "the test"]);
      assert.match(origin, /^portal, 127\.0\.0\.1/);
    }
    assert.deepEqual(
      tried.body.changes.map(({ action }) => action),
      isTried ? written.map(({ action }) => action) : [],
    );
    const [name, field] = example.keep ?? ["", ""];
    if (name !== "") values.set(name, String(Reflect.get(done.body.result, field)));
  });
}

test("each role performs the actions of its rights, and a merchant's user only its own", async () => {
  for (const role of roles) {
    const isMerchants = role.startsWith("merchant-");
    const browser = await signedIn(`the-${role}`, role, isMerchants ? "demo" : undefined);
    for (const [index, [action, { right, findOwner }]] of [...offered].entries()) {
      // The short run tests every action with one role, and every role with some actions.
      if (!isLongRun && index % roles.length !== roles.indexOf(role)) continue;
      const may = hasRight(role, right) && !(isMerchants && findOwner === undefined);
      const described = await browser.call("GET /actions/:action", { action, language: "de" });
      assert.equal(described.status, may ? 200 : 404, `${role} ${action}`);
      if (may) continue;
      assert.equal((await run(browser, { action, values: {} })).status, 404, `${role} ${action}`);
    }
  }
});

test("nothing of another merchant is shown or changed", async () => {
  const sale = await world.merchant().sale({ amount: "5.00" });
  const order = sale["gw-order-id"] ?? "";
  await world.settle();
  const made = await run(bob, linkTo(plain));
  const link = String(Reflect.get(made.body.result, "link"));
  const login = "demo";
  const key = await run(bob, { action: "wallet key make", values: { login, use: "walletb" } });
  const id = String(Reflect.get(Object(key.body.result), "id"));
  const before = await readEntries();

  // biome-ignore format: a table
  const requests: readonly Request[] = [
    linkTo(plain),
    { action: "link close",                 values: { link } },
    { action: "wallet key remove",          values: { id } },
    { action: "wallet key make",            values: { login, use: "walletb" } },
    { action: "merchant show",              values: { login, reveal: true } },
    { action: "merchant control-key renew", values: { login } },
    { action: "callback secret",            values: { endpoint: plain } },
    { action: "merchant set",               values: { login: "stranger", commissions: "on" } },
    { action: "user add",                   values: { name: "eve", role: "admin" } },
    { action: "user end-session",           values: { login: "bob@demo" } },
    { action: "order return",               values: { order, amount: "0.01" } },
    { action: "callback resend",            values: { order } },
    { action: "callback resend",            values: { merchant: login, since: "2000-01-01" } },
    { action: "doubt settle",               values: { order, as: "done" } },
    { action: "audit verify",               values: {} },
    { action: "chargeback list",            values: {} },
    { action: "chargeback list",            values: { order } },
    { action: "chargeback evidence",        values: { order } },
    { action: "chargeback decide",          values: { order, case: "C1", decision: "accepted" } },
    { action: "endpoint callback list",     values: { endpoint: plain } },
    { action: "endpoint callback test",     values: { endpoint: plain, url: "http://127.0.0.1:1/" } },
  ];
  for (const request of requests) {
    const text = JSON.stringify(request);
    assert.equal((await run(mallory, request)).status, 404, text);
    assert.equal((await mallory.call("POST /actions/preview", request)).status, 404, text);
  }

  const changed = (await readEntries()).filter(({ action }) => action !== "command refused");
  assert.deepEqual(
    changed,
    before.filter(({ action }) => action !== "command refused"),
  );
  assert.equal((await mallory.call("GET /links/:link", { link })).status, 404);
  assert.deepEqual((await mallory.call("GET /links", {})).body.links, []);
  const shown = await bob.call("GET /merchants/:login", { login: "demo" });
  assert.ok(shown.body.endpoints.every(({ gates }) => gates.length === 0));
  assert.ok(id === "undefined" || shown.body.walletKeys.some((each) => each.id === id));
});

const login = "demo";
// biome-ignore format: a table
const malicious: readonly (readonly [what: string, request: Request, status?: number])[] = [
  ["a picture on the gateway's disk",  { action: "endpoint set", values: { endpoint: plain, "shop-logo": "/etc/hostname" } }],
  ["a file without an end",            { action: "gate set", values: { gate: "sandbox", "tls-roots": "/dev/zero" } }],
  ["a file of rules",                  { action: "filter try", values: { file: "/etc/hostname" } }],
  ["a file to write",                  linkTo(plain, { svg: "/tmp/portal.svg" })],
  ["a field of the prototype",         linkTo(plain, JSON.parse('{ "__proto__": "x" }'))],
  ["a list in place of a text",        linkTo(plain, { amount: ["12.50"] }), 400],
  ["a text in place of a flag",        { action: "merchant show", values: { login, reveal: "yes" } }, 400],
  ["a value that is too long",         linkTo(plain, { description: "x".repeat(40_001) })],
  ["an action of the command line",    { action: "link list", values: {} }],
  ["a command of the machine",         { action: "key rewrap", values: {} }],
  ["no action at all",                 { action: "__proto__", values: {} }],
  ["a group of actions",               { action: "link", values: {} }],
  ["another reason than the form's",   { action: "merchant disable", values: { login, why: "none" } }],
];

for (const [what, request, expected] of malicious) {
  test(`refused: ${what}`, async () => {
    const before = await readEntries();

    const { status } = await run(ann, request);

    const statuses = expected === undefined ? [404, 409] : [expected];
    assert.ok(statuses.includes(status), `${status}`);
    assert.deepEqual(await readEntries(), before);
  });
}

// biome-ignore format: a table
const guarded: readonly (readonly [action: string, values: Readonly<Record<string, string>>])[] = [
  ["user remove",        { login: "bob@demo" }],
  ["privacy erase",      { email: "jane@example.com", yes: "on" }],
];

test("the portal performs no action that is for the command line only", async () => {
  const before = await readEntries();

  for (const [action, values] of guarded) {
    const request = { action, values };
    const ran = await ann.call("POST /actions/run", { ...request, reason: "test" });
    const tried = await ann.call("POST /actions/preview", request);
    assert.deepEqual([ran.status, tried.status], [404, 404], action);
  }

  assert.deepEqual(await readEntries(), before);
});

test("the form says that a payment page needs the shop's name", needs("endpoint set"), async () => {
  const endpoint = stranger.set.endpoints["plain"] ?? "";
  const request = { action: "endpoint set", values: { endpoint, "page-tries": "5" } };

  const { status, body } = await ann.call("POST /actions/preview", request);

  assert.equal(status, 409);
  assert.match(body.error?.message ?? "", /give the endpoint a shop-name/);
});

test("a refusal names the field that caused it", async () => {
  const wrong = { amount: "12.505", currency: "EUR", "return-url": "ftp://x", expires: "1h ago" };
  for (const [field, value] of Object.entries(wrong)) {
    const refused = await ann.call("POST /actions/preview", linkTo(plain, { [field]: value }));
    assert.deepEqual([refused.status, refused.body.error?.field], [409, field]);
  }
  const { body } = await run(ann, { action: "link create", values: { endpoint: plain } });
  assert.deepEqual(body.error, {
    code: "invalid_input",
    message: "amount is required.",
    field: "amount",
  });
});

test(
  "merchants and entries of lists come in pages, each after the last row of the previous one",
  needs("list add"),
  async () => {
    const logins: string[] = [];
    let { body } = await ann.call("GET /merchants", { limit: 2 });
    assert.equal(body.merchants.length, 2);
    for (;;) {
      logins.push(...body.merchants.map(({ login }) => login));
      if (body.next === undefined) break;
      ({ body } = await ann.call("GET /merchants", { limit: 2, after: body.next }));
    }
    assert.deepEqual(logins, [...new Set(logins)].toSorted());
    assert.ok(["demo", "stranger"].every((login) => logins.includes(login)));
    const found = (await ann.call("GET /merchants", { search: "STRANG" })).body.merchants;
    const own = (await bob.call("GET /merchants", { search: "strang" })).body.merchants;
    assert.deepEqual([found.map(({ login }) => login), own], [["stranger"], []]);

    for (const value of ["one.example", "two.example", "three.example"]) {
      const values = { list: "block", kind: "email-domain", value };
      await run(ann, { action: "list add", values });
    }
    const show = async (more: Request["values"]) => {
      const values = { kind: "email-domain", ...more };
      const ran = await run(ann, { action: "list show", values });
      return Reflect.get(ran.body.result, "rows") as { entry: string; value: string }[];
    };
    const first = await show({ limit: "2" });
    const rest = await show({ before: first[1]?.entry ?? "" });
    assert.deepEqual(
      [...first, ...rest].map(({ value }) => value),
      ["three.example", "two.example", "one.example"],
    );
  },
);

test("a change needs a reason, in which card numbers are masked", async () => {
  const request = linkTo(plain);
  assert.equal((await ann.call("POST /actions/run", request)).status, 400);

  await run(ann, { ...request, reason: "card 4000 0000 0000 0002 was stolen" });

  assert.equal((await readEntries()).at(-1)?.reason, "card **** **** **** 0002 was stolen");
});

test("a card number is refused as an address, and masked in a description", async () => {
  const card = "4000001000000018";
  const named = linkTo(plain, { "return-url": `https://shop.example/${card}` });
  assert.equal((await run(ann, named)).body.error?.code, "card_number");
  assert.equal((await ann.call("POST /actions/preview", named)).body.error?.code, "card_number");

  const made = await run(ann, linkTo(plain, { description: `paid with ${card}` }));

  assert.equal(Reflect.get(made.body.result, "description"), "paid with ************0018");
});

test("a form that is sent twice makes one payment link, even on two nodes", async () => {
  const count = async () =>
    (await world.installation.database.query("select from payment_links")).length;
  const once = "0123456789abcdef0123";
  const before = await count();
  const request = { ...linkTo(plain), reason: "the test", once };
  const there = makePortalActions(world.installation);
  const actor = { who: "ann", from: "another node" };

  const sent = await Promise.all([run(ann, request), run(ann, request), run(ann, request)]);
  const elsewhere = await there.run(request, { role: "admin", merchantId: undefined, actor });
  const others = await run(ann, { ...request, once: "another-form-of-hers" });
  const changed = await run(ann, { ...request, ...linkTo(plain, { uses: "many" }) });

  const ids = sent.map(({ body }) => Reflect.get(body.result, "link"));
  assert.deepEqual([...ids, Reflect.get(Object(elsewhere), "output").link], Array(4).fill(ids[0]));
  assert.deepEqual([others.status, changed.status], [200, 200]);
  assert.equal((await count()) - before, 3);
});

test(
  "a preview names what would change, and the node at once uses what has changed",
  needs("endpoint set"),
  async () => {
    const set = (max: string) => ({ action: "endpoint set", values: { endpoint: plain, max } });
    const { body } = await ann.call("POST /actions/preview", set("100"));
    assert.deepEqual(body.changes, [
      {
        action: "endpoint set",
        subject: `endpoint ${plain}`,
        fields: [{ name: "max", before: "", after: "100.00" }],
      },
    ]);
    assert.equal(
      (await ann.call("POST /actions/preview", set("x"))).body.error?.message,
      "x is no amount in USD.",
    );

    await run(ann, set("100"));
    const routed = async (amount: string) =>
      (await ann.call("GET /routing", { endpoint: plain, amount })).body.routes;

    const { settings } = (await ann.call("GET /endpoints/:endpoint", { endpoint: plain })).body;
    assert.equal(settings["max"], "100.00");
    assert.deepEqual(await routed("100"), [
      { outcome: "cleared", why: "only gate", gate: "sandbox", share: 1 },
    ]);
    assert.deepEqual(await routed("100.01"), [
      { outcome: "filtered_out", why: "amount_above_maximum", share: 1 },
    ]);
    await run(ann, set("none"));
  },
);

test("previews and changes at once do not wait for one another", async () => {
  const link = String(Reflect.get((await run(bob, linkTo(plain))).body.result, "link"));
  // biome-ignore format: a table
  const previewed: readonly Request[] = [
    { action: "merchant control-key renew", values: { login } },
    { action: "link close",                 values: { link } },
    { action: "gate set",                   values: { gate: "sandbox", "merchant-code": "other" } },
  ];
  const enable = { action: "merchant enable", values: { login: "stranger" } };

  for (const each of previewed) {
    // The preview gets the audit's head first, and the changes hold all other connections.
    const { asked } = await world.whileAuditWaits(
      async () => (await ann.call("POST /actions/preview", each)).status,
      Array.from({ length: 12 }, () => async () => (await run(ann, enable)).status),
    );
    assert.deepEqual([...new Set(await asked)], [200], each.action);
  }
});

test("only the removal of a wallet's key, and not its preview, rewrites the table of keys", async () => {
  const made = await run(bob, { action: "wallet key make", values: { login, use: "walletb" } });
  const id = String(Reflect.get(Object(made.body.result), "id"));
  const request = { action: "wallet key remove", values: { id } };
  const count = async () => {
    const [table] = await world.installation.database.query<{ count: string }>(
      "select vacuum_count as count from pg_stat_user_tables where relname = 'wallet_keys'",
    );
    return Number(table?.count);
  };
  const before = await count();

  assert.equal((await bob.call("POST /actions/preview", request)).status, 200);
  assert.equal(await count(), before);
  assert.equal((await run(bob, request)).status, 200);

  assert.equal(await count(), before + 1);
});

const weighed = "gates of one rank share by weight, and one that is not ready says so";

test(weighed, needs("endpoint gates"), async () => {
  const set = (...gates: string[]) =>
    run(ann, { action: "endpoint gates", values: { endpoint: plain, gates } });
  await set("sandbox:1:3", "sandbox-binary:1:1");

  const { routes } = (await ann.call("GET /routing", { endpoint: plain, amount: "1" })).body;
  await set("sandbox");

  const share = routes.find(({ gate }) => gate === "sandbox")?.share ?? 0;
  assert.equal(routes.length, 2);
  assert.ok(share > 0.7 && share < 0.8, `${share}`);
  assert.match(routes[0]?.why ?? "", /rank 1, weight [13] of 4/);
});

test("rules are tried on past orders", needs("filter add amount", "filter try"), async () => {
  await world.merchant().sale({ amount: "15.00" });
  await world.settle();
  const values = { max: "10.00", currency: "USD", disabled: true };
  const added = await run(ann, { action: "filter add amount", values });
  assert.equal(added.status, 200, JSON.stringify(added.body));
  const rule = String(Reflect.get(added.body.result, "rule"));

  const tried = await run(ann, { action: "filter try", values: { rule } });

  assert.equal(Reflect.get(Reflect.get(tried.body.result, "blocked"), "orders"), 1);
  const { rules, next } = (await ann.call("GET /rules", {})).body;
  assert.equal(next, undefined);
  assert.deepEqual((await ann.call("GET /rules", { after: rule })).body.rules, []);
  assert.equal(rules.find(({ id }) => id === rule)?.enabled, false);
});

test(
  "a day is compared with the acquirer's file, and every difference stays",
  needs("reconcile"),
  async () => {
    const merchant = world.merchant();
    const sale = await merchant.sale({ amount: "21.00" });
    await world.settle();
    const { "processor-rrn": reference = "" } = await merchant.status(sale);
    const lines = await fetchSettlement(world, "sandbox");
    const without = lines.filter((line) => !line.startsWith(reference));
    const day = dayOf(world);

    // Near midnight the default window would leave lines to the file of the neighbouring day.
    const values = { gate: "sandbox", day, window: "0m", file: without.join("\n") };
    const ran = await run(ann, { action: "reconcile", values });

    assert.deepEqual([ran.status, ran.body.hasFindings], [200, true], JSON.stringify(ran.body));
    const [listed] = (await ann.call("GET /reconciliations", { gate: "sandbox" })).body
      .reconciliations;
    assert.deepEqual([listed?.day, listed?.by, listed?.agrees], [day, "ann", false]);
    const { body } = await ann.call("GET /reconciliations/:gate/:day", { gate: "sandbox", day });
    const found = body.differences.find((each) => each.reference === reference);
    assert.deepEqual(
      [found?.kind, found?.here, found?.order],
      ["missing there", "21.00 USD", sale["gw-order-id"]],
    );
  },
);

test("the OpenAPI document has the values of every action that is offered", async () => {
  const reply = await fetch(`${world.gateway.url}/portal/api/openapi.json`);
  const { paths, components } = Object(await reply.json());

  const { oneOf } = paths["/actions/run"].post.requestBody.content["application/json"].schema;
  assert.equal(oneOf.length, offered.size);
  const { values } = components.schemas["action_link_create"].properties;
  assert.deepEqual(values.required, ["endpoint", "amount", "currency"]);
  assert.equal(values.properties.uses.default, "single");
  assert.equal("svg" in values.properties, false);
});

test("a merchant's clerk opens the page for an order by telephone, and no viewer sees it", async () => {
  await run(ann, { action: "endpoint set", values: { endpoint: plain, moto: "on" } });
  const clerk = await signedIn("clara", "merchant-clerk", "demo");
  const viewer = await signedIn("vera", "merchant-viewer", "demo");
  const values = { endpoint: plain, amount: "12.50", currency: "USD" };
  const opened = await until("the endpoint takes such orders", async () => {
    const { status, body } = await run(clerk, { action: "terminal open", values });
    return status === 200 ? body : undefined;
  });
  const link = String(Reflect.get(opened.result, "link"));

  const seen = await clerk.call("GET /links/:link", { link });
  assert.match(seen.body.url, /\/pay\//);
  assert.equal((await viewer.call("GET /links/:link", { link })).status, 404);
  assert.equal((await run(viewer, { action: "terminal open", values })).status, 404);
  assert.equal((await run(clerk, linkTo(plain))).status, 404);
});
