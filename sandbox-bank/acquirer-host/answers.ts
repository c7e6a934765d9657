/**
 * Makes and sends the host's answers: echoed fields, the response code and its text, and the
 * numbers of an approval. The card number is never echoed.
 */
import { type IsoFields, type IsoMessage, responseMti } from "@tollgate/protocols/iso8583";
import type { BankContext } from "../bank-context.ts";
import type { Identities } from "../certificates/chains.ts";
import { usesUcaf } from "../issuer.ts";
import type { Ledger } from "../ledger.ts";
import type { MessageLog } from "../message-log.ts";
import type { HostDialect, HostRequest, IdNetwork } from "./dialects.ts";

/** The state of one host, which all of its ports share. */
export type HostContext = BankContext & {
  /**
   * The host's certificate on TLS connections. Its authority issues the gateways' certificates too.
   */
  readonly identity: Identities["host"];
  readonly ledger: Ledger;
  readonly messages: MessageLog;
  readonly approvalNumbers: ApprovalNumbers;
  readonly delayedApprovals: DelayedApprovals;
  /** The connections to each port, by the gate's name. */
  readonly connections: Map<string, ReadonlySet<GatewayConnection>>;
  /** The callers that wait for the answer to a delivered key, by trace number. */
  readonly deliveries: Map<string, (code: string) => void>;
  /** How many reversals of a charge were left unanswered, by reference. */
  readonly unansweredReversals: Map<string, number>;
};

/** A connection of a gateway, as request handlers use it. */
export type GatewayConnection = {
  readonly dialect: HostDialect;
  signedOn: boolean;
  isOpen(): boolean;
  answer(message: IsoMessage): void;
  answerGarbage(reference: string): void;
  close(reason: string): void;
};

/** A request, the connection it came on, and the host that handles it. */
export type Exchange = {
  readonly request: HostRequest;
  readonly connection: GatewayConnection;
  readonly host: HostContext;
};

const echoedFields = [3, 4, 7, 11, 32, 37, 41, 42, 49, 70];

/** The texts of field 44, which has room for 25 characters. */
const responseTexts: ReadonlyMap<string, string> = new Map([
  ["05", "DO NOT HONOUR"],
  ["12", "INVALID TRANSACTION"],
  ["13", "INVALID AMOUNT"],
  ["14", "INVALID CARD NUMBER"],
  ["1A", "AUTHENTICATION REQUIRED"],
  ["25", "ORIGINAL NOT FOUND"],
  ["30", "FORMAT ERROR"],
  ["41", "LOST CARD"],
  ["43", "STOLEN CARD, PICK UP"],
  ["51", "INSUFFICIENT FUNDS"],
  ["54", "EXPIRED CARD"],
  ["57", "NOT PERMITTED"],
  ["59", "SUSPECTED FRAUD"],
  ["61", "AMOUNT LIMIT EXCEEDED"],
  ["62", "RESTRICTED CARD"],
  ["65", "COUNT LIMIT EXCEEDED"],
  ["91", "ISSUER UNAVAILABLE"],
  ["96", "SYSTEM MALFUNCTION"],
  ["N7", "CVV MISMATCH"],
]);

/** Codes that a switch can make the host answer although it processes the request. */
export const mayYetBeDone: ReadonlySet<string> = new Set(["09", "68", "94"]);

/**
 * Returns the code of a switch for a follow-up. The host does not refuse the repeat of a request
 * that it may have processed, unless a switch says so; it may only leave it unanswered.
 */
export function toldToFollowUp({ request, host }: Exchange): string | null {
  const { followUpCode, repeatCode } = host.switches.current;
  const isRepeat = request.mti.endsWith("1");
  if (isRepeat && repeatCode !== null) return repeatCode;
  return followUpCode !== null && isRepeat && !undecided.has(followUpCode) ? null : followUpCode;
}

const undecided: ReadonlySet<string> = new Set([...mayYetBeDone, "91", "96"]);

/** Returns whether the switch makes the host refuse the request without processing it. */
export function isRefusedBy(told: string | null): told is string {
  return told !== null && told !== "00" && !mayYetBeDone.has(told);
}

