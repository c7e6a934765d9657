/** Keeps refused requests for the portal: what may be shown of them, in the merchant's cell. */
import { signedUrlsOf } from "../config/config.ts";
import { makeSummary } from "../http/rate-limit.ts";
import { describeRefused } from "../merchant-api/describe-refused.ts";
import { makeRefusedRequests, type RefusedBatch } from "../merchant-api/refused-requests.ts";
import type { EntryPoint } from "../orders/merchant.ts";
import type { LiveConfiguration } from "../storage/configuration/configuration.ts";
import { deleteOldRefused, keepRefused } from "../storage/portal/refused-requests.ts";
import { hours, later } from "../values/time.ts";
import type { Resources } from "./resources.ts";

const deleteEveryMs = hours(1);
const droppedEveryMs = 60_000;
/** Keys of other merchants that a wrong checksum is tried with. */
const otherKeysMax = 500;

export type RefusedJob = ReturnType<typeof makeRefusedJob>;

type Dependencies = Resources & { readonly configuration: LiveConfiguration };

export function makeRefusedJob({
  cells,
  clock,
  config,
  log,
  metrics,
  configuration,
}: Dependencies) {
  const { refusedRequestsMax: countMax, refusedRequestsKeepDays: keepDays } = config;
  const queries = cells.stores(({ node }) => node.query);
  const summary = makeSummary(clock, droppedEveryMs, (_, count) =>
    log("request.refusals_dropped", { count }),
  );
  const refused = makeRefusedRequests({
    clock,
    write,
    describe: (each) => describeRefused(each, { idsOf, otherKeys, baseUrlOf }),
    onDropped() {
      metrics.refusalsDropped.inc();
      summary.add("");
    },
    onFailed: (serial, error) => log("request.refusal_undescribed", { serial, err: error }),
  });
  const baseUrlOf = (port: number) => signedUrlsOf(config, port)[0] ?? "";
  let deletedAt = 0;
  return {
    idsOf,
    keep: countMax === 0 ? () => undefined : refused.keep,
    flush: refused.flush,
    async run(): Promise<void> {
      await refused.flush();
      const now = clock.now();
      if (now - deletedAt < deleteEveryMs) return;
      deletedAt = now;
      const before = later(now, -hours(24 * keepDays));
      await queries.each((query) => deleteOldRefused(query, before));
    },
  };

  async function write({ rows, dropped }: RefusedBatch): Promise<void> {
    const merchants = [...rows.map(({ merchantId }) => merchantId), ...dropped.keys()];
    const options = { countMax, now: clock.now() };
    const inCells = Map.groupBy(new Set(merchants), (merchant) => cells.cellOf(merchant));
    const written = [...inCells].map(([cell, own]) => {
      const batch = {
        rows: rows.filter(({ merchantId }) => own.includes(merchantId)),
        dropped: new Map([...dropped].filter(([merchant]) => own.includes(merchant))),
      };
      return keepRefused(queries.of(cell), batch, options);
    });
    await Promise.all(written);
  }

  /** Of the merchant's other endpoints and groups. */
  function idsOf({ id, merchant }: EntryPoint): readonly string[] {
    const { endpoints, groups } = configuration.current();
    const all = [...groups, ...endpoints.values()];
    const own = all.filter((each) => each.merchant.id === merchant.id && each.id !== id);
    return own.map((each) => each.id);
  }

  function otherKeys({ merchant }: EntryPoint) {
    const { merchants } = configuration.current();
    const others = merchants.filter(({ id }) => id !== merchant.id);
    return others.slice(0, otherKeysMax).map(({ controlKey }) => controlKey);
  }
}
