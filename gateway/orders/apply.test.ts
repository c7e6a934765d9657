/** Events are applied even if another node or request was faster. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure } from "../values/failure.ts";
import { asSerialNumber } from "../values/ids.ts";
import { type Clock, later } from "../values/time.ts";
import type { Step } from "./advance.ts";
import { type Commit, makeApply, makeClaim } from "./apply.ts";
import { acquirerIsAsked, mayArrive } from "./events.ts";
import type { Order } from "./order.ts";
import {
  advance,
  approved,
  asks,
  deadlines,
  draft,
  events,
  inStage,
  meet,
  start,
  threeds,
} from "./testing.ts";

const notDone = { kind: "settled_as_not_done", by: "ann", why: "the acquirer says so" } as const;
/** From this time on, no answer to a message from the start can arrive. */
const overdue = later(start, deadlines.answerTimeoutMs);
const leaseOver = later(start, deadlines.leaseMs);
const clock: Clock = { now: () => start, after: () => () => undefined };

/** A store of one order. A step is committed if it was made from the stored version. */
function makeStore(stored: Order) {
  const steps: Step[] = [];
  let current = stored;
  const commit: Commit = async (step) => {
    const isFrom = step.from === current.version && step.fromChangedAt === current.changedAt;
    if (!isFrom) return "stale";
    steps.push(step);
    current = step.order;
    return "done";
  };
  return { steps, commit, load: async () => current };
}

test("an event is committed with the step it leads to", async () => {
  const authorizing = meet(draft, events.received);
  const store = makeStore(authorizing);

  const next = await makeApply({ ...store, advance, clock })(authorizing, events.authorized);

  assert.ok(!(next instanceof Failure));
  assert.equal(next.transaction.stage, "approved");
  assert.deepEqual(store.steps[0]?.events, [events.authorized]);
});

test("an event that is refused is not committed", async () => {
  const store = makeStore(inStage("approved"));

  const next = await makeApply({ ...store, advance, clock })(inStage("approved"), events.refused);

  assert.ok(next instanceof Failure);
  assert.equal(store.steps.length, 0);
});

test("who comes second meets the order as it has become", async () => {
  const reversing = inStage("reversing");
  const ahead = meet(reversing, events.reversal_unanswered);
  const store = makeStore(ahead);

  const next = await makeApply({ ...store, advance, clock })(reversing, events.reversed);

  assert.ok(!(next instanceof Failure));
  assert.equal(next.transaction.stage, "error");
  assert.equal(next.version, ahead.version + 1);
});

test("what came too late to matter is kept as one note", async () => {
  const authorizing = inStage("authorizing");
  const approved = meet(authorizing, events.authorized);
  const store = makeStore(approved);

  const next = await makeApply({ ...store, advance, clock })(authorizing, events.refused);

  assert.ok(next instanceof Failure);
  const noted = store.steps.flatMap((step) => step.events);
  const cause = "refused in stage approved";
  assert.deepEqual(noted, [{ kind: "noted", what: "refused", detail: cause }]);
});

test("it is noted once, however often somebody else was faster", async () => {
  const authorizing = inStage("authorizing");
  const claimed = meet(authorizing, events.claimed);
  const store = makeStore(meet(claimed, events.authorized));
  const seen = [claimed];
  const load = async () => seen.pop() ?? store.load();

  await makeApply({ ...store, load, advance, clock })(authorizing, events.refused);

  assert.equal(store.steps.length, 1);
});

test("of two nodes that claim an order one gets it", async () => {
  const owing = meet(draft, events.received);
  const store = makeStore(owing);
  const claim = makeClaim({ ...store, advance, clock });

  const claims = await Promise.all([
    claim(owing, { kind: "claimed", node: "a" }),
    claim(owing, { kind: "claimed", node: "b" }),
  ]);

  assert.deepEqual(
    claims.map((order) => order?.version),
    [owing.version + 1, undefined],
  );
});

test("a deadline that passed counts for the order as it was found, not for what became of it", async () => {
  const owing = meet(draft, events.received);
  const store = makeStore(owing);
  const claim = makeClaim({ ...store, advance, clock });

  await claim(owing, { kind: "claimed", node: "faster" });
  const expired = await claim(owing, { kind: "expired" });

  assert.equal(expired, undefined);
});

test("an answer to one transaction means nothing for the next of the same order", async () => {
  const first = meet(approved("preauth"), asks("capture", 500n));
  const resting = meet(meet(first, events.outcome_unknown), events.repeat_unanswered);
  const settled = meet(resting, events.settled_as_not_done, overdue);
  const second = { ...asks("capture", 300n), serialNumber: asSerialNumber("s-3") };
  const store = makeStore(meet(settled, second));

  const next = await makeApply({ ...store, advance, clock })(first, events.captured);

  assert.ok(next instanceof Failure);
  const { transaction } = await store.load();
  assert.deepEqual([transaction.serialNumber, transaction.stage], ["s-3", "capturing"]);
  assert.deepEqual(
    store.steps.flatMap((step) => step.events.map(({ kind }) => kind)),
    ["noted"],
  );
});

