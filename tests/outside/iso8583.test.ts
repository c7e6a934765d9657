/**
 * Published ISO 8583 messages as a host's answers to real sales. An independent codec wrote them.
 * The test adds the trace number, reference, amount and currency of the sale, raw elements that the
 * gateway does not use, and damage. An approval is never lost, and never invented.
 */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { DecodeFault, decode, iso87Ascii, iso87Bitmapped } from "@tollgate/protocols/iso8583";
import { type LayoutRow, samples } from "../../protocols/iso8583/testing.ts";
import { type AnsweringHost, startAnsweringHost } from "../support/bank/answering-host.ts";
import { atEnd } from "../support/clean-up.ts";
import type { Acknowledged } from "../support/merchant.ts";
import { until } from "../support/until.ts";
import { startWorld, type World } from "../support/world.ts";

const answerTimeoutMs = 30_000;

/** Elements as they are on the wire, with their lengths. */
type Elements = Map<number, Buffer>;
type Change = (elements: Elements) => void;
type Damage = (payload: Buffer) => Buffer;
/**
 * "approved" was read at once, "inquired" was unreadable and found by an inquiry, and "reversed"
 * must not be trusted.
 */
type Outcome = "approved" | "inquired" | "reversed";
type Host = "ascii" | "binary";
type Case = readonly [what: string, Host, sample: string, Change, Damage, Outcome];

const text = (characters: string) => Buffer.from(characters, "latin1");
const hex = (digits: string) => Buffer.from(digits, "hex");
const put =
  (...elements: readonly (readonly [number, Buffer])[]): Change =>
  (all) => {
    for (const [field, bytes] of elements) all.set(field, bytes);
  };
const asIs = <Value>(value: Value): Value => value;
const cut =
  (bytes: number): Damage =>
  (payload) =>
    payload.subarray(0, payload.length - bytes);
const add =
  (bytes: Buffer): Damage =>
  (payload) =>
    Buffer.concat([payload, bytes]);
const lowerBitmap: Damage = (payload) =>
  Buffer.concat([
    payload.subarray(0, 4),
    text(payload.subarray(4, 36).toString("latin1").toLowerCase()),
    payload.subarray(36),
  ]);
/** The sample of a reversal has 68 and no approval code. */
const approved: Change = put([38, text("A1B2C3")], [39, text("00")]);
const approvedWith =
  (...elements: readonly (readonly [number, Buffer])[]): Change =>
  (all) => {
    approved(all);
    put(...elements)(all);
  };

// biome-ignore format: a table
const cases: readonly Case[] = [
  ["as published",                        "ascii",  "a02-0110", asIs,                                                        asIs, "approved"],
  ["with a network id (24)",              "ascii",  "a02-0110", put([24, text("333")]),                                      asIs, "approved"],
  ["with settlement amounts",             "ascii",  "a02-0110", put([5, text("000000010420")], [9, text("61000000")], [16, text("1114")], [50, text("978")], [51, text("840")]), asIs, "approved"],
  ["with fees and the card's country",    "ascii",  "a02-0110", put([20, text("276")], [28, text("C00000010")], [31, text("D00000000")]), asIs, "approved"],
  ["with accounts and private elements",  "ascii",  "a02-0110", put([102, text("06123456")], [120, text("004abcd")], [127, text("000")]), asIs, "approved"],
  ["with the card number masked",         "ascii",  "a02-0110", put([2, text("16400000******0016")]),                        asIs, "approved"],
  ["with words that are not ASCII",       "ascii",  "a02-0110", put([44, text("07Caf\xe9 ok")], [63, text("003\x01\x02\xff")]), asIs, "approved"],
  ["with longer words than the standard", "ascii",  "a02-0110", put([44, text(`40${"x".repeat(40)}`)]),                      asIs, "approved"],
  ["with its bitmap in lower case",       "ascii",  "a02-0110", put([120, text("000")]),                                     lowerBitmap, "approved"],
  ["with spaces at its end",              "ascii",  "a02-0110", asIs,                                                        add(text("   ")), "approved"],
  ["with an id and words that are none",  "ascii",  "a02-0110", put([62, text("004a\xe9\x00b")], [63, text("010R0205ab\x00\x01c")]), asIs, "approved"],
  ["without its last byte",               "ascii",  "a02-0110", asIs,                                                        cut(1), "reversed"],
  ["with a digit too many",               "ascii",  "a02-0110", asIs,                                                        add(text("0")), "reversed"],
  ["with a letter in its amount",         "ascii",  "a02-0110", put([4, text("0000000010I5")]),                              asIs, "reversed"],
  ["for another amount",                  "ascii",  "a02-0110", put([4, text("000000010420")]),                              asIs, "reversed"],
  ["in another currency",                 "ascii",  "a02-0110", put([49, text("978")]),                                      asIs, "reversed"],
  ["with a wrong length inside",          "ascii",  "a02-0110", put([62, text("016306318033816101")]),                       asIs, "reversed"],
  ["that announces a third bitmap",       "ascii",  "a02-0110", put([65, text("0000000000000000")]),                         asIs, "reversed"],
  ["as published, with its elements",     "binary", "b03-0420", approved,                                                    asIs, "approved"],
  ["with a network id (24), odd digits",  "binary", "b03-0420", approvedWith([24, hex("0333")], [102, hex("0341424D")]),     asIs, "approved"],
  ["with fees and private bytes",         "binary", "b03-0420", approvedWith([28, hex("4300000010")], [63, hex("0002ff00")]), asIs, "approved"],
  // An unreadable answer leads to an inquiry, and the bank knows the sale.
  ["without its last byte",               "binary", "b03-0420", approved,                                                    cut(1), "inquired"],
  ["with a letter in its amount",         "binary", "b03-0420", approvedWith([4, hex("00000000101f")]),                      asIs, "inquired"],
  ["with an id (24) padded on the right", "binary", "b03-0420", approvedWith([24, hex("333f")]),                             asIs, "inquired"],
];

