/**
 * `gw serve`: one node, edges and work together, until it is told to stop. Logs go to standard
 * output. More nodes are more of these on the same database.
 */

import { startGateway } from "../main.ts";
import { makeLog, openLogFile } from "../observability/log.ts";
import { makeWelcome } from "../staging/welcome-facts-source.ts";
import { Problem } from "../values/problem.ts";
import { complain, openInstallation } from "./installation.ts";
import { refuseInProduction } from "./production.ts";
import { untilToldToStop } from "./signals.ts";
import { explainListening } from "./start-problems.ts";

export async function serve(): Promise<void> {
  const report = (progress: string) => process.stderr.write(`${progress}\n`);
  const installation = await openInstallation({
    environment: process.env,
    report,
    besideOthers: false,
  });
  if (installation instanceof Problem) return complain(installation);

  const destination = openLogFile(1);
  const log = makeLog(installation.config.logLevel, destination);
  try {
    const refused = await refuseInProduction(installation);
    if (refused !== undefined) return complain(refused);
    const gateway = await startGateway({
      ...installation,
      log,
      welcome: makeWelcome(installation),
    });
    process.send?.({ listening: gateway.port });
    report(`Listening on ${gateway.url} as ${gateway.node}`);
    await untilToldToStop();
    await gateway.stop();
  } catch (error) {
    complain(explainListening(error, installation.config));
  } finally {
    await installation.close();
    destination.flushSync();
  }
  process.disconnect?.();
}
