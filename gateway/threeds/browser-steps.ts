/**
 * The next steps of the cardholder's browser, their links, and the results that browsers and
 * merchants upload. A link names an order and has a token that only the gateway can make, so that
 * no other payment can be found by counting.
 */
import {
  decodeFormValue,
  decodeMethodData,
  type Emv3dsMessage,
  encodeFormValue,
  MessageFault,
  readMessage,
  textOf,
} from "@tollgate/protocols/emv3ds";
import type {
  Challenge,
  PendingStep,
  SeenBrowser,
  ThreeDSecure,
} from "../orders/authentication.ts";
import type { OrderEvent } from "../orders/events.ts";
import type { Order, Stage } from "../orders/order.ts";
import { initialOf } from "../orders/transactions.ts";
import { Failure, type FailureCode } from "../values/failure.ts";
import { asOrderId, isNumericId, type OrderId } from "../values/ids.ts";
import type { Clock, Instant } from "../values/time.ts";
import { isSameId } from "./authentication-outcome.ts";
import type { OrderReports } from "./challenge-result.ts";
import { keptMessage } from "./kept-messages.ts";
import type { ReadPaRes } from "./threeds102.ts";

/** In a frame of the gateway's page, the issuer's method gets a token that opens nothing. */
type LinkedPage = "redirect" | "method" | "method-frame" | "challenge" | "pares";

type BrowserLinks = ReturnType<typeof makeLinks>;

export type LinkDependencies = {
  /** The gateway's public address, without a slash at its end. */
  readonly baseUrl: () => string;
  readonly pathWord: string;
  /** Returns a digest by a key that only this installation has. */
  readonly tokenOf: (text: string) => string;
  readonly isToken: (text: string, token: string) => boolean;
};

export function makeLinks({ baseUrl, pathWord, tokenOf, isToken }: LinkDependencies) {
  const pathTo = (page: LinkedPage, order: OrderId) => {
    const token = tokenOf(page === "method-frame" ? `frame/${order}` : `link/${order}`);
    return `${pathWord}/form/${page}/${order}/${token}`;
  };
  return {
    pathTo,
    to: (page: LinkedPage, order: OrderId) => `${baseUrl()}/${pathTo(page, order)}`,
    /** The MD comes back unchanged with a PaRes. */
    mdOf: (order: Order) => tokenOf(mdTextOf(order)),
    isMd: (order: Order, md: string) => isToken(mdTextOf(order), md),
    isToken: (order: OrderId, token: string) => isToken(`link/${order}`, token),
  };
}

/** Each try on the payment page has its own MD: an answer to an earlier try must not end it. */
function mdTextOf({ id, page, card }: Order): string {
  return page === undefined ? `md/${id}` : `md/${id}/${card.cardId}`;
}

type FindDependencies = {
  readonly findByNumber: (number: number) => Promise<Order | undefined>;
  readonly links: BrowserLinks;
  readonly clock: { now(): Instant };
  readonly lifeMs: number;
};

/** Returns undefined if the link is not genuine or has expired. */
export function makeFindByLink({ findByNumber, links, clock, lifeMs }: FindDependencies) {
  return async (orderId: string, token: string): Promise<Order | undefined> => {
    if (!isNumericId(orderId) || orderId.length < 7) return undefined;
    const id = asOrderId(orderId);
    if (!links.isToken(id, token)) return undefined;
    const order = await findByNumber(Number(id));
    if (order?.id !== id) return undefined;
    // A payment page accepts cards for as long as its endpoint's settings say.
    const from = order.page?.expiresAt ?? order.acceptedAt;
    return clock.now() > from + lifeMs ? undefined : order;
  };
}

