/** The doers wired together: one for each effect that is carried. Part of what `main.ts` wires. */
import type { Acquirer } from "../acquirers/acquirer.ts";
import { makeAuthorize } from "../acquirers/authorize.ts";
import { makeCapture, makeRefund } from "../acquirers/follow-up.ts";
import { makeInquire } from "../acquirers/inquire.ts";
import {
  endsList,
  isUndecided,
  reasonOf,
  wantsAuthentication,
} from "../acquirers/iso8583-host/response-codes.ts";
import {
  makeReverse,
  makeReversePriorAttempt,
  type ReversePriorAttempt,
} from "../acquirers/reverse.ts";
import { makeIsTooLate } from "../acquirers/too-late.ts";
import type { Config } from "../config/config.ts";
import { makeAlertOperator } from "../engine/alert-operator.ts";
import type { EffectHandler, EffectHandlers } from "../orders/effect-handler.ts";
import { isBeforeNextTry } from "../orders/events.ts";
import type { Endpoint } from "../orders/merchant.ts";
import type { GateFacts, Order } from "../orders/order.ts";
import { chooseGate } from "../orders/route.ts";
import type { EndpointId, GateId, ReceiptId } from "../values/ids.ts";
import type { Clock } from "../values/time.ts";
import type { Vault } from "../vault/vault.ts";
import type { ThreeDs } from "./threeds.ts";

export type EffectHandlerDependencies = {
  readonly config: Config;
  readonly clock: Clock;
  readonly vault: Vault;
  readonly getEndpoint: (id: EndpointId) => Endpoint;
  readonly findAcquirer: (gate: GateId) => Acquirer | undefined;
  readonly newReceiptId: () => ReceiptId;
  readonly threeds: ThreeDs;
  readonly alert: (order: Order) => void;
};

export function makeEffectHandlers(dependencies: EffectHandlerDependencies): EffectHandlers {
  const { config, clock, vault, newReceiptId, getEndpoint } = dependencies;
  const acquirerOf = ({ transaction }: Order) =>
    transaction.identifiers === undefined
      ? undefined
      : dependencies.findAcquirer(transaction.identifiers.gate.id);
  const findCard = findCardIn(vault);
  // Nothing was asked for by a verification, so nothing of it can be missing.
  const acceptsPartialApproval = ({ endpointId, transaction }: Order) =>
    transaction.kind === "account-verification" ||
    getEndpoint(endpointId).settings.acceptsPartialApprovals === true;
  const mayGoOn = ({ acceptedAt }: Order) =>
    clock.now() <= acceptedAt + config.processingDeadlineMs;
  const isTooLate = makeIsTooLate(clock, config.answerTimeoutMs);
  const followUp = { acquirerOf, findCard, reasonOf, isUndecided, isTooLate };
  return {
    authenticate: dependencies.threeds.authenticate,
    ask_enrolment: dependencies.threeds.ask_enrolment,
    authorize: thenLetGo(dependencies.threeds, {
      acquirerOf,
      findCard,
      findPendingCard: dependencies.threeds.findPendingCard,
      mayChallenge: makeMayChallenge(getEndpoint),
      reasonOf,
      endsList,
      newReceiptId,
      findOtherGate: makeFindOtherGate(dependencies),
      acceptsPartialApproval,
      isTooLate,
    }),
    inquire: makeInquire({ acquirerOf, findCard, newReceiptId, acceptsPartialApproval }),
    reverse: makeReverse({ acquirerOf, findCard, mayGoOn }),
    capture: makeCapture(followUp),
    refund: makeRefund(followUp),
    alert_operator: makeAlertOperator(dependencies.alert),
  };
}

/**
 * Before the answer is written: whatever becomes of this node then, the CVV does not outlast the
 * authorisation.
 */
function thenLetGo(
  { letGo }: ThreeDs,
  dependencies: Parameters<typeof makeAuthorize>[0],
): EffectHandler {
  const authorize = makeAuthorize(dependencies);
  return async (order, context) => {
    const event = await authorize(order, context);
    if (!isBeforeNextTry(event)) await letGo(order);
    return event;
  };
}

/** What takes back a charge that nobody waits for is no effect of the order, which goes on. */
export function reversePriorAttemptOf({
  findAcquirer,
  vault,
}: EffectHandlerDependencies): ReversePriorAttempt {
  return makeReversePriorAttempt({ findAcquirer, findCard: findCardIn(vault) });
}

function findCardIn({ reveal }: Vault) {
  return ({ merchantId, card }: Order) => reveal(merchantId, card.cardId);
}

export function isReadyOf({ findAcquirer }: Pick<EffectHandlerDependencies, "findAcquirer">) {
  return (gate: GateId) => findAcquirer(gate)?.isReady() === true;
}

/** Once, and only where there is a cardholder whose bank can challenge him. */
function makeMayChallenge(getEndpoint: EffectHandlerDependencies["getEndpoint"]) {
  return ({ endpointId, purchase, card, transaction }: Order, responseCode: string): boolean =>
    wantsAuthentication(responseCode) &&
    transaction.demanded === undefined &&
    // One who has passed a challenge would only pass another.
    transaction.threeds?.challenge === undefined &&
    transaction.threeds?.payerRequest === undefined &&
    card.enrolment !== undefined &&
    purchase.credential?.initiator !== "MERCHANT" &&
    // A wallet's cryptogram has proved him; its number takes part in nothing else.
    purchase.wallet?.isDevice !== true &&
    getEndpoint(endpointId).settings.threeDSecure !== "off";
}

/** No more tries than there are gates and amounts: flickering links must not hold an order. */
function makeFindOtherGate(dependencies: EffectHandlerDependencies) {
  const isReady = isReadyOf(dependencies);
  return (order: Order): GateFacts | undefined => {
    const { identifiers } = order.transaction;
    const { gates } = dependencies.getEndpoint(order.endpointId);
    const amounts = order.purchase.otherAmounts?.length ?? 0;
    if (identifiers === undefined || identifiers.attempt >= gates.length + amounts)
      return undefined;
    const passedOver = new Set([identifiers.gate.id]);
    const chosen = chooseGate(order, gates, { isReady, passedOver });
    return chosen !== undefined && isReady(chosen.id) ? chosen : undefined;
  };
}
