/** All commands of `gw`. One file declares and implements a command; it is loaded when used. */
import { Command, type CommanderError } from "commander";
import { describeExitCodes, exitCodes } from "./terminal.ts";

type Row = readonly [
  name: string,
  description: string,
  load: () => Promise<(command: Command, make: typeof makeProgram) => void>,
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
  ["audit",     "who changed what, from where, and why: list, verify",                          async () => (await import("./audit.ts")).addAuditCommands],
  ["user",      "people and their roles",                                                       async () => (await import("./user.ts")).addUserCommands],
  ["access-review", "print all users with role, last use, factors and who admitted them",       async () => (await import("./user.ts")).addAccessReview],
  ["approval",  "what waits for a second person: list, give",                                   async () => (await import("./user.ts")).addApprovalCommands],
  ["apply",     "make the configuration what a file says, in one transaction",                  async () => (await import("./apply.ts")).addApply],
  ["export",    "write the configuration as a file for gw apply, without secrets",              async () => (await import("./apply.ts")).addExport],
  ["merchant",  "create, show and change merchants",                                            async () => (await import("./merchant.ts")).addMerchantCommands],
  ["cell",      "cells: the databases and schemas that merchants' orders are in",                 async () => (await import("./cell.ts")).addCellCommands],
  ["wallet",    "merchants' identifiers at wallets, and the keys for their payment data",       async () => (await import("./wallet.ts")).addWalletCommands],
  ["directory", "directory servers of 3-D Secure, and their card ranges",                       async () => (await import("./directory.ts")).addDirectoryCommands],
  ["gate",      "gates: the connections to acquirers",                                          async () => (await import("./gate.ts")).addGateCommands],
  ["endpoint",  "create and change endpoints",                                                  async () => (await import("./endpoint.ts")).addEndpointCommands],
  ["group",     "create and change endpoint groups",                                                 async () => (await import("./endpoint.ts")).addGroupCommands],
  ["filter",    "the rules of screening: add, list, change, try on past orders",               async () => (await import("./filter.ts")).addFilterCommands],
  ["list",      "the allow and block lists of screening: add, show, remove, import",            async () => (await import("./list.ts")).addListCommands],
  ["order",     "list, export and show orders",                                                          async () => (await import("./order.ts")).addOrderCommands],
  ["link",      "payment links: create, list, show, close",                                     async () => (await import("./link.ts")).addLinkCommands],
  ["page",      "the payment page as browsers receive it: watch",                               async () => (await import("./page.ts")).addPageCommands],
  ["pay",       "send a test sale, and wait for its result",                                    async () => (await import("./pay.ts")).addPay],
  ["tail",      "print orders as they go, until Ctrl-C",                                        async () => (await import("./order-list.ts")).addTail],
  ["generate",  "many orders for a staging installation",                                       async () => (await import("./generate.ts")).addGenerateCommands],
  ["completion", "print the completion script of a shell: bash or zsh",                          async () => (await import("./completion.ts")).addCompletion],
  ["doubt",     "orders in doubt: it is not known whether the bank processed the transaction",  async () => (await import("./doubt.ts")).addDoubtCommands],
  ["reconcile", "compare a day of a gate with the acquirer's settlement file or its host",      async () => (await import("./reconcile.ts")).addReconcile],
  ["chargeback", "chargebacks: import the acquirer's file, list",                               async () => (await import("./chargeback.ts")).addChargebackCommands],
  ["bin",       "load and search the BIN table: which bank issued a card",                      async () => (await import("./bin.ts")).addBinCommands],
  ["card",      "show and remove registered cards",                                             async () => (await import("./card.ts")).addCardCommands],
  ["privacy",   "erase a person's data on request",                                             async () => (await import("./privacy.ts")).addPrivacyCommands],
  ["key",       "the vault's keys, and the key-encryption key that seals them",                 async () => (await import("./key.ts")).addKeyCommands],
  ["callback",  "callbacks to merchants: list, show every attempt, send again",                 async () => (await import("./callback.ts")).addCallbackCommands],
  ["certify",   "play the worst days against a merchant's server in the sandbox, and grade it",  async () => (await import("./certify.ts")).addCertify],
];

/** A wrong option is refused as any other input. */
function exitProcess({ exitCode }: CommanderError): never {
  return process.exit(exitCode === 0 ? 0 : exitCodes.refused);
}

/** With the options of every command, or of those alone that the words may mean. */
export async function makeProgram(
  words?: readonly string[],
  onExit: (error: CommanderError) => void = exitProcess,
): Promise<Command> {
  const needsAll = words === undefined || words[0] === "completion";
  const program = new Command("gw")
    .description("Tollgate, a card payment gateway that you run yourself")
    .version("0.1.0")
    .addHelpText("after", `\n${describeExitCodes()}`)
    .exitOverride(onExit)
    // Options belong to the word before them: `gw restore` and `gw restore status` have their own.
    .enablePositionalOptions();
  for (const [name, description, load] of commands) {
    const command = program.command(name).description(description);
    // The first word, or the second after `help`.
    if (needsAll || words.slice(0, 2).includes(name)) (await load())(command, makeProgram);
  }
  return program;
}
