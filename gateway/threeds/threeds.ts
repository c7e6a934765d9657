/**
 * Assembles 3-D Secure: the effect handlers, the pending card data, and the reports of browsers,
 * merchants and directory servers.
 */
import type { Step } from "../orders/advance.ts";
import type { CardData } from "../orders/events.ts";
import type { Endpoint } from "../orders/merchant.ts";
import type { Order, Stage } from "../orders/order.ts";
import { noCard } from "../orders/payment-page.ts";
import type { CardNumber } from "../values/card-number.ts";
import type { EndpointId } from "../values/ids.ts";
import { type Clock, type Instant, later } from "../values/time.ts";
import { type AuthenticateDependencies, makeAuthenticate } from "./authenticate.ts";
import {
  type BrowserAuthentication,
  type LinkDependencies,
  makeFindByLink,
  makeLinks,
  makeUploads,
  stepOf,
} from "./browser-steps.ts";
import { makeReceiveResult, type OrderReports } from "./challenge-result.ts";
import type { Directories } from "./directories.ts";
import { makeAskEnrolment, makeReadPaRes } from "./threeds102.ts";

type Options = Pick<
  AuthenticateDependencies,
  "findCard" | "findMerchant" | "resultsUrl" | "allowHttp" | "clock" | "timeoutMs"
> &
  Pick<PendingCardDependencies, "pendingCards"> &
  Omit<LinkDependencies, "pathWord"> & {
    readonly getEndpoint: (id: EndpointId) => Endpoint;
    readonly directories: Pick<Directories, "find" | "findEnrolment">;
    readonly settings: Parameters<typeof authenticationLifeMs>[0] & {
      readonly pathWord: string;
      readonly linkLifeMs: number;
    };
    readonly log: (event: "threeds.failed", facts: object) => void;
  };

export type ThreeDs = ReturnType<typeof makeThreeDs>;

export function makeThreeDs(options: Options) {
  const { settings, clock, allowHttp, directories, log } = options;
  const { pathWord, linkLifeMs: lifeMs } = settings;
  const links = makeLinks({ ...options, pathWord });
  const warn = ({ id, merchantId }: Order, cause: string) =>
    log("threeds.failed", { order: id, merchant: merchantId, cause });
  const policyOf = ({ endpointId }: Pick<Order, "endpointId">) =>
    options.getEndpoint(endpointId).settings.threeDSecure;
  const messages = {
    ...options,
    policyOf,
    warn,
    findDirectory: directories.find,
    notificationUrl: ({ id }: Order) => links.to("challenge", id),
  };
  return {
    ...makePendingCardData({ ...messages, lifeMs: authenticationLifeMs(settings) }),
    authenticate: makeAuthenticate(messages),
    ask_enrolment: makeAskEnrolment(messages),
    findEnrolment: (endpointId: EndpointId, number: CardNumber, isForced = false) =>
      directories.findEnrolment(number, policyOf({ endpointId }), isForced),
    stepOf: (order: Order) => stepOf(order, links),

    makeBrowserAuthentication: (reports: OrderReports): BrowserAuthentication => ({
      find: makeFindByLink({ ...reports, links, clock, lifeMs }),
      pathOf: ({ id }) => links.pathTo("redirect", id),
      stepOf: (order) => stepOf(order, links),
      ...makeUploads({ ...reports, links, readPaRes: makeReadPaRes(messages), clock, allowHttp }),
    }),

    makeReceiveResult: (reports: OrderReports) =>
      makeReceiveResult({
        ...reports,
        policyOf,
        allowHttp,
        clock,
        warn: (directory, cause) => log("threeds.failed", { directory, cause }),
      }),
  };
}

type PendingCardDependencies = {
  readonly pendingCards: {
    store(context: string, card: CardData, expiresAt: Instant): Promise<void>;
    find(context: string, now: Instant): Promise<CardData | undefined>;
    destroy(context: string): Promise<void>;
  };
  readonly clock: Clock;
  readonly lifeMs: number;
  readonly warn: (order: Order, cause: string) => void;
};

/**
 * The vault stores card and CVV of an order that is being authenticated until the authorisation is
 * answered, so that any node can continue the order, and no longer than all steps together may
 * last.
 */
export function makePendingCardData({
  pendingCards,
  clock,
  lifeMs,
  warn,
}: PendingCardDependencies) {
  return {
    /** Returns a function that destroys the card data, for an order that is not committed. */
    async storePendingCard(order: Order, card: CardData): Promise<() => void> {
      await pendingCards.store(contextOf(order), card, later(clock.now(), lifeMs));
      return () => void destroyPendingCard(order);
    },
    findPendingCard: (order: Order) => pendingCards.find(contextOf(order), clock.now()),
    destroyPendingCard,
    /** Destroys the card data once the acquirer has answered. */
    onStep(step: Pick<Step, "order" | "events">): void {
      if (isAnswered(step)) void destroyPendingCard(step.order);
    },
  };

  /** Never rejects: data that cannot be destroyed now is destroyed when it expires. */
  async function destroyPendingCard(order: Order): Promise<void> {
    // After a refused try on the payment page, the order is as it was before it.
    const isTryOver = order.transaction.stage === "awaiting_card";
    if (order.transaction.threeds === undefined && !isTryOver) return;
    await pendingCards.destroy(contextOf(order)).catch((error) => warn(order, String(error)));
  }
}

/** Includes the processing before and after the steps of an authentication. */
export function authenticationLifeMs(limits: {
  readonly methodDeadlineMs: number;
  readonly challengeDeadlineMs: number;
  readonly resultWaitMs: number;
  readonly resultGraceMs: number;
  readonly paresDeadlineMs: number;
  readonly processingDeadlineMs: number;
}): number {
  const challengeMs = limits.challengeDeadlineMs + limits.resultWaitMs + limits.resultGraceMs;
  const longestMs = Math.max(challengeMs, limits.paresDeadlineMs);
  return limits.methodDeadlineMs + longestMs + 2 * limits.processingDeadlineMs;
}

const beforeAnswer: ReadonlySet<Stage> = new Set<Stage>([
  ...(["authenticating", "awaiting_method", "awaiting_challenge", "awaiting_result"] as const),
  ...(["awaiting_return", "awaiting_pares", "authorizing"] as const),
]);

/** Whether the acquirer has answered or will never be asked. A soft decline is an answer too. */
function isAnswered({ order, events }: Pick<Step, "order" | "events">): boolean {
  if (events.some(({ kind }) => kind === "authentication_demanded")) return true;
  return !beforeAnswer.has(order.transaction.stage);
}

/** Two tabs may begin a try of the payment page at once, so each try has its own card data. */
function contextOf({ merchantId, id, card, page }: Order): string {
  if (page === undefined) return `${merchantId}/${id}`;
  const tried = card.cardId === noCard.cardId ? page.refused.at(-1)?.card : card;
  return `${merchantId}/${tried?.cardId ?? id}`;
}
