/**
 * The commands of `gw` in the portal: the same work, the same checks and the same audit, for those
 * whose role and merchant they belong to, without a way to the gateway's disk.
 */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { dayOf, fetchSettlement } from "../../support/bank/settlement.ts";
import { endOfFile } from "../../support/end-of-file.ts";
import { changing, type Values, writeExampleFiles } from "../../support/operator/command-table.ts";
import { addUser, type Browser, openBrowser } from "../../support/operator/portal.ts";
import {
  makeDesk,
  makeProgram,
  offers,
  type Request,
  requestOf,
} from "../../support/operator/portal-commands.ts";
import { commandRights, hasRight, type Role, roles } from "../../support/operator/portal-routes.ts";
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
const values: Values = new Map([
  ["folder", world.dataDir],
  ["bank", world.bank.tlsFolder],
]);
const plain = world.set.endpoints["plain"] ?? "";
const ann = await signedIn("ann", "admin");
const bob = await signedIn("bob", "merchant-admin", "demo");
const mallory = await signedIn("mallory", "merchant-admin", "stranger");
const link = { name: "link create", words: [] };
const many = { name: "uses", value: "many" };
const terms = (endpoint: string) => [
  { name: "endpoint", value: endpoint },
  ...[
    { name: "amount", value: "12.50" },
    { name: "currency", value: "USD" },
  ],
];

async function signedIn(login: string, role: Role, merchant?: string): Promise<Browser> {
  const browser = openBrowser(world.gateway);
  const added = await addUser(world, { login, role, ...(merchant && { merchant }) });
  assert.equal(await browser.signIn(added), "in");
  return browser;
}

type Entry = Readonly<Record<"action" | "actor" | "origin" | "reason", string>>;
const readEntries = () =>
  world.installation.database.query<Entry>(
    "select action, actor, origin, reason from audit where seq is not null order by seq",
  );
const run = (browser: Browser, request: Request) =>
  browser.call("POST /commands/run", { reason: "the test", ...request });

/** What may take hours is answered when it has begun. */
const untilEnded = (path: string) =>
  until(`${path} has ended`, async () =>
    (await readEntries()).find(({ action }) => action === `${path} ended`),
  );

const offered = changing.filter(({ path }) => offers[path.replace(/ --.*/, "")] !== undefined);

for (const example of offered) {
  test(`${example.path}: tried without a trace, then done as gw does it`, async () => {
    const request = await requestOf(example, values);
    const before = await readEntries();

    const tried = await ann.call("POST /commands/preview", request);
    assert.deepEqual(await readEntries(), before);
    const done = await run(ann, request);

    const text = `${JSON.stringify(tried.body)} ${JSON.stringify(done.body)}`;
    const { isLong } = offers[example.path.replace(/ --.*/, "")] ?? {};
    if (example.isRefused)
      return assert.deepEqual([done.status, !isLong && tried.status], [409, !isLong && 409], text);
    assert.deepEqual([tried.status, done.status], [200, 200], text);
    if (isLong === "hours") await untilEnded(example.path);
    const written = (await readEntries()).slice(before.length);
    assert.ok(written.length > 0);
    for (const { actor, origin, reason } of written) {
      assert.deepEqual([actor, reason], ["ann", "the test"]);
      assert.match(origin, /^portal, 127\.0\.0\.1/);
    }
    // What is more than one transaction is not tried beforehand.
    const isTried = commandRights[example.path]?.[1] === "change";
    assert.deepEqual(
      tried.body.changes.map(({ action }) => action),
      isTried ? written.map(({ action }) => action) : [],
    );
    const [name, field] = example.keep ?? ["", ""];
    if (name !== "") values.set(name, String(Reflect.get(done.body.result, field)));
  });
}

test("each role gives the commands that its rights have, and a merchant's its own alone", async () => {
  for (const role of roles) {
    const isMerchants = role.startsWith("merchant-");
    const browser = await signedIn(`the-${role}`, role, isMerchants ? "demo" : undefined);
    for (const [index, [path, { owner }]] of Object.entries(offers).entries()) {
      // The short run tries every command in one role and every role with some commands.
      if (!isLongRun && index % roles.length !== roles.indexOf(role)) continue;
      const name = path === "filter add" ? "filter add velocity" : path;
      const right = commandRights[path]?.[0] ?? assert.fail(path);
      const may = hasRight(role, right) && !(isMerchants && owner === "operator");
      const { status } = await browser.call("GET /command", { name });
      assert.equal(status, may ? 200 : 404, `${role} ${name}`);
      if (may) continue;
      const ran = await run(browser, { name, words: ["demo"], options: [] });
      assert.ok([404, 409].includes(ran.status), `${role} ${name} ${ran.status}`);
    }
  }
});

