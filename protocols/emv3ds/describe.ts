/** A message for people: see `describeElements`. The cardholder's own data is masked throughout. */
import { describeElements } from "../shared/masked.ts";
import type { Emv3dsMessage } from "./message.ts";

export function describeMessage(message: Emv3dsMessage): Record<string, string> {
  return describeElements(message, harmless);
}

const harmless = {
  shown: new Set(
    `messageType messageVersion messageCategory deviceChannel threeDSServerTransID dsTransID
    acsTransID threeDSRequestorID threeDSRequestorName threeDSServerRefNumber
    threeDSServerOperatorID dsReferenceNumber acsReferenceNumber acsOperatorID acquirerBIN
    acquirerMerchantID mcc merchantCountryCode merchantName purchaseAmount purchaseCurrency
    purchaseExponent purchaseDate transType threeDSCompInd threeDSRequestorAuthenticationInd
    threeDSRequestorChallengeInd payTokenInd recurringExpiry recurringFrequency browserColorDepth
    browserJavaEnabled browserJavascriptEnabled browserLanguage browserTZ transStatus
    transStatusReason eci acsChallengeMandated authenticationType authenticationMethod acsDecConInd
    whiteListStatus whiteListStatusSource trustListStatus trustListStatusSource challengeCancel
    challengeCompletionInd challengeWindowSize interactionCounter resultsStatus errorCode
    errorComponent errorMessageType`.split(/\s+/),
  ),
  addresses: new Set(["threeDSRequestorURL", "acsURL"]),
  cardNumbers: new Set(["acctNumber"]),
};
