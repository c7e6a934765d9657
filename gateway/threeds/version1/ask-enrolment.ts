/**
 * Does the `ask_enrolment` effect: asks the directory server of 1.0.2 whether the issuer takes part
 * for this card (VEReq), and if so makes the request that the browser carries to it (PAReq).
 */
import { randomUUID } from "node:crypto";
import {
  packPa,
  readVeRes,
  ThreeDsFault,
  type VeRes,
  writePaReq,
  writeVeReq,
} from "@tollgate/protocols/threeds102";
import type { EffectHandler, OrderEvent } from "../../orders/events.ts";
import type { Order } from "../../orders/order.ts";
import { formatAmount } from "../../values/money.ts";
import { calendar, type Instant } from "../../values/time.ts";
import type { Directory } from "../directories/directories.ts";
import type { MerchantAtGate, PaidCard } from "../version2/areq.ts";
import type { AuthenticateDependencies } from "../version2/authenticate.ts";
import { latin } from "../version2/customer.ts";

const answerBytesMax = 65_536;
const contentType = "application/xml;charset=utf-8";

type Dependencies = Pick<
  AuthenticateDependencies,
  "findDirectory" | "findCard" | "merchantAt" | "judge" | "clock" | "timeoutMs" | "warn"
>;

type Question = {
  readonly directory: Directory;
  readonly url: string;
  readonly card: PaidCard;
  readonly merchant: MerchantAtGate;
};

export function makeAskEnrolment(dependencies: Dependencies): EffectHandler {
  return async (order, { cardData }) => {
    const question = await prepare(order, cardData);
    const text = question && writeQuestion(order, question);
    const answer = text && (await ask(order, question, text));
    if (question === undefined || !answer || answer.ch.enrolled !== "Y") {
      return dependencies.judge.unauthenticated(order);
    }
    return (
      reported(order, () => payerRequestOf(order, question, answer, dependencies.clock.now())) ??
      dependencies.judge.unauthenticated(order)
    );
  };

  /** Card numbers of twelve digits exist, and the protocol does not know them. */
  function reported<Made>(order: Order, make: () => Made): Made | undefined {
    try {
      return make();
    } catch (error) {
      dependencies.warn(order, error instanceof Error ? error.message : String(error));
      return undefined;
    }
  }

  function writeQuestion(order: Order, { card, merchant }: Question): string | undefined {
    const pan = card.number.reveal();
    const asked = { messageId: randomUUID(), pan, merchant: merchantOf(merchant) };
    return reported(order, () => writeVeReq(asked));
  }

  async function prepare(order: Order, cardData: PaidCard | undefined) {
    const { threeds } = order.transaction;
    const directory = threeds && dependencies.findDirectory(threeds.directory);
    const url = directory?.server.settings.url102;
    const card = cardData ?? (await dependencies.findCard(order));
    const merchant = dependencies.merchantAt(order);
    if (!directory || !url || !card || !merchant) return undefined;
    return { directory, url, card, merchant };
  }

  async function ask(
    order: Order,
    { directory, url }: Question,
    body: string,
  ): Promise<VeRes | undefined> {
    const { timeoutMs } = dependencies;
    const text = await directory.ask(url, {
      ...{ contentType, body, answerBytesMax, timeoutMs, mayRepeat: true },
    });
    if (text === undefined) return undefined;
    const answer = readVeRes(text);
    if (!(answer instanceof ThreeDsFault)) return answer;
    dependencies.warn(order, `the VERes is not right: ${answer.reason}`);
    return undefined;
  }
}

function payerRequestOf(
  order: Order,
  { directory, card, merchant }: Question,
  answer: VeRes,
  now: Instant,
): OrderEvent {
  const { amount, threeds } = order.transaction;
  const { year, month, day, iso } = calendar(now);
  const date = `${year}${month}${day} ${iso.slice(11, 19)}`;
  const xml = writePaReq({
    messageId: randomUUID(),
    merchant: {
      ...merchantOf(merchant),
      name: latin(merchant.name, 25) ?? merchant.merchantCode,
      country: merchant.countryCode,
      url: directory.server.settings.requestorUrl,
    },
    purchase: {
      xid: threeds?.transactionId ?? "",
      date,
      amount: `${amount.currency.code} ${formatAmount(amount)}`,
      purchAmount: String(amount.minor),
      currency: amount.currency.numeric,
      exponent: String(amount.currency.exponent),
    },
    ch: { acctId: answer.ch.acctId ?? "", expiry: card.expiryYear + card.expiryMonth },
  });
  return {
    kind: "pareq_requested",
    payerRequest: {
      ...{ acsUrl: answer.url ?? "", pareq: packPa(xml), date },
      ...{ acquirerBin: merchant.acquirerBin, merchantCode: merchant.merchantCode },
    },
  };
}

/** The same in VEReq, PAReq and PARes. */
export function merchantOf({
  acquirerBin,
  merchantCode,
}: Pick<MerchantAtGate, "acquirerBin" | "merchantCode">) {
  return { acqBin: acquirerBin, merId: merchantCode };
}
