/**
 * An acquirer with an ISO 8583 host. It never throws and never sends twice. `messages.ts` decides
 * the meaning of answers, and `running-acquirer.ts` follows the gate's settings.
 */
import {
  describe,
  type IsoFields,
  type IsoMessage,
  responseMti,
} from "@tollgate/protocols/iso8583";
import { type Keep, type KeptMessage, traceNumberAt } from "../../orders/messages.ts";
import type { LateApproval } from "../../orders/order.ts";
import type { Clock, Instant } from "../../values/time.ts";
import type {
  Acquirer,
  AuthorizationRequest,
  FollowUpAnswer,
  FollowUpMessage,
  Found,
  NotSent,
  SentFollowUp,
  Unknown,
} from "../acquirer.ts";
import type { GateKind, GateSettings } from "../gates.ts";
import { charges, type Dialect } from "./dialect.ts";
import { iso87Binary } from "./dialects/iso87-binary.ts";
import { iso93 } from "./dialects/iso93.ts";
import { sandbox } from "./dialects/sandbox.ts";
import type { Links } from "./links.ts";
import { makeAnswerReader, makeMessages, readAmount } from "./messages.ts";

export type Iso8583Options = {
  readonly clock: Clock;
  readonly answerTimeoutMs: number;
  readonly log: (event: ConnectorEvent, facts: object) => void;
  readonly onLateApproval: (approval: LateApproval) => void;
  /** Called with an answer to no request of this process, for `takeAnswer` of another process. */
  readonly onUnmatched: (answer: string) => void;
  readonly onUnreadable: (reason: string) => void;
  /** `mti` is the type of the answered request. */
  readonly onAnswer: (mti: string, answerMs: number) => void;
};

/** A gate as it is configured now, and its links. */
export type GateVersion = {
  readonly dialect: Dialect;
  readonly settings: GateSettings;
  readonly links: Links;
};

type ConnectorEvent =
  | "acquirer.link_up"
  | "acquirer.link_down"
  | "acquirer.link_changed"
  | "acquirer.tls_failed"
  | "acquirer.certificate_unusable"
  | "acquirer.certificate_expiring"
  | "acquirer.mac_keys_changed"
  | "acquirer.mac_key_delivered"
  | "acquirer.mac_key_refused"
  | "acquirer.reversal_not_approved"
  | "acquirer.message_unmatched"
  | "acquirer.message_unreadable"
  | "acquirer.message_not_authentic"
  | "acquirer.message_unsendable";

/** Throws if the settings do not fit the messages. */
export function makeIso8583Acquirer(version: GateVersion, options: Iso8583Options): Acquirer {
  const { clock, log } = options;
  const { dialect, settings, links } = version;
  const messages = makeMessages(dialect, settings);
  const reader = makeAnswerReader(dialect, settings.zone);
  const exchange = makeExchange(version, options);

  return {
    isReady: () => links.isReady(),

    hasPlaceFor({ authentication, card }) {
      const value = authentication?.value;
      return value === undefined || dialect.hasPlaceFor(value, card.number.network);
    },

    authorize(attempt) {
      // The order was routed to the gate's previous host.
      if (isOfOtherHost(attempt)) return Promise.resolve({ kind: "not_sent" });
      return exchange(
        () => messages.makeCharge(attempt),
        (answer) => reader.readAuthorization(answer, attempt, clock.now()),
        attempt.keep,
      );
    },

    inquire: dialect.hasInquiry ? inquire : undefined,
    inquireAfter: dialect.hasInquiry ? inquireAfter : undefined,

    async reverse(attempt, advice) {
      const reversal = await exchange(
        () => messages.makeReversal(attempt, advice, clock.now()),
        (answer, sent) => ({ ...reader.readReversal(answer, sent), answer }),
        attempt.keep,
      );
      if (reversal.kind === "not_sent") return { kind: "unknown", cause: "not_sent" };
      if (!("answer" in reversal)) return reversal;
      const { answer, ...read } = reversal;
      if (read.kind !== "reversed") {
        log("acquirer.reversal_not_approved", describe(answer, dialect.specification));
      }
      const isProof = read.kind === "refused" || !isOfOtherHost(attempt);
      return isProof ? read : { kind: "refused", code: "of another host", mayHelp: false };
    },

    capture: (request) => followUp(request, messages.makeCapture),
    refund: (request) => followUp(request, messages.makeReturn),
  };

  /** This host never had the charge. If it denies or reverses it, that proves nothing. */
  function isOfOtherHost({ identifiers: { gate } }: Pick<AuthorizationRequest, "identifiers">) {
    return (gate.hostChanges ?? 0) !== (settings.hostChanges ?? 0);
  }

  async function inquire(attempt: AuthorizationRequest): Promise<Found> {
    const at = clock.now();
    const found = await exchange(
      () => messages.makeInquiry(attempt, traceNumberAt(at, attempt.identifiers.traceNumber), at),
      (answer) => reader.readFound(answer, attempt, clock.now()),
      attempt.keep,
    );
    return believe(found, attempt);
  }

  function believe(found: Found, about: Pick<AuthorizationRequest, "identifiers">): Found {
    const isProof = found.kind !== "not_found" || !isOfOtherHost(about);
    return isProof ? found : { kind: "other_answer", code: "of another host" };
  }

  async function inquireAfter(message: SentFollowUp): Promise<Found> {
    const at = clock.now();
    const found = await exchange(
      () => messages.makeInquiryAfter(message, traceNumberAt(at, message.traceNumber), at),
      (answer) => {
        const isCapture = message.effect === "capture";
        const { fields } = isCapture ? messages.makeCapture(message) : messages.makeReturn(message);
        return reader.readFoundFollowUp(answer, fields, message, clock.now());
      },
      message.keep,
    );
    return believe(found, message.original);
  }

  function followUp(
    request: FollowUpMessage,
    make: (request: FollowUpMessage) => IsoMessage,
  ): Promise<FollowUpAnswer> {
    return exchange(
      () => make(request),
      (answer, sent) => reader.readFollowUp(answer, sent, request, clock.now()),
      request.keep,
    );
  }
}

