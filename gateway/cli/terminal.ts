/** Exit codes and progress reports of commands, and questions to the user at the terminal. */
import { createInterface } from "node:readline/promises";

/** `gw --help` and `docs/command-line.md` list these exit codes. */
export const exitCodes = {
  done: 0,
  findings: 1,
  refused: 2,
  notAllowed: 3,
  stopped: 130,
  unread: 141,
} as const;

export const exitMeanings: Readonly<Record<keyof typeof exitCodes, string>> = {
  done: "done",
  findings:
    "done, with a finding that needs a person; or the program failed with an error of its own",
  refused: "refused: the sentence on standard error says why, and nothing was changed",
  notAllowed: "not allowed: the role of the user has not the right; the attempt is in the audit",
  stopped: "stopped by a second signal",
  unread: "the program that read the output has ended before it",
};

/** Avoids a stack trace if the reader closes the pipe, as in `gw order export | head`. */
export function endWhenUnread(output: NodeJS.WriteStream): void {
  if (output.listenerCount("error") > 0) return;
  output.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(exitCodes.unread);
    process.stderr.write(`The output cannot be written: ${error.message}.\n`);
    process.exit(exitCodes.findings);
  });
}

export function describeExitCodes(): string {
  const names = Object.keys(exitCodes) as (keyof typeof exitCodes)[];
  const lines = names.map((name) => `  ${String(exitCodes[name]).padEnd(5)}${exitMeanings[name]}`);
  return ["Exit codes:", ...lines].join("\n");
}

const reportEveryMs = 1_000;

let isShown = false;

/** A command prints its progress at a terminal or with `--progress`. */
export function showProgress(shown: boolean): void {
  isShown = shown;
}

/** Prints the first count at once, to show that the work has begun, and then once per second. */
export function makeProgress(what: string): (count: number) => void {
  const tell = makeProgressLines();
  return (count) => tell(() => `${count} ${what}`);
}

/** Prints a line at most once per second. The line is composed only if it is printed. */
export function makeProgressLines(): (line: () => string) => void {
  let nextAt = 0;
  return (line) => {
    if (!isShown || performance.now() < nextAt) return;
    nextAt = performance.now() + reportEveryMs;
    process.stderr.write(`${line()}\n`);
  };
}

/** Without a terminal, the answer is no. */
export async function ask(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} (yes/no) `)).trim());
  } finally {
    terminal.close();
  }
}
