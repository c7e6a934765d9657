/** Code, comments and strings are separated, even where a simple search would fail. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { edge, splitSource } from "./source-text.ts";

// biome-ignore format: a table
const rows: readonly (readonly [source: string, code: string, strings: string, comments: string])[] = [
  ['a("b"); // c',            'a(" ");',            "b",       "// c"],
  ["a /* b */ c",             "a c",                "",        "/* b */"],
  ['"// no comment"',         '" "',                "// no comment", ""],
  [`'it\\'s' + "\\""`,        `' ' + " "`,          `it\\'s \\"`, ""],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the sample
  ["`a ${b({ c: `d` })} e`",  "` ${b({ c: ` ` })} `", "a d e", ""],
  ['a = /"[/"]/g; "b"',       'a = g; " "',         "b",       ""],
  ["a / b / c",               "a / b / c",          "",        ""],
];

test("code, strings and comments are separated", () => {
  for (const [source, code, strings, comments] of rows) {
    const parts = splitSource(source);
    assert.equal(squeeze(parts.code), code, source);
    assert.equal(squeeze(parts.strings), strings, source);
    assert.equal(squeeze(parts.comments), comments, source);
    assert.equal(parts.code.length, source.length, source);
  }
});

function squeeze(text: string): string {
  return text.replaceAll(edge, " ").replace(/ +/g, " ").trim();
}
