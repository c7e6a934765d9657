/**
 * Keys for message authentication that the host delivers by network messages, encrypted under a
 * zone key. The host sends them by itself or on the gateway's request, while payments continue.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Dialect, dialects, testOnEachDialect } from "../../support/bank/dialects.ts";
import { endOfFile } from "../../support/end-of-file.ts";
import { readGw, runGw, runGwWith } from "../../support/programs.ts";
import { untilTrue } from "../../support/until.ts";
import { startWorld } from "../../support/world.ts";

const world = await startWorld(endOfFile);
const { bank, installation } = world;
const macKeys = [
  ...["0123456789ABCDEFFEDCBA9876543210", "23456789ABCDEF01FEDCBA9876543210"],
  ...["456789ABCDEF0123FEDCBA9876543210", "6789ABCDEF012345FEDCBA9876543210"],
];
const [first = "", second = "", third = "", fourth = ""] = macKeys;
const [ascii = assert.fail()] = dialects;

// biome-ignore format: a table
const zones = {
  tdes: { key: "DD7515F2BFC17F85CE48F3CA25CB21F6", algorithm: "retail" },
  aes:  { key: "88E1AB2A2E3DD38C1FA039A536500CC8A87AB9D62DC92C01058FA79F44657DE6", algorithm: "cmac" },
} as const;
type Cipher = keyof typeof zones;

/** One dialect delivers keys as cryptograms, and the others as key blocks. */
const cipherOf = ({ name }: Dialect): Cipher => (name === "binary" ? "tdes" : "aes");
const accepted = ({ name }: Dialect) => (name === "1993" ? "800" : "00");
const refused = ({ name }: Dialect) => (name === "1993" ? "921" : "63");

async function give(key: string, ...command: readonly string[]): Promise<void> {
  const ran = await runGwWith(`${key}\n`, world, "gate", "mac-key", ...command);
  assert.equal(ran.code, 0, ran.complaint);
  assert.doesNotMatch(ran.printed, new RegExp(key, "i"));
}

/** Gives both sides the zone key and a first key for codes. */
async function prepare({ gate }: Dialect, cipher: Cipher) {
  const { key, algorithm } = zones[cipher];
  await bank.setSwitches({ zoneKey: `${cipher}:${key}`, macKeys: `${algorithm}-8:${first}` });
  await give(key, "zone", gate, "--cipher", cipher, "--algorithm", algorithm);
  await give(first, "set", gate, "--algorithm", algorithm);
  await untilKeys(gate, 1);
  return (mac: string) => `${algorithm}-8:${mac}`;
}

/** Waits until the node has read its configuration again. */
function untilKeys(gate: string, count: number): Promise<true> {
  return untilTrue("the gate has its keys", () => {
    const changes = world.logged.filter(
      (line) => line.includes('"acquirer.mac_keys_changed"') && line.includes(`"${gate}"`),
    );
    const { keys = [] } = JSON.parse(changes.at(-1) ?? "{}");
    return keys.length === count;
  });
}

async function clear({ gate }: Dialect): Promise<void> {
  await bank.setSwitches({
    zoneKey: null,
    macKeys: null,
    nextMacKey: null,
    keyDefect: null,
    deliversKeys: false,
  });
  const { query } = installation.database;
  for (const table of ["gate_zone_keys", "gate_mac_keys", "gate_key_deliveries"]) {
    await query(`delete from ${table}`);
  }
  await query("select pg_notify('tollgate_configuration', '')");
  await untilKeys(gate, 0);
}

async function pay(through: string, at = world.gateway): Promise<string | undefined> {
  const merchant = world.merchantAt(at);
  const sale = await merchant.sale({}, through);
  await at.settle();
  return (await merchant.status(sale, through))["order-stage"];
}

async function listKeys(gate: string) {
  const listed = await readGw(world, "gate", "mac-key", "list", gate);
  return listed as readonly { id: string; delivered: boolean; verifiesUntil: string | null }[];
}

