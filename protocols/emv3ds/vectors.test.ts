/** Recorded traffic of three networks, each message with a verdict. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type Emv3dsMessage, MessageFault, type MessageType, readMessage } from "./index.ts";

type Vector = {
  readonly file: string;
  readonly case: string;
  readonly messageType: MessageType;
  readonly verdict: "good" | "defective" | "unsure";
  readonly errorCodes?: readonly string[];
  readonly elements?: readonly string[];
};

const { messages } = JSON.parse(read("index.json")) as { readonly messages: readonly Vector[] };

test("every good message is accepted unchanged", () => {
  const good = messages.filter(({ verdict }) => verdict === "good");
  assert.equal(good.length, 85);
  for (const vector of good) {
    assert.deepEqual(readVector(vector), JSON.parse(read(vector.file)), vector.file);
  }
});

test("every defective message is refused for its defect", () => {
  const defective = messages.filter(({ verdict }) => verdict === "defective");
  assert.equal(defective.length, 16);
  for (const vector of defective) {
    const fault = readVector(vector);
    assert.ok(fault instanceof MessageFault, vector.file);
    assert.ok(vector.errorCodes?.includes(fault.code), `${vector.file} ${fault.code}`);
    assert.notEqual(fault.elements.length, 0, vector.file);
    for (const element of fault.elements) {
      assert.ok(vector.elements?.includes(element), `${vector.file} ${element}`);
    }
  }
});

test("with its empty object gone, a defective message is refused for its ISO codes, all of them", () => {
  for (const vector of messages.filter(({ verdict }) => verdict === "defective")) {
    const { threeDSRequestorPriorAuthenticationInfo: empty, ...rest } = JSON.parse(
      read(vector.file),
    );
    assert.deepEqual(empty, {}, vector.file);

    const fault = readMessage(JSON.stringify(rest), { types: ["AReq"] });

    assert.ok(fault instanceof MessageFault, vector.file);
    assert.equal(fault.code, "304", vector.file);
    const expected = vector.elements?.filter(
      (element) => element !== "threeDSRequestorPriorAuthenticationInfo",
    );
    assert.deepEqual([...fault.elements].sort(), [...(expected ?? [])].sort(), vector.file);
  }
});

test("messages without a verdict are read or refused", () => {
  const unsure = messages.filter(({ verdict }) => verdict === "unsure");
  assert.equal(unsure.length, 11);
  for (const vector of unsure) {
    const answer = readVector(vector);
    assert.ok(answer instanceof MessageFault || answer.messageType === vector.messageType);
  }
});

function readVector(vector: Vector): Emv3dsMessage | MessageFault {
  const { messageType, file } = vector;
  const areq = messages.find((one) => one.case === vector.case && one.messageType === "AReq");
  const request = areq && (JSON.parse(read(areq.file)) as Emv3dsMessage);
  const isAnswer = messageType === "ARes" && request !== undefined;
  return readMessage(read(file), { types: [messageType], ...(isAnswer && { request }) });
}

function read(file: string): string {
  return readFileSync(join(import.meta.dirname, "vectors", file), "utf8");
}
