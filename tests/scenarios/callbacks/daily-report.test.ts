/**
 * The transaction report of each day, which the gateway sends to the merchant's address: by one of
 * several nodes, until the address accepts it.
 */
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Webhook } from "standardwebhooks";
import { readFences } from "../../support/operator/document.ts";
import {
  findFreePort,
  keepUpWithTime,
  makeExampleFolder,
} from "../../support/operator/examples.ts";
import { readGw, runGw, startProgram } from "../../support/programs.ts";
import { answerWith, type Heard, hang, startReceiver } from "../../support/receiver.ts";
import { until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";

const dayMs = 86_400_000;
const minuteMs = 60_000;

/** Moves the clock to ten minutes after the next end of a day. */
function passMidnight({ clock }: World): void {
  clock.advance(dayMs - (clock.now() % dayMs) + 10 * minuteMs);
}

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
const idsOf = (heard: readonly Heard[]) => heard.map(({ headers }) => headers["webhook-id"]);

/** Far from the end of a day, so that no other report becomes due in between. */
async function startAtNoon(t: TestContext): Promise<World> {
  const world = await startWorld(t);
  world.clock.advance(dayMs - ((world.clock.now() + dayMs / 2) % dayMs));
  return world;
}

function rowsOf({ readRows }: World) {
  return readRows<{ day: string; ended: string | null; tries: number; failure: string | null }>(
    `select to_char(day, 'YYYY-MM-DD') as day, ended, tries, failure from daily_reports
     order by day`,
  );
}

test("of two nodes one sends the report of a day, signed with the control key", async (t) => {
  const world = await startAtNoon(t);
  const shop = await startReceiver(t);
  const sale = await world.merchant().sale();
  // The report is longer than what is read from the file at once.
  const long = { merchant_data: "é".repeat(30_000) };
  for (let count = 0; count < 4; count += 1) await world.merchant().sale(long);
  const today = dayOf(world.clock.now());
  await world.changeMerchant({ reportUrl: `${shop.url}/report?shop=1` });
  await world.settle();
  assert.deepEqual(idsOf(shop.heard), [`report-demo-${dayOf(world.clock.now() - dayMs)}`]);
  const other = await world.otherNode("other");

  passMidnight(world);
  await Promise.all([world.settle(), other.settle()]);
  await Promise.all([world.settle(), other.settle()]);

  assert.equal(shop.heard.length, 2);
  const { method, path, headers, body } = shop.heard[1] ?? assert.fail();
  assert.deepEqual([method, path], ["POST", "/report?shop=1"]);
  assert.equal(headers["webhook-id"], `report-demo-${today}`);
  assert.equal(headers["content-type"], "text/csv; charset=utf-8; header=present");
  assert.equal(headers["content-length"], String(Buffer.byteLength(body)));
  assert.match(body, new RegExp(`^gw-order-id,.*\\r\\n${sale["gw-order-id"]},`));
  assert.equal(body.split(long.merchant_data).length, 5);
  const signed = `report-demo-${today}.${headers["webhook-timestamp"]}.${body}`;
  const mac = createHmac("sha256", world.set.controlKey).update(signed).digest("base64");
  assert.equal(headers["webhook-signature"], `v1,${mac}`);
  const days = await readGw(world.place, "merchant", "report", "list", "demo");
  assert.ok(Array.isArray(days));
  assert.deepEqual([days[0].day, days[0].state, days[0].status], [today, "delivered", "200"]);
});

test("a library of Standard Webhooks accepts the report, also with the old control key", async (t) => {
  const world = await startWorld(t);
  const shop = await startReceiver(t);
  await readGw(world.place, "merchant", "control-key", "renew", "demo");
  await world.changeMerchant({ reportUrl: shop.url });
  const seconds = Math.floor(Date.now() / 1000);

  await world.settle();

  const { body, headers } = shop.heard[0] ?? assert.fail();
  const secret = Buffer.from(world.set.controlKey).toString("base64");
  const sent = Object.entries(headers).map(([name, value]) => [name, String(value)]);
  assert.ok(Math.abs(Number(headers["webhook-timestamp"]) - seconds) < 200);
  new Webhook(`whsec_${secret}`).verify(body, Object.fromEntries(sent), { jsonParse: false });
  assert.equal(String(headers["webhook-signature"]).split(" ").length, 2);
});

test("the receiver of the document takes a report, and refuses one that is signed with another key", async (t) => {
  const world = await startWorld(t);
  const fences = await readFences("docs/merchant-api/transaction-report.md");
  const file = join(await makeExampleFolder(), "receiver.ts");
  await writeFile(file, fences.find(({ language }) => language === "ts")?.text ?? "");
  const start = async (controlKey: string) => {
    const port = await findFreePort();
    const program = startProgram([file], { CONTROL_KEY: controlKey, PORT: port });
    t.after(() => program.kill());
    const url = `http://127.0.0.1:${port}/`;
    await until("it answers", async () => {
      assert.ok(program.isRunning, program.output);
      return fetch(url).catch(() => undefined);
    });
    return { program, url };
  };
  const [genuine, stranger] = [await start(world.set.controlKey), await start("another-key")];
  await keepUpWithTime(world);

  await world.changeMerchant({ reportUrl: stranger.url });
  await world.settle();
  const [refused] = await world.readRows("select status from daily_reports");
  await world.changeMerchant({ reportUrl: genuine.url });
  await world.pass(3 * minuteMs);

  assert.deepEqual(refused, { status: 400 });
  assert.equal((await rowsOf(world))[0]?.ended, "delivered");
  assert.match(genuine.program.output, /^report-demo-\S+ gw-order-id,/m);
  assert.doesNotMatch(stranger.program.output, /gw-order-id/);
});

test("a refused report is sent again with the same id until it is accepted", async (t) => {
  const world = await startAtNoon(t);
  const shop = await startReceiver(t, answerWith(500));
  await world.changeMerchant({ reportUrl: shop.url });
  await world.settle();
  await world.pass(minuteMs);
  const [first] = idsOf(shop.heard);
  assert.equal(shop.heard.length, 1);
  assert.equal((await rowsOf(world))[0]?.ended, null);

  shop.answer(answerWith(204));
  await world.pass(2 * minuteMs);
  await world.pass(60 * minuteMs);

  assert.deepEqual(idsOf(shop.heard), [first, first]);
  const [row] = await rowsOf(world);
  assert.deepEqual([row?.ended, row?.tries], ["delivered", 2]);
});

test("another node sends the report when the lease of a dead node has ended", async (t) => {
  const world = await startAtNoon(t);
  const shop = await startReceiver(t);
  // A node that dies while it sends leaves such a row.
  const leaseUntil = world.clock.now() + 30 * minuteMs;
  await world.readRows(
    `insert into daily_reports (merchant_id, day, begun_at, due_at)
     select id, $1, now(), to_timestamp($2::float8 / 1000) from merchants where login = 'demo'`,
    [dayOf(world.clock.now() - dayMs), leaseUntil],
  );
  await world.changeMerchant({ reportUrl: shop.url });
  const other = await world.otherNode("other");
  await Promise.all([world.settle(), other.settle()]);
  const before = shop.heard.length;

  world.clock.advance(31 * minuteMs);
  await other.settle();

  assert.deepEqual([before, shop.heard.length], [0, 1]);
  assert.equal((await rowsOf(world))[0]?.ended, "delivered");
});

test("an answer that comes after another node has claimed the report changes nothing", async (t) => {
  const world = await startAtNoon(t);
  const shop = await startReceiver(t, hang);
  await world.changeMerchant({ reportUrl: shop.url });
  const late = world.settle();
  await shop.untilHeard(1);
  await world.readRows("update daily_reports set due_at = due_at + interval '1 minute'");

  world.clock.advance(20_000);
  await late;

  const [row] = await rowsOf(world);
  assert.deepEqual([row?.tries, row?.failure], [0, null]);
});

test("an attempt that a stopping node ends does not count, and the next node sends the report", async (t) => {
  const world = await startAtNoon(t);
  const shop = await startReceiver(t, hang);
  await world.changeMerchant({ reportUrl: shop.url });
  const stopped = world.settle();
  await shop.untilHeard(1);

  shop.answer(answerWith(200));
  await world.restart();
  await stopped;
  await world.settle();

  const [row] = await rowsOf(world);
  assert.deepEqual([row?.ended, row?.tries, shop.heard.length], ["delivered", 1, 2]);
});

test("days on which no node was running are sent later, a fortnight of them", async (t) => {
  const world = await startWorld(t, {}, { keepsBooks: false });
  const shop = await startReceiver(t);
  await world.changeMerchant({ reportUrl: shop.url });
  await world.settle();

  world.clock.advance(3 * dayMs);
  await world.settle();
  const short = idsOf(shop.heard);
  world.clock.advance(60 * dayMs);
  await world.settle();

  const last = (count: number, untilMs: number) =>
    Array.from(
      { length: count },
      (_, at) => `report-demo-${dayOf(untilMs - (count - at) * dayMs)}`,
    );
  assert.deepEqual(short.toSorted(), last(4, world.clock.now() - 60 * dayMs));
  assert.deepEqual(idsOf(shop.heard.slice(4)).toSorted(), last(14, world.clock.now()));
});

test("the end of a day is that of the gateway's zone, also when the clocks change", async (t) => {
  const world = await startWorld(t, { GW_TIME_ZONE: "America/Sao_Paulo" });
  const shop = await startReceiver(t);
  await world.changeMerchant({ reportUrl: shop.url });
  // Two hours and a half after midnight in UTC, the day of the zone has not ended.
  world.clock.advance(dayMs - (world.clock.now() % dayMs) + 150 * minuteMs);
  await world.settle();
  const before = shop.heard.length;
  const ended = dayOf(world.clock.now() - dayMs);

  await world.pass(40 * minuteMs);

  assert.equal(shop.heard.length, before + 1);
  assert.equal(idsOf(shop.heard).at(-1), `report-demo-${ended}`);
});

test("a report goes only where callbacks of all the merchant's endpoints may go", async (t) => {
  const world = await startAtNoon(t);
  const set = (url: string) =>
    runGw(world.place, "merchant", "report", "set", "demo", "--report-url", url);

  const internal = await set("http://10.0.0.1/report");
  const text = await set("shop.example");
  const own = await set("http://localhost:3000/report");
  await world.changeMerchant({ reportUrl: "http://10.0.0.1/report" });
  await world.settle();

  assert.match(internal.complaint, /leads into a private network/);
  assert.match(text.complaint, /no http\(s\) address/);
  assert.equal(own.code, 0, own.complaint);
  const [row] = await rowsOf(world);
  assert.match(row?.failure ?? "", /leads into a private network/);
});

test("a merchant that is disabled, or has no address any more, gets no report", async (t) => {
  const world = await startAtNoon(t);
  const shop = await startReceiver(t);
  await world.changeMerchant({ reportUrl: shop.url });
  await readGw(world.place, "merchant", "disable", "demo");
  await world.restart();
  await world.settle();
  await readGw(world.place, "merchant", "enable", "demo");
  await readGw(world.place, "merchant", "report", "set", "demo", "--report-url", "none");
  await world.restart();
  passMidnight(world);
  await world.settle();

  assert.equal(shop.heard.length, 0);
  assert.deepEqual(await rowsOf(world), []);
});
