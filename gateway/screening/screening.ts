/**
 * Builds the screening of a node: lists, countries of IP addresses, rules, and the limit on
 * attempts to guess a card number.
 */
import type { Finding, Order } from "../orders/order.ts";
import { hours, type Instant, later } from "../values/time.ts";
import { type IpCountryFile, openIpCountries } from "./ip-countries.ts";
import {
  type JudgeDependencies,
  makeJudgeApproval,
  makeJudgePayment,
  type Screened,
  uuidOf,
} from "./judge.ts";
import { type ListStore, openLists } from "./lists.ts";
import type { TryStore } from "./page-tries.ts";
import type { Seen, Tally } from "./rule.ts";
import { makeFindRuleSet, type RuleSource } from "./rule-set.ts";

type Options = Pick<JudgeDependencies, "digestSubject" | "countingKey"> & {
  readonly store: JudgeDependencies["store"] & TryStore;
  readonly listStore: ListStore;
  readonly currentRules: () => RuleSource;
  /** In staging, `builtIn` has countries for the networks of test addresses. */
  readonly countries: Pick<IpCountryFile, "file" | "builtIn">;
  /** How many cards a day may have the same BIN and last four digits. Zero means no limit. */
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
  const using = {
    findRuleSet: makeFindRuleSet(options.currentRules, ({ id, kind }, cause) =>
      log("screening.rule_unusable", { rule: id, kind, cause }),
    ),
    findIpCountry: countries.find,
  };
  const judge = makeJudgePayment({
    ...options,
    ...using,
    lists,
    onUndoFailed: ({ id, merchantId }, error) =>
      log("screening.undo_failed", { order: id, merchant: merchantId, err: error }),
  });
  const onReached = ({ id, merchantId, card: { bin, lastFour } }: GuessedCard) =>
    log("screening.guesses_blocked", {
      order: id,
      merchant: merchantId,
      digits: `${bin}****${lastFour}`,
    });
  return {
    ...blockGuesses({ max: options.cardGuessesMax, store, digestSubject, onReached }, judge),
    judgeApproval: makeJudgeApproval(using),
    countEntries: () => lists.size,
    /** Reads the lists and the file of countries again. Never rejects. */
    reload: () => Promise.all([reloadLists(), countries.reload()]),
  };
}

type Judge = ReturnType<typeof makeJudgePayment>;

type Dependencies = {
  readonly max: number;
  readonly store: Pick<TryStore, "add" | "look">;
  readonly digestSubject: (text: string) => Buffer;
  /** Called at the limit: the next card with this BIN and these last four digits is blocked. */
  readonly onReached: (guessed: GuessedCard) => void;
};

/** The facts by which a card is counted: those of an order, or of a card registered without one. */
type GuessedCard = Pick<Order, "merchantId" | "id" | "acceptedAt"> & {
  readonly card: Pick<Order["card"], "bin" | "lastFour" | "hashId">;
  readonly transaction: Pick<Order["transaction"], "amount">;
};

const windowMs = hours(24);
const noUndo = async () => undefined;

/**
 * Stops attempts to guess a card number whose BIN and last four digits are known (decision 0078):
 * five of its six unknown digits are left to guess, because the check digit gives one. For each
 * merchant, BIN and last four digits, the different cards of a day are counted. Above the limit,
 * all payments with these digits are blocked, even of cards with earlier payments, because
 * otherwise only the searched card would not be blocked. A repeat of a request is counted too.
 * `isGuess` counts a card without judging a payment: that of a possible repeat, or of a new
 * recurring payment profile.
 */
function blockGuesses(
  { max, store, digestSubject, onReached }: Dependencies,
  judge: Judge,
): { readonly judgePayment: Judge; readonly isGuess: (guessed: GuessedCard) => Promise<boolean> } {
  if (max === 0) return { judgePayment: judge, isGuess: async () => false };
  const isAlone = makeIsAlone();

  return {
    judgePayment(order, digestsOf) {
      // A card number can only be a guess if the request contains it: that of a registered card is
      // in the vault.
      const isBrought = order.card.hashId !== "" && order.purchase.credential === undefined;
      if (!isBrought || isAlone(order)) return judge(order, digestsOf);
      return isBeyond(order).then(async (isBlocked): Promise<Screened> => {
        if (isBlocked) return { findings: [findingOf(max)], undo: noUndo, isGuess: true };
        return (await judge(order, digestsOf)) ?? { findings: [], undo: noUndo };
      });
    },
    isGuess: async (guessed) => !isAlone(guessed) && isBeyond(guessed),
  };

  /**
   * Returns whether the day's limit of different cards with the same BIN and last four digits is
   * reached. No card is stored above the limit, known or new, so that the response takes equally
   * long for both.
   */
  async function isBeyond(guessed: GuessedCard): Promise<boolean> {
    const { merchantId, id: orderId, acceptedAt: at, transaction, card: facts } = guessed;
    const key = uuidOf(digestSubject(`guesses\n${nameOf(guessed)}`).toString("hex", 0, 16));
    const rows = [{ owner: merchantId, key, keepUntil: later(at, windowMs) }];
    const card = BigInt(facts.hashId).toString(16).padStart(16, "0");
    const known = cardsIn(await store.look(merchantId, rows), at);
    if (known.size >= max || known.has(card)) return known.size >= max;
    const { minor, currency } = transaction.amount;
    const seen: Seen = { orderId, at, minor, currency: currency.code, card };
    const request = Buffer.from(card, "hex");
    const before = cardsIn(await store.add({ merchantId, seen, request, rows }), at);
    if (before.size === max - 1) onReached(guessed);
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

function nameOf({ merchantId, card: { bin, lastFour } }: GuessedCard): string {
  return `${merchantId}\n${bin}${lastFour}`;
}

const slotsMax = 2 ** 20;
const several = 0xffff;

/**
 * Returns a function that tells whether a card is certainly the only one with its BIN and last four
 * digits, as most are. To save queries, this process remembers one card in each slot of a table,
 * and the database counts only a card that meets another one in its slot. Two cards that share a
 * slot by chance cost one query and are not blocked.
 */
function makeIsAlone(): (guessed: GuessedCard) => boolean {
  const slots = new Uint16Array(slotsMax);
  let since = 0;
  return (guessed) => {
    if (guessed.acceptedAt - since > windowMs) {
      since = guessed.acceptedAt;
      slots.fill(0);
    }
    let slot = 0;
    for (const letter of nameOf(guessed)) slot = Math.imul(slot + letter.charCodeAt(0), 0x01000193);
    slot = (slot ^ (slot >>> 15)) & (slotsMax - 1);
    const tag = 1 + Number(guessed.card.hashId.slice(-4));
    const known = slots[slot];
    slots[slot] = known === 0 || known === tag ? tag : several;
    return slots[slot] === tag;
  };
}