export function makeOnUnmatched(
  dialect: Dialect,
  zone: GateSettings["zone"],
  options: Pick<Iso8583Options, "clock" | "log" | "onLateApproval" | "onUnmatched">,
) {
  const { clock, log, onLateApproval, onUnmatched } = options;
  const { readAnswer } = makeAnswerReader(dialect, zone);
  const { meaningOf } = dialect.codes;
  const answersToCharges = new Set(charges.map((kind) => responseMti(dialect.mtis[kind].first)));
  return (message: IsoMessage, earlierCode: string | undefined) => {
    log("acquirer.message_unmatched", describe(message, dialect.specification));
    const reference = message.fields[37];
    if (reference !== undefined && earlierCode === undefined) onUnmatched(JSON.stringify(message));
    const answer = readAnswer(message.fields, clock.now());
    // An answer to a refund has the type of one to a charge. A repeat settles doubt about it.
    if (!answersToCharges.has(message.mti) || isOf("20", message)) return;
    if (reference === undefined || answer === undefined) return;
    if (meaningOf(answer.responseCode) === "refused") return;
    // The order already has this approval. The host has only sent it twice.
    if (earlierCode !== undefined && meaningOf(earlierCode) !== "refused") return;
    onLateApproval({ reference, answer, minor: readAmount(message.fields[4]) });
  };
}

function isOf(processing: string, { fields }: IsoMessage): boolean {
  return fields[3]?.startsWith(processing) === true;
}

/** The answer is read together with the fields of its request. */
type Exchange = <Read>(
  make: () => IsoMessage,
  read: (answer: IsoMessage, sent: IsoFields) => Read,
  keep: Keep | undefined,
) => Promise<Read | NotSent | Unknown>;

function makeExchange({ links, dialect }: GateVersion, options: Iso8583Options): Exchange {
  const { clock, log, onAnswer } = options;
  const limit = { timeoutMs: options.answerTimeoutMs };
  const describeAs = (way: KeptMessage["way"], at: Instant, message: IsoMessage): KeptMessage => {
    const { mti, ...fields } = describe(message, dialect.specification);
    return { at, way, type: mti ?? "", fields };
  };

  return async (make, read, keep) => {
    const startedAt = clock.now();
    const sent = send(make);
    const answer = (await sent?.answer) ?? "not_sent";
    if (sent === undefined || answer === "not_sent") return { kind: "not_sent" };
    const endedAt = clock.now();
    keep?.(() => [
      describeAs("sent", startedAt, sent.message),
      ...(typeof answer === "string" ? [] : [describeAs("received", endedAt, answer)]),
    ]);
    if (typeof answer === "string") return { kind: "unknown", cause: answer };
    onAnswer(sent.message.mti, endedAt - startedAt);
    return read(answer, sent.message.fields);
  };

  /** Returns undefined if the message cannot be written. It has not been sent then. */
  function send(make: () => IsoMessage) {
    try {
      const message = make();
      return { message, answer: links.send(message, { ...limit, resets: isOf("26", message) }) };
    } catch (error) {
      // The codec's errors name fields and rules, and never values.
      const why = error instanceof Error ? error.message : "unknown";
      log("acquirer.message_unsendable", { why });
      return undefined;
    }
  }
}

export const dialects: Readonly<Record<GateKind, Dialect>> = {
  sandbox,
  iso87_binary: iso87Binary,
  iso93_ascii: iso93,
};

/** Returns what the messages of such a gate have places for, for the choice of a gate. */
export function abilitiesOf(kind: GateKind): Pick<Dialect, "amountDigits" | "exemptions"> {
  const { amountDigits, exemptions } = dialects[kind];
  return { amountDigits, exemptions };
}
