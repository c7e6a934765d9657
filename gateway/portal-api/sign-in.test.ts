/** Checks that guesses and refusals are recorded without filling the audit. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { asInstant } from "../values/time.ts";
import type { PortalVisit } from "./route.ts";
import { limitRefusals, makeRecordSignIn } from "./sign-in.ts";

const clock = { now: () => asInstant(1_800_000_000_000) };
const visit = { network: "192.0.2.1" } as PortalVisit;

test("the audit contains only the first refusals of a user who is refused repeatedly", async () => {
  const recorded: string[] = [];
  const record = limitRefusals(async ({ who }) => void recorded.push(who), clock);

  for (let each = 0; each < 50; each += 1)
    await record({ who: "eve", from: "" }, "order", "operate");
  await record({ who: "ann", from: "" }, "order", "operate");

  assert.equal(recorded.filter((who) => who === "eve").length, 20);
  assert.equal(recorded.at(-1), "ann");
});

test("every guess is logged, and the audit contains the first guesses and every sign-in", async () => {
  const [logged, written]: [string[], string[]] = [[], []];
  const record = makeRecordSignIn({
    clock,
    onSignedIn: ({ login }) => logged.push(`in ${login}`),
    onRefused: ({ login, network }) => logged.push(`refused ${login} ${network}`),
    write: async ({ login }, { action }) => void written.push(`${action} ${login}`),
  });

  for (let each = 0; each < 50; each += 1) {
    await record(visit, undefined, { action: "portal sign-in refused" });
  }
  await record(visit, "ann", { action: "portal sign-in" });

  assert.equal(logged.filter((line) => line === "refused unknown 192.0.2.1").length, 50);
  assert.equal(written.filter((line) => line === "portal sign-in refused unknown").length, 20);
  assert.equal(logged.at(-1), "in ann");
  assert.equal(written.at(-1), "portal sign-in ann");
});
