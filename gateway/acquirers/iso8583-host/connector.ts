/**
 * An acquirer behind an ISO 8583 host. It never throws and never sends twice; what the answers
 * mean is decided in `answers.ts`, how the link lives in `link.ts`.
 */
import {
  type DecodeFault,
  describe,
  type IsoMessage,
  responseMti,
} from "@tollgate/protocols/iso8583";
import type { LateApproval } from "../../orders/order.ts";
import type { Clock } from "../../values/time.ts";
import type {
  AuthorizationRequest,
  FollowUpAnswer,
  FollowUpMessage,
  Found,
  NotSent,
  Unknown,
} from "../acquirer.ts";
import type { GateKind, GateSettings, RunningAcquirer } from "../gates.ts";
import { makeAnswerReader, readAmount } from "./answers.ts";
import type { Ending } from "./connection.ts";
import { charges, type Dialect } from "./dialect.ts";
import { iso87Binary } from "./dialects/iso87-binary.ts";
import { sandbox } from "./dialects/sandbox.ts";
import { Link, type LinkLimits, type LinkState, usualLinkLimits } from "./link.ts";
import { makeMessages } from "./messages.ts";

type Iso8583Options = {
  readonly dialect: Dialect;
  readonly settings: GateSettings;
  readonly clock: Clock;
  readonly answerTimeoutMs: number;
  readonly limits?: Partial<LinkLimits>;
  readonly random?: () => number;
  readonly log: (event: ConnectorEvent, facts: object) => void;
  readonly onLateApproval: (approval: LateApproval) => void;
  /** By the type of the request. */
  readonly onAnswer: (mti: string, answerMs: number) => void;
};

/** Names of the log's catalogue. */
type ConnectorEvent =
  | "acquirer.link_up"
  | "acquirer.link_down"
  | "acquirer.link_changed"
  | "acquirer.reversal_not_approved"
  | "acquirer.message_unmatched"
  | "acquirer.message_unreadable"
  | "acquirer.message_unsendable";

/** Connects at once. Settings that fit no message throw here. */
export function makeIso8583Acquirer(options: Iso8583Options): RunningAcquirer {
  const { clock, log, dialect } = options;
  const messages = makeMessages(dialect, options.settings);
  const reader = makeAnswerReader(dialect);
  const link = makeLink(options);
  const exchange = makeExchange(link, options);
  link.open();

  return {
    isReady: () => link.isReady(),
    stop: () => link.close(),

    async authorize(attempt) {
      const answer = await exchange(() => messages.makeCharge(attempt));
      if (typeof answer === "string") return endWithout(answer);
      return reader.readAuthorization(answer, attempt, clock.now());
    },

    inquire: dialect.hasInquiry ? inquire : undefined,

    async reverse(attempt, advice) {
      const answer = await exchange(() => messages.makeReversal(attempt, advice, clock.now()));
      if (typeof answer === "string") return { kind: "unknown", cause: answer };
      const code = answer.fields[39] ?? "";
      if (code !== "00") {
        log("acquirer.reversal_not_approved", describe(answer, dialect.specification));
      }
      // An advice reports a fact: a host that has understood it has recorded it.
      const isUnderstood = code !== "" && !dialect.codes.refusalOf(code).isUndecided;
      return isUnderstood ? { kind: "reversed" } : { kind: "unknown", cause: `answered ${code}` };
    },

    capture: (request) => followUp(request, messages.makeCapture),
    refund: (request) => followUp(request, messages.makeReturn),
  };

  async function inquire(attempt: AuthorizationRequest, traceNumber: string): Promise<Found> {
    const answer = await exchange(() => messages.makeInquiry(attempt, traceNumber, clock.now()));
    if (typeof answer === "string") return endWithout(answer);
    return reader.readFound(answer, attempt, clock.now());
  }

  async function followUp(
    request: FollowUpMessage,
    make: (request: FollowUpMessage) => IsoMessage,
  ): Promise<FollowUpAnswer> {
    const answer = await exchange(() => make(request));
    if (typeof answer === "string") return endWithout(answer);
    return reader.readFollowUp(answer, request, clock.now());
  }
}

type Unanswered = Extract<Ending, string> | "not_sent";

function endWithout(answer: Unanswered): NotSent | Unknown {
  return answer === "not_sent" ? { kind: "not_sent" } : { kind: "unknown", cause: answer };
}

function makeLink(options: Iso8583Options): Link {
  const { settings: address, dialect: wire, clock, log, random = Math.random } = options;
  return new Link({
    ...{ address, wire, clock, random, zone: address.zone },
    limits: { ...usualLinkLimits, ...options.limits },
    events: {
      onState: (state, why) => log(eventOf(state), { state, why }),
      onUnmatched: makeOnUnmatched(options),
      onUnreadable: ({ field, reason }: DecodeFault, bytes: number) =>
        log("acquirer.message_unreadable", { field, reason, bytes }),
    },
  });
}

function eventOf(state: LinkState): ConnectorEvent {
  if (state === "online") return "acquirer.link_up";
  return state === "down" ? "acquirer.link_down" : "acquirer.link_changed";
}

function makeOnUnmatched({ dialect, clock, log, onLateApproval }: Iso8583Options) {
  const { readAnswer } = makeAnswerReader(dialect);
  const { meaningOf } = dialect.codes;
  const answersToCharges = new Set(charges.map((kind) => responseMti(dialect.mtis[kind].first)));
  return (message: IsoMessage, earlierCode: string | undefined) => {
    log("acquirer.message_unmatched", describe(message, dialect.specification));
    const reference = message.fields[37];
    const answer = readAnswer(message.fields, clock.now());
    if (!answersToCharges.has(message.mti)) return;
    if (reference === undefined || answer === undefined) return;
    if (meaningOf(answer.responseCode) === "refused") return;
    // The order knows of this approval already: the host has only said it twice.
    if (earlierCode !== undefined && meaningOf(earlierCode) !== "refused") return;
    onLateApproval({ reference, answer, minor: readAmount(message.fields[4]) });
  };
}

type Exchange = (make: () => IsoMessage) => Promise<Ending | "not_sent">;

function makeExchange(link: Link, options: Iso8583Options): Exchange {
  const { clock, log, onAnswer } = options;
  const limit = { timeoutMs: options.answerTimeoutMs };

  return async (make) => {
    const startedAt = clock.now();
    const request = send(make);
    if (request === undefined) return "not_sent";
    const answer = await request.answer;
    if (typeof answer !== "string") onAnswer(request.mti, clock.now() - startedAt);
    return answer;
  };

  /** Nothing when the message cannot be written; then nothing has left either. */
  function send(make: () => IsoMessage) {
    try {
      const message = make();
      return { mti: message.mti, answer: link.send(message, limit) };
    } catch (error) {
      // The codec's complaints name fields and rules, never values.
      const why = error instanceof Error ? error.message : "unknown";
      log("acquirer.message_unsendable", { why });
      return undefined;
    }
  }
}

/** The dialect of every kind of gate. */
export const dialects: Readonly<Record<GateKind, Dialect>> = {
  sandbox,
  iso87_binary: iso87Binary,
};
