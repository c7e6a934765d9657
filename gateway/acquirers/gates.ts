/**
 * The links behind the gates: one acquirer per gate, started when the gate appears in the
 * configuration, replaced when its settings change, stopped when it is gone.
 */
import { isDeepStrictEqual } from "node:util";
import type { CredentialDefaults } from "../orders/order.ts";
import type { GateId } from "../values/ids.ts";
import type { Fee } from "../values/money.ts";
import type { Acquirer } from "./acquirer.ts";

export type RunningAcquirer = Acquirer & { stop(): Promise<void> };
export type StartAcquirer = (gate: Gate) => RunningAcquirer;

export type Gates = ReturnType<typeof makeGates>;

export function makeGates() {
  const running = new Map<GateId, { readonly gate: Gate; readonly acquirer: RunningAcquirer }>();
  const stopping = new Set<Promise<void>>();
  let start: StartAcquirer | undefined;

  return {
    find: (id: GateId): Acquirer | undefined => running.get(id)?.acquirer,
    isReady: (id: GateId) => running.get(id)?.acquirer.isReady() === true,
    /** From now on links are started. */
    open(opened: StartAcquirer): void {
      start = opened;
    },
    update(gates: Iterable<Gate>): void {
      if (start === undefined) return;
      const wanted = new Map([...gates].map((gate) => [gate.id, gate]));
      for (const [id, { gate }] of running) {
        if (!isDeepStrictEqual(gate, wanted.get(id))) stopOne(id);
      }
      for (const [id, gate] of wanted) {
        if (!running.has(id)) running.set(id, { gate, acquirer: start(gate) });
      }
    },
    async stop(): Promise<void> {
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

/** The settings of one way to an acquirer, as the operator keeps them in the database. */
export type Gate = {
  readonly id: GateId;
  readonly name: string;
  readonly kind: GateKind;
  readonly settings: GateSettings;
};

/** Which dialect the host behind the gate speaks; each is a table of its own. */
export const gateKinds = ["sandbox", "iso87_binary"] as const;
export type GateKind = (typeof gateKinds)[number];

export type GateSettings = {
  readonly host: string;
  readonly port: number;
  /** Fields 41, 42, 43, 18, 19 and 32 of every message. */
  readonly terminalId: string;
  readonly merchantCode: string;
  readonly nameAndPlace: string;
  readonly categoryCode: string;
  readonly countryCode: string;
  readonly acquirerId: string;
  readonly descriptor: string;
  /** The terminal's time zone, an IANA name; UTC when absent. */
  readonly zone?: string;
  readonly worksWithoutCvv: boolean;
  readonly partialReversal: boolean;
  readonly partialCapture: boolean;
  /** Leads to a sandbox bank; production refuses it. */
  readonly sandbox?: boolean;
  /** What the gate takes: every currency when absent. */
  readonly currencies?: readonly string[];
  /** In minor units, as text; an amount outside them goes through another gate. */
  readonly amountMin?: string;
  readonly amountMax?: string;
  /** For recurrent payments that do not say it themselves. */
  readonly recurrent?: CredentialDefaults;
  /** What the acquirer keeps. */
  readonly fee?: Fee;
};
