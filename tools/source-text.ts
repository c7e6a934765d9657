/**
 * Separates the code, comments, strings and patterns of a source. Each result is as long as the
 * source, with everything else blanked, so that an offset in one is the same offset in the source.
 */
export type Parts = Readonly<Record<Kind, string>>;

/** Replaces a quote in the result with the strings, so that two strings are never read as one. */
export const edge = "\0";

type Kind = "code" | "comments" | "strings" | "patterns";
type Span = { readonly kind: Kind; readonly from: number; readonly to: number };

/** Each part is made when it is first read, because most rules read one of them. */
export function splitSource(source: string): Parts {
  const made = new Map<Kind, string>();
  const make = (kind: Kind) => made.get(kind) ?? made.set(kind, keep(kind, source)).get(kind) ?? "";
  return {
    get code() {
      return make("code");
    },
    get comments() {
      return make("comments");
    },
    get strings() {
      return make("strings");
    },
    get patterns() {
      return make("patterns");
    },
  };
}

function keep(kind: Kind, source: string): string {
  const blank = kind === "strings" ? source.replace(/["'`]/g, edge) : source;
  const others = blank.replace(/[^\n\0]+/g, ({ length }) => " ".repeat(length));
  const between = kind === "code" ? source : others;
  const kept: string[] = [];
  let at = 0;
  for (const span of spansIn(source)) {
    const inside = kind === span.kind ? source : others;
    kept.push(between.slice(at, span.from), inside.slice(span.from, span.to));
    at = span.to;
  }
  return [...kept, between.slice(at)].join("");
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