testOnEachDialect(
  "the host delivers keys while payments go on, and the gateway asks for them",
  async (_t, dialect) => {
    const { through, gate } = dialect;
    const cipher = cipherOf(dialect);
    const nameOf = await prepare(dialect, cipher);
    const downs = () => world.logged.filter((line) => line.includes("acquirer.link_down")).length;
    const before = downs();
    const paid = [await pay(through)];

    for (const key of [second, third]) {
      await bank.setSwitches({ nextMacKey: nameOf(key) });
      assert.equal(await bank.deliverKey(gate), accepted(dialect));
      // The host uses the new key, and this first answer shows it to the gateway.
      paid.push(await pay(through));
      await bank.setSwitches({ macKeys: nameOf(key) });
      paid.push(await pay(through));
    }
    // The key is in the answer in one dialect, and in a message of the host in the others. The
    // command has not seen the host use its newest key, so the older one is valid too.
    const both = `${nameOf(third)},${nameOf(second)}`;
    const deliversKeys = cipher === "aes";
    await bank.setSwitches({ nextMacKey: nameOf(fourth), macKeys: both, deliversKeys });
    const asked = (await readGw(world, "gate", "mac-key", "exchange", gate)) as { id: string };
    await untilKeys(gate, 4);
    paid.push(await pay(through));
    const keys = await listKeys(gate);
    await clear(dialect);

    assert.deepEqual(new Set(paid), new Set(["sale_approved"]));
    assert.equal(downs(), before, "no link was dropped");
    assert.equal(asked.id, keys[0]?.id);
    const ends = keys.map(({ delivered, verifiesUntil }) => [delivered, verifiesUntil !== null]);
    const passed = [true, true];
    assert.deepEqual(ends, [[true, false], passed, passed, [false, true]]);
    const secret = new RegExp([...macKeys, zones[cipher].key].join("|"), "i");
    assert.doesNotMatch(world.logged.join(), secret);
  },
);

testOnEachDialect(
  "a key is not taken when it is wrong, old or another zone's",
  async (_t, dialect) => {
    const { through, gate } = dialect;
    const cipher = cipherOf(dialect);
    const nameOf = await prepare(dialect, cipher);
    const deliver = async (key: string, switches: object = {}) => {
      await bank.setSwitches({ nextMacKey: nameOf(key), ...switches });
      return bank.deliverKey(gate);
    };

    const answers = {
      wrong: await deliver(third, { keyDefect: "wrong" }),
      taken: await deliver(second, { keyDefect: null }),
      // The gateway's answer may have been lost.
      again: await deliver(second),
      next: await deliver(third),
      replayed: await deliver(second),
      foreign: await deliver(fourth, { zoneKey: otherZone(cipher) }),
    };
    const paid = await pay(through);
    const refusals = world.logged.filter((line) => line.includes("acquirer.mac_key_refused"));
    await clear(dialect);

    const [yes, no] = [accepted(dialect), refused(dialect)];
    const expected = { wrong: no, taken: yes, again: yes, next: yes, replayed: no, foreign: no };
    assert.deepEqual(answers, expected);
    assert.equal(paid, "sale_approved");
    assert.ok(refusals.some((line) => line.includes("the key was delivered before")));
  },
);

function otherZone(cipher: Cipher): string {
  return `${cipher}:${zones[cipher].key.replace(/^./, "4")}`;
}

test("a key that the host delivers to one node is used by the others", async () => {
  const { gate, through } = ascii;
  const other = await world.otherNode("other");
  const nodes = [world.gateway, other];
  const nameOf = await prepare(ascii, "aes");
  await untilNodesHave(gate, 1);

  await bank.setSwitches({ nextMacKey: nameOf(second) });
  const answer = await bank.deliverKey(gate);
  await untilNodesHave(gate, 2);
  const paid: (string | undefined)[] = [];
  for (const node of nodes) paid.push(await pay(through, node));
  // From now on the host accepts codes under the new key only.
  await bank.setSwitches({ macKeys: nameOf(second) });
  for (const node of nodes) paid.push(await pay(through, node));
  await clear(ascii);

  assert.equal(answer, accepted(ascii));
  assert.deepEqual(new Set(paid), new Set(["sale_approved"]));
});

/** Each of the two nodes logs its own change. */
function untilNodesHave(gate: string, count: number): Promise<true> {
  return untilTrue("both nodes have the keys", () => {
    const changes = world.logged
      .filter((line) => line.includes('"acquirer.mac_keys_changed"') && line.includes(`"${gate}"`))
      .map((line): number => JSON.parse(line).keys.length);
    return changes.length >= 2 && changes.slice(-2).every((keys) => keys === count);
  });
}

test("the last key is dropped only after the operator confirms that authentication codes end", async () => {
  const { gate } = ascii;
  await give(first, "set", gate);
  const [{ id } = assert.fail()] = await listKeys(gate);

  const silent = await runGw(world, "gate", "mac-key", "drop", gate, id);
  const explicit = await runGw(world, "gate", "mac-key", "drop", gate, id, "--turn-off");
  const doctor = await runGw(world, "doctor");

  assert.notEqual(silent.code, 0);
  assert.match(silent.complaint, /turn-off/);
  assert.equal(explicit.code, 0, explicit.complaint);
  assert.match(doctor.printed, new RegExp(`${gate} authenticates no message any more`));
});
