/** The sandbox bank as a program, which a test can kill and start again at the same addresses. */
import assert from "node:assert/strict";
import { atEnd, type Test } from "../clean-up.ts";
import type { BankPlace } from "../installation.ts";
import { type Program, startProgram } from "../programs.ts";
import { until } from "../until.ts";

export type BankProgram = BankPlace & {
  kill(): Promise<void>;
  /** A stopped bank keeps its connections and answers nothing until it continues. */
  signal(name: "SIGSTOP" | "SIGCONT"): void;
  /** Starts the bank again with the same ports and books. */
  startAgain(): Promise<void>;
};

const saysReady = /^\{"bank":"ready",.*\}$/m;

export async function startBankProgram(t: Test, dataDir: string): Promise<BankProgram> {
  let program = start(portsOfBank());
  atEnd(t, () => program.kill());
  const place = await untilReady(program);
  return {
    ...place,
    kill: () => program.kill(),
    signal: (name) => void program.child.kill(name),
    async startAgain() {
      program = start(portsOfBank(place));
      await untilReady(program);
    },
  };

  function start(settings: Readonly<Record<string, string>>): Program {
    return startProgram(["sandbox-bank/main.ts"], { GW_DATA_DIR: dataDir, ...settings });
  }
}

/** Returns the settings of the ports: those of a bank that ran before, or any free ones. */
export function portsOfBank(place?: BankPlace) {
  const portOf = (address = "tcp://any:0") => new URL(address).port;
  return {
    GW_BANK_PORT: portOf(place?.url),
    GW_BANK_HOST_PORT: portOf(place && `tcp://${place.hostAddress}`),
    GW_BANK_BINARY_HOST_PORT: portOf(place && `tcp://${place.binaryHostAddress}`),
    GW_BANK_ISO93_HOST_PORT: portOf(place && `tcp://${place.iso93HostAddress}`),
    GW_BANK_DIRECTORY_PORT: portOf(place?.directoryUrl),
  };
}

/** Sets the bank's latency, so that orders are in flight at every moment. */
export async function setLatency(bankUrl: string, latencyMedianMs: number): Promise<void> {
  const answer = await fetch(`${bankUrl}/switches`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ latencyMedianMs }),
  });
  assert.ok(answer.ok, `the bank refused its switches: ${answer.status}`);
}

async function untilReady(program: Program): Promise<BankPlace> {
  return until("the bank is ready", () => {
    if (!program.isRunning) throw new Error(`The bank did not start:\n${program.output}`);
    const [line] = saysReady.exec(program.output) ?? [];
    if (line === undefined) return undefined;
    const { url, host, binaryHost, iso93Host, directory } = JSON.parse(line);
    return {
      url: String(url),
      hostAddress: String(host),
      binaryHostAddress: String(binaryHost),
      iso93HostAddress: String(iso93Host),
      directoryUrl: String(directory),
    };
  });
}