export function stepOf(order: Order, links: BrowserLinks): PendingStep | undefined {
  const { stage, threeds } = order.transaction;
  // Status requests call this often, so tokens are made only where they are needed.
  const redirect = () => ({ redirectTo: links.to("redirect", order.id) });
  switch (stage) {
    case "awaiting_method": {
      const { transactionId = "", methodUrl = "" } = threeds ?? {};
      return {
        kind: "method",
        ...redirect(),
        transactionId,
        methodUrl,
        methodData: methodDataFor(transactionId, links.to("method", order.id)),
        framedMethodData: methodDataFor(transactionId, links.to("method-frame", order.id)),
      };
    }
    case "awaiting_challenge":
    case "awaiting_return":
      if (threeds?.challenge === undefined) return undefined;
      return { kind: "challenge", ...redirect(), ...challengeForms(threeds.challenge) };
    case "awaiting_pares": {
      const { acsUrl = "", pareq = "" } = threeds?.payerRequest ?? {};
      const termUrl = links.to("pares", order.id);
      return { kind: "pares", ...redirect(), acsUrl, pareq, md: links.mdOf(order), termUrl };
    }
    default:
      return undefined;
  }
}

function methodDataFor(threeDSServerTransID: string, notificationUrl: string): string {
  return encodeFormValue({ threeDSServerTransID, threeDSMethodNotificationURL: notificationUrl });
}

function challengeForms({ acsUrl, creq }: Challenge) {
  return {
    acsUrl,
    creq,
    creqFor(windowSize: string): string {
      const text = decodeFormValue(creq);
      if (typeof text !== "string") return creq;
      return encodeFormValue({ ...JSON.parse(text), challengeWindowSize: windowSize });
    },
  };
}

type Dependencies = Pick<OrderReports, "report" | "load"> & {
  readonly links: BrowserLinks;
  readonly readPaRes: ReadPaRes;
  readonly clock: Clock;
  readonly allowHttp: boolean;
};

export type MethodUpload = {
  readonly transactionId?: string;
  /** The data that the issuer's method sends, with the id of the authentication in it. */
  readonly methodData?: string;
  readonly browser: SeenBrowser;
};
export type PaResUpload = { readonly paRes: string; readonly md: string };

type Uploads = ReturnType<typeof makeUploads>;

/** 3-D Secure in the cardholder's browser, on the gateway's or the merchant's pages. */
export type BrowserAuthentication = Uploads & {
  /** Returns undefined if the link is not genuine or has expired. */
  find(orderId: string, token: string): Promise<Order | undefined | Failure>;
  /** The path of the link's page, below the gateway's public address. */
  pathOf(order: Order): string;
  /** Returns undefined if the browser has no next step. */
  stepOf(order: Order): PendingStep | undefined;
};

/**
 * Uploads report that the issuer's method has run, the end of a challenge, and the PaRes of 1.0.2,
 * and return the order. An upload for a step that is over changes nothing. One for a step that has
 * expired, or has not begun, is refused.
 */