test("nothing of another merchant is shown or changed", async () => {
  const made = await run(bob, { ...link, options: terms(plain) });
  const id = String(Reflect.get(made.body.result, "link"));
  const key = await run(bob, { name: "wallet key make", words: ["demo", "walletb"], options: [] });
  const walletKey = String(Reflect.get(key.body.result, "id"));
  const before = await readEntries();

  // biome-ignore format: a table
  const requests: readonly Request[] = [
    { ...link, options: terms(plain) },
    { name: "link close",                 words: [id], options: [] },
    { name: "wallet key remove",          words: [walletKey], options: [] },
    { name: "wallet key make",            words: ["demo", "walletb"], options: [] },
    { name: "merchant show",              words: ["demo"], options: [{ name: "reveal" }] },
    { name: "merchant control-key renew", words: ["demo"], options: [] },
    { name: "callback secret",            words: [plain], options: [] },
    { name: "merchant set",               words: ["stranger"], options: [{ name: "commissions", value: "on" }] },
    { name: "user add",                   words: ["eve"], options: [{ name: "role", value: "admin" }] },
  ];
  for (const request of requests) {
    const text = JSON.stringify(request);
    assert.equal((await run(mallory, request)).status, 404, text);
    assert.equal((await mallory.call("POST /commands/preview", request)).status, 404, text);
  }

  const changed = (await readEntries()).filter(({ action }) => action !== "command refused");
  assert.deepEqual(
    changed,
    before.filter(({ action }) => action !== "command refused"),
  );
  assert.equal((await mallory.call("GET /links/:link", { link: id })).status, 404);
  assert.deepEqual((await mallory.call("GET /links", {})).body.links, []);
  const shown = await bob.call("GET /merchants/:login", { login: "demo" });
  assert.ok(shown.body.endpoints.every(({ gates }) => gates.length === 0));
  assert.ok(shown.body.walletKeys.some((each) => each.id === walletKey));
});

// biome-ignore format: a table
const malicious: readonly (readonly [what: string, request: Request])[] = [
  ["a file in place of a word",        { name: "merchant key add", words: ["demo", "/etc/hostname"], options: [], input: "x" }],
  ["a picture on the gateway's disk",  { name: "endpoint set", words: [plain], options: [{ name: "shop-logo", value: "/etc/hostname" }] }],
  ["a file without an end",            { name: "gate set", words: ["sandbox"], options: [{ name: "tls-roots", value: "/dev/zero" }] }],
  ["a file of rules",                  { name: "filter try", words: [], options: [{ name: "file", value: "/etc/hostname" }] }],
  ["a file to write",                  { ...link, options: [...terms(plain), { name: "svg", value: "/tmp/portal.svg" }] }],
  ["another option in the name",       { ...link, options: [...terms(plain), { name: "uses=many --svg", value: "x" }] }],
  ["an option among the words",        { name: "merchant show", words: ["--reveal"], options: [] }],
  ["help",                             { name: "merchant show", words: ["demo"], options: [{ name: "help" }] }],
  ["a command of the machine",         { name: "key rewrap", words: [], options: [] }],
  ["no command at all",                { name: "__proto__", words: [], options: [] }],
  ["a group of commands",              { name: "merchant", words: [], options: [] }],
  ["another reason than the form's",   { name: "merchant disable", words: ["demo"], options: [{ name: "why", value: "none" }] }],
];

for (const [what, request] of malicious) {
  test(`refused: ${what}`, async () => {
    const before = await readEntries();

    const { status } = await run(ann, request);

    assert.ok([404, 409].includes(status), `${status}`);
    assert.deepEqual(await readEntries(), before);
  });
}

test("the form says that a payment page needs the shop's name", async () => {
  const nameless = stranger.set.endpoints["plain"] ?? "";
  const tries = { name: "page-tries", value: "5" };
  const request = { name: "endpoint set", words: [nameless], options: [tries] };

  const { status, body } = await ann.call("POST /commands/preview", request);

  assert.equal(status, 409);
  assert.match(body.error?.message ?? "", /give the endpoint a shop name \(--shop-name\)/);
});

test("a value that looks like an option stays a value", async () => {
  const options = [...terms(plain), { name: "description", value: "--currency=EUR -- x" }];

  const made = await run(ann, { ...link, options });

  assert.equal(Reflect.get(made.body.result, "description"), "--currency=EUR -- x");
});

test("merchants and entries of lists come in pages, each after the last of the one before", async () => {
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
    await run(ann, { name: "list add", words: ["block", "email-domain", value], options: [] });
  }
  const show = async (...options: Request["options"]) => {
    const kind = { name: "kind", value: "email-domain" };
    const ran = await run(ann, { name: "list show", words: [], options: [kind, ...options] });
    return Reflect.get(ran.body.result, "rows") as { entry: string; value: string }[];
  };
  const first = await show({ name: "limit", value: "2" });
  const rest = await show({ name: "before", value: first[1]?.entry ?? "" });
  assert.deepEqual(
    [...first, ...rest].map(({ value }) => value),
    ["three.example", "two.example", "one.example"],
  );
});

test("a change needs a reason, in which card numbers are masked", async () => {
  const request = { name: "merchant disable", words: ["fresh"], options: [] };
  assert.equal((await ann.call("POST /commands/run", request)).status, 400);

  await run(ann, { ...request, reason: "card 4000 0000 0000 0002 was stolen" });

  assert.equal((await readEntries()).at(-1)?.reason, "card **** **** **** 0002 was stolen");
});

