/**
 * Which language the cardholder's pages speak. There is one table for each: a language is added by
 * one more, and the compiler asks for all of its rows.
 */
import { english } from "./english.ts";
import { german } from "./german.ts";

type Words<Table> = {
  readonly [Key in keyof Table]: Table[Key] extends string
    ? string
    : Table[Key] extends (...given: never) => string
      ? Table[Key]
      : Words<Table[Key]>;
};
export type Texts = Words<typeof english>;

/** The first speaks to whoever wants none of them. */
const languages: ReadonlyMap<string, Texts> = new Map([
  ["en", english],
  ["de", german],
]);

export type Spoken = { readonly language: string; readonly texts: Texts };

/** The first language of the list that there is a table for, by the reader's preference. */
export function speak(acceptLanguage = ""): Spoken {
  const wanted = preferences(acceptLanguage);
  const known = wanted.flatMap(({ primary, weight }) => {
    if (weight === 0) return [];
    // A star stands for all languages that the list does not name.
    const named = wanted.map((each) => each.primary);
    if (primary === "*") return [...languages.keys()].filter((each) => !named.includes(each));
    return languages.has(primary) ? [primary] : [];
  });
  const language = known[0] ?? "en";
  return { language, texts: languages.get(language) ?? english };
}

type Preference = { readonly primary: string; readonly weight: number };

/** `de-AT;q=0.8, en` means en, then de: regions are left out, and weights sort. */
function preferences(header: string): readonly Preference[] {
  return header
    .split(",", 20)
    .map((entry) => {
      const [tag = "", ...parameters] = entry.split(";");
      const weight = parameters.find((parameter) => /^\s*q=/i.test(parameter))?.split("=")[1];
      const [primary = ""] = tag.trim().toLowerCase().split("-");
      return { primary, weight: weight === undefined ? 1 : Number.parseFloat(weight) };
    })
    .filter(({ weight }) => weight >= 0)
    .sort((left, right) => right.weight - left.weight);
}
