/** Starts what a run needs: its own parts once, and the processes of each measured gateway. */
import { join } from "node:path";
import { Client } from "pg";
import type { BaselineJobs } from "./baselines.ts";
import { type Launch, startMeasured } from "./gateway.ts";
import type { LoadJobs } from "./load.ts";
import { type Part, startPart } from "./parts.ts";
import type { Plan } from "./plan.ts";
import { findOrdersDue, type Setup } from "./setup.ts";

/** Two gateways that are compared are measured by the same generators and the same bare route. */
export type Parts = Pick<Setup, "load" | "otherLoad" | "routePort" | "receiverPort"> & {
  readonly route: Part<BaselineJobs>;
};

export async function startParts(stack: AsyncDisposableStack): Promise<Parts> {
  const route = startPart<BaselineJobs>("baselines.ts", stack);
  const receiver = startPart<BaselineJobs>("baselines.ts", stack);
  const [{ port: routePort }, { port: receiverPort }] = [
    await route.ask("listenRoute", undefined),
    await receiver.ask("listenReceiver", undefined),
  ];
  const load = startPart<LoadJobs>("load.ts", stack);
  return { route, routePort, receiverPort, load, otherLoad: startPart("load.ts", stack) };
}

export async function startGateway(
  { folder, launch, plan }: { folder: string; launch: Launch; plan: Plan },
  { route, ...parts }: Parts,
  stack: AsyncDisposableStack,
): Promise<Setup> {
  const gateway = await startMeasured(join(folder, "gateway"), { stack, launch });
  const database = new Client({ connectionString: gateway.databaseUrl });
  // The connection is lost only when the gateway ends, and the next query reports it.
  database.on("error", () => undefined);
  await database.connect();
  stack.defer(() => database.end());
  return {
    ...parts,
    plan,
    gateway,
    database,
    ordersDue: await findOrdersDue(database),
    processes: { ...gateway.processes, load: parts.load.pid, route: route.pid },
    inserts: startPart<BaselineJobs>("baselines.ts", stack),
    acknowledged: [],
    authenticated: [],
  };
}
