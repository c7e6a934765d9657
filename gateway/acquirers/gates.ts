/**
 * The links behind the gates: one acquirer per gate, started when the gate appears in the
 * configuration, replaced when its settings change, stopped when it is gone.
 */
import { isDeepStrictEqual } from "node:util";
import type { GateId } from "../values/ids.ts";
import type { Acquirer } from "./acquirer.ts";
import type { Gate } from "./gate.ts";

export type RunningAcquirer = Acquirer & { stop(): Promise<void> };
export type StartAcquirer = (gate: Gate) => RunningAcquirer;

export type Gates = {
  find(id: GateId): Acquirer | undefined;
  update(gates: Iterable<Gate>): void;
  stop(): Promise<void>;
};

export function makeGates(start: StartAcquirer): Gates {
  const running = new Map<GateId, { readonly gate: Gate; readonly acquirer: RunningAcquirer }>();
  const stopping = new Set<Promise<void>>();

  return {
    find: (id) => running.get(id)?.acquirer,
    update(gates) {
      const wanted = new Map([...gates].map((gate) => [gate.id, gate]));
      for (const [id, { gate }] of running) {
        if (!isDeepStrictEqual(gate, wanted.get(id))) stopOne(id);
      }
      for (const [id, gate] of wanted) {
        if (!running.has(id)) running.set(id, { gate, acquirer: start(gate) });
      }
    },
    async stop() {
      for (const id of [...running.keys()]) stopOne(id);
      await Promise.all(stopping);
    },
  };

  function stopOne(id: GateId): void {
    const stopped = running.get(id)?.acquirer.stop();
    running.delete(id);
    if (stopped === undefined) return;
    stopping.add(stopped);
    void stopped.finally(() => stopping.delete(stopped));
  }
}
