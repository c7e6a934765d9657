/**
 * Screening of a node: its lists and countries of addresses, the judge of its payments, and the
 * count of cards that stops the search for a card number.
 */
import type { Finding, Order } from "../orders/order.ts";
import { hours, type Instant, later } from "../values/time.ts";
import { type IpCountryFile, openIpCountries } from "./ip-countries.ts";
import { type JudgeDependencies, makeJudgePayment, type Screened, uuidOf } from "./judge.ts";
import { type ListStore, openLists } from "./lists.ts";
import type { TryStore } from "./page-tries.ts";
import type { Seen, Tally } from "./rule.ts";
import { makeFindRuleSet, type RuleSource } from "./rule-set.ts";

type Options = Pick<JudgeDependencies, "digestSubject" | "countingKey"> & {
  readonly store: JudgeDependencies["store"] & TryStore;
  readonly listStore: ListStore;
  readonly currentRules: () => RuleSource;
  /** `builtIn`: countries of networks before an operator has loaded a file, for staging. */
  readonly countries: Pick<IpCountryFile, "file" | "builtIn">;
  /** Different cards with the same digits in a day; zero is no limit. */
  readonly cardGuessesMax: number;
  readonly log: (event: `screening.${Event}`, facts: object) => void;
};

type Event =
  | "lists_reload_failed"
  | "country_file_unusable"
  | "rule_unusable"
  | "undo_failed"
  | "guesses_blocked";

export type Screening = Awaited<ReturnType<typeof openScreening>>;

export async function openScreening(options: Options) {
  const { store, digestSubject, log } = options;
  const { lists, reload: reloadLists } = await openLists(options.listStore, (error) =>
    log("screening.lists_reload_failed", { err: error }),
  );
  const countries = await openIpCountries({
    ...options.countries,
    onError: (error) => log("screening.country_file_unusable", { err: error }),
  });
  const judge = makeJudgePayment({
    ...options,
    lists,
    findRuleSet: makeFindRuleSet(options.currentRules, ({ id, kind }, cause) =>
      log("screening.rule_unusable", { rule: id, kind, cause }),
    ),
    findIpCountry: countries.find,
    onUndoFailed: ({ id, merchantId }, error) =>
      log("screening.undo_failed", { order: id, merchant: merchantId, err: error }),
  });
  const onReached = ({ id, merchantId, card: { bin, lastFour } }: Order) =>
    log("screening.guesses_blocked", {
      order: id,
      merchant: merchantId,
      digits: `${bin}****${lastFour}`,
    });
  return {
    ...blockGuesses({ max: options.cardGuessesMax, store, digestSubject, onReached }, judge),
    countEntries: () => lists.size,
    /** Never rejects. */
    reload: () => Promise.all([reloadLists(), countries.reload()]),
  };
}

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
 * Blocks the search for a card number whose BIN and last four digits are known (decision 0078):
 * six digits are left, and one of them follows from the check digit. The different cards of a
 * merchant with the same BIN and last four are counted for a day; beyond the limit all of them are
 * blocked, also cards that were known before: a card that passed would be the one searched for.
 *
 * Also a request that turns out to be a repeat is counted: the same card counts once. `isGuess` is
 * for a repeat that is looked for without a payment.
 */
function blockGuesses(
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