test("published ISO 8583 messages answer real sales", async (t) => {
  const world = await startWorld(t);
  const hosts: Readonly<Record<Host, AnsweringHost>> = {
    ascii: await startAnsweringHost(world.bank.hostPort),
    binary: await startAnsweringHost(Number(world.bank.binaryHostAddress.split(":").at(-1))),
  };
  atEnd(t, () => Promise.all(Object.values(hosts).map((host) => host.close())));
  await world.changeGate("sandbox", { port: hosts.ascii.port });
  await world.changeGate("sandbox-binary", { port: hosts.binary.port });

  for (const [what, kind, sample, change, damage, outcome] of cases) {
    await t.test(`${kind}, ${what}: ${outcome}`, async () => {
      const merchant = world.merchant(kind === "ascii" ? "plain" : "binary");
      hosts[kind].rewrite((answer) => replaceApproval(kind, answer, { sample, change, damage }));

      const before = countUnreadable(world);

      const sale = await merchant.sale();
      await until("the answer is read or found unreadable", async () => {
        const { status } = await merchant.status(sale);
        return status !== "processing" || countUnreadable(world) > before || undefined;
      });
      if (outcome !== "approved") await world.pass(answerTimeoutMs);

      const { "order-stage": stage, "processor-rrn": reference = "" } = await merchant.status(sale);
      assert.equal(stage, outcome === "reversed" ? "sale_error" : "sale_approved");
      const kinds = world.bank.ledger(reference).map((entry) => entry.kind);
      assert.deepEqual(kinds, outcome === "reversed" ? ["sale", "reversal"] : ["sale"]);
      const asked = world.bank.messages(reference).filter(({ mti }) => mti === "0600");
      assert.equal(asked.length, outcome === "inquired" ? 1 : 0);
      if (outcome === "approved") await expectReturned(world, merchant, sale);
    });
  }
});

/** Asserts that the messages after this approval can be written. */
async function expectReturned(world: World, merchant: Merchant, sale: Acknowledged) {
  await merchant.return(sale, { amount: "4.00" });
  await world.settle();
  assert.equal((await merchant.status(sale))["order-stage"], "reversal_approved");
}

function countUnreadable({ logged }: World): number {
  return logged.filter((line) => line.includes("acquirer.message_unreadable")).length;
}

type Merchant = ReturnType<World["merchant"]>;
type Replacement = { readonly sample: string; readonly change: Change; readonly damage: Damage };

/** Replaces the bank's approval of a sale by the published message. All else passes unchanged. */
function replaceApproval(kind: Host, answer: Buffer, { sample, change, damage }: Replacement) {
  const isText = kind === "ascii";
  const said = decode(isText ? iso87Ascii : iso87Bitmapped, answer);
  assert.ok(!(said instanceof DecodeFault));
  if (said.mti !== "0210") return answer;
  const elements = readElements(sample);
  for (const field of [4, 11, 37, 49]) {
    const value = said.fields[field] ?? "";
    const isPacked = !isText && field !== 37;
    elements.set(field, isPacked ? hex(value.padStart((value.length + 1) & ~1, "0")) : text(value));
  }
  change(elements);
  return damage(compose(isText, said.mti, elements));
}

/** Reads the sample's elements by the layout in the file beside it. */
function readElements(id: string): Elements {
  const sample = samples.good.find((each) => each.id === id);
  assert.ok(sample !== undefined);
  const payload = hex(sample.hex);
  const layout = samples.specs[sample.spec];
  const numbers = Object.keys(sample.fields).map(Number);
  const isText = sample.spec === "iso87-ascii";
  const bitmaps = (numbers.at(-1) ?? 0) > 64 ? 2 : 1;
  let at = isText ? 4 + 16 * bitmaps : 2 + 8 * bitmaps;
  const elements: Elements = new Map();
  for (const number of numbers) {
    const row: LayoutRow | undefined = layout.fields.find(({ field }) => field === number);
    assert.ok(row !== undefined);
    const characters = (sample.fields[number] ?? "").length;
    const isPacked = row.dataEncoding === "bcd" || row.dataEncoding === "binary";
    const bytes = row.lengthBytes + (isPacked ? (characters + 1) >> 1 : characters);
    elements.set(number, payload.subarray(at, at + bytes));
    at += bytes;
  }
  assert.equal(at, payload.length);
  return elements;
}

function compose(isText: boolean, mti: string, elements: Elements): Buffer {
  const numbers = [...elements.keys()].sort((one, other) => one - other);
  const needsSecond = (numbers.at(-1) ?? 0) > 64;
  const bitmap = Buffer.alloc(needsSecond ? 16 : 8);
  for (const number of needsSecond ? [1, ...numbers] : numbers) {
    const at = (number - 1) >> 3;
    bitmap[at] = (bitmap[at] ?? 0) | (0x80 >> ((number - 1) & 7));
  }
  const digits = bitmap.toString("hex").toUpperCase();
  const head = isText ? text(mti + digits) : hex(mti + digits);
  return Buffer.concat([head, ...numbers.map((number) => elements.get(number) ?? text(""))]);
}
