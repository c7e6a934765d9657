/** Builds what keeps refused requests for the portal: what may be shown of them. */
import { signedUrlsOf } from "../config/config.ts";
import { makeSummary } from "../http/rate-limit.ts";
import { otherIdsOf, otherKeysOf } from "../merchant-api/checksum-debugger.ts";
import { describeRefused } from "../merchant-api/describe-refused.ts";
import { makeRefusedRequests, type RefusedRequests } from "../merchant-api/refused-requests.ts";
import type { LiveConfiguration } from "../storage/configuration/configuration.ts";
import type { RefusedStore } from "../storage/portal/refused-requests.ts";
import type { Resources } from "./resources.ts";

type Parts = {
  readonly configuration: Pick<LiveConfiguration, "current">;
  readonly store: RefusedStore;
};

export function keepRefusedRequests(
  { config, clock, log, metrics }: Resources,
  { configuration: { current }, store }: Parts,
): RefusedRequests {
  const summary = makeSummary(clock, (_, count) => log("request.refusals_dropped", { count }));
  return makeRefusedRequests({
    clock,
    store,
    keepsAny: config.refusedRequestsMax > 0,
    keepDays: config.refusedRequestsKeepDays,
    describe: (refused) =>
      describeRefused(refused, {
        idsOf: (entryPoint) => otherIdsOf(current(), entryPoint),
        otherKeys: (entryPoint) => otherKeysOf(current(), entryPoint),
        baseUrlOf: (port) => signedUrlsOf(config, port)[0] ?? "",
      }),
    onDropped() {
      metrics.refusalsDropped.inc();
      summary.add("");
    },
    onFailed: (serial, error) => log("request.refusal_undescribed", { serial, err: error }),
  });
}