/** Makes an answer. `more` are its additional fields. */
export function makeAnswer(
  { request, connection, host }: Exchange,
  code: string,
  more?: IsoFields,
): IsoMessage {
  const { time, date } = host.clock.now();
  const fields: { [field: number]: string } = {};
  for (const field of echoedFields) {
    const value = request.fields[field];
    if (value !== undefined) fields[field] = value;
  }
  // The local time is the terminal's: the host does not know its zone.
  fields[12] = request.fields[12] ?? time;
  fields[13] = request.fields[13] ?? date;
  fields[15] = date;
  fields[39] = code;
  const text = responseTexts.get(code);
  if (text !== undefined && connection.dialect.writesTexts) fields[44] = text;
  if (more !== undefined) Object.assign(fields, more);
  return connection.dialect.write({ mti: responseMti(request.mti), fields }, request);
}

/**
 * Makes an approval. The network's id has 15 digits, or is the Banknet reference and the date for
 * Mastercard.
 */
export function makeApproval(
  exchange: Exchange,
  { number, network }: ApprovalNumber,
  more?: IsoFields,
): IsoMessage {
  const { connection, host } = exchange;
  const approvalCode = (number % 36 ** 6).toString(36).toUpperCase().padStart(6, "0");
  const isMastercards = network === "mastercard";
  const id = isMastercards ? `MCC${approvalCode}${host.clock.now().date}` : String(number);
  const numbers = { 38: approvalCode, 62: connection.dialect.writeNetworkId(id, network) };
  return makeAnswer(exchange, "00", more === undefined ? numbers : { ...numbers, ...more });
}

/** Sends the answer after the sandbox's latency, and `afterMs` later for a slow card. */
export function send({ connection, host }: Exchange, answer: IsoMessage, afterMs = 0): void {
  const delayMs = host.switches.nextLatencyMs() + afterMs;
  if (delayMs === 0) connection.answer(answer);
  else setTimeout(() => connection.answer(answer), delayMs).unref();
}

type ApprovalNumber = { readonly number: number; readonly network: IdNetwork };

/**
 * Issues the numbers of approvals, which have 15 digits. Network transaction ids and approval codes
 * follow from them.
 */
export class ApprovalNumbers {
  // The sequence has a hundred numbers per millisecond since 1970, so that none is issued twice
  // across restarts.
  #last = Date.now() * 100;
  readonly #first = new Map<string, ApprovalNumber>();

  /** Returns the number of a new approval of the charge. */
  next(reference: string, card: string): ApprovalNumber {
    this.#last += 1;
    const next = { number: this.#last, network: usesUcaf(card) ? "mastercard" : "other" } as const;
    if (!this.#first.has(reference)) this.#first.set(reference, next);
    return next;
  }

  /** Returns the number of the charge's first approval, or a new one if its answer was lost. */
  of(reference: string): ApprovalNumber {
    return this.#first.get(reference) ?? this.next(reference, "");
  }
}

const delayMs = 120_000;

type DelayedApproval = {
  readonly connection: GatewayConnection;
  readonly approve: (connection: GatewayConnection) => void;
  readonly timer: NodeJS.Timeout;
};

/**
 * Approvals that are sent after the gateway has given up. The reversal of the charge shows that it
 * has, so they are late under every timeout. Without a reversal they are sent after two minutes.
 */
export class DelayedApprovals {
  readonly #delayed = new Map<string, DelayedApproval[]>();

  add(reference: string, connection: GatewayConnection, approve: DelayedApproval["approve"]): void {
    const timer = setTimeout(() => this.release(reference, connection), delayMs);
    const delayed = this.#delayed.get(reference) ?? [];
    delayed.push({ connection, approve, timer });
    this.#delayed.set(reference, delayed);
  }

  /** Sends the delayed approvals of the charge, on the given connection if their own is closed. */
  release(reference: string, otherConnection: GatewayConnection): void {
    const delayed = this.#delayed.get(reference) ?? [];
    this.#delayed.delete(reference);
    for (const { connection, approve, timer } of delayed) {
      clearTimeout(timer);
      approve(connection.isOpen() ? connection : otherConnection);
    }
  }

  /** Sends all delayed approvals on their own connections. */
  releaseAll(): void {
    for (const [reference, [first]] of this.#delayed) {
      if (first !== undefined) this.release(reference, first.connection);
    }
  }

  /** Drops delayed approvals without booking them. */
  close(): void {
    for (const { timer } of [...this.#delayed.values()].flat()) clearTimeout(timer);
    this.#delayed.clear();
  }
}
