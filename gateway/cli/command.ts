/**
 * How commands are declared and run. A command is a function that returns what to print, or the
 * problem that stops it: the first goes to standard output, the second to standard error.
 */
import { type Command, Option } from "commander";
import { userName } from "../config/config.ts";
import { markUsed } from "../storage/users.ts";
import { Problem } from "../values/problem.ts";
import { openInstallation } from "../wiring/installation.ts";
import { openToLook } from "../wiring/look.ts";
import {
  type CommandWork,
  type Findings,
  type Lines,
  type Output,
  pathOf,
  perform,
  processInput,
  rightsOf,
  type Session,
} from "./perform.ts";
import { type CommandMode, commandRights, NotAllowed, refuse } from "./rights.ts";
import { exitCodes, showProgress } from "./terminal.ts";

export type { Output, Session } from "./perform.ts";

type Row<First extends unknown[]> = readonly [
  usage: string,
  description: string,
  work: CommandWork<First>,
  options?: readonly Option[],
];

/** Commands that work on the installation, which is opened for them and closed after them. */
export function addCommands(parent: Command, rows: readonly Row<[Session]>[]): void {
  for (const [usage, description, work, options] of rows) {
    setAction(parent.command(usage).description(description), work, options);
  }
}

/** Commands that need no installation. */
export function addOfflineCommands(parent: Command, rows: readonly Row<[]>[]): void {
  for (const [usage, description, work, options] of rows) {
    setOutput(parent.command(usage).description(description), (given) => work(...given), options);
  }
}

export function setAction(
  command: Command,
  work: CommandWork<[Session]>,
  options?: readonly Option[],
): void {
  const why = new Option("--why <text>", "the reason, for the audit");
  const path = pathOf(command);
  const isChange = [path, `${path} --reveal`].some((each) => changes.has(commandRights[each]?.[1]));
  setOutput(command, makeRun(command, work), isChange ? [...(options ?? []), why] : options);
}

/** Opens the installation for the work, and closes it. */
export function makeRun(command: Command, work: CommandWork<[Session]>) {
  const path = pathOf(command);
  rightsOf(command);
  return async (words: never[], json: boolean): Promise<Output> => {
    const report = (progress: string) => process.stderr.write(`${progress}\n`);
    const { why: reason, ...others }: { readonly why?: string } = words.at(-1) ?? {};
    const [, mode] = rightsOf(command, others);
    const makesNothing = !changes.has(mode);
    const place = { environment: process.env, report, besideOthers: true, makesNothing };
    const installation = await (mode === "look" ? openToLook(place) : openInstallation(place));
    if (installation instanceof Problem) return installation;
    try {
      return await perform(installation, {
        ...{ command, work, json, reason, given: [...words.slice(0, -1), others as never] },
        input: processInput,
        ...{ findings: processFindings, report },
        async refuse(audit, right) {
          const refused = await refuse({ ...installation, audit }, right, path);
          const { database, actor } = installation;
          if (refused === undefined) await markUsed(database.query, actor.who, userName());
          return refused;
        },
      });
    } finally {
      await installation.close();
    }
  };
}

export const processFindings: Findings = {
  note() {
    process.exitCode = exitCodes.findings;
  },
  exist: () => Boolean(process.exitCode),
};

const changes = new Set<CommandMode | undefined>(["change", "record"]);

/** They may take minutes: with `--progress`, or at a terminal, they tell how far they are. */
const longCommands = new Set(["generate orders", "backup", "restore", "restore verify"]);

export function setOutput(
  command: Command,
  run: (given: never[], json: boolean) => Promise<Output> | Output,
  options: readonly Option[] = [],
): void {
  for (const option of options) command.addOption(option);
  if (longCommands.has(pathOf(command))) {
    command.option("--progress", "tell how far it is, also when standard error is no terminal");
  }
  command.option("--json", "as JSON").action(async (...given: unknown[]) => {
    const { json = false, progress = false, ...others }: OwnOptions = command.opts();
    showProgress(progress || process.stderr.isTTY === true);
    // Commander's last arguments are the options and the command; the usage declares the others.
    const output = await run([...given.slice(0, -2), others] as never[], json);
    if (output instanceof Problem) complain(output);
    else if (output !== undefined) print(output, json);
  });
}

type OwnOptions = { readonly json?: boolean; readonly progress?: boolean };

export function complain(problem: Problem): void {
  process.stderr.write(`${problem.sentence}\n`);
  process.exitCode = problem instanceof NotAllowed ? exitCodes.notAllowed : exitCodes.refused;
}

/** JSON for programs, aligned lines for people. */
export function print(content: string | Lines | readonly Lines[], json = false): void {
  if (json) process.stdout.write(`${JSON.stringify(content, undefined, 2)}\n`);
  else if (typeof content === "string") process.stdout.write(`${content}\n`);
  else if (isList(content)) printTable(content);
  else printLines(content);
}

function printLines(lines: Lines): void {
  const width = Math.max(...Object.keys(lines).map(({ length }) => length));
  for (const [name, value] of Object.entries(lines)) {
    // A PEM block starts on a line of its own, so that OpenSSL can read the output.
    const text = String(value).trimEnd();
    const line = text.includes("\n") ? `${name}\n${text}` : `${name.padEnd(width)}  ${value}`;
    process.stdout.write(`${line}\n`);
  }
}

function printTable(rows: readonly Lines[]): void {
  const names = Object.keys(rows[0] ?? {});
  const cells = [names, ...rows.map((row) => names.map((name) => String(row[name] ?? "")))];
  const widths = names.map((_, at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)));
  for (const row of cells) {
    const padded = row.map((cell, at) => cell.padEnd(widths[at] ?? 0));
    process.stdout.write(`${padded.join("  ").trimEnd()}\n`);
  }
}

function isList(content: Lines | readonly Lines[]): content is readonly Lines[] {
  return Array.isArray(content);
}

/** Ctrl-C reaches a process twice: from the terminal and from its parent process. */
const sameSignalMs = 1_000;

/** A second signal ends the process at once, unless it follows immediately. */
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
