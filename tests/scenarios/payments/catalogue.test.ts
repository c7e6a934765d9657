/**
 * Every card of the catalogue's group "Acquirer behaviour" with every dialect: the result of an
 * order, the bank's bookings, and the result of a capture or a return.
 */
import assert from "node:assert/strict";
import type { StatusReply } from "@tollgate/client";
import type { MessageMatch } from "@tollgate/sandbox-bank";
import { type Dialect, testOnEachDialect } from "../../support/bank/dialects.ts";
import { bookedFor } from "../../support/expect.ts";
import { startWorld, type World } from "../../support/world.ts";

/** The gateway receives the bank's answer, nothing, or the end of the connection. */
type Heard = "answer" | "nothing" | "hang-up";

/** Stage and error code of a transaction, and all bookings of the order by then. */
type End = readonly [stage: string | undefined, code: string | undefined, booked: string];

type Row = {
  readonly heard: Heard;
  readonly end: End;
  /** The result if the host can be asked and that changes it. */
  readonly asked?: End;
  /** The amount; 10 by default. */
  readonly amount?: string;
  /** Whether it is a preauthorisation instead of a sale. */
  readonly held?: true;
  /** The follow-up that is requested next, and its result. */
  readonly later?: readonly ["capture" | "return", heard: Heard, end: End];
  readonly shown?: Partial<StatusReply>;
  /** Whether the endpoint takes approvals of less than was asked. */
  readonly acceptsPartialApproval?: boolean;
};

const paid = approved("sale 1000");
const undone: End = ["sale_error", "5003", "sale 1000, reversal 1000"];
const neverBooked: End = ["sale_error", "5003", ""];
const refunded: End = ["reversal_approved", undefined, "sale 1000, reversal 1000"];

const loyalty = {
  "loyalty-balance": "1250",
  "loyalty-message": "Thank you for paying with us",
  "loyalty-bonus": "15",
  "loyalty-program": "Sandbox Bonus",
};
const explained = {
  "motivational-message": "The balance of this card is too low. Top it up or choose another card.",
};
const half = { amount: "10.00", "charged-amount": "5.00" };

// biome-ignore format: a table
const expectations: Readonly<Record<string, readonly Row[]>> = {
  "decline-do-not-honour":  [{ heard: "answer",  end: declined("100") }],
  "decline-funds":          [{ heard: "answer",  end: declined("116") }],
  "decline-expired":        [{ heard: "answer",  end: declined("101") }],
  "decline-lost":           [{ heard: "answer",  end: declined("208") }],
  "decline-stolen":         [{ heard: "answer",  end: declined("209") }],
  "decline-not-permitted":  [{ heard: "answer",  end: declined("119") }],
  "decline-limit":          [{ heard: "answer",  end: declined("121") }],
  "decline-fraud":          [{ heard: "answer",  end: declined("202") }],
  "decline-invalid-number": [{ heard: "answer",  end: declined("111") }],
  "issuer-unavailable":     [{ heard: "answer",  end: declined("912") }],
  "sca-required":           [{ heard: "answer",  end: declined("161") }],
  "sca-or-exemption":       [{ heard: "answer",  end: declined("161") }],
  "decline-explained":      [{ heard: "answer",  end: declined("116"), shown: explained }],

  "no-answer":              [{ heard: "nothing", end: undone, asked: paid }],
  "no-answer-not-booked":   [{ heard: "nothing", end: neverBooked }],
  "late-answer":            [{ heard: "nothing", end: undone }],
  "garbled-answer":         [{ heard: "nothing", end: neverBooked }],
  "link-drop":              [{ heard: "hang-up", end: neverBooked }],
  "duplicate-answer":       [{ heard: "answer",  end: paid, later: ["return", "answer", refunded] }],
  "slow":                   [{ heard: "answer",  end: paid, later: ["return", "answer", refunded] }],

  "amount-driven":          [
    { heard: "answer",  end: paid },
    { heard: "answer",  end: declined("116"), amount: "10.51" },
    { heard: "nothing", end: ["sale_error", "5003", "sale 1068, reversal 1068"], asked: approved("sale 1068"), amount: "10.68" },
  ],
  "expires-soon":           [{ heard: "answer",  end: paid, later: ["return", "answer", refunded] }],
  "loyalty":                [{ heard: "answer",  end: paid, shown: loyalty, later: ["return", "answer", refunded] }],
  "partial-approval":       [
    { heard: "answer", end: ["sale_declined", "162", "sale 500, reversal 500"], acceptsPartialApproval: false },
    { heard: "answer", end: approved("sale 500"), shown: half, acceptsPartialApproval: true,
      later: ["return", "answer", ["reversal_approved", undefined, "sale 500, reversal 500"]] },
    { heard: "answer", end: ["auth_approved", undefined, "authorisation 500"], held: true, acceptsPartialApproval: true,
      later: ["capture", "answer", ["capture_approved", undefined, "authorisation 500, capture 500"]] },
  ],
  "reversal-refused":       [
    { heard: "answer", end: paid, later: ["return", "answer", ["reversal_declined", "119", "sale 1000"]] },
    { heard: "answer", end: ["auth_approved", undefined, "authorisation 1000"], held: true,
      later: ["return", "answer", ["cancel_declined", "119", "authorisation 1000"]] },
  ],
  "reversal-no-answer":     [{ heard: "answer",  end: paid, later: ["return", "nothing", refunded] }],
  "capture-refused":        [
    { heard: "answer", end: ["auth_approved", undefined, "authorisation 1000"], held: true,
      later: ["capture", "answer", ["capture_declined", "100", "authorisation 1000"]] },
  ],
};

