/** The examples of commands as the portal's forms would send them. */
import { readFile } from "node:fs/promises";
import type { Api } from "@tollgate/gateway/portal-api";

export { makeProgram } from "@tollgate/gateway/commands";
export { makeDesk, offers } from "@tollgate/gateway/desk";

import type { changing, Values } from "./command-table.ts";

type Example = (typeof changing)[number];
export type Request = Api["POST /commands/run"]["input"];

/** A file that the example names is sent as the form's input. */
export async function requestOf(example: Example, values: Values): Promise<Request> {
  const [path = "", flag] = example.path.split(" --");
  const filled = example.words.replace(/<(\w+)>/g, (_, name) => values.get(name) ?? "");
  const given = filled.split(" ").filter(Boolean);
  const kind = path === "filter add" ? ` ${given.shift()}` : "";
  const words: string[] = [];
  const options: { name: string; value?: string }[] = flag === undefined ? [] : [{ name: flag }];
  let { input } = example;
  while (given.length > 0) {
    const word = given.shift() ?? "";
    const next = given[0];
    const hasValue = next !== undefined && !next.startsWith("--");
    if (word.startsWith("--")) {
      options.push({ name: word.slice(2), ...(hasValue && { value: given.shift() ?? "" }) });
    } else if (word.startsWith(values.get("folder") ?? "-")) {
      // One that is not there has no content.
      input = await readFile(word, "utf8").catch(() => "");
    } else words.push(word);
  }
  return { name: `${path}${kind}`, words, options, ...(input !== undefined && { input }) };
}
