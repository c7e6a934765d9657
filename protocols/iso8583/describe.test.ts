/**
 * The log's view of a message. The test searches the text for every value that must not be visible.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  describe,
  type IsoMessage,
  iso87Ascii,
  iso87Bitmapped,
  iso93Ascii,
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

test("a card number that is too short and private text in another form are hidden completely", () => {
  const fields = { 2: "400000100013", 48: "CVV2=737" };

  assert.deepEqual(describe({ mti: "0200", fields }), { mti: "0200", 2: "****", 48: "****" });
});

test("a field on no list is hidden", () => {
  assert.equal(describe({ mti: "0200", fields: { 102: "12345678" } })["102"], "****");
});

test("private data is hidden unless the layout is known to have no card data in it", () => {
  const fields = { 44: "A5", 60: "20", 61: "1", 62: "151121000000001", 63: "Thanks", 120: "x" };

  const hidden = { 60: "****", 61: "****", 62: "****", 63: "****", 120: "****" };
  assert.deepEqual(describe({ mti: "0210", fields }), { mti: "0210", 44: "A5", ...hidden });
  const shown = { 62: "151121000000001", 63: "Thanks" };
  const all = { mti: "0210", 44: "A5", ...hidden, ...shown };
  assert.deepEqual(describe({ mti: "0210", fields }, iso87Ascii), all);
});

test("a host's text that contains a card number is hidden", () => {
  const texts = [
    ...["4000001000000000 OK", "4000-0010-0000-0000", "4000.0010.0000.0000"],
    ...["card 4000001000005", "3614 890064 7913", "AMEX378282246310005", "3782 822463 10005"],
  ];
  for (const text of texts) {
    const described = describe({ mti: "0210", fields: { 43: text, 63: text } }, iso87Ascii);
    assert.deepEqual(described, { mti: "0210", 43: "****", 63: "****" }, text);
  }
});

test("fields that are text in one edition only, and sub-elements, show no card number", () => {
  const pan = "4000001000000000";
  const text = { 31: pan, 66: pan, 72: pan, 95: pan, 99: pan };
  const fields = { ...text, 48: writeSubelements("T", [["63", pan]]) };

  const described = describe({ mti: "1210", fields }, iso93Ascii);

  const hidden = { 31: "****", 48: "T 63=****", 66: "****", 72: "****", 95: "****", 99: "****" };
  assert.deepEqual(described, { mti: "1210", ...hidden });
  assert.equal(describe({ mti: "1210", fields: { 99: "123456" } }, iso93Ascii)["99"], "123456");
});

test("values that are not text are hidden", () => {
  assert.equal(describe({ mti: "0210", fields: { 44: "a\u00e9" } })["44"], "****");
});

test("sub-fields without a row are hidden together", () => {
  const fields = { 62: "410000000000000001511210000000014000001000000000" };

  const described = describe({ mti: "0210", fields }, iso87Bitmapped);

  assert.equal(described["62"], "2=151121000000001 rest=****");
});

test("sub-fields of a bitmapped layout are distinguished, and only the harmless ones are shown", () => {
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
  const unreadable = { 62: fields[62].slice(0, -2), 126: `${fields[126]}00` };
  assert.deepEqual(describe({ mti: "0200", fields: unreadable }, iso87Bitmapped), {
    mti: "0200",
    62: "****",
    126: "****",
  });
  assert.equal(describe({ mti: "0200", fields })["126"], "****");
});
