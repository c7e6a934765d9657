/** The challenge in the browser and the result of record, row by row of the catalogue. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { after, test } from "node:test";
import {
  decodeFormValue,
  type Emv3dsMessage,
  encodeFormValue,
  type ProtocolVersion,
} from "@tollgate/protocols/emv3ds";
import { AuthenticationValues } from "../issuer.ts";
import { startTestBank } from "../testing/bank-for-tests.ts";
import { post } from "../testing/browser.ts";
import {
  answer,
  askForChallenge,
  formOf,
  openChallenge,
  type Pressed,
  readCRes,
  sessionText,
} from "../testing/challenge.ts";
import { notificationUrl } from "../testing/requests.ts";
import { startThreeDsServer } from "../testing/threeds-server.ts";

const bank = await startTestBank({ after });
const server = await startThreeDsServer({ after }, bank);
const issuer = await AuthenticationValues.open(join(bank.dataDir, "bank", "cavv.key"));

function resultsOf(transactionId: string): readonly Emv3dsMessage[] {
  return server.results.filter((rreq) => rreq["threeDSServerTransID"] === transactionId);
}

const right: Pressed = {};
const wrong: Pressed = { code: "1235" };
const fail: Pressed = { action: "fail" };
const cancel: Pressed = { action: "cancel" };

// biome-ignore format: a table
const rows: readonly (readonly [name: string, card: string, version: ProtocolVersion, pressed: Pressed, told: string, result: string])[] = [
  ["challenge",           "4000002000000024", "2.2.0", right,         "Y", "Y"],
  ["challenge",           "4000002000000024", "2.2.0", wrong,         "N", "N"],
  ["challenge",           "4000002000000024", "2.2.0", { code: "" },  "N", "N"],
  ["challenge",           "4000002000000024", "2.2.0", fail,          "N", "N"],
  ["challenge",           "4000002000000024", "2.2.0", cancel,        "N", "N cancelled"],
  ["challenge-failed",    "4000002000000032", "2.2.0", right,         "N", "N"],
  ["challenge-cancelled", "4000002000000040", "2.2.0", right,         "N", "N cancelled"],
  ["result-differs",      "4000002000000131", "2.2.0", right,         "Y", "N"],
  ["result-differs",      "4000002000000131", "2.2.0", cancel,        "N", "N cancelled"],
  ["challenge-no-method", "4000002100000023", "2.2.0", right,         "Y", "Y"],
  ["challenge-210",       "4000002200000022", "2.1.0", right,         "Y", "Y"],
  ["challenge-210",       "4000002200000022", "2.1.0", wrong,         "N", "N"],
  ["challenge-231",       "4000002300000021", "2.3.1", right,         "Y", "Y"],
  ["challenge-231",       "4000002300000021", "2.3.1", cancel,        "N", "N cancelled"],
];

for (const [name, card, version, pressed, told, result] of rows) {
  const pressing = pressed.action ?? `code ${pressed.code ?? "1234"}`;
  test(`${name}, ${pressing}: the browser is told ${told}, the result is ${result}`, async () => {
    const asked = await askForChallenge(server, card, version);
    const form = formOf(await answer(await openChallenge(asked), pressed));

    assert.equal(form.action, notificationUrl);
    assert.equal(form.fields["threeDSSessionData"], sessionText);
    const cres = readCRes(form);
    assert.deepEqual([cres["transStatus"], cres.messageVersion], [told, version]);
    assert.equal(cres["threeDSServerTransID"], asked.transactionId);

    const [rreq, ...more] = resultsOf(asked.transactionId);
    assert.equal(more.length, 0);
    assert.equal(rreq?.["transStatus"], result[0]);
    assert.equal(rreq?.["challengeCancel"], result.includes("cancelled") ? "01" : undefined);
    assert.equal(rreq?.["eci"], result === "Y" ? "05" : undefined);
    assert.equal(issuer.isGenuine(card, String(rreq?.["authenticationValue"])), result === "Y");
    const rres = await bank.waitForThreeDsMessage({
      type: "RRes",
      transactionId: asked.transactionId,
    });
    assert.equal(rres["resultsStatus"], "01");
  });
}

test("challenge-abandoned: the page says so, and neither a result nor an answer is sent", async () => {
  const asked = await askForChallenge(server, "4000002000000057");
  const page = await openChallenge(asked);
  assert.match(page.html, /the bank stays silent/);

  for (const pressed of [right, cancel]) {
    const after = await answer(page, pressed);
    assert.deepEqual([after.status, after.forms.length], [200, 0]);
    assert.match(after.html, /the bank stays silent/);
  }
  const types = bank.threeDsMessages(asked.transactionId).map(({ type }) => type);
  assert.deepEqual(types, ["AReq", "ARes", "CReq"]);
});

test("result-late: the browser is ahead of the result, which comes three seconds later", async () => {
  const asked = await askForChallenge(server, "4000002000000123");
  const { transactionId } = asked;
  const startedAt = performance.now();
  const form = formOf(await answer(await openChallenge(asked)));
  assert.equal(readCRes(form)["transStatus"], "Y");
  assert.deepEqual(resultsOf(transactionId), []);

  const rreq = await bank.waitForThreeDsMessage({ type: "RReq", transactionId });

  assert.equal(rreq["transStatus"], "Y");
  assert.ok(performance.now() - startedAt > 2_900);
  assert.equal(
    (await bank.waitForThreeDsMessage({ type: "RRes", transactionId }))["resultsStatus"],
    "01",
  );
});

test("the page can be opened again, and is decided once", async () => {
  const asked = await askForChallenge(server, "4000002000000024");
  const [first, second] = [await openChallenge(asked), await openChallenge(asked)];
  assert.deepEqual(formOf(second), formOf(first));

  const answers = await Promise.all([answer(first), answer(second), answer(first, fail)]);
  const again = await answer(await openChallenge(asked), cancel);

  const forms = [...answers, again].map((page) => formOf(page));
  for (const form of forms) assert.deepEqual(form, forms[0]);
  assert.equal(readCRes(formOf(again))["transStatus"], "Y");
  assert.equal(resultsOf(asked.transactionId).length, 1);
});

test("a result whose connection fails is sent once more, and the browser continues", async () => {
  const lost = await askForChallenge(server, "4000002000000024");
  server.answerNext(undefined);
  await answer(await openChallenge(lost));
  assert.equal(resultsOf(lost.transactionId).length, 2);

  const refused = await askForChallenge(server, "4000002000000024");
  const erro = { errorCode: "403", errorComponent: "S", errorDescription: "a", errorDetail: "a" };
  server.answerNext(JSON.stringify({ messageType: "Erro", messageVersion: "2.2.0", ...erro }));
  const form = formOf(await answer(await openChallenge(refused)));
  assert.equal(resultsOf(refused.transactionId).length, 1);
  assert.equal(readCRes(form)["transStatus"], "Y");

  const unreachable = { threeDSServerURL: "https://127.0.0.1:1/results" };
  const alone = await askForChallenge(server, "4000002000000024", "2.2.0", unreachable);
  assert.equal(readCRes(formOf(await answer(await openChallenge(alone))))["transStatus"], "Y");
  assert.match(bank.logged.join(), /An RReq could not be delivered: .*ECONNREFUSED/);
});

test("a result is not sent to a server with a certificate of another authority", async (t) => {
  const stranger = await startTestBank(t, "own keys");
  const other = await startThreeDsServer(t, stranger);
  const elsewhere = { threeDSServerURL: other.resultUrl };
  const asked = await askForChallenge(server, "4000002000000024", "2.2.0", elsewhere);

  await answer(await openChallenge(asked));

  assert.deepEqual(other.results, []);
});

test("an unknown challenge is answered with a sentence", async () => {
  const { acsUrl, creq, transactionId } = await askForChallenge(server, "4000002000000024");
  const known: Emv3dsMessage = JSON.parse(String(decodeFormValue(creq)));

  const foreign = { ...known, acsTransID: randomUUID() };
  const mixed = { ...known, threeDSServerTransID: randomUUID() };
  for (const other of [foreign, mixed]) {
    const page = await post(acsUrl, { creq: encodeFormValue(other) });
    assert.equal(page.status, 404);
    assert.match(page.html, /does not know this payment/);
  }
  assert.equal((await post(`${acsUrl}/answer`, { acsTransID: transactionId })).status, 404);
  assert.equal((await post(`${acsUrl}/answer`, {})).status, 404);
  for (const odd of ["", "no base64!", encodeFormValue("{}"), encodeFormValue("[")]) {
    assert.equal((await post(acsUrl, { creq: odd })).status, 400, odd);
  }
});
