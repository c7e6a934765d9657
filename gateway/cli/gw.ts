#!/usr/bin/env node
/** The command line: one file per command, and their lists by what they are about. */
import { Command } from "commander";
import { addCallbackCommands } from "./commands/callbacks.ts";
import { addCardCommands } from "./commands/cards.ts";
import { addDirectoryCommands } from "./commands/directories.ts";
import { addEndpointCommands } from "./commands/endpoints.ts";
import { addGateCommands } from "./commands/gates.ts";
import { addInstallationCommands } from "./commands/installation.ts";
import { addKeyCommands } from "./commands/keys.ts";
import { addMerchantCommands } from "./commands/merchants.ts";
import { addOrderCommands } from "./commands/orders.ts";
import { addWalletCommands } from "./commands/wallets.ts";

const program = new Command("gw")
  .description("Tollgate, a card payment gateway that you run yourself")
  .version("0.1.0");

for (const add of [
  addInstallationCommands,
  addMerchantCommands,
  addWalletCommands,
  addDirectoryCommands,
  addGateCommands,
  addEndpointCommands,
  addOrderCommands,
  addCardCommands,
  addKeyCommands,
  addCallbackCommands,
]) {
  add(program);
}

await program.parseAsync();
