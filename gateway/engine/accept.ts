/**
 * Accepts orders and follow-ups. A new order is committed with its first steps and a lease of this
 * node, and runs from memory. A client order id is charged once: a request with a known one repeats
 * an earlier request, or is a new attempt if all earlier ones ended unpaid (decision 0005).
 */
import { randomBytes } from "node:crypto";
import type { Advance, Conditions, Step } from "../orders/advance.ts";
import type { Follow } from "../orders/apply.ts";
import { type CardData, followUpEvents } from "../orders/events.ts";
import type { Endpoint, EndpointSettings, EntryPoint } from "../orders/merchant.ts";
import type { Finding, Order } from "../orders/order.ts";
import { noCard, openPage } from "../orders/payment-page.ts";
import type { Accepted, FollowUpRequest, OrderRequest } from "../orders/requests.ts";
import type { GateShares } from "../orders/route.ts";
import { isFinal } from "../orders/stages.ts";
import {
  findRepeated,
  initialOf,
  newTransaction,
  refundPolicyNow,
} from "../orders/transactions.ts";
import type { CardNumber } from "../values/card-number.ts";
import { Failure } from "../values/failure.ts";
import { asCardId, type EndpointId, type GateId, type OrderId } from "../values/ids.ts";
import type { Clock, Instant } from "../values/time.ts";
import type { RequestDigest, RequestDigests } from "../vault/request-digests.ts";
import type { CardName, SealCard, Vault } from "../vault/vault.ts";
import {
  cardDestroyed,
  isUsable,
  makeNewCards,
  type NewCard,
  type NewCardDependencies,
} from "./cards.ts";
import type { ExistingOrder, FindExisting, OrderSearch } from "./find.ts";
import type { OrderRunner } from "./run.ts";

export type Beginning = {
  readonly step: Step;
  readonly digest: RequestDigest;
  /** Absent if the vault already has the card. */
  readonly sealCard: SealCard | undefined;
};

/** `taken` means that the merchant has an order with this client order id and attempt number. */
export type Begin = (beginning: Beginning) => Promise<"done" | "taken">;

/** `undo` removes the order from the counters of the screening rules. */
type Screened = {
  readonly findings: readonly Finding[];
  readonly undo: () => Promise<void>;
  /** Set if the request seems to guess a card number. */
  readonly isGuess?: true;
};

/** Screens an order. Returns undefined if no screening rule is active. */
export type JudgePayment = (
  order: Order,
  digestsOf: () => {
    readonly card: string | undefined;
    readonly cardNames: readonly CardName[];
    readonly prefix: string | undefined;
    readonly request: Uint8Array;
  },
) => Promise<Screened> | undefined;

/** Counts a payout towards the day's limits. Returns a function that undoes this, or a refusal. */
export type CountPayout = (
  payout: Pick<OrderRequest, "merchantId" | "endpointId" | "purchase"> & { readonly at: Instant },
  settings: EndpointSettings,
  digests: {
    readonly card: string | undefined;
    readonly cardNames: readonly CardName[];
    readonly request: Uint8Array;
  },
) => Promise<(() => Promise<void>) | Failure>;

const entropyBytes = 20;
const noEntropy = new Uint8Array();

type Surroundings = {
  readonly getEndpoint: (id: EndpointId) => Endpoint;
  readonly isReady: (gate: GateId) => boolean;
  /** The gates that are not healthy; undefined if all are. */
  readonly findShares?: () => GateShares | undefined;
};

/** The conditions have random bytes only if 3-D Secure may need them for the order's card. */
export function makeConditionsOf({ getEndpoint, isReady, findShares }: Surroundings) {
  return ({ endpointId, card }: Pick<Order, "endpointId" | "card">): Conditions => {
    const endpoint = getEndpoint(endpointId);
    const ready = endpoint.gates.filter(({ id }) => isReady(id));
    const entropy = card.enrolment === undefined ? noEntropy : randomBytes(entropyBytes);
    const readyGates = new Set(ready.map(({ id }) => id));
    return { endpoint, readyGates, shares: findShares?.(), entropy };
  };
}

/** Stores card data while the cardholder is authenticated. The returned function destroys it. */
export type StorePendingCard = (order: Order, card: CardData) => Promise<() => void>;

export type AcceptDependencies = NewCardDependencies & {
  readonly advance: Advance;
  readonly conditionsOf: (order: Pick<Order, "endpointId" | "card">) => Conditions;
  readonly begin: Begin;
  readonly findExisting: FindExisting;
  readonly digests: Pick<RequestDigests, "make" | "isSame">;
  readonly nextNumbers: () => Promise<Pick<Order, "id" | "sequence">>;
  readonly judgePayment: JudgePayment;
  readonly countPayout: CountPayout;
  readonly storePendingCard: StorePendingCard;
  readonly runner: OrderRunner;
  readonly admit: Admit;
  readonly clock: Pick<Clock, "now">;
};

export type AcceptOrders = ReturnType<typeof makeAcceptOrders>;

