/** The limits of one request of the portal, because a node performs it beside payments. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { endOfFile } from "../../support/end-of-file.ts";
import { addUser, type Browser, openBrowser } from "../../support/operator/portal.ts";
import { hasRight, type Role } from "../../support/operator/portal-routes.ts";
import { answerWith, startReceiver } from "../../support/receiver.ts";
import { untilTrue } from "../../support/until.ts";
import { startWorld } from "../../support/world.ts";

const world = await startWorld(endOfFile);
const { query } = world.installation.database;

async function signedIn(login: string, role: Role, merchant?: string): Promise<Browser> {
  const browser = openBrowser(world.gateway);
  await browser.signIn(await addUser(world, { login, role, ...(merchant && { merchant }) }));
  return browser;
}

test("one action of a merchant's user sends at most ten thousand callbacks again", async () => {
  const sale = await world.merchant().sale();
  await world.settle();
  const dev = await signedIn("dev", "merchant-developer", "demo");
  await query(
    `insert into callbacks
       (merchant_id, order_id, sequence, serial, url, made_at, ended, ended_at, begun_at)
     select merchant_id, id + number, 1, gen_random_uuid(), 'https://127.0.0.1:1/', now(),
       'given_up', now(), now()
     from orders, generate_series(1, 10001) as number where id = $1`,
    [sale["gw-order-id"]],
  );

  const { result } = await dev.act("callback resend", { merchant: "demo", since: "2000-01-01" });
  await query("delete from callbacks where url = 'https://127.0.0.1:1/'");

  assert.equal(result["to be sent again"], 10_000);
});

test("a user without the right to change gets a list in pages", async () => {
  const sam = await signedIn("sam", "support");
  assert.ok(!hasRight("support", "change_merchants"));
  const show = (limit: string) =>
    sam.call("POST /actions/run", { action: "list show", values: { limit } });

  assert.equal((await show("1000")).status, 200);
  const { error } = (await show("1001")).body;

  assert.equal(error?.field, "limit");
});

test("few passwords are computed at a time, and too many requests for one are refused", async () => {
  const ann = await signedIn("ann", "admin");
  await addUser(world, { login: "pat", role: "support" });
  const values = { login: "pat" };
  const request = { action: "user password", values, reason: "the test" };

  const replies = await Promise.all(
    Array.from({ length: 60 }, () => ann.call("POST /actions/run", request)),
  );

  const refused = replies.filter(({ status }) => status !== 200);
  assert.ok(refused.length > 0 && refused.length < replies.length, `${refused.length} are refused`);
  for (const { status, body } of refused)
    assert.deepEqual([status, body.error?.code], [503, "busy"]);
});

test("few test callbacks are sent at a time, and a merchant's users send few in a minute", async (t) => {
  const [tess, otto] = [
    await signedIn("tess", "merchant-developer", "demo"),
    await signedIn("otto", "admin"),
  ];
  const held: { writeHead(status: number): { end(): void } }[] = [];
  const receiver = await startReceiver(t, (response) => void held.push(response));
  const values = { endpoint: world.set.endpoints["plain"] ?? "", url: receiver.url };
  const send = (user: Browser) => user.act("endpoint callback test", values);

  const first = Array.from({ length: 4 }, () => send(tess));
  await untilTrue("four wait", () => held.length === 4);
  const fifth = await send(otto);
  receiver.answer(answerWith(204));
  for (const response of held) response.writeHead(204).end();
  const replies = await Promise.all(first);
  for (let count = 0; count < 7; count += 1) replies.push(await send(tess));
  const others = await send(otto);

  assert.equal(fifth.error?.message, "Other test callbacks are being sent.");
  assert.match(replies.pop()?.error?.message ?? "", /^That was a lot of tests/);
  for (const { result } of [...replies, others]) assert.equal(result["outcome"], "accepted");
  assert.equal(receiver.heard.length, 11);
});
