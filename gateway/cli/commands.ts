/** All commands of `gw`. A command's file is loaded only when that command is used. */
import { Command, type CommanderError } from "commander";
import type { Action } from "../administration/action.ts";
import { type Subject, subjects } from "../administration/actions.ts";
import { addCommands } from "./action-commands.ts";
import type { OwnCommand } from "./machine-command.ts";
import { describeExitCodes, exitCodes } from "./terminal.ts";

type Row = Omit<Subject, "load"> & {
  readonly load: () => Promise<readonly (Action | OwnCommand)[]>;
};

// biome-ignore format: a table
const commands: readonly Row[] = [
  { name: "start",      does: "start everything: database, sandbox (staging), gateway", load: async () => (await import("./start.ts")).startCommands },
  { name: "serve",      does: "start one gateway node: the merchant interface and the background jobs", load: async () => (await import("./start.ts")).serveCommands },
  { name: "config",     does: "print every setting with its value, its origin and its meaning", load: async () => (await import("./doctor.ts")).configCommands },
  { name: "migrate",    does: "bring the database schema up to date", load: async () => (await import("./migrate.ts")).migrateCommands },
  { name: "doctor",     does: "check this installation for problems", load: async () => (await import("./doctor.ts")).doctorCommands },
  { name: "files",      does: "the installed files: sign a manifest of them, for gw doctor --files", load: async () => (await import("./files.ts")).filesCommands },
  { name: "backup",     does: "write an encrypted backup of everything, while payments go on", load: async () => (await import("./backup.ts")).backupCommands },
  { name: "restore",    does: "restore a backup into an empty database, verify it, release it", load: async () => (await import("./restore.ts")).restoreCommands },
  { name: "page",       does: "the payment page as browsers receive it: watch", load: async () => (await import("./page.ts")).pageCommands },
  { name: "pay",        does: "send a test sale, and wait for its result", load: async () => (await import("./pay.ts")).payCommands },
  { name: "generate",   does: "many orders for a staging installation", load: async () => (await import("./generate.ts")).generateCommands },
  { name: "certify",    does: "test how a merchant's server handles failures in the sandbox, and grade it", load: async () => (await import("./certify.ts")).certifyCommands },
];

/** These commands share their first word, such as `key`, with actions of the administration. */
const beside: Readonly<Record<string, Row["load"]>> = {
  callback: async () => (await import("./callback-listen.ts")).listenCommands,
  card: async () => [
    ...(await import("./card-import.ts")).cardImportCommands,
    ...(await import("./card-export.ts")).cardExportCommands,
  ],
  key: async () => (await import("./key.ts")).keyCommands,
};

export async function loadMachineCommands(): Promise<readonly (Action | OwnCommand)[]> {
  const loads = [...commands.map(({ load }) => load), ...Object.values(beside)];
  return (await Promise.all(loads.map((load) => load()))).flat();
}

/** A command of one word, such as `gw doctor`, is its own subject. */
export function describeSubject(name: string): string {
  return [...subjects, ...commands].find((row) => row.name === name)?.does ?? "";
}

/** Commander's exit code is 0 if it has printed the help. Any other code means a refusal. */
function exitProcess({ exitCode }: CommanderError): never {
  return process.exit(exitCode === 0 ? 0 : exitCodes.refused);
}

/** If `words` of a command line are given, only the command that they name is loaded. */
export async function makeProgram(
  words?: readonly string[],
  onExit: (error: CommanderError) => void = exitProcess,
): Promise<Command> {
  const program = new Command("gw")
    .description("Tollgate, a card payment gateway that you run yourself")
    .version("0.2.0")
    .addHelpText("after", `\n${describeExitCodes()}`)
    .exitOverride(onExit)
    // Gives `gw restore` and `gw restore status` separate options.
    .enablePositionalOptions();
  // The command is named by the first word of the command line, or by the second word after `help`.
  const isWanted = (name: string) => words === undefined || words.slice(0, 2).includes(name);
  for (const { name, does, load, groups } of [...subjects, ...commands]) {
    const command = program.command(name).description(does);
    if (!isWanted(name)) continue;
    addCommands(command, [...(await load()), ...((await beside[name]?.()) ?? [])], groups);
  }
  return program;
}
