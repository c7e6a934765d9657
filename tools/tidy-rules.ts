/**
 * The style guide as functions: each looks at one file and says what is wrong with it. A rule that
 * is silenced twice with good reason is wrong, and is changed here.
 */
import { isSource, isTest, lineOf, nameOf, type TextFile } from "./repository.ts";

const bannedWords = new Set([
  ...["util", "helper", "common", "misc", "manager", "processor", "service", "base"],
  ...["abstract", "impl", "data", "info", "handle"],
]);

/** Terms of the field itself: they are not ours to choose. */
const terms = /\boriginal data\b|\bbase url\b/;

/** Names that hide what a thing does; `services.ts` is the one list of collaborators. */
export function findBannedNames(file: TextFile): readonly string[] {
  const exported = /^export (?:async )?(?:const|let|function|class|type|interface) (\w+)/gm;
  const names = isSource(file) ? [...file.parts.code.matchAll(exported)] : [];
  return [nameOf(file), ...names.map(([, name = ""]) => name)]
    .filter((name) => !(/services$/i.test(name) && file.path.endsWith("/services.ts")))
    .filter((name) => wordsOf(name).some((word) => bannedWords.has(word.replace(/s$/, ""))))
    .map((name) => `${file.path} the name ${name} says nothing; which job does it do?`);
}

export function findUnfinished(file: TextFile): readonly string[] {
  return [
    ...placesOf(file, file.parts.comments, /\b(TODO|FIXME|XXX)\b/g, "open an issue instead"),
    ...placesOf(file, file.parts.code, /\bas any\b/g, "say what it is"),
    ...placesOf(file, file.parts.code, /\.(only|skip)\(/g, "every test runs; say { skip: reason }"),
  ];
}

/** Secrets are opened in few places; each of them is on the list. */
export function findReveals(file: TextFile): readonly string[] {
  return placesOf(file, file.parts.code, /\.reveal\(/g, "not on the list of files that may reveal");
}

// Lower or upper case throughout: "Select a card from the list" is a sentence.
const statement = new RegExp(
  [
    String.raw`\b(?:insert into|INSERT INTO|delete from|DELETE FROM)\s`,
    String.raw`\b(?:update|UPDATE)\s+\w+(?:\s+(?:as\s+)?\w+)?\s+(?:set|SET)\b`,
    String.raw`(?<!\w)(?:select|SELECT)\s[^\0]*?\s(?:from|FROM)\s`,
  ].join("|"),
  "g",
);

export function findStrayStatements(file: TextFile): readonly string[] {
  const allowed = ["gateway/storage/", "tests/", "benchmarks/", "tools/tidy.test.ts"];
  if (allowed.some((place) => file.path.startsWith(place))) return [];
  return placesOf(file, file.parts.strings, statement, "SQL stands in gateway/storage only");
}

export function changesOrders({ path, text, parts }: TextFile): boolean {
  if (!path.startsWith("gateway/") || path.endsWith(".test.ts")) return false;
  return /\bupdate\s+(only\s+)?orders\b/i.test(path.endsWith(".sql") ? text : parts.strings);
}

/** Time and chance are handed in, so that the same order and event always lead to the same step. */
export function findClocks(file: TextFile): readonly string[] {
  const pure = ["gateway/values/", "gateway/orders/", "gateway/views/"];
  if (file.path === "gateway/values/time.ts" || isTest(file)) return [];
  if (!pure.some((folder) => file.path.startsWith(folder))) return [];
  const clock = /\bnew Date\(|\bDate\.now\(|\bMath\.random\(|\bperformance\.now\(/g;
  return placesOf(file, file.parts.code, clock, "no clock and no chance in here");
}

export function findMissingOpening({ path, text }: TextFile): readonly string[] {
  if (!/\.(ts|tsx|mjs|js|sql|css)$/.test(path)) return [];
  const opens = /^(#!.*\n)?\s*(\/\/|\/\*|--)/.test(text);
  return opens ? [] : [`${path} opens without a comment that says what it is`];
}

export function findTitleFaults({ path, text }: TextFile): readonly string[] {
  if (!path.endsWith(".md")) return [];
  const withoutCode = text.replace(/^(```|~~~)[\s\S]*?^\1/gm, "");
  const count = withoutCode.match(/^# /gm)?.length ?? 0;
  return count === 1 ? [] : [`${path} has ${count} titles instead of one`];
}

/** What is true on one machine only has no place in a repository. */
export function findMachineTraces(file: TextFile): readonly string[] {
  if (file.path === "package-lock.json") {
    return placesOf(file, file.text, /"resolved": "http/g, "the lock file names no addresses");
  }
  const folder = /(?<![\w.~-])\/(home|Users|work)\/[\w.-]+|\b[A-Z]:\\\\?Users\b/g;
  const registry = /\b(registry|npm|pkgs?)\.(npmjs|yarnpkg|npmmirror|pkg\.github|jsr)\.\w+/g;
  return [
    ...placesOf(file, file.text, folder, "a path of one machine"),
    ...placesOf(file, file.text, registry, "a host that packages come from"),
  ];
}

export function findDeepFolders({ path }: TextFile): readonly string[] {
  const below = path.split("/").length - 2;
  return below > 3 ? [`${path} is ${below} folders below its workspace; the limit is 3`] : [];
}

function placesOf(file: TextFile, text: string, pattern: RegExp, fault: string): string[] {
  return [...text.matchAll(pattern)].map(
    (match) => `${file.path}:${lineOf(text, match.index)} ${match[0].trim()}: ${fault}`,
  );
}

function wordsOf(name: string): readonly string[] {
  const apart = name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replace(/[-_.]/g, " ");
  return apart.toLowerCase().replace(terms, "").split(" ");
}
