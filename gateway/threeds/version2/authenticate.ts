/**
 * Does the `authenticate` effect: asks the card's directory server by AReq. Only a node that takes
 * the order over after a crash asks once more, with the same id. Whatever is no answer counts as an
 * authentication that could not be done.
 */
import {
  type Emv3dsMessage,
  encodeFormValue,
  MessageFault,
  makeErro,
  protocolVersions,
  readMessage,
  textOf,
  writeMessage,
} from "@tollgate/protocols/emv3ds";
import type { EffectHandler, OrderEvent } from "../../orders/events.ts";
import type { Order } from "../../orders/order.ts";
import type { Clock } from "../../values/time.ts";
import type { Directory } from "../directories/directories.ts";
import type { Judge } from "../verdict.ts";
import { type AReqParts, type MerchantAtGate, makeAReq, type PaidCard } from "./areq.ts";

export type AuthenticateDependencies = {
  readonly findDirectory: (name: string) => Directory | undefined;
  /** Out of the vault; nothing when it is no longer there. */
  readonly findCard: (order: Order) => Promise<PaidCard | undefined>;
  readonly merchantAt: (order: Order) => MerchantAtGate | undefined;
  readonly resultsUrl: (directory: string) => string;
  /** Our own page, for when no merchant's was named. */
  readonly notificationUrl: (order: Order) => string;
  readonly judge: Judge;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly allowHttp: boolean;
  readonly warn: (order: Order, cause: string) => void;
};

const answerBytesMax = 1_048_576;
const contentType = "application/json;charset=utf-8";

export function makeAuthenticate(dependencies: AuthenticateDependencies): EffectHandler {
  const { judge, allowHttp, timeoutMs } = dependencies;

  return async (order, { cardData }) => {
    const question = await prepare(order, cardData).catch(reported(order));
    if (question === undefined) return judge.unauthenticated(order);
    const { request, body } = question;
    const text = await question.ask(body);
    if (text === undefined) return judge.unauthenticated(order);
    const answer = readMessage(text, { types: ["ARes", "Erro"], request, allowHttp });
    if (!(answer instanceof MessageFault)) return judged(order, answer);
    await complain(order, question, answer);
    return judge.unauthenticated(order);
  };

  /** Nothing when there is no directory server, card or gate any more. */
  async function prepare(order: Order, cardData: PaidCard | undefined) {
    const { threeds } = order.transaction;
    const directory = threeds && dependencies.findDirectory(threeds.directory);
    const url = directory?.server.settings.url;
    const card = cardData ?? (await dependencies.findCard(order));
    const merchant = dependencies.merchantAt(order);
    if (!threeds || !directory || !url || !card || !merchant) return undefined;
    const { name, settings } = directory.server;
    const parts = {
      ...{ order, threeds, card, merchant, settings },
      resultsUrl: dependencies.resultsUrl(name),
      notificationUrl: threeds.browser?.notificationUrl ?? dependencies.notificationUrl(order),
      now: dependencies.clock.now(),
    };
    const ask = (body: string) =>
      directory.ask(url, { contentType, body, answerBytesMax, timeoutMs });
    return { ...write(order, parts), ask };
  }

  /**
   * What a cardholder typed must never decide whether he is authenticated: if it breaks our own
   * message in a way that nobody thought of, the message goes without it.
   */
  function write(order: Order, parts: AReqParts) {
    const request = makeAReq(parts);
    try {
      return { request, body: writeMessage(request, { allowHttp }) };
    } catch (error) {
      dependencies.warn(order, error instanceof Error ? error.message : String(error));
      const plain = makeAReq(parts, { withoutCustomer: true });
      return { request: plain, body: writeMessage(plain, { allowHttp }) };
    }
  }

  /** What the merchant sent may break the protocol in a way that nobody thought of. */
  function reported(order: Order) {
    return (error: unknown) => {
      dependencies.warn(order, error instanceof Error ? error.message : String(error));
      return undefined;
    };
  }

  /** The directory server should know that its answer was of no use; nothing depends on it. */
  async function complain(
    order: Order,
    { request, ask }: Question,
    fault: MessageFault,
  ): Promise<void> {
    dependencies.warn(order, `the ARes is not right: ${fault.code} ${fault.detail}`);
    // An error is never answered by another.
    if (fault.received.messageType === "Erro") return;
    const transactionId = textOf(request, "threeDSServerTransID");
    const version = protocolVersions.find((known) => known === request.messageVersion) ?? "2.2.0";
    const ids = transactionId === undefined ? {} : { threeDSServerTransID: transactionId };
    await ask(writeMessage(makeErro(fault, { component: "S", version, ...ids }), { allowHttp }));
  }

  function judged(order: Order, answer: Emv3dsMessage): OrderEvent {
    if (answer.messageType === "Erro") {
      dependencies.warn(order, `the AReq was answered with Erro ${textOf(answer, "errorCode")}`);
      return judge.unauthenticated(order);
    }
    const status = textOf(answer, "transStatus") ?? "U";
    if (status === "C") return challengeOf(answer);
    return judge(order, {
      status,
      eci: textOf(answer, "eci"),
      value: textOf(answer, "authenticationValue"),
      directoryTransactionId: textOf(answer, "dsTransID"),
    });
  }
}

type Question = {
  readonly request: Emv3dsMessage;
  readonly ask: (body: string) => Promise<string | undefined>;
};

function challengeOf(answer: Emv3dsMessage): OrderEvent {
  const acsTransactionId = textOf(answer, "acsTransID") ?? "";
  const creq = {
    messageType: "CReq",
    messageVersion: answer.messageVersion,
    threeDSServerTransID: textOf(answer, "threeDSServerTransID"),
    acsTransID: acsTransactionId,
    challengeWindowSize: "05",
  };
  return {
    kind: "challenge_requested",
    challenge: {
      acsUrl: textOf(answer, "acsURL") ?? "",
      acsTransactionId,
      directoryTransactionId: textOf(answer, "dsTransID") ?? "",
      creq: encodeFormValue(creq),
    },
  };
}