export function makeUploads(dependencies: Dependencies) {
  const { report, load, links, readPaRes, clock, allowHttp } = dependencies;
  return {
    async uploadMethod(
      order: Order,
      {
        methodData,
        transactionId = methodData && transactionIn(methodData),
        browser,
      }: MethodUpload,
    ): Promise<Order | Failure> {
      const { threeds } = initialOf(order);
      if (threeds?.methodUrl === undefined) return notNow("there is no method to run");
      if (transactionId !== undefined && !isSameId(transactionId, threeds.transactionId)) {
        return new Failure("invalid_parameter", "threeDSServerTransID: of another authentication");
      }
      if (!allowHttp && browser.notificationUrl?.startsWith("https://") === false) {
        return new Failure("invalid_parameter", "notificationURL: must be https");
      }
      // The issuer has a method, so U (it has none) is wrong here: the method did not run.
      const completion = browser.completion === "Y" ? "Y" : "N";
      const seen = { ...browser, completion } as const;
      return upload(order, methodStep, { kind: "method_uploaded", browser: seen });
    },

    async uploadChallenge(order: Order, cres: string): Promise<Order | Failure> {
      const { threeds } = initialOf(order);
      if (threeds?.challenge === undefined) return notNow("there is no challenge");
      const read = readCres(cres, threeds, allowHttp);
      if (typeof read === "string") return new Failure("invalid_parameter", `cres: ${read}`);
      const messages = [keptMessage("received", clock.now(), read)];
      return upload(order, challengeStep, { kind: "challenge_returned", messages });
    },

    async uploadPares(order: Order, { paRes, md }: PaResUpload): Promise<Order | Failure> {
      const { threeds } = initialOf(order);
      if (threeds?.payerRequest === undefined) return notNow("there is no PaReq");
      if (!links.isMd(order, md)) return new Failure("invalid_parameter", "md");
      if (!isAwaited(order, paresStep)) return whenOver(order, paresStep);
      const outcome = readPaRes(order, paRes);
      if (outcome === undefined) return new Failure("invalid_parameter", "paRes");
      return upload(order, paresStep, outcome);
    },
  };

  async function upload(order: Order, step: Step, event: OrderEvent): Promise<Order | Failure> {
    if (!isAwaited(order, step)) return whenOver(order, step);
    if (isPast(order, clock)) return notNow("its deadline has passed");
    const reported = await report(order, event);
    if (!(reported instanceof Failure) || reported.code !== "not_allowed_now") return reported;
    // Another upload or a deadline was faster, so the step is over.
    return whenOver(await load(order), step);
  }
}

/** Empty if the data cannot be read. */
function transactionIn(methodData: string): string {
  const read = decodeMethodData(methodData, { allowHttp: true });
  return read instanceof MessageFault ? "" : read.threeDSServerTransID;
}

/** A CRes only proves that the cardholder has finished this challenge; its result is ignored. */
function readCres(
  cres: string,
  { transactionId, challenge }: ThreeDSecure,
  allowHttp: boolean,
): Emv3dsMessage | string {
  const text = decodeFormValue(cres);
  if (text instanceof MessageFault) return "it is not base64";
  const message = readMessage(text, { types: ["CRes", "Erro"], allowHttp });
  if (message instanceof MessageFault) return `it is no CRes: ${message.code} ${message.detail}`;
  // An issuer that fails sends the browser an Erro, and may leave the ids out.
  if (message.messageType === "Erro") return message;
  const isSame =
    isSameId(textOf(message, "threeDSServerTransID"), transactionId) &&
    isSameId(textOf(message, "acsTransID"), challenge?.acsTransactionId);
  return isSame ? message : "it belongs to another authentication";
}

type Step = {
  readonly awaited: readonly Stage[];
  /** The reason of an order whose step ended by its deadline. */
  readonly expiredBy: FailureCode;
  /** The stages of an authentication that has not reached this step yet. */
  readonly before: readonly Stage[];
};

const methodStep: Step = { awaited: ["awaiting_method"], expiredBy: "method_expired", before: [] };
const challengeStep: Step = {
  awaited: ["awaiting_challenge", "awaiting_return"],
  expiredBy: "challenge_expired",
  before: ["awaiting_method"],
};
const paresStep: Step = { awaited: ["awaiting_pares"], expiredBy: "pares_expired", before: [] };

function isAwaited({ transaction }: Order, { awaited }: Step): boolean {
  return awaited.includes(transaction.stage);
}

/** A deadline counts before a node has applied it. A passed challenge continues at its deadline. */
function isPast({ deadlineAt, transaction }: Order, clock: Clock): boolean {
  if (transaction.stage === "awaiting_return") return false;
  return deadlineAt !== undefined && clock.now() >= deadlineAt;
}

function whenOver(order: Order, { expiredBy, before }: Step): Order | Failure {
  const { stage, reason } = initialOf(order);
  if (reason?.code === expiredBy) return notNow("its deadline has passed");
  return before.includes(stage) ? notNow(`the order is in stage ${stage}`) : order;
}

function notNow(cause: string): Failure {
  return new Failure("not_allowed_now", "", cause);
}
