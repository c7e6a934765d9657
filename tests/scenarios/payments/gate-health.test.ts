/**
 * Two acquirers share the orders of an endpoint, and one of them fails in five ways: orders move to
 * the other, and come back when the acquirer works again. The figures are in docs/routing.md.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { endOfFile } from "../../support/end-of-file.ts";
import { makeFolder } from "../../support/folder.ts";
import { bankInProcess } from "../../support/place.ts";
import { testInLongRun } from "../../support/series.ts";
import { until, untilTrue } from "../../support/until.ts";
import { startWorld } from "../../support/world.ts";

const second = 1_000;
const perSecond = 6;
const [warmsUpForS, failsForS, watchedForS] = [6, 20, 40];
const terms = { healthWindowS: 10, healthMin: 10, healthProbe: 10 };

const other = await bankInProcess(endOfFile)(await makeFolder(endOfFile, "other-bank"));
// The other bank has books of its own, which the world does not compare.
const world = await startWorld(endOfFile, {}, { keepsBooks: false });
const merchant = world.merchant();
await world.placeGates("plain", [
  ["sandbox", 1, 1],
  ["sandbox-binary", 1, 1],
]);
await world.changeGate("sandbox-binary", terms);
await world.changeGate("sandbox", terms);
const { binaryHostPort } = other;
await world.changeGate("sandbox-binary", { port: binaryHostPort });

type Way = {
  readonly name: string;
  /** Makes the acquirer fail, or fail again, in the given second of the failure. */
  readonly fail: (at: number) => Promise<void>;
  readonly mend: () => Promise<void>;
  /** Whether the acquirer's charges stay without an answer within their second. */
  readonly isSilent?: true;
  /** How long its answers take. */
  readonly slowMs?: number;
};
const ways: readonly Way[] = [
  {
    name: "down",
    fail: () => other.setSwitches({ hostDown: true }),
    mend: () => other.setSwitches({ hostDown: false }),
  },
  {
    name: "silent",
    fail: () => other.setSwitches({ lostAnswerShare: 1 }),
    mend: () => other.setSwitches({ lostAnswerShare: 0 }),
    isSilent: true,
  },
  {
    name: "slow",
    fail: () => other.setSwitches({ approveLate: true }),
    mend: () => other.setSwitches({ approveLate: false }),
    slowMs: 2 * second,
  },
  {
    name: "declining everything",
    fail: () => other.setSwitches({ chargeCode: "05" }),
    mend: () => other.setSwitches({ chargeCode: null }),
  },
  {
    name: "flapping",
    fail: (at) => other.setSwitches({ chargeCode: at % 4 < 2 ? "91" : null }),
    mend: () => other.setSwitches({ chargeCode: null }),
  },
];

type Second = { readonly orders: number; readonly failing: number };

/** Sends the orders of a second, and returns how many went to the failing acquirer. */
async function passSecond({ isSilent, slowMs = 0 }: Partial<Way> = {}): Promise<Second> {
  for (const bank of [world.bank, other]) bank.forgetMessages();
  const [latest] = await world.readRows<{ id: string }>("select max(id) as id from orders");
  const from = latest?.id ?? "0";
  await Promise.all(Array.from({ length: perSecond }, () => merchant.sale({ amount: "10.00" })));
  if (slowMs > 0) {
    await untilTrue("all charges are sent", () => countCharges() === perSecond);
    world.clock.advance(slowMs);
    await other.setSwitches({ approveLate: false });
  }
  const [counted] = await until("the orders have ended", async () => {
    const rows = await world.readRows<{ open: number; failing: number }>(countStatement, [
      from,
      isSilent === true,
    ]);
    return rows[0]?.open === 0 ? rows : undefined;
  });
  if (slowMs > 0) await other.setSwitches({ approveLate: true });
  await world.gateway.shareHealth();
  world.clock.advance(second);
  return { orders: perSecond, failing: counted?.failing ?? 0 };
}

const countStatement = `
select count(*) filter (where is_open and not (is_there and $2))::int as open,
  count(*) filter (where is_there)::int as failing
from (
  select progress #>> '{transaction,stage}' not in ('approved', 'declined', 'error') as is_open,
    progress #>> '{transaction,identifiers,gate,id}' =
      (select id::text from gates where name = 'sandbox-binary') as is_there
  from orders where id > $1
) as sent`;

function countCharges(): number {
  const all = [...world.bank.messages(), ...other.messages()];
  return all.filter(({ mti, direction }) => mti === "0200" && direction === "received").length;
}

function changesOf(): readonly { readonly to: string; readonly why: string }[] {
  const lines = world.logged.filter((line) => line.includes("acquirer.health_changed"));
  return lines.map((line) => JSON.parse(line)).filter(({ gate }) => gate === "sandbox-binary");
}

/** Returns the first second that begins some seconds of which all are so. */
function secondsUntil(seconds: readonly Second[], isSo: (part: readonly number[]) => boolean) {
  const run = 4;
  const at = seconds.findIndex((_, from) => {
    const part = seconds.slice(from, from + run).map(({ failing }) => failing);
    return part.length === run && isSo(part);
  });
  return at === -1 ? Number.NaN : at;
}

const sumOf = (counts: readonly number[]) => counts.reduce((sum, each) => sum + each, 0);

const figures: string[] = [];

for (const way of ways) {
  // In the short run, one way stands for all five.
  const define = way.name === "declining everything" ? test : testInLongRun;
  define(`orders leave an acquirer that is ${way.name}, and come back`, async () => {
    for (let at = 0; at < warmsUpForS; at += 1) await passSecond();
    assert.equal((world.gateway && changesOf().at(-1)?.to) ?? "healthy", "healthy");

    const failing: Second[] = [];
    for (let at = 0; at < failsForS; at += 1) {
      await way.fail(at);
      if (way.name === "down" && at === 0) await world.linksDown("sandbox-binary");
      failing.push(await passSecond(way));
    }
    await way.mend();
    if (way.name === "down") await world.linksUp();
    const back: Second[] = [];
    for (let at = 0; at < watchedForS; at += 1) back.push(await passSecond());

    const stepS = 1 + (way.slowMs ?? 0) / second;
    const movedS = secondsUntil(failing, (part) => Math.max(...part) <= 1) * stepS;
    const backS = secondsUntil(back, (part) => sumOf(part) >= 0.35 * part.length * perSecond);
    const lost = sumOf(failing.map((each) => each.failing));
    figures.push(`${way.name} | ${movedS} | ${backS} | ${lost} of ${failsForS * perSecond}`);
    assert.ok(movedS <= 20, `${way.name}: moved after ${movedS} s`);
    assert.ok(backS <= 50, `${way.name}: came back after ${backS} s`);
    assert.ok(back.slice(-4).some(({ failing: count }) => count > 0));
  });
}

testInLongRun("the figures are printed for the document", async () => {
  console.log(figures.join("\n"));
  assert.equal(figures.length, ways.length);
});