test("doubt about one attempt means nothing for the next, which went through another gate", async () => {
  const first = meet(draft, events.received);
  const claimed = meet(first, events.claimed);
  const store = makeStore(claimed);
  const apply = makeApply({ ...store, advance, clock });

  const rerouted = await apply(first, events.rerouted);
  const doubt = await apply(claimed, events.outcome_unknown);

  assert.ok(!(rerouted instanceof Failure));
  assert.ok(doubt instanceof Failure);
  assert.equal((await store.load()).transaction.stage, "authorizing");
});

test("that nothing was sent says nothing about the node that has taken the order over", async () => {
  const asked = meet(approved("preauth"), asks("capture", 500n));
  const claimed = meet(asked, events.claimed, later(start, deadlines.leaseMs));
  const store = makeStore(claimed);

  const next = await makeApply({ ...store, advance, clock })(asked, events.gate_unavailable);

  assert.ok(next instanceof Failure);
  assert.equal((await store.load()).transaction.stage, "capturing");
});

test("a refusal says nothing once another node, whose repeat it may answer, has the order", async () => {
  const asked = meet(approved("preauth"), asks("capture", 500n));
  const claimed = meet(asked, events.claimed, later(start, deadlines.leaseMs));
  const store = makeStore(claimed);

  const next = await makeApply({ ...store, advance, clock })(asked, events.refused);

  assert.ok(next instanceof Failure);
  assert.equal((await store.load()).transaction.stage, "capturing");
});

test("an authentication of a try that a failover has lost proves nothing for the next", async () => {
  const authenticating = inStage("authenticating");
  const withProof = (transactionId: string, changedAt = start): Order => {
    const { transaction } = authenticating;
    const proving = { ...transaction, threeds: { ...threeds, transactionId } };
    return { ...authenticating, changedAt, transaction: proving };
  };
  const store = makeStore(withProof("made instead", later(start, 1)));

  const next = await makeApply({ ...store, advance, clock })(
    withProof("lost"),
    events.authenticated,
  );

  assert.ok(next instanceof Failure);
  assert.equal((await store.load()).transaction.stage, "authenticating");
});

test("an approval of a charge that a failover has lost is kept as a note with its reference", async () => {
  const first = meet(draft, events.received);
  const lost = meet(first, events.rerouted, later(start, 1));
  const store = makeStore(meet(first, events.claimed));

  const next = await makeApply({ ...store, advance, clock })(lost, events.authorized);

  assert.ok(next instanceof Failure);
  assert.equal((await store.load()).version, lost.version + 1);
  const [note] = store.steps[0]?.events ?? [];
  assert.ok(note?.kind === "noted");
  assert.match(note.detail, new RegExp(lost.transaction.identifiers?.reference ?? "-"));
});

for (const kind of ["authorized", "approved_in_part"] as const) {
  test(`${kind}, when the order refuses it, is reversed`, async () => {
    const authorizing = meet(draft, events.received);
    const reversed = meet(meet(authorizing, events.outcome_unknown), events.reversed);
    const store = makeStore(reversed);

    const next = await makeApply({ ...store, advance, clock })(authorizing, events[kind]);

    assert.ok(!(next instanceof Failure));
    assert.deepEqual([next.transaction.stage, next.owed?.effect], ["error", "reverse"]);
  });
}

test("no operator settles an order while the acquirer is being asked about it", () => {
  const asking = meet(meet(draft, events.received), events.outcome_unknown);
  const resting = meet(asking, events.reversal_unanswered);
  const claimed = meet(resting, events.claimed);

  for (const event of [events.settled_as_done, events.settled_as_not_done]) {
    assert.ok(advance(asking, event, start) instanceof Failure);
    assert.ok(!(advance(resting, event, leaseOver) instanceof Failure));
    assert.ok(advance(claimed, event, start) instanceof Failure);
  }
});

