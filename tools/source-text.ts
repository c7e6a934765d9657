/**
 * Tells code, comments, strings and patterns of a source apart. Each comes back as long as the
 * source, with the others blanked, so that a place found in one is the same place in the source.
 */
export type Parts = Readonly<Record<Kind, string>>;

/** Stands for a quote among the strings, so that two of them are never read as one. */
export const edge = "\0";

type Kind = "code" | "comments" | "strings" | "patterns";

export function splitSource(source: string): Parts {
  const kinds = kindsIn(source);
  const only = (kind: Kind): string => {
    let text = "";
    for (let at = 0; at < source.length; at += 1) {
      const symbol = source[at] ?? "";
      if (kinds[at] === kind || symbol === "\n") text += symbol;
      else text += kind === "strings" && /["'`]/.test(symbol) ? edge : " ";
    }
    return text;
  };
  return {
    code: only("code"),
    comments: only("comments"),
    strings: only("strings"),
    patterns: only("patterns"),
  };
}

/** The kind of every character. Quotes belong to the code, so that strings stay apart. */
function kindsIn(source: string): readonly Kind[] {
  const kinds: Kind[] = [];
  // How many braces are open in each `${…}` that we are inside of.
  const nested: number[] = [];
  let at = 0;
  const mark = (kind: Kind, end: number) => {
    for (; at < end; at += 1) kinds.push(kind);
  };
  const template = () => {
    const end = endOfTemplate(source, at);
    mark("strings", end);
    if (source[at] === "$") {
      nested.push(0);
      mark("code", at + 2);
    } else mark("code", at + 1);
  };

  while (at < source.length) {
    const rest = source.slice(at, at + 2);
    const symbol = rest[0] ?? "";
    if (rest === "//") mark("comments", indexOr(source, "\n", at));
    else if (rest === "/*") mark("comments", indexOr(source, "*/", at + 2) + 2);
    else if (symbol === '"' || symbol === "'") {
      mark("code", at + 1);
      mark("strings", endOfString(source, at, symbol));
      mark("code", at + 1);
    } else if (symbol === "`") {
      mark("code", at + 1);
      template();
    } else if (symbol === "/" && startsPattern(source, at))
      mark("patterns", endOfPattern(source, at));
    else if (symbol === "}" && nested.at(-1) === 0) {
      nested.pop();
      mark("code", at + 1);
      template();
    } else {
      if (nested.length > 0 && symbol === "{") nested.push((nested.pop() ?? 0) + 1);
      if (nested.length > 0 && symbol === "}") nested.push((nested.pop() ?? 0) - 1);
      mark("code", at + 1);
    }
  }
  return kinds;
}

/** A string that is not closed on its line ends there: text between tags may hold an apostrophe. */
function endOfString(source: string, from: number, quote: string): number {
  for (let at = from; at < source.length; at += 1) {
    const symbol = source[at];
    if (symbol === "\\") at += 1;
    else if (symbol === quote || symbol === "\n") return at;
  }
  return source.length;
}

function endOfTemplate(source: string, from: number): number {
  for (let at = from; at < source.length; at += 1) {
    if (source[at] === "\\") at += 1;
    else if (source[at] === "`" || source.startsWith("${", at)) return at;
  }
  return source.length;
}

/** A slash begins a pattern where a value is expected, and divides elsewhere. */
function startsPattern(source: string, at: number): boolean {
  const before = source.slice(Math.max(0, at - 200), at).trimEnd();
  return before === "" || /[(,=:[!&|?{};+\-*%<>~^]$|\b(return|case|typeof|of|in)$/.test(before);
}

function endOfPattern(source: string, from: number): number {
  let inClass = false;
  for (let at = from + 1; at < source.length; at += 1) {
    const symbol = source[at];
    if (symbol === "\\") at += 1;
    else if (symbol === "[") inClass = true;
    else if (symbol === "]") inClass = false;
    else if (symbol === "\n" || (symbol === "/" && !inClass)) return at + 1;
  }
  return source.length;
}

function indexOr(source: string, sought: string, from: number): number {
  const found = source.indexOf(sought, from);
  return found < 0 ? source.length : found;
}
