/**
 * How commands are declared and run. A command is a function that returns what to print, or the
 * problem that stops it: the first goes to standard output, the second to standard error.
 */
import { type Command, Option } from "commander";
import { makeAdministration } from "../storage/administration.ts";
import type { Audit, AuditEntry } from "../storage/audit.ts";
import { messageOf, Problem } from "../values/problem.ts";
import type { Right } from "../values/roles.ts";
import { type Installation, openInstallation } from "./installation.ts";
import { openToLook } from "./look.ts";
import { type CommandMode, commandRights, NotAllowed, refuse } from "./rights.ts";
import { exitCodes, showProgress } from "./terminal.ts";

type Lines = Readonly<Record<string, unknown>>;
/** A sentence, named values, or a table; nothing when the command has printed everything itself. */
export type Output = string | Lines | readonly Lines[] | Problem | undefined;
export type Session = Installation & {
  readonly administration: ReturnType<typeof makeAdministration>;
  /** Whether the output is for programs. */
  readonly json: boolean;
};

/** A command's arguments and options come last, in the order of its usage. */
type Work<First extends unknown[]> = (...given: [...First, ...never[]]) => Promise<Output> | Output;
type Row<First extends unknown[]> = readonly [
  usage: string,
  description: string,
  work: Work<First>,
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
  work: Work<[Session]>,
  options?: readonly Option[],
): void {
  const why = new Option("--why <text>", "the reason, for the audit");
  const path = rightsPathOf(command);
  rightsOf(command);
  const isChange = [path, `${path} --reveal`].some((each) => changes.has(commandRights[each]?.[1]));
  setOutput(command, run, isChange ? [...(options ?? []), why] : options);

  async function run(words: never[], json: boolean): Promise<Output> {
    const report = (progress: string) => process.stderr.write(`${progress}\n`);
    const { why: reason, ...others }: { readonly why?: string } = words.at(-1) ?? {};
    const given = [...words.slice(0, -1), others as never];
    const [right, mode] = rightsOf(command, others);
    const place = { environment: process.env, report, besideOthers: true };
    const installation = await (mode === "look" ? openToLook(place) : openInstallation(place));
    if (installation instanceof Problem) return installation;
    try {
      const { audit, count } = counted(
        installation.auditAs(reason === undefined ? {} : { why: reason }),
      );
      const refused = await refuse({ ...installation, audit }, right, path);
      if (refused !== undefined) return refused;
      const session = { ...installation, audit, administration: makeAdministration(audit), json };
      const start = () => Promise.resolve(work(session, ...given));
      const entry = entryOf(command, given);
      if (mode === "record") return await recorded(audit, entry, right, start);
      const output = await start();
      const isDone = !(output instanceof Problem) && !("dryRun" in others);
      if (mode === "change" && isDone && count() === 0) await audit.write(entry);
      return output;
    } finally {
      await installation.close();
    }
  }
}

const changes = new Set<CommandMode | undefined>(["change", "record"]);

/** A command that changes something and has written no entry of its own gets one. */
function counted(audit: Audit): { readonly audit: Audit; count(): number } {
  let written = 0;
  const count = (entry: AuditEntry) => {
    written += 1;
    return entry;
  };
  const wrap = (inner: Audit): Audit => ({
    change: (work) => inner.change((query, write) => work(query, (entry) => write(count(entry)))),
    together: (work) => inner.together((each) => work(wrap(each))),
    write: (entry) => inner.write(count(entry)),
  });
  return { audit: wrap(audit), count: () => written };
}

/** Work of more than one transaction: an entry before it, and one with its outcome. */
async function recorded(
  audit: Audit,
  entry: AuditEntry,
  right: Right,
  work: () => Promise<Output>,
): Promise<Output> {
  await audit.write(entry);
  const end = (after: object) =>
    audit.write({ action: `${entry.action} ended`, subject: entry.subject, after });
  try {
    const output = await work();
    const result = right === "reveal_secrets" || !isLines(output) ? {} : { result: output };
    if (output instanceof Problem) await end({ outcome: "refused", why: output.sentence });
    else await end({ outcome: process.exitCode ? "done, with findings" : "done", ...result });
    return output;
  } catch (error) {
    await end({ outcome: "failed", why: messageOf(error) });
    throw error;
  }
}

function isLines(output: Output): output is Lines {
  return typeof output === "object" && !Array.isArray(output) && !(output instanceof Problem);
}

/** Whether a command looks or changes may depend on an option. */
function rightsOf(command: Command, options: object = {}) {
  const path = rightsPathOf(command);
  const found =
    commandRights["reveal" in options ? `${path} --reveal` : path] ?? commandRights[path];
  if (found === undefined) throw new Error(`no rights are known for gw ${path}`);
  return found;
}

/** The kinds of `gw filter add` share a row. */
export function rightsPathOf(command: Command): string {
  return pathOf(command).replace(/^filter add .*/, "filter add");
}

export function pathOf(command: Command): string {
  const { parent } = command;
  if (parent === null) return "";
  return `${pathOf(parent)} ${command.name()}`.trim();
}

/** Words of a command line are no secrets: those are read from files or standard input. */
function entryOf(command: Command, given: readonly unknown[]): AuditEntry {
  const words = given.slice(0, -1).flat();
  const subject = words.filter((word) => word !== undefined).join(" ") || pathOf(command);
  return { action: pathOf(command), subject, after: Object(given.at(-1)) };
}

/** They may take minutes: with `--progress`, or at a terminal, they tell how far they are. */
const longCommands = new Set([
  ...[
    "audit verify",
    "bin load",
    "chargeback import",
    "order export",
    "privacy erase",
    "generate orders",
  ],
  ...["filter try", "list import", "reconcile", "backup", "restore", "restore verify"],
]);

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
