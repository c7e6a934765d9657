/** Screening of a node: its lists and countries of addresses, and the judge of its payments. */
import { makeObserveOrders } from "../observability/observe.ts";
import type { Order } from "../orders/order.ts";
import { blockGuesses } from "../screening/guesses.ts";
import { openIpCountries } from "../screening/ip-countries.ts";
import { makeJudgePayment } from "../screening/judge.ts";
import { openLists } from "../screening/lists.ts";
import { makeFindRuleSet } from "../screening/rule-set.ts";
import { routeTallies } from "../storage/cells/routed-stores.ts";
import { makeListStore } from "../storage/screening/screening-lists.ts";
import type { Resources } from "./resources.ts";

export type Screening = Awaited<ReturnType<typeof openScreening>>;

/** `networks` have countries before an operator has loaded a file: for staging. */
export async function openScreening(
  resources: Resources,
  networks: readonly (readonly [network: string, country: string])[] = [],
) {
  const { cells, config, configuration, database, log, metrics, vault } = resources;
  const { lists, reload: reloadLists } = await openLists(makeListStore(database), (error) =>
    log("screening.lists_reload_failed", { err: error }),
  );
  const countries = await openIpCountries({
    file: config.ipCountryFile,
    builtIn: networks,
    onError: (error) => log("screening.country_file_unusable", { err: error }),
  });
  const findRuleSet = makeFindRuleSet(configuration.current, ({ id, kind }, cause) =>
    log("screening.rule_unusable", { rule: id, kind, cause }),
  );
  const onBatch = makeObserveOrders(log, metrics).onBatch("screen");
  const { digestSubject, countingKey } = vault;
  const store = routeTallies(cells, { onBatch, retryMs: config.acceptRetryMs });
  const judge = makeJudgePayment({
    findRuleSet,
    store,
    lists,
    findIpCountry: countries.find,
    digestSubject,
    countingKey,
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
    ...blockGuesses({ max: config.cardGuessesMax, store, digestSubject, onReached }, judge),
    countEntries: () => lists.size,
    /** Never rejects. */
    reload: () => Promise.all([reloadLists(), countries.reload()]),
  };
}
