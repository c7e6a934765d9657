/** The AReqs that its table accepts, version by version: conditions, formats and known mistakes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Emv3dsMessage,
  MessageFault,
  type ProtocolVersion,
  readMessage,
  protocolVersions as versions,
} from "./index.ts";
import type { Changes } from "./testing.ts";
import * as make from "./testing.ts";

type Verdict = readonly [code: string, ...elements: readonly string[]] | "good";

const old: readonly ProtocolVersion[] = ["2.1.0", "2.2.0"];
const later: readonly ProtocolVersion[] = ["2.2.0", "2.3.1"];
const last: readonly ProtocolVersion[] = ["2.3.1"];
const first: readonly ProtocolVersion[] = ["2.1.0"];

// biome-ignore format: a table
const requests: readonly (readonly [which: readonly ProtocolVersion[], changes: Changes, verdict: Verdict])[] = [
  [versions, {},                                                                      "good"],
  [versions, { somethingNew: { a: [1] } },                                            "good"],
  // Absent, empty and null.
  [versions, { acctNumber: undefined },                                               ["201", "acctNumber"]],
  [versions, { acctNumber: "", mcc: null },                                           ["201", "acctNumber", "mcc"]],
  [versions, { cardholderName: "" },                                                  ["203", "cardholderName"]],
  [versions, { email: null },                                                         ["203", "email"]],
  [versions, { acctInfo: {} },                                                        ["203", "acctInfo"]],
  [versions, { homePhone: { cc: "44" } },                                             ["201", "homePhone.subscriber"]],
  [versions, { homePhone: { cc: "4x", subscriber: "1" } },                            ["203", "homePhone.cc"]],
  // Card and merchant.
  [versions, { acctNumber: "411111111111" },                                          ["203", "acctNumber"]],
  [versions, { acctNumber: 4111111111111111 },                                        ["203", "acctNumber"]],
  [versions, { cardExpiryDate: "3013" },                                              ["203", "cardExpiryDate"]],
  [old,      { cardholderName: "ANNA BEISPIËL" },                                     ["203", "cardholderName"]],
  [last,     { cardholderName: "ANNA BEISPIËL" },                                     "good"],
  [versions, { merchantName: "x".repeat(41) },                                        ["203", "merchantName"]],
  [versions, { merchantName: "😀".repeat(40) },                                       "good"],
  [versions, { merchantName: "😀".repeat(41) },                                       ["203", "merchantName"]],
  [versions, { mcc: "59" },                                                           ["203", "mcc"]],
  [last,     { acquirerCountryCode: undefined },                                      ["201", "acquirerCountryCode"]],
  [versions, { messageCategory: "02", acquirerBIN: undefined, purchaseAmount: undefined, acquirerCountryCode: undefined }, "good"],
  // Amounts, dates and ISO codes.
  [versions, { purchaseAmount: "10.50" },                                             ["203", "purchaseAmount"]],
  [versions, { purchaseCurrency: "EUR" },                                             ["203", "purchaseCurrency"]],
  [versions, { purchaseCurrency: "955" },                                             ["304", "purchaseCurrency"]],
  [versions, { purchaseCurrency: "964" },                                             ["304", "purchaseCurrency"]],
  [versions, { purchaseCurrency: "999" },                                             ["304", "purchaseCurrency"]],
  [versions, { purchaseCurrency: "392", purchaseExponent: "0" },                      "good"],
  [versions, { merchantCountryCode: "901" },                                          ["304", "merchantCountryCode"]],
  [versions, { merchantCountryCode: "999", shipAddrCountry: "000" },                  ["304", "merchantCountryCode", "shipAddrCountry"]],
  [versions, { merchantCountryCode: "GB" },                                           ["203", "merchantCountryCode"]],
  [versions, { billAddrState: "US-CA" },                                              ["203", "billAddrState"]],
  [versions, { purchaseDate: "20270229235959" },                                      ["203", "purchaseDate"]],
  [versions, { purchaseDate: "20280101240000" },                                      ["203", "purchaseDate"]],
  [versions, { purchaseDate: "2028-01-01 00:00" },                                    ["203", "purchaseDate"]],
  // The browser.
  [versions, { browserColorDepth: "30" },                                             ["203", "browserColorDepth"]],
  [versions, { browserColorDepth: "0" },                                              ["203", "browserColorDepth"]],
  [versions, { browserLanguage: "zh-Hant-TW" },                                       ["203", "browserLanguage"]],
  [versions, { browserScreenHeight: 1080 },                                           ["203", "browserScreenHeight"]],
  [versions, { browserJavaEnabled: "false" },                                         ["203", "browserJavaEnabled"]],
  [versions, { browserTZ: "+0200h" },                                                 ["203", "browserTZ"]],
  [versions, { browserIP: "256.1.1.1" },                                              ["203", "browserIP"]],
  [versions, { browserIP: "1.2.3.4." },                                               ["203", "browserIP"]],
  [versions, { browserIP: "203.0.113.9" },                                            "good"],
  [versions, { browserIP: "::ffff:203.0.113.9" },                                     "good"],
  [versions, { browserIP: "::1::2" },                                                 ["203", "browserIP"]],
  [first,    { browserJavascriptEnabled: undefined },                                 "good"],
  [later,    { browserJavascriptEnabled: undefined },                                 ["201", "browserJavascriptEnabled"]],
  [later,    { browserJavascriptEnabled: "true" },                                    ["203", "browserJavascriptEnabled"]],
  [first,    { browserTZ: undefined },                                                ["201", "browserTZ"]],
  [later,    { browserTZ: undefined, browserColorDepth: undefined },                  ["201", "browserColorDepth", "browserTZ"]],
  [later,    { browserTZ: undefined, browserColorDepth: undefined, browserJavascriptEnabled: false }, "good"],
  [last,     { browserLanguage: undefined, browserJavascriptEnabled: false },         "good"],
  [["2.2.0"], { browserLanguage: undefined, browserJavascriptEnabled: false },        ["201", "browserLanguage"]],
  [last,     { acceptLanguage: undefined },                                           ["201", "acceptLanguage"]],
  [versions, { threeDSCompInd: undefined, notificationURL: undefined },               ["201", "threeDSCompInd", "notificationURL"]],
  // Addresses.
  [versions, { notificationURL: "http://gateway.example/cres" },                      ["203", "notificationURL"]],
  [versions, { notificationURL: "javascript:alert(1)" },                              ["203", "notificationURL"]],
  [versions, { notificationURL: `https://gateway.example/${"x".repeat(256)}` },       ["203", "notificationURL"]],
  [versions, { threeDSRequestorURL: "https:// shop.example" },                        ["203", "threeDSRequestorURL"]],
  [versions, { threeDSServerTransID: "1" },                                           ["203", "threeDSServerTransID"]],
  // Values that versions added, and forms that 2.3.1 changed.
  [old,      { threeDSRequestorChallengeInd: ["01"] },                                ["203", "threeDSRequestorChallengeInd"]],
  [last,     { threeDSRequestorChallengeInd: "01" },                                  ["203", "threeDSRequestorChallengeInd"]],
  [last,     { threeDSRequestorChallengeInd: ["01", "02", "03"] },                    ["203", "threeDSRequestorChallengeInd"]],
  [first,    { threeDSRequestorChallengeInd: "05" },                                  ["203", "threeDSRequestorChallengeInd"]],
  [["2.2.0"], { threeDSRequestorChallengeInd: "05" },                                 "good"],
  [old,      { threeDSRequestorChallengeInd: "82" },                                  "good"],
  [last,     { threeDSRequestorChallengeInd: ["10", "13"] },                          "good"],
  [old,      { threeDSRequestorAuthenticationInd: "07" },                             ["203", "threeDSRequestorAuthenticationInd"]],
  [last,     { threeDSRequestorAuthenticationInd: "07" },                             "good"],
  [old,      { threeDSRequestorPriorAuthenticationInfo: { threeDSReqPriorRef: make.acs } }, "good"],
  [last,     { threeDSRequestorPriorAuthenticationInfo: { threeDSReqPriorRef: make.acs } }, ["203", "threeDSRequestorPriorAuthenticationInfo"]],
  [last,     { threeDSRequestorPriorAuthenticationInfo: [{ threeDSReqPriorRef: make.acs }] }, "good"],
  [last,     { threeDSRequestorPriorAuthenticationInfo: [{ threeDSReqPriorRef: "1" }] }, ["203", "threeDSRequestorPriorAuthenticationInfo.threeDSReqPriorRef"]],
  [["2.2.0"], { whiteListStatus: "X" },                                               ["203", "whiteListStatus"]],
  [last,     { whiteListStatus: "X" },                                                "good"],
  [last,     { trustListStatus: "X" },                                                ["203", "trustListStatus"]],
  // Recurring payments, instalments and waiting.
  [old,      { threeDSRequestorAuthenticationInd: "02" },                             ["201", "recurringExpiry", "recurringFrequency"]],
  [old,      { threeDSRequestorAuthenticationInd: "03", recurringExpiry: "20301231", recurringFrequency: "30" }, ["201", "purchaseInstalData"]],
  [old,      { threeDSRequestorAuthenticationInd: "03", recurringExpiry: "20301231", recurringFrequency: "30", purchaseInstalData: "1" }, ["203", "purchaseInstalData"]],
  [old,      { threeDSRequestorAuthenticationInd: "03", recurringExpiry: "20301231", recurringFrequency: "30", purchaseInstalData: "12" }, "good"],
  [last,     { threeDSRequestorAuthenticationInd: "02" },                             ["201", "recurringInd"]],
  [last,     { threeDSRequestorAuthenticationInd: "02", recurringInd: { amountInd: "02", frequencyInd: "02" } }, "good"],
  [last,     { threeDSRequestorAuthenticationInd: "02", recurringInd: { amountInd: "01", frequencyInd: "01" } }, ["201", "recurringFrequency", "recurringAmount"]],
  [last,     { recurringAmount: "100" },                                              ["201", "recurringCurrency", "recurringExponent"]],
  [later,    { threeDSRequestorDecReqInd: "Y" },                                      ["201", "threeDSRequestorDecMaxTime"]],
  [later,    { threeDSRequestorDecReqInd: "Y", threeDSRequestorDecMaxTime: "60" },    ["203", "threeDSRequestorDecMaxTime"]],
  [later,    { threeDSRequestorDecReqInd: "Y", threeDSRequestorDecMaxTime: "00000" }, ["203", "threeDSRequestorDecMaxTime"]],
  [later,    { threeDSRequestorDecReqInd: "Y", threeDSRequestorDecMaxTime: "10081" }, ["203", "threeDSRequestorDecMaxTime"]],
  [later,    { threeDSRequestorDecReqInd: "Y", threeDSRequestorDecMaxTime: "10080" }, "good"],
  [["2.2.0"], { threeDSRequestorDecReqInd: "F", threeDSRequestorDecMaxTime: "00060" }, ["203", "threeDSRequestorDecReqInd"]],
  // Elements of one channel must not occur in a request of another.
  [versions, { threeRIInd: "05" },                                                    ["203", "threeRIInd"]],
  [versions, { deviceChannel: "04" },                                                 ["203", "deviceChannel"]],
  [versions, { deviceChannel: undefined },                                            ["201", "deviceChannel"]],
];

for (const version of versions) {
  test(`an AReq of ${version} is judged element by element`, () => {
    for (const [which, changes, verdict] of requests) {
      if (which.includes(version)) judge(make.makeAreq(version, changes), verdict, changes);
    }
  });
}

// biome-ignore format: a table
const unattended: readonly (readonly [which: readonly ProtocolVersion[], changes: Changes, verdict: Verdict])[] = [
  [versions, {},                                          "good"],
  [versions, { threeRIInd: undefined },                   ["201", "threeRIInd"]],
  [versions, { browserIP: "203.0.113.9" },                ["203", "browserIP"]],
  [versions, { notificationURL: "https://shop.example" }, ["203", "notificationURL"]],
  [versions, { threeDSRequestorAuthenticationInd: "01" }, ["203", "threeDSRequestorAuthenticationInd"]],
  [first,    { messageCategory: "01" },                   ["203", "messageCategory"]],
  [first,    { threeRIInd: "11" },                        ["203", "threeRIInd"]],
  [later,    { threeRIInd: "11" },                        "good"],
  [["2.2.0"], { threeRIInd: "12" },                       ["203", "threeRIInd"]],
  [last,     { threeRIInd: "12" },                        "good"],
  [first,    { threeRIInd: "01" },                        "good"],
  [["2.2.0"], { threeRIInd: "01" },                       ["201", "recurringExpiry", "recurringFrequency"]],
];

for (const version of versions) {
  test(`a request without the payer in ${version} has no browser`, () => {
    for (const [which, changes, verdict] of unattended) {
      if (which.includes(version)) judge(make.makeThreeRI(version, changes), verdict, changes);
    }
  });
}

function judge(message: Emv3dsMessage, verdict: Verdict, changes: Changes): void {
  const read = readMessage(JSON.stringify(message), { types: [message.messageType] });
  const told = `${message.messageVersion} ${JSON.stringify(changes)}`;
  const outcome = read instanceof MessageFault ? [read.code, ...read.elements] : "good";
  assert.deepEqual(outcome, verdict, told);
}
