/** Payment links: made by `gw`, and paid by cardholders as often as their limit allows. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { endOfFile } from "../../support/end-of-file.ts";
import { openPage, postPage, type Shown } from "../../support/payer.ts";
import { readGw, runGw } from "../../support/programs.ts";
import { startReceiver } from "../../support/receiver.ts";
import { startWorld } from "../../support/world.ts";

const world = await startWorld(endOfFile);
const other = await world.otherNode("other");
const endpoint = world.set.endpoints["plain"] ?? assert.fail();

const hours = (count: number) => count * 3_600_000;

type Made = { readonly link: string; readonly url: string };

async function makeLink(...words: readonly string[]): Promise<Made & { readonly path: string }> {
  const made = (await readGw(
    world,
    ...[
      "link",
      "create",
      "--endpoint",
      endpoint,
      "--amount",
      "12.50",
      "--currency",
      "USD",
      ...words,
    ],
  )) as Made;
  return { ...made, path: new URL(made.url).pathname };
}

const at = (path: string, node: { readonly url: string } = world.gateway) => `${node.url}${path}`;
const sales = () => world.bank.ledger().filter(({ kind }) => kind === "sale");

/** Asserts that the page contains the words, without printing the whole page. */
function sees({ status, text }: Shown, words: RegExp): void {
  assert.ok(words.test(text), `${status} without ${words}: ${text.slice(-300)}`);
}

/** Opens the link, posts a card, and waits until the order has ended or waits again. */
async function pay(path: string, fields: Record<string, string> = {}): Promise<Shown> {
  const answer = await postPage(await openPage(at(path)), fields);
  await world.settle();
  return answer;
}

type Line = { readonly orderId: string; readonly status: string; readonly link?: string };
const ordersOf = async (link: string) =>
  (await readGw(world, "order", "list", "--link", link)) as readonly Line[];

test("a payment link is paid once, its order has the link's id, and the page then says so", async (t) => {
  const receiver = await startReceiver(t);
  const { link, path } = await makeLink(
    ...["--description", "A chair, oak", "--callback-url", receiver.url],
  );
  const before = sales().length;

  const page = await openPage(at(path));
  await openPage(at(path), { purpose: "prefetch" });
  sees(page, /A chair, oak/);
  sees(page, /12\.50/);
  const asked = [...page.text.matchAll(/<(?:input|select) id="([^"]+)"/g)].map(([, id]) => id);
  const card = ["cc-number", "cc-exp-month", "cc-exp-year", "cc-csc", "cc-name"];
  assert.deepEqual(asked, [...card, "email"]);
  assert.deepEqual(await ordersOf(link), [], "opening it begins nothing");
  const unasked = ["tel", "address-line1", "postal-code", "address-level2", "country"];
  const answer = await pay(path, Object.fromEntries(unasked.map((name) => [name, ""])));

  assert.equal(answer.status, 303);
  assert.match(answer.location, /\/gw\/form\/redirect\//);
  assert.equal(sales().length, before + 1);
  const [order] = await ordersOf(link);
  assert.equal(order?.status, "approved");
  assert.equal(order?.link, link);
  const told = (await readGw(world, "order", "show", order?.orderId ?? "")) as {
    readonly order: { readonly link?: string };
  };
  assert.equal(told.order.link, link);
  const own = await openPage(at(path), { cookie: answer.cookie });
  const foreign = { cookie: `${answer.cookie}x` };
  const others = [await openPage(at(path)), await openPage(at(path), foreign)];
  for (const shown of [own, ...others]) {
    sees(shown, /has been paid.*Demonstration Shop.*12\.50 USD.*\d{4}-\d\d-\d\d [\d:]{8} UTC/s);
    assert.doesNotMatch(shown.text, />demo</, "the login is not shown");
  }
  const [, receipt = ""] = /href="([^"]*view-receipt[^"]*)"/.exec(own.text) ?? [];
  sees(await openPage(new URL(receipt, own.url).href), /You paid 12\.50 USD to Demonstration Shop/);
  for (const { text } of others) assert.doesNotMatch(text, /view-receipt/);
  const old = await postPage(page);
  assert.equal(old.location, at(path), "a page that has begun no order goes nowhere");
  assert.equal(sales().length, before + 1);
  await receiver.untilHeard(1);
});

test("two cardholders at two nodes cannot both pay a payment link for one payment", async () => {
  const { link, path } = await makeLink();
  const before = sales().length;
  const nodes = [world.gateway, other, world.gateway, other];
  const pages = await Promise.all(nodes.map((node) => openPage(at(path, node))));

  const answers = await Promise.all(
    pages.map((page, index) => postPage(page, { "cc-name": `Payer ${index}` })),
  );
  await world.settle();

  assert.equal(sales().length, before + 1);
  assert.equal((await ordersOf(link)).filter(({ status }) => status === "approved").length, 1);
  assert.equal(answers.filter(({ location }) => location.includes("/form/")).length, 1);
  sees(await openPage(at(path, other)), /has been paid/);
});

test("a payment link for three payments accepts three of eight cardholders, and a double click once", async () => {
  const { link, path } = await makeLink("--uses", "3");
  const before = sales().length;
  const pages = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      openPage(at(path, index % 2 === 0 ? other : world.gateway)),
    ),
  );

  await Promise.all(pages.flatMap((page) => [postPage(page), postPage(page)]));
  await world.settle();

  assert.equal(sales().length, before + 3);
  const orders = await ordersOf(link);
  assert.equal(orders.filter(({ status }) => status === "approved").length, 3);
});

