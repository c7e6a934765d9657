/** The link to a host that is silent, sends garbage or is out of step. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { IsoMessage } from "@tollgate/protocols/iso8583";
import { sandbox } from "./dialects/sandbox.ts";
import { makeMessages } from "./messages.ts";
import { makeAttempt, settings } from "./testing/attempts.ts";
import { accept, openLink, startHost } from "./testing/connections.ts";

const { makeCharge } = makeMessages(sandbox, settings);
const limit = { timeoutMs: 30_000 };

test("a link whose echo is not answered is dropped, and its requests with it", async (t) => {
  const port = await startHost(t, (message) =>
    message.fields[70] === "001" ? accept(message) : undefined,
  );
  const limits = { echoAfterMs: 20_000, networkTimeoutMs: 5_000 };
  const { clock, link, until } = openLink(t, port, limits);
  await until("online");
  const sale = link.send(makeCharge(makeAttempt()), limit);

  clock.move(25_000);

  assert.equal((await until("down")).facts["why"], "echo: timeout");
  assert.equal(await sale, "link_lost");
});

test("a host that says nothing to the sign-on is given up", async (t) => {
  const signOn = Promise.withResolvers<void>();
  const port = await startHost(t, () => void signOn.resolve());
  const { clock, until } = openLink(t, port, { networkTimeoutMs: 5_000 });
  await signOn.promise;

  clock.move(5_000);

  assert.equal((await until("down")).facts["why"], "sign-on: timeout");
});

test("an answer that nobody waits for, or a second one, is reported", async (t) => {
  const twice: IsoMessage[] = [];
  const port = await startHost(t, (message) => {
    if (message.mti === "0200") twice.push(message);
    return message.fields[70] === "301" && twice[0] !== undefined
      ? accept(twice[0])
      : accept(message);
  });
  const limits = { echoAfterMs: 1_000 };
  const { clock, journal, link, until } = openLink(t, port, limits);
  await until("online");
  assert.ok(typeof (await link.send(makeCharge(makeAttempt()), limit)) !== "string");

  clock.move(1_000);

  const { facts } = await journal.until("unmatched");
  assert.equal(facts["37"], "00000000AB01");
  assert.equal(facts["earlierCode"], "00");
});

test("bytes that are no message are reported and cost nobody his answer", async (t) => {
  const garbage = Buffer.from("\0\x05hello", "latin1");
  const port = await startHost(t, (message) =>
    message.fields[37] === "00000000AB01" ? garbage : accept(message),
  );
  const { clock, journal, link, until } = openLink(t, port);
  await until("online");

  const lost = link.send(makeCharge(makeAttempt()), limit);
  await journal.until("unreadable", { bytes: 5 });
  const other = link.send(makeCharge(makeAttempt({ reference: "00000000AC01" })), limit);
  assert.ok(typeof (await other) !== "string");
  clock.move(limit.timeoutMs);

  assert.equal(await lost, "timeout");
  assert.equal(link.state, "online");
});

test("bytes that are no frame end the connection", async (t) => {
  const tooLong = Buffer.from([0xff, 0xff, 1, 2, 3]);
  const port = await startHost(t, (message) =>
    message.mti === "0200" ? tooLong : accept(message),
  );
  const { link, until } = openLink(t, port);
  await until("online");

  assert.equal(await link.send(makeCharge(makeAttempt()), limit), "link_lost");
  assert.equal((await until("down")).facts["why"], "framing: too_long");
});

test("a closing link does not wait for ever", async (t) => {
  const sale = Promise.withResolvers<void>();
  const port = await startHost(t, (message) => {
    if (message.mti !== "0200") return accept(message);
    sale.resolve();
    return undefined;
  });
  const { clock, link, until } = openLink(t, port, { drainMs: 3_000 });
  await until("online");

  const asked = link.send(makeCharge(makeAttempt()), limit);
  await sale.promise;
  const closed = link.close();
  clock.move(3_000);

  await closed;
  assert.equal(await asked, "link_lost");
  assert.deepEqual(clock.pendingMs, []);
});
