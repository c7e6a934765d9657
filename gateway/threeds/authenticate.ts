/**
 * The `authenticate` effect: sends an AReq to the card's directory server. A node that claims the
 * order after a crash sends it again with the same id. Without a valid answer there is no
 * authentication.
 */
import {
  type Emv3dsMessage,
  encodeFormValue,
  MessageFault,
  makeErro,
  readMessage,
  textOf,
  writeMessage,
} from "@tollgate/protocols/emv3ds";
import type { EffectHandler, OrderEvent } from "../orders/events.ts";
import { type KeptMessage, makeKept } from "../orders/messages.ts";
import type { Order } from "../orders/order.ts";
import { messageOf } from "../values/problem.ts";
import type { Clock } from "../values/time.ts";
import { type MerchantAtGate, makeAReq, type PaidCard } from "./areq.ts";
import {
  outcomeOf,
  resultIn,
  type ThreeDSecurePolicy,
  withoutAuthentication,
} from "./authentication-outcome.ts";
import type { Directory } from "./directory-client.ts";
import { keptMessage } from "./kept-messages.ts";

export type AuthenticateDependencies = {
  readonly findDirectory: (name: string) => Directory | undefined;
  /** Returns undefined if the vault no longer has the card. */
  readonly findCard: (order: Order) => Promise<PaidCard | undefined>;
  /** Returns undefined if the order's gate no longer exists. */
  readonly findMerchant: (order: Order) => MerchantAtGate | undefined;
  readonly resultsUrl: (directory: string) => string;
  /** Where the challenge's result goes: the gateway's page, unless the merchant has named one. */
  readonly notificationUrl: (order: Order) => string;
  readonly policyOf: (order: Order) => ThreeDSecurePolicy;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly allowHttp: boolean;
  readonly warn: (order: Order, cause: string) => void;
};

type KeepOne = (way: KeptMessage["way"], message: Emv3dsMessage) => void;

const answerBytesMax = 1_048_576;
const contentType = "application/json;charset=utf-8";

export function makeAuthenticate(dependencies: AuthenticateDependencies): EffectHandler {
  const { allowHttp, timeoutMs, policyOf, warn } = dependencies;

  return async (order, { cardData }) => {
    const kept = makeKept();
    const keepOne = (way: KeptMessage["way"], message: Emv3dsMessage) => {
      const at = dependencies.clock.now();
      kept.keep(() => [keptMessage(way, at, message)]);
    };
    return kept.with(await ask(order, cardData, keepOne));
  };

  async function ask(order: Order, cardData: PaidCard | undefined, keep: KeepOne) {
    const request = await prepare(order, cardData).catch((error) => warn(order, messageOf(error)));
    if (request) keep("sent", request.message);
    const text = request && (await request.send(request.body));
    if (!request || text === undefined) return withoutAuthentication(order, policyOf(order));
    const { message } = request;
    const answer = readMessage(text, { types: ["ARes", "Erro"], request: message, allowHttp });
    if (answer instanceof MessageFault) {
      await complain(order, request, answer);
      return withoutAuthentication(order, policyOf(order));
    }
    keep("received", answer);
    if (answer.messageType === "Erro") {
      warn(order, `the AReq was answered with Erro ${textOf(answer, "errorCode")}`);
      return withoutAuthentication(order, policyOf(order));
    }
    const result = resultIn(answer);
    if (result.status !== "C") return outcomeOf(order, result, policyOf(order));
    const creq = creqFor(answer);
    keep("sent", creq);
    return challengeIn(answer, creq);
  }

  async function prepare(order: Order, cardData: PaidCard | undefined) {
    const parties = await findParties(dependencies, order, cardData, "url");
    const { threeds } = order.transaction;
    if (parties === undefined || threeds === undefined) return undefined;
    const { directory, url, card, merchant } = parties;
    const { name, settings } = directory.server;
    const parts = {
      order,
      threeds,
      card,
      merchant,
      settings,
      resultsUrl: dependencies.resultsUrl(name),
      notificationUrl: threeds.browser?.notificationUrl ?? dependencies.notificationUrl(order),
      now: dependencies.clock.now(),
    };
    const write = (message: Emv3dsMessage) => ({
      message,
      body: writeMessage(message, { allowHttp }),
      send: (body: string) => directory.send(url, { contentType, body, answerBytesMax, timeoutMs }),
    });
    try {
      return write(makeAReq(parts));
    } catch (error) {
      // Invalid customer data is left out of the AReq: it must never prevent an authentication.
      warn(order, messageOf(error));
      return write(makeAReq(parts, { withoutCustomer: true }));
    }
  }

  /** Reports an invalid answer to the directory server. Nothing depends on the delivery. */
  async function complain(
    order: Order,
    { message, send }: NonNullable<Awaited<ReturnType<typeof prepare>>>,
    fault: MessageFault,
  ): Promise<void> {
    warn(order, `the ARes is invalid: ${fault.code} ${fault.detail}`);
    // An Erro is never answered with another one.
    if (fault.received.messageType === "Erro") return;
    await send(writeMessage(makeErro(fault, "S", message), { allowHttp }));
  }
}

/** Returns all that a request to the directory server needs; undefined if any of it is missing. */
export async function findParties(
  dependencies: Pick<AuthenticateDependencies, "findDirectory" | "findCard" | "findMerchant">,
  order: Order,
  cardData: PaidCard | undefined,
  address: "url" | "url102",
) {
  const { threeds } = order.transaction;
  const directory = threeds && dependencies.findDirectory(threeds.directory);
  const url = directory?.server.settings[address];
  const card = cardData ?? (await dependencies.findCard(order));
  const merchant = dependencies.findMerchant(order);
  return directory && url && card && merchant ? { directory, url, card, merchant } : undefined;
}

function creqFor(answer: Emv3dsMessage): Emv3dsMessage {
  return {
    messageType: "CReq",
    messageVersion: answer.messageVersion,
    threeDSServerTransID: textOf(answer, "threeDSServerTransID"),
    acsTransID: textOf(answer, "acsTransID") ?? "",
    challengeWindowSize: "05",
  };
}

function challengeIn(answer: Emv3dsMessage, creq: Emv3dsMessage): OrderEvent {
  return {
    kind: "challenge_requested",
    challenge: {
      acsUrl: textOf(answer, "acsURL") ?? "",
      acsTransactionId: textOf(answer, "acsTransID") ?? "",
      directoryTransactionId: textOf(answer, "dsTransID") ?? "",
      creq: encodeFormValue(creq),
    },
  };
}
