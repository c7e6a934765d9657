/** Every command that works on the installation, but for actions, is in the table of rights. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Command } from "commander";
import { loadAllActions } from "../administration/actions.ts";
import { makeProgram } from "./commands.ts";
import { pathOf } from "./perform.ts";
import { commandRights } from "./rights.ts";

/** They read settings or files, call a gateway, or open an installation that is not there yet. */
const without = [
  ...["config", "key make", "key split", "key check"],
  ...["backup identity", "restore", "certify", "page watch"],
];

/** Commands that have others below them. */
const doOneThingMore = ["backup", "restore"];

test("the table of rights has every command, and no other", async () => {
  const converted = (await loadAllActions()).map(({ name }) => name);
  const paths = leavesOf(await makeProgram())
    .map(pathOf)
    .filter((path) => !converted.includes(path));

  const listed = Object.keys(commandRights).filter((path) => !path.endsWith("--reveal"));
  assert.deepEqual(paths.filter((path) => !without.includes(path)).sort(), listed.sort());
});

function leavesOf(command: Command): readonly Command[] {
  const own = command.commands.length === 0 || doOneThingMore.includes(pathOf(command));
  return [...(own ? [command] : []), ...command.commands.flatMap(leavesOf)];
}
