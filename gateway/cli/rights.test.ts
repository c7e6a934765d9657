/** Checks that every command is a row, and that one which opens the installation has a right. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Command } from "commander";
import { loadAllActions } from "../administration/actions.ts";
import { loadMachineCommands, makeProgram } from "./commands.ts";

/** Commands that read settings or files, call a gateway, or open no existing installation. */
const without = [
  ...["config", "key make", "key split", "key check"],
  ...["backup identity", "restore", "certify", "page watch"],
];

/** Commands that have subcommands and do something themselves. */
const doOneThingMore = ["backup", "restore"];

test("every command is a row of an action or of the machine", async () => {
  const actions = (await loadAllActions()).filter(({ needsNode }) => needsNode !== true);
  const rows = [...actions, ...(await loadMachineCommands())];

  const paths = leavesOf(await makeProgram()).map(pathOf);

  assert.deepEqual(paths.sort(), rows.map(({ name }) => name).sort());
});

test("a machine's command has a right, unless it needs no installation", async () => {
  const rows = await loadMachineCommands();

  const names = rows.filter(({ right }) => right === undefined).map(({ name }) => name);

  assert.deepEqual(names.sort(), without.sort());
});

function leavesOf(command: Command): readonly Command[] {
  const own = command.commands.length === 0 || doOneThingMore.includes(pathOf(command));
  return [...(own ? [command] : []), ...command.commands.flatMap(leavesOf)];
}

function pathOf(command: Command): string {
  const { parent } = command;
  return parent === null ? "" : `${pathOf(parent)} ${command.name()}`.trim();
}
