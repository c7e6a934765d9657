/**
 * Blocks the search for a card number whose BIN and last four digits are known (decision 0078):
 * six digits are left, and one of them follows from the check digit. The different cards of a
 * merchant with the same BIN and last four are counted for a day; beyond the limit all of them are
 * blocked, also cards that were known before: a card that passed would be the one searched for.
 */
import type { Finding, Order } from "../orders/order.ts";
import { hours, type Instant, later } from "../values/time.ts";
import { type makeJudgePayment, type Screened, uuidOf } from "./judge.ts";
import type { TryStore } from "./page-tries.ts";
import type { Seen, Tally } from "./rule.ts";

type Judge = ReturnType<typeof makeJudgePayment>;

type Dependencies = {
  /** Different cards in a day; zero is no limit. */
  readonly max: number;
  readonly store: Pick<TryStore, "add" | "look">;
  readonly digestSubject: (text: string) => Buffer;
  /** The limit is reached: the next card is blocked. */
  readonly onReached: (order: Order) => void;
};

const windowMs = hours(24);
const noUndo = async () => undefined;

/**
 * Also a request that turns out to be a repeat is counted: the same card counts once. `isGuess` is
 * for a repeat that is looked for without a payment.
 */
export function blockGuesses(
  { max, store, digestSubject, onReached }: Dependencies,
  judge: Judge,
): { readonly judgePayment: Judge; readonly isGuess: (order: Order) => Promise<boolean> } {
  if (max === 0) return { judgePayment: judge, isGuess: async () => false };
  const isAlone = makeIsAlone();

  return {
    judgePayment(order, digestsOf) {
      // The number of a registered card comes from the vault, where it cannot be guessed.
      const isBrought = order.card.hashId !== "" && order.purchase.credential === undefined;
      if (!isBrought || isAlone(order)) return judge(order, digestsOf);
      return isBeyond(order).then(async (isBlocked): Promise<Screened> => {
        if (isBlocked) return { findings: [findingOf(max)], undo: noUndo, isGuess: true };
        return (await judge(order, digestsOf)) ?? { findings: [], undo: noUndo };
      });
    },
    isGuess: async (order) => !isAlone(order) && isBeyond(order),
  };

  /** A blocked card is not counted: the answer takes as long for a known card as for any other. */
  async function isBeyond(order: Order): Promise<boolean> {
    const { merchantId, id: orderId, acceptedAt: at, transaction, card: facts } = order;
    const key = uuidOf(digestSubject(`guesses\n${nameOf(order)}`).toString("hex", 0, 16));
    const rows = [{ owner: merchantId, key, keepUntil: later(at, windowMs) }];
    const card = BigInt(facts.hashId).toString(16).padStart(16, "0");
    const known = cardsIn(await store.look(merchantId, rows), at);
    if (known.size >= max || known.has(card)) return known.size >= max;
    const { minor, currency } = transaction.amount;
    const seen: Seen = { orderId, at, minor, currency: currency.code, card };
    const request = Buffer.from(card, "hex");
    const before = cardsIn(await store.add({ merchantId, seen, request, rows }), at);
    if (before.size === max - 1) onReached(order);
    return before.size >= max;
  }
}

function cardsIn(tallies: readonly Tally[], at: Instant): ReadonlySet<string> {
  const recent = tallies.flatMap(({ before }) => before.filter((seen) => seen.at > at - windowMs));
  return new Set(recent.map(({ card }) => card));
}

function findingOf(max: number): Finding {
  return {
    rule: "0",
    kind: "guesses",
    scope: "merchant",
    action: "block",
    code: "too_many_cards",
    facts: { per: "BIN and last four", limit: max, windowS: windowMs / 1000 },
  };
}

function nameOf({ merchantId, card: { bin, lastFour } }: Order): string {
  return `${merchantId}\n${bin}${lastFour}`;
}

const slotsMax = 2 ** 20;
const several = 0xffff;

/**
 * Most payments are the only ones with their digits: this process remembers one card for each
 * place of a table, and only a place with a second card is counted in the database. Digits that
 * share a place by chance cost a query and block nothing.
 */
function makeIsAlone(): (order: Order) => boolean {
  const slots = new Uint16Array(slotsMax);
  let since = 0;
  return (order) => {
    if (order.acceptedAt - since > windowMs) {
      since = order.acceptedAt;
      slots.fill(0);
    }
    let slot = 0;
    for (const letter of nameOf(order)) slot = Math.imul(slot + letter.charCodeAt(0), 0x01000193);
    slot = (slot ^ (slot >>> 15)) & (slotsMax - 1);
    const tag = 1 + Number(order.card.hashId.slice(-4));
    const known = slots[slot];
    slots[slot] = known === 0 || known === tag ? tag : several;
    return slots[slot] === tag;
  };
}
