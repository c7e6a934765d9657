/** Complete messages of every version, of which tests change one element at a time. */
import type { Emv3dsMessage, ProtocolVersion } from "./message.ts";

export const transaction = "6afa6072-9412-446b-9673-2f98b3ee98a2";
export const ds = "f5d2b2c1-0000-4000-8000-00000000d5d5";
export const acs = "d7c1ee99-9478-44a6-b1f2-391e29c6b340";

/** Changes of a message in any of the three versions, because a test's table may not know which. */
export type Changes = { readonly [element: string]: unknown };

export function makeAreq(version: ProtocolVersion, changes: Changes = {}): Emv3dsMessage {
  const isList = version === "2.3.1";
  return {
    messageType: "AReq",
    messageVersion: version,
    threeDSServerTransID: transaction,
    deviceChannel: "02",
    messageCategory: "01",
    threeDSCompInd: "Y",
    threeDSRequestorAuthenticationInd: "01",
    threeDSRequestorChallengeInd: isList ? ["01"] : "01",
    threeDSRequestorID: "requestor",
    threeDSRequestorName: "Tollgate shop",
    threeDSRequestorURL: "https://shop.example/",
    threeDSServerRefNumber: "3DS_LOA_SER_0001",
    threeDSServerURL: "https://gateway.example/rreq",
    notificationURL: "https://gateway.example/cres",
    acctNumber: "4111111111111111",
    cardExpiryDate: "3012",
    cardholderName: "ANNA EXAMPLE",
    acquirerBIN: "400000",
    acquirerMerchantID: "merchant-1",
    mcc: "5999",
    merchantCountryCode: "826",
    merchantName: "Shop",
    purchaseAmount: "1050",
    purchaseCurrency: "978",
    purchaseExponent: "2",
    purchaseDate: "20280229235959",
    browserAcceptHeader: "text/html",
    browserUserAgent: "Mozilla/5.0",
    browserLanguage: "en-GB",
    browserIP: "2001:db8::1",
    browserJavaEnabled: false,
    browserColorDepth: "24",
    browserScreenHeight: "1080",
    browserScreenWidth: "1920",
    browserTZ: "-120",
    ...(version !== "2.1.0" && { browserJavascriptEnabled: true }),
    ...(isList && {
      acceptLanguage: ["en"],
      acquirerCountryCode: "826",
      acquirerCountryCodeSource: "01",
    }),
    ...changes,
  };
}

export function makeThreeRI(version: ProtocolVersion, changes: Changes = {}): Emv3dsMessage {
  const attended = /^browser|^(?:threeDSCompInd|notificationURL|acceptLanguage)$|nticationInd$/;
  const kept = Object.entries(makeAreq(version)).filter(([element]) => !attended.test(element));
  return {
    ...Object.fromEntries(kept),
    messageType: "AReq",
    messageVersion: version,
    deviceChannel: "03",
    messageCategory: version === "2.1.0" ? "02" : "01",
    threeRIInd: "05",
    ...changes,
  };
}

export function makeAres(version: ProtocolVersion, changes: Changes = {}): Emv3dsMessage {
  return {
    messageType: "ARes",
    messageVersion: version,
    threeDSServerTransID: transaction,
    dsTransID: ds,
    acsTransID: acs,
    acsReferenceNumber: "3DS_LOA_ACS_0001",
    dsReferenceNumber: "3DS_LOA_DIS_0001",
    transStatus: "Y",
    eci: "05",
    authenticationValue: "AAABBZEEBgAAAAAAAAQGAAAAAAA=",
    ...changes,
  };
}

export function makeRreq(version: ProtocolVersion, changes: Changes = {}): Emv3dsMessage {
  return {
    messageType: "RReq",
    messageVersion: version,
    threeDSServerTransID: transaction,
    dsTransID: ds,
    acsTransID: acs,
    messageCategory: "01",
    transStatus: "Y",
    eci: "05",
    authenticationValue: "AAABBZEEBgAAAAAAAAQGAAAAAAA=",
    interactionCounter: "01",
    ...(version === "2.3.1" ? { authenticationMethod: ["02"] } : { authenticationType: "02" }),
    ...changes,
  };
}

export function makeCres(version: ProtocolVersion, changes: Changes = {}): Emv3dsMessage {
  return {
    messageType: "CRes",
    messageVersion: version,
    threeDSServerTransID: transaction,
    acsTransID: acs,
    transStatus: "Y",
    ...changes,
  };
}

/** Makes a PRes with one range, in the form of its version. */
export function makePres(
  version: ProtocolVersion,
  range: Changes,
  changes: Changes = {},
): Emv3dsMessage {
  return {
    messageType: "PRes",
    messageVersion: version,
    threeDSServerTransID: transaction,
    dsTransID: ds,
    serialNum: "7",
    ...(version !== "2.3.1" && {
      dsStartProtocolVersion: "2.1.0",
      dsEndProtocolVersion: "2.3.1",
    }),
    cardRangeData: [range],
    ...changes,
  };
}
