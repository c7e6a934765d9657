/**
 * Receives the result of a challenge (RReq) from a directory server, which alone is trusted. It may
 * arrive before or after the browser returns, twice, or too late, and the answer says which.
 */
import {
  type Emv3dsMessage,
  MessageFault,
  makeErro,
  readMessage,
  textOf,
  writeMessage,
} from "@tollgate/protocols/emv3ds";
import type { OrderEvent } from "../orders/events.ts";
import type { Authentication, Order, RefusedTry } from "../orders/order.ts";
import { initialOf } from "../orders/transactions.ts";
import { Failure } from "../values/failure.ts";
import type { Clock } from "../values/time.ts";
import {
  type AuthenticationOutcome,
  isSameId,
  orderNumberIn,
  outcomeOf,
  resultIn,
  type ThreeDSecurePolicy,
} from "./authentication-outcome.ts";
import { keptMessage } from "./kept-messages.ts";

/** A failure means that the result could not be stored, and must be sent again. */
export type ReceiveResult = (directory: string, text: string) => Promise<string | Failure>;

/** The order engine, for results that a browser, a merchant or a directory server reports. */
export type OrderReports = {
  readonly findByNumber: (number: number) => Promise<Order | undefined>;
  readonly report: (order: Order, event: OrderEvent) => Promise<Order | Failure>;
  readonly load: (order: Order) => Promise<Order>;
};

type Dependencies = OrderReports & {
  readonly policyOf: (order: Order) => ThreeDSecurePolicy;
  readonly allowHttp: boolean;
  readonly clock: Pick<Clock, "now">;
  readonly warn: (directory: string, cause: string) => void;
};

type Met = { readonly order: Order; readonly ended: RefusedTry | undefined };

export function makeReceiveResult(dependencies: Dependencies): ReceiveResult {
  const { allowHttp, report, warn, clock } = dependencies;
  return async (directory, text) => {
    const message = readMessage(text, { types: ["RReq", "Erro"], allowHttp });
    if (message instanceof MessageFault) return refuse(directory, message, message.received);
    // An Erro is never answered with another one.
    if (message.messageType === "Erro") {
      warn(directory, `Erro ${textOf(message, "errorCode")}`);
      return "";
    }
    const met = await findTry(directory, message);
    const fault = met instanceof MessageFault ? met : await store(directory, met, message);
    if (fault instanceof Failure) return fault;
    if (fault !== undefined) return refuse(directory, fault, message);
    return writeMessage(answerTo(message), { allowHttp });
  };

  async function findTry(directory: string, message: Emv3dsMessage) {
    const transactionId = textOf(message, "threeDSServerTransID") ?? "";
    const number = orderNumberIn(transactionId);
    const order = number === undefined ? undefined : await dependencies.findByNumber(number);
    return match(directory, order, message);
  }

  /** Returns the challenge that the order is in, or that of an ended try on its payment page. */
  function match(
    directory: string,
    order: Order | undefined,
    message: Emv3dsMessage,
  ): Met | MessageFault {
    const transactionId = textOf(message, "threeDSServerTransID");
    const isOf = ({ threeds }: Pick<RefusedTry, "threeds">) =>
      threeds?.directory === directory &&
      isSameId(transactionId, threeds.transactionId) &&
      isSameId(textOf(message, "acsTransID"), threeds.challenge?.acsTransactionId) &&
      isSameId(textOf(message, "dsTransID"), threeds.challenge?.directoryTransactionId);
    const ended = order?.page?.refused.find(isOf);
    const known = ended ?? (order && [initialOf(order)].find(isOf));
    if (order === undefined || known === undefined) {
      return new MessageFault("301", ["threeDSServerTransID"], "no such challenge");
    }
    if (known.threeds?.version !== message.messageVersion) {
      return new MessageFault("203", ["messageVersion"]);
    }
    // A result for a verification proves less than one for a payment.
    const category = initialOf(order).kind === "account-verification" ? "02" : "01";
    return textOf(message, "messageCategory") === category
      ? { order, ended }
      : new MessageFault("203", ["messageCategory"]);
  }

  /** Returns undefined if the result is stored, now or by an earlier message. */
  async function store(
    directory: string,
    { order, ended }: Met,
    message: Emv3dsMessage,
  ): ReturnType<typeof noteLate> {
    const judged = ended === undefined ? order : { ...order, card: ended.card };
    const outcome = outcomeOf(judged, resultIn(message), dependencies.policyOf(order));
    const { stage } = initialOf(order);
    const isAwaited = stage === "awaiting_challenge" || stage === "awaiting_result";
    if (ended !== undefined || !isAwaited) {
      const { authentication } = ended ?? initialOf(order);
      if (isRepeat(authentication, outcome)) return undefined;
      return noteLate(order, message, authentication);
    }
    const messages = [
      keptMessage("received", clock.now(), message),
      keptMessage("sent", clock.now(), answerTo(message)),
    ];
    const reported = await report(order, { ...eventOf(outcome), messages });
    if (!(reported instanceof Failure)) return undefined;
    if (reported.code !== "not_allowed_now") return reported;
    // Another result was faster, which this one repeats or contradicts, or the order has continued.
    const met = match(directory, await dependencies.load(order), message);
    return met instanceof MessageFault ? met : store(directory, met, message);
  }

  /** The order or its try has ended, or another result came earlier, so nothing changes. */
  async function noteLate(
    order: Order,
    message: Emv3dsMessage,
    authentication: Authentication | undefined,
  ) {
    const { stage } = initialOf(order);
    const noted = await report(order, {
      kind: "noted",
      what: "challenge_result",
      detail: `transStatus ${textOf(message, "transStatus")} in stage ${stage}`,
    });
    if (noted instanceof Failure) return noted;
    if (authentication === undefined) return undefined;
    const code = message.messageVersion === "2.3.1" ? "312" : "301";
    return new MessageFault(code, ["threeDSServerTransID"], "it has a result already");
  }

  function refuse(directory: string, fault: MessageFault, message: object): string {
    warn(directory, `refused a result: ${fault.code} ${fault.detail}`);
    return writeMessage(makeErro(fault, "S", message), { allowHttp });
  }
}

/** A passed challenge waits for the browser; every other result takes effect at once. */
function eventOf(outcome: AuthenticationOutcome): OrderEvent {
  if (outcome.kind !== "authenticated") return outcome;
  return { kind: "challenge_passed", authentication: outcome.authentication };
}

/** A stored authentication has no undefined properties, so each property is compared by itself. */
function isRepeat(
  known: Authentication | undefined,
  { authentication: received }: AuthenticationOutcome,
): boolean {
  if (known === undefined || received === undefined) return false;
  return (["status", "eci", "value", "directoryTransactionId"] as const).every(
    (name) => known[name] === received[name],
  );
}

function answerTo(message: Emv3dsMessage): Emv3dsMessage {
  return {
    messageType: "RRes",
    messageVersion: message.messageVersion,
    threeDSServerTransID: textOf(message, "threeDSServerTransID"),
    acsTransID: textOf(message, "acsTransID"),
    dsTransID: textOf(message, "dsTransID"),
    // The code 05 means that the issuer never received the CReq.
    resultsStatus: textOf(message, "challengeCancel") === "05" ? "02" : "01",
  };
}
