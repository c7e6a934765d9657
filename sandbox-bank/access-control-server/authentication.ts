/** The issuer's answer to an AReq: final, or a challenge in the cardholder's browser. */
import { randomUUID } from "node:crypto";
import { type Emv3dsMessage, MessageFault, textOf } from "@tollgate/protocols/emv3ds";
import { eciFor, maskCard, type ProvedStatus, usesUcaf } from "../issuer.ts";
import { showAmount } from "../money.ts";
import { type ChallengeRule, type Emv3dsRule, scenariosByCard } from "../scenarios.ts";
import { acsPaths, type Challenge, type ThreeDsContext } from "../threeds-context.ts";

/**
 * Returns the issuer's answer. The directory server turns a fault into an Erro. Undefined means no
 * answer.
 */
export function authenticate(
  areq: Emv3dsMessage,
  context: ThreeDsContext,
): Emv3dsMessage | MessageFault | undefined {
  const card = textOf(areq, "acctNumber") ?? "";
  const rule = ruleFor(card, areq);
  switch (rule.kind) {
    case "no-answer":
      return undefined;
    case "answer-error":
      return new MessageFault("405", [], "The ACS of this card cannot be reached.");
    case "authenticate":
      return makeARes(areq, { transStatus: "Y", ...prove(areq, "Y", context) });
    case "attempt":
      return makeARes(areq, { transStatus: "A", ...prove(areq, "A", context) });
    case "refuse":
      return makeARes(areq, { transStatus: rule.status, transStatusReason: rule.reason });
    case "challenge":
      return openChallenge(areq, card, rule.rule, context);
  }
}

function ruleFor(card: string, areq: Emv3dsMessage): Emv3dsRule {
  const own = scenariosByCard.get(card)?.emv3ds ?? { kind: "authenticate" };
  // 04 means a mandate, 13 a request of the issuer itself. The value is a text up to 2.2.0 and a
  // list in 2.3.1.
  const indicators = [areq["threeDSRequestorChallengeInd"]].flat();
  const isDemanded = indicators.includes("04") || indicators.includes("13");
  const isMandated = own.kind === "authenticate" && isDemanded;
  const rule: Emv3dsRule = isMandated ? { kind: "challenge", rule: "by-code" } : own;
  const channel = textOf(areq, "deviceChannel");
  if (rule.kind !== "challenge" || channel === "02") return rule;
  // In 3RI (03) no cardholder is present; the sandbox has no app (01).
  return { kind: "refuse", status: "U", reason: channel === "01" ? "03" : "21" };
}

/**
 * Returns the proof of an authentication. Outside of payments (category 02), Mastercard's ECI of a
 * full authentication is N2.
 */
function prove(
  areq: Emv3dsMessage,
  status: ProvedStatus,
  context: ThreeDsContext,
): Challenge["proof"] {
  const card = textOf(areq, "acctNumber") ?? "";
  const authenticationValue = context.authenticationValues.make(card);
  const isPayment = textOf(areq, "messageCategory") !== "02";
  const eci = isPayment || !usesUcaf(card) || status === "A" ? eciFor(card, status) : "N2";
  return { eci, authenticationValue };
}

function openChallenge(
  areq: Emv3dsMessage,
  card: string,
  rule: ChallengeRule,
  context: ThreeDsContext,
): Emv3dsMessage {
  const version = areq.messageVersion;
  const acsTransID = randomUUID();
  context.challenges.add(acsTransID, {
    version,
    threeDSServerTransID: textOf(areq, "threeDSServerTransID") ?? "",
    dsTransID: textOf(areq, "dsTransID") ?? "",
    acsTransID,
    messageCategory: textOf(areq, "messageCategory") ?? "",
    notificationUrl: textOf(areq, "notificationURL") ?? "",
    threeDSServerUrl: textOf(areq, "threeDSServerURL") ?? "",
    rule,
    purchase: describePurchase(areq, card),
    proof: prove(areq, "Y", context),
    cres: undefined,
  });
  return makeARes(areq, {
    transStatus: "C",
    acsTransID,
    acsURL: context.acsUrl() + acsPaths.challenge,
    acsChallengeMandated: "Y",
    ...writeAuthenticationMethod(version),
  });
}

/** Returns the dynamic method (02), for which 2.3.1 has another element with a list. */
export function writeAuthenticationMethod(version: string): object {
  return version === "2.3.1" ? { authenticationMethod: ["02"] } : { authenticationType: "02" };
}

function describePurchase(areq: Emv3dsMessage, card: string): Challenge["purchase"] {
  const read = (name: string) => textOf(areq, name);
  const units = read("purchaseAmount");
  const [exponent = "0", currency = ""] = ["purchaseExponent", "purchaseCurrency"].map(read);
  return {
    merchant: read("merchantName") ?? read("threeDSRequestorName") ?? "",
    card: maskCard(card),
    amount: units === undefined ? undefined : showAmount(units, exponent, currency),
  };
}

function makeARes(areq: Emv3dsMessage, more: object): Emv3dsMessage {
  return {
    messageType: "ARes",
    messageVersion: areq.messageVersion,
    threeDSServerTransID: areq["threeDSServerTransID"],
    dsTransID: areq["dsTransID"],
    acsTransID: randomUUID(),
    acsReferenceNumber: "TOLLGATE-SANDBOX-ACS",
    acsOperatorID: "SANDBOX-BANK",
    dsReferenceNumber: areq["dsReferenceNumber"],
    ...more,
  };
}