export function makeAcceptOrders(dependencies: AcceptDependencies) {
  const { advance, conditionsOf, begin, findExisting, runner, admit, digests } = dependencies;
  const newCards = makeNewCards(dependencies);
  return { accept: (request: OrderRequest) => admit(() => beginOrder(request)) };

  async function beginOrder(request: OrderRequest): Promise<Accepted | Failure> {
    const digest = await digests.make(request.requestFingerprint);
    return request.kind === "payout" ? beginPayout(request, digest) : beginAttempt(request, digest);
  }

  /** Repeats are found before payouts are counted, so that they never use up the payout limits. */
  async function beginPayout(
    request: OrderRequest,
    digest: RequestDigest,
  ): Promise<Accepted | Failure> {
    const next = await nextAttempt(request);
    if (typeof next !== "number") return next;
    const { merchantId, endpointId, purchase, cardData } = request;
    const undoCount = await dependencies.countPayout(
      { merchantId, endpointId, purchase, at: dependencies.clock.now() },
      conditionsOf({ endpointId, card: noCard }).endpoint.settings,
      newCards.digestsOf(merchantId, cardData, digest.digest),
    );
    if (undoCount instanceof Failure) return undoCount;
    const begun = await beginAttempt(request, digest, next);
    if (begun instanceof Failure) await undoCount();
    return begun;
  }

  async function beginAttempt(
    request: OrderRequest,
    digest: RequestDigest,
    first = 1,
  ): Promise<Accepted | Failure> {
    let attempt = first;
    for (;;) {
      const order = await tryAttempt(request, attempt, digest);
      if (order instanceof Failure) return order;
      if (order !== "taken") return { order, transaction: order.transaction, repeated: false };

      const next = await nextAttempt(request);
      if (typeof next !== "number") return next;
      attempt = next;
    }
  }

  /**
   * Returns the attempt's number, or the order that the request repeats. Of concurrent requests
   * with the same number, only one can commit it.
   */
  async function nextAttempt(request: OrderRequest): Promise<number | Accepted | Failure> {
    const known = await findExisting(request.merchantId, request.clientOrderId);
    const repeat = await repeatAmong(known, request, digests);
    if (repeat !== undefined) return repeat;
    if (!known.every(({ order }) => endedUnpaid(order))) return new Failure("duplicate_order");
    return Math.max(0, ...known.map(({ order }) => order.attempt)) + 1;
  }

  async function tryAttempt(
    request: OrderRequest,
    attempt: number,
    digest: RequestDigest,
  ): Promise<Order | "taken" | Failure> {
    const numbers = await dependencies.nextNumbers();
    const { cardData, page } = request;
    const { facts, sealCard } = cardOf(request, numbers.id);
    const drafted = { ...draft(request, numbers), attempt, card: facts };
    // An order of the payment page is judged later, at each try on its page, and so not here.
    const digestsOf = () => newCards.digestsOf(request.merchantId, cardData, digest.digest);
    const judged = page === undefined ? dependencies.judgePayment(drafted, digestsOf) : undefined;
    const screened = judged && (await judged);
    const order =
      screened === undefined
        ? drafted
        : newCards.withEnrolment(drafted, cardData, screened.findings);
    const given = conditionsOf(order);
    const conditions = screened === undefined ? given : { ...given, findings: screened.findings };
    const step = advance(order, { kind: "received" }, order.acceptedAt, conditions);
    if (step instanceof Failure) return step;

    const { threeds } = step.order.transaction;
    // Another node may continue the order, so its card data is stored. If this node crashes before
    // it commits the order, the stored card data expires.
    const destroyPendingCard =
      threeds !== undefined && cardData !== undefined
        ? await dependencies.storePendingCard(step.order, cardData)
        : undefined;
    if ((await begin({ step, digest, sealCard })) === "taken") {
      destroyPendingCard?.();
      await screened?.undo();
      // A client that seems to guess a card number gets "duplicate order" even for a repeat,
      // because a repeat's answer would confirm that the earlier request has the same card number.
      return screened?.isGuess === true ? new Failure("duplicate_order") : "taken";
    }
    runner.start(step.order, { cardData });
    return step.order;
  }

  /** A new card is sealed under the order's id. The vault already has a registered card. */
  function cardOf(request: OrderRequest, order: OrderId): NewCard {
    const { merchantId, endpointId, card, cardData } = request;
    if (card.kind === "none" || cardData === undefined) return { facts: noCard };
    const owner = { merchantId, endpointId };
    if (card.kind === "registered") return newCards.readRegistered(owner, card.facts, cardData);
    return newCards.read(owner, asCardId(order), card.facts, cardData);
  }

  function draft(
    request: OrderRequest,
    numbers: Pick<Order, "id" | "sequence">,
  ): Omit<Order, "attempt" | "card"> {
    const { kind, serialNumber, merchantId, endpointId, clientOrderId, purchase } = request;
    const begun = newTransaction({ kind, serialNumber, amount: purchase.amount });
    const acceptedAt = dependencies.clock.now();
    const transaction = { ...begun, authentication: request.authentication };
    const order = {
      ...numbers,
      merchantId,
      endpointId,
      clientOrderId,
      version: 0,
      acceptedAt,
      purchase,
      transaction,
      earlier: [],
      owed: undefined,
      deadlineAt: undefined,
    };
    return request.page === undefined ? order : { ...order, ...openPage(order, request.page) };
  }
}

