/**
 * What the directory server and the access control server (ACS) share: their collaborators, and
 * the state of transactions between two messages. It has no card numbers.
 */
import type { BankClock, BankContext } from "./bank-context.ts";
import type { PaResIdentity } from "./certificates/chains.ts";
import type { ResultSender } from "./directory-server/result-sender.ts";
import type { ProvedStatus } from "./issuer.ts";
import type { ChallengeRule, Threeds102Rule } from "./scenarios.ts";
import type { ThreeDsMessages } from "./threeds-messages.ts";

export type ThreeDsContext = BankContext & {
  readonly messages: ThreeDsMessages;
  readonly paResIdentity: PaResIdentity;
  readonly results: ResultSender;
  readonly challenges: ExpiringMap<Challenge>;
  readonly accounts: ExpiringMap<Account>;
  /** Where browsers reach the ACS, and gateways the directory server, once they listen. */
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

/** As the cardholder sees it. */
export type Purchase = {
  readonly merchant: string;
  /** With its currency; undefined for a request that is not a payment. */
  readonly amount: string | undefined;
  /** Masked. */
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
  /** Of a successful authentication. */
  readonly proof: { readonly eci: string; readonly authenticationValue: string };
  /** The encoded CRes, once the challenge is decided. */
  cres: Promise<string> | undefined;
};

/** An account of 3-D Secure 1.0.2, opened when the directory server is asked about a card. */
export type Account = {
  readonly rule: Exclude<Threeds102Rule, { kind: "not-enrolled" }>;
  readonly maskedCard: string;
  /** Zeros and the last four digits, as a PARes has it. */
  readonly zeroedCard: string;
  readonly proofs: Readonly<Record<ProvedStatus, { readonly eci: string; readonly cavv: string }>>;
  /** The encoded PARes of the purchase that was decided last. */
  decided: { readonly xid: string; readonly paRes: string } | undefined;
};

const entriesMax = 100_000;
const lifetimeMs = 3_600_000;

export class ExpiringMap<Value> {
  readonly #clock: BankClock;
  /** In order of insertion, so the oldest is always first. */
  readonly #entries = new Map<string, { readonly value: Value; readonly expiresAtMs: number }>();

  constructor(clock: BankClock) {
    this.#clock = clock;
  }

  add(id: string, value: Value): void {
    const { ms } = this.#clock.now();
    for (const [oldId, { expiresAtMs }] of this.#entries) {
      if (expiresAtMs > ms && this.#entries.size < entriesMax) break;
      this.#entries.delete(oldId);
    }
    this.#entries.set(id, { value, expiresAtMs: ms + lifetimeMs });
  }

  find(id: string): Value | undefined {
    const entry = this.#entries.get(id);
    const isAlive = entry !== undefined && entry.expiresAtMs > this.#clock.now().ms;
    return isAlive ? entry.value : undefined;
  }
}
