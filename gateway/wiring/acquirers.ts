/** The links behind the gates, wired together. Part of what `main.ts` wires. */
import type { StartAcquirer } from "../acquirers/gates.ts";
import { makeIso8583Acquirer } from "../acquirers/iso8583-host/connector.ts";
import { dialects } from "../acquirers/iso8583-host/dialects/dialects.ts";
import type { Config } from "../config/config.ts";
import type { Log } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics.ts";
import type { LateApproval } from "../orders/order.ts";
import type { Clock } from "../values/time.ts";

type Dependencies = {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Where approvals for which nobody waits any more are reported. */
  readonly late: () => { report(approval: LateApproval): Promise<unknown> };
};

export function makeStartAcquirer({
  config,
  clock,
  log,
  metrics,
  late,
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
        late()
          .report(approval)
          .catch((error) => log("acquirer.late_approval_lost", { err: error, reference }));
      },
      observe: {
        answered: (mti, answerMs) => metrics.acquirerMs.observe({ gate: name, mti }, answerMs),
      },
    });
}
