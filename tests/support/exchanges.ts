/**
 * What the gateway may say to a bank, judged by the bank's own log: about one charge one thing
 * after the other, and under one trace number always the same. The log must not be longer than the
 * trace numbers last.
 */
import assert from "node:assert/strict";
import type { LoggedMessage } from "@tollgate/sandbox-bank";

const charges: ReadonlySet<string> = new Set(["0100", "0200"]);
const followUps: ReadonlySet<string> = new Set(["0220", "0221", "0400", "0401"]);
const advices: ReadonlySet<string> = new Set(["0420", "0421"]);

export function assertExchangesOrderly(messages: readonly LoggedMessage[]): void {
  const about = messages.filter(({ fields }) => fields["37"] !== undefined);
  const byCharge = Map.groupBy(about, ({ fields }) => fields["37"]);
  for (const [reference, all] of byCharge) assertOneAfterTheOther(all, `${reference}`);
  assertSameContent(about.filter(({ direction }) => direction === "received"));
}

/** A capture or a return leaves only when what came before it is answered. */
function assertOneAfterTheOther(messages: readonly LoggedMessage[], reference: string): void {
  const answered = new Set<string | undefined>();
  let latest: string | undefined;
  for (const { direction, mti, fields } of messages) {
    const trace = fields["11"];
    if (direction === "sent") answered.add(trace);
    else if (charges.has(mti)) latest = trace;
    else if (followUps.has(mti)) {
      const isNew = trace !== latest;
      assert.ok(!isNew || answered.has(latest), `${reference}: ${mti} ${trace} came too early`);
      latest = trace;
    }
  }
}

/** A repeat says what the first said, but for its type; only an advice tells the time anew. */
function assertSameContent(received: readonly LoggedMessage[]): void {
  const byTrace = Map.groupBy(received, ({ fields }) => fields["11"]);
  for (const [trace, same] of byTrace) {
    const [first, ...repeats] = same.map(contentOf);
    for (const repeat of repeats) assert.deepEqual(repeat, first, `two messages ${trace}`);
  }
}

function contentOf({ mti, fields }: LoggedMessage) {
  const { "7": time, ...others } = fields;
  const kind = mti.slice(0, 3);
  return { kind, time: advices.has(mti) ? undefined : time, others };
}
