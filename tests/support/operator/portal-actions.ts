/** The examples of commands as the portal's forms would send them. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { findAction, loadAllActions } from "@tollgate/gateway/actions";
import { namesOf, written } from "@tollgate/gateway/field";
import type { Api } from "@tollgate/gateway/portal-api";

export { makePortalActions } from "@tollgate/gateway/portal-requests";

import { type Example, fill, type Values } from "./command-table.ts";

export type Request = Api["POST /actions/run"]["input"];
type Action = NonNullable<Awaited<ReturnType<typeof findAction>>>;
type Sent = Record<string, string | string[] | boolean>;

export const actions: ReadonlyMap<string, Action> = new Map(
  (await loadAllActions()).map((action) => [action.name, action]),
);
export const offered: ReadonlyMap<string, Action> = new Map(
  [...actions].filter(([, { commandLineOnly }]) => commandLineOnly === undefined),
);

export function actionOf(example: Example): Action | undefined {
  return actions.get(nameIn(example));
}

/** Returns the name of the action. The kinds of `filter add` share an example. */
export function nameIn({ path, words }: Example): string {
  const [name = ""] = path.split(" --");
  return name === "filter add" ? `${name} ${words.split(" ", 1)}` : name;
}

/** Makes the request of an example. The content of a file that the example names is sent. */
export async function requestOf(example: Example, values: Values): Promise<Request> {
  const name = nameIn(example);
  const action = await findAction(name);
  if (action === undefined) throw new Error(`no action ${name}`);
  const given = fill(example, values).split(" ").filter(Boolean);
  if (name !== example.path && name.startsWith("filter add")) given.shift();
  const [, flag] = example.path.split(" --");
  const sent: Sent = flag === undefined ? {} : { [flag]: true };
  const places = Object.entries(action.fields).filter(([, { isWord }]) => isWord);
  while (given.length > 0) {
    const word = given.shift() ?? "";
    if (word.startsWith("--")) {
      readOption(action, word.slice(2), given, sent);
      continue;
    }
    const [place, { isList, kind }] = places[0] ?? assert.fail(`${name} has no place for ${word}`);
    if (!isList) places.shift();
    // A file that does not exist has no content.
    add(sent, place, kind === "file" ? await readFile(word, "utf8").catch(() => "") : word, isList);
  }
  const secret = Object.entries(action.fields).find(
    ([, { kind, isOnlyOnCommandLine }]) => kind === "secret" && isOnlyOnCommandLine !== true,
  );
  if (secret !== undefined) sent[written(secret[0])] = example.input ?? "";
  return { action: name, values: sent };
}

function readOption({ fields }: Action, option: string, given: string[], sent: Sent): void {
  // A form has one field for the reason, which is the same for every action.
  if (option === "why") given.shift();
  for (const [key, field] of Object.entries(fields)) {
    const { kind, isList } = field;
    const name = written(key);
    const { yes, no } = namesOf(key, field);
    if (kind === "toggle" && [yes, no].includes(option)) sent[name] = option === yes;
    else if (kind !== "toggle" && name === option) {
      if (kind === "flag") sent[name] = true;
      else if (kind === "picture") sent[name] = pictureIn(given.shift() ?? "");
      else add(sent, key, given.shift() ?? "", isList);
    }
  }
}

/** Returns a picture as the browser sends it. */
function pictureIn(path: string): string {
  return `data:image/svg+xml;base64,${readFileSync(path, "base64")}`;
}

function add(sent: Sent, key: string, value: string, isList: boolean): void {
  const name = written(key);
  const earlier = sent[name];
  sent[name] = isList ? [...(Array.isArray(earlier) ? earlier : []), value] : value;
}
