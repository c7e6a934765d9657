/** The documents name only commands, options and settings that exist. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Command } from "commander";
import { makeProgram } from "../gateway/cli/commands.ts";
import { readRepository } from "./repository.ts";

const program = await makeProgram();
const files = readRepository();
const textOf = (path: string) => files.find((file) => file.path === path)?.text ?? "";
const settings = textOf("docs/settings.md");
const { scripts } = JSON.parse(textOf("package.json"));

/** The documents for operators. */
const pages = files.map(({ path }) => path).filter((path) => /^docs\/[a-z0-9-]+\.md$/.test(path));

test("the documents for operators name commands", () => {
  const shown = pages.flatMap((path) => typedIn(textOf(path)));

  assert.ok(shown.length > 100, `${shown.length} commands`);
});

for (const path of pages) {
  test(`the commands and settings in ${path} exist`, () => {
    const text = textOf(path);
    assert.deepEqual(typedIn(text).flatMap(findFaults), []);
    const run = [...text.matchAll(/npm run ([a-z]+)/g)].map(([, script = ""]) => script);
    assert.deepEqual(
      run.filter((script) => !(script in scripts)),
      [],
    );
    const named = new Set(text.match(/\bGW_[A-Z0-9_]+/g));
    // This setting of the tests is not in the table of settings.
    named.delete("GW_TEST_CITUS_URL");
    assert.deepEqual(
      [...named].filter((name) => !settings.includes(`\`${name}\``)),
      [],
    );
  });
}

test("commands, subcommands and options that do not exist are found", () => {
  for (const line of ["gw sell it", "gw cell sell", "gw cell add north --sharded"]) {
    assert.equal(findFaults(line).length, 1, line);
  }
  assert.deepEqual(findFaults("gw cell add north --url-file north.url"), []);
});

function typedIn(text: string): readonly string[] {
  const joined = text.replace(/\\\n\s*/g, "");
  const lines = joined.matchAll(/(?:^(?:\$ )?|`|npm run )(gw [^\n`|]+)/gm);
  return [...lines].map(([, line = ""]) => line);
}

function findFaults(line: string): readonly string[] {
  const words = line
    .replace(/^gw (-- )?…?/, "")
    .split(/\s+/)
    .filter(Boolean);
  let command: Command = program;
  let depth = 0;
  for (const word of words) {
    const next = command.commands.find((each) => each.name() === word);
    if (next === undefined) break;
    command = next;
    depth += 1;
  }
  // A text may name a group of commands. `gw backup` is a group that has options of its own.
  const isGroup = command.commands.length > 0 && words[depth]?.startsWith("--") !== true;
  if (isGroup) return depth < words.length ? [`there is no ${line}`] : [];
  const options = words.filter((word) => word.startsWith("--") && word !== "--");
  const known = new Set(command.options.map(({ long }) => long));
  return options.filter((option) => !known.has(option)).map((option) => `${line}: no ${option}`);
}
