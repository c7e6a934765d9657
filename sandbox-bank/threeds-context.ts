/**
 * The context that the directory server and the access control server (ACS) share: their
 * collaborators, and the state of transactions between two messages. It contains no card numbers.
 */
import type { BankContext, ExpiringMap } from "./bank-context.ts";
import type { Identities } from "./certificates/chains.ts";
import type { ResultSender } from "./directory-server/result-sender.ts";
import type { ProvedStatus } from "./issuer.ts";
import type { ThreeDsMessages } from "./message-log.ts";
import type { ChallengeRule, Threeds102Rule } from "./scenarios.ts";

export type ThreeDsContext = BankContext & {
  readonly messages: ThreeDsMessages;
  readonly paResIdentity: Identities["paRes"];
  readonly results: ResultSender;
  readonly challenges: ExpiringMap<Challenge>;
  readonly accounts: ExpiringMap<Account>;
  /**
   * Return the URLs at which browsers reach the ACS and gateways the directory server. They are
   * known once the servers listen.
   */
  readonly acsUrl: () => string;
  readonly directoryUrl: () => string;
};

export const acsPaths = {
  method: "/acs/method",
  challenge: "/acs/challenge",
  challengeAnswer: "/acs/challenge/answer",
  paReq: "/acs/pareq",
  paReqAnswer: "/acs/pareq/answer",
};

/** A purchase as the cardholder sees it. */
export type Purchase = {
  readonly merchant: string;
  /** The amount with its currency. Undefined for a request that is not a payment. */
  readonly amount: string | undefined;
  /** The masked card number. */
  readonly card: string;
};

/** A challenge of EMV 3-D Secure that an ARes asked for. */
export type Challenge = {
  readonly version: string;
  readonly threeDSServerTransID: string;
  readonly dsTransID: string;
  readonly acsTransID: string;
  readonly messageCategory: string;
  readonly notificationUrl: string;
  readonly threeDSServerUrl: string;
  readonly rule: ChallengeRule;
  readonly purchase: Purchase;
  /** The proof of a successful authentication. */
  readonly proof: { readonly eci: string; readonly authenticationValue: string };
  /** The encoded CRes, once the challenge is decided. */
  cres: Promise<string> | undefined;
};

/** An account of 3-D Secure 1.0.2, opened when the directory server is asked about a card. */
export type Account = {
  readonly rule: Exclude<Threeds102Rule, { kind: "not-enrolled" }>;
  readonly maskedCard: string;
  /** Zeros and the last four digits, as in a PARes. */
  readonly zeroedCard: string;
  readonly proofs: Readonly<Record<ProvedStatus, { readonly eci: string; readonly cavv: string }>>;
  /** The encoded PARes of the purchase that was decided last. */
  decided: { readonly xid: string; readonly paRes: string } | undefined;
};
