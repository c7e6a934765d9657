/** Colours code: comments, strings, numbers, variables and the keywords of its language. */

export function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

// biome-ignore format: a table
const words: Readonly<Record<string, string>> = {
  sh:     "curl export printf echo if then fi for do done in while case esac grep cut sed base64 npm node",
  ts:     "import from export const let await async function return if else for of new throw process type",
  js:     "const let function return if else for of new true false",
  php:    "echo function return if else foreach as new use array fn exit",
  python: "import from def return if else for in with as print while class lambda not and or None True False",
  json:   "true false null",
};

const comments: Readonly<Record<string, string>> = {
  sh: "(?<![\\S])#[^\\n]*",
  ts: "\\/\\/[^\\n]*",
  js: "\\/\\/[^\\n]*",
  php: "<\\?php|\\/\\/[^\\n]*",
  python: "#[^\\n]*",
};

const strings = "\"(?:[^\"\\\\]|\\\\[\\s\\S])*\"|'(?:[^'\\\\]|\\\\[\\s\\S])*'|`[^`]*`";

export function canHighlight(language: string): boolean {
  return language in words;
}

export function highlight(code: string, language: string): string {
  const known = (words[language] ?? "").split(" ").join("|");
  const parts = [
    `(?<comment>${comments[language] ?? "(?!)"})`,
    `(?<string>${strings})`,
    `(?<variable>\\$\\{?\\w+\\}?)`,
    `(?<number>(?<![\\w.-])\\d+(?:\\.\\d+)?(?![\\w.-]))`,
    `(?<keyword>(?<![\\w$.-])(?:${known})(?![\\w-]))`,
  ];
  const pattern = new RegExp(parts.join("|"), "g");
  let html = "";
  let at = 0;
  for (const match of code.matchAll(pattern)) {
    const found = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined);
    const [text] = match;
    html += escapeHtml(code.slice(at, match.index));
    html += `<span class="${found?.[0]}">${escapeHtml(text)}</span>`;
    at = match.index + text.length;
  }
  return html + escapeHtml(code.slice(at));
}
