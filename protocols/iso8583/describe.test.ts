/** What the log may see of a message. Every value that must not be seen is looked for as text. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  describe,
  type IsoMessage,
  iso87Bitmapped,
  payment62,
  security126,
  writeComposite,
  writeSubelements,
} from "./index.ts";
import { samples } from "./testing.ts";

const sale: IsoMessage = {
  mti: "0200",
  fields: {
    2: "4000001000000000013",
    4: "000000001500",
    14: "2803",
    35: "4000001000000000013=28032010000000000",
    41: "10000018",
    48: writeSubelements("T", [
      ["42", "0103212"],
      ["43", "AAABBJg0VhI0VniQEjRWAAAAAAA="],
      ["92", "737"],
    ]),
    52: "0123456789ABCDEF",
    55: "5A0A4000001000000000013F",
    126: "00800000000000000000010498345612345678901234560000000000",
  },
};

test("a message is described with its card and authentication values masked", () => {
  assert.deepEqual(describe(sale), {
    mti: "0200",
    2: "400000****0013",
    4: "000000001500",
    14: "****",
    35: "****",
    41: "10000018",
    48: "T 42=0103212 43=**** 92=****",
    52: "****",
    55: "****",
    126: "****",
  });
});

test("no sample shows its card number, expiry or authentication value", () => {
  for (const message of samples.good) {
    const described = JSON.stringify(describe(message));
    for (const field of [2, 14, 52, 55, 126]) {
      const value = message.fields[field];
      if (value !== undefined)
        assert.ok(!described.includes(`"${value}"`), `${message.id} ${field}`);
    }
    assert.ok(!described.includes(message.fields[2] ?? "no card"), message.id);
    assert.ok(!described.includes("AAABBJg0VhI0VniQEjRW"), message.id);
  }
});

test("too short a card number and private text in another shape are hidden whole", () => {
  const fields = { 2: "400000100013", 48: "CVV2=737" };

  assert.deepEqual(describe({ mti: "0200", fields }), { mti: "0200", 2: "****", 48: "****" });
});

test("a field that nobody has judged is hidden", () => {
  assert.equal(describe({ mti: "0200", fields: { 102: "12345678" } })["102"], "****");
});

test("sub-fields of a bitmapped layout are told apart, and only the harmless ones shown", () => {
  const cavv = "0000010498345612345678901234560000000000";
  const fields = {
    60: "0000000005",
    62: writeComposite(payment62, { 2: "151121000000001" }),
    126: writeComposite(security126, { 9: cavv, 10: "11 737", 13: "R" }),
  };

  assert.deepEqual(describe({ mti: "0200", fields }, iso87Bitmapped), {
    mti: "0200",
    60: "0000000005",
    62: "2=151121000000001",
    126: "9=**** 10=**** 13=R",
  });
  const unreadable = { 62: fields[62].slice(2), 126: `${fields[126]}00` };
  assert.deepEqual(describe({ mti: "0200", fields: unreadable }, iso87Bitmapped), {
    mti: "0200",
    62: "****",
    126: "****",
  });
  assert.equal(describe({ mti: "0200", fields })["126"], "****");
});
