/**
 * The message log forgets the oldest messages, masks all of them, and stores long ones completely.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { encode, type IsoMessage, iso87Ascii } from "@tollgate/protocols/iso8583";
import { MessageLog } from "./message-log.ts";
import { binaryDialect, charge } from "./testing/gateway.ts";

function record(log: MessageLog, message: IsoMessage, specification = iso87Ascii): void {
  const reference = message.fields[37] ?? "";
  const payload = encode(specification, message);
  log.record("received", { reference, payload, specification, ms: 0 });
}

test("only the last messages are kept, oldest first", () => {
  const log = new MessageLog(3);
  const sales = Array.from({ length: 5 }, () => charge());
  for (const sale of sales) record(log, sale);

  assert.deepEqual(
    log.list().map(({ fields }) => fields["37"]),
    sales.slice(2).map(({ fields }) => fields[37]),
  );
  assert.equal(log.list(sales[0]?.fields[37]).length, 0);
  assert.equal(log.list(sales[4]?.fields[37]).length, 1);
});

test("a message that is longer than its slot is stored completely, and forgotten in its turn", () => {
  const log = new MessageLog(2);
  const long = charge({ more: { 63: "R".padEnd(900, "x") } });
  record(log, long);
  assert.equal(log.list()[0]?.fields["63"]?.length, 900);

  const short = [charge(), charge()];
  for (const sale of short) record(log, sale);
  assert.deepEqual(
    log.list().map(({ fields }) => fields["37"]),
    short.map(({ fields }) => fields[37]),
  );
});

test("printing the log object shows none of its messages", () => {
  const log = new MessageLog(2);
  record(log, charge({ card: "4000002000000016" }));

  assert.doesNotMatch(inspect(log, { depth: 9, showHidden: true }), /4000002000000016|Buffer/);
  assert.equal(JSON.stringify(log), "{}");
});

test("messages of both dialects are listed together, decoded and masked", () => {
  const log = new MessageLog(2);
  const proof = { cvv: "7311", eci: "05", cavv: "AB".repeat(20) };
  record(log, charge(proof));
  record(log, charge({ ...proof, dialect: binaryDialect }), binaryDialect.specification);

  const [inAscii, inBinary] = log.list();

  assert.equal(inAscii?.fields["48"], "T 42=05 43=**** 92=****");
  assert.equal(inBinary?.fields["60"], "0000000005");
  assert.equal(inBinary?.fields["126"], "9=**** 10=****");
  assert.doesNotMatch(JSON.stringify(log.list()), /7311|ABAB|q6ur|4000001000000018/);
});

test("invalid bytes are listed as such", () => {
  const log = new MessageLog(2);
  const ascii = { specification: iso87Ascii, ms: 0 };
  log.record("sent", { reference: "R1", payload: Buffer.from("nonsense"), ...ascii });

  const at = "1970-01-01T00:00:00.000Z";
  const fields = { unreadable: "8 bytes" };
  assert.deepEqual(log.list("R1"), [{ at, direction: "sent", mti: "", fields }]);
});
