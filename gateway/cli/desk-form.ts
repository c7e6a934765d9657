/** What a command takes, for a form that is made from it: Commander's own description. */
import type { Argument, Command, Option } from "commander";
import { type Offer, ownOptions, wordsOf } from "./desk-offers.ts";
import { rightsOf, rightsPathOf } from "./perform.ts";

export function describeCommand(name: string, command: Command, offer: Offer) {
  const path = rightsPathOf(command);
  const [, mode] = rightsOf(command);
  return {
    name,
    does: command.description(),
    isChange: mode === "change" || mode === "record",
    ...(offer.input && { input: offer.input }),
    words: command.registeredArguments
      .filter((argument) => !isFile(argument, offer))
      .map((argument) => ({
        name: argument.name(),
        isRequired: argument.required,
        isList: argument.variadic,
        choices: wordsOf[`${path} ${argument.name()}`] ?? choicesIn(argument.name()),
      })),
    options: optionsOf(command).map((option) => describeOption(path, option)),
  };
}

function describeOption(path: string, option: Option) {
  const { long = "", flags, description, mandatory, argChoices, defaultValue } = option;
  const [, value = ""] = /[<[]([^<>[\]]+)[>\]]/.exec(flags) ?? [];
  // As rules of screening say it, at the end of their help.
  const [, words = value] = /\(([\w-]+(?:\|[\w-]+)+)\)$/.exec(description) ?? [];
  return {
    name: long.replace(/^--/, ""),
    does: description,
    isRequired: mandatory,
    /** Empty for a switch without a value. */
    value,
    choices: argChoices ?? wordsOf[`${path} ${long}`] ?? choicesIn(words),
    ...(typeof defaultValue === "string" && { preset: defaultValue }),
    isRepeated: option.parseArg !== undefined && option.argChoices === undefined,
  };
}

/** `on|off` and `GET|POST|JSON`, but neither `days|none` nor `single|many|n`. */
function choicesIn(text: string): readonly string[] {
  const words = text.split("|");
  const isOpen = words.some((word) => ["n", "days", "seconds"].includes(word));
  return words.length < 2 || isOpen ? [] : words;
}

/** Sent, in place of the name of a file. */
export function isFile(argument: Argument, { input }: Offer): boolean {
  return input === "file" && argument.name().startsWith("file");
}

export function optionsOf(command: Command): readonly Option[] {
  const own: readonly string[] = ownOptions;
  return command.options.filter(({ long }) => long !== undefined && !own.includes(long));
}
