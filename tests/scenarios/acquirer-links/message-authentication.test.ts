/**
 * Message authentication as an operator introduces and rotates it with `gw`, while payments
 * continue over the open links. A message of the host without a genuine code has no effect.
 */
import assert from "node:assert/strict";
import { testOnEachDialect } from "../../support/bank/dialects.ts";
import { endOfFile } from "../../support/end-of-file.ts";
import { bookedFor } from "../../support/expect.ts";
import { readGw, runGwWith } from "../../support/programs.ts";
import { untilTrue } from "../../support/until.ts";
import { startWorld } from "../../support/world.ts";

const world = await startWorld(endOfFile);
const longestGapMs = 300_000;
const older = "0123456789ABCDEFFEDCBA9876543210";
const newer = "2B7E151628AED2A6ABF7158809CF4F3C";

/** Returns the id of the key when every node has it. */
async function setKey(gate: string, key: string, ...options: readonly string[]): Promise<string> {
  const ran = await runGwWith(
    `${key}\n`,
    world,
    "gate",
    "mac-key",
    "set",
    gate,
    ...options,
    "--json",
  );
  assert.equal(ran.code, 0, ran.complaint);
  assert.doesNotMatch(ran.printed, new RegExp(key, "i"));
  const { id } = JSON.parse(ran.printed);
  await untilKeys(gate, new RegExp(`"keys":\\["${id}"`));
  return id;
}

async function dropKey(gate: string, id: string): Promise<void> {
  const drop = ["gate", "mac-key", "drop", gate, id, "--turn-off"];
  const { keys } = (await readGw(world, ...drop)) as { keys: number };
  await untilKeys(gate, keys === 0 ? /"keys":\[\]/ : /"keys":\["\d+"\]/);
}

/** Waits until the gateway has read its configuration after the notification. */
function untilKeys(gate: string, keys: RegExp): Promise<true> {
  return untilTrue("the gate has its keys", () => {
    const changes = world.logged.filter(
      (line) => line.includes('"acquirer.mac_keys_changed"') && line.includes(`"${gate}"`),
    );
    return keys.test(changes.at(-1) ?? "");
  });
}

async function pay(through: string) {
  const merchant = world.merchant(through);
  const sale = await merchant.sale();
  await world.settle();
  return merchant.status(sale);
}

testOnEachDialect("keys are introduced and rotated without a stop", async (_t, dialect) => {
  const { through, gate } = dialect;
  const downs = () => world.logged.filter((line) => line.includes('"acquirer.link_down"')).length;
  const before = downs();

  await world.bank.setSwitches({ macKeys: `retail-4:${older}` });
  const first = await setKey(gate, older, "--bytes", "4");
  const introduced = await pay(through);
  await world.bank.setSwitches({ macKeys: `retail-4:${older},cmac-8:${newer}` });
  const second = await setKey(gate, newer, "--algorithm", "cmac");
  const both = await pay(through);
  await world.bank.setSwitches({ macKeys: `cmac-8:${newer}` });
  await dropKey(gate, first);
  const rotated = await pay(through);
  const listed = await readGw(world, "gate", "mac-key", "list", gate);
  await dropKey(gate, second);
  await world.bank.setSwitches({ macKeys: null });
  const without = await pay(through);

  const stages = [introduced, both, rotated, without].map((status) => status["order-stage"]);
  assert.deepEqual(new Set(stages), new Set(["sale_approved"]));
  assert.match(JSON.stringify(listed), /"algorithm":"cmac","bytes":8,"checkValue":"7AD386"/);
  assert.equal(downs(), before, "no link was dropped");
  assert.doesNotMatch(world.logged.join(), new RegExp(`${older}|${newer}`, "i"));
});

for (const macDefect of ["wrong", "missing"] as const) {
  testOnEachDialect(
    `an approval whose code is ${macDefect} is doubt, and is settled by a genuine answer`,
    async (_t, { through, gate, mti }) => {
      await world.bank.setSwitches({ macKeys: `cmac-8:${newer}` });
      const key = await setKey(gate, newer, "--algorithm", "cmac");
      const merchant = world.merchant(through);
      await world.bank.setSwitches({ macDefect });
      const sale = await merchant.sale();
      const { "processor-rrn": reference = "" } = await merchant.status(sale);
      await world.bank.waitForMessage({ mti: mti("0200"), reference });
      await untilTrue("the answer is dropped", () =>
        world.logged.some((line) => line.includes(`"mac_${macDefect}"`) && line.includes(gate)),
      );
      await world.bank.setSwitches({ macDefect: null });
      const doubtful = await merchant.status(sale);
      await world.pass(30_000);
      await world.pass(longestGapMs);
      const settled = await merchant.status(sale);
      await dropKey(gate, key);
      await world.bank.setSwitches({ macKeys: null });

      assert.equal(doubtful.status, "processing");
      const isReversed = settled["order-stage"] === "sale_error";
      assert.ok(isReversed || settled["order-stage"] === "sale_approved");
      const booked = isReversed ? ["sale 1015", "reversal 1015"] : ["sale 1015"];
      assert.deepEqual(bookedFor(world, settled), booked);
    },
  );
}
