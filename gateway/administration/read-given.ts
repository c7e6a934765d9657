/** Reads the values of an action's fields, for the command line and the portal in the same way. */
import { Problem } from "../values/problem.ts";
import type { Action } from "./action.ts";
import { type Content, type Field, written } from "./field.ts";
import type { Values } from "./perform.ts";

/** The values that a user has given, by the names of the fields in the code. */
export type GivenTexts = Readonly<
  Record<string, string | readonly string[] | boolean | Content | undefined>
>;

export function readGiven({ fields }: Pick<Action, "fields">, given: GivenTexts): Values | Problem {
  const names = Object.keys(given).filter((name) => given[name] !== undefined);
  const stray = names.find((name) => !Object.hasOwn(fields, name));
  if (stray !== undefined)
    return new Problem(`There is no field ${written(stray)} here.`, "invalid_input");
  const values: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(fields)) {
    const value = given[name] ?? field.preset;
    const isMissing = value === undefined || (Array.isArray(value) && value.length === 0);
    if (isMissing && field.isRequired) {
      return new Problem(`${written(name)} is required.`, "invalid_input", name);
    }
    if (value === undefined || (field.kind === "flag" && value === false)) {
      if (field.isWord && field.isList) values[name] = [];
      continue;
    }
    const fault = findFault(name, field, value);
    if (fault !== undefined) return fault;
    values[name] = value;
  }
  return values;
}

function findFault(
  name: string,
  { kind, isList, choices }: Field,
  value: NonNullable<GivenTexts[string]>,
): Problem | undefined {
  const isContent = typeof value === "object" && "open" in value;
  const isRightShape =
    kind === "flag" || kind === "toggle"
      ? typeof value === "boolean"
      : kind === "file" || kind === "secret"
        ? isContent
        : isList
          ? Array.isArray(value)
          : typeof value === "string";
  if (!isRightShape)
    return new Problem(`${written(name)} has a value of another kind.`, "invalid_input", name);
  const texts = isContent || typeof value === "boolean" ? [] : [value].flat();
  const stray = choices && texts.find((text) => !choices.includes(text));
  if (stray === undefined || choices === undefined) return undefined;
  return new Problem(
    `${written(name)} is one of ${choices.join(", ")}, not ${stray}.`,
    "invalid_input",
    name,
  );
}
