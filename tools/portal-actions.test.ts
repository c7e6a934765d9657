/**
 * The portal offers every action, except those with a reason to be on the command line only, and
 * offers it to the users who may perform it.
 */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { loadAllActions } from "../gateway/administration/actions.ts";
import { type Offered, rightFor } from "../portal/actions/offers.ts";
import { english } from "../portal/language/texts.ts";
import { root } from "./repository.ts";

const screens = globSync("portal/**/*.{ts,tsx}", { cwd: root })
  .filter((path) => !/node_modules|\.test\.|\.generated\.|portal\/language/.test(path))
  .map((path) => readFileSync(join(root, path), "utf8"))
  .join("\n");
/** The screen appends the kind of a rule to the action. */
const isIn = (name: string) =>
  screens.includes(`"${name}"`) || screens.includes(`\`${name.split(" ", 2).join(" ")} \${`);

test("a screen of the portal performs every action that is offered", async () => {
  const offered = (await loadAllActions()).filter((each) => each.commandLineOnly === undefined);

  const missing = offered.map(({ name }) => name).filter((name) => !isIn(name));
  assert.deepEqual(missing, []);
});

test("the portal offers an action to users who have the right that the gateway asks for", async () => {
  const actions = new Map((await loadAllActions()).map((action) => [action.name, action]));
  const buttons = Object.keys(english.buttons) as readonly Offered[];

  const faults = buttons.filter((button) => {
    // An action on the control key needs the right to see it.
    const { right, fields } = actions.get(button) ?? actions.get(`${button} amount`) ?? {};
    return rightFor(button) !== (fields?.["reveal"]?.right ?? right);
  });
  assert.deepEqual(faults, []);
});
