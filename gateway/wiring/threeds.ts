/**
 * Builds 3-D Secure: the effect handlers, the pending card data, and what browsers, merchants and
 * directory servers report.
 */
import { allowsHttp } from "../config/config.ts";
import type { Order } from "../orders/order.ts";
import { makeAuthenticate } from "../threeds/authenticate.ts";
import { makeFindByLink, makeLinks, stepOf } from "../threeds/browser-steps.ts";
import { makeReceiveResult, type OrderReports } from "../threeds/challenge-result.ts";
import type { Directories } from "../threeds/directories.ts";
import { authenticationLifeMs, makePendingCardData } from "../threeds/pending-card.ts";
import { makeAskEnrolment, makeReadPaRes } from "../threeds/threeds102.ts";
import { type BrowserAuthentication, makeUploads } from "../threeds/uploads.ts";
import type { CardNumber } from "../values/card-number.ts";
import type { EndpointId } from "../values/ids.ts";
import type { Resources } from "./resources.ts";

type Used = Pick<Resources, "config" | "clock" | "log" | "vault" | "pendingCards"> &
  Pick<Resources, "configuration" | "baseUrl">;

type Parts = {
  readonly directories: Pick<Directories, "find" | "findEnrolment">;
  readonly resultsUrl: (directory: string) => string;
};

export type ThreeDs = ReturnType<typeof makeThreeDs>;

export function makeThreeDs(
  { config, clock, log, vault, pendingCards, configuration, baseUrl }: Used,
  { directories, resultsUrl }: Parts,
) {
  const links = makeLinks({ ...vault, baseUrl, pathWord: config.pathWord });
  const allowHttp = allowsHttp(config);
  const warn = ({ id, merchantId }: Order, cause: string) =>
    log("threeds.failed", { order: id, merchant: merchantId, cause });
  const policyOf = ({ endpointId }: Pick<Order, "endpointId">) =>
    configuration.getEndpoint(endpointId).settings.threeDSecure;
  const messages = {
    policyOf,
    clock,
    allowHttp,
    warn,
    resultsUrl,
    findDirectory: directories.find,
    findCard: ({ merchantId, card }: Order) => vault.findCard(merchantId, card.cardId),
    findMerchant: ({ transaction: { identifiers } }: Order) =>
      identifiers && configuration.current().gates.get(identifiers.gate.id)?.settings,
    notificationUrl: ({ id }: Order) => links.to("challenge", id),
    timeoutMs: config.directoryTimeoutMs,
  };
  return {
    ...makePendingCardData({ pendingCards, clock, warn, lifeMs: authenticationLifeMs(config) }),
    authenticate: makeAuthenticate(messages),
    ask_enrolment: makeAskEnrolment(messages),
    findEnrolment: (endpointId: EndpointId, number: CardNumber, isForced = false) =>
      directories.findEnrolment(number, policyOf({ endpointId }), isForced),

    stepOf: (order: Order) => stepOf(order, links),

    makeBrowserAuthentication: (reports: OrderReports): BrowserAuthentication => ({
      find: makeFindByLink({ ...reports, links, clock, lifeMs: config.linkLifeMs }),
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
