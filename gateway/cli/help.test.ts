/** Checks the help texts: options, exit codes, and the commands that sentences advise to run. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Command } from "commander";
import { makeProgram } from "./commands.ts";
import { describeExitCodes, exitCodes, exitMeanings } from "./terminal.ts";

const root = join(import.meta.dirname, "../..");
const program = await makeProgram();
const leaves = leavesOf(program);

test("every command has --json, and every option a description and a name of its own", () => {
  for (const command of leaves) {
    const flags = command.options.map(({ long }) => long);

    assert.ok(flags.includes("--json"), `${nameOf(command)} has no --json`);
    assert.equal(new Set(flags).size, flags.length, `${nameOf(command)} has an option twice`);
    for (const { description, flags: shown } of command.options) {
      assert.ok(description.length > 3, `${nameOf(command)} ${shown} has no description`);
    }
  }
});

test("every option of the help is accepted, and no other one", async () => {
  for (const command of leaves) {
    const [typed, taken] = [wordsOf(command), nameOf(command)];
    assert.doesNotThrow(() => parse(command, typed), `gw ${taken} ${typed.join(" ")}`);
    assert.throws(() => parse(command, [...typed, "--no-such-option"]), /unknown option/, taken);
  }
});

test("the exit codes are those of the help and of the document", () => {
  const document = readFileSync(join(root, "docs/command-line.md"), "utf8");
  const rows = Object.entries(exitCodes).map(([name, code]) => [
    code,
    exitMeanings[name as keyof typeof exitCodes],
  ]);

  for (const [code, meaning] of rows) {
    assert.ok(document.includes(`| ${code} | ${meaning} |`), `${code} is not in the document`);
    assert.ok(describeExitCodes().includes(`${code}`), `${code} is not in the help`);
  }
});

test("every command that a sentence tells the operator to run exists", () => {
  const told = globSync("gateway/**/*.ts", { cwd: root })
    .filter((path) => !path.endsWith(".test.ts"))
    .flatMap((path) => [
      ...readFileSync(join(root, path), "utf8").matchAll(/`gw ([a-z][^`\\$|]*)\\?`/g),
    ])
    // A comment may break the line within a command.
    .map(([, words = ""]) => words.replaceAll(/\n *\* /g, " "));

  assert.ok(told.length > 30, `${told.length} sentences`);
  assert.deepEqual(
    told.filter((words) => !exists(words)),
    [],
  );
});

function exists(words: string): boolean {
  let command: Command = program;
  const options: string[] = [];
  for (const word of words.split(/\s+/)) {
    const next = command.commands.find((each) => each.name() === word);
    if (next !== undefined) command = next;
    else if (word.startsWith("--")) options.push(word.replace(/=.*/, ""));
    else if (command.commands.length > 0 && command.registeredArguments.length === 0) {
      return /^[<$…]/.test(word);
    }
  }
  const known = ["--help", ...command.options.map(({ long }) => long)];
  return options.every((option) => known.includes(option));
}

/** Returns one argument and one option of each kind, as the usage names them. */
function wordsOf(command: Command): readonly string[] {
  const given = command.registeredArguments.map(() => "1");
  const options = command.options.flatMap(({ long, required, optional, argChoices, negate }) =>
    negate ? [] : [long ?? "", ...(required || optional ? [argChoices?.[0] ?? "1"] : [])],
  );
  return [...given, ...options];
}

function parse(command: Command, words: readonly string[]): void {
  command
    .exitOverride((error) => {
      throw error;
    })
    .configureOutput({ writeErr: () => undefined });
  const { unknown } = command.parseOptions([...words]);
  const [first] = unknown.filter((word) => word.startsWith("--"));
  if (first !== undefined) throw new Error(`unknown option ${first}`);
}

function nameOf(command: Command): string {
  const { parent } = command;
  return parent === null ? "" : `${nameOf(parent)} ${command.name()}`.trim();
}

/** A command that does something may also have subcommands. */
function leavesOf(command: Command): readonly Command[] {
  const below = command.commands.flatMap(leavesOf);
  const isOwn = command.commands.length === 0 || command.options.length > 0;
  return isOwn && command.parent !== null ? [command, ...below] : below;
}
