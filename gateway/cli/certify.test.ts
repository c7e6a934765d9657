/** Checks that the documentation lists every check of `gw certify`. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { checks } from "./certify-checks.ts";

const docs = join(import.meta.dirname, "../../docs");

test("the checks are worth 100 points together", () => {
  assert.equal(
    checks.reduce((sum, { points }) => sum + points, 0),
    100,
  );
});

test("the page to read for each check has the section that is named", () => {
  for (const { name, page } of checks) {
    const [file = "", anchor] = page.split("#");
    const text = readFileSync(join(docs, `${file}.md`), "utf8");
    const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) =>
      title.toLowerCase().replaceAll(" ", "-"),
    );

    assert.ok(anchor === undefined || headings.includes(anchor), `${name}: ${page}`);
  }
});

test("the document lists every check as it is played", () => {
  const rows = checks.map(({ name, points, played, expected, page }) => {
    const [file = "", anchor = ""] = page.split("#");
    const link = `${file}.md${anchor && `#${anchor}`}`;
    return `| \`${name}\` | ${played} | ${expected} | ${points} | [read](${link}) |`;
  });
  const text = readFileSync(join(docs, "certify.md"), "utf8");
  const listed = text.split("\n").filter((line) => /^\| `.*\[read\]/.test(line));

  assert.deepEqual(listed, rows);
});
