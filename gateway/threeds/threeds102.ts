/**
 * 3-D Secure 1.0.2. The `ask_enrolment` effect asks the directory server whether the card is
 * enrolled (VEReq) and makes the request that the browser takes to the issuer (PAReq). The PARes is
 * valid if the issuer has signed it and it belongs to this order.
 */
import { randomUUID } from "node:crypto";
import {
  matchPaRes,
  packPa,
  readXml,
  ThreeDsFault,
  unpackPa,
  type VeRes,
  verifyPaRes,
  writeXml,
} from "@tollgate/protocols/threeds102";
import type { EffectHandler, OrderEvent } from "../orders/events.ts";
import { type Keep, makeKept } from "../orders/messages.ts";
import type { Order } from "../orders/order.ts";
import { formatAmount } from "../values/money.ts";
import { messageOf } from "../values/problem.ts";
import { calendar, type Instant } from "../values/time.ts";
import { merchantNameOf } from "./areq.ts";
import { type AuthenticateDependencies, findParties } from "./authenticate.ts";
import {
  type AuthenticationOutcome,
  outcomeOf,
  withoutAuthentication,
} from "./authentication-outcome.ts";
import { keptXml } from "./kept-messages.ts";

const answerBytesMax = 65_536;
const contentType = "application/xml;charset=utf-8";

type Parties = NonNullable<Awaited<ReturnType<typeof findParties>>>;

export function makeAskEnrolment(
  dependencies: Omit<AuthenticateDependencies, "resultsUrl" | "notificationUrl" | "allowHttp">,
): EffectHandler {
  const { clock, timeoutMs, policyOf, warn } = dependencies;

  return async (order, { cardData }) => {
    const kept = makeKept();
    const parties = await findParties(dependencies, order, cardData, "url102");
    const answer = parties && (await askEnrolment(order, parties, kept.keep));
    const isEnrolled = parties !== undefined && answer?.ch.enrolled === "Y";
    const requested = isEnrolled
      ? attempt(order, () =>
          requestPayer(order, parties, answer, { now: clock.now(), keep: kept.keep }),
        )
      : undefined;
    return kept.with(requested ?? withoutAuthentication(order, policyOf(order)));
  };

  async function askEnrolment(
    order: Order,
    parties: Parties,
    keep: Keep,
  ): Promise<VeRes | undefined> {
    const { directory, url, card, merchant } = parties;
    const ids = { acqBin: merchant.acquirerId, merId: merchant.merchantCode };
    const question = { messageId: randomUUID(), pan: card.number.reveal(), merchant: ids };
    const body = attempt(order, () => writeXml("VEReq", question));
    const request = { contentType, answerBytesMax, timeoutMs, mayRepeat: true };
    if (body !== undefined) keep(keptXml("VEReq", "sent", clock.now(), question));
    const text = body && (await directory.send(url, { ...request, body }));
    if (text === undefined) return undefined;
    const answer = readXml("VERes", text);
    if (!(answer instanceof ThreeDsFault)) {
      keep(keptXml("VERes", "received", clock.now(), answer));
      return answer;
    }
    warn(order, `the VERes is invalid: ${answer.reason}`);
    return undefined;
  }

  /** Card numbers of twelve digits exist, but the protocol does not permit them. */
  function attempt<Message>(order: Order, make: () => Message): Message | undefined {
    try {
      return make();
    } catch (error) {
      warn(order, messageOf(error));
      return undefined;
    }
  }
}

function requestPayer(
  order: Order,
  { directory, card, merchant }: Parties,
  answer: VeRes,
  { now, keep }: { readonly now: Instant; readonly keep: Keep },
): OrderEvent {
  const { amount } = order.transaction;
  const { acquirerId: acquirerBin, merchantCode } = merchant;
  const { year, month, day, iso } = calendar(now);
  const date = `${year}${month}${day} ${iso.slice(11, 19)}`;
  const message = {
    messageId: randomUUID(),
    merchant: {
      acqBin: acquirerBin,
      merId: merchantCode,
      name: merchantNameOf(merchant, 25),
      country: merchant.countryCode,
      url: directory.server.settings.requestorUrl,
    },
    purchase: {
      ...purchaseOf(order),
      date,
      amount: `${amount.currency.code} ${formatAmount(amount)}`,
    },
    ch: { acctId: answer.ch.acctId ?? "", expiry: card.expiryYear + card.expiryMonth },
  };
  const xml = writeXml("PAReq", message);
  keep(keptXml("PAReq", "sent", now, message));
  const acsUrl = answer.url ?? "";
  return {
    kind: "pareq_requested",
    payerRequest: { acsUrl, pareq: packPa(xml), date, acquirerBin, merchantCode },
  };
}

/** Returns undefined if the text is not a PARes at all. */
export type ReadPaRes = (order: Order, packed: string) => AuthenticationOutcome | undefined;

export function makeReadPaRes({
  findDirectory,
  policyOf,
  clock,
  warn,
}: Pick<AuthenticateDependencies, "findDirectory" | "policyOf" | "clock" | "warn">): ReadPaRes {
  return (order, packed) => {
    const xml = unpackPa(packed);
    if (xml instanceof ThreeDsFault) return undefined;
    const { threeds } = order.transaction;
    const roots = findDirectory(threeds?.directory ?? "")?.certificates.paresRoots ?? [];
    const answer = verifyPaRes(xml, { roots, now: clock.now() });
    if (answer instanceof ThreeDsFault) return refuse(order, answer.reason);
    const request = threeds?.payerRequest;
    const differing =
      request === undefined
        ? ["everything"]
        : matchPaRes(answer, {
            acqBin: request.acquirerBin,
            merId: request.merchantCode,
            ...purchaseOf(order),
            date: request.date,
            lastFour: order.card.lastFour,
          });
    if (differing.length > 0) {
      return refuse(order, `it belongs to another payment: ${differing.join(", ")}`);
    }
    const { status, eci, cavv } = answer.tx;
    if (cavv === undefined && (status === "Y" || status === "A")) {
      return refuse(order, `status ${status} without a CAVV`);
    }
    const kept = makeKept();
    kept.keep(keptXml("PARes", "received", clock.now(), answer));
    return kept.with(outcomeOf(order, { status, eci, value: cavv }, policyOf(order)));
  };

  function refuse(order: Order, cause: string): AuthenticationOutcome {
    warn(order, `the PARes is refused: ${cause}`);
    const authentication = { status: "NOT_AUTHENTICATED", eci: undefined } as const;
    const reason = { code: "pares_refused", detail: "" } as const;
    return { kind: "authentication_failed", authentication, reason };
  }
}

/** The purchase is the same in PAReq and PARes. */
function purchaseOf({ transaction: { amount, threeds } }: Order) {
  return {
    xid: threeds?.transactionId ?? "",
    purchAmount: String(amount.minor),
    currency: amount.currency.numeric,
    exponent: String(amount.currency.exponent),
  };
}
