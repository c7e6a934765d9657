/**
 * Runs test files one after the other in one process and reports briefly: a line with the time of
 * each file, and failures in full with the output of the process.
 */
import { once } from "node:events";
import { join, relative, resolve } from "node:path";
import type { Readable } from "node:stream";
import { type EventData, run } from "node:test";
import { inspect } from "node:util";

export type Tally = {
  passed: number;
  failed: number;
  skipped: number;
  /** Descriptions of the failures, in their order. */
  readonly faults: string[];
};

export function makeTally(): Tally {
  return { passed: 0, failed: 0, skipped: 0, faults: [] };
}

type Course = {
  readonly files: readonly string[];
  /** The time after which the process counts as hung. */
  readonly minutes: number;
  /** The time in which the process must end after its tests. */
  readonly endsWithinMs?: number;
  readonly tally: Tally;
  readonly say: (line: string) => void;
  /** The signal that ends the process. */
  readonly signal: AbortSignal;
};

type Result = EventData.TestPass | EventData.TestFail;

const loader = join(import.meta.dirname, "load-files.ts");
const execArgv = ["--import", join(import.meta.dirname, "record-cost.ts")];
/** Added to the runner's own limit, which comes first because it can name the test. */
const graceMs = 10_000;
/** Longer than the programs and gateways of ten files need to stop on a busy machine. */
const endsWithinMs = 300_000;

/** The runner's own counts. Every other diagnostic is a figure or a seed that a test prints. */
const isSummary = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) /;

export async function runFiles(course: Course): Promise<void> {
  const watch = new AbortController();
  const signal = AbortSignal.any([watch.signal, course.signal]);
  const argv = course.files.map((file) => resolve(file));
  // A single file needs no loader, around whose tests its hooks would run.
  const [entry = loader] = argv.length === 1 ? argv : [];
  const timeout = course.minutes * 60_000;
  const events = run({ files: [entry], argv, execArgv, timeout, signal });
  const account = keepAccount(course, entry);
  const stopWatching = watchFor(events, course, (why) => {
    course.say(`\n✖ ${account.left()} is ended: ${why}`);
    watch.abort();
  });
  let printed = "";
  const remember = ({ message }: EventData.TestStdout) => {
    printed += message;
  };
  events.on("test:diagnostic", ({ message }) => {
    if (!isSummary.test(message)) course.say(`ℹ ${message}`);
  });
  events.on("test:stdout", remember).on("test:stderr", remember);
  events.on("test:pass", account.pass).on("test:fail", account.fail);
  await once(events, "end");
  stopWatching();
  if (entry !== loader) account.endFile();

  const output = printed.trim();
  if (account.isFaulty && output !== "") {
    course.say(`\nPrinted by ${course.files.join(", ")}:\n${indent(output)}\n`);
  }
}

/**
 * Counts results by file. A test belongs to the first file that has not ended, because
 * `load-files.ts` encloses the tests of each file.
 */
function keepAccount({ files, tally, say }: Course, entry: string) {
  const waiting = files.map((file) => relative(".", file));
  let current = { isLoaded: false, tests: 0, faults: 0, ms: 0 };
  let isFaulty = false;
  /**
   * The files that may be the cause of a problem: those that have not ended or, after the last,
   * all.
   */
  const left = () => (waiting.length === 0 ? files : waiting).join(", ");
  const isMark = ({ name, nesting }: Result) =>
    entry === loader && nesting === 0 && name === resolve(waiting[0] ?? "");

  function complain(place: string, fault: string): void {
    tally.failed += 1;
    current.faults += 1;
    isFaulty = true;
    const text = `✖ ${place}\n${indent(fault)}\n`;
    tally.faults.push(text);
    say(`\n${text}`);
  }

  function placeOf(result: Result): string {
    if (result.name === entry) return left();
    return isMark(result)
      ? `${waiting[0]}`
      : `${result.name} (${waiting[0]}:${result.line ?? "?"})`;
  }

  function mark(): void {
    if (current.isLoaded) endFile();
    else current.isLoaded = true;
  }

  function endFile(): void {
    const [file = ""] = waiting;
    if (current.tests + current.faults === 0) complain(file, "The file holds no test.");
    const seconds = (current.ms / 1000).toFixed(1);
    say(`${current.faults === 0 ? "✔" : "✖"} ${file} (${seconds} s)`);
    current = { isLoaded: false, tests: 0, faults: 0, ms: 0 };
    waiting.shift();
  }

  function count(result: EventData.TestPass): void {
    if (result.details.type === "suite") return;
    current.tests += 1;
    if (isSkipped(result)) tally.skipped += 1;
    else tally.passed += 1;
  }

  return {
    left,
    endFile,
    get isFaulty(): boolean {
      return isFaulty;
    },
    pass(result: EventData.TestPass): void {
      if (result.nesting === 0) current.ms += result.details.duration_ms;
      if (isMark(result)) mark();
      else if (result.name !== entry) count(result);
    },
    fail(result: EventData.TestFail): void {
      const { error, duration_ms } = result.details;
      if (result.nesting === 0) current.ms += duration_ms;
      if (!isEchoOfSubtest(error)) complain(placeOf(result), describe(error));
      if (isMark(result)) mark();
    },
  };
}

/**
 * Ends a process that hangs. The runner's own limit covers only tests, but a process may also fail
 * to end after its tests.
 */
function watchFor(events: Readable, course: Course, giveUp: (why: string) => void): () => void {
  const quietMs = course.minutes * 60_000 + graceMs;
  const silent = `nothing has happened for ${course.minutes} minutes`;
  const left = "its tests are over, and something that they started keeps it from ending";
  let [begun, ended] = [0, 0];
  let timer = setTimeout(giveUp, quietMs, silent);
  events.on("data", ({ type, data }: { type: string; data: EventData.TestEnqueue }) => {
    if (data.nesting === 0 && data.name !== data.file) {
      if (type === "test:enqueue") begun += 1;
      if (type === "test:complete") ended += 1;
    }
    clearTimeout(timer);
    timer =
      begun > 0 && begun === ended
        ? setTimeout(giveUp, course.endsWithinMs ?? endsWithinMs, left)
        : setTimeout(giveUp, quietMs, silent);
  });
  return () => clearTimeout(timer);
}

function isSkipped({ skip, todo }: Result): boolean {
  return (skip !== undefined && skip !== false) || (todo !== undefined && todo !== false);
}

/**
 * Whether a test or suite failed only because something inside it failed, which was reported
 * already.
 */
function isEchoOfSubtest(error: EventData.Error): boolean {
  return "failureType" in error && error.failureType === "subtestsFailed";
}

function describe({ cause, message }: EventData.Error): string {
  if (!(cause instanceof Error)) return cause === undefined ? message : inspect(cause);
  const text = cause.cause === undefined ? (cause.stack ?? cause.message) : inspect(cause);
  return text.replace(/\n +at [^\n]*\(?node:(internal|async_hooks)[^\n]*/g, "");
}

function indent(text: string): string {
  return text.replace(/^/gm, "    ");
}
