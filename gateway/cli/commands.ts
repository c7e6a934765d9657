/** All commands of `gw`. One file declares and implements a command; it is loaded when used. */
import { Command, type CommanderError } from "commander";
import { subjects } from "../administration/actions.ts";
import { addActionCommands } from "./action-commands.ts";
import { describeExitCodes, exitCodes } from "./terminal.ts";

type Row = readonly [
  name: string,
  description: string,
  load: () => Promise<(command: Command) => void>,
];

// biome-ignore format: a table
const commands: readonly Row[] = [
  ["start",     "start everything: database, sandbox bank (staging), gateway",                  async () => (await import("./start.ts")).addStart],
  ["serve",     "start one gateway node: the merchant interface and the background jobs",       async () => (await import("./start.ts")).addServe],
  ["config",    "print every setting with its value, its origin and its meaning",               async () => (await import("./doctor.ts")).addConfig],
  ["migrate",   "bring the database schema up to date",                                         async () => (await import("./migrate.ts")).addMigrate],
  ["doctor",    "check this installation for problems",                                         async () => (await import("./doctor.ts")).addDoctor],
  ["files",     "the installed files: sign a manifest of them, for gw doctor --files",          async () => (await import("./files.ts")).addFilesCommands],
  ["backup",    "write an encrypted backup of everything, while payments go on",                async () => (await import("./backup.ts")).addBackup],
  ["restore",   "restore a backup into an empty database, verify it, release it",               async () => (await import("./restore.ts")).addRestore],
  ["page",      "the payment page as browsers receive it: watch",                               async () => (await import("./page.ts")).addPageCommands],
  ["pay",       "send a test sale, and wait for its result",                                    async () => (await import("./pay.ts")).addPay],
  ["generate",  "many orders for a staging installation",                                       async () => (await import("./generate.ts")).addGenerateCommands],
  ["key",       "the vault's keys, and the key-encryption key that seals them",                 async () => (await import("./key.ts")).addKeyCommands],
  ["certify",   "play the worst days against a merchant's server in the sandbox, and grade it",  async () => (await import("./certify.ts")).addCertify],
];

/** Commands of a developer's machine, beside the actions of a subject. */
const beside: Readonly<Record<string, Row[2]>> = {
  callback: async () => (await import("./callback-follow.ts")).addListen,
};

/** A wrong option is refused as any other input. */
function exitProcess({ exitCode }: CommanderError): never {
  return process.exit(exitCode === 0 ? 0 : exitCodes.refused);
}

/** With the options of every command, or of those alone that the words may mean. */
export async function makeProgram(
  words?: readonly string[],
  onExit: (error: CommanderError) => void = exitProcess,
): Promise<Command> {
  const program = new Command("gw")
    .description("Tollgate, a card payment gateway that you run yourself")
    .version("0.1.0")
    .addHelpText("after", `\n${describeExitCodes()}`)
    .exitOverride(onExit)
    // Options belong to the word before them: `gw restore` and `gw restore status` have their own.
    .enablePositionalOptions();
  // The first word, or the second after `help`.
  const isWanted = (name: string) => words === undefined || words.slice(0, 2).includes(name);
  for (const { name, does, load, groups } of subjects) {
    const command = program.command(name).description(does.en);
    if (!isWanted(name)) continue;
    addActionCommands(command, await load(), groups);
    (await beside[name]?.())?.(command);
  }
  for (const [name, description, load] of commands) {
    // Some subjects have commands of this folder beside their actions.
    const known = program.commands.find((each) => each.name() === name);
    const command = known ?? program.command(name).description(description);
    if (isWanted(name)) (await load())(command);
  }
  return program;
}