/** An order that owes a reversal has not ended, because it may still turn out to be paid. */
export function endedUnpaid(order: Order): boolean {
  const { stage } = initialOf(order);
  return isFinal(stage) && stage !== "approved" && order.owed === undefined;
}

export type FindRepeats = ReturnType<typeof makeFindRepeats>;
type Repeatable = Pick<OrderRequest, "merchantId" | "clientOrderId" | "requestFingerprint">;

type RepeatDependencies = Pick<AcceptDependencies, "findExisting" | "digests" | "clock"> & {
  readonly vault: Pick<Vault, "fingerprint">;
  readonly isGuess: (order: Order) => Promise<boolean>;
};

export function makeFindRepeats(dependencies: RepeatDependencies) {
  const { findExisting, digests, clock, vault, isGuess } = dependencies;
  return {
    /** Finds the order of an identical request. `number` is the card number of the new request. */
    async findRepeat(request: Repeatable, number?: CardNumber): Promise<Accepted | undefined> {
      const { merchantId, clientOrderId } = request;
      const known = await findExisting(merchantId, clientOrderId);
      const [earlier] = known;
      if (earlier !== undefined && number !== undefined) {
        const { bin, lastFour } = number;
        const { hashId } = vault.fingerprint(merchantId, number);
        const card = { ...earlier.order.card, bin, lastFour, hashId };
        // A client that seems to guess a card number does not get the earlier order, because the
        // order would confirm that the earlier request has the same card number.
        if (await isGuess({ ...earlier.order, acceptedAt: clock.now(), card })) return undefined;
      }
      return repeatAmong(known, request, digests);
    },
  };
}

async function repeatAmong(
  known: readonly ExistingOrder[],
  { requestFingerprint }: Repeatable,
  digests: AcceptDependencies["digests"],
): Promise<Accepted | undefined> {
  for (const { order, digest } of known) {
    if (!(await digests.isSame(requestFingerprint, digest))) continue;
    return { order, transaction: initialOf(order), repeated: true };
  }
  return undefined;
}

export type FollowUps = ReturnType<typeof makeFollowUps>;

type FollowUpDependencies = Pick<AcceptDependencies, "runner" | "admit"> & {
  readonly findCard: Vault["findCard"];
  readonly find: OrderSearch["find"];
  readonly follow: Follow;
};

export function makeFollowUps(dependencies: FollowUpDependencies) {
  const { find, follow, runner, admit } = dependencies;
  return {
    /** Runs the follow-up from memory. */
    followUp: (entryPoint: EntryPoint, asked: FollowUpRequest) =>
      admit(() => beginNext(entryPoint, asked)),
  };

  async function beginNext(
    entryPoint: EntryPoint,
    asked: FollowUpRequest,
  ): Promise<Accepted | Failure> {
    const { wanted, serialNumber, request } = asked;
    const found = await find(entryPoint, { ...wanted, bySerialNumber: undefined });
    if (found instanceof Failure) return found;

    if (await lacksCard(found.order, request)) return cardDestroyed;
    const kind = followUpEvents[request.operation];
    const { endpointId } = found.order;
    const endpoint = entryPoint.endpoints.find(({ id }) => id === endpointId);
    const refunds = refundPolicyNow(endpoint, found.order);
    const followed = await follow(found.order, {
      kind,
      serialNumber,
      request,
      ...(kind !== "capture_asked" && refunds && { refunds }),
    });
    if (followed instanceof Failure) return followed;
    const { order, repeated } = followed;
    if (repeated !== undefined) return { order, transaction: repeated, repeated: true };
    runner.start(order);
    return { order, transaction: order.transaction, repeated: false };
  }

  /** Whether the follow-up needs a destroyed card number. A merchant's repeat needs no number. */
  async function lacksCard(order: Order, request: FollowUpRequest["request"]): Promise<boolean> {
    if (initialOf(order).stage !== "approved" || findRepeated(order, request)) return false;
    return !isUsable(await dependencies.findCard(order.merchantId, order.card.cardId));
  }
}

/** Refuses the work at once if too many orders are in flight. */
export type Admit = <Result>(work: () => Promise<Result>) => Promise<Result | Failure>;

/**
 * Limits the orders in flight. An order is in flight from the arrival of its request, because it
 * waits for its commit while the database is slow.
 */
export function makeAdmission(runner: Pick<OrderRunner, "count">, inFlightMax: number): Admit {
  let beginning = 0;
  return async (work) => {
    if (runner.count + beginning >= inFlightMax) return tooManyInFlight;
    beginning += 1;
    try {
      return await work();
    } finally {
      beginning -= 1;
    }
  };
}

const tooManyInFlight = new Failure("storage_unavailable", "", "too many orders in flight");
