/** Prints the output of commands, their refusals and their ends. */
import type { Block, Lines } from "../administration/session.ts";
import { NotAllowed, type Problem } from "../values/problem.ts";
import { formatTable, inWords } from "./table.ts";
import { exitCodes } from "./terminal.ts";

export const processFindings = {
  note() {
    process.exitCode = exitCodes.findings;
  },
  exist: () => Boolean(process.exitCode),
};

export function complain(problem: Problem): void {
  process.stderr.write(`${problem.sentence}\n`);
  process.exitCode = problem instanceof NotAllowed ? exitCodes.notAllowed : exitCodes.refused;
}

/** Prints JSON for programs, or aligned lines for people. */
export function print(content: Block, json = false): void {
  if (json) process.stdout.write(`${JSON.stringify(content, undefined, 2)}\n`);
  else if (typeof content === "string") process.stdout.write(`${content}\n`);
  else if (isList(content)) process.stdout.write(`${formatTable(content).join("\n")}\n`);
  else printLines(content);
}

function printLines(lines: Lines): void {
  const named = Object.entries(lines).map(([name, value]) => [inWords(name), value] as const);
  const width = Math.max(...named.map(([name]) => name.length));
  for (const [name, value] of named) {
    // A PEM block starts on a line of its own, so that OpenSSL can read the output.
    const text = String(value).trimEnd();
    const line = text.includes("\n") ? `${name}\n${text}` : `${name.padEnd(width)}  ${value}`;
    process.stdout.write(`${line}\n`);
  }
}

function isList(content: Lines | readonly Lines[]): content is readonly Lines[] {
  return Array.isArray(content);
}

/** Ctrl-C reaches a process twice: from the terminal and from its parent process. */
const sameSignalMs = 1_000;

/** Resolves at the first stop signal. A later second signal ends the process at once. */
export function untilStopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let firstAt: number | undefined;
    const onSignal = () => {
      if (firstAt !== undefined && performance.now() - firstAt > sameSignalMs) process.exit(130);
      firstAt ??= performance.now();
      resolve();
    };
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, onSignal);
  });
}
