/** Asks a gate's host for its next key over a connection that the command opens for itself. */
import { Problem } from "../../values/problem.ts";
import type { Clock } from "../../values/time.ts";
import type { Gate, GateKind, StoreKey } from "../gates.ts";
import { dialects } from "./connector.ts";
import { askForKey, makeKeyExchange } from "./key-exchange.ts";
import { openOwnLink } from "./own-link.ts";

type Options = {
  readonly storeKey: StoreKey;
  readonly clock: Clock;
  readonly answerTimeoutMs: number;
};

export async function exchangeOverOwnLink(
  gate: Gate,
  { storeKey, clock, answerTimeoutMs }: Options,
): Promise<"delivered" | "asked" | Problem> {
  const wire = dialects[gate.kind];
  const { promise: delivered, resolve } = Promise.withResolvers<"delivered" | "asked">();
  const exchange = makeKeyExchange({
    wire,
    zoneKey: () => gate.zoneKey,
    async storeKey(key) {
      const stored = await storeKey(key);
      // The host is answered before the connection is closed.
      if (stored !== "replayed") clock.after(answeredAfterMs, () => resolve("delivered"));
      return stored;
    },
    // What is wrong is the command's own result.
    log: () => undefined,
  });
  let cancel = () => {};
  const { links, opened } = openOwnLink(gate, clock, exchange.answer);
  try {
    const problem = await opened;
    if (problem instanceof Problem) return problem;
    const { zone } = gate.settings;
    const asked = await askForKey({ wire, links, exchange, clock, zone, answerTimeoutMs });
    if (asked !== "asked") return asked;
    cancel = clock.after(answerTimeoutMs, () => resolve("asked"));
    return await delivered;
  } finally {
    cancel();
    await links.close();
  }
}

const answeredAfterMs = 100;

export function hasKeyExchange(kind: GateKind): boolean {
  return dialects[kind].keyExchange !== undefined;
}
