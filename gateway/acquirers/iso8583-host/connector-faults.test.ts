/** The acquirer against a host that misbehaves in ways the sandbox bank does not. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { accept, answerTimeoutMs, connectAcquirer, makeAttempt, startHost } from "./testing.ts";

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

  // Asked again only to make the host talk: it approves what has ended here by then.
  const again = acquirer.authorize(makeAttempt());
  clock.move(answerTimeoutMs);
  await again;
  await journal.until("unmatched_message", { mti: "0210" });

  assert.equal(late.length, 1);
});

test("no card number and no CVV is ever logged", async (t) => {
  // This host echoes all that it was told, under a trace number that nobody waits for.
  const port = await startHost(t, (message) => {
    const answer = accept(message);
    if (message.mti === "0800") return answer;
    return { ...answer, fields: { ...answer.fields, 11: "999999" } };
  });
  const { acquirer, clock, journal } = await connectAcquirer(t, port);
  const attempt = makeAttempt({ cvv: "4321", eci: "05" });

  const sale = acquirer.authorize(attempt);
  await journal.until("unmatched_message", { 48: "T 42=05 92=****" });
  clock.move(answerTimeoutMs);
  await sale;
  await acquirer.authorize({ ...attempt, eci: "0".repeat(100) });
  await journal.until("unsendable_message");

  assert.doesNotMatch(JSON.stringify(journal.entries), /4000001000000018|4321|3904/);
});