test("no decision is taken that a message on its way may undo", () => {
  const reversing = meet(meet(draft, events.received), events.outcome_unknown);
  const repeating = meet(meet(approved("preauth"), asks("capture", 500n)), events.outcome_unknown);
  const { settled_as_done, settled_as_not_done } = events;
  // The first message is a reversal or the charge itself, and the second the repeat of a capture.
  const decisions = [
    [reversing, events.reversal_unanswered, settled_as_done, overdue],
    [reversing, events.reversal_unanswered, settled_as_not_done, leaseOver],
    [repeating, events.repeat_unanswered, settled_as_not_done, overdue],
  ] as const;

  for (const [asking, unanswered, contrary, earliest] of decisions) {
    const refused = meet(asking, unanswered);
    const overtaken = meet(meet(asking, events.claimed), { ...unanswered, cause: "card_not_held" });
    for (const resting of [refused, overtaken]) {
      assert.equal(advance(resting, contrary, later(earliest, -1)), mayArrive);
      assert.ok(!(advance(resting, contrary, earliest) instanceof Failure));
    }
  }
  // The node that received the approval reverses it, although another node's reversal was refused.
  const heard = meet(meet(reversing, events.approved_late), events.reversal_refused);
  assert.equal(advance(heard, settled_as_done, later(overdue, -1)), mayArrive);
  assert.ok(!(advance(heard, settled_as_done, overdue) instanceof Failure));
  const repeated = meet(repeating, events.repeat_unanswered);
  assert.ok(!(advance(repeated, settled_as_done, start) instanceof Failure));
});

test("an order that rests between two tries is settled", async () => {
  const resting = meet(inStage("reversing"), events.reversal_unanswered);
  const store = makeStore(resting);

  const settled = await makeApply({ ...store, advance, clock })(resting, notDone);

  assert.ok(!(settled instanceof Failure));
  assert.equal(settled.transaction.stage, "error");
  assert.deepEqual(store.steps[0]?.events, [notDone]);
});

test("while the acquirer is being asked, an order is neither settled nor asked about again", async () => {
  const asked = inStage("reversing");
  const store = makeStore(asked);
  const apply = makeApply({ ...store, advance, clock });

  assert.equal(await apply(asked, notDone), acquirerIsAsked);
  const again = { kind: "asked_again", by: "ann", why: "the acquirer is back" } as const;
  assert.equal(await apply(asked, again), acquirerIsAsked);
  assert.equal(store.steps.length, 0);
});

test("a node that begins to ask first keeps the order, which notes the decision", async () => {
  const asked = inStage("reversing");
  const resting = meet(asked, events.reversal_unanswered);
  const store = makeStore({ ...asked, version: resting.version + 1 });

  assert.equal(await makeApply({ ...store, advance, clock })(resting, notDone), acquirerIsAsked);
  assert.equal(store.steps.length, 1);
  assert.equal(store.steps[0]?.order.transaction.stage, "reversing");
  assert.equal(store.steps[0]?.events[0]?.kind, "noted");
});

test("a reversal that was sent before the approval came does not end the doubt", async () => {
  const doubtful = meet(meet(draft, events.received), events.outcome_unknown);
  const store = makeStore(meet(doubtful, events.approved_late));
  const apply = makeApply({ ...store, advance, clock });

  const { reversed, part_reversed, amount_reversed, original_not_found } = events;
  for (const event of [reversed, part_reversed, amount_reversed, original_not_found]) {
    assert.ok((await apply(doubtful, event)) instanceof Failure, event.kind);
  }

  const { transaction, owed } = await store.load();
  assert.deepEqual([transaction.stage, owed?.effect], ["reversing", "reverse"]);
  const seen = await store.load();
  const ended = await apply(seen, events.reversed);
  assert.ok(!(ended instanceof Failure));
  assert.equal(ended.transaction.stage, "error");
});

test("the end of a part's reversal is noted when an operator has settled the order", async () => {
  const doubtful = meet(meet(draft, events.received), events.approved_in_part);
  const settled = meet(meet(doubtful, events.reversal_unanswered), notDone, leaseOver);
  const approvedLate = meet(settled, events.approved_late, leaseOver);

  for (const order of [settled, approvedLate]) {
    const store = makeStore(order);
    const ended = await makeApply({ ...store, advance, clock })(doubtful, events.part_reversed);

    assert.ok(ended instanceof Failure);
    assert.deepEqual(
      store.steps.map(({ events: [event] }) => event?.kind),
      ["noted"],
    );
    const { transaction, owed } = await store.load();
    assert.deepEqual([transaction.stage, owed], ["error", order.owed]);
  }
});

for (const event of [events.authorized, events.approved_late]) {
  test(`an approval of an earlier amount is not lost: ${event.kind}, by a slow node`, async () => {
    const authorizing = meet(draft, events.received);
    const reference = authorizing.transaction.identifiers?.reference ?? "";
    const goneOn = meet(meet(authorizing, events.outcome_unknown), events.amount_reversed);
    const store = makeStore(meet(goneOn, events.authorized));

    const next = await makeApply({ ...store, advance, clock })(authorizing, event);

    assert.ok(next instanceof Failure);
    const { owed, transaction } = await store.load();
    assert.equal(owed?.effect, "reverse_prior");
    assert.equal(transaction.stage, "approved");
    assert.equal(transaction.priorAttempts?.[0]?.identifiers.reference, reference);
    assert.equal(transaction.priorAttempts?.[0]?.owes?.tries, 0);
  });
}
