/** Builds hosted fields, and the limits against card testing that they share with payment pages. */
import { makeHostedFields } from "../engine/hosted-fields.ts";
import { makeRateLimit, makeSummary } from "../http/bounds.ts";
import { makeCardTries, makePageTries, makeProofs } from "../screening/page-tries.ts";
import { routeTakeNonce, routeTallies } from "../storage/cells/routed-stores.ts";
import type { MerchantId } from "../values/ids.ts";
import type { NodeContext } from "./node-context.ts";

export function makeFieldsAndTries(context: NodeContext) {
  const { config, clock, vault, log } = context;
  const tries = makeTries(context);
  const { take } = makeRateLimit<MerchantId>({ perSecond: config.ticketsPerSecond }, clock);
  const fields = makeHostedFields({
    store: context.hostedFields,
    pendingCards: context.pendingCards,
    digest: vault.digest,
    takeTicket: take,
    countTry: (order, ipAddress, number) => {
      const origin = { merchantId: order.merchantId, page: "", ipAddress };
      return tries.admit(order, origin, number, { proof: "", isProved: true });
    },
    clock,
    onFailed: (error) => log("fields.token_unspent", { err: error }),
  });
  return { fields, tries };
}

function makeTries({ config, clock, cells, vault, log }: NodeContext) {
  const retries = { retryMs: config.acceptRetryMs };
  const takeNonce = routeTakeNonce(cells, { clock, windowMs: config.oauthWindowMs, ...retries });
  const refusals = makeSummary(clock, (of, count) => log("page.tries_refused", { of, count }));
  const tries = makePageTries({
    limits: {
      perLink: config.linkTriesMax,
      perAddress: config.addressTriesMax,
      perCard: config.cardTriesMax,
      windowMs: config.triesWindowMs,
      proofBits: config.proofBits,
    },
    store: routeTallies(cells, retries),
    digestSubject: vault.digestSubject,
    clock,
    proofs: makeProofs({ tokenOf: vault.tokenOf, isToken: vault.isToken, takeNonce, clock }),
  });
  return makeCardTries(tries, { ...vault, onRefused: refusals.add });
}
