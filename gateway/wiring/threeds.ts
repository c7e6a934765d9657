/**
 * Builds 3-D Secure: the effect handlers, the pending card data, and what browsers, merchants and
 * directory servers report.
 */
import type { Config } from "../config/config.ts";
import type { EffectHandler, OrderEvent } from "../orders/events.ts";
import type { Enrolment, Order } from "../orders/order.ts";
import type { LiveConfiguration } from "../storage/live-configuration.ts";
import { merchantAtGate } from "../threeds/areq.ts";
import { makeAuthenticate } from "../threeds/authenticate.ts";
import { makeFindByLink, makeLinks, stepOf } from "../threeds/browser-steps.ts";
import { makeReceiveResult, type ReceiveResult } from "../threeds/challenge-result.ts";
import type { Directories } from "../threeds/directories.ts";
import {
  authenticationLifeMs,
  makePendingCardData,
  type PendingCardData,
} from "../threeds/pending-card.ts";
import { makeAskEnrolment, makeReadPaRes } from "../threeds/threeds102.ts";
import { makeUploads } from "../threeds/uploads.ts";
import type { CardNumber } from "../values/card-number.ts";
import type { Failure } from "../values/failure.ts";
import type { EndpointId } from "../values/ids.ts";
import type { Clock } from "../values/time.ts";
import type { PendingCards } from "../vault/pending-cards.ts";
import type { Vault } from "../vault/vault.ts";
import type { BrowserAuthentication } from "./services.ts";

export type ThreeDsDependencies = {
  readonly config: Config;
  readonly clock: Clock;
  readonly vault: Vault;
  readonly pendingCards: PendingCards;
  readonly directories: Directories;
  readonly configuration: LiveConfiguration;
  /** The public address. */
  readonly baseUrl: () => string;
  readonly resultsUrl: (directory: string) => string;
  readonly warn: (facts: object, cause: string) => void;
};

export type ThreeDs = PendingCardData & {
  readonly authenticate: EffectHandler;
  readonly ask_enrolment: EffectHandler;
  findEnrolment(endpoint: EndpointId, number: CardNumber): Enrolment | undefined;
  makeBrowserAuthentication(reports: OrderReports): BrowserAuthentication;
  makeReceiveResult(reports: OrderReports): ReceiveResult;
};

/** The order engine, for results that a browser, a merchant or a directory server reports. */
export type OrderReports = {
  readonly findBySequence: (sequence: bigint) => Promise<Order | undefined>;
  readonly load: (order: Order) => Promise<Order>;
  readonly report: (order: Order, event: OrderEvent) => Promise<Order | Failure>;
};

export function makeThreeDs(dependencies: ThreeDsDependencies): ThreeDs {
  const { config, clock, vault, pendingCards, directories, configuration } = dependencies;
  const links = makeLinks({ ...vault, baseUrl: dependencies.baseUrl, pathWord: config.pathWord });
  const allowHttp = config.environment === "staging";
  const warn = ({ id, merchantId }: Order, cause: string) =>
    dependencies.warn({ order: id, merchant: merchantId }, cause);
  const policyOf = ({ endpointId }: Pick<Order, "endpointId">) =>
    configuration.getEndpoint(endpointId).settings.threeDSecure;
  const messages = {
    ...{ policyOf, clock, allowHttp, warn, resultsUrl: dependencies.resultsUrl },
    findDirectory: directories.find,
    findCard: ({ merchantId, card }: Order) => vault.findCard(merchantId, card.cardId),
    findMerchant({ transaction: { identifiers } }: Order) {
      const gate = identifiers && configuration.current().gates.get(identifiers.gate.id);
      return gate && merchantAtGate(gate.settings);
    },
    notificationUrl: ({ id }: Order) => links.to("challenge", id),
    timeoutMs: config.directoryTimeoutMs,
  };
  return {
    ...makePendingCardData({ pendingCards, clock, warn, lifeMs: authenticationLifeMs(config) }),
    authenticate: makeAuthenticate(messages),
    ask_enrolment: makeAskEnrolment(messages),
    findEnrolment: (endpointId, number) =>
      directories.findEnrolment(number, policyOf({ endpointId })),

    makeBrowserAuthentication: (reports) => ({
      find: makeFindByLink({ ...reports, links, clock, lifeMs: config.linkLifeMs }),
      stepOf: (order) => stepOf(order, links),
      ...makeUploads({ ...reports, links, readPaRes: makeReadPaRes(messages), clock, allowHttp }),
    }),

    makeReceiveResult: (reports) =>
      makeReceiveResult({
        ...{ ...reports, policyOf, allowHttp },
        warn: (directory, cause) => dependencies.warn({ directory }, cause),
      }),
  };
}
