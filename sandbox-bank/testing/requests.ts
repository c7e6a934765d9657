/** Requests as a gateway writes them, for the sandbox bank's own tests. */
import { randomBytes, randomUUID } from "node:crypto";
import type { Emv3dsMessage, ProtocolVersion } from "@tollgate/protocols/emv3ds";
import type { PaReq } from "@tollgate/protocols/threeds102";

export const notificationUrl = "https://merchant.example/3ds/notify?order=1";

export function makePReq(version: ProtocolVersion, more: object = {}): Emv3dsMessage {
  return {
    messageType: "PReq",
    messageVersion: version,
    threeDSServerTransID: randomUUID(),
    threeDSServerRefNumber: "TEST-SERVER",
    threeDSServerOperatorID: "TEST-OPERATOR",
    ...more,
  };
}

export function makeAReq(
  acctNumber: string,
  threeDSServerURL: string,
  version: ProtocolVersion = "2.2.0",
  more: object = {},
): Emv3dsMessage {
  return {
    messageType: "AReq",
    messageVersion: version,
    deviceChannel: "02",
    messageCategory: "01",
    threeDSCompInd: "Y",
    threeDSServerTransID: randomUUID(),
    threeDSServerRefNumber: "TEST-SERVER",
    threeDSServerOperatorID: "TEST-OPERATOR",
    threeDSServerURL,
    threeDSRequestorID: "TEST-REQUESTOR",
    threeDSRequestorName: "Test requestor",
    threeDSRequestorURL: "https://merchant.example/",
    threeDSRequestorAuthenticationInd: "01",
    acctNumber,
    cardExpiryDate: "3012",
    acquirerBIN: "400000",
    acquirerMerchantID: "MERCHANT",
    mcc: "5411",
    merchantCountryCode: "840",
    merchantName: "Test merchant",
    purchaseAmount: "1015",
    purchaseCurrency: "840",
    purchaseExponent: "2",
    purchaseDate: "20261115084700",
    transType: "01",
    notificationURL: notificationUrl,
    browserAcceptHeader: "text/html",
    browserUserAgent: "Test",
    browserLanguage: "en",
    browserJavaEnabled: false,
    browserColorDepth: "24",
    browserScreenHeight: "800",
    browserScreenWidth: "1200",
    browserTZ: "0",
    ...(version === "2.1.0" ? {} : { browserJavascriptEnabled: true }),
    ...(version === "2.3.1" ? only231 : {}),
    ...more,
  };
}

const only231 = {
  acceptLanguage: ["en"],
  acquirerCountryCode: "840",
  acquirerCountryCodeSource: "01",
};

export function makePaReq(acctId: string, more: Partial<PaReq["merchant"]> = {}): PaReq {
  return {
    messageId: randomUUID(),
    merchant: {
      acqBin: "400000",
      merId: "MERCHANT",
      name: "Test merchant",
      country: "840",
      url: "https://merchant.example/",
      ...more,
    },
    purchase: {
      xid: randomBytes(20).toString("base64"),
      date: "20261115 08:47:00",
      amount: "USD 10.15",
      purchAmount: "1015",
      currency: "840",
      exponent: "2",
    },
    ch: { acctId, expiry: "3012" },
  };
}
