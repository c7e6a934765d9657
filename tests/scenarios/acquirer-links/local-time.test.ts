/** The local time of a gate's terminal beside GMT, in the messages that the host receives. */
import assert from "node:assert/strict";
import { testOnEachDialect } from "../../support/bank/dialects.ts";
import { endOfFile } from "../../support/end-of-file.ts";
import { runGw } from "../../support/programs.ts";
import { startWorld } from "../../support/world.ts";

const world = await startWorld(endOfFile);

/** Returns the local time of the zone as YYMMDDhhmmss. */
function onTheWall(timeZone: string): string {
  const options = { timeZone, dateStyle: "short", timeStyle: "medium", hourCycle: "h23" } as const;
  // The text looks like 2026-11-15 14:04:06.
  const text = new Intl.DateTimeFormat("sv-SE", options).format(world.clock.now());
  return text.replace(/\D/g, "").slice(2);
}

testOnEachDialect(
  "a charge has its terminal's local time, also after the gate has moved",
  async (_t, { through, gate, mti }) => {
    const merchant = world.merchant(through);
    await world.changeGate(gate, { zone: "Pacific/Auckland" });
    const [local, gmt] = [onTheWall("Pacific/Auckland"), onTheWall("UTC")];
    const sale = await merchant.sale();
    await world.settle();
    const { "processor-rrn": reference = "" } = await merchant.status(sale);
    const charged = await world.bank.waitForMessage({ mti: mti("0200"), reference });
    await world.changeGate(gate, { zone: "America/New_York" });
    await merchant.return(sale, { amount: "4.00" });
    await world.settle();
    const returned = await world.bank.waitForMessage({ mti: mti("0400"), reference });

    assert.notEqual(local, gmt);
    const { 7: transmitted, 12: time, 13: date = "", 11: trace } = charged.fields;
    assert.equal(transmitted, gmt.slice(2));
    // In 1987 the date is field 13 and has no year.
    assert.ok(local.endsWith(`${date}${time}`), `${date}${time} for ${local}`);
    const original = `${charged.mti}${trace}${date === "" ? time : transmitted}`;
    const named = returned.fields[56] ?? returned.fields[90] ?? "";
    assert.ok(named.startsWith(original), `${named} for ${original}`);
  },
);

testOnEachDialect("a zone that does not exist is refused", async (_t, { gate }) => {
  const refused = await runGw(world, "gate", "set", gate, "--zone", "Europe/Atlantis");

  assert.equal(refused.code, 2);
  assert.match(refused.complaint, /^zone is a time zone of the IANA list/);
});
