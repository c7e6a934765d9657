/** Connections of a gate: how many are up, and two lines to its host that a test can cut. */
import { atEnd, type Test } from "../clean-up.ts";
import { readReadiness } from "../readiness.ts";
import { until } from "../until.ts";
import type { World } from "../world.ts";
import { startTrapProxy, type TrapProxy } from "./trap-proxy.ts";

export type GateAt = { readonly name: string; readonly host: string; readonly port: number };

/** Returns the gate of an endpoint that has only one. */
export async function gateOf(world: World, through: string): Promise<GateAt> {
  const [gate] = await world.readRows<GateAt>(
    `select name, settings->>'host' as host, (settings->>'port')::int as port
     from gates join endpoint_gates on gate_id = gates.id where endpoint_id = $1`,
    [world.set.endpoints[through]],
  );
  if (gate === undefined) throw new Error(`the endpoint ${through} has no gate`);
  return gate;
}

/** Returns the connections as `/health/ready` reports them, like `1 of 2`. */
export async function connectionsOf(world: World, gate: string): Promise<string> {
  const { links } = await readReadiness(world.gateway.url);
  return links[gate] ?? "none";
}

/** Waits until the gate has these connections. The clock moves only as `meanwhile` says. */
export function untilConnections(
  world: World,
  gate: string,
  wanted: string,
  meanwhile: () => void = () => undefined,
): Promise<true> {
  return until(`${gate} has ${wanted} connections`, async () => {
    if ((await connectionsOf(world, gate)) === wanted) return true;
    meanwhile();
    return undefined;
  });
}

export type TwoLines = { readonly gate: GateAt; readonly lines: readonly [TrapProxy, TrapProxy] };

/** Gives the gate a connection over each of two lines, and waits until both are up. */
export async function startTwoLines(t: Test, world: World, through: string): Promise<TwoLines> {
  const gate = await gateOf(world, through);
  const target = { host: gate.host, port: gate.port };
  const lines = [await startTrapProxy(target), await startTrapProxy(target)] as const;
  const [first, second] = lines;
  atEnd(t, () => Promise.all([first.close(), second.close()]));
  const otherAddresses = [{ host: "127.0.0.1", port: second.port }];
  await world.changeGate(gate.name, { host: "127.0.0.1", port: first.port, otherAddresses });
  await untilConnections(world, gate.name, "2 of 2");
  return { gate, lines };
}

/** Counts how often the gateway has signed on, over all gates. */
export function countSignOns({ logged }: World): number {
  return logged.filter((line) => line.includes('"acquirer.link_up"')).length;
}
