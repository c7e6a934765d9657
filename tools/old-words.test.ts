/**
 * Words that the project no longer uses, with their successors. `node tools/old-words.test.ts`
 * prints the count of each by folder; with paths as parameters it prints every occurrence under
 * them.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isTest, lineOf, readRepository, type TextFile, textFile } from "./repository.ts";

/** Folders and files that still have old words. */
const pending: readonly string[] = [];

/** Records of the past, which keep the words of their time. */
const history = /^(docs\/decisions\/.*|package-lock\.json|tools\/old-words\.test\.ts)$/;

/** Names in the database, which do not change with the code. */
const storedNames = /\bheld_(keys|secrets)\b/g;

/** Tests of migrations, in which nodes of two versions run. */
const ownPast =
  /^(gateway\/storage\/schema\/compatible-migrations\.test\.ts|tests\/upgrade\/[\w-]+\.test\.ts)\n/;

const patterns = new Map<RegExp, RegExp>();

type OldWord = {
  readonly was: string;
  readonly now: string;
  /**
   * The pattern is matched with lower-case text in which camelCase, snake_case and kebab-case are
   * separate words.
   */
  readonly pattern: RegExp;
  /** The pattern is matched with identifiers only, and not with comments, strings and documents. */
  readonly codeOnly?: true;
  /** The pattern is matched with the unchanged text. */
  readonly verbatim?: true;
  /** The word is allowed in the names and texts of tests, and only comments are searched there. */
  readonly manner?: true;
  readonly under?: string;
  /** Other senses of the word, which are removed before the search. */
  readonly except?: RegExp;
  /** Files that have the word in another sense. */
  readonly skip?: RegExp;
};

