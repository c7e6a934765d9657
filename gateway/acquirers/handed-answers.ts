/**
 * Passes answers between processes, because a host may answer over another process's connection.
 * All processes get the answer, and the one that waits takes it. It is sent twice, because a
 * process without its database connection misses everything. It may contain a card number, so it is
 * sealed. If it is lost both times, the charge is in doubt.
 */
import { asGateId, type GateId } from "../values/ids.ts";
import { Secret } from "../values/secret.ts";
import type { Clock } from "../values/time.ts";
import type { Gates } from "./gates.ts";

/** Longer than a process takes to notice the loss of its database connection. */
const againAfterMs = 5_000;

export type HandedAnswers = ReturnType<typeof makeHandedAnswers>;

type Dependencies = {
  readonly gates: Pick<Gates, "find">;
  readonly clock: Pick<Clock, "now">;
  /** Sends a text to all processes. */
  readonly send: (text: string) => Promise<void>;
  readonly sealSecret: (answer: Secret<string>, context: string) => Uint8Array;
  readonly openSecret: (sealed: Uint8Array, context: string) => Secret<string>;
  readonly onFailure: (error: unknown) => void;
};

export function makeHandedAnswers(dependencies: Dependencies) {
  const { gates, clock, send, sealSecret, openSecret, onFailure } = dependencies;
  return {
    handOver(gate: GateId, answer: string): void {
      const sealed = sealSecret(new Secret(answer), contextOf(gate));
      const text = `${gate} ${Buffer.from(sealed).toString("base64")} ${clock.now()}`;
      send(text).catch(onFailure);
      setTimeout(() => void send(text).catch(onFailure), againAfterMs).unref();
    },
    receive(text: string): void {
      const [gate = "", sealed = "", receivedAt = "0"] = text.split(" ");
      const acquirer = gates.find(asGateId(gate));
      if (acquirer === undefined) return;
      try {
        const opened = openSecret(Buffer.from(sealed, "base64"), contextOf(gate));
        acquirer.takeAnswer(opened.reveal(), Number(receivedAt));
      } catch (error) {
        onFailure(error);
      }
    },
  };
}

const contextOf = (gate: string) => `answer of gate ${gate}`;
