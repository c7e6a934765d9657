/** Several links of a gate: which link sends a message, where each connects, and how often. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { IsoMessage } from "@tollgate/protocols/iso8583";
import { TestClock } from "../../values/testing.ts";
import type { GateSettings } from "../gates.ts";
import { makeGateAuthentication } from "./connection.ts";
import { sandbox } from "./dialects/sandbox.ts";
import { type LinkLimits, usualLinkLimits } from "./link.ts";
import { type LinkShare, Links } from "./links.ts";
import { makeMessages } from "./messages.ts";
import { Recent } from "./pending-answers.ts";
import { makeAttempt, settings } from "./testing/attempts.ts";
import { accept, Journal, startHost } from "./testing/connections.ts";

const { makeCharge } = makeMessages(sandbox, settings);
const limit = { timeoutMs: 30_000 };
const wire = { ...sandbox, ...makeGateAuthentication(sandbox) };

function openLinks(
  t: TestContext,
  changes: Partial<GateSettings>,
  limits: Partial<LinkLimits> = {},
  share?: LinkShare,
) {
  const clock = new TestClock();
  const journal = new Journal();
  const ignore = () => undefined;
  const links = new Links({
    settings: { ...settings, ...changes },
    share,
    wire,
    clock,
    random: () => 0,
    conversation: { waiting: new Map(), answered: new Recent(100) },
    limits: { ...usualLinkLimits, ...limits },
    events: {
      onState: (state, facts) => journal.log("state", { state, ...facts }),
      onUnmatched: ignore,
      onRequest: async () => undefined,
      onUnreadable: ignore,
      onCertificateFault: ignore,
      onCertificateExpiring: ignore,
      onReady: ignore,
    },
  });
  links.open();
  t.after(() => {
    const closed = links.close();
    clock.move(100_000);
    return closed;
  });
  return { clock, journal, links };
}

const charge = (index: number) =>
  makeCharge(makeAttempt({ reference: `REF${String(index).padStart(9, "0")}` }));

/** Answers everything except charges, and counts the charges. */
function silent(charges: IsoMessage[]) {
  return (message: IsoMessage) => {
    if (message.mti !== "0200") return accept(message);
    charges.push(message);
    return undefined;
  };
}

test("requests are shared among the links, and go where the fewest are in flight", async (t) => {
  const taken: readonly IsoMessage[][] = [[], [], []];
  const ports = await Promise.all(taken.map((charges) => startHost(t, silent(charges))));
  const [port = 0, ...others] = ports;
  const otherAddresses = others.map((each) => ({ host: "127.0.0.1", port: each }));
  const { journal, links } = openLinks(t, { port, otherAddresses });
  for (const _ of ports) await journal.until("state", { state: "online" });

  for (let index = 0; index < 30; index += 1) void links.send(charge(index), limit);
  while (taken.flat().length < 30) await setImmediate();

  assert.deepEqual(
    taken.map((charges) => charges.length),
    [10, 10, 10],
  );
  assert.deepEqual(links.connections, { up: 3, wanted: 3 });
});

test("processes divide the connections of a gate, and each has one at least", async (t) => {
  // biome-ignore format: a table
  const cases = [
    { connections: 5, of: 2, opened: [[1, 3, 5], [2, 4]] },
    { connections: 2, of: 2, opened: [[1], [2]] },
    { connections: 1, of: 3, opened: [[1], [2], [3]] },
  ];
  for (const { connections, of, opened } of cases) {
    const port = await startHost(t, accept);
    for (const [place, numbers] of opened.entries()) {
      const { journal, links } = openLinks(t, { port, connections }, {}, { place, of });
      for (const connection of numbers)
        await journal.until("state", { state: "online", connection });
      assert.deepEqual(links.connections, { up: numbers.length, wanted: numbers.length });
    }
  }
});

test("a link that does not answer gets no more while another does", async (t) => {
  const stuck: IsoMessage[] = [];
  const [port, other] = [await startHost(t, silent(stuck)), await startHost(t, accept)];
  const otherAddresses = [{ host: "127.0.0.1", port: other }];
  const { links } = openLinks(t, { port, otherAddresses });
  while (links.connections.up < 2) await setImmediate();

  // The charges are sent at once, so that each link has one.
  for (const index of [0, 1]) void links.send(charge(index), limit);
  while (stuck.length === 0) await setImmediate();
  for (let index = 2; index < 20; index += 1) await links.send(charge(index), limit);

  assert.equal(stuck.length, 1);
});

test("a link whose first address fails tries the next one", async (t) => {
  const port = await startHost(t, accept);
  const otherAddresses = [{ host: "127.0.0.1", port }];
  const { clock, journal, links } = openLinks(t, { port: 1, otherAddresses, connections: 1 });

  await journal.until("state", { state: "down", address: "127.0.0.1:1" });
  clock.move(usualLinkLimits.backOffMinMs);
  await journal.until("state", { state: "online", address: `127.0.0.1:${port}` });

  assert.ok(typeof (await links.send(charge(1), limit)) !== "string");
});

test("without sign-on a link is up when it is connected, and is not signed off", async (t) => {
  const seen: string[] = [];
  const port = await startHost(t, (message) => {
    seen.push(message.mti);
    return accept(message);
  });
  const { journal, links } = openLinks(t, { port, signOn: false });
  await journal.until("state", { state: "online", why: "connected" });

  assert.ok(typeof (await links.send(charge(1), limit)) !== "string");
  await links.close();

  assert.deepEqual(seen, ["0200"]);
});

test("a link that the gate can do without is tried less and less often", async (t) => {
  let signOns = 0;
  const port = await startHost(t, (message) => {
    signOns += 1;
    const answer = accept(message);
    return signOns === 1 ? answer : { ...answer, fields: { ...answer.fields, 39: "91" } };
  });
  const limits = { echoAfterMs: 864_000_000, networkTimeoutMs: 100 };
  const { clock, journal, links } = openLinks(t, { port, connections: 2 }, limits);
  while (!links.isReady()) await setImmediate();

  const waitsMs: (number | undefined)[] = [];
  for (let round = 0; round < 9; round += 1) {
    await journal.until("state", { state: "down" });
    // This time is after the time limit of the sign-on.
    if (round === 0) clock.move(limits.networkTimeoutMs);
    waitsMs.push(clock.pendingMs[0]);
    clock.move(clock.pendingMs[0] ?? 0);
  }

  assert.deepEqual(waitsMs, [150, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  assert.ok(links.isReady());
});

test("a link that is lost as soon as it is up is not tried without pause", async (t) => {
  const port = await startHost(t, (message) => {
    return message.mti === "0800" ? accept(message) : Buffer.from([0xff, 0xff, 1]);
  });
  const { clock, journal, links } = openLinks(t, { port });

  const waitsMs: (number | undefined)[] = [];
  for (let round = 0; round < 4; round += 1) {
    await journal.until("state", { state: "online" });
    if (round === 3) clock.move(usualLinkLimits.steadyAfterMs);
    assert.equal(await links.send(charge(round), limit), "link_lost");
    waitsMs.push(clock.pendingMs[0]);
    clock.move(clock.pendingMs[0] ?? 0);
  }

  assert.deepEqual(waitsMs, [250, 500, 1_000, 250]);
});