test("a page of a payment link for many payments that is posted twice charges once", async () => {
  const { link, path } = await makeLink("--uses", "many");
  const before = sales().length;
  const page = await openPage(at(path));

  const answers = await Promise.all([postPage(page), postPage(page), postPage(page)]);
  await world.settle();
  const again = await postPage(page);
  assert.match(again.cookie, /^tollgate-link-\d+=/, "the order belongs to the browser");
  for (const { location } of [...answers, again])
    assert.match(location, /form\/redirect|pay\/\d+\./);

  assert.equal(sales().length, before + 1);
  assert.equal((await ordersOf(link)).length, 1);
  assert.equal(new Set([...answers, again].map(({ status }) => status)).size, 1);
  await pay(path);
  assert.equal(sales().length, before + 2, "another customer pays");
});

test("a declined cardholder tries again with the same order, and an unpaid order frees the payment link", async () => {
  const { link, path } = await makeLink();
  const before = sales().length;
  const begun = await pay(path, { "cc-csc": "116" });
  assert.match(begun.cookie, /^tollgate-link-\d+=/);

  for (const headers of [{}, { cookie: `${begun.cookie}x` }]) {
    const elsewhere = await openPage(at(path), headers);
    assert.equal(elsewhere.status, 200, "another browser is not led to the order");
    sees(elsewhere, /in progress/);
  }
  const back = await openPage(at(path, other), { cookie: `a=b; ${begun.cookie}` });
  assert.equal(back.status, 303, "leads to the order's own page");
  const page = await openPage(back.location);
  sees(page, /limit or balance/);
  assert.doesNotMatch(page.text, /ada@example\.com|Ada Example/, "another browser may show it");
  const own = await openPage(back.location, { cookie: begun.cookie });
  for (const words of [/ value="ada@example\.com"/, / value="Ada Example"/]) sees(own, words);
  assert.doesNotMatch(own.text, /4111|value="(12|31|116)"/, "card data is not kept");
  await postPage(page, { "cc-csc": "116" });
  await world.settle();
  await postPage(await openPage(back.location), { "cc-csc": "116" });
  await world.settle();
  assert.deepEqual(
    (await ordersOf(link)).map(({ status }) => status),
    ["declined"],
  );

  const answer = await pay(path);
  assert.match(answer.location, /\/form\//);
  assert.equal(sales().length, before + 1);
  sees(await openPage(at(path)), /has been paid/);
});

test("a closed or expired payment link accepts no card, even from an open page", async () => {
  const closing = await makeLink("--uses", "many");
  const expiring = await makeLink("--uses", "many", "--expires", "1h");
  const before = sales().length;
  const pages = [await openPage(at(closing.path)), await openPage(at(expiring.path))];

  assert.equal((await runGw(world, "link", "close", closing.link)).code, 0);
  assert.equal((await runGw(world, "link", "close", closing.link)).code, 2);
  // The payment links were made by the time of the database, which moves on while the world's
  // stands still.
  world.clock.advance(5_400_000);
  await world.linksUp();
  for (const page of pages) await postPage(page);
  await world.settle();

  assert.equal(sales().length, before);
  for (const { path } of [closing, expiring]) sees(await openPage(at(path)), /has ended/);
});

test("a use that a node reserved before it died is free again when its page has expired", async () => {
  const { link, path } = await makeLink();
  const reserve = (agoMs: number) => {
    const second = Math.floor((world.clock.now() - agoMs) / 1000).toString(36);
    const use = `${second}-0123456789abcdef`;
    return world.installation.database.query(
      "update payment_links set uses = array[$2::text] where id = $1::bigint",
      [link, use],
    );
  };
  const before = sales().length;

  await reserve(0);
  sees(await openPage(at(path)), /in progress/);
  await reserve(hours(2) + 600_001);
  await pay(path);

  assert.equal(sales().length, before + 1);
  sees(await openPage(at(path)), /has been paid/);
});

test("a forged page, a page of another link, and invented tokens begin nothing", async () => {
  const [one, two] = [await makeLink("--uses", "many"), await makeLink("--uses", "many")];
  const before = sales().length;
  const [page, foreign] = [await openPage(at(one.path)), await openPage(at(two.path))];
  const idOf = ({ text }: Shown) => /name="link-page" value="([^"]+)"/.exec(text)?.[1] ?? "";

  for (const forged of ["", "x", idOf(foreign), `${idOf(page)}x`, idOf(page).replace(/^./, "1")]) {
    const answer = await postPage(page, { "link-page": forged });
    assert.equal(answer.location, at(one.path), forged);
  }
  await world.settle();
  assert.equal(sales().length, before);
  const token = one.path.slice("/pay/".length);
  const invented = [
    token.replace(/^./, (first) => (first === "A" ? "B" : "A")),
    "x".repeat(22),
    one.link,
  ];
  for (const each of invented) assert.equal((await openPage(at(`/pay/${each}`))).status, 404);
});

