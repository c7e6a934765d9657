/** Builds the link behind each gate. */
import type { StartAcquirer } from "../acquirers/gates.ts";
import { dialects, makeIso8583Acquirer } from "../acquirers/iso8583-host/connector.ts";
import type { Config } from "../config/config.ts";
import type { LateApprovals } from "../engine/late-approvals.ts";
import type { Log } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics.ts";
import type { Clock } from "../values/time.ts";

type Dependencies = {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly lateApprovals: LateApprovals;
};

export function makeStartAcquirer({
  config,
  clock,
  log,
  metrics,
  lateApprovals,
}: Dependencies): StartAcquirer {
  return ({ name, kind, settings }) =>
    makeIso8583Acquirer({
      dialect: dialects[kind],
      settings,
      clock,
      answerTimeoutMs: config.answerTimeoutMs,
      limits: { echoAfterMs: config.echoAfterMs, drainMs: config.drainMs },
      log: (event, facts) => log(event, { gate: name, ...facts }),
      onLateApproval: (approval) => {
        const { reference } = approval;
        log("acquirer.late_approval", { gate: name, reference });
        lateApprovals
          .report(approval)
          .catch((error) => log("acquirer.late_approval_lost", { err: error, reference }));
      },
      observe: {
        answered: (mti, answerMs) => metrics.acquirerMs.observe({ gate: name, mti }, answerMs),
      },
    });
}