test("a card number is no name, and is masked in a description", async () => {
  const card = "4000001000000018";
  const named = { name: "endpoint create", words: ["demo", card], options: [] };
  assert.equal((await run(ann, named)).body.error?.code, "card_number");
  assert.equal((await ann.call("POST /commands/preview", named)).body.error?.code, "card_number");

  const options = [...terms(plain), { name: "description", value: `paid with ${card}` }];
  const made = await run(ann, { ...link, options });

  assert.equal(Reflect.get(made.body.result, "description"), "paid with ************0018");
});

test("a form that is sent twice makes one payment link, on whichever node", async () => {
  const count = async () =>
    (await world.installation.database.query("select from payment_links")).length;
  const once = "0123456789abcdef0123";
  const before = await count();
  const request = { ...link, options: terms(plain), reason: "the test", once };
  const desk = makeDesk(world.installation, makeProgram);
  const actor = { who: "ann", from: "another node" };

  const sent = await Promise.all([run(ann, request), run(ann, request), run(ann, request)]);
  const there = await desk.run(request, { role: "admin", merchantId: undefined, actor });
  const others = await run(ann, { ...request, once: "another-form-of-hers" });
  const changed = await run(ann, { ...request, options: [...terms(plain), many] });

  const ids = sent.map(({ body }) => Reflect.get(body.result, "link"));
  assert.deepEqual([...ids, Reflect.get(Object(there), "output").link], Array(4).fill(ids[0]));
  assert.deepEqual([others.status, changed.status], [200, 200]);
  assert.equal((await count()) - before, 3);
});

test("a preview names what would change, and the node knows at once what has", async () => {
  const set = (max: string) => ({
    ...{ name: "endpoint set", words: [plain], options: [{ name: "max", value: max }] },
  });
  const { body } = await ann.call("POST /commands/preview", set("100"));
  assert.deepEqual(body.changes, [
    {
      ...{ action: "endpoint set", subject: `endpoint ${plain}` },
      fields: [{ name: "max", before: "", after: "100.00" }],
    },
  ]);
  assert.equal(
    (await ann.call("POST /commands/preview", set("x"))).body.error?.message,
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
});

test("previews and changes at once do not wait for one another's connections", async () => {
  const renew = { name: "merchant control-key renew", words: ["demo"], options: [] };
  const enable = { name: "merchant enable", words: ["stranger"], options: [] };
  const times = <Result>(count: number, work: () => Promise<Result>) =>
    Array.from({ length: count }, work);

  const done = await Promise.all([
    ...times(16, () => bob.call("POST /commands/preview", renew)),
    ...times(12, () => run(ann, enable)),
  ]);

  assert.ok(
    done.every(({ status }) => status === 200),
    done.map(({ status }) => status).join(" "),
  );
});

test("gates of one rank share by weight, and one that is not ready says so", async () => {
  const gates = (...words: string[]) =>
    run(ann, { name: "endpoint gates", words: [plain, ...words], options: [] });
  await gates("sandbox:1:3", "sandbox-binary:1:1");

  const { routes } = (await ann.call("GET /routing", { endpoint: plain, amount: "1" })).body;
  await gates("sandbox");

  const share = routes.find(({ gate }) => gate === "sandbox")?.share ?? 0;
  assert.equal(routes.length, 2);
  assert.ok(share > 0.7 && share < 0.8, `${share}`);
  assert.match(routes[0]?.why ?? "", /rank 1, weight [13] of 4/);
});

test("rules are tried on past orders", async () => {
  await world.merchant().sale({ amount: "15.00" });
  await world.settle();
  const added = await run(ann, {
    ...{ name: "filter add amount", words: [] },
    options: [
      { name: "max", value: "10.00" },
      { name: "currency", value: "USD" },
      { name: "disabled" },
    ],
  });
  assert.equal(added.status, 200, JSON.stringify(added.body));
  const rule = String(Reflect.get(added.body.result, "rule"));

  const tried = await run(ann, {
    ...{ name: "filter try", words: [], options: [{ name: "rule", value: rule }] },
  });

  assert.equal(Reflect.get(Reflect.get(tried.body.result, "blocked"), "orders"), 1);
  const { rules, next } = (await ann.call("GET /rules", {})).body;
  assert.equal(next, undefined);
  assert.deepEqual((await ann.call("GET /rules", { after: rule })).body.rules, []);
  assert.equal(rules.find(({ id }) => id === rule)?.enabled, false);
});

test("a day is compared with the acquirer's file, and every difference stays", async () => {
  const merchant = world.merchant();
  const sale = await merchant.sale({ amount: "21.00" });
  await world.settle();
  const { "processor-rrn": reference = "" } = await merchant.status(sale);
  const lines = await fetchSettlement(world, "sandbox");
  const without = lines.filter((line) => !line.startsWith(reference));
  const day = dayOf(world);

  const ran = await run(ann, {
    ...{ name: "reconcile", words: [], input: without.join("\n") },
    options: [
      { name: "gate", value: "sandbox" },
      { name: "day", value: day },
      // Near midnight the usual window would leave lines to the neighbouring day's file.
      { name: "window", value: "0m" },
    ],
  });

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
});
