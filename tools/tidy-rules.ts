/**
 * The style guide as functions. Each function checks one file and returns its faults. A rule that
 * needs two exceptions for good reasons is wrong, and is changed here.
 */
import { shortFiles } from "./exceptions.ts";
import { isSource, isTest, lineOf, nameOf, type TextFile } from "./repository.ts";

const bannedWords = new Set([
  ...["util", "helper", "common", "misc", "manager", "processor", "service", "base"],
  ...["abstract", "impl", "info", "handle"],
]);

/** Finds names that say nothing about what they name. `services.ts` is the one exception. */
export function findBannedNames(file: TextFile): readonly string[] {
  const exported = /^export (?:async )?(?:const|let|function|class|type|interface) (\w+)/gm;
  const names = isSource(file) ? [...file.parts.code.matchAll(exported)] : [];
  return [nameOf(file), ...names.map(([, name = ""]) => name)]
    .filter((name) => !(/services$/i.test(name) && file.path.endsWith("/services.ts")))
    .filter((name) => wordsOf(name).some((word) => bannedWords.has(word.replace(/s$/, ""))))
    .map((name) => `${file.path} the name ${name} says nothing; which job does it do?`);
}

/** Finds types and classes that two files of the gateway export under the same name. */
export function findSharedNames(sources: readonly TextFile[]): ReadonlyMap<string, string> {
  const exported = /^export (?:abstract )?(?:type|interface|class) (\w+)/gm;
  const shipped = sources.filter((file) => file.path.startsWith("gateway/") && !isTest(file));
  const found = shipped.flatMap(({ path, parts }) =>
    [...parts.code.matchAll(exported)].map(([, name = ""]) => ({ name, path })),
  );
  const shared = [...Map.groupBy(found, ({ name }) => name)].filter(([, each]) => each.length > 1);
  return new Map(shared.map(([name, each]) => [name, each.map(({ path }) => path).join(", ")]));
}

