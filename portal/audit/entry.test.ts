/** Tests the audit's query in the URL, the fields of an entry, and the verdict of a proof. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { english } from "../language/texts.ts";
import { type Entry, fieldsOf, readAuditQuery, verdictOf } from "./entry.ts";

// biome-ignore format: a table
const queries = [
  ["",                               {}],
  ["search=&after=",                 {}],
  ["search=user+disable&after=7",    { search: "user disable", after: "7" }],
] as const;

for (const [query, input] of queries) {
  test(`the address “${query}” asks for ${JSON.stringify(input)}`, () => {
    assert.deepEqual(readAuditQuery(new URLSearchParams(query)), input);
  });
}

const entry: Entry = {
  seq: 12,
  at: 5,
  actor: "ann",
  origin: "127.0.0.1",
  action: "user disable",
  subject: "user carl",
  before: '{"enabled":true}',
  after: '{"enabled":false}',
};

test("an entry shows its fields that are not empty, with indented settings", () => {
  const fields = fieldsOf(entry, english);

  assert.deepEqual(
    fields.map(({ name }) => name),
    ["#", english.fromWhere, english.before, english.after],
  );
  assert.deepEqual(fields.at(-1), {
    name: english.after,
    text: '{\n  "enabled": false\n}',
    isJson: true,
  });
});

test("a reason that looks like settings is shown as it was typed", () => {
  const [, , why] = fieldsOf({ ...entry, reason: "{ a smile" }, english);

  assert.deepEqual([why?.name, why?.text], [english.why, "{ a smile"]);
});

const restores = ["alice restored the backup of 2026-11-16T12:00:00Z."];
const proof = { entries: 40, signatures: 2, outsideHeads: 1, unsigned: 3, restores, findings: [] };

test("the audit is intact without findings, and broken by a single finding", () => {
  const whole = verdictOf(proof, english);
  const broken = verdictOf({ ...proof, findings: ["entry 12 was changed"] }, english);

  assert.equal(whole.isWhole, true);
  assert.match(whole.text, /is whole: 40 entries/);
  assert.match(whole.note, /^2 .*1 .*3 .*alice restored the backup of 2026-11-16T12:00:00Z\.$/);
  assert.equal(broken.isWhole, false);
  assert.equal(broken.text, english.broken);
  assert.deepEqual(broken.findings, ["entry 12 was changed"]);
});
