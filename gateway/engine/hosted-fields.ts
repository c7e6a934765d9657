/**
 * Hosted fields (decision 0100). A ticket, which the merchant's server asks for, lets one browser
 * exchange a card for a token, and the token pays for one order. Both are random, kept as digests
 * and bound to their endpoint or group. The card waits for its order as pending card data.
 */
import { hash, randomBytes } from "node:crypto";
import type { CardData } from "../orders/events.ts";
import { type EntryPoint, fieldOriginsOf } from "../orders/merchant.ts";
import type { Order } from "../orders/order.ts";
import type { Accepted } from "../orders/requests.ts";
import type { CardNumber } from "../values/card-number.ts";
import { Failure } from "../values/failure.ts";
import type { MerchantId } from "../values/ids.ts";
import type { Secret } from "../values/secret.ts";
import { type Clock, type Instant, later, minutes } from "../values/time.ts";
import type { PendingCards } from "../vault/vault.ts";

export type FieldsKey = { readonly merchantId: MerchantId; readonly digest: Uint8Array };

export type HostedFieldsStore = {
  add(ticket: FieldsKey, expiresAt: Instant): Promise<void>;
  has(ticket: FieldsKey, now: Instant): Promise<boolean>;
  /** Makes the ticket a token. Returns false if the ticket has expired or was used. */
  exchange(ticket: FieldsKey, token: Uint8Array, expiresAt: Instant): Promise<boolean>;
  remove(key: FieldsKey): Promise<void>;
  /** Returns false if the token has expired, or another request holds it. */
  take(token: FieldsKey, request: Uint8Array, now: Instant): Promise<boolean>;
  /** Another request can take the token when all requests that hold it have released it. */
  release(token: FieldsKey, request: Uint8Array): Promise<void>;
  removeExpired(now: Instant): Promise<void>;
};

/** A token's card, which the request holds until it knows whether it has begun an order. */
export type TokenCard = {
  readonly cardData: CardData;
  /** The request was refused, so the token can pay for another one. */
  release(): Promise<void>;
  /** Destroys the card of the token, whose order has begun. */
  spend(begun: Pick<Accepted, "order" | "repeated">, ipAddress: string): Promise<void>;
};

type Dependencies = {
  readonly store: HostedFieldsStore;
  readonly pendingCards: Pick<PendingCards, "store" | "find" | "destroy">;
  readonly digest: (text: Secret<string>) => Uint8Array;
  /** Returns the seconds that the merchant has to wait for its next ticket. */
  readonly takeTicket: (merchant: MerchantId) => number;
  /** Counts an order towards the limits against card testing. */
  readonly countTry: (order: Order, ipAddress: string, number: CardNumber) => Promise<unknown>;
  readonly clock: Pick<Clock, "now">;
  readonly onFailed: (error: unknown) => void;
};

const lifeMs = minutes(15);
const [ticketBytes, tokenBytes] = [24, 33];
const notOn = new Failure("not_supported_by_gate", "hosted fields are off at this endpoint");
const notFound = new Failure("token_not_found");

export type HostedFields = ReturnType<typeof makeHostedFields>;

export function makeHostedFields(dependencies: Dependencies) {
  const { store, pendingCards, clock, onFailed } = dependencies;
  return {
    async issueTicket(entryPoint: EntryPoint): Promise<string | Failure> {
      if (fieldOriginsOf(entryPoint).length === 0) return notOn;
      if (dependencies.takeTicket(entryPoint.merchant.id) > 0) {
        return new Failure("too_many_requests");
      }
      const ticket = `${entryPoint.id}.${randomBytes(ticketBytes).toString("base64url")}`;
      await store.add(keyOf(entryPoint, "ticket", ticket), later(clock.now(), lifeMs));
      return ticket;
    },

    isTicket: (entryPoint: EntryPoint, ticket: string) =>
      store.has(keyOf(entryPoint, "ticket", ticket), clock.now()),

    discard: (entryPoint: EntryPoint, ticket: string) =>
      store.remove(keyOf(entryPoint, "ticket", ticket)),

    /** Returns the token, or undefined if another tokenization has used the ticket. */
    async tokenize(
      entryPoint: EntryPoint,
      ticket: string,
      card: CardData,
    ): Promise<string | undefined> {
      const token = randomBytes(tokenBytes).toString("base64url");
      const key = keyOf(entryPoint, "token", token);
      const expiresAt = later(clock.now(), lifeMs);
      // The card comes first, so that a failure between the two statements leaves the ticket.
      await pendingCards.store(contextOf(key), card, expiresAt);
      const used = keyOf(entryPoint, "ticket", ticket);
      if (await store.exchange(used, key.digest, expiresAt)) return token;
      await pendingCards.destroy(contextOf(key));
      return undefined;
    },

    /** Takes the token for a request, whose text tells its repeats from other requests. */
    async open(
      entryPoint: EntryPoint,
      token: string,
      request: Secret<string>,
    ): Promise<TokenCard | Failure> {
      const key = keyOf(entryPoint, "token", token);
      const digest = dependencies.digest(request);
      if (!(await store.take(key, digest, clock.now()))) return notFound;
      const cardData = await pendingCards.find(contextOf(key), clock.now());
      if (cardData === undefined) return notFound;
      return {
        cardData,
        release: () => store.release(key, digest).catch(onFailed),
        async spend({ order, repeated }, ipAddress) {
          // The request is answered even if this fails: the card then expires with its token.
          await Promise.all([
            pendingCards.destroy(contextOf(key)),
            store.remove(key),
            repeated || dependencies.countTry(order, ipAddress, cardData.number),
          ]).catch(onFailed);
        },
      };
    },
  };
}

/** A token is unknown at another endpoint, because the digest covers the endpoint's id. */
function keyOf({ id, merchant }: EntryPoint, kind: "ticket" | "token", text: string): FieldsKey {
  return { merchantId: merchant.id, digest: hash("sha256", `${kind}/${id}/${text}`, "buffer") };
}

function contextOf({ merchantId, digest }: FieldsKey): string {
  return `${merchantId}/fields/${Buffer.from(digest).toString("hex")}`;
}
