/** All commands of `gw`. A file with rows is loaded when one of them is used. */
import { Command, type CommanderError } from "commander";
import type { Action } from "../administration/action.ts";
import { type Subject, subjects } from "../administration/actions.ts";
import { type Texts, texts } from "../administration/field.ts";
import { addCommands } from "./action-commands.ts";
import type { OwnCommand } from "./machine-command.ts";
import { describeExitCodes, exitCodes } from "./terminal.ts";

type Row = {
  /** The first word of its commands. */
  readonly name: string;
  readonly does: Texts;
  readonly load: () => Promise<readonly (Action | OwnCommand)[]>;
};

// biome-ignore format: a table
const commands: readonly Row[] = [
  { name: "start",      does: texts("start everything: database, sandbox bank (staging), gateway", "alles starten: Datenbank, Sandbox-Bank (Staging), Gateway"), load: async () => (await import("./start.ts")).startCommands },
  { name: "serve",      does: texts("start one gateway node: the merchant interface and the background jobs", "einen Knoten des Gateways starten: die Händlerschnittstelle und die Hintergrundarbeiten"), load: async () => (await import("./start.ts")).serveCommands },
  { name: "config",     does: texts("print every setting with its value, its origin and its meaning", "alle Einstellungen mit Wert, Herkunft und Bedeutung ausgeben"), load: async () => (await import("./doctor.ts")).configCommands },
  { name: "migrate",    does: texts("bring the database schema up to date", "das Schema der Datenbank auf den neuesten Stand bringen"), load: async () => (await import("./migrate.ts")).migrateCommands },
  { name: "doctor",     does: texts("check this installation for problems", "diese Installation auf Probleme prüfen"), load: async () => (await import("./doctor.ts")).doctorCommands },
  { name: "files",      does: texts("the installed files: sign a manifest of them, for gw doctor --files", "die installierten Dateien: ein Verzeichnis von ihnen signieren, für gw doctor --files"), load: async () => (await import("./files.ts")).filesCommands },
  { name: "backup",     does: texts("write an encrypted backup of everything, while payments go on", "eine verschlüsselte Sicherung von allem schreiben, während Zahlungen weitergehen"), load: async () => (await import("./backup.ts")).backupCommands },
  { name: "restore",    does: texts("restore a backup into an empty database, verify it, release it", "eine Sicherung in eine leere Datenbank einspielen, prüfen und freigeben"), load: async () => (await import("./restore.ts")).restoreCommands },
  { name: "page",       does: texts("the payment page as browsers receive it: watch", "die Zahlungsseite, wie Browser sie bekommen: überwachen"), load: async () => (await import("./page.ts")).pageCommands },
  { name: "pay",        does: texts("send a test sale, and wait for its result", "eine Testzahlung senden und auf ihr Ergebnis warten"), load: async () => (await import("./pay.ts")).payCommands },
  { name: "generate",   does: texts("many orders for a staging installation", "viele Zahlungen für eine Staging-Installation"), load: async () => (await import("./generate.ts")).generateCommands },
  { name: "certify",    does: texts("test how a merchant's server handles failures in the sandbox, and grade it", "in der Sandbox prüfen, wie der Server eines Händlers mit Störungen umgeht, und ihn benoten"), load: async () => (await import("./certify.ts")).certifyCommands },
];

/** Commands of a machine beside the actions of a subject. */
const beside: Readonly<Record<string, Row["load"]>> = {
  callback: async () => (await import("./callback-follow.ts")).listenCommands,
  key: async () => (await import("./key.ts")).keyCommands,
};

/** All that are no actions of the administration. */
export async function loadMachineCommands(): Promise<readonly (Action | OwnCommand)[]> {
  const loads = [...commands.map(({ load }) => load), ...Object.values(beside)];
  return (await Promise.all(loads.map((load) => load()))).flat();
}

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
    .version("0.2.0")
    .addHelpText("after", `\n${describeExitCodes()}`)
    .exitOverride(onExit)
    // Options belong to the word before them: `gw restore` and `gw restore status` have their own.
    .enablePositionalOptions();
  // The first word, or the second after `help`.
  const isWanted = (name: string) => words === undefined || words.slice(0, 2).includes(name);
  const all: readonly (Row & Pick<Subject, "groups">)[] = [...subjects, ...commands];
  for (const { name, does, load, groups } of all) {
    const command = program.command(name).description(does.en);
    if (!isWanted(name)) continue;
    addCommands(command, [...(await load()), ...((await beside[name]?.()) ?? [])], groups);
  }
  return program;
}
