/**
 * Reads the gateway's pauses for garbage collection from the lines that V8 prints with
 * `--trace-gc`. Its metrics have buckets of 10 and 100 ms, which cannot show whether 15 ms were
 * exceeded.
 */
import type { MeasuredGateway } from "./gateway.ts";

export const pauseMsMax = 15;

/** The pauses of the main thread, which handles the requests. */
export type Pauses = {
  readonly count: number;
  readonly longestMs: number;
  /** The number of pauses above `pauseMsMax`. */
  readonly long: number;
};

type Traced = Pick<MeasuredGateway, "readOutput"> & {
  readonly processes: Pick<MeasuredGateway["processes"], "gateway">;
};

/** Reads the pauses from the output after its first characters. */
export function readPauses({ readOutput, processes }: Traced, after: number): Pauses {
  const output = readOutput();
  const main = new RegExp(`\\[${processes.gateway}:(0x\\w+)`).exec(output)?.[1];
  const ms = main === undefined ? [] : parsePauses(output.slice(after), processes.gateway, main);
  return {
    count: ms.length,
    longestMs: Math.max(0, ...ms),
    long: ms.filter((each) => each > pauseMsMax).length,
  };
}

/**
 * Parses the output. Each collection stops the thread for the time before the slash; one that was
 * prepared in steps names the longest step as well. Other threads and processes print lines of
 * their own.
 */
export function parsePauses(output: string, pid: number, isolate: string): readonly number[] {
  const lines = output.split("\n").filter((line) => line.startsWith(`[${pid}:${isolate}`));
  return lines.flatMap((line) => {
    const pauseMs = / MB, (?:pooled: [\d.]+ MB, )?([\d.]+) \/ [\d.]+ ms/.exec(line)?.[1];
    if (pauseMs === undefined) return [];
    const stepMs = /biggest step ([\d.]+) ms/.exec(line)?.[1];
    return [Math.max(Number(pauseMs), Number(stepMs ?? 0))];
  });
}
