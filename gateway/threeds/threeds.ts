/**
 * 3-D Secure: the effect handlers, the pending card data, and what browsers, merchants and
 * directory servers report.
 */
import type { Endpoint } from "../orders/merchant.ts";
import type { Order } from "../orders/order.ts";
import type { CardNumber } from "../values/card-number.ts";
import type { EndpointId } from "../values/ids.ts";
import { type AuthenticateDependencies, makeAuthenticate } from "./authenticate.ts";
import { type LinkDependencies, makeFindByLink, makeLinks, stepOf } from "./browser-steps.ts";
import { makeReceiveResult, type OrderReports } from "./challenge-result.ts";
import type { Directories } from "./directories.ts";
import {
  authenticationLifeMs,
  makePendingCardData,
  type PendingCardDependencies,
} from "./pending-card.ts";
import { makeAskEnrolment, makeReadPaRes } from "./threeds102.ts";
import { type BrowserAuthentication, makeUploads } from "./uploads.ts";

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
