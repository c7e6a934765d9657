/**
 * Callbacks from the operator's side: every attempt, and sending them again; and from a developer's
 * side with `gw callback listen`.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { atEnd } from "../../support/clean-up.ts";
import { doubtful, leaveUnanswered, settleByHand, startDoubtPlace } from "../../support/doubt.ts";
import { readGw, runGw, startProgram } from "../../support/programs.ts";
import { answerWith, startReceiver } from "../../support/receiver.ts";
import { joinWorld } from "../../support/shared-world.ts";
import { untilTrue } from "../../support/until.ts";
import { startWorld } from "../../support/world.ts";

const dayMs = 86_400_000;

type Shown = {
  readonly callbacks: readonly Readonly<Record<string, unknown>>[];
  readonly attempts: readonly Readonly<Record<string, unknown>>[];
};

test("an operator sees every attempt with its request and its answer", async (t) => {
  const world = await joinWorld(t);
  const shop = await startReceiver(t, answerWith(500, {}, "<p>no room\u0000</p>"));
  const merchant = world.merchant();
  const sale = await merchant.sale({ notify_url: shop.url });
  await world.settle();
  shop.answer(answerWith(200, {}, "thanks"));
  await world.pass(150_000);
  await merchant.return(sale);
  await world.settle();

  const order = sale["gw-order-id"];
  const shown = (await readGw(world.place, "callback", "show", order)) as Shown;
  const one = (await readGw(world.place, "callback", "show", order, "2")) as Shown;
  const { printed } = await runGw(world.place, "callback", "show", order);

  assert.deepEqual(
    shown.callbacks.map(({ sequence, state, tries, url }) => [sequence, state, tries, url]),
    [
      [2, "delivered", 1, shop.url],
      [1, "delivered", 2, shop.url],
    ],
  );
  assert.deepEqual(
    shown.attempts.map(({ sequence, method, status, answer }) => [
      ...[sequence, method, status, answer],
    ]),
    [
      [1, "GET", 500, "<p>no room </p>"],
      [1, "GET", 200, "thanks"],
      [2, "GET", 200, "thanks"],
    ],
  );
  assert.ok(String(shown.attempts[0]?.["url"]).includes(`orderid=${order}`));
  assert.equal(one.callbacks.length, 1);
  assert.equal(one.attempts.length, 1);
  assert.match(printed, /delivered/);
});

test("callbacks are listed by order, time and state", async (t) => {
  const world = await startWorld(t);
  const shop = await startReceiver(t);
  const gone = await startReceiver(t, answerWith(410));
  const merchant = world.merchant();
  const told = await merchant.sale({ server_callback_url: shop.url });
  const stopped = await merchant.sale({ server_callback_url: gone.url });
  await world.settle();

  const list = async (...words: readonly string[]) => {
    const found = (await readGw(world, "callback", "list", ...words)) as Shown["callbacks"];
    return found.map(({ order }) => order).sort();
  };

  const both = [told["gw-order-id"], stopped["gw-order-id"]].sort();
  assert.deepEqual(await list(), both);
  assert.deepEqual(await list("--since", "2020-01-01"), both);
  assert.deepEqual(await list("--until", "2020-01-01"), []);
  assert.deepEqual(await list("--state", "stopped"), [stopped["gw-order-id"]]);
  assert.deepEqual(await list("--order", told["gw-order-id"]), [told["gw-order-id"]]);
  const { code, complaint } = await runGw(world, "callback", "list", "--since", "yesterday");
  assert.equal(code, 2);
  assert.match(complaint, /no moment/);
});

test("an operator sends one callback, all of an order, or a range again", async (t) => {
  const world = await startWorld(t);
  const shop = await startReceiver(t);
  const gone = await startReceiver(t, answerWith(410));
  const merchant = world.merchant();
  const sale = await merchant.sale({ notify_url: shop.url });
  await world.settle();
  await merchant.return(sale);
  await merchant.sale({ server_callback_url: gone.url });
  await world.settle();
  gone.answer(answerWith(200));

  const order = sale["gw-order-id"];
  await readGw(world, "callback", "resend", order, "2");
  await world.pass(60_000);
  const one = shop.heard.slice(2).map(({ fields }) => fields["type"]);
  await readGw(world, "callback", "resend", order);
  await world.pass(60_000);
  const all = shop.heard.slice(3).map(({ fields }) => fields["type"]);
  const range = ["--since", "2020-01-01", "--state", "stopped"];
  const resent = await readGw(world, "callback", "resend", ...range);
  await world.pass(60_000);
  const nothing = await runGw(world, "callback", "resend");

  assert.deepEqual(one, ["reversal"]);
  assert.deepEqual(all, ["sale", "reversal"]);
  assert.deepEqual(resent, { "to be sent again": 1 });
  assert.equal(gone.heard.length, 2);
  assert.equal(shop.heard.length, 5);
  assert.equal(nothing.code, 2);
});

test("a callback that is sent again waits for an earlier one of its order", async (t) => {
  const world = await joinWorld(t);
  const shop = await startReceiver(t, answerWith(500));
  const merchant = world.merchant();
  const sale = await merchant.sale({ notify_url: shop.url });
  await world.settle();
  await merchant.return(sale);
  await world.settle();
  const before = shop.heard.length;
  shop.answer(answerWith(200));

  const resent = await readGw(world.place, "callback", "resend", sale["gw-order-id"], "2");
  // The command's clock is ahead of the world's, and the first gap is two minutes.
  await world.pass(60_000);

  assert.equal(before, 1);
  assert.deepEqual(resent, {
    "to be sent again": 2,
    "of these earlier ones, which go first": 1,
  });
  assert.deepEqual(
    shop.heard.slice(1).map(({ fields }) => fields["type"]),
    ["sale", "reversal"],
  );
});

test("finished callbacks are deleted with their attempts after the retention period", async (t) => {
  const world = await startWorld(t, { GW_CALLBACK_KEEP_DAYS: "3" });
  const shop = await startReceiver(t);
  const down = await startReceiver(t, answerWith(500));
  const merchant = world.merchant();
  const kept = async () => {
    const [counts] = await world.installation.database.query(
      `select (select count(*)::int from callbacks) as callbacks,
         (select count(*)::int from callback_attempts) as attempts`,
    );
    return counts;
  };
  await merchant.sale({ server_callback_url: shop.url });
  const open = await merchant.sale({ server_callback_url: down.url });
  await world.settle();

  await world.pass(3 * dayMs - 60_000);
  const before = await kept();
  await world.pass(120_000);

  const shown = (await readGw(world, "callback", "show", open["gw-order-id"])) as Shown;
  assert.deepEqual(before, { callbacks: 2, attempts: 3 });
  assert.deepEqual(await kept(), { callbacks: 1, attempts: shown.attempts.length });
  assert.equal(shown.callbacks[0]?.["state"], "due");
});

test("the result of an order that an operator settles is sent by the first node that looks", async (t) => {
  const place = await startDoubtPlace(t, 600_000);
  const { world, merchant } = place;
  const shop = await startReceiver(t);
  const prepare = async () => () => merchant.sale({ server_callback_url: shop.url });
  const sales = doubtful.filter(({ name }) => name === "sale");
  const [order] = await leaveUnanswered(
    place,
    sales.map((sale) => ({ ...sale, prepare })),
  );
  assert.ok(order);
  const before = shop.heard.length;

  const { code, complaint } = await settleByHand(world, order, "done");
  // The command uses the database's time, which the world reaches now.
  await world.pass(900_000);

  assert.equal(code, 0, complaint);
  assert.equal(before, 0);
  assert.equal(shop.heard[0]?.fields["status"], "approved");
});

test("an endpoint's own URLs are called besides those of orders, and can be tried", async (t) => {
  const world = await startWorld(t);
  const shop = await startReceiver(t);
  const books = await startReceiver(t);
  const merchant = world.merchant();
  const endpoint = world.set.endpoints["plain"] ?? "";
  const gw = (action: string, ...words: readonly string[]) =>
    runGw(world, "endpoint", "callback", action, endpoint, ...words, "--json");
  const named = `id=$!{MERCHANT_ORDER_ID}&rrn=\${processor_rrn}&why=\${error-message}`;
  const stored = `id=\${client_orderid}&rrn=\${processor-rrn}&why=\${error_message}`;
  const own = `${shop.url}/told`;
  const sell = async (fields: Readonly<Record<string, string>> = {}) => {
    const sale = await merchant.sale(fields);
    await world.settle();
    return merchant.status(sale);
  };

  await gw("add", "--url", own);
  const added = await gw("add", "--type", "sale", "--url", `${books.url}/?${named}`);
  const file = join(world.dataDir, "gateway.json");
  await writeFile(file, JSON.stringify(await readGw(world, "export")));
  const refused = [
    await gw("add", "--url", own),
    await gw("add", "--url", `${own}?s=\${secret}`),
    await gw("add", "--url", "http://169.254.169.254/latest?s=$!{STATUS}"),
    await gw("test", "--url", "http://169.254.169.254/latest"),
    await gw("remove", "--url", own, "--type", "sale"),
  ];
  await world.restart();
  const first = await sell();
  const second = await sell({ server_callback_url: own });
  await runGw(world, "endpoint", "set", endpoint, "--callbacks", "POST");
  await world.restart();
  await sell();

  assert.deepEqual(JSON.parse(added.printed), [
    { type: "all", status: "all", url: own },
    { type: "sale", status: "all", url: `${books.url}/?${stored}` },
  ]);
  assert.deepEqual(
    refused.map(({ code }) => code),
    [2, 2, 2, 2, 2],
  );
  assert.match(refused[1]?.complaint ?? "", /there is no macro \$\{secret\}/);
  assert.deepEqual(
    shop.heard.map(({ method, fields }) => [method, fields["type"]]),
    [
      ["GET", "sale"],
      ["GET", "sale"],
      ["POST", "sale"],
    ],
  );
  assert.deepEqual(
    books.heard.slice(0, 2).map(({ path }) => path),
    [first, second].map(
      (each) => `/?id=${each["merchant-order-id"]}&rrn=${each["processor-rrn"]}&why=`,
    ),
  );
  assert.equal(books.heard[2]?.method, "GET");

  const tried = await gw("test", "--url", own, "--type", "chargeback");
  const sample = shop.heard[3];
  shop.answer(answerWith(302, { location: books.url }));
  const redirected = await gw("test", "--url", own);
  await gw("remove", "--url", own);
  await gw("remove", "--url", `${books.url}/?${stored}`, "--status", "all");
  const left = await gw("list");
  const applied = await runGw(world, "apply", "-f", file);
  const restored = await gw("list");

  const { outcome, "status code": status } = JSON.parse(tried.printed);
  assert.deepEqual([tried.code, outcome, status], [0, "accepted", 200]);
  assert.equal(sample?.fields["type"], "chargeback");
  const signed = ["approved", "0", "test-callback", world.set.controlKey].join("");
  assert.equal(sample?.fields["control"], createHash("sha1").update(signed).digest("hex"));
  assert.match(String(sample?.headers["webhook-signature"]), /^v1,/);
  assert.deepEqual([redirected.code, JSON.parse(redirected.printed)["status code"]], [1, 302]);
  assert.equal(books.heard.length, 3);
  assert.deepEqual(JSON.parse(left.printed), []);
  assert.deepEqual([applied.code, restored.printed], [0, added.printed]);
});

test("gw callback listen prints callbacks with their merchant, and answers as configured", async (t) => {
  const world = await joinWorld(t);
  const gw = join(import.meta.dirname, "../../../gateway/cli/gw.ts");
  const listener = startProgram([gw, "callback", "listen", "--port", "0", "--answer", "503"], {
    GW_DATABASE_URL: world.place.installation.databaseUrl,
    GW_DATA_DIR: world.place.dataDir,
  });
  atEnd(t, () => listener.kill());
  await untilTrue("it listens", () => /Ctrl-C/.test(listener.output));
  const [, url = ""] = /server_callback_url=(\S+)/.exec(listener.output) ?? [];

  const sale = await world.merchant().sale({ server_callback_url: url });
  await world.settle();

  const { login } = world.merchant().set;
  await untilTrue("it was told", () => /^control /m.test(listener.output));
  assert.match(listener.output, new RegExp(`^GET, right control of ${login}, answer 503$`, "m"));
  assert.match(listener.output, /^status +approved$/m);
  assert.match(listener.output, new RegExp(`^orderid +${sale["gw-order-id"]}$`, "m"));
  assert.match(listener.output, new RegExp(`^webhook-id +${sale["gw-order-id"]}-1$`, "m"));

  const forged = await fetch(`${url}?status=approved&orderid=1&client_orderid=%1b[31m&control=x`);
  assert.equal(forged.status, 503);
  await untilTrue("it was lied to", () => /WRONG control/.test(listener.output));
  assert.ok(!listener.output.includes("\u001b[31m"));

  assert.equal(await listener.stop(), 0);
});
