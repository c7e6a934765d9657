/** The sandbox bank as a process that can be killed and come back at the same address. */
import assert from "node:assert/strict";
import { type Program, startProgram } from "./program.ts";
import { until } from "./until.ts";
import type { Test } from "./world.ts";

export type BankProgram = {
  readonly url: string;
  readonly hostAddress: string;
  readonly binaryHostAddress: string;
  readonly directoryUrl: string;
  kill(): Promise<void>;
  /** On the same ports and books as before. */
  startAgain(): Promise<void>;
};

const saysReady =
  /^\{"bank":"ready","url":"([^"]+)","host":"([^"]+)","binaryHost":"([^"]+)","directory":"([^"]+)"\}$/m;

export async function startBankProgram(t: Test, dataDir: string): Promise<BankProgram> {
  let program = start({
    GW_BANK_PORT: "0",
    GW_BANK_HOST_PORT: "0",
    GW_BANK_BINARY_HOST_PORT: "0",
    GW_BANK_DIRECTORY_PORT: "0",
  });
  t.after(() => program.kill());
  const { url, hostAddress, binaryHostAddress, directoryUrl } = await untilReady(program);
  const ports = {
    GW_BANK_PORT: portOf(url),
    GW_BANK_HOST_PORT: portOf(`tcp://${hostAddress}`),
    GW_BANK_BINARY_HOST_PORT: portOf(`tcp://${binaryHostAddress}`),
    GW_BANK_DIRECTORY_PORT: portOf(directoryUrl),
  };
  return {
    ...{ url, hostAddress, binaryHostAddress, directoryUrl },
    kill: () => program.kill(),
    async startAgain() {
      program = start(ports);
      await untilReady(program);
    },
  };

  function start(settings: Readonly<Record<string, string>>): Program {
    return startProgram(["sandbox-bank/main.ts"], { GW_DATA_DIR: dataDir, ...settings });
  }
}

/** So that orders are in flight at every moment. */
export async function setLatency(bankUrl: string, latencyMedianMs: number): Promise<void> {
  const answer = await fetch(`${bankUrl}/switches`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ latencyMedianMs }),
  });
  assert.ok(answer.ok, `the bank refused its switches: ${answer.status}`);
}

async function untilReady(program: Program) {
  return until("the bank is ready", () => {
    if (!program.isRunning) throw new Error(`The bank did not start:\n${program.output}`);
    const [, url, hostAddress, binaryHostAddress, directoryUrl] =
      saysReady.exec(program.output) ?? [];
    return url && hostAddress && binaryHostAddress && directoryUrl
      ? { url, hostAddress, binaryHostAddress, directoryUrl }
      : undefined;
  });
}

function portOf(address: string): string {
  return new URL(address).port;
}
