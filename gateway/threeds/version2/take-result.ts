/**
 * The directory server's result of a challenge (RReq): the only word on it that counts. It may come
 * before or after the browser is back, twice, or too late; the answer always says what was done.
 */
import {
  type Emv3dsMessage,
  MessageFault,
  makeErro,
  type ProtocolVersion,
  protocolVersions,
  readMessage,
  textOf,
  writeMessage,
} from "@tollgate/protocols/emv3ds";
import type { OrderEvent } from "../../orders/events.ts";
import type { Authentication, Order } from "../../orders/order.ts";
import { initialOf } from "../../orders/transactions.ts";
import { Failure } from "../../values/failure.ts";
import { isSameId, sequenceIn } from "../transaction-id.ts";
import type { AuthenticationOutcome, Judge } from "../verdict.ts";

export type TakeResult = (directory: string, text: string) => Promise<string | Failure>;

type Dependencies = {
  readonly findBySequence: (sequence: bigint) => Promise<Order | undefined>;
  readonly report: (order: Order, event: OrderEvent) => Promise<Order | Failure>;
  readonly load: (order: Order) => Promise<Order>;
  readonly judge: Judge;
  readonly allowHttp: boolean;
  readonly warn: (directory: string, cause: string) => void;
};

/** A failure means that it could not be stored: the directory server shall try again. */
export function makeTakeResult(dependencies: Dependencies): TakeResult {
  const { allowHttp } = dependencies;
  return async (directory, text) => {
    const message = readMessage(text, { types: ["RReq", "Erro"], allowHttp });
    if (message instanceof MessageFault) return refuse(directory, message, { ...message.received });
    // An error is never answered by another.
    if (message.messageType === "Erro") {
      dependencies.warn(directory, `Erro ${textOf(message, "errorCode")}`);
      return "";
    }
    const order = await findOrder(directory, message);
    if (order instanceof MessageFault) return refuse(directory, order, message);
    const taken = await take(order, message);
    if (taken instanceof Failure) return taken;
    if (taken instanceof MessageFault) return refuse(directory, taken, message);
    return writeMessage(resultResponse(message), { allowHttp });
  };

  async function findOrder(
    directory: string,
    message: Emv3dsMessage,
  ): Promise<Order | MessageFault> {
    const transactionId = textOf(message, "threeDSServerTransID") ?? "";
    const sequence = sequenceIn(transactionId);
    const order = sequence === undefined ? undefined : await dependencies.findBySequence(sequence);
    const threeds = order && initialOf(order).threeds;
    const isKnown =
      threeds?.directory === directory &&
      isSameId(transactionId, threeds.transactionId) &&
      isSameId(textOf(message, "acsTransID"), threeds.challenge?.acsTransactionId) &&
      isSameId(textOf(message, "dsTransID"), threeds.challenge?.directoryTransactionId);
    if (order === undefined || !isKnown) {
      return new MessageFault("301", ["threeDSServerTransID"], "no such challenge");
    }
    if (threeds.version !== message.messageVersion) {
      return new MessageFault("203", ["messageVersion"]);
    }
    // A payment is proved by more than a card that is only looked at.
    const category = initialOf(order).kind === "account-verification" ? "02" : "01";
    return textOf(message, "messageCategory") === category
      ? order
      : new MessageFault("203", ["messageCategory"]);
  }

  async function take(
    order: Order,
    message: Emv3dsMessage,
  ): Promise<Failure | MessageFault | undefined> {
    const verdict = verdictOf(order, message);
    const event = eventOf(verdict);
    const { stage, authentication } = initialOf(order);
    const awaited = stage === "awaiting_challenge" || stage === "awaiting_result";
    if (!awaited) return isRepeat(authentication, verdict) ? undefined : tooLate(order, message);
    const told = await dependencies.report(order, event);
    if (!(told instanceof Failure)) return undefined;
    // Another result was faster: this one is a repeat of it, or contradicts it.
    return told.code === "not_allowed_now" ? take(await dependencies.load(order), message) : told;
  }

  function verdictOf(order: Order, message: Emv3dsMessage): AuthenticationOutcome {
    return dependencies.judge(order, {
      status: textOf(message, "transStatus") ?? "U",
      eci: textOf(message, "eci"),
      value: textOf(message, "authenticationValue"),
      directoryTransactionId: textOf(message, "dsTransID"),
    });
  }

  /** The order has ended without it, or another result came first: nothing is changed any more. */
  async function tooLate(
    order: Order,
    message: Emv3dsMessage,
  ): Promise<Failure | MessageFault | undefined> {
    const status = textOf(message, "transStatus");
    const noted = await dependencies.report(order, {
      kind: "noted",
      what: "challenge_result",
      detail: `transStatus ${status} in stage ${initialOf(order).stage}`,
    });
    if (noted instanceof Failure) return noted;
    if (initialOf(order).authentication === undefined) return undefined;
    const code = message.messageVersion === "2.3.1" ? "312" : "301";
    return new MessageFault(code, ["threeDSServerTransID"], "it has a result already");
  }

  function refuse(directory: string, fault: MessageFault, message: Named): string {
    dependencies.warn(directory, `refused a result: ${fault.code} ${fault.detail}`);
    const ids = Object.fromEntries(
      ["threeDSServerTransID", "dsTransID", "acsTransID"].flatMap((name) => {
        const value = message[name];
        return typeof value === "string" ? [[name, value]] : [];
      }),
    );
    const version = versionOf(message["messageVersion"]);
    return writeMessage(makeErro(fault, { component: "S", version, ...ids }), { allowHttp });
  }
}

type Named = { readonly [name: string]: unknown };

/** A pass waits for the browser; everything else goes on, or ends, at once. */
function eventOf(verdict: AuthenticationOutcome): OrderEvent {
  if (verdict.kind !== "authenticated") return verdict;
  return { kind: "challenge_passed", authentication: verdict.authentication };
}

/** What was stored has lost its empty parts on the way, so each is compared by itself. */
function isRepeat(
  known: Authentication | undefined,
  { authentication: told }: AuthenticationOutcome,
): boolean {
  if (known === undefined || told === undefined) return false;
  return (
    known.status === told.status &&
    known.eci === told.eci &&
    known.value === told.value &&
    known.directoryTransactionId === told.directoryTransactionId
  );
}

function resultResponse(message: Emv3dsMessage): Emv3dsMessage {
  return {
    messageType: "RRes",
    messageVersion: message.messageVersion,
    threeDSServerTransID: textOf(message, "threeDSServerTransID"),
    acsTransID: textOf(message, "acsTransID"),
    dsTransID: textOf(message, "dsTransID"),
    // 05: the issuer has never seen the challenge's request.
    resultsStatus: textOf(message, "challengeCancel") === "05" ? "02" : "01",
  };
}

function versionOf(version: unknown): ProtocolVersion {
  return protocolVersions.find((known) => known === version) ?? "2.2.0";
}
