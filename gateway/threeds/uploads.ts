/**
 * What browsers and merchants bring back: that the method has run, the end of a challenge, the
 * answer of 1.0.2. A step that is over stays as it was, whoever brings its result again; one that
 * ended by its deadline, or has not begun, refuses it.
 */
import type { SeenBrowser } from "../orders/authentication.ts";
import type { OrderEvent } from "../orders/events.ts";
import type { Order, Stage } from "../orders/order.ts";
import { initialOf } from "../orders/transactions.ts";
import { Failure, type FailureCode } from "../values/failure.ts";
import type { Clock } from "../values/time.ts";
import type { Links } from "./links.ts";
import type { ReadPaRes } from "./version1/read-pares.ts";
import { findCresFault } from "./version2/read-cres.ts";

type Dependencies = {
  readonly report: (order: Order, event: OrderEvent) => Promise<Order | Failure>;
  readonly load: (order: Order) => Promise<Order>;
  readonly links: Links;
  readonly readPaRes: ReadPaRes;
  readonly clock: Clock;
  readonly allowHttp: boolean;
};

export type Uploads = {
  uploadMethod(
    order: Order,
    upload: { readonly transactionId?: string; readonly browser: SeenBrowser },
  ): Promise<Order | Failure>;
  uploadChallenge(order: Order, cres: string): Promise<Order | Failure>;
  uploadPares(
    order: Order,
    upload: { readonly paRes: string; readonly md: string },
  ): Promise<Order | Failure>;
};

export function makeUploads(dependencies: Dependencies): Uploads {
  const { report, load, links, readPaRes, clock, allowHttp } = dependencies;
  return {
    async uploadMethod(order, { transactionId, browser }) {
      const { threeds } = initialOf(order);
      if (threeds?.methodUrl === undefined) return notNow("there is no method to run");
      if (transactionId !== undefined && transactionId !== threeds.transactionId) {
        return new Failure("invalid_parameter", "threeDSServerTransID: of another authentication");
      }
      if (!allowHttp && browser.notificationUrl?.startsWith("https://") === false) {
        return new Failure("invalid_parameter", "notificationURL: must be https");
      }
      // There was a method to run: whoever cannot tell whether it has, says that it has not.
      const completion = browser.completion === "Y" ? "Y" : "N";
      const seen = { ...browser, completion } as const;
      return bring(order, methodSteps, { kind: "method_uploaded", browser: seen });
    },

    async uploadChallenge(order, cres) {
      const { threeds } = initialOf(order);
      if (threeds?.challenge === undefined) return notNow("there is no challenge");
      const fault = findCresFault(cres, threeds, { allowHttp });
      if (fault !== undefined) return new Failure("invalid_parameter", `cres: ${fault}`);
      return bring(order, challengeSteps, { kind: "challenge_returned" });
    },

    async uploadPares(order, { paRes, md }) {
      const { threeds } = initialOf(order);
      if (threeds?.payerRequest === undefined) return notNow("there is no PaReq");
      if (!links.isMd(order.id, md)) return new Failure("invalid_parameter", "md");
      if (!paresSteps.awaited.includes(order.transaction.stage)) return whenOver(order, paresSteps);
      const verdict = readPaRes(order, paRes);
      if (verdict === undefined) return new Failure("invalid_parameter", "paRes");
      return bring(order, paresSteps, verdict);
    },
  };

  async function bring(order: Order, steps: Steps, event: OrderEvent): Promise<Order | Failure> {
    if (!steps.awaited.includes(order.transaction.stage)) return whenOver(order, steps);
    if (isPast(order, clock)) return notNow("its deadline has passed");
    const told = await report(order, event);
    if (!(told instanceof Failure) || told.code !== "not_allowed_now") return told;
    // Somebody else was faster: the step is over now.
    return whenOver(await load(order), steps);
  }
}

type Steps = {
  readonly awaited: readonly Stage[];
  /** Ended by its deadline: whatever comes is too late. */
  readonly expiredBy: FailureCode;
  /** Not there yet, although the authentication has begun. */
  readonly before: readonly Stage[];
};

const methodSteps: Steps = {
  awaited: ["awaiting_method"],
  expiredBy: "method_expired",
  before: [],
};
const challengeSteps: Steps = {
  awaited: ["awaiting_challenge", "awaiting_return"],
  expiredBy: "challenge_expired",
  before: ["awaiting_method"],
};
const paresSteps: Steps = { awaited: ["awaiting_pares"], expiredBy: "pares_expired", before: [] };

/** Also while nobody has noticed yet. A passed challenge goes on by itself at its deadline. */
function isPast({ deadlineAt, transaction }: Order, clock: Clock): boolean {
  if (transaction.stage === "awaiting_return") return false;
  return deadlineAt !== undefined && clock.now() >= deadlineAt;
}

function whenOver(order: Order, { expiredBy, before }: Steps): Order | Failure {
  const { stage, reason } = initialOf(order);
  if (reason?.code === expiredBy) return notNow("its deadline has passed");
  return before.includes(stage) ? notNow(`the order is in stage ${stage}`) : order;
}

function notNow(cause: string): Failure {
  return new Failure("not_allowed_now", "", cause);
}
