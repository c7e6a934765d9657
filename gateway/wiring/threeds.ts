/**
 * 3-D Secure wired together: the directory servers, the doers that ask them, what browsers,
 * merchants and directory servers bring back, and the cards that wait meanwhile. Part of what
 * `main.ts` wires.
 */
import type { Config } from "../config/config.ts";
import type { Step } from "../orders/advance.ts";
import type { CardData, EffectHandler, OrderEvent } from "../orders/events.ts";
import type { Endpoint } from "../orders/merchant.ts";
import type { Enrolment, Order } from "../orders/order.ts";
import type { LiveConfiguration } from "../storage/live-configuration.ts";
import type { Directories } from "../threeds/directories/directories.ts";
import { type Links, makeLinks } from "../threeds/links.ts";
import { makeStepOf } from "../threeds/pending-step.ts";
import { makeUploads } from "../threeds/uploads.ts";
import { type Judge, makeJudge } from "../threeds/verdict.ts";
import { makeAskEnrolment } from "../threeds/version1/ask-enrolment.ts";
import { makeReadPaRes } from "../threeds/version1/read-pares.ts";
import type { MerchantAtGate } from "../threeds/version2/areq.ts";
import { makeAuthenticate } from "../threeds/version2/authenticate.ts";
import { makeTakeResult, type TakeResult } from "../threeds/version2/take-result.ts";
import type { CardNumber } from "../values/card-number.ts";
import type { Failure } from "../values/failure.ts";
import { asOrderId, type EndpointId, isNumericId, sequenceOf } from "../values/ids.ts";
import { asInstant, type Clock, type Instant } from "../values/time.ts";
import type { PendingCards } from "../vault/pending-cards.ts";
import type { Vault } from "../vault/vault.ts";
import type { JourneyServices } from "./services.ts";

export type ThreeDsDependencies = {
  readonly config: Config;
  readonly clock: Clock;
  readonly vault: Vault;
  readonly pendingCards: PendingCards;
  readonly directories: Directories;
  readonly getEndpoint: (id: EndpointId) => Endpoint;
  /** The seller as the acquirer behind the order's gate knows him. */
  readonly merchantAt: (order: Order) => MerchantAtGate | undefined;
  /** The public address, and where directory servers post results. */
  readonly baseUrl: () => string;
  readonly resultsUrl: (directory: string) => string;
  readonly warn: (facts: object, cause: string) => void;
};

export type ThreeDs = {
  readonly judge: Judge;
  readonly authenticate: EffectHandler;
  readonly ask_enrolment: EffectHandler;
  findEnrolment(endpoint: EndpointId, number: CardNumber): Enrolment | undefined;
  /** Answers how to destroy it, should the order not be committed. */
  storePendingCard(order: Order, card: CardData): Promise<() => void>;
  findPendingCard(order: Order): Promise<CardData | undefined>;
  /** The authorisation is answered: no message will ever need the card from here again. */
  destroyPendingCard(order: Order): Promise<void>;
  /** Called with every order that was changed: what is no longer needed is destroyed. */
  forget(step: Step): void;
  makeJourneys(engine: EngineFace): JourneyServices;
  makeTakeResult(engine: EngineFace): TakeResult;
};

/** What of the order engine it needs. */
export type EngineFace = {
  readonly findBySequence: (sequence: bigint) => Promise<Order | undefined>;
  readonly load: (order: Order) => Promise<Order>;
  readonly report: (order: Order, event: OrderEvent) => Promise<Order | Failure>;
};

