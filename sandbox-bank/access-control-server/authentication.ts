/**
 * The issuer's answer to an AReq: at once, or after a challenge in the cardholder's browser. What
 * is kept until then has no card number in it; the proof is made now and handed out later.
 */
import { randomUUID } from "node:crypto";
import { type Emv3dsMessage, MessageFault, textOf } from "@tollgate/protocols/emv3ds";
import type { AuthenticationValues } from "../issuer/authentication-values.ts";
import { maskCard } from "../issuer/mask-card.ts";
import { eciFor, type ProvedStatus } from "../issuer/networks.ts";
import { showAmount } from "../money.ts";
import { type ChallengeEnd, findScenario, type SecureRule } from "../scenarios.ts";
import type { Purchase } from "./pages/challenge-page.ts";
import type { Transactions } from "./transactions.ts";

/** A challenge that was asked for. */
export type Challenge = {
  readonly version: string;
  readonly threeDSServerTransID: string;
  readonly dsTransID: string;
  readonly acsTransID: string;
  readonly messageCategory: string;
  readonly notificationUrl: string;
  readonly threeDSServerUrl: string;
  readonly end: ChallengeEnd;
  readonly purchase: Purchase;
  /** For an authentication that succeeds. */
  readonly proof: Proof;
  /** The CRes as the browser will carry it, once it is decided. */
  result: Promise<string> | undefined;
};

export type Proof = { readonly eci: string; readonly authenticationValue: string };

export type Acs = {
  readonly authenticationValues: AuthenticationValues;
  readonly challenges: Transactions<Challenge>;
  readonly challengeUrl: () => string;
};

const acsReference = "TOLLGATE-SANDBOX-ACS";
const acsOperator = "SANDBOX-BANK";
const dynamic = "02";

/** A fault is told by the directory in the ACS's place; nothing is told to no one. */
export function authenticate(
  areq: Emv3dsMessage,
  acs: Acs,
): Emv3dsMessage | MessageFault | undefined {
  const card = textOf(areq, "acctNumber") ?? "";
  const rule = ruleFor(card, areq);
  switch (rule.kind) {
    case "stay-silent":
      return undefined;
    case "answer-error":
      return new MessageFault("405", [], "The ACS of this card cannot be reached.");
    case "authenticate":
      return makeARes(areq, { transStatus: "Y", ...prove(card, "Y", acs) });
    case "attempt":
      return makeARes(areq, { transStatus: "A", ...prove(card, "A", acs) });
    case "refuse":
      return makeARes(areq, { transStatus: rule.status, transStatusReason: rule.reason });
    case "challenge":
      return openChallenge(areq, card, rule.end, acs);
  }
}

function ruleFor(card: string, areq: Emv3dsMessage): SecureRule {
  const rule = findScenario(card)?.secure ?? { kind: "authenticate" };
  const isDemanded = rule.kind === "authenticate" && demandsChallenge(areq);
  const asked: SecureRule = isDemanded ? { kind: "challenge", end: "by-code" } : rule;
  if (asked.kind !== "challenge" || textOf(areq, "deviceChannel") === "02") return asked;
  // There is nobody to challenge in 3RI, and the sandbox knows no app.
  const isApp = textOf(areq, "deviceChannel") === "01";
  return { kind: "refuse", status: "U", reason: isApp ? "03" : "21" };
}

/** 04: a mandate; 13: the issuer itself asked for it. A text up to 2.2.0, a list in 2.3.1. */
function demandsChallenge(areq: Emv3dsMessage): boolean {
  const wish = areq["threeDSRequestorChallengeInd"];
  const wishes: readonly unknown[] = Array.isArray(wish) ? wish : [wish];
  return wishes.includes("04") || wishes.includes("13");
}

function prove(card: string, status: ProvedStatus, { authenticationValues }: Acs): Proof {
  return { eci: eciFor(card, status), authenticationValue: authenticationValues.make(card) };
}

function openChallenge(
  areq: Emv3dsMessage,
  card: string,
  end: ChallengeEnd,
  acs: Acs,
): Emv3dsMessage {
  const ares = makeARes(areq, {
    transStatus: "C",
    acsURL: acs.challengeUrl(),
    acsChallengeMandated: "Y",
    ...writeMethod(areq.messageVersion),
  });
  const acsTransID = textOf(ares, "acsTransID") ?? "";
  acs.challenges.add(acsTransID, {
    version: areq.messageVersion,
    threeDSServerTransID: textOf(areq, "threeDSServerTransID") ?? "",
    dsTransID: textOf(areq, "dsTransID") ?? "",
    acsTransID,
    messageCategory: textOf(areq, "messageCategory") ?? "",
    notificationUrl: textOf(areq, "notificationURL") ?? "",
    threeDSServerUrl: textOf(areq, "threeDSServerURL") ?? "",
    end,
    purchase: describePurchase(areq, card),
    proof: prove(card, "Y", acs),
    result: undefined,
  });
  return ares;
}

/** What the cardholder did to prove himself: 2.3.1 has another element for it, and a list. */
export function writeMethod(version: string): object {
  return version === "2.3.1"
    ? { authenticationMethod: [dynamic] }
    : { authenticationType: dynamic };
}

/** A request that is no payment has no amount. */
function describePurchase(areq: Emv3dsMessage, card: string): Purchase {
  const amount = textOf(areq, "purchaseAmount");
  return {
    merchant: textOf(areq, "merchantName") ?? textOf(areq, "threeDSRequestorName") ?? "",
    card: maskCard(card),
    amount:
      amount === undefined
        ? undefined
        : showAmount(
            amount,
            textOf(areq, "purchaseExponent") ?? "0",
            textOf(areq, "purchaseCurrency") ?? "",
          ),
  };
}

function makeARes(areq: Emv3dsMessage, more: object): Emv3dsMessage {
  return {
    messageType: "ARes",
    messageVersion: areq.messageVersion,
    threeDSServerTransID: areq["threeDSServerTransID"],
    dsTransID: areq["dsTransID"],
    acsTransID: randomUUID(),
    acsReferenceNumber: acsReference,
    acsOperatorID: acsOperator,
    dsReferenceNumber: areq["dsReferenceNumber"],
    ...more,
  };
}
