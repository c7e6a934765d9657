/**
 * The order of a payment page, found by the token in its URL. A card that the cardholder enters
 * begins a try, which is committed only on the version of the order that the page has seen, so that
 * two tabs or a double click begin one try.
 */
import type { Advance, Conditions, Step } from "../orders/advance.ts";
import type { Commit } from "../orders/apply.ts";
import type { PendingStep } from "../orders/authentication.ts";
import type { CardData, EventOf } from "../orders/events.ts";
import type { Endpoint } from "../orders/merchant.ts";
import type {
  Authentication,
  CardFacts,
  Order,
  PaymentPage,
  Purchase,
  Reason,
  WalletPayment,
  WalletType,
} from "../orders/order.ts";
import { customerSent, enterCard, noCard, triesLeft } from "../orders/payment-page.ts";
import { findOwingAttempt } from "../orders/prior-attempts.ts";
import type { PageTerms } from "../orders/requests.ts";
import { isFinal } from "../orders/stages.ts";
import { initialOf } from "../orders/transactions.ts";
import { Failure } from "../values/failure.ts";
import { asOrderId, type CardId, isNumericId, type OrderId } from "../values/ids.ts";
import type { Money } from "../values/money.ts";
import { Secret } from "../values/secret.ts";
import type { Clock, Instant } from "../values/time.ts";
import type { SealCard } from "../vault/vault.ts";
import type { Admit, JudgePayment, StorePendingCard } from "./accept.ts";
import { makeNewCards, type NewCard, type NewCardDependencies } from "./cards.ts";
import {
  type Asked,
  customerIn,
  findSubmissionFaults,
  type Submission,
  type WantedField,
  wantedFieldsOf,
} from "./page-submission.ts";
import type { OrderRunner } from "./run.ts";

export type PageOrder = {
  readonly order: Order & { readonly page: PaymentPage };
  readonly endpoint: Endpoint;
  /** The customer fields that the endpoint asks for and the merchant has not sent. */
  readonly wanted: readonly WantedField[];
  readonly needsCvv: boolean;
  readonly triesLeft: number;
  readonly expiresAt: Instant;
  readonly state: PageState;
};

type PageState =
  /** The reason why the previous card was refused, if one was. */
  | { readonly kind: "awaiting_card"; readonly refused: Reason | undefined }
  /** The order waits for a card, but its endpoint or merchant is disabled. */
  | { readonly kind: "disabled" }
  | { readonly kind: "in_progress" }
  /** The browser has to do a step of 3-D Secure, whose page is in `pages/cardholder`. */
  | { readonly kind: "step"; readonly step: PendingStep }
  /** The order has a result. */
  | { readonly kind: "over" };

/** The first step of a try. If its wallet data was refused, the try has no card to seal. */
export type Entry = { readonly step: Step; readonly sealCard: SealCard | undefined };
export type Enter = (entry: Entry) => ReturnType<Commit>;

type OpenWallet = (request: {
  readonly type: WalletType;
  readonly text: Secret<string>;
  readonly endpoint: Endpoint;
  readonly amount: Money;
  readonly holderName: string | undefined;
  readonly requestFingerprint: Secret<string>;
}) => Promise<
  | {
      readonly wallet: WalletPayment;
      readonly paid:
        | {
            readonly facts: Omit<CardFacts, "cardId" | "hashId">;
            readonly cardData: CardData;
            readonly authentication: Authentication | undefined;
          }
        | undefined;
    }
  | Failure
>;

export type PageDependencies = NewCardDependencies & {
  readonly advance: Advance;
  readonly conditionsOf: (order: Pick<Order, "endpointId" | "card">) => Conditions;
  readonly enter: Enter;
  readonly load: (order: Order) => Promise<Order>;
  readonly findByNumber: (number: number) => Promise<Order | undefined>;
  readonly getEndpoint: (id: Order["endpointId"]) => Endpoint;
  readonly stepOf: (order: Order) => PendingStep | undefined;
  readonly judgePayment: JudgePayment;
  readonly storePendingCard: StorePendingCard;
  readonly openWallet: OpenWallet;
  readonly newCardId: () => CardId;
  /** Returns a different digest for each try. */
  readonly digest: (text: Secret<string>) => Uint8Array;
  readonly tokens: {
    /** Returns a digest by a key that only this installation has. */
    tokenOf(text: string): string;
    isToken(text: string, token: string): boolean;
  };
  /** The gateway's public address, without a slash at its end. */
  readonly baseUrl: () => string;
  readonly runner: OrderRunner;
  readonly admit: Admit;
  readonly clock: Pick<Clock, "now">;
  readonly defaults: Pick<PageTerms, "lifeMs" | "triesMax">;
  /** For how long an expired page still shows the order's result. */
  readonly linkLifeMs: number;
};