// biome-ignore format: a table
const oldWords: readonly OldWord[] = [
  { was: "doer",          now: "effect handler",             pattern: /\bdoers?\b/ },
  { was: "carry (code)",  now: "run, order runner",          pattern: /\b(carry|carries|carried|carrying)\b/, codeOnly: true, under: "gateway/" },
  { was: "carry",         now: "run (an order's effects)",   pattern: /\bcarr(y|ies|ied|ying) ((on|out|the|an?|its|every|each|this|that|all|own|such|open) )*(orders?|effects?|transactions?|it|them|on)\b/ },
  { was: "carried",       now: "run (an order's effects)",   pattern: /\bcarried (effects?|by (this|that|a|an|the|another|any) )|\b(orders?|effects?|transactions?|it|they) (is|are|was|were|be|being) carried\b|\bcarry\.ts\b/ },
  { was: "in hand",       now: "in flight; card data",       pattern: /\bin hand\b/ },
  { was: "family",        now: "the order's transactions",   pattern: /\bfamil(y|ies)\b/, except: /(font family|family name)/, skip: /node:dns|family: [46]/ },
  { was: "give back",     now: "refund, cancel; release",    pattern: /\b(give|gives|gave|given|giving) ((it|them|all|money|what|that|the|a|an|its|part|parts|of|nothing|more|less|lease|leases|order|orders|token|tokens|amount|rest) ){0,3}back\b/ },
  { was: "let go of",     now: "release, cancel",            pattern: /\b(let|lets|letting) ((it|them|him|\w+) )?go\b( of\b)?/ },
  { was: 'kind "reversal"', now: 'kind "refund"',            pattern: /\b(kind|kinds?\.\w+)(:| ===| !==) "reversal"|\bcase "reversal":/, verbatim: true, under: "gateway/" },
  { was: "transaction.charge", now: "transaction.identifiers", pattern: /\btransaction\??\.charge\b/, verbatim: true },
  { was: "held card",     now: "pending card data",          pattern: /\bheld (cards?|cvvs?|secrets?|numbers?)\b|\b(find|make|destroy|open|seal|store|read) held\b|\bheld\.ts\b|\bcards? (is |are |was |were |be |being )?held\b/ },
  { was: "hold (a card)", now: "pending card data; keep",    pattern: /\b(hold|holds|holding) (on to )?((a|an|the|its|their|this|that|every|no|order|cardholder's) )*(cards?|cvvs?)\b/, except: /\bcard holder/ },
  { was: "sameness",      now: "request fingerprint",        pattern: /\bsameness\b/ },
  { was: "twin",          now: "synchronous variant",        pattern: /\btwins?\b/ },
  { was: "learn",         now: "apply facts",                pattern: /\blearn(s|t|ed|ing)?\b/, except: /shop will learn of it/ },
  { was: "take part",     now: "accepts partial approval; is enrolled", pattern: /\b(take|takes|took|taken|taking) part\b/ },
  { was: "isAuthenticated", now: "needsAuthentication",      pattern: /\bisAuthenticated\b/, verbatim: true, under: "gateway/screening/" },
  { was: "house",         now: "installation",               pattern: /\bhouses?\b/, except: /\b(clearing|ware|opera|light) ?house/ },
  { was: "apart",         now: "worker; separately",         pattern: /\bapart\b/, except: /\b(apart from|far apart|(tell|tells|telling|told)( \w+)*? apart)\b/, manner: true },
  { was: "places",        now: "delivery limiter",           pattern: /\bplaces?\b/, codeOnly: true, under: "gateway/callbacks" },
  { was: "stays out",     now: "defer",                      pattern: /\bstay(s|ed|ing)? out\b/ },
  { was: "missing.ts",    now: "readiness",                  pattern: /\bmissing\.(test\.)?ts\b/ },
  { was: "regular work",  now: "background jobs",            pattern: /\bregular work\b/ },
  { was: "Needs",         now: "Dependencies",               pattern: /\b[A-Z]?[a-z]*Needs\b/, verbatim: true, codeOnly: true },
  { was: "he, his, him",  now: "the noun, or they",          pattern: /\b(he|his|him|himself)\b/, manner: true },
  { was: "whoever",       now: "the actor",                  pattern: /\bwho(so)?m?ever\b/, manner: true },
  { was: "somebody",      now: "the actor",                  pattern: /\b(some|no)body\b/, manner: true, skip: /^gateway\/storage\/embedded\/system\.ts\n/ },
  { was: "whatever",      now: "what is meant",              pattern: /\bwhatever\b/, manner: true },
  { was: "what was",      now: "what is meant",              pattern: /\bwhat was\b/, manner: true },
  { was: "earlier version", now: "what is there today",      pattern: /\b(earlier|previous) version|\b(earlier|older) gateway|\bis long id\b|\bolder beside\b/, under: "gateway/", skip: ownPast },
  { was: "earlier version", now: "what is there today",      pattern: /\b(earlier|previous) version|\b(earlier|older) gateway|\bis long id\b|\bolder beside\b/, under: "tests/",   skip: ownPast },
];

type Occurrence = { readonly was: string; readonly path: string; readonly line: number };

const places = readRepository()
  .filter(({ path }) => !history.test(path))
  .flatMap(placesIn);

test("no old word is left", (t) => {
  const [waiting, wrong] = [places.filter(isPending), places.filter((place) => !isPending(place))];

  if (waiting.length > 0) t.diagnostic(`${waiting.length} old words in pending folders`);
  assert.deepEqual(wrong.map(print), []);
});

test("an old word is found in names, in paths and across lines", () => {
  // biome-ignore format: a table
  const samples: readonly (readonly [path: string, text: string, count: number])[] = [
    ["gateway/a.ts",              "const a = makeCarry(doersOf(b));",              2],
    ["gateway/send-apart.ts",     "",                                              1],
    ["docs/a.md",                 "The gateway gives the money\nback, in\nhand.",  2],
    ["docs/glossary.md",          "| Word | Formerly |\n|---|---|\n| run | carry, in hand |", 0],
    ["gateway/a.css",             "font-family: serif",                            0],
    ["docs/a.md",                 "The request carries a header.",                 0],
    ["docs/a.md",                 "see [it](decisions/0010-families-of-things.md)", 0],
  ];

  for (const [path, text, count] of samples) {
    assert.equal(placesIn(textFile(path, text)).length, count, `${path}: ${text}`);
  }
});

if (process.env["NODE_TEST_CONTEXT"] === undefined) report(process.argv.slice(2));

function report(paths: readonly string[]): void {
  const shown = places.filter(({ path }) => paths.some((start) => path.startsWith(start)));
  for (const line of shown.map(print)) process.stdout.write(`${line}\n`);
  if (paths.length > 0) return;
  for (const [was, found = []] of Object.entries(Object.groupBy(places, (place) => place.was))) {
    const folders = Object.groupBy(found, ({ path }) => path.split("/").slice(0, 2).join("/"));
    const counts = Object.entries(folders).map(([folder, each]) => `${folder} ${each?.length}`);
    process.stdout.write(`${String(found.length).padStart(5)}  ${was}: ${counts.join(", ")}\n`);
  }
}

/** Returns the occurrences in a file. Its path is searched like a line before the first. */
function placesIn(file: TextFile): readonly Occurrence[] {
  const { path } = file;
  const separate = makeCached(separateWords);
  const whole = withoutReferences(file);
  return oldWords.flatMap(({ was, pattern, verbatim, under = "", except, skip, ...word }) => {
    if (!path.startsWith(under) || skip?.test(`${path}\n${file.text}`)) return [];
    const own = `${path}\n${partOf(file, word, whole)}`;
    const text = verbatim ? own : separate(own);
    const searched = except ? text.replace(spaced(except), "") : text;
    const matches = [...searched.matchAll(spaced(pattern))];
    return matches.map(({ index }) => ({ was, path, line: lineOf(searched, index) - 1 }));
  });
}

function partOf(file: TextFile, { codeOnly, manner }: Partial<OldWord>, whole: string): string {
  if (codeOnly) return file.parts.code;
  return manner && isTest(file) ? file.parts.comments : whole;
}

/** Caches the result for each text, because most words are searched for in the same text. */
function makeCached(compute: (text: string) => string): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => known.get(text) ?? known.set(text, compute(text)).get(text) ?? "";
}

/**
 * Removes the names of decision records, and columns with the title "Formerly" or "Before", which
 * list old words.
 */
function withoutReferences({ lines }: TextFile): string {
  let column = -1;
  const kept = lines.map((line) => {
    const cells = line.split("|");
    const named = cells.findIndex((cell) => /^ (formerly|before) $/i.test(cell));
    if (named >= 0 || cells.length < 3) column = named;
    return cells.filter((_, at) => at !== column).join("|");
  });
  return kept
    .join("\n")
    .replaceAll(/decisions\/[\w-]+\.md/g, "")
    .replaceAll(storedNames, "");
}

/**
 * Returns the text in lower case, with one space between words and without the marks of comment
 * lines.
 */
function separateWords(text: string): string {
  const words = text.replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2").replaceAll(/[_-]/g, " ");
  return words.replaceAll(/\n *(\*|\/\/)/g, "\n").toLowerCase();
}

/** Makes a pattern whose spaces also match the end of a line. */
function spaced(pattern: RegExp): RegExp {
  const made = patterns.get(pattern) ?? new RegExp(pattern.source.replaceAll(" ", "\\s+"), "g");
  patterns.set(pattern, made);
  return made;
}

function isPending({ path }: Occurrence): boolean {
  return pending.some((start) => path.startsWith(start));
}

function print({ was, path, line }: Occurrence): string {
  const now = oldWords.find((word) => word.was === was)?.now;
  return `${path}:${line} ${was}: say ${now}`;
}
