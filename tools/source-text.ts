/**
 * Separates the code, comments, strings and patterns of a source. Each result is as long as the
 * source, with everything else blanked, so that an offset in one is the same offset in the source.
 */
export type Parts = Readonly<Record<Kind, string>>;

/** Replaces a quote in the result with the strings, so that two strings are never read as one. */
export const edge = "\0";

type Kind = "code" | "comments" | "strings" | "patterns";
type Span = { readonly kind: Kind; readonly from: number; readonly to: number };

export function splitSource(source: string): Parts {
  const parts = { code: "", comments: "", strings: "", patterns: "" };
  const add = (kind: Kind, text: string) => {
    const blank = text.replace(/[^\n]/g, " ");
    parts.code += kind === "code" ? text : blank;
    parts.comments += kind === "comments" ? text : blank;
    parts.strings += kind === "strings" ? text : text.replace(/./g, blankOrEdge);
    parts.patterns += kind === "patterns" ? text : blank;
  };
  let at = 0;
  for (const { kind, from, to } of spansIn(source)) {
    add("code", source.slice(at, from));
    add(kind, source.slice(from, to));
    at = to;
  }
  add("code", source.slice(at));
  return parts;
}

function blankOrEdge(symbol: string): string {
  return symbol === '"' || symbol === "'" || symbol === "`" ? edge : " ";
}

const commentForm = /\/\/[^\n]*|\/\*.*?(?:\*\/|$)/sy;
/**
 * A string that is not closed ends with its line, because text between tags may contain an
 * apostrophe.
 */
const stringForms = { '"': /(?:\\.|[^"\\\n])*/sy, "'": /(?:\\.|[^'\\\n])*/sy };
const templateForm = /(?:\\.|\$(?!\{)|[^`\\$])*/sy;
const patternForm = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]?|[^/[\\\n])*\/?/sy;

/** Yields every span that is not code. The quotes around a string are code. */
function* spansIn(source: string): Generator<Span> {
  // The number of open braces in each `${…}` around the offset.
  const nested: number[] = [];
  const mark = /["'`{}/]/g;
  for (let found = mark.exec(source); found !== null; found = mark.exec(source)) {
    const [symbol] = found;
    const span = (kind: Kind, form: RegExp, from: number): Span => {
      form.lastIndex = from;
      return { kind, from, to: from + (form.exec(source)?.[0].length ?? 0) };
    };
    const { index } = found;
    if (symbol === "/") {
      const isComment = /^\/[/*]/.test(source.slice(index, index + 2));
      if (!isComment && !startsPattern(source, index)) continue;
      const whole = isComment
        ? span("comments", commentForm, index)
        : span("patterns", patternForm, index);
      yield whole;
      mark.lastIndex = whole.to;
    } else if (symbol === '"' || symbol === "'") {
      const text = span("strings", stringForms[symbol], index + 1);
      yield text;
      mark.lastIndex = text.to + 1;
    } else if (symbol === "`" || (symbol === "}" && nested.at(-1) === 0)) {
      if (symbol === "}") nested.pop();
      const text = span("strings", templateForm, index + 1);
      yield text;
      const opens = source[text.to] === "$";
      if (opens) nested.push(0);
      mark.lastIndex = text.to + (opens ? 2 : 1);
    } else if (nested.length > 0) {
      nested.push((nested.pop() ?? 0) + (symbol === "{" ? 1 : -1));
    }
  }
}

/** Whether a slash begins a pattern: it does where a value is expected, and divides elsewhere. */
function startsPattern(source: string, at: number): boolean {
  const before = source.slice(Math.max(0, at - 200), at).trimEnd();
  return before === "" || /[(,=:[!&|?{};+\-*%<>~^]$|\b(return|case|typeof|of|in)$/.test(before);
}
