/** The acquirer against a host that misbehaves in ways the sandbox does not. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { IsoMessage } from "@tollgate/protocols/iso8583";
import { gateKinds } from "../gates.ts";
import { dialects } from "./connector.ts";
import { makeAttempt } from "./testing/attempts.ts";
import { accept, answerTimeoutMs, connectAcquirer, startHost } from "./testing/connections.ts";

test("an approval after a refusal of the same sale is a late one", async (t) => {
  let refusal = true;
  const port = await startHost(t, (message) => {
    if (message.mti !== "0200") return accept(message);
    const answer = accept(message);
    if (!refusal) return answer;
    refusal = false;
    return { ...answer, fields: { ...answer.fields, 39: "05" } };
  });
  const { acquirer, journal, late, clock } = await connectAcquirer(t, port);
  assert.equal((await acquirer.authorize(makeAttempt())).kind, "refused");

  // The host is only asked again so that it answers. By then it approves what has ended here.
  const again = acquirer.authorize(makeAttempt());
  clock.move(answerTimeoutMs);
  await again;
  await journal.until("acquirer.message_unmatched", { mti: "0210" });

  assert.equal(late.length, 1);
});

for (const kind of gateKinds) {
  test(`an approval is read with every other element that the host adds, ${kind}`, async (t) => {
    const { specification } = dialects[kind];
    const fill: { [field: number]: string } = {};
    for (const [field, , content, prefix, lengthMax] of specification.rows) {
      const length = prefix === "fixed" ? lengthMax : 1;
      fill[field] = (content === "b" ? "00" : "0").repeat(length);
    }
    const answerAll = (message: IsoMessage) => {
      const { mti, fields } = accept(message);
      if (message.mti === dialects[kind].network.mti) return { mti, fields };
      return { mti, fields: { ...fill, ...fields, 38: "A1B2C3" } };
    };
    const port = await startHost(t, answerAll, dialects[kind]);
    const { acquirer } = await connectAcquirer(t, port, dialects[kind]);

    const { kind: end } = await acquirer.authorize(makeAttempt());

    assert.equal(end, "approved");
  });
}

// biome-ignore format: a table
const shown = {
  sandbox:      { 48:  "T 42=05 43=**** 92=****" },
  iso87_binary: { 126: "9=**** 10=****" },
  iso93_ascii:  { 48:  "T 42=05 43=**** 92=****" },
};

for (const kind of gateKinds) {
  test(`no card number, no CVV and no CAVV is ever logged, ${kind}`, async (t) => {
    // This host echoes every message that it receives, under a trace number that no request waits
    // for.
    const echo = (message: IsoMessage) => {
      const answer = accept(message);
      if (message.mti === dialects[kind].network.mti) return answer;
      return { ...answer, fields: { ...answer.fields, 11: "999999" } };
    };
    const port = await startHost(t, echo, dialects[kind]);
    const { acquirer, clock, journal } = await connectAcquirer(t, port, dialects[kind]);
    const cavv = "AAABBJg0VhI0VniQEjRWAAAAAAA=";

    const sale = acquirer.authorize(makeAttempt({ cvv: "4321", eci: "05", cavv }));
    await journal.until("acquirer.message_unmatched", shown[kind]);
    clock.move(answerTimeoutMs);
    await sale;
    await acquirer.authorize(makeAttempt({ cvv: "4321", eci: "0".repeat(100) }));
    await journal.until("acquirer.message_unsendable");

    const logged = JSON.stringify(journal.entries);
    assert.doesNotMatch(logged, /4000001000000018|4321|34333231|3904|AAABBJg0|0000010498/);
  });
}