export function makeThreeDs(dependencies: ThreeDsDependencies): ThreeDs {
  const { config, clock, vault, pendingCards, directories } = dependencies;
  const judge = makeJudge(dependencies.getEndpoint);
  const links = makeLinks({ ...vault, baseUrl: dependencies.baseUrl, pathWord: config.pathWord });
  const allowHttp = config.environment === "staging";
  const warn = ({ id, merchantId }: Order, cause: string) =>
    dependencies.warn({ order: id, merchant: merchantId }, cause);
  const findCard = makeFindCard(vault);
  const destroy = (order: Order) =>
    void pendingCards.destroy(contextOf(order)).catch((error) => warn(order, String(error)));
  const asking = {
    ...{ judge, clock, allowHttp, warn, findCard, merchantAt: dependencies.merchantAt },
    findDirectory: directories.find,
    resultsUrl: dependencies.resultsUrl,
    notificationUrl: ({ id }: Order) => links.to("challenge", id),
    timeoutMs: config.directoryTimeoutMs,
  };
  return {
    judge,
    authenticate: makeAuthenticate(asking),
    ask_enrolment: makeAskEnrolment(asking),

    findEnrolment(endpoint, number) {
      if (dependencies.getEndpoint(endpoint).settings.threeDSecure === "off") return undefined;
      return directories.findEnrolment(number);
    },

    async storePendingCard(order, card) {
      await pendingCards.hold(contextOf(order), card, pendingUntil(config, clock.now()));
      return () => destroy(order);
    },
    findPendingCard: (order) => pendingCards.take(contextOf(order), clock.now()),
    async destroyPendingCard(order) {
      if (order.transaction.threeds === undefined) return;
      await pendingCards.destroy(contextOf(order)).catch((error) => warn(order, String(error)));
    },
    forget({ order, events }) {
      if (order.transaction.threeds !== undefined && isAnswered(order, events)) destroy(order);
    },

    makeJourneys(engine) {
      const readPaRes = makeReadPaRes(asking);
      return {
        find: makeFindByLink(engine, { links, clock, lifeMs: config.linkLifeMs }),
        stepOf: makeStepOf(links),
        ...makeUploads({ ...engine, links, readPaRes, clock, allowHttp }),
      };
    },

    makeTakeResult: (engine) =>
      makeTakeResult({
        ...engine,
        ...{ judge, allowHttp },
        warn: (directory, cause) => dependencies.warn({ directory }, cause),
      }),
  };
}

/** Field 43 of a gate's messages: a name of 25 characters, then the place. */
const placeFrom = 25;

/** The seller as the acquirer knows him, which is what 3-D Secure wants to be told. */
export function makeMerchantAt({ current }: LiveConfiguration) {
  return ({ transaction }: Order): MerchantAtGate | undefined => {
    const id = transaction.identifiers?.gate.id;
    const gate = id === undefined ? undefined : current().gates.get(id);
    if (gate === undefined) return undefined;
    const { acquirerId, merchantCode, categoryCode, countryCode, nameAndPlace } = gate.settings;
    const name = nameAndPlace.slice(0, placeFrom).trim();
    return { acquirerBin: acquirerId, merchantCode, categoryCode, countryCode, name };
  };
}

function makeFindCard({ findCard }: Vault) {
  return ({ merchantId, card }: Order) => findCard(merchantId, card.cardId);
}

function contextOf({ merchantId, id }: Order): string {
  return `${merchantId}/${id}`;
}

/** As long as all the steps together may last. */
function pendingUntil(config: Config, now: Instant): Instant {
  const challengeMs = config.challengeDeadlineMs + config.resultWaitMs + config.resultGraceMs;
  const longestMs = Math.max(challengeMs, config.paresDeadlineMs);
  return asInstant(now + config.methodDeadlineMs + longestMs + 2 * config.processingDeadlineMs);
}

const before: ReadonlySet<string> = new Set([
  ...["authenticating", "awaiting_method", "awaiting_challenge", "awaiting_result"],
  ...["awaiting_return", "awaiting_pares", "authorizing"],
]);

/** The bank has answered, or will never be asked; a refusal that leads to a challenge too. */
function isAnswered({ transaction }: Order, events: readonly OrderEvent[]): boolean {
  if (events.some(({ kind }) => kind === "authentication_demanded")) return true;
  return !before.has(transaction.stage);
}

function makeFindByLink(
  { findBySequence }: EngineFace,
  { links, clock, lifeMs }: { links: Links; clock: Clock; lifeMs: number },
): JourneyServices["find"] {
  return async (text, token) => {
    if (!isNumericId(text) || text.length < 7) return undefined;
    const id = asOrderId(text);
    if (!links.isOurs(id, token)) return undefined;
    const order = await findBySequence(sequenceOf(id));
    if (order?.id !== id) return undefined;
    return clock.now() > order.acceptedAt + lifeMs ? undefined : order;
  };
}
