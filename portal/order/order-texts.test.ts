/** Tests an order's texts in English and German: its timeline, its totals and its transactions. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { english, german } from "../language/texts.ts";
import {
  detailsOf,
  fieldsOf,
  isNews,
  isUnfinished,
  type OrderDetail,
  ruleOf,
  seenBefore,
  timelineOf,
  totalsOf,
} from "./order-texts.ts";

type Entry = OrderDetail["timeline"][number];
const entry = (
  at: number,
  event: Entry["event"],
  facts: Entry["facts"] = {},
  more = {},
): Entry => ({
  at,
  version: at,
  event,
  facts,
  ...more,
});

const declined: readonly Entry[] = [
  entry(1, "received"),
  entry(2, "cleared", {
    gate: "south",
    "gate choice": "rank 1, weight 3 of 4, because north was not ready",
  }),
  entry(9, "refused", { "reason code": "insufficient_funds", "answer responseCode": "51" }),
];

function tell(timeline: readonly Entry[], messages: typeof english) {
  return timelineOf({ timeline, callbacks: [] }, messages).map(({ title, facts }) =>
    [title, ...facts.map((fact) => fact.join(": "))].join(", "),
  );
}

test("the timeline of a decline shows why the gate was chosen and why the acquirer refused", () => {
  assert.deepEqual(tell(declined, english), [
    "Received",
    "Cleared, Gate: south: gates/south, Why this gate: rank 1, weight 3 of 4, " +
      "because north was not ready",
    "Refused, Reason: Insufficient funds, Response code: 51",
  ]);
});

test("the German timeline has no English word", () => {
  assert.deepEqual(tell(declined, german), [
    "Angenommen",
    "Freigegeben, Gate: south: gates/south, Warum dieses Gate: Rang 1, Gewicht 3 von 4, " +
      "denn north war nicht bereit",
    "Abgelehnt, Grund: Deckung reicht nicht aus, Antwortcode: 51",
  ]);
});

test("an inquiry that was not sent is not shown as a charge that was not found", () => {
  const asked = [
    entry(1, "inquiry_not_sent", { cause: "not_sent" }),
    entry(2, "inquiry_unanswered", { cause: "timeout" }),
  ];

  assert.deepEqual(tell(asked, english), [
    "Inquiry not sent, Cause: Not sent",
    "Inquiry unanswered, Cause: No answer in time",
  ]);
  assert.match(tell(asked, german).join(), /^Anfrage nicht gesendet,.*Anfrage ohne Antwort/);
});

// biome-ignore format: a table
const facts = [
  ["cause",                 "timeout",        "No answer in time",  "Keine rechtzeitige Antwort"],
  ["cause",                 "moon_phase",     "moon_phase",         "moon_phase"],
  ["request operation",     "return",         "Return",             "Erstattung"],
  ["authentication status", "AUTHENTICATED",  "Authenticated",      "Authentifiziert"],
  ["reason code",           "stolen_card",    "Stolen card",        "Karte gestohlen gemeldet"],
  ["reason code",           "brand_new_code", "Brand new code",     "Brand new code"],
  ["by",                    "toString",       "toString",           "toString"],
  ["gate id",               "7",              "7",                  "7"],
] as const;

for (const [name, value, inEnglish, inGerman] of facts) {
  test(`the fact ${name} ${value} reads “${inEnglish}” and “${inGerman}”`, () => {
    const told = [english, german].map((messages) => {
      const [step] = timelineOf(
        { timeline: [entry(1, "noted", { [name]: value })], callbacks: [] },
        messages,
      );
      return step?.facts[0]?.[1];
    });

    assert.deepEqual(told, [inEnglish, inGerman]);
  });
}

test("attempts to deliver a callback are among the steps, without the query of the URL", () => {
  const attempt = { sequence: 1, method: "GET", body: "", answer: "", ms: 40 };
  const url = "https://shop.example/paid?control=12ab&order=1";
  const callback = {
    order: "1",
    merchant: "demo",
    sequence: 1,
    url,
    tries: 2,
    madeAt: 2,
    state: "delivered" as const,
    resentAt: 30,
    resentBy: "ann",
  };
  const attempts = [
    { ...attempt, at: 3, url, failure: "refused" },
    { ...attempt, at: 30, url, status: 200 },
  ];

  const steps = timelineOf({ timeline: declined, callbacks: [{ callback, attempts }] }, english);

  assert.deepEqual(
    steps.map(({ title }) => title),
    [
      ...["Received", "Cleared", "Callback: refused", "Refused", "Callbacks sent again"],
      "Callback: 200",
    ],
  );
  assert.deepEqual(
    steps.map(({ isFailed = false }) => isFailed),
    [false, false, true, false, false, false],
  );
  assert.deepEqual(steps[4]?.facts, [["By", "ann"]]);
  assert.deepEqual(steps[5]?.facts, [
    ["Address", "https://shop.example/paid"],
    ["Took", "40 ms"],
  ]);
});

test("a rule shows what it did and its scope, or which data it lacked", () => {
  const rule = { kind: "velocity", scope: "merchant", facts: "count 9" } as const;

  assert.deepEqual(ruleOf({ ...rule, action: "force_3ds" }, english), [
    "Velocity (of the merchant)",
    "Force 3-D Secure count 9",
  ]);
  assert.deepEqual(ruleOf({ ...rule, missing: "ip", facts: "" }, english), [
    "Velocity (of the merchant)",
    "not known: ip",
  ]);
});

test("only fields that differ from the merchant's previous response are marked", () => {
  const seen = (status: string) => [
    { name: "status", value: status },
    { name: "name", value: "J & A" },
  ];
  const timeline = [
    entry(1, "received", {}, { seen: "status=processing\n&name=J+%26+A\n" }),
    entry(2, "cleared"),
    entry(3, "refused", {}, { seen: "status=declined&name=J+%26+A" }),
  ];
  const steps = timelineOf({ timeline, callbacks: [] }, english);

  assert.deepEqual(seenBefore(steps, 2), seen("processing"));
  assert.equal(isNews({ name: "status", value: "declined" }, seenBefore(steps, 2)), true);
  assert.equal(isNews({ name: "status", value: "processing" }, seenBefore(steps, 2)), false);
  assert.equal(isNews({ name: "error-code", value: "5" }, seenBefore(steps, 2)), true);
  // The values of the first response are not marked as new.
  assert.deepEqual(seenBefore(steps, 0), []);
  assert.equal(isNews({ name: "status", value: "processing" }, []), false);
});

const usd = (text: string) => ({ minor: 0, currency: "USD", text });
const line = { status: "approved" };
const transaction = {
  kind: "sale",
  stage: "sale_declined",
  status: "declined",
  amount: usd("7.05"),
  serialNumber: "s-1",
  choice: "only gate",
  reason: "insufficient_funds",
  finishedAt: 9,
};

test("totals and transactions are lists of fields without unknown values", () => {
  const totals = {
    held: usd("0.00"),
    charged: usd("9.00"),
    returned: usd("2.00"),
    chargedBack: usd("3.00"),
    left: usd("4.00"),
  };

  assert.deepEqual(totalsOf({ totals }, english).slice(-2), [
    { name: "Charged back", value: "3.00 USD" },
    { name: "Left to return", value: "4.00 USD" },
  ]);
  assert.deepEqual(
    fieldsOf(transaction, german).map(({ name, value }) => `${name}: ${value}`),
    [
      "Betrag: 7.05 USD",
      "Status: Abgelehnt",
      "Warum dieses Gate: einziges Gate",
      "Grund: Deckung reicht nicht aus",
    ],
  );
});

test("the stage and the serial number of a transaction are details", () => {
  assert.deepEqual(
    detailsOf(transaction, english).map(({ name, value }) => `${name}: ${value}`),
    ["Stage: sale_declined", "Serial number: s-1"],
  );
});

test("an order is read again while it is in progress, in doubt, or has a callback to deliver", () => {
  const processing = { ...transaction, status: "processing" };
  const ended = { line, transactions: [transaction], callbacks: [], may: { settle: [] } };
  const callbackIn = (state: string) => ({ ...ended, callbacks: [{ callback: { state } }] });

  assert.equal(isUnfinished(undefined), false);
  assert.equal(isUnfinished(ended), false);
  assert.equal(isUnfinished({ ...ended, transactions: [transaction, processing] }), true);
  assert.equal(isUnfinished({ ...ended, line: { ...line, status: "processing" } }), true);
  assert.equal(isUnfinished({ ...ended, line: { ...line, status: "in_doubt" } }), true);
  assert.equal(isUnfinished({ ...ended, may: { settle: ["ask"] } }), true);
  assert.deepEqual(["due", "delivered", "given_up"].map(callbackIn).map(isUnfinished), [
    ...[true, false, false],
  ]);
});