export type PaymentPages = ReturnType<typeof makePaymentPages>;

export function makePaymentPages(dependencies: PageDependencies) {
  const { clock, tokens, getEndpoint, admit } = dependencies;
  const tryCard = makeTryCard(dependencies);
  return {
    termsOf({ settings: { pageLifeS, pageTries } }: Endpoint): PageTerms {
      const { lifeMs, triesMax } = dependencies.defaults;
      return {
        lifeMs: pageLifeS === undefined ? lifeMs : pageLifeS * 1000,
        triesMax: pageTries ?? triesMax,
      };
    },

    /** An order always has the same URL. */
    urlOf: ({ id }: Pick<Order, "id">) => `${dependencies.baseUrl()}/pay/${tokenFor(id)}`,

    /** The last part of the page's URL. */
    tokenOf: ({ id }: Pick<Order, "id">) => tokenFor(id),

    /** Returns undefined if the page does not exist or is no longer shown. */
    async find(token: string): Promise<PageOrder | undefined> {
      const id = orderOf(token);
      const order = id && (await dependencies.findByNumber(Number(id)));
      if (order === undefined || order.id !== id || !hasPage(order)) return undefined;
      const shownUntil = order.page.expiresAt + dependencies.linkLifeMs;
      if (isOver(order) && clock.now() > shownUntil) return undefined;
      return pageOf(order);
    },

    findFaults: (page: Asked, submission: Submission) =>
      findSubmissionFaults(page, submission, clock.now()),

    /**
     * Begins a try, which runs in the background. If the page no longer waits for a card, the
     * failure is `not_allowed_now`, and the browser loads the page again.
     */
    async pay(page: PageOrder, submission: Submission): Promise<Order | Failure> {
      const { order, endpoint } = page;
      if (!isOn(endpoint)) return notWaiting;
      const faults = findSubmissionFaults(page, submission, clock.now());
      if (faults.length > 0) {
        const names = faults.map(({ field }) => field).join(", ");
        return new Failure("invalid_parameter", names);
      }
      return admit(() => tryCard(order, endpoint, submission));
    },
  };

  function pageOf(order: PageOrder["order"]): PageOrder {
    const endpoint = getEndpoint(order.endpointId);
    const { expiresAt } = order.page;
    return {
      order,
      endpoint,
      expiresAt,
      state: stateOf(order, endpoint),
      wanted: wantedFieldsOf(order, endpoint),
      needsCvv: needsCvvAt(endpoint, order.purchase),
      triesLeft: triesLeft(order.page),
    };
  }

  function stateOf(order: PageOrder["order"], endpoint: Endpoint): PageState {
    if (isOver(order)) return { kind: "over" };
    const { stage } = order.transaction;
    if (stage === "awaiting_card") {
      const isFree = findOwingAttempt(order) === undefined && clock.now() < order.page.expiresAt;
      if (!isFree) return { kind: "in_progress" };
      if (!isOn(endpoint)) return { kind: "disabled" };
      return { kind: "awaiting_card", refused: order.page.refused.at(-1)?.reason };
    }
    const step = dependencies.stepOf(order);
    return step === undefined ? { kind: "in_progress" } : { kind: "step", step };
  }

  function tokenFor(id: OrderId): string {
    return `${id}.${tokens.tokenOf(textOf(id))}`;
  }

  function orderOf(token: string): OrderId | undefined {
    const [id = "", proof = "", ...more] = token.split(".");
    const isOne = isNumericId(id) && id.length >= idDigitsMin && more.length === 0;
    return isOne && tokens.isToken(textOf(id), proof) ? asOrderId(id) : undefined;
  }
}

export function needsCvvAt({ gates }: Endpoint, { channel }: Pick<Purchase, "channel">): boolean {
  return channel !== "MOTO" && gates.some(({ worksWithoutCvv }) => !worksWithoutCvv);
}

export function isOn({ enabled, merchant }: Endpoint): boolean {
  return enabled && merchant.enabled;
}

const idDigitsMin = 7;

function textOf(id: string): string {
  return `pay/${id}`;
}

function hasPage(order: Order): order is PageOrder["order"] {
  return order.page !== undefined;
}

function isOver(order: Order): boolean {
  return isFinal(initialOf(order).stage);
}

type Tried = Partial<NewCard> & {
  readonly cardData: CardData | undefined;
  readonly wallet?: WalletPayment;
  readonly authentication?: Authentication;
};

