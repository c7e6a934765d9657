/**
 * Runs a test file in a process of its own and tells it briefly: a line with its time as soon as it
 * ends; failures in full, with what the file printed.
 */
import { once } from "node:events";
import { relative, resolve } from "node:path";
import type { Readable } from "node:stream";
import { type EventData, run } from "node:test";
import { inspect } from "node:util";

export type Tally = { passed: number; failed: number; skipped: number };

type Course = {
  readonly file: string;
  /** How long it may take before it counts as hung. */
  readonly minutes: number;
  /** How long it may take to end when its tests are over. */
  readonly endsWithinMs?: number;
  readonly tally: Tally;
  readonly say: (line: string) => void;
  /** Ends the file. */
  readonly signal: AbortSignal;
};

/** So that the runner's own limit, which can name the test, comes first. */
const graceMs = 10_000;
/** More than a program that is left gets to stop by itself. */
const endsWithinMs = 150_000;

type Result = EventData.TestPass | EventData.TestFail;

export async function runFile(course: Course): Promise<void> {
  const { minutes, tally, say } = course;
  let printed = "";
  let isFaulty = false;
  const remember = ({ message }: EventData.TestStdout) => {
    printed += message;
  };
  const fail = (result: Result, fault: string) => {
    tally.failed += 1;
    isFaulty = true;
    say(`\n✖ ${placeOf(result)}\n${indent(fault)}\n`);
  };

  const file = resolve(course.file);
  const watch = new AbortController();
  const signal = AbortSignal.any([watch.signal, course.signal]);
  const events = run({ files: [file], timeout: minutes * 60_000, signal });
  const stopWatching = watchFor(events, course, (why) => {
    say(`\n✖ ${course.file} is ended: ${why}`);
    watch.abort();
  });
  events.on("test:stdout", remember).on("test:stderr", remember);
  events.on("test:complete", ({ name, file, details }) => {
    if (!isWholeFile({ name, file })) return;
    const seconds = (details.duration_ms / 1000).toFixed(1);
    say(`${details.passed ? "✔" : "✖"} ${course.file} (${seconds} s)`);
  });
  events.on("test:pass", (result) => {
    if (isWholeFile(result)) return fail(result, "The file holds no test.");
    if (result.details.type === "suite") return;
    if (isSkipped(result)) tally.skipped += 1;
    else tally.passed += 1;
  });
  events.on("test:fail", (result) => {
    if (!isEchoOfSubtest(result.details.error)) fail(result, describe(result.details.error));
  });
  await once(events, "end");
  stopWatching();

  const output = printed.trim();
  if (isFaulty && output !== "") say(`\nPrinted by ${course.file}:\n${indent(output)}\n`);
}

/** The runner's limit is about tests: a file whose tests are over may still never end. */
function watchFor(events: Readable, course: Course, giveUp: (why: string) => void): () => void {
  const quietMs = course.minutes * 60_000 + graceMs;
  const silent = `nothing has happened for ${course.minutes} minutes`;
  const left = "its tests are over, and something that they started keeps it from ending";
  let [begun, ended] = [0, 0];
  let timer = setTimeout(giveUp, quietMs, silent);
  events.on("data", ({ type, data }: { type: string; data: EventData.TestEnqueue }) => {
    if (data.nesting === 0 && !isWholeFile(data)) {
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

/** The runner reports a file itself only when it failed as a whole or held no test. */
function isWholeFile({ name, file }: { name: string; file?: string | undefined }): boolean {
  return name === file;
}

function fileOf({ entryFile, file = "" }: Result): string {
  return entryFile ?? file;
}

function placeOf(result: Result): string {
  if (isWholeFile(result)) return relative(".", result.name);
  return `${result.name} (${relative(".", fileOf(result))}:${result.line ?? "?"})`;
}

function isSkipped({ skip, todo }: Result): boolean {
  return (skip !== undefined && skip !== false) || (todo !== undefined && todo !== false);
}

/** A test or suite that failed only because something inside it did, which was told already. */
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