// An echo whose answer is still on its way when the clock jumps would count as unanswered.
const calm = { GW_ACQUIRER_ECHO_AFTER_S: "864000" };
const answerTimeoutMs = 30_000;
const repeatGapMs = 2_000;

testOnEachDialect("every card of the catalogue does what it says", async (t, dialect) => {
  const world = await startWorld(t, calm);
  const cards = await readCatalogue(world);

  for (const [name, card] of cards) {
    await t.test(name, async () => {
      const rows = expectations[name] ?? assert.fail("this card is not expected to do anything");
      for (const row of rows) await follow({ world, dialect, card, row });
    });
  }

  const unknown = Object.keys(expectations).filter((name) => !cards.has(name));
  assert.deepEqual(unknown, [], "not in the catalogue");
});

type Followed = {
  readonly world: World;
  readonly dialect: Dialect;
  readonly card: string;
  readonly row: Row;
};

async function follow({ world, dialect, card, row }: Followed): Promise<void> {
  const { through, inquires, mti } = dialect;
  if (row.acceptsPartialApproval !== undefined) {
    await world.changeEndpoint(through, { acceptsPartialApprovals: row.acceptsPartialApproval });
  }
  const merchant = world.merchant(through);
  const fields = { credit_card_number: card, amount: row.amount ?? "10.00" };

  const order = await (row.held === true ? merchant.preauth(fields) : merchant.sale(fields));
  const { "processor-rrn": reference = "" } = await merchant.status(order);
  await untilOver(world, row.heard, { mti: mti(row.held === true ? "0100" : "0200"), reference });
  const status = await merchant.status(order);

  assert.deepEqual(endOf(world, status), inquires ? (row.asked ?? row.end) : row.end);
  assert.deepEqual({ ...status, ...row.shown }, status);
  if (row.later === undefined) return;

  const [operation, heard, wanted] = row.later;
  const asked = await merchant[operation](order);
  await untilOver(world, heard, {
    mti: mti(operation === "capture" ? "0220" : "0400"),
    reference,
  });

  assert.deepEqual(endOf(world, await merchant.describe(asked)), wanted);
}

async function untilOver(world: World, heard: Heard, sent: MessageMatch): Promise<void> {
  switch (heard) {
    case "answer":
      return world.settle();
    case "hang-up":
      await world.settle();
      await world.linksUp();
      await world.pass(repeatGapMs);
      // A repeat confirms that the host does not know a charge.
      return world.pass(answerTimeoutMs);
    case "nothing": {
      await world.bank.waitForMessage(sent);
      const repeat = repeats[sent.mti];
      if (repeat !== undefined) {
        world.clock.advance(answerTimeoutMs);
        await world.bank.waitForMessage({ ...sent, mti: repeat });
      }
      await world.pass(answerTimeoutMs);
      await world.pass(repeatGapMs);
      return world.pass(answerTimeoutMs);
    }
  }
}

// biome-ignore format: a table
const repeats: Readonly<Record<string, string>> = {
  "0220": "0221", "0400": "0401", "1220": "1221", "1420": "1421",
};

function endOf(world: World, status: StatusReply): End {
  const { "order-stage": stage, "error-code": code } = status;
  assert.equal(status.status, stage?.split("_").at(-1));
  return [stage, code, bookedFor(world, status).join(", ")];
}

function declined(code: string): End {
  return ["sale_declined", code, ""];
}

function approved(booked: string): End {
  return ["sale_approved", undefined, booked];
}

async function readCatalogue({ bank }: World): Promise<ReadonlyMap<string, string>> {
  const answer = await fetch(`${bank.url}/scenarios`);
  const all = (await answer.json()) as { group: string; name: string; card: string }[];
  const own = all.filter(({ group }) => group === "Acquirer behaviour");
  return new Map(own.map(({ name, card }) => [name, card]));
}
