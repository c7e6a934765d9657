/** The examples of commands as the portal's forms would send them. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { findAction, loadAllActions } from "@tollgate/gateway/actions";
import { written } from "@tollgate/gateway/field";
import type { Api } from "@tollgate/gateway/portal-api";

export { makePortalActions } from "@tollgate/gateway/portal-requests";

import type { changing, Values } from "./command-table.ts";

type Example = (typeof changing)[number];
export type Request = Api["POST /actions/run"]["input"];
type Action = NonNullable<Awaited<ReturnType<typeof findAction>>>;
type Sent = Record<string, string | string[] | boolean>;

export const offered: ReadonlyMap<string, Action> = new Map(
  (await loadAllActions())
    .filter(({ commandLineOnly, needsNode, hasOwnRoute }) => {
      return commandLineOnly === undefined && !needsNode && !hasOwnRoute;
    })
    .map((action) => [action.name, action]),
);

/** The kinds of `filter add` share an example. */
export function nameIn({ path, words }: Example): string {
  const [name = ""] = path.split(" --");
  return name === "filter add" ? `${name} ${words.split(" ", 1)}` : name;
}

/** The content of a file that the example names is sent. */
export async function requestOf(example: Example, values: Values): Promise<Request> {
  const name = nameIn(example);
  const action = await findAction(name);
  if (action === undefined) throw new Error(`no action ${name}`);
  const filled = example.words.replace(/<(\w+)>/g, (_, each) => values.get(each) ?? "");
  const given = filled.split(" ").filter(Boolean);
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
    // A file that is not there has no content.
    add(sent, place, kind === "file" ? await readFile(word, "utf8").catch(() => "") : word, isList);
  }
  const secret = Object.entries(action.fields).find(
    ([, { kind, isOnlyOnCommandLine }]) => kind === "secret" && isOnlyOnCommandLine !== true,
  );
  if (secret !== undefined) sent[written(secret[0])] = example.input ?? "";
  return { action: name, values: sent };
}

function readOption({ fields }: Action, option: string, given: string[], sent: Sent): void {
  for (const [key, { kind, names, isList }] of Object.entries(fields)) {
    const name = written(key);
    const { yes, no } = names ?? { yes: name, no: `no-${name}` };
    if (kind === "toggle" && [yes, no].includes(option)) sent[name] = option === yes;
    else if (kind !== "toggle" && name === option) {
      if (kind === "flag") sent[name] = true;
      else add(sent, key, given.shift() ?? "", isList);
    }
  }
}

function add(sent: Sent, key: string, value: string, isList: boolean): void {
  const name = written(key);
  const earlier = sent[name];
  sent[name] = isList ? [...(Array.isArray(earlier) ? earlier : []), value] : value;
}