function makeTryCard(dependencies: PageDependencies) {
  const { advance, conditionsOf, enter, load, runner, clock } = dependencies;
  const newCards = makeNewCards(dependencies);

  return async (
    found: Order,
    endpoint: Endpoint,
    submission: Submission,
  ): Promise<Order | Failure> => {
    if (found.transaction.stage !== "awaiting_card") return notWaiting;
    const cardId = dependencies.newCardId();
    const tried = await open(found, endpoint, submission, cardId);
    if (tried instanceof Failure) return tried;
    const drafted = eventOf(found, submission, tried);
    const entered = enterCard(found, drafted, clock.now());
    if (entered instanceof Failure) return entered;

    const { cardData } = tried;
    const request = dependencies.digest(new Secret(`${found.id}/${cardId}`));
    const screened = await dependencies.judgePayment({ ...entered, acceptedAt: clock.now() }, () =>
      newCards.digestsOf(found.merchantId, cardData, request),
    );
    const findings = screened?.findings ?? [];
    const { card } = newCards.withEnrolment(entered, cardData, findings);
    const given = conditionsOf({ endpointId: found.endpointId, card });
    const conditions = screened === undefined ? given : { ...given, findings };
    const order = await commit(found, { ...drafted, card }, conditions, tried);
    if (order instanceof Failure) await screened?.undo();
    else runner.start(order, { cardData });
    return order;
  };

  /**
   * If another tab has begun a try since the page was shown, this try is refused, even after the
   * other one has failed. After any other change of the order, the try is committed on the new
   * version.
   */
  async function commit(
    found: Order,
    event: EventOf<"card_entered">,
    conditions: Conditions,
    { sealCard, cardData }: Tried,
  ): Promise<Order | Failure> {
    let order = found;
    for (;;) {
      const step = advance(order, event, clock.now(), conditions);
      if (step instanceof Failure) return step;
      const needsPending = step.order.transaction.threeds !== undefined && cardData !== undefined;
      const destroyPendingCard = needsPending
        ? await dependencies.storePendingCard(step.order, cardData)
        : undefined;
      if ((await enter({ step, sealCard })) === "done") return step.order;
      destroyPendingCard?.();
      order = await load(order);
      if (order.page?.refused.length !== found.page?.refused.length) return notWaiting;
    }
  }

  async function open(
    order: Order,
    endpoint: Endpoint,
    { paid }: Submission,
    cardId: CardId,
  ): Promise<Tried | Failure> {
    if (paid.kind === "card") {
      const { number, expiryMonth, expiryYear, cvv, holderName } = paid;
      const { bin, lastFour, network } = number;
      const expiry = { expiryMonth, expiryYear: `20${expiryYear}` };
      const cardData = { number, expiryMonth, expiryYear, cvv };
      const facts = { bin, lastFour, network, holderName, ...expiry };
      return { ...newCards.read(order, cardId, facts, cardData), cardData };
    }
    // No wallet pays an order by mail or telephone, and its page offers none.
    if (order.purchase.channel === "MOTO") return notWaiting;
    const { type, text } = paid;
    const opened = await dependencies.openWallet({
      type,
      text,
      endpoint,
      amount: order.purchase.amount,
      holderName: undefined,
      // A double click submits the same wallet data twice for one try. Both have this fingerprint,
      // by which the gateway recognises the second one.
      requestFingerprint: new Secret(`page/${order.id}/${order.page?.refused.length}`),
    });
    if (opened instanceof Failure) return opened;
    const { wallet, paid: own } = opened;
    if (own === undefined) return { wallet, cardData: undefined };
    const { facts, cardData, authentication } = own;
    const card = newCards.read(order, cardId, facts, cardData);
    return { ...card, wallet, cardData, ...(authentication && { authentication }) };
  }

  function eventOf(
    order: Order,
    submission: Submission,
    { facts = noCard, wallet, authentication }: Tried,
  ): EventOf<"card_entered"> {
    const { ipAddress, browser } = submission;
    const sent = customerSent(order);
    // A value that the merchant has sent takes precedence over the submitted one.
    const kept = Object.entries(sent).filter(([, value]) => value !== undefined);
    const whole = { ...sent, ...customerIn(order, submission), ...Object.fromEntries(kept) };
    const payer = { ipAddress, browser, customer: whole };
    return {
      kind: "card_entered",
      card: facts,
      payer: wallet === undefined ? payer : { ...payer, wallet },
      ...(authentication && { authentication }),
    };
  }
}

const notWaiting = new Failure("not_allowed_now", "", "the payment page waits for no card");
