/**
 * Makes the subcommands of `gw` from two tables: the administration's actions
 * (`administration/actions.ts`) and the commands that concern one machine (`commands.ts`). The
 * fields in a row of these tables become the command's arguments and options.
 */
import { once } from "node:events";
import { constants, createReadStream } from "node:fs";
import { access, stat } from "node:fs/promises";
import { type Command, Option } from "commander";
import { type Action, isChange } from "../administration/action.ts";
import { type Content, type Field, namesOf, written } from "../administration/field.ts";
import { perform, rightFor, type Values } from "../administration/perform.ts";
import { type GivenTexts, readGiven } from "../administration/read-given.ts";
import { type Output, Report, Rows } from "../administration/session.ts";
import { userName } from "../config/config.ts";
import { openInstallation } from "../installation/installation.ts";
import { openToLook } from "../installation/look.ts";
import { markUsed } from "../storage/people/users.ts";
import { messageOf, Problem } from "../values/problem.ts";
import { complain, print, processFindings } from "./command.ts";
import type { OwnCommand, Terminal } from "./machine-command.ts";
import { refuse } from "./rights.ts";
import { ask, makeProgress, showProgress } from "./terminal.ts";

/** The command `gw order export`, for example, belongs to the subject `order`. */
export function addCommands(
  subject: Command,
  rows: readonly Row[],
  groups: Readonly<Record<string, string>> = {},
): void {
  // Options after a subcommand belong to the subcommand, and not to its parent command.
  subject.enablePositionalOptions();
  for (const row of rows) {
    if ("needsNode" in row && row.needsNode === true) continue;
    const words = row.name.split(" ").slice(1);
    let command = subject;
    for (const [at, word] of words.entries()) {
      const path = words.slice(0, at + 1).join(" ");
      const known = command.commands.find((each) => each.name() === word);
      command = known ?? command.command(word).description(groups[path] ?? "");
    }
    addCommand(command, row);
  }
}

type Row = Action | OwnCommand;

function addCommand(command: Command, row: Row): void {
  if (command.description() === "") command.description(row.does.en);
  const fields = Object.entries(row.fields);
  const places = fields.filter(([, { isWord }]) => isWord);
  for (const [, field] of places) command.argument(usageOf(field), field.help.en);
  for (const [name, field] of fields) {
    if (field.isWord || field.kind === "secret") continue;
    for (const option of optionsOf(name, field, places.length > 0)) command.addOption(option);
  }
  if (isChange(row) || fields.some(([, { right }]) => right !== undefined)) {
    const needed = row.needsReason === true ? " (required)" : "";
    command.option("--why <text>", `the reason, for the audit${needed}`);
    const former = new Option("--reason <text>", "the former name of --why on some commands");
    command.addOption(former.hideHelp().conflicts("why"));
  }
  const isLong = "duration" in row && row.duration !== undefined;
  if (isLong || row.showsProgress === true) {
    command.option("--progress", "report progress also when standard error is no terminal");
  }
  command.option("--json", "as JSON").action(async (...taken: unknown[]) => {
    const { reason, why = reason, json = false, progress = false } = command.opts<OwnOptions>();
    showProgress(progress || process.stderr.isTTY === true);
    const given = readCommand(row, command, taken.slice(0, places.length));
    const terminal = { reason: why, json };
    const isMissing = row.needsReason === true && why === undefined;
    if (given instanceof Problem) complain(given);
    else if (isMissing) complain(new Problem("why is required."));
    else await printOutput(await run(row, given, terminal), json);
  });
}

type OwnOptions = {
  readonly why?: string;
  readonly reason?: string;
  readonly json?: boolean;
  readonly progress?: boolean;
};

/** Returns an argument as the help shows it: `<login>`, `[sequence]`, or `<endpoints...>`. */
export function usageOf({ shows, isRequired, isList }: Field): string {
  const inner = isList ? `${shows}...` : shows;
  return isRequired ? `<${inner}>` : `[${inner}]`;
}

function optionsOf(name: string, field: Field, hasPlaces: boolean): readonly Option[] {
  const { kind, shows, help, isList, isRequired } = field;
  if (kind === "toggle") {
    const { yes, no } = namesOf(name, field);
    const opposite = `the opposite of --${yes}`;
    return [
      ...(yes === undefined ? [] : [new Option(`--${yes}`, help.en)]),
      ...(no === undefined ? [] : [new Option(`--${no}`, yes === undefined ? help.en : opposite)]),
    ];
  }
  if (kind === "flag") return [new Option(`--${written(name)}`, help.en)];
  const form = field.format === undefined ? "" : `: ${field.format}`;
  const preset = field.preset === undefined ? "" : ` (default: ${field.preset})`;
  const needed = isRequired ? " (required)" : "";
  const letter = field.letter === undefined ? "" : `-${field.letter}, `;
  // Only without positional arguments can an option take several values after its name: otherwise
  // it would take the arguments too.
  const inner = isList && !hasPlaces ? `${shows}...` : shows;
  const value = field.alone === undefined ? `<${inner}>` : `[${inner}]`;
  const usage = `${letter}--${written(name)} ${value}`;
  const option = new Option(usage, help.en + form + preset + needed);
  if (field.alone !== undefined) return [option.preset(field.alone)];
  if (!isList) return [option];
  return [option.argParser((value, earlier: readonly string[] = []) => [...earlier, value])];
}

