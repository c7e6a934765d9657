/**
 * Accepts orders and follow-ups. A new order is committed with its first steps taken, leased by
 * this node, and run from memory. A client order id can be charged once, so a request is new, a
 * repeat of an earlier one, or a new attempt after attempts that ended unpaid (decision 0005).
 */
import { randomBytes } from "node:crypto";
import type { Advance, Conditions, Step } from "../orders/advance.ts";
import type { Follow } from "../orders/apply.ts";
import { type CardData, followUpEvents } from "../orders/events.ts";
import type { Endpoint, EntryPoint } from "../orders/merchant.ts";
import type { Finding, Order } from "../orders/order.ts";
import { noCard, openPage } from "../orders/payment-page.ts";
import type { Accepted, FollowUpRequest, OrderRequest } from "../orders/requests.ts";
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
import type { Clock } from "../values/time.ts";
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

/** The first step of a new order, with a digest of the request that made it. */
export type Beginning = {
  readonly step: Step;
  readonly digest: RequestDigest;
  /** Absent when the order is paid with a card that the vault has already. */
  readonly sealCard: SealCard | undefined;
};

/** `taken`: the merchant has an order with this client order id and attempt already. */
export type Begin = (beginning: Beginning) => Promise<"done" | "taken">;

/** What the screening rules say about a new order, and how its counts are undone. */
type Screened = {
  readonly findings: readonly Finding[];
  readonly undo: () => Promise<void>;
  /** Card numbers are being searched for. */
  readonly isGuess?: true;
};

/** Returns undefined when no rule is on. */
export type JudgePayment = (
  order: Order,
  digestsOf: () => {
    readonly card: string | undefined;
    readonly cardNames: readonly CardName[];
    readonly prefix: string | undefined;
    readonly request: Uint8Array;
  },
) => Promise<Screened> | undefined;

const entropyBytes = 20;
const noEntropy = new Uint8Array();

type Surroundings = {
  readonly getEndpoint: (id: EndpointId) => Endpoint;
  readonly isReady: (gate: GateId) => boolean;
};

/** What the next step of an order depends on, beside the order. */
export function makeConditionsOf({ getEndpoint, isReady }: Surroundings) {
  return ({ endpointId, card }: Pick<Order, "endpointId" | "card">): Conditions => {
    const endpoint = getEndpoint(endpointId);
    const ready = endpoint.gates.filter(({ id }) => isReady(id));
    const entropy = card.enrolment === undefined ? noEntropy : randomBytes(entropyBytes);
    return { endpoint, readyGates: new Set(ready.map(({ id }) => id)), entropy };
  };
}

/**
 * Stores card data until the cardholder has been authenticated. Returns a function that destroys it
 * earlier.
 */
export type StorePendingCard = (order: Order, card: CardData) => Promise<() => void>;

export type AcceptDependencies = NewCardDependencies & {
  readonly advance: Advance;
  readonly conditionsOf: (order: Pick<Order, "endpointId" | "card">) => Conditions;
  readonly begin: Begin;
  readonly findExisting: FindExisting;
  readonly digests: Pick<RequestDigests, "make" | "isSame">;
  readonly nextNumbers: () => Promise<Pick<Order, "id" | "sequence">>;
  readonly judgePayment: JudgePayment;
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
    let attempt = 1;
    for (;;) {
      const order = await tryAttempt(request, attempt, digest);
      if (order instanceof Failure) return order;
      if (order !== "taken") return { order, transaction: order.transaction, repeated: false };

      const known = await findExisting(request.merchantId, request.clientOrderId);
      const repeat = await repeatAmong(known, request, digests);
      if (repeat !== undefined) return repeat;
      if (!known.every(({ order: earlier }) => endedUnpaid(earlier))) {
        return new Failure("duplicate_order");
      }
      // The next after the latest: a concurrent request that saw the same takes the same number.
      attempt = Math.max(0, ...known.map(({ order: earlier }) => earlier.attempt)) + 1;
    }
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
    // On the payment page, each try is judged.
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
    // Another node may have to go on with it. What a crash leaves behind expires.
    const destroyPendingCard =
      threeds !== undefined && cardData !== undefined
        ? await dependencies.storePendingCard(step.order, cardData)
        : undefined;
    if ((await begin({ step, digest, sealCard })) === "taken") {
      destroyPendingCard?.();
      await screened?.undo();
      // A recognised repeat would reveal that the number is that of the first request.
      return screened?.isGuess === true ? new Failure("duplicate_order") : "taken";
    }
    runner.start(step.order, { cardData });
    return step.order;
  }

  /** A new card is sealed under the order's own id; a registered one is in the vault already. */
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

/** An order that still owes a reversal may yet turn out to be paid. */
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
    /**
     * Finds the order that an identical request has begun, without beginning one. `number` is that
     * of the card that the request brings.
     */
    async findRepeat(request: Repeatable, number?: CardNumber): Promise<Accepted | undefined> {
      const { merchantId, clientOrderId } = request;
      const known = await findExisting(merchantId, clientOrderId);
      const [earlier] = known;
      if (earlier !== undefined && number !== undefined) {
        const { bin, lastFour } = number;
        const { hashId } = vault.fingerprint(merchantId, number);
        const card = { ...earlier.order.card, bin, lastFour, hashId };
        // A recognised repeat reveals that the number is that of the first request.
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
    /** Finds the order, begins a capture, a return or a void, and runs it from memory. */
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

  /** The message would need the number. A repeat is acknowledged as ever. */
  async function lacksCard(order: Order, request: FollowUpRequest["request"]): Promise<boolean> {
    if (initialOf(order).stage !== "approved" || findRepeated(order, request)) return false;
    return !isUsable(await dependencies.findCard(order.merchantId, order.card.cardId));
  }
}

/** Does the work, or refuses it at once while too many orders are in flight. */
export type Admit = <Result>(work: () => Promise<Result>) => Promise<Result | Failure>;

/** An order counts from its arrival: while the database stalls, orders wait for their commit. */
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