export function findUnfinished(file: TextFile): readonly string[] {
  return [
    ...placesOf(file, file.parts.comments, /\b(TODO|FIXME|XXX)\b/g, "open an issue instead"),
    ...placesOf(file, file.parts.code, /\bas any\b/g, "say what it is"),
    ...placesOf(file, file.parts.code, /\.(only|skip)\(/g, "every test runs; say { skip: reason }"),
  ];
}

type Wording = readonly [pattern: RegExp, instead: string];

/** Words with which a reader needs the code to understand the comment. */
const unclearWords: readonly Wording[] = [
  [/^(?:Of|By|Else|What|Who)\b/g, "begin with the subject or the verb of a sentence"],
  // A phrase with a comma may be followed by a subject.
  [/^(?:As|With)\b(?![^.;:]*, (?!and|or|when|which)\w)/g, "begin with the subject or the verb"],
  [
    /^Nothing (?:but|for|from|if|in|of|on|that|to|until|when|where|with)\b/g,
    "name what is returned",
  ],
  [/\banew\b/gi, "say again"],
  [/\bmeanwhile\b/gi, "name what happens at the same time"],
  [/\baside\b/gi, "name what is done with it"],
  [/\btold\b/gi, "say notified, reported or shown"],
  [/\b(?:is|are|was|were|be|been) away\b(?! from)/gi, "say unreachable"],
  [/\bothers than\b/gi, "name what has changed"],
  [/(?<!there )\bis none\b/gi, "name what is missing"],
];

/** Finds comments of the product that are fragments or riddles. */
export function findUnclearComments(file: TextFile): readonly string[] {
  if (!isProduct(file)) return [];
  return commentsIn(file).flatMap(({ text, line }) =>
    unclearWords.flatMap(([pattern, fault]) =>
      [...text.matchAll(pattern)].map(([found]) => `${file.path}:${line} ${found}: ${fault}`),
    ),
  );
}

/** Returns each comment on one line. Successive lines with two slashes are one comment. */
function commentsIn({ parts: { comments } }: TextFile) {
  const whole = /\/\*[\s\S]*?\*\/|\/\/.*(?:\n *\/\/.*)*/g;
  const marks = /^ *(?:\/\*+|\*\/?|\/\/)| *\*\/$/gm;
  return [...comments.matchAll(whole)].map((match) => ({
    text: match[0].replaceAll(marks, "").replaceAll(/\s+/g, " ").trim(),
    line: lineOf(comments, match.index),
  }));
}

/** Finds types of the product whose names do not say what they are. */
export function findEmptyNames(file: TextFile): readonly string[] {
  const empty = /\b(?:type|interface|class) \w*(?:Place|Thing|Stuff|Bundle|Resources)\b/g;
  return isProduct(file) ? placesOf(file, file.parts.code, empty, "name it by what it is") : [];
}

function isProduct({ path }: TextFile): boolean {
  return /^(?:gateway|portal|protocols|sandbox-bank|client|docs-site|tools)\//.test(path);
}

/** Finds object literals that are spread into another. Their properties belong into that object. */
export function findSpreadLiterals(file: TextFile): readonly string[] {
  return placesOf(file, file.parts.code, /\.\.\.\{/g, "write the properties into the object");
}

/** Finds decisions in the wiring, which only builds parts and passes them to each other. */
export function findDecisions(file: TextFile): readonly string[] {
  const decision = /\b(?:if|for|while|switch)\s*\(|(?<=\s)\?(?=\s)/g;
  return placesOf(file, file.parts.code, decision, "decide it in the part that it belongs to");
}

/** Finds calls that reveal a secret, which only a few listed files may contain. */
export function findReveals(file: TextFile): readonly string[] {
  return placesOf(file, file.parts.code, /\.reveal\(/g, "not on the list of files that may reveal");
}

// Keywords in one case throughout, because "Select a card from the list" is a sentence.
const statement = new RegExp(
  [
    String.raw`\b(?:insert into|INSERT INTO|delete from|DELETE FROM)\s`,
    String.raw`\b(?:update|UPDATE)\s+\w+(?:\s+(?:as\s+)?\w+)?\s+(?:set|SET)\b`,
    String.raw`(?<!\w)(?:select|SELECT)\s[^\0]*?\s(?:from|FROM)\s`,
  ].join("|"),
  "g",
);

export function findStrayStatements(file: TextFile): readonly string[] {
  const allowed = ["gateway/storage/", "examples/", "tests/", "benchmarks/", "tools/tidy.test.ts"];
  if (allowed.some((place) => file.path.startsWith(place))) return [];
  return placesOf(file, file.parts.strings, statement, "SQL stands in gateway/storage only");
}

export function changesOrders({ path, text, parts }: TextFile): boolean {
  if (!path.startsWith("gateway/") || path.endsWith(".test.ts")) return false;
  return /\bupdate\s+(only\s+)?orders\b/i.test(path.endsWith(".sql") ? text : parts.strings);
}

/**
 * Finds clocks and randomness in folders where they are injected, so that an order and an event
 * always give the same step.
 */
export function findClocks(file: TextFile): readonly string[] {
  const pure = ["gateway/values/", "gateway/orders/", "gateway/views/"];
  if (file.path === "gateway/values/time.ts" || isTest(file)) return [];
  if (!pure.some((folder) => file.path.startsWith(folder))) return [];
  const clock = /\bnew Date\(|\bDate\.now\(|\bMath\.random\(|\bperformance\.now\(/g;
  return placesOf(file, file.parts.code, clock, "no clock and no randomness in here");
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

/** Finds documents for newcomers that are longer than a newcomer reads. */
export function findLongDocuments({ path, text, lines }: TextFile): readonly string[] {
  const words = text.split(/\s+/).filter((word) => word !== "").length;
  const isLong =
    (path === "README.md" && lines.length - 1 > 120) ||
    (path === "ARCHITECTURE.md" && words > 2_000);
  return isLong ? [`${path} has ${lines.length - 1} lines and ${words} words`] : [];
}

/** Finds paths and hosts of one machine. */
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
  const separated = name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replace(/[-_.]/g, " ");
  return separated
    .toLowerCase()
    .replace(/base (url|string)/, "")
    .split(" ");
}

const fileLinesMax = 500;
const fileLinesMin = 40;
const functionLinesMax = 80;
const columnsMax = 100;

export function findLongFiles({ path, lines }: TextFile): readonly string[] {
  const count = lines.length - 1;
  return count > fileLinesMax ? [`${path} has ${count} lines; the limit is ${fileLinesMax}`] : [];
}

/**
 * Finds files that are too short, because a behaviour in many small files is hard to read. Entry
 * points and indexes may be short.
 */
export function findShortFiles(file: TextFile): readonly string[] {
  const { path, lines } = file;
  const count = lines.length - 1;
  if (count >= fileLinesMin || isTest(file) || shortFiles.has(path)) return [];
  if (/\/operations\/|\/screening\/rules\/|\/index\.ts$|-(worker|thread)\.ts$/.test(path))
    return [];
  return [
    `${path} has ${count} lines: fold it into the file that uses it, or list it with a reason`,
  ];
}

/**
 * Finds long functions. Sources are formatted, so a function is measured by its indentation: from
 * the line that opens its body to the first line that closes it at the same depth, without the
 * named functions inside it, which are measured on their own.
 */
export function findLongFunctions({ path, lines }: TextFile): readonly string[] {
  const all = functionsIn(lines);
  return all.flatMap(({ first, last }) => {
    const inner = all.filter((other) => other.first > first && other.last < last && other.named);
    const outermost = inner.filter(
      (one) => !inner.some((other) => other.first < one.first && other.last > one.last),
    );
    const length = outermost.reduce((sum, one) => sum - lengthOf(one), lengthOf({ first, last }));
    if (length <= functionLinesMax) return [];
    return [`${path}:${first + 1} a function of ${length} lines; the limit is ${functionLinesMax}`];
  });
}

/**
 * Finds long lines. Lines that cannot be broken may be long: table rows, addresses, patterns,
 * vectors, test names.
 */
export function findLongLines({ path, lines, parts }: TextFile): readonly string[] {
  const tables = tablesIn(lines);
  const patterns = parts.patterns.split("\n");
  return lines.flatMap((line, at) => {
    if (line.length <= columnsMax || /https?:\/\/|^\s*test\(["`]/.test(line)) return [];
    if ((patterns[at] ?? "").trim().length > columnsMax / 2) return [];
    if (path.endsWith(".test.ts") && /["'`][^"'`\s]{60,}["'`]/.test(line)) return [];
    if (tables.some(({ first, last }) => at >= first && at <= last)) return [];
    return [`${path}:${at + 1} ${line.length} columns; the limit is ${columnsMax}`];
  });
}

type Span = { readonly first: number; readonly last: number };

function functionsIn(lines: readonly string[]): readonly (Span & { readonly named: boolean })[] {
  return lines.flatMap((line, first) => {
    if (!opensFunction(line)) return [];
    const named = !/^\s*[\w.]+\(.*=> \{$/.test(line) && !/^\s*return .*=> \{$/.test(line);
    return [{ first, last: closingLine(lines, first), named }];
  });
}

function opensFunction(line: string): boolean {
  if (/^\s*describe\(/.test(line) || !line.endsWith("{")) return false;
  if (/\bfunction\b|=> \{$/.test(line)) return true;
  // This is the last line of a signature over several lines, or a method.
  if (/^\s*\)(: .*)? \{$/.test(line)) return true;
  const method =
    /^\s*(?:async |get |set |static |override |private )*#?(\w+)(<.*>)?\(.*\)(: .*)? \{$/;
  const word = method.exec(line)?.[1];
  return word !== undefined && !/^(if|for|while|switch|catch|with)$/.test(word);
}

function tablesIn(lines: readonly string[]): readonly Span[] {
  return lines.flatMap((line, first) => {
    if (!/biome-ignore format/.test(line)) return [];
    const opening = lines.findIndex((later, at) => at > first && !/^\s*(\/\/|\*|\/\*)/.test(later));
    const oneLine = /;$/.test(lines[opening] ?? "");
    return [{ first, last: oneLine ? opening : closingLine(lines, opening) }];
  });
}

function closingLine(lines: readonly string[], first: number): number {
  const depth = indentationOf(lines[first] ?? "");
  const closes = (line: string) => /^\s*[})\]`]/.test(line) && indentationOf(line) <= depth;
  const found = lines.findIndex((line, at) => at > first && closes(line));
  return found < 0 ? lines.length - 1 : found;
}

function indentationOf(line: string): number {
  return line.length - line.trimStart().length;
}

function lengthOf({ first, last }: Span): number {
  return last - first + 1;
}