function readCommand(action: Pick<Action, "fields">, command: Command, places: readonly unknown[]) {
  const options: Readonly<Record<string, unknown>> = command.opts();
  const given: Record<string, GivenTexts[string]> = {};
  const words = Object.entries(action.fields).filter(([, { isWord }]) => isWord);
  for (const [at, [name, field]] of words.entries()) {
    const value = places[at];
    if (value === undefined) continue;
    // Commander returns a list of strings if the argument takes several values, else a string.
    given[name] = field.kind === "file" ? contentOf(String(value)) : (value as string | string[]);
  }
  for (const [name, field] of Object.entries(action.fields)) {
    if (field.isWord) continue;
    const value = field.kind === "toggle" ? readToggle(name, field, options) : options[name];
    if (value instanceof Problem) return value;
    if (field.kind === "secret") given[name] = contentOf("-");
    else if (field.kind === "file" && value !== undefined) given[name] = contentOf(String(value));
    // Commander returns a string, a list of strings, or true for an option without a value.
    else if (value !== undefined) given[name] = value as string | string[] | boolean;
  }
  return readGiven(action, given);
}

function readToggle(name: string, field: Field, options: Readonly<Record<string, unknown>>) {
  const { yes, no } = namesOf(name, field);
  // Commander stores the option `--no-x` as the property `x` with the value false.
  const [isYes, isNo] = [yes, no].map((each) => {
    if (each === undefined) return false;
    const key = attributeOf(each.replace(/^no-/, ""));
    return options[key] === !each.startsWith("no-");
  });
  if (isYes && isNo) return new Problem(`Choose --${yes} or --${no}.`);
  return isYes ? true : isNo ? false : undefined;
}

function attributeOf(name: string): string {
  return name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function contentOf(name: string): Content {
  return { name, open: () => (name === "-" ? process.stdin : createReadStream(name)) };
}

async function run(row: Row, values: Values, terminal: Terminal): Promise<Output> {
  const unreadable = await findUnreadable(row, values);
  if (unreadable !== undefined) return unreadable;
  // The command's own fields have parsed the values, so these have the types that it expects.
  return "run" in row
    ? row.run(values as never, terminal)
    : performInstalled(row, values, terminal);
}

export async function performInstalled(
  action: Action,
  values: Values,
  { reason, json }: Terminal,
): Promise<Output> {
  const report = (sentence: string) => void process.stderr.write(`${sentence}\n`);
  // An action that only reads must not create a data folder or a key.
  const makesNothing = !isChange(action) && rightFor(action, values) === action.right;
  const place = { environment: process.env, report, besideOthers: true, makesNothing };
  const isLook = action.mode === "look" && makesNothing;
  const installation = await (isLook ? openToLook(place) : openInstallation(place));
  if (installation instanceof Problem) return installation;
  const terminal = { reason, json, report, warn: report, confirm: ask, progress: makeProgress };
  try {
    const output = await perform(installation, action, values, {
      ...terminal,
      findings: processFindings,
      async refuse(audit, right) {
        const refused = await refuse({ ...installation, audit }, right, action.name);
        const { database, actor } = installation;
        if (refused === undefined) await markUsed(database.query, actor.who, userName());
        return refused;
      },
    });
    // Rows are read while they are printed, so they are printed before the installation is closed.
    if (!(output instanceof Rows)) return output;
    await printOutput(output, json);
    return undefined;
  } finally {
    await installation.close();
  }
}

/** The files are not opened for this check, because a pipe can be read only once. */
async function findUnreadable({ fields }: Row, values: Values): Promise<Problem | undefined> {
  const files = Object.entries(fields).filter(([, { kind }]) => kind === "file");
  // The value of a field of the kind `file` always has the type `Content`.
  const contents = files.map(([name]) => values[name] as Content | undefined);
  for (const { name } of contents.filter((content) => content !== undefined)) {
    if (name === "-") continue;
    try {
      await access(name, constants.R_OK);
      if ((await stat(name)).isDirectory()) return new Problem(`${name} is not a file.`);
    } catch (error) {
      return new Problem(`The file ${name} cannot be read: ${messageOf(error)}.`);
    }
  }
  return undefined;
}

async function printOutput(output: Output, json: boolean): Promise<void> {
  if (output instanceof Problem) complain(output);
  else if (output instanceof Report) printReport(output, json);
  else if (output instanceof Rows) await printRows(output, json);
  else if (output !== undefined) print(output, json);
}

function printReport({ value, blocks }: Report, json: boolean): void {
  if (json) print(value, true);
  for (const [at, block] of json ? [] : blocks.entries()) {
    if (at > 0) process.stdout.write("\n");
    print(block);
  }
}

/** Prints CSV with a first line of column names, or one line of JSON for each row. */
async function printRows({ rows, names }: Rows, json: boolean): Promise<void> {
  let header = names;
  if (header !== undefined && !json) await writeLine(header.join(","));
  for await (const row of rows) {
    if (header === undefined && !json) await writeLine(Object.keys(row).join(","));
    header ??= Object.keys(row);
    await writeLine(json ? JSON.stringify(row) : Object.values(row).map(quote).join(","));
  }
}

/** Waits for a slow reader of the output, so that a long export does not fill the memory. */
async function writeLine(line: string): Promise<void> {
  if (!process.stdout.write(`${line}\n`)) await once(process.stdout, "drain");
}

/** Puts an apostrophe before a formula, which a spreadsheet would run. A number is no formula. */
function quote(value: unknown): string {
  const text = String(value).replace(/^(?!-[\d.]+$)[=+\-@\t\r]/, "'$&");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
