/** The Erro that answers a fault, as its receiver reads it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  MessageFault,
  makeErro,
  readMessage,
  textOf,
  protocolVersions as versions,
  writeMessage,
} from "./index.ts";
import { acs, ds, makeAreq, makeAres, transaction } from "./testing.ts";

test("an Erro names the elements and the transaction of the message that it answers", () => {
  for (const version of versions) {
    const areq = makeAreq(version, { mcc: undefined, homePhone: { cc: "1" } });
    const fault = readMessage(JSON.stringify(areq), { types: ["AReq"] });
    assert.ok(fault instanceof MessageFault);

    const erro = makeErro(fault, "D", { messageVersion: version, dsTransID: ds });

    assert.equal(erro.errorCode, "201");
    assert.equal(erro.errorDetail, "mcc,homePhone.subscriber");
    assert.equal(erro.errorComponent, "D");
    assert.equal(erro.errorMessageType, "AReq");
    assert.equal(erro.threeDSServerTransID, transaction);
    assert.equal(erro.dsTransID, ds);
    assert.deepEqual(readMessage(writeMessage(erro), { types: ["ARes", "Erro"] }), erro);
  }
});

test("an unreadable message is answered too", () => {
  const fault = readMessage("{", { types: ["AReq"] });
  assert.ok(fault instanceof MessageFault);

  const erro = makeErro(fault, "S", { messageVersion: "2.2.0" });

  assert.equal(textOf(erro, "errorCode"), "101");
  assert.equal(textOf(erro, "errorMessageType"), undefined);
  assert.ok(writeMessage(erro).length > 0);
});

test("an Erro is written for a fault that the caller found", () => {
  const fault = new MessageFault("301", ["acsTransID"]);

  const erro = makeErro(fault, "S", { messageVersion: "2.1.0", acsTransID: acs });

  assert.equal(erro.errorDetail, "acsTransID");
  assert.equal(erro.acsTransID, acs);
  const long = new MessageFault("404", [], "x".repeat(5000));
  assert.ok(writeMessage(makeErro(long, "A", { messageVersion: "2.1.0" })).length < 3000);
  assert.ok(writeMessage(makeErro(new MessageFault("403", []), "C", { messageVersion: "2.3.1" })));
});

test("an Erro may come instead of the answer, in another version and without ids", () => {
  const erro = {
    messageType: "Erro",
    messageVersion: "2.1.0",
    errorCode: "102",
    errorComponent: "A",
    errorDescription: "Version",
    errorDetail: "2.1.0",
  };

  const read = readMessage(JSON.stringify(erro), {
    types: ["ARes", "Erro"],
    request: makeAreq("2.2.0"),
  });

  assert.deepEqual(read, erro);
  const answer = { types: ["Erro"], request: makeAreq("2.2.0") } as const;
  assert.ok(readMessage(JSON.stringify(makeAres("2.2.0")), answer) instanceof MessageFault);
});
