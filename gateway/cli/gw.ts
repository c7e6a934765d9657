#!/usr/bin/env -S node --disable-sigusr1
/** The entry point of the command line `gw`, which loads only the command that is used. */
import { makeProgram } from "./commands.ts";
import { endWhenUnread } from "./terminal.ts";

endWhenUnread(process.stdout);
const program = await makeProgram(process.argv.slice(2));
await program.parseAsync();
