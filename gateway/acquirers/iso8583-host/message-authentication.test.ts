/** Message authentication between the acquirer and the sandbox, over sockets. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { startTestBank } from "@tollgate/sandbox-bank/testing";
import { Problem } from "../../values/problem.ts";
import { Secret } from "../../values/secret.ts";
import type { GateKind, GateMacKey } from "../gates.ts";
import { readMacKey } from "./key-exchange.ts";
import { codeIn, makeAttempt, mtiIn, settings } from "./testing/attempts.ts";
import {
  answerTimeoutMs,
  each,
  makeStartWorld,
  outstanding,
  ports,
} from "./testing/connections.ts";

const startPlainWorld = makeStartWorld(startTestBank);

/** Makes a gate. `use` changes its keys while it is connected. */
async function startWorld(t: TestContext, kind: GateKind) {
  const world = await startPlainWorld(t, kind);
  const port = world.sandbox[ports[kind]];
  const use = (...macKeys: readonly GateMacKey[]) =>
    world.acquirer.change({ kind, macKeys, settings: { ...settings, port } });
  return { ...world, use };
}

const older = "0123456789ABCDEFFEDCBA9876543210";
const newer = "2B7E151628AED2A6ABF7158809CF4F3C";
const olderKey = makeKey("1", "retail", 4, older);
const newerKey = makeKey("2", "cmac", 8, newer);

function makeKey(id: string, algorithm: "retail" | "cmac", bytes: 4 | 8, key: string): GateMacKey {
  return { id, algorithm, bytes, key: new Secret(key) };
}

each("both sides authenticate their messages, and exchange the key on the way", async (t, kind) => {
  const { acquirer, sandbox, use } = await startWorld(t, kind);
  let count = 0;
  const pay = () => {
    count += 1;
    return acquirer.authorize(makeAttempt({ reference: `00000000AB0${count}` }));
  };

  await sandbox.setSwitches({ macKeys: `retail-4:${older}` });
  use(olderKey);
  assert.equal((await pay()).kind, "approved");
  // The host verifies both keys and still signs with the older one.
  await sandbox.setSwitches({ macKeys: `retail-4:${older},cmac-8:${newer}` });
  use(newerKey, olderKey);
  assert.equal((await pay()).kind, "approved");
  await sandbox.setSwitches({ macKeys: `cmac-8:${newer}` });
  assert.equal((await pay()).kind, "approved");
  use(newerKey);
  assert.equal((await pay()).kind, "approved");

  assert.equal(acquirer.connections().up, 1);
  const sent = sandbox.messages().filter(({ mti }) => mti === mtiIn(kind, "0200"));
  assert.deepEqual(
    sent.map(({ fields }) => (fields["64"] ?? fields["128"])?.endsWith("00000000")),
    [true, false, false, false],
  );
});

for (const [macDefect, reason] of [
  ["wrong", "mac_wrong"],
  ["missing", "mac_missing"],
] as const) {
  each(`an approval with a ${macDefect} code leaves the sale in doubt`, async (t, kind) => {
    const { acquirer, sandbox, clock, journal, observed, use } = await startWorld(t, kind);
    use(newerKey);
    await sandbox.setSwitches({ macKeys: `cmac-8:${newer}`, macDefect });

    const sale = acquirer.authorize(makeAttempt());
    const { facts } = await journal.until("acquirer.message_not_authentic");
    clock.move(answerTimeoutMs);

    assert.deepEqual(await sale, { kind: "unknown", cause: "timeout" });
    assert.deepEqual([facts["reason"], observed], [reason, [reason]]);
    assert.equal(outstanding(sandbox), 1015n);
    await sandbox.setSwitches({ macDefect: null });
    const advice = { traceNumber: "000778", repeated: false, approvalCode: undefined };
    assert.deepEqual(await acquirer.reverse(makeAttempt(), advice), { kind: "reversed" });
    assert.equal(outstanding(sandbox), 0n);
    assert.doesNotMatch(JSON.stringify(journal.entries), new RegExp(newer, "i"));
  });
}

each("a host refuses what it cannot authenticate, and books nothing", async (t, kind) => {
  const { acquirer, sandbox, use } = await startWorld(t, kind);
  await sandbox.setSwitches({ macKeys: `cmac-8:${newer},retail-8:${older}` });
  // The gate signs with a key that the host does not have, and has the host's key to verify.
  use(makeKey("3", "cmac", 8, older), newerKey);

  const refused = await acquirer.authorize(makeAttempt());

  assert.ok(refused.kind === "refused");
  assert.equal(refused.answer.responseCode, codeIn(kind, "98"));
  assert.deepEqual(sandbox.ledger(), []);
});

test("a key is read as operators type it, and told by its check value", () => {
  const typed = `${older.slice(0, 16).toLowerCase()} ${older.slice(16)}\n`;

  const read = readMacKey(typed, "retail");

  assert.ok(!(read instanceof Problem));
  assert.deepEqual([read.key.reveal(), read.checkValue], [older, "08D7B4"]);
});

test("what is no key is refused without being quoted", () => {
  const single = "0123456789ABCDEF";
  const rows = [
    ["retail", ""],
    ["retail", single],
    ["retail", `${older}00`],
    ["cmac", single],
    ["cmac", `${older.slice(1)}G`],
    ["retail_80", single + single],
  ] as const;
  for (const [algorithm, given] of rows) {
    const refused = readMacKey(given, algorithm);
    assert.ok(refused instanceof Problem, given);
    assert.doesNotMatch(refused.sentence, /[0-9A-F]{8}/);
  }
});
