/** Screening of a node: its lists and countries of addresses, and the judge of its payments. */
import type { Order } from "../orders/order.ts";
import { blockGuesses } from "./guesses.ts";
import { type IpCountryFile, openIpCountries } from "./ip-countries.ts";
import { type JudgeDependencies, makeJudgePayment } from "./judge.ts";
import { type ListStore, openLists } from "./lists.ts";
import type { TryStore } from "./page-tries.ts";
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
