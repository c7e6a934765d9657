/** ARes, CRes, RReq, RRes, CReq and PRes: elements that depend on the status and on the request. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { no } from "./checks.ts";
import {
  type Emv3dsMessage,
  MessageFault,
  type ProtocolVersion,
  readMessage,
  protocolVersions as versions,
} from "./index.ts";
import { tables } from "./tables.ts";
import type { Changes } from "./testing.ts";
import * as make from "./testing.ts";

type Verdict = readonly [code: string, ...elements: readonly string[]] | "good";
type Case = readonly [which: readonly ProtocolVersion[], changes: Changes, verdict: Verdict];

const old: readonly ProtocolVersion[] = ["2.1.0", "2.2.0"];
const later: readonly ProtocolVersion[] = ["2.2.0", "2.3.1"];
const last: readonly ProtocolVersion[] = ["2.3.1"];
const first: readonly ProtocolVersion[] = ["2.1.0"];

const challenge = { eci: undefined, authenticationValue: undefined, transStatus: "C" };
const acsURL = "https://acs.example/challenge";

// biome-ignore format: a table
const answers: readonly Case[] = [
  [versions, {},                                                                  "good"],
  [versions, { authenticationValue: undefined },                                  ["201", "authenticationValue"]],
  [versions, { transStatus: "A", authenticationValue: undefined },                ["201", "authenticationValue"]],
  [old,      { authenticationValue: "kJMZRiDunhPsBwAU0hu9rrx0eWN6" },             "good"],
  [old,      { authenticationValue: "kJMZRiDunhPsBwAU0hu9rrx0eWN" },              ["203", "authenticationValue"]],
  [old,      { authenticationValue: "kJMZRiDunhPsBwAU0hu9rrx0eW_-" },             ["203", "authenticationValue"]],
  [last,     { authenticationValue: "x".repeat(4000) },                           "good"],
  [last,     { authenticationValue: "x".repeat(4001) },                           ["203", "authenticationValue"]],
  [versions, { transStatus: undefined },                                          ["201", "transStatus"]],
  [versions, { transStatus: "N" },                                                ["201", "transStatusReason"]],
  [versions, { transStatus: "R", transStatusReason: "11" },                       "good"],
  [versions, { transStatus: "U", transStatusReason: "88" },                       "good"],
  [old,      { transStatus: "U", transStatusReason: "50" },                       ["203", "transStatusReason"]],
  [last,     { transStatus: "U", transStatusReason: "50" },                       ["207", "transStatusReason"]],
  [last,     { transStatus: "U", transStatusReason: "5" },                        ["203", "transStatusReason"]],
  [old,      { transStatus: "U", transStatusReason: "27" },                       ["203", "transStatusReason"]],
  [last,     { transStatus: "U", transStatusReason: "27" },                       "good"],
  [first,    { transStatus: "I" },                                                ["203", "transStatus"]],
  [later,    { transStatus: "I", eci: "07" },                                     "good"],
  [old,      { transStatus: "S" },                                                ["203", "transStatus"]],
  [last,     { ...challenge, transStatus: "S" },                                  ["201", "spcTransData", "webAuthnCredList"]],
  [old,      challenge,                                                           ["201", "acsURL", "acsChallengeMandated", "authenticationType"]],
  [last,     challenge,                                                           ["201", "acsURL", "acsChallengeMandated", "authenticationMethod"]],
  [old,      { ...challenge, acsURL, acsChallengeMandated: "Y", authenticationType: "02" }, "good"],
  [last,     { ...challenge, acsURL, acsChallengeMandated: "Y", authenticationMethod: ["02"] }, "good"],
  [versions, { eci: "N2" },                                                       "good"],
  [versions, { eci: "5" },                                                        ["203", "eci"]],
  [versions, { acsTransID: undefined, dsTransID: undefined },                     ["201", "dsTransID", "acsTransID"]],
  [old,      { cardholderInfo: "Call your bank" },                                "good"],
  [old,      { cardholderInfo: { text: "Call your bank" } },                      ["203", "cardholderInfo"]],
  [last,     { cardholderInfo: { text: "Call your bank" } },                      "good"],
  [last,     { cardholderInfo: { image: "https://bank.example" } },               ["201", "cardholderInfo.text"]],
  [last,     { cardholderInfo: "Call your bank" },                                ["203", "cardholderInfo"]],
];

// biome-ignore format: a table
const results: readonly Case[] = [
  [versions, {},                                                                  "good"],
  [versions, { interactionCounter: undefined },                                   ["201", "interactionCounter"]],
  [versions, { authenticationValue: undefined },                                  ["201", "authenticationValue"]],
  [versions, { authenticationValue: undefined, messageCategory: "02" },           "good"],
  [versions, { transStatus: "C" },                                                ["203", "transStatus"]],
  [versions, { transStatus: "N", authenticationValue: undefined },                ["201", "transStatusReason"]],
  [versions, { transStatus: "U", transStatusReason: "14", challengeCancel: "05" }, "good"],
  [old,      { challengeCancel: "10" },                                           ["203", "challengeCancel"]],
  [last,     { challengeCancel: "10" },                                           "good"],
  [old,      { authenticationType: undefined },                                   ["201", "authenticationType"]],
  [last,     { authenticationMethod: undefined },                                 ["201", "authenticationMethod"]],
];

test("no table has two rows for one element of one version", () => {
  for (const rows of Object.values(tables)) {
    for (const column of [2, 3, 4] as const) {
      const elements = rows.filter((row) => row[column] !== no).map(([element]) => element);
      assert.deepEqual(elements, [...new Set(elements)]);
    }
  }
});

for (const version of versions) {
  test(`what the bank answers and reports in ${version} is judged by its status`, () => {
    const request = make.makeAreq(version);
    for (const [which, changes, verdict] of answers) {
      if (which.includes(version)) judge(make.makeAres(version, changes), verdict, request);
    }
    for (const [which, changes, verdict] of results) {
      if (which.includes(version)) judge(make.makeRreq(version, changes), verdict);
    }
  });

  test(`an answer of ${version} belongs to its request`, () => {
    const areq = make.makeAreq(version);
    const threeRI = make.makeThreeRI(version);
    const nonPayment = make.makeAreq(version, { messageCategory: "02" });
    const method =
      version === "2.3.1" ? { authenticationMethod: ["02"] } : { authenticationType: "02" };
    const challenged = { ...challenge, acsURL, acsChallengeMandated: "Y", ...method };
    const other = { threeDSServerTransID: make.ds };
    const unproven = { authenticationValue: undefined };

    judge(make.makeAres(version, other), ["301", "threeDSServerTransID"], areq);
    judge(make.makeAres(version, unproven), "good", nonPayment);
    judge(
      make.makeAres(version, { ...unproven, messageCategory: "02" }),
      ["201", "authenticationValue"],
      areq,
    );
    judge(make.makeAres(version, unproven), ["201", "authenticationValue"]);
    judge(make.makeAres(version, challenged), "good", areq);
    judge(make.makeAres(version, challenged), ["203", "transStatus"], threeRI);
  });
}

test("the version stays the same within a transaction", () => {
  const request = make.makeAreq("2.2.0");
  judge(make.makeAres("2.1.0"), ["203", "messageVersion"], request);
});

test("only a requestor that offered to wait has to wait", () => {
  const waiting = { transStatus: "D", acsChallengeMandated: "Y", acsDecConInd: "Y" };
  const ares = make.makeAres("2.2.0", {
    ...waiting,
    authenticationType: "04",
    cardholderInfo: "Look at your phone",
  });
  const offer = { threeDSRequestorDecReqInd: "Y", threeDSRequestorDecMaxTime: "00060" };

  judge(ares, "good", make.makeAreq("2.2.0", offer));
  judge(ares, "good", make.makeThreeRI("2.2.0", offer));
  judge(ares, ["203", "transStatus"], make.makeThreeRI("2.2.0"));
});

test("the challenge in the browser needs no element that says it is complete", () => {
  for (const version of versions) {
    const ids = { threeDSServerTransID: make.transaction, acsTransID: make.acs };
    const creq: Emv3dsMessage = { messageType: "CReq", messageVersion: version, ...ids };
    const rres: Emv3dsMessage = {
      messageType: "RRes",
      messageVersion: version,
      ...ids,
      dsTransID: make.ds,
    };

    judge(make.makeCres(version), "good");
    judge(make.makeCres(version, { challengeCompletionInd: "Y" }), "good");
    judge(make.makeCres(version, { transStatus: "A" }), ["203", "transStatus"]);
    judge({ ...creq, challengeWindowSize: "05" }, "good");
    judge({ ...creq, challengeWindowSize: "06" }, ["203", "challengeWindowSize"]);
    judge(creq, ["201", "challengeWindowSize"]);
    judge({ ...rres, resultsStatus: "02" }, "good");
    judge({ ...rres, resultsStatus: "" }, ["201", "resultsStatus"]);
  }
});

test("card ranges may overlap before 2.3.1 only", () => {
  const versionsBefore = { acsStartProtocolVersion: "2.1.0", acsEndProtocolVersion: "2.2.0" };
  const spans = [
    ["4000000000000000", "4999999999999999"],
    ["4500000000000000", "4500000000000000"],
    ["4600000000000", "4700000000000"],
  ] as const;
  const ranges = spans.map(([start, end]) => ({ start, end }));
  const before = spans.map(([startRange, endRange]) => ({
    startRange,
    endRange,
    ...versionsBefore,
  }));
  const makeRange = (at: number, action: string) => ({
    ranges: ranges.slice(at, at + 1),
    actionInd: action,
    acsProtocolVersions: [{ version: "2.3.1", acsInfoInd: ["01", "81"] }],
  });
  const judgeRanges = (cardRangeData: readonly unknown[], verdict: Verdict) =>
    judge(make.makePres("2.3.1", {}, { cardRangeData }), verdict);

  judge(make.makePres("2.2.0", {}, { cardRangeData: before }), "good");
  judgeRanges([makeRange(0, "A"), makeRange(1, "A")], ["205", "cardRangeData"]);
  judgeRanges([makeRange(1, "A"), makeRange(0, "M")], ["205", "cardRangeData"]);
  judgeRanges([makeRange(0, "D"), makeRange(1, "A")], "good");
  judgeRanges([makeRange(0, "A"), makeRange(2, "A")], "good");
});

test("card ranges have the form of their version", () => {
  const span = { startRange: "4000000000000000", endRange: "4999999999999999" };
  const before = { ...span, acsStartProtocolVersion: "2.1.0", acsEndProtocolVersion: "2.9.0" };
  const ranges = [{ start: span.startRange, end: span.endRange }];
  const after = { ranges, acsProtocolVersions: [{ version: "2.3.1" }] };

  for (const version of old) {
    judge(make.makePres(version, before), "good");
    judge(make.makePres(version, { ...before, endRange: "1" }), ["203", "cardRangeData.endRange"]);
    judge(make.makePres(version, { ...before, endRange: "3999999999999999" }), [
      "203",
      "cardRangeData.endRange",
    ]);
    judge(make.makePres(version, { ...before, actionInd: "X" }), [
      "203",
      "cardRangeData.actionInd",
    ]);
    judge(make.makePres(version, { ...span, actionInd: "D" }), "good");
    judge(make.makePres(version, span), [
      "201",
      "cardRangeData.acsStartProtocolVersion",
      "cardRangeData.acsEndProtocolVersion",
    ]);
    judge(make.makePres(version, after), [
      "201",
      "cardRangeData.startRange",
      "cardRangeData.endRange",
      "cardRangeData.acsStartProtocolVersion",
      "cardRangeData.acsEndProtocolVersion",
    ]);
  }
  judge(make.makePres("2.3.1", after), "good");
  judge(make.makePres("2.3.1", before), [
    "201",
    "cardRangeData.ranges",
    "cardRangeData.acsProtocolVersions",
  ]);
  judge(make.makePres("2.3.1", { ...after, acsProtocolVersions: [{}] }), [
    "201",
    "cardRangeData.acsProtocolVersions.version",
  ]);
});

function judge(message: Emv3dsMessage, verdict: Verdict, request?: Emv3dsMessage): void {
  const expectation = { types: [message.messageType], ...(request && { request }) };
  const read = readMessage(JSON.stringify(message), expectation);
  const outcome = read instanceof MessageFault ? [read.code, ...read.elements] : "good";
  assert.deepEqual(outcome, verdict, JSON.stringify(message));
}
