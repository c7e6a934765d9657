/** 3-D Secure 1.0.2 from card range to signed PARes, row by row of the catalogue. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import {
  matchPaRes,
  type PaReq,
  type PaResShape,
  packPa,
  readXml,
  ThreeDsFault,
  unpackPa,
  type VeRes,
  verifyPaRes,
  writeXml,
} from "@tollgate/protocols/threeds102";
import { AuthenticationValues } from "../issuer.ts";
import { startTestBank } from "../testing/bank-for-tests.ts";
import { type BrowserPage, post } from "../testing/browser.ts";
import { answer, formOf, type Pressed } from "../testing/challenge.ts";
import { makePaReq } from "../testing/requests.ts";
import { startThreeDsServer } from "../testing/threeds-server.ts";

const bank = await startTestBank({ after });
const server = await startThreeDsServer({ after }, bank);
const issuer = await AuthenticationValues.open(join(bank.dataDir, "bank", "cavv.key"));
const root = await readFile(join(bank.tlsFolder, "pares-root.pem"), "utf8");
const merchant = { acqBin: "400000", merId: "MERCHANT" };
const termUrl = "http://merchant.example/term?order=1";
const authenticated = "4000003000000014";

function whole<Read>(read: Read | ThreeDsFault): Read {
  if (read instanceof ThreeDsFault) assert.fail(`${read.reason} ${read.element}`);
  return read;
}

async function ask(xml: string): Promise<string> {
  const { status, body } = await server.post("/threeds102", xml, { type: "application/xml" });
  assert.equal(status, 200);
  return body;
}

async function enrolmentOf(pan: string): Promise<VeRes> {
  return whole(
    readXml("VERes", await ask(writeXml("VEReq", { messageId: randomUUID(), pan, merchant }))),
  );
}

async function openPage(card: string, merchantName?: string) {
  const { ch, url = "" } = await enrolmentOf(card);
  const name = merchantName === undefined ? {} : { name: merchantName };
  const paReq = makePaReq(ch.acctId ?? "", name);
  const fields = {
    PaReq: packPa(writeXml("PAReq", paReq)),
    TermUrl: termUrl,
    MD: "order 1 & more",
  };
  return { paReq, fields, url, page: await post(url, fields) };
}

function paResOf(page: BrowserPage): string {
  const form = formOf(page);
  assert.equal(form.action, termUrl);
  assert.equal(form.fields["MD"], "order 1 & more");
  return whole(unpackPa(form.fields["PaRes"] ?? ""));
}

function orderOf({ purchase }: PaReq, card: string) {
  return { ...merchant, ...purchase, lastFour: card.slice(-4) };
}

test("the card range is sent, unless the client has it already", async () => {
  const all = whole(readXml("CRRes", await ask(writeXml("CRReq", { messageId: "a", merchant }))));
  assert.deepEqual(all.cardRanges, [
    { begin: "4000003000000000", end: "4000003099999999", action: "A" },
    { begin: "5200003000000000", end: "5200003099999999", action: "A" },
  ]);
  assert.equal(all.messageId, "a");

  const { serialNumber = "" } = all;
  const none = whole(
    readXml("CRRes", await ask(writeXml("CRReq", { messageId: "b", merchant, serialNumber }))),
  );
  assert.deepEqual(none, { messageId: "b", cardRanges: [], serialNumber });
});

test("only cards of the range are enrolled, except the one that is not", async () => {
  const { ch, url, protocols } = await enrolmentOf(authenticated);
  assert.deepEqual([ch.enrolled, ch.acctId?.length], ["Y", 28]);
  assert.deepEqual([url, protocols], [`${bank.url}/acs/pareq`, ["ThreeDSecure"]]);
  for (const card of ["4000003000000063", "4000002000000016", "4111111111111111"]) {
    assert.equal((await enrolmentOf(card)).ch.enrolled, "N", card);
  }
});

const fail: Pressed = { action: "fail" };

// biome-ignore format: a table
const rows: readonly (readonly [name: string, card: string, pressed: Pressed, status: string, eci?: string])[] = [
  ["v1-authenticated", "4000003000000014", {},                   "Y", "05"],
  ["v1-authenticated", "4000003000000014", fail,                 "N"],
  ["v1-authenticated", "4000003000000014", { action: "cancel" }, "N"],
  ["v1-authenticated", "4000003000000014", { code: "1" },        "N"],
  ["v1-failed",        "4000003000000022", {},                   "N"],
  ["v1-attempt",       "4000003000000030", {},                   "A", "06"],
  ["v1-attempt",       "4000003000000030", fail,                 "A", "06"],
  ["v1-unavailable",   "4000003000000048", {},                   "U"],
];

for (const [name, card, pressed, status, eci] of rows) {
  const pressing = pressed.action ?? `code ${pressed.code ?? "1234"}`;
  test(`${name}, ${pressing}: a signed PARes says ${status}`, async () => {
    const { paReq, page } = await openPage(card);
    const xml = paResOf(await answer(page, pressed));

    const paRes = whole(verifyPaRes(xml, { roots: [root], now: Date.now() }));

    assert.deepEqual([paRes.tx.status, paRes.tx.eci], [status, eci]);
    assert.equal(issuer.isGenuine(card, paRes.tx.cavv ?? ""), eci !== undefined);
    assert.deepEqual(matchPaRes(paRes, orderOf(paReq, card)), []);
    assert.equal(paRes.pan, `000000000000${card.slice(-4)}`);
    const sent = await bank.waitForThreeDsMessage({
      type: "PARes",
      transactionId: paReq.purchase.xid,
    });
    assert.deepEqual(sent["tx"], paRes.tx);
  });
}

// biome-ignore format: a table
const shapes: Readonly<Record<PaResShape, RegExp>> = {
  "inclusive":          /<Signature [^>]*><SignedInfo>.*REC-xml-c14n-20010315/,
  "exclusive":          /<ds:SignedInfo>.*xml-exc-c14n#/,
  "repeated-namespace": /<SignedInfo xmlns="[^"]*xmldsig#">/,
};

test("the issuer signs in each form in turn, or always in that of the switch", async () => {
  const next = async () => paResOf(await answer((await openPage(authenticated)).page));
  await bank.setSwitches({ seed: 3 });
  const three = [await next(), await next(), await next()];
  await bank.setSwitches({ seed: 3 });
  const again = await next();

  for (const [shape, pattern] of Object.entries(shapes) as [PaResShape, RegExp][]) {
    assert.equal(three.filter((xml) => pattern.test(xml)).length, 1, shape);
    await bank.setSwitches({ paresShape: shape });
    for (const xml of [await next(), await next()]) assert.match(xml, pattern);
  }
  const patternOf = (xml: string) => Object.values(shapes).find((pattern) => pattern.test(xml));
  assert.equal(patternOf(again), patternOf(three[0] ?? ""));
  await bank.setSwitches({ paresShape: null });
});

test("v1-bad-signature: the PARes says Y, and its signature is wrong", async () => {
  const { page } = await openPage("4000003000000055");
  const xml = paResOf(await answer(page));

  assert.match(xml, /<status>Y<\/status>/);
  const verified = verifyPaRes(xml, { roots: [root], now: Date.now() });
  assert.ok(verified instanceof ThreeDsFault);
  assert.equal(verified.reason, "wrong_signature");
});

test("a purchase is decided once, however often its page is answered", async () => {
  const { fields, url, page } = await openPage(authenticated);
  const first = formOf(await answer(page));

  const again = await post(url, fields);
  assert.deepEqual(formOf(again), formOf(page));
  assert.deepEqual(formOf(await answer(again, fail)), first);
});

test("an invalid PAReq, or one of an unknown account, is answered with a sentence", async () => {
  const { fields, url } = await openPage(authenticated);
  const foreign = packPa(writeXml("PAReq", makePaReq("nobody")));
  // biome-ignore format: a table
  const faults = [
    [404, { ...fields, PaReq: foreign }],
    [400, { ...fields, PaReq: "AAAA" }],
    [400, { ...fields, TermUrl: "javascript:alert(1)" }],
    [400, { ...fields, TermUrl: "" }],
  ] as const;
  for (const [status, sent] of faults) {
    for (const path of ["", "/answer"]) {
      const page = await post(url + path, sent);
      assert.equal(page.status, status);
      assert.equal(page.forms.length, 0);
    }
  }
});

test("a request that the directory server cannot read is answered with an Error", async () => {
  const good = writeXml("VEReq", { messageId: "a", pan: authenticated, merchant });
  // biome-ignore format: a table
  const faults = [
    ["1", "no xml"],
    ["2", writeXml("PAReq", makePaReq("nobody"))],
    ["3", good.replace(/<acqBIN>.*<\/acqBIN>/, "")],
    ["5", good.replace(authenticated, "4000")],
    ["6", good.replace("1.0.2", "1.0.1")],
  ] as const;
  for (const [code, xml] of faults) {
    assert.equal(whole(readXml("Error", await ask(xml))).errorCode, code, xml);
  }
});

test("a card number is nowhere in the log of messages, nor a hostile name in a page", async () => {
  const { page } = await openPage(authenticated, '<b onclick="x">"&\'');
  assert.ok(!page.html.includes("<b onclick"));
  assert.match(page.html, /&#60;b onclick=/);
  assert.match(page.html, /400000\*\*\*\*0014/);
  assert.ok(!page.html.includes(authenticated));
  assert.ok(!JSON.stringify(bank.threeDsMessages()).includes(authenticated));
});
