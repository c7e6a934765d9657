/**
 * The directory server over its own port: which clients it accepts, and how it answers odd
 * requests.
 */
import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { Agent } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { protocolVersions, readCardRanges } from "@tollgate/protocols/emv3ds";
import { openIdentities } from "../certificates/chains.ts";
import { startTestBank } from "../testing/bank-for-tests.ts";
import { makeAReq, makePReq } from "../testing/requests.ts";
import { send, startThreeDsServer } from "../testing/threeds-server.ts";

const bank = await startTestBank({ after });
const server = await startThreeDsServer({ after }, bank);
const address = `${bank.directoryUrl}/emv3ds`;
const card = "4000002000000016";

test("clients without a certificate, or with one of another authority, are refused", async (t) => {
  const ca = await readFile(join(bank.tlsFolder, "directory-ca.pem"), "utf8");
  const folder = await mkdtemp(join(tmpdir(), "tollgate-foreign-"));
  t.after(() => rm(folder, { recursive: true }));
  const { directory: foreign } = await openIdentities(folder, Date.now());
  const body = JSON.stringify(makePReq("2.2.0"));

  const strangers = [new Agent({ ca }), new Agent({ ca, cert: foreign.cert, key: foreign.key })];
  for (const agent of strangers) {
    t.after(() => agent.destroy());
    await assert.rejects(send(address, body, { agent }), { name: "Error" });
  }
  assert.equal(bank.threeDsMessages().length, 0);
});

test("a request that is not 3-D Secure is refused by HTTP", async () => {
  const preq = JSON.stringify(makePReq("2.2.0"));
  assert.equal((await server.post("/emv3ds", "", { method: "GET" })).status, 405);
  assert.equal((await server.post("/emv3ds", preq, { type: "text/plain" })).status, 415);
  assert.equal((await server.post("/threeds102", "<a/>", { type: "text/html" })).status, 415);
  assert.equal((await server.post("/elsewhere", preq)).status, 404);
  assert.equal((await server.post("/emv3ds", "x".repeat(1_048_577))).status, 413);
  const fine = await server.post("/emv3ds", preq, { type: "Application/JSON; charset=utf-8" });
  assert.deepEqual(
    [fine.status, fine.headers["content-type"]],
    [200, "application/json; charset=utf-8"],
  );
});

for (const version of protocolVersions) {
  test(`the card ranges of ${version} cover every card but two ranges`, async () => {
    const pres = await server.ask(makePReq(version));
    assert.equal(pres.messageVersion, version);
    const ranges = readCardRanges(pres);
    const full = (number: string, digit = "0") => number.padEnd(19, digit);
    const find = (number: string) =>
      ranges.filter((it) => full(it.start) <= full(number) && full(number) <= full(it.end, "9"));

    const methodUrl = `${bank.url}/acs/method`;
    // biome-ignore format: a table
    const rows = [
      ["400000200001",        "2.2.0", methodUrl], ["4111111111111111",    "2.2.0", methodUrl],
      ["4000002000000016",    "2.2.0", methodUrl], ["5200000000000015",    "2.2.0", methodUrl],
      ["4000002199999999999", "2.2.0", undefined], ["4000002100000015",    "2.2.0", undefined],
      ["4000002200000014",    "2.1.0", methodUrl], ["4000002300000013",    "2.3.1", methodUrl],
      ["4000004000000012",    "2.2.0", methodUrl], ["9999999999999999999", "2.2.0", methodUrl],
    ] as const;
    for (const [number, only, url] of rows) {
      const found = find(number).flatMap((range) => range.versions);
      assert.deepEqual(found, [{ version: only, methodUrl: url }], number);
    }
    // biome-ignore format: a table
    const outside = ["4000001000000018", "400000100000", "4000001099999999999", "4000003000000014"];
    for (const number of outside) assert.deepEqual(find(number), [], number);
  });
}

test("a client with the current ranges gets none, and one with others gets all", async () => {
  const { serialNum } = await server.ask(makePReq("2.2.0"));
  const current = await server.ask(makePReq("2.2.0", { serialNum }));
  const stale = await server.ask(makePReq("2.2.0", { serialNum: "1" }));

  assert.deepEqual([readCardRanges(current).length, current["serialNum"]], [0, serialNum]);
  assert.deepEqual([readCardRanges(stale).length, stale["serialNum"]], [8, serialNum]);
});

test("a faulty request is answered with the Erro that names its fault", async () => {
  const good = makeAReq(card, server.resultUrl);
  // biome-ignore format: a table
  const faults: readonly (readonly [code: string, detail: RegExp, changes: object])[] = [
    ["101", /./,                       { messageType: "CReq" }],
    ["102", /2\.1\.0,2\.2\.0,2\.3\.1/, { messageVersion: "2.9.0" }],
    ["102", /^2\.2\.0$/,               { messageVersion: "2.1.0" }],
    ["201", /^merchantName$/,          { merchantName: undefined }],
    ["201", /^acctNumber$/,            { acctNumber: "" }],
    ["203", /^browserColorDepth$/,     { browserColorDepth: "30" }],
    ["203", /^threeDSServerURL$/,      { threeDSServerURL: "http://127.0.0.1/results" }],
    ["304", /^purchaseCurrency$/,      { purchaseCurrency: "999" }],
    ["305", /^acctNumber$/,            { acctNumber: "4000001000000018" }],
    ["305", /^acctNumber$/,            { acctNumber: "4000003000000014" }],
  ];
  for (const [code, detail, changes] of faults) {
    const erro = await server.ask({ ...good, ...changes });
    const { messageType, errorCode, errorComponent, threeDSServerTransID } = erro;
    assert.deepEqual([messageType, errorCode, errorComponent], ["Erro", code, "D"], String(detail));
    assert.equal(threeDSServerTransID, good["threeDSServerTransID"]);
    assert.match(String(erro["errorDetail"]), detail);
  }
  const broken = await server.post("/emv3ds", '{"messageType":');
  assert.equal(JSON.parse(broken.body).errorCode, "101");
  const twice = await server.post("/emv3ds", '{"messageType":"AReq","messageType":"AReq"}');
  assert.equal(JSON.parse(twice.body).errorCode, "204");
});

test("an Erro is never answered with another", async () => {
  const erro = { messageType: "Erro", messageVersion: "2.2.0", errorCode: "403" };
  for (const message of [erro, { ...erro, errorComponent: "S", errorDescription: "a" }]) {
    const { status, body } = await server.post("/emv3ds", JSON.stringify(message));
    assert.deepEqual([status, body], [200, ""]);
  }
});

test("a directory server that is down reads and does not answer until it is up again", async () => {
  await bank.setSwitches({ directoryDown: true });
  const read = untilRead("/emv3ds");
  const waiting = server.post("/emv3ds", JSON.stringify(makePReq("2.2.0")));
  const lost = assert.rejects(waiting, { code: "ECONNRESET" });
  await read;

  await bank.setSwitches({ directoryDown: false });

  await lost;
  assert.equal((await server.ask(makePReq("2.2.0"))).messageType, "PRes");
});

/** Waits until a server of this process has read the next request to the path. */
async function untilRead(path: string): Promise<void> {
  const channel = "http.server.request.start";
  const { promise, resolve } = Promise.withResolvers<void>();
  const hear = (message: unknown) => {
    const { request } = message as { readonly request: IncomingMessage };
    if (request.url === path) request.once("end", resolve);
  };
  subscribe(channel, hear);
  await promise;
  unsubscribe(channel, hear);
  await setImmediate();
}