test("gw page watch checks the page of a payment link, and browsers' reports are logged and counted", async () => {
  const { path } = await makeLink();
  const watch = ["page", "watch", "--embed-origins", "http://127.0.0.1:8070,http://localhost:8070"];

  const { code, printed, complaint } = await runGw(world, ...watch, at(path));
  assert.equal(code, 0, `${printed}${complaint}`);
  assert.equal((await runGw(world, ...watch, at("/pay/none"))).code, 1);

  const blocked = "https://4111111111111111.example/4111111111111111";
  const found = { "effective-directive": "script-src", "blocked-uri": blocked };
  const body = JSON.stringify({ "csp-report": { ...found, "document-uri": at(path) } });
  for (let count = 0; count < 15; count += 1) {
    assert.equal((await fetch(at("/pay/reports"), { method: "POST", body })).status, 204);
  }
  await world.pass(60_000);
  const lines = world.logged.filter((line) => line.includes('"page.policy_violated"'));
  assert.deepEqual(
    lines.map((line) => /"violation":"[^"]*","count":\d+/.exec(line)?.[0]),
    [1, 9].map(
      (count) => `"violation":"script-src https://************1111.example","count":${count}`,
    ),
  );
  const figures = await (await fetch(at("/metrics"))).text();
  assert.match(figures, /^tollgate_page_policy_reports_total\{.*directive="script-src".*\} 10$/m);
});

test("gw lists, shows and draws payment links, and refuses unknown ones", async () => {
  const file = join(world.dataDir, "code.svg");
  const made = await makeLink("--svg", file, "--uses", "5");
  const [first] = (await readGw(world, "link", "list", "--limit", "1")) as readonly Made[];
  assert.equal(first?.link, made.link);
  assert.equal(((await readGw(world, "link", "show", made.link)) as Made).url, made.url);
  assert.match(await readFile(file, "utf8"), /^<svg /);
  const served = await openPage(at(`${made.path}/qr.svg`));
  assert.match(served.text, /^<svg /);
  assert.match((await runGw(world, "link", "show", made.link)).printed, /▀/);

  const words = (changed: Record<string, string>) =>
    Object.entries({ endpoint, amount: "5", currency: "USD", ...changed }).flatMap(
      ([name, value]) => [`--${name}`, value],
    );
  // biome-ignore format: a table
  const wrong: readonly Record<string, string>[] = [
    { endpoint: "1" },          { amount: "0" },         { amount: "1.001" },     { amount: "-1" },
    { amount: "10000000000" },  { currency: "EUR" },     { uses: "0" },           { uses: "101" },
    { uses: "twice" },          { expires: "never" },    { expires: "2020-01-01" },
    { "return-url": "javascript:alert(1)" },             { description: "two\nlines" },
  ];
  for (const changed of wrong) {
    const ran = await runGw(world, "link", "create", ...words(changed));
    assert.equal(ran.code, 2, JSON.stringify(changed));
  }
  const bare = ["endpoint", "create", world.set.login, "bare", "--currency", "USD"];
  const { endpoint: nameless } = Object(await readGw(world, ...bare));
  const unnamed = (await readGw(world, "link", "create", ...words({ endpoint: nameless }))) as {
    readonly url: string;
  };
  const { text } = await openPage(at(new URL(unnamed.url).pathname));
  assert.match(text, /TOLLGATE/, "the page of a shop without a name shows its descriptor");
  assert.ok(!text.includes(world.set.login));
  const audit = (await readGw(world, "audit", "list", "--limit", "200")) as readonly {
    action?: string;
  }[];
  assert.ok(audit.some(({ action }) => action === "link create"));
});
