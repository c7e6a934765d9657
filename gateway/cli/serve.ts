/**
 * `gw serve`: one node, edges and work together, until it is told to stop. Logs go to standard
 * output. More nodes are more of these on the same database.
 */
import { makeLog, openLogFile } from "../log/log.ts";
import { startGateway } from "../main.ts";
import { StartProblem } from "../storage/embedded.ts";
import { complain, openHouse } from "./house.ts";
import { refuseInProduction } from "./production.ts";
import { untilToldToStop } from "./signals.ts";
import { explainListening } from "./start-problems.ts";
import { makeWelcome } from "./welcome.ts";

export async function serve(): Promise<void> {
  const report = (progress: string) => process.stderr.write(`${progress}\n`);
  const house = await openHouse({ environment: process.env, report, besideOthers: false });
  if (house instanceof StartProblem) return complain(house);

  const destination = openLogFile(1);
  const log = makeLog(house.config.logLevel, destination);
  try {
    const refused = await refuseInProduction(house);
    if (refused !== undefined) return complain(refused);
    const gateway = await startGateway({ ...house, log, welcome: makeWelcome(house) });
    process.send?.({ listening: gateway.port });
    report(`Listening on ${gateway.url} as ${gateway.node}`);
    await untilToldToStop();
    await gateway.stop();
  } catch (error) {
    complain(explainListening(error, house.config));
  } finally {
    await house.close();
    destination.flushSync();
  }
  process.disconnect?.();
}
